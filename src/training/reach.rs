//! Where a gradient can be anything but zero: everywhere except in the rows of the embedding tables whose
//! word is not in the batch. Of twelve thousand rows a minibatch reads some hundreds, and the others need not be
//! summed, measured or cleared.

use std::ops::Range;

use crate::layout::ParameterLayout;
use engine::models::config::Config;

/// Places of a flat gradient, in order and apart from each other; see the top of the file.
#[derive(Clone, Debug)]
pub struct Reach {
    total: usize,
    tables: [(Range<usize>, bool); 2],
    width: usize,
    places: Vec<Range<usize>>,
    ids: Vec<u32>,
}

impl Reach {
    /// All of a model's gradient.
    pub fn all(config: &Config, layout: &ParameterLayout) -> Self {
        let mut tables = [(layout.range("source_embedding"), false), (layout.range("target_embedding"), true)];
        tables.sort_by_key(|(range, _)| range.start);
        Self { tables, width: config.embedding.max(1), ..Self::whole(layout.total()) }
    }

    /// All of a gradient that has no rows of embeddings.
    pub fn whole(total: usize) -> Self {
        let places = std::iter::once(0..total).collect();
        Self { total, tables: [(0..0, false), (0..0, true)], width: 1, places, ids: Vec::new() }
    }

    /// What a minibatch of these sentences reaches; `start` is the word that every target begins after, if it has a
    /// row.
    pub fn limit(&mut self, source: &[&[u32]], target: &[&[u32]], start: Option<u32>) {
        self.places.clear();
        let mut end = 0;
        for (table, is_target) in self.tables.clone() {
            self.add(end..table.start);
            let mut ids = std::mem::take(&mut self.ids);
            ids.clear();
            ids.extend(if is_target { target } else { source }.iter().copied().flatten());
            ids.extend(start.filter(|_| is_target));
            ids.sort_unstable();
            ids.dedup();
            for &id in &ids {
                let first = table.start + id as usize * self.width;
                self.add(first..first + self.width);
            }
            self.ids = ids;
            end = table.end;
        }
        self.add(end..self.total);
    }

    fn add(&mut self, place: Range<usize>) {
        match self.places.last_mut() {
            _ if place.is_empty() => {}
            Some(last) if last.end == place.start => last.end = place.end,
            _ => self.places.push(place),
        }
    }

    /// Calls `work` with each part of `within`, in order, and whether it is reached; the places count from the start of
    /// `within`.
    pub fn parts(&self, within: Range<usize>, mut work: impl FnMut(Range<usize>, bool)) {
        let first = self.places.partition_point(|place| place.end <= within.start);
        let mut at = within.start;
        for place in &self.places[first..] {
            let (start, end) = (place.start.max(within.start), place.end.min(within.end));
            if start >= end {
                break;
            }
            if at < start {
                work(at - within.start..start - within.start, false);
            }
            work(start - within.start..end - within.start, true);
            at = end;
        }
        if at < within.end {
            work(at - within.start..within.len(), false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(places: &[Range<usize>]) -> Reach {
        Reach { total: 100, tables: [(10..40, false), (50..80, true)], width: 10, places: places.to_vec(), ids: vec![] }
    }

    #[test]
    fn only_rows_of_words_are_reached() {
        let mut reach = reach(&[]);
        for (source, target, start, expected) in [
            (&[&[1u32][..]][..], &[&[0u32, 2][..], &[2]][..], None, &[0..10, 20..30, 40..60, 70..100][..]),
            (&[&[2, 0], &[1]], &[&[2]], Some(1), &[0..50, 60..100]),
            (&[], &[], None, &[0..10, 40..50, 80..100]),
        ] {
            reach.limit(source, target, start);
            assert_eq!(reach.places, expected, "{source:?}, {target:?}");
        }
    }

    #[test]
    fn parts_cover_everything_once() {
        let reach = reach(&[0..10, 20..30, 40..60]);
        for within in [0..100, 5..25, 10..20, 12..18, 22..28, 55..100, 60..100, 30..30] {
            let mut found = vec![None; within.len()];
            reach.parts(within.clone(), |part, reached| {
                assert!(found[part.clone()].iter().all(Option::is_none), "{within:?}: {part:?} comes twice");
                found[part].fill(Some(reached));
            });
            let expected: Vec<_> =
                within.clone().map(|i| Some(reach.places.iter().any(|place| place.contains(&i)))).collect();
            assert_eq!(found, expected, "{within:?}");
        }
    }
}
