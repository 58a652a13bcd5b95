//! Stdout for results, stderr for the rest, and what their failures mean.

pub mod provenance;

use std::io::{BufWriter, IsTerminal as _, Write};
use std::{borrow::Cow, io, panic::PanicHookInfo};

use engine::error::Error;
use engine::text::commands::{is_command, is_turn, json};

/// How error sentences name stdout.
pub const STDOUT: &str = "standard output";

/// Results, buffered. [`LineOutput::finish`] must be called: dropping it loses errors.
///
/// Words and names come from files of strangers: what a terminal would obey, and what would break a line in two, is
/// written as spaces. Changes of direction are left out on a terminal, and kept in a file.
pub struct LineOutput {
    stdout: BufWriter<io::Stdout>,
    is_terminal: bool,
    records: usize,
}

impl LineOutput {
    pub fn stdout() -> Self {
        let stdout = io::stdout();
        let is_terminal = stdout.is_terminal();
        Self { is_terminal, records: 0, stdout: BufWriter::with_capacity(1 << 16, stdout) }
    }

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
        let record = json(record)?;
        self.records += 1;
        let used = if self.records == 1 { provenance::used() } else { None };
        self.bytes(&used.map_or_else(|| record.clone(), |used| used.within(&record)))?;
        self.bytes("\n")
    }

    fn bytes(&mut self, text: &str) -> anyhow::Result<()> {
        self.write_all(text.as_bytes()).map_err(|error| failed(STDOUT, error))
    }

    /// Shows what was written so far.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        self.stdout.flush().map_err(|error| failed(STDOUT, error))
    }

    /// Writes out what is left.
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.flush()
    }
}

impl Write for LineOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes) {
            Ok(text) if self.is_terminal && text.contains(is_command) => {
                let is_unwanted = |c| is_turn(c) || (c.is_control() && !matches!(c, '\n' | '\t'));
                self.stdout.write_all(text.replace(is_unwanted, "").as_bytes())?;
                Ok(bytes.len())
            }
            _ => self.stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

fn replaced(text: &str, is_unwanted: fn(char) -> bool) -> Cow<'_, str> {
    if text.contains(is_unwanted) { Cow::Owned(text.replace(is_unwanted, " ")) } else { Cow::Borrowed(text) }
}

/// A failed write as an error: a closed pipe stays what it is, the rest is a sentence about `name`.
pub fn failed(name: &str, error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe { error.into() } else { Error::io(name, &error).into() }
}

/// One line on stderr, with the program's name. Nothing can be done when stderr is closed.
pub fn notify(sentence: &str) {
    // A terminal must not obey what a file name or a sentence happens to contain.
    let sentence = replaced(sentence, is_command);
    let _ = writeln!(io::stderr().lock(), "interlinear: {sentence}");
}

/// A defect of ours is a sentence too, with the place to report.
pub fn report_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    notify(&format!("internal error at {place}: {message}; please report it"));
}
