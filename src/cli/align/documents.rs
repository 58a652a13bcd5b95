//! `interlinear documents`: two documents become sentences that translate each other.

use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::args::{Choice, RunArgs, one_of};
use crate::output;
use crate::output::LineOutput;
use engine::aligner::sentences::agreement::{BeadAgreement, BeadLetters, BeadPlaces, joined};
use engine::error::{Error, Result};
use engine::text::tsv::{TsvCell, text};
use engine::text::{reader::LineReader, write::write_atomic};
use engine::{aligner::sentences::beads::BEAD_KINDS, ticket::CancellationToken};
use import::documents::ParagraphBreaks;
use import::documents::align::{DocumentOptions, align as align_documents};
use import::documents::beads::{BeadRow, read, table};

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Documents are plain text, HTML or DOCX. They are cut into sentences, by the rules of Unicode and the abbreviations of English, French and
German, and aligned: by the lengths of sentences (Gale and Church 1993), then by their words, with a lexicon that comes with the program (English with
French or German; French with German through English), that `align --save` wrote (--learned), or that is learned from what lengths and words that
are written alike have found, as hunalign does. Breaks of paragraphs
that both documents have are hints.

The table has a row for each bead, its kind (`1-1`, `2-1`, `0-1` ...: how many sentences of each document it joins), its score and both texts. The score is how
much more probable the words are as translations of each other than by themselves, in nats a word, so that doubtful rows are those below 0; a row
with an empty side has none. Edit the table by hand or in a spreadsheet, and read it again:

  interlinear documents --source tale.docx --target conte.html > pairs.tsv
  interlinear documents --pairs pairs.tsv --least 0 --output-source tale.en --output-target conte.fr

--gold FILE compares with beads that somebody made, as a table or as Bleualign and Vecalign have them (a line `[0]:[0, 1]` for each, sentences counted from
0; with --whole and --paragraphs lines, where they are cut). A bead is right where the file has one with the same letters of both documents. Beads with an
empty side are left out of precision, recall and F1. The strict and lax figures are those of Vecalign's score.py: there beads with an empty side count for
precision, and a bead is laxly right where one of the file shares something with it on both sides."
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
    /// Every line of a plain text is a sentence already: the same as --whole --paragraphs lines
    #[arg(long, conflicts_with_all = ["whole", "paragraphs"])]
    lines: bool,
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
    /// Print precision, recall and F1 of the beads against those of this file, in place of a table
    #[arg(long, value_name = "FILE")]
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
pub fn run(args: &DocumentsArgs) -> anyhow::Result<()> {
    let rows = match (&args.pairs, &args.source, &args.target) {
        (Some(pairs), ..) => read(pairs, &mut output::notify)?,
        (None, Some(source), Some(target)) => align(args, [source, target])?,
        _ => return Err(Error::Input("give --source and --target, or --pairs".to_owned()).into()),
    };
    let mut output = LineOutput::stdout();
    if let Some(gold) = &args.gold {
        output.text(&compared(&rows, gold)?)?;
        return output.finish();
    }
    let is_kept =
        |row: &&BeadRow| args.least.is_none_or(|least| row.score.map_or(row.is_whole(), |score| score >= least));
    let rows: Vec<&BeadRow> = rows.iter().filter(is_kept).collect();
    if let (Some(source), Some(target)) = (&args.output_source, &args.output_target) {
        let whole = || rows.iter().filter(|row| row.is_whole());
        for (side, path) in [source, target].into_iter().enumerate() {
            write_atomic(path, |file| whole().try_for_each(|row| writeln!(file, "{}", row.text(side))))?;
        }
        output::notify(&format!("{} pairs are written", whole().count()));
        return Ok(());
    }
    output.text(&table(rows))?;
    output.finish()
}

fn align(args: &DocumentsArgs, [source, target]: [&PathBuf; 2]) -> Result<Vec<BeadRow>> {
    let options = DocumentOptions {
        languages: [args.source_language.clone(), args.target_language.clone()],
        breaks: if args.lines { ParagraphBreaks::Lines } else { args.paragraphs },
        whole: args.whole || args.lines,
        lengths: args.lengths,
        learned: args.learned.clone(),
    };
    let (beads, is_short) =
        align_documents([source, target], &options, args.run.cores(), &CancellationToken::forever())?;
    if is_short {
        output::notify("the documents have too few sentences to learn words from; they are aligned by length alone");
    }
    notify(&beads);
    Ok(beads)
}

fn notify(beads: &[BeadRow]) {
    let count = |side: usize| beads.iter().map(|bead| bead.sides[side].len()).sum::<usize>();
    let mut report = format!("{} and {} sentences", count(0), count(1));
    for kind in BEAD_KINDS {
        let kind = format!("{}-{}", kind.source, kind.target);
        let _ = write!(report, ", {} of {kind}", beads.iter().filter(|bead| bead.kind == kind).count());
    }
    output::notify(&report);
}

fn letters(rows: &[BeadRow]) -> ([Vec<Range<usize>>; 2], [usize; 2]) {
    let mut ends = [0; 2];
    let mut found = [Vec::new(), Vec::new()];
    for side in 0..2 {
        for sentence in rows.iter().flat_map(|row| &row.sides[side]) {
            let start = ends[side];
            ends[side] += sentence.chars().filter(|c| !c.is_whitespace()).count();
            found[side].push(start..ends[side]);
        }
    }
    (found, ends)
}

fn places(rows: &[BeadRow]) -> Vec<BeadPlaces> {
    let (sentences, _) = letters(rows);
    let mut sentences = sentences.map(Vec::into_iter);
    let mut place = |row: &BeadRow, side: usize| joined(sentences[side].by_ref().take(row.sides[side].len()).collect());
    rows.iter().map(|row| [place(row, 0), place(row, 1)]).collect()
}

/// Beads as Bleualign and Vecalign keep them, a line `[0]:[0, 1]` for each, sentences counted from 0; `None`: the file is a table.
fn indexes(path: &Path) -> Result<Option<Vec<[Vec<usize>; 2]>>> {
    let side = |text: &str| -> Option<Vec<usize>> {
        let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
        inner.split(',').filter(|_| !inner.is_empty()).map(|number| number.trim().parse().ok()).collect()
    };
    let wrong = "is no bead; write one as `[0]:[0, 1]`, sentences counted from 0";
    let mut beads = Vec::new();
    for (n, line) in LineReader::open(path)?.held().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let mut columns = line.split(':').map(side);
        match (columns.next().flatten(), columns.next().flatten()) {
            (Some(source), Some(target)) => beads.push([source, target]),
            _ if beads.is_empty() => return Ok(None),
            _ => return Err(Error::line(path, n + 1, wrong)),
        }
    }
    Ok(Some(beads).filter(|beads| !beads.is_empty()))
}

fn made(rows: &[BeadRow], path: &Path) -> Result<Vec<BeadPlaces>> {
    let (sentences, found) = letters(rows);
    let Some(beads) = indexes(path)? else {
        let gold = read(path, &mut output::notify)?;
        let (_, wanted) = letters(&gold);
        if found != wanted {
            let ([x, y], [of_x, of_y]) = (found, wanted);
            let message = format!(
                "has {of_x} and {of_y} letters, and the documents {x} and {y}; it must have all their sentences"
            );
            return Err(Error::file(path, message));
        }
        return Ok(places(&gold));
    };
    let place = |bead: &[Vec<usize>; 2], side: usize| -> Option<BeadLetters> {
        let ranges: Option<BeadLetters> = bead[side].iter().map(|at| sentences[side].get(*at).cloned()).collect();
        ranges.map(joined)
    };
    let bead = |bead: &[Vec<usize>; 2]| Some([place(bead, 0)?, place(bead, 1)?]);
    let beads: Option<Vec<BeadPlaces>> = beads.iter().map(bead).collect();
    let counts = sentences.map(|side| side.len());
    beads.ok_or_else(|| {
        let [x, y] = counts;
        let message = format!(
            "names a sentence beyond the {x} and {y} of the documents; they must be cut as it has them, for which --whole helps"
        );
        Error::file(path, message)
    })
}

fn compared(rows: &[BeadRow], path: &Path) -> Result<String> {
    let (found, made) = (places(rows), made(rows, path)?);
    let is_whole = |bead: &&BeadPlaces| bead.iter().all(|side| !side.is_empty());
    let [beads, gold] = [&found, &made].map(|beads| beads.iter().filter(is_whole).count());
    let right = found.iter().filter(is_whole).filter(|bead| made.contains(bead)).count();
    let share = |count: usize| if count == 0 { 0.0 } else { right as f64 / count as f64 };
    let (precision, recall) = (share(beads), share(gold));
    let f1 = if right == 0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) };
    let rates = BeadAgreement::of(&found, &made).rates();
    let rates = rates.iter().flat_map(|rates| [rates.precision, rates.recall, rates.f1]);
    let shares = [precision, recall, f1].into_iter().chain(rates).map(|share| TsvCell::Plain(format!("{share:.4}")));
    let row = [beads, gold, right].map(|count| TsvCell::plain(&count)).into_iter().chain(shares).collect();
    Ok(text(&HEAD, [row]))
}

const HEAD: [&str; 12] = [
    "beads", "gold", "right", "precision", "recall", "F1", "strict_precision", "strict_recall", "strict_F1",
    "lax_precision", "lax_recall", "lax_F1",
];
