//! Floor 5: how far two distributions over the same words lie apart.

/// Jensen-Shannon divergence of two distributions given as logarithms, in bits: 0 where they are equal, 1 where no word
/// has probability in both. Each is normalised first, since taking words away leaves less than 1.
///
/// JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2
pub fn jensen_shannon(log_p: &[f32], log_q: &[f32]) -> f32 {
    let (p_sum, q_sum) = (sum(log_p), sum(log_q));
    if p_sum <= 0.0 || q_sum <= 0.0 {
        return 0.0;
    }
    // p log2(p / m), the terms of the divergence of p from the mean m
    let term = |p: f64, m: f64| if p > 0.0 { p * (p / m).log2() } else { 0.0 };
    let both = log_p.iter().zip(log_q).map(|(p, q)| {
        let (p, q) = (f64::from(*p).exp() / p_sum, f64::from(*q).exp() / q_sum);
        let m = 0.5 * (p + q);
        0.5 * (term(p, m) + term(q, m))
    });
    both.sum::<f64>().clamp(0.0, 1.0) as f32
}

fn sum(log_p: &[f32]) -> f64 {
    log_p.iter().map(|log_p| f64::from(*log_p).exp()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_distributions_lie_0_apart_and_foreign_ones_1_bit() {
        let never = f32::NEG_INFINITY;
        let ln = |p: f32| p.ln();
        // (p, q, bits); the third by hand: m = (3/4, 1/4), JS = 1/2 log2(4/3) + 1/2 (1/2 log2(2/3) + 1/2 log2 2)
        let cases = [
            (vec![ln(0.5), ln(0.5)], vec![ln(0.5), ln(0.5)], 0.0),
            (vec![0.0, never], vec![never, 0.0], 1.0),
            (vec![0.0, never], vec![ln(0.5), ln(0.5)], 0.311_278),
            // half of q was taken away: it counts as if it had never been
            (vec![ln(0.5), ln(0.5)], vec![ln(0.25), ln(0.25)], 0.0),
            (vec![never, never], vec![0.0, never], 0.0),
        ];
        for (p, q, bits) in cases {
            assert!((jensen_shannon(&p, &q) - bits).abs() < 1e-5, "{p:?} {q:?}");
            assert!((jensen_shannon(&q, &p) - bits).abs() < 1e-5, "{q:?} {p:?}");
        }
    }
}
