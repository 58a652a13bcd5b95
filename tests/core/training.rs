//! Training: gradients, engines, whole runs from a configuration file, and what is refused.

#[cfg(feature = "cuda")]
mod card;
mod crashes;
mod engines;
mod gains;
mod gradients;
mod guides;
mod recipes;
mod refusals;
mod runs;

use std::path::{Path, PathBuf};
use std::{cell::Cell, fs};

use interlinear::error::Result;
use interlinear::models::config::{Architecture, AttentionKind, Config, LuongSizes};
use interlinear::training::{RunOptions, train};
use interlinear::training::{fused::StepOptions, layout::ParameterLayout, trainer::TrainingReport};

use crate::{counted, folder::Folder};

const WIRINGS: &[(Architecture, Option<usize>)] =
    &[(Architecture::RNN_SEARCH, None), (Architecture::RNN_ENC_DEC, None), (Architecture::RNN_ENC_DEC, Some(3))];

fn config(architecture: Architecture, output_rank: Option<usize>) -> Config {
    Config {
        name: "tiny".into(),
        source_language: "en".into(),
        target_language: "fr".into(),
        source_vocabulary: 11,
        target_vocabulary: 13,
        embedding: 5,
        maxout: 4,
        alignment: if architecture == Architecture::RNN_SEARCH { 7 } else { 0 },
        output_rank,
        ..Config::bare(architecture, 6)
    }
}

fn luong(layers: usize, attention: AttentionKind, score: &str, input_feeding: bool, reverse_source: bool) -> Config {
    let sizes = LuongSizes {
        layers,
        attention,
        score: score.into(),
        input_feeding,
        reverse_source,
        window: usize::from(attention.is_local()),
        // shorter than some sources of the tests
        max_source: if score == "location" { 3 } else { 0 },
        start: 2,
    };
    Config { maxout: 0, own: sizes.into(), ..config(Architecture::LUONG, None) }
}

fn wirings() -> Vec<(String, Config)> {
    let gated = WIRINGS.iter().map(|&(architecture, rank)| config(architecture, rank));
    let mut all: Vec<Config> = gated.collect();
    all.extend([
        luong(2, AttentionKind::None, "dot", false, true),
        luong(1, AttentionKind::None, "dot", true, false),
        luong(2, AttentionKind::Global, "dot", true, true),
        luong(1, AttentionKind::Global, "general", false, false),
        luong(3, AttentionKind::Global, "general", true, true),
        luong(2, AttentionKind::Global, "concat", true, false),
        luong(1, AttentionKind::Global, "location", true, true),
        luong(2, AttentionKind::LocalM, "dot", true, false),
        luong(1, AttentionKind::LocalM, "general", true, true),
        luong(1, AttentionKind::LocalM, "concat", false, true),
        luong(2, AttentionKind::LocalP, "dot", true, true),
        luong(1, AttentionKind::LocalP, "general", false, false),
        luong(2, AttentionKind::LocalP, "concat", true, true),
    ]);
    let named = |config: Config| {
        let mut name = config.architecture.name().to_owned();
        name.extend(config.output_rank.map(|rank| format!(" of rank {rank}")));
        if let Some(luong) = config.luong() {
            let LuongSizes { layers, attention, score, input_feeding, reverse_source, .. } = luong;
            let (attention, flags) = (attention.name(), (input_feeding, reverse_source));
            name += &format!(" {attention} {score}, {layers} layers, {flags:?}");
        }
        (name, config)
    };
    all.into_iter().map(named).collect()
}

/// Weights by a formula that any program can repeat: number k (from 0) of a tensor is
/// sin(0.37 (k + 1)^2 + the sum of the bytes of its name) / 2, rounded to f32.
fn waves(layout: &ParameterLayout) -> Vec<f32> {
    let mut flat = Vec::new();
    for entry in layout.entries() {
        let phase: u32 = entry.name.bytes().map(u32::from).sum();
        flat.extend((0..entry.len()).map(|k| {
            let k = (k + 1) as f64;
            (0.5 * (0.37 * k * k + f64::from(phase)).sin()) as f32
        }));
    }
    flat
}

type Ids = &'static [&'static [u32]];

const SOURCE: Ids = &[&[3, 7, 2, 9, 0], &[5, 0], &[10, 4, 8, 0], &[2, 6, 0]];
const TARGET: Ids = &[&[4, 12, 0], &[7, 2, 9, 11, 3, 0], &[5, 0], &[8, 10, 6, 0]];

fn plainly(pairs: usize, smoothing: f32) -> StepOptions {
    StepOptions { dropout: 0.0, smoothing, scale: 1.0 / pairs as f32, seed: 1, guide: 0.0 }
}

const CONFIGURATION: &str = r#"
name = "toy"
output = "out"

[model]
architecture = "rnnsearch"
source_language = "en"
target_language = "fr"
source_vocabulary = 14
target_vocabulary = 12
embedding = 5
hidden = 6
maxout = 4
alignment = 5

[data]
train = [{ source = "train.en", target = "train.fr" }]
development = { source = "dev.en", target = "dev.fr" }
max_length = 8

[optimizer]
rule = "adam"
learning_rate = 0.01

[schedule]
batch = 4
sorted = 2
updates = 22
dropout = 0.2
label_smoothing = 0.1
log_every = 5
measure_every = 7
checkpoint_every = 4
bleu_sentences = 3
seed = 5
"#;

const GUIDED: &[(&str, &str)] = &[
    ("target = \"train.fr\" ", "target = \"train.fr\", links = \"train.links\" "),
    ("seed = 5", "seed = 5\n\n[guide]\nweight = 1.0"),
];

struct Toy {
    folder: Folder,
}

fn lines(first: usize, count: usize) -> (String, String) {
    const ENGLISH: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    const FRENCH: [&str; 10] = ["un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix"];
    let (mut source, mut target) = (String::new(), String::new());
    for i in first..first + count {
        let words: Vec<usize> = (0..=i % 5).map(|k| (i * i + 3 * k * (i + 1)) % 10).collect();
        let say = |words: &mut dyn Iterator<Item = &usize>, language: [&str; 10]| {
            words.map(|w| language[*w]).collect::<Vec<_>>().join(" ") + "\n"
        };
        source += &say(&mut words.iter(), ENGLISH);
        target += &say(&mut words.iter().rev(), FRENCH);
    }
    (source, target)
}

impl Toy {
    fn new(changes: &[(&str, &str)]) -> Self {
        let toy = Self { folder: Folder::new() };
        for (name, (source, target)) in [("train", lines(0, 30)), ("dev", lines(100, 7))] {
            toy.write(&format!("{name}.en"), source.as_bytes());
            toy.write(&format!("{name}.fr"), target.as_bytes());
            let turned = |n: usize| (0..n).map(|j| format!("{j}-{} ", n - 1 - j)).collect::<String>() + "\n";
            let links: String = source.lines().map(|line| turned(line.split(' ').count())).collect();
            toy.write(&format!("{name}.links"), links.as_bytes());
        }
        toy.configure("toy.toml", changes);
        toy
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    fn configure(&self, name: &str, changes: &[(&str, &str)]) {
        let mut text = CONFIGURATION.to_owned();
        for (from, to) in changes {
            assert_eq!(text.matches(from).count(), 1, "`{from}` stands once in the configuration");
            text = text.replace(from, to);
        }
        self.write(name, text.as_bytes());
    }

    fn train(
        &self, name: &str, options: &RunOptions, stop: &mut dyn FnMut(&TrainingReport) -> bool,
    ) -> Result<Vec<TrainingReport>> {
        let (counter, ticket) = counted();
        let ticks = Cell::new(0.0);
        // half a second a look: every update takes as long as any other, so that logs can be compared
        let clock = || {
            ticks.set(ticks.get() + 0.5);
            ticks.get()
        };
        let mut reports = Vec::new();
        train(&self.path(name), options, &clock, &ticket, &mut |report| {
            if stop(report) {
                counter.cancel();
            }
            reports.push(report.clone());
        })?;
        Ok(reports)
    }

    fn train_through(&self, name: &str, options: &RunOptions) -> Vec<TrainingReport> {
        self.train(name, options, &mut |_| false).unwrap_or_else(|e| panic!("{name}: {e}"))
    }
}

fn on(threads: usize) -> RunOptions {
    RunOptions { threads, ..RunOptions::default() }
}

fn resumed(threads: usize) -> RunOptions {
    RunOptions { resume: true, ..on(threads) }
}

fn from(folder: &Path) -> RunOptions {
    RunOptions { from: Some(folder.into()), ..on(1) }
}
