//! Undo by snapshots; typing merges within a word. Knows no clock.

use crate::app::document::sentence_state::SentenceState;

const MAX_STEPS: usize = 300;
/// Most bytes of texts and pinned rows kept in all snapshots together.
const MAX_BYTES: usize = 8 << 20;

/// Where something is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedIn {
    Text,
    Beside,
    /// Line and word of the interlinear text.
    Cell(usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    /// One run of non-blank characters was inserted, ending at this byte.
    Insert(usize),
    /// One blank was inserted: the end of a word, part of its step.
    Blank,
    /// One character was removed, leaving a gap at this byte.
    Delete(usize),
    Other,
}

/// Past and future around the present.
#[derive(Clone, Debug, Default)]
pub struct History {
    past: Vec<SentenceState>,
    future: Vec<SentenceState>,
    last: Option<(TypedIn, Edit)>,
}

impl History {
    /// Records that typing changed `from` into `after`; merges with the edit before if both belong to one word.
    pub fn typed(&mut self, field: TypedIn, before: SentenceState, from: &str, after: &str) {
        if from == after {
            return;
        }
        let (prefix, edit) = classify(from, after);
        let last = self.last.filter(|(of, _)| *of == field).map(|(_, edit)| edit);
        let merges = match (last, edit) {
            (Some(Edit::Insert(end)), Edit::Insert(_) | Edit::Blank) => prefix == end,
            (Some(Edit::Delete(at)), Edit::Delete(now)) => {
                now == at || from[now..].chars().next().is_some_and(|c| now + c.len_utf8() == at)
            }
            _ => false,
        };
        if !merges {
            self.push(before);
        }
        self.future.clear();
        self.last = Some((field, edit));
    }

    pub fn replaced(&mut self, before: SentenceState) {
        self.push(before);
        self.future.clear();
        self.last = None;
    }

    pub fn undo(&mut self, present: SentenceState) -> Option<SentenceState> {
        let before = self.past.pop()?;
        self.future.push(present);
        self.last = None;
        Some(before)
    }

    /// What was before the present sentence was begun; where there was none, what was first.
    pub fn undo_sentence(&mut self, present: SentenceState) -> Option<SentenceState> {
        let mut before = self.undo(present)?;
        while !begins_anew(&before.source, self.future.last().map_or("", |after| &after.source)) {
            let Some(earlier) = self.undo(before.clone()) else { break };
            before = earlier;
        }
        Some(before)
    }

    pub fn redo(&mut self, present: SentenceState) -> Option<SentenceState> {
        let after = self.future.pop()?;
        self.past.push(present);
        self.last = None;
        Some(after)
    }

    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    fn push(&mut self, state: SentenceState) {
        self.past.push(state);
        let mut bytes: usize = self.past.iter().map(SentenceState::bytes).sum();
        let mut drop = self.past.len().saturating_sub(MAX_STEPS);
        bytes -= self.past[..drop].iter().map(SentenceState::bytes).sum::<usize>();
        while bytes > MAX_BYTES && drop + 1 < self.past.len() {
            bytes -= self.past[drop].bytes();
            drop += 1;
        }
        self.past.drain(..drop);
    }
}

/// Whether an edit begins another sentence: more of the text is replaced at once than stays.
pub fn begins_anew(before: &str, after: &str) -> bool {
    let prefix = common_prefix(before, after);
    let stays = prefix + common_suffix(before, after, prefix);
    let gone = &before[prefix..before.len() - (stays - prefix)];
    gone.len() > stays && gone.chars().nth(1).is_some()
}

/// Length in bytes of what two texts have in common at the start, on a character boundary of both.
pub fn common_prefix(a: &str, b: &str) -> usize {
    a.char_indices().zip(b.chars()).find(|((_, x), y)| x != y).map_or(a.len().min(b.len()), |((at, _), _)| at)
}

/// As [`common_prefix`] at the end, not running into the first `prefix` bytes.
pub fn common_suffix(a: &str, b: &str, prefix: usize) -> usize {
    let (a, b) = (&a[prefix..], &b[prefix..]);
    a.chars().rev().zip(b.chars().rev()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum()
}

fn classify(before: &str, after: &str) -> (usize, Edit) {
    let prefix = common_prefix(before, after);
    let suffix = common_suffix(before, after, prefix);
    let removed = &before[prefix..before.len() - suffix];
    let inserted = &after[prefix..after.len() - suffix];
    let edit = if removed.is_empty() && !inserted.chars().any(char::is_whitespace) {
        Edit::Insert(prefix + inserted.len())
    } else if removed.is_empty() && inserted.chars().count() == 1 {
        Edit::Blank
    } else if inserted.is_empty() && removed.chars().count() == 1 && !removed.chars().any(char::is_whitespace) {
        Edit::Delete(prefix)
    } else {
        Edit::Other
    };
    (prefix, edit)
}
