//! A workspace: how long it takes to bring in JSON lines with alignments and how large the file is; how long
//! a million sentences take to open, to sort and to filter, for the first time and later; frames of their table, and the
//! way from a click to a heatmap.

use std::{io::Write as _, path::Path, time::Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use crate::{Setup, timing::millis};
use interlinear::cli::bench::figures::{BenchColumn, Figures, quantile};
use interlinear::corpus::query::table::{Sorting, rows};
use interlinear::corpus::store::{corpus::CorpusTable, file::Workspace, output::SystemOutput, read::StoredAbout};
use interlinear::corpus::{import::importer::import_file, measures::table::Measuring, query::filter::Filter};
use interlinear::{corpus::store::write::NewSentence, import, ticket::CancellationToken};

/// Sentences that come in with alignments, and those of the long table; with `--quick` far fewer.
const SIZES: [(usize, usize); 2] = [(100_000, 1_000_000), (200, 5_000)];
const LENGTHS: (usize, usize) = (8, 28);
const WORDS: f32 = 200_000.0;
const WINDOW: usize = 5000;

const BROUGHT: &[BenchColumn] = &[
    BenchColumn::number("sentences", 0),
    BenchColumn::number("systems", 0),
    BenchColumn::number("JSON MB", 0),
    BenchColumn::number("import s", 1),
    BenchColumn::number("CPU s", 1),
    BenchColumn::number("file MB", 0),
    BenchColumn::number("to f16", 2),
    BenchColumn::number("output ms", 2),
];
const LONG: &[BenchColumn] = &[
    BenchColumn::number("sentences", 0),
    BenchColumn::words("what", 36),
    BenchColumn::number("first ms", 0),
    BenchColumn::number("later ms", 0),
    BenchColumn::number("rows", 0),
];

pub fn run(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    let (aligned, long) = SIZES[usize::from(setup.quick)];
    let folder = tempfile::tempdir()?;
    figures.line(
        "JSON lines of translate come in for two systems; the file beside the alignments as f16; one output read",
    )?;
    figures.head(BROUGHT)?;
    let paths = ["aligned.ilws", "long.ilws"].map(|name| folder.path().join(name));
    figures.row(&brought(folder.path(), &paths[0], aligned, setup)?)?;
    figures.line(
        "\na long table of two systems, which the system has in memory: for the first time, and later (medians)",
    )?;
    figures.head(LONG)?;
    fill(&paths[1], long)?;
    long_table(&paths[1], long, setup.repeat, figures)?;
    #[cfg(feature = "gui")]
    crate::corpus_table::run(setup, figures, &paths)?;
    Ok(())
}

/// A sentence of made-up words, of which few are frequent and most are rare, as Zipf (1949) found.
fn sentence(rng: &mut ChaCha8Rng) -> Vec<String> {
    let count = rng.random_range(LENGTHS.0..=LENGTHS.1);
    (0..count).map(|_| word(WORDS.powf(rng.random::<f32>()) as u32)).collect()
}

fn word(number: u32) -> String {
    let (consonants, vowels) = (b"bcdfghjklmnpqrstvwxz", b"aeiouy");
    let (mut rest, mut word) = (number, String::new());
    while rest > 0 {
        word.push(char::from(consonants[rest as usize % 20]));
        word.push(char::from(vowels[rest as usize / 20 % 6]));
        rest /= 120;
    }
    word
}

fn row(rng: &mut ChaCha8Rng, columns: usize) -> Vec<f32> {
    let at = rng.random_range(0..columns);
    let weights: Vec<f32> =
        (0..columns).map(|j| rng.random::<f32>().powi(4) * if j == at { 40.0 } else { 1.0 }).collect();
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

fn json_lines(path: &Path, sources: &[Vec<String>], seed: u64) -> std::io::Result<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
    let mut numbers = 0;
    for source in sources {
        let mut source = source.clone();
        source.push("</s>".to_owned());
        let mut tokens = sentence(&mut rng);
        let text = tokens.join(" ");
        tokens.push("</s>".to_owned());
        numbers += source.len() * tokens.len();
        let alpha: Vec<Vec<f32>> = tokens.iter().map(|_| row(&mut rng, source.len())).collect();
        let token_log_p: Vec<f32> = tokens.iter().map(|_| -rng.random::<f32>()).collect();
        let log_p: f32 = token_log_p.iter().sum();
        // as f32, whose decimals are short; through `json!` they would be those of an f64
        let (token_log_p, alpha) = (serde_json::to_string(&token_log_p)?, serde_json::to_string(&alpha)?);
        let (source, tokens, text) = (json!(source), json!(tokens), json!(text));
        writeln!(
            file,
            "{{\"source\":{source},\"hypotheses\":[{{\"tokens\":{tokens},\"text\":{text},\"log_p\":{log_p},\
             \"token_log_p\":{token_log_p},\"alpha\":{alpha},\"finished\":true}}]}}"
        )?;
    }
    file.flush()?;
    Ok(numbers)
}

fn brought(folder: &Path, path: &Path, count: usize, setup: &Setup) -> anyhow::Result<Vec<Value>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let sources: Vec<Vec<String>> = (0..count).map(|_| sentence(&mut rng)).collect();
    let files = [folder.join("first.jsonl"), folder.join("second.jsonl")];
    let (mut numbers, mut bytes) = (0, 0.0);
    for (seed, file) in files.iter().enumerate() {
        numbers += json_lines(file, &sources, seed as u64)?;
        bytes += size(file)?;
    }
    let mut workspace = Workspace::open(path)?;
    let (began, before) = (Instant::now(), cpu_seconds());
    for file in &files {
        let options = (file.as_path(), &import::ImportOptions::default());
        import_file(&mut workspace, options, setup.runtime.threads, &CancellationToken::forever(), &mut |_| {})?;
        std::fs::remove_file(file)?;
    }
    let seconds = began.elapsed().as_secs_f64();
    let cpu = before.zip(cpu_seconds()).map(|(before, after)| after - before);
    let systems = workspace.systems()?;
    let mut reads = Vec::new();
    for _ in 0..setup.repeat * 20 {
        let (system, at) = (&systems[rng.random_range(0..systems.len())], rng.random_range(0..count));
        let began = Instant::now();
        workspace.output(system.id, at)?;
        reads.push(millis(began));
    }
    drop(workspace);
    let megabytes = size(path)? / 1e6;
    Ok(vec![
        json!(count),
        json!(systems.len()),
        json!(bytes / 1e6),
        json!(seconds),
        json!(cpu),
        json!(megabytes),
        json!(1e6 * megabytes / (2.0 * numbers as f64)),
        json!(quantile(&reads, 0.5)),
    ])
}

fn size(path: &Path) -> anyhow::Result<f64> {
    Ok(std::fs::metadata(path)?.len() as f64)
}

fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may have spaces: user and system time are the 12th and 13th, in hundredths of a second.
    let rest = stat.rsplit_once(')')?.1;
    rest.split_whitespace()
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse::<f64>().ok())
        .sum::<Option<f64>>()
        .map(|all| all / 100.0)
}

fn long_table(path: &Path, count: usize, repeat: usize, figures: &mut Figures) -> anyhow::Result<()> {
    let read = || -> anyhow::Result<(CorpusTable, f64)> {
        let began = Instant::now();
        let corpus = CorpusTable::read(&Workspace::open(path)?)?;
        Ok((corpus, millis(began)))
    };
    let (_, first) = read()?;
    let mut again = Vec::new();
    for _ in 0..repeat {
        again.push(read()?.1);
    }
    figures.row(&[json!(count), json!("open"), json!(first), json!(quantile(&again, 0.5)), json!(count)])?;
    let (common, rare) = (word(3), word(123_456));
    for (what, filter, sorting) in [
        ("sort by log p", "", "logp.1"),
        ("sort by a difference", "", "-logp.1-2"),
        ("filter by a number", "logp.1<-18", ""),
        ("filter by a rare word", rare.as_str(), ""),
        ("filter by a frequent one", common.as_str(), ""),
        ("filter by a frequent one, in outputs", &format!("output:{common}"), ""),
        ("filter by a rule", "/ba[dk]e [mn]/", ""),
        ("filter by a rule, in sources", "source:/^ba.*[mn]u$/", ""),
    ] {
        let (corpus, _) = read()?;
        let filter = Filter::new(filter, &corpus)?;
        let sorting = (!sorting.is_empty()).then(|| Sorting::named(sorting, &corpus)).transpose()?;
        let mut times = Vec::new();
        let mut found = 0;
        for _ in 0..=repeat {
            let began = Instant::now();
            found = rows(&corpus, &filter, sorting.as_ref()).len();
            times.push(millis(began));
        }
        figures.row(&[json!(count), json!(what), json!(times[0]), json!(quantile(&times[1..], 0.5)), json!(found)])?;
    }
    Ok(())
}

fn fill(path: &Path, count: usize) -> anyhow::Result<()> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut workspace = Workspace::open(path)?;
    let origin = workspace.add_origin("made up", "")?;
    let systems = ["First", "Second"].map(|name| workspace.add_system(name, &StoredAbout::default()));
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
            let mut said = |at: usize| {
                let log_p = Some(-20.0 * rng.random::<f32>());
                (at, SystemOutput { text: sentence(&mut rng).join(" "), log_p, ..SystemOutput::default() })
            };
            let outputs: Vec<(usize, SystemOutput)> = places.clone().map(&mut said).collect();
            workspace.add_outputs(system.id, &outputs, &mut Measuring::default())?;
        }
        if first % (20 * WINDOW) == 0 {
            workspace.fold()?;
        }
    }
    Ok(workspace.fold()?)
}
