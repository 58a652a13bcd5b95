//! Floor 1: a lesson as a teacher writes it: Markdown with a page for each `##`, in which fenced blocks of a few names
//! say what happens beside the words. What their lines mean is not known here.

use std::fmt;

use crate::text::markdown::{MarkdownBlock, blocks};

/// The names of the fenced blocks that are no text.
pub const BLOCKS: &[&str] = &["do", "light", "wait", "ask", "check"];

/// A lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lesson {
    /// The `#` heading.
    pub title: String,
    /// What stands before the first page.
    pub about: Vec<MarkdownBlock>,
    /// At least one.
    pub pages: Vec<LessonPage>,
}

/// A page of a lesson.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonPage {
    /// The `##` heading.
    pub heading: String,
    /// Where it stands, from 1.
    pub line: usize,
    /// In the order of the file.
    pub parts: Vec<LessonPart>,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LessonPart {
    /// To be read.
    Text(Vec<MarkdownBlock>),
    /// What the program does.
    Do(Vec<LessonEntry>),
    /// What is spoken of.
    Light(Vec<LessonEntry>),
    /// What the reader is to do.
    Wait(Vec<LessonEntry>),
    /// A question.
    Ask(Ask),
    /// What must be so for the page to be true.
    Check(Vec<LessonEntry>),
}

/// A line `key: value` of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonEntry {
    /// Before the colon.
    pub key: String,
    /// Behind it.
    pub value: String,
    /// Where it stands, from 1.
    pub line: usize,
}

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// What is asked.
    pub question: String,
    /// To choose from; empty: an open question.
    pub choices: Vec<LessonChoice>,
    /// The answer to an open question.
    pub answer: String,
    /// Why it is so; may be empty.
    pub why: String,
}

impl Ask {
    /// The right choices in words, or the answer to an open question.
    pub fn solution(&self) -> String {
        if self.choices.is_empty() {
            return self.answer.clone();
        }
        let right = self.choices.iter().filter(|choice| choice.is_right).map(|choice| choice.text.as_str());
        right.collect::<Vec<_>>().join("; ")
    }
}

/// One of several answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonChoice {
    /// What it says.
    pub text: String,
    /// It is right.
    pub is_right: bool,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    /// A sentence for the one who wrote it.
    pub text: String,
}

impl Fault {
    /// What is wrong with a line.
    pub fn new(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.text)
    }
}

/// Reads a lesson.
///
/// # Errors
/// Every line that cannot be read, in the order of the file.
pub fn read(text: &str) -> Result<Lesson, Vec<Fault>> {
    let mut reader = Reader::default();
    for (at, line) in text.lines().enumerate() {
        reader.take(at + 1, line);
    }
    reader.finish(text.lines().count())
}

/// The fence that is open.
enum Fence {
    /// Code, which is text.
    Code,
    /// One of [`BLOCKS`], with its first line and its lines.
    Block(&'static str, usize, Vec<(usize, String)>),
}

#[derive(Default)]
struct Reader {
    lesson: Lesson,
    /// Text of the part that is open.
    text: String,
    fence: Option<Fence>,
    faults: Vec<Fault>,
}

impl Reader {
    fn take(&mut self, number: usize, line: &str) {
        let ends = line.trim() == "```";
        match self.fence.take() {
            Some(Fence::Block(name, first, lines)) if ends => self.block(name, first, &lines),
            Some(Fence::Block(name, first, mut lines)) => {
                lines.push((number, line.trim().to_owned()));
                self.fence = Some(Fence::Block(name, first, lines));
            }
            Some(Fence::Code) => {
                self.keep(line);
                self.fence = (!ends).then_some(Fence::Code);
            }
            None => self.outside(number, line),
        }
    }

    fn outside(&mut self, number: usize, line: &str) {
        if let Some(name) = line.trim_end().strip_prefix("```") {
            self.open(number, name.trim(), line);
        } else if let Some(heading) = line.strip_prefix("## ") {
            self.flush();
            let page = LessonPage { heading: heading.trim().to_owned(), line: number, parts: Vec::new() };
            self.lesson.pages.push(page);
        } else if let Some(title) = line.strip_prefix("# ").filter(|_| self.lesson.title.is_empty()) {
            self.lesson.title = title.trim().to_owned();
        } else {
            self.keep(line);
        }
    }

    fn open(&mut self, number: usize, name: &str, line: &str) {
        if let Some(name) = BLOCKS.iter().find(|block| **block == name) {
            self.flush();
            self.fence = Some(Fence::Block(name, number, Vec::new()));
            return;
        }
        if !name.is_empty() {
            let hint = hint(name, BLOCKS.iter().copied());
            self.fault(number, format!("there is no block `{name}`{hint}"));
        }
        self.keep(line);
        self.fence = Some(Fence::Code);
    }

    fn keep(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn fault(&mut self, line: usize, text: impl Into<String>) {
        self.faults.push(Fault::new(line, text));
    }

    /// The text so far becomes a part.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return;
        }
        match self.lesson.pages.last_mut() {
            Some(page) => page.parts.push(LessonPart::Text(blocks(&text))),
            None => self.lesson.about.extend(blocks(&text)),
        }
    }

    fn block(&mut self, name: &'static str, first: usize, lines: &[(usize, String)]) {
        let lines: Vec<&(usize, String)> = lines.iter().filter(|(_, line)| !line.is_empty()).collect();
        if lines.is_empty() {
            return self.fault(first, format!("the block `{name}` is empty"));
        }
        let part = match name {
            "ask" => LessonPart::Ask(self.ask(first, &lines)),
            "light" => LessonPart::Light(lines.iter().map(|line| named(line)).collect()),
            "do" => LessonPart::Do(self.entries(&lines)),
            "wait" => LessonPart::Wait(self.entries(&lines)),
            _ => LessonPart::Check(self.entries(&lines)),
        };
        match self.lesson.pages.last_mut() {
            Some(page) => page.parts.push(part),
            None => self.fault(first, "a block must stand on a page; pages begin with a line `## Heading`"),
        }
    }

    fn entries(&mut self, lines: &[&(usize, String)]) -> Vec<LessonEntry> {
        let mut entries = Vec::new();
        for (number, line) in lines {
            match line.split_once(':') {
                Some((key, value)) => {
                    entries.push(LessonEntry {
                        key: key.trim().to_owned(),
                        value: value.trim().to_owned(),
                        line: *number,
                    });
                }
                None => self.fault(*number, format!("`{line}` has no colon; write `key: value`")),
            }
        }
        entries
    }

    fn ask(&mut self, first: usize, lines: &[&(usize, String)]) -> Ask {
        let mut ask = Ask::default();
        for (_, line) in lines {
            let choice = |mark: &str| line.strip_prefix(mark).map(|text| text.trim().to_owned());
            if let Some(text) = choice("- (x)").or_else(|| choice("- (X)")) {
                ask.choices.push(LessonChoice { text, is_right: true });
            } else if let Some(text) = choice("- ( )").or_else(|| choice("- ()")) {
                ask.choices.push(LessonChoice { text, is_right: false });
            } else if let Some(text) = choice("answer:") {
                ask.answer = text;
            } else if let Some(text) = choice("why:") {
                ask.why = text;
            } else {
                // a long line may go on in the next
                let on = [&mut ask.why, &mut ask.answer].into_iter().find(|text| !text.is_empty());
                let last = ask.choices.last_mut().map(|choice| &mut choice.text);
                let text = on.or(last).unwrap_or(&mut ask.question);
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(line);
            }
        }
        if ask.question.is_empty() {
            self.fault(first, "the block `ask` has no question; its first line is the question");
        } else if ask.choices.is_empty() && ask.answer.is_empty() {
            self.fault(
                first,
                "the question has no answer; write lines `- (x) right` and `- ( ) wrong`, or `answer: ...`",
            );
        } else if !ask.choices.is_empty() && !ask.choices.iter().any(|choice| choice.is_right) {
            self.fault(first, "no choice is right; mark one with `- (x)`");
        }
        ask
    }

    fn finish(mut self, lines: usize) -> Result<Lesson, Vec<Fault>> {
        self.flush();
        if let Some(Fence::Block(name, first, _)) = self.fence.take() {
            self.fault(first, format!("the block `{name}` is not closed; end it with a line ```"));
        }
        if self.lesson.title.is_empty() {
            self.fault(1, "a lesson begins with a line `# Title`");
        }
        if self.lesson.pages.is_empty() {
            self.fault(lines.max(1), "there is no page; pages begin with a line `## Heading`");
        }
        if self.faults.is_empty() { Ok(self.lesson) } else { Err(self.faults) }
    }
}

/// A line of a block that names things: a name, then what it is of.
fn named((number, line): &(usize, String)) -> LessonEntry {
    let (key, value) = line.split_once(' ').unwrap_or((line, ""));
    LessonEntry { key: key.trim_end_matches(':').to_owned(), value: value.trim().to_owned(), line: *number }
}

/// `; did you mean ...?` where a name of a table is near enough, else `; there are` all of them.
pub fn hint<'a>(name: &str, among: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(name, among.clone()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; there are {}", among.collect::<Vec<_>>().join(", ")),
    }
}

/// The name that differs least, by at most a third of its letters and one more.
fn nearest<'a>(name: &str, among: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = among.map(|other| (distance(name, other), other)).min()?;
    (near.0 <= near.1.chars().count() / 3 + 1).then_some(near.1)
}

/// How many letters must be put in, taken out or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "# Title\n\nAbout.\n\n## One\n\nWords.\n\n```do\nbeam: 1\n```\n\nMore.\n\n```ask\nWhy?\n- ( ) no\n- (x) yes\nwhy: so\n```\n\n## Two\n\n```\ncode\n```\n\n```light\nbox alpha\nheatmap\n```\n";

    #[test]
    fn pages_hold_text_and_blocks_in_the_order_of_the_file() {
        let lesson = read(SMALL).expect("it can be read");
        assert_eq!((lesson.title.as_str(), lesson.about.len(), lesson.pages.len()), ("Title", 1, 2));
        let [LessonPart::Text(_), LessonPart::Do(entries), LessonPart::Text(_), LessonPart::Ask(ask)] =
            &lesson.pages[0].parts[..]
        else {
            panic!("{:?}", lesson.pages[0])
        };
        assert_eq!(entries[0], LessonEntry { key: "beam".into(), value: "1".into(), line: 10 });
        assert_eq!((ask.question.as_str(), ask.solution(), ask.why.as_str()), ("Why?", "yes".to_owned(), "so"));
        let [LessonPart::Text(code), LessonPart::Light(lights)] = &lesson.pages[1].parts[..] else { panic!() };
        assert_eq!(code, &[MarkdownBlock::Code("code\n".into())]);
        let lights: Vec<_> = lights.iter().map(|entry| (entry.key.as_str(), entry.value.as_str())).collect();
        assert_eq!(lights, [("box", "alpha"), ("heatmap", "")]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, part) in [
            ("## P\n\nx\n", 1, "# Title"),
            ("# T\n\nx\n", 3, "no page"),
            ("# T\n```do\nbeam: 1\n```\n## P\n", 2, "on a page"),
            ("# T\n## P\n```do\nbeam 1\n```\n", 4, "no colon"),
            ("# T\n## P\n```lihgt\nx\n```\n", 3, "did you mean `light`?"),
            ("# T\n## P\n```do\n```\n", 3, "empty"),
            ("# T\n## P\n```do\nbeam: 1\n", 3, "not closed"),
            ("# T\n## P\n```ask\nWhy?\n```\n", 3, "no answer"),
            ("# T\n## P\n```ask\nWhy?\n- ( ) a\n```\n", 3, "no choice is right"),
            ("# T\n## P\n```ask\n- (x) a\n```\n", 3, "no question"),
        ] {
            let faults = read(text).expect_err(text);
            assert!(faults.iter().any(|fault| fault.line == line && fault.text.contains(part)), "{text}: {faults:?}");
        }
    }
}
