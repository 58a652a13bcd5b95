//! Floor 9: interventions as they are kept between starts.

use std::ops::Range;
use std::sync::Arc;

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::interventions::{Forbid, Force, Interventions, Pin, Place, SetAlpha, Word};

/// Unknown keys are ignored, missing ones are empty.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// As in a file of interventions; nothing where a later version wrote what this one cannot read.
    set: Value,
    #[serde(flatten, skip_serializing)]
    older: Older,
}

/// As the first version kept them: positions from 0, words of the beginning by their order.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Older {
    prefix: Vec<OlderWord>,
    forces: Vec<OlderWord>,
    bans: Vec<OlderWord>,
    pins: Vec<OlderPin>,
    orders: Vec<(usize, u64)>,
    masks: Vec<Range<usize>>,
    temperature: Option<f32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct OlderWord {
    word: String,
    is_typed: bool,
    is_forced: bool,
    i: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct OlderPin {
    i: usize,
    alpha: Vec<f32>,
}

impl OlderWord {
    fn word(self) -> Word {
        if self.is_typed { Word::Typed(self.word) } else { Word::Entry(self.word) }
    }
}

impl Older {
    fn now(self) -> Interventions {
        let start = |(i, word): (usize, OlderWord)| Force { i, held: !word.is_forced, word: word.word() };
        let force = |word: OlderWord| Some(Force { i: word.i?, word: word.word(), held: false });
        let mut now = Interventions {
            force: self.prefix.into_iter().enumerate().map(start).collect(),
            forbid: self.bans.into_iter().map(|word| Forbid { i: word.i, word: word.word() }).collect(),
            mask: self.masks.into_iter().map(Place::Bytes).collect(),
            temperature: self.temperature,
            ..Interventions::default()
        };
        now.force.extend(self.forces.into_iter().filter_map(force));
        let rows = self.pins.into_iter().map(|pin| Pin { i: pin.i, alpha: SetAlpha::Weights(pin.alpha) });
        let orders = self.orders.into_iter().map(|(i, seed)| Pin { i, alpha: SetAlpha::Permuted(seed) });
        rows.chain(orders).for_each(|pin| now.pin(pin));
        now
    }
}

/// As they are kept.
///
/// # Errors
/// What the output says.
pub(super) fn serialize<S: Serializer>(set: &Arc<Interventions>, output: S) -> Result<S::Ok, S::Error> {
    let set = serde_json::to_value(&**set).map_err(S::Error::custom)?;
    Kept { set, older: Older::default() }.serialize(output)
}

/// As they were; what makes no sense is left out.
///
/// # Errors
/// What an older version cannot have written.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Arc<Interventions>, D::Error> {
    let Kept { set, older } = Kept::deserialize(input)?;
    let mut set = if set.is_null() { older.now() } else { serde_json::from_value(set).unwrap_or_default() };
    let is_weight = |alpha: &f32| alpha.is_finite() && *alpha >= 0.0;
    set.pin.retain(|pin| if let SetAlpha::Weights(row) = &pin.alpha { row.iter().all(is_weight) } else { true });
    set.mask.retain(|mask| if let Place::Bytes(bytes) = mask { bytes.start <= bytes.end } else { true });
    set.temperature = set.temperature.filter(|t| t.is_finite() && *t > 0.0);
    Ok(Arc::new(set))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct AsKept(#[serde(with = "super")] Arc<Interventions>);

    #[test]
    fn what_an_older_version_kept_is_what_was_set() {
        let entry = |word: &str| Word::Entry(word.to_owned());
        let force = |i, word, held| Force { i, word, held };
        let cases = [
            ("", Interventions::default()),
            (
                r#""prefix": [], "pins": [{"i": 0, "alpha": [-1.0]}], "masks": [{"start": 3, "end": 1}]"#,
                Interventions::default(),
            ),
            (r#""temperature": -1.0"#, Interventions::default()),
            (
                r#""prefix": [{"word": "le", "is_typed": false, "is_forced": false, "i": null},
                    {"word": "vieux moulin", "is_typed": true, "is_forced": true}],
                    "forces": [{"word": "vent", "i": 5}, {"word": "nowhere"}]"#,
                Interventions {
                    force: vec![
                        force(0, entry("le"), true),
                        force(1, Word::Typed("vieux moulin".to_owned()), false),
                        force(5, entry("vent"), false),
                    ],
                    ..Interventions::default()
                },
            ),
            (
                r#""bans": [{"word": "la", "i": 2}, {"word": "un", "is_typed": true}],
                    "pins": [{"i": 4, "alpha": [0.25, 0.75]}], "orders": [[1, 7]],
                    "masks": [{"start": 4, "end": 7}, {"start": 9, "end": 9}], "temperature": 0.5, "other": 1"#,
                Interventions {
                    forbid: vec![
                        Forbid { i: Some(2), word: entry("la") },
                        Forbid { i: None, word: Word::Typed("un".to_owned()) },
                    ],
                    pin: vec![
                        Pin { i: 1, alpha: SetAlpha::Permuted(7) },
                        Pin { i: 4, alpha: SetAlpha::Weights(vec![0.25, 0.75]) },
                    ],
                    mask: vec![Place::Bytes(4..7), Place::Bytes(9..9)],
                    temperature: Some(0.5),
                    ..Interventions::default()
                },
            ),
        ];
        for (older, expected) in cases {
            let read = |json: &str| serde_json::from_str::<AsKept>(json).expect("a state").0;
            let set = read(&format!("{{{older}}}"));
            assert_eq!(*set, expected, "{older}");
            // and it is kept as it is now
            assert_eq!(*read(&serde_json::to_string(&AsKept(set)).expect("JSON")), expected, "{older}");
        }
    }
}
