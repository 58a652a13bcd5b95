//! Floor 7: models measured on a test set, one after the other, behind the window.

use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::bleu::Tokenization;
use crate::decoding;
use crate::error::Result;
use crate::evaluation;
use crate::evaluation::Report;
use crate::evaluation::Stage;
use crate::evaluation::TestSet;
use crate::evaluation::Unk;
use crate::models::Engine;
use crate::nn::device::DeviceChoice;
use crate::worker::corpus::Progress;
use crate::worker::corpus::Work;
use crate::worker::corpus::yielding::Yielding;
use crate::worker::engine::Shelved;

/// What to measure, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluate {
    /// Model folders, at least one.
    pub models: Vec<PathBuf>,
    /// Where models compute.
    pub device: DeviceChoice,
    /// The file of source sentences.
    pub source: PathBuf,
    /// The files of references, at least one.
    pub references: Vec<PathBuf>,
    /// The words are split by spaces already.
    pub is_pretokenized: bool,
    /// How BLEU cuts text into words.
    pub tokenization: Tokenization,
    /// How to search.
    pub search: decoding::Options,
    /// Which translations to make, at least one kind.
    pub unk: Vec<Unk>,
}

/// What one model made of the test set.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The figures and every sentence.
    pub report: Report,
    /// Words produced and scored a second, without the time that the work was held up.
    pub words_per_second: f32,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// One a model, in the order asked for.
    pub models: Vec<Arc<Measured>>,
}

impl Evaluate {
    /// Does it.
    ///
    /// # Errors
    /// As [`Job::run`](crate::worker::corpus::Job::run).
    pub(super) fn run(self, work: &Work<'_>) -> Result<Evaluated> {
        work.tell(Progress { what: "Reading the test set".to_owned(), ..Progress::default() });
        let test_set = TestSet::read(&self.source, &self.references, self.is_pretokenized)?;
        let mut models = Vec::with_capacity(self.models.len());
        for (at, folder) in self.models.iter().enumerate() {
            work.tell(Progress { what: format!("Loading {}", folder.display()), ..Progress::default() });
            let shelved = work.model(folder, self.device)?;
            models.push(Arc::new(self.measure(work, &shelved, &test_set, at)?));
        }
        Ok(Evaluated { models })
    }

    fn measure(&self, work: &Work<'_>, shelved: &Shelved, test_set: &TestSet, at: usize) -> Result<Measured> {
        let options = evaluation::Options {
            search: self.search.clone(),
            tokenization: self.tokenization,
            unk: self.unk.clone(),
            ..evaluation::Options::default()
        };
        let (start, mut words) = (work.seconds(), 0);
        let speed = |words: usize| words as f32 / (work.seconds() - start).max(1e-3);
        let mut hear = |progress: evaluation::Progress| {
            words += progress.words;
            work.tell(Progress {
                done: at * progress.total + progress.done,
                total: self.models.len() * progress.total,
                what: format!("{} with {}", what(progress.stage), shelved.facts.name),
                words_per_second: speed(words),
            });
        };
        let report = shelved.with_stepper(Engine::Fused, work.threads(), |stepper| {
            let mut stepper = Yielding::new(stepper, &work.breath);
            evaluation::run(&shelved.model, &mut stepper, test_set, &options, &work.ticket, &mut hear)
        })?;
        Ok(Measured { report, words_per_second: speed(words) })
    }
}

fn what(stage: Stage) -> &'static str {
    match stage {
        Stage::Scoring => "Scoring the references",
        Stage::Translating(Unk::Allowed) => "Translating",
        Stage::Translating(Unk::Forbidden) => "Translating without [UNK]",
    }
}
