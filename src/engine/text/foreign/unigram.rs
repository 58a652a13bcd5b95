//! The pieces of a text whose scores have the greatest sum (Kudo 2018), by Viterbi's algorithm with the
//! numbers and the order of SentencePiece, so that near ties fall as they do there. Imports nothing of ours.

use std::ops::Range;

use crate::text::foreign::sentencepiece::{SpmPiece, SpmPieceKind};
use crate::text::foreign::trie::Trie;

/// How much worse an unknown letter is than the worst piece.
const UNKNOWN: f32 = 10.0;
/// Where sums begin anew in a long text, so that they keep their precision.
const FAR: f32 = 100_000.0;

/// The scores of a model's pieces.
#[derive(Debug)]
pub(super) struct Unigram {
    trie: Trie,
    /// None for a piece that its maker fixed, which is always taken.
    scores: Vec<Option<f32>>,
    unknown: f32,
}

#[derive(Clone, Copy)]
struct Best {
    score: f32,
    start: usize,
    piece: Option<u32>,
}

impl Unigram {
    pub(super) fn new(pieces: &[SpmPiece]) -> Self {
        let normal = || pieces.iter().filter(|piece| piece.kind == SpmPieceKind::Normal).map(|piece| piece.score);
        let mut trie = Trie::default();
        let scores = pieces.iter().zip(0..).map(|(piece, number)| {
            if matches!(piece.kind, SpmPieceKind::Normal | SpmPieceKind::UserDefined) {
                trie.insert(&piece.text, number);
            }
            (piece.kind != SpmPieceKind::UserDefined).then_some(piece.score)
        });
        let scores = scores.collect();
        Self { trie, scores, unknown: normal().fold(f32::MAX, f32::min) - UNKNOWN }
    }

    /// The pieces of `text` as their places and numbers; a letter that no piece has is none.
    pub(super) fn cut(&self, text: &str) -> Vec<(Range<usize>, Option<u32>)> {
        let mut best: Vec<Option<Best>> = vec![None; text.len() + 1];
        for (start, c) in text.char_indices() {
            let mut before = best[start].map_or(0.0, |best| best.score);
            if before.abs() > FAR {
                best[start..].iter_mut().flatten().for_each(|best| best.score -= before);
                before = 0.0;
            }
            let single = c.len_utf8();
            let mut has_single = false;
            let mut offer = |length: usize, score: f32, piece: Option<u32>| {
                let place = &mut best[start + length];
                let score = score + before;
                if place.is_none_or(|place| score > place.score) {
                    *place = Some(Best { score, start, piece });
                }
            };
            for (length, piece) in self.trie.prefixes(&text[start..]) {
                let fixed = || (0.1 * (length - 1) as f64) as f32;
                offer(length, self.scores[piece as usize].unwrap_or_else(fixed), Some(piece));
                has_single |= length == single;
            }
            if !has_single {
                offer(single, self.unknown, None);
            }
        }
        let mut pieces = Vec::new();
        let mut end = text.len();
        while let Some(Best { start, piece, .. }) = best[end].filter(|_| end > 0) {
            pieces.push((start..end, piece));
            end = start;
        }
        pieces.reverse();
        pieces
    }
}
