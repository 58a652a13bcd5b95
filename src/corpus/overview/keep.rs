//! Floor 7: what was measured becomes a corpus, to be looked through, judged and kept.

use crate::corpus::measures::table::Measuring;
use crate::corpus::overview::evaluated::{Evaluated, EvaluationRecord, EvaluationReport};
use crate::corpus::overview::test_set::Unk;
use crate::corpus::store::file::Workspace;
use crate::corpus::store::output::SystemOutput;
use crate::corpus::store::read::{FORCED, StoredAbout};
use crate::corpus::store::write::{NewSentence, Placed};
use crate::error::Result;
use crate::text::words::words;

/// Sentences of a step.
const STEP: usize = 4096;

/// Puts the test set with its first references and links by hand into a new workspace, the translations of each system, and
/// behind them what each makes of the references: their log p, and its links where they were measured.
///
/// # Errors
/// A sentence about the file.
pub fn keep(evaluated: &Evaluated, workspace: &mut Workspace) -> Result<()> {
    let Some(first) = evaluated.models.first().map(|measured| &measured.report) else { return Ok(()) };
    let golds = evaluated.gold.as_ref().map_or(&[][..], |(_, gold)| &gold.pairs);
    let sentence = |(at, record): (usize, &EvaluationRecord)| NewSentence {
        source: record.pair.source.to_string(),
        reference: Some(record.pair.reference().to_owned()),
        name: None,
        line: at + 1,
        gold: golds.get(at).cloned(),
    };
    let sentences: Vec<NewSentence> = first.records.iter().enumerate().map(sentence).collect();
    let origin = workspace.add_origin(&first.test_set, "")?;
    workspace.add_sentences(origin, &sentences)?;
    for report in evaluated.models.iter().map(|measured| &measured.report) {
        for (n, unk) in report.unk.iter().enumerate() {
            let (no_unk, search) = (*unk == Unk::Forbidden, &report.search);
            let ranking = search.ranking.length.to_string();
            let about = StoredAbout { beam: search.beam, ranking, no_unk, ..about(report) };
            let name = format!("{}{}", report.name, if no_unk { ", no [UNK]" } else { "" });
            add(workspace, &name, &about, report, |_, record| output(record, &record.translations[n].text))?;
        }
    }
    for measured in &evaluated.models {
        let report = &measured.report;
        let about = StoredAbout { ranking: FORCED.to_owned(), ..about(report) };
        add(workspace, &format!("{}, references", report.name), &about, report, |at, record| SystemOutput {
            log_p: Some(-record.nll as f32),
            links: measured.aligned().and_then(|alignment| alignment.links.get(at).cloned()),
            ..output(record, record.pair.reference())
        })?;
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
    name: &str,
    about: &StoredAbout,
    report: &EvaluationReport,
    output: impl Fn(usize, &EvaluationRecord) -> SystemOutput,
) -> Result<()> {
    let known = workspace.systems()?;
    let names = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name} ({n})")));
    let free = names.take(known.len() + 1).find(|name| known.iter().all(|system| system.name != *name));
    let system = workspace.add_system(&free.unwrap_or_default(), about)?;
    let all: Vec<Placed> = report.records.iter().enumerate().map(|(at, record)| (at, output(at, record))).collect();
    for outputs in all.chunks(STEP) {
        workspace.add_outputs(system.id, outputs, &mut Measuring::default())?;
    }
    Ok(())
}
