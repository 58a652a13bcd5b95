//! A model or an ensemble run over the sentences of a workspace, behind the window. What it says is kept batch
//! by batch, so that an order that was cancelled, or a program that was killed, goes on where it stopped.

use std::path::PathBuf;

use crate::jobs::queue::work::{JobProgress, Work};
use crate::jobs::queue::yielding::YieldToForeground;
use corpus::{measures::table::Measuring, run, run::SystemRunOptions, store::file::Workspace};
use engine::aligner::bundled::{AlignerChoice, AlignerFiles};
use engine::decoding::{SearchOptions, SystemSpec};
use engine::{
    aligner::words::LineAligner, analysis::row_convention::RowConvention, error::Result,
    evaluation::plan::InterventionPlan, models::Kernels, nn::device::DeviceChoice,
};

const BATCH: usize = 32;
const MOST_REPORTED: usize = 5;

/// A run of a system over a workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Analyse {
    pub workspace: PathBuf,
    pub system: SystemSpec,
    pub device: DeviceChoice,
    pub search: SearchOptions,
    /// The references are forced instead: alignments of given pairs.
    pub forces: bool,
    /// What is changed while it translates.
    pub acting: Option<PlanSource>,
    /// The file of links by which words off them are counted, in the place of what comes with the program.
    pub aligner: AlignerFiles,
    /// Whose rows are kept as the alignment, where the model has such rows; `None`: as training guided them.
    pub reading: Option<RowConvention>,
}

/// Where interventions of a run come from.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanSource {
    File(PathBuf),
    Set(Box<InterventionPlan>),
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysed {
    pub system: String,
    pub sentences: usize,
    /// Sentences that it could not read, and why: the first ones.
    pub refused: Vec<String>,
    pub refusals: usize,
    /// Of an aligner file that it was measured without.
    pub trouble: Option<String>,
}

impl Analyse {
    pub(crate) fn run(self, work: &Work<'_>) -> Result<Analysed> {
        let mut workspace = Workspace::open_existing(&self.workspace)?;
        let model = work.system(&self.system, self.device)?;
        let acting = match self.acting {
            None => None,
            Some(PlanSource::File(path)) => Some(InterventionPlan::open(&path)?),
            Some(PlanSource::Set(acting)) => Some(*acting),
        };
        let options = SystemRunOptions {
            acting,
            search: SearchOptions { most_numbers: usize::MAX, ..self.search },
            batch: BATCH,
            forces: self.forces,
            // of a model without a head it is alpha
            reading: self.reading.filter(|reading| *reading != RowConvention::Head || model.system().has_head()),
            ..SystemRunOptions::default()
        };
        let system = run::begin(&mut workspace, model.system(), &self.system, &options)?;
        let name = system.name.clone();
        let languages = (model.facts.source_language.clone(), model.facts.target_language.clone());
        let aligner = AlignerChoice::of_system(&self.system, languages, &self.aligner, workspace.look().aligner);
        let trouble = aligner.trouble();
        let note = trouble.as_ref().map_or_else(String::new, |trouble| format!(" ({trouble})"));
        let aligner = LineAligner::chosen(&aligner, workspace.rules().are_given())?;
        let mut measuring = Measuring { aligner, ..Measuring::default() };
        let (start, mut words) = (work.seconds(), 0);
        let mut analysed = Analysed { system: name.clone(), sentences: 0, refused: Vec::new(), refusals: 0, trouble };
        let what = if self.forces { tr!("Aligning the references with") } else { tr!("Translating with") };
        model.with_stepper(Kernels::Fused, work.library.threads, |stepper| {
            let mut stepper = YieldToForeground::new(stepper, &work.breath);
            run::run(
                &mut workspace,
                system.id,
                (model.system(), &mut stepper),
                &options,
                &mut measuring,
                &work.ticket,
                &mut |done| {
                    words += done.words;
                    analysed.sentences += done.outputs.iter().filter(|(_, output)| !output.target.is_empty()).count();
                    analysed.refusals += done.refused.len();
                    for (at, why) in done.refused {
                        if analysed.refused.len() < MOST_REPORTED {
                            analysed.refused.push(format!("sentence {}: {why}", at + 1));
                        }
                    }
                    work.notify(JobProgress {
                        done: done.done,
                        total: done.total,
                        what: format!("{what} {name}{note}"),
                        words_per_second: words as f32 / (work.seconds() - start).max(1e-3),
                    });
                    work.pause_point()
                },
            )
        })?;
        Ok(analysed)
    }
}
