//! `interlinear lesson`: what lessons there are, whether they can be read, and lessons on paper.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::figure::scene::{Scenes, Showing};
use crate::{figure::overlays::Overlays, output::LineOutput};
use engine::decoding::{Ensemble, SearchOptions};
use engine::error::{Error, Result};
use engine::evaluation::{ask::AskedSystem, rows::RowReader};
use engine::nn::device::{Device, DeviceChoice};
use engine::{decoding::step_trace::Then, models::Kernels, ticket::CancellationToken};
use explorer::app::{files::work::write_whole, layout::Look, lights::HighlightPart, settings::LIGHT_PALETTE};
use explorer::jobs::Library;
use explorer::jobs::steps::{StepsRequest, at_once};
use explorer::pages::{steps::Mode, steps::STEPS, steps::command::Guessed, steps::picture::figure};
use explorer::session::lessons::handout::{OnPaper, grid_html, handout, solutions, solutions_path};
use explorer::session::lessons::spoken::{Spoken, spoken};
use explorer::session::{lessons::THE_SENTENCE, lessons::script, lessons::script::Script, lessons::shelf::BUNDLED};
use figure::{palette::ColourMap, sheet::kind, svg};
use host::bundled;
use host::runtime::physical_cores;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "A lesson is TOML; the manual's page for teachers says how one is written. Without an option, the lessons
are listed with their pages.
  interlinear lesson
  interlinear lesson my-lesson.toml
  interlinear lesson --print handouts"
)]
pub struct LessonArgs {
    /// Lessons as TOML; by default those that come with the program
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write each as HTML for the class, with pictures of what its pages show, and its solutions beside it into this folder
    #[arg(long, value_name = "DIR")]
    print: Option<PathBuf>,
}

pub fn run(args: &LessonArgs) -> anyhow::Result<()> {
    let mut output = LineOutput::stdout();
    let library = Library::new(physical_cores());
    let (mut all, mut wrong) = (0, 0);
    for (name, text) in texts(&args.files)? {
        all += 1;
        match (script::read(&text), &args.print) {
            (Err(fault), _) => {
                wrong += 1;
                output.line(&format!("{name}, {fault}"))?;
            }
            (Ok(script), Some(folder)) => print(&mut output, folder, &name, &script, &library)?,
            (Ok(script), None) => output.line(&format!("{name}\t{}\t{} pages", script.title, script.pages.len()))?,
        }
        output.flush()?;
    }
    output.finish()?;
    match wrong {
        0 => Ok(()),
        _ => Err(Error::Input(format!("{wrong} of {all} lessons are wrong; each line above says what")).into()),
    }
}

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

fn print(output: &mut LineOutput, folder: &Path, name: &str, script: &Script, library: &Library) -> anyhow::Result<()> {
    let stem = Path::new(name).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let path = folder.join(format!("{stem}.html"));
    let mut shown: Vec<(usize, OnPaper)> = Vec::new();
    for (at, page) in script.pages.iter().enumerate() {
        for is_done in [false, true].into_iter().filter(|is_done| !is_done || page.can_be_shown_done()) {
            let Some(spoken) = spoken(script, at, is_done) else { continue };
            // what only opens a box is shown open
            if !is_done && page.can_be_shown_done() && spoken.is_opened(script, at) {
                continue;
            }
            let found = match spoken.page {
                STEPS => machine(&spoken, library),
                _ => columns(&spoken, library),
            };
            match found {
                Ok(found) => shown.push((at, found)),
                Err(error) => output.line(&format!("{name}, page {} has no picture: {error}", at + 1))?,
            }
        }
    }
    shown.dedup();
    write_whole(&path, handout(script, &shown).as_bytes())?;
    write_whole(&solutions_path(&path), solutions(script, &shown).as_bytes())?;
    output.line(&path.display().to_string())?;
    Ok(())
}

fn machine(spoken: &Spoken, library: &Library) -> Result<OnPaper> {
    let given = match spoken.mode {
        Mode::Shown => best(spoken)?,
        Mode::Greedy | Mode::Class => Vec::new(),
    };
    let request = StepsRequest {
        model: folder_of(&spoken.model)?.into(),
        device: DeviceChoice::Cpu,
        source: spoken.sentence.clone(),
        given,
        then: if spoken.mode == Mode::Greedy { Then::Greedy } else { Then::Wait },
        wrong: spoken.wrong,
    };
    let apart = at_once(library, &request)?;
    let unknown = |step: &str| Error::Input(format!("no step says the word {step}"));
    let place = |step: &str| apart.place(step).filter(|i| *i < apart.steps.len()).ok_or_else(|| unknown(step));
    let i = spoken.step.as_deref().map_or(Ok(0), place)?;
    let said = vec![(THE_SENTENCE.to_owned(), spoken.sentence.clone())];
    let picture = match spoken.guess {
        Some(Guessed::Whole) => grid_html(&apart.source.tokens, &apart.target_words()),
        guess => svg::svg(&figure(&apart, i, guess, spoken.open.as_deref())),
    };
    Ok(OnPaper { said, pictures: vec![picture] })
}

fn best(spoken: &Spoken) -> Result<Vec<u32>> {
    let system = Ensemble::load(&folder_of(&spoken.model)?.into(), &Device::cpu())?;
    let mut stepper = system.stepper(Kernels::Fused, physical_cores())?;
    let source = system.lead().source.encode(&spoken.sentence);
    let search = SearchOptions { beam: spoken.beam, ..SearchOptions::default() };
    let ticket = CancellationToken::forever();
    let asked = AskedSystem { system: (&system).into(), search: &search, batch: 1, reading: None, ticket: &ticket };
    Ok(asked.translate(&mut *stepper, &[&source.ids], &[])?.pop().unwrap_or_default().tokens)
}

fn columns(spoken: &Spoken, library: &Library) -> Result<OnPaper> {
    let look = match spoken.look {
        Look::Heatmap => "heatmap",
        Look::Links => "links",
        Look::Tree => "tree",
    };
    let mut shown = OnPaper { said: vec![(THE_SENTENCE.to_owned(), spoken.sentence.clone())], ..OnPaper::default() };
    let drawn = spoken.drawn();
    for model in &spoken.models {
        let system = Ensemble::load(&folder_of(model)?.into(), &Device::cpu())?;
        let (text, at, picture) = drawing(&system, spoken, look, 0)?;
        let whose = match &spoken.given {
            Some(_) => format!("{}, given", system.name()),
            None if spoken.beam == 1 => format!("{}, greedy", system.name()),
            None => system.name(),
        };
        shown.said.push((whose, text));
        if !drawn.contains(&model.as_str()) {
            continue;
        }
        // a model that does not align has its vector to show
        if picture.is_none() && drawn.len() == 1 {
            let open = Some("summary".to_owned());
            shown.pictures.extend(machine(&Spoken { model: model.clone(), open, ..spoken.clone() }, library)?.pictures);
        }
        shown.pictures.extend(picture);
        if let Some(i) = at.filter(|_| spoken.lights(HighlightPart::Inspector)) {
            shown.pictures.extend(drawing(&system, spoken, "bars", i)?.2);
        }
        if spoken.lights(HighlightPart::Beam) {
            shown.pictures.extend(drawing(&system, spoken, "beam", 0)?.2);
        }
    }
    Ok(shown)
}

fn drawing(
    system: &Ensemble, spoken: &Spoken, name: &str, word: usize,
) -> Result<(String, Option<usize>, Option<String>)> {
    let kind = kind(name).ok_or_else(|| Error::Internal(format!("no figure {name}")))?;
    let stepper = system.stepper(Kernels::Fused, physical_cores())?;
    let options = SearchOptions { beam: spoken.beam, ..SearchOptions::default() };
    let showing = Showing { kind, word, pruned: false, pretokenized: false, pieces: false };
    let mut scenes =
        Scenes::new(system, (RowReader::own(system.into()), stepper), &options, showing, Overlays::default());
    let mut picture = scenes.scene(&spoken.sentence, spoken.given.as_deref(), None)?;
    picture.look.map = ColourMap::on(LIGHT_PALETTE);
    let at = picture.table.target.iter().position(|of| Some(&of.text) == spoken.word.as_ref());
    let drawn = picture.drawn(|figure| Ok(svg::svg(figure))).ok();
    Ok((picture.table.text.clone(), at, drawn))
}

fn folder_of(name: &str) -> Result<PathBuf> {
    bundled::named(name)
        .ok_or_else(|| Error::Input(format!("there is no installed model {name}. {}", bundled::how_to_get())))
}
