//! `interlinear analyse --query`: the hits of a query in a corpus.

use std::path::Path;

use clap::Args;

use crate::args::{Choice, TableFormat, one_of};
use crate::columns::print as print_table;
use crate::{analyse::format::Format, output, output::LineOutput};
use corpus::query::hits::{Searching, tsv};
use corpus::query::linked::{LinkChoice, LinkOrigin, TallyOrder, Tallying};
use corpus::store::{corpus::CorpusTable, file::Workspace};
use engine::analysis::concordance::{ConcordanceOrder, sorted};
use engine::error::Error;

#[derive(Args, Clone, Debug)]
pub(super) struct QueryArgs {
    /// Print where this pattern of source words, output words and links occurs, as a concordance
    #[arg(long, value_name = "QUERY")]
    pub(super) query: Option<String>,
    /// Print weights in place of hits: how much alpha, or weight of an alignment head, the output words behind `|` give to the hit, as a
    /// mean over sentences with its 95 % interval, by each system; with --format jsonl an object for each row
    #[arg(long, requires = "query")]
    weights: bool,
    /// What it is looked for among
    #[arg(long, default_value = "word", requires = "query", value_parser = one_of(KEYS.iter().copied()), action = clap::ArgAction::Set)]
    by: bool,
    /// What the words behind `->` and `|` are looked for among
    #[arg(long, default_value = "word", requires = "query", value_parser = one_of(KEYS.iter().copied()), action = clap::ArgAction::Set)]
    target_by: bool,
    /// How its hits are sorted
    #[arg(long, default_value = "place", requires = "query", value_parser = one_of(ORDERS.iter().copied()))]
    order: ConcordanceOrder,
}

const KEYS: &[Choice<bool>] =
    &[("word", "The words", false), ("pos", "Their parts of speech, of sentences that have them", true)];

const ORDERS: &[Choice<ConcordanceOrder>] = &[
    ("place", "As the sentences stand", ConcordanceOrder::Place),
    ("left", "By the words before the hit, from the nearest on", ConcordanceOrder::Left),
    ("hit", "By the words of the hit", ConcordanceOrder::Hit),
    ("right", "By the words behind the hit", ConcordanceOrder::Right),
];

pub(super) fn print(
    query: &str, args: &QueryArgs, (number, format): (usize, Format), (workspace, corpus): (&Workspace, &CorpusTable),
    chosen: Vec<u32>, output: &mut LineOutput,
) -> anyhow::Result<()> {
    if args.by && !corpus.has_parts {
        let message = "--by: nobody gave this corpus parts of speech; bring them in with --import FILE.conllu";
        return Err(Error::Input(message.to_owned()).into());
    }
    if args.target_by && !corpus.has_target_parts {
        let message =
            "--target-by: no reference or output has parts of speech; bring them in with --import FILE.conllu";
        return Err(Error::Input(message.to_owned()).into());
    }
    if args.weights {
        return weights(query, (args.by, format), (workspace, corpus), chosen, output);
    }
    let Some(system) = number.checked_sub(1).filter(|at| *at < corpus.systems.len()) else {
        let count = corpus.systems.len();
        let message = format!("--system {number} is not there; there are {count}, counted from 1");
        return Err(Error::Input(message).into());
    };
    let links = LinkChoice { system: Some(system), by: LinkOrigin::Own };
    let searching = Searching::new(query, Path::new(""), links, chosen, (None, corpus.rules));
    let mut searching =
        searching.map_err(|why| Error::Input(format!("--query, {why}")))?.by_parts(args.by, args.target_by);
    let mut lines = Vec::new();
    while !searching.is_done() {
        lines.extend(searching.step(corpus, workspace, 1000)?);
    }
    for at in &searching.incomplete {
        output::notify(&format!("sentence {} has more hits than are listed", at + 1));
    }
    output.text(&tsv(&lines, &sorted(&lines, args.order), corpus, links))
}

fn weights(
    query: &str, (by_parts, format): (bool, Format), (workspace, corpus): (&Workspace, &CorpusTable), chosen: Vec<u32>,
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    let (query, kinds) = (query.to_owned(), LinkChoice::systems(corpus));
    let order = TallyOrder { query, kinds, by_parts, weighs: true, ..TallyOrder::default() };
    let tallying = Tallying::new(order, Path::new(""), chosen, (None, corpus.rules));
    let mut tallying = tallying.map_err(|why| Error::Input(format!("--query, {why}")))?;
    let table = loop {
        if let Some(table) = tallying.step(corpus, workspace, 1000)? {
            break table;
        }
    };
    if table.rows.is_empty() {
        output::notify(
            "no system has weights of such words: none has a hit with such an output word, or they came without alpha",
        );
    }
    print_table(if format == Format::Jsonl { TableFormat::Json } else { TableFormat::Tsv }, &table, output)
}
