//! Floor 7: what was measured becomes a corpus, to be looked through, judged and kept.

use crate::corpus::measures::table::Measuring;
use crate::corpus::overview::evaluated::{Evaluated, EvaluationRecord, MeasuredSystem};
use crate::corpus::overview::test_set::Unk;
use crate::corpus::store::file::Workspace;
use crate::corpus::store::output::SystemOutput;
use crate::corpus::store::read::{FORCED, MOST_REFERENCES, StoredAbout};
use crate::corpus::store::rules::{KnownWords, SideRules};
use crate::corpus::store::write::{NewSentence, Placed};
use crate::error::{Error, Result};

/// Sentences of a step.
const STEP: usize = 4096;

/// Puts the test set with its references and links by hand into a new workspace, the translations of each system, and
/// behind them what each makes of the references: their log p, and its links where they were measured. `hear` hears how far
/// that is, from 0 to 1, and ends it with an error.
///
/// # Errors
/// A sentence about the file; too many references; what `hear` says.
pub fn keep(evaluated: &Evaluated, workspace: &mut Workspace, hear: &mut dyn FnMut(f32) -> Result<()>) -> Result<()> {
    let pairs = &evaluated.test_set.pairs;
    let count = pairs.first().map_or(0, |pair| pair.references().count());
    if count > MOST_REFERENCES {
        let message = format!("There are {count} references, and a corpus keeps {MOST_REFERENCES}; measure with fewer");
        return Err(Error::Input(message));
    }
    let all = (pairs.len() * (evaluated.models.len() * (evaluated.unk.len() + 1) + 1)).max(1) as f32;
    let mut done = 0;
    let mut step = |count: usize| {
        done += count;
        hear(done as f32 / all)
    };
    workspace.set_tokenizer(evaluated.tokenization, &mut |_| Ok(()))?;
    let origin = workspace.add_origin(&evaluated.test_set.name(), "")?;
    let known = KnownWords { pretokenized: evaluated.test_set.pretokenized, ..KnownWords::default() };
    let sources = pairs.iter().map(|pair| pair.source.as_str());
    workspace.settle_words(&known, sources, pairs.iter().map(NewSentence::first))?;
    let rules = workspace.rules();
    for new in pairs.chunks(STEP) {
        workspace.add_sentences(origin, new)?;
        step(new.len())?;
    }
    for measured in &evaluated.models {
        for (n, unk) in evaluated.unk.iter().enumerate() {
            let (no_unk, search) = (*unk == Unk::Forbidden, &evaluated.search);
            let ranking = search.ranking.length.to_string();
            let about = StoredAbout { beam: search.beam, ranking, no_unk, ..about(measured) };
            let name = format!("{}{}", measured.name, if no_unk { ", no [UNK]" } else { "" });
            let said = |at: usize, record: &EvaluationRecord| {
                SystemOutput::plain(&record.translations[n].text, &pairs[at].source, rules)
            };
            add(workspace, (&name, &about), measured, said, &mut step)?;
        }
    }
    for measured in &evaluated.models {
        let about = StoredAbout { ranking: FORCED.to_owned(), ..about(measured) };
        let said = |at: usize, record: &EvaluationRecord| SystemOutput {
            log_p: Some(-record.nll as f32),
            links: measured.aligned().and_then(|alignment| alignment.links.get(at)).map(|links| {
                let texts = (pairs[at].source.as_str(), pairs[at].first());
                rules.retold_links(links, SideRules::SPACES, texts)
            }),
            ..SystemOutput::plain(pairs[at].first(), &pairs[at].source, rules)
        };
        add(workspace, (&format!("{}, references", measured.name), &about), measured, said, &mut step)?;
    }
    workspace.fold()
}

fn about(measured: &MeasuredSystem) -> StoredAbout {
    StoredAbout {
        folders: vec![measured.folder.display().to_string()],
        mixing: measured.mixing.map_or_else(String::new, |mixing| mixing.average.to_string()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..StoredAbout::default()
    }
}

/// Puts in a system of this name, numbered where there is one already.
fn add(
    workspace: &mut Workspace,
    (name, about): (&str, &StoredAbout),
    measured: &MeasuredSystem,
    output: impl Fn(usize, &EvaluationRecord) -> SystemOutput,
    step: &mut dyn FnMut(usize) -> Result<()>,
) -> Result<()> {
    let known = workspace.systems()?;
    let names = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name} ({n})")));
    let free = names.take(known.len() + 1).find(|name| known.iter().all(|system| system.name != *name));
    let system = workspace.add_system(&free.unwrap_or_default(), about)?;
    for (n, records) in measured.records.chunks(STEP).enumerate() {
        let placed = |(at, record)| (n * STEP + at, output(n * STEP + at, record));
        let outputs: Vec<Placed> = records.iter().enumerate().map(placed).collect();
        workspace.add_outputs(system.id, &outputs, &mut Measuring::default())?;
        step(outputs.len())?;
    }
    Ok(())
}
