//! From letters of texts, as other programs mark errors, to the words of a mark, and back.

use crate::judgements::judge::{ErrorMark, Letters, MarkSpans};
use crate::{import::places::is_base, store::rules::SideRules};
use engine::text::cut::WordRule;
use engine::text::words::{letters_at, place_of, span_of};

/// A translation, its source, and what a word is in them.
type Texts<'a> = (&'a str, &'a str, SideRules);

impl ErrorMark {
    /// The mark at these letters. Without any in the translation it is of missing words if the source has some, else of all.
    pub fn at(self, texts: Texts<'_>, spans: MarkSpans) -> Self {
        let mut mark = Self { spans: None, ..self.over(texts, spans) };
        mark.spans = Some(spans).filter(|spans| mark.spans_in(texts) != *spans);
        mark
    }

    fn over(&self, (text, source, rules): Texts<'_>, spans: MarkSpans) -> Self {
        let of = |text: &str, rule: WordRule, (first, behind): Letters| {
            span_of(text, rule, first..behind.unwrap_or_else(|| text.chars().count()))
        };
        let count = rules.target.count(text);
        let whole = if spans.1.is_some() { (count, count) } else { (0, count) };
        let (target, letters) = spans.0.map_or((whole, None), |letters| of(text, rules.target, letters));
        let source = spans.1.map(|letters| of(source, rules.source, letters).0).unwrap_or_default();
        Self { target, letters, source, ..self.clone() }
    }

    /// The letters that it marks: those of its file, unless its words were changed since.
    pub fn spans_in(&self, texts: Texts<'_>) -> MarkSpans {
        let is_it = |spans: &MarkSpans| {
            let over = self.over(texts, *spans);
            (over.target, over.letters, over.source) == (self.target, self.letters, self.source)
        };
        self.spans.filter(is_it).unwrap_or_else(|| self.implied(texts))
    }

    /// The mark of words that other rules cut.
    pub fn respread(self, (text, source, rules): Texts<'_>, other: SideRules) -> Self {
        if rules == other {
            return self;
        }
        let spans = self.spans_in((text, source, other));
        self.at((text, source, rules), spans)
    }

    fn implied(&self, (text, source, rules): Texts<'_>) -> MarkSpans {
        let letters =
            |text: &str, from: usize, to: usize| (text[..from].chars().count(), Some(text[..to].chars().count()));
        let of_source = place_of(source, rules.source, self.source).filter(|_| self.source.0 < self.source.1);
        let of_source = of_source.map(|place| letters(source, place.start, place.end));
        let (first, behind) = self.target;
        let target = match place_of(text, rules.target, if first < behind { self.target } else { (first, first + 1) }) {
            Some(place) if first < behind => {
                let place = self.letters.map_or_else(|| place.clone(), |part| letters_at(text, &place, part));
                Some(letters(text, place.start, place.end))
            }
            Some(place) => Some(letters(text, place.start, place.start)),
            None if first >= behind && of_source.is_some() => None,
            None => Some(letters(text, text.len(), text.len())),
        };
        (target, of_source)
    }
}

/// The letters of a text that are those of a copy, which differs by spaces and the like.
pub fn moved((first, behind): Letters, copy: &str, text: &str) -> Letters {
    if copy == text {
        return (first, behind);
    }
    let Some(behind) = behind else { return (moved((0, Some(first)), copy, text).1.unwrap_or_default(), None) };
    let bases = |to: usize| copy.chars().take(to).filter(|c| is_base(*c)).count();
    let places: Vec<usize> = text.chars().enumerate().filter(|(_, c)| is_base(*c)).map(|(at, _)| at).collect();
    let end = text.chars().count();
    let (before, within) = (bases(first), bases(behind).saturating_sub(bases(first)));
    let first = places.get(before).copied().unwrap_or(end);
    (first, Some(if within == 0 { first } else { places.get(before + within - 1).map_or(end, |at| at + 1) }))
}

/// Words from 1, the last one included: `3-4`, `3`; `before 3` where words are missing.
pub(crate) fn span((first, behind): (usize, usize)) -> String {
    match behind.saturating_sub(first) {
        0 => format!("before {}", first + 1),
        1 => (first + 1).to_string(),
        _ => format!("{}-{behind}", first + 1),
    }
}

pub(super) fn read_span(text: &str) -> Option<(usize, usize)> {
    let number = |text: &str| text.trim().parse::<usize>().ok()?.checked_sub(1);
    if let Some(rest) = text.strip_prefix("before") {
        return number(rest).map(|first| (first, first));
    }
    match text.split_once('-') {
        None => number(text).map(|first| (first, first + 1)),
        Some((first, last)) => Some((number(first)?, number(last)? + 1)).filter(|(first, behind)| first < behind),
    }
}
