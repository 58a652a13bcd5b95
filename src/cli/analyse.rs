//! `interlinear analyse`: brings files into a workspace, runs models over it, and prints its table, its hits of
//! a query, or a report of it.

mod agreement;
mod campaign;
mod choice;
mod format;
mod hits;
mod overview;

pub mod report;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::analyse::{
    agreement::agreement, campaign::CampaignArgs, choice::ChoiceArgs, format::Format, format::LinkArgs,
    hits::QueryArgs, overview::overviews_of,
};
use crate::args::{
    BatchArgs, Choice, EnsembleArgs, GoldLayoutArgs, ReadingArgs, RunArgs, SearchArgs, one_of, tokenizers,
};
use crate::output::{LineOutput, provenance};
use crate::{args, output, progress::ProgressLine};
use corpus::export::provenance::provenance as provenance_of;
use corpus::import::importer::{ImportReport, import_file};
use corpus::judgements::scheme::{ErrorScheme, Renamed};
use corpus::store::{corpus::CorpusTable, file::Workspace, rules::KnownWords};
use corpus::{
    export::out, judgements::judgement_io, measures::table::Measuring, overview::tables::TABLES, run,
    run::SystemRunOptions,
};
use engine::aligner::{bundled::AlignerChoice, words::LineAligner};
use engine::error::{Error, Result};
use engine::{
    analysis::bleu::Tokenization, evaluation, evaluation::plan::InterventionPlan, models::choice::ModelSpec,
    text::links::guess::Notation, ticket::CancellationToken,
};
use import;
use import::Role;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "A corpus is one file; it is made where there is none and something comes in. First files come in, in the order of the options
here, then models run over the sentences that they have not been asked about, then the table is printed.

  interlinear analyse --workspace c.ilws --source test.en --reference test.fr --model rnnsearch-en-fr
  interlinear analyse --workspace c.ilws --output Other=other.fr --filter 'bleu.1-2<-10' --sort bleu.1-2
  interlinear analyse --workspace c.ilws --query '{red, old} -> _ _ -> _ crossing' --system 1
  interlinear analyse --workspace c.ilws --query '{@colours.txt} _ crossing' --order right
  interlinear analyse --workspace c.ilws --query 'ADJ NOUN crossing' --by pos
  interlinear analyse --workspace c.ilws --query 'not -/> pas | pas' --system 1
  interlinear analyse --workspace c.ilws --query 'not | {ne, pas}' --weights
  interlinear analyse --workspace c.ilws --overview length,ngrams --filter 'words=11..30'
  interlinear translate --model rnnsearch-en-fr --format jsonl test.en > run.jsonl
  interlinear analyse --workspace c.ilws --import run.jsonl --format none

Of several sources the first reference, links by hand, and output of a name belong to the first source, and so on; further
ones belong to the last source. BLEU, chrF2 and TER are over all references of a sentence, as sacreBLEU's; a source word goes wrong
where all of them say otherwise; other words, links by hand and --force are of the first. A file whose texts are those that are there changes nothing.

Conditions, all of which hold unless OR stands between them ((a OR b) c groups): a word, \"a phrase\", /a regular expression/, source:word, reference:word, output:word,
2:word (the second system), bleu.1<20 (bleu alone is bleu.1, also in --columns and --sort), bleu.1-2 > 10 (the first system less the second), words=7, tag:name, stars>=3,
note:word, by:name, task:name and todo:name (of the campaign), differs:A,B, has:gold, has:marks, has:note, has:reference, has:2; words=11..20 from and to; freq.1=0..4 words of such
a frequency in the reference or the first system; right.1:\"le chat\" these words as the reference has them, right.1-2: more
often than the second, missed.1:, extra.1:; wrong.1:bank a source word translated otherwise; jump.1=8.. such a jump of the
alignment; - before one means not so.

Overviews, of the sentences that are chosen, each row with the condition that shows its sentences:
  length      BLEU, chrF2, TER and alignment error by words of the source
  likelihood  -log p (nats) and perplexity of the references that models were forced through (--force), by words of the source
  alignment   alignment error of references that models were forced through, against links by hand, by the source word of greatest
              alpha and by thresholds
  tags        BLEU to alignment error by tag, such as those of documents and domains (columns `doc`, `domain`, `genre` of a table)
  frequency   F1 of words by how often they are in the references, or in the text or list of --frequencies
  words       source words whose linked words are not those of the other side
  pos         links, crossings and errors by part of speech of the source words, where --import brought a file in CoNLL-U: fertility, shares
              without a link and with one that crosses; words that are linked to anything (judged), those of which something is not as in
              the reference (wrong), and their share
  ngrams      n-grams that one system of --pair has right more often
  jumps       how far the alignments jump
  pair        the systems of --pair by BLEU: sentences won, equal, lost; p of sacreBLEU's --paired-bs (two-sided, of the
              resamples that the interval is of) and --paired-ar. References that were forced are compared with none
  scores      the same two by the means of --scores, over the sentences where both have one
  judged      errors, MQM score (the mean over sentences, less is better) and ratings of each system; apart what a metric suggests
  metrics     whether metrics say what people say, by system and by segment: Pearson, Spearman, Kendall's tau-b, pairwise accuracy

Formats:
  tsv         a row for each sentence: texts, numbers (NaN is empty), tags, notes
  jsonl       an object for each sentence: texts, words, alignments, numbers, judgements; `--import` reads it
  npz         alignments of all systems as arrays of numpy, not read back: 12.1.alpha [target, source], 12.1.source and
              12.1.target are sentence 12 in system 1, words with </s>
  matrices    the same as tables, a file for each, into the folder of --save
  links       the links of --system, a line for each sentence, as Pharaoh; with --threshold or --symmetrize
  gold        links by hand of the reference, or with --system those of what a system says, the same way
  judgements  stars, tags, notes, marks and links, an object for each judged sentence
  judgement-table  the same as a table with a row for each annotator and each mark
  mqm         marks of people as a table of the WMT, as Marot shows them; `--import` reads it
  suggestions what a metric marked, the same way
  pearmut     ratings and marks (ESA) as JSON lines of Pearmut; `--import` reads them
  tasks       who judges which sentence of the campaign, in which order, and what is done
  scheme      the scheme of errors, as TOML
  none        nothing

--agreement A B prints for stars, tags, marks and links by hand: what was counted, how many are the same, and Cohen's
kappa; then the sentences where A and B differ, then Krippendorff's alpha of ratings, stars, tags and marks. Of three
annotators and more that alone. With --format jsonl it is one object."
)]
pub struct AnalyseArgs {
    /// The file; it is made where there is none
    #[arg(long, value_name = "FILE")]
    workspace: PathBuf,
    #[command(flatten)]
    files: CorpusFileArgs,
    #[command(flatten)]
    models: SystemRunArgs,
    #[command(flatten)]
    choice: ChoiceArgs,
    /// Print how far these annotators, two or more, agree about the sentences, and where two differ
    #[arg(long, num_args = 2.., value_name = "NAME", conflicts_with = "query")]
    agreement: Option<Vec<String>>,
    /// Set the scheme of errors of the corpus: a TOML or JSON file as --format scheme writes it, `mqm` for the core of MQM, or
    /// `google` for the weights of Google's raters (non-translation 25, minor punctuation 0.1, errors of the source 0)
    #[arg(long, value_name = "NAME|FILE")]
    scheme: Option<PathBuf>,
    #[command(flatten)]
    query: QueryArgs,
    /// Of which system, counted from 1; where nothing is said of the first, and with --format gold of the reference
    #[arg(long, value_name = "N")]
    system: Option<usize>,
    /// Print these overviews in place of sentences, with commas between, as TSV or with --format jsonl
    #[arg(long, value_name = "OVERVIEWS", value_delimiter = ',', value_parser = overviews(), conflicts_with = "query")]
    overview: Vec<String>,
    /// The two systems that are compared, counted from 1; without it the first two that translate
    #[arg(long, value_name = "N,N", value_parser = pair)]
    pair: Option<(usize, usize)>,
    /// Words with their counts, or the training text itself: the frequencies of words; without it those that the corpus keeps, else the references are counted
    #[arg(long, value_name = "FILE")]
    frequencies: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write it into this file, or folder, instead of printing it
    #[arg(long, value_name = "PATH", conflicts_with_all = ["query", "overview", "agreement"])]
    save: Option<PathBuf>,
    #[command(flatten)]
    links: LinkArgs,
    #[command(flatten)]
    campaign: CampaignArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Which models are run over the sentences, and how.
#[derive(Args, Clone, Debug)]
struct SystemRunArgs {
    /// A model folder, or the name of an installed model, that is run over the sentences; once for each model
    #[arg(long, value_name = "DIR", value_parser = args::folder())]
    model: Vec<ModelSpec>,
    #[command(flatten)]
    ensemble: EnsembleArgs,
    /// Force the references instead of translating: their alignments are compared with links by hand
    #[arg(long, requires = "model")]
    force: bool,
    /// Run the models with these interventions, as systems of their own: one object for all sentences, or a line for each
    #[arg(long, value_name = "FILE", requires = "model", conflicts_with = "force")]
    interventions: Option<PathBuf>,
}

/// The files that are imported, and how they are read.
#[derive(Args, Clone, Debug)]
struct CorpusFileArgs {
    /// A text with a sentence a line that comes in; once for each
    #[arg(long, value_name = "FILE")]
    source: Vec<PathBuf>,
    /// Its reference, line by line; once for each. Another file is another reference, of 16 at most
    #[arg(long, value_name = "FILE")]
    reference: Vec<PathBuf>,
    /// The outputs of another system, line by line, or a dump of its attention; once for each
    #[arg(long = "output", value_name = "NAME=FILE", value_parser = named)]
    outputs: Vec<(String, PathBuf)>,
    /// A score that others gave what a system made of it, a number a line, such as COMET.1=FILE of the first system, or
    /// COMET.NAME=FILE; once for each. Files of --import have columns of such names
    #[arg(long, value_name = "SCORE.SYSTEM=FILE", value_parser = named)]
    scores: Vec<(String, PathBuf)>,
    /// Links by hand between sources and references
    #[arg(long, value_name = "FILE")]
    gold: Vec<PathBuf>,
    /// A file that says itself what it is: TSV, TMX, XLIFF, JSON lines of translate, dumps of attention,
    /// CoNLL-U for the parts of speech of sources, or of references and outputs, that are there; once for each
    #[arg(long, value_name = "FILE")]
    import: Vec<PathBuf>,
    /// What the files of --source, --reference, --output and --import are, where that is not to be found out
    #[arg(long, value_name = "KIND", value_parser = one_of(import::FORMATS.iter().map(|kind| (kind.name, kind.label, kind.name))))]
    import_format: Option<&'static str>,
    /// Their encoding, such as utf-16le or windows-1252, where that is not to be found out
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    #[command(flatten)]
    layout: GoldLayoutArgs,
    /// Judgements, as --format judgements and judgement-table write them; with NAME all are this annotator's; once for each
    #[arg(long, value_name = "[NAME=]FILE")]
    judgements: Vec<String>,
    /// The texts are cut into words, which stand between spaces; a new corpus remembers that. Without it words are tokens
    #[arg(long)]
    pretokenized: bool,
    /// Put texts and links of these files in the place of others that are there; without it those stay, and are told
    #[arg(long)]
    replace: bool,
    /// How BLEU of this corpus cuts text into words, from now on; all outputs are measured with it. If nobody chooses, a new corpus
    /// takes what the language of its models or the script of its references asks for: `zh` for Chinese, `char` for Japanese,
    /// Thai, Lao, Khmer and Burmese, else `13a`
    #[arg(long, value_name = "NAME", value_parser = tokenizers())]
    tokenize: Option<Tokenization>,
    /// Of n-best lists that come in, the candidate nearest to the references, by BLEU or chrF2 of the sentence, is the system
    /// "oracle of NAME", and where it stands the column oracle_place
    #[arg(long, value_name = "BY", value_parser = one_of(ORACLES.iter().copied()))]
    oracle: Option<import::OracleBy>,
    /// Of n-best lists that come in, take the candidate of the greatest of this, too, as the system "NAME by WHAT": the name of a
    /// feature, `score`, or `log_p`
    #[arg(long, value_name = "WHAT")]
    rerank: Option<String>,
}

pub(crate) const ORACLES: &[Choice<import::OracleBy>] = &[
    ("bleu", "BLEU of the sentence", import::OracleBy::Bleu),
    ("chrf", "chrF2 of the sentence", import::OracleBy::Chrf),
];

fn overviews() -> clap::builder::PossibleValuesParser {
    TABLES.iter().map(|table| table.name).collect::<Vec<_>>().into()
}

fn pair(text: &str) -> std::result::Result<(usize, usize), String> {
    let number = |text: &str| text.trim().parse::<usize>().ok()?.checked_sub(1);
    let pair = text.split_once(',').and_then(|(first, second)| Some((number(first)?, number(second)?)));
    pair.ok_or_else(|| "write two systems, counted from 1, such as 1,2".to_owned())
}

fn named(text: &str) -> std::result::Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("write NAME=FILE, such as Marian=marian.fr".to_owned()),
    }
}

/// Brings in, runs and prints.
pub fn run(args: &AnalyseArgs) -> anyhow::Result<()> {
    let files = files(args);
    let scheme = args.scheme.as_deref().map(ErrorScheme::open).transpose()?;
    let comes_in = !files.is_empty() || !args.files.judgements.is_empty() || args.scheme.is_some();
    if !comes_in && !args.workspace.exists() {
        let advice = "is not there; name the corpus, or bring a text in with --source or --import to make one";
        return Err(Error::file(&args.workspace, advice).into());
    }
    let is_new = !args.workspace.exists();
    let mut workspace = Workspace::open(&args.workspace)?;
    let known = KnownWords { pretokenized: args.files.pretokenized, ..KnownWords::default() };
    workspace.settle_words(&known, std::iter::empty(), std::iter::empty())?;
    if let Some(tokenization) = args.files.tokenize {
        workspace.set_tokenizer(tokenization, &mut |_| Ok(()))?;
    }
    if let Err(error) = bring_all_in(args, &mut workspace, files) {
        // a corpus that was begun for nothing
        if is_new && workspace.len()? == 0 {
            drop(workspace);
            let _ = std::fs::remove_file(&args.workspace);
        }
        return Err(error.into());
    }
    if let Some(scheme) = &scheme {
        workspace.set_scheme(scheme, &Renamed::default())?;
    }
    for typed in &args.files.judgements {
        bring_judgements(&mut workspace, typed)?;
    }
    if !args.models.model.is_empty() {
        run_all(args, &mut workspace)?;
    }
    let mut corpus = read(&workspace)?;
    let asks_for_words = args.overview.iter().any(|name| name == "words");
    let frequencies = args.frequencies.clone().or_else(|| workspace.look().frequencies);
    let mut means = args.choice.means(frequencies, (&corpus, &workspace), asks_for_words)?;
    let rows = args.choice.rows(&corpus, &workspace, &mut means)?;
    if args.campaign.begin(&mut workspace, &corpus, &rows)? {
        corpus = read(&workspace)?;
    }
    let mut output = LineOutput::stdout();
    if let Some(query) = &args.query.query {
        let system = args.system.unwrap_or(1);
        hits::print(query, &args.query, (system, args.format), (&workspace, &corpus), rows, &mut output)?;
        return output.finish();
    }
    if !args.overview.is_empty() {
        let is_json = args.format == Format::Jsonl;
        overviews_of((&args.overview, args.pair, is_json), (&corpus, &workspace), &rows, &mut means, &mut output)?;
        return output.finish();
    }
    if let Some(annotators) = args.agreement.as_deref() {
        let names: Vec<&str> = annotators.iter().map(String::as_str).collect();
        agreement(&names, args.format == Format::Jsonl, &corpus, &rows, &mut output)?;
        return output.finish();
    }
    let Some(system) = args.system.unwrap_or(1).checked_sub(1) else {
        return Err(Error::Input("systems are counted from 1".to_owned()).into());
    };
    if args.format == Format::Scheme {
        match &args.save {
            Some(path) => corpus.scheme.save(path)?,
            None => output.text(&corpus.scheme.to_toml()?)?,
        }
    }
    let Some(kind) = args.format.kind((system, args.system.is_some()), &args.links) else { return output.finish() };
    provenance_of(&corpus, None).facts.iter().for_each(|(name, value)| provenance::fact(name, value));
    let path = args.save.clone().unwrap_or_else(|| PathBuf::from("stdout"));
    let out = args.choice.out(path, kind, rows, (&corpus, &workspace))?;
    if args.save.is_some() {
        out::write(&out, &corpus, &workspace)?;
    } else {
        out::to(&mut output, &out, &corpus, &workspace)?;
    }
    output.finish()
}

/// What comes in, in order, and what each is; `None`: it says itself.
fn files(args: &AnalyseArgs) -> Vec<(PathBuf, Option<Role>)> {
    let all = |paths: &[PathBuf], role: Option<Role>| -> Vec<(PathBuf, Option<Role>)> {
        paths.iter().map(|path| (path.clone(), role.clone())).collect()
    };
    let sources = all(&args.files.source, Some(Role::Source));
    let references = all(&args.files.reference, Some(Role::Reference));
    let golds = all(&args.files.gold, Some(Role::Gold));
    let mut files = Vec::new();
    // What belongs to the first source comes before the second.
    for n in 0..sources.len().max(references.len()).max(golds.len()).max(args.files.outputs.len()) {
        files.extend(sources.get(n).cloned());
        files.extend(references.get(n).cloned());
        files.extend(golds.get(n).cloned());
        let earlier =
            |at: usize, name: &str| args.files.outputs[..at].iter().filter(|(other, _)| other == name).count();
        let outputs = args.files.outputs.iter().enumerate().filter(|(at, (name, _))| earlier(*at, name) == n);
        files.extend(outputs.map(|(_, (name, path))| (path.clone(), Some(Role::Output(name.clone())))));
    }
    files.extend(all(&args.files.import, None));
    files.extend(args.files.scores.iter().map(|(column, path)| (path.clone(), Some(Role::Scores(column.clone())))));
    files
}

fn bring_all_in(args: &AnalyseArgs, workspace: &mut Workspace, files: Vec<(PathBuf, Option<Role>)>) -> Result<()> {
    let only = |name: &&String| args.files.outputs.iter().all(|(other, _)| other == *name);
    let came_with = args.files.outputs.first().map(|(name, _)| name).filter(only);
    let languages = args.choice.languages.clone().unzip();
    for (path, role) in files {
        let format = match role {
            Some(Role::Gold) => args.files.layout.gold_format.map(Notation::name),
            Some(Role::Scores(_)) => None,
            _ => args.files.import_format,
        };
        let options = import::ImportOptions {
            is_role_sure: role.is_some(),
            role,
            came_with: came_with.cloned(),
            format: format.map(str::to_owned),
            encoding: args.files.encoding.clone(),
            base: args.files.layout.gold_base,
            order: args.files.layout.gold_order,
            link_tokens: args.choice.link_tokens,
            pretokenized: args.files.pretokenized,
            languages: languages.clone(),
            replaces: args.files.replace,
            oracle: args.files.oracle,
            rerank: args.files.rerank.clone(),
            ..import::ImportOptions::default()
        };
        bring_in(workspace, &path, &options, args.run.cores())?;
    }
    Ok(())
}

fn bring_judgements(workspace: &mut Workspace, typed: &str) -> Result<()> {
    let named = typed.split_once('=').filter(|(name, _)| !name.is_empty() && !Path::new(typed).exists());
    let (path, name) = named.map_or((typed, None), |(name, path)| (path, Some(name)));
    report(path.as_ref(), &judgement_io::import(workspace, path.as_ref(), name, &CancellationToken::forever())?);
    Ok(())
}

fn report(path: &Path, brought: &ImportReport) {
    let name = path.file_name().unwrap_or(path.as_os_str()).display();
    output::notify(&format!("{name}: {}. {}", brought.summary(), brought.facts.join(" ")));
    brought.warnings.iter().for_each(|warning| output::notify(warning));
    if !brought.differing.is_empty() {
        output::notify(&format!("{name}: with --replace it puts these in the place of the others"));
    }
}

fn bring_in(workspace: &mut Workspace, path: &Path, options: &import::ImportOptions, threads: usize) -> Result<()> {
    let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
    let mut bar = ProgressLine::new(format!("importing {name}"), Some(100), false).counting("per cent");
    let mut on_progress = |share: f32| bar.add(0, 0, (share * 100.0) as u64);
    let brought = import_file(workspace, (path, options), threads, &CancellationToken::forever(), &mut on_progress);
    bar.finish();
    let brought = brought?;
    report(path, &brought);
    if brought.is_refused {
        return Err(Error::file(path, "was not imported, because most of it cannot be used"));
    }
    Ok(())
}

fn run_all(args: &AnalyseArgs, workspace: &mut Workspace) -> Result<()> {
    let runtime = args.run.plan()?;
    let acting = args.models.interventions.as_deref().map(InterventionPlan::open).transpose()?;
    let own = args.choice.own()?;
    let (search, batch, reading) = (args.search.plan(), args.batch.batch, args.reading.reading);
    let options =
        SystemRunOptions { search, batch, forces: args.models.force, acting, reading, ..SystemRunOptions::default() };
    for spec in args.models.ensemble.systems(&args.models.model) {
        let loaded = EnsembleArgs::load(&spec, &runtime)?;
        let system = evaluation::EvaluatedSystem::from(&loaded);
        let config = &system.lead().config;
        let languages = (config.source_language.clone(), config.target_language.clone());
        let aligner = AlignerChoice::of_system(&spec, languages, &own, args.choice.first(workspace));
        if let Some(trouble) = aligner.trouble() {
            output::notify(&trouble);
        }
        let aligner = LineAligner::chosen(&aligner, workspace.rules().are_given())?;
        let mut measuring = Measuring { aligner, ..Measuring::default() };
        let (_, mut stepper) = args.reading.open(&loaded, &runtime, false)?;
        let known = run::begin(workspace, system, &spec, &options)?;
        let total = workspace.len()? as u64;
        let mut bar = ProgressLine::new(format!("running {}", known.name), Some(total), false);
        let done = run::run(
            workspace,
            known.id,
            (system, stepper.as_mut()),
            &options,
            &mut measuring,
            &CancellationToken::forever(),
            &mut |done| {
                bar.add(done.outputs.len(), done.words, done.done as u64);
                for (at, why) in done.refused {
                    output::notify(&format!("sentence {}: {why}", at + 1));
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
pub fn read(workspace: &Workspace) -> Result<CorpusTable> {
    let corpus = CorpusTable::read(workspace)?;
    corpus.read_texts();
    corpus.damages.iter().chain(&corpus.take_damages()).for_each(|damage| output::notify(damage));
    Ok(corpus)
}
