//! Floor 7: a stepper that lets the live lane go first before every step of a search, and not only between batches.

use crate::error::Result;
use crate::models::{Need, Row, StepOutput, Stepper};
use crate::worker::corpus::work::Breath;

/// Steps as `inner` does, after [`Breath::breathe`].
pub(super) struct Yielding<'a> {
    inner: &'a mut dyn Stepper,
    breath: &'a Breath,
}

impl<'a> Yielding<'a> {
    /// Around this stepper.
    pub(super) fn new(inner: &'a mut dyn Stepper, breath: &'a Breath) -> Self {
        Self { inner, breath }
    }
}

impl Stepper for Yielding<'_> {
    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.breath.breathe()?;
        self.inner.begin(sources)
    }

    fn step(&mut self, rows: &[Row], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        self.breath.breathe()?;
        self.inner.step(rows, need, output)
    }

    fn context(&self, sentence: usize) -> Option<Vec<f32>> {
        self.inner.context(sentence)
    }

    fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
        self.inner.annotations(sentence)
    }
}
