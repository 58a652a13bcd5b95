//! Guided attention: a cost on alpha from given links, and its gradient.
//!
//! The cost of a row i that has links is the cross entropy between alpha_i and A_i, -sum_j A_ij log alpha_ij, where
//! A_i is spread evenly over the linked source words (Chen et al. 2016, "Guided alignment training for topic-aware neural
//! machine translation"; Liu et al. 2016, "Neural machine translation with supervised attention"; Mi et al. 2016,
//! "Supervised attentions for neural machine translation"). With a weight it is added to -log p, summed over the rows and
//! not averaged, as Liu et al. add it. Rows without links have no cost. A linked word outside the window of local attention counts as not linked, since
//! its alpha is 0 whatever the weights are.

use crate::fused::BatchLoss;
use engine::nn::fused::focus::Focus;

/// Adds the gradient of `by` times the cost of a row to that of its energies, `de` [t_x], and the cost to `loss`.
/// Returns the gradient of p_t. `base` is alpha before the Gaussian, which is alpha itself where there is none.
pub fn look_back(
    looks: &[u16], focus: &Focus, base: &[f32], alpha: &[f32], by: f32, de: &mut [f32], loss: &mut BatchLoss,
) -> f32 {
    let linked = || looks.iter().map(|j| usize::from(*j)).filter(|j| (focus.first..focus.end).contains(j));
    let count = linked().count();
    if count == 0 {
        return 0.0;
    }
    let share = 1.0 / count as f32;
    // log alpha_j = e_j - log sum_k exp(e_k) - (j - p_t)^2 / (2 sigma^2), so that de_j = base_j - A_ij
    for j in focus.first..focus.end {
        de[j] += by * base[j];
    }
    let (mut cost, mut dp) = (0.0, 0.0);
    for j in linked() {
        de[j] -= by * share;
        dp -= by * share * 2.0 * (j as f32 - focus.p_t) * focus.narrowness;
        cost -= f64::from(share) * f64::from(alpha[j].max(f32::MIN_POSITIVE)).ln();
    }
    loss.guide += cost;
    loss.guided += 1;
    dp
}
