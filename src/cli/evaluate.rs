//! Floor 13: `interlinear evaluate`: how well models, or several as one, know, translate and align a test set.
//!
//! The negative log-likelihood is that of the first reference, in nats; the perplexity is
//! exp(NLL / words), of the words between the spaces of the reference and one `</s>`, so that
//! models with other vocabularies can be compared. BLEU compares
//! detokenised output with the raw references. Everything is also given by source length and for
//! the sentences without unknown words on either side, as Bahdanau et al. (2015) do.

mod arguments;
mod bar;
mod dump;
mod gold;
pub mod nbest;
mod report;

use std::time::Instant;

use clap::{ArgMatches, FromArgMatches as _};

use crate::cli::args::{EnsembleArgs, Runtime};
use crate::cli::evaluate::arguments::{EvaluateArgs, ReportFormat};
use crate::cli::evaluate::bar::with_bar;
use crate::cli::input::lines;
use crate::cli::output::LineOutput;
use crate::cli::{Context, output};
use crate::corpus::overview::evaluated::{Evaluated, MeasuredSystem};
use crate::corpus::overview::test_set::{EvaluationOptions, TestSet, Unk};
use crate::corpus::overview::{evaluate, figures};
use crate::error::{Error, Result};
use crate::evaluation::EvaluatedSystem;
use crate::evaluation::alignment::Aligner;
use crate::models::Stepper;
use crate::text::reader::LineReader;
use crate::text::write::FolderDraft;
use crate::ticket::CancellationToken;

pub use crate::cli::evaluate::arguments::arguments;
pub use crate::cli::evaluate::gold::opposite;

/// A requested comparison is made or refused, never silently left out.
fn check_tests(low: &EvaluateArgs) -> crate::error::Result<()> {
    let flag = if low.paired_bs.is_some() { "--paired-bs" } else { "--paired-ar" };
    let why = match (low.tests(1), low.systems().len(), low.unk) {
        (None, ..) => return Ok(()),
        (_, 1, _) if low.ensemble.asked() && low.model.len() > 1 => {
            "something that the ensemble is compared with; add --members"
        }
        (_, 0 | 1, _) => "two or more --model, each of which is compared with the first",
        (.., []) => "translations; choose another --unk than none",
        _ => return Ok(()),
    };
    Err(Error::Input(format!("{flag} needs {why}")))
}

/// Evaluates every model, or the ensemble, and writes one report.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    let low = EvaluateArgs::from_arg_matches(matches)?;
    check_tests(&low)?;
    let mut test_set = read(&low)?;
    let gold = low.gold.read(&mut test_set)?;
    if let Some(folder) = &low.output {
        drop(FolderDraft::new(folder)?);
    }
    let runtime = low.run.high()?;
    let mut options = options(&low)?;
    let systems = low.systems();
    let mut models: Vec<MeasuredSystem> = Vec::with_capacity(systems.len());
    let mut languages = None;
    for (number, system) in systems.iter().enumerate() {
        let loaded = EnsembleArgs::load(system, &runtime)?;
        let system = EvaluatedSystem::from(&loaded);
        let config = &system.lead().config;
        let (_, target) =
            languages.get_or_insert_with(|| (config.source_language.clone(), config.target_language.clone()));
        options.tokenization = low.tokenize.unwrap_or_else(|| test_set.usual_tokenization(target));
        let with_head = || loaded.stepper_with_head(runtime.engine, runtime.threads);
        let is_asked = gold.is_some() || options.replace_unk.is_some();
        let has_head = is_asked && with_head()?.has_alignment_head();
        check((system, has_head), &options, systems.len())?;
        let plain = || loaded.stepper(runtime.engine, runtime.threads);
        let mut stepper = if options.replace_unk.is_some() { with_head()? } else { plain()? };
        let mut new = measure(&runtime, (system, stepper.as_mut()), &test_set, &options)?;
        // One model alone that has nothing to measure is an error; beside others it is told.
        if gold.is_some() && aligns((system, has_head), systems.len()) {
            let reverse = low.gold.reverse(number, systems.len(), &runtime)?;
            let mut stepper = with_head()?;
            let forward = Aligner { system, stepper: stepper.as_mut() };
            let found = low.gold.measure(&runtime, forward, reverse.as_ref(), &test_set, options.batch)?;
            new.alignment = Some(Ok(found));
        }
        models.push(new);
    }
    tell_apart(&mut models);
    let mut evaluated = Evaluated::of(test_set, &options, models);
    let pairs: Vec<(usize, usize)> = (1..systems.len()).map(|second| (0, second)).collect();
    if let Some(tests) = low.tests(pairs.len()) {
        evaluated.compare(&pairs, tests, &mut |_| Ok(()))?;
    }
    if gold.is_some() {
        let languages = languages.as_ref().map(|(source, target)| (source.as_str(), target.as_str()));
        evaluated.baselines = low.gold.baselines(&evaluated.test_set, languages, runtime.threads)?;
    }
    evaluated.gold = gold;
    if let Some(folder) = &low.output {
        let draft = FolderDraft::new(folder)?;
        dump::write(draft.path(), &evaluated)?;
        draft.keep()?;
    }
    let mut output = LineOutput::stdout();
    match low.format {
        ReportFormat::Table => output.text(&report::table(&evaluated))?,
        ReportFormat::Tsv => output.text(&figures::tsv(&evaluated))?,
        ReportFormat::Json => output.json(&figures::json(&evaluated))?,
    }
    output.finish()
}

/// Models of the same name are distinguished by their folders. Control characters in a name become spaces.
fn tell_apart(models: &mut [MeasuredSystem]) {
    for measured in models.iter_mut() {
        measured.name = measured.name.replace(char::is_control, " ");
    }
    let names: Vec<String> = models.iter().map(|measured| measured.name.clone()).collect();
    for measured in models {
        if names.iter().filter(|name| **name == measured.name).count() > 1 {
            measured.name = format!("{} ({})", measured.name, measured.folder.display());
        }
    }
}

fn options(low: &EvaluateArgs) -> Result<EvaluationOptions> {
    let search = low.search.high();
    let is_forbidden = search.forbid_unk && low.unk == [Unk::Allowed];
    let unk = if is_forbidden { vec![Unk::Forbidden] } else { low.unk.to_vec() };
    Ok(EvaluationOptions {
        search,
        batch: low.batch.high(),
        buckets: low.buckets.clone(),
        unk,
        replace_unk: low.replace.high()?,
        clock: Some(Instant::now),
        ..EvaluationOptions::default()
    })
}

/// Refuses what needs an alignment where a model has none; that unknown words stay is told where other models replace
/// theirs.
fn check((system, has_head): (EvaluatedSystem<'_>, bool), options: &EvaluationOptions, systems: usize) -> Result<()> {
    let name = system.name();
    let needs = |flag: &str| {
        let message = format!("{flag} needs an alignment and {name} ({}) has none", system.architecture());
        Err(Error::Input(format!("{message}; choose a model that has one")))
    };
    match options.replace_unk {
        _ if system.aligns() => Ok(()),
        _ if options.search.ranking.coverage > 0.0 => needs("--coverage"),
        Some(_) if has_head => Ok(()),
        Some(_) if systems == 1 => needs("--replace-unk"),
        Some(_) => {
            output::tell(&format!("{name} has no alignment, hence its unknown words stay"));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Whether a system has an alignment or an alignment head; among several one may have none.
fn aligns((system, has_head): (EvaluatedSystem<'_>, bool), systems: usize) -> bool {
    let aligns = system.aligns() || has_head;
    if !aligns && systems > 1 {
        output::tell(&format!("{} has no alignment, hence no AER", system.name()));
    }
    aligns || systems == 1
}

fn measure(
    runtime: &Runtime,
    (system, stepper): (EvaluatedSystem<'_>, &mut dyn Stepper),
    test_set: &TestSet,
    options: &EvaluationOptions,
) -> Result<MeasuredSystem> {
    let total = test_set.len() * (1 + options.unk.len());
    let measured = with_bar(format!("evaluating {}", system.name()), total, |hear| {
        evaluate::run(system, stepper, test_set, options, &CancellationToken::forever(), hear)
    })?;
    Ok(MeasuredSystem { device: runtime.device.name.clone(), threads: runtime.threads, ..measured })
}

fn read(low: &EvaluateArgs) -> Result<TestSet> {
    let targets: Result<Vec<LineReader>> = low.target.iter().map(|path| lines(path)).collect();
    TestSet::from_lines(lines(&low.source)?, targets?, low.pretokenized)
}
