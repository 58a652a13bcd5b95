//! Floor 4: how much each source word matters for each word of a given translation, by several definitions: alpha is one
//! of them. A new definition is one function and one line of [`IMPORTANCES`].

use crate::decoding;
use crate::decoding::ablate::{AlphaChange, ablate};
use crate::error::{Error, Result};
use crate::models::gradient::{Descent, Gradients, Smoothing};
use crate::models::{Model, Stepper};
use crate::ticket::CancellationToken;

/// A number for each target word (row) and each source word, `</s>` included on both sides; higher matters more, and below
/// 0 a word speaks against the target word.
pub type Matrix = Vec<Vec<f32>>;

/// What a definition is asked for.
type Measure = fn(&mut Subject<'_>, (&[u32], &[u32]), &CancellationToken) -> Result<Matrix>;

/// One line of [`IMPORTANCES`].
#[derive(Debug)]
pub struct Importance {
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// The paper.
    pub citation: &'static str,
    /// Whether the model must have an alignment.
    pub aligns: bool,
    /// Measures a pair.
    measure: Measure,
}

/// The name of the one that is averaged over noisy copies of the embeddings.
pub const GRADIENT: &str = "gradient";

/// The definition that needs nothing but a forced target.
pub const ATTENTION: &str = IMPORTANCES[0].name;

/// Every definition; the first is what the model does by itself.
pub const IMPORTANCES: &[Importance] = &[
    Importance {
        name: "attention",
        about: "alpha_ij of the forced target",
        citation: "Bahdanau, Cho, Bengio 2015; Luong, Pham, Manning 2015",
        aligns: true,
        measure: attention,
    },
    Importance {
        name: GRADIENT,
        about: "x_j . d log p(y_i) / d x_j of the embedding x_j, averaged over noisy embeddings (SmoothGrad)",
        citation: "Ding, Xu, Koehn 2019, Saliency-driven Word Alignment Interpretation for NMT; Smilkov et al. 2017",
        aligns: false,
        measure: |subject, pair, ticket| {
            let smoothing = subject.smoothing;
            subject.gradients()?.times_input(pair, smoothing, ticket)
        },
    },
    Importance {
        name: "leave-one-out",
        about: "log p(y_i) lost when annotation h_j gets no weight at step i and the others share it in proportion",
        citation: "Serrano and Smith 2019, Is Attention Interpretable?",
        aligns: true,
        measure: leave_one_out,
    },
    Importance {
        name: "unknown-word",
        about: "log p(y_i) lost when the encoder reads [UNK] in place of word j",
        citation: "Li, Monroe, Jurafsky 2016, Understanding Neural Networks through Representation Erasure",
        aligns: false,
        measure: unknown_word,
    },
    Importance {
        name: "optimised",
        about: "alpha_i after gradient descent on its logits towards log p(y_i)",
        citation: "Zenkel, Wuebker, DeNero 2019, Adding Interpretable Attention to Neural Translation Models Improves Word Alignment",
        aligns: true,
        measure: |subject, pair, ticket| {
            let descent = subject.descent;
            subject.gradients()?.optimised(pair, descent, ticket)
        },
    },
];

/// The definition of that name.
pub fn importance(name: &str) -> Option<&'static Importance> {
    IMPORTANCES.iter().find(|importance| importance.name == name)
}

/// A model that is measured, and what runs it.
pub struct Subject<'a> {
    model: &'a Model,
    stepper: &'a mut dyn Stepper,
    /// Made when it is asked for first.
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

    /// The model.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// What runs it.
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

impl Importance {
    /// Measures a pair (ids, `</s>` included).
    ///
    /// # Errors
    /// [`Error::Stale`] as soon as the ticket is stale; a model without the alignment that is needed; an empty source or
    /// target; ids outside the vocabularies.
    pub fn measure(
        &self,
        subject: &mut Subject<'_>,
        pair: (&[u32], &[u32]),
        ticket: &CancellationToken,
    ) -> Result<Matrix> {
        self.check(subject.model)?;
        (self.measure)(subject, pair, ticket)
    }

    /// Refuses a model that has not what is needed.
    pub fn check(&self, model: &Model) -> Result<()> {
        let config = &model.config;
        if !self.aligns || config.aligns() {
            return Ok(());
        }
        let free: Vec<&str> = IMPORTANCES.iter().filter(|one| !one.aligns).map(|one| one.name).collect();
        Err(Error::Input(format!(
            "{} ({}) has no alignment, which {} needs; choose a model that has one, or {}",
            config.name,
            config.architecture.name(),
            self.name,
            free.join(" or ")
        )))
    }
}

fn attention(subject: &mut Subject<'_>, pair: (&[u32], &[u32]), ticket: &CancellationToken) -> Result<Matrix> {
    let forced = decoding::force(subject.stepper, &[pair], ticket)?;
    Ok(forced.into_iter().next().and_then(|forced| forced.alpha).unwrap_or_default())
}

fn leave_one_out(subject: &mut Subject<'_>, pair: (&[u32], &[u32]), ticket: &CancellationToken) -> Result<Matrix> {
    let mut rows: Matrix = Vec::with_capacity(pair.1.len());
    ablate(subject.stepper, pair, &[], ticket, &mut |said| {
        let token = pair.1[said.i] as usize;
        match said.change {
            AlphaChange::Own => rows.push(Vec::with_capacity(pair.0.len())),
            AlphaChange::Without(_) => {
                rows.last_mut().into_iter().for_each(|row| row.push(said.own[token] - said.log_p[token]));
            }
            AlphaChange::Uniform | AlphaChange::Permuted(_) => {}
        }
    })?;
    Ok(rows)
}

/// Sentences that are read at once, each with another word unknown.
const TOGETHER: usize = 32;

fn unknown_word(
    subject: &mut Subject<'_>,
    (source, target): (&[u32], &[u32]),
    ticket: &CancellationToken,
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

/// Each row as shares that sum to 1; negative values count as 0. Links are read off these. A row without any is all zeros.
pub fn shares(matrix: &[Vec<f32>]) -> Matrix {
    let row = |row: &Vec<f32>| {
        let sum: f32 = row.iter().map(|value| value.max(0.0)).sum();
        row.iter().map(|value| if sum > 0.0 { value.max(0.0) / sum } else { 0.0 }).collect()
    };
    matrix.iter().map(row).collect()
}
