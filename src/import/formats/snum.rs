//! Texts of the HLT-NAACL 2003 shared task: a line a sentence between tags, `<s snum=0008> hear , hear ! </s>`. Their
//! links are in separate files.

use crate::facts::{Facts, ImportReported, Warnings};
use crate::format::{FileSample, FormatReader};
use crate::input::{ImportInput, TextLines};
use crate::options::{ImportOptions, Role};
use crate::{matrix::MOST_ID, record::Record};
use engine::error::{Error, Result};

const START: &str = "<s snum=";

/// The tag of a sentence.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    if sample.first().trim_start().starts_with(START) { 90 } else { 0 }
}

pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let role = options.role.clone().unwrap_or_default();
    if role == Role::Gold {
        let message = "holds sentences and no links; the links of the shared task are in a file of lines as `8 1 1 S`";
        return Err(Error::file(input.path(), message));
    }
    facts.notes.push("Sentences are placed by their numbers.".to_owned());
    Ok(Box::new(SnumReader { lines: input.lines()?, role, last: 0 }))
}

struct SnumReader {
    lines: TextLines,
    role: Role,
    last: usize,
}

impl FormatReader for SnumReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        while let Some(line) = self.lines.next(warnings)? {
            let Some(text) = line.text else { continue };
            if text.trim().is_empty() {
                continue;
            }
            match sentence(&text) {
                Ok((number, _)) if number <= self.last => {
                    warnings.add(
                        line.number,
                        format!("is sentence {number} behind sentence {}; it is left out", self.last),
                    );
                }
                Ok((number, text)) => {
                    self.last = number;
                    let mut record = Record { sentence: number, line: line.number, ..Record::default() };
                    record.put(&self.role, text);
                    return Ok(Some(record));
                }
                Err(why) => warnings.add(line.number, format!("{why}; it is left out")),
            }
        }
        Ok(None)
    }
}

fn sentence(line: &str) -> ImportReported<(usize, String)> {
    let (tag, rest) = line
        .trim()
        .strip_prefix(START)
        .and_then(|rest| rest.split_once('>'))
        .ok_or_else(|| "does not begin with `<s snum=NUMBER>`".to_owned())?;
    let digits = tag.trim().trim_matches(['"', '\'']);
    let number: Option<usize> = digits.parse().ok().filter(|number| (1..MOST_ID).contains(number));
    let number = number.ok_or_else(|| format!("has the number `{digits:.20}`, but sentences are counted from 1"))?;
    Ok((number, rest.trim().strip_suffix("</s>").unwrap_or(rest).trim().to_owned()))
}
