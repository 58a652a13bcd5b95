//! How spread out a distribution over words is, and how far two are from each other.

/// H of one row of weights, in nats as log p is: - sum_j alpha_ij ln alpha_ij; 0 log 0 is 0. Rows that do not sum to 1
/// (local-p, a part of a row) are taken as they are.
pub fn entropy(alpha_i: &[f32]) -> f32 {
    let nats = |alpha: f32| if alpha > 0.0 { -alpha * alpha.ln() } else { 0.0 };
    alpha_i.iter().map(|alpha| nats(*alpha)).sum()
}

/// Jensen-Shannon divergence in nats, from 0 where they are equal to ln 2 where no word has probability in both (Lin
/// 1991): JS(p, q) = [KL(p, m) + KL(q, m)] / 2 with m = (p + q) / 2. Both are given as logarithms, and each is
/// normalised first, since taking words away leaves less than 1.
pub fn jensen_shannon(log_p: &[f32], log_q: &[f32]) -> f64 {
    let (p_sum, q_sum) = (sum(log_p), sum(log_q));
    if p_sum <= 0.0 || q_sum <= 0.0 {
        return 0.0;
    }
    let one = |(log_p, log_q): (&f32, &f32)| {
        let (p, q) = (f64::from(*log_p).exp() / p_sum, f64::from(*log_q).exp() / q_sum);
        let m = f64::midpoint(p, q);
        let part = |p: f64| if p > 0.0 { p * (p / m).ln() } else { 0.0 };
        part(p) + part(q)
    };
    (log_p.iter().zip(log_q).map(one).sum::<f64>() / 2.0).clamp(0.0, std::f64::consts::LN_2)
}

fn sum(log_p: &[f32]) -> f64 {
    log_p.iter().map(|log_p| f64::from(*log_p).exp()).sum()
}

/// Total variation, from 0 to 1: sum_k |p_k - q_k| / 2. Both are given as logarithms.
pub fn total_variation(log_p: &[f32], log_q: &[f32]) -> f64 {
    let one = |(log_p, log_q): (&f32, &f32)| (f64::from(*log_p).exp() - f64::from(*log_q).exp()).abs();
    log_p.iter().zip(log_q).map(one).sum::<f64>() / 2.0
}

/// The most probable word; of equals the first.
pub fn argmax(log_p: &[f32]) -> usize {
    let better = |best: usize, k: usize| if log_p[k] > log_p[best] { k } else { best };
    (0..log_p.len()).fold(0, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_distances() {
        let ln = |p: &[f32]| p.iter().map(|p| p.ln()).collect::<Vec<f32>>();
        let half = std::f64::consts::LN_2;
        // KL((1, 0), (3/4, 1/4)) = ln 4/3 and KL((1/2, 1/2), (3/4, 1/4)) = ln(2/3)/2 + ln(2)/2
        let between = f64::midpoint((4.0f64 / 3.0).ln(), f64::midpoint((2.0f64 / 3.0).ln(), half));
        for (p, q, js, tv) in [
            ([0.5, 0.5], [0.5, 0.5], 0.0, 0.0),
            ([1.0, 0.0], [0.0, 1.0], half, 1.0),
            ([1.0, 0.0], [0.5, 0.5], between, 0.5),
            // half of q was taken away: it counts as if it had never been
            ([0.5, 0.5], [0.25, 0.25], 0.0, 0.25),
            ([0.0, 0.0], [1.0, 0.0], 0.0, 0.5),
        ] {
            for (p, q) in [(ln(&p), ln(&q)), (ln(&q), ln(&p))] {
                assert!((jensen_shannon(&p, &q) - js).abs() < 1e-6, "{p:?} {q:?}");
                assert!((total_variation(&p, &q) - tv).abs() < 1e-6, "{p:?} {q:?}");
            }
        }
        assert_eq!([argmax(&[0.0, 2.0, 2.0]), argmax(&[])], [1, 0]);
    }
}
