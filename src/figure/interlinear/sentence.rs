//! A sentence word by word with what stands under the words.

use std::ops::Range;

use engine::text::cut::{WordExchange, WordRule, has_letter};
use engine::text::links::{Link, Links};
use engine::text::words::WordPlaces;

/// Lines that are kept for programs and not shown where nobody asks.
pub const UNSEEN: [&str; 3] = ["head", "relation", "enhanced"];

/// A line under the words: one cell for each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlossTier {
    pub name: String,
    /// Empty where a word has nothing.
    pub cells: Vec<String>,
    /// Its labels of grammar are set in small capitals, as the Leipzig glossing rules have them.
    pub is_gloss: bool,
}

/// A text that the words are linked to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlossedText {
    pub name: String,
    /// As it is written, where its words are no more than cut from it.
    pub text: String,
    pub words: Vec<String>,
    /// What comes with its words, such as parts of speech.
    pub tiers: Vec<GlossTier>,
    /// From the words of the sentence to these.
    pub links: Links,
    /// From the words of the text before, where links lead from text to text; the others follow from them.
    pub between: Option<Links>,
    /// The words between spaces of both sides, where links counted those.
    pub chunks: Option<[WordExchange; 2]>,
}

/// A sentence with all that stands below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlossedSentence {
    pub text: String,
    pub words: Vec<String>,
    /// What was typed by hand or comes with the words, such as lemmas.
    pub tiers: Vec<GlossTier>,
    /// Translations, of people or of models.
    pub texts: Vec<GlossedText>,
    /// Which lines stand under the words, by their names, and in which order; all where nothing is said.
    pub order: Vec<String>,
    /// How a file in CoNLL-U has it.
    pub written: Option<WrittenSentence>,
}

/// A sentence as it is written, whose words are syntactic ones: `au` is one word that is written, and two of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenSentence {
    /// The text that the file has, else what is written, with its spaces.
    pub text: String,
    /// What is written as one, and the words of the sentence that it is.
    pub units: Vec<(String, Range<usize>)>,
    /// All lines of the file, with comments and words that nobody wrote.
    pub lines: Vec<String>,
    /// The number of the first of them, from 1.
    pub line: usize,
    pub id: String,
}

impl GlossedSentence {
    /// All lines that may stand under the words.
    pub fn all_rows(&self) -> Vec<GlossTier> {
        let of_text = |text: &GlossedText| {
            let tiers = text.tiers.iter().filter(|_| !text.links.all().is_empty());
            let tiers = tiers.map(|tier| (format!("{} {}", text.name, tier.name), &tier.cells));
            let all = std::iter::once((text.name.clone(), &text.words)).chain(tiers);
            all.map(|(name, cells)| text.row(name, cells, self.words.len())).collect::<Vec<_>>()
        };
        self.tiers.iter().cloned().chain(self.texts.iter().flat_map(of_text)).collect()
    }

    /// Whether a line is that of a text.
    pub fn has_text(&self, name: &str) -> bool {
        self.texts.iter().any(|text| text.name == name)
    }

    /// The lines under the words: those that are asked for, else all but those for programs alone and those of texts that nothing
    /// is linked to.
    pub fn rows(&self) -> Vec<GlossTier> {
        let mut all = self.all_rows();
        if self.order.is_empty() {
            let is_bare = |name: &str| self.texts.iter().any(|text| text.name == name && text.links.all().is_empty());
            all.retain(|row| {
                !(UNSEEN.contains(&row.name.as_str()) || is_bare(&row.name) && row.cells.iter().all(String::is_empty))
            });
            return all;
        }
        self.order.iter().filter_map(|name| all.iter().find(|row| row.name == *name).cloned()).collect()
    }

    /// The text that a model reads, and whose words links count.
    pub fn text(&self) -> String {
        self.written.as_ref().map_or_else(|| whole(&self.text, &self.words), |written| written.text.clone())
    }

    /// Links that count the words of the text by a rule, as links of the words of a file in CoNLL-U: punctuation has those of
    /// its own alone. `None` where the text has other letters than the words.
    pub fn carried(&self, links: &Links, rule: WordRule) -> Option<Links> {
        let Some(written) = &self.written else { return Some(links.clone()) };
        let forms: Vec<&str> = written.units.iter().map(|(form, _)| form.as_str()).collect();
        let places = WordPlaces::of_parts(&forms, &written.text, rule)?;
        let mut words = vec![Vec::new(); places.words];
        for ((form, own), place) in written.units.iter().zip(&places.places) {
            place.clone().for_each(|word| words[word].push((has_letter(form), own.clone())));
        }
        for units in &mut words {
            if units.iter().any(|(is_word, _)| *is_word) {
                units.retain(|(is_word, _)| *is_word);
            }
        }
        let parts = |word: usize| words.get(word).into_iter().flatten().flat_map(|(_, own)| own.clone());
        let all = |links: &[Link]| -> Vec<Link> {
            let of = |link: &Link| {
                let target = link.target;
                parts(link.source).map(move |source| Link { source, target }).collect::<Vec<_>>()
            };
            links.iter().flat_map(of).collect()
        };
        Some(Links::new(all(links.sure()), all(links.possible())))
    }

    /// Adds a text whose links lead from the text before; those from the words of the sentence follow.
    pub fn push_between(&mut self, text: GlossedText) {
        let Some(before) = self.texts.last() else {
            self.texts.push(text);
            return;
        };
        let links = through(&before.links, &text.links);
        self.texts.push(GlossedText { between: Some(text.links), links, chunks: None, ..text });
    }
}

fn whole(text: &str, words: &[String]) -> String {
    if text.is_empty() { words.join(" ") } else { text.to_owned() }
}

impl GlossedText {
    pub fn text(&self) -> String {
        whole(&self.text, &self.words)
    }

    fn row(&self, name: String, own: &[String], words: usize) -> GlossTier {
        let mut cells = vec![Vec::new(); words];
        let mut links = self.links.all();
        links.sort_by_key(|(link, _)| link.target);
        for (link, _) in links {
            if let (Some(cell), Some(word)) = (cells.get_mut(link.source), own.get(link.target)) {
                cell.push(word.as_str());
            }
        }
        let cells = cells.into_iter().map(|cell| cell.join(".")).collect();
        GlossTier { name, cells, is_gloss: false }
    }
}

/// The links of two texts that follow from those of both with a third one between them; sure where both are.
pub fn through(first: &Links, second: &Links) -> Links {
    let (mut sure, mut possible) = (Vec::new(), Vec::new());
    for (from, is_sure) in first.all() {
        for (to, is_too) in second.all().into_iter().filter(|(link, _)| link.source == from.target) {
            let link = Link { source: from.source, target: to.target };
            if is_sure && is_too { sure.push(link) } else { possible.push(link) }
        }
    }
    Links::new(sure, possible)
}
