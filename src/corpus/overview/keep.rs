//! Floor 7: what was measured becomes a corpus, to be looked through, judged and kept.

use crate::corpus::measures::table::Measuring;
use crate::corpus::overview::evaluated::{Evaluated, EvaluationRecord, EvaluationReport};
use crate::corpus::overview::test_set::Unk;
use crate::corpus::store::file::Workspace;
use crate::corpus::store::output::SystemOutput;
use crate::corpus::store::read::{FORCED, MOST_REFERENCES, StoredAbout};
use crate::corpus::store::write::{NewSentence, Placed};
use crate::error::{Error, Result};
use crate::text::words::words;

/// Sentences of a step.
const STEP: usize = 4096;

/// Puts the test set with its references and links by hand into a new workspace, the translations of each system, and
/// behind them what each makes of the references: their log p, and its links where they were measured. `hear` hears how far
/// that is, from 0 to 1, and ends it with an error.
///
/// # Errors
/// A sentence about the file; too many references; what `hear` says.
pub fn keep(evaluated: &Evaluated, workspace: &mut Workspace, hear: &mut dyn FnMut(f32) -> Result<()>) -> Result<()> {
    let Some(first) = evaluated.models.first().map(|measured| &measured.report) else { return Ok(()) };
    let count = first.records.first().map_or(0, |record| record.pair.references.len());
    if count > MOST_REFERENCES {
        let message = format!("There are {count} references, and a corpus keeps {MOST_REFERENCES}; measure with fewer");
        return Err(Error::Input(message));
    }
    let golds = evaluated.gold.as_ref().map_or(&[][..], |(_, gold)| &gold.pairs);
    let sentence = |(at, record): (usize, &EvaluationRecord)| NewSentence {
        source: record.pair.source.to_string(),
        reference: Some(record.pair.reference().to_owned()),
        further: record.pair.references.iter().skip(1).map(|text| text.trim().to_owned()).collect(),
        name: None,
        line: at + 1,
        gold: golds.get(at).cloned(),
    };
    let systems: usize = evaluated.models.iter().map(|measured| measured.report.unk.len() + 1).sum();
    let all = (first.records.len() * (systems + 1)).max(1) as f32;
    let mut done = 0;
    let mut step = |count: usize| {
        done += count;
        hear(done as f32 / all)
    };
    let origin = workspace.add_origin(&first.test_set, "")?;
    let sentences: Vec<NewSentence> = first.records.iter().enumerate().map(sentence).collect();
    for new in sentences.chunks(STEP) {
        workspace.add_sentences(origin, new)?;
        step(new.len())?;
    }
    for report in evaluated.models.iter().map(|measured| &measured.report) {
        for (n, unk) in report.unk.iter().enumerate() {
            let (no_unk, search) = (*unk == Unk::Forbidden, &report.search);
            let ranking = search.ranking.length.to_string();
            let about = StoredAbout { beam: search.beam, ranking, no_unk, ..about(report) };
            let name = format!("{}{}", report.name, if no_unk { ", no [UNK]" } else { "" });
            let said = |_, record: &EvaluationRecord| output(record, &record.translations[n].text);
            add(workspace, (&name, &about), report, said, &mut step)?;
        }
    }
    for measured in &evaluated.models {
        let report = &measured.report;
        let about = StoredAbout { ranking: FORCED.to_owned(), ..about(report) };
        let said = |at: usize, record: &EvaluationRecord| SystemOutput {
            log_p: Some(-record.nll as f32),
            links: measured.aligned().and_then(|alignment| alignment.links.get(at).cloned()),
            ..output(record, record.pair.reference())
        };
        add(workspace, (&format!("{}, references", report.name), &about), report, said, &mut step)?;
    }
    workspace.fold()
}

fn about(report: &EvaluationReport) -> StoredAbout {
    StoredAbout {
        folders: vec![report.folder.display().to_string()],
        mixing: report.mixing.map_or_else(String::new, |mixing| mixing.average.to_string()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..StoredAbout::default()
    }
}

fn output(record: &EvaluationRecord, text: &str) -> SystemOutput {
    let all = |text: &str| words(text).map(str::to_owned).collect();
    SystemOutput {
        text: text.to_owned(),
        source: all(&record.pair.source),
        target: all(text),
        ..SystemOutput::default()
    }
}

/// Puts in a system of this name, numbered where there is one already.
fn add(
    workspace: &mut Workspace,
    (name, about): (&str, &StoredAbout),
    report: &EvaluationReport,
    output: impl Fn(usize, &EvaluationRecord) -> SystemOutput,
    step: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let known = workspace.systems()?;
    let names = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name} ({n})")));
    let free = names.take(known.len() + 1).find(|name| known.iter().all(|system| system.name != *name));
    let system = workspace.add_system(&free.unwrap_or_default(), about)?;
    for (n, records) in report.records.chunks(STEP).enumerate() {
        let placed = |(at, record)| (n * STEP + at, output(n * STEP + at, record));
        let outputs: Vec<Placed> = records.iter().enumerate().map(placed).collect();
        workspace.add_outputs(system.id, &outputs, &mut Measuring::default())?;
        step(outputs.len())?;
    }
    Ok(())
}
