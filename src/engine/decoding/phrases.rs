//! Log p(target | source) of many phrase pairs (Cho et al. 2014, section 3.1).
//!
//! A phrase table has many targets for each source, and many of those begin alike. A source is encoded
//! once a batch, and targets of one source that begin alike share the steps of what they have in common: one
//! row of probabilities scores every word that follows it. The numbers are those of [`super::force`].

use std::collections::HashMap;

use crate::decoding::{beam::check_sources, forced::outside};
use crate::error::{Error, Result};
use crate::models::{Asked, Model, Need, StepOutput, StepRow, Stepper};
use crate::text::{readable::unescaped, tokenizer::Tokenizer};
use crate::ticket::CancellationToken;

const BATCH_WORDS: usize = 8192;
/// Probabilities that a step may come to, 64 MB; large vocabularies get smaller batches.
const BATCH_NUMBERS: usize = 1 << 24;
/// Phrase pairs scored together by default.
pub const BATCH: usize = 256;

/// How phrase pairs are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhraseOptions {
    /// Pairs scored together, at least 1.
    pub batch: usize,
    /// Each word is looked up whole, never cut.
    pub pretokenized: bool,
}

impl Default for PhraseOptions {
    fn default() -> Self {
        Self { batch: BATCH, pretokenized: false }
    }
}

/// Phrase pairs as ids, each different source once.
#[derive(Clone, Debug)]
pub struct ScoredPhrases<'a> {
    model: &'a Model,
    options: PhraseOptions,
    known: HashMap<String, usize>,
    sources: Vec<Vec<u32>>,
    pairs: Vec<(usize, Vec<u32>)>,
}

impl<'a> ScoredPhrases<'a> {
    pub fn new(model: &'a Model, options: PhraseOptions) -> Self {
        Self { model, options, known: HashMap::new(), sources: Vec::new(), pairs: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub fn words(&self) -> usize {
        self.pairs.iter().map(|(_, target)| target.len()).sum()
    }

    pub fn clear(&mut self) {
        self.known.clear();
        self.sources.clear();
        self.pairs.clear();
    }

    /// Adds a pair as a phrase table writes it; the escapes of Moses are undone first.
    pub fn push(&mut self, source: &str, target: &str) -> std::result::Result<(), String> {
        let number = if let Some(&number) = self.known.get(source) {
            number
        } else {
            let ids = self.encode(&self.model.source, source, self.model.source_eos());
            if ids.is_empty() {
                return Err("has a source phrase without words, and this model needs one; take the line out".into());
            }
            self.known.insert(source.to_owned(), self.sources.len());
            self.sources.push(ids);
            self.sources.len() - 1
        };
        let target = self.encode(&self.model.target, target, Some(self.model.config.eos));
        self.pairs.push((number, target));
        Ok(())
    }

    fn encode(&self, tokenizer: &Tokenizer, phrase: &str, eos: Option<u32>) -> Vec<u32> {
        let text = unescaped(phrase);
        if !self.options.pretokenized {
            return tokenizer.encode_phrase(&text, eos);
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut sentence = tokenizer.encode_words(&words).ids;
        // The tokenizer may end sentences by itself.
        sentence.truncate(words.len());
        sentence.extend(eos);
        sentence
    }

    /// log p of every pair, in the order in which they came. After each batch `done` is called with the number of pairs
    /// scored; its error stops the work.
    pub fn score(
        &self, stepper: &mut dyn Stepper, ticket: &CancellationToken, done: &mut dyn FnMut(usize) -> Result<()>,
    ) -> Result<Vec<f32>> {
        let most = (BATCH_NUMBERS / self.model.config.target_vocabulary.max(1)).max(1);
        let sources: Vec<&[u32]> = self.sources.iter().map(Vec::as_slice).collect();
        let pairs: Vec<(usize, &[u32])> = self.pairs.iter().map(|(source, ids)| (*source, ids.as_slice())).collect();
        score(stepper, &sources, &pairs, self.options.batch.min(most), ticket, done)
    }
}

/// log p(target | source) of pairs of (source by its number, target with `</s>`), at most `batch` of them at once.
/// Sources of like length come together. After each batch `done` is called with the number of pairs scored.
pub fn score(
    stepper: &mut dyn Stepper, sources: &[&[u32]], pairs: &[(usize, &[u32])], batch: usize, ticket: &CancellationToken,
    done: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<Vec<f32>> {
    let mut longest = vec![0; sources.len()];
    for &(source, target) in pairs {
        longest[source] = target.len().max(longest[source]);
    }
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    // Targets of one source in the order of their words: those that begin alike lie side by side.
    order.sort_by_key(|&pair| {
        let (source, target) = pairs[pair];
        (sources[source].len(), longest[source], source, target)
    });
    let mut log_p = vec![0.0; pairs.len()];
    let mut output = StepOutput::default();
    let mut scored = 0;
    while scored < order.len() {
        let chosen = &order[scored..scored + fitting(&order[scored..], sources, pairs, batch.max(1))];
        score_batch(stepper, sources, pairs, chosen, ticket, &mut output, &mut log_p)?;
        scored += chosen.len();
        done(scored)?;
    }
    Ok(log_p)
}

fn fitting(order: &[usize], sources: &[&[u32]], pairs: &[(usize, &[u32])], batch: usize) -> usize {
    let (mut distinct, mut before) = (0, None);
    for (count, &pair) in order.iter().take(batch).enumerate() {
        let source = pairs[pair].0;
        distinct += usize::from(before != Some(source));
        before = Some(source);
        if count > 0 && distinct * sources[source].len() > BATCH_WORDS {
            return count;
        }
    }
    order.len().min(batch)
}

struct Walk<'a> {
    sentence: usize,
    target: &'a [u32],
    row: usize,
    log_p: f64,
}

fn score_batch(
    stepper: &mut dyn Stepper, sources: &[&[u32]], pairs: &[(usize, &[u32])], chosen: &[usize],
    ticket: &CancellationToken, output: &mut StepOutput, log_p: &mut [f32],
) -> Result<()> {
    let mut distinct: Vec<usize> = chosen.iter().map(|&pair| pairs[pair].0).collect();
    distinct.dedup();
    let batch: Vec<&[u32]> = distinct.iter().map(|&source| sources[source]).collect();
    check_sources(&batch)?;
    ticket.check()?;
    stepper.begin(&batch)?;
    let (mut walks, mut sentence) = (Vec::with_capacity(chosen.len()), 0);
    for &pair in chosen {
        let (source, target) = pairs[pair];
        sentence += usize::from(distinct[sentence] != source);
        walks.push(Walk { sentence, target, row: 0, log_p: 0.0 });
    }
    let (mut rows, mut words) = (Vec::new(), Vec::new());
    for i in 0.. {
        next_rows(&mut walks, i, &mut rows, &mut words);
        if rows.is_empty() {
            break;
        }
        ticket.check()?;
        stepper.step(&rows, &Need::words(&words), output)?;
        let under_way = walks.iter_mut().filter(|walk| i < walk.target.len());
        for (walk, &log_p) in under_way.zip(&output.words) {
            walk.log_p += f64::from(checked(log_p, output.vocabulary, walk.target[i], i)?);
        }
    }
    for (&pair, walk) in chosen.iter().zip(&walks) {
        log_p[pair] = walk.log_p as f32;
    }
    Ok(())
}

/// The rows of step i: one for every different (source, y_1..y_{i-1}) of the pairs that have a word i, and that word of
/// each pair.
fn next_rows(walks: &mut [Walk], i: usize, rows: &mut Vec<StepRow>, words: &mut Vec<Asked>) {
    rows.clear();
    words.clear();
    let mut before: Option<(usize, &[u32])> = None;
    for walk in walks.iter_mut().filter(|walk| i < walk.target.len()) {
        let prefix = (walk.sentence, &walk.target[..i]);
        if before != Some(prefix) {
            let y_prev = (i > 0).then(|| walk.target[i - 1]);
            rows.push(StepRow { sentence: walk.sentence, parent: walk.row, y_prev });
            before = Some(prefix);
        }
        walk.row = rows.len() - 1;
        words.push(Asked { row: walk.row, token: walk.target[i] });
    }
}

fn checked(log_p: f32, vocabulary: usize, token: u32, i: usize) -> Result<f32> {
    if token as usize >= vocabulary {
        return Err(outside(token, i, vocabulary));
    }
    if log_p.is_nan() {
        return Err(Error::Input("the model gives no number for a phrase; its weights are damaged".into()));
    }
    Ok(log_p)
}
