//! What p is worth and how it is written: p of many pairs (Holm 1979), ranks of systems, and numbers as text.
//! Imports its room.

use crate::analysis::bootstrap::{LEAST_SENTENCES, Paired};
use crate::text::cells::p_shown;

/// What stands in the place of p where there are fewer than [`LEAST_SENTENCES`].
pub const TOO_FEW: &str = id!("too few");
/// Ranks of systems differ where p is at most this.
pub const ALPHA: f64 = 0.05;

/// A difference with its sign, + included; one that rounds to 0 has none.
pub fn signed(value: f64, digits: usize) -> String {
    let text = unsigned(value, digits);
    if value > 0.0 && text.contains(|c| ('1'..='9').contains(&c)) { format!("+{text}") } else { text }
}

/// A number that may be below 0, without +; one that rounds to 0 has no sign.
pub fn unsigned(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.contains(|c| ('1'..='9').contains(&c)) { text } else { text.replace('-', "") }
}

impl Paired {
    /// p of the bootstrap and of the randomisation, then both corrected, as they are shown; empty where there is none.
    /// p that no trial could make smaller is a bound and has `<`.
    pub fn p_texts(&self) -> [String; 4] {
        let text = |p: Option<f64>, raw: Option<f64>, trials: usize| {
            let Some(p) = p else { return String::new() };
            let is_least = raw.is_some_and(|raw| raw * (trials + 1) as f64 <= 1.0 + 1e-9);
            if is_least && (0.0001..1.0).contains(&p) { format!("< {:.4}", (p * 1e4).ceil() / 1e4) } else { p_shown(p) }
        };
        if self.sentences < LEAST_SENTENCES {
            let few = || TOO_FEW.to_owned();
            return [few(), if self.trials > 0 { few() } else { String::new() }, String::new(), String::new()];
        }
        let (bootstrap, randomised) = ((self.p_value, self.resamples), (self.p_randomised, self.trials));
        [
            (self.p_value, bootstrap),
            (self.p_randomised, randomised),
            (self.p_holm, bootstrap),
            (self.p_randomised_holm, randomised),
        ]
        .map(|(p, (raw, trials))| text(p, raw, trials))
    }
}

/// Holm's correction: of n tests the k-th smallest p times n - k + 1, at least that of the one before it and at most 1.
/// Taking those up to 0.05 errs in any of them in one of twenty cases, however the tests hang together.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let (mut adjusted, mut before) = (vec![0.0; p.len()], 0.0_f64);
    for (k, at) in order.into_iter().enumerate() {
        before = before.max(p[at] * (p.len() - k) as f64).min(1.0);
        adjusted[at] = before;
    }
    adjusted
}

/// Corrects the p of pairs of systems by one measure for each other; one pair alone needs no correction, and one of too
/// few sentences is no test.
pub fn correct(mut pairs: Vec<&mut Paired>) {
    pairs.retain(|pair| pair.p_value.is_some());
    if pairs.len() < 2 {
        return;
    }
    let corrected = |p: fn(&Paired) -> Option<f64>| {
        let all: Option<Vec<f64>> = pairs.iter().map(|pair| p(pair)).collect();
        all.map(|all| holm(&all))
    };
    let (bootstrap, randomised) = (corrected(|pair| pair.p_value), corrected(|pair| pair.p_randomised));
    for (n, pair) in pairs.iter_mut().enumerate() {
        let at = |all: &Option<Vec<f64>>| all.as_ref().map(|all| all[n]);
        (pair.p_holm, pair.p_randomised_holm) = (at(&bootstrap), at(&randomised));
    }
}

/// The ranks of systems from the best on, as WMT makes clusters of them: a new rank begins where each system above is
/// significantly better than each below, by `is_better` of their places.
pub fn ranks(systems: usize, is_better: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let begins = |at: &usize| (0..*at).all(|above| (*at..systems).all(|below| is_better(above, below)));
    let mut rank = 1;
    (0..systems)
        .map(|at| {
            rank += usize::from(at > 0 && begins(&at));
            rank
        })
        .collect()
}
