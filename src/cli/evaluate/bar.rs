//! Floor 13: `interlinear evaluate`, how far it is.

use crate::cli::progress::ProgressLine;
use crate::corpus::overview::test_set::{EvaluationListener, EvaluationStage};
use crate::error::Result;

/// Does so many sentences behind a bar.
pub fn with_bar<T>(
    doing: String,
    total: usize,
    job: impl FnOnce(&mut EvaluationListener<'_>) -> Result<T>,
) -> Result<T> {
    let mut bar = ProgressLine::new(doing, Some(total as u64), false);
    let mut done = 0;
    let found = job(&mut |stage, sentences, words| {
        done += sentences as u64;
        // The rate that is shown is that of translating.
        bar.add(sentences, if stage == EvaluationStage::Scoring { 0 } else { words }, done);
    });
    bar.finish();
    found
}
