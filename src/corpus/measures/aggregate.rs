//! Numbers of many sentences as one: corpus BLEU and chrF, means of the other measures.

use std::collections::BTreeMap;

use crate::measures::scores;
use crate::measures::scores::{ComparedScores, SystemScores};
use crate::store::corpus::{CorpusTable, SystemColumn};
use engine::analysis::mteval::{tokenize, words};
use engine::text::sentence::UNK;

/// What a sentence adds to the scores of a system: counts against the references, or -log p of a forced reference.
pub fn sentence(corpus: &CorpusTable, system: usize, at: usize) -> Option<SystemScores> {
    let column = corpus.systems.get(system)?;
    let text = column.texts.get(at)?;
    if column.system.is_forced() {
        return Some(likelihood(corpus, column, at));
    }
    let references = corpus.references_of(at);
    let counts = || ComparedScores::of(text, &references, &corpus.bleu);
    Some(SystemScores::of((!references.is_empty()).then(counts)))
}

pub(crate) fn likelihood(corpus: &CorpusTable, column: &SystemColumn, at: usize) -> SystemScores {
    let number = |name: &str| {
        let numbers = column.numbers.iter().zip(corpus.measures.iter()).find(|(_, measure)| measure.name == name);
        numbers.map_or(f64::NAN, |(numbers, _)| f64::from(numbers.get(at)))
    };
    let (log_p, of_token) = (number("logp"), number("token_logp"));
    let none = SystemScores::of(None);
    let Some(text) = column.texts.get(at).filter(|_| !log_p.is_nan()) else { return none };
    let words = corpus.rules.target.count(text) + 1;
    SystemScores { words, tokens: (log_p / of_token).round() as usize, nll: -log_p, ..none }
}

/// The scores of a system over some rows; BLEU and chrF2 of outputs with a reference, none for forced references.
pub fn scores(corpus: &CorpusTable, system: usize, rows: &[u32]) -> SystemScores {
    rows.iter().filter_map(|at| sentence(corpus, system, *at as usize)).sum()
}

fn references<'a>(corpus: &'a CorpusTable, rows: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
    rows.iter().map(|at| corpus.references_of(*at as usize).len())
}

/// How corpus scores over some rows are computed, in sacreBLEU's notation: of BLEU, chrF2 and TER.
pub fn signatures(corpus: &CorpusTable, rows: &[u32]) -> [String; 3] {
    scores::signatures(&corpus.bleu, references(corpus, rows))
}

/// The same as lines, and what one must know of the texts, in sentences. None of a corpus without outputs or references.
pub fn notes(corpus: &CorpusTable, rows: &[u32]) -> Vec<String> {
    let mut counts = BTreeMap::<usize, usize>::new();
    references(corpus, rows).filter(|count| *count > 0).for_each(|count| *counts.entry(count).or_default() += 1);
    if counts.is_empty() || corpus.systems.is_empty() {
        return Vec::new();
    }
    let names = ["BLEU", "chrF2", "TER"].into_iter().zip(signatures(corpus, rows));
    let mut notes: Vec<String> = names.map(|(name, signature)| format!("{name} {signature}")).collect();
    let several = counts.iter().filter(|(count, _)| **count > 1);
    let several =
        several.map(|(count, n)| tr!("{n} of {all} sentences have {count} references", n, all = rows.len(), count));
    let several: Vec<String> = several.collect();
    if !several.is_empty() {
        notes.push(tr!(
            "{several}. BLEU, chrF2 and TER are over all references of a sentence.",
            several = several.join(", ")
        ));
    }
    let tokens = words(&tokenize(UNK, corpus.bleu.tokenization)).count();
    let unknown = corpus.measures.iter().position(|measure| measure.name == "unk");
    let has_unknown = |system| unknown.and_then(|at| mean(corpus, system, at, rows)).is_some_and(|mean| mean > 0.0);
    if tokens > 1 && (0..corpus.systems.len()).any(has_unknown) {
        notes.push(tr!("BLEU counts the text as written, as sacreBLEU does: [UNK] is {tokens} tokens. Other counts take it for one unknown word.", tokens));
    }
    notes
}

/// The mean of a measure of a system, by its place among [`CorpusTable::measures`].
pub fn mean(corpus: &CorpusTable, system: usize, measure: usize, rows: &[u32]) -> Option<f64> {
    let numbers = corpus.systems.get(system)?.numbers.get(measure)?;
    let known = rows.iter().map(|&at| numbers.get(at as usize)).filter(|number| !number.is_nan());
    let (sum, count) = known.fold((0.0, 0_usize), |(sum, count), number| (sum + f64::from(number), count + 1));
    (count > 0).then(|| sum / count as f64)
}
