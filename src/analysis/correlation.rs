//! Floor 5: rank correlation of two lists of numbers, such as alpha_i and what leaving each source word out does.

/// Kendall's tau-b (Kendall 1945): pairs in the same order less pairs in opposite order, over the pairs that are no ties
/// in the one list and in the other, as a geometric mean. `None` where a list is all ties or has fewer than two numbers.
pub fn kendall(a: &[f32], b: &[f32]) -> Option<f64> {
    let (mut agree, mut in_a, mut in_b) = (0i64, 0i64, 0i64);
    for i in 0..a.len().min(b.len()) {
        for j in 0..i {
            let (x, y) = (sign(a[i], a[j]), sign(b[i], b[j]));
            agree += x * y;
            in_a += x * x;
            in_b += y * y;
        }
    }
    (in_a > 0 && in_b > 0).then(|| agree as f64 / (in_a as f64 * in_b as f64).sqrt())
}

/// Numbers of a signed row below this share of its greatest, by size, count as 0.
const CLEAR: f32 = 0.05;

/// [`kendall`] of weights and of what words speak for or against. Where some numbers are below 0, those smaller than a
/// twentieth of the greatest, by size, are ties: noise around 0 does not decide.
pub fn kendall_of_effects(weights: &[f32], effects: &[f32]) -> Option<f64> {
    let most = effects.iter().fold(0.0_f32, |most, effect| most.max(effect.abs()));
    let is_signed = effects.iter().any(|effect| *effect < 0.0);
    let clear = |effect: &f32| if is_signed && effect.abs() < CLEAR * most { 0.0 } else { *effect };
    kendall(weights, &effects.iter().map(clear).collect::<Vec<_>>())
}

/// Spearman's rho: the correlation of the ranks, ties having the mean of theirs. `None` as for [`kendall`].
pub fn spearman(a: &[f32], b: &[f32]) -> Option<f64> {
    let n = a.len().min(b.len());
    let (a, b) = (ranks(&a[..n]), ranks(&b[..n]));
    let mean = (n as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let (in_a, in_b) = (product(&a, &a), product(&b, &b));
    (in_a > 0.0 && in_b > 0.0).then(|| product(&a, &b) / (in_a * in_b).sqrt())
}

fn sign(a: f32, b: f32) -> i64 {
    i64::from(a > b) - i64::from(a < b)
}

/// Ranks from 0, equal values sharing the mean of theirs.
fn ranks(values: &[f32]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut below = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        for place in equal {
            ranks[*place] = below as f64 + (equal.len() as f64 - 1.0) / 2.0;
        }
        below += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_around_0_does_not_decide_what_goes_with_alpha() {
        // Both look at the second word most; what the others lose is noise.
        let (alpha, lost) = ([0.05, 0.8, 0.1, 0.05], [0.01, 5.2, -0.02, 0.004]);
        assert!(kendall(&alpha, &lost).is_some_and(|tau| tau < 0.5));
        let clear = kendall_of_effects(&alpha, &lost).expect("not all ties");
        assert!((clear - 3.0 / 15.0f64.sqrt()).abs() < 1e-9, "3 of the 3 clear pairs, 5 pairs of alpha: {clear}");
        // Clear numbers below 0 count, and where none is below 0 all do.
        assert!(kendall_of_effects(&[0.2, 0.8], &[5.0, -4.0]).is_some_and(|tau| tau == -1.0));
        let js = [0.01, 5.2, 0.02, 0.004];
        assert_eq!(kendall_of_effects(&alpha, &js), kendall(&alpha, &js));
    }

    /// Values of scipy.stats.kendalltau and scipy.stats.spearmanr, and of counting by hand.
    #[test]
    fn known_correlations() {
        for (a, b, tau, rho) in [
            (&[1.0, 2.0, 3.0][..], &[10.0, 20.0, 30.0][..], Some(1.0), Some(1.0)),
            (&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0], Some(-1.0), Some(-1.0)),
            (&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0], Some(4.0 / 6.0), Some(0.8)),
            // one tie in the first list: 5 pairs there and 6 in the other, 4 more in order than not
            (&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 4.0, 3.0], Some(3.0 / 30.0f64.sqrt()), Some(0.737_864_787_372_621_9)),
            // 5 pairs in either list, 1 of them in order and 4 not
            (&[1.0, 1.0, 2.0, 3.0], &[4.0, 3.0, 3.0, 1.0], Some(-4.0 / 5.0), Some(-0.833_333_333_333_333_5)),
            (&[1.0, 1.0], &[1.0, 2.0], None, None),
            (&[1.0], &[1.0], None, None),
            (&[], &[], None, None),
        ] {
            for (found, expected) in [(kendall(a, b), tau), (spearman(a, b), rho)] {
                let near = found.zip(expected).map_or(found == expected, |(a, b)| (a - b).abs() < 1e-12);
                assert!(near, "{a:?} {b:?}: {found:?} is not {expected:?}");
            }
        }
    }
}
