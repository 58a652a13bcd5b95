//! Floor 13: pairs of parallel files, forced through a model in windows: what `score` and `dictionary` share;
//! and the lines themselves, for `align`.

use crate::cli::args::{BatchArgs, ModelArgs, PairArgs, RunArgs};
use crate::cli::input::{InputLine, InputLines, InputSide, SourceLine};
use crate::cli::windows::{Doing, Growth, WindowInput};
use crate::cli::words::Worded;
use crate::cli::{windows, words};
use crate::decoding::{Ensemble, Forced};
use crate::error::{Error, Result};
use crate::evaluation::rows::ReadRows;
use crate::models::Stepper;
use crate::text::{line, parallel};

/// A source line and its target line.
pub type Pair = (SourceLine, SourceLine);

/// Called with each window of pairs and its results.
pub type Each<'a> = dyn FnMut(&Ensemble, &[Pair], &[Option<Forced>]) -> anyhow::Result<()> + 'a;

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

    /// Reads window after window; `each` is called for every pair in order, without a result where a model cannot read it.
    /// Returns the number of those, each reported on stderr; see [`words::refused`].
    pub fn run(mut self, doing: Doing, each: &mut Each<'_>) -> anyhow::Result<usize> {
        let mut input = Pairs { files: &mut self.files, system: &self.system, pretokenized: self.pretokenized };
        windows::run(doing, &mut input, Growth::new(self.batch), &mut |window| {
            let forced = force_window(&self.system, self.stepper.as_mut(), self.batch, window)?;
            each(&self.system, window, &forced)?;
            Ok(window.iter().map(|(_, target)| target.sentence.len()).sum())
        })
    }

    /// As [`PairForcer::run`]; `each` gets the words of every pair that a model could read, and their links.
    pub fn run_aligned(self, each: &mut dyn FnMut(&Worded)) -> anyhow::Result<usize> {
        let pretokenized = self.pretokenized;
        let doing = Doing { name: "aligning", verb: "align" };
        self.run(doing, &mut |system, window, forced| {
            for ((source, target), forced) in window.iter().zip(forced) {
                if let Some(alpha) = forced.as_ref().and_then(|forced| forced.alpha.as_ref()) {
                    each(&words::worded(system, (&source.sentence, &target.sentence), alpha, pretokenized));
                }
            }
            Ok(())
        })
    }
}

fn force_window(
    system: &Ensemble,
    stepper: &mut dyn Stepper,
    batch: usize,
    window: &[Pair],
) -> Result<Vec<Option<Forced>>> {
    let chosen: Vec<usize> = (0..window.len()).filter(|&index| Pairs::refused(&window[index]).is_none()).collect();
    let pairs: Vec<(&[u32], &[u32])> = chosen
        .iter()
        .map(|&index| (window[index].0.sentence.ids.as_slice(), window[index].1.sentence.ids.as_slice()))
        .collect();
    let mut done: Vec<Option<Forced>> = window.iter().map(|_| None).collect();
    words::force_all(ReadRows::own(system.into()), stepper, &pairs, batch, &mut |indexes, forced| {
        for (&index, forced) in indexes.iter().zip(forced) {
            done[chosen[index]] = Some(forced);
        }
    })?;
    Ok(done)
}

/// Pairs of sentences, as a model reads them.
struct Pairs<'a> {
    files: &'a mut ParallelLines,
    system: &'a Ensemble,
    pretokenized: bool,
}

impl WindowInput for Pairs<'_> {
    type Item = Pair;

    fn next(&mut self) -> Result<Option<Pair>> {
        let Some((source, target)) = self.files.lines()? else { return Ok(None) };
        let (system, pretokenized) = (self.system, self.pretokenized);
        let mut source = InputSide { tokenizer: system, pretokenized }.read(&self.files.source, &source);
        if source.sentence.is_empty() && source.refused.is_none() {
            source.refused = Some(Error::line(self.files.source.name(), source.number, line::NO_WORDS));
        }
        let target = InputSide { tokenizer: system.target(), pretokenized }.read(&self.files.target, &target);
        Ok(Some((source, target)))
    }

    fn is_ready(&mut self) -> bool {
        self.files.is_ready()
    }

    fn weight((source, target): &Pair) -> usize {
        source.sentence.len() + target.sentence.len()
    }

    fn refused((source, target): &Pair) -> Option<&Error> {
        source.refused.as_ref().or(target.refused.as_ref())
    }

    fn size(&self) -> Option<u64> {
        self.files.source.size()
    }

    fn position(&self) -> u64 {
        self.files.source.position()
    }

    fn tell_empty(&self, verb: &str) {
        self.files.source.tell_empty(verb);
    }
}

/// Two files read side by side.
pub struct ParallelLines {
    /// Sentences.
    pub source: InputLines,
    /// Their translations.
    pub target: InputLines,
}

impl ParallelLines {
    /// Opens both.
    pub fn open(pairs: &PairArgs) -> Result<Self> {
        Ok(Self { source: InputLines::open(Some(&pairs.source))?, target: InputLines::open(Some(&pairs.target))? })
    }

    /// Whether another pair can be read without waiting for the writer.
    pub fn is_ready(&mut self) -> bool {
        self.source.is_ready() && self.target.is_ready()
    }

    /// The next pair of lines.
    pub fn lines(&mut self) -> Result<Option<(InputLine, InputLine)>> {
        parallel::next_pair(&mut self.source, &mut self.target)
    }
}
