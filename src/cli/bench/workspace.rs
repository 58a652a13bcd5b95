//! Floor 10: a workspace: how long it takes to bring in JSON lines with alignments and how large the file is, and how long
//! a million sentences take to open, to sort, to filter, and to show one.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::cli::bench::report::{Column, Report};
use crate::cli::bench::setup::Setup;
use crate::cli::bench::timing::quantile;
use crate::error::Error;
use crate::import;
use crate::ticket::Ticket;
use crate::workspace::bring::bring;
use crate::workspace::corpus::Corpus;
use crate::workspace::file::Workspace;
use crate::workspace::filter::Filter;
use crate::workspace::measures::Measuring;
use crate::workspace::output::Output;
use crate::workspace::read::About;
use crate::workspace::table::{Sorting, rows};
use crate::workspace::write::NewSentence;

/// Sentences that come in with alignments, and those of the long table; with `--quick` far fewer.
const SIZES: [(usize, usize); 2] = [(100_000, 1_000_000), (200, 5_000)];
/// Words of a sentence, at least and at most.
const LENGTHS: (usize, usize) = (8, 28);
/// Sentences that are written at once.
const WINDOW: usize = 5000;

const BROUGHT: &[Column] = &[
    Column::number("sentences", "sentences", 9, 0),
    Column::number("systems", "systems", 7, 0),
    Column::number("seconds", "import s", 9, 1),
    Column::number("megabytes", "file MB", 8, 0),
    Column::number("ratio", "to f16", 7, 2),
    Column::number("output_millis", "output ms", 9, 2),
];
const LONG: &[Column] = &[
    Column::number("sentences", "sentences", 9, 0),
    Column::number("open_seconds", "open s", 7, 2),
    Column::number("sort_millis", "sort ms", 8, 0),
    Column::number("word_millis", "word ms", 8, 0),
    Column::number("rule_millis", "rule ms", 8, 0),
    Column::number("number_millis", "number ms", 9, 0),
];

/// Measures both.
pub fn run(setup: &Setup, report: &mut Report<'_>) -> anyhow::Result<Value> {
    let (aligned, long) = SIZES[usize::from(setup.quick)];
    let folder = tempfile::tempdir().map_err(|error| Error::io("a temporary folder", &error))?;
    report.line(
        "JSON lines of translate come in for two systems; the file beside the alignments as f16; one output read",
    )?;
    report.head(BROUGHT)?;
    let brought = report.row(&brought(folder.path(), aligned, setup.repeat)?, json!({}))?;
    report.line(
        "a long table of two systems: opened, sorted by log p, filtered by a word, a rule and a number (medians)",
    )?;
    report.head(LONG)?;
    let long = report.row(&long_table(folder.path(), long, setup.repeat)?, json!({}))?;
    Ok(json!([brought, long]))
}

/// A sentence of made-up words.
fn sentence(rng: &mut ChaCha8Rng) -> Vec<String> {
    let count = rng.random_range(LENGTHS.0..=LENGTHS.1);
    (0..count).map(|_| word(rng.random_range(0..20_000))).collect()
}

/// A word of syllables, another for each number.
fn word(number: u32) -> String {
    let (consonants, vowels) = (b"bcdfghjklmnpqrstvwxz", b"aeiouy");
    let (mut rest, mut word) = (number + 1, String::new());
    while rest > 0 {
        word.push(char::from(consonants[rest as usize % 20]));
        word.push(char::from(vowels[rest as usize / 20 % 6]));
        rest /= 120;
    }
    word
}

/// A row that mostly looks at one word.
fn row(rng: &mut ChaCha8Rng, columns: usize) -> Vec<f32> {
    let at = rng.random_range(0..columns);
    let weights: Vec<f32> =
        (0..columns).map(|j| rng.random::<f32>().powi(4) * if j == at { 40.0 } else { 1.0 }).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Writes a file of JSON lines; gives how many numbers its alignments have.
fn json_lines(path: &Path, sources: &[Vec<String>], seed: u64) -> std::io::Result<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut numbers = 0;
    for source in sources {
        let mut source = source.clone();
        source.push("</s>".to_owned());
        let mut target = sentence(&mut rng);
        let text = target.join(" ");
        target.push("</s>".to_owned());
        numbers += source.len() * target.len();
        let alpha: Vec<Vec<f32>> = target.iter().map(|_| row(&mut rng, source.len())).collect();
        let log_p: Vec<f32> = target.iter().map(|_| -rng.random::<f32>()).collect();
        let hypothesis = json!({"tokens": target, "text": text, "log_p": log_p.iter().sum::<f32>(), "token_log_p": log_p,
            "alpha": alpha, "finished": true});
        writeln!(file, "{}", json!({"source": source, "hypotheses": [hypothesis]}))?;
    }
    file.flush()?;
    Ok(numbers)
}

fn brought(folder: &Path, count: usize, repeat: usize) -> anyhow::Result<Vec<Value>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let sources: Vec<Vec<String>> = (0..count).map(|_| sentence(&mut rng)).collect();
    let files = [folder.join("first.jsonl"), folder.join("second.jsonl")];
    let mut numbers = 0;
    for (seed, file) in files.iter().enumerate() {
        numbers += json_lines(file, &sources, seed as u64).map_err(|error| Error::io(file, &error))?;
    }
    let path = folder.join("aligned.ilws");
    let mut workspace = Workspace::open(&path)?;
    let began = Instant::now();
    for file in &files {
        let options = import::Options::default();
        bring(&mut workspace, file, &options, &mut Measuring::default(), &Ticket::forever(), &mut |_| {})?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let systems = workspace.systems()?;
    let mut reads = Vec::new();
    for _ in 0..repeat.max(1) * 20 {
        let (system, at) = (&systems[rng.random_range(0..systems.len())], rng.random_range(0..count));
        let began = Instant::now();
        workspace.output(system.id, at)?;
        reads.push(1000.0 * began.elapsed().as_secs_f64());
    }
    drop(workspace);
    let size = std::fs::metadata(&path).map_err(|error| Error::io(&path, &error))?.len() as f64;
    let ratio = size / (2.0 * numbers as f64);
    Ok(vec![
        json!(count),
        json!(systems.len()),
        json!(seconds),
        json!(size / 1e6),
        json!(ratio),
        json!(quantile(&reads, 0.5)),
    ])
}

fn long_table(folder: &Path, count: usize, repeat: usize) -> anyhow::Result<Vec<Value>> {
    let path = folder.join("long.ilws");
    fill(&path, count)?;
    let began = Instant::now();
    let workspace = Workspace::open(&path)?;
    let corpus = Corpus::read(&workspace)?;
    let open_seconds = began.elapsed().as_secs_f64();
    let sorting = Sorting::named("logp.1-2", &corpus)?;
    let everything = Filter::default();
    let time = |job: &dyn Fn()| {
        let times: Vec<f64> = (0..repeat.max(1))
            .map(|_| {
                let began = Instant::now();
                job();
                1000.0 * began.elapsed().as_secs_f64()
            })
            .collect();
        quantile(&times, 0.5)
    };
    let sort = time(&|| drop(rows(&corpus, &everything, Some(&sorting))));
    let mut millis = Vec::new();
    for line in [word(1234).as_str(), "/ba[dk]e [mn]/", "logp.1<-10"] {
        let filter = Filter::new(line, &corpus)?;
        millis.push(time(&|| drop(rows(&corpus, &filter, None))));
    }
    Ok(vec![json!(count), json!(open_seconds), json!(sort), json!(millis[0]), json!(millis[1]), json!(millis[2])])
}

/// A workspace without alignments.
fn fill(path: &Path, count: usize) -> anyhow::Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut workspace = Workspace::open(path)?;
    let origin = workspace.add_origin("made up", "")?;
    let systems = ["First", "Second"].map(|name| workspace.add_system(name, &About::default()));
    let systems = systems.into_iter().collect::<Result<Vec<_>, _>>()?;
    for first in (0..count).step_by(WINDOW) {
        let places = first..(first + WINDOW).min(count);
        let new = places.clone().map(|at| NewSentence {
            source: sentence(&mut rng).join(" "),
            line: at + 1,
            ..NewSentence::default()
        });
        workspace.add_sentences(origin, &new.collect::<Vec<_>>())?;
        for system in &systems {
            let outputs: Vec<(usize, Output)> = places
                .clone()
                .map(|at| {
                    let mut text = String::new();
                    for word in sentence(&mut rng) {
                        let _ = write!(text, "{word} ");
                    }
                    let log_p = Some(-20.0 * rng.random::<f32>());
                    (at, Output { text: text.trim_end().to_owned(), log_p, ..Output::default() })
                })
                .collect();
            workspace.add_outputs(system.id, &outputs, &mut Measuring::default())?;
        }
    }
    Ok(())
}
