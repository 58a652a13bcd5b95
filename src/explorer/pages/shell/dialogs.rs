//! Questions for a path, and the system's file dialogs: futures that are polled once a frame. Without a dialog of the
//! system they end at once as if cancelled, and the path is typed on a sheet.

use std::path::{Path, PathBuf};
use std::task::{Context, Poll, Wake, Waker};
use std::{future::Future, pin::Pin, rc::Rc, sync::Arc, time::Duration};

#[cfg(target_family = "wasm")]
use crate::app::files::upload;
use crate::{pages::command::Command, widgets::theme};
use engine::clock::Instant;
use engine::lang;

/// A question for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub title: &'static str,
    pub verb: &'static str,
    pub wants: Wants,
    pub note: &'static str,
}

/// The kind of path that a question needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    Folder,
    File(&'static [&'static str]),
    /// A file to write, with its default name.
    NewFile(&'static str),
}

impl Wants {
    /// Whether an existing file would be overwritten. Corpora are opened or refused; a browser never overwrites.
    pub fn may_replace(self) -> bool {
        let is_corpus = |name: &str| Path::new(name).extension().is_some_and(|end| end == "ilws");
        matches!(self, Self::NewFile(name) if !is_corpus(name)) && cfg!(not(target_family = "wasm"))
    }
}

pub const MODEL: Question = Question::new(
    id!("Add a model"),
    id!("Add"),
    Wants::Folder,
    id!(
        "A model is a folder with config.json, model.safetensors and two tokenizers, or one of another toolkit: Marian's .npz or .bin, an .argosmodel, a folder of MarianMT, CTranslate2 or Nematus. It can also be dropped on the window."
    ),
);

pub const TEXT: Question = Question::new(
    id!("Open a text file"),
    id!("Open"),
    Wants::File(TEXTS),
    id!(
        "One sentence a line. Files can also be dropped on the window; a model folder opens as a model, a .json file as a sentence with what was set in it, and word links as the alignments by hand of the list that is shown. A link that was copied can be pasted here."
    ),
);

pub const WORKSPACE: Question = Question::new(
    id!("Open a corpus"),
    id!("Open"),
    Wants::File(&["ilws"]),
    id!("One file that keeps sentences, outputs, alignments and judgements, by custom with the ending .ilws."),
);

pub const IMPORT: Question = Question::new(
    id!("Import into the corpus"),
    id!("Import"),
    Wants::File(&[
        "txt", "en", "fr", "de", "tsv", "csv", "tmx", "xlf", "xliff", "jsonl", "json", "npy", "gold", "links", "gz",
        "zst",
    ]),
    id!(
        "Text, TSV, TMX, XLIFF, JSON lines, alignments or dumps of attention, packed with gzip or zstandard or not. What it is is found out and told."
    ),
);

pub const TEXTS: &[&str] = &["txt", "en", "fr", "de", "tsv", "json", "gz", "zst"];

impl Question {
    pub const fn new(title: &'static str, verb: &'static str, wants: Wants, note: &'static str) -> Self {
        Self { title, verb, wants, note }
    }

    pub fn then<C: Into<Command>>(self, answered: impl Fn(PathBuf) -> C + 'static) -> AskedPath {
        AskedPath { question: self, name: None, answered: Rc::new(move |path| answered(path).into()) }
    }
}

/// A question with the command that its answer gives.
#[derive(Clone)]
pub struct AskedPath {
    pub question: Question,
    pub name: Option<String>,
    answered: Rc<dyn Fn(PathBuf) -> Command>,
}

impl AskedPath {
    pub fn named(self, name: String) -> Self {
        Self { name: Some(name), ..self }
    }

    pub fn answered(&self, path: PathBuf) -> Command {
        (self.answered)(path)
    }
}

impl PartialEq for AskedPath {
    fn eq(&self, other: &Self) -> bool {
        self.question == other.question
    }
}

/// An answer within this time shows that the system has no dialog: no user cancels so soon.
const AT_ONCE: Duration = Duration::from_millis(300);
#[cfg(target_family = "wasm")]
const WITHOUT: &str =
    id!("Nothing was chosen. A model of this site opens by its name; files of your own by Browse or by a drop.");
#[cfg(not(target_family = "wasm"))]
const WITHOUT: &str =
    id!("This system shows no file dialog here; on Linux it needs a desktop portal or the program zenity. Type the \
                           path, drop the file on the window, or name it on the command line.");

type Answer = Pin<Box<dyn Future<Output = Option<PathBuf>>>>;

/// The system's file dialog; at most one is open.
#[derive(Default)]
pub struct Dialogs {
    open: Option<(AskedPath, Answer, Instant)>,
    /// The last one was answered before anybody could have seen it.
    is_missing: bool,
    folder: Option<PathBuf>,
}

impl Dialogs {
    pub fn ask(&mut self, asked: AskedPath) {
        if self.open.is_some() {
            return;
        }
        let answer = shown(&asked, self.start(asked.question.wants));
        self.open = Some((asked, answer, Instant::now()));
    }

    /// The folder of the last answer; for a new file at first the user's documents.
    fn start(&self, wants: Wants) -> Option<PathBuf> {
        let documents = || {
            let user = directories::UserDirs::new()?;
            Some(user.document_dir().unwrap_or_else(|| user.home_dir()).to_path_buf())
        };
        self.folder.clone().or_else(|| matches!(wants, Wants::NewFile(_)).then(documents)?)
    }

    /// Keeps files that were dropped on a browser's page, and answers with their paths.
    #[cfg(target_family = "wasm")]
    pub fn dropped(&mut self, files: Vec<egui::DroppedFileHandle>, asked: AskedPath) {
        let answer = async move {
            let read = |file: egui::DroppedFileHandle| {
                (file.path().to_string_lossy().into_owned(), async move { file.bytes_async().await.ok() })
            };
            upload::kept(files.into_iter().map(read).collect()).await
        };
        self.open = Some((asked, Box::pin(answer), Instant::now()));
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn missing_ui(&self, ui: &mut egui::Ui) {
        if self.is_missing {
            let text = egui::RichText::new(lang::text(WITHOUT)).color(theme::tokens(ui).warm);
            ui.add(egui::Label::new(text).wrap());
        }
    }

    /// The question and the chosen path, if any, once the dialog is closed; no path if the system has no dialog.
    pub fn poll(&mut self, ctx: &egui::Context) -> Option<(AskedPath, Option<PathBuf>)> {
        let (_, answer, _) = self.open.as_mut()?;
        let waker = Waker::from(Arc::new(Repaint(ctx.clone())));
        let Poll::Ready(chosen) = answer.as_mut().poll(&mut Context::from_waker(&waker)) else {
            return None;
        };
        let (asked, _, began) = self.open.take()?;
        self.is_missing = chosen.is_none() && began.elapsed() < AT_ONCE;
        if let Some(folder) = chosen.as_deref().and_then(Path::parent) {
            self.folder = Some(folder.to_path_buf());
        }
        (chosen.is_some() || self.is_missing).then_some((asked, chosen))
    }
}

#[cfg(not(target_family = "wasm"))]
fn shown(asked: &AskedPath, folder: Option<PathBuf>) -> Answer {
    let Question { title, wants, .. } = asked.question;
    let mut dialog = rfd::AsyncFileDialog::new().set_title(lang::text(title));
    if let Some(folder) = folder {
        dialog = dialog.set_directory(folder);
    }
    match wants {
        Wants::Folder => path_of(dialog.pick_folder()),
        Wants::File(extensions) => {
            path_of(dialog.add_filter(tr!("Usual files"), extensions).add_filter(tr!("All files"), &["*"]).pick_file())
        }
        Wants::NewFile(name) => path_of(dialog.set_file_name(asked.name.as_deref().unwrap_or(name)).save_file()),
    }
}

#[cfg(not(target_family = "wasm"))]
fn path_of(chosen: impl Future<Output = Option<rfd::FileHandle>> + 'static) -> Answer {
    Box::pin(async move { chosen.await.map(|handle| handle.path().to_path_buf()) })
}

/// A browser chooses where it saves, and what it opens has no path: its contents are kept under one.
#[cfg(target_family = "wasm")]
fn shown(asked: &AskedPath, _folder: Option<PathBuf>) -> Answer {
    match asked.question.wants {
        Wants::NewFile(own) => {
            Box::pin(std::future::ready(Some(asked.name.clone().unwrap_or_else(|| own.to_owned()).into())))
        }
        Wants::Folder => Box::pin(async { Some(upload::asked(true).await?.parent()?.to_path_buf()) }),
        Wants::File(_) => Box::pin(upload::asked(false)),
    }
}

struct Repaint(egui::Context);

impl Wake for Repaint {
    fn wake(self: Arc<Self>) {
        self.0.request_repaint();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialog_that_nobody_could_see_asks_on_a_sheet_and_one_that_was_cancelled_does_not() {
        let ctx = egui::Context::default();
        let long = Instant::now().checked_sub(2 * AT_ONCE);
        for (began, is_missing) in [(Some(Instant::now()), true), (long, false)] {
            let Some(began) = began else { continue };
            let asked = TEXT.then(|_| crate::app::command::WindowCommand::DismissNotice(0));
            let mut dialogs =
                Dialogs { open: Some((asked, Box::pin(std::future::ready(None)), began)), ..Dialogs::default() };
            let answered = dialogs.poll(&ctx);
            assert_eq!(
                (answered.is_some_and(|(_, path)| path.is_none()), dialogs.is_missing),
                (is_missing, is_missing)
            );
            assert!(!dialogs.is_open());
        }
    }
}
