//! Floor 7: the texts and numbers of a million sentences in memory, in pieces that copies share.

use std::sync::Arc;

use crate::text::lines::Needle;

/// Sentences of a piece.
pub const PIECE: usize = 4096;

/// A text for each sentence, or none.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    pieces: Vec<Arc<Piece>>,
    len: usize,
}

/// Texts one behind the other, a line feed behind each.
#[derive(Clone, Debug, Default)]
struct Piece {
    text: String,
    /// Where each text ends, its feed not counted.
    ends: Vec<u32>,
    /// Whether there is a text at all.
    there: Vec<bool>,
}

impl Piece {
    fn push(&mut self, text: Option<&str>) {
        // A feed within a text would be taken for its end.
        let start = self.text.len();
        self.text.push_str(text.unwrap_or_default());
        if self.text[start..].contains('\n') {
            let line = self.text[start..].replace('\n', " ");
            self.text.replace_range(start.., &line);
        }
        self.ends.push(self.text.len() as u32);
        self.text.push('\n');
        self.there.push(text.is_some());
    }

    fn start(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.ends[i - 1] as usize + 1 }
    }

    fn get(&self, i: usize) -> Option<&str> {
        self.there[i].then(|| &self.text[self.start(i)..self.ends[i] as usize])
    }
}

impl Texts {
    /// How many places there are, with a text or without.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no place.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts a text behind the others.
    pub fn push(&mut self, text: Option<&str>) {
        if self.len.is_multiple_of(PIECE) {
            self.pieces.push(Arc::default());
        }
        if let Some(last) = self.pieces.last_mut() {
            Arc::make_mut(last).push(text);
            self.len += 1;
        }
    }

    /// Makes room for so many places.
    pub fn grow(&mut self, len: usize) {
        while self.len < len {
            self.push(None);
        }
    }

    /// The text of a place, from 0.
    pub fn get(&self, at: usize) -> Option<&str> {
        if at >= self.len {
            return None;
        }
        self.pieces[at / PIECE].get(at % PIECE)
    }

    /// Changes the texts of some places, sorted and below [`Texts::len`]; costs a piece for each piece touched.
    pub fn set(&mut self, new: &[(usize, &str)]) {
        for run in new.chunk_by(|a, b| a.0 / PIECE == b.0 / PIECE) {
            let Some(piece) = self.pieces.get_mut(run[0].0 / PIECE) else { continue };
            let (mut next, mut changed) = (Piece::default(), run.iter().peekable());
            for i in 0..piece.there.len() {
                let place = run[0].0 / PIECE * PIECE + i;
                let mut text = piece.get(i);
                while let Some((_, new)) = changed.next_if(|(at, _)| *at == place) {
                    text = Some(*new);
                }
                next.push(text);
            }
            *piece = Arc::new(next);
        }
    }

    /// Calls `found` with every place whose text holds the needle, in order.
    pub fn search(&self, needle: &Needle, found: &mut dyn FnMut(usize)) {
        for (p, piece) in self.pieces.iter().enumerate() {
            if let Some(rule) = needle.rule() {
                piece.search(rule, &mut |i| found(p * PIECE + i));
                continue;
            }
            let holds = |i: &usize| piece.get(*i).is_some_and(|text| needle.is_in(text));
            (0..piece.there.len()).filter(holds).for_each(|i| found(p * PIECE + i));
        }
    }

    /// As [`Texts::search`] for an expression that may match across texts, hence text by text.
    pub fn search_each(&self, rule: &regex::Regex, found: &mut dyn FnMut(usize)) {
        for at in 0..self.len {
            if self.get(at).is_some_and(|text| rule.is_match(text)) {
                found(at);
            }
        }
    }
}

impl Piece {
    /// Looks through all texts at once; the rule never matches a feed.
    fn search(&self, rule: &regex::Regex, found: &mut dyn FnMut(usize)) {
        let mut at = 0;
        while let Some(hit) = rule.find_at(&self.text, at) {
            let i = self.ends.partition_point(|end| (*end as usize) < hit.start());
            if i >= self.ends.len() {
                return;
            }
            if self.there[i] {
                found(i);
            }
            at = self.ends[i] as usize + 1;
        }
    }
}

/// A number for each sentence, NaN where there is none.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    pieces: Vec<Arc<Vec<f32>>>,
}

impl Numbers {
    /// The number of a place, from 0.
    pub fn get(&self, at: usize) -> f32 {
        self.pieces.get(at / PIECE).and_then(|piece| piece.get(at % PIECE)).copied().unwrap_or(f32::NAN)
    }

    /// Sets a number.
    pub fn set(&mut self, at: usize, number: f32) {
        while self.pieces.len() <= at / PIECE {
            self.pieces.push(Arc::default());
        }
        let piece = Arc::make_mut(&mut self.pieces[at / PIECE]);
        if piece.len() <= at % PIECE {
            piece.resize(at % PIECE + 1, f32::NAN);
        }
        piece[at % PIECE] = number;
    }
}
