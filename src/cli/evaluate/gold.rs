//! The gold alignment of `interlinear evaluate`, and the models that are measured against it.

use std::path::PathBuf;

use clap::Args;

use crate::args::{GoldLayoutArgs, threshold};
use crate::progress::ProgressLine;
use crate::statistical::{StatisticalArgs, Text};
use crate::{args, output};
use corpus::overview::gold::{AlignmentOptions, Baseline};
use corpus::overview::{gold, test_set::TestSet};
use engine::error::{Error, Result};
use engine::models::{Model, choice::ModelSpec};
use engine::{aligner::words::LineAligner, evaluation::alignment::Aligner, ticket::CancellationToken};
use host::runtime::Runtime;

/// A gold alignment, as typed.
#[derive(Args, Clone, Debug)]
pub struct GoldArgs {
    /// Measure alignments against these links, and tell AER, precision and recall
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    #[command(flatten)]
    layout: GoldLayoutArgs,
    /// Measure all links with an alpha of at least T as well; may be given several times
    #[arg(long, value_name = "T", requires = "gold", value_parser = threshold)]
    threshold: Vec<f32>,
    /// Also read each row of alpha by the word that the decoder had just read
    #[arg(long, requires = "gold")]
    by_input: bool,
    /// A model of the other direction, for the alignments of both together; one for all models or one for each
    #[arg(long, value_name = "DIR", requires = "gold", value_parser = args::folder())]
    reverse_model: Vec<ModelSpec>,
    #[command(flatten)]
    statistical: StatisticalArgs,
}

impl GoldArgs {
    /// Gives a test set its links, if there are any, and says how they were read; gives the file and that.
    pub fn read(&self, test_set: &mut TestSet) -> Result<Option<(PathBuf, String)>> {
        let Some(path) = &self.gold else { return Ok(None) };
        let note = test_set.read_golds(path, &self.layout.plan())?;
        output::notify(&format!("{}: {note}", path.display()));
        Ok(Some((path.clone(), note)))
    }

    /// The model of the other direction that goes with system `number` of so many.
    pub fn reverse(&self, number: usize, systems: usize, runtime: &Runtime) -> Result<Option<Model>> {
        let model = match self.reverse_model.as_slice() {
            [] => return Ok(None),
            [one] => one,
            several if several.len() == systems => &several[number],
            several => {
                let message = format!(
                    "--reverse-model is given {} times, and what is measured with it comes to {systems}; give one for all or one for each",
                    several.len()
                );
                return Err(Error::Input(message));
            }
        };
        args::load(model, runtime).map(Some)
    }

    /// What needs no model: the diagonal, and a statistical aligner: the one that is asked for, or the one that comes with the
    /// program for the languages of the models.
    pub fn baselines(
        &self, test_set: &TestSet, languages: Option<(&str, &str)>, threads: usize,
    ) -> Result<Vec<Baseline>> {
        let pairs: Vec<(&str, &str)> = test_set.pairs.iter().map(|pair| (&*pair.source, pair.first())).collect();
        let target = test_set.references.first().unwrap_or(&test_set.source);
        let text = Text { files: (&test_set.source, target), pairs: &pairs, pretokenized: test_set.pretokenized };
        let mut aligner = match languages {
            _ if self.statistical.asked() => Some(self.statistical.aligner(text, threads)?),
            Some((source, target)) => LineAligner::bundled(source, target, test_set.pretokenized)?,
            None => None,
        };
        Ok(gold::baselines(test_set, aligner.as_mut()))
    }

    /// Measures a model or an ensemble, and a model of the other direction with it.
    pub fn measure(
        &self, runtime: &Runtime, forward: Aligner<'_>, reverse: Option<&Model>, test_set: &TestSet, batch: usize,
    ) -> Result<gold::AlignmentErrorReport> {
        let system = forward.system;
        let mut back = reverse.map(|model| model.stepper_with_head(runtime.engine, runtime.threads)).transpose()?;
        reverse.map_or(Ok(()), |reverse| opposite(system.lead(), reverse))?;
        let both = reverse.zip(back.as_mut());
        let reverse = both.map(|(model, stepper)| Aligner { system: model.into(), stepper: stepper.as_mut() });
        let total = test_set.len() * (1 + usize::from(reverse.is_some()));
        let options = AlignmentOptions { thresholds: self.threshold.clone(), batch, by_input: self.by_input };
        let mut bar = ProgressLine::new(format!("aligning with {}", system.name()), Some(total as u64), false);
        let mut done = 0;
        let mut on_progress = |sentences, words| {
            done += sentences as u64;
            bar.add(sentences, words, done);
        };
        let found =
            gold::measure(forward, reverse, test_set, &options, &CancellationToken::forever(), &mut on_progress);
        bar.finish();
        found
    }
}

/// Refuses two models of which one does not translate back what the other translates.
pub fn opposite(model: &Model, reverse: &Model) -> Result<()> {
    let (there, back) = (&model.config, &reverse.config);
    let language = |tag: &str| tag.split('-').next().unwrap_or(tag).to_lowercase();
    let same = |a: &str, b: &str| language(a) == language(b);
    if same(&there.source_language, &back.target_language) && same(&there.target_language, &back.source_language) {
        return Ok(());
    }
    Err(Error::Input(format!(
        "{} translates {} to {} and {} {} to {}; --reverse-model wants the opposite direction",
        there.name, there.source_language, there.target_language, back.name, back.source_language, back.target_language
    )))
}
