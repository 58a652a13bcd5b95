//! Text cut into the pieces of a SentencePiece model, as that library does it. Imports floor 0.

use std::{collections::HashSet, ops::Range, path::Path};

use ahash::AHashMap;

use crate::error::{Error, Result};
use crate::text::foreign::bpe::{Ties, merge};
use crate::text::foreign::sentencepiece::{SentencePiece, SpmModel, SpmPiece, SpmPieceKind};
use crate::text::pieces::{SPACE, byte_of};
use crate::text::{foreign::normal::Normal, foreign::trie::Trie, foreign::unigram::Unigram};

/// A SentencePiece model ready to cut text.
#[derive(Debug)]
pub(super) struct Segmenter {
    charsmap: Option<CharsMap>,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    space_at_end: bool,
    fixed: Trie,
    search: Search,
    bytes: Option<Vec<u32>>,
}

#[derive(Debug)]
enum Search {
    Unigram(Unigram),
    Bpe(Merges),
    Whole(AHashMap<String, u32>, SpmModel),
}

/// A place of a normal text and its piece; a run of unknown letters is one place with none.
pub(super) type Found = (Range<usize>, Option<u32>);

impl Segmenter {
    pub(super) fn new(origin: &Path, model: &SentencePiece) -> Result<Self> {
        let rules = &model.normalizer;
        let charsmap = CharsMap::read(&rules.charsmap)
            .map_err(|what| Error::key(origin, "normalizer_spec.precompiled_charsmap", what))?;
        let mut fixed = Trie::default();
        let mut bytes = vec![0; if model.byte_fallback { 256 } else { 0 }];
        for (piece, number) in model.pieces.iter().zip(0..) {
            match piece.kind {
                SpmPieceKind::UserDefined => fixed.insert(&piece.text, number),
                SpmPieceKind::Byte => {
                    if let Some(place) = byte_of(&piece.text).and_then(|byte| bytes.get_mut(usize::from(byte))) {
                        *place = number;
                    }
                }
                _ => {}
            }
        }
        Ok(Self {
            charsmap,
            add_dummy_prefix: rules.add_dummy_prefix,
            remove_extra_whitespaces: rules.remove_extra_whitespaces,
            space_at_end: model.space_at_end,
            fixed,
            search: match model.model {
                SpmModel::Unigram => Search::Unigram(Unigram::new(&model.pieces)),
                SpmModel::Bpe => Search::Bpe(Merges::new(&model.pieces)),
                kind @ (SpmModel::Word | SpmModel::Char) => {
                    let pieces = model.pieces.iter().zip(0..).filter(|(piece, _)| is_text(piece.kind));
                    Search::Whole(pieces.map(|(piece, number)| (piece.text.clone(), number)).collect(), kind)
                }
            },
            bytes: model.byte_fallback.then_some(bytes),
        })
    }

    /// The pieces of bytes that a letter becomes; `None` where unknown letters stay as they are.
    pub(super) fn bytes(&self, letters: &str) -> Option<impl Iterator<Item = u32>> {
        let bytes = self.bytes.as_ref()?;
        Some(letters.bytes().map(|byte| bytes[usize::from(byte)]))
    }

    /// Text as the model reads it.
    pub(super) fn normalize(&self, text: &str) -> Normal {
        let mut normal = Normal::default();
        let mut consumed = 0;
        if self.remove_extra_whitespaces {
            while let Some((" ", length)) = self.normal_prefix(&text[consumed..]) {
                consumed += length;
            }
        }
        if consumed == text.len() {
            return normal.end(consumed);
        }
        if self.add_dummy_prefix && !self.space_at_end {
            normal.push(SPACE, consumed);
        }
        let mut after_space = self.remove_extra_whitespaces;
        while let Some((part, length)) = self.normal_prefix(&text[consumed..]) {
            let part = if after_space { part.trim_start_matches(' ') } else { part };
            for piece in part.split_inclusive(' ') {
                let letters = piece.strip_suffix(' ');
                normal.push(letters.unwrap_or(piece), consumed);
                if letters.is_some() {
                    normal.push(SPACE, consumed);
                }
            }
            if !part.is_empty() {
                after_space = part.ends_with(' ');
            }
            after_space &= self.remove_extra_whitespaces;
            consumed += length;
        }
        if self.remove_extra_whitespaces {
            consumed = normal.trim_end(SPACE).unwrap_or(consumed);
        }
        if self.add_dummy_prefix && self.space_at_end {
            normal.push(SPACE, consumed);
        }
        normal.end(consumed)
    }

    /// What the beginning of a text becomes, and the length of this beginning; `None` at the end.
    fn normal_prefix<'a>(&'a self, text: &'a str) -> Option<(&'a str, usize)> {
        if let Some((length, _)) = self.fixed.prefixes(text).last() {
            return Some((&text[..length], length));
        }
        if let Some((length, content)) = self.charsmap.as_ref().and_then(|charsmap| charsmap.longest(text)) {
            return Some((content, length));
        }
        let length = text.chars().next()?.len_utf8();
        Some((&text[..length], length))
    }

    /// The pieces of a normal text.
    pub(super) fn cut(&self, text: &str) -> Vec<Found> {
        let pieces = match &self.search {
            Search::Unigram(unigram) => unigram.cut(text),
            Search::Bpe(merges) => merges.cut(text, &self.fixed),
            Search::Whole(pieces, kind) => {
                let parts = if *kind == SpmModel::Word { words(text) } else { letters(text, &self.fixed).0 };
                parts.into_iter().map(|part| (part.clone(), pieces.get(&text[part]).copied())).collect()
            }
        };
        let mut fused: Vec<Found> = Vec::with_capacity(pieces.len());
        for (place, piece) in pieces {
            match fused.last_mut() {
                Some((last, None)) if piece.is_none() && self.bytes.is_none() => last.end = place.end,
                _ => fused.push((place, piece)),
            }
        }
        fused
    }
}

fn is_text(kind: SpmPieceKind) -> bool {
    matches!(kind, SpmPieceKind::Normal | SpmPieceKind::UserDefined | SpmPieceKind::Unused)
}

fn words(text: &str) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = text.match_indices(SPACE).map(|(at, _)| at).filter(|at| *at > 0).collect();
    starts.insert(0, 0);
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).filter(|word| !word.is_empty()).collect()
}

fn letters(text: &str, fixed: &Trie) -> (Vec<Range<usize>>, HashSet<usize>) {
    let (mut parts, mut frozen) = (Vec::new(), HashSet::new());
    let mut start = 0;
    while let Some(c) = text[start..].chars().next() {
        let whole = fixed.prefixes(&text[start..]).last();
        if whole.is_some() {
            frozen.insert(start);
        }
        let end = start + whole.map_or(c.len_utf8(), |(length, _)| length);
        parts.push(start..end);
        start = end;
    }
    (parts, frozen)
}

#[derive(Debug)]
struct Merges {
    /// The number of each text, its rank, and whether it only leads to others.
    pieces: AHashMap<String, (u32, i64, bool)>,
}

impl Merges {
    fn new(pieces: &[SpmPiece]) -> Self {
        let text = pieces.iter().zip(0..).filter(|(piece, _)| is_text(piece.kind));
        let pieces = text.map(|(piece, number)| {
            (piece.text.clone(), (number, rank(piece.score), piece.kind == SpmPieceKind::Unused))
        });
        Self { pieces: pieces.collect() }
    }

    fn cut(&self, text: &str, fixed: &Trie) -> Vec<Found> {
        let (parts, frozen) = letters(text, fixed);
        // Where the pieces that only lead to others were put together.
        let mut seams: AHashMap<&str, usize> = AHashMap::new();
        let merged = merge(parts, Ties::Single, |a, b| {
            if frozen.contains(&a.start) || frozen.contains(&b.start) {
                return None;
            }
            let whole = &text[a.start..b.end];
            let (_, rank, is_unused) = *self.pieces.get(whole)?;
            if is_unused {
                seams.insert(whole, a.len());
            }
            Some(rank)
        });
        let mut pieces = Vec::with_capacity(merged.len());
        let mut waiting: Vec<Range<usize>> = merged.into_iter().rev().collect();
        while let Some(part) = waiting.pop() {
            let found = self.pieces.get(&text[part.clone()]);
            match found.filter(|found| found.2).and(seams.get(&text[part.clone()])) {
                Some(seam) => {
                    let middle = part.start + seam;
                    waiting.extend([middle..part.end, part.start..middle]);
                }
                None => pieces.push((part, found.filter(|found| !found.2).map(|found| found.0))),
            }
        }
        pieces
    }
}

fn rank(score: f32) -> i64 {
    let bits = score.to_bits() as i32;
    i64::from(if bits < 0 { i32::MIN - bits - 1 } else { bits })
}

/// The longest text that a rule may put in place of another, in bytes; those of Unicode's compatibility letters have
/// 33.
const MOST_CONTENT: usize = 128;

/// The rules of a SentencePiece normaliser as it stores them: a double array of bytes that leads to texts.
#[derive(Debug)]
pub(super) struct CharsMap {
    units: Vec<u32>,
    texts: String,
}

impl CharsMap {
    /// Reads the rules; `None` where there are none.
    pub(super) fn read(bytes: &[u8]) -> std::result::Result<Option<Self>, String> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let cut = || "is cut off; copy the file again".to_owned();
        let (head, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
        let size = u32::from_le_bytes(*head) as usize;
        let (units, texts) = rest.split_at_checked(size).ok_or_else(cut)?;
        let units = units.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        let texts = str::from_utf8(texts).map_err(|_| "puts something in place of letters that is not UTF-8")?;
        if texts.split('\0').any(|text| text.len() > MOST_CONTENT) {
            return Err(format!("puts more than {MOST_CONTENT} bytes in place of a text"));
        }
        Ok(Some(Self { units, texts: texts.to_owned() }))
    }

    /// The longest beginning of `text` that a rule is for: its length, and what stands in its place.
    pub(super) fn longest(&self, text: &str) -> Option<(usize, &str)> {
        let mut node = offset(*self.units.first()?);
        let mut longest = None;
        for (i, byte) in text.bytes().enumerate() {
            node ^= usize::from(byte);
            let Some(unit) = self.units.get(node).filter(|unit| **unit & 0x8000_00ff == u32::from(byte)) else { break };
            node ^= offset(*unit);
            if unit >> 8 & 1 == 1 {
                longest = self.units.get(node).map(|leaf| (i + 1, (leaf & 0x7fff_ffff) as usize));
            }
        }
        let (length, place) = longest.filter(|(length, _)| text.is_char_boundary(*length))?;
        Some((length, self.texts.get(place..)?.split('\0').next()?))
    }
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}
