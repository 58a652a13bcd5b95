//! Floor 9: pairs of parallel files, forced through a model in windows: what `score` and `dictionary` share;
//! and the lines themselves, for `align`.

use std::io::IsTerminal as _;

use crate::cli::args::{BatchArgs, ModelArgs, PairArgs, RunArgs};
use crate::cli::input::{Growth, Line, Lines, Side, SourceLine};
use crate::cli::progress::Progress;
use crate::cli::words;
use crate::decoding::{Ensemble, Forced};
use crate::error::{Error, Result};
use crate::models::Stepper;
use crate::text::line;

/// A window ends at so many words of both sides.
const WINDOW_WORDS: usize = 50_000;

/// A source line and its target line.
pub type Pair = (SourceLine, SourceLine);

/// What hears of a window of pairs and of their results.
pub type Each<'a> = dyn FnMut(&[Pair], &[Option<Forced>]) -> anyhow::Result<()> + 'a;

/// Two files and what forces one through the other.
pub struct PairForcer {
    /// The model or the ensemble.
    pub system: Ensemble,
    stepper: Box<dyn Stepper>,
    files: ParallelLines,
    batch: usize,
    pretokenized: bool,
}

impl PairForcer {
    /// Opens the files, then loads what reads them.
    pub fn open(pairs: &PairArgs, models: &ModelArgs, batch: BatchArgs, run: &RunArgs) -> Result<Self> {
        let files = ParallelLines::open(pairs)?;
        let runtime = run.high()?;
        let system = models.load(&runtime)?;
        let stepper = system.stepper(runtime.engine, runtime.threads)?;
        Ok(Self { system, stepper, files, batch: batch.high(), pretokenized: pairs.pretokenized })
    }

    /// Reads window after window; `each` hears of every pair in order, without a result where a model cannot read it.
    /// Gives the number of those, each of which was told; see [`words::refused`].
    pub fn run(mut self, doing: &str, each: &mut Each<'_>) -> anyhow::Result<usize> {
        let mut progress = Progress::new(doing, self.files.source.size(), std::io::stdout().is_terminal());
        let (mut refused, mut growth) = (0, Growth::new(self.batch));
        loop {
            let (window, ended) = self.read_window(growth.grow());
            for why in window.iter().filter_map(why_refused) {
                refused += 1;
                progress.tell(&why.to_string());
            }
            each(&window, &self.force_window(&window)?)?;
            let count = window.iter().map(|(_, target)| target.sentence.len()).sum();
            progress.add(window.len(), count, self.files.source.position());
            if ended.inspect_err(|_| progress.finish())? {
                break;
            }
        }
        progress.finish();
        self.files.source.tell_empty("read");
        Ok(refused)
    }

    fn read_window(&mut self, most: usize) -> (Vec<Pair>, Result<bool>) {
        let (mut window, mut count) = (Vec::new(), 0);
        while window.len() < most && count < WINDOW_WORDS {
            match self.files.read(&self.system, self.pretokenized) {
                Ok(Some(pair)) => {
                    count += pair.0.sentence.len() + pair.1.sentence.len();
                    window.push(pair);
                }
                Ok(None) => return (window, Ok(true)),
                Err(error) => return (window, Err(error)),
            }
            if !self.files.is_ready() {
                break;
            }
        }
        (window, Ok(false))
    }

    fn force_window(&mut self, window: &[Pair]) -> Result<Vec<Option<Forced>>> {
        let chosen: Vec<usize> = (0..window.len()).filter(|&index| why_refused(&window[index]).is_none()).collect();
        let pairs: Vec<(&[u32], &[u32])> = chosen
            .iter()
            .map(|&index| (window[index].0.sentence.ids.as_slice(), window[index].1.sentence.ids.as_slice()))
            .collect();
        let mut done: Vec<Option<Forced>> = window.iter().map(|_| None).collect();
        words::force_all(self.stepper.as_mut(), &pairs, self.batch, &mut |indexes, forced| {
            for (&index, forced) in indexes.iter().zip(forced) {
                done[chosen[index]] = Some(forced);
            }
        })?;
        Ok(done)
    }
}

fn why_refused((source, target): &Pair) -> Option<&Error> {
    source.refused.as_ref().or(target.refused.as_ref())
}

/// Two files read side by side.
pub struct ParallelLines {
    /// Sentences.
    pub source: Lines,
    /// Their translations.
    pub target: Lines,
}

impl ParallelLines {
    /// Opens both.
    pub fn open(pairs: &PairArgs) -> Result<Self> {
        Ok(Self { source: Lines::open(Some(&pairs.source))?, target: Lines::open(Some(&pairs.target))? })
    }

    /// Whether another pair can be read without waiting for whoever writes it.
    pub fn is_ready(&mut self) -> bool {
        self.source.is_ready() && self.target.is_ready()
    }

    /// The next pair of lines.
    pub fn lines(&mut self) -> Result<Option<(Line, Line)>> {
        match (self.source.read()?, self.target.read()?) {
            (Some(source), Some(target)) => Ok(Some((source, target))),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(ended_early(&self.source, &self.target)),
            (Some(_), None) => Err(ended_early(&self.target, &self.source)),
        }
    }

    /// The next pair of sentences.
    fn read(&mut self, system: &Ensemble, pretokenized: bool) -> Result<Option<Pair>> {
        let Some((source, target)) = self.lines()? else { return Ok(None) };
        let mut source = Side { tokenizer: system, pretokenized }.read(&self.source, &source);
        if source.sentence.is_empty() && source.refused.is_none() {
            source.refused = Some(Error::line(self.source.name(), source.number, line::NO_WORDS));
        }
        let target = Side { tokenizer: system.target(), pretokenized }.read(&self.target, &target);
        Ok(Some((source, target)))
    }
}

fn ended_early(short: &Lines, long: &Lines) -> Error {
    let message = format!(
        "ends after line {}, but {} goes on; the files must be translations line by line",
        short.number(),
        long.name().display()
    );
    Error::file(short.name(), message)
}
