//! Floor 13: `interlinear documents`: two documents become sentences that translate each other.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::aligner::bundled::bundled;
use crate::aligner::corpus::{CorpusBuilder, RARE};
use crate::aligner::learn::learn;
use crate::aligner::learned::Learned;
use crate::aligner::sentences::beads::{BEAD_KINDS, Bead, DocumentSide};
use crate::aligner::sentences::{by_length, by_words};
use crate::aligner::settings::AlignerSettings;
use crate::aligner::words::Cutter;
use crate::cli::args::{Choice, RunArgs, one_of};
use crate::cli::output;
use crate::cli::output::LineOutput;
use crate::cli::statistical::language_of;
use crate::error::{Error, Result};
use crate::import;
use crate::import::documents::{ImportedDocument, ParagraphBreaks};
use crate::import::{ColumnRole, ImportOptions};
use crate::text::language::guess;
use crate::text::sentences::sentences;
use crate::text::tsv::{TsvCell, as_typed, text};
use crate::text::write::write_atomic;
use crate::ticket::CancellationToken;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Documents are plain text, HTML or DOCX. They are cut into sentences, by the rules of Unicode and the abbreviations of English, French and
German, and aligned: by the lengths of sentences (Gale and Church 1993), then by their words, with a lexicon that comes with the program (English with
French or German), that `align --save` wrote (--learned), or that is learned from what the lengths have found, as hunalign does. Breaks of paragraphs
that both documents have are hints.

The table has a row for each bead, its kind (`1-1`, `2-1`, `0-1` ...: how many sentences of each document it joins), its score and both texts. The score is how
much more probable the words are as translations of each other than by themselves, in nats a word, so that doubtful rows are those below 0; a row
with an empty side has none. Edit the table by hand or in a spreadsheet, and read it again:

  interlinear documents --source tale.docx --target conte.html > pairs.tsv
  interlinear documents --pairs pairs.tsv --least 0 --output-source tale.en --output-target conte.fr

--gold TABLE compares with beads that somebody made: a bead is right where the table has a row with the same letters of both documents."
)]
pub struct DocumentsArgs {
    /// A document: plain text, HTML or DOCX
    #[arg(long, value_name = "FILE", required_unless_present = "pairs", requires = "target", conflicts_with = "pairs")]
    source: Option<PathBuf>,
    /// Its translation
    #[arg(long, value_name = "FILE", requires = "source")]
    target: Option<PathBuf>,
    /// Read the pairs from a table that this command wrote, in place of documents
    #[arg(long, value_name = "TABLE")]
    pairs: Option<PathBuf>,
    /// Language of the source, such as `fr`; by default from the file's name (`tale.fr.txt`) or its text
    #[arg(long, value_name = "TAG")]
    source_language: Option<String>,
    /// Language of the target
    #[arg(long, value_name = "TAG")]
    target_language: Option<String>,
    /// What parts paragraphs in a plain text
    #[arg(long, value_name = "HOW", default_value = "guess", value_parser = one_of(BREAKS.iter().copied()))]
    paragraphs: ParagraphBreaks,
    /// Every paragraph is a sentence already
    #[arg(long)]
    whole: bool,
    /// Align by the lengths of sentences alone
    #[arg(long, conflicts_with = "learned")]
    lengths: bool,
    /// Use the lexicon of an aligner that `align --statistical --save` wrote
    #[arg(long, value_name = "FILE")]
    learned: Option<PathBuf>,
    /// Leave out rows with a smaller score
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    least: Option<f32>,
    /// Write the source sentences of all rows with two sides into this file, one a line, in place of a table
    #[arg(long, value_name = "FILE", requires = "output_target")]
    output_source: Option<PathBuf>,
    /// Write the target sentences into this file
    #[arg(long, value_name = "FILE", requires = "output_source")]
    output_target: Option<PathBuf>,
    /// Print precision, recall and F1 of the beads against this table, in place of a table
    #[arg(long, value_name = "TABLE")]
    gold: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

const BREAKS: &[Choice<ParagraphBreaks>] = &[
    ("guess", "Blank lines where there are any, else every line", ParagraphBreaks::Guess),
    ("blank", "Blank lines", ParagraphBreaks::Blank),
    ("lines", "Every line is a paragraph", ParagraphBreaks::Lines),
];

/// A row: its kind, its score, and the texts of both sides.
struct BeadRow {
    kind: String,
    score: Option<f32>,
    texts: [String; 2],
}

/// Aligns, or reads what was aligned, and writes.
///
/// # Errors
/// A sentence about a file.
pub fn run(low: &DocumentsArgs) -> anyhow::Result<()> {
    let rows = match (&low.pairs, &low.source, &low.target) {
        (Some(pairs), ..) => read(pairs)?,
        (None, Some(source), Some(target)) => align(low, [source, target])?,
        _ => return Err(Error::Input("give --source and --target, or --pairs".to_owned()).into()),
    };
    let mut output = LineOutput::stdout();
    if let Some(gold) = &low.gold {
        output.text(&compared(&rows, (gold, &read(gold)?))?)?;
        return output.finish();
    }
    let is_kept = |row: &&BeadRow| low.least.is_none_or(|least| row.score.is_some_and(|score| score >= least));
    let rows: Vec<&BeadRow> = rows.iter().filter(is_kept).collect();
    if let (Some(source), Some(target)) = (&low.output_source, &low.output_target) {
        let whole = || rows.iter().filter(|row| row.texts.iter().all(|text| !text.is_empty()));
        for (side, path) in [source, target].into_iter().enumerate() {
            write_atomic(path, |file| whole().try_for_each(|row| writeln!(file, "{}", row.texts[side])))?;
        }
        output::tell(&format!("{} pairs are written", whole().count()));
        return Ok(());
    }
    let cells = |row: &&BeadRow| {
        let score = row.score.map_or_else(String::new, |score| format!("{score:.3}"));
        let [source, target] = &row.texts;
        vec![TsvCell::plain(&row.kind), TsvCell::Plain(score), source.into(), target.into()]
    };
    output.text(&text(&["bead", "score", "source", "target"], rows.iter().map(cells)))?;
    output.finish()
}

/// A document as its sentences.
struct Sentences {
    texts: Vec<String>,
    side: DocumentSide,
    language: String,
    cutter: Cutter,
}

impl Sentences {
    fn open(low: &DocumentsArgs, path: &Path, language: Option<&String>) -> Result<Self> {
        let document = ImportedDocument::open(path, low.paragraphs)?;
        let language = language.cloned().unwrap_or_else(|| language_in(path, &document));
        let mut own =
            Self { texts: Vec::new(), side: DocumentSide::default(), cutter: Cutter::new(&language, false)?, language };
        for paragraph in &document.paragraphs {
            let found = if low.whole { vec![paragraph.as_str()] } else { sentences(paragraph, &own.language) };
            for (n, sentence) in found.into_iter().enumerate() {
                own.side.push(sentence, own.cutter.cut(sentence).words, n == 0);
                own.texts.push(sentence.to_owned());
            }
        }
        Ok(own)
    }

    /// The sentences of a bead in a row.
    fn joined(&self, range: &Range<usize>) -> String {
        self.texts[range.clone()].join(" ")
    }
}

/// That of the file's name, else what the text seems to be in.
fn language_in(path: &Path, document: &ImportedDocument) -> String {
    let named = language_of(path);
    let text = || document.paragraphs.iter().take(50).map(String::as_str).collect::<Vec<_>>().join(" ");
    match named.as_str() {
        "und" | "htm" => guess(&text()).unwrap_or("und").to_owned(),
        _ => named,
    }
}

fn align(low: &DocumentsArgs, [source, target]: [&PathBuf; 2]) -> Result<Vec<BeadRow>> {
    let x = Sentences::open(low, source, low.source_language.as_ref())?;
    let y = Sentences::open(low, target, low.target_language.as_ref())?;
    let ticket = CancellationToken::forever();
    let mut beads = by_length(&x.side, &y.side, &ticket)?;
    let sides = (&x.side, &y.side);
    let known = match &low.learned {
        Some(path) => Some(Learned::open(path)?),
        None => bundled(&x.language, &y.language).transpose()?.filter(|_| !low.lengths),
    };
    if let Some(known) = known {
        beads = by_words(sides, &known, &beads, &ticket)?;
    } else if !low.lengths {
        for _ in 0..ROUNDS {
            let Some(learned) = learned_from(sides, &beads, low.run.cores())? else { break };
            beads = by_words(sides, &learned, &beads, &ticket)?;
        }
    }
    tell(&beads, sides);
    let row = |bead: &Bead| BeadRow {
        kind: format!("{}-{}", bead.source.len(), bead.target.len()),
        score: bead.score,
        texts: [x.joined(&bead.source), y.joined(&bead.target)],
    };
    Ok(beads.iter().map(row).collect())
}

/// How often a lexicon is learned from what the last one found.
const ROUNDS: usize = 2;
/// Fewer pairs teach nothing.
const LEAST_PAIRS: usize = 20;

/// A lexicon of the beads of one and one; `None` where they are few.
fn learned_from((x, y): (&DocumentSide, &DocumentSide), beads: &[Bead], threads: usize) -> Result<Option<Learned>> {
    let mut corpus = CorpusBuilder::default();
    for bead in beads.iter().filter(|bead| bead.source.len() == 1 && bead.target.len() == 1) {
        corpus.push(&x.words[bead.source.start], &y.words[bead.target.start]);
    }
    if corpus.len() < LEAST_PAIRS {
        output::tell("the documents have too few sentences to learn words from; they are aligned by length alone");
        return Ok(None);
    }
    let settings = AlignerSettings::default();
    learn(corpus.finish(RARE), &settings, threads, &CancellationToken::forever(), &mut |_| {}).map(Some)
}

fn tell(beads: &[Bead], (x, y): (&DocumentSide, &DocumentSide)) {
    let mut told = format!("{} and {} sentences", x.len(), y.len());
    for kind in BEAD_KINDS {
        let is_own = |bead: &&Bead| (bead.source.len(), bead.target.len()) == (kind.source, kind.target);
        let count = beads.iter().filter(is_own).count();
        let _ = write!(told, ", {count} of {}-{}", kind.source, kind.target);
    }
    output::tell(&told);
}

/// Rows of a table.
fn read(path: &Path) -> Result<Vec<BeadRow>> {
    let extra = ["bead", "score"].map(|name| (name.to_owned(), ColumnRole::Extra));
    let mut file = import::open(path, &ImportOptions { columns: extra.into(), ..ImportOptions::default() })?;
    let has = |role: &ColumnRole| file.facts.columns.iter().any(|column| column.role == *role);
    if !has(&ColumnRole::Source) || !has(&ColumnRole::Reference) {
        return Err(Error::file(
            path,
            "has no columns `source` and `target`; name them in the first row, tabs between",
        ));
    }
    let mut rows = Vec::new();
    loop {
        let window = file.window(1000)?;
        if window.is_empty() {
            return Ok(rows);
        }
        let (records, warnings) = window.read();
        warnings.kept.iter().for_each(|warning| output::tell(&warning.sentence));
        rows.extend(records.into_iter().map(|record| {
            let extra = |name: &str| record.extra.iter().find(|(known, _)| known == name).map(|(_, cell)| cell.trim());
            let side =
                |text: Option<&import::ImportedText>| text.map_or("", |text| as_typed(text.text.trim())).to_owned();
            BeadRow {
                kind: extra("bead").unwrap_or_default().to_owned(),
                score: extra("score").and_then(|score| score.parse().ok()),
                texts: [side(record.source.as_ref()), side(record.reference.as_ref())],
            }
        }));
    }
}

/// Which letters of both documents a row has.
type BeadLetters = [Range<usize>; 2];

/// The letters of rows, those with an empty side left out, and how many there are in all.
fn letters(rows: &[BeadRow]) -> (Vec<BeadLetters>, [usize; 2]) {
    let (mut at, mut found) = ([0; 2], Vec::new());
    for row in rows {
        let next = [0, 1].map(|side| at[side] + row.texts[side].chars().filter(|c| !c.is_whitespace()).count());
        let range = [at[0]..next[0], at[1]..next[1]];
        if range.iter().all(|side| !side.is_empty()) {
            found.push(range);
        }
        at = next;
    }
    (found, at)
}

fn compared(rows: &[BeadRow], (path, gold): (&Path, &[BeadRow])) -> Result<String> {
    let ((found, of_found), (wanted, of_wanted)) = (letters(rows), letters(gold));
    if of_found != of_wanted {
        let ([x, y], [of_x, of_y]) = (of_found, of_wanted);
        let message =
            format!("has {of_x} and {of_y} letters, and the documents {x} and {y}; it must have all their sentences");
        return Err(Error::file(path, message));
    }
    // Both are in the order of the documents.
    let right = found.iter().filter(|bead| {
        wanted.binary_search_by_key(&bead[0].start, |gold| gold[0].start).is_ok_and(|at| wanted[at] == **bead)
    });
    let right = right.count();
    let share = |count: usize| if count == 0 { 0.0 } else { right as f64 / count as f64 };
    let (precision, recall) = (share(found.len()), share(wanted.len()));
    let f1 = if right == 0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) };
    let cells = [found.len(), wanted.len(), right].map(|count| TsvCell::plain(&count)).into_iter();
    let row = cells.chain([precision, recall, f1].map(|share| TsvCell::Plain(format!("{share:.4}")))).collect();
    Ok(text(&["beads", "gold", "right", "precision", "recall", "F1"], [row]))
}
