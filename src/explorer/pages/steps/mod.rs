//! The Steps page: a model step by step. [`StepsPage::follow`] requests a trace whenever its inputs change.

pub mod beam;
pub mod command;
pub mod depth;
pub mod guess;
mod linked;
pub mod picture;
mod reveal;
pub mod story;
pub mod together;
#[cfg(feature = "gui")]
pub mod view;
pub mod worked;

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::document::column::{Column, ColumnState};
use crate::app::document::table::{AlignmentTable, Making};
use crate::app::{document::table, page::Page, state::AppState, tasks::Effect};
use crate::jobs::steps::{StepTrace, StepsRequest};
use crate::pages::shape::{PageState, changed_fields};
use crate::pages::steps::guess::{Guessing, greatest};
use crate::{jobs::live::protocol::HypothesisView, pages::steps::depth::Depth};
use engine::decoding::{Hypothesis, step_trace::Then};
use engine::models::anatomy::{MachineStage, Miswiring};
use engine::text::links::{Link, Links};
use engine::{analysis::row_convention::RowConvention, models::choice::ModelSpec, text::pieces::PieceMarks};

pub use crate::pages::steps::command::{GUESSES, Guessed, MODES, Mode, STEPS, StepsCommand};

/// Slowest and fastest pace of the player, moves a second.
pub const PACES: (f32, f32) = (0.2, 8.0);

/// The state of the Steps page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepsPage {
    pub mode: Mode,
    pub depth: Depth,
    pub wrong: Option<Miswiring>,
    pub class: Vec<u32>,
    pub i: usize,
    /// How many of its stages are done; `None`: all.
    pub done: Option<usize>,
    pub open: Option<String>,
    pub by_stage: bool,
    pub is_playing: bool,
    /// `None`: one move a second.
    pace: Option<f32>,
    pub guessing: Option<Guessing>,
    pub has_beam: bool,
    pub trace: Option<Arc<StepTrace>>,
    pub table: Option<Arc<AlignmentTable>>,
    pub class_table: Option<Arc<AlignmentTable>>,
    pub message: Option<String>,
    place: Option<StepsPlace>,
    requested: StepsRequested,
    made_of: Option<MadeOf>,
    revision: u64,
}

/// What was requested of the worker last.
#[derive(Clone, Debug, Default, PartialEq)]
struct StepsRequested {
    request: Option<StepsRequest>,
    /// Of the request that is under way; else 0.
    number: u64,
    /// The model and the sentence of [`StepsPage::trace`].
    of: Option<(ModelSpec, String)>,
}

/// The place in a sentence that is shown once its steps are computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepsPlace {
    pub(super) source: String,
    pub(super) class: Vec<u32>,
    pub(super) i: usize,
    pub(super) stage: String,
    pub(super) open: String,
}

impl StepsPlace {
    pub(super) fn is_of(&self, app: &AppState) -> bool {
        self.source == app.document.state.source
    }
}

#[derive(Clone, Debug, PartialEq)]
struct MadeOf {
    revision: u64,
    i: usize,
    rows: usize,
    hides_word: bool,
    whole: Option<(BTreeSet<Link>, bool)>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Saved {
    mode: String,
    depth: String,
    by_stage: bool,
    pace: Option<f32>,
    beam: bool,
}

impl StepsPage {
    pub(crate) fn traced(&mut self, number: u64, found: Result<Arc<StepTrace>, String>, app: &mut AppState) {
        if number != self.requested.number {
            return;
        }
        self.requested.number = 0;
        match found {
            Ok(trace) => {
                let is_other = self.trace.as_ref().is_none_or(|old| old.source.text != trace.source.text);
                let machine = |trace: &StepTrace| (trace.model.clone(), trace.wrong);
                let is_other_machine = self.trace.as_ref().is_none_or(|old| machine(old) != machine(&trace));
                let is_same_machine = self.trace.as_ref().is_some_and(|old| old.machine == trace.machine);
                if !trace.machine.stages.iter().any(|stage| self.open.as_deref() == Some(stage.key)) {
                    self.open = None;
                }
                let before = self.said();
                (self.trace, self.message) = (Some(trace), None);
                let of = self.requested.request.as_ref().map(|request| (request.model.clone(), request.source.clone()));
                self.requested.of = of;
                self.revision += 1;
                let until = if self.whole().is_some() { usize::MAX } else { self.i + 1 };
                let is_other_text = match self.mode {
                    Mode::Class if self.whole().is_none() => false,
                    _ => before.iter().take(until).ne(self.said().iter().take(until)),
                };
                let i = match self.mode {
                    Mode::Class => self.class.len(),
                    Mode::Shown | Mode::Greedy if is_other => 0,
                    Mode::Shown | Mode::Greedy => self.i,
                };
                if is_other || is_other_machine || is_other_text {
                    self.guess(Guessing::begin);
                }
                if is_other || !is_same_machine {
                    self.done = None;
                }
                self.show(i, self.done);
                self.take_place(app);
            }
            Err(message) => self.message = Some(message),
        }
        self.rebuild(app);
    }

    /// The selected column if it is one model, else the first that aligns.
    pub fn column<'a>(&self, app: &'a AppState) -> Option<&'a Column> {
        let selected = app.selected_column().filter(|column| !column.system.is_ensemble());
        let aligns = |column: &&Column| column.facts.as_ref().is_some_and(|facts| facts.has_alignment);
        selected.or_else(|| app.document.models().find(aligns)).or_else(|| app.document.models().next())
    }

    /// Moves a second.
    pub fn pace(&self) -> f32 {
        self.pace.unwrap_or(1.0)
    }

    pub fn is_waiting(&self) -> bool {
        self.requested.number != 0
    }

    /// Whether the trace is of another model or sentence than the column's.
    pub fn is_old(&self, app: &AppState) -> bool {
        let Some((model, source)) = &self.requested.of else { return false };
        let is_new =
            |column: &Column| column.system.only() == Some(model) && column.source.text == *source && !column.stale;
        self.trace.is_some() && !self.column(app).is_some_and(is_new)
    }

    pub fn last(&self) -> usize {
        self.trace.as_ref().map_or(0, |trace| trace.steps.len().saturating_sub(1))
    }

    /// The decoder's stages that are shown, in the order of computation.
    pub fn stages(&self) -> Vec<&MachineStage> {
        let Some(trace) = &self.trace else { return Vec::new() };
        let is_shown = |stage: &&MachineStage| !stage.reads_source() && Depth::of(stage.key) <= self.depth;
        trace.machine.stages.iter().filter(is_shown).collect()
    }

    fn look(&mut self, depth: Depth) {
        let current = self.current();
        self.depth = depth;
        let place = |key| self.stages().iter().position(|stage| stage.key == key);
        self.done = current.map(|key| place(key).map_or(1, |at| at + 1));
        self.open = self.open.take().filter(|key| Depth::of(key) <= depth);
    }

    /// Whether a stage has its numbers already; those of the encoder always have.
    pub fn is_done(&self, key: &str) -> bool {
        let Some(done) = self.done else { return true };
        self.stages().iter().position(|stage| stage.key == key).is_none_or(|at| at < done)
    }

    pub fn current(&self) -> Option<&'static str> {
        self.stages().get(self.done?.checked_sub(1)?).map(|stage| stage.key)
    }

    pub fn hides(&self, what: Guessed, i: usize) -> bool {
        self.hidden(i) == Some(what)
    }

    pub fn hidden(&self, i: usize) -> Option<Guessed> {
        let guessing = self.guessing.as_ref().filter(|guessing| !guessing.is_revealed)?;
        let has_rows = self.trace.as_ref().is_some_and(|trace| trace.aligns);
        match guessing.of {
            Guessed::Whole => has_rows.then_some(Guessed::Row),
            of => Some(of).filter(|of| i >= self.i && (has_rows || *of == Guessed::Word)),
        }
    }

    pub fn whole(&self) -> Option<&Guessing> {
        let aligns = self.trace.as_ref().is_some_and(|trace| trace.aligns);
        self.guessing.as_ref().filter(|guessing| aligns && guessing.of == Guessed::Whole)
    }

    /// The word that step `i` emits; `None` if there is no such step.
    pub fn truth(&self, i: usize) -> Option<&str> {
        let trace = self.trace.as_ref()?;
        trace.said(i).or_else(|| trace.candidates(i).first().map(String::as_str))
    }

    pub fn marks(&self, app: &AppState) -> PieceMarks {
        let facts = self.column(app).and_then(|column| column.facts.as_ref());
        facts.map(|facts| facts.marks.clone()).unwrap_or_default()
    }

    /// The request for the present state; `None` while the column has no words.
    fn wish(&mut self, app: &AppState) -> Option<StepsRequest> {
        let column = self.column(app)?;
        if column.state != ColumnState::Ready || column.stale || column.decoding || column.source.is_empty() {
            return None;
        }
        let is_of =
            |last: &StepsRequest| last.source == column.source.text && column.system.only() == Some(&last.model);
        if !self.requested.request.as_ref().is_some_and(is_of) {
            // what the class said belongs to another sentence
            let place = self.place.as_ref().filter(|place| place.is_of(app));
            self.class = place.map_or_else(Vec::new, |place| place.class.clone());
        }
        Some(StepsRequest {
            model: column.system.only()?.clone(),
            device: app.view.settings.device,
            source: column.source.text.clone(),
            given: self.given(app),
            then: if self.mode == Mode::Greedy { Then::Greedy } else { Then::Wait },
            wrong: self.wrong,
        })
    }

    fn given(&self, app: &AppState) -> Vec<u32> {
        let shown = || self.column(app).and_then(Column::shown).map(|shown| shown.found.tokens.clone());
        match self.mode {
            Mode::Shown => shown().unwrap_or_default(),
            Mode::Greedy => Vec::new(),
            Mode::Class => self.class.clone(),
        }
    }

    /// Moves by stages, across steps.
    fn move_stage(&mut self, by: isize, app: &AppState) {
        let count = self.stages().len();
        if count == 0 {
            return;
        }
        let at = self.done.unwrap_or(count);
        let target = at as isize + by;
        if target > count as isize {
            if self.hidden(self.i).is_some() {
                self.reveal(app);
            } else if self.i < self.last() {
                self.show(self.i + 1, Some(1));
            } else {
                self.is_playing = false;
            }
        } else if target < 1 {
            if self.i > 0 {
                self.show(self.i - 1, None);
            } else {
                self.done = Some(1);
            }
        } else {
            self.done = Some(target as usize).filter(|done| *done < count);
        }
    }

    fn move_word(&mut self, by: isize) {
        let target = self.i as isize + by;
        if target > self.last() as isize {
            self.is_playing = false;
        }
        self.show(target.clamp(0, self.last() as isize) as usize, None);
    }

    fn show(&mut self, i: usize, done: Option<usize>) {
        if i != self.i {
            self.guess(Guessing::next);
        }
        (self.i, self.done) = (i.min(self.last()), done);
    }

    /// The number of visible rows: of the steps before, and of this one unless it is still to come or to be guessed.
    fn rows(&self) -> usize {
        if self.whole().is_some() {
            return self.said().len();
        }
        let is_there = self.is_done("alpha") && !self.hides(Guessed::Row, self.i);
        self.trace.as_ref().map_or(0, |trace| trace.steps.len().min(self.i + usize::from(is_there)))
    }

    fn rebuild(&mut self, app: &mut AppState) {
        let Some(trace) = self.trace.clone().filter(|trace| trace.aligns) else {
            (self.table, self.class_table, self.made_of) = (None, None, None);
            return;
        };
        let is_to_come = self.mode != Mode::Shown && self.whole().is_none() && !self.is_done("word");
        let hides_word = self.hides(Guessed::Word, self.i) || is_to_come;
        let whole = self.whole().map(|guessing| (guessing.links.clone(), guessing.is_revealed));
        let (revision, i, rows) = (self.revision, self.i, self.rows());
        let made_of = Some(MadeOf { revision, i, rows, hides_word, whole: whole.clone() });
        if self.made_of == made_of && self.table.is_some() {
            return;
        }
        self.made_of = made_of;
        let is_blank = whole.as_ref().is_some_and(|(_, is_revealed)| !is_revealed);
        let steps = &trace.steps[..self.rows()];
        let is_hidden = |i: usize| hides_word && i >= self.i;
        let row = |alpha_i: &Vec<f32>| if is_blank { vec![0.0; alpha_i.len()] } else { alpha_i.clone() };
        let alpha = steps.iter().filter_map(|step| step.alpha_i.as_ref().map(row)).collect();
        let word = |i: usize| trace.said(i).filter(|_| !is_hidden(i)).unwrap_or("?").to_owned();
        let best = |i: usize| {
            let words = trace.candidates(i).iter().filter(|_| !is_hidden(i)).cloned();
            words.zip(steps[i].best.iter().map(|(_, log_p)| *log_p)).collect()
        };
        let shown = HypothesisView {
            found: Hypothesis {
                tokens: steps.iter().map(|step| step.said.map_or(trace.eos, |(id, _)| id)).collect(),
                token_log_p: steps.iter().map(|step| step.said.map_or(0.0, |(_, log_p)| log_p)).collect(),
                alpha: Some(alpha),
                ..Hypothesis::default()
            },
            tokens: (0..steps.len()).map(word).collect(),
            is_unk: vec![false; steps.len()],
            candidates: (0..steps.len()).map(best).collect(),
            replaced: vec![None; steps.len()],
            ..HypothesisView::default()
        };
        let model: Vec<Link> = (0..steps.len()).filter_map(|i| greatest(&trace, i)).collect();
        let guessed = self.whole().map(|guessing| guessing.outlined(&model));
        // steps have the rows that words are predicted with, which is said where the page Sentence shows others
        let facts = self.column(app).and_then(|column| column.facts.as_ref());
        let reading = app.view.settings.of_alpha(facts).filter(|(reading, _)| *reading != RowConvention::default());
        let reading = reading.map(|(_, delay)| (RowConvention::Predicted, delay));
        let mut built = |shown: &HypothesisView, links: Option<Links>| {
            let table = table::build(&trace.source, shown, 0, &Making { pieces: true, reading, ..Making::default() });
            Some(Arc::new(AlignmentTable { revision: app.tasks.fresh_id(), links, ..table }))
        };
        self.table = built(&shown, guessed);
        let shares = self.whole().filter(|guessing| guessing.is_revealed && guessing.voices() > 0);
        let shares = shares.map(|guessing| guessing.link_shares(steps.len(), trace.source.spans.len()));
        let links = self.table.as_ref().and_then(|table| table.links.clone());
        self.class_table = shares.and_then(|alpha| {
            built(&HypothesisView { found: Hypothesis { alpha: Some(alpha), ..shown.found }, ..shown }, links)
        });
    }

    fn said(&self) -> Vec<u32> {
        let steps = self.trace.iter().flat_map(|trace| &trace.steps);
        steps.filter_map(|step| step.said).map(|(id, _)| id).collect()
    }

    fn kept(&self) -> Saved {
        let (mode, depth) = (self.mode.entry().key.to_owned(), self.depth.entry().key.to_owned());
        Saved { mode, depth, by_stage: self.by_stage, pace: Some(self.pace()), beam: self.has_beam }
    }

    pub fn apply(&mut self, command: StepsCommand, app: &mut AppState) {
        let before = self.kept();
        self.place = None;
        match command {
            StepsCommand::SetColumn(column) => app.select_column(column),
            StepsCommand::SetMode(mode) => {
                self.class.clear();
                self.guess(Guessing::begin);
                (self.mode, self.i, self.done, self.is_playing) = (mode, 0, None, false);
            }
            StepsCommand::SetWrong(wrong) => self.wrong = wrong,
            StepsCommand::GoTo(i) => {
                self.is_playing = false;
                self.show(i, None);
            }
            StepsCommand::Move(by) if self.by_stage => self.move_stage(by, app),
            StepsCommand::Move(1..) if self.hidden(self.i).is_some() => self.reveal(app),
            StepsCommand::Move(by) | StepsCommand::MoveWord(by) => self.move_word(by),
            StepsCommand::SetByStage(on) => (self.by_stage, self.done) = (on, None),
            StepsCommand::Play(on) => {
                // From the end it starts again.
                if on
                    && !self.is_playing
                    && self.i >= self.last()
                    && self.done.is_none()
                    && self.hidden(self.i).is_none()
                {
                    self.show(0, self.by_stage.then_some(1));
                }
                self.is_playing = on;
            }
            StepsCommand::SetPace(pace) => self.pace = fitting(pace).or(self.pace),
            StepsCommand::SetDepth(depth) => self.look(depth),
            StepsCommand::Open(key) => {
                self.look(self.depth.max(key.as_deref().map_or(self.depth, Depth::of)));
                self.open = key;
            }
            StepsCommand::Say(id) => {
                if self.mode != Mode::Class {
                    // the words before are kept as they were said
                    self.class = self.said();
                }
                self.class.truncate(self.i);
                self.class.push(id);
                self.mode = Mode::Class;
            }
            StepsCommand::TakeBack => {
                self.class.pop();
                self.show(self.class.len(), None);
            }
            StepsCommand::SetGuessing(of) => {
                self.guessing = of.map(Guessing::new);
                app.compare_links(of.is_some_and(|of| of != Guessed::Word));
            }
            StepsCommand::SetBeam(on) => self.has_beam = on,
            StepsCommand::Guess(j) => self.guess(|guessing| guessing.toggle(j)),
            StepsCommand::GuessLink(link) => self.guess(|guessing| guessing.toggle_link(link)),
            StepsCommand::GuessWord(word) => self.guess(|guessing| guessing.say(&word)),
            StepsCommand::Reveal => self.reveal(app),
            StepsCommand::NextGroup => self.guess(Guessing::next_group),
        }
        self.rebuild(app);
        if self.kept() != before {
            app.changed();
        }
    }

    fn guess(&mut self, guess: impl FnOnce(&mut Guessing)) {
        if let Some(guessing) = &mut self.guessing {
            guess(guessing);
        }
    }
}

fn fitting(pace: f32) -> Option<f32> {
    pace.is_finite().then(|| pace.clamp(PACES.0, PACES.1))
}

impl PageState for StepsPage {
    fn page(&self) -> Page {
        STEPS
    }

    fn follow(&mut self, app: &mut AppState) {
        if app.view.page != STEPS {
            self.is_playing = false;
            return;
        }
        let Some(request) = self.wish(app) else { return };
        if self.requested.request.as_ref() == Some(&request) {
            return;
        }
        let number = app.tasks.fresh_id();
        (self.requested.number, self.requested.request) = (number, Some(request.clone()));
        app.tasks.push(Effect::TakeApart { number, request: Box::new(request) });
    }

    fn saved(&self) -> Value {
        serde_json::to_value(self.kept()).unwrap_or_default()
    }

    fn restore(&mut self, saved: Value) -> serde_json::Result<()> {
        let saved: Saved = serde_json::from_value(saved)?;
        *self = Self {
            mode: Mode::from_key(&saved.mode).unwrap_or_default(),
            depth: Depth::from_key(&saved.depth).unwrap_or_default(),
            by_stage: saved.by_stage,
            has_beam: saved.beam,
            pace: saved.pace.and_then(fitting),
            ..Self::default()
        };
        Ok(())
    }

    fn linked(&self, app: &AppState) -> Value {
        changed_fields(&self.to_link(app))
    }

    fn show_linked(&mut self, link: Value, app: &mut AppState) {
        self.take_link(serde_json::from_value(link).unwrap_or_default(), app);
    }
}
