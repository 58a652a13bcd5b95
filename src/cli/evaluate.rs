//! `interlinear evaluate`: how well models, or several as one, know, translate and align a test set.
//!
//! The negative log-likelihood is that of the first reference, in nats; the perplexity is exp(NLL / words), of the
//! words between the spaces of the reference and one `</s>`, so that models with other vocabularies can be compared.
//! BLEU compares detokenised output with the raw references. Everything is also given by source length and for the
//! sentences without unknown words on either side, as Bahdanau et al. (2015) do.

mod arguments;
mod dump;
mod evaluated;
mod gold;
pub mod nbest;
mod report;

use std::time::Instant;

use crate::evaluate::arguments::ReportFormat;
use crate::evaluate::evaluated::{Evaluated, MeasuredModel};
use crate::{args::EnsembleArgs, input::lines, output, output::LineOutput, progress::ProgressLine};
use corpus::{
    measures::table::Measuring, overview::test_set::TestSet, run, run::SystemRunOptions, store::file::Workspace,
};
use engine::decoding::{SearchOptions, SystemSpec};
use engine::error::{Error, Result};
use engine::evaluation::{EvaluatedSystem, alignment::Aligner};
use engine::text::{reader::LineReader, write::FolderDraft};
use engine::{models::Stepper, ticket::CancellationToken};

pub use crate::evaluate::{arguments::EvaluateArgs, gold::opposite};

/// A requested comparison is made or refused, never silently left out.
fn check_tests(args: &EvaluateArgs) -> Result<()> {
    let flag = if args.paired_bs.is_some() { "--paired-bs" } else { "--paired-ar" };
    let why = match (args.tests(1), args.systems().len(), args.unk) {
        (None, ..) => return Ok(()),
        (_, 1, _) if args.ensemble.ensemble && args.model.len() > 1 => {
            "something that the ensemble is compared with; add --members"
        }
        (_, 0 | 1, _) => "two or more --model, each of which is compared with the first",
        (.., []) => "translations; choose another --unk than none",
        _ => return Ok(()),
    };
    Err(Error::Input(format!("{flag} needs {why}")))
}

/// Evaluates every model, or the ensemble, and writes one report.
pub fn run(args: &EvaluateArgs) -> anyhow::Result<()> {
    check_tests(args)?;
    let targets: Result<Vec<LineReader>> = args.target.iter().map(|path| lines(path)).collect();
    let mut test_set = TestSet::from_lines(lines(&args.source)?, targets?, args.pretokenized)?;
    let gold = args.gold.read(&mut test_set)?;
    if let Some(folder) = &args.output {
        drop(FolderDraft::new(folder)?);
    }
    let runtime = args.run.plan()?;
    let search = args.search.plan();
    let is_forbidden = search.forbid_unk && args.unk == [false];
    let unk = if is_forbidden { &[true] } else { args.unk };
    let replace_unk = args.replace.plan()?;
    let forced = SystemRunOptions { batch: args.batch.batch, forces: true, forces_blank: true, ..Default::default() };
    let translated = unk.iter().map(|&forbid_unk| SystemRunOptions {
        // Only the text of the best is used.
        search: SearchOptions { forbid_unk, most_numbers: 0, ..search.clone() },
        batch: args.batch.batch,
        replace_unk: replace_unk.clone(),
        clock: Some(Instant::now),
        ..Default::default()
    });
    let runs: Vec<SystemRunOptions> = std::iter::once(forced).chain(translated).collect();
    let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), &error))?;
    let mut workspace = test_set.corpus(&folder.path().join("test.ilws"))?;
    if let Some(tokenization) = args.tokenize {
        workspace.set_tokenizer(tokenization, &mut |_| Ok(()))?;
    }
    let systems = args.systems();
    let mut models: Vec<MeasuredModel> = Vec::with_capacity(systems.len());
    let mut languages = None;
    for (number, system) in systems.iter().enumerate() {
        let loaded = EnsembleArgs::load(system, &runtime)?;
        let system = EvaluatedSystem::from(&loaded);
        let config = &system.lead().config;
        languages.get_or_insert_with(|| (config.source_language.clone(), config.target_language.clone()));
        let with_head = || loaded.stepper_with_head(runtime.engine, runtime.threads);
        let replaces = replace_unk.is_some();
        let has_head = (gold.is_some() || replaces) && with_head()?.has_alignment_head();
        check((system, has_head), (&search, replaces), systems.len())?;
        let plain = || loaded.stepper(runtime.engine, runtime.threads);
        let mut stepper = if replaces { with_head()? } else { plain()? };
        let unknown = test_set.unknown(system)?;
        let mut new = measure(&mut workspace, (system, stepper.as_mut()), &runs)?;
        (new.device, new.threads, new.unknown) = (runtime.device.name.clone(), runtime.threads, unknown);
        new.replaced = replaces && (system.aligns() || has_head);
        // One model alone that has nothing to measure is an error; beside others it is told.
        if gold.is_some() && aligns((system, has_head), systems.len()) {
            let reverse = args.gold.reverse(number, systems.len(), &runtime)?;
            let mut stepper = with_head()?;
            let forward = Aligner { system, stepper: stepper.as_mut() };
            new.alignment =
                Some(args.gold.measure(&runtime, forward, reverse.as_ref(), &test_set, args.batch.batch)?);
        }
        models.push(new);
    }
    make_names_unique(&mut models);
    let mut evaluated = Evaluated::of((test_set, workspace), (search, args.batch.batch, unk), models, &args.buckets)?;
    let pairs: Vec<(usize, usize)> = (1..systems.len()).map(|second| (0, second)).collect();
    if let Some(tests) = args.tests(pairs.len()) {
        evaluated.compare(&pairs, tests);
    }
    if gold.is_some() {
        let languages = languages.as_ref().map(|(source, target)| (source.as_str(), target.as_str()));
        evaluated.baselines = args.gold.baselines(&evaluated.test_set, languages, runtime.threads)?;
    }
    evaluated.gold = gold;
    write(args, &evaluated)
}

fn write(args: &EvaluateArgs, evaluated: &Evaluated) -> anyhow::Result<()> {
    if let Some(folder) = &args.output {
        let draft = FolderDraft::new(folder)?;
        dump::write(draft.path(), evaluated)?;
        draft.keep()?;
    }
    let mut output = LineOutput::stdout();
    match args.format {
        ReportFormat::Table => output.text(&report::table(evaluated))?,
        ReportFormat::Tsv => output.text(&report::tsv(evaluated))?,
        ReportFormat::Json => output.json(&report::json(evaluated))?,
    }
    output.finish()
}

fn make_names_unique(models: &mut [MeasuredModel]) {
    for model in models.iter_mut() {
        model.name = model.name.replace(char::is_control, " ");
    }
    let names: Vec<String> = models.iter().map(|model| model.name.clone()).collect();
    for model in models {
        if names.iter().filter(|name| **name == model.name).count() > 1 {
            model.name = format!("{} ({})", model.name, model.folder.display());
        }
    }
}

fn check(
    (system, has_head): (EvaluatedSystem<'_>, bool), (search, replaces): (&SearchOptions, bool), systems: usize,
) -> Result<()> {
    let name = system.name();
    let needs = |flag: &str| {
        let message = format!("{flag} needs an alignment and {name} ({}) has none", system.architecture());
        Err(Error::Input(format!("{message}; choose a model that has one")))
    };
    if system.aligns() {
        return Ok(());
    }
    if search.ranking.coverage > 0.0 {
        return needs("--coverage");
    }
    if !replaces || has_head {
        return Ok(());
    }
    if systems == 1 {
        return needs("--replace-unk");
    }
    output::notify(&format!("{name} has no alignment, hence its unknown words stay"));
    Ok(())
}

fn aligns((system, has_head): (EvaluatedSystem<'_>, bool), systems: usize) -> bool {
    let aligns = system.aligns() || has_head;
    if !aligns && systems > 1 {
        output::notify(&format!("{} has no alignment, hence no AER", system.name()));
    }
    aligns || systems == 1
}

fn measure(
    workspace: &mut Workspace, (system, stepper): (EvaluatedSystem<'_>, &mut dyn Stepper), runs: &[SystemRunOptions],
) -> Result<MeasuredModel> {
    let (name, folder) = (system.name(), system.folder());
    let (architecture, mixing) = (system.architecture(), system.mixing());
    let mut model =
        MeasuredModel { architecture, mixing, folder: folder.clone(), name: name.clone(), ..Default::default() };
    let total = workspace.len()? * runs.len();
    let mut bar = ProgressLine::new(format!("evaluating {name}"), Some(total as u64), false);
    let mut position = 0;
    for options in runs {
        let about = run::about(system, &SystemSpec::from(&folder), &[], options);
        // A model may be measured beside itself.
        let unique = format!("{}. {}", workspace.systems()?.len() + 1, run::name(&name, options));
        let id = workspace.add_system(&unique, &about)?.id;
        let (forever, mut measuring) = (CancellationToken::forever(), Measuring::default());
        run::run(workspace, id, (system, &mut *stepper), options, &mut measuring, &forever, &mut |done| {
            position += done.outputs.len() as u64;
            // The rate that is shown is that of translating; what cannot be read was told before, but for blank lines.
            let words = if options.forces { 0 } else { done.words };
            bar.add(done.outputs.len(), words, position);
            if !options.forces {
                model.seconds += done.seconds;
                model.sentences += done.outputs.len() - done.refused.len();
                model.words += words;
            }
            Ok(())
        })?;
    }
    bar.finish();
    Ok(model)
}
