//! What of a translation the model did by itself and what was set.

use serde::{Deserialize, Serialize};

use crate::interventions::form::{Interventions, Pin, Place};

/// Who chose a target word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Said {
    /// The model, by itself.
    #[default]
    Free,
    /// The model before, and it is held because something behind it was changed.
    Held,
    Forced,
}

impl Said {
    /// In few words; what the model chose by itself needs none.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Free => None,
            Self::Held => Some(id!("held")),
            Self::Forced => Some(id!("forced")),
        }
    }
}

/// What was applied of the interventions for a sentence, which its table, its JSON and its files mark. Positions count
/// from 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    pub form: Interventions,
    pub notes: Vec<String>,
}

impl Applied {
    pub fn said(&self, i: usize) -> Said {
        match self.form.force.binary_search_by_key(&i, |force| force.i).map(|at| self.form.force[at].held) {
            Ok(true) => Said::Held,
            Ok(false) => Said::Forced,
            Err(_) => Said::Free,
        }
    }

    pub fn all_said(&self, length: usize) -> Vec<Said> {
        (0..length).map(|i| self.said(i)).collect()
    }

    pub fn has_words(&self) -> bool {
        !self.form.force.is_empty()
    }

    pub fn pinned(&self) -> Vec<usize> {
        self.form.pin.iter().map(|pin: &Pin| pin.i).collect()
    }

    pub fn masked(&self) -> Vec<usize> {
        let position = |place: &Place| if let Place::Position(j) = place { Some(*j) } else { None };
        self.form.mask.iter().filter_map(position).collect()
    }

    pub fn is_untouched(&self) -> bool {
        self.form.is_empty()
    }

    /// log p of the words that were held or forced, and of those that the model chose.
    pub fn parts(&self, token_log_p: &[f32]) -> (f32, f32) {
        let sum = |is_free: bool| {
            let of = |(i, log_p): (usize, &f32)| ((self.said(i) == Said::Free) == is_free).then_some(f64::from(*log_p));
            token_log_p.iter().enumerate().filter_map(of).sum::<f64>() as f32
        };
        (sum(false), sum(true))
    }

    pub fn describe(&self, length: usize) -> String {
        let list = |name: &str, positions: Vec<usize>| {
            let positions: Vec<String> = positions.iter().map(|position| (position + 1).to_string()).collect();
            (!positions.is_empty()).then(|| format!("{name} {}", positions.join(" ")))
        };
        let within = |positions: Vec<usize>| positions.into_iter().filter(|i| *i < length).collect();
        let forbidden = self.form.forbid.len();
        let heads: Vec<String> = self.form.leave_out.iter().map(ToString::to_string).collect();
        let parts = [
            list("forced", within(self.form.force.iter().map(|force| force.i).collect())),
            list("pinned", within(self.pinned())),
            list("masked", self.masked()),
            (!heads.is_empty()).then(|| format!("left out {}", heads.join(", "))),
            self.form.temperature.filter(|t| *t != 1.0).map(|t| format!("temperature {t}")),
            (forbidden > 0).then(|| format!("{forbidden} forbidden")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}
