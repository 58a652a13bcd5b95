//! Floor 13: `interlinear analyse --query`: the hits of a query in a corpus.

use std::path::Path;

use crate::analysis::concordance::sorted;
use crate::cli::analyse::AnalyseArgs;
use crate::cli::output;
use crate::cli::output::LineOutput;
use crate::corpus::query::hits::{Searching, tsv};
use crate::corpus::query::linked::{LinkChoice, LinkOrigin};
use crate::corpus::store::corpus::CorpusTable;
use crate::corpus::store::file::Workspace;
use crate::error::Error;

/// Prints the hits of a query: the sentence, the hit with what stands around it, what it is linked to, and the output.
pub(super) fn print(
    query: &str,
    low: &AnalyseArgs,
    workspace: &Workspace,
    corpus: &CorpusTable,
    chosen: Vec<u32>,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    let number = low.system.unwrap_or(1);
    let Some(system) = number.checked_sub(1).filter(|at| *at < corpus.systems.len()) else {
        let count = corpus.systems.len();
        let message = format!("--system {number} is not there; there are {count}, counted from 1");
        return Err(Error::Input(message).into());
    };
    let links = LinkChoice { system: Some(system), by: LinkOrigin::Own };
    let searching = Searching::new(query, Path::new(""), links, chosen, None);
    let mut searching =
        searching.map_err(|why| Error::Input(format!("--query, {why}")))?.by_parts(low.by, low.target_by);
    if low.by && !corpus.has_parts {
        let message = "--by: nobody gave this corpus parts of speech; bring them in with --import FILE.conllu";
        return Err(Error::Input(message.to_owned()).into());
    }
    if low.target_by && !corpus.has_target_parts {
        let message =
            "--target-by: no reference or output has parts of speech; bring them in with --import FILE.conllu";
        return Err(Error::Input(message.to_owned()).into());
    }
    let mut lines = Vec::new();
    while !searching.is_done() {
        lines.extend(searching.step(corpus, workspace, 1000)?);
    }
    for at in &searching.incomplete {
        output::tell(&format!("sentence {}: there are more hits than are told", at + 1));
    }
    output.text(&tsv(&lines, &sorted(&lines, low.order), corpus, links))
}
