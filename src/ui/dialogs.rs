//! Floor 9: the system's file dialogs, asked without ever blocking a frame.
//!
//! The dialog is a future; it is polled once a frame and wakes the window when it is done. Where the system has no
//! dialog it answers as if cancelled, so every place that asks also takes a typed path.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::task::Poll;
use std::task::Wake;
use std::task::Waker;

/// What the answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// A model folder.
    Model,
    /// A text file.
    Text,
}

type Answer = Pin<Box<dyn Future<Output = Option<rfd::FileHandle>>>>;

/// At most one dialog at a time.
#[derive(Default)]
pub struct Dialogs {
    open: Option<(Question, Answer)>,
}

impl Dialogs {
    /// Opens the dialog, unless one is open already.
    pub fn ask(&mut self, question: Question) {
        if self.open.is_some() {
            return;
        }
        let dialog = rfd::AsyncFileDialog::new();
        let answer: Answer = match question {
            Question::Model => Box::pin(dialog.set_title("Add a model folder").pick_folder()),
            Question::Text => {
                let filtered =
                    dialog.set_title("Open a text file").add_filter("Text", &["txt", "en", "fr", "de", "tsv"]);
                Box::pin(filtered.add_filter("All files", &["*"]).pick_file())
            }
        };
        self.open = Some((question, answer));
    }

    /// Whether a dialog is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The chosen path, once there is one.
    pub fn poll(&mut self, ctx: &egui::Context) -> Option<(Question, PathBuf)> {
        let (question, answer) = self.open.as_mut()?;
        let waker = Waker::from(Arc::new(Repaint(ctx.clone())));
        let Poll::Ready(chosen) = answer.as_mut().poll(&mut Context::from_waker(&waker)) else {
            return None;
        };
        let question = *question;
        self.open = None;
        chosen.map(|handle| (question, handle.path().to_path_buf()))
    }
}

struct Repaint(egui::Context);

impl Wake for Repaint {
    fn wake(self: Arc<Self>) {
        self.0.request_repaint();
    }
}
