//! Floor 5: how much each word of a translation depends on each source word, beside what alpha says: the measures that
//! the window shows as pictures of their own. A new one is a line of [`MEASURES`].

use crate::analysis::ablation;
use crate::analysis::ablation::{AblatedWord, AblationMeans};
use crate::analysis::correlation::kendall_of_effects;
use crate::decoding;
use crate::decoding::importance::{Importance, Matrix, Subject, importance};
use crate::error::{Error, Result};
use crate::models::gradient::Smoothing;
use crate::ticket::CancellationToken;

/// How often alpha is permuted, as by the command line.
const PERMUTATIONS: u64 = 10;
/// Noisy embeddings over which a gradient is averaged; each takes as long as all target words forced one by one.
const SAMPLES: usize = 3;

/// One line of [`MEASURES`].
#[derive(Debug)]
pub struct Measure {
    pub name: &'static str,
    /// On buttons and over pictures.
    pub title: &'static str,
    /// What its numbers are.
    pub unit: &'static str,
    pub about: &'static str,
    /// Whether the model must have an alignment.
    pub aligns: bool,
    /// The line of `IMPORTANCES` that measures it; `None`: it comes of the tests of [`ablation`].
    importance: Option<&'static str>,
}

/// Every measure. The first two come of the same tests.
pub const MEASURES: &[Measure] = &[
    Measure {
        name: "leave-one-out-js",
        title: "left out: JS",
        unit: "nats",
        about: "By how much the next-word distribution changes when source word j gets no weight in row i and the others \
                share it in proportion: Jensen-Shannon divergence, at most ln 2 = 0.693 (Jain and Wallace 2019, \
                Serrano and Smith 2019)",
        aligns: true,
        importance: None,
    },
    Measure {
        name: "leave-one-out",
        title: "left out: log p lost",
        unit: "nats",
        about: "By how much log p of target word i falls when source word j gets no weight in row i and the others share \
                it in proportion; below 0 the word had spoken against it (Serrano and Smith 2019)",
        aligns: true,
        importance: None,
    },
    Measure {
        name: "gradient",
        title: "gradient times input",
        unit: "nats",
        about: "x_j . d log p(y_i) / d x_j of the embedding x_j of source word j, averaged over 3 noisy embeddings (Ding, \
                Xu, Koehn 2019; SmoothGrad); below 0 the word speaks against it",
        aligns: false,
        importance: Some("gradient"),
    },
    Measure {
        name: "unknown-word",
        title: "unread: log p lost",
        unit: "nats",
        about: "By how much log p of target word i falls when the encoder reads [UNK] in place of source word j (Li, \
                Monroe, Jurafsky 2016)",
        aligns: false,
        importance: Some("unknown-word"),
    },
    Measure {
        name: "optimised",
        title: "optimised row",
        unit: "weight",
        about: "The row after three steps of gradient descent on its logits towards log p of target word i, the rows \
                before it being the model's own (Zenkel, Wuebker, DeNero 2019)",
        aligns: true,
        importance: Some("optimised"),
    },
];

/// A measure of every word of a translation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredWords {
    /// Its place in [`MEASURES`].
    pub measure: usize,
    /// A row for each target token, a number for each source token. [t_y][t_x]
    pub rows: Matrix,
    /// Kendall's tau-b of a row and alpha of the model itself ([`kendall_of_effects`]), the mean over rows; `None` without
    /// alpha.
    pub kendall: Option<f64>,
}

/// What was found about a translation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tested {
    /// The source, `</s>` included.
    pub source: Vec<u32>,
    /// The translation that was forced, `</s>` included.
    pub target: Vec<u32>,
    pub measured: Vec<MeasuredWords>,
    /// The figures of the tests, where they were made.
    pub means: Option<AblationMeans>,
}

impl Measure {
    /// It comes of the standard tests, whose figures stand beside it.
    pub fn is_tested(&self) -> bool {
        self.importance.is_none()
    }

    fn definition(&self) -> Result<Option<&'static Importance>> {
        let missing = |name| Error::Internal(format!("no importance is called {name}"));
        self.importance.map(|name| importance(name).ok_or_else(|| missing(name))).transpose()
    }
}

/// Measures a translation (ids, `</s>` included) of a model by itself.
///
/// # Errors
/// [`Error::Stale`] as soon as the ticket is stale; a model without the alignment that is needed; ids outside the
/// vocabularies; a pair that is too long.
pub fn measure(
    subject: &mut Subject<'_>,
    place: usize,
    pair: (&[u32], &[u32]),
    ticket: &CancellationToken,
) -> Result<Tested> {
    let line = MEASURES.get(place).ok_or_else(|| Error::Internal(format!("there is no measure {place}")))?;
    let tested = Tested { source: pair.0.to_vec(), target: pair.1.to_vec(), ..Tested::default() };
    let Some(definition) = line.definition()? else { return tests(tested, subject, ticket) };
    subject.smoothing = Smoothing::of(SAMPLES);
    let rows = definition.measure(subject, pair, ticket)?;
    let forced =
        if subject.model().config.aligns() { decoding::force(subject.stepper(), &[pair], ticket)? } else { Vec::new() };
    let alpha = forced.into_iter().next().and_then(|forced| forced.alpha).unwrap_or_default();
    let kendall = agreement(&alpha, &rows);
    Ok(Tested { measured: vec![MeasuredWords { measure: place, rows, kendall }], ..tested })
}

/// The standard tests: uniform, permuted, each source word left out.
fn tests(tested: Tested, subject: &mut Subject<'_>, ticket: &CancellationToken) -> Result<Tested> {
    let seeds: Vec<u64> = (1..=PERMUTATIONS).collect();
    let words = ablation::words(subject.stepper(), (&tested.source, &tested.target), &seeds, ticket)?;
    let lost = |word: &AblatedWord| word.without.iter().map(|effect| word.log_p - effect.log_p).collect();
    let alpha: Matrix = words.iter().map(|word| word.alpha.clone()).collect();
    let of = |measure: usize, rows: Matrix| MeasuredWords { measure, kendall: agreement(&alpha, &rows), rows };
    let measured =
        vec![of(0, words.iter().map(AblatedWord::leave_one_out).collect()), of(1, words.iter().map(lost).collect())];
    let mut means = AblationMeans::default();
    means.add(&words);
    Ok(Tested { measured, means: Some(means), ..tested })
}

/// The mean over the rows that have one.
fn agreement(alpha: &[Vec<f32>], rows: &[Vec<f32>]) -> Option<f64> {
    let taus: Vec<f64> = alpha.iter().zip(rows).filter_map(|(alpha, row)| kendall_of_effects(alpha, row)).collect();
    (!taus.is_empty()).then(|| taus.iter().sum::<f64>() / taus.len() as f64)
}
