//! The card of a model of others: what its files say of it, and which attention is its alignment, and why.

use crate::models::config::Config;
use crate::models::transformer::sizes::{AlignmentReason, TransformerSizes};

/// The longest text of others that goes into a card, in bytes.
const MOST_TEXT: usize = 64 << 10;
const MOST_NAMED: usize = 400;
const RECURRENT: &str = "the attention of the decoder's first layer, the only one";

/// What the files of a model say of it.
#[derive(Debug, Default)]
pub struct ForeignCard {
    pub name: String,
    pub toolkit: String,
    pub languages: (String, String),
    pub choices: Vec<String>,
    pub licence: Option<String>,
    pub notes: Vec<String>,
    pub text: String,
}

impl ForeignCard {
    pub fn read(&mut self, text: &str) {
        let text = text.trim_start_matches('\u{feff}');
        let (front, rest) = match text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")) {
            Some((front, rest)) => (front, rest.trim_start_matches('-')),
            None => ("", text),
        };
        let licence = front.lines().find_map(|line| line.strip_prefix("license:")).map(str::trim);
        self.licence = self.licence.take().or(licence.filter(|licence| !licence.is_empty()).map(str::to_owned));
        let end = (0..=rest.len().min(MOST_TEXT)).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(0);
        rest[..end].trim().clone_into(&mut self.text);
    }

    /// The configuration by the name and the languages that this card has.
    pub fn named(&self, config: Config) -> Config {
        let (source_language, target_language) = self.languages.clone();
        Config { name: self.name.clone(), source_language, target_language, ..config }
    }

    pub fn markdown(&self, config: &Config) -> String {
        let alignment = config.transformer().map_or_else(|| RECURRENT.to_owned(), alignment);
        let (source, target) = &self.languages;
        let licence = self.licence.as_deref().unwrap_or("not known; ask where the model comes from");
        let mut card = format!("# {}\n\n| | |\n|---|---|\n| toolkit | {} |\n", self.name, self.toolkit);
        card.push_str(&format!("| languages | {source} to {target} |\n| licence | {licence} |\n"));
        card.push_str(&format!("| alignment | {alignment} |\n"));
        if !self.choices.is_empty() {
            let named: Vec<String> = self.choices.iter().take(MOST_NAMED).map(|choice| format!("`{choice}`")).collect();
            let rest = match self.choices.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            card.push_str(&format!(
                "\nThe first word of a sentence chooses its target language: {}{rest}.\n",
                named.join(" ")
            ));
        }
        for note in &self.notes {
            card.push_str(&format!("\n{note}\n"));
        }
        if !self.text.is_empty() {
            card.push_str(&format!("\n## What its makers say\n\n{}\n", self.text));
        }
        card
    }
}

fn alignment(sizes: &TransformerSizes) -> String {
    let heads = match sizes.alignment_heads.as_slice() {
        [head] => format!("head {head}"),
        heads if heads.len() == sizes.heads => format!("the mean of all {} heads", sizes.heads),
        heads => {
            let heads: Vec<String> = heads.iter().map(usize::to_string).collect();
            format!("the mean of heads {}", heads.join(", "))
        }
    };
    let why = match sizes.alignment_reason {
        AlignmentReason::Named => "which the file names",
        AlignmentReason::Guided => "which learned from word alignments",
        AlignmentReason::Unknown => "since nothing says which one aligns",
        AlignmentReason::Chosen => "as it was chosen",
    };
    format!("{heads} of decoder layer {} of {}, {why}", sizes.alignment_layer, sizes.decoder_layers)
}
