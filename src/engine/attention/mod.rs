//! Alignment models a(query, h_j) -> e_ij -> alpha_ij. Imports `nn`.
//!
//! Two tables. A published score function, which gives the energies e_ij, is one file here and one line
//! in [`ATTENTIONS`]. Where it looks, at the whole source or at a window round a position p_t, is one
//! line in [`KINDS`]. Configurations, the command line, help, the window and the tests that every entry
//! must pass read these tables. The model decides with which state it looks, and when.

pub mod additive;
pub mod concat;
pub mod dot;
pub mod general;
pub mod local;
pub mod location;
pub mod scaled_dot;
pub mod score;

use crate::{error::Result, nn::linear::Parameters};

pub use crate::attention::score::{AlignedAnnotations, Attention, AttentionShapes, Query, Sizes, Source};

/// One line of [`ATTENTIONS`].
pub struct AttentionEntry {
    pub name: &'static str,
    /// The architecture that uses it, by its name in configurations.
    pub architecture: &'static str,
    pub equation: &'static str,
    pub citation: &'static str,
    /// Whether its energies are read off the annotations, so that a window of them makes sense.
    pub content: bool,
    /// Names and shapes of its parameters below `attention.`.
    pub shapes: fn(&Sizes) -> AttentionShapes,
    /// Makes it from the parameters below `attention.`.
    pub construct: fn(&Parameters<'_>) -> Result<Box<dyn Attention>>,
}

const LUONG: &str = "Luong, Pham, Manning 2015, section 3.1";

/// Every published score function.
pub const ATTENTIONS: &[AttentionEntry] = &[
    AttentionEntry {
        name: "additive",
        architecture: "rnnsearch",
        equation: "e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j + b_a)",
        citation: "Bahdanau, Cho, Bengio 2015, appendix A.1.2",
        content: true,
        shapes: additive::shapes,
        construct: additive::construct,
    },
    AttentionEntry {
        name: "dot",
        architecture: "luong",
        equation: "e_ts = h_t' h_s",
        citation: LUONG,
        content: true,
        shapes: dot::shapes,
        construct: dot::construct,
    },
    AttentionEntry {
        name: "general",
        architecture: "luong",
        equation: "e_ts = h_t' W_a h_s",
        citation: LUONG,
        content: true,
        shapes: general::shapes,
        construct: general::construct,
    },
    AttentionEntry {
        name: "concat",
        architecture: "luong",
        equation: "e_ts = v_a' tanh(W_a [h_t; h_s])",
        citation: LUONG,
        content: true,
        shapes: concat::shapes,
        construct: concat::construct,
    },
    AttentionEntry {
        name: "location",
        architecture: "luong",
        equation: "e_t = W_a h_t",
        citation: LUONG,
        content: false,
        shapes: location::shapes,
        construct: location::construct,
    },
    AttentionEntry {
        name: "scaled-dot",
        architecture: "transformer",
        equation: "e_ij = q_i' k_j / sqrt(d_k)",
        citation: "Vaswani et al. 2017, section 3.2.1",
        content: true,
        shapes: scaled_dot::shapes,
        construct: scaled_dot::construct,
    },
];

/// Where a step looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AttentionKind {
    None,
    /// At every source word.
    #[default]
    Global,
    /// At a window that moves one word a step.
    LocalM,
    /// At a window whose place is predicted.
    LocalP,
}

/// One line of [`KINDS`].
pub struct KindEntry {
    pub kind: AttentionKind,
    pub name: &'static str,
    pub explanation: &'static str,
    /// Names and shapes of its own parameters below `attention.`, from n.
    pub shapes: fn(n: usize) -> AttentionShapes,
}

/// Every place where a step may look.
pub const KINDS: &[KindEntry] = &[
    KindEntry {
        kind: AttentionKind::None,
        name: "none",
        explanation: id!("no attention; the decoder knows the source by its first state alone"),
        shapes: |_| Vec::new(),
    },
    KindEntry {
        kind: AttentionKind::Global,
        name: "global",
        explanation: id!("every source word (section 3.1)"),
        shapes: |_| Vec::new(),
    },
    KindEntry {
        kind: AttentionKind::LocalM,
        name: "local-m",
        explanation: id!("the words p_t-D to p_t+D, where p_t = t (section 3.2)"),
        shapes: |_| Vec::new(),
    },
    KindEntry {
        kind: AttentionKind::LocalP,
        name: "local-p",
        explanation: id!("the words p_t-D to p_t+D under a Gaussian, where p_t is predicted from h_t (section 3.2)"),
        shapes: local::shapes,
    },
];

impl AttentionKind {
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|entry| entry.kind == self).map_or("none", |entry| entry.name)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|entry| entry.name == name).map(|entry| entry.kind)
    }

    pub fn is_local(self) -> bool {
        matches!(self, Self::LocalM | Self::LocalP)
    }

    /// Whether the paper defines it with this score function: a window needs energies that are read off the
    /// annotations.
    pub fn allows(self, score: &AttentionEntry) -> bool {
        !self.is_local() || score.content
    }
}

pub fn find(name: &str) -> Option<&'static AttentionEntry> {
    ATTENTIONS.iter().find(|entry| entry.name == name)
}

/// The score functions of an architecture.
pub fn scores(architecture: &str) -> impl Iterator<Item = &'static AttentionEntry> {
    ATTENTIONS.iter().filter(move |entry| entry.architecture == architecture)
}

/// Names and shapes of all parameters below `attention.` of a score function in its place.
pub fn shapes(kind: AttentionKind, score: &AttentionEntry, sizes: &Sizes) -> AttentionShapes {
    if kind == AttentionKind::None {
        return AttentionShapes::new();
    }
    let place =
        KINDS.iter().find(|entry| entry.kind == kind).map_or_else(AttentionShapes::new, |e| (e.shapes)(sizes.query));
    (score.shapes)(sizes).into_iter().chain(place).collect()
}

/// A score function in its place, from the parameters below `attention.`; `window` is D. `None` without attention.
pub fn construct(
    kind: AttentionKind, score: &AttentionEntry, window: usize, parameters: &Parameters<'_>,
) -> Result<Option<Box<dyn Attention>>> {
    Ok(match kind {
        AttentionKind::None => None,
        AttentionKind::Global => Some((score.construct)(parameters)?),
        AttentionKind::LocalM => Some(local::monotonic((score.construct)(parameters)?, window)),
        AttentionKind::LocalP => Some(local::predictive((score.construct)(parameters)?, window, parameters)?),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use candle_core::{Device, Tensor, Var};

    use super::*;

    const N: usize = 3;
    const T_X: usize = 5;
    const SIZES: Sizes = Sizes { query: N, annotation: 4, units: 5, max_source: 4 };

    fn numbers(seed: usize, shape: &[usize]) -> Tensor {
        let count = shape.iter().product::<usize>();
        let data: Vec<f64> = (0..count).map(|k| ((seed * 37 + k * 17 + 5) as f64 * 12.9898).sin()).collect();
        Tensor::from_vec(data, shape, &Device::Cpu).expect("as many numbers as the shape says")
    }

    struct Subject {
        what: String,
        attention: Box<dyn Attention>,
        parameters: Vec<(&'static str, Var)>,
        h: Var,
        kind: AttentionKind,
        scored: usize,
    }

    fn subjects() -> Result<Vec<Subject>> {
        let mut subjects = Vec::new();
        for entry in ATTENTIONS {
            for kind in KINDS.iter().filter(|line| line.kind != AttentionKind::None && line.kind.allows(entry)) {
                // The score of equal lengths has as many numbers in a state as in an annotation.
                let annotation = if entry.name.ends_with("dot") { N } else { SIZES.annotation };
                let sizes = Sizes { annotation, ..SIZES };
                let mut parameters = Vec::new();
                for (seed, (name, shape)) in shapes(kind.kind, entry, &sizes).into_iter().enumerate() {
                    parameters.push((name, Var::from_tensor(&numbers(seed, &shape))?));
                }
                let tensors: HashMap<String, Tensor> =
                    parameters.iter().map(|(name, var)| ((*name).to_owned(), var.as_tensor().clone())).collect();
                let Some(attention) = construct(kind.kind, entry, 1, &Parameters::new(&tensors))? else { continue };
                subjects.push(Subject {
                    what: format!("{} {}", kind.name, entry.name),
                    attention,
                    parameters,
                    h: Var::from_tensor(&numbers(40, &[2, T_X, annotation]))?,
                    kind: kind.kind,
                    scored: if entry.content { T_X } else { SIZES.max_source },
                });
            }
        }
        Ok(subjects)
    }

    impl Subject {
        fn look(&self, query: &Tensor, i: usize, h: &Tensor, mask: &Tensor) -> Result<(Tensor, AlignedAnnotations)> {
            let keys = self.attention.keys(h)?;
            let (query, source) = (Query { state: query, i }, Source { keys: keys.as_ref(), mask });
            let e_i = self.attention.energies(&query, &source)?;
            let alignment = self.attention.align(&query, &e_i, &source)?;
            Ok((e_i, alignment))
        }
    }

    fn rows(tensor: &Tensor) -> Vec<Vec<f64>> {
        tensor.to_vec2().expect("rows of f64")
    }

    fn same(a: &Tensor, b: &Tensor) -> bool {
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan());
        rows(a).concat().iter().zip(&rows(b).concat()).all(near)
    }

    /// Rows of alpha sum to 1, or to at most 1 under a Gaussian; padding, what lies outside the window and what has no
    /// energy get exactly 0, whatever their energies.
    #[test]
    fn every_attention_normalises_and_masks() -> Result<()> {
        let mask = Tensor::new(&[[1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0, 0.0]], &Device::Cpu)?;
        let hidden = mask.affine(-1.0, 1.0)?;
        for subject in subjects()? {
            let what = &subject.what;
            let query = numbers(7, &[2, N]);
            let (e_i, _) = subject.look(&query, 1, subject.h.as_tensor(), &mask)?;
            assert_eq!(e_i.dims(), [2, T_X], "{what}");
            let has_energy = |s: usize| s < subject.scored;
            assert!(
                rows(&e_i).iter().all(|row| (0..T_X).all(|s| row[s].is_finite() == has_energy(s))),
                "{what}: {e_i}"
            );
            for (i, energy) in [(0, 0.0), (1, 1e4), (2, -1e4), (9, 0.0)] {
                let e_i = (&e_i + (&hidden * energy)?)?;
                let (query, source) = (Query { state: &query, i }, Source { keys: None, mask: &mask });
                let AlignedAnnotations { alpha, p_t } = subject.attention.align(&query, &e_i, &source)?;
                assert_eq!(p_t.is_some(), subject.kind.is_local(), "{what}");
                let p_t: Option<Vec<f64>> = p_t.map(|p_t| p_t.to_vec1()).transpose()?;
                for (r, (row, length)) in rows(&alpha).iter().zip([5, 3]).enumerate() {
                    let sum: f64 = row.iter().sum();
                    let expected =
                        if subject.kind == AttentionKind::LocalP { 0.0..1.0 + 1e-12 } else { 1.0 - 1e-12..1.0 + 1e-12 };
                    assert!(expected.contains(&sum) && sum > 0.0, "{what}: {row:?}");
                    let p = p_t.as_ref().map(|p_t| p_t[r]);
                    assert!(p.is_none_or(|p| (0.0..=length as f64).contains(&p)), "{what}: {p:?}");
                    if subject.kind == AttentionKind::LocalM {
                        assert_eq!(p, Some(i.min(length - 1) as f64), "{what}");
                    }
                    for (s, &alpha) in row.iter().enumerate() {
                        let looked = s < length && has_energy(s) && p.is_none_or(|p| (s as f64 - p).abs() <= 1.0);
                        assert_eq!(alpha > 0.0, looked, "{what}, word {s} of {length}, p_t {p:?}: {row:?}");
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn every_attention_broadcasts() -> Result<()> {
        let mask = Tensor::new(&[[1.0, 1.0, 1.0, 1.0, 0.0]], &Device::Cpu)?;
        for subject in subjects()? {
            let h = subject.h.as_tensor().narrow(0, 0, 1)?.contiguous()?;
            let query = numbers(9, &[3, N]);
            let one = subject.look(&query, 2, &h, &mask)?;
            let many = subject.look(&query, 2, &h.repeat((3, 1, 1))?, &mask.repeat((3, 1))?)?;
            assert!(same(&one.0, &many.0) && same(&one.1.alpha, &many.1.alpha), "{}", subject.what);
        }
        Ok(())
    }

    /// The gradient of a weighted sum of alpha by query, annotations and parameters, against differences.
    #[test]
    fn every_attention_has_the_gradient_of_its_differences() -> Result<()> {
        const STEP: f64 = 1e-6;
        let mask = Tensor::new(&[[1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0, 0.0]], &Device::Cpu)?;
        let weight = numbers(3, &[2, T_X]);
        for subject in subjects()? {
            let query = Var::from_tensor(&numbers(8, &[2, N]))?;
            let objective = || -> Result<Tensor> {
                let (_, alignment) = subject.look(query.as_tensor(), 1, subject.h.as_tensor(), &mask)?;
                Ok((alignment.alpha * &weight)?.sum_all()?)
            };
            let gradients = objective()?.backward()?;
            let variables = subject.parameters.iter().map(|(name, var)| (*name, var));
            for (name, var) in variables.chain([("query", &query), ("annotations", &subject.h)]) {
                let values: Vec<f64> = var.flatten_all()?.to_vec1()?;
                let gradient: Vec<f64> = match gradients.get(var) {
                    Some(gradient) => gradient.flatten_all()?.to_vec1()?,
                    None => vec![0.0; values.len()],
                };
                for index in 0..values.len() {
                    let evaluate = |change: f64| -> Result<f64> {
                        let mut moved = values.clone();
                        moved[index] += change;
                        var.set(&Tensor::from_vec(moved, var.shape(), &Device::Cpu)?)?;
                        Ok(objective()?.to_scalar()?)
                    };
                    let difference = (evaluate(STEP)? - evaluate(-STEP)?) / (2.0 * STEP);
                    evaluate(0.0)?;
                    let error = (gradient[index] - difference).abs();
                    assert!(error < 1e-8, "{} {name}[{index}]: {} is not {difference}", subject.what, gradient[index]);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn names_lead_back_to_their_lines() {
        assert!(KINDS.iter().all(|line| AttentionKind::from_name(line.name) == Some(line.kind)));
        assert!(KINDS.iter().all(|line| line.kind.name() == line.name));
        assert!(ATTENTIONS.iter().all(|line| find(line.name).is_some_and(|found| found.equation == line.equation)));
        assert_eq!(scores("luong").map(|line| line.name).collect::<Vec<_>>(), ["dot", "general", "concat", "location"]);
        let location = find("location").expect("it is in the table");
        assert!(AttentionKind::Global.allows(location) && !AttentionKind::LocalP.allows(location));
    }
}
