//! Floor 13: the window measured from inside: it opens, a sentence is typed a letter at a time, and it closes.
//! Frames, keystrokes and translations are those of the real window; only the letters are made here.

mod frames;
mod heatmap;
mod steps;
mod tree;
mod workspace;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::app::document::column::ColumnState;
use crate::app::figures::WindowFigures;
use crate::error::Result;
use crate::pages::sentence::command::SourceCommand;
use crate::session::driver;
use crate::session::state::Session;
use crate::ui::App;
use crate::ui::views::sentence::source;

pub use crate::ui::measure::heatmap::heatmap;
pub use crate::ui::measure::steps::steps;
pub use crate::ui::measure::tree::tree;
pub use crate::ui::measure::workspace::workspace;

/// What is typed: twenty words.
const SENTENCE: &str =
    "My older brother never told the teacher why he had left the blue bicycle behind the house near the river.";
/// Longest time of a measurement.
const PATIENCE: Duration = Duration::from_mins(2);

/// Opens the window on these options, types, closes, and gives the times.
pub fn measure(options: driver::OpenWith) -> Result<WindowFigures> {
    let began = Instant::now();
    let figures: Arc<Mutex<WindowFigures>> = Arc::default();
    let told = Arc::clone(&figures);
    crate::ui::open(options, move |app| Box::new(Typist::new(app, began, told)))?;
    Ok(lock(&figures).clone())
}

fn lock(figures: &Mutex<WindowFigures>) -> MutexGuard<'_, WindowFigures> {
    figures.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far the measurement is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Models load and the first sentence is translated.
    Opening,
    /// The editor is emptied.
    Clearing,
    /// A letter was typed at this moment; whether its first row is there.
    Waiting { typed: Instant, row: bool },
    /// The next letter may come.
    Ready,
}

/// The window, into which letters are typed.
struct Typist {
    app: App,
    began: Instant,
    stage: Stage,
    /// Letters typed so far.
    typed: usize,
    frames_seen: bool,
    /// When the last frame began, and whether a column was decoding then.
    last_frame: Option<(Instant, bool)>,
    figures: Arc<Mutex<WindowFigures>>,
}

impl Typist {
    fn new(app: App, began: Instant, figures: Arc<Mutex<WindowFigures>>) -> Self {
        Self { app, began, stage: Stage::Opening, typed: 0, frames_seen: false, last_frame: None, figures }
    }

    /// Looks at what the last frame left, and goes on when it is time.
    fn look(&mut self, ctx: &egui::Context) {
        let session = self.app.session();
        let (finished, row) = (finished(session), first_row(session));
        let mut figures = lock(&self.figures);
        if !self.frames_seen {
            self.frames_seen = true;
            figures.first_frame_millis = millis(self.began);
        }
        match self.stage {
            Stage::Opening if finished => {
                figures.columns = session.app().document.columns().len();
                figures.first_translation_millis = millis(self.began);
                self.stage = Stage::Clearing;
            }
            Stage::Clearing if session.app().document.source().is_empty() => self.stage = Stage::Ready,
            Stage::Waiting { typed, row: seen } => {
                if !seen && row && session.app().document.source().len() == self.typed {
                    figures.first_row_millis.push(millis(typed));
                    self.stage = Stage::Waiting { typed, row: true };
                }
                if finished && session.app().document.source().len() == self.typed {
                    figures.finished_millis.push(millis(typed));
                    self.stage = Stage::Ready;
                }
            }
            _ => {}
        }
        let done = self.stage == Stage::Ready && self.typed == SENTENCE.len();
        if done || self.began.elapsed() > PATIENCE {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
        // the next letter does not wait for a reason to repaint
        ctx.request_repaint();
    }

    /// What is known of the frame before, now that this one begins.
    fn note_last(&mut self, frame: &eframe::Frame) {
        let last = self.last_frame.replace((Instant::now(), self.app.session().app().document.decoding() > 0));
        let Some((began, decoding)) = last else { return };
        let mut figures = lock(&self.figures);
        let whole = frame.info().cpu_usage.map(|seconds| 1000.0 * f64::from(seconds));
        if decoding {
            figures.decoding_whole_millis.extend(whole);
            figures.decoding_intervals_millis.push(millis(began));
        } else {
            figures.idle_whole_millis.extend(whole);
            figures.idle_intervals_millis.push(millis(began));
        }
    }

    fn note_frame(&self, decoding: bool) {
        let Some(frame) = self.app.frame_times().last() else { return };
        let mut figures = lock(&self.figures);
        let list = if decoding { &mut figures.decoding_frames_millis } else { &mut figures.idle_frames_millis };
        list.push(1000.0 * frame.as_secs_f64());
    }
}

impl eframe::App for Typist {
    fn logic(&mut self, ctx: &egui::Context, frame: &mut eframe::Frame) {
        self.note_last(frame);
        self.app.logic(ctx, frame);
    }

    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        if self.stage == Stage::Clearing {
            self.app.send(SourceCommand::Edit(String::new()));
            ctx.memory_mut(|memory| memory.request_focus(source::editor_id()));
        }
        let decoding = self.app.session().app().document.decoding() > 0;
        self.app.ui(ui, frame);
        self.note_frame(decoding);
        self.look(&ctx);
    }

    fn raw_input_hook(&mut self, _ctx: &egui::Context, input: &mut egui::RawInput) {
        if self.stage == Stage::Ready
            && let Some(letter) = SENTENCE.get(self.typed..=self.typed)
        {
            input.events.push(egui::Event::Text(letter.to_owned()));
            self.typed += 1;
            self.stage = Stage::Waiting { typed: Instant::now(), row: false };
        }
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        self.app.clear_color(visuals)
    }
}

fn millis(since: Instant) -> f64 {
    1000.0 * since.elapsed().as_secs_f64()
}

/// Every column that could load shows a complete translation of the present text.
fn finished(session: &Session) -> bool {
    session.app().document.decoding() == 0
        && session.app().document.columns().iter().any(|column| column.state == ColumnState::Ready)
        && session.app().document.columns().iter().all(|column| match column.state {
            ColumnState::Loading(_) => false,
            ColumnState::Ready => column.table.is_some() && !column.stale && !column.decoding,
            ColumnState::Failed(_) => true,
        })
}

/// Every column that could load shows at least a first word of the present text.
fn first_row(session: &Session) -> bool {
    session
        .app()
        .document
        .columns()
        .iter()
        .all(|column| column.state != ColumnState::Ready || (column.table.is_some() && !column.stale))
}
