//! Floor 10: `interlinear analyse`: brings files into a workspace, runs models over it, and prints its table, its hits of
//! a query, or a report of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgMatches, Args, FromArgMatches as _, ValueEnum};

use crate::aligner::words::LineAligner;
use crate::analysis::concordance::{Query, Sentence, context};
use crate::cli::args::{BatchArgs, EnsembleArgs, RunArgs, SearchArgs, physical_cores};
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::{Context, bundled, output};
use crate::error::{Error, Result};
use crate::evaluation;
use crate::import;
use crate::import::Role;
use crate::text::tsv::{Cell, rows};
use crate::ticket::Ticket;
use crate::workspace::bring::bring_with;
use crate::workspace::column::Column;
use crate::workspace::corpus::Corpus;
use crate::workspace::file::Workspace;
use crate::workspace::filter::Filter;
use crate::workspace::measures::Measuring;
use crate::workspace::out;
use crate::workspace::out::{Kind, Out};
use crate::workspace::run::{RunOptions, about, digests, name, run as run_system, system as system_of};
use crate::workspace::table;
use crate::workspace::table::Sorting;

/// Words on each side of a hit.
const WIDTH: usize = 8;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "A workspace is one file; it is made where there is none. First files come in, in the order of the options
here, then models run over the sentences that they have not been asked about, then the table is printed.

  interlinear analyse --workspace c.ilws --source test.en --reference test.fr --model rnnsearch-en-fr
  interlinear analyse --workspace c.ilws --output Other=other.fr --filter 'bleu.1-2<-10' --sort bleu.1-2
  interlinear analyse --workspace c.ilws --query '{red, old} -> _ _ -> _ crossing' --system 1
  interlinear translate --model rnnsearch-en-fr --format jsonl test.en > run.jsonl
  interlinear analyse --workspace c.ilws --import run.jsonl --format none

Of several sources the first reference, links by hand, and output of a name belong to the first source, and so on.

Conditions, all of which hold: a word, \"a phrase\", /a regular expression/, source:word, reference:word, output:word,
2:word (the second system), bleu.1<20, bleu.1-2>10 (the first system less the second), words=7, tag:name, stars>=3,
note:word, by:name, has:gold, has:marks, has:note, has:reference, has:2; - before one means not so.

Formats:
  tsv         a row for each sentence: texts, numbers (NaN is empty), tags, notes
  jsonl       an object for each sentence: texts, words, alignments, numbers, judgements
  links       the links of --system, a line for each sentence, as Pharaoh
  gold        links by hand, the same way
  judgements  stars, tags, notes and marks, an object for each judged sentence
  none        nothing"
)]
pub struct Low {
    /// The file; it is made where there is none
    #[arg(long, value_name = "FILE")]
    workspace: PathBuf,
    /// A text with a sentence a line that comes in; once for each
    #[arg(long, value_name = "FILE")]
    source: Vec<PathBuf>,
    /// Its reference, line by line; once for each
    #[arg(long, value_name = "FILE")]
    reference: Vec<PathBuf>,
    /// What another system made of it, line by line; once for each
    #[arg(long = "output", value_name = "NAME=FILE", value_parser = named)]
    outputs: Vec<(String, PathBuf)>,
    /// Links by hand between sources and references
    #[arg(long, value_name = "FILE")]
    gold: Vec<PathBuf>,
    /// A file that says itself what it is: TSV, TMX, XLIFF, JSON lines of translate, dumps of attention; once for each
    #[arg(long, value_name = "FILE")]
    import: Vec<PathBuf>,
    /// A model folder, or the name of an installed model, that is run over the sentences; once for each model
    #[arg(long, value_name = "DIR", value_parser = bundled::argument())]
    model: Vec<PathBuf>,
    #[command(flatten)]
    ensemble: EnsembleArgs,
    /// Force the references instead of translating: their alignments are compared with links by hand
    #[arg(long, requires = "model")]
    force: bool,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// Print where this pattern of source words, output words and links occurs, as a concordance
    #[arg(long, value_name = "QUERY")]
    query: Option<String>,
    /// Of which system, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    system: usize,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Which sentences and columns, as typed.
#[derive(Args, Clone, Debug)]
pub struct ChoiceArgs {
    /// Conditions, as `analyse --help` lists them
    #[arg(long, value_name = "CONDITIONS", default_value = "", allow_hyphen_values = true)]
    filter: String,
    /// Sort by this column; - before it means the greatest first
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    sort: Option<String>,
    /// Only these columns of numbers, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<String>,
    /// At most so many sentences
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl ChoiceArgs {
    /// The sentences, in order.
    ///
    /// # Errors
    /// A condition or a column that is none.
    fn rows(&self, corpus: &Corpus) -> Result<Vec<u32>> {
        let filter = Filter::new(&self.filter, corpus)?;
        let sorting = self.sort.as_deref().map(|name| Sorting::named(name, corpus)).transpose()?;
        let mut rows = table::rows(corpus, &filter, sorting.as_ref());
        rows.truncate(self.limit.unwrap_or(usize::MAX));
        Ok(rows)
    }

    /// What goes out.
    ///
    /// # Errors
    /// A column that is none.
    fn out(self, path: PathBuf, kind: Kind, rows: Vec<u32>, corpus: &Corpus) -> Result<Out> {
        let columns = self.columns.iter().map(|name| Column::named(name, corpus)).collect::<Result<_>>()?;
        Ok(Out { path, kind, rows: Arc::new(rows), columns, chosen: self.filter })
    }
}

/// What is printed.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    /// A row for each sentence
    #[default]
    Tsv,
    /// Everything, an object for each sentence
    #[value(alias = "json")]
    Jsonl,
    /// Links of a system
    Links,
    /// Links by hand
    Gold,
    /// Stars, tags, notes and marks
    Judgements,
    /// Nothing
    None,
}

/// `NAME=FILE`.
fn named(text: &str) -> std::result::Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("write NAME=FILE, such as Marian=marian.fr".to_owned()),
    }
}

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    Low::augment_args(command)
}

/// Brings in, runs and prints.
///
/// # Errors
/// A sentence about a file, a model or a condition.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    let low = Low::from_arg_matches(matches)?;
    let mut workspace = Workspace::open(&low.workspace)?;
    for (path, role) in files(&low) {
        bring_in(&mut workspace, &path, role, low.run.threads().unwrap_or_else(physical_cores))?;
    }
    if !low.model.is_empty() {
        run_all(&low, &mut workspace)?;
    }
    let corpus = read(&workspace)?;
    let rows = low.choice.rows(&corpus)?;
    let mut output = Output::stdout();
    if let Some(query) = &low.query {
        concordance(query, &low, &workspace, &corpus, &rows, &mut output)?;
        return output.finish();
    }
    let Some(system) = low.system.checked_sub(1) else {
        return Err(Error::Input("systems are counted from 1".to_owned()).into());
    };
    let kind = match low.format {
        Format::Tsv => Kind::Tsv,
        Format::Jsonl => Kind::Jsonl,
        Format::Links => Kind::Pharaoh(system, None),
        Format::Gold => Kind::Gold,
        Format::Judgements => Kind::Judgements,
        Format::None => return output.finish(),
    };
    let out = low.choice.out(PathBuf::from("stdout"), kind, rows, &corpus)?;
    out::to(&mut output, &out, &corpus, &workspace)?;
    output.finish()
}

/// What comes in, in order, and what each is; `None`: it says itself.
fn files(low: &Low) -> Vec<(PathBuf, Option<Role>)> {
    let all = |paths: &[PathBuf], role: Option<Role>| -> Vec<(PathBuf, Option<Role>)> {
        paths.iter().map(|path| (path.clone(), role.clone())).collect()
    };
    let sources = all(&low.source, Some(Role::Source));
    let references = all(&low.reference, Some(Role::Reference));
    let golds = all(&low.gold, Some(Role::Gold));
    let mut files = Vec::new();
    // What belongs to the first source comes before the second.
    for n in 0..sources.len().max(references.len()).max(golds.len()).max(low.outputs.len()) {
        files.extend(sources.get(n).cloned());
        files.extend(references.get(n).cloned());
        files.extend(golds.get(n).cloned());
        let earlier = |at: usize, name: &str| low.outputs[..at].iter().filter(|(other, _)| other == name).count();
        let outputs = low.outputs.iter().enumerate().filter(|(at, (name, _))| earlier(*at, name) == n);
        files.extend(outputs.map(|(_, (name, path))| (path.clone(), Some(Role::Output(name.clone())))));
    }
    files.extend(all(&low.import, None));
    files
}

fn bring_in(workspace: &mut Workspace, path: &Path, role: Option<Role>, threads: usize) -> Result<()> {
    let options = import::Options { role, ..import::Options::default() };
    let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
    let mut bar = Progress::new(format!("importing {name}"), Some(100), false).counting("per cent");
    let mut hear = |share: f32| bar.add(0, 0, (share * 100.0) as u64);
    let mut measuring = Measuring::default();
    let brought = bring_with(workspace, (path, &options), threads, &mut measuring, &Ticket::forever(), &mut hear);
    bar.finish();
    let brought = brought?;
    output::tell(&format!("{name}: {}. {}", brought.told(), brought.facts.join(" ")));
    for warning in &brought.warnings {
        output::tell(warning);
    }
    Ok(())
}

fn run_all(low: &Low, workspace: &mut Workspace) -> Result<()> {
    let runtime = low.run.high()?;
    let options = RunOptions { search: low.search.high(), batch: low.batch.high(), forces: low.force };
    for folders in low.ensemble.systems(&low.model) {
        let loaded = low.ensemble.load(folders, &runtime)?;
        let system = evaluation::System::from(&loaded);
        let config = &system.lead().config;
        let aligner = LineAligner::bundled(&config.source_language, &config.target_language, false)?;
        let mut measuring = Measuring { aligner };
        let known = about(system, folders, &digests(system), &options);
        let known = system_of(workspace, &name(&system.name(), &options), &known)?;
        let mut stepper = loaded.stepper(runtime.engine, runtime.threads)?;
        let total = workspace.len()? as u64;
        let mut bar = Progress::new(format!("running {}", known.name), Some(total), false);
        let done = run_system(
            workspace,
            known.id,
            (system, stepper.as_mut()),
            &options,
            &mut measuring,
            &Ticket::forever(),
            &mut |done| {
                bar.add(done.outputs.len(), done.words, done.done as u64);
                for (at, why) in done.refused {
                    output::tell(&format!("sentence {}: {why}", at + 1));
                }
                Ok(())
            },
        );
        bar.finish();
        done?;
    }
    Ok(())
}

/// The workspace in memory; what of it is damaged is told.
pub fn read(workspace: &Workspace) -> Result<Corpus> {
    let corpus = Corpus::read(workspace)?;
    corpus.read_texts();
    corpus.damages.iter().chain(&corpus.take_damages()).for_each(|damage| output::tell(damage));
    Ok(corpus)
}

/// Prints the hits of a query: the sentence, the hit with what stands around it, and the output.
fn concordance(
    query: &str,
    low: &Low,
    workspace: &Workspace,
    corpus: &Corpus,
    chosen: &[u32],
    output: &mut Output,
) -> anyhow::Result<()> {
    let query =
        Query::parse(query).map_err(|why| Error::Input(format!("--query, column {}: {}", why.column, why.message)))?;
    let column = low.system.checked_sub(1).and_then(|at| corpus.systems.get(at));
    let Some(column) = column else {
        let count = corpus.systems.len();
        return Err(
            Error::Input(format!("--system {} is not there; there are {count}, counted from 1", low.system)).into()
        );
    };
    let head = ["sentence", "left", "hit", "right", "output"].map(Cell::plain).to_vec();
    output.text(&rows([head]))?;
    for &at in chosen {
        let Some(said) = workspace.output(column.system.id, at as usize)? else { continue };
        let links = said.hard_links().unwrap_or_default();
        let sentence = Sentence { source: said.source_words(), output: said.words(), links: &links };
        let found = query.find(&sentence);
        if !found.is_complete {
            output::tell(&format!("sentence {}: there are more hits than are told", at + 1));
        }
        for hit in found.hits {
            let (words, span) = match (hit.source_span(), hit.output_span()) {
                (Some(span), _) => (said.source_words(), span),
                (None, Some(span)) => (said.words(), span),
                (None, None) => continue,
            };
            let around = context(words, &span, WIDTH);
            let cells = [around.left, around.key, around.right, said.text.clone()];
            let row = std::iter::once(Cell::plain(&(at + 1))).chain(cells.iter().map(Cell::from));
            output.text(&rows([row.collect()]))?;
        }
    }
    Ok(())
}

/// `interlinear report`.
pub mod report {
    use super::*;

    /// As typed.
    #[derive(Args, Clone, Debug)]
    #[command(
        after_long_help = "The report is one page of HTML that needs nothing beside it: systems, tables, heatmaps, notes.
  interlinear report --workspace c.ilws --filter 'tag:talk' --output talk.html"
    )]
    pub struct Low {
        /// The workspace
        #[arg(long, value_name = "FILE")]
        workspace: PathBuf,
        /// The page that is written
        #[arg(long, value_name = "FILE")]
        output: PathBuf,
        #[command(flatten)]
        choice: ChoiceArgs,
    }

    /// Its arguments.
    pub fn arguments(command: clap::Command) -> clap::Command {
        Low::augment_args(command)
    }

    /// Writes the report.
    ///
    /// # Errors
    /// A sentence about a file, a condition, or too many sentences.
    pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
        let low = Low::from_arg_matches(matches)?;
        let workspace = Workspace::open_existing(&low.workspace)?;
        let corpus = read(&workspace)?;
        let rows = low.choice.rows(&corpus)?;
        let out = low.choice.out(low.output, Kind::Report, rows, &corpus)?;
        out::write(&out, &corpus, &workspace)?;
        output::tell(&format!("{} has {} sentences", out.path.display(), out.rows.len()));
        Ok(())
    }
}
