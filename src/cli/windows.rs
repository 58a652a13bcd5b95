//! The one loop of commands that answer a line of input with a result: window after window until the input
//! ends or cannot be read any further.
//!
//! A window is one line at first, so that the first result comes early, and grows to a few batches, so that most
//! batches are of like length and memory stays constant. It also ends where reading on would mean waiting: whoever
//! types or pipes single lines gets each answer at once.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use crate::input::{InputFiles, SourceLine};
use crate::progress::ProgressLine;
use engine::error::{Error, Result};

/// What a window holds: a line or a pair of lines.
pub trait WindowItem {
    /// How many words it brings into a window, and why a model cannot read it.
    fn facts(&self) -> (usize, Option<&Error>);
}

impl WindowItem for SourceLine {
    fn facts(&self) -> (usize, Option<&Error>) {
        (self.sentence.len(), self.refused.as_ref())
    }
}

const WINDOW_WORDS: usize = 50_000;
const WINDOW_BATCHES: usize = 16;
const FASTER: usize = 8;

/// How many items the next window may hold.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    next: usize,
    full: usize,
}

impl Growth {
    /// Windows for batches of so many sentences.
    pub fn new(batch: usize) -> Self {
        Self::up_to(batch * WINDOW_BATCHES)
    }

    /// Windows of at most so many items.
    pub fn up_to(full: usize) -> Self {
        Self { next: 1, full: full.max(1) }
    }

    fn grow(&mut self) -> usize {
        let most = self.next;
        self.next = (FASTER * most).min(self.full);
        most
    }
}

/// What is done, for the progress and for an input that was empty.
#[derive(Clone, Copy, Debug)]
pub struct Doing {
    /// As the progress has it: `translating`.
    pub name: &'static str,
    /// As what was left undone: `translate`.
    pub verb: &'static str,
}

const SHOWN: usize = 3;
const NAMED: usize = 5;

struct RefusedKind {
    path: PathBuf,
    reason: String,
    count: usize,
    lines: Vec<usize>,
}

fn bare(reason: &str) -> String {
    let outside = reason.split('`').step_by(2).collect::<Vec<_>>().join("``");
    outside.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

fn note(kinds: &mut Vec<RefusedKind>, why: &Error) -> bool {
    let Error::Line { path, line, message } = why else { return true };
    let reason = bare(message);
    let known = kinds.iter().position(|kind| kind.path == *path && kind.reason == reason);
    let place = known.unwrap_or_else(|| {
        kinds.push(RefusedKind { path: path.clone(), reason, count: 0, lines: Vec::new() });
        kinds.len() - 1
    });
    let kind = &mut kinds[place];
    kind.count += 1;
    if kind.count > SHOWN && kind.lines.len() < NAMED {
        kind.lines.push(*line);
    }
    kind.count <= SHOWN
}

impl RefusedKind {
    /// What is said of the lines that were not told of; `None` where all were.
    fn rest(&self) -> Option<String> {
        let rest = self.count.checked_sub(SHOWN).filter(|rest| *rest > 0)?;
        let named: Vec<String> = self.lines.iter().map(usize::to_string).collect();
        let (path, named) = (self.path.display(), named.join(", "));
        Some(match rest {
            1 => format!("{path}, line {named}: the same"),
            _ if rest > self.lines.len() => format!("{path}, lines {named} and so on: the same, {rest} lines more"),
            _ => format!("{path}, lines {named}: the same"),
        })
    }
}

/// Reads window after window, item by item as `next` does, and hands each on to `work`, which gives the number of words
/// it came to. Items that a model cannot read are reported and counted; see [`refused`].
pub fn run<I: WindowItem>(
    doing: Doing, files: &mut InputFiles, mut growth: Growth,
    next: &mut dyn FnMut(&mut InputFiles) -> Result<Option<I>>, work: &mut dyn FnMut(&[I]) -> anyhow::Result<usize>,
) -> anyhow::Result<usize> {
    let mut progress = ProgressLine::new(doing.name, files.source.size, std::io::stdout().is_terminal());
    let (mut refused, mut kinds) = (0, Vec::new());
    loop {
        let (window, ended) = read(files, next, growth.grow());
        for why in window.iter().filter_map(|item| item.facts().1) {
            refused += 1;
            if note(&mut kinds, why) {
                progress.notify(&why.to_string());
            }
        }
        let words = work(&window)?;
        progress.add(window.len(), words, files.source.bytes);
        if ended.inspect_err(|_| progress.finish())? {
            break;
        }
    }
    progress.finish();
    kinds.iter().filter_map(RefusedKind::rest).for_each(|rest| progress.notify(&rest));
    files.source.warn_if_empty(doing.verb);
    Ok(refused)
}

fn read<I: WindowItem>(
    files: &mut InputFiles, next: &mut dyn FnMut(&mut InputFiles) -> Result<Option<I>>, most: usize,
) -> (Vec<I>, Result<bool>) {
    let (mut window, mut words) = (Vec::new(), 0);
    while window.len() < most && words < WINDOW_WORDS {
        match next(files) {
            Ok(Some(item)) => {
                words += item.facts().0;
                window.push(item);
            }
            Ok(None) => return (window, Ok(true)),
            Err(error) => return (window, Err(error)),
        }
        if !files.is_ready() {
            break;
        }
    }
    (window, Ok(false))
}

/// The error at the end of work in which this many lines were refused, each with its own sentence.
pub fn refused(count: usize) -> anyhow::Result<()> {
    match count {
        0 => Ok(()),
        1 => Err(Error::Input("1 line was left empty because a model cannot read it".into()).into()),
        _ => Err(Error::Input(format!("{count} lines were left empty because a model cannot read them")).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_refused_for_one_reason_are_told_together() {
        let mut kinds = Vec::new();
        let reported: Vec<usize> = (1..=2000)
            .filter(|line| {
                let why =
                    if line % 1000 == 7 { "has no tab".into() } else { format!("has {line} pieces in `w{line}`") };
                note(&mut kinds, &Error::line("a.txt", *line, why))
            })
            .collect();
        assert_eq!(reported, [1, 2, 3, 7, 1007]);
        let rest: Vec<String> = kinds.iter().filter_map(RefusedKind::rest).collect();
        assert_eq!(rest, ["a.txt, lines 4, 5, 6, 8, 9 and so on: the same, 1995 lines more"]);
    }

    #[test]
    fn windows_grow_from_one_line_to_sixteen_batches() {
        let mut growth = Growth::new(16);
        assert_eq!([(); 5].map(|()| growth.grow()), [1, 8, 64, 256, 256]);
    }
}
