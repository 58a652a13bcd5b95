//! The command line. Imports every lower floor; the window, a room of the same floor, is handed in by `main`.
//!
//! What was typed (a command's `Low` arguments) becomes what is meant (its `High` ones), and only
//! then work begins. Results go to stdout and everything else to stderr. The exit code is 0 when
//! it is done, 2 when the user can mend what went wrong, 1 for anything else; a closed pipe ends
//! the program quietly. A command fails when a model, its input or its output does, and at the end when it refused lines.
//! A new command is one file and one line of [`COMMANDS`].

pub mod ablate;
pub mod align;
pub mod analyse;
pub mod args;
pub mod bench;
pub mod columns;
pub mod dictionary;
pub mod evaluate;
pub mod examples;
pub mod explore;
pub mod figure;
pub mod input;
pub mod inspect;
pub mod lesson;
pub mod map;
pub mod models;
pub mod neighbours;
pub mod output;
pub mod pairs;
pub mod phrases;
pub mod progress;
pub mod sample;
pub mod score;
pub mod shells;
pub mod statistical;
pub mod train;
pub mod translate;
pub mod vectors;
pub mod windows;

use std::{ffi::OsString, io, panic::AssertUnwindSafe, path::Path, process::ExitCode};

use clap::{ArgMatches, Args as _, FromArgMatches as _, error::ContextKind, error::ContextValue};

use crate::output::provenance;
use engine::{error::Error, text::tsv::guard_formulas};

pub use crate::explore::{Context, OpenWindow};

/// One line of [`COMMANDS`].
pub struct CommandEntry {
    pub name: &'static str,
    /// What it does, for the list of commands.
    pub about: &'static str,
    pub arguments: fn(clap::Command) -> clap::Command,
    /// How it is typed, where its own words have no such line.
    pub example: &'static str,
    /// The arguments that name what it writes, for [`apart`](args::apart).
    pub writes: &'static [&'static str],
    /// The arguments of its results, which other commands have too.
    pub more: &'static [fn() -> clap::Arg],
    pub run: fn(&ArgMatches, Context) -> anyhow::Result<()>,
}

macro_rules! commands {
    (@args $arguments:ty, $run:expr) => {
        |matches, _| $run(&<$arguments>::from_arg_matches(matches)?)
    };
    (@matches $arguments:ty, $run:expr) => {
        |matches, _| $run(matches)
    };
    (@context $arguments:ty, $run:expr) => {
        $run
    };
    ($($name:literal: $given:ident $arguments:ty, $run:expr, $about:literal
       $(, writes $($writes:literal)+)? $(, with [$($more:path),+])? $(, example $example:literal)?;)*) => {
        /// Every command, in the order of the help.
        pub const COMMANDS: &[CommandEntry] = &[$(CommandEntry {
            name: $name,
            about: $about,
            arguments: <$arguments>::augment_args,
            example: concat!($($example)?),
            writes: &[$($($writes),+)?],
            more: &[$($($more),+)?],
            run: commands!(@$given $arguments, $run),
        }),*];
    };
}

// Each with what it is given: its arguments, or all that was typed, or the window too.
commands! {
    "explore": context explore::ExploreArgs, explore::run, "Open the window (also without any command)",
        example "interlinear explore --model rnnsearch-en-fr --source story.en";
    "serve": args explore::serve::ServeArgs, explore::serve::run,
        "Serve the explorer in a browser, and models, to this machine or a class",
        example "interlinear serve --port 8080 --dir models";
    "translate": args translate::TranslateArgs, translate::run, "Translate one sentence a line, from a file or stdin",
        with [provenance::argument], example "interlinear translate --model rnnsearch-en-fr --beam 5 story.en";
    "score": matches score::ScoreArgs, score::run, "Probability and alignment of given translations, as JSON lines",
        writes "output", with [for_spreadsheets, provenance::argument],
        example "interlinear score --model rnnsearch-en-fr --source story.en --target story.fr";
    "phrases": matches phrases::PhrasesArgs, phrases::show,
        "The best targets of source phrases, by a model and by a phrase table",
        example "interlinear phrases --model rnnencdec-en-fr --phrase-table phrases.gz \"at the end of\"";
    "contrast": args score::contrast::ContrastArgs, score::contrast::run,
        "Minimal pairs: how often models prefer the good translation to the bad one, by tag", writes "pairs",
        with [for_spreadsheets, provenance::argument],
        example "interlinear contrast --model rnnsearch-en-fr --model luong-global-en-fr pairs.tsv";
    "sample": args sample::SampleArgs, sample::run,
        "Draw translations from a model's distribution, counted and sorted by probability", with [provenance::argument],
        example "interlinear sample --model rnnsearch-en-fr --seed 1 story.en";
    "dictionary": args dictionary::DictionaryArgs, dictionary::run,
        "Build the dictionary of translate --replace-unk from a corpus, with alignments of a model or learned from it",
        writes "output", with [provenance::argument],
        example "interlinear dictionary --model rnnsearch-en-fr --source text.en --target text.fr --output en-fr.tsv";
    "align": args align::AlignArgs, align::run,
        "Word alignments of given translations, of a model or learned from text alone, as Pharaoh or NAACL links",
        writes "save", with [provenance::argument],
        example "interlinear align --model rnnsearch-en-fr --reading head --threshold 0.4 --source story.en --target story.fr";
    "heads": args align::heads::HeadsArgs, align::heads::run,
        "Which head of a Transformer aligns: the error of each, the best first",
        with [for_spreadsheets, provenance::argument],
        example "interlinear heads --model opus-mt-en-fr --source story.en --target story.fr";
    "documents": args align::documents::DocumentsArgs, align::documents::run,
        "Two documents become sentences that translate each other: text, HTML or DOCX",
        writes "output_source" "output_target", with [for_spreadsheets, provenance::argument];
    "ablate": args ablate::AblateArgs, ablate::run,
        "How much translations depend on where models look: uniform, permuted and left-out attention",
        writes "summary", with [for_spreadsheets, provenance::argument],
        example "interlinear ablate --model rnnsearch-en-fr story.en";
    "models": args models::ModelsArgs, models::run, "List the installed models: languages, paper, BLEU, size",
        example "interlinear models";
    "examples": args examples::ExamplesArgs, examples::run,
        "Write the small texts that the samples of the manual use into a folder", example "interlinear examples ex";
    "inspect": args inspect::InspectArgs, inspect::run, "Sizes, parameters, languages and digest of a model folder",
        example "interlinear inspect opus-mt-en-fr";
    "import": args inspect::import::ImportArgs, inspect::import::run,
        "Make a model folder of another toolkit's model, such as Marian's, or a smaller copy of one", writes "output",
        example "interlinear import opus-mt-en-fr models/opus-en-fr";
    "gloss": args figure::gloss::GlossArgs, figure::gloss::run,
        "Interlinear text: sentences word by word with their glosses, for papers", writes "output",
        with [provenance::argument],
        example "interlinear gloss --source story.en --target story.fr --links story.links --format gb4e";
    "concordance": args figure::concordance::ConcordanceArgs, figure::concordance::run,
        "What links say of words: fertility, words without a link, crossings, patterns; any links against each other",
        with [for_spreadsheets, provenance::argument],
        example "interlinear concordance --source story.en --target story.fr --links story.links --by word";
    "nbest": args evaluate::nbest::NbestArgs, evaluate::nbest::run,
        "N-best lists: the best candidate and where it stands, another order by a score",
        with [for_spreadsheets, provenance::argument],
        example "interlinear nbest --target story.fr --rerank LM0 story.nbest";
    "evaluate": args evaluate::EvaluateArgs, evaluate::run,
        "Score models on a test set: NLL, perplexity, BLEU, chrF2, TER, AER, by length", writes "output",
        with [for_spreadsheets, provenance::argument],
        example "interlinear evaluate --model rnnsearch-en-fr --model luong-global-en-fr --source test.en --target test.fr";
    "analyse": args analyse::AnalyseArgs, analyse::run,
        "Bring files and models together in a corpus; sort, filter and query its sentences", writes "save",
        with [for_spreadsheets, provenance::argument];
    "report": args analyse::report::ReportArgs, analyse::report::run, "Write a report of a corpus as one page of HTML",
        writes "output";
    "neighbours": args neighbours::NeighboursArgs, neighbours::run, "What lies near a word or a phrase, by cosine",
        with [for_spreadsheets, provenance::argument], example "interlinear neighbours --model rnnsearch-en-fr house";
    "map": matches map::MapArgs, map::run, "Words or phrases in the plane, by PCA or t-SNE",
        with [for_spreadsheets, provenance::argument], example "interlinear map --model rnnsearch-en-fr phrases.txt";
    "figure": args figure::FigureArgs, figure::run, "Draw a translation's alignment or beam as SVG, PDF or PNG",
        writes "output" "folder";
    "lesson": args lesson::LessonArgs, lesson::run, "List lessons, or write them as handouts", writes "print";
    "train": args train::TrainArgs, train::run, "Train a model as a configuration file says", writes "new" "write",
        example "interlinear train --head rnnsearch-en-fr --source text.en --target text.fr";
    "bench": args bench::BenchArgs, bench::run, "Measure how fast this machine loads models and translates",
        writes "json", example "interlinear bench --model rnnsearch-en-fr";
    "completions": args shells::CompletionArgs, |args: &shells::CompletionArgs| shells::completions(args, program()),
        "Write what a shell needs to complete these commands";
    "man": args shells::ManArgs, |args: &shells::ManArgs| shells::man(args, program()),
        "Write the pages of the manual, for the program man", writes "folder";
}

/// The whole command line, built from [`COMMANDS`].
pub fn program() -> clap::Command {
    let program = clap::Command::new("interlinear")
        .version(env!("CARGO_PKG_VERSION"))
        .about("See how neural machine translation aligns words")
        .after_help("Without a command the window opens on the bundled models.")
        .subcommand_required(false)
        .disable_help_subcommand(true);
    COMMANDS.iter().fold(program, |program, entry| {
        // A derived argument list brings the words over its struct along; the table's go over them.
        let command = (entry.arguments)(clap::Command::new(entry.name)).about(entry.about).long_about(None);
        let command = command.args(entry.more.iter().map(|more| more()));
        program.subcommand(with_example(command, entry.example))
    })
}

fn for_spreadsheets() -> clap::Arg {
    let help = "In tables, put an apostrophe before texts that a spreadsheet takes for formulas: those that begin with =, +, - or @. \
                Interlinear removes it when it reads the table";
    clap::Arg::new(FOR_SPREADSHEETS).long("for-spreadsheets").action(clap::ArgAction::SetTrue).help(help)
}

const FOR_SPREADSHEETS: &str = "for_spreadsheets";

fn with_example(command: clap::Command, example: &str) -> clap::Command {
    if example.is_empty() {
        return command;
    }
    let before = command.get_after_long_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
    command.after_long_help(format!("{before}Example:\n  {example}"))
}

/// Runs the program on the arguments of the process (its own name first) and says how it ended.
pub fn run(arguments: impl IntoIterator<Item = OsString>, context: Context) -> ExitCode {
    code_of(arguments, context).into()
}

/// The same, with the exit code as a number.
pub fn code_of(arguments: impl IntoIterator<Item = OsString>, context: Context) -> u8 {
    std::panic::set_hook(Box::new(output::report_panic));
    let ended = std::panic::catch_unwind(AssertUnwindSafe(|| dispatch(arguments, context)));
    let Ok(ended) = ended else { return 1 };
    match ended {
        Ok(()) => 0,
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => {
            output::notify(&format!("{error:#}"));
            exit_code(&error)
        }
    }
}

fn dispatch(arguments: impl IntoIterator<Item = OsString>, context: Context) -> anyhow::Result<()> {
    // `help COMMAND` is what people try first; it is `COMMAND --help`.
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.get(1).is_some_and(|word| word == "help") {
        arguments.remove(1);
        arguments.truncate(2);
        arguments.push("--help".into());
    }
    // *Open with* of a desktop may name the file alone.
    if arguments.get(1).map(Path::new).is_some_and(|path| path.is_absolute() && path.exists()) {
        arguments.insert(1, "open".into());
    }
    let mut program = program();
    let matches = match program.try_get_matches_from_mut(arguments) {
        Ok(matches) => matches,
        Err(error) => return refused(&error),
    };
    let Some((name, matches)) = matches.subcommand() else {
        return explore::open(explore::ExploreArgs::default(), context);
    };
    let entry = COMMANDS.iter().find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| Error::Internal(format!("the command {name} has no line in its table")))?;
    if let Some(command) = program.find_subcommand(name) {
        args::apart::check(command, &[entry.writes, &[provenance::ARGUMENT]].concat(), matches)?;
    }
    if matches.try_get_one::<bool>(FOR_SPREADSHEETS).ok().flatten() == Some(&true) {
        guard_formulas();
    }
    if entry.more.iter().any(|argument| argument().get_id() == provenance::ARGUMENT) {
        provenance::begin_for(name, matches);
    }
    (entry.run)(matches, context)?;
    Ok(provenance::end(matches)?)
}

fn refused(error: &clap::Error) -> anyhow::Result<()> {
    let text = error.render().to_string();
    if !error.use_stderr() {
        let mut output = output::LineOutput::stdout();
        output.text(&text)?;
        return output.finish();
    }
    let first = text.split("\n\n").next().unwrap_or(&text);
    let sentence = first.strip_prefix("error: ").unwrap_or(first);
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let kinds = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    let meant = match kinds.iter().find_map(|kind| error.get(*kind)) {
        // the nearest comes last
        Some(ContextValue::Strings(similar)) => similar.last().map(String::as_str),
        Some(ContextValue::String(similar)) => Some(similar.as_str()),
        _ => None,
    };
    let meant = meant.map_or_else(|| ";".to_owned(), |similar| format!("; did you mean {similar}?"));
    Err(Error::Input(format!("{}{meant} `--help` lists what there is", words.join(" "))).into())
}

fn exit_code(error: &anyhow::Error) -> u8 {
    let known = error.chain().find_map(|cause| cause.downcast_ref::<Error>());
    if known.is_some_and(Error::is_users) { 2 } else { 1 }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kinds = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    kinds.into_iter().any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
