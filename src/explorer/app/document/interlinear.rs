//! What a person has made of the sentence as interlinear text: its rows, and lines typed by hand under them. A part of the
//! scene, so that undo knows it. Pure.

use serde::{Deserialize, Serialize};

use crate::app::files::common::common;
use engine::text::{cut::WordRule, words::WordPlaces};

/// Texts that a line remembers its cells of.
const MOST_KNOWN: usize = 50;

/// Whose words a row has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextRow {
    #[default]
    Source,
    Reference,
    Model(String),
}

/// What links a translation with the sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinksBy {
    /// alpha_ij of at least the threshold.
    #[default]
    Alpha,
    Head,
    Aligner,
}

/// A row as it was chosen; those that nobody chose follow behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RowChoice {
    pub row: TextRow,
    /// `None`: the head of a model that has one, else alpha.
    pub links: Option<LinksBy>,
    #[serde(rename = "hidden")]
    pub is_hidden: bool,
}

/// A line typed by hand under a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HandTier {
    pub name: String,
    pub under: TextRow,
    #[serde(rename = "leipzig")]
    pub is_gloss: bool,
    known: Vec<HandGlosses>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct HandGlosses {
    words: Vec<String>,
    cells: Vec<String>,
}

/// Rows and typed lines of the interlinear view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterlinearPlan {
    pub rows: Vec<RowChoice>,
    pub tiers: Vec<HandTier>,
    /// Least alpha of a link, from 0 to 1.
    pub threshold: f32,
}

impl Default for InterlinearPlan {
    fn default() -> Self {
        Self { rows: Vec::new(), tiers: Vec::new(), threshold: 0.3 }
    }
}

impl HandTier {
    /// The cells under these words: as they were typed, else as under the newest text that has most of its words in common.
    pub fn cells(&self, words: &[String]) -> Vec<String> {
        if let Some(known) = self.known.iter().find(|known| known.words == words) {
            return known.cells.clone();
        }
        let mut cells = vec![String::new(); words.len()];
        for known in self.known.iter().rev() {
            // the same text whose words were what stood between spaces: each cell goes to the first of its words
            if let Some(places) = WordPlaces::of_parts(words, &known.words.join(" "), WordRule::Given) {
                for (to, place) in places.places.iter().enumerate() {
                    let is_first = to == 0 || places.places[to - 1] != *place;
                    let from = Some(place.start).filter(|from| is_first && *from < places.words);
                    cells[to] = from.map(|from| known.cells[from].clone()).unwrap_or_default();
                }
                break;
            }
            let Some(pairs) = common(&texts(&known.words), &texts(words)) else { continue };
            if 2 * pairs.len() >= words.len().max(known.words.len()) {
                for (from, to) in pairs {
                    cells[to].clone_from(&known.cells[from]);
                }
                break;
            }
        }
        cells
    }

    pub fn set(&mut self, words: &[String], mut cells: Vec<String>) {
        cells.resize(words.len(), String::new());
        self.known.retain(|known| known.words != words);
        self.known.push(HandGlosses { words: words.to_vec(), cells });
        let excess = self.known.len().saturating_sub(MOST_KNOWN);
        self.known.drain(..excess);
    }

    fn bytes(&self) -> usize {
        self.known.iter().flat_map(|known| known.words.iter().chain(&known.cells)).map(String::len).sum()
    }
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

impl InterlinearPlan {
    pub fn tier(&mut self, under: &TextRow, name: &str) -> &mut HandTier {
        let is_it = |tier: &HandTier| tier.under == *under && tier.name == name;
        let at = self.tiers.iter().position(is_it).unwrap_or_else(|| {
            self.tiers.push(HandTier { name: name.to_owned(), under: under.clone(), ..HandTier::default() });
            self.tiers.len() - 1
        });
        &mut self.tiers[at]
    }

    pub fn free_name(&self, under: &TextRow, name: &str) -> String {
        let is_taken = |name: &String| self.tiers.iter().any(|tier| tier.under == *under && tier.name == *name);
        let names = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name} {n}")));
        names.into_iter().find(|name| !is_taken(name)).unwrap_or_default()
    }

    pub fn asks_aligner(&self) -> bool {
        self.rows.iter().any(|row| row.links == Some(LinksBy::Aligner) && !row.is_hidden)
    }

    /// Replaces values that make no sense by defaults.
    pub fn sound(mut self) -> Self {
        for known in self.tiers.iter_mut().flat_map(|tier| &mut tier.known) {
            known.cells.resize(known.words.len(), String::new());
        }
        let threshold = Some(self.threshold).filter(|threshold| (0.0..=1.0).contains(threshold));
        Self { threshold: threshold.unwrap_or(Self::default().threshold), ..self }
    }

    pub(super) fn bytes(&self) -> usize {
        self.tiers.iter().map(HandTier::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn glosses_stay_with_their_words_and_come_back_with_their_sentence() {
        let mut tier = HandTier::default();
        tier.set(&words("talo on pieni"), words("house be.3SG small"));
        // (words, cells)
        for (text, cells) in [
            ("talo on pieni", ["house", "be.3SG", "small"]),
            ("talo on suuri", ["house", "be.3SG", ""]),
            ("vene on rikki", ["", "", ""]),
        ] {
            assert_eq!(tier.cells(&words(text)), cells, "{text}");
        }
        // a session of before, whose words were what stood between spaces
        tier.set(&words("l'ami dort."), words("DEF=friend sleep.3SG"));
        assert_eq!(tier.cells(&words("l' ami dort .")), ["DEF=friend", "", "sleep.3SG", ""]);
        tier.set(&words("vene on rikki"), words("boat be.3SG broken"));
        assert_eq!(tier.cells(&words("talo on pieni")), ["house", "be.3SG", "small"]);
        for n in 0..60 {
            tier.set(&words(&format!("sana {n}")), Vec::new());
        }
        assert_eq!(tier.known.len(), MOST_KNOWN);
    }
}
