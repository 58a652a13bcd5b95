//! Subtitles, SubRip (`.srt`) and WebVTT (`.vtt`): what is shown at one time is a sentence, without its number, its
//! time and its tags.

use quick_xml::escape::{resolve_predefined_entity, unescape_with};

use crate::facts::{Facts, Warnings};
use crate::format::{FileSample, FormatReader};
use crate::input::{ImportInput, TextLines};
use crate::options::{ImportOptions, Role};
use crate::record::Record;
use engine::error::{Error, Result};

const ARROW: &str = "-->";
/// How WebVTT begins what is no subtitle.
const NOTES: [&str; 4] = ["WEBVTT", "NOTE", "STYLE", "REGION"];

/// A number and times, or the name of the format.
pub fn sniff(sample: &FileSample<'_>) -> u8 {
    let mut lines = sample.lines();
    let first = lines.next().unwrap_or_default().trim();
    let is_srt = is_times(first) || is_number(first) && lines.next().is_some_and(is_times);
    let is_vtt = first.split_whitespace().next() == Some("WEBVTT") && lines.any(is_times);
    if is_srt || is_vtt { 96 } else { 0 }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_times(line: &str) -> bool {
    let is_time =
        |time: &str| time.contains(':') && time.bytes().all(|byte| byte.is_ascii_digit() || b":,.".contains(&byte));
    let Some((from, to)) = line.split_once(ARROW) else { return false };
    is_time(from.trim()) && to.split_whitespace().next().is_some_and(is_time)
}

pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let role = options.role.clone().unwrap_or_default();
    if matches!(role, Role::Gold | Role::Scores(_)) {
        return Err(Error::file(input.path(), "holds subtitles, which are neither links nor scores"));
    }
    facts.notes.push("What is shown at one time is a sentence; numbers, times and tags are left out.".to_owned());
    Ok(Box::new(SubtitleReader { lines: input.lines()?, role, count: 0, waiting: None }))
}

struct SubtitleReader {
    lines: TextLines,
    role: Role,
    count: usize,
    /// The line of times that were met where words were expected.
    waiting: Option<usize>,
}

impl SubtitleReader {
    /// The line of the next times; before them stand numbers and names. What ends without times is told.
    fn times(&mut self, warnings: &mut Warnings) -> Result<Option<usize>> {
        if let Some(line) = self.waiting.take() {
            return Ok(Some(line));
        }
        let mut block = None;
        loop {
            let line = self.lines.next(warnings)?;
            let text = line.as_ref().and_then(|line| line.text.as_deref()).unwrap_or_default().trim();
            match &line {
                Some(line) if is_times(text) => return Ok(Some(line.number)),
                Some(line) if !text.is_empty() => {
                    block.get_or_insert((line.number, NOTES.iter().any(|note| text.starts_with(note))));
                }
                _ => {
                    if let Some((number, false)) = block.take() {
                        warnings.add(number, "begins something without a time; it is left out");
                    }
                    if line.is_none() {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

impl FormatReader for SubtitleReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        let Some(line) = self.times(warnings)? else { return Ok(None) };
        let mut words: Vec<String> = Vec::new();
        while let Some(next) = self.lines.next(warnings)? {
            let text = next.text.as_deref().map(str::trim).unwrap_or_default();
            if is_times(text) {
                // The blank line between is missing.
                words.pop_if(|number| is_number(number));
                self.waiting = Some(next.number);
            }
            if text.is_empty() || self.waiting.is_some() {
                break;
            }
            words.push(plain(text));
        }
        if words.iter().all(String::is_empty) {
            warnings.add(line, "shows nothing; its sentence is blank");
        }
        self.count += 1;
        let mut record = Record { sentence: self.count, line, ..Record::default() };
        record.put(&self.role, words.join(" ").trim().to_owned());
        Ok(Some(record))
    }
}

/// A line without `<i>`, `{\an8}` and the like, which are all ASCII, and with the letters of entities.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '{']) {
        let (before, tag) = rest.split_at(at);
        plain.push_str(before);
        let (is_tag, end) = match tag.as_bytes() {
            [b'<', c, ..] => (c.is_ascii_alphanumeric() || *c == b'/', '>'),
            [b'{', c, ..] => (*c == b'\\', '}'),
            _ => (false, ' '),
        };
        let behind = tag.find(end).filter(|_| is_tag).map_or(1, |end| end + 1);
        plain.push_str(if behind == 1 { &tag[..1] } else { "" });
        rest = &tag[behind..];
    }
    plain.push_str(rest);
    let named = |entity: &str| resolve_predefined_entity(entity).or((entity == "nbsp").then_some("\u{a0}"));
    unescape_with(&plain, named).map_or_else(|_| plain.clone(), std::borrow::Cow::into_owned).trim().to_owned()
}
