//! Weights of what the systems of a workspace say on the hits of a query, a sentence after the other.

use crate::store::{corpus::CorpusTable, file::Workspace};
use engine::analysis::concordance::weights::WeightTally;
use engine::analysis::concordance::{ConcordanceQuery, ConcordanceSentence};
use engine::error::{Error, Result};

pub(super) fn tally(names: &[String], query: Option<&ConcordanceQuery>) -> Result<WeightTally> {
    query
        .and_then(|query| WeightTally::new(names.to_vec(), query.clone()))
        .ok_or_else(|| Error::Input(tr!("Weights need source words, | and output words, such as not | pas").to_owned()))
}

pub(super) fn add(
    tally: &mut WeightTally,
    systems: impl Iterator<Item = Option<usize>>,
    by_parts: bool,
    (corpus, workspace): (&CorpusTable, &Workspace),
    at: usize,
) {
    let text = corpus.sources.get(at).unwrap_or_default();
    let rules = corpus.rules;
    let own = || Some(rules.source.owned(text));
    let Some(source) = (if by_parts { workspace.parts(at, text) } else { own() }) else { return };
    for (n, system) in systems.enumerate() {
        let column = system.and_then(|system| corpus.systems.get(system));
        // A damaged output is told of where it is shown.
        let said = column.and_then(|column| workspace.output(column.system.id, at).ok().flatten());
        let Some((alpha, said)) = said.and_then(|said| Some((said.word_alignment(text, rules)?, said))) else {
            continue;
        };
        let output = rules.target.owned(&said.text);
        let links = said.word_links(text, rules).unwrap_or_default();
        tally.add(n, &ConcordanceSentence { source: &source, output: &output, links: &links, chunks: None }, &alpha);
    }
}
