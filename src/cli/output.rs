//! Floor 13: stdout for results, stderr for the rest, and what their failures mean.

use std::borrow::Cow;
use std::io;
use std::io::{BufWriter, Write};

use crate::error::Error;

/// How error sentences name stdout.
pub const STDOUT: &str = "standard output";

/// Results, buffered. [`LineOutput::finish`] must be called: dropping it loses errors.
///
/// Words and names come from files of strangers: what a terminal would obey, and what would break a line in two, is
/// written as spaces.
pub struct LineOutput(BufWriter<io::Stdout>);

impl LineOutput {
    /// Results go to stdout.
    pub fn stdout() -> Self {
        Self(BufWriter::with_capacity(1 << 16, io::stdout()))
    }

    /// Writes whole lines.
    pub fn text(&mut self, text: &str) -> anyhow::Result<()> {
        self.bytes(&replaced(text, |c| c.is_control() && !matches!(c, '\n' | '\t')))
    }

    /// Writes `text` and ends the line.
    pub fn line(&mut self, text: &str) -> anyhow::Result<()> {
        self.bytes(&replaced(text, |c| c.is_control() && c != '\t'))?;
        self.bytes("\n")
    }

    /// Writes a record as one line of JSON; `f32` come back bit for bit.
    pub fn json(&mut self, record: &impl serde::Serialize) -> anyhow::Result<()> {
        let json = serde_json::to_string(record)?;
        // JSON escapes the control characters of ASCII; those behind it may be commands to a terminal as well.
        if json.contains(char::is_control) {
            let escape = |c: char| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
            self.bytes(&json.chars().map(escape).collect::<String>())?;
        } else {
            self.bytes(&json)?;
        }
        self.bytes("\n")
    }

    fn bytes(&mut self, text: &str) -> anyhow::Result<()> {
        self.0.write_all(text.as_bytes()).map_err(|error| failed(STDOUT, error))
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

impl Write for LineOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// `text` with spaces for some characters.
fn replaced(text: &str, is_unwanted: fn(char) -> bool) -> Cow<'_, str> {
    if text.contains(is_unwanted) { Cow::Owned(text.replace(is_unwanted, " ")) } else { Cow::Borrowed(text) }
}

/// A failed write as an error: a closed pipe stays what it is, the rest is a sentence about `name`.
pub fn failed(name: &str, error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe { error.into() } else { Error::io(name, &error).into() }
}

/// One line on stderr, with the program's name. Nothing can be done when stderr is closed.
pub fn tell(sentence: &str) {
    // A terminal must not obey what a file name or a sentence happens to contain.
    let sentence = replaced(sentence, char::is_control);
    let _ = writeln!(io::stderr().lock(), "interlinear: {sentence}");
}
