//! Forced decoding, the probability and the alignment of a given target.

use crate::decoding::trace::{Hypothesis, whole};
use crate::error::{Error, Result};
use crate::models::{Asked, Need, StepOutput, StepRow, Stepper};
use crate::{decoding::beam::check_sources, models::transformer::heads::HeadKind, ticket::CancellationToken};

struct Walk<'a> {
    t_x: usize,
    target: &'a [u32],
    row: usize,
    log_p: f64,
    read: Hypothesis,
}

/// Scores targets (ids, `</s>` included), all pairs in one batch; a pair drops out after its last word.
pub fn force(
    stepper: &mut dyn Stepper, pairs: &[(&[u32], &[u32])], ticket: &CancellationToken,
) -> Result<Vec<Hypothesis>> {
    force_seeing(stepper, pairs, ticket, &mut |_, _, _| ())
}

/// Where each head of a Transformer looked in a pair: heads of layer 1 first. Of cross-attention a row for each target
/// word and a column for each source word; of the source both are source words. Of the target row i is that of the step
/// that predicts word i, and its columns are y_0 and the words said before it, zeros behind them.
pub type HeadAlphas = Vec<Vec<Vec<f32>>>;

/// As [`force`], for where every head of a kind looked: of each pair the heads of layer 1 first; none where a decoder
/// has no self-attention.
pub fn force_heads(
    stepper: &mut dyn Stepper, pairs: &[(&[u32], &[u32])], kind: HeadKind, ticket: &CancellationToken,
) -> Result<Vec<HeadAlphas>> {
    let none = || Error::Input("This model has no heads to look through; choose a Transformer.".to_owned());
    if kind == HeadKind::Source {
        let sources: Vec<&[u32]> = pairs.iter().map(|pair| pair.0).collect();
        check_sources(&sources)?;
        ticket.check()?;
        stepper.begin(&sources)?;
        return (0..pairs.len()).map(|sentence| stepper.source_heads(sentence)?.ok_or_else(none)).collect();
    }
    let mut all: Vec<HeadAlphas> = vec![Vec::new(); pairs.len()];
    force_seeing(stepper, pairs, ticket, &mut |stepper, sentence, row| {
        let Some(heads) = stepper.heads(kind) else { return };
        let (alphas, (source, target)) = (&mut all[sentence], pairs[sentence]);
        let said = alphas.first().map_or(0, Vec::len) + 1;
        let (length, width) =
            if kind == HeadKind::Target { (said, target.len()) } else { (source.len(), source.len()) };
        for (head, alpha) in heads.of_row(row, length).enumerate() {
            if alphas.len() == head {
                alphas.push(Vec::new());
            }
            let mut alpha = alpha.to_vec();
            alpha.resize(width, 0.0);
            alphas[head].push(alpha);
        }
    })?;
    if all.iter().any(Vec::is_empty) && !(kind == HeadKind::Target && stepper.has_heads()) {
        return Err(none());
    }
    Ok(all)
}

/// As [`force`]; `see` is shown the stepper after each step, for every pair with the row that it has.
fn force_seeing(
    stepper: &mut dyn Stepper, pairs: &[(&[u32], &[u32])], ticket: &CancellationToken,
    see: &mut dyn FnMut(&dyn Stepper, usize, usize),
) -> Result<Vec<Hypothesis>> {
    let sources: Vec<&[u32]> = pairs.iter().map(|pair| pair.0).collect();
    check_sources(&sources)?;
    ticket.check()?;
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    stepper.heed(ticket);
    stepper.begin(&sources)?;
    let mut walks: Vec<Walk> = pairs
        .iter()
        .enumerate()
        .map(|(row, (source, target))| Walk { t_x: source.len(), target, row, log_p: 0.0, read: Hypothesis::default() })
        .collect();
    let mut output = StepOutput::default();
    let (mut rows, mut words) = (Vec::new(), Vec::new());
    for i in 0.. {
        rows.clear();
        words.clear();
        for (sentence, walk) in walks.iter_mut().enumerate().filter(|(_, walk)| i < walk.target.len()) {
            let y_prev = (i > 0).then(|| walk.target[i - 1]);
            rows.push(StepRow { sentence, parent: walk.row, y_prev });
            walk.row = rows.len() - 1;
            words.push(Asked { row: walk.row, token: walk.target[i] });
        }
        ticket.check()?;
        if rows.is_empty() {
            break;
        }
        stepper.step(&rows, &Need::words(&words), &mut output)?;
        ticket.check()?;
        for (sentence, walk) in walks.iter_mut().enumerate().filter(|(_, walk)| i < walk.target.len()) {
            walk.read(i, &output)?;
            see(stepper, sentence, walk.row);
        }
    }
    Ok(walks.into_iter().map(Walk::finish).collect())
}

impl Walk<'_> {
    fn read(&mut self, i: usize, output: &StepOutput) -> Result<()> {
        let token = self.target[i];
        if token as usize >= output.vocabulary {
            return Err(outside(token, i, output.vocabulary));
        }
        let log_p = output.words[self.row];
        self.log_p += f64::from(log_p);
        self.read.token_log_p.push(log_p);
        if let Some(alpha) = output.alpha_row(self.row, self.t_x) {
            self.read.alpha.get_or_insert_default().push(alpha.to_vec());
        }
        if let Some(energies) = output.energies_row(self.row, self.t_x) {
            self.read.energies.get_or_insert_default().push(energies.to_vec());
        }
        if let Some(p_t) = output.p_t_row(self.row) {
            self.read.p_t.get_or_insert_default().push(p_t);
        }
        if let Some(head) = output.head_row(self.row, self.t_x) {
            let rows = self.read.head.get_or_insert_default();
            rows.extend((i > 0).then(|| head.to_vec()));
        }
        Ok(())
    }

    fn finish(self) -> Hypothesis {
        let (count, log_p) = (self.target.len(), self.log_p as f32);
        Hypothesis {
            tokens: self.target.to_vec(),
            log_p,
            rank: log_p,
            finished: true,
            head: whole(self.read.head, count, self.t_x),
            candidates: vec![Vec::new(); count],
            ..self.read
        }
    }
}

/// Word i of a target, from 0, is none of the model's.
pub(crate) fn outside(token: u32, i: usize, vocabulary: usize) -> Error {
    Error::Input(format!(
        "word {} of a target has the id {token}, but the model knows only {vocabulary} target words; encode it with the tokenizer of this model",
        i + 1
    ))
}

/// Goes through `target` word by word and shows each step before its word is read, with log p of every word and the
/// `best` ones.
pub fn follow(
    stepper: &mut dyn Stepper, source: &[u32], target: &[u32], best: usize, ticket: &CancellationToken,
    see: &mut dyn FnMut(usize, &StepOutput),
) -> Result<()> {
    check_sources(&[source])?;
    stepper.begin(&[source])?;
    let mut output = StepOutput::default();
    for i in 0..target.len() {
        ticket.check()?;
        let y_prev = (i > 0).then(|| target[i - 1]);
        let need = Need { every: true, best, words: &[] };
        stepper.step(&[StepRow { sentence: 0, parent: 0, y_prev }], &need, &mut output)?;
        see(i, &output);
    }
    Ok(())
}
