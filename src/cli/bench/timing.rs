//! Floor 10: repeated measurements and what is said of them.

use std::time::{Duration, Instant};

/// Times of single pieces of work and of whole passes over them.
#[derive(Clone, Debug, Default)]
pub struct Timing {
    /// Seconds of each piece (a batch), of all passes.
    pieces: Vec<f64>,
    /// Seconds of each pass.
    passes: Vec<f64>,
}

impl Timing {
    /// Repeats a pass: `pass` calls its argument's `piece` round each piece of work. It stops
    /// after `repeat` passes, or when `patience` is used up, but not before the first.
    pub fn measure<E>(
        repeat: usize,
        patience: Duration,
        mut pass: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<Self, E> {
        let mut timing = Self::default();
        let started = Instant::now();
        for _ in 0..repeat.max(1) {
            timing.pass(&mut pass)?;
            if started.elapsed() >= patience {
                break;
            }
        }
        Ok(timing)
    }

    /// Times a pass, which calls its argument's `piece` round each piece of work.
    pub fn pass<E>(&mut self, work: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        let started = Instant::now();
        work(self)?;
        self.passes.push(started.elapsed().as_secs_f64());
        Ok(())
    }

    /// Times one piece of work.
    pub fn piece<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.pieces.push(started.elapsed().as_secs_f64());
        result
    }

    /// Seconds of the last pass; 0 before the first.
    pub fn last_pass(&self) -> f64 {
        self.passes.last().copied().unwrap_or(0.0)
    }

    /// Seconds that 5 of 100 pieces stay under.
    pub fn p5(&self) -> f64 {
        quantile(&self.pieces, 0.05)
    }

    /// Median seconds of a piece.
    pub fn median(&self) -> f64 {
        quantile(&self.pieces, 0.5)
    }

    /// Seconds that 95 of 100 pieces stay under.
    pub fn p95(&self) -> f64 {
        quantile(&self.pieces, 0.95)
    }

    /// Slowest pass less fastest, as a share of the median one.
    pub fn spread(&self) -> f64 {
        let (least, most) = (quantile(&self.passes, 0.0), quantile(&self.passes, 1.0));
        (most - least) / quantile(&self.passes, 0.5).max(1e-12)
    }

    /// How many passes were made.
    pub fn passes(&self) -> usize {
        self.passes.len()
    }
}

/// The value below which a share `q` of `values` lies, as the peer programs take it: the element
/// at `q` times the count, in order. 0 for none.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = (q * sorted.len() as f64) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_elements() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        for (q, value) in [(0.0, 1.0), (0.5, 3.0), (0.95, 5.0), (1.0, 5.0)] {
            assert_eq!(quantile(&values, q), value);
        }
        assert_eq!(quantile(&[], 0.5), 0.0);
    }

    #[test]
    fn patience_ends_repetitions_but_never_the_first() {
        let pass = |timing: &mut Timing| timing.piece(|| Ok::<(), ()>(()));
        let once = Timing::measure(9, Duration::ZERO, pass);
        assert_eq!(once.map(|timing| timing.passes()), Ok(1));
        let all = Timing::measure(3, Duration::from_mins(1), pass);
        assert_eq!(all.map(|timing| timing.passes()), Ok(3));
    }
}
