//! Floor 13: what `interlinear evaluate --output` writes into a folder: the figures, and every sentence of every model.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::analysis::hard;
use crate::corpus::overview::evaluated::{Evaluated, EvaluationRecord, MeasuredSystem, Translation};
use crate::corpus::overview::figures;
use crate::corpus::overview::figures::figure;
use crate::error::Result;
use crate::text::tsv::{Tsv, TsvCell};
use crate::text::write::write_inside;

/// Writes all files; those of an earlier run with the same names are replaced.
pub fn write(folder: &Path, evaluated: &Evaluated) -> Result<()> {
    let text = |name: &str, text: &str| write_inside(&folder.join(name), |file| file.write_all(text.as_bytes()));
    text("figures.tsv", &figures::scores(evaluated))?;
    if let Some(bootstrap) = figures::bootstrap(evaluated) {
        text("bootstrap.tsv", &bootstrap)?;
    }
    if let Some(alignments) = figures::alignments(evaluated) {
        text("alignment.tsv", &alignments)?;
    }
    text("report.json", &format!("{:#}\n", figures::json(evaluated)))?;
    for (measured, name) in evaluated.models.iter().zip(names(evaluated)) {
        write_inside(&folder.join(format!("{name}.sentences.tsv")), |file| table(file, measured))?;
        write_inside(&folder.join(format!("{name}.sentences.jsonl")), |file| jsonl(file, measured))?;
        if !measured.report.unk.is_empty() {
            write_inside(&folder.join(format!("{name}.txt")), |file| translations(file, measured))?;
        }
    }
    Ok(())
}

/// The longest file name of a model in bytes: file systems allow 255, and endings and numbers follow.
const MOST_NAME: usize = 150;

/// A file name for each model: its own name, cut where it is long, numbered where two have the same.
fn names(evaluated: &Evaluated) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(evaluated.models.len());
    for report in evaluated.models.iter().map(|measured| &measured.report) {
        let safe = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
        let name: String = report.name.chars().map(safe).collect();
        let mut name = name.trim_start_matches('.').to_owned();
        name.truncate(name.floor_char_boundary(MOST_NAME));
        let wanted = if name.is_empty() { "model".to_owned() } else { name };
        let free = (1..).map(|n| if n == 1 { wanted.clone() } else { format!("{wanted}-{n}") });
        names.extend(free.filter(|name| !names.contains(name)).take(1).collect::<Vec<_>>());
    }
    names
}

/// A sentence on a line of its own.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// A row for each sentence, for sorting.
fn table(file: &mut impl Write, measured: &MeasuredSystem) -> std::io::Result<()> {
    let report = &measured.report;
    let mut head: Vec<String> = ["line", "source_words", "words", "nll", "nll_per_word", "source_unk", "reference_unk"]
        .map(str::to_owned)
        .to_vec();
    for unk in &report.unk {
        let of = if report.unk.len() > 1 { format!("_{}", unk.name()) } else { String::new() };
        head.extend(["bleu", "chrf2", "output_unk", "translation"].map(|name| format!("{name}{of}")));
    }
    head.extend(measured.aligned().map(|_| "aer".to_owned()));
    head.push("source".to_owned());
    let count = report.records.first().map_or(0, |record| record.pair.references.len());
    head.extend((1..=count).map(|n| if count == 1 { "reference".into() } else { format!("reference_{n}") }));
    let mut tsv = Tsv::new(file, head)?;
    for (number, record) in report.records.iter().enumerate() {
        let (words, nll) = (record.words, record.nll);
        let unknown = [record.source_unk, record.reference_unk].map(|unk| u8::from(unk).to_string());
        let counts = [number + 1, record.source_words, words].map(|count| count.to_string());
        let nll = [nll, nll / words.max(1) as f64].map(|nll| format!("{nll:.6}"));
        let mut row: Vec<TsvCell> = counts.into_iter().chain(nll).chain(unknown).map(TsvCell::Plain).collect();
        for Translation { bleu, has_unk, text, counts, .. } in &record.translations {
            let scores = [*bleu, counts.chrf.score()].map(|score| TsvCell::Plain(format!("{score:.4}")));
            row.extend(scores.into_iter().chain([TsvCell::plain(&u8::from(*has_unk)), text.into()]));
        }
        if let Some(alignment) = measured.aligned() {
            let aer = alignment.sentences.get(number).and_then(|counts| counts.rates().aer);
            row.push(TsvCell::Plain(figure(aer, 6)));
        }
        let texts = std::iter::once(&record.pair.source).chain(record.pair.references.iter());
        row.extend(texts.map(|text| TsvCell::from(&**text)));
        tsv.row(row)?;
    }
    tsv.finish()
}

/// An object for each sentence, for programs.
fn jsonl(file: &mut impl Write, measured: &MeasuredSystem) -> std::io::Result<()> {
    for (number, record) in measured.report.records.iter().enumerate() {
        writeln!(file, "{}", sentence(measured, number, record))?;
    }
    Ok(())
}

fn sentence(measured: &MeasuredSystem, number: usize, record: &EvaluationRecord) -> Value {
    let translations = measured.report.unk.iter().zip(&record.translations);
    let translations = translations.map(|(unk, translation)| {
        json!({"unk": unk.name(), "text": translation.text, "words": translation.words,
               "has_unk": translation.has_unk, "bleu": translation.bleu, "chrf2": translation.counts.chrf.score()})
    });
    let mut object = json!({"line": number + 1, "source": record.pair.source.as_ref(),
        "references": record.pair.references.iter().map(AsRef::as_ref).collect::<Vec<&str>>(),
        "source_words": record.source_words, "words": record.words, "tokens": record.tokens, "nll": record.nll,
        "source_unk": record.source_unk, "reference_unk": record.reference_unk,
        "translations": translations.collect::<Vec<_>>()});
    if let Some(alignment) = measured.aligned()
        && let (Some(counts), Some(links)) = (alignment.sentences.get(number), alignment.links.get(number))
    {
        object["aer"] = json!(counts.rates().aer);
        object["links"] = json!(hard::pharaoh(links));
    }
    object
}

/// The first kind of translations, a line each.
fn translations(file: &mut impl Write, measured: &MeasuredSystem) -> std::io::Result<()> {
    for record in &measured.report.records {
        let text = record.translations.first().map_or("", |translation| translation.text.as_str());
        writeln!(file, "{}", one_line(text))?;
    }
    Ok(())
}
