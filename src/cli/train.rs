//! `interlinear train`: a run with its progress.

pub mod head;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use crate::{args, args::RunArgs, output, train::head::HeadArgs};
use engine::attention::{KINDS, scores};
use engine::models::{Kernels, TRAINED};
use engine::models::{choice::ModelSpec, config::Architecture};
use engine::{error::Error, ticket::CancellationToken};
use training::recipe::{PAPERS, RECIPES, SIZES, TrainingPlan};
use training::trainer::{DevelopmentScore, LogLine, TrainingReport};
use training::{RunOptions, recipe, train};

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = choices())]
pub struct TrainArgs {
    /// The configuration, a TOML file
    #[arg(value_name = "CONFIG.toml", required_unless_present_any = ["new", "model"])]
    config: Option<PathBuf>,
    /// Go on from the last checkpoint as if the run had never stopped
    #[arg(long)]
    resume: bool,
    /// Start from a model folder's weights and vocabularies; RNNsearch may have more units than that model
    #[arg(long, value_name = "DIR", conflicts_with = "resume", value_parser = args::folder())]
    from: Option<ModelSpec>,
    /// With --from, make the vocabularies that the configuration asks for; words that both have keep their weights
    #[arg(long, requires = "from")]
    new_vocabulary: bool,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    head: HeadArgs,
}

/// What a new configuration is to say.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "A new configuration")]
pub struct PlanArgs {
    /// Write a new configuration here instead of training; --help lists what the names below may be
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["config", "resume", "from"])]
    new: Option<PathBuf>,
    /// Whose model [default: rnnsearch]
    #[arg(long, requires = "new", value_name = "NAME")]
    architecture: Option<String>,
    /// Where the decoder looks (luong)
    #[arg(long, requires = "new", value_name = "NAME")]
    attention: Option<String>,
    /// How a state and a source word are compared (luong)
    #[arg(long, requires = "new", value_name = "NAME")]
    score: Option<String>,
    /// How the weights move
    #[arg(long, requires = "new", value_name = "NAME")]
    recipe: Option<String>,
    /// Sizes
    #[arg(long, requires = "new", value_name = "NAME")]
    sizes: Option<String>,
    /// Languages, source and target
    #[arg(long, requires = "new", value_name = "EN-FR")]
    languages: Option<String>,
    /// Training text, source and target
    #[arg(long, requires = "new", num_args = 2, value_names = ["SOURCE", "TARGET"])]
    text: Option<Vec<PathBuf>>,
    /// Development text, source and target
    #[arg(long, requires = "new", num_args = 2, value_names = ["SOURCE", "TARGET"])]
    development: Option<Vec<PathBuf>>,
    /// A model folder whose vocabularies are taken, so that both can form an ensemble
    #[arg(long, requires = "new", value_name = "DIR", value_parser = args::folder())]
    vocabulary: Option<ModelSpec>,
    /// Name of the model
    #[arg(long, requires = "new")]
    name: Option<String>,
    /// Folder of the finished model
    #[arg(long, requires = "new", value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write over a configuration that exists already
    #[arg(long, requires = "new")]
    force: bool,
}

impl PlanArgs {
    fn plan(&self) -> anyhow::Result<TrainingPlan> {
        let first = TrainingPlan::default();
        let advice = "write both with a hyphen between them, such as en-fr";
        let wrong = |pair: &str| Error::Input(format!("--languages is `{pair}`; {advice}"));
        let typed = self.languages.as_deref().map(|pair| pair.split_once('-').ok_or_else(|| wrong(pair)));
        let typed = typed.transpose()?.map(|(source, target)| (source.to_owned(), target.to_owned()));
        let (source_language, target_language) = typed.unwrap_or((first.source_language, first.target_language));
        let both = |paths: &Option<Vec<PathBuf>>, otherwise| match paths.as_deref() {
            Some([source, target]) => (source.clone(), target.clone()),
            _ => otherwise,
        };
        let said = |said: &Option<String>, otherwise| said.clone().unwrap_or(otherwise);
        Ok(TrainingPlan {
            name: said(&self.name, first.name),
            output: self.output.clone().unwrap_or(first.output),
            architecture: self.architecture.clone().unwrap_or_else(usual),
            attention: self.attention.clone(),
            score: self.score.clone(),
            recipe: said(&self.recipe, first.recipe),
            sizes: said(&self.sizes, first.sizes),
            source_language,
            target_language,
            train: both(&self.text, first.train),
            development: both(&self.development, first.development),
            vocabulary: self.vocabulary.clone().map(|model| model.folder),
        })
    }
}

/// The architecture if none is given, one that aligns; it is reported.
fn usual() -> String {
    let name = Architecture::RNN_SEARCH.name();
    output::notify(&format!("no --architecture, so {name}"));
    name.to_owned()
}

fn choices() -> String {
    let mut text = "What [model] and the options of --new may name\n".to_owned();
    let mut list = |key: &str, lines: &mut dyn Iterator<Item = (&str, &str)>| {
        text.push_str(&format!("\n  {key}\n"));
        lines.for_each(|(name, what)| text.push_str(&format!("    {name:<10} {what}\n")));
    };
    list("architecture", &mut TRAINED.iter().map(|entry| (entry.name, entry.citation)));
    list("attention (luong)", &mut KINDS.iter().map(|entry| (entry.name, entry.explanation)));
    list("score (luong)", &mut scores(Architecture::LUONG.name()).map(|entry| (entry.name, entry.equation)));
    list("recipe", &mut RECIPES.iter().map(|entry| (entry.name, entry.about)));
    let papers = PAPERS.iter().map(|paper| (paper.architecture.name(), format!("{} {}.", paper.about, paper.citation)));
    let papers: Vec<_> = papers.collect();
    list("the recipe paper", &mut papers.iter().map(|(name, what)| (*name, what.as_str())));
    list("sizes", &mut SIZES.iter().map(|entry| (entry.name, entry.about)));
    text
}

fn compose(path: &Path, arguments: &PlanArgs) -> anyhow::Result<()> {
    let plan = arguments.plan()?;
    let lines = plan.explanation()?;
    let here = std::env::current_dir().unwrap_or_default();
    recipe::save(&plan.seen_from(&here, path.parent().unwrap_or(Path::new(""))), path, arguments.force)?;
    lines.iter().for_each(|line| output::notify(line));
    output::notify(&format!("{} is written; look at its paths and sizes, then run", path.display()));
    let mut result = output::LineOutput::stdout();
    result.line(&recipe::command(path))?;
    result.finish()
}

/// Trains; the log and the checkpoints lie beside the model.
pub fn run(args: &TrainArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.plan.new {
        return compose(path, &args.plan);
    }
    if let Some(folder) = &args.head.model {
        return head::run(folder, (&args.head, args.resume), &args.run, memory());
    }
    let config = args.config.as_ref().ok_or_else(|| Error::Internal("a configuration was not asked for".to_owned()))?;
    let runtime = args.run.plan()?;
    let plain = (runtime.engine == Kernels::Plain).then(|| runtime.device.candle.clone());
    let (&TrainArgs { resume, new_vocabulary, .. }, threads) = (args, runtime.threads);
    let from = args.from.clone().map(|model| model.folder);
    let options = RunOptions { resume, from, new_vocabulary, memory: memory(), threads, plain };
    let started = Instant::now();
    let clock = || started.elapsed().as_secs_f64();
    let mut view = View { bar: ProgressBar::hidden(), updates: 0, start: None };
    train(config, &options, &clock, &CancellationToken::forever(), &mut |report| view.report(report))?;
    Ok(())
}

fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| 1024 * kib)
}

struct View {
    /// Hidden where there is no terminal.
    bar: ProgressBar,
    updates: u64,
    start: Option<(u64, Instant)>,
}

impl View {
    fn report(&mut self, report: &TrainingReport) {
        match report {
            TrainingReport::Started { position, updates, pairs, parameters } => {
                let millions = *parameters as f64 / 1e6;
                self.notify(&format!(
                    "training {millions:.1} M parameters on {pairs} pairs, update {} of {updates}",
                    position.update
                ));
                self.updates = *updates;
                self.start = Some((position.update, Instant::now()));
                self.bar = ProgressBar::new(*updates).with_position(position.update);
                if let Ok(style) = ProgressStyle::with_template("training {wide_bar} {percent} % {msg}") {
                    self.bar.set_style(style);
                }
            }
            TrainingReport::Note(sentence) => self.notify(sentence),
            TrainingReport::Line(line) => self.line(line),
            TrainingReport::Measure(measure) => self.notify(&measured(measure)),
            TrainingReport::Ended { position, complete } => {
                self.bar.finish_and_clear();
                let how = if *complete { "done" } else { "stopped" };
                let (update, seconds) = (position.update, position.seconds);
                let hours = || format!("{:.2} hours", seconds / 3600.0);
                let long = if seconds < 360.0 { format!("{seconds:.0} seconds") } else { hours() };
                self.notify(&format!("{how} after {update} updates and {long} of training"));
            }
        }
    }

    fn line(&self, line: &LogLine) {
        let left = self.start.map_or(0.0, |(start, began)| {
            remaining(began.elapsed().as_secs_f64(), line.update.saturating_sub(start), self.updates, line.update)
        });
        let guide = line.guide.map(|guide| format!(", guide {guide:.3}")).unwrap_or_default();
        let (speed, left) = (line.words_per_second, duration(left));
        let message = format!("loss {:.3}{guide}, {speed:.0} words/s, {left} left", line.loss);
        if self.bar.is_hidden() {
            output::notify(&format!("update {} of {}: {message}", line.update, self.updates));
        } else {
            self.bar.set_position(line.update);
            self.bar.set_message(message);
        }
    }

    fn notify(&self, sentence: &str) {
        self.bar.suspend(|| output::notify(sentence));
    }
}

/// Seconds that the rest will take if it goes on as the `done` updates of `elapsed` seconds went,
/// measuring and saving included.
fn remaining(elapsed: f64, done: u64, updates: u64, update: u64) -> f64 {
    elapsed / done.max(1) as f64 * updates.saturating_sub(update) as f64
}

fn measured(measure: &DevelopmentScore) -> String {
    let bleu = measure.development_bleu.map(|bleu| format!(", BLEU {bleu:.2}")).unwrap_or_default();
    let average = measure.average_nll.map(|nll| format!(", averaged {nll:.4}")).unwrap_or_default();
    let kept = if measure.best { ", kept as the best" } else { "" };
    let (update, nll, perplexity) = (measure.update, measure.development_nll, measure.development_perplexity);
    format!("update {update}: development NLL {nll:.4} a word{average}, perplexity {perplexity:.2}{bleu}{kept}")
}

fn duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    if minutes < 60 { format!("{minutes} min") } else { format!("{} h {} min", minutes / 60, minutes % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_takes_as_long_as_this_process_took() {
        assert_eq!(remaining(60.0, 30, 120, 110), 20.0, "resumed at update 80");
        assert_eq!((remaining(5.0, 0, 10, 0), remaining(5.0, 3, 10, 12)), (50.0, 0.0));
        assert_eq!((duration(89.0), duration(7300.0)), ("1 min".to_owned(), "2 h 2 min".to_owned()));
    }
}
