//! Codes of byte pair encoding, as subword-nmt learns and applies them to words between spaces. Imports floor 0.

use std::{collections::HashMap, ops::Range, path::Path};

use crate::error::{Error, Result};
use crate::text::foreign::bpe::{Ties, merge};

/// What ends every piece but the last of a word.
pub const JOINER: &str = "@@";
/// What ends the last letter of a word while its pieces are found.
const WORD_END: &str = "</w>";
const VERSION: &str = "#version: ";

/// Pairs of pieces that become one, the earlier the better.
#[derive(Debug)]
pub(super) struct Codes {
    ranks: HashMap<String, i64>,
    /// The end of a word is a letter of its own, as in version 0.1.
    is_old: bool,
}

impl Codes {
    /// Reads a file of codes.
    pub(super) fn read(origin: &Path, text: &str) -> Result<Self> {
        let mut lines =
            text.split('\n').zip(1..).map(|(line, number)| (line.trim_matches(['\r', ' ']), number)).peekable();
        let version = lines.next_if(|(line, _)| line.starts_with(VERSION)).map(|(line, _)| line);
        let is_old = match version.map(|line| line[VERSION.len()..].trim()) {
            None | Some("0.1") => true,
            Some("0.2") => false,
            Some(other) => {
                return Err(Error::line(
                    origin,
                    1,
                    format!("has codes of version {other}; versions 0.1 and 0.2 are known"),
                ));
            }
        };
        let mut ranks = HashMap::new();
        for (line, number) in lines.filter(|(line, _)| !line.is_empty()) {
            if line.split(' ').filter(|piece| !piece.is_empty()).count() != 2 || line.split(' ').count() != 2 {
                return Err(Error::line(
                    origin,
                    number,
                    "has not two pieces with a space between; it is no code of BPE",
                ));
            }
            ranks.entry(line.to_owned()).or_insert(-(number as i64));
        }
        Ok(Self { ranks, is_old })
    }

    /// The pieces of a word as their places in it.
    pub(super) fn cut(&self, word: &str) -> Vec<Range<usize>> {
        let text = format!("{word}{WORD_END}");
        let letters = word.char_indices().map(|(at, c)| at..at + c.len_utf8());
        let mut parts: Vec<Range<usize>> = letters.collect();
        match parts.last_mut() {
            Some(last) if !self.is_old => last.end = text.len(),
            _ => parts.push(word.len()..text.len()),
        }
        let rank = |a: &Range<usize>, b: &Range<usize>| {
            self.ranks.get(&format!("{} {}", &text[a.clone()], &text[b.clone()])).copied()
        };
        let within = |part: Range<usize>| part.start..part.end.min(word.len());
        merge(parts, Ties::Together, rank).into_iter().map(within).filter(|part| !part.is_empty()).collect()
    }
}
