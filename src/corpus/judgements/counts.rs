//! How often annotators, tags, and kinds and severities of marks occur, kept up sentence by sentence.

use std::collections::BTreeMap;

use crate::judgements::judge::{ByAnnotator, Judgement, Judgements, Judges};

type Counted = BTreeMap<String, usize>;

/// How often each occurs. A kind and a severity may be called the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub annotators: Counted,
    pub tags: Counted,
    pub kinds: Counted,
    pub severities: Counted,
    /// Judgements by people of the errors of a translation.
    pub errors_judged: usize,
    pub ratings: usize,
}

impl Counts {
    pub fn of(judgements: &Judgements) -> Self {
        let mut counts = Self::default();
        for by in judgements.values() {
            counts.add(by);
        }
        counts
    }

    pub fn add(&mut self, by: &ByAnnotator) {
        self.turn(by, |counted, name| *counted.entry(name.to_owned()).or_default() += 1);
        self.errors_judged += judged(by);
        self.ratings += by.values().map(|judgement| judgement.ratings.len()).sum::<usize>();
    }

    pub fn remove(&mut self, by: &ByAnnotator) {
        self.turn(by, |counted, name| {
            if let Some(count) = counted.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    counted.remove(name);
                }
            }
        });
        self.errors_judged -= judged(by);
        self.ratings -= by.values().map(|judgement| judgement.ratings.len()).sum::<usize>();
    }

    fn turn(&mut self, by: &ByAnnotator, turn: fn(&mut Counted, &str)) {
        for (annotator, Judgement { tags, marks, .. }) in by {
            turn(&mut self.annotators, annotator);
            for tag in tags {
                turn(&mut self.tags, tag);
            }
            for mark in marks {
                turn(&mut self.kinds, &mark.category);
                turn(&mut self.severities, &mark.severity);
            }
        }
    }
}

fn judged(by: &ByAnnotator) -> usize {
    Judges::People.said(by).filter(|(_, judgement)| judgement.judges_any()).count()
}
