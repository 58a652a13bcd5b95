//! A stand-in for the driver: a session that tests feed with hand-made events.

use std::{cell::RefCell, path::PathBuf, rc::Rc, sync::Arc, time::Duration};

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::{Harness, kittest::Queryable as _};
use interlinear::app::files::work::{FileEvent, FileJob};
use interlinear::app::{command::SourceCommand, command::WindowCommand, open_with::Installed, tasks::Effect};
use interlinear::decoding::{Hypothesis, Specials};
use interlinear::jobs::corpus::thread::{CorpusNews, CorpusRequest};
use interlinear::jobs::live::protocol::{DeviceFacts, Event, HypothesisView, ModelFacts, ModelSizes};
use interlinear::jobs::queue::{Found, QueueEvent, QueueNews};
use interlinear::jobs::steps::{StepTrace, StepsEvent};
use interlinear::pages::{command::Command, corpus::CorpusPage, sentence::command::ColumnCommand};
use interlinear::ui::{App, SessionHost};
use interlinear::{app::page::Page, app::state::AppState, figure::interlinear::conllu};
use interlinear::{session::driver::OpenWith, session::state::Session, text::sentence::Sentence};

#[derive(Clone, Default)]
pub struct Wires {
    pub sent: Rc<RefCell<Vec<Command>>>,
    pub events: Rc<RefCell<Vec<Event>>>,
    pub corpus: Rc<RefCell<Vec<QueueEvent>>>,
    pub calls: Rc<RefCell<Vec<CorpusRequest>>>,
    pub news: Rc<RefCell<Vec<CorpusNews>>>,
    pub written: Rc<RefCell<Vec<(PathBuf, String)>>>,
    pub trace: Rc<RefCell<Option<Arc<StepTrace>>>>,
}

impl Wires {
    pub fn heard(&self, wanted: impl Into<Command>) -> bool {
        self.sent.borrow().contains(&wanted.into())
    }

    pub fn heard_of(&self, name: &str) -> bool {
        self.sent.borrow().iter().any(|command| format!("{command:?}").contains(name))
    }

    pub fn report(&self, harness: &mut Harness<'_, App>, number: u64, kind: QueueNews<Found>) {
        self.corpus.borrow_mut().push(QueueEvent { number, kind });
        harness.run();
    }
}

pub struct Rehearsal {
    session: Session,
    wires: Wires,
}

impl SessionHost for Rehearsal {
    fn session(&self) -> &Session {
        &self.session
    }

    fn send(&mut self, command: Command) {
        self.wires.sent.borrow_mut().push(command.clone());
        self.session.apply(command);
    }

    fn pump(&mut self, _budget: Duration) -> bool {
        let mut changed = false;
        for event in self.wires.events.take() {
            changed |= self.session.absorb(event);
        }
        for event in self.wires.corpus.take() {
            changed |= self.session.absorb_job(event);
        }
        for news in self.wires.news.take() {
            changed |= self.session.absorb_corpus(news);
        }
        for effect in self.session.take_effects() {
            if let Effect::Corpus(call) = effect {
                self.wires.calls.borrow_mut().push(call);
            } else if let Effect::Chore(FileJob::Write { path, text }) = effect {
                self.wires.written.borrow_mut().push((path, text));
            } else if let Effect::Chore(FileJob::Paint(picture)) = effect {
                let pixels = picture.pixels().expect("it can be drawn");
                self.session.absorb_file(FileEvent::Painted(Arc::new(pixels)));
                changed = true;
            } else if let Effect::Chore(FileJob::ReadAnnotated(path)) = effect {
                let sentences = Arc::new(conllu::read_file(&path).expect("it can be read"));
                self.session.absorb_file(FileEvent::Annotated { path, sentences });
                changed = true;
            } else if let Effect::TakeApart { number, .. } = effect
                && let Some(trace) = self.wires.trace.borrow().clone()
            {
                changed |= self.session.absorb_steps(StepsEvent { number, found: Ok(trace) });
            }
        }
        changed
    }
}

pub fn rehearsal(session: Session) -> Rehearsal {
    Rehearsal { session, wires: Wires::default() }
}

pub fn sentence(text: &str, unknown: &[&str]) -> Sentence {
    let mut sentence = Sentence { text: text.to_owned(), ..Sentence::default() };
    let mut at = 0;
    for word in text.split_whitespace() {
        let start = at + text[at..].find(word).expect("the word is in the text");
        at = start + word.len();
        sentence.tokens.push(word.to_owned());
        sentence.spans.push(start..at);
        sentence.ids.push(if unknown.contains(&word) { 1 } else { 5 });
    }
    sentence.tokens.push("</s>".to_owned());
    sentence.spans.push(text.len()..text.len());
    sentence.ids.push(0);
    sentence
}

pub fn hypothesis(text: &str, t_x: usize, aligned: bool, log_p: f32) -> HypothesisView {
    let mut tokens: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    tokens.push("</s>".to_owned());
    let t_y = tokens.len();
    let row = |i: usize| -> Vec<f32> {
        let rest = 0.2 / (t_x.max(2) - 1) as f32;
        (0..t_x).map(|j| if j == i.min(t_x - 1) { 0.8 } else { rest }).collect()
    };
    let alpha: Vec<Vec<f32>> = (0..t_y).map(row).collect();
    let energies = alpha.iter().map(|row| row.iter().map(|a| a.ln()).collect()).collect();
    let is_unk: Vec<bool> = tokens.iter().map(|token| token == "[UNK]").collect();
    HypothesisView {
        found: Hypothesis {
            tokens: tokens
                .iter()
                .map(|token| match token.as_str() {
                    "</s>" => 0,
                    "[UNK]" => 1,
                    _ => 7,
                })
                .collect(),
            token_log_p: vec![log_p / t_y as f32; t_y],
            log_p,
            rank: log_p,
            finished: true,
            alpha: aligned.then_some(alpha),
            energies: aligned.then_some(energies),
            ..Hypothesis::default()
        },
        candidates: tokens.iter().map(|token| vec![(token.clone(), -0.2), ("autre".to_owned(), -2.0)]).collect(),
        replaced: is_unk.iter().map(|is_unk| is_unk.then(|| "zorglub".to_owned())).collect(),
        is_unk,
        text: text.to_owned(),
        tokens,
        ..HypothesisView::default()
    }
}

pub fn facts(name: &str, has_alignment: bool) -> ModelFacts {
    ModelFacts {
        name: name.to_owned(),
        architecture: if has_alignment { "rnnsearch" } else { "rnnencdec" }.to_owned(),
        source_language: "en".to_owned(),
        target_language: "fr".to_owned(),
        sizes: ModelSizes { parameters: 11_000_000, ..ModelSizes::default() },
        specials: Specials { eos: 0, unk: 1, bars_unk: false },
        languages: Vec::new(),
        has_alignment,
        attention: has_alignment.then(|| "additive".to_owned()),
        device: DeviceFacts { name: "cpu".to_owned(), notice: None },
        ..ModelFacts::default()
    }
}

pub fn session(source: &str) -> Session {
    session_beside(source, Vec::new())
}

fn session_beside(source: &str, bundled: Vec<Installed>) -> Session {
    let mut session = Session::start(None, &OpenWith { bundled, ..OpenWith::default() });
    let ids: Vec<u64> = session.app().document.columns.iter().map(|column| column.id).collect();
    for id in ids {
        session.apply(ColumnCommand::Remove(id));
    }
    session.apply(SourceCommand::Replace(source.to_owned()));
    session
}

pub fn add_column(session: &mut Session, facts: ModelFacts) -> u64 {
    session.apply(ColumnCommand::Add((&facts.name).into()));
    let column = session.app().document.columns.last().expect("a column was added").id;
    session.absorb(Event::Loaded { column, facts });
    column
}

/// A column whose model has translated the sentence.
pub fn add_finished(session: &mut Session, name: &str, source: &str, outputs: &[&str]) -> u64 {
    add_translated(session, facts(name, true), source, outputs)
}

pub fn add_translated(session: &mut Session, facts: ModelFacts, source: &str, outputs: &[&str]) -> u64 {
    let column = add_column(session, facts);
    finish(session, column, source, outputs, None);
    column
}

pub fn two_models() -> Session {
    two_models_beside(Vec::new())
}

pub fn two_models_beside(bundled: Vec<Installed>) -> Session {
    let mut session = session_beside("the red shoe", bundled);
    let encdec = add_column(&mut session, facts("RNNencdec", false));
    let search = add_column(&mut session, facts("RNNsearch", true));
    finish(&mut session, encdec, "the red shoe", &["le rouge soulier"], Some(vec![0.5, -0.25, 0.1]));
    finish(&mut session, search, "the red shoe", &["la chaussure rouge", "le soulier rouge"], None);
    session
}

pub fn finished(
    session: &Session, column: u64, source: Sentence, outputs: &[&str], context: Option<Vec<f32>>,
) -> Vec<Event> {
    let number = session.app().tasks.newest;
    let t_x = source.len();
    let hypotheses: Vec<HypothesisView> =
        outputs.iter().enumerate().map(|(n, text)| hypothesis(text, t_x, context.is_none(), -1.5 - n as f32)).collect();
    let result = interlinear::jobs::live::protocol::ColumnResult {
        hypotheses,
        context: context.clone(),
        millis: 17.0,
        first_row_millis: 5.0,
        words_per_second: 400.0,
        ..Default::default()
    };
    vec![Event::Started { number, column, source, context }, Event::Finished { number, column, result }]
}

pub fn absorb(session: &mut Session, events: impl IntoIterator<Item = Event>) {
    events.into_iter().for_each(|event| _ = session.absorb(event));
}

pub fn finish(session: &mut Session, column: u64, source: &str, outputs: &[&str], context: Option<Vec<f32>>) {
    absorb(session, finished(session, column, sentence(source, &["zorglub"]), outputs, context));
}

pub fn window(session: Session) -> (Harness<'static, App>, Wires) {
    window_of(session, [1280.0, 800.0])
}

/// A window of two models, and the id of one of them.
pub fn two_models_and(column: usize) -> (Harness<'static, App>, Wires, u64) {
    let session = two_models();
    let id = session.app().document.columns[column].id;
    let (harness, wires) = window(session);
    (harness, wires, id)
}

/// A window of two models on this page.
pub fn on_page(page: Page) -> (Harness<'static, App>, Wires) {
    let mut session = two_models();
    session.apply(WindowCommand::ShowPage(page));
    window(session)
}

pub fn window_of(session: Session, size: [f32; 2]) -> (Harness<'static, App>, Wires) {
    window_with(session, size, Vec::new())
}

pub fn window_with(session: Session, size: [f32; 2], bundled: Vec<Installed>) -> (Harness<'static, App>, Wires) {
    let (mut harness, wires) = begun(session, size, bundled);
    let id = interlinear::pages::shell::source::editor_id();
    let mut state = egui::text_edit::TextEditState::load(&harness.ctx, id).unwrap_or_default();
    state.cursor.set_char_range(None);
    state.store(&harness.ctx, id);
    harness.ctx.memory_mut(|memory| memory.surrender_focus(id));
    harness.run();
    (harness, wires)
}

pub fn window_at_start(session: Session, size: [f32; 2]) -> (Harness<'static, App>, Wires) {
    begun(session, size, Vec::new())
}

fn begun(session: Session, size: [f32; 2], bundled: Vec<Installed>) -> (Harness<'static, App>, Wires) {
    made(session, size, |app| app.with_bundled(bundled, None))
}

/// A window of 1280x800 in which something is otherwise from the start.
pub fn window_changed(session: Session, change: impl FnOnce(App) -> App) -> (Harness<'static, App>, Wires) {
    made(session, [1280.0, 800.0], change)
}

fn made(session: Session, size: [f32; 2], change: impl FnOnce(App) -> App) -> (Harness<'static, App>, Wires) {
    let wires = Wires::default();
    let desk = Rehearsal { session, wires: wires.clone() };
    let builder = Harness::builder().with_size(size).with_max_steps(30).allow_missing_glyphs();
    let mut harness = builder.build_eframe(|creation| change(App::new(Box::new(desk), &creation.egui_ctx)));
    harness.run();
    (harness, wires)
}

/// What a user does in the window and sees in it. Frames run after each act until nothing moves.
pub trait WindowActions {
    fn click_on(&mut self, label: &str);
    fn click_on_each(&mut self, labels: &[&str]);
    fn click_role(&mut self, role: Role, label: &str);
    fn click_button(&mut self, label: &str);
    fn click_containing(&mut self, part: &str);
    fn open_menu_of(&mut self, label: &str);
    fn type_into(&mut self, label: &str, text: &str);
    fn focus_on(&mut self, label: &str);
    fn point_at(&mut self, label: &str);
    fn press(&mut self, key: Key);
    fn press_with(&mut self, modifiers: Modifiers, key: Key);
    fn send(&mut self, command: impl Into<Command>);
    /// Whether one widget has this label; a second one fails the test.
    fn has(&self, label: &str) -> bool;
    /// Whether any widget has this label.
    fn has_any(&self, label: &str) -> bool;
    fn assert_has(&self, label: &str);
    /// That one widget has each of these labels.
    fn assert_has_all(&self, labels: &[&str]);
    fn get_each(&self, labels: &[&str]);
    fn app(&self) -> &AppState;
    fn corpus(&self) -> &CorpusPage;
}

impl WindowActions for Harness<'_, App> {
    #[track_caller]
    fn click_on(&mut self, label: &str) {
        self.get_by_label(label).click();
        self.run();
    }

    #[track_caller]
    fn click_on_each(&mut self, labels: &[&str]) {
        for label in labels {
            self.click_on(label);
        }
    }

    #[track_caller]
    fn click_role(&mut self, role: Role, label: &str) {
        self.get_by_role_and_label(role, label).click();
        self.run();
    }

    #[track_caller]
    fn click_button(&mut self, label: &str) {
        self.click_role(Role::Button, label);
    }

    #[track_caller]
    fn click_containing(&mut self, part: &str) {
        self.get_by_label_contains(part).click();
        self.run();
    }

    #[track_caller]
    fn open_menu_of(&mut self, label: &str) {
        self.get_by_label(label).click_secondary();
        self.run();
    }

    #[track_caller]
    fn type_into(&mut self, label: &str, text: &str) {
        self.get_by_label(label).type_text(text);
        self.run();
    }

    #[track_caller]
    fn focus_on(&mut self, label: &str) {
        self.get_by_label(label).focus();
        self.run();
    }

    #[track_caller]
    fn point_at(&mut self, label: &str) {
        self.get_by_label(label).hover();
        self.run();
    }

    fn press(&mut self, key: Key) {
        self.press_with(Modifiers::NONE, key);
    }

    fn press_with(&mut self, modifiers: Modifiers, key: Key) {
        self.key_press_modifiers(modifiers, key);
        self.run();
    }

    fn send(&mut self, command: impl Into<Command>) {
        self.state_mut().send(command);
        self.run();
    }

    #[track_caller]
    fn has(&self, label: &str) -> bool {
        self.query_by_label(label).is_some()
    }

    fn has_any(&self, label: &str) -> bool {
        self.query_all_by_label(label).next().is_some()
    }

    #[track_caller]
    fn assert_has(&self, label: &str) {
        assert!(self.has_any(label), "{label} is missing");
    }

    #[track_caller]
    fn assert_has_all(&self, labels: &[&str]) {
        for label in labels {
            assert!(self.has(label), "{label} is missing");
        }
    }

    #[track_caller]
    fn get_each(&self, labels: &[&str]) {
        for label in labels {
            self.get_by_label(label);
        }
    }

    fn app(&self) -> &AppState {
        self.state().session().app()
    }

    fn corpus(&self) -> &CorpusPage {
        self.state().session().corpus()
    }
}
