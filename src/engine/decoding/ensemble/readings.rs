//! The source words of an ensemble: one id stands for what each member reads at one place of the text.
//!
//! The places are the tokens of one member, the lead. A token of another member belongs to the place at which it
//! begins, so where all cut alike each place has one token of each, and a member without `</s>` has nothing at the
//! place of `</s>`. Ids are given as words come up, a new one for each new combination. Members that cut alike have
//! no more of them than any member knows words; where they cut differently there is no end of combinations, so the
//! oldest are forgotten, long after the sentences that had them. `</s>` and `[UNK]` keep their ids.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::text::sentence::Sentence;

type MemberIds = Arc<[Vec<u32>]>;

/// All combinations that came up so far.
#[derive(Debug)]
pub struct Readings {
    known: Mutex<Known>,
    members: usize,
}

/// Ids count up; those below `fixed.len()` stay, of the others the newest are known.
#[derive(Debug, Default)]
struct Known {
    fixed: Vec<MemberIds>,
    newest: VecDeque<MemberIds>,
    forgotten: u32,
    ids: HashMap<MemberIds, u32>,
    most: usize,
}

/// Combinations that are known at a time. An id that was given out is good until half as many new ones came up: far
/// more than the words of a window or of a test set.
const MOST: usize = 1 << 20;

/// A batch as one member reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnsembleBatch {
    /// The member's own ids, by sentence.
    pub sources: Vec<Vec<u32>>,
    /// The place of each of its tokens, by sentence.
    pub places: Vec<Vec<usize>>,
}

impl Readings {
    /// For as many members as `ends` has; it tells which of them read `</s>`.
    pub fn new(eos: u32, unk: u32, ends: &[bool]) -> Self {
        let ended: MemberIds = ends.iter().map(|&ends| if ends { vec![eos] } else { Vec::new() }).collect();
        let unknown: MemberIds = ends.iter().map(|_| vec![unk]).collect();
        let mut known = Known { most: MOST, ..Known::default() };
        for id in 0..=eos.max(unk) {
            known.fixed.push(Arc::clone(if id == eos { &ended } else { &unknown }));
        }
        known.ids.extend([(ended, eos), (unknown, unk)]);
        Self { known: Mutex::new(known), members: ends.len() }
    }

    /// The lead's sentence with ids for what all members read; `sentences` has one for each member.
    ///
    /// # Panics
    /// When there is no sentence of the lead.
    pub fn merge(&self, sentences: &[Sentence], lead: usize) -> Sentence {
        let lead = &sentences[lead];
        let mut at: Vec<Vec<Vec<u32>>> = vec![vec![Vec::new(); sentences.len()]; lead.len()];
        for (member, sentence) in sentences.iter().enumerate() {
            for (&id, place) in sentence.ids.iter().zip(places(lead, sentence)) {
                if let Some(reading) = at.get_mut(place) {
                    reading[member].push(id);
                }
            }
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let ids = at.into_iter().map(|reading| known.id(reading.into())).collect();
        Sentence { ids, ..lead.clone() }
    }

    /// What each member reads in a batch of merged sentences.
    pub fn split(&self, sources: &[&[u32]]) -> Result<Vec<EnsembleBatch>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batches = vec![EnsembleBatch::default(); self.members];
        for (number, source) in sources.iter().enumerate() {
            for (member, batch) in batches.iter_mut().enumerate() {
                let (mut ids, mut places) = (Vec::new(), Vec::new());
                for (place, &id) in source.iter().enumerate() {
                    let foreign = || Error::Internal(format!("the source word id {id} is none of the ensemble's"));
                    let read = &known.reading(id).ok_or_else(foreign)?[member];
                    ids.extend_from_slice(read);
                    places.resize(ids.len(), place);
                }
                if ids.is_empty() {
                    return Err(Error::Input(format!(
                        "model {} of the ensemble reads nothing in source sentence {}; leave that model out",
                        member + 1,
                        number + 1
                    )));
                }
                batch.sources.push(ids);
                batch.places.push(places);
            }
        }
        Ok(batches)
    }
}

impl Known {
    fn reading(&self, id: u32) -> Option<&MemberIds> {
        let at = id as usize;
        match at.checked_sub(self.fixed.len()) {
            None => self.fixed.get(at),
            Some(at) => self.newest.get(at.checked_sub(self.forgotten as usize)?),
        }
    }

    fn id(&mut self, reading: MemberIds) -> u32 {
        let next = self.fixed.len() as u32 + self.forgotten + self.newest.len() as u32;
        if let Some(&id) = self.ids.get(&reading) {
            let is_fixed = (id as usize) < self.fixed.len();
            // One of the older half gets a new id, so that every id given out is good for a while.
            if is_fixed || ((next - id) as usize) <= self.most / 2 {
                return id;
            }
        }
        if self.newest.len() >= self.most
            && let Some(oldest) = self.newest.pop_front()
        {
            let id = self.fixed.len() as u32 + self.forgotten;
            self.forgotten += 1;
            if self.ids.get(&oldest) == Some(&id) {
                self.ids.remove(&oldest);
            }
        }
        self.newest.push_back(Arc::clone(&reading));
        self.ids.insert(reading, next);
        next
    }
}

fn places(lead: &Sentence, sentence: &Sentence) -> Vec<usize> {
    if lead.spans.starts_with(&sentence.spans) {
        return (0..sentence.len()).collect();
    }
    let place = |start: usize| lead.spans.partition_point(|span| span.start <= start).saturating_sub(1);
    sentence.spans.iter().map(|span| place(span.start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(text: &str, cuts: &[(usize, usize)], ids: &[u32]) -> Sentence {
        let spans: Vec<_> = cuts.iter().map(|&(start, end)| start..end).collect();
        let tokens = spans.iter().map(|span| text[span.clone()].to_owned()).collect();
        Sentence { text: text.to_owned(), tokens, spans, ids: ids.to_vec() }
    }

    fn split(readings: &Readings, merged: &Sentence) -> Vec<(Vec<u32>, Vec<usize>)> {
        let batches = readings.split(&[&merged.ids]).expect("all read something");
        batches.into_iter().map(|batch| (batch.sources[0].clone(), batch.places[0].clone())).collect()
    }

    #[test]
    fn each_member_reads_its_own_words() {
        let readings = Readings::new(0, 1, &[true, false, true]);
        let text = "one house";
        let words = [(0, 3), (4, 9), (9, 9)];
        let all = [
            sentence(text, &words, &[5, 1, 0]),
            sentence(text, &words[..2], &[8, 1]),
            sentence(text, &[(0, 3), (4, 6), (6, 9), (9, 9)], &[3, 4, 6, 0]),
        ];
        let merged = readings.merge(&all, 0);
        assert_eq!((merged.tokens.len(), merged.ids[2]), (3, 0), "`</s>` keeps its id");
        assert_eq!(
            split(&readings, &merged),
            [(vec![5, 1, 0], vec![0, 1, 2]), (vec![8, 1], vec![0, 1]), (vec![3, 4, 6, 0], vec![0, 1, 1, 2])]
        );
        assert_eq!(readings.merge(&all, 0).ids, merged.ids, "the same words have the same ids");
        // Led by the finest, the coarse words lie where they begin; led by one without `</s>`, that is read at the end.
        let finest = split(&readings, &readings.merge(&all, 2));
        assert_eq!(finest[0], (vec![5, 1, 0], vec![0, 1, 3]));
        let open = split(&readings, &readings.merge(&all, 1));
        assert_eq!(
            open,
            [(vec![5, 1, 0], vec![0, 1, 1]), (vec![8, 1], vec![0, 1]), (vec![3, 4, 6, 0], vec![0, 1, 1, 1])]
        );
    }

    #[test]
    fn what_was_read_long_ago_is_forgotten() {
        let readings = Readings::new(0, 1, &[true]);
        readings.known.lock().expect("nobody panicked").most = 8;
        let merge = |word: u32| readings.merge(&[sentence("x", &[(0, 1)], &[word])], 0).ids[0];
        let kept = merge(9);
        for word in 100..1100 {
            let id = merge(word);
            for back in 0..4.min(word - 99) {
                // The last few are known, by whatever id they had.
                let read = readings.split(&[&[id - back]]).expect("it is known");
                assert!(read[0].sources[0][0] <= word);
            }
            assert_eq!(readings.split(&[&[merge(9)]]).expect("it is known")[0].sources[0], [9], "in use, it stays");
        }
        assert!(readings.split(&[&[kept]]).is_err(), "its first id is long gone");
        assert_eq!((merge(0), merge(1)), (0, 1));
        let known = readings.known.lock().expect("nobody panicked");
        assert!(known.newest.len() <= 8 && known.ids.len() <= 8 + 2);
    }

    #[test]
    fn what_nobody_knows_is_unknown_and_what_nobody_reads_is_refused() {
        let readings = Readings::new(0, 1, &[true, true]);
        let unknown = sentence("x", &[(0, 1), (1, 1)], &[1, 0]);
        assert_eq!(readings.merge(&[unknown.clone(), unknown.clone()], 0).ids, [1, 0]);
        let known = sentence("x", &[(0, 1), (1, 1)], &[7, 0]);
        assert!(readings.merge(&[unknown, known], 0).ids[0] > 1, "one of them knows it");
        assert!(readings.split(&[&[99]]).is_err());
        let open = Readings::new(0, 1, &[true, false]);
        let error = open.split(&[&[1, 0], &[0]]).expect_err("the second has no `</s>`").to_string();
        assert!(error.contains("model 2") && error.contains("sentence 2"), "{error}");
    }
}
