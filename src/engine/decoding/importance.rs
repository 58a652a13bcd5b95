//! How much each source word matters for each word of a given translation, by other definitions than alpha; ids hold
//! `</s>` on both sides.

use crate::models::gradient::{Descent, Gradients, Smoothing};
use crate::models::{Model, Stepper};
use crate::{decoding, error::Result, ticket::CancellationToken};

/// A number for each target word (row) and each source word, `</s>` included on both sides; higher matters more, and
/// below 0 a word speaks against the target word.
pub type Matrix = Vec<Vec<f32>>;

/// A model that is measured, and what runs it.
pub struct Subject<'a> {
    model: &'a Model,
    stepper: &'a mut dyn Stepper,
    gradients: Option<Gradients>,
    /// How gradients are smoothed.
    pub smoothing: Smoothing,
    /// How alpha is optimised.
    pub descent: Descent,
}

impl<'a> Subject<'a> {
    /// A model, with the settings of the papers.
    pub fn new(model: &'a Model, stepper: &'a mut dyn Stepper) -> Self {
        Self { model, stepper, gradients: None, smoothing: Smoothing::default(), descent: Descent::default() }
    }

    pub fn model(&self) -> &'a Model {
        self.model
    }

    pub fn stepper(&mut self) -> &mut dyn Stepper {
        self.stepper
    }

    fn gradients(&mut self) -> Result<&Gradients> {
        match &mut self.gradients {
            Some(gradients) => Ok(gradients),
            none => Ok(none.insert(Gradients::new(self.model)?)),
        }
    }
}

/// x_j . d log p(y_i) / d x_j of the embedding x_j, averaged over noisy embeddings (SmoothGrad): Ding, Xu, Koehn 2019,
/// Saliency-driven Word Alignment Interpretation for NMT; Smilkov et al. 2017.
pub fn gradient(subject: &mut Subject<'_>, pair: (&[u32], &[u32]), ticket: &CancellationToken) -> Result<Matrix> {
    let smoothing = subject.smoothing;
    subject.gradients()?.times_input(pair, smoothing, ticket)
}

/// alpha_i after gradient descent on its logits towards log p(y_i): Zenkel, Wuebker, DeNero 2019, Adding Interpretable
/// Attention to Neural Translation Models Improves Word Alignment.
pub fn optimised(subject: &mut Subject<'_>, pair: (&[u32], &[u32]), ticket: &CancellationToken) -> Result<Matrix> {
    let descent = subject.descent;
    subject.gradients()?.optimised(pair, descent, ticket)
}

const TOGETHER: usize = 32;

pub fn unknown_word(
    subject: &mut Subject<'_>, (source, target): (&[u32], &[u32]), ticket: &CancellationToken,
) -> Result<Matrix> {
    let whole = decoding::force(subject.stepper, &[(source, target)], ticket)?;
    let Some(whole) = whole.first() else { return Ok(Vec::new()) };
    let unk = subject.model.config.unk;
    let without = |j: usize| source.iter().enumerate().map(|(k, &id)| if k == j { unk } else { id }).collect();
    let sources: Vec<Vec<u32>> = (0..source.len()).map(without).collect();
    let mut rows = vec![Vec::with_capacity(source.len()); target.len()];
    for sources in sources.chunks(TOGETHER) {
        let pairs: Vec<(&[u32], &[u32])> = sources.iter().map(|source| (source.as_slice(), target)).collect();
        for without in decoding::force(subject.stepper, &pairs, ticket)? {
            for ((row, log_p), whole) in rows.iter_mut().zip(&without.token_log_p).zip(&whole.token_log_p) {
                row.push(whole - log_p);
            }
        }
    }
    Ok(rows)
}
