//! Page Corpus with a long table, without a display: until it is there, frames of its rows, and the way from a click on a
//! sentence to its heatmap.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Event as Input, Modifiers, MouseWheelUnit, TouchPhase, Vec2, pos2};
use serde_json::json;

use crate::Setup;
use crate::frames::{Window, wheel};
use crate::timing::{millis, told};
use interlinear::app::{command::WindowCommand, tasks::Effect};
use interlinear::cli::bench::figures::{BenchColumn, Figures};
use interlinear::jobs::corpus::thread::{CorpusRequest, CorpusThread};
use interlinear::pages::{command::Command, corpus::CORPUS, corpus::command::CorpusCommand};
use interlinear::{session::driver::OpenWith, session::state::Session, ui::SessionHost};

const COLUMNS: &[BenchColumn] = &[
    BenchColumn::number("rows", 0),
    BenchColumn::number("opened ms", 0),
    BenchColumn::words("what happens", 20),
    BenchColumn::number("median ms", 2),
    BenchColumn::number("p99 ms", 2),
    BenchColumn::number("most ms", 2),
];

const PATIENCE: Duration = Duration::from_mins(5);
/// How far the wheel leaps, points: some thousand rows.
const LEAP: f32 = 99_000.0;

pub fn run(setup: &Setup, figures: &mut Figures, paths: &[PathBuf]) -> anyhow::Result<()> {
    figures
        .line("\nCPU time of a frame of the whole window with the table; a click until the heatmaps are laid out")?;
    figures.head(COLUMNS)?;
    paths.iter().try_for_each(|path| table(setup, figures, path))
}

fn table(setup: &Setup, figures: &mut Figures, path: &Path) -> anyhow::Result<()> {
    let frames = setup.frames();
    let mut session = Session::start(None, &OpenWith::default());
    session.apply(WindowCommand::ShowPage(CORPUS));
    let mut window = Window::usual(Box::new(Kept { session, corpus: CorpusThread::spawn(Arc::new(|| {})) }));
    window.settle();
    let began = Instant::now();
    window.app.send(CorpusRequest::Open(path.to_owned()));
    until(&mut window, &|session| !session.corpus().rows.is_empty());
    window.frame(Vec::new());
    let opened = millis(began);
    let rows = window.app.session().corpus().rows.len();
    anyhow::ensure!(rows > 0, "the workspace did not open");
    window.frame(vec![Input::PointerMoved(pos2(380.0, 400.0))]);
    let first_leaps = window.frames(frames.min(30), &mut |_, n| vec![leap(n)]);
    until(&mut window, &|session| {
        let page = session.corpus();
        page.corpus.has_rows(&page.rows, &[])
    });
    let scrolling = window.frames(frames, &mut |_, n| vec![wheel(n)]);
    let leaping = window.frames(frames, &mut |_, n| vec![leap(n)]);
    let mut choose = |n: usize| {
        let at = n * 7919 % rows;
        let began = Instant::now();
        window.app.send(CorpusCommand::Select(Some(at)));
        until(&mut window, &|session| session.corpus().detail.as_ref().is_some_and(|detail| detail.at == at));
        window.frame(Vec::new());
        millis(began)
    };
    let chosen = (0..frames).map(&mut choose).collect();
    let has_heatmap = window.app.session().corpus().tables.iter().any(Option::is_some);
    let click = if has_heatmap { "click to heatmap" } else { "click to texts" };
    let kinds: [(&str, Vec<f64>); 4] =
        [("leaping, just opened", first_leaps), ("wheel", scrolling), ("leaping", leaping), (click, chosen)];
    for (what, times) in kinds {
        figures.row(&[&[json!(rows), json!(opened), json!(what)], &told(&times)[..]].concat())?;
    }
    Ok(())
}

fn until(window: &mut Window, is_there: &dyn Fn(&Session) -> bool) {
    let began = Instant::now();
    while !is_there(window.app.session()) && began.elapsed() < PATIENCE {
        window.frame(Vec::new());
    }
}

fn leap(n: usize) -> Input {
    let by = if (n / 40).is_multiple_of(2) { -LEAP } else { LEAP };
    let (phase, modifiers) = (TouchPhase::Move, Modifiers::NONE);
    Input::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: Vec2::new(0.0, by),
        phase,
        source: egui::MouseWheelSource::Wheel,
        modifiers,
    }
}

struct Kept {
    session: Session,
    corpus: CorpusThread,
}

impl Kept {
    fn carry_out(&mut self) {
        for effect in self.session.take_effects() {
            if let Effect::Corpus(call) = effect {
                self.corpus.send(call);
            }
        }
    }
}

impl SessionHost for Kept {
    fn session(&self) -> &Session {
        &self.session
    }

    fn send(&mut self, command: Command) {
        self.session.apply(command);
        self.carry_out();
    }

    fn pump(&mut self, _budget: Duration) -> bool {
        let mut changed = false;
        while let Some(news) = self.corpus.news.try_next() {
            changed |= self.session.absorb_corpus(news);
            self.carry_out();
        }
        changed
    }
}
