//! Which pieces of a vocabulary of subwords make up a word. Imports floor 0.
//!
//! A vocabulary says so in its pieces: BPE and WordPiece mark the pieces that continue a word (`un ##believ ##able`),
//! those that are not its last (`un@@ believ@@ able`) or the last one (`un believ able</w>`), SentencePiece marks the
//! first (`▁un believ able`). `[UNK]` is always a word, and `</s>` and the name of a target language are, too.

use std::{borrow::Cow, ops::Range};

use serde::{Deserialize, Serialize};

use crate::text::cut::{WordRule, WordStarts};
use crate::text::sentence::{EOS, UNK, is_language};

pub const SPACE: &str = "\u{2581}";
/// Stands in [`PieceMarks::label`] before a piece that goes on with a word.
pub const GOES_ON: char = '\u{b7}';

/// The byte that a piece of SentencePiece such as `<0x0A>` stands for.
pub fn byte_of(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    let is_plain = digits.len() == 2 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'));
    u8::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}

/// How pieces say where words begin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PieceMarks {
    /// Every entry is a whole word.
    #[default]
    Words,
    /// All pieces of a word but the first begin with this.
    Continues(String),
    /// All pieces of a word but the last end with this.
    Joins(String),
    /// The last piece of a word ends with this.
    Ends(String),
    /// The first piece of a word begins with this.
    Starts(String),
}

impl PieceMarks {
    /// The marks that some pieces show; where they show none, pieces are parts of words as they are.
    pub fn seen<T: AsRef<str>>(pieces: &[T]) -> Self {
        let any = |test: &dyn Fn(&str) -> bool| pieces.iter().map(AsRef::as_ref).any(test);
        if any(&|piece| piece.starts_with(SPACE)) {
            Self::Starts(SPACE.to_owned())
        } else if any(&|piece| piece.len() > 4 && piece.ends_with("</w>")) {
            Self::Ends("</w>".to_owned())
        } else if any(&|piece| piece.len() > 2 && piece.starts_with("##")) {
            Self::Continues("##".to_owned())
        } else if any(&|piece| piece.len() > 2 && piece.ends_with("@@")) {
            Self::Joins("@@".to_owned())
        } else {
            Self::Words
        }
    }

    pub fn has_pieces(&self) -> bool {
        *self != Self::Words
    }

    fn begins(&self, before: Option<&str>, piece: &str) -> bool {
        let special = |piece: &str| piece == EOS || piece == UNK || is_language(piece);
        let Some(before) = before.filter(|before| !special(before) && !special(piece)) else { return true };
        match self {
            Self::Words => true,
            Self::Continues(mark) => !piece.starts_with(mark.as_str()),
            Self::Joins(mark) => !before.ends_with(mark.as_str()),
            Self::Ends(mark) => before.ends_with(mark.as_str()),
            Self::Starts(mark) => piece.starts_with(mark.as_str()),
        }
    }

    /// Whether `piece` goes on with the word of the piece before it.
    pub fn continues(&self, before: &str, piece: &str) -> bool {
        !self.begins(Some(before), piece)
    }

    /// The words of some pieces, in their order, each as a range of pieces: those of the rule, as far as they begin
    /// with a piece.
    pub fn words<T: AsRef<str>>(&self, pieces: &[T], rule: WordRule) -> Vec<Range<usize>> {
        let chunks = self.chunks(pieces);
        if !self.has_pieces() {
            return chunks;
        }
        let (text, places) = self.text(pieces, &chunks);
        let Some(starts) = String::from_utf8(text).ok().map(|text| WordStarts::of(&text, rule)) else { return chunks };
        chunks.into_iter().flat_map(|chunk| starts.part(chunk, |i| places[i])).collect()
    }

    fn text<T: AsRef<str>>(&self, pieces: &[T], chunks: &[Range<usize>]) -> (Vec<u8>, Vec<usize>) {
        let (mut text, mut places) = (Vec::new(), Vec::with_capacity(pieces.len()));
        for chunk in chunks {
            for piece in pieces[chunk.clone()].iter().map(AsRef::as_ref) {
                places.push(text.len());
                match byte_of(piece).filter(|_| self.are_spaces()) {
                    Some(byte) => text.push(byte),
                    None => text.extend_from_slice(self.bare(piece).as_bytes()),
                }
            }
            text.push(b' ');
        }
        (text, places)
    }

    /// What stands between spaces, in its order, each as a range of pieces.
    pub fn chunks<T: AsRef<str>>(&self, pieces: &[T]) -> Vec<Range<usize>> {
        let mut words: Vec<Range<usize>> = Vec::with_capacity(pieces.len());
        for i in 0..pieces.len() {
            let before = i.checked_sub(1).map(|before| pieces[before].as_ref());
            match words.last_mut() {
                Some(word) if !self.begins(before, pieces[i].as_ref()) => word.end = i + 1,
                _ => words.push(i..i + 1),
            }
        }
        words
    }

    /// A piece without its mark.
    pub fn bare<'a>(&self, piece: &'a str) -> &'a str {
        match self {
            Self::Words => piece,
            Self::Continues(mark) | Self::Starts(mark) => piece.strip_prefix(mark.as_str()).unwrap_or(piece),
            Self::Ends(mark) | Self::Joins(mark) => piece.strip_suffix(mark.as_str()).unwrap_or(piece),
        }
    }

    /// A piece as readers are shown it alone: without SentencePiece's mark of a space, and with a dot before letters that go
    /// on with a word. Other marks stay; a full stop within a word and one after a space have the same label.
    pub fn label<'a>(&self, piece: &'a str) -> Cow<'a, str> {
        let Self::Starts(mark) = self else { return Cow::Borrowed(piece) };
        match piece.strip_prefix(mark.as_str()).filter(|bare| !bare.is_empty()) {
            Some(bare) => Cow::Borrowed(bare),
            None if piece.starts_with(char::is_alphanumeric) => Cow::Owned(format!("{GOES_ON}{piece}")),
            None => Cow::Borrowed(piece),
        }
    }

    pub fn are_spaces(&self) -> bool {
        matches!(self, Self::Starts(mark) | Self::Ends(mark) if mark == SPACE)
    }

    /// One word, put together.
    pub fn word<T: AsRef<str>>(&self, pieces: &[T]) -> String {
        let pieces = pieces.iter().map(AsRef::as_ref);
        if !self.are_spaces() {
            return pieces.map(|piece| self.bare(piece)).collect();
        }
        let mut letters = Vec::new();
        for piece in pieces {
            match byte_of(piece) {
                Some(byte) => letters.push(byte),
                None => letters.extend_from_slice(piece.as_bytes()),
            }
        }
        self.bare(&String::from_utf8_lossy(&letters)).replace(SPACE, " ")
    }
}
