//! The readable models driven as the search wants it, on any device.

use std::cell::OnceCell;

use candle_core::Tensor;

use crate::error::{Error, Result};
use crate::models::need::{Asked, Need};
use crate::models::readable::{AlignedStep, Annotations, State, TranslationModel};
use crate::models::stepper::{StepOutput, StepRow, Stepper};
use crate::models::transformer::heads::HeadChanges;

/// Most words of a row that are searched one by one on a device; for more, log p goes to the host.
const ROUNDS: usize = 64;

/// A [`Stepper`] over any [`TranslationModel`].
pub struct PlainStepper {
    model: Box<dyn TranslationModel>,
    batch: Option<Batch>,
    pub(crate) most: usize,
}

struct Batch {
    annotations: Annotations,
    /// The annotations of each row and their sentences: most steps need those of the step before.
    gathered: Option<(Vec<u32>, Annotations)>,
    start: State,
    state: Option<State>,
    half: Option<Half>,
    seen: OnceCell<Option<Vec<f32>>>,
}

struct Half {
    y_prev: Option<Vec<u32>>,
    aligned: AlignedStep,
    alpha: Vec<f32>,
}

impl Half {
    fn take(&mut self, alpha: &[f32]) -> Result<()> {
        if let Some(alpha_i) = self.aligned.alpha_i.as_mut().filter(|_| self.alpha != alpha) {
            *alpha_i = Tensor::from_slice(alpha, alpha_i.shape(), alpha_i.device())?;
            self.alpha = alpha.to_vec();
        }
        Ok(())
    }
}

impl PlainStepper {
    pub fn new(model: Box<dyn TranslationModel>) -> Self {
        Self { model, batch: None, most: usize::MAX }
    }

    fn look(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        let Some(batch) = &mut self.batch else { return Err(no_sentence()) };
        let y_prev = words_before(rows)?;
        let s_prev = batch.states(rows, y_prev.is_none())?;
        batch.gather_annotations(rows)?;
        let annotations = batch.gathered.as_ref().map_or(&batch.annotations, |(_, annotations)| annotations);
        let aligned = self.model.align(y_prev.as_deref(), &s_prev, annotations)?;
        output.rows = rows.len();
        output.vocabulary = self.model.config().target_vocabulary;
        output.t_x = batch.annotations.mask.dim(1)?;
        batch.half = Some(Half { y_prev, aligned, alpha: Vec::new() });
        Ok(())
    }

    fn copy_alignment(&mut self, output: &mut StepOutput) -> Result<()> {
        let Some(Batch { half: Some(half), .. }) = &mut self.batch else { return Err(no_sentence()) };
        let copy =
            |tensor: &Option<Tensor>| Ok::<_, Error>(tensor.as_ref().map(to_host).transpose()?.unwrap_or_default());
        output.alpha = copy(&half.aligned.alpha_i)?;
        output.energies = copy(&half.aligned.e_i)?;
        output.p_t = copy(&half.aligned.p_t)?;
        half.alpha.clone_from(&output.alpha);
        Ok(())
    }

    fn finish(&mut self, need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        let Some(Batch { annotations, gathered, state, half: Some(half), seen, .. }) = &mut self.batch else {
            return Err(no_sentence());
        };
        let annotations = gathered.as_ref().map_or(&*annotations, |(_, annotations)| annotations);
        let step = self.model.predict(half.y_prev.as_deref(), &half.aligned, annotations)?;
        if step.log_p.device().is_cpu() || need.every || need.best > ROUNDS {
            output.log_p = to_host(&step.log_p)?;
            output.answer(need);
        } else {
            answer_on_device(&step.log_p, need, output)?;
        }
        *state = Some(step.s);
        *seen = OnceCell::new();
        Ok(())
    }
}

impl Stepper for PlainStepper {
    fn most(&self) -> usize {
        self.most
    }

    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.begin_changed(sources, &[])
    }

    fn has_heads(&self) -> bool {
        self.model.config().transformer().is_some()
    }

    fn begin_changed(&mut self, sources: &[&[u32]], changes: &[HeadChanges]) -> Result<()> {
        self.batch = None;
        let is_own = changes.iter().all(HeadChanges::is_empty);
        let annotations =
            if is_own { self.model.encode(sources)? } else { self.model.encode_changed(sources, changes)? };
        let start = self.model.init_state(&annotations)?;
        self.batch = Some(Batch { annotations, gathered: None, start, state: None, half: None, seen: OnceCell::new() });
        Ok(())
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        self.look(rows, output)?;
        self.copy_alignment(output)
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        let Some(Batch { half: Some(half), .. }) = &mut self.batch else { return Err(no_sentence()) };
        output.check_aligned(rows, half.aligned.alpha_i.as_ref().map(|_| output.t_x))?;
        half.take(&output.alpha)?;
        self.finish(need, output)
    }

    /// Alpha is copied last: a device need not wait for it between the halves.
    fn step(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        self.look(rows, output)?;
        self.finish(need, output)?;
        self.copy_alignment(output)
    }

    fn states(&self) -> Option<&[f32]> {
        let Batch { state, start, seen, .. } = self.batch.as_ref()?;
        let read = || to_host(&self.model.seen(state.as_ref().unwrap_or(start))?).ok();
        seen.get_or_init(read).as_deref()
    }

    fn context(&self, sentence: usize) -> Option<Vec<f32>> {
        let annotations = &self.batch.as_ref()?.annotations;
        let config = self.model.config();
        if !(config.architecture.entry().one_context)(config) {
            return None;
        }
        to_host(&annotations.h.get(sentence).ok()?).ok()
    }

    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        if self.context(sentence).is_some() {
            return None;
        }
        let annotations = &self.batch.as_ref()?.annotations;
        let h: Vec<Vec<f32>> = annotations.h.get(sentence).ok()?.to_vec2().ok()?;
        Some(h.into_iter().take(*annotations.lengths.get(sentence)?).collect())
    }
}

impl Batch {
    fn states(&self, rows: &[StepRow], first: bool) -> Result<State> {
        let (from, index): (_, Vec<u32>) = if first {
            (&self.start, rows.iter().map(|row| row.sentence as u32).collect())
        } else {
            let Some(state) = &self.state else {
                return Err(Error::Internal("the first step was given words before it".into()));
            };
            (state, rows.iter().map(|row| row.parent as u32).collect())
        };
        let tensors = from.tensors.iter().map(|tensor| gather(tensor, &index)).collect::<Result<_>>()?;
        Ok(State { tensors, i: from.i })
    }

    /// The batch's own annotations if one sentence serves all rows or rows are in order, else gathered ones.
    fn gather_annotations(&mut self, rows: &[StepRow]) -> Result<()> {
        let index: Vec<u32> = rows.iter().map(|row| row.sentence as u32).collect();
        let sentences = self.annotations.lengths.len();
        if sentences == 1 || is_identity(&index, sentences) {
            self.gathered = None;
        } else if self.gathered.as_ref().is_none_or(|(known, _)| *known != index) {
            let all = &self.annotations;
            let gathered = Annotations {
                h: gather(&all.h, &index)?,
                keys: all.keys.as_ref().map(|keys| gather(keys, &index)).transpose()?,
                last: Vec::new(), // the start states need them, and those are made once for the batch
                mask: gather(&all.mask, &index)?,
                lengths: rows.iter().filter_map(|row| all.lengths.get(row.sentence).copied()).collect(),
                changes: rows.iter().filter_map(|row| all.changes.get(row.sentence).cloned()).collect(),
            };
            self.gathered = Some((index, gathered));
        }
        Ok(())
    }
}

fn no_sentence() -> Error {
    Error::Internal("a step was asked for before any sentence".into())
}

fn words_before(rows: &[StepRow]) -> Result<Option<Vec<u32>>> {
    let words: Vec<u32> = rows.iter().filter_map(|row| row.y_prev).collect();
    match words.len() {
        _ if rows.is_empty() => Err(Error::Internal("a step without rows was asked for".into())),
        0 => Ok(None),
        known if known == rows.len() => Ok(Some(words)),
        _ => Err(Error::Internal("some rows are at their first step and some are not".into())),
    }
}

fn is_identity(index: &[u32], count: usize) -> bool {
    index.len() == count && index.iter().enumerate().all(|(i, j)| i == *j as usize)
}

fn gather(tensor: &Tensor, index: &[u32]) -> Result<Tensor> {
    if is_identity(index, tensor.dim(0)?) {
        return Ok(tensor.clone());
    }
    Ok(tensor.index_select(&Tensor::from_slice(index, index.len(), tensor.device())?, 0)?)
}

fn to_host(tensor: &Tensor) -> Result<Vec<f32>> {
    Ok(tensor.flatten_all()?.to_vec1()?)
}

/// [`StepOutput::answer`] on a device: only requested words travel to the host; the best are found one by one.
pub fn answer_on_device(log_p: &Tensor, need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
    let ((rows, vocabulary), device) = (log_p.dims2()?, log_p.device());
    output.forget_words();
    output.log_p.clear();
    let k = need.best.min(vocabulary);
    if k > 0 {
        let ids =
            Tensor::arange(0, vocabulary as u32, device)?.reshape((1, vocabulary))?.broadcast_as(log_p.shape())?;
        let nothing = Tensor::full(f32::NEG_INFINITY, log_p.shape(), device)?;
        let nowhere = Tensor::full(vocabulary as u32, log_p.shape(), device)?;
        // what is no number is never the greatest
        let mut left = log_p.eq(log_p)?.where_cond(log_p, &nothing)?;
        let mut found = Vec::with_capacity(k);
        for _ in 0..k {
            let most = left.max_keepdim(1)?;
            let first = left.broadcast_eq(&most)?.where_cond(&ids, &nowhere)?.min_keepdim(1)?;
            left = ids.broadcast_eq(&first)?.where_cond(&nothing, &left)?;
            found.push((first, most));
        }
        let (tokens, values): (Vec<Tensor>, Vec<Tensor>) = found.into_iter().unzip();
        let tokens: Vec<u32> = Tensor::cat(&tokens, 1)?.flatten_all()?.to_vec1()?;
        let values = to_host(&Tensor::cat(&values, 1)?)?;
        for (tokens, values) in tokens.chunks_exact(k).zip(values.chunks_exact(k)) {
            let known = tokens.iter().copied().zip(values.iter().copied());
            output.best.extend(known.filter(|word| word.1 > f32::NEG_INFINITY));
            output.best_ends.push(output.best.len());
        }
    } else {
        output.best_ends.resize(rows, 0);
    }
    let inside = |asked: &&Asked| (asked.token as usize) < vocabulary;
    let places: Vec<u32> =
        need.words.iter().filter(inside).map(|asked| asked.row as u32 * vocabulary as u32 + asked.token).collect();
    let mut values = Vec::new();
    if !places.is_empty() {
        values = to_host(&log_p.flatten_all()?.index_select(&Tensor::new(places, device)?, 0)?)?;
    }
    let mut values = values.into_iter();
    let value = |asked: &Asked| if inside(&asked) { values.next().unwrap_or(f32::NAN) } else { f32::NAN };
    output.words.extend(need.words.iter().map(value));
    Ok(())
}
