//! Floor 12: a lesson whose blocks are understood.

use std::collections::BTreeMap;

use crate::app::lights;
use crate::app::lights::Highlight;
use crate::evaluation::facts::EvaluationFact;
use crate::session::lessons::things;
use crate::session::lessons::things::LessonAction;
use crate::text::lesson;
use crate::text::lesson::{Ask, Fault, LessonEntry};
use crate::text::markdown::MarkdownBlock;

/// A lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Its title.
    pub title: String,
    /// What it is about.
    pub about: Vec<MarkdownBlock>,
    /// At least one.
    pub pages: Vec<ScriptPage>,
}

/// A page of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptPage {
    /// Its heading.
    pub heading: String,
    /// Where it stands in the file, from 1.
    pub line: usize,
    /// From top to bottom.
    pub parts: Vec<ScriptPart>,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptPart {
    /// To be read.
    Text(Vec<MarkdownBlock>),
    /// ImportReport about when the page comes so far.
    Do(Vec<LessonAction>),
    /// Lit from here on; empty: nothing.
    Light(Vec<Highlight>),
    /// The parts below come when it was done.
    Wait(Wait),
    /// A question, with its number on the page.
    Ask(usize, Ask),
    /// What must be so, with its line in the file.
    Check(Vec<(usize, EvaluationFact)>),
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// Done when this is so.
    pub thing: LessonAction,
    /// What the reader is told.
    pub says: String,
}

impl Script {
    /// What has been brought about when page `at` begins, in the order of the table, each thing once.
    pub fn things_before(&self, at: usize) -> Vec<LessonAction> {
        let mut things = BTreeMap::new();
        for part in self.pages.iter().take(at).flat_map(|page| &page.parts) {
            match part {
                ScriptPart::Do(list) => things.extend(list.iter().map(|thing| (thing.place(), thing.clone()))),
                // what was waited for is so, whoever did it
                ScriptPart::Wait(wait) if !matches!(wait.thing, LessonAction::Act(_)) => {
                    things.insert(wait.thing.place(), wait.thing.clone());
                }
                _ => {}
            }
        }
        things.into_values().collect()
    }

    /// The sentence and the beam of each part with facts, page by page.
    pub fn facts(&self) -> Vec<Tried<'_>> {
        let (mut sentence, mut beam) = (String::new(), 5);
        let mut tried = Vec::new();
        for part in self.pages.iter().flat_map(|page| &page.parts) {
            let things: &[LessonAction] = match part {
                ScriptPart::Do(things) => things,
                ScriptPart::Wait(wait) => std::slice::from_ref(&wait.thing),
                ScriptPart::Check(facts) => {
                    tried.extend(facts.iter().map(|(line, fact)| Tried {
                        line: *line,
                        fact,
                        sentence: sentence.clone(),
                        beam,
                    }));
                    &[]
                }
                _ => &[],
            };
            for thing in things {
                match thing {
                    LessonAction::Sentence(text) => sentence.clone_from(text),
                    LessonAction::Beam(wanted) => beam = *wanted,
                    _ => {}
                }
            }
        }
        tried
    }
}

/// A fact and what it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried<'a> {
    /// Where it stands in the file, from 1.
    pub line: usize,
    /// What must be so,
    pub fact: &'a EvaluationFact,
    /// of this sentence
    pub sentence: String,
    /// and this beam.
    pub beam: usize,
}

impl ScriptPage {
    /// Its questions.
    pub fn asks(&self) -> impl Iterator<Item = (usize, &Ask)> {
        self.parts.iter().filter_map(|part| match part {
            ScriptPart::Ask(n, ask) => Some((*n, ask)),
            _ => None,
        })
    }

    /// Words that are read on it, questions aside.
    pub fn words(&self) -> usize {
        let text = |part: &ScriptPart| match part {
            ScriptPart::Text(blocks) => blocks.iter().map(|block| block.plain().split_whitespace().count()).sum(),
            _ => 0,
        };
        self.parts.iter().map(text).sum()
    }
}

/// Reads a lesson and all that its blocks say.
///
/// # Errors
/// Every line that means nothing, in the order of the file.
pub fn read(text: &str) -> Result<Script, Vec<Fault>> {
    let lesson = lesson::read(text)?;
    let mut faults = Vec::new();
    let mut pages = Vec::new();
    for page in lesson.pages {
        let mut asks = 0;
        let mut parts = Vec::new();
        for part in page.parts {
            parts.push(understood(part, &mut asks, &mut faults));
        }
        pages.push(ScriptPage { heading: page.heading, line: page.line, parts: parts.into_iter().flatten().collect() });
    }
    if faults.is_empty() { Ok(Script { title: lesson.title, about: lesson.about, pages }) } else { Err(faults) }
}

fn understood(part: lesson::LessonPart, asks: &mut usize, faults: &mut Vec<Fault>) -> Option<ScriptPart> {
    let mut sound = |entry: &LessonEntry, found: Result<(), String>| {
        if let Err(text) = found {
            faults.push(Fault::new(entry.line, text));
        }
    };
    Some(match part {
        lesson::LessonPart::Text(blocks) => ScriptPart::Text(blocks),
        lesson::LessonPart::Ask(ask) => {
            *asks += 1;
            ScriptPart::Ask(*asks - 1, ask)
        }
        lesson::LessonPart::Do(entries) => {
            let mut things = Vec::new();
            for entry in &entries {
                sound(entry, things::read(entry, true).map(|thing| things.push(thing)));
            }
            ScriptPart::Do(things)
        }
        lesson::LessonPart::Light(entries) => {
            let mut lit = Vec::new();
            for entry in &entries {
                sound(entry, lights::read(entry).map(|light| lit.extend(light)));
            }
            ScriptPart::Light(lit)
        }
        lesson::LessonPart::Check(entries) => {
            let mut facts = Vec::new();
            for entry in &entries {
                sound(entry, EvaluationFact::read(&entry.key, &entry.value).map(|fact| facts.push((entry.line, fact))));
            }
            ScriptPart::Check(facts)
        }
        lesson::LessonPart::Wait(entries) => return wait(&entries, faults).map(ScriptPart::Wait),
    })
}

fn wait(entries: &[LessonEntry], faults: &mut Vec<Fault>) -> Option<Wait> {
    let first = entries.first()?;
    let says = entries.iter().find(|entry| entry.key == "say").map(|entry| entry.value.clone());
    let mut things = Vec::new();
    for entry in entries.iter().filter(|entry| entry.key != "say") {
        match things::read(entry, false) {
            Ok(thing) => things.push(thing),
            Err(text) => faults.push(Fault::new(entry.line, text)),
        }
    }
    let count = entries.iter().filter(|entry| entry.key != "say").count();
    if count != 1 {
        faults.push(Fault::new(
            first.line,
            "a block `wait` has one line that says what is waited for, and may have a line `say: ...`",
        ));
        return None;
    }
    let thing = things.pop()?;
    Some(Wait { says: says.unwrap_or_else(|| thing.prompt()), thing })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_does_not_mean_is_said_with_its_line_and_the_nearest_key() {
        for (block, part) in [
            ("```do\nbeem: 1\n```", "did you mean `beam`?"),
            ("```do\nbeam: many\n```", "takes a number from 1 to 50, not `many`"),
            ("```do\nact: say a word\n```", "belongs into a block `wait`"),
            ("```light\nheetmap\n```", "did you mean `heatmap`?"),
            ("```wait\nact: sleep\n```", "acts are"),
            ("```wait\nbeam: 1\nbeam: 2\n```", "one line"),
            ("```check\nalpha: 1\n```", "is no fact"),
        ] {
            let faults = read(&format!("# T\n## P\n{block}\n")).expect_err(block);
            assert!(faults.iter().any(|fault| fault.text.contains(part)), "{block}: {faults:?}");
            assert!(faults.iter().all(|fault| fault.line >= 3), "{faults:?}");
        }
    }

    #[test]
    fn a_page_knows_what_was_done_before_it() {
        let text = "# T\n## A\n```do\nbeam: 5\nsentence: a\n```\n## B\n```do\nbeam: 1\n```\n```check\ntranslation m is: x\n```\n## C\nx\n";
        let script = read(text).expect("it can be read");
        assert_eq!(script.things_before(2), [LessonAction::Sentence("a".into()), LessonAction::Beam(1)]);
        let facts = script.facts();
        assert_eq!((facts[0].line, facts[0].sentence.as_str(), facts[0].beam), (12, "a", 1));
    }
}
