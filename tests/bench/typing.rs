//! The window measured from inside: it opens on the four models, a sentence is typed a letter at a time, and it closes.
//! Frames, keystrokes and translations are those of the real window; only the letters are made here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::Setup;
use crate::timing::{millis, told};
use interlinear::app::{command::SourceCommand, document::column::ColumnState};
use interlinear::cli::bench::figures::{BenchColumn, Figures};
use interlinear::ui::{self, App};
use interlinear::{nn::device::DeviceChoice, pages::shell::source, session::driver::OpenWith, session::state::Session};

const SENTENCE: &str =
    "My older brother never told the teacher why he had left the blue bicycle behind the house near the river.";
const PATIENCE: Duration = Duration::from_mins(2);

const COLUMNS: &[BenchColumn] = &[
    BenchColumn::words("", 32),
    BenchColumn::number("median ms", 1),
    BenchColumn::number("p99", 1),
    BenchColumn::number("most", 1),
];

#[derive(Clone, Default)]
struct Times {
    first_frame: f64,
    first_translation: f64,
    columns: usize,
    first_rows: Vec<f64>,
    finished: Vec<f64>,
    decoding: Frames,
    idle: Frames,
}

#[derive(Clone, Default)]
struct Frames {
    own: Vec<f64>,
    whole: Vec<f64>,
    intervals: Vec<f64>,
}

impl Times {
    fn frames(&mut self, decoding: bool) -> &mut Frames {
        if decoding { &mut self.decoding } else { &mut self.idle }
    }
}

pub fn run(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    if setup.quick {
        return figures.line("not in the quick form");
    }
    let (device, threads) = (Some(DeviceChoice::Cpu), Some(setup.runtime.threads));
    let options =
        OpenWith { models: setup.models().iter().map(Into::into).collect(), device, threads, ..OpenWith::default() };
    let began = Instant::now();
    let shared: Arc<Mutex<Times>> = Arc::default();
    let kept = Arc::clone(&shared);
    if let Err(error) = ui::open(options, move |app| Box::new(Typist::new(app, began, kept))) {
        return figures.line(&format!("the window was not measured: {error}"));
    }
    let times = lock(&shared).clone();
    figures.line(&format!("columns {}, {} keystrokes", times.columns, times.finished.len()))?;
    figures.head(COLUMNS)?;
    let last = times.finished[times.finished.len().saturating_sub(20)..].to_vec();
    for (what, millis) in [
        ("first frame", vec![times.first_frame]),
        ("first translation", vec![times.first_translation]),
        ("keystroke to first row", times.first_rows),
        ("keystroke to finished", times.finished),
        ("last 20 keystrokes to finished", last),
        ("frame while decoding", times.decoding.own),
        ("frame otherwise", times.idle.own),
        ("whole frame while decoding", times.decoding.whole),
        ("whole frame otherwise", times.idle.whole),
        ("frame to frame while decoding", times.decoding.intervals),
        ("frame to frame otherwise", times.idle.intervals),
    ] {
        figures.row(&[&[json!(what)], &told(&millis)[..]].concat())?;
    }
    Ok(())
}

fn lock(times: &Mutex<Times>) -> MutexGuard<'_, Times> {
    times.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Opening,
    Clearing,
    Waiting { typed: Instant, row: bool },
    Ready,
}

struct Typist {
    app: App,
    began: Instant,
    stage: Stage,
    typed: usize,
    frames_seen: bool,
    last_frame: Option<(Instant, bool)>,
    times: Arc<Mutex<Times>>,
}

impl Typist {
    fn new(app: App, began: Instant, times: Arc<Mutex<Times>>) -> Self {
        Self { app, began, stage: Stage::Opening, typed: 0, frames_seen: false, last_frame: None, times }
    }

    fn look(&mut self, ctx: &egui::Context) {
        let session = self.app.session();
        let (finished, row) = (finished(session), first_row(session));
        let mut times = lock(&self.times);
        if !self.frames_seen {
            self.frames_seen = true;
            times.first_frame = millis(self.began);
        }
        match self.stage {
            Stage::Opening if finished => {
                times.columns = session.app().document.columns.len();
                times.first_translation = millis(self.began);
                self.stage = Stage::Clearing;
            }
            Stage::Clearing if session.app().document.source().is_empty() => self.stage = Stage::Ready,
            Stage::Waiting { typed, row: seen } => {
                if !seen && row && session.app().document.source().len() == self.typed {
                    times.first_rows.push(millis(typed));
                    self.stage = Stage::Waiting { typed, row: true };
                }
                if finished && session.app().document.source().len() == self.typed {
                    times.finished.push(millis(typed));
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

    fn note_last(&mut self, frame: &eframe::Frame) {
        let last = self.last_frame.replace((Instant::now(), self.app.session().app().document.decoding() > 0));
        let Some((began, decoding)) = last else { return };
        let mut times = lock(&self.times);
        let whole = frame.info().cpu_usage.map(|seconds| 1000.0 * f64::from(seconds));
        let frames = times.frames(decoding);
        frames.whole.extend(whole);
        frames.intervals.push(millis(began));
    }

    fn note_frame(&self, decoding: bool) {
        let Some(frame) = self.app.frame_time else { return };
        let mut times = lock(&self.times);
        times.frames(decoding).own.push(1000.0 * frame.as_secs_f64());
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

fn finished(session: &Session) -> bool {
    session.app().document.decoding() == 0
        && session.app().document.columns.iter().any(|column| column.state == ColumnState::Ready)
        && session.app().document.columns.iter().all(|column| match column.state {
            ColumnState::Loading(_) => false,
            ColumnState::Ready => column.table.is_some() && !column.stale && !column.decoding,
            ColumnState::Failed(_) => true,
        })
}

fn first_row(session: &Session) -> bool {
    session
        .app()
        .document
        .columns
        .iter()
        .all(|column| column.state != ColumnState::Ready || (column.table.is_some() && !column.stale))
}
