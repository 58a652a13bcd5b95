//! Floor 5: phrase pairs scored twice, by a phrase table and by a model (Cho et al. 2014, section 4.4: tables 2
//! and 3, figure 3). Imports its room.

use std::cmp::Ordering;

use crate::analysis::correlation::spearman;

/// Both scores of the pairs of a table as points of a scatter (figure 3 of the paper).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhraseChart {
    /// log p(target | source) by the table and by the model, natural logarithms.
    pub points: Vec<[f32; 2]>,
    /// The pair of each point, by its place in the table, rising.
    pub pairs: Vec<u32>,
    /// Pairs without a point: the table gives them a probability of 0, or none.
    pub left_out: usize,
    /// The table holds logarithms already: some of its numbers are below 0.
    pub holds_logarithms: bool,
    /// Spearman's rank correlation of the points; `None` where one score never changes.
    pub correlation: Option<f64>,
}

impl PhraseChart {
    /// The points of pairs with these scores; `table` are the numbers of the table as they stand.
    pub fn new(table: &[f32], log_p: &[f32]) -> Self {
        let mut chart = Self { holds_logarithms: table.iter().any(|value| *value < 0.0), ..Self::default() };
        for (pair, (table, log_p)) in table.iter().zip(log_p).enumerate() {
            let x = if chart.holds_logarithms { *table } else { table.ln() };
            if x.is_finite() && log_p.is_finite() {
                chart.points.push([x, *log_p]);
                chart.pairs.push(pair as u32);
            } else {
                chart.left_out += 1;
            }
        }
        let scores = |side: usize| chart.points.iter().map(|point| point[side]).collect::<Vec<f32>>();
        chart.correlation = spearman(&scores(0), &scores(1));
        chart
    }

    /// The point of a pair.
    pub fn point(&self, pair: usize) -> Option<[f32; 2]> {
        let at = self.pairs.binary_search(&(pair as u32)).ok()?;
        Some(self.points[at])
    }
}

/// The indexes of the `k` greatest of `values`, greatest first; of equal ones the earlier. What is no number
/// comes last.
pub fn best(values: &[f64], k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let greater = |a: &usize, b: &usize| descending(values[*a], values[*b]).then(a.cmp(b));
    if k < order.len() {
        if k > 0 {
            order.select_nth_unstable_by(k - 1, greater);
        }
        order.truncate(k);
    }
    order.sort_by(greater);
    order
}

fn descending(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => b.partial_cmp(&a).unwrap_or(Ordering::Equal),
        (a, b) => a.cmp(&b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_come_first_and_numbers_before_what_is_none() {
        let values = [0.1, f64::NAN, 0.5, 0.5, -2.0];
        assert_eq!(best(&values, 2), [2, 3]);
        assert_eq!(best(&values, 9), [2, 3, 0, 4, 1]);
        assert_eq!(best(&values, 0), [0; 0]);
    }

    #[test]
    fn points_are_logarithms_and_nothing_is_invented() {
        let chart = PhraseChart::new(&[1.0, 0.0, 0.5, f32::NAN], &[-1.0, -2.0, -3.0, -4.0]);
        assert_eq!((chart.points.as_slice(), chart.left_out), (&[[0.0, -1.0], [0.5_f32.ln(), -3.0]][..], 2));
        assert_eq!((chart.point(2), chart.point(1), chart.correlation), (Some([0.5_f32.ln(), -3.0]), None, Some(1.0)));
        let chart = PhraseChart::new(&[0.0, -0.5, -2.0], &[-1.0, -2.0, -1.5]);
        assert!(chart.holds_logarithms && chart.points[2] == [-2.0, -1.5]);
        assert!((chart.correlation.expect("both change") - 0.5).abs() < 1e-12);
    }
}
