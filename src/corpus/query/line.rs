//! A line of conditions as its parts, and how they are put together: all hold, or those before `OR` or those behind it.

use std::{iter::Peekable, vec::IntoIter};

use engine::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Next,
    Not,
    And,
    Or,
}

const DEEPEST: usize = 16;
const SIGNS: [char; 5] = ['<', '>', '=', '\u{2264}', '\u{2265}'];

/// The conditions of a line with `OR`, `AND`, `NOT`, `(` and `)` between them; spaces around a sign are removed.
pub(crate) fn parts(line: &str) -> Result<Vec<String>> {
    let mut parts: Vec<String> = Vec::new();
    let mut before = String::new();
    for word in split(line)? {
        let last = parts
            .last_mut()
            .filter(|last| !last.contains([':', '"', '/']) && !matches!(last.as_str(), "OR" | "AND" | "NOT"));
        match last {
            Some(last) if word.starts_with(SIGNS) || last.ends_with(SIGNS) => last.push_str(&word),
            Some(last)
                if last.contains('=')
                    && (word.starts_with("..")
                        || before == ".." && word.trim_end_matches(')').parse::<f32>().is_ok()) =>
            {
                last.push_str(&word);
            }
            _ => parts.push(word.clone()),
        }
        before = word;
    }
    let relates = |part: &str| part.contains(SIGNS) && !part.contains(['"', '/', ':']);
    for three in parts.windows(3).filter(|three| relates(&three[0]) && relates(&three[2])) {
        let meant = match three[1].as_str() {
            "or" | "Or" | "|" | "||" => "OR",
            "and" | "And" | "&" | "&&" => "AND",
            _ => continue,
        };
        let sign = &three[1];
        let message =
            format!("`{sign}` stands between two conditions; write {meant}, or \"{sign}\" to find it in a text");
        return Err(Error::Input(message));
    }
    let is_grouped = parts.iter().any(|part| matches!(part.as_str(), "OR" | "AND" | "NOT"));
    Ok(if is_grouped { parts.into_iter().flat_map(|part| grouped(&part)).collect() } else { parts })
}

fn grouped(part: &str) -> Vec<String> {
    let (minus, part) =
        part.strip_prefix('-').filter(|rest| rest.starts_with('(')).map_or((None, part), |rest| (Some("NOT"), rest));
    let opened = part.trim_start_matches('(');
    // those of a word that has both itself stay with it
    let own = opened.matches('(').count();
    let closing = (opened.len() - opened.trim_end_matches(')').len()).saturating_sub(own);
    let word = &opened[..opened.len() - closing];
    let round = |sign: &'static str, count| std::iter::repeat_n(sign, count);
    let word = Some(word).filter(|word| !word.is_empty());
    let all = minus.into_iter().chain(round("(", part.len() - opened.len())).chain(word).chain(round(")", closing));
    all.map(str::to_owned).collect()
}

pub(super) fn steps(parts: Vec<String>, take: &mut dyn FnMut(&str) -> Result<()>) -> Result<Vec<Step>> {
    let mut reader = Reader { parts: parts.into_iter().peekable(), steps: Vec::new(), take };
    if reader.parts.peek().is_some() {
        reader.any(0)?;
    }
    match reader.parts.next() {
        Some(_) => Err(Error::Input("a `)` closes no group; write it in quotes to find it in a text".to_owned())),
        None => Ok(reader.steps),
    }
}

struct Reader<'a> {
    parts: Peekable<IntoIter<String>>,
    steps: Vec<Step>,
    take: &'a mut dyn FnMut(&str) -> Result<()>,
}

impl Reader<'_> {
    fn any(&mut self, depth: usize) -> Result<()> {
        self.all(depth)?;
        while self.parts.next_if(|part| part == "OR").is_some() {
            self.all(depth)?;
            self.steps.push(Step::Or);
        }
        Ok(())
    }

    fn all(&mut self, depth: usize) -> Result<()> {
        self.one(depth)?;
        while self.parts.peek().is_some_and(|part| !matches!(part.as_str(), "OR" | ")")) {
            self.parts.next_if(|part| part == "AND");
            self.one(depth)?;
            self.steps.push(Step::And);
        }
        Ok(())
    }

    fn one(&mut self, depth: usize) -> Result<()> {
        let part = self.parts.next().unwrap_or_default();
        match part.as_str() {
            "" | "OR" | "AND" | ")" => {
                let message = "OR and AND stand between two conditions, NOT before one, and a group has one; write such a word in quotes to \
                               find it in a text";
                Err(Error::Input(message.to_owned()))
            }
            "NOT" if depth < DEEPEST => {
                self.one(depth + 1)?;
                self.steps.push(Step::Not);
                Ok(())
            }
            "(" | "NOT" if depth == DEEPEST => {
                Err(Error::Input(format!("a group is within more than {DEEPEST} others")))
            }
            "(" => {
                self.any(depth + 1)?;
                let closed = self.parts.next_if(|part| part == ")");
                closed
                    .map(drop)
                    .ok_or_else(|| Error::Input("a group that begins with `(` has no `)` at its end".to_owned()))
            }
            word => {
                let positive = word.strip_prefix('-').filter(|rest| !rest.is_empty());
                (self.take)(positive.unwrap_or(word))?;
                self.steps.push(Step::Next);
                self.steps.extend(positive.map(|_| Step::Not));
                Ok(())
            }
        }
    }
}

pub(super) fn shown(steps: &[Step], mut next: impl FnMut() -> Vec<bool>) -> Option<Vec<bool>> {
    let mut stack: Vec<Vec<bool>> = Vec::new();
    for step in steps {
        let mut top = if *step == Step::Next { next() } else { stack.pop()? };
        match step {
            Step::Next => {}
            Step::Not => top.iter_mut().for_each(|holds| *holds = !*holds),
            Step::And => stack.pop()?.iter().zip(&mut top).for_each(|(other, holds)| *holds &= other),
            Step::Or => stack.pop()?.iter().zip(&mut top).for_each(|(other, holds)| *holds |= other),
        }
        stack.push(top);
    }
    stack.pop()
}

fn split(line: &str) -> Result<Vec<String>> {
    let (mut words, mut word, mut within) = (Vec::new(), String::new(), None);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match within {
            Some(end) => {
                word.push(c);
                if c == '\\'
                    && let Some(next) = chars.next_if(|next| end == '/' || *next == end)
                {
                    word.push(next);
                } else if c == end {
                    within = None;
                }
            }
            None if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            None => {
                let begins = word.ends_with(':') || word.chars().all(|c| matches!(c, '-' | '('));
                within = (begins && (c == '"' || c == '/')).then_some(c);
                word.push(c);
            }
        }
    }
    if let Some(end) = within {
        return Err(Error::Input(format!("`{word}` has no closing {end}")));
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}
