//! Floor 9: stdout for results, stderr for the rest, and what their failures mean.

use std::io;
use std::io::{BufWriter, Write};

use crate::error::Error;

/// How error sentences name stdout.
pub const STDOUT: &str = "standard output";

/// Results, buffered. [`Output::finish`] must be called: dropping it loses errors.
pub struct Output(BufWriter<io::Stdout>);

impl Output {
    /// Results go to stdout.
    pub fn stdout() -> Self {
        Self(BufWriter::with_capacity(1 << 16, io::stdout()))
    }

    /// Writes `text` as it is.
    pub fn text(&mut self, text: &str) -> anyhow::Result<()> {
        self.0.write_all(text.as_bytes()).map_err(|error| failed(STDOUT, error))
    }

    /// Writes `text` and ends the line.
    pub fn line(&mut self, text: &str) -> anyhow::Result<()> {
        self.text(text)?;
        self.text("\n")
    }

    /// Writes a record as one line of JSON; `f32` come back bit for bit.
    pub fn json(&mut self, record: &impl serde::Serialize) -> anyhow::Result<()> {
        self.line(&serde_json::to_string(record)?)
    }

    /// Shows what was written so far.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        self.0.flush().map_err(|error| failed(STDOUT, error))
    }

    /// Writes out what is left.
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.flush()
    }
}

/// A failed write as an error: a closed pipe stays what it is, the rest is a sentence about `name`.
pub fn failed(name: &str, error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe { error.into() } else { Error::io(name, &error).into() }
}

/// One line on stderr, with the program's name. Nothing can be done when stderr is closed.
pub fn tell(sentence: &str) {
    // A terminal must not obey what a file name or a sentence happens to contain.
    let sentence: String = sentence.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = writeln!(io::stderr().lock(), "interlinear: {sentence}");
}
