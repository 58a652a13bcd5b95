//! Floor 9: the work on files that the session asks for, done off the window's thread.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::aligner::placed::{Placed, PlacedAligner};
use crate::app::effect::{AlignQuestion, FileEvent, FileJob, FileWork};
use crate::app::files::picture::PictureRequest;
use crate::app::page::{Dropped, Page};
use crate::error::{Error, Result};
use crate::evaluation::first_set;
use crate::figure;
use crate::figure::Figure;
use crate::figure::fonts::Fonts;
use crate::figure::formats::format_of;
use crate::jobs::files::disk::Disk;
use crate::text::lines::TextFile;
use crate::text::links;
use crate::text::links::read::LinkLayout;
use crate::text::phrases::PhraseTable;
use crate::text::write::write_atomic;
use crate::training::recipe::TrainingPlan;
use crate::training::{curves, recipe};

/// The statistical aligner that was asked last, with its languages; opening one takes longer than to ask it.
pub type Aligner = Arc<Mutex<Option<((String, String), PlacedAligner)>>>;

/// Has a chore done.
pub fn carry_out(chore: FileJob, disk: &mut Disk<FileEvent>, aligner: &Aligner) {
    match chore {
        FileJob::Align { number, question } => {
            let aligner = Arc::clone(aligner);
            disk.run_telling("align", Box::new(move |_| align(&aligner, number, question)));
        }
        FileJob::Read(path) => disk.run_telling("read", Box::new(move |tell| Some(read(path, tell)))),
        FileJob::ReadGold { path, source, target } => {
            disk.run_telling("read", Box::new(move |_| Some(read_gold(path, source, target))));
        }
        FileJob::Look { path, on } => disk.run_telling("open", Box::new(move |_| Some(look(path, on)))),
        FileJob::FindLogs(path) => disk.run_telling("open", Box::new(move |_| Some(find_logs(path)))),
        FileJob::PutFirstSet(folder) => disk.run("write", Box::new(move || Some(put_first_set(&folder)))),
        FileJob::SaveTraining { plan, path } => disk.run("write", Box::new(move || Some(save_training(*plan, path)))),
        FileJob::Write { path, text } => disk.run("write", Box::new(move || Some(write(&path, Ok(text.into_bytes()))))),
        FileJob::WriteFigure { path, figure } => {
            disk.run("write", Box::new(move || Some(write(&path, figure_bytes(&figure, &path)))));
        }
        FileJob::Draw { path, picture } => {
            disk.run("write", Box::new(move || Some(write(&path, picture.bytes(&path)))));
        }
        FileJob::Work(FileWork(work)) => disk.run("write", Box::new(move || Some(work()))),
        FileJob::Paint(picture) => disk.run_telling("paint", Box::new(move |_| Some(paint(&picture)))),
    }
}

/// Nothing where no aligner comes with the program, which the session knows before it asks.
fn align(aligner: &Aligner, number: u64, question: AlignQuestion) -> Option<FileEvent> {
    let mut kept = aligner.lock().unwrap_or_else(PoisonError::into_inner);
    let AlignQuestion { languages, source, target } = question;
    if kept.as_ref().is_none_or(|(of, _)| *of != languages) {
        match PlacedAligner::bundled(&languages.0, &languages.1) {
            Ok(opened) => *kept = Some((languages.clone(), opened?)),
            Err(error) => return Some(FileEvent::Notice { text: error.to_string(), is_error: true }),
        }
    }
    let (_, aligner) = kept.as_mut()?;
    let links = aligner.links(&source, &Placed::joined(&languages.1, &target));
    Some(FileEvent::Aligned { number, links })
}

fn figure_bytes(figure: &Figure<'_>, path: &Path) -> Result<Vec<u8>> {
    (format_of(path)?.write)(figure, &figure::page::FigurePage::default(), &Fonts::default())
}

fn put_first_set(folder: &Path) -> FileEvent {
    match first_set::put(folder) {
        Ok(files) => FileEvent::FirstSet(files),
        Err(error) => FileEvent::Notice { text: error.to_string(), is_error: true },
    }
}

fn find_logs(path: PathBuf) -> FileEvent {
    FileEvent::Logs { found: curves::logs(&path), path }
}

/// Finds out what a path is. Where logs are taken, the folder of a run is one; elsewhere it is the run's model.
fn look(path: PathBuf, on: Page) -> FileEvent {
    let may_be_logs = path.is_dir() || path.extension().is_some_and(|extension| extension == "jsonl");
    if may_be_logs && on.entry().takes.contains(&Dropped::Logs) {
        let found = curves::logs(&path);
        if !found.is_empty() {
            return FileEvent::Logs { path, found };
        }
    }
    let (what, path) = if path.is_dir() {
        (Dropped::Model, path)
    } else if let Some(folder) = model_of(&path) {
        (Dropped::Model, folder)
    } else if is_workspace(&path) {
        (Dropped::Workspace, path)
    } else if path.extension().is_some_and(|extension| extension == "json") && on != Page::Workbench {
        (Dropped::Interventions, path)
    } else if is_phrase_table(&path) {
        (Dropped::PhraseTable, path)
    } else if path.is_file() && links::read::holds_links(&path) {
        return FileEvent::Links { path, on };
    } else {
        (Dropped::Text, path)
    };
    FileEvent::Opened { path, what, on }
}

/// The folder of a model whose file this is: someone who drops one of its files means the model.
fn model_of(path: &Path) -> Option<PathBuf> {
    path.file_name().filter(|name| *name == "config.json" || *name == "model.safetensors")?;
    let folder = path.parent()?;
    // A bare name lies in the folder where the program runs.
    Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_path_buf() })
}

/// Whether a file begins as a workspace does.
fn is_workspace(path: &Path) -> bool {
    // A pipe would be waited for.
    if !path.is_file() {
        return false;
    }
    let mut begin = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut begin));
    read.is_ok() && &begin == b"SQLite format 3\0"
}

/// Whether the first line is one of a phrase table.
fn is_phrase_table(path: &Path) -> bool {
    path.is_file() && PhraseTable::open(path).is_ok_and(|mut table| matches!(table.next(), Some(Ok(_))))
}

fn read_gold(path: PathBuf, list: PathBuf, target: PathBuf) -> FileEvent {
    let lines = |path: &Path| -> Result<Vec<String>> {
        let file = TextFile::open(path)?;
        Ok((0..file.len()).map(|n| file.line(n).into_owned()).collect())
    };
    let read =
        || links::read::read(&path, &links::read::lengths(&lines(&list)?, &lines(&target)?), &LinkLayout::default());
    match read() {
        Ok(gold) => FileEvent::Gold { path, list, target, links: Arc::new(gold.pairs), note: gold.note },
        Err(error) => FileEvent::Notice { text: error.to_string(), is_error: true },
    }
}

fn read(path: PathBuf, tell: &mut dyn FnMut(FileEvent) -> bool) -> FileEvent {
    let news = |lines: &TextFile| FileEvent::Read { path: lines.path().to_owned(), lines: Arc::new(lines.clone()) };
    match TextFile::open_growing(&path, &mut |lines| tell(news(lines))) {
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

/// A picture for the clipboard, which the window fills.
pub fn paint(picture: &PictureRequest) -> FileEvent {
    match picture.pixels() {
        Ok(pixels) => FileEvent::Painted(Arc::new(pixels)),
        Err(error) => FileEvent::Notice { text: error.to_string(), is_error: true },
    }
}

fn write(path: &Path, bytes: Result<Vec<u8>>) -> FileEvent {
    match bytes.and_then(|bytes| write_whole(path, &bytes)) {
        Ok(()) => FileEvent::Notice { text: format!("Saved {}", path.display()), is_error: false },
        Err(error) => FileEvent::Notice { text: error.to_string(), is_error: true },
    }
}

/// Writes a file in one step and makes its folder where that is missing.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, &error))?;
    }
    write_atomic(path, |file| file.write_all(bytes))
}
