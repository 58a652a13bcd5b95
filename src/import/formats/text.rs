//! Plain text: a sentence a line, packed or not. A blank line is a sentence without words, for the lines of other
//! files to stay next to theirs.

use std::collections::VecDeque;

use crate::facts::{Facts, Warnings};
use crate::format::{FileSample, FormatReader};
use crate::input::{ImportInput, TextLine, TextLines};
use crate::options::{ImportOptions, Role};
use crate::record::Record;
use engine::error::{Error, Result};

/// What any text may be when nothing else fits.
pub fn sniff(_: &FileSample<'_>) -> u8 {
    1
}

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
    Ok(Box::new(TextReader { lines: input.lines()?, role, ahead: VecDeque::new(), blank: Vec::new() }))
}

/// The most blank lines one after the other in a file of sources, each of which becomes a sentence.
const MOST_BLANK: usize = 10_000;

struct TextReader {
    lines: TextLines,
    role: Role,
    ahead: VecDeque<TextLine>,
    blank: Vec<usize>,
}

impl TextReader {
    /// The next line. Blank ones are read to their end first, so that too many are refused before the first is kept.
    fn line(&mut self, warnings: &mut Warnings) -> Result<Option<TextLine>> {
        if let Some(line) = self.ahead.pop_front() {
            return Ok(Some(line));
        }
        while let Some(line) = self.lines.next(warnings)? {
            let is_blank = line.text.as_ref().is_some_and(|text| text.trim().is_empty()) && self.role == Role::Source;
            self.ahead.push_back(line);
            if !is_blank {
                break;
            }
            if self.ahead.len() > MOST_BLANK {
                let number = self.ahead[0].number;
                let message =
                    format!("is blank, as are the {MOST_BLANK} lines after it; remove them and import it again");
                return Err(Error::line(self.lines.path(), number, message));
            }
        }
        Ok(self.ahead.pop_front())
    }
}

impl FormatReader for TextReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        while let Some(line) = self.line(warnings)? {
            let Some(text) = line.text else { continue };
            if text.trim().is_empty() {
                self.blank.push(line.number);
            }
            let mut record = Record { sentence: line.number, line: line.number, ..Record::default() };
            record.put(&self.role, text);
            return Ok(Some(record));
        }
        // One message for all. A further reference may have few lines: that is no fault of each.
        let blank = std::mem::take(&mut self.blank);
        match blank.as_slice() {
            [] => {}
            [line] => warnings.add(*line, "is blank"),
            [line, rest @ ..] => {
                warnings.add(*line, format!("is blank, as are {} other lines", rest.len()));
                warnings.count += if self.role == Role::Reference { 0 } else { rest.len() };
            }
        }
        Ok(None)
    }
}
