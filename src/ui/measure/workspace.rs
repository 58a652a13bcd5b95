//! Floor 13: page Corpus with a long table, without a display: until it is there, frames of its rows, and the way from a
//! click on a sentence to its heatmap.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Event as Input, Modifiers, MouseWheelUnit, TouchPhase, Vec2, pos2};

use crate::app::effect::Effect;
use crate::app::figures::WorkspaceFigures;
use crate::app::page::Page;
use crate::jobs::corpus::thread::{CorpusRequest, CorpusThread};
use crate::pages::corpus::command::WorkbenchCommand;
use crate::session::command::{Command, WindowCommand};
use crate::session::driver::OpenWith;
use crate::session::state::Session;
use crate::ui::Desk;
use crate::ui::measure::frames::{WARM_UP, WINDOW, Window, wheel};
use crate::ui::measure::millis;

/// Longest wait for anything.
const PATIENCE: Duration = Duration::from_mins(5);
/// How far the wheel leaps, points: some thousand rows.
const LEAP: f32 = 99_000.0;

/// Opens a workspace and measures: until its rows are painted; frames while its rows scroll a little and leap, at once and
/// when everything is read; from a click on a sentence until its heatmap is painted.
pub fn workspace(path: &Path, frames: usize) -> WorkspaceFigures {
    let mut figures = WorkspaceFigures::default();
    let mut session = Session::start(None, &OpenWith::default());
    session.apply(WindowCommand::ShowPage(Page::Workbench));
    let mut window = Window::of(Box::new(Kept { session, corpus: CorpusThread::spawn(Arc::new(|| {})) }), WINDOW);
    for _ in 0..WARM_UP {
        window.frame(Vec::new());
    }
    let began = Instant::now();
    window.app.send(CorpusRequest::Open(path.to_owned()));
    until(&mut window, &|session| !session.workbench().rows.is_empty());
    window.frame(Vec::new());
    figures.opened_millis = millis(began);
    figures.rows = window.app.session().workbench().rows.len();
    window.frame(vec![Input::PointerMoved(pos2(0.3 * WINDOW.x, 0.5 * WINDOW.y))]);
    figures.first_leaps_millis = (0..frames.min(30)).map(|n| window.frame(vec![leap(n)])).collect();
    until(&mut window, &|session| session.workbench().corpus.has_texts());
    figures.scrolling_millis = (0..frames).map(|n| window.frame(vec![wheel(n)])).collect();
    figures.leaping_millis = (0..frames).map(|n| window.frame(vec![leap(n)])).collect();
    for n in 0..frames {
        let at = n * 7919 % figures.rows.max(1);
        let began = Instant::now();
        window.app.send(WorkbenchCommand::Select(Some(at)));
        until(&mut window, &|session| session.workbench().detail.as_ref().is_some_and(|detail| detail.at == at));
        window.frame(Vec::new());
        figures.chosen_millis.push(millis(began));
    }
    figures.has_heatmap = window.app.session().workbench().tables.iter().any(Option::is_some);
    figures
}

/// Paints until something has come.
fn until(window: &mut Window, is_there: &dyn Fn(&Session) -> bool) {
    let began = Instant::now();
    while !is_there(window.app.session()) && began.elapsed() < PATIENCE {
        window.frame(Vec::new());
    }
}

/// The wheel far down and back.
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

/// A session with the corpus alone.
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

impl Desk for Kept {
    fn session(&self) -> &Session {
        &self.session
    }

    fn send(&mut self, command: Command) {
        self.session.apply(command);
        self.carry_out();
    }

    fn pump(&mut self, _budget: Duration) -> bool {
        let mut changed = false;
        while let Some(news) = self.corpus.try_next() {
            changed |= self.session.absorb_corpus_news(news);
            self.carry_out();
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::alignment::Alignment;
    use crate::corpus::measures::measures::Measuring;
    use crate::corpus::store::file::Workspace;
    use crate::corpus::store::output::Output;
    use crate::corpus::store::read::About;
    use crate::corpus::store::write::NewSentence;

    #[test]
    fn the_measured_window_shows_the_rows_and_a_heatmap() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.ilws");
        let mut workspace = Workspace::open(&path).expect("a workspace");
        let new = |n: usize| NewSentence { source: format!("word {n}"), ..NewSentence::default() };
        workspace.add_sentences(1, &(0..50).map(new).collect::<Vec<_>>()).expect("sentences");
        let id = workspace.add_system("A", &About::default()).expect("a system").id;
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let said = |n: usize| Output {
            text: "mot".to_owned(),
            source: words(&format!("word {n}")),
            target: words("mot"),
            alpha: Some(Alignment::from_rows(&[[0.25, 0.75]])),
            ..Output::default()
        };
        let outputs: Vec<_> = (0..50).map(|n| (n, said(n))).collect();
        workspace.add_outputs(id, &outputs, &mut Measuring::default()).expect("outputs");
        let figures = super::workspace(&path, 2);
        let counts = [&figures.scrolling_millis, &figures.leaping_millis, &figures.chosen_millis].map(Vec::len);
        assert!(figures.rows == 50 && counts == [2; 3] && figures.has_heatmap, "{figures:?}");
    }
}
