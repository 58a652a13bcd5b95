//! Floor 8: what the search found, turned from ids into words.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::analysis::alignment::Alignment;
use crate::analysis::unknown;
use crate::analysis::words::merge_sources;
use crate::decoding::{Hypothesis, Node};
use crate::interventions::{Applied, Intervention, Interventions, Resolved, ResolvedText};
use crate::jobs::live::protocol::{HypothesisView, Pieces};
use crate::jobs::models::shelved::LoadedModel;
use crate::text::sentence::{Sentence, UNK};
use crate::text::words::{translated, vocabulary_words, whole_words, without_end};

/// A source sentence as a model reads it.
pub(crate) struct Source {
    /// Its tokens.
    pub(crate) sentence: Sentence,
    /// Which of them make up each word.
    words: Vec<Range<usize>>,
    /// What of its translations a person has set.
    pub(crate) touched: Arc<Applied>,
}

impl Source {
    pub(crate) fn new(shelved: &LoadedModel, sentence: Sentence) -> Self {
        let words = vocabulary_words(&shelved.model.source, &sentence, false);
        Self { sentence, words, touched: Arc::default() }
    }

    /// What is set of its translations, for the model; what does not fit is left out with a note.
    pub(crate) fn set(&mut self, shelved: &LoadedModel, form: &Interventions) -> Arc<[Intervention]> {
        let read = ResolvedText { sentence: &self.sentence, words: &self.words };
        let Resolved { list, applied, .. } = shelved.reader().resolve(form, read);
        self.touched = Arc::new(applied);
        list
    }

    /// The same where the model does all by itself.
    pub(crate) fn untouched(self) -> Self {
        Self { touched: Arc::default(), ..self }
    }
}

/// A hypothesis in the words of the model's target vocabulary.
pub(crate) fn view(shelved: &LoadedModel, source: &Source, hypothesis: Hypothesis) -> HypothesisView {
    let vocabulary = &shelved.model.target;
    let word = |id: u32| vocabulary.token(id).unwrap_or(UNK).to_owned();
    let unk = shelved.facts.unk;
    let tokens: Vec<String> = hypothesis.tokens.iter().map(|&id| word(id)).collect();
    let replaced = replaced(shelved, source, &hypothesis);
    HypothesisView {
        is_unk: hypothesis.tokens.iter().map(|&id| id == unk).collect(),
        text: vocabulary.join(&shelved.facts.target_language, without_end(&tokens)),
        pieces: pieces(shelved, source, &hypothesis.tokens),
        token_log_p: hypothesis.token_log_p,
        log_p: hypothesis.log_p,
        rank: hypothesis.rank,
        finished: hypothesis.finished,
        alpha: hypothesis.alpha,
        energies: hypothesis.energies,
        p_t: hypothesis.p_t,
        left_out: hypothesis.left_out,
        candidates: hypothesis
            .candidates
            .iter()
            .map(|best| best.iter().map(|&(id, log_p)| (word(id), log_p)).collect())
            .collect(),
        replaced,
        tokens,
        touched: Arc::clone(&source.touched),
        ids: hypothesis.tokens,
    }
}

/// The words that the nodes mention, by id.
pub(crate) fn words(shelved: &LoadedModel, nodes: &[Node]) -> BTreeMap<u32, String> {
    let mut words = BTreeMap::new();
    for id in nodes.iter().flat_map(|node| std::iter::once(node.token).chain(node.candidates.iter().map(|&(id, _)| id)))
    {
        words.entry(id).or_insert_with(|| shelved.model.target.token(id).unwrap_or(UNK).to_owned());
    }
    words
}

/// Which tokens make up each word, where either vocabulary has pieces.
fn pieces(shelved: &LoadedModel, source: &Source, target: &[u32]) -> Option<Pieces> {
    let model = &shelved.model;
    let (target, words) = translated(&model.target, target);
    let has_pieces = model.source.marks().has_pieces() || model.target.marks().has_pieces();
    has_pieces.then(|| Pieces { source: source.words.clone(), target, words })
}

/// For each `[UNK]` the typed word of greatest alpha, `</s>` left aside.
fn replaced(shelved: &LoadedModel, source: &Source, hypothesis: &Hypothesis) -> Vec<Option<String>> {
    let (ids, facts) = (&hypothesis.tokens, &shelved.facts);
    let unk = facts.unk;
    let Some(alpha) = hypothesis.alpha.as_deref().filter(|_| ids.contains(&unk)) else { return vec![None; ids.len()] };
    let read = facts.reading.assign_after(facts.input_delay.unwrap_or_default(), alpha);
    let sentence = whole_words(&source.sentence, &source.words);
    let alpha = merge_sources(&Alignment::from_rows(&read), &source.words);
    let attended = |i| unknown::attended(&alpha, i, &sentence).map(|j| sentence.tokens[j].clone());
    ids.iter().enumerate().map(|(i, id)| if *id == unk { attended(i) } else { None }).collect()
}
