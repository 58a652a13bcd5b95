//! Floor 8: what a lesson can bring about, and wait for: the table [`THINGS`]. Each maps onto commands that menus and keys
//! have, too.

use std::path::PathBuf;

use crate::models::anatomy::{WRONGS, Wrong};
use crate::session::column::{Column, ColumnState, file_name};
use crate::session::command::{Command, SettingsCommand, WindowCommand};
use crate::session::page::{PAGES, Page};
use crate::session::pages::sentence::command::{SearchCommand, SelectCommand, SourceCommand};
use crate::session::pages::steps::{MODES, Mode, Steps, StepsCommand};
use crate::session::settings::{INSPECTOR_OPEN, LINKS_PICTURE, SOLO, Shown, TREE_PICTURE};
use crate::session::shared::{Selection, Shared};
use crate::text::lesson::{Entry, hint};

/// What columns show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// alpha as cells.
    Heatmap,
    /// alpha as lines between words.
    Links,
    /// The search.
    Tree,
}

const LOOKS: &[(&str, Look)] = &[("heatmap", Look::Heatmap), ("links", Look::Links), ("tree", Look::Tree)];

/// What a reader does that cannot be done for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Types or chooses another sentence.
    AnotherSentence,
    /// Selects any word.
    SelectWord,
    /// Guesses, and looks.
    Reveal,
    /// Sets what the decoder looks at or says.
    Intervene,
    /// Goes to another step.
    AnotherStep,
    /// Says a word in place of the model.
    Say,
    /// Shows another hypothesis.
    AnotherHypothesis,
}

/// Every [`Act`]: in a lesson, and what to do.
pub const ACTS: &[(Act, &str, &str)] = &[
    (Act::AnotherSentence, "another sentence", "Type another sentence, or choose one from the list."),
    (Act::SelectWord, "select a word", "Click a word of a translation."),
    (Act::Reveal, "reveal the guess", "Guess where the step looks, then press Show."),
    (Act::Intervene, "set something", "Change where the model looks or what it says."),
    (Act::AnotherStep, "another step", "Go to another step."),
    (Act::Say, "say a word", "Choose a word for the model to say."),
    (Act::AnotherHypothesis, "another hypothesis", "Click another line of the beam."),
];

/// A thing that a lesson brings about or waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Thing {
    /// These models are the columns.
    Models(Vec<String>),
    /// This is translated.
    Sentence(String),
    /// So many hypotheses are kept.
    Beam(usize),
    /// `[UNK]` is never said.
    ForbidUnk(bool),
    /// This page is shown.
    Page(Page),
    /// The column of this model is the selected one.
    Select(String),
    /// This word of the selected column's translation is selected; `None`: none.
    Word(Option<String>),
    /// What columns show.
    Picture(Look),
    /// Energies in place of alpha.
    Energies(bool),
    /// Pieces of words.
    Pieces(bool),
    /// The links of the aligner.
    Links(bool),
    /// Typed words in place of `[UNK]`.
    TypedWords(bool),
    /// The inspector is open.
    Inspector(bool),
    /// The selected column stands alone.
    Solo(bool),
    /// Whose words the steps read on.
    Mode(Mode),
    /// How the model of the steps is wired.
    Wrong(Option<Wrong>),
    /// Rows are guessed first.
    Guess(bool),
    /// The player goes box by box.
    Stages(bool),
    /// The step that says this word is shown; a number: that step, from 1.
    Step(String),
    /// The box of this key is open; `None`: none.
    Box(Option<String>),
    /// What only the reader can do.
    Act(Act),
}

/// One line of [`THINGS`].
pub struct ThingEntry {
    /// In a lesson.
    pub key: &'static str,
    /// What stands behind it.
    pub takes: &'static str,
    /// For the one who writes a lesson.
    pub example: &'static str,
    /// Makes it of what stands behind the key.
    read: fn(&str) -> Option<Thing>,
}

/// Everything, in the order in which a page is made ready.
pub const THINGS: &[ThingEntry] = &[
    entry("models", "folders of models, with commas between", "rnnencdec-en-fr, rnnsearch-en-fr", |text| {
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        (!names.is_empty()).then_some(Thing::Models(names))
    }),
    entry("sentence", "a sentence", "The woman bought red shoes.", |text| {
        (!text.is_empty()).then(|| Thing::Sentence(text.to_owned()))
    }),
    entry("beam", "a number from 1 to 50", "1", |text| {
        text.parse().ok().filter(|beam| (1..=50).contains(beam)).map(Thing::Beam)
    }),
    entry("forbid-unk", "on or off", "on", |text| Some(Thing::ForbidUnk(on_off(text)?))),
    entry("page", "a page", "steps", |text| {
        PAGES.iter().find(|entry| entry.key == text).map(|entry| Thing::Page(entry.page))
    }),
    entry("select", "the folder of a model", "rnnsearch-en-fr", |text| {
        (!text.is_empty()).then(|| Thing::Select(text.to_owned()))
    }),
    entry("word", "a word of the translation, or none", "rouges", |text| Some(Thing::Word(or_none(text)?))),
    entry("picture", "heatmap, links or tree", "links", |text| {
        LOOKS.iter().find(|(key, _)| *key == text).map(|(_, look)| Thing::Picture(*look))
    }),
    entry("energies", "on or off", "on", |text| Some(Thing::Energies(on_off(text)?))),
    entry("pieces", "on or off", "on", |text| Some(Thing::Pieces(on_off(text)?))),
    entry("links", "on or off", "on", |text| Some(Thing::Links(on_off(text)?))),
    entry("typed-words", "on or off", "on", |text| Some(Thing::TypedWords(on_off(text)?))),
    entry("inspector", "on or off", "on", |text| Some(Thing::Inspector(on_off(text)?))),
    entry("solo", "on or off", "on", |text| Some(Thing::Solo(on_off(text)?))),
    entry("mode", "shown, greedy or class", "greedy", |text| {
        MODES.iter().find(|entry| entry.key == text).map(|entry| Thing::Mode(entry.mode))
    }),
    entry("wrong", "a wrong wiring, or none", "blind-weights", |text| match text {
        "none" => Some(Thing::Wrong(None)),
        _ => WRONGS.iter().find(|entry| entry.key == text).map(|entry| Thing::Wrong(Some(entry.wrong))),
    }),
    entry("guess", "on or off", "on", |text| Some(Thing::Guess(on_off(text)?))),
    entry("stages", "on or off", "on", |text| Some(Thing::Stages(on_off(text)?))),
    entry("step", "a word of the translation, or a number from 1", "rouges", |text| {
        (!text.is_empty()).then(|| Thing::Step(text.to_owned()))
    }),
    entry("box", "the key of a box, or none", "alpha", |text| Some(Thing::Box(or_none(text)?))),
    entry("act", "what the reader does", "another sentence", |text| {
        ACTS.iter().find(|(_, name, _)| *name == text).map(|(act, ..)| Thing::Act(*act))
    }),
];

const fn entry(
    key: &'static str,
    takes: &'static str,
    example: &'static str,
    read: fn(&str) -> Option<Thing>,
) -> ThingEntry {
    ThingEntry { key, takes, example, read }
}

fn on_off(text: &str) -> Option<bool> {
    match text {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

fn or_none(text: &str) -> Option<Option<String>> {
    (!text.is_empty()).then(|| Some(text.to_owned()).filter(|text| text != "none"))
}

/// Reads a line; one of a block `do` cannot be what only the reader does.
pub fn read(of: &Entry, is_done: bool) -> Result<Thing, String> {
    let Some(line) = THINGS.iter().find(|line| line.key == of.key) else {
        let hint = hint(&of.key, THINGS.iter().map(|line| line.key));
        let all: Vec<&str> = THINGS.iter().map(|line| line.key).collect();
        return Err(format!("there is no key `{}`{hint}; keys are {}", of.key, all.join(", ")));
    };
    match (line.read)(&of.value) {
        Some(Thing::Act(_)) if is_done => Err("`act` is for the reader; it belongs into a block `wait`".to_owned()),
        Some(thing) => Ok(thing),
        None if line.key == "act" => {
            let all: Vec<&str> = ACTS.iter().map(|(_, name, _)| *name).collect();
            Err(format!("`{}` is nothing that can be waited for; acts are {}", of.value, all.join(", ")))
        }
        None => Err(format!("`{}` takes {}, not `{}`; for example `{}: {}`", line.key, line.takes, of.value, line.key, line.example)),
    }
}

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
    /// Its place in [`THINGS`]; a later one of the same place replaces an earlier.
    pub fn place(&self) -> usize {
        let key = match self {
            Self::Models(_) => "models",
            Self::Sentence(_) => "sentence",
            Self::Beam(_) => "beam",
            Self::ForbidUnk(_) => "forbid-unk",
            Self::Page(_) => "page",
            Self::Select(_) => "select",
            Self::Word(_) => "word",
            Self::Picture(_) => "picture",
            Self::Energies(_) => "energies",
            Self::Pieces(_) => "pieces",
            Self::Links(_) => "links",
            Self::TypedWords(_) => "typed-words",
            Self::Inspector(_) => "inspector",
            Self::Solo(_) => "solo",
            Self::Mode(_) => "mode",
            Self::Wrong(_) => "wrong",
            Self::Guess(_) => "guess",
            Self::Stages(_) => "stages",
            Self::Step(_) => "step",
            Self::Box(_) => "box",
            Self::Act(_) => "act",
        };
        THINGS.iter().position(|line| line.key == key).unwrap_or(THINGS.len())
    }

    /// What the reader is told to do when it is waited for and the lesson does not say it.
    pub fn prompt(&self) -> String {
        match self {
            Self::Models(names) => format!("Show the models {}.", names.join(", ")),
            Self::Sentence(text) => format!("Type: {text}"),
            Self::Beam(beam) => format!("Set the beam to {beam}."),
            Self::Page(page) => format!("Open the page {}.", page.name()),
            Self::Select(model) => format!("Click the column of {model}."),
            Self::Word(Some(word)) => format!("Click the word {word} of the translation."),
            Self::Step(step) => format!("Go to the step {step}."),
            Self::Box(Some(key)) => format!("Open the box {key}."),
            Self::Act(act) => {
                ACTS.iter().find(|(of, ..)| of == act).map_or_else(String::new, |(.., prompt)| (*prompt).to_owned())
            }
            _ => "Do what the page says.".to_owned(),
        }
    }

    /// What brings it about.
    pub fn now(&self, shared: &Shared, steps: &Steps) -> Now {
        let set = |command: SettingsCommand| Now::Do(vec![command.into()]);
        let layout = |list: &[(&str, bool)]| {
            Now::Do(list.iter().map(|(key, on)| set_layout(key, if *on { 1.0 } else { 0.0 })).collect())
        };
        match self {
            Self::Models(names) => models(names, shared),
            Self::Sentence(text) => one(SourceCommand::Replace(text.clone())),
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
            Self::Guess(on) => one(StepsCommand::SetGuessing(*on)),
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
            Self::Guess(on) => steps.guessing.is_some() == *on,
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
    shared.columns().iter().all(is_settled)
}

fn select_word(word: Option<&str>, shared: &Shared) -> Now {
    let Some(wanted) = word else { return one(SelectCommand::Nothing) };
    let Some(column) = shared.selected_column() else { return Now::Never("There is no model.".to_owned()) };
    if !is_settled(column) {
        return Now::NotYet;
    }
    let words = column.table.as_ref().map_or(&[][..], |table| &table.target);
    match words.iter().position(|word| word.text == wanted) {
        Some(i) => one(SelectCommand::Target { column: column.id, i }),
        None => Now::Never(format!("{} does not say the word {wanted} that this page speaks of.", column.name())),
    }
}

/// Whether the machine shows the present sentence.
fn is_apart(shared: &Shared, steps: &Steps) -> bool {
    let is_of = |column: &Column| {
        is_settled(column) && steps.apart.as_ref().is_some_and(|apart| apart.source.text == shared.source() && apart.model == column.name())
    };
    !steps.is_waiting() && steps.column(shared).is_some_and(is_of)
}

fn step_of(step: &str, steps: &Steps) -> Option<usize> {
    if let Ok(number) = step.parse::<usize>() {
        return number.checked_sub(1);
    }
    let apart = steps.apart.as_ref()?;
    (0..apart.steps.len()).find(|i| apart.said(*i) == Some(step))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_reads_its_own_example_and_knows_its_place() {
        for (at, line) in THINGS.iter().enumerate() {
            let entry = Entry { key: line.key.to_owned(), value: line.example.to_owned(), line: 1 };
            let thing = read(&entry, false).unwrap_or_else(|words| panic!("{words}"));
            assert_eq!(thing.place(), at, "{}", line.key);
            assert!(!thing.prompt().is_empty());
        }
        let wrong = Entry { key: "sentance".into(), value: "x".into(), line: 1 };
        assert!(read(&wrong, true).expect_err("no key").contains("did you mean `sentence`?"));
        let act = Entry { key: "act".into(), value: "say a word".into(), line: 1 };
        assert!(read(&act, true).is_err() && read(&act, false).is_ok());
    }
}
