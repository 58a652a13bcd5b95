//! What the search found, turned from ids into words.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use crate::jobs::live::protocol::{HypothesisView, Pieces};
use engine::analysis::{alignment::Alignment, row_convention::RowConvention, unknown, words::merge_sources};
use engine::decoding::{Hypothesis, Node};
use engine::interventions::{Applied, Intervention, InterventionReader, Interventions, Resolved, ResolvedText};
use engine::text::sentence::{Sentence, UNK};
use engine::text::tokenizer::Tokenizer;
use engine::text::words::{translated, vocabulary_words, whole_words, without_end};

/// Turns ids of a translation into words.
#[derive(Clone, Copy)]
pub struct Wording<'a> {
    pub source: &'a Tokenizer,
    pub target: &'a Tokenizer,
    pub language: &'a str,
    /// The id of `[UNK]`.
    pub unk: u32,
    /// How rows are still to be read, with the delay of the reading.
    pub rows: (RowConvention, usize),
}

impl Wording<'_> {
    fn word(&self, id: u32) -> String {
        self.target.token(id).unwrap_or(UNK).to_owned()
    }
}

/// A source sentence as a model reads it.
pub struct ReadSource {
    pub sentence: Sentence,
    words: Vec<Range<usize>>,
    is_pretokenized: bool,
    pub touched: Arc<Applied>,
}

impl ReadSource {
    /// Its words are split by spaces already where it is `pretokenized`.
    pub fn new(wording: &Wording<'_>, sentence: Sentence, pretokenized: bool) -> Self {
        let words = vocabulary_words(wording.source, &sentence, pretokenized);
        Self { sentence, words, is_pretokenized: pretokenized, touched: Arc::default() }
    }

    /// What is set of its translations, for the model; what does not fit is left out with a note.
    pub(crate) fn set(&mut self, reader: InterventionReader<'_>, form: &Interventions) -> Arc<[Intervention]> {
        let read = ResolvedText { sentence: &self.sentence, words: &self.words };
        let Resolved { list, applied, .. } = reader.resolve(form, read);
        self.touched = Arc::new(applied);
        list
    }

    pub(crate) fn untouched(self) -> Self {
        Self { touched: Arc::default(), ..self }
    }
}

pub fn view(wording: &Wording<'_>, source: &ReadSource, mut found: Hypothesis) -> HypothesisView {
    let tokens: Vec<String> = found.tokens.iter().map(|&id| wording.word(id)).collect();
    let candidates = std::mem::take(&mut found.candidates).into_iter();
    let word = |(id, log_p): (u32, f32)| (wording.word(id), log_p);
    HypothesisView {
        is_unk: found.tokens.iter().map(|&id| id == wording.unk).collect(),
        text: wording.target.join(wording.language, without_end(&tokens)),
        pieces: pieces(wording, source, &found.tokens),
        rules: [wording.source, wording.target].map(|side| side.rule(source.is_pretokenized)),
        candidates: candidates.map(|best| best.into_iter().map(word).collect()).collect(),
        replaced: replaced(wording, source, &found),
        tokens,
        touched: Arc::clone(&source.touched),
        found,
    }
}

/// A given translation, in the words given; they are split by spaces if `pretokenized`.
pub fn given(
    wording: &Wording<'_>, source: &ReadSource, (target, pretokenized): (&Sentence, bool), hypothesis: Hypothesis,
) -> HypothesisView {
    let mut view = view(wording, source, hypothesis);
    let places = vocabulary_words(wording.target, target, pretokenized);
    let whole = whole_words(target, &places);
    target.text.trim().clone_into(&mut view.text);
    view.replaced = vec![None; target.len()];
    for (place, word) in places.iter().zip(&whole.tokens) {
        view.is_unk[place.start] = target.ids[place.clone()].contains(&wording.unk);
        view.replaced[place.start] = view.is_unk[place.start].then(|| word.clone());
    }
    if let Some(pieces) = &mut view.pieces {
        (pieces.target, pieces.words) = (places, whole.tokens);
    }
    view
}

pub(crate) fn words(wording: &Wording<'_>, nodes: &[Node]) -> BTreeMap<u32, String> {
    let mut words = BTreeMap::new();
    for id in nodes.iter().flat_map(|node| std::iter::once(node.token).chain(node.candidates.iter().map(|&(id, _)| id)))
    {
        words.entry(id).or_insert_with(|| wording.word(id));
    }
    words
}

fn pieces(wording: &Wording<'_>, source: &ReadSource, target: &[u32]) -> Option<Pieces> {
    let (target, words) = translated(wording.target, target);
    let has_pieces = wording.source.marks().has_pieces() || wording.target.marks().has_pieces();
    has_pieces.then(|| Pieces { source: source.words.clone(), target, words })
}

/// For each `[UNK]` the typed word of greatest alpha, `</s>` left aside, or that it comes from by an alignment head.
fn replaced(wording: &Wording<'_>, source: &ReadSource, hypothesis: &Hypothesis) -> Vec<Option<String>> {
    let (ids, unk) = (&hypothesis.tokens, wording.unk);
    let Some(rows) = hypothesis.came_from().filter(|_| ids.contains(&unk)) else { return vec![None; ids.len()] };
    let (reading, delay) = if hypothesis.head.is_some() { (RowConvention::Head, 0) } else { wording.rows };
    let read = reading.assign_after(delay, rows);
    let sentence = whole_words(&source.sentence, &source.words);
    let alpha = merge_sources(&Alignment::from_rows(&read), &source.words);
    let attended = |i| unknown::attended(&alpha, i, &sentence).map(|j| sentence.tokens[j].clone());
    ids.iter().enumerate().map(|(i, id)| if *id == unk { attended(i) } else { None }).collect()
}
