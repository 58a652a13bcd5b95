//! Floor 9: how what a lesson says comes about, and when it is so. Each thing maps onto commands that menus and keys have,
//! too.

use std::path::PathBuf;

use crate::app::document::column::{Column, ColumnState, file_name};
use crate::app::settings::{INSPECTOR_OPEN, LINKS_PICTURE, SOLO, Shown, TREE_PICTURE};
use crate::app::shared::{Selection, Shared};
use crate::pages::sentence::command::{SearchCommand, SelectCommand, SourceCommand};
use crate::pages::steps::{Steps, StepsCommand};
use crate::session::command::{Command, SettingsCommand, WindowCommand};
use crate::session::lessons::things::{Act, Look, Thing};

/// What comes of a thing now.
#[derive(Debug, PartialEq)]
pub enum Now {
    /// These commands bring it about; none: it is so.
    Do(Vec<Command>),
    /// These folders are to be the columns.
    Columns(Vec<PathBuf>),
    /// Something is waited for.
    NotYet,
    /// It cannot be; a sentence.
    Never(String),
}

impl Thing {
    /// What brings it about.
    pub fn now(&self, shared: &Shared, steps: &Steps) -> Now {
        let set = |command: SettingsCommand| Now::Do(vec![command.into()]);
        let layout = |list: &[(&str, bool)]| {
            Now::Do(list.iter().map(|(key, on)| set_layout(key, if *on { 1.0 } else { 0.0 })).collect())
        };
        match self {
            Self::Models(names) => models(names, shared),
            Self::Sentence(text) => one(SourceCommand::Replace(text.clone())),
            Self::Given(text) => {
                let show = SelectCommand::ShowGiven(true).into();
                Now::Do(vec![SourceCommand::Give(text.clone()).into(), show])
            }
            Self::Beam(beam) => one(SearchCommand::SetBeam(*beam)),
            Self::ForbidUnk(on) => one(SearchCommand::SetForbidUnk(*on)),
            Self::Page(page) => one(WindowCommand::ShowPage(*page)),
            Self::Select(name) => match of_name(shared, name) {
                Some(column) => one(SelectCommand::Column(column.id)),
                None => Now::Never(format!("There is no column of {name}.")),
            },
            Self::Word(word) => select_word(word.as_deref(), shared),
            Self::Picture(look) => {
                layout(&[(LINKS_PICTURE, *look == Look::Links), (TREE_PICTURE, *look == Look::Tree)])
            }
            Self::Energies(on) => set(SettingsCommand::SetShown(if *on { Shown::Energies } else { Shown::Alpha })),
            Self::Pieces(on) => set(SettingsCommand::SetPieces(*on)),
            Self::Links(on) => set(SettingsCommand::SetLinks(*on)),
            Self::TypedWords(on) => set(SettingsCommand::SetUnkReplacement(*on)),
            Self::Inspector(on) => layout(&[(INSPECTOR_OPEN, *on)]),
            Self::Solo(on) => layout(&[(SOLO, *on)]),
            Self::Mode(mode) if steps.mode == *mode => Now::Do(Vec::new()),
            Self::Mode(mode) => one(StepsCommand::SetMode(*mode)),
            Self::Wrong(wrong) => one(StepsCommand::SetWrong(*wrong)),
            Self::Guess(of) => one(StepsCommand::SetGuessing(*of)),
            Self::StepBeam(on) => one(StepsCommand::SetBeam(*on)),
            Self::Stages(on) => one(StepsCommand::SetByStage(*on)),
            Self::Step(step) => go_to(step, shared, steps),
            Self::Box(None) => one(StepsCommand::Open(None)),
            Self::Box(Some(key)) => open_box(key, shared, steps),
            Self::Act(_) => Now::Never("Only the reader can do this.".to_owned()),
        }
    }

    /// Whether it is so; `before` is what was so when it was first waited for.
    pub fn holds(&self, before: &Before, shared: &Shared, steps: &Steps) -> bool {
        let is_on = |key: &str, at_first: f32| shared.layout().get(key).copied().unwrap_or(at_first) > 0.0;
        let (search, settings) = (&shared.scene().search, shared.settings());
        match self {
            Self::Models(names) => names_of(shared) == *names,
            Self::Sentence(text) => shared.source().trim() == text,
            Self::Given(text) => shared.scene().given.as_deref().map(str::trim) == text.as_deref(),
            Self::Beam(beam) => search.beam == *beam,
            Self::ForbidUnk(on) => search.forbid_unk == *on,
            Self::Page(page) => shared.page() == *page,
            Self::Select(name) => shared.selected_column().is_some_and(|column| name_of(column) == *name),
            Self::Word(None) => shared.selection().target.is_none(),
            Self::Word(Some(wanted)) => shared.selected_word().is_some_and(|(_, _, word)| word.text == *wanted),
            Self::Picture(look) => {
                (is_on(LINKS_PICTURE, 0.0), is_on(TREE_PICTURE, 0.0)) == (*look == Look::Links, *look == Look::Tree)
            }
            Self::Energies(on) => (settings.shown == Shown::Energies) == *on,
            Self::Pieces(on) => settings.pieces == *on,
            Self::Links(on) => settings.links == *on,
            Self::TypedWords(on) => settings.unk_replacement == *on,
            Self::Inspector(on) => is_on(INSPECTOR_OPEN, 1.0) == *on,
            Self::Solo(on) => is_on(SOLO, 0.0) == *on,
            Self::Mode(mode) => steps.mode == *mode,
            Self::Wrong(wrong) => steps.wrong == *wrong,
            Self::Guess(of) => steps.guessing.as_ref().map(|guessing| guessing.of) == *of,
            Self::StepBeam(on) => steps.has_beam == *on,
            Self::Stages(on) => steps.by_stage == *on,
            Self::Step(step) => step_of(step, steps) == Some(steps.i),
            Self::Box(key) => steps.open == *key,
            Self::Act(act) => act_holds(*act, before, shared, steps),
        }
    }
}

fn act_holds(act: Act, before: &Before, shared: &Shared, steps: &Steps) -> bool {
    match act {
        Act::AnotherSentence => shared.source().trim() != before.source.trim() && settled(shared),
        Act::SelectWord => shared.selection().target.is_some() && shared.selection() != before.selection,
        Act::Reveal => steps.guessing.as_ref().is_some_and(|guessing| guessing.is_revealed),
        Act::Intervene => !shared.scene().interventions.is_empty(),
        Act::AnotherStep => steps.i != before.i,
        Act::Say => !steps.class.is_empty(),
        Act::AnotherHypothesis => hypotheses(shared) != before.hypotheses,
    }
}

/// What was so when something was first waited for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Before {
    source: String,
    selection: Selection,
    i: usize,
    hypotheses: Vec<usize>,
}

impl Before {
    /// What is so now.
    pub fn of(shared: &Shared, steps: &Steps) -> Self {
        let source = shared.source().to_owned();
        Self { source, selection: shared.selection(), i: steps.i, hypotheses: hypotheses(shared) }
    }
}

fn hypotheses(shared: &Shared) -> Vec<usize> {
    shared.columns().iter().map(|column| column.hypothesis).collect()
}

fn one(command: impl Into<Command>) -> Now {
    Now::Do(vec![command.into()])
}

fn set_layout(key: &str, value: f32) -> Command {
    WindowCommand::SetLayout { key: key.to_owned(), value }.into()
}

/// The name of a column's folder.
pub fn name_of(column: &Column) -> String {
    file_name(&column.folder)
}

fn names_of(shared: &Shared) -> Vec<String> {
    shared.columns().iter().map(name_of).collect()
}

fn of_name<'a>(shared: &'a Shared, name: &str) -> Option<&'a Column> {
    shared.models().find(|column| name_of(column) == name)
}

fn models(names: &[String], shared: &Shared) -> Now {
    let known = shared.columns().iter().map(|column| &column.folder).chain(&shared.bundled);
    let known: Vec<&PathBuf> = known.collect();
    let found = |name: &String| known.iter().find(|folder| file_name(folder) == *name).map(|folder| (*folder).clone());
    let missing: Vec<&str> = names.iter().filter(|name| found(name).is_none()).map(String::as_str).collect();
    if missing.is_empty() {
        return Now::Columns(names.iter().filter_map(found).collect());
    }
    Now::Never(format!("This lesson needs the model {}, which is not among the installed ones.", missing.join(", ")))
}

/// Whether a column shows all that it will of the present sentence.
fn is_settled(column: &Column) -> bool {
    match &column.state {
        ColumnState::Loading(_) => false,
        ColumnState::Failed(_) => true,
        ColumnState::Ready => !column.stale && !column.decoding,
    }
}

/// Whether all columns do.
pub fn settled(shared: &Shared) -> bool {
    shared.columns().iter().all(|column| is_settled(column) && has_read(column, shared))
}

/// Whether a column has read the translation that is given, where one is.
fn has_read(column: &Column, shared: &Shared) -> bool {
    let is_given = shared.scene().given.as_ref().is_some_and(|given| !given.trim().is_empty());
    !is_given || column.given.is_some() || column.state != ColumnState::Ready
}

fn select_word(word: Option<&str>, shared: &Shared) -> Now {
    let Some(wanted) = word else {
        // the column stays the selected one
        let column = shared.selected_column().map(|column| SelectCommand::Column(column.id).into());
        return Now::Do([SelectCommand::Nothing.into()].into_iter().chain(column).collect());
    };
    let Some(column) = shared.selected_column() else { return Now::Never("There is no model.".to_owned()) };
    if !is_settled(column) || !has_read(column, shared) {
        return Now::NotYet;
    }
    let words = column.table.as_ref().map_or(&[][..], |table| &table.target);
    match words.iter().position(|word| word.text == wanted) {
        Some(i) => one(SelectCommand::Target { column: column.id, i }),
        None => Now::Never(format!("{} does not say the word {wanted} that this page speaks of.", column.name())),
    }
}

/// Whether the machine shows the present sentence.
pub(super) fn is_apart(shared: &Shared, steps: &Steps) -> bool {
    let is_of = |column: &Column| {
        is_settled(column)
            && steps
                .apart
                .as_ref()
                .is_some_and(|apart| apart.source.text == shared.source() && apart.model == column.name())
    };
    !steps.is_waiting() && steps.column(shared).is_some_and(is_of)
}

fn step_of(step: &str, steps: &Steps) -> Option<usize> {
    steps.apart.as_ref()?.place(step)
}

fn go_to(step: &str, shared: &Shared, steps: &Steps) -> Now {
    if !is_apart(shared, steps) {
        return steps.message.clone().map_or(Now::NotYet, Now::Never);
    }
    match step_of(step, steps) {
        Some(i) => one(StepsCommand::GoTo(i)),
        None => Now::Never(format!("No step says the word {step} that this page speaks of.")),
    }
}

fn open_box(key: &str, shared: &Shared, steps: &Steps) -> Now {
    if !is_apart(shared, steps) {
        return steps.message.clone().map_or(Now::NotYet, Now::Never);
    }
    let has = steps.apart.as_ref().is_some_and(|apart| apart.machine.stages.iter().any(|stage| stage.key == key));
    if has {
        return one(StepsCommand::Open(Some(key.to_owned())));
    }
    Now::Never(format!("This machine has no box {key}."))
}
