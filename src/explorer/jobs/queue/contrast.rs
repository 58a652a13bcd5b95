//! Minimal pairs of a table, which several systems are asked about, behind the window.

use std::{path::PathBuf, sync::Arc};

use crate::jobs::queue::work::{JobProgress, Work};
use crate::jobs::{models::loaded::LoadedModel, queue::yielding::YieldToForeground};
use engine::analysis::contrast::pairs::{ContrastPair, ContrastTables, ContrastedModel};
use engine::error::{Error, Result};
use engine::evaluation::contrast::{ContrastMeasures, ContrastQuestions, ContrastedSystem};
use engine::{
    decoding::SystemSpec, evaluation::plan::InterventionPlan, models::Kernels, nn::device::DeviceChoice,
    text::reader::require_file,
};
use import;

const MOST_NOTES: usize = 3;
/// Pairs between two reports of progress, and sentences that are forced together.
const PIECE: (usize, usize) = (64, 32);

/// A table of minimal pairs and what to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct ContrastOrder {
    /// With the columns `source`, `good`, `bad` and perhaps `tag`.
    pub table: PathBuf,
    pub systems: Vec<SystemSpec>,
    pub interventions: Option<PathBuf>,
    pub measures: ContrastMeasures,
    pub device: DeviceChoice,
}

/// The result of minimal pairs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContrastFound {
    pub table: PathBuf,
    pub pairs: Arc<Vec<ContrastPair>>,
    pub models: Vec<ContrastedModel>,
    pub tables: ContrastTables,
    /// What was odd in the table, and which pairs could not be read, as sentences.
    pub notes: Vec<String>,
}

impl ContrastOrder {
    pub(crate) fn run(self, work: &Work<'_>) -> Result<ContrastFound> {
        work.say(tr!("Reading {}", self.table.file_name().unwrap_or(self.table.as_os_str()).display()));
        require_file(&self.table)?;
        let mut notes = Vec::new();
        let pairs = import::contrast::read(&self.table, &mut |note| notes.push(note.to_owned()))?;
        if pairs.is_empty() {
            return Err(Error::file(&self.table, "has no pairs; give at least one"));
        }
        let acting = self.interventions.as_deref().map(InterventionPlan::open).transpose()?;
        acting.as_ref().map_or(Ok(()), |acting| acting.check_length(pairs.len()))?;
        let questions = ContrastQuestions { acting: acting.as_ref(), measures: self.measures };
        let mut found = ContrastFound { table: self.table, pairs: Arc::new(pairs), notes, ..ContrastFound::default() };
        let count = self.systems.len();
        for system in &self.systems {
            let model = work.system(system, self.device)?;
            let mut name = model.facts.name.clone();
            if found.models.iter().any(|model| model.name == name) {
                name = format!("{name} ({system})");
            }
            ask(work, (&model, questions), (name, count), &mut found)?;
        }
        found.tables = ContrastTables::new(&found.pairs, &found.models);
        Ok(found)
    }
}

fn ask(
    work: &Work<'_>, (model, questions): (&LoadedModel, ContrastQuestions<'_>), (name, count): (String, usize),
    found: &mut ContrastFound,
) -> Result<()> {
    let asked = ContrastedSystem::new(model.system(), (false, PIECE.1), questions)?;
    let pairs = Arc::clone(&found.pairs);
    let (before, start, mut words) = (found.models.len() * pairs.len(), work.seconds(), 0);
    let mut said = Vec::with_capacity(pairs.len());
    model.with_stepper(Kernels::Fused, work.library.threads, |stepper| {
        let mut stepper = YieldToForeground::new(stepper, &work.breath);
        for piece in pairs.chunks(PIECE.0) {
            let (compared, tokens) = asked.compare(&mut stepper, (said.len(), piece), &work.ticket)?;
            for (pair, compared) in piece.iter().zip(compared) {
                if let Err(why) = &compared {
                    let why = Error::line(&found.table, pair.line, why.clone()).to_string();
                    if found.notes.len() < MOST_NOTES && !found.notes.contains(&why) {
                        found.notes.push(why);
                    }
                }
                said.push(compared.ok());
            }
            words += tokens;
            work.notify(JobProgress {
                done: before + said.len(),
                total: count * pairs.len(),
                what: tr!("Comparing pairs with {name}", name),
                words_per_second: words as f32 / (work.seconds() - start).max(1e-3),
            });
            work.pause_point()?;
        }
        Ok(())
    })?;
    found.models.push(ContrastedModel { name, found: said });
    Ok(())
}
