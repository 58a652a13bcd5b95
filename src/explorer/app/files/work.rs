//! The work on files that the session asks for, done off the window's thread, and what comes of it.

#[cfg(not(target_family = "wasm"))]
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::app::page::{Dropped, Page};
use crate::{app::files::picture::FigureRequest, jobs::files::disk::Disk, jobs::thread::lock};
use engine::aligner::bundled::{AlignerChoice, AlignerFile};
use engine::aligner::placed::{PlacedAligner, PlacedWords};
use engine::error::{Error, Result};
use engine::lang;
use engine::models::{choice::ModelSpec, origins};
#[cfg(not(target_family = "wasm"))]
use engine::text::write::write_atomic;
use engine::text::write::{folder_of, is_database};
use engine::text::{lines::TextFile, links, links::Links, links::read::LinkLayout};
use figure::interlinear::{GlossedSentence, conllu};
use figure::provenance::{Provenance, beside};
use figure::{Figure, fonts::Fonts, formats::format_of, page::FigurePage, png::Pixels};
use training::recipe::TrainingPlan;
use training::{curves, recipe};

/// Work on files, done off the window's thread.
#[expect(clippy::large_enum_variant, reason = "an order is sent once and kept by no one here")]
#[derive(Clone, Debug, PartialEq)]
pub enum FileJob {
    /// Find out what was opened or dropped on this page.
    Look {
        path: PathBuf,
        on: Page,
    },
    Read(PathBuf),
    ReadGold {
        path: PathBuf,
        source: PathBuf,
        target: PathBuf,
    },
    OpenAligner {
        path: PathBuf,
        model: Option<ModelSpec>,
    },
    FindLogs(PathBuf),
    SaveTraining {
        plan: Box<TrainingPlan>,
        path: PathBuf,
    },
    ReadAnnotated(PathBuf),
    Align {
        number: u64,
        question: AlignQuestion,
    },
    Write {
        path: PathBuf,
        text: String,
    },
    /// Write what a table or links come from beside their file.
    WriteBeside {
        path: PathBuf,
        from: Provenance,
    },
    WriteFigure {
        path: PathBuf,
        figure: Arc<Figure<'static>>,
    },
    Draw {
        path: PathBuf,
        picture: Box<FigureRequest>,
    },
    Paint(Box<FigureRequest>),
    /// Other work that returns its event.
    Work(FileWork),
}

/// A closure that works on files and returns its event.
#[derive(Clone)]
pub struct FileWork(pub Arc<dyn Fn() -> FileEvent + Send + Sync>);

impl PartialEq for FileWork {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for FileWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Work")
    }
}

/// What a statistical aligner is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignQuestion {
    pub aligner: AlignerChoice,
    pub source: PlacedWords,
    /// The words of the translation, `</s>` and `[UNK]` among them.
    pub target: Vec<String>,
}

/// What became of a [`FileJob`] or a save.
#[derive(Clone, Debug)]
pub enum FileEvent {
    Opened {
        path: PathBuf,
        what: Dropped,
        on: Page,
    },
    Gold {
        path: PathBuf,
        list: PathBuf,
        target: PathBuf,
        links: Arc<Vec<Links>>,
        note: String,
    },
    Logs {
        path: PathBuf,
        found: Vec<PathBuf>,
    },
    /// A text file was read, or more of it than before.
    Read {
        path: PathBuf,
        lines: Arc<TextFile>,
    },
    ReadFailed {
        path: PathBuf,
        message: String,
    },
    TrainingSaved {
        path: PathBuf,
        /// Why it could not be, as a sentence for the user.
        trouble: Option<String>,
    },
    Annotated {
        path: PathBuf,
        sentences: Arc<Vec<GlossedSentence>>,
    },
    Aligner(AlignerFile),
    Aligned {
        number: u64,
        links: Links,
    },
    Painted(Arc<Pixels>),
    Notice {
        text: String,
        is_error: bool,
    },
}

impl FileEvent {
    pub(crate) fn failed(error: &Error) -> Self {
        Self::Notice { text: error.to_string(), is_error: true }
    }
}

const MOST_ALIGNERS: usize = 3;
/// The aligners that were opened last, since opening one takes longer than aligning.
pub type KeptAligners = Arc<Mutex<Vec<(AlignerChoice, Option<PlacedAligner>)>>>;

/// Has a chore done. The end of the program waits for those that write.
pub fn carry_out(chore: FileJob, disk: &mut Disk<FileEvent>, aligners: &KeptAligners) {
    let reads = match &chore {
        FileJob::Align { .. } | FileJob::OpenAligner { .. } => Some("align"),
        FileJob::Read(_) | FileJob::ReadGold { .. } | FileJob::ReadAnnotated(_) => Some("read"),
        FileJob::Look { .. } | FileJob::FindLogs(_) => Some("open"),
        FileJob::Paint(_) => Some("paint"),
        _ => None,
    };
    let aligners = Arc::clone(aligners);
    let work = move |notify: &mut dyn FnMut(FileEvent) -> bool| {
        done(chore, &aligners, notify).unwrap_or_else(|error| Some(FileEvent::failed(&error)))
    };
    match reads {
        Some(name) => disk.run_reporting(name, Box::new(work)),
        None => disk.run("write", Box::new(move || work(&mut |_| true))),
    }
}

/// What came of it. `None` where there is no aligner, which the session knows before it asks.
fn done(
    chore: FileJob, aligners: &KeptAligners, notify: &mut dyn FnMut(FileEvent) -> bool,
) -> Result<Option<FileEvent>> {
    Ok(Some(match chore {
        FileJob::Align { number, question } => return align(aligners, number, question, notify),
        FileJob::Read(path) => read(path, notify),
        FileJob::ReadGold { path, source, target } => read_gold(path, source, target)?,
        FileJob::ReadAnnotated(path) => {
            let sentences = conllu::read_file(&path)?;
            FileEvent::Annotated { path, sentences: Arc::new(sentences) }
        }
        FileJob::Look { path, on } => look(path, on),
        FileJob::OpenAligner { path, model } => {
            // a file that was learned again is read again
            lock(aligners).clear();
            FileEvent::Aligner(AlignerFile { model, ..AlignerFile::open(path)? })
        }
        FileJob::FindLogs(path) => FileEvent::Logs { found: curves::logs(&path), path },
        FileJob::SaveTraining { plan, path } => save_training(*plan, path),
        FileJob::Write { path, text } => write(&path, text.as_bytes())?,
        FileJob::WriteBeside { path, from } => {
            write_whole(&beside(&path), format!("{:#}\n", from.json()).as_bytes())?;
            return Ok(None);
        }
        FileJob::WriteFigure { path, figure } => {
            write(&path, &(format_of(&path)?.write)(&figure, &FigurePage::default(), &Fonts::default())?)?
        }
        FileJob::Draw { path, picture } => write(&path, &lang::in_english(|| picture.bytes(&path))?)?,
        FileJob::Work(FileWork(work)) => work(),
        FileJob::Paint(picture) => FileEvent::Painted(Arc::new(lang::in_english(|| picture.pixels())?)),
    }))
}

fn align(
    aligners: &KeptAligners, number: u64, AlignQuestion { aligner: asked, source, target }: AlignQuestion,
    notify: &mut dyn FnMut(FileEvent) -> bool,
) -> Result<Option<FileEvent>> {
    let mut kept = lock(aligners);
    let known = kept.iter().position(|(of, _)| *of == asked);
    let at = if let Some(at) = known {
        at
    } else {
        if let Some(text) = asked.trouble() {
            notify(FileEvent::Notice { text, is_error: true });
        }
        let opened = PlacedAligner::chosen(&asked)?;
        if kept.len() == MOST_ALIGNERS {
            kept.remove(0);
        }
        kept.push((asked.clone(), opened));
        kept.len() - 1
    };
    Ok(kept[at].1.as_mut().map(|aligner| {
        let links = aligner.links(&source, &PlacedWords::joined(&asked.target, &target));
        FileEvent::Aligned { number, links }
    }))
}

/// Finds out what a path is. Where logs are taken, the folder of a run is one; elsewhere it is the run's model.
fn look(path: PathBuf, on: Page) -> FileEvent {
    let may_be_logs = path.is_dir() || path.extension().is_some_and(|extension| extension == "jsonl");
    if may_be_logs && on.takes(Dropped::Logs) {
        let found = curves::logs(&path);
        if !found.is_empty() {
            return FileEvent::Logs { path, found };
        }
    }
    let (what, path) = if path.is_dir() {
        (Dropped::Model, path)
    } else if let Some(folder) = model_of(&path) {
        (Dropped::Model, folder)
    } else if origins::find(&path).is_some() || origins::refused(&path).is_some() {
        (Dropped::Model, path)
    } else if is_database(&path) {
        (Dropped::Workspace, path)
    } else if path.extension().is_some_and(|extension| extension == "json") {
        (Dropped::Interventions, path)
    } else {
        (kind_of(&path), path)
    };
    FileEvent::Opened { path, what, on }
}

/// What a file of text is. What cannot be read is told by who opens it.
#[cfg(not(target_family = "wasm"))]
fn kind_of(path: &Path) -> Dropped {
    match import::guess(path).ok().and_then(|found| found.first().map(|(kind, _)| *kind)) {
        Some(kind) if kind.is_links() => Dropped::Links,
        Some(kind) if kind.name == "conllu" => Dropped::Annotated,
        _ => Dropped::Text,
    }
}

#[cfg(target_family = "wasm")]
fn kind_of(_: &Path) -> Dropped {
    Dropped::Text
}

/// The folder of a model whose file this is: someone who drops one of its files means the model.
fn model_of(path: &Path) -> Option<PathBuf> {
    path.file_name().filter(|name| *name == "config.json" || *name == "model.safetensors")?;
    // A bare name lies in the folder where the program runs.
    Some(folder_of(path).to_path_buf())
}

fn read_gold(path: PathBuf, list: PathBuf, target: PathBuf) -> Result<FileEvent> {
    let lines = |path: &Path| -> Result<Vec<String>> {
        let file = TextFile::open(path)?;
        Ok((0..file.len()).map(|n| file.line(n).into_owned()).collect())
    };
    let lengths = links::read::lengths(&lines(&list)?, &lines(&target)?);
    let gold = links::read::read(&path, &lengths, &LinkLayout::default())?;
    Ok(FileEvent::Gold { path, list, target, links: Arc::new(gold.pairs), note: gold.note })
}

fn read(path: PathBuf, notify: &mut dyn FnMut(FileEvent) -> bool) -> FileEvent {
    let news = |lines: &TextFile| FileEvent::Read { path: lines.path().to_owned(), lines: Arc::new(lines.clone()) };
    match TextFile::open_growing(&path, &mut |lines| notify(news(lines))) {
        Ok(lines) => FileEvent::Read { path, lines: Arc::new(lines) },
        Err(error) => FileEvent::ReadFailed { path, message: error.to_string() },
    }
}

/// Paths of the plan begin where the program runs.
fn save_training(plan: TrainingPlan, path: PathBuf) -> FileEvent {
    let here = std::env::current_dir().unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let trouble = recipe::save(&plan.seen_from(&here, folder), &path, false).err().map(|error| error.to_string());
    FileEvent::TrainingSaved { path, trouble }
}

fn write(path: &Path, bytes: &[u8]) -> Result<FileEvent> {
    write_whole(path, bytes)?;
    Ok(FileEvent::Notice { text: tr!("Saved {}", path.display()), is_error: false })
}

#[cfg(target_family = "wasm")]
pub use crate::app::files::download::write_whole;

/// Writes a file in one step and makes its folder where that is missing.
#[cfg(not(target_family = "wasm"))]
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    }
    write_atomic(path, |file| file.write_all(bytes))
}
