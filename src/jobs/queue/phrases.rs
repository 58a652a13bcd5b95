//! Floor 8: phrase tables read and scored behind the window.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::analysis::phrases::PhraseChart;
use crate::decoding::phrases::{PhraseOptions, ScoredPhrases as Batch};
use crate::decoding::sample::{Numbered, SampleOptions, sample};
use crate::error::{Error, Result};
use crate::jobs::queue::work::{JobProgress, Work};
use crate::models::Kernels;
use crate::nn::device::DeviceChoice;
use crate::text::pairs::Pairs;
use crate::text::phrases::{PhraseTable, write_packed};
use crate::text::readable::unescaped;
use crate::text::reader::require_file;

/// Most pairs that are read of a table: more points than a screen has room for.
pub const MOST_PAIRS: usize = 500_000;
/// Pairs that are encoded and scored together; a table has the targets of a source side by side.
const PIECE: usize = 4_000;
/// Targets drawn of a source phrase; the paper's table 3 shows the best of fifty.
pub const SAMPLES: usize = 50;

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum PhraseOrder {
    /// Read a table.
    Read { table: PathBuf },
    /// Score its pairs.
    Score {
        model: PathBuf,
        device: DeviceChoice,
        pairs: Arc<Pairs>,
        /// Which feature of the table to compare with, counted from 1.
        feature: usize,
    },
    /// Compare scores that are there with another feature of the table.
    Compare(PhraseScores, usize),
    /// Draw targets of a source phrase from a model.
    Sample { model: PathBuf, device: DeviceChoice, source: String, seed: u64 },
    /// Write both scores of all pairs as tab-separated values.
    Export {
        path: PathBuf,
        scores: PhraseScores,
        /// Which feature of the table, counted from 1.
        feature: usize,
    },
}

/// The pairs of a table and log p(target | source) of each by a model.
#[derive(Clone, Debug, PartialEq)]
pub struct PhraseScores {
    pub model: PathBuf,
    pub pairs: Arc<Pairs>,
    /// In the order of the table.
    pub log_p: Arc<[f32]>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Scored {
    /// The table.
    Read(Arc<Pairs>),
    /// Its scores, compared with this feature of it.
    Compared(PhraseScores, usize, Arc<PhraseChart>),
    /// What was drawn, most probable first.
    Sampled(Samples),
    /// A file that was written.
    Written(PathBuf),
}

/// Targets of a source phrase that a model drew (Cho et al. 2014, table 3).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    pub model: PathBuf,
    /// The phrase, as a table writes it.
    pub source: String,
    /// What the draws follow from.
    pub seed: u64,
    /// The distinct ones, most probable first.
    pub drawn: Vec<DrawnPhrases>,
}

/// A target that was drawn once or more often.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawnPhrases {
    /// As normal text.
    pub text: String,
    /// log p of the model.
    pub log_p: f32,
    pub count: usize,
}

impl PhraseOrder {
    pub(crate) fn run(self, work: &Work<'_>) -> Result<Scored> {
        match self {
            Self::Read { table } => {
                // A pipe would hold up all orders behind this one.
                require_file(&table)?;
                let what = tr!("Reading {}", table.file_name().unwrap_or(table.as_os_str()).display());
                let pairs = Pairs::read(PhraseTable::open(&table)?, MOST_PAIRS, &mut |table, _| {
                    let total = table.size().unwrap_or(0) as usize;
                    work.tell(JobProgress {
                        // Counted in kilobytes, as the eye reads them.
                        done: table.bytes_read() as usize >> 10,
                        total: total >> 10,
                        what: what.clone(),
                        words_per_second: 0.0,
                    });
                    work.breathe()
                })?;
                Ok(Scored::Read(Arc::new(pairs)))
            }
            Self::Score { model, device, pairs, feature } => {
                let log_p = score(work, &model, device, &pairs)?.into();
                Ok(compare(PhraseScores { model, pairs, log_p }, feature))
            }
            Self::Compare(scores, feature) => Ok(compare(scores, feature)),
            Self::Sample { model, device, source, seed } => {
                let drawn = draw(work, &model, device, &source, seed)?;
                Ok(Scored::Sampled(Samples { model, source, seed, drawn }))
            }
            Self::Export { path, scores, feature } => {
                export(&path, &scores, feature)?;
                Ok(Scored::Written(path))
            }
        }
    }
}

fn draw(work: &Work<'_>, folder: &Path, device: DeviceChoice, source: &str, seed: u64) -> Result<Vec<DrawnPhrases>> {
    let shelved = work.model(folder, device)?;
    let (model, config) = (&shelved.model, &shelved.model.config);
    let ids = model.source.encode_phrase(&unescaped(source), model.source_eos());
    let options = SampleOptions { count: SAMPLES, seed, ..SampleOptions::default() };
    let numbered = [Numbered { number: 0, source: &ids }];
    let samples = shelved.with_stepper(Kernels::Fused, work.threads(), |stepper| {
        sample(stepper, shelved.specials(), &numbered, &options, &work.ticket)
    })?;
    let drawn = samples.into_iter().flatten().map(|sample| {
        let words =
            sample.tokens.split_last().filter(|_| sample.finished).map_or(&sample.tokens[..], |(_, words)| words);
        let text = model.target.join(&config.target_language, &model.target.tokens(words));
        DrawnPhrases { text, log_p: sample.log_p, count: sample.count }
    });
    Ok(drawn.collect())
}

fn compare(scores: PhraseScores, feature: usize) -> Scored {
    let pairs = &scores.pairs;
    let table: Vec<f32> = (0..pairs.len()).map(|pair| pairs.feature(pair, feature).unwrap_or(f32::NAN)).collect();
    let chart = PhraseChart::new(&table, &scores.log_p);
    Scored::Compared(scores, feature, Arc::new(chart))
}

fn export(path: &Path, scores: &PhraseScores, feature: usize) -> Result<()> {
    let pairs = &scores.pairs;
    // A tab inside a phrase would shift the columns.
    let cell = |text: &str| text.replace('\t', " ");
    write_packed(path, |file| {
        let failed = |error: std::io::Error| Error::io(path, &error);
        writeln!(file, "source\ttarget\tfeature_{feature}\tlog_p").map_err(failed)?;
        for (pair, log_p) in scores.log_p.iter().enumerate() {
            let table = pairs.feature(pair, feature).map_or_else(String::new, |value| value.to_string());
            let (source, target) = (cell(pairs.source(pair)), cell(pairs.target(pair)));
            writeln!(file, "{source}\t{target}\t{table}\t{log_p}").map_err(failed)?;
        }
        Ok(())
    })
}

fn score(work: &Work<'_>, folder: &Path, device: DeviceChoice, pairs: &Pairs) -> Result<Vec<f32>> {
    let shelved = work.model(folder, device)?;
    let model = &shelved.model;
    let what = tr!("Scoring phrase pairs with {}", model.config.name);
    let total = pairs.len();
    let (start, mut words) = (work.seconds(), 0);
    let mut log_p: Vec<f32> = Vec::with_capacity(total);
    let mut batch = Batch::new(model, PhraseOptions::default());
    shelved.with_stepper(Kernels::Fused, work.threads(), |stepper| {
        while log_p.len() < total {
            let done = log_p.len();
            batch.clear();
            for pair in done..(done + PIECE).min(total) {
                let pushed = batch.push(pairs.source(pair), pairs.target(pair));
                pushed.map_err(|message| Error::line(pairs.path(), pair + 1, message))?;
            }
            let scored = batch.score(stepper, &work.ticket, &mut |count| {
                let share = count as f32 / batch.len() as f32;
                let seconds = (work.seconds() - start).max(1e-6);
                let words = words as f32 + share * batch.words() as f32;
                work.tell(JobProgress {
                    done: done + count,
                    total,
                    what: what.clone(),
                    words_per_second: words / seconds,
                });
                work.breathe()
            })?;
            words += batch.words();
            log_p.extend(scored);
        }
        Ok(())
    })?;
    Ok(log_p)
}
