//! Floor 13: `interlinear lesson`: what lessons there are, whether they can be read and are true, and lessons on paper.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::app::files::work::write_whole;
use crate::cli::args::physical_cores;
use crate::cli::bundled;
use crate::cli::figure::scene::{Scenes, Showing};
use crate::cli::output::LineOutput;
use crate::decoding::apart::Then;
use crate::decoding::ensemble::Mixing;
use crate::decoding::{Ensemble, SearchOptions};
use crate::error::{Error, Result};
use crate::evaluation::facts::Bench;
use crate::figure::sheet::kind;
use crate::figure::svg;
use crate::jobs::Library;
use crate::jobs::steps::{StepsRequest, at_once};
use crate::models::Kernels;
use crate::nn::device::{Device, DeviceChoice};
use crate::pages::steps::Mode;
use crate::pages::steps::STEPS;
use crate::pages::steps::picture::figure;
use crate::session::lessons::check::check;
use crate::session::lessons::handout::{handout, solutions, solutions_path};
use crate::session::lessons::script;
use crate::session::lessons::script::Script;
use crate::session::lessons::shelf::BUNDLED;
use crate::session::lessons::spoken::{Spoken, spoken};
use crate::session::lessons::things::Look;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "A lesson is TOML; the manual's page for teachers says how one is written. Without an option, the lessons
are listed with their pages.
  interlinear lesson
  interlinear lesson --check my-lesson.toml
  interlinear lesson --print handouts"
)]
pub struct LessonArgs {
    /// Lessons as TOML; by default those that come with the program
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read them, and try on the models what their blocks `check` say; exit code 2 where something is wrong
    #[arg(long)]
    check: bool,
    /// Write each as HTML for the class, with pictures of what its pages show, and its solutions beside it into this folder
    #[arg(long, value_name = "DIR")]
    print: Option<PathBuf>,
}

/// Lists, checks or prints.
///
/// # Errors
/// A lesson that cannot be read or is not true; what cannot be written.
pub fn run(low: &LessonArgs) -> anyhow::Result<()> {
    let mut output = LineOutput::stdout();
    let mut bench = Bench::new(Box::new(folder_of), physical_cores());
    let library = Library::new(physical_cores());
    let (mut read, mut wrong) = (0, 0);
    for (name, text) in texts(&low.files)? {
        let faults = match script::read(Path::new(&name), &text) {
            Err(fault) => vec![fault],
            Ok(script) => {
                read += 1;
                match &low.print {
                    Some(folder) => print(&mut output, folder, &name, &script, (&mut bench, &library))?,
                    None if low.check => {}
                    None => output.line(&format!("{name}\t{}\t{} pages", script.title, script.pages.len()))?,
                }
                if low.check { check(&script, &text, &mut bench)? } else { Vec::new() }
            }
        };
        for fault in &faults {
            output.line(&format!("{name}, {fault}"))?;
        }
        if low.check && faults.is_empty() {
            output.line(&format!("{name}: all of it is so"))?;
        }
        wrong += usize::from(!faults.is_empty());
        output.flush()?;
    }
    output.finish()?;
    match wrong {
        0 => Ok(()),
        _ => {
            Err(Error::Input(format!("{wrong} of {} lessons are wrong; each line above says what", wrong.max(read)))
                .into())
        }
    }
}

/// Names and texts of the lessons.
fn texts(files: &[PathBuf]) -> Result<Vec<(String, String)>> {
    if files.is_empty() {
        return Ok(BUNDLED.iter().map(|(key, text)| (format!("{key}.toml"), (*text).to_owned())).collect());
    }
    let text = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, &error))?;
        Ok((path.display().to_string(), text))
    };
    files.iter().map(text).collect()
}

/// Writes a lesson and its solutions. A page whose model is not there has no picture, which is said.
fn print(
    output: &mut LineOutput,
    folder: &Path,
    name: &str,
    script: &Script,
    (bench, library): (&mut Bench, &Library),
) -> anyhow::Result<()> {
    let stem = Path::new(name).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let path = folder.join(format!("{stem}.html"));
    let mut figures = BTreeMap::new();
    for at in 0..script.pages.len() {
        let Some(spoken) = spoken(script, at) else { continue };
        let picture = match spoken.page {
            STEPS => machine(&spoken, bench, library).map(Some),
            _ => column(&spoken),
        };
        match picture {
            Ok(svg) => figures.extend(svg.map(|svg| (at, svg))),
            Err(error) => output.line(&format!("{name}, page {} has no picture: {error}", at + 1))?,
        }
    }
    write_whole(&path, handout(script, &figures).as_bytes())?;
    write_whole(&solutions_path(&path), solutions(script).as_bytes())?;
    output.line(&path.display().to_string())?;
    Ok(())
}

/// The machine that a page speaks of, as SVG.
fn machine(spoken: &Spoken, bench: &mut Bench, library: &Library) -> Result<String> {
    let given = match spoken.mode {
        Mode::Shown => bench.best(&spoken.model, &spoken.sentence, spoken.beam)?,
        Mode::Greedy | Mode::Class => Vec::new(),
    };
    let request = StepsRequest {
        folder: folder_of(&spoken.model)?,
        device: DeviceChoice::Cpu,
        source: spoken.sentence.clone(),
        given,
        then: if spoken.mode == Mode::Greedy { Then::Greedy } else { Then::Wait },
        wrong: spoken.wrong,
    };
    let apart = at_once(library, &request)?;
    let i = match &spoken.step {
        None => 0,
        Some(step) => apart
            .place(step)
            .filter(|i| *i < apart.steps.len())
            .ok_or_else(|| Error::Input(format!("no step says the word {step}")))?,
    };
    Ok(svg::svg(&figure(&apart, i, spoken.guess, spoken.open.as_deref())))
}

/// The picture of the column that a page speaks of, as SVG: that of the first model that has one.
fn column(spoken: &Spoken) -> Result<Option<String>> {
    let name = match spoken.look {
        Look::Heatmap => "heatmap",
        Look::Links => "links",
        Look::Tree => "tree",
    };
    let kind = kind(name).ok_or_else(|| Error::Internal(format!("no figure {name}")))?;
    for model in std::iter::once(&spoken.model).chain(&spoken.models) {
        let system = Ensemble::load(&[folder_of(model)?], &Device::cpu(), Mixing::default())?;
        let stepper = system.stepper(Kernels::Fused, physical_cores())?;
        let options = SearchOptions { beam: spoken.beam, ..SearchOptions::default() };
        let showing = Showing { kind, word: 0, pruned: false, pretokenized: false, pieces: false };
        let mut scenes = Scenes::new(&system, stepper, &options, None, showing)?;
        let picture = scenes.scene(&spoken.sentence, spoken.given.as_deref())?;
        if let Ok(svg) = picture.drawn(|figure| Ok(svg::svg(figure))) {
            return Ok(Some(svg));
        }
    }
    Ok(None)
}

/// The folder of a model by its name.
fn folder_of(name: &str) -> Result<PathBuf> {
    bundled::named(name)
        .ok_or_else(|| Error::Input(format!("there is no installed model {name}. {}", bundled::how_to_get())))
}
