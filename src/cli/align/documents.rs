//! Floor 13: `interlinear documents`: two documents become sentences that translate each other.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::aligner::sentences::beads::BEAD_KINDS;
use crate::cli::args::{Choice, RunArgs, one_of};
use crate::cli::output;
use crate::cli::output::LineOutput;
use crate::error::{Error, Result};
use crate::import::documents::ParagraphBreaks;
use crate::import::documents::align::{DocumentOptions, align as align_documents};
use crate::import::documents::beads::{BeadRow, read, table};
use crate::text::tsv::{TsvCell, text};
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
    /// Leave out rows with a smaller score; one that was edited in the window has none, and stays if both sides have text
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

/// Aligns, or reads what was aligned, and writes.
///
/// # Errors
/// A sentence about a file.
pub fn run(low: &DocumentsArgs) -> anyhow::Result<()> {
    let rows = match (&low.pairs, &low.source, &low.target) {
        (Some(pairs), ..) => read(pairs, &mut output::tell)?,
        (None, Some(source), Some(target)) => align(low, [source, target])?,
        _ => return Err(Error::Input("give --source and --target, or --pairs".to_owned()).into()),
    };
    let mut output = LineOutput::stdout();
    if let Some(gold) = &low.gold {
        output.text(&compared(&rows, (gold, &read(gold, &mut output::tell)?))?)?;
        return output.finish();
    }
    let is_kept =
        |row: &&BeadRow| low.least.is_none_or(|least| row.score.map_or(row.is_whole(), |score| score >= least));
    let rows: Vec<&BeadRow> = rows.iter().filter(is_kept).collect();
    if let (Some(source), Some(target)) = (&low.output_source, &low.output_target) {
        let whole = || rows.iter().filter(|row| row.is_whole());
        for (side, path) in [source, target].into_iter().enumerate() {
            write_atomic(path, |file| whole().try_for_each(|row| writeln!(file, "{}", row.text(side))))?;
        }
        output::tell(&format!("{} pairs are written", whole().count()));
        return Ok(());
    }
    output.text(&table(rows))?;
    output.finish()
}

fn align(low: &DocumentsArgs, [source, target]: [&PathBuf; 2]) -> Result<Vec<BeadRow>> {
    let options = DocumentOptions {
        languages: [low.source_language.clone(), low.target_language.clone()],
        breaks: low.paragraphs,
        whole: low.whole,
        lengths: low.lengths,
        learned: low.learned.clone(),
    };
    let (beads, is_short) =
        align_documents([source, target], &options, low.run.cores(), &CancellationToken::forever())?;
    if is_short {
        output::tell("the documents have too few sentences to learn words from; they are aligned by length alone");
    }
    tell(&beads);
    Ok(beads)
}

fn tell(beads: &[BeadRow]) {
    let count = |side: usize| beads.iter().map(|bead| bead.sides[side].len()).sum::<usize>();
    let mut told = format!("{} and {} sentences", count(0), count(1));
    for kind in BEAD_KINDS {
        let kind = format!("{}-{}", kind.source, kind.target);
        let _ = write!(told, ", {} of {kind}", beads.iter().filter(|bead| bead.kind == kind).count());
    }
    output::tell(&told);
}

/// Which letters of both documents a row has.
type BeadLetters = [Range<usize>; 2];

/// The letters of rows, those with an empty side left out, and how many there are in all.
fn letters(rows: &[BeadRow]) -> (Vec<BeadLetters>, [usize; 2]) {
    let (mut at, mut found) = ([0; 2], Vec::new());
    for row in rows {
        let next = [0, 1].map(|side| at[side] + row.text(side).chars().filter(|c| !c.is_whitespace()).count());
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
