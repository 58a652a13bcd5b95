//! A text made of another, with the places where it comes from. Imports nothing of ours.

use std::ops::Range;

/// A text, and for each of its bytes and its end a place in the text that it was made of.
#[derive(Debug, Default)]
pub(super) struct Normal {
    pub(super) text: String,
    places: Vec<usize>,
}

impl Normal {
    /// A text as it is.
    pub(super) fn same(text: &str) -> Self {
        Self { text: text.to_owned(), places: (0..=text.len()).collect() }
    }

    /// Appends what comes from `place`.
    pub(super) fn push(&mut self, text: &str, place: usize) {
        self.text.push_str(text);
        self.places.resize(self.text.len(), place);
    }

    /// Takes `end` away from the end as often as it is there; where the first of them came from.
    pub(super) fn trim_end(&mut self, end: &str) -> Option<usize> {
        let length = self.text.trim_end_matches(end).len();
        let place = self.places.get(length).copied();
        self.text.truncate(length);
        self.places.truncate(length);
        place
    }

    /// Ends the text, which was made of a text up to `place`.
    pub(super) fn end(mut self, place: usize) -> Self {
        self.places.push(place);
        self
    }

    /// The same text, made of the text that `before` was made of.
    pub(super) fn after(mut self, before: &Self) -> Self {
        for place in &mut self.places {
            *place = before.place(*place);
        }
        self
    }

    /// Where a part comes from.
    pub(super) fn origin(&self, part: &Range<usize>) -> Range<usize> {
        let start = self.place(part.start);
        start..self.place(part.end).max(start)
    }

    fn place(&self, at: usize) -> usize {
        self.places.get(at).or(self.places.last()).copied().unwrap_or(0)
    }
}
