//! Floor 6: plain text: a sentence a line, packed or not. A blank line is a sentence without words, for the lines of
//! other files to stay beside theirs. Imports its room.

use crate::error::{Error, Result};
use crate::import::facts::{Facts, Warnings};
use crate::import::format::{FileSample, FormatReader};
use crate::import::input::{ImportInput, TextLines};
use crate::import::options::{ImportOptions, Role};
use crate::import::record::Record;

/// What any text may be when nothing else fits.
pub fn sniff(_: &FileSample<'_>) -> u8 {
    1
}

/// Starts to read.
pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let role = options.role.clone().unwrap_or_default();
    let is = match &role {
        Role::Source => "the source".to_owned(),
        Role::Output(system) => format!("the outputs of {system}"),
        Role::Reference => "the reference".to_owned(),
        Role::Scores(column) => format!("the scores {column}"),
        Role::Gold => {
            let message = "has no links that can be read; write them as Pharaoh's `0-0 1?2` or `sentence i j S`";
            return Err(Error::file(input.path(), message));
        }
    };
    facts.notes.push(format!("Read as {is}, a sentence a line."));
    Ok(Box::new(TextReader { lines: input.lines()?, role }))
}

struct TextReader {
    lines: TextLines,
    role: Role,
}

impl FormatReader for TextReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        while let Some(line) = self.lines.next(warnings)? {
            let Some(text) = line.text else { continue };
            if text.trim().is_empty() {
                warnings.add(line.number, "is blank");
            }
            let mut record = Record { sentence: line.number, line: line.number, ..Record::default() };
            record.put(&self.role, text);
            return Ok(Some(record));
        }
        Ok(None)
    }
}
