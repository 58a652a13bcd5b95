//! A lesson as its file says it, which is TOML: pages, and their parts from top to bottom.

use std::{fmt, mem::discriminant};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::app::lights::Highlight;
use crate::session::lessons::things::{LessonAction, things};
use engine::lang;
use engine::text::markdown::{MarkdownBlock, blocks};
use engine::text::toml::parse;

/// A lesson.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    #[serde(deserialize_with = "words")]
    pub title: String,
    #[serde(default, deserialize_with = "markdown")]
    pub about: Vec<MarkdownBlock>,
    #[serde(rename = "page")]
    pub pages: Vec<ScriptPage>,
}

/// A page of it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptPage {
    #[serde(deserialize_with = "words")]
    pub heading: String,
    #[serde(default, rename = "part")]
    pub parts: Vec<ScriptPart>,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScriptPart {
    Text(#[serde(deserialize_with = "markdown")] Vec<MarkdownBlock>),
    /// Brought about when the page comes so far.
    Do(#[serde(deserialize_with = "things")] Vec<LessonAction>),
    /// Lit from here on; empty: nothing.
    Light(Vec<Highlight>),
    /// The parts below come when it was done.
    Wait(Wait),
    Ask(#[serde(deserialize_with = "answerable")] Ask),
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    /// Done when this is so.
    #[serde(rename = "for")]
    pub thing: LessonAction,
    /// What the reader is told, where it is not what can be told of every such thing.
    #[serde(default, deserialize_with = "perhaps")]
    say: Option<String>,
    /// What a class does on paper in its place; `None`: nothing.
    #[serde(default, deserialize_with = "perhaps")]
    pub paper: Option<String>,
}

impl Wait {
    pub fn says(&self) -> String {
        self.say.clone().unwrap_or_else(|| self.thing.prompt())
    }
}

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    #[serde(deserialize_with = "words")]
    pub question: String,
    /// To choose from; empty: an open question.
    pub choices: Vec<LessonChoice>,
    #[serde(deserialize_with = "words")]
    pub answer: String,
    #[serde(deserialize_with = "words")]
    pub hint: String,
    #[serde(deserialize_with = "words")]
    pub why: String,
}

impl Ask {
    /// The right choices in words, or the answer to an open question.
    pub fn solution(&self) -> String {
        if self.is_open() {
            return self.answer.clone();
        }
        let right = self.choices.iter().filter(|choice| choice.is_right()).map(LessonChoice::text);
        right.collect::<Vec<_>>().join("; ")
    }

    /// Whether the answer is typed; the reader compares it with the right one.
    pub fn is_open(&self) -> bool {
        self.choices.is_empty()
    }
}

/// One of several answers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LessonChoice {
    Right(#[serde(deserialize_with = "words")] String),
    Wrong(#[serde(deserialize_with = "words")] String),
}

impl LessonChoice {
    pub fn text(&self) -> &str {
        let (Self::Right(text) | Self::Wrong(text)) = self;
        text
    }

    pub fn is_right(&self) -> bool {
        matches!(self, Self::Right(_))
    }
}

/// An error in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub line: usize,
    pub text: String,
}

impl Fault {
    /// What is wrong where byte `at` of a file stands.
    pub fn at(file: &str, at: usize, text: impl Into<String>) -> Self {
        Self { line: 1 + file.bytes().take(at).filter(|byte| *byte == b'\n').count(), text: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.text)
    }
}

impl Script {
    /// What has been brought about when page `at` begins.
    pub fn things_before(&self, at: usize) -> Vec<LessonAction> {
        things_of(self.pages.iter().take(at).flat_map(|page| &page.parts))
    }

    /// Its questions, with the page and the part that each is.
    pub fn asks(&self) -> impl Iterator<Item = (usize, usize, &Ask)> {
        self.pages.iter().enumerate().flat_map(|(page, of)| {
            of.parts.iter().enumerate().filter_map(move |(at, part)| match part {
                ScriptPart::Ask(ask) => Some((page, at, ask)),
                _ => None,
            })
        })
    }
}

/// What these parts bring about, in the order of making a page ready, each once; waits count as done.
pub(super) fn things_of<'a>(parts: impl Iterator<Item = &'a ScriptPart>) -> Vec<LessonAction> {
    let things = parts.flat_map(ScriptPart::things).filter(|thing| !matches!(thing, LessonAction::Act(_)));
    last_of_each(things.cloned())
}

/// The last of each kind, in the order of making a page ready.
pub(super) fn last_of_each(all: impl Iterator<Item = LessonAction>) -> Vec<LessonAction> {
    let mut things: Vec<LessonAction> = Vec::new();
    for thing in all {
        things.retain(|other| discriminant(other) != discriminant(&thing) && !thing.ends(other));
        things.push(thing);
    }
    things.sort();
    things
}

impl ScriptPart {
    pub(super) fn things(&self) -> &[LessonAction] {
        match self {
            Self::Do(things) => things,
            Self::Wait(wait) => std::slice::from_ref(&wait.thing),
            _ => &[],
        }
    }
}

impl ScriptPage {
    pub fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.parts.iter().filter_map(|part| if let ScriptPart::Ask(ask) = part { Some(ask) } else { None })
    }

    /// Whether all that it waits for can be shown on paper as if it was done.
    pub fn can_be_shown_done(&self) -> bool {
        let mut waits =
            self.parts.iter().filter_map(|part| if let ScriptPart::Wait(wait) = part { Some(wait) } else { None });
        let can =
            |wait: &Wait| !matches!(wait.thing, LessonAction::Act(_) | LessonAction::Row(_) | LessonAction::Heads(_));
        waits.clone().next().is_some() && waits.all(can)
    }
}

fn markdown<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<MarkdownBlock>, D::Error> {
    words(input).map(|text| blocks(&text))
}

/// A text in the language of the window, where the lesson has one in it.
fn words<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    String::deserialize(input).map(|text| lang::of_lesson(&text).to_owned())
}

fn perhaps<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    words(input).map(Some)
}

fn answerable<'de, D: Deserializer<'de>>(input: D) -> Result<Ask, D::Error> {
    let ask = Ask::deserialize(input)?;
    if ask.question.is_empty() {
        Err(D::Error::custom("there is no question; write `ask.question = \"...\"`"))
    } else if ask.choices.is_empty() && ask.answer.is_empty() {
        Err(D::Error::custom(
            "the question has no answer; write `ask.choices = [{ right = \"...\" }, { wrong = \"...\" }]`, or `ask.answer = \"...\"`",
        ))
    } else if !ask.choices.is_empty() && !ask.choices.iter().any(LessonChoice::is_right) {
        Err(D::Error::custom("no choice is right; write `{ right = \"...\" }` for one that is"))
    } else {
        Ok(ask)
    }
}

/// The most opening braces of a lesson; ours have some ten.
const MOST_BRACES: usize = 200;

/// Error: the first invalid line.
pub fn read(text: &str) -> Result<Script, Fault> {
    if let Some((at, _)) = text.match_indices('{').nth(MOST_BRACES) {
        return Err(Fault::at(text, at, "there are too many opening braces for a lesson"));
    }
    let script: Script = parse(text).map_err(|fault| {
        let message = match fault.message.as_str() {
            words if words.starts_with("wanted exactly 1 element") => {
                "each [[page.part]] is one of text, do, light, wait and ask, and each wait.for is one thing"
            }
            words => words,
        };
        Fault::at(text, fault.at, message)
    })?;
    if script.pages.is_empty() {
        return Err(Fault::at(text, text.len(), "there is no page; pages begin with a line [[page]]"));
    }
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_parts_in_the_order_of_the_file_and_knows_what_was_done_before() {
        let text = "title = 'T'\nabout = 'About.'\n[[page]]\nheading = 'A'\npart = [{ text = 'Words.' }, { do = { sentence = 'a', beam = 5 } },\n\
            { ask = { question = 'Why?', choices = [{ wrong = 'no' }, { right = 'yes' }], why = 'so' } }]\n\
            [[page]]\nheading = 'B'\n[[page.part]]\ndo.beam = 1\n[[page.part]]\nlight = ['box alpha', 'heatmap']\n\
            [[page]]\nheading = 'C'\n";
        let script = read(text).expect("it can be read");
        assert_eq!((script.title.as_str(), script.about.len(), script.pages.len()), ("T", 1, 3));
        let [ScriptPart::Text(_), ScriptPart::Do(_), ScriptPart::Ask(ask)] = &script.pages[0].parts[..] else {
            panic!("{:?}", script.pages[0])
        };
        assert_eq!((ask.solution(), ask.why.as_str()), ("yes".to_owned(), "so"));
        assert_eq!(script.things_before(2), [LessonAction::Sentence("a".into()), LessonAction::Beam(1)]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let page = "title = 'T'\n[[page]]\nheading = 'P'\n[[page.part]]\n";
        for (part, line, words) in [
            ("do.beem = 1", 5, "unknown variant `beem`, expected one of `models`, `sentence`"),
            ("do.models = ['a']\ndo.beam = 'many'", 6, "a number from 1 to 50"),
            ("do.beam = 51", 5, "a number from 1 to 50, such as 5, not 51"),
            ("do.act = 'say a word'", 5, "belongs into a part `wait`"),
            ("do.page = 'attic'", 5, "a page, such as \"steps\", not \"attic\""),
            ("do.sentence = ''", 5, "a sentence"),
            ("do.energies = 'on'", 5, "boolean"),
            ("do = 1", 5, "a table"),
            ("light = ['heetmap']", 5, "unknown variant `heetmap`, expected one of `source`"),
            ("light = ['rows m']", 5, "stands alone"),
            ("light = ['box']", 5, "needs the key of a box"),
            ("wait.for.act = 'sleep'", 5, "`another sentence`"),
            ("wait.for = { beam = 1, pieces = true }", 5, "is one thing"),
            ("wait.say = 'x'", 5, "missing field `for`"),
            ("ask.question = 'Why?'", 4, "no answer"),
            ("ask.question = 'Why?'\nask.choices = [{ wrong = 'a' }]", 4, "no choice is right"),
            ("ask.answer = 'so'", 4, "no question"),
            ("text = 'a'\ndo.beam = 1", 4, "each [[page.part]] is one of text"),
            ("lihgt = []", 5, "unknown variant `lihgt`, expected one of `text`, `do`"),
        ] {
            let fault = read(&format!("{page}{part}\n")).expect_err(part);
            assert!(fault.line == line && fault.text.contains(words), "{part}: {fault}");
        }
        for (text, line, words) in [
            ("[[page]]\nheading = 'P'\n", 1, "missing field `title`"),
            ("title = 'T'\n", 1, "missing field `page`"),
            ("title = 'T'\npage = []\n", 3, "no page"),
            ("title = 'T'\nabuot = 'x'\n", 2, "unknown field `abuot`"),
            ("title = 'T\n", 1, "literal string"),
        ] {
            let fault = read(text).expect_err(text);
            assert!(fault.line == line && fault.text.contains(words), "{text}: {fault}");
        }
    }
}
