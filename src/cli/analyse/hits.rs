//! `interlinear analyse --query`: the hits of a query in a corpus.

use std::path::Path;

use crate::analyse::AnalyseArgs;
use crate::analyse::format::Format;
use crate::args::TableFormat;
use crate::columns::print as print_table;
use crate::output;
use crate::output::LineOutput;
use corpus::query::hits::{Searching, tsv};
use corpus::query::linked::{LinkChoice, LinkOrigin, TallyOrder, Tallying};
use corpus::store::corpus::CorpusTable;
use corpus::store::file::Workspace;
use engine::analysis::concordance::sorted;
use engine::error::Error;

/// Prints the hits of a query: the sentence, the hit with what stands around it, what it is linked to, and the output.
pub(super) fn print(
    query: &str,
    low: &AnalyseArgs,
    workspace: &Workspace,
    corpus: &CorpusTable,
    chosen: Vec<u32>,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    if low.by && !corpus.has_parts {
        let message = "--by: nobody gave this corpus parts of speech; bring them in with --import FILE.conllu";
        return Err(Error::Input(message.to_owned()).into());
    }
    if low.target_by && !corpus.has_target_parts {
        let message =
            "--target-by: no reference or output has parts of speech; bring them in with --import FILE.conllu";
        return Err(Error::Input(message.to_owned()).into());
    }
    if low.weights {
        return weights(query, low, (workspace, corpus), chosen, output);
    }
    let number = low.system.unwrap_or(1);
    let Some(system) = number.checked_sub(1).filter(|at| *at < corpus.systems.len()) else {
        let count = corpus.systems.len();
        let message = format!("--system {number} is not there; there are {count}, counted from 1");
        return Err(Error::Input(message).into());
    };
    let links = LinkChoice { system: Some(system), by: LinkOrigin::Own };
    let searching = Searching::new(query, Path::new(""), links, chosen, (None, corpus.rules));
    let mut searching =
        searching.map_err(|why| Error::Input(format!("--query, {why}")))?.by_parts(low.by, low.target_by);
    let mut lines = Vec::new();
    while !searching.is_done() {
        lines.extend(searching.step(corpus, workspace, 1000)?);
    }
    for at in &searching.incomplete {
        output::tell(&format!("sentence {} has more hits than are listed", at + 1));
    }
    output.text(&tsv(&lines, &sorted(&lines, low.order), corpus, links))
}

/// Prints the weights of the output words of a query on its hits, by every system.
fn weights(
    query: &str,
    low: &AnalyseArgs,
    (workspace, corpus): (&Workspace, &CorpusTable),
    chosen: Vec<u32>,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    let order = TallyOrder {
        query: query.to_owned(),
        kinds: LinkChoice::systems(corpus),
        by_parts: low.by,
        weighs: true,
        ..TallyOrder::default()
    };
    let tallying = Tallying::new(order, Path::new(""), chosen, (None, corpus.rules));
    let mut tallying = tallying.map_err(|why| Error::Input(format!("--query, {why}")))?;
    let table = loop {
        if let Some(table) = tallying.step(corpus, workspace, 1000)? {
            break table;
        }
    };
    if table.rows.is_empty() {
        output::tell(
            "no system has weights of such words: none has a hit with such an output word, or they came without alpha",
        );
    }
    print_table(if low.format == Format::Jsonl { TableFormat::Json } else { TableFormat::Tsv }, &table, output)
}
