//! Floor 7: weights of what the systems of a workspace say on the hits of a query, for [`crate::corpus::query::linked::Tallying`].

use crate::analysis::concordance::weights::WeightTally;
use crate::analysis::concordance::{ConcordanceQuery, ConcordanceSentence};
use crate::corpus::query::linked::{LinkChoice, LinkOrigin, TallyOrder, owned_words};
use crate::corpus::store::corpus::CorpusTable;
use crate::corpus::store::file::Workspace;
use crate::error::{Error, Result};

/// Every system of a corpus with its name, as kinds of a [`TallyOrder`] that weighs.
pub fn systems(corpus: &CorpusTable) -> Vec<(LinkChoice, String)> {
    let one = |at| LinkChoice { system: Some(at), by: LinkOrigin::Own };
    (0..corpus.systems.len()).map(|at| (one(at), one(at).name(corpus))).collect()
}

/// Begins for a query.
pub(super) fn tally(names: &[String], query: Option<&ConcordanceQuery>) -> Result<WeightTally> {
    query
        .and_then(|query| WeightTally::new(names.to_vec(), query.clone()))
        .ok_or_else(|| Error::Input(tr!("Weights need source words, | and output words, such as not | pas").to_owned()))
}

/// Adds a sentence by every system that has weights of it, between the words of its texts.
pub(super) fn add(
    tally: &mut WeightTally,
    order: &TallyOrder,
    (corpus, workspace): (&CorpusTable, &Workspace),
    at: usize,
) {
    let text = corpus.sources.get(at).unwrap_or_default();
    let rules = corpus.rules;
    let own = || Some(owned_words(text, rules.source));
    let Some(source) = (if order.by_parts { workspace.parts(at, text) } else { own() }) else { return };
    for (n, (choice, _)) in order.kinds.iter().enumerate() {
        let column = choice.system.and_then(|system| corpus.systems.get(system));
        // A damaged output is told of where it is shown.
        let said = column.and_then(|column| workspace.output(column.system.id, at).ok().flatten());
        let Some((alpha, said)) = said.and_then(|said| Some((said.word_alignment(text, rules)?, said))) else { continue };
        let output = owned_words(&said.text, rules.target);
        let links = said.word_links(text, rules).unwrap_or_default();
        tally.add(n, &ConcordanceSentence { source: &source, output: &output, links: &links }, &alpha);
    }
}
