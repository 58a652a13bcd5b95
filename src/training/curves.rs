//! A training log read back: what is drawn as learning curves. The reader of what `log.rs` writes.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use engine::error::{Error, Result};
use engine::text::reader::require_file;

/// Largest file that is read as a log, in bytes; a log of a million updates has a few megabytes.
const MOST_BYTES: u64 = 256 << 20;

const MOST_POINTS: usize = 2000;

/// A number after so many updates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    pub update: u64,
    pub value: f64,
}

/// The curves of a run, each by growing updates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// Mean -log p a word of the training text, since the point before.
    pub training_nll: Vec<CurvePoint>,
    /// Mean cost on alpha of a row that has links, where attention is guided.
    pub guide: Vec<CurvePoint>,
    /// -log p a word of the development text.
    pub development_nll: Vec<CurvePoint>,
    /// BLEU of greedy translations of the development text, where it was measured.
    pub development_bleu: Vec<CurvePoint>,
    pub rate: Vec<CurvePoint>,
    pub update: u64,
    pub epoch: u64,
    pub seconds: f64,
}

impl Curves {
    /// Reads a log. One that has no line yet gives empty curves; a last line that is still being written is left out.
    pub fn load(path: &Path) -> Result<Self> {
        let io = |error: std::io::Error| Error::io(path, &error);
        let mut text = Vec::new();
        if path.is_dir() {
            return Err(Error::file(path, "is a folder without a training log; choose the `log.jsonl` of a run"));
        }
        require_file(path)?;
        let file = File::open(path).map_err(io)?;
        file.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(io)?;
        if text.len() as u64 > MOST_BYTES {
            return Err(Error::file(path, "is far too long for a training log; choose the `log.jsonl` of a run"));
        }
        let text = String::from_utf8_lossy(&text);
        let mut curves = Self::default();
        let (mut known, mut complete) = (0, 0);
        for line in text.split_inclusive('\n') {
            complete += usize::from(line.ends_with('\n') && !line.trim().is_empty());
            known += usize::from(curves.read(line));
        }
        if known == 0 && complete > 0 {
            return Err(Error::file(path, "has no line of a training log; choose the `log.jsonl` of a run"));
        }
        let Self { training_nll, guide, rate, development_nll, development_bleu, .. } = &mut curves;
        for curve in [training_nll, guide, rate, development_nll, development_bleu] {
            thin(curve);
        }
        Ok(curves)
    }

    fn read(&mut self, line: &str) -> bool {
        let Ok(line) = serde_json::from_str::<Value>(line) else { return false };
        let Some(update) = line.get("update").and_then(Value::as_u64) else { return false };
        let number = |key: &str| line.get(key).and_then(Value::as_f64).filter(|value| value.is_finite());
        let mut known = false;
        for (key, curve) in [
            ("nll", &mut self.training_nll),
            ("guide", &mut self.guide),
            ("rate", &mut self.rate),
            ("development_nll", &mut self.development_nll),
            ("development_bleu", &mut self.development_bleu),
        ] {
            if let Some(value) = number(key) {
                curve.push(CurvePoint { update, value });
                known = true;
            }
        }
        if known {
            self.update = update;
            self.epoch = line.get("epoch").and_then(Value::as_u64).unwrap_or(self.epoch);
            self.seconds = number("seconds").unwrap_or(self.seconds);
        }
        known
    }

    /// The lowest -log p a word of the development text.
    pub fn best(&self) -> Option<CurvePoint> {
        self.development_nll.iter().copied().min_by(|a, b| a.value.total_cmp(&b.value))
    }
}

/// Neighbours become their mean until there are few enough to draw in every frame.
fn thin(curve: &mut Vec<CurvePoint>) {
    let group = curve.len().div_ceil(MOST_POINTS).max(1);
    if group > 1 {
        let mean = |points: &[CurvePoint]| CurvePoint {
            update: points.last().map_or(0, |last| last.update),
            value: points.iter().map(|point| point.value).sum::<f64>() / points.len() as f64,
        };
        *curve = curve.chunks(group).map(mean).collect();
    }
}

/// The logs that `path` names: itself when it is a file; that of a run's folder; those of all runs in a folder, by
/// name. Empty when there is none.
pub fn logs(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let own = |folder: &Path| {
        [folder.join("log.jsonl"), folder.join("training/log.jsonl")].into_iter().find(|log| log.is_file())
    };
    if let Some(log) = own(path) {
        return vec![log];
    }
    let folders = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut logs: Vec<PathBuf> = folders.filter_map(|folder| own(&folder)).collect();
    logs.sort();
    logs
}

/// What to call the run of a log: the folder that it is kept in.
pub fn name(log: &Path) -> String {
    let folders = log.ancestors().skip(1).filter_map(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let is_log = log.file_name().is_some_and(|name| name == "log.jsonl");
    let mut folders = folders.filter(|name| name != "training");
    let file = || log.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if is_log { folders.next().unwrap_or_else(file) } else { file() }
}
