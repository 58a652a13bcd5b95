//! Floor 9: `interlinear figure`: translations as pictures for papers and slides, one sentence or a file of them.

pub mod scene;
pub mod shown;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, Args, FromArgMatches as _, ValueEnum};

use crate::analysis::reading::Reading;
use crate::cli::align::reading;
use crate::cli::args::{ModelArgs, RunArgs, SearchArgs};
use crate::cli::figure::scene::{Scene, Scenes, Showing, Target};
use crate::cli::input::{Line, Lines};
use crate::cli::output::Output;
use crate::cli::{Context, output};
use crate::error::{Error, Result};
use crate::figure::fonts::Fonts;
use crate::figure::formats::{FORMATS, Format, format, format_of};
use crate::figure::links::Weight;
use crate::figure::page::{DPIS, Page, WIDTHS_MM};
use crate::figure::palette::{COLOUR_MAPS, ColourMap};
use crate::figure::sheet::{KINDS, Kind, Look, Needs, kind};
use crate::text::{line, parallel, write};

/// As typed.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Kinds:
  heatmap  alpha as cells, source words along the top, target words down the side
  links    alpha as curves between the source above and the target below
  beam     the hypotheses with their log p, doubtful words coloured
  tree     the whole search as a tree, the best translation on its first line; with --pruned also what fell out
  bars     one target word, --word N: what else could have been said, and alpha over the source words

Formats:
  svg  shapes and text for editors and web pages; the viewer brings the font
  pdf  shapes and text for papers, with its fonts
  png  pixels for slides, at a resolution

The sentence is an argument, or the only line of --file or of standard input; with --folder there may be any number
of lines, and the figures are written there as 0001.svg, 0002.svg and so on, by the number of the line. Model, digest,
beam, reading, sentence and translation are written into the file, where programs for pictures show them.

  interlinear figure --model rnnsearch-en-fr \"The red house .\" --output house.pdf --width-mm 80
  interlinear figure --model rnnsearch-en-fr --kind links --file story.en --folder pictures --format png")]
pub struct Low {
    #[command(flatten)]
    models: ModelArgs,
    /// The sentence
    #[arg(value_name = "SENTENCE", conflicts_with = "file")]
    sentence: Option<String>,
    /// A text file, one sentence a line, packed (gzip, zstandard) or not; by default stdin
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show this translation in place of the model's own
    #[arg(long, value_name = "TEXT", requires = "sentence")]
    target: Option<String>,
    /// Show these translations, line by line, in place of the model's own
    #[arg(long, value_name = "FILE", requires = "file")]
    target_file: Option<PathBuf>,
    /// The words are already split by spaces
    #[arg(long)]
    pretokenized: bool,
    /// Show the pieces of words where a vocabulary has them, in place of whole words
    #[arg(long)]
    pieces: bool,
    /// What to draw
    #[arg(long, value_name = "KIND", default_value = "heatmap", value_parser = names(KINDS.iter().map(|kind| kind.name)))]
    kind: String,
    /// The number of the target word that --kind bars draws, from 1
    #[arg(long, value_name = "N", required_if_eq("kind", "bars"), value_parser = clap::value_parser!(u32).range(1..))]
    word: Option<u32>,
    /// Draw the branches that fell out of the beam as well, with --kind tree
    #[arg(long)]
    pruned: bool,
    /// What to write; by default what the name of --output ends with, else svg
    #[arg(long, value_name = "FORMAT", value_parser = names(FORMATS.iter().map(|format| format.name)))]
    format: Option<String>,
    /// The file to write; by default standard output
    #[arg(long, short, value_name = "FILE", conflicts_with = "folder")]
    output: Option<PathBuf>,
    /// Write a numbered file for each sentence into this folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Width of the figure, by default as wide as its text in its usual size needs
    #[arg(long, value_name = "MM", value_parser = |text: &str| within(text, WIDTHS_MM))]
    width_mm: Option<f32>,
    /// Resolution of PNG, pixels in an inch
    #[arg(long, value_name = "N", default_value_t = 300.0, value_parser = |text: &str| within(text, DPIS))]
    dpi: f32,
    /// Colours of alpha in a heatmap
    #[arg(long, value_name = "NAME", default_value = "gray", value_parser = names(COLOUR_MAPS.iter().map(|map| map.key)))]
    palette: String,
    /// The ground that the figure is for
    #[arg(long, value_enum, default_value_t)]
    theme: ThemeArg,
    /// Say below what colours and widths mean
    #[arg(long)]
    legend: bool,
    /// Say below which model it is and how it searched, or with --caption=TEXT something else
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    caption: Option<String>,
    /// Links with less alpha are left out
    #[arg(long, value_name = "T", default_value_t = 0.1, value_parser = crate::cli::args::not_negative)]
    threshold: f32,
    /// How links show alpha
    #[arg(long, value_enum, default_value_t)]
    links: WeightArg,
    /// Which word a row of alpha belongs to: predicted, the word that was predicted with it, or input, the word that the
    /// decoder had just read (RNNsearch, and models of Luong et al. that compare contents)
    #[arg(long, value_name = "NAME", default_value = "predicted", value_parser = reading)]
    reading: Reading,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// A ground, as typed.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeArg {
    /// White, as paper
    #[default]
    Light,
    /// Dark, as slides
    Dark,
}

/// How links show alpha, as typed.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WeightArg {
    /// By their width
    #[default]
    Width,
    /// By their opacity
    Opacity,
}

/// As meant.
struct High {
    kind: &'static Kind,
    format: &'static Format,
    look: Look,
    /// The caption is that of the program.
    says_what: bool,
    page: Page,
    place: Place,
}

/// Where figures are written.
enum Place {
    Stdout,
    File(PathBuf),
    Folder(PathBuf),
}

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    Low::augment_args(command)
}

/// Draws.
///
/// # Errors
/// When the model, the input or the output fails; when lines were refused, at the end.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    let low = Low::from_arg_matches(matches)?;
    let high = high(&low)?;
    let mut texts = Texts::open(&low)?;
    let runtime = low.run.high()?;
    let system = low.models.load(&runtime)?;
    if high.kind.needs == Needs::Alignment {
        crate::cli::words::require_alignment(&system, &format!("--kind {}", high.kind.name))?;
    }
    let stepper = system.stepper(runtime.engine, runtime.threads)?;
    let options = low.search.high();
    let shown = Showing {
        needs: high.kind.needs,
        word: low.word.map_or(0, |word| word as usize - 1),
        pruned: low.pruned,
        pretokenized: low.pretokenized,
        pieces: low.pieces,
    };
    let mut scenes = Scenes::new(&system, stepper, options, low.reading, shown)?;
    let fonts = Fonts::default();
    if let Place::Folder(folder) = &high.place {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    }
    let mut refused = 0;
    while let Some(text) = texts.next()? {
        if !matches!(high.place, Place::Folder(_)) && texts.next()?.is_some() {
            let name = texts.name.display();
            let sentence = format!("{name} has more than one line; give --folder for a figure of each");
            return Err(Error::Input(sentence).into());
        }
        let drawn = text.read().and_then(|(source, target)| scenes.scene(source, target));
        match drawn {
            Ok(scene) => write(&high, &scene, text.number, &fonts)?,
            Err(error) if error.is_users() && matches!(high.place, Place::Folder(_)) => {
                let error = Error::line(&texts.name, text.number, error.to_string());
                output::tell(&error.to_string());
                refused += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    texts.tell_empty();
    match refused {
        0 => Ok(()),
        count => Err(Error::Input(format!("{count} of the lines have no figure; see above")).into()),
    }
}

/// A search is drawn where there is one, and its switches go with their kind.
fn check(low: &Low) -> Result<()> {
    let is_given = low.target.is_some() || low.target_file.is_some();
    let why = match low.kind.as_str() {
        "tree" if is_given => "--kind tree draws a search, and a given translation has none; leave --target out",
        kind if low.pruned && kind != "tree" => "--pruned goes with --kind tree",
        kind if low.word.is_some() && kind != "bars" => "--word goes with --kind bars",
        _ => return Ok(()),
    };
    Err(Error::Input(why.to_owned()))
}

fn high(low: &Low) -> Result<High> {
    check(low)?;
    let place = match (&low.output, &low.folder) {
        (Some(file), _) => Place::File(file.clone()),
        (None, Some(folder)) => Place::Folder(folder.clone()),
        (None, None) => Place::Stdout,
    };
    let named = low.format.as_deref().and_then(format);
    let format = match (&place, named) {
        (_, Some(format)) => format,
        (Place::File(file), None) => format_of(file)?,
        (Place::Stdout | Place::Folder(_), None) => &FORMATS[0],
    };
    if matches!(place, Place::Stdout) && format.name != FORMATS[0].name && std::io::stdout().is_terminal() {
        return Err(Error::Input(format!("a terminal shows no {}; name a file with --output", format.name)));
    }
    let missing = |what: &str| Error::Internal(format!("a {what} without a line in its table"));
    let look = Look {
        is_dark: low.theme == ThemeArg::Dark,
        map: ColourMap::named(&low.palette).ok_or_else(|| missing("palette"))?,
        has_legend: low.legend,
        caption: low.caption.clone().filter(|caption| !caption.is_empty()),
        threshold: low.threshold,
        weight: match low.links {
            WeightArg::Width => Weight::Width,
            WeightArg::Opacity => Weight::Opacity,
        },
    };
    Ok(High {
        kind: kind(&low.kind).ok_or_else(|| missing("kind"))?,
        format,
        look,
        says_what: low.caption.as_deref() == Some(""),
        page: Page { width_mm: low.width_mm, dpi: low.dpi },
        place,
    })
}

fn write(high: &High, scene: &Scene, number: usize, fonts: &Fonts) -> anyhow::Result<()> {
    let sheet = scene.sheet(high.kind);
    let caption = if high.says_what { Some(scene.caption.clone()) } else { high.look.caption.clone() };
    let look = Look { caption, ..high.look.clone() };
    let nothing = || Error::Input(high.kind.needs.lacking().to_owned());
    let figure = high.kind.draw(&sheet, &look).ok_or_else(nothing)?;
    let bytes = (high.format.write)(&figure, &high.page, fonts)?;
    let to_file = |path: &Path| write::write_atomic(path, |file| file.write_all(&bytes));
    match &high.place {
        Place::Folder(folder) => to_file(&folder.join(format!("{number:04}.{}", high.format.name)))?,
        Place::File(file) => to_file(file)?,
        Place::Stdout => {
            let mut out = Output::stdout();
            out.write_all(&bytes).map_err(|error| output::failed(output::STDOUT, error))?;
            out.finish()?;
        }
    }
    Ok(())
}

/// Where sentences and their translations come from.
struct Texts {
    name: PathBuf,
    given: Option<(String, Option<String>)>,
    lines: Option<Lines>,
    targets: Option<Lines>,
}

/// A sentence and perhaps its translation, as they were read.
struct Text {
    number: usize,
    source: Line,
    target: Option<Line>,
}

impl Texts {
    fn open(low: &Low) -> Result<Self> {
        let given = low.sentence.clone().map(|sentence| (sentence, low.target.clone()));
        let lines = if given.is_some() { None } else { Some(Lines::open(low.file.as_deref())?) };
        let targets = low.target_file.as_deref().map(|path| Lines::open(Some(path))).transpose()?;
        let name = lines.as_ref().map_or_else(|| PathBuf::from("SENTENCE"), |lines| lines.name().to_owned());
        Ok(Self { name, given, lines, targets })
    }

    fn next(&mut self) -> Result<Option<Text>> {
        if let Some((source, target)) = self.given.take() {
            return Ok(Some(Text { number: 1, source: Line::Text(source), target: target.map(Line::Text) }));
        }
        let Some(lines) = &mut self.lines else { return Ok(None) };
        let Some(targets) = &mut self.targets else {
            let Some(source) = lines.read()? else { return Ok(None) };
            return Ok(Some(Text { number: lines.number(), source, target: None }));
        };
        let Some((source, target)) = parallel::next_pair(lines, targets)? else { return Ok(None) };
        Ok(Some(Text { number: lines.number(), source, target: Some(target) }))
    }

    fn tell_empty(&self) {
        if let Some(lines) = &self.lines {
            lines.tell_empty("draw");
        }
    }
}

impl Text {
    fn read(&self) -> Result<(&str, Target<'_>)> {
        fn text(line: &Line) -> Result<&str> {
            match line {
                Line::Text(text) => Ok(text),
                Line::TooLong(bytes) => Err(Error::Input(format!("the sentence {}", line::too_many_bytes(*bytes)))),
            }
        }
        Ok((text(&self.source)?, self.target.as_ref().map(text).transpose()?))
    }
}

fn names(names: impl Iterator<Item = &'static str>) -> PossibleValuesParser {
    PossibleValuesParser::new(names)
}

fn within(text: &str, (least, most): (f32, f32)) -> Result<f32> {
    let number: Option<f32> = text.parse().ok();
    let wrong = || Error::Input(format!("write a number from {least} to {most}"));
    number.filter(|number| (least..=most).contains(number)).ok_or_else(wrong)
}
