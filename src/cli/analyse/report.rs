//! `interlinear report`.

use std::path::PathBuf;

use clap::Args;

use crate::analyse::{choice::ChoiceArgs, read};
use crate::output;
use corpus::export::out;
use corpus::export::out::{ExportFormat, Out};
use corpus::store::{file::Workspace, kinds::MOST_PICTURES};

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "The report is one page of HTML that needs nothing beside it: systems, tables, heatmaps, notes.
  interlinear report --workspace c.ilws --filter 'tag:talk' --output talk.html"
)]
pub struct ReportArgs {
    /// The corpus
    #[arg(long, value_name = "FILE")]
    workspace: PathBuf,
    /// The page that is written
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// The title of the page; without it the name of the corpus
    #[arg(long, value_name = "TEXT", default_value = "")]
    title: String,
    /// How many sentences have pictures of their alignments, the first ones as they are sorted; the others have their texts
    /// and numbers
    #[arg(long, value_name = "N", default_value_t = MOST_PICTURES)]
    pictures: usize,
    #[command(flatten)]
    choice: ChoiceArgs,
}

pub fn run(args: &ReportArgs) -> anyhow::Result<()> {
    let workspace = Workspace::open_existing(&args.workspace)?;
    let corpus = read(&workspace)?;
    let mut means = args.choice.means(workspace.look().frequencies, (&corpus, &workspace), false)?;
    let rows = args.choice.rows(&corpus, &workspace, &mut means)?;
    let out = args.choice.out(args.output.clone(), ExportFormat::Report, rows, (&corpus, &workspace))?;
    let out = Out { pictures: args.pictures, title: args.title.clone(), ..out };
    out::write(&out, &corpus, &workspace)?;
    output::notify(&format!("{} has {} sentences", out.path.display(), out.rows.len()));
    Ok(())
}
