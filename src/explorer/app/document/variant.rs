//! What a variant differs in from the sentence beside which it stands, in words. Pure.

use crate::app::document::sentence_state::{SentenceState, Variant};
use crate::app::document::{hand, rewording};

/// What a variant differs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariantLabel {
    /// A phrase for each thing, in the order text, search, interventions; empty where nothing differs.
    pub differs: Vec<String>,
    pub original: String,
}

impl VariantLabel {
    /// What `variant` differs in from `state`; `replaces`: typed words are shown for `[UNK]` in the other columns.
    pub fn of(variant: &Variant, state: &SentenceState, replaces: bool) -> Self {
        let mut differs = rewording::differs(&state.source, state.text_of(Some(variant.id)));
        differs.extend(search(variant, state));
        let own = variant.replaces.filter(|own| *own != replaces);
        differs
            .extend(own.map(|own| if own { tr!("typed words for [UNK]") } else { tr!("[UNK] as it is") }.to_owned()));
        differs.extend(interventions(variant, state));
        Self { differs, original: state.source.clone() }
    }

    pub fn text(&self) -> String {
        if self.differs.is_empty() { tr!("as the original").to_owned() } else { self.differs.join(", ") }
    }
}

fn search(variant: &Variant, state: &SentenceState) -> Vec<String> {
    let (own, usual) = (state.search_of(Some(variant.id)), state.search);
    let mut differs = Vec::new();
    if own.beam != usual.beam {
        differs.push(tr!("beam {}", own.beam));
    }
    if (own.length_normalization - usual.length_normalization).abs() > 1e-6 {
        differs.push(tr!("length normalisation {}", format_args!("{:.1}", own.length_normalization)));
    }
    if (own.forbid_unk, own.allow_unk) != (usual.forbid_unk, usual.allow_unk) {
        let is_free = !own.forbid_unk && (own.allow_unk || usual.forbid_unk);
        differs.push(if is_free { tr!("[UNK] allowed") } else { tr!("never [UNK]") }.to_owned());
    }
    differs
}

fn interventions(variant: &Variant, state: &SentenceState) -> Vec<String> {
    let (usual, own) = (state.set_for(&variant.models), state.set_of(&variant.models, Some(variant.id)));
    let text = state.text_of(Some(variant.id));
    let items = |set, text: &str| hand::items(set, text, &hand::TokenCount::default());
    let (usual, own) = (items(&usual, &state.source), items(&own, text));
    let mut differs: Vec<String> = own.iter().filter(|item| !usual.contains(item)).map(|i| i.text.clone()).collect();
    if usual.iter().any(|item| !own.contains(item)) {
        let what = if own.is_empty() { tr!("without interventions") } else { tr!("without some interventions") };
        differs.push(what.to_owned());
    }
    differs
}
