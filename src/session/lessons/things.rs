//! Floor 12: what a lesson can bring about, and wait for: the table [`THINGS`]. A leaf: what comes of them is not known here.

use crate::app::page::{PAGES, Page};
use crate::models::anatomy::{Miswiring, WRONGS};
use crate::pages::steps::command::{Guessed, MODES, Mode};
use crate::text::lesson::{LessonEntry, hint};

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
pub enum LessonAct {
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

/// Every [`LessonAct`]: in a lesson, and what to do.
pub const ACTS: &[(LessonAct, &str, &str)] = &[
    (LessonAct::AnotherSentence, "another sentence", "Type another sentence, or choose one from the list."),
    (LessonAct::SelectWord, "select a word", "Click a word of a translation."),
    (LessonAct::Reveal, "reveal the guess", "Guess, then press Show."),
    (LessonAct::Intervene, "set something", "Change where the model looks or what it says."),
    (LessonAct::AnotherStep, "another step", "Go to another step."),
    (LessonAct::Say, "say a word", "Choose a word for the model to say."),
    (LessonAct::AnotherHypothesis, "another hypothesis", "Click another line of the beam."),
];

/// A thing that a lesson brings about or waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum LessonAction {
    /// These models are the columns.
    Models(Vec<String>),
    /// This is translated.
    Sentence(String),
    /// Every model is given this translation, and shows where it would look; `None`: its own.
    Given(Option<String>),
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
    Wrong(Option<Miswiring>),
    /// This is guessed first; `None`: nothing.
    Guess(Option<Guessed>),
    /// The beam stands beside the steps.
    StepBeam(bool),
    /// The player goes box by box.
    Stages(bool),
    /// The step that says this word is shown; a number: that step, from 1.
    Step(String),
    /// The box of this key is open; `None`: none.
    Box(Option<String>),
    /// What only the reader can do.
    Act(LessonAct),
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
    read: fn(&str) -> Option<LessonAction>,
}

/// Everything, in the order in which a page is made ready.
pub const THINGS: &[ThingEntry] = &[
    entry("models", "folders of models, with commas between", "rnnencdec-en-fr, rnnsearch-en-fr", |text| {
        let names: Vec<String> =
            text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        (!names.is_empty()).then_some(LessonAction::Models(names))
    }),
    entry("sentence", "a sentence", "The woman bought red shoes.", |text| {
        (!text.is_empty()).then(|| LessonAction::Sentence(text.to_owned()))
    }),
    entry("given", "a translation that every model is given, or none", "La maison rouge.", |text| {
        or_none(text, LessonAction::Given)
    }),
    entry("beam", "a number from 1 to 50", "1", |text| {
        text.parse().ok().filter(|beam| (1..=50).contains(beam)).map(LessonAction::Beam)
    }),
    entry("forbid-unk", "on or off", "on", |text| Some(LessonAction::ForbidUnk(on_off(text)?))),
    entry("page", "a page", "steps", |text| {
        PAGES.iter().find(|entry| entry.key == text).map(|entry| LessonAction::Page(entry.page))
    }),
    entry("select", "the folder of a model", "rnnsearch-en-fr", |text| {
        (!text.is_empty()).then(|| LessonAction::Select(text.to_owned()))
    }),
    entry("word", "a word of the translation, or none", "rouges", |text| or_none(text, LessonAction::Word)),
    entry("picture", "heatmap, links or tree", "links", |text| {
        LOOKS.iter().find(|(key, _)| *key == text).map(|(_, look)| LessonAction::Picture(*look))
    }),
    entry("energies", "on or off", "on", |text| Some(LessonAction::Energies(on_off(text)?))),
    entry("pieces", "on or off", "on", |text| Some(LessonAction::Pieces(on_off(text)?))),
    entry("links", "on or off", "on", |text| Some(LessonAction::Links(on_off(text)?))),
    entry("typed-words", "on or off", "on", |text| Some(LessonAction::TypedWords(on_off(text)?))),
    entry("inspector", "on or off", "on", |text| Some(LessonAction::Inspector(on_off(text)?))),
    entry("solo", "on or off", "on", |text| Some(LessonAction::Solo(on_off(text)?))),
    entry("mode", "shown, greedy or class", "greedy", |text| {
        MODES.iter().find(|entry| entry.key == text).map(|entry| LessonAction::Mode(entry.mode))
    }),
    entry("wrong", "a wrong wiring, or none", "blind-weights", |text| match text {
        "none" => Some(LessonAction::Wrong(None)),
        _ => WRONGS.iter().find(|entry| entry.key == text).map(|entry| LessonAction::Wrong(Some(entry.wrong))),
    }),
    entry("guess", "row, word, alignment or off", "word", |text| match text {
        // as in lessons that are older than the guess of a word
        "on" => Some(LessonAction::Guess(Some(Guessed::Row))),
        "off" => Some(LessonAction::Guess(None)),
        _ => Guessed::from_key(text).map(|guessed| LessonAction::Guess(Some(guessed))),
    }),
    entry("step-beam", "on or off", "on", |text| Some(LessonAction::StepBeam(on_off(text)?))),
    entry("stages", "on or off", "on", |text| Some(LessonAction::Stages(on_off(text)?))),
    entry("step", "a word of the translation, or a number from 1", "rouges", |text| {
        (!text.is_empty()).then(|| LessonAction::Step(text.to_owned()))
    }),
    entry("box", "the key of a box, or none", "alpha", |text| or_none(text, LessonAction::Box)),
    entry("act", "what the reader does", "another sentence", |text| {
        ACTS.iter().find(|(_, name, _)| *name == text).map(|(act, ..)| LessonAction::Act(*act))
    }),
];

const fn entry(
    key: &'static str,
    takes: &'static str,
    example: &'static str,
    read: fn(&str) -> Option<LessonAction>,
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

/// A name, or none; nothing at all is neither.
fn or_none(text: &str, thing: fn(Option<String>) -> LessonAction) -> Option<LessonAction> {
    (!text.is_empty()).then(|| thing(Some(text.to_owned()).filter(|text| text != "none")))
}

/// Reads a line; one of a block `do` cannot be what only the reader does.
pub fn read(of: &LessonEntry, is_done: bool) -> Result<LessonAction, String> {
    let Some(line) = THINGS.iter().find(|line| line.key == of.key) else {
        let hint = hint(&of.key, THINGS.iter().map(|line| line.key));
        return Err(format!("there is no key `{}`{hint}", of.key));
    };
    match (line.read)(&of.value) {
        Some(LessonAction::Act(_)) if is_done => {
            Err("`act` is for the reader; it belongs into a block `wait`".to_owned())
        }
        Some(thing) => Ok(thing),
        None if line.key == "act" => {
            let all: Vec<&str> = ACTS.iter().map(|(_, name, _)| *name).collect();
            Err(format!("`{}` is nothing that can be waited for; acts are {}", of.value, all.join(", ")))
        }
        None => Err(format!(
            "`{}` takes {}, not `{}`; for example `{}: {}`",
            line.key, line.takes, of.value, line.key, line.example
        )),
    }
}

impl LessonAction {
    /// Its place in [`THINGS`]; a later one of the same place replaces an earlier.
    pub fn place(&self) -> usize {
        let key = match self {
            Self::Models(_) => "models",
            Self::Sentence(_) => "sentence",
            Self::Given(_) => "given",
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
            Self::StepBeam(_) => "step-beam",
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
            Self::Given(Some(text)) => format!("Give the translation: {text}"),
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_reads_its_own_example_and_knows_its_place() {
        for (at, line) in THINGS.iter().enumerate() {
            let entry = LessonEntry { key: line.key.to_owned(), value: line.example.to_owned(), line: 1 };
            let thing = read(&entry, false).unwrap_or_else(|words| panic!("{words}"));
            assert_eq!(thing.place(), at, "{}", line.key);
            assert!(!thing.prompt().is_empty());
        }
        let wrong = LessonEntry { key: "sentance".into(), value: "x".into(), line: 1 };
        assert!(read(&wrong, true).expect_err("no key").contains("did you mean `sentence`?"));
        let act = LessonEntry { key: "act".into(), value: "say a word".into(), line: 1 };
        assert!(read(&act, true).is_err() && read(&act, false).is_ok());
    }
}
