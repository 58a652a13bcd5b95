//! Floor 4: two models in a row: the second translates what the first says, its text between both.
//!
//! The first translates a sentence by itself, with a beam of its own ([`Pivot::search`]); its best translation, as text, is
//! the source of the second, whose search, probabilities and interventions on words are those of the whole. Their
//! alignments are composed over the words w between the spaces of the text between: with beta_wj the alpha of the first,
//! rows of the pieces of w averaged, and alpha_iw that of the second, alpha_ij = sum_w alpha_iw beta_wj, the product of both
//! matrices. A piece of the second of several words shares its weight among them; its `</s>` stands for that of the first.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::decoding::trace::Hypothesis;
use crate::decoding::{SearchOptions, Specials, decode};
use crate::error::{Error, Result};
use crate::models::{Kernels, Model, Need, StepOutput, StepRow, Stepper};
use crate::text::language::primary;
use crate::text::sentence::Sentence;
use crate::text::words::{SideWords, without_end};
use crate::ticket::CancellationToken;

/// Numbers of translations that are remembered, some 64 MB.
const MOST: usize = 16 << 20;

/// A sentence between two models.
#[derive(Clone, Debug, Default)]
pub struct Between {
    /// What the first model says, its alpha over the source of the whole.
    pub said: Hypothesis,
    /// That as text.
    pub text: String,
    /// The text as the second model reads it.
    pub read: Sentence,
    /// beta of each of these tokens over the source of the whole; none where the first model has no alignment.
    pub beta: Vec<Vec<f32>>,
}

/// Two models, and what the first has said lately.
#[derive(Debug)]
pub struct Pivot {
    first: Model,
    second: Model,
    /// The source side of the first and the target side of the second.
    whole: Model,
    known: Mutex<Known>,
}

/// What was said, by the ids of the source, and how many numbers that is.
#[derive(Debug, Default)]
struct Known {
    said: HashMap<Vec<u32>, Arc<Between>>,
    numbers: usize,
}

impl Pivot {
    /// Two models in a row.
    ///
    /// # Errors
    /// Models that are not two; a second that reads another language than the first writes, or has several target
    /// languages of which none is chosen.
    pub fn new(members: &[Model]) -> Result<Self> {
        let [first, second] = members else {
            let message = format!("two models translate in a row, and these are {}; name two", members.len());
            return Err(Error::Input(message));
        };
        let (writes, reads) = (&first.config.target_language, &second.config.source_language);
        if differ(writes, reads) {
            return Err(Error::Input(format!(
                "{} writes `{writes}`, but {} reads `{reads}`; the second model has to read what the first writes",
                first.config.name, second.config.name
            )));
        }
        if let Some(refuses) = second.source.refuses(&second.source.encode("a")) {
            return Err(Error::Input(format!("what {} is to translate {refuses}", second.config.name)));
        }
        let mut whole = second.clone();
        whole.source = first.source.clone();
        whole.config.source_language.clone_from(&first.config.source_language);
        whole.config.source_vocabulary = first.config.source_vocabulary;
        whole.config.source_eos = first.config.source_eos;
        Ok(Self { first: first.clone(), second: second.clone(), whole, known: Mutex::default() })
    }

    /// The whole as a model: the source side of the first, all else of the second.
    pub fn whole(&self) -> &Model {
        &self.whole
    }

    /// Whether both align, so that their product is there.
    pub fn aligns(&self) -> bool {
        self.first.config.aligns() && self.second.config.aligns()
    }

    /// How the first model searches.
    pub fn search() -> SearchOptions {
        SearchOptions { most_numbers: 0, ..SearchOptions::default() }
    }

    /// What stands between both for a source whose translation began lately.
    pub fn between(&self, source: &[u32]) -> Option<Arc<Between>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).said.get(source).cloned()
    }

    /// What the search drives.
    pub fn stepper(self: &Arc<Self>, engine: Kernels, threads: usize) -> Result<Box<dyn Stepper>> {
        Ok(Box::new(PivotStepper {
            first: self.first.stepper(engine, threads)?,
            second: self.second.stepper(engine, threads)?,
            pivot: Arc::clone(self),
            output: StepOutput::default(),
            alpha: Vec::new(),
            batch: Vec::new(),
            t_x: 0,
            ticket: RefCell::new(CancellationToken::forever()),
        }))
    }

    /// How the rows of the first belong to its words: of a model that was trained so, to those that it had read.
    fn row_of(&self, i: usize, rows: usize) -> usize {
        let is_late = self.first.guided() == Some("input");
        let delay = if is_late { self.first.config.input_delay().unwrap_or(0) } else { 0 };
        (i + delay).min(rows.saturating_sub(1))
    }

    /// What the second model reads, once the first has said this.
    fn read(&self, said: Hypothesis) -> Result<Between> {
        let (eos, _) = self.first.specials();
        let words = said.tokens.strip_suffix(&[eos]).unwrap_or(&said.tokens);
        let tokens = self.first.target.tokens(words);
        let text = self.first.target.join(&self.first.config.target_language, without_end(&tokens));
        let read = self.second.source.encode(&text);
        if read.words() == 0 {
            let (first, second) = (&self.first.config.name, &self.second.config.name);
            return Err(Error::Input(format!("{first} says nothing of it that {second} could read")));
        }
        let beta = match &said.alpha {
            Some(alpha) if self.aligns() => self.beta(words, &text, &read, alpha)?,
            _ => Vec::new(),
        };
        Ok(Between { said, text, read, beta })
    }

    /// beta of the tokens of the second model, out of alpha of those of the first.
    fn beta(&self, words: &[u32], text: &str, read: &Sentence, alpha: &[Vec<f32>]) -> Result<Vec<Vec<f32>>> {
        let sides = SideWords::of_translation(&self.first.target, words, text, false).zip(SideWords::of_sentence(
            &self.second.source,
            read,
            text,
            false,
        ));
        let lost = || Error::Input(format!("the words of \u{201c}{text}\u{201d} are not those of both models"));
        let (written, seen) = sides.ok_or_else(lost)?;
        let rows = |tokens: Range<usize>| -> Vec<&[f32]> {
            tokens.filter_map(|i| alpha.get(self.row_of(i, alpha.len())).map(Vec::as_slice)).collect()
        };
        // alpha of `</s>`, at which the first looks at no word
        let end = mean(&rows(words.len()..words.len() + 1));
        // first the words of the vocabulary, then those of the text
        let entries: Vec<Vec<f32>> = written.words.iter().map(|tokens| mean(&rows(tokens.clone()))).collect();
        let of_word = |word: usize| {
            let parts: Vec<&[f32]> = written.places.parts_of(word).map(|part| entries[part].as_slice()).collect();
            mean(&parts)
        };
        let by_word: Vec<Vec<f32>> = (0..written.places.words).map(of_word).collect();
        let mut beta = vec![end; read.len()];
        for (tokens, places) in seen.words.iter().zip(&seen.places.places) {
            let parts: Vec<&[f32]> = by_word.get(places.clone()).into_iter().flatten().map(Vec::as_slice).collect();
            if !parts.is_empty() {
                tokens.clone().for_each(|token| beta[token] = mean(&parts));
            }
        }
        Ok(beta)
    }

    fn keep(&self, source: &[u32], between: Arc<Between>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = 2 * between.beta.iter().map(Vec::len).sum::<usize>() + between.read.len();
        if known.numbers + numbers > MOST {
            *known = Known::default();
        }
        known.numbers += numbers;
        known.said.insert(source.to_vec(), between);
    }
}

/// Whether two languages are surely not the same: both known and written alike, as `en` and `fr`.
fn differ(writes: &str, reads: &str) -> bool {
    let (writes, reads) = (primary(writes), primary(reads));
    let is_open = |tag: &str| ["und", "mul"].contains(&tag);
    writes.len() == reads.len() && writes != reads && !is_open(&writes) && !is_open(&reads)
}

/// The mean of some rows; none of no rows.
fn mean(rows: &[&[f32]]) -> Vec<f32> {
    let mut sum = rows.first().map_or_else(Vec::new, |row| vec![0.0; row.len()]);
    for row in rows {
        sum.iter_mut().zip(*row).for_each(|(sum, alpha)| *sum += alpha / rows.len() as f32);
    }
    sum
}

/// A [`Stepper`] over the second model.
struct PivotStepper {
    pivot: Arc<Pivot>,
    first: Box<dyn Stepper>,
    second: Box<dyn Stepper>,
    /// The running step of the second model.
    output: StepOutput,
    /// The composed alpha of it, as it was given away.
    alpha: Vec<f32>,
    /// What each sentence of the batch is between both, and T_x of the whole.
    batch: Vec<(Arc<Between>, usize)>,
    /// The longest of these.
    t_x: usize,
    ticket: RefCell<CancellationToken>,
}

impl PivotStepper {
    /// The first step: what the second model reads for each source.
    fn translate(&mut self, sources: &[&[u32]]) -> Result<Vec<(Arc<Between>, usize)>> {
        let unknown: Vec<&[u32]> =
            sources.iter().filter(|source| self.pivot.between(source).is_none()).copied().collect();
        let specials = Specials::of(&self.pivot.first.config);
        let ticket = self.ticket.borrow().clone();
        let search = Pivot::search();
        let decoded = decode(&mut *self.first, specials, &unknown, &search, &ticket, &mut |_, _| {})?;
        let mut new = HashMap::new();
        for (source, decoded) in unknown.into_iter().zip(decoded) {
            let said = decoded.hypotheses.into_iter().next().unwrap_or_default();
            let between = Arc::new(self.pivot.read(said)?);
            self.pivot.keep(source, Arc::clone(&between));
            new.insert(source, between);
        }
        let lost = || Error::Internal("a sentence between two models was lost".to_owned());
        let between = |source: &&[u32]| {
            let between = new.get(source).cloned().or_else(|| self.pivot.between(source)).ok_or_else(lost)?;
            Ok((between, source.len()))
        };
        sources.iter().map(between).collect()
    }

    fn measure(&mut self) {
        self.t_x = self.batch.iter().map(|(_, t_x)| *t_x).max().unwrap_or(0);
    }

    /// alpha_ij = sum_w alpha_iw beta_wj.
    fn compose(&self, rows: &[StepRow], alpha: &mut Vec<f32>) {
        alpha.clear();
        if !self.pivot.aligns() {
            return;
        }
        alpha.resize(rows.len() * self.t_x, 0.0);
        for (r, row) in rows.iter().enumerate() {
            let (between, _) = &self.batch[row.sentence];
            let Some(seen) = self.output.alpha_row(r, between.read.len()) else { continue };
            let whole = &mut alpha[r * self.t_x..(r + 1) * self.t_x];
            for (weight, beta) in seen.iter().zip(&between.beta) {
                whole.iter_mut().zip(beta).for_each(|(sum, beta)| *sum += weight * beta);
            }
        }
    }
}

impl Stepper for PivotStepper {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.batch = self.translate(sources)?;
        self.measure();
        let read: Vec<&[u32]> = self.batch.iter().map(|(between, _)| between.read.ids.as_slice()).collect();
        self.second.begin(&read)
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        self.second.align(rows, &mut self.output)?;
        (output.rows, output.t_x, output.vocabulary) = (rows.len(), self.t_x, self.output.vocabulary);
        // energies and positions are of the words between, which no column of the whole stands for
        output.energies.clear();
        output.p_t.clear();
        self.compose(rows, &mut output.alpha);
        self.alpha.clone_from(&output.alpha);
        Ok(())
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        if output.alpha != self.alpha {
            return Err(Error::Input(
                "alpha of two models in a row is the product of both, so nothing follows from another; set alpha, mask words \
                 and change the temperature in one model"
                    .to_owned(),
            ));
        }
        self.second.predict(rows, need, &mut self.output)?;
        let own = &mut self.output;
        std::mem::swap(&mut output.log_p, &mut own.log_p);
        std::mem::swap(&mut output.best, &mut own.best);
        std::mem::swap(&mut output.best_ends, &mut own.best_ends);
        std::mem::swap(&mut output.words, &mut own.words);
        Ok(())
    }

    fn most(&self) -> usize {
        self.second.most()
    }

    fn heed(&self, ticket: &CancellationToken) {
        self.ticket.replace(ticket.clone());
    }

    fn joins(&self) -> bool {
        self.second.joins()
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        let new = self.translate(sources)?;
        let read: Vec<&[u32]> = new.iter().map(|(between, _)| between.read.ids.as_slice()).collect();
        self.second.join(kept, &read)?;
        self.batch = kept.iter().map(|&sentence| self.batch[sentence].clone()).chain(new).collect();
        self.measure();
        Ok(())
    }

    /// The context of the second model is of the text between.
    fn context(&self, _: usize) -> Option<Vec<f32>> {
        None
    }

    /// Likewise.
    fn annotations(&self, _: usize) -> Option<Vec<Vec<f32>>> {
        None
    }
}
