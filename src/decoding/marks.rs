//! Floor 4: what of a translation the model did by itself and what was given to it.

use crate::decoding::intervention::Intervention;

/// Which target words and which rows of alpha were given, and which source words hidden. Positions count from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks {
    /// For each target word whether it was forced.
    pub forced: Vec<bool>,
    /// For each target word whether its row of alpha was pinned or permuted.
    pub pinned: Vec<bool>,
    /// The source words that got no weight in the other rows, each once.
    pub masked: Vec<usize>,
    /// The temperature of the other rows, where it was not the model's.
    pub temperature: Option<f32>,
    /// How many words were forbidden.
    pub forbidden: usize,
}

/// log p of a translation in two parts, whose sum is the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Parts {
    /// Of the forced words.
    pub forced: f32,
    /// Of the words that the model chose.
    pub free: f32,
}

impl Marks {
    /// What a list of interventions did to a translation of `length` words.
    pub fn of(list: &[Intervention], length: usize) -> Self {
        let mut marks = Self { forced: vec![false; length], pinned: vec![false; length], ..Self::default() };
        for one in list {
            match one {
                Intervention::Force { i, .. } => mark(&mut marks.forced, *i),
                Intervention::Pin { i, .. } | Intervention::Permute { i, .. } => mark(&mut marks.pinned, *i),
                Intervention::Mask { j } => marks.masked.push(*j),
                Intervention::Temperature(t) => marks.temperature = Some(*t).filter(|t| *t != 1.0),
                Intervention::Forbid { .. } => marks.forbidden += 1,
            }
        }
        marks.masked.sort_unstable();
        marks.masked.dedup();
        marks
    }

    /// log p of the forced and of the free words.
    pub fn parts(&self, token_log_p: &[f32]) -> Parts {
        let sum = |forced: bool| {
            let words = token_log_p.iter().zip(&self.forced).filter(|(_, is)| **is == forced);
            words.map(|(log_p, _)| f64::from(*log_p)).sum::<f64>() as f32
        };
        Parts { forced: sum(true), free: sum(false) }
    }

    /// In words, positions from 1: `forced 1 2; pinned 3; masked 2; temperature 0.5; 1 forbidden`; empty where nothing was
    /// done.
    pub fn describe(&self) -> String {
        let list = |name: &str, positions: Vec<usize>| {
            let positions: Vec<String> = positions.iter().map(|position| (position + 1).to_string()).collect();
            (!positions.is_empty()).then(|| format!("{name} {}", positions.join(" ")))
        };
        let marked = |marks: &[bool]| (0..marks.len()).filter(|&i| marks[i]).collect();
        let parts = [
            list("forced", marked(&self.forced)),
            list("pinned", marked(&self.pinned)),
            list("masked", self.masked.clone()),
            self.temperature.map(|t| format!("temperature {t}")),
            (self.forbidden > 0).then(|| format!("{} forbidden", self.forbidden)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

fn mark(marks: &mut [bool], i: usize) {
    if let Some(mark) = marks.get_mut(i) {
        *mark = true;
    }
}
