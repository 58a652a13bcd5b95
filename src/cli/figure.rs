//! `interlinear figure`: translations as pictures for papers and slides, one sentence or a file of them.

pub mod concordance;
pub mod gloss;
mod glossed;
pub mod overlays;
pub mod scene;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, builder::PossibleValuesParser};

use crate::args::{Choice, ModelArgs, ReadingArgs, RunArgs, SearchArgs, count, not_negative, number, one_of};
use crate::figure::scene::{Scenes, Showing};
use crate::input::{InputFiles, InputLine};
use crate::{figure::overlays::OverlayArgs, output, output::LineOutput};
use engine::error::{Error, Result};
use engine::text::{write, write::FolderDraft};
use explorer::app::files::picture::{FigureRequest, PictureRequest};
use figure::formats::{FORMATS, FigureFormat, format, format_of};
use figure::page::{DPIS, FigurePage, WIDTHS_MM};
use figure::palette::{COLOUR_MAPS, ColourMap};
use figure::sheet::{FigureKind, FigureNeeds, FigureStyle, KINDS, kind};
use figure::{fonts::Fonts, links::Weight};
use host::words;

/// As typed.
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

The sentence is the line of TEXTFILE or of standard input, or --text. Of several lines --output (or --folder) is a folder,
where the figures are written as 0001.svg, 0002.svg and so on, by the number of the line. Model, digest,
beam, reading, sentence and translation are written into the file, where programs for pictures show them. Several --model without --ensemble are
one figure of many: their translations beside each other on one scale, each with its model below; with --together several lines are one figure, too.
--aligner, --gold and --interventions are drawn in each.

  interlinear figure --model rnnsearch-en-fr --text \"The red house .\" --output house.pdf --width 80
  interlinear figure --model rnnsearch-en-fr --kind links --format png --output pictures story.en
  interlinear figure --model rnnsearch-en-fr --together --columns 3 --output story.pdf story.en")]
pub struct FigureArgs {
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    text: FigureTextArgs,
    /// What to draw
    #[arg(long, value_name = "KIND", default_value = "heatmap", value_parser = PossibleValuesParser::new(KINDS.iter().map(|kind| kind.name)))]
    kind: String,
    /// The number of the target word that --kind bars draws, from 1
    #[arg(long, value_name = "N", required_if_eq("kind", "bars"), value_parser = count(u32::MAX))]
    word: Option<usize>,
    /// Draw the branches that fell out of the beam as well, with --kind tree
    #[arg(long)]
    pruned: bool,
    #[command(flatten)]
    page: FigurePageArgs,
    #[command(flatten)]
    style: FigureStyleArgs,
    #[command(flatten)]
    over: OverlayArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// The sentences.
#[derive(Args, Clone, Debug)]
struct FigureTextArgs {
    /// A text file, one sentence a line, packed (gzip, zstandard) or not; by default stdin
    #[arg(value_name = "TEXTFILE")]
    file: Option<PathBuf>,
    /// The sentence itself, in place of a file
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    text: Option<String>,
    /// Show this translation in place of the model's own
    #[arg(long, value_name = "TEXT", requires = "text")]
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
}

/// The files that are written.
#[derive(Args, Clone, Debug)]
struct FigurePageArgs {
    /// What to write; by default what the name of --output ends with, else svg
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)))]
    format: Option<String>,
    /// The file to write, of several lines the folder; by default standard output
    #[arg(long, short, value_name = "FILE", conflicts_with = "folder")]
    output: Option<PathBuf>,
    /// Write a numbered file for each sentence into this folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Width of the figure, by default as wide as its text in its usual size needs
    #[arg(long, alias = "width-mm", value_name = "MM", value_parser = |text: &str| within(text, WIDTHS_MM))]
    width: Option<f32>,
    /// Draw all lines beside each other in one figure, on one scale
    #[arg(long, conflicts_with = "folder")]
    together: bool,
    /// With several --model or --together, which stand beside each other: so many in a row
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = count(100))]
    columns: usize,
    /// Resolution of PNG, pixels in an inch
    #[arg(long, value_name = "N", default_value_t = 300.0, value_parser = |text: &str| within(text, DPIS))]
    dpi: f32,
}

/// The look of a figure.
#[derive(Args, Clone, Debug)]
struct FigureStyleArgs {
    /// Colours of alpha in a heatmap; by default `print`, where 1 is black, and on a dark ground `gray`, where 1 is white
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(COLOUR_MAPS.iter().map(|map| map.key)))]
    palette: Option<String>,
    /// The ground that the figure is for
    #[arg(long, default_value = "light", action = clap::ArgAction::Set, value_parser = one_of(THEMES.iter().copied()))]
    theme: bool,
    /// Say below what colours and widths mean
    #[arg(long)]
    legend: bool,
    /// Say below which model it is and how it searched, or with --caption=TEXT something else
    #[arg(long, value_name = "TEXT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    caption: Option<String>,
    /// Links with less alpha are left out
    #[arg(long, value_name = "T", default_value_t = 0.1, value_parser = not_negative)]
    threshold: f32,
    /// How links show alpha
    #[arg(long, default_value = "width", value_parser = one_of(WEIGHTS.iter().copied()))]
    links: Weight,
}

const THEMES: &[Choice<bool>] = &[("light", "White, as paper", false), ("dark", "Dark, as slides", true)];

/// How links show alpha.
const WEIGHTS: &[Choice<Weight>] =
    &[("width", "By their width", Weight::Width), ("opacity", "By their opacity", Weight::Opacity)];

enum Place {
    Stdout,
    File(PathBuf),
    Folder(PathBuf),
}

pub fn run(args: &FigureArgs) -> anyhow::Result<()> {
    let mut drawing = Drawing::new(args)?;
    let mut texts = Texts::open(args)?;
    let runtime = args.run.plan()?;
    let systems = args.models.load_each(&runtime)?;
    let kind = drawing.kind;
    let options = args.search.plan();
    let FigureTextArgs { pretokenized, pieces, .. } = args.text;
    let word = args.word.map_or(0, |word| word - 1);
    let shown = Showing { kind, word, pruned: args.pruned, pretokenized, pieces };
    let open = |system| -> Result<Scenes<'_>> {
        if kind.needs == FigureNeeds::Alignment {
            words::require_alignment(system, args.reading.is_head(), &format!("--kind {}", kind.name))?;
        }
        let over = args.over.open(system)?;
        Ok(Scenes::new(system, args.reading.open(system, &runtime, false)?, &options, shown, over))
    };
    let given = args.text.text.as_deref().map(|text| (text, args.text.target.as_deref()));
    let gold = args.over.gold(given, (args.text.file.as_deref(), args.text.target_file.as_deref()))?;
    let mut scenes = systems.iter().map(open).collect::<Result<Vec<_>>>()?;
    let first = texts.next()?;
    let mut second = if first.is_some() { texts.next()? } else { None };
    drawing.choose_place(second.is_some() && !args.page.together, &texts.name)?;
    let mut next = first;
    while let Some(text) = next {
        scenes.iter_mut().try_for_each(|one| one.over.take_line())?;
        let drawn = text.read().and_then(|(source, target)| {
            scenes.iter_mut().map(|one| one.scene(source, target, gold.get(text.number - 1))).collect()
        });
        drawing.take(drawn, &texts.name, text.number)?;
        next = second.take().map_or_else(|| texts.next(), |text| Ok(Some(text)))?;
    }
    if let Some(files) = &texts.files {
        files.source.warn_if_empty("draw");
    }
    scenes.iter_mut().try_for_each(|one| one.over.finish())?;
    if let Some(pictures) = drawing.together.take().filter(|pictures| !pictures.is_empty()) {
        drawing.write(pictures, 1)?;
    }
    drawing.folder.take().map_or(Ok(()), FolderDraft::keep)?;
    match drawing.refused {
        0 => Ok(()),
        count => Err(Error::Input(format!("{count} of the lines have no figure; see above")).into()),
    }
}

fn check(args: &FigureArgs) -> Result<()> {
    let is_given = args.text.target.is_some() || args.text.target_file.is_some();
    let why = match args.kind.as_str() {
        "tree" if is_given => "--kind tree draws a search, and a given translation has none; leave --target out",
        kind if args.pruned && kind != "tree" => "--pruned goes with --kind tree",
        kind if args.word.is_some() && kind != "bars" => "--word goes with --kind bars",
        _ => return Ok(()),
    };
    Err(Error::Input(why.to_owned()))
}

struct Drawing {
    kind: &'static FigureKind,
    format: Option<&'static FigureFormat>,
    look: FigureStyle,
    says_what: bool,
    page: FigurePage,
    columns: usize,
    together: Option<Vec<PictureRequest>>,
    place: Place,
    folder: Option<FolderDraft>,
    fonts: Fonts,
    refused: usize,
}

impl Drawing {
    fn new(args: &FigureArgs) -> Result<Self> {
        check(args)?;
        let place = match (&args.page.output, &args.page.folder) {
            (Some(file), _) => Place::File(file.clone()),
            (None, Some(folder)) => Place::Folder(folder.clone()),
            (None, None) => Place::Stdout,
        };
        let format = args.page.format.as_deref().and_then(format);
        if let Some(format) = format.filter(|_| matches!(place, Place::Stdout)) {
            no_terminal(format)?;
        }
        let missing = |what: &str| Error::Internal(format!("a {what} without a line in its table"));
        let look = FigureStyle {
            is_dark: args.style.theme,
            map: match &args.style.palette {
                None => ColourMap::usual(args.style.theme),
                Some(name) => ColourMap::named(name).ok_or_else(|| missing("palette"))?,
            },
            has_legend: args.style.legend,
            caption: args.style.caption.clone().filter(|caption| !caption.is_empty()),
            threshold: args.style.threshold,
            weight: args.style.links,
        };
        Ok(Self {
            kind: kind(&args.kind).ok_or_else(|| missing("kind"))?,
            format,
            look,
            says_what: args.style.caption.as_deref() == Some(""),
            page: FigurePage { width_mm: args.page.width, dpi: args.page.dpi },
            columns: args.page.columns,
            together: args.page.together.then(Vec::new),
            place,
            folder: None,
            fonts: Fonts::default(),
            refused: 0,
        })
    }

    fn choose_place(&mut self, are_several: bool, name: &Path) -> Result<()> {
        match &self.place {
            Place::File(file) if are_several => self.place = Place::Folder(file.clone()),
            Place::Stdout if are_several => {
                let name = name.display();
                let message = format!(
                    "{name} has more than one line; give --output for a folder of figures, or --together for one"
                );
                return Err(Error::Input(message));
            }
            _ => {}
        }
        match &self.place {
            Place::Stdout => {}
            Place::File(file) => self.format = Some(self.format.map_or_else(|| format_of(file), Ok)?),
            Place::Folder(folder) => {
                self.format = self.format.or_else(|| format_of(folder).ok());
                if folder.is_file() {
                    let message = "is a file, and several lines need a folder; name another with --output";
                    return Err(Error::file(folder, message));
                }
                self.folder = Some(FolderDraft::new(folder)?);
            }
        }
        Ok(())
    }

    fn take(&mut self, drawn: Result<Vec<PictureRequest>>, name: &Path, number: usize) -> anyhow::Result<()> {
        match drawn {
            Ok(pictures) => match &mut self.together {
                Some(all) => all.extend(pictures),
                None => self.write(pictures, number)?,
            },
            Err(error) if error.is_users() && (self.together.is_some() || matches!(self.place, Place::Folder(_))) => {
                output::notify(&Error::line(name, number, error.to_string()).to_string());
                self.refused += 1;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn write(&self, mut pictures: Vec<PictureRequest>, number: usize) -> anyhow::Result<()> {
        let format = self.format.unwrap_or(&FORMATS[0]);
        let are_several = pictures.len() > 1;
        for picture in &mut pictures {
            // of several each says which it is
            let own = picture.look.caption.take().filter(|_| self.says_what || are_several);
            let caption = own.or_else(|| self.look.caption.clone());
            picture.look = FigureStyle { caption, ..self.look.clone() };
        }
        let caption = self.look.caption.clone().filter(|_| are_several);
        let bytes = FigureRequest::of(pictures, self.columns, caption).drawn(|figure| {
            self.page.small_letters(figure.size).iter().for_each(|notice| output::notify(notice));
            (format.write)(figure, &self.page, &self.fonts)
        })?;
        let to_file = |path: &Path| write::write_atomic(path, |file| file.write_all(&bytes));
        match &self.place {
            Place::Folder(folder) => {
                let folder = self.folder.as_ref().map_or(folder.as_path(), FolderDraft::path);
                to_file(&folder.join(format!("{number:04}.{}", format.name)))?;
            }
            Place::File(file) => to_file(file)?,
            Place::Stdout => to_stdout(&bytes)?,
        }
        Ok(())
    }
}

fn no_terminal(format: &FigureFormat) -> Result<()> {
    if format.name == FORMATS[0].name || !std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Error::Input(format!("a terminal shows no {}; name a file with --output", format.name)))
}

fn to_stdout(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = LineOutput::stdout();
    out.write_all(bytes).map_err(|error| output::failed(output::STDOUT, error))?;
    out.finish()
}

struct Texts {
    name: PathBuf,
    given: Option<(String, Option<String>)>,
    files: Option<InputFiles>,
}

struct Text {
    number: usize,
    source: InputLine,
    target: Option<InputLine>,
}

impl Texts {
    fn open(args: &FigureArgs) -> Result<Self> {
        if let Some(text) = &args.text.text {
            let given = Some((text.clone(), args.text.target.clone()));
            return Ok(Self { name: "--text".into(), given, files: None });
        }
        let files = InputFiles::open(args.text.file.as_deref(), args.text.target_file.as_deref())?;
        Ok(Self { name: files.source.name.clone(), given: None, files: Some(files) })
    }

    fn next(&mut self) -> Result<Option<Text>> {
        if let Some((source, target)) = self.given.take() {
            return Ok(Some(Text { number: 1, source: Ok(source), target: target.map(Ok) }));
        }
        let Some(files) = &mut self.files else { return Ok(None) };
        let text = files.read()?;
        Ok(text.map(|(source, target)| Text { number: files.source.number, source, target }))
    }
}

impl Text {
    fn read(&self) -> Result<(&str, Option<&str>)> {
        fn text(line: &InputLine) -> Result<&str> {
            line.as_deref().map_err(|why| Error::Input(format!("the sentence {why}")))
        }
        Ok((text(&self.source)?, self.target.as_ref().map(text).transpose()?))
    }
}

fn within(text: &str, (least, most): (f32, f32)) -> Result<f32> {
    number(text, |number| (least..=most).contains(&number), format!("write a number from {least} to {most}"))
}
