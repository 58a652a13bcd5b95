//! How what a lesson says comes about, and when it is so. Each thing maps onto commands that menus and keys have, too.

use std::collections::BTreeSet;

use crate::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use crate::app::document::column::{Column, ColumnState};
use crate::app::settings::{RowSource, Shown};
use crate::app::{files::picture::measure, layout::Layout, state::AppState, view::Selection};
use crate::pages::command::Command;
use crate::pages::sentence::command::{InterveneCommand, ProbeCommand, RowEdit, SearchCommand, SelectCommand};
use crate::pages::steps::{StepsCommand, StepsPage};
use crate::session::lessons::script::{Script, ScriptPart};
use crate::session::lessons::things::{EVEN, LessonAct, LessonAction};
use engine::analysis::measures::{MEASURES, Measure};
use engine::{decoding::SystemSpec, models::transformer::heads::HeadKind};

/// How a lesson's action can be brought about now.
#[derive(Debug, PartialEq)]
pub enum StepOutcome {
    /// These commands bring it about; none: it is so.
    Do(Vec<Command>),
    /// These folders are to be the columns.
    Columns(Vec<SystemSpec>),
    NotYet,
    /// It cannot be; a sentence.
    Never(String),
}

impl LessonAction {
    pub fn now(&self, app: &AppState, steps: &StepsPage) -> StepOutcome {
        let set = |command: SettingsCommand| StepOutcome::Do(vec![command.into()]);
        let layout = || app.view.layout.clone();
        let lay_out = |layout: Layout| one(WindowCommand::SetLayout(Box::new(layout)));
        match self {
            Self::Models(names) => models(names, app),
            // what a reader has set, here or before, is of another sentence
            Self::Sentence(text) => {
                let new = vec![SelectCommand::Nothing.into(), SourceCommand::Replace(text.clone()).into()];
                StepOutcome::Do([free(app), new].concat())
            }
            Self::Given(text) => {
                let show = SelectCommand::ShowGiven(true).into();
                StepOutcome::Do(vec![SourceCommand::Give(text.clone()).into(), show])
            }
            Self::Beam(beam) => one(SearchCommand::SetBeam(*beam)),
            Self::ForbidUnk(on) => one(SearchCommand::SetForbidUnk(*on)),
            Self::Page(page) => one(WindowCommand::ShowPage(*page)),
            Self::Select(name) => {
                match app.document.models().find(|column| name.is_empty() || name_of(column) == *name) {
                    Some(column) => one(SelectCommand::Column(column.id)),
                    None if name.is_empty() => StepOutcome::Do(Vec::new()),
                    None => StepOutcome::Never(tr!("There is no column of {name}.", name)),
                }
            }
            Self::Hypothesis(number) => show_hypothesis(*number, app),
            Self::Word(word) => select_word(word.as_deref(), app),
            Self::Row(None) => StepOutcome::Do(free(app)),
            Self::Row(Some(row)) => set_row(row, app),
            Self::Picture(look) => lay_out(Layout { look: *look, interlinear: false, ..layout() }),
            Self::Energies(on) => set(SettingsCommand::SetShown(if *on { Shown::Energies } else { Shown::Alpha })),
            Self::Heads(Some(kind)) => all_heads(*kind, app),
            Self::Heads(None) => {
                let alpha = heads(app).map(|_| SettingsCommand::SetShown(Shown::Alpha).into());
                StepOutcome::Do(
                    alpha.into_iter().chain([SettingsCommand::SetHeads(HeadKind::default()).into()]).collect(),
                )
            }
            Self::Pieces(on) => set(SettingsCommand::SetPieces(*on)),
            Self::Links(on) => set(SettingsCommand::SetLinks(*on)),
            Self::Origin(origin) => set(SettingsCommand::SetAsked(RowSource { origin: *origin, both: false })),
            Self::TypedWords(on) => set(SettingsCommand::SetUnkReplacement(*on)),
            Self::Inspector(on) => lay_out(Layout { inspector_open: *on, ..layout() }),
            Self::Solo(on) => lay_out(Layout { solo: *on, ..layout() }),
            Self::Class(on) => lay_out(Layout { class: *on, ..layout() }),
            Self::Depth(depth) => one(StepsCommand::SetDepth(*depth)),
            Self::Mode(mode) if steps.mode == *mode => StepOutcome::Do(Vec::new()),
            Self::Mode(mode) => one(StepsCommand::SetMode(*mode)),
            Self::Wrong(wrong) => one(StepsCommand::SetWrong(*wrong)),
            Self::Guess(of) => one(StepsCommand::SetGuessing(*of)),
            Self::StepBeam(on) => one(StepsCommand::SetBeam(*on)),
            Self::Stages(on) => one(StepsCommand::SetByStage(*on)),
            Self::Step(step) => go_to(step, app, steps),
            Self::Box(None) => one(StepsCommand::Open(None)),
            Self::Box(Some(key)) => open_box(key, app, steps),
            Self::Act(LessonAct::Reveal) => one(StepsCommand::Reveal),
            Self::Act(_) => StepOutcome::Never(tr!("Only the reader can do this.").to_owned()),
        }
    }

    /// Whether it is so; `before` is what was so when it was first waited for.
    pub fn holds(&self, before: &StepBaseline, app: &AppState, steps: &StepsPage) -> bool {
        let layout = &app.view.layout;
        let (search, settings) = (&app.document.state.search, &app.view.settings);
        match self {
            Self::Models(names) => app.document.columns.iter().map(name_of).eq(names.iter().cloned()),
            Self::Sentence(text) => app.document.source().trim() == text,
            Self::Given(text) => app.document.state.given.as_deref().map(str::trim) == text.as_deref(),
            Self::Beam(beam) => search.beam == *beam,
            Self::ForbidUnk(on) => search.forbid_unk == *on,
            Self::Page(page) => app.view.page == *page,
            Self::Select(name) => app.selected_column().is_some_and(|column| name_of(column) == *name),
            Self::Hypothesis(number) => app.selected_column().is_some_and(|column| column.hypothesis + 1 == *number),
            Self::Row(row) => has_row(row.as_deref(), app),
            Self::Word(None) => app.view.selection.target.is_none(),
            Self::Word(Some(wanted)) => app.selected_word().is_some_and(|(_, _, word)| word.text == *wanted),
            Self::Picture(look) => layout.look == *look,
            Self::Energies(on) => (settings.shown == Shown::Energies) == *on,
            Self::Heads(None) => heads(app).is_none() && app.view.heads == HeadKind::default(),
            Self::Heads(kind) => heads(app) == *kind,
            Self::Pieces(on) => settings.pieces == *on,
            Self::Links(on) => settings.links == *on,
            Self::Origin(origin) => settings.asked == RowSource { origin: *origin, both: false },
            Self::TypedWords(on) => settings.unk_replacement == *on,
            Self::Inspector(on) => layout.inspector_open == *on,
            Self::Solo(on) => layout.solo == *on,
            Self::Class(on) => layout.class == *on,
            Self::Depth(depth) => steps.depth == *depth,
            Self::Mode(mode) => steps.mode == *mode,
            Self::Wrong(wrong) => steps.wrong == *wrong,
            Self::Guess(of) => steps.guessing.as_ref().map(|guessing| guessing.of) == *of,
            Self::StepBeam(on) => steps.has_beam == *on,
            Self::Stages(on) => steps.by_stage == *on,
            Self::Step(step) => step_of(step, steps) == Some(steps.i),
            Self::Box(key) => steps.open == *key,
            Self::Act(act) => act_holds(*act, before, app, steps),
        }
    }
}

fn act_holds(act: LessonAct, before: &StepBaseline, app: &AppState, steps: &StepsPage) -> bool {
    match act {
        LessonAct::AnotherSentence => app.document.source().trim() != before.source.trim() && settled(app),
        LessonAct::SelectWord => app.view.selection.target.is_some() && app.view.selection != before.selection,
        LessonAct::Reveal => steps.guessing.as_ref().is_some_and(|guessing| guessing.is_revealed),
        LessonAct::Intervene => !app.document.state.interventions.is_empty(),
        LessonAct::AnotherStep => steps.i != before.i,
        LessonAct::Say => !steps.class.is_empty(),
        LessonAct::AnotherHypothesis => hypotheses(app) != before.hypotheses,
    }
}

/// What was true when a wait began.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepBaseline {
    source: String,
    selection: Selection,
    i: usize,
    hypotheses: Vec<usize>,
}

impl StepBaseline {
    pub fn of(app: &AppState, steps: &StepsPage) -> Self {
        let source = app.document.source().to_owned();
        Self { source, selection: app.view.selection, i: steps.i, hypotheses: hypotheses(app) }
    }
}

fn hypotheses(app: &AppState) -> Vec<usize> {
    app.document.columns.iter().map(|column| column.hypothesis).collect()
}

fn one(command: impl Into<Command>) -> StepOutcome {
    StepOutcome::Do(vec![command.into()])
}

pub fn name_of(column: &Column) -> String {
    column.system.name()
}

/// The columns that are open and the models that are installed.
pub fn known(app: &AppState) -> Vec<SystemSpec> {
    let open = app.document.columns.iter().map(|column| column.system.clone());
    open.chain(app.bundled.iter().map(|installed| (&installed.folder).into())).collect()
}

/// The models that a lesson asks for and that are not there, each once.
pub fn missing_models(script: &Script, known: &BTreeSet<String>) -> BTreeSet<String> {
    let parts = script.pages.iter().flat_map(|page| &page.parts);
    let asked = parts.flat_map(ScriptPart::things).filter_map(|thing| match thing {
        LessonAction::Models(names) => Some(names),
        _ => None,
    });
    asked.flatten().filter(|name| !known.contains(*name)).cloned().collect()
}

fn models(names: &[String], app: &AppState) -> StepOutcome {
    let known = known(app);
    let found = |name: &String| known.iter().find(|system| system.name() == *name).cloned();
    let missing: Vec<&str> = names.iter().filter(|name| found(name).is_none()).map(String::as_str).collect();
    if missing.is_empty() {
        return StepOutcome::Columns(names.iter().filter_map(found).collect());
    }
    StepOutcome::Never(tr!(
        "This lesson needs the model {}, which is not among the installed ones.",
        missing.join(", ")
    ))
}

/// Whether a column shows all that it will of the present sentence.
fn is_settled(column: &Column) -> bool {
    match &column.state {
        ColumnState::Loading(_) => false,
        ColumnState::Failed(_) => true,
        ColumnState::Ready => !column.stale && !column.decoding,
    }
}

pub fn settled(app: &AppState) -> bool {
    app.document.columns.iter().all(|column| is_settled(column) && has_read(column, app))
}

/// Whether a column has read the translation that is given, where one is.
fn has_read(column: &Column, app: &AppState) -> bool {
    let is_given = app.document.state.given.as_ref().is_some_and(|given| !given.trim().is_empty());
    !is_given || column.given.view.is_some() || column.state != ColumnState::Ready
}

fn select_word(word: Option<&str>, app: &AppState) -> StepOutcome {
    let Some(wanted) = word else { return one(SelectCommand::Nothing) };
    let Some(column) = app.selected_column() else { return StepOutcome::Never(tr!("There is no model.").to_owned()) };
    if !is_settled(column) || !has_read(column, app) {
        return StepOutcome::NotYet;
    }
    let words = column.table.as_ref().map_or(&[][..], |table| &table.target);
    match words.iter().position(|word| word.text == wanted) {
        Some(i) => one(SelectCommand::Target { column: column.id, i }),
        None => StepOutcome::Never(tr!(
            "{} does not say the word {wanted} that this page speaks of.",
            column.name(),
            wanted
        )),
    }
}

fn show_hypothesis(number: usize, app: &AppState) -> StepOutcome {
    let Some(column) = app.selected_column() else { return StepOutcome::Never(tr!("There is no model.").to_owned()) };
    match column.hypotheses.len() {
        _ if !is_settled(column) => StepOutcome::NotYet,
        count if number > count => StepOutcome::Never(tr!("{} has no hypothesis {number}.", column.name(), number)),
        _ if column.hypothesis + 1 == number => StepOutcome::Do(Vec::new()),
        _ => one(SelectCommand::Hypothesis { column: column.id, hypothesis: number - 1 }),
    }
}

fn heads(app: &AppState) -> Option<HeadKind> {
    let is_shown = measure(app.view.settings.shown).is_some_and(Measure::is_of_heads);
    is_shown.then_some(app.view.heads)
}

fn all_heads(kind: HeadKind, app: &AppState) -> StepOutcome {
    let Some(column) = app.selected_column() else { return StepOutcome::Never(tr!("There is no model.").to_owned()) };
    let Some(facts) = column.facts.as_ref().filter(|_| is_settled(column)) else { return StepOutcome::NotYet };
    match MEASURES.iter().position(Measure::is_of_heads).filter(|_| facts.sizes.heads.0 > 0) {
        Some(measure) => StepOutcome::Do(vec![
            SettingsCommand::SetHeads(kind).into(),
            ProbeCommand::Measure { column: column.id, measure }.into(),
        ]),
        None => StepOutcome::Never(tr!("{} has no heads.", column.name())),
    }
}

fn free(app: &AppState) -> Vec<Command> {
    let is_set = !app.document.state.interventions.is_empty();
    is_set.then(|| InterveneCommand::TakeAll.into()).into_iter().collect()
}

fn set_row(row: &str, app: &AppState) -> StepOutcome {
    let Some((column, i, _)) = app.selected_word() else {
        return StepOutcome::Never(tr!("Select a word first: it is its row that is set.").to_owned());
    };
    if !is_settled(column) {
        return StepOutcome::NotYet;
    }
    let source = column.table.as_ref().map_or(&[][..], |table| &table.source);
    let edit = match source.iter().position(|word| word.text == row) {
        _ if row == EVEN => RowEdit::Uniform,
        Some(j) => RowEdit::OneHot(j),
        None => return StepOutcome::Never(tr!("{} reads no word {row}.", column.name(), row)),
    };
    one(InterveneCommand::Row { column: column.id, i, edit })
}

/// Whether some row of the selected column is set like this; `None`: whether nothing is set.
fn has_row(row: Option<&str>, app: &AppState) -> bool {
    let Some(wanted) = row else { return app.document.state.interventions.is_empty() };
    let table = app.selected_column().and_then(|column| column.table.as_ref());
    let Some((table, alpha)) = table.and_then(|table| Some((table, table.alpha.as_ref()?))) else { return false };
    let set = table.target.iter().enumerate().filter(|(_, word)| word.is_pinned);
    set.map(|(i, _)| alpha.row(i)).any(|row| {
        let most = row.iter().copied().fold(0.0, f32::max);
        let words = table.source.iter().zip(row);
        match wanted {
            EVEN => row.iter().all(|share| most - share < 1e-4),
            _ => words.clone().any(|(word, share)| word.text == wanted && *share > 0.99),
        }
    })
}

/// Whether the machine shows the present sentence.
pub(super) fn is_apart(app: &AppState, steps: &StepsPage) -> bool {
    let is_of = |column: &Column| {
        is_settled(column)
            && steps
                .trace
                .as_ref()
                .is_some_and(|trace| trace.source.text == app.document.source() && trace.model == column.name())
    };
    !steps.is_waiting() && steps.column(app).is_some_and(is_of)
}

fn step_of(step: &str, steps: &StepsPage) -> Option<usize> {
    steps.trace.as_ref()?.place(step)
}

fn go_to(step: &str, app: &AppState, steps: &StepsPage) -> StepOutcome {
    if !is_apart(app, steps) {
        return steps.message.clone().map_or(StepOutcome::NotYet, StepOutcome::Never);
    }
    match step_of(step, steps) {
        Some(i) => one(StepsCommand::GoTo(i)),
        None => StepOutcome::Never(tr!("No step says the word {step} that this page speaks of.", step)),
    }
}

fn open_box(key: &str, app: &AppState, steps: &StepsPage) -> StepOutcome {
    if !is_apart(app, steps) {
        return steps.message.clone().map_or(StepOutcome::NotYet, StepOutcome::Never);
    }
    let has = steps.trace.as_ref().is_some_and(|trace| trace.machine.stages.iter().any(|stage| stage.key == key));
    if has {
        return one(StepsCommand::Open(Some(key.to_owned())));
    }
    StepOutcome::Never(tr!("This machine has no box {key}.", key))
}
