//! A variant beside its original: which words are others, and which look elsewhere. Pure.

use crate::app::{document::table::AlignmentTable, files::common::common};
use engine::analysis::divergence::jensen_shannon;

pub const DIVERGENCE: &str = id!(
    "The mean Jensen-Shannon divergence of the rows of alpha of the words that both translations share, over the source words that \
     stand for each other: 0 where they are equal, ln 2 = 0.693 nats where they share no source word"
);

/// A word of both translations whose greatest alpha (`</s>` excluded) is now at another source word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Target word of the variant.
    pub i: usize,
    /// The source word that it looks at most in the original.
    pub before: usize,
    pub now: usize,
}

/// Differences of a variant from its original.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemComparison {
    /// For each source word of the variant the word of the original that it keeps or replaces.
    pub sources: Vec<Option<usize>>,
    pub changed_sources: Vec<bool>,
    pub changed_targets: Vec<bool>,
    /// Words of the original's translation that the variant's has not, `</s>` left aside.
    pub gone: usize,
    /// Words of both translations that have a row in both, `</s>` left aside.
    pub shared: usize,
    pub moved: Vec<Moved>,
    /// Mean of the rows of the shared words, nats; `None` where there are none.
    pub divergence: Option<f64>,
}

impl SystemComparison {
    /// Of two tables; `None` where they are too long to compare.
    pub fn of(original: &AlignmentTable, variant: &AlignmentTable) -> Option<Self> {
        let (a, b) = (sources(original), sources(variant));
        let pairs = common(&a, &b)?;
        let (before, now) = (targets(original), targets(variant));
        let words = common(&before, &now)?;
        let is_word = |i: &usize| !original.target[*i].is_eos;
        let kept = words.iter().filter(|(i, _)| is_word(i)).count();
        let mut found = Self {
            sources: standing_for(&a, &b, &pairs),
            changed_sources: unpaired(b.len(), &pairs),
            changed_targets: unpaired(now.len(), &words),
            gone: (0..before.len()).filter(is_word).count() - kept,
            ..Self::default()
        };
        found.rows(original, variant, &words);
        Some(found)
    }

    pub fn changed(&self, variant: &AlignmentTable) -> usize {
        let words = variant.target.iter().zip(&self.changed_targets);
        words.filter(|(word, changed)| **changed && !word.is_eos).count()
    }

    fn words(&self, variant: &AlignmentTable) -> String {
        match (self.changed(variant), self.gone) {
            (0, 0) => tr!("the same words").to_owned(),
            (0, gone) => tr!("{n} word gone" | "{n} words gone" % gone),
            (new, 0) => tr!("{n} new word" | "{n} new words" % new),
            (new, gone) => tr!("{new} new, {gone} gone", new, gone),
        }
    }

    pub fn text(&self, variant: &AlignmentTable) -> String {
        let mut parts = vec![self.words(variant)];
        if let Some(divergence) = self.divergence {
            parts.push(match self.moved.len() {
                0 => tr!("no row moved").to_owned(),
                count => tr!("{n} row moved" | "{n} rows moved" % count),
            });
            parts.push(tr!("JSD {divergence} nats", divergence = format_args!("{divergence:.3}")));
        }
        parts.join(", ")
    }

    fn rows(&mut self, original: &AlignmentTable, variant: &AlignmentTable, words: &[(usize, usize)]) {
        let (Some(alpha), Some(other)) = (&original.alpha, &variant.alpha) else { return };
        let has_row = |row: &[f32]| row.iter().any(|alpha| *alpha > 0.0);
        let mut sum = 0.0;
        for &(i, now) in words.iter().filter(|(i, _)| !original.target[*i].is_eos) {
            let (row, new) = (alpha.row(i), other.row(now));
            if !has_row(row) || !has_row(new) {
                continue;
            }
            self.shared += 1;
            sum += self.between(row, new);
            if let (Some(before), Some(j)) = (original.looks_at(i), variant.looks_at(now))
                && self.sources[j] != Some(before)
            {
                self.moved.push(Moved { i: now, before, now: j });
            }
        }
        self.divergence = (self.shared > 0).then(|| sum / self.shared as f64);
    }

    /// Of two rows over words that stand for each other; a word without one stands alone.
    fn between(&self, row: &[f32], new: &[f32]) -> f64 {
        let mut q = vec![0.0; row.len() + new.len()];
        for (j, alpha) in new.iter().enumerate() {
            q[self.sources[j].unwrap_or(row.len() + j)] += alpha;
        }
        let p = row.iter().copied().chain(new.iter().map(|_| 0.0));
        let ln = |numbers: Vec<f32>| numbers.into_iter().map(f32::ln).collect::<Vec<_>>();
        jensen_shannon(&ln(p.collect()), &ln(q))
    }
}

fn sources(table: &AlignmentTable) -> Vec<&str> {
    table.source.iter().map(|word| word.text.as_str()).collect()
}

fn targets(table: &AlignmentTable) -> Vec<&str> {
    table.target.iter().map(|word| word.text.as_str()).collect()
}

pub(crate) fn unpaired(count: usize, pairs: &[(usize, usize)]) -> Vec<bool> {
    let mut marks = vec![true; count];
    for &(_, at) in pairs {
        marks[at] = false;
    }
    marks
}

/// For each word of `b` the one of `a` that it stands for: the pair of the longest common subsequence, else the same word
/// that has moved, else, where as many words are left in a passage, those in their order.
fn standing_for(a: &[&str], b: &[&str], pairs: &[(usize, usize)]) -> Vec<Option<usize>> {
    let mut of: Vec<Option<usize>> = vec![None; b.len()];
    let mut is_free = vec![true; a.len()];
    for &(i, j) in pairs {
        (of[j], is_free[i]) = (Some(i), false);
    }
    for j in 0..b.len() {
        let moved = (0..a.len()).find(|&i| of[j].is_none() && is_free[i] && a[i] == b[j]);
        if let Some(i) = moved {
            (of[j], is_free[i]) = (Some(i), false);
        }
    }
    let (mut from, mut begin) = (0, 0);
    for &(i, j) in pairs.iter().chain([&(a.len(), b.len())]) {
        let left: Vec<usize> = (from..i).filter(|i| is_free[*i]).collect();
        let new: Vec<usize> = (begin..j).filter(|j| of[*j].is_none()).collect();
        if left.len() == new.len() {
            for (j, i) in new.into_iter().zip(left) {
                of[j] = Some(i);
            }
        }
        (from, begin) = (i + 1, j + 1);
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::document::table::{SourceWord, TargetWord};
    use engine::analysis::alignment::Alignment;

    fn table(source: &str, target: &str, rows: &[&[f32]]) -> AlignmentTable {
        let word = |text: &str| SourceWord { text: text.to_owned(), is_eos: text == "</s>", ..SourceWord::default() };
        let said = |text: &str| TargetWord { text: text.to_owned(), is_eos: text == "</s>", ..TargetWord::default() };
        let source: Vec<SourceWord> = source.split(' ').map(word).collect();
        let rows: Vec<Vec<f32>> = rows.iter().map(|row| row.to_vec()).collect();
        AlignmentTable {
            alpha: Some(Alignment::from_rows(&rows)),
            target: target.split(' ').map(said).collect(),
            source,
            ..AlignmentTable::default()
        }
    }

    #[test]
    fn words_stand_for_those_they_replace_or_have_been() {
        let of = |a: &str, b: &str| {
            let (a, b): (Vec<&str>, Vec<&str>) = (a.split(' ').collect(), b.split(' ').collect());
            standing_for(&a, &b, &common(&a, &b).expect("short"))
        };
        assert_eq!(of("the red shoe", "the blue shoe"), [Some(0), Some(1), Some(2)]);
        assert_eq!(of("the red shoe", "the shoe"), [Some(0), Some(2)]);
        assert_eq!(of("the red shoe", "the very red shoe"), [Some(0), None, Some(1), Some(2)]);
        assert_eq!(of("the old red shoe", "the red old shoe"), [Some(0), Some(2), Some(1), Some(3)]);
        assert_eq!(of("a red shoe", "a dark blue shoe"), [Some(0), None, None, Some(2)]);
    }

    #[test]
    fn rows_that_look_elsewhere_and_how_far_they_are() {
        let original = table(
            "the red shoe </s>",
            "le soulier rouge </s>",
            &[&[1., 0., 0., 0.], &[0., 0., 1., 0.], &[0., 1., 0., 0.], &[0., 0., 0., 1.]],
        );
        let same = SystemComparison::of(&original, &original).expect("short");
        assert_eq!((same.divergence, same.moved.len(), same.shared), (Some(0.0), 0, 3));
        // a replaced word is looked at in place of the one before
        let blue = table(
            "the blue shoe </s>",
            "le soulier bleu </s>",
            &[&[1., 0., 0., 0.], &[0., 0., 1., 0.], &[0., 1., 0., 0.], &[0., 0., 0., 1.]],
        );
        let found = SystemComparison::of(&original, &blue).expect("short");
        assert_eq!(found.changed_targets, [false, false, true, false]);
        assert_eq!(found.changed_sources, [false, true, false, false]);
        assert_eq!((found.divergence, found.moved.len(), found.shared, found.changed(&blue)), (Some(0.0), 0, 2, 1));
        assert_eq!(found.text(&blue), "1 new, 1 gone, no row moved, JSD 0.000 nats");
        // "soulier" looks at "red" now
        let other =
            table("the red shoe </s>", "le soulier </s>", &[&[1., 0., 0., 0.], &[0., 1., 0., 0.], &[0., 0., 0., 1.]]);
        let found = SystemComparison::of(&original, &other).expect("short");
        assert_eq!(found.moved, [Moved { i: 1, before: 2, now: 1 }]);
        let half = std::f64::consts::LN_2 / 2.0;
        assert!((found.divergence.expect("rows") - half).abs() < 1e-6, "one of two rows is wholly elsewhere");
        // without the word that was looked at there is nothing in common
        let without = table("the shoe </s>", "rouge </s>", &[&[0., 1., 0.], &[0., 0., 1.]]);
        let found = SystemComparison::of(&original, &without).expect("short");
        assert_eq!(found.moved, [Moved { i: 0, before: 1, now: 1 }]);
    }
}
