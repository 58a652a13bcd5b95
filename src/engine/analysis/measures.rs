//! How much each word of a translation depends on each source word, beside what alpha says: the measures that
//! the window shows as pictures of their own. A new one is a line of [`MEASURES`].

use serde::{Deserialize, Serialize};

use crate::analysis::ablation::{AblatedWord, AblationMeans};
use crate::analysis::{ablation, correlation::kendall_of_effects};
use crate::decoding::importance::{Matrix, Subject};
use crate::error::{Error, Result};
use crate::models::transformer::heads::{HeadKind, HeadPlace};
use crate::{decoding, decoding::importance, models::gradient::Smoothing, ticket::CancellationToken};

const PERMUTATIONS: u64 = 10;
/// Noisy embeddings over which a gradient is averaged; each takes as long as all target words forced one by one.
pub const SAMPLES: usize = 3;

/// One line of [`MEASURES`].
#[derive(Debug)]
pub struct Measure {
    pub name: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    pub about: &'static str,
    /// Whether the model must have an alignment.
    pub aligns: bool,
    made: Made,
}

type Definition = fn(&mut Subject<'_>, (&[u32], &[u32]), &CancellationToken) -> Result<Matrix>;

#[derive(Clone, Copy, Debug)]
enum Made {
    Tests,
    Importance(Definition),
    Heads(bool),
}

/// Every measure. The first two come of the same tests.
pub const MEASURES: &[Measure] = &[
    Measure {
        name: "leave-one-out-js",
        title: id!("left out: JS"),
        unit: id!("nats"),
        about: id!(
            "By how much the next-word distribution changes when source word j gets no weight in row i and the others \
                share it in proportion: Jensen-Shannon divergence, at most ln 2 = 0.693 (Jain and Wallace 2019, \
                Serrano and Smith 2019)"
        ),
        aligns: true,
        made: Made::Tests,
    },
    Measure {
        name: "leave-one-out",
        title: id!("left out: log p lost"),
        unit: id!("nats"),
        about: id!(
            "By how much log p of target word i falls when source word j gets no weight in row i and the others share \
                it in proportion; below 0 the word had spoken against it (Serrano and Smith 2019)"
        ),
        aligns: true,
        made: Made::Tests,
    },
    Measure {
        name: "gradient",
        title: id!("gradient times input"),
        unit: id!("nats"),
        about: id!(
            "x_j . d log p(y_i) / d x_j of the embedding x_j of source word j, averaged over 3 noisy embeddings (Ding, \
                Xu, Koehn 2019; SmoothGrad); below 0 the word speaks against it"
        ),
        aligns: false,
        made: Made::Importance(importance::gradient),
    },
    Measure {
        name: "unknown-word",
        title: id!("unread: log p lost"),
        unit: id!("nats"),
        about: id!(
            "By how much log p of target word i falls when the encoder reads [UNK] in place of source word j (Li, \
                Monroe, Jurafsky 2016)"
        ),
        aligns: false,
        made: Made::Importance(importance::unknown_word),
    },
    Measure {
        name: "optimised",
        title: id!("optimised row"),
        unit: id!("weight"),
        about: id!(
            "The row after three steps of gradient descent on its logits towards log p of target word i, the rows \
                before it being the model's own (Zenkel, Wuebker, DeNero 2019)"
        ),
        aligns: true,
        made: Made::Importance(importance::optimised),
    },
    Measure {
        name: "heads",
        title: id!("all heads"),
        unit: id!("weight"),
        about: id!(
            "Where every head of every decoder layer of a Transformer looks, in the step that predicts word i (Vaswani et \
                al. 2017), and those of the encoder and of the decoder that look at words of their own side; where one \
                matrix is wanted, the mean over all heads of cross-attention"
        ),
        aligns: true,
        made: Made::Heads(false),
    },
    Measure {
        name: "heads-left-out",
        title: id!("heads left out: JS"),
        unit: id!("weight"),
        about: id!(
            "All heads by how much the next-word distributions change when each is left out of all steps, its output \
                being zero: Jensen-Shannon divergence, the mean over the target words, at most ln 2 = 0.693 (Michel, \
                Levy, Neubig 2019)"
        ),
        aligns: true,
        made: Made::Heads(true),
    },
];

/// Where a head of a Transformer looks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeadMatrix {
    pub place: HeadPlace,
    /// As [`decoding::HeadAlphas`] has it.
    pub rows: Matrix,
    /// What leaving it out does to the next-word distributions, where that was measured: Jensen-Shannon divergence,
    /// nats, the mean over the words.
    pub js: Option<f64>,
    /// Whether it is the alignment, or one of those whose mean is.
    pub is_alignment: bool,
}

/// A measure of every word of a translation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredWords {
    /// Its place in [`MEASURES`].
    pub measure: usize,
    /// A row for each target token, a number for each source token. [t_y][t_x]
    pub rows: Matrix,
    /// Every head, those of cross-attention and of layer 1 first; none but where the measure is of heads.
    pub heads: Vec<HeadMatrix>,
    /// Kendall's tau-b of a row and alpha of the model itself ([`kendall_of_effects`]), the mean over rows; `None`
    /// without alpha.
    pub kendall: Option<f64>,
}

/// What was found about a translation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The source, `</s>` included.
    pub source: Vec<u32>,
    /// The translation that was forced, `</s>` included.
    pub target: Vec<u32>,
    /// Heads that were left out meanwhile.
    pub left_out: Vec<HeadPlace>,
    pub measured: Vec<MeasuredWords>,
    /// The figures of the tests, where they were made.
    pub means: Option<AblationMeans>,
}

impl Measure {
    /// It comes of the standard tests, whose figures stand beside it.
    pub fn is_tested(&self) -> bool {
        matches!(self.made, Made::Tests)
    }

    /// It is of the heads of a Transformer.
    pub fn is_of_heads(&self) -> bool {
        matches!(self.made, Made::Heads(_))
    }
}

/// Measures a translation (ids, `</s>` included) of a model by itself.
pub fn measure(
    subject: &mut Subject<'_>, place: usize, pair: (&[u32], &[u32]), ticket: &CancellationToken,
) -> Result<Tested> {
    let line = MEASURES.get(place).ok_or_else(|| Error::Internal(format!("there is no measure {place}")))?;
    let tested = Tested { source: pair.0.to_vec(), target: pair.1.to_vec(), ..Tested::default() };
    let config = &subject.model().config;
    let aligns = config.aligns();
    if line.aligns && !aligns {
        let (name, architecture) = (&config.name, config.architecture.name());
        return Err(Error::Input(format!("{name} ({architecture}) has no alignment; choose a model that has one")));
    }
    let definition = match line.made {
        Made::Heads(leaves_out) => return heads(tested, subject, (place, leaves_out), ticket),
        Made::Tests => return tests(tested, subject, ticket),
        Made::Importance(definition) => definition,
    };
    subject.smoothing = Smoothing::of(SAMPLES);
    let rows = definition(subject, pair, ticket)?;
    let forced = if aligns { decoding::force(subject.stepper(), &[pair], ticket)? } else { Vec::new() };
    let alpha = forced.into_iter().next().and_then(|forced| forced.alpha).unwrap_or_default();
    let kendall = agreement(&alpha, &rows);
    Ok(Tested { measured: vec![MeasuredWords { measure: place, rows, kendall, heads: Vec::new() }], ..tested })
}

fn tests(tested: Tested, subject: &mut Subject<'_>, ticket: &CancellationToken) -> Result<Tested> {
    let seeds: Vec<u64> = (1..=PERMUTATIONS).collect();
    let words = ablation::words(subject.stepper(), (&tested.source, &tested.target), &seeds, ticket)?;
    let lost = |word: &AblatedWord| word.without.iter().map(|effect| word.log_p - effect.log_p).collect();
    let alpha: Matrix = words.iter().map(|word| word.alpha.clone()).collect();
    let of = |measure: usize, rows: Matrix| MeasuredWords {
        measure,
        kendall: agreement(&alpha, &rows),
        rows,
        heads: Vec::new(),
    };
    let measured =
        vec![of(0, words.iter().map(AblatedWord::leave_one_out).collect()), of(1, words.iter().map(lost).collect())];
    let mut means = AblationMeans::default();
    means.add(&words);
    Ok(Tested { measured, means: Some(means), ..tested })
}

fn heads(
    tested: Tested, subject: &mut Subject<'_>, (place, leaves_out): (usize, bool), ticket: &CancellationToken,
) -> Result<Tested> {
    let pair = (tested.source.as_slice(), tested.target.as_slice());
    let Some(sizes) = subject.model().config.transformer().cloned() else {
        return Err(Error::Input("This model has no heads to look through; choose a Transformer.".to_owned()));
    };
    let mut heads = Vec::new();
    for kind in HeadKind::ALL {
        let found = decoding::force_heads(subject.stepper(), &[pair], kind, ticket)?.pop().unwrap_or_default();
        heads.extend(sizes.places(kind).zip(found).map(|(place, rows)| {
            let is_alignment = kind == HeadKind::Cross
                && place.layer == sizes.alignment_layer
                && sizes.alignment_heads.contains(&place.head);
            HeadMatrix { place, rows, js: None, is_alignment }
        }));
    }
    if leaves_out {
        let places: Vec<HeadPlace> = heads.iter().map(|head| head.place).collect();
        let sums = ablation::heads(subject.stepper(), pair, &places, ticket)?;
        heads.iter_mut().zip(sums).for_each(|(head, sum)| head.js = Some(sum / pair.1.len().max(1) as f64));
    }
    let cross: Vec<&Matrix> =
        heads.iter().filter(|head| head.place.attention == HeadKind::Cross).map(|head| &head.rows).collect();
    let mean = |i: usize, j: usize| cross.iter().map(|head| head[i][j]).sum::<f32>() / cross.len() as f32;
    let rows = (0..pair.1.len()).map(|i| (0..pair.0.len()).map(|j| mean(i, j)).collect()).collect();
    Ok(Tested { measured: vec![MeasuredWords { measure: place, rows, heads, kendall: None }], ..tested })
}

fn agreement(alpha: &[Vec<f32>], rows: &[Vec<f32>]) -> Option<f64> {
    let taus: Vec<f64> = alpha.iter().zip(rows).filter_map(|(alpha, row)| kendall_of_effects(alpha, row)).collect();
    (!taus.is_empty()).then(|| taus.iter().sum::<f64>() / taus.len() as f64)
}
