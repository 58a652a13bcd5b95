//! Floor 13: the one loop of commands that answer a line of input with a result: window after window until the input
//! ends or cannot be read any further.
//!
//! A window is one line at first, so that the first result comes early, and grows to a few batches, so that most
//! batches are of like length and memory stays constant. It also ends where reading on would mean waiting: whoever
//! types or pipes single lines gets each answer at once.

use std::io::IsTerminal as _;

use crate::cli::progress::ProgressLine;
use crate::error::{Error, Result};

/// What a command reads, one item after the other.
pub trait WindowInput {
    /// A line or a pair of lines.
    type Item;

    /// The next item; `None` at the end.
    fn next(&mut self) -> Result<Option<Self::Item>>;

    /// Whether another item can be read without waiting for the writer.
    fn is_ready(&mut self) -> bool;

    /// How many words an item brings into a window.
    fn weight(item: &Self::Item) -> usize;

    /// Why an item cannot be read by a model.
    fn refused(item: &Self::Item) -> Option<&Error>;

    /// Bytes in all, where that is known.
    fn size(&self) -> Option<u64>;

    /// Bytes read so far.
    fn position(&self) -> u64;

    /// Says at the end of an input without any line that there was nothing to do.
    fn tell_empty(&self, verb: &str);
}

/// Words of a full window.
const WINDOW_WORDS: usize = 50_000;
/// Batches of a full window.
const WINDOW_BATCHES: usize = 16;
/// How many times as long the next window may be while they grow: each ends in a batch that grows thin.
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

    /// The most items of this window; the next may hold more.
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

/// Reads window after window and hands each on to `work`, which gives the number of words it came to. Items that a
/// model cannot read are reported and counted; see [`crate::cli::words::refused`].
///
/// # Errors
/// What `work` returns; what the input returns, after what was read before it.
pub fn run<I: WindowInput>(
    doing: Doing,
    input: &mut I,
    mut growth: Growth,
    work: &mut dyn FnMut(&[I::Item]) -> anyhow::Result<usize>,
) -> anyhow::Result<usize> {
    let mut progress = ProgressLine::new(doing.name, input.size(), std::io::stdout().is_terminal());
    let mut refused = 0;
    loop {
        let (window, ended) = read(input, growth.grow());
        for why in window.iter().filter_map(I::refused) {
            refused += 1;
            progress.tell(&why.to_string());
        }
        let words = work(&window)?;
        progress.add(window.len(), words, input.position());
        if ended.inspect_err(|_| progress.finish())? {
            break;
        }
    }
    progress.finish();
    input.tell_empty(doing.verb);
    Ok(refused)
}

/// At most `most` items, and whether the input has ended. What was read before an error still counts.
fn read<I: WindowInput>(input: &mut I, most: usize) -> (Vec<I::Item>, Result<bool>) {
    let (mut window, mut words) = (Vec::new(), 0);
    while window.len() < most && words < WINDOW_WORDS {
        match input.next() {
            Ok(Some(item)) => {
                words += I::weight(&item);
                window.push(item);
            }
            Ok(None) => return (window, Ok(true)),
            Err(error) => return (window, Err(error)),
        }
        if !input.is_ready() {
            break;
        }
    }
    (window, Ok(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_from_one_line_to_sixteen_batches() {
        let mut growth = Growth::new(16);
        assert_eq!([(); 5].map(|()| growth.grow()), [1, 8, 64, 256, 256]);
    }
}
