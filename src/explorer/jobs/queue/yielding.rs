//! A stepper that lets the live lane go first before every step of a search, and not only between batches.

use crate::jobs::queue::work::PausePoint;
use engine::models::{Need, StepOutput, StepRow, Stepper};
use engine::{error::Result, models::transformer::heads::HeadChanges};

/// Steps as `inner` does, after [`PausePoint::pause_point`].
pub(crate) struct YieldToForeground<'a> {
    inner: &'a mut dyn Stepper,
    breath: &'a PausePoint,
}

impl<'a> YieldToForeground<'a> {
    pub(crate) fn new(inner: &'a mut dyn Stepper, breath: &'a PausePoint) -> Self {
        Self { inner, breath }
    }
}

impl Stepper for YieldToForeground<'_> {
    fn inner(&self) -> Option<&dyn Stepper> {
        Some(&*self.inner)
    }

    fn begin(&mut self, sources: &[&[u32]]) -> Result<()> {
        self.begin_changed(sources, &[])
    }

    fn begin_changed(&mut self, sources: &[&[u32]], changes: &[HeadChanges]) -> Result<()> {
        self.breath.pause_point()?;
        self.inner.begin_changed(sources, changes)
    }

    fn align(&mut self, rows: &[StepRow], output: &mut StepOutput) -> Result<()> {
        self.breath.pause_point()?;
        self.inner.align(rows, output)
    }

    fn predict(&mut self, rows: &[StepRow], need: &Need<'_>, output: &mut StepOutput) -> Result<()> {
        self.inner.predict(rows, need, output)
    }

    fn joins(&self) -> bool {
        self.inner.joins()
    }

    fn join(&mut self, kept: &[usize], sources: &[&[u32]]) -> Result<()> {
        self.breath.pause_point()?;
        self.inner.join(kept, sources)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    use super::*;
    use crate::jobs::gate::ForegroundGate;
    use engine::ticket::CancellationToken;

    /// Knows its annotations and context, and takes no steps.
    struct Still;

    impl Stepper for Still {
        fn begin(&mut self, _: &[&[u32]]) -> Result<()> {
            Ok(())
        }

        fn align(&mut self, _: &[StepRow], _: &mut StepOutput) -> Result<()> {
            Ok(())
        }

        fn predict(&mut self, _: &[StepRow], _: &Need<'_>, _: &mut StepOutput) -> Result<()> {
            Ok(())
        }

        fn context(&self, sentence: usize) -> Option<Vec<f32>> {
            Some(vec![sentence as f32])
        }

        fn annotations(&self, sentence: usize) -> Option<Vec<Vec<f32>>> {
            Some(vec![vec![sentence as f32]])
        }
    }

    #[test]
    fn annotations_were_not_forwarded() {
        let (is_paused, waited) = (Arc::new(AtomicBool::new(false)), AtomicU64::new(0));
        let breath =
            PausePoint { ticket: CancellationToken::forever(), is_paused, gate: ForegroundGate::new(), waited };
        let mut still = Still;
        let yielding = YieldToForeground::new(&mut still, &breath);
        assert_eq!((yielding.context(2), yielding.annotations(3)), (Some(vec![2.0]), Some(vec![vec![3.0]])));
    }
}
