//! Floor 13: `interlinear contrast`: minimal pairs: how often models hold the good translation for more probable than the bad one.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use crate::analysis::contrast::minimal::{MinimalCounts, MinimalPair, first_difference, mcnemar, wilson};
use crate::cli::args::{BatchArgs, EnsembleArgs, RunArgs, Runtime, TableFormat};
use crate::cli::columns::TextTable;
use crate::cli::output::LineOutput;
use crate::cli::progress::ProgressLine;
use crate::cli::{bundled, output, words};
use crate::decoding::{Ensemble, Forced};
use crate::error::{Error, Result};
use crate::evaluation::rows::ReadRows;
use crate::import;
use crate::import::{ColumnRole, ImportOptions, Record};
use crate::text::line;
use crate::text::reader::LineReader;
use crate::text::sentence::{EOS, Sentence};
use crate::text::tsv::{TsvCell, text};
use crate::text::words::vocabulary_words;
use crate::text::write::write_atomic;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "The pairs are a table (TSV or CSV) whose first row names the columns `source`, `good`, `bad` and perhaps `tag`, or
three files line by line. A source with several bad translations stands in several rows; a pair with several tags has commas between them.

Both translations are forced. The difference is ln p(good | source) - ln p(bad | source); a pair is right where it is above 0. The same is
told at the critical word, the first in which both differ, given what stands before it: there the length of what follows does not count.
Where a model has pieces of words, those of the whole word are added up.

A row for each model and tag:
  pairs, accuracy       how many there are, and the share that is right
  low, high             where the accuracy lies with a confidence of 95 % (Wilson's score)
  word accuracy         the share that is right at the critical word
  difference            the mean, in nats; word difference at the critical word
  equal                 how many have the same probability, most often since the model reads no difference; they are not right
  unknown               in how many the model does not know a critical word: it compares [UNK] with a word, which says little
  p                     of McNemar's exact test against the first model, over the pairs that both read

--pairs FILE writes a row for each pair and model: both critical words, ln p of each, and the differences."
)]
pub struct ContrastArgs {
    /// The table of pairs, packed (gzip, zstandard) or not
    #[arg(value_name = "TABLE", required_unless_present = "source", conflicts_with = "source")]
    table: Option<PathBuf>,
    /// A model folder, or the name of an installed model; once for each model. With --ensemble all of them are one
    #[arg(long, value_name = "DIR", required = true, value_parser = bundled::argument())]
    model: Vec<PathBuf>,
    #[command(flatten)]
    ensemble: EnsembleArgs,
    /// Sentences, one a line, in place of a table
    #[arg(long, value_name = "FILE", requires_all = ["good", "bad"])]
    source: Option<PathBuf>,
    /// Their good translations, line by line
    #[arg(long, value_name = "FILE", requires = "source")]
    good: Option<PathBuf>,
    /// Their bad translations, line by line
    #[arg(long, value_name = "FILE", requires = "source")]
    bad: Option<PathBuf>,
    /// Their tags, line by line
    #[arg(long, value_name = "FILE", requires = "source")]
    tags: Option<PathBuf>,
    /// The words are split by spaces already
    #[arg(long)]
    pretokenized: bool,
    /// Write a row for each pair and model into this file, with tabs between
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// A source with both translations.
struct Contrasted {
    line: usize,
    source: String,
    /// The good one first.
    targets: [String; 2],
    tags: Vec<String>,
}

/// What a model says of all pairs; nothing of those that it cannot read.
struct ContrastedModel {
    name: String,
    found: Vec<Option<MinimalPair>>,
}

/// Pairs that are forced before the progress is told.
const WINDOW: usize = 500;

/// Reads the pairs, asks every model, and prints what it says.
pub fn run(low: &ContrastArgs) -> anyhow::Result<()> {
    let (path, pairs) = read(low)?;
    if pairs.is_empty() {
        return Err(Error::file(path, "has no pairs; give at least one").into());
    }
    let runtime = low.run.high()?;
    let mut models: Vec<ContrastedModel> = Vec::new();
    let mut refused = 0;
    for folders in low.ensemble.systems(&low.model) {
        let system = low.ensemble.load(folders, &runtime)?;
        let (found, left_out) = measure(low, path, &runtime, (&system, &pairs))?;
        let mut name = system.name();
        if models.iter().any(|model| model.name == name) {
            name = format!("{name} ({})", system.folder());
        }
        models.push(ContrastedModel { name, found });
        // A line that several models refuse is one line.
        refused = refused.max(left_out);
    }
    if let Some(path) = &low.pairs {
        write_atomic(path, |file| file.write_all(each(&pairs, &models).as_bytes()))?;
    }
    let mut output = LineOutput::stdout();
    print(low.format, &summary(&pairs, &models), &mut output)?;
    output.finish()?;
    words::refused(refused)
}

fn read(low: &ContrastArgs) -> Result<(&Path, Vec<Contrasted>)> {
    if let Some(table) = &low.table {
        return Ok((table, read_table(table)?));
    }
    let given = || Error::Input("give a table, or --source, --good and --bad".to_owned());
    let source = low.source.as_ref().ok_or_else(given)?;
    let files = [Some(source), low.good.as_ref(), low.bad.as_ref(), low.tags.as_ref()];
    let mut columns =
        files.into_iter().flatten().map(|path| Ok((path, LineReader::open(path)?.held().collect::<Result<Vec<_>>>()?)));
    let columns = columns.by_ref().collect::<Result<Vec<(&PathBuf, Vec<String>)>>>()?;
    let count = columns[0].1.len();
    if let Some((path, lines)) = columns.iter().find(|(_, lines)| lines.len() != count) {
        let message = format!("has {} lines, and {} has {count}; give one for each", lines.len(), source.display());
        return Err(Error::file(path, message));
    }
    let pair = |n: usize| Contrasted {
        line: n + 1,
        source: columns[0].1[n].clone(),
        targets: [columns[1].1[n].clone(), columns[2].1[n].clone()],
        tags: columns.get(3).map_or_else(Vec::new, |(_, lines)| tags(&lines[n])),
    };
    Ok((source, (0..count).map(pair).collect()))
}

fn tags(cell: &str) -> Vec<String> {
    cell.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// Columns of a table beside `source`.
const COLUMNS: [&str; 2] = ["good", "bad"];

fn read_table(path: &Path) -> Result<Vec<Contrasted>> {
    let outputs = COLUMNS.iter().map(|name| ((*name).to_owned(), ColumnRole::Output((*name).to_owned())));
    let columns =
        outputs.chain([("tag".to_owned(), ColumnRole::Extra), ("tags".to_owned(), ColumnRole::Extra)]).collect();
    let mut file = import::open(path, &ImportOptions { columns, ..ImportOptions::default() })?;
    let has = |role: &ColumnRole| file.facts.columns.iter().any(|column| column.role == *role);
    let mut roles = COLUMNS.iter().map(|name| ColumnRole::Output((*name).to_owned())).chain([ColumnRole::Source]);
    if !roles.all(|role| has(&role)) {
        let message = "has no columns `source`, `good` and `bad`; name them in the first row, tabs or commas between";
        return Err(Error::file(path, message));
    }
    let mut pairs = Vec::new();
    loop {
        let window = file.window(WINDOW)?;
        if window.is_empty() {
            return Ok(pairs);
        }
        let (records, warnings) = window.read();
        warnings.kept.iter().for_each(|warning| output::tell(&warning.sentence));
        pairs.extend(records.into_iter().map(of_record));
    }
}

fn of_record(record: Record) -> Contrasted {
    let said = |name: &str| {
        let output = record.outputs.iter().find(|output| output.system.as_deref() == Some(name));
        output.map(|output| output.text.clone()).unwrap_or_default()
    };
    let named = record.extra.iter().filter(|(name, _)| name == "tag" || name == "tags");
    Contrasted {
        line: record.line,
        targets: COLUMNS.map(said),
        tags: named.flat_map(|(_, cell)| tags(cell)).collect(),
        source: record.source.map(|source| source.text).unwrap_or_default(),
    }
}

/// Forces both translations of every pair; also how many cannot be read, each told.
fn measure(
    low: &ContrastArgs,
    path: &Path,
    runtime: &Runtime,
    (system, pairs): (&Ensemble, &[Contrasted]),
) -> Result<(Vec<Option<MinimalPair>>, usize)> {
    let rows = ReadRows::own(system.into());
    let mut stepper = system.stepper(runtime.engine, runtime.threads)?;
    let mut progress = ProgressLine::new(format!("comparing, {}", system.name()), Some(pairs.len() as u64), false);
    let (mut found, mut refused) = (Vec::with_capacity(pairs.len()), 0);
    for window in pairs.chunks(WINDOW) {
        let read = |pair: &Contrasted| encode(system, pair, low.pretokenized);
        let read: Vec<_> = window.iter().map(read).collect();
        for (pair, why) in window.iter().zip(&read).filter_map(|(pair, read)| Some((pair, read.as_ref().err()?))) {
            refused += 1;
            progress.tell(&Error::line(path, pair.line, why.clone()).to_string());
        }
        let good = read.iter().flatten();
        let both: Vec<(&[u32], &[u32])> =
            good.flat_map(|(x, ys)| ys.iter().map(|y| (x.ids.as_slice(), y.ids.as_slice()))).collect();
        let tokens = both.iter().map(|(_, target)| target.len()).sum();
        let mut forced = words::force_all(rows, stepper.as_mut(), &both, low.batch.high())?.into_iter();
        for one in &read {
            let Ok((_, targets)) = one else {
                found.push(None);
                continue;
            };
            let said = [(); 2].map(|()| forced.next().unwrap_or_default());
            found.push(Some(compared(system, targets, &said, low.pretokenized)));
        }
        progress.add(window.len(), tokens, found.len() as u64);
    }
    progress.finish();
    Ok((found, refused))
}

/// A pair as a model reads it, or why it does not.
fn encode(
    system: &Ensemble,
    pair: &Contrasted,
    pretokenized: bool,
) -> std::result::Result<(Sentence, [Sentence; 2]), String> {
    let source = line::read(system, &pair.source, pretokenized)?;
    if source.is_empty() {
        return Err(line::NO_WORDS.to_owned());
    }
    let side = |at: usize| {
        let sentence = line::read(system.target(), &pair.targets[at], pretokenized)?;
        let named = if sentence.words() > 0 { Ok(sentence) } else { Err("has no words") };
        named.map_err(|why| format!("{why} in its {} translation; give both", COLUMNS[at]))
    };
    Ok((source, [side(0)?, side(1)?]))
}

fn compared(system: &Ensemble, targets: &[Sentence; 2], said: &[Forced; 2], pretokenized: bool) -> MinimalPair {
    let unk = system.specials().unk;
    let ranges = [0, 1].map(|side| vocabulary_words(system.target(), &targets[side], pretokenized));
    let differ = first_difference([0, 1].map(|side| targets[side].ids.as_slice()), [&ranges[0], &ranges[1]]);
    let whole = |side: usize| sum(&said[side].token_log_p);
    let log_p = [whole(0), whole(1)];
    let Some(places) = differ else { return MinimalPair { log_p: [log_p[0]; 2], ..MinimalPair::default() } };
    let word = |side: usize| {
        let (sentence, place) = (&targets[side], &places[side]);
        match sentence.spans.get(place.clone()) {
            Some([first, .., last]) => sentence.text[first.start..last.end].to_owned(),
            Some([only]) if sentence.tokens[place.start] != EOS => sentence.text[only.clone()].to_owned(),
            _ => EOS.to_owned(),
        }
    };
    MinimalPair {
        log_p,
        words: [word(0), word(1)],
        word_log_p: [0, 1].map(|side| said[side].token_log_p.get(places[side].clone()).map_or(0.0, sum)),
        is_unknown: (0..2).any(|side| targets[side].ids[places[side].clone()].contains(&unk)),
    }
}

fn sum(log_p: &[f32]) -> f64 {
    log_p.iter().map(|log_p| f64::from(*log_p)).sum()
}

/// A row for each pair and model.
fn each(pairs: &[Contrasted], models: &[ContrastedModel]) -> String {
    let head = [
        "line",
        "tag",
        "model",
        "difference",
        "word_difference",
        "log_p_good",
        "log_p_bad",
        "word_good",
        "word_bad",
        "word_log_p_good",
        "word_log_p_bad",
        "unknown",
        "source",
        "good",
        "bad",
    ];
    let rows = pairs.iter().enumerate().flat_map(|(n, pair)| {
        models.iter().filter_map(move |model| {
            let found = model.found[n].as_ref()?;
            let mut cells = vec![TsvCell::plain(&pair.line), TsvCell::from(&pair.tags.join(",")), (&model.name).into()];
            let [good, bad] = found.log_p;
            cells
                .extend([found.difference(), found.word_difference(), good, bad].map(|number| TsvCell::plain(&number)));
            cells.extend(found.words.iter().map(TsvCell::from));
            cells.extend(found.word_log_p.map(|number| TsvCell::plain(&number)));
            cells.push(TsvCell::plain(&u8::from(found.is_unknown)));
            cells.extend([&pair.source, &pair.targets[0], &pair.targets[1]].map(TsvCell::from));
            Some(cells)
        })
    });
    text(&head, rows)
}

/// What a model has right of the pairs of a tag.
struct ContrastRow {
    model: String,
    /// Nothing: of all.
    tag: Option<String>,
    counts: MinimalCounts,
    /// Against the first model.
    p: Option<f64>,
}

fn summary(pairs: &[Contrasted], models: &[ContrastedModel]) -> Vec<ContrastRow> {
    let mut tags: Vec<Option<&str>> = vec![None];
    for tag in pairs.iter().flat_map(|pair| &pair.tags) {
        if !tags.contains(&Some(tag)) {
            tags.push(Some(tag));
        }
    }
    let row = |tag: Option<&str>, model: &ContrastedModel, is_first: bool| {
        let (mut counts, mut apart) = (MinimalCounts::default(), [0, 0]);
        let is_of = |pair: &Contrasted| tag.is_none_or(|tag| pair.tags.iter().any(|known| known == tag));
        for (n, _) in pairs.iter().enumerate().filter(|(_, pair)| is_of(pair)) {
            let Some(found) = &model.found[n] else { continue };
            counts.add(found);
            let Some(first) = &models[0].found[n] else { continue };
            let right = [first, found].map(|pair| pair.difference() > 0.0);
            apart[0] += u64::from(right[0] && !right[1]);
            apart[1] += u64::from(right[1] && !right[0]);
        }
        let p = (!is_first).then(|| mcnemar(apart[0], apart[1]));
        ContrastRow { model: model.name.clone(), tag: tag.map(str::to_owned), counts, p }
    };
    let of_tag = |tag: Option<&str>| models.iter().enumerate().map(|(n, model)| row(tag, model, n == 0)).collect();
    tags.into_iter().flat_map(|tag| -> Vec<ContrastRow> { of_tag(tag) }).collect()
}

/// A column of the summary: its name, and its number; `None` where there is none.
type ContrastColumn = (&'static str, fn(&ContrastRow) -> Option<f64>);

const FIGURES: &[ContrastColumn] = &[
    ("accuracy", |row| row.counts.accuracy()),
    ("low", |row| wilson(row.counts.right, row.counts.pairs).map(|(low, _)| low)),
    ("high", |row| wilson(row.counts.right, row.counts.pairs).map(|(_, high)| high)),
    ("word_accuracy", |row| row.counts.word_accuracy()),
    ("difference", |row| row.counts.mean_difference()),
    ("word_difference", |row| row.counts.mean_word_difference()),
];

fn print(format: TableFormat, rows: &[ContrastRow], output: &mut LineOutput) -> anyhow::Result<()> {
    let counted = |row: &ContrastRow| [row.counts.pairs, row.counts.equal, row.counts.unknown];
    let tag = |row: &ContrastRow| row.tag.clone().unwrap_or_else(|| "all".to_owned());
    let figures = || FIGURES.iter().map(|(name, _)| *name);
    match format {
        TableFormat::Json => rows.iter().try_for_each(|row| {
            let [pairs, equal, unknown] = counted(row);
            let mut object = json!({
                "model": row.model, "tag": row.tag, "pairs": pairs, "equal": equal, "unknown": unknown, "p": row.p,
            });
            for (name, of) in FIGURES {
                object[*name] = json!(of(row));
            }
            output.json(&object)
        }),
        TableFormat::Tsv => {
            let head: Vec<&str> =
                ["model", "tag", "pairs"].into_iter().chain(figures()).chain(["equal", "unknown", "p"]).collect();
            let number =
                |number: Option<f64>| TsvCell::Plain(number.map_or_else(String::new, |number| number.to_string()));
            let body = rows.iter().map(|row| {
                let [pairs, equal, unknown] = counted(row);
                let mut cells = vec![TsvCell::from(&row.model), TsvCell::from(&tag(row)), TsvCell::plain(&pairs)];
                cells.extend(FIGURES.iter().map(|(_, of)| number(of(row))));
                cells.extend([TsvCell::plain(&equal), TsvCell::plain(&unknown), number(row.p)]);
                cells
            });
            output.text(&text(&head, body))
        }
        TableFormat::Text => {
            let head = figures().map(|name| name.replace('_', " "));
            let start = ["model", "tag", "pairs"].map(str::to_owned).into_iter();
            let mut table = TextTable::new(start.chain(head).chain(["equal", "unknown", "p"].map(str::to_owned)));
            let number = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), |number| format!("{number:.4}"));
            for row in rows {
                let [pairs, equal, unknown] = counted(row).map(|count| count.to_string());
                let figures = FIGURES.iter().map(|(_, of)| number(of(row)));
                table.row([row.model.clone(), tag(row), pairs].into_iter().chain(figures).chain([
                    equal,
                    unknown,
                    number(row.p),
                ]));
            }
            output.text(&table.text())
        }
    }
}
