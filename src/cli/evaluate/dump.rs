//! Floor 13: what `interlinear evaluate --output` writes into a folder: the figures, and every sentence of every model.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::analysis::aer::AerCounts;
use crate::analysis::hard;
use crate::corpus::overview::evaluated::{Evaluated, EvaluationRecord, MeasuredSystem, Translation};
use crate::corpus::overview::figures;
use crate::corpus::overview::figures::figure;
use crate::corpus::store::write::NewSentence;
use crate::error::Result;
use crate::text::links::Link;
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
    let lengths = evaluated.test_set.lengths();
    for (measured, name) in evaluated.models.iter().zip(names(evaluated)) {
        let all = Sentences { evaluated, measured, lengths: &lengths };
        write_inside(&folder.join(format!("{name}.sentences.tsv")), |file| all.table(file))?;
        write_inside(&folder.join(format!("{name}.sentences.jsonl")), |file| all.jsonl(file))?;
        if !evaluated.unk.is_empty() {
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
    for measured in &evaluated.models {
        let safe = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
        let name: String = measured.name.chars().map(safe).collect();
        let mut name = name.trim_start_matches('.').to_owned();
        name.truncate(name.floor_char_boundary(MOST_NAME));
        let wanted = if name.is_empty() { "model".to_owned() } else { name };
        let free = (1..).map(|n| if n == 1 { wanted.clone() } else { format!("{wanted}-{n}") });
        names.extend(free.filter(|name| !names.contains(name)).take(1).collect::<Vec<_>>());
    }
    names
}

/// What a system made of every sentence.
struct Sentences<'a> {
    evaluated: &'a Evaluated,
    measured: &'a MeasuredSystem,
    /// Words of the sources and references.
    lengths: &'a [(usize, usize)],
}

impl Sentences<'_> {
    fn all(&self) -> impl Iterator<Item = (usize, &NewSentence, &EvaluationRecord)> {
        let all = self.evaluated.test_set.pairs.iter().zip(&self.measured.records);
        all.enumerate().map(|(at, (pair, record))| (at, pair, record))
    }

    /// The alignment errors of a sentence and its links; `None` where they were not measured.
    fn aligned(&self, at: usize) -> Option<(AerCounts, &[Link])> {
        let links = self.measured.aligned()?.links.get(at)?;
        Some((AerCounts::of(links, self.evaluated.test_set.pairs[at].gold.as_ref()?), links))
    }

    /// A row for each sentence, for sorting.
    fn table(&self, file: &mut impl Write) -> std::io::Result<()> {
        let unk = &self.evaluated.unk;
        let head = ["line", "source_words", "words", "nll", "nll_per_word", "source_unk", "reference_unk"];
        let mut head = head.map(str::to_owned).to_vec();
        for one in unk {
            let of = if unk.len() > 1 { format!("_{}", one.name()) } else { String::new() };
            head.extend(["bleu", "chrf2", "output_unk", "translation"].map(|name| format!("{name}{of}")));
        }
        head.extend(self.measured.aligned().map(|_| "aer".to_owned()));
        head.push("source".to_owned());
        let count = self.evaluated.test_set.references.len();
        head.extend((1..=count).map(|n| if count == 1 { "reference".into() } else { format!("reference_{n}") }));
        let mut tsv = Tsv::new(file, head)?;
        for (at, pair, record) in self.all() {
            let (words, nll) = (self.lengths[at].1 + 1, record.nll);
            let unknown = [record.source_unk, record.reference_unk].map(|unk| u8::from(unk).to_string());
            let counts = [at + 1, self.lengths[at].0, words].map(|count| count.to_string());
            let nll = [nll, nll / words as f64].map(|nll| format!("{nll:.6}"));
            let mut row: Vec<TsvCell> = counts.into_iter().chain(nll).chain(unknown).map(TsvCell::Plain).collect();
            for Translation { has_unk, text, counts, .. } in &record.translations {
                let scores = [counts.bleu.sentence(), counts.chrf.score()];
                row.extend(scores.map(|score| TsvCell::Plain(format!("{score:.4}"))));
                row.extend([TsvCell::plain(&u8::from(*has_unk)), text.into()]);
            }
            if self.measured.aligned().is_some() {
                row.push(TsvCell::Plain(figure(self.aligned(at).and_then(|(counts, _)| counts.rates().aer), 6)));
            }
            row.extend(std::iter::once(pair.source.as_str()).chain(pair.references()).map(TsvCell::from));
            tsv.row(row)?;
        }
        tsv.finish()
    }

    /// An object for each sentence, for programs.
    fn jsonl(&self, file: &mut impl Write) -> std::io::Result<()> {
        self.all().try_for_each(|(at, pair, record)| writeln!(file, "{}", self.sentence(at, pair, record)))
    }

    fn sentence(&self, at: usize, pair: &NewSentence, record: &EvaluationRecord) -> Value {
        let translations = self.evaluated.unk.iter().zip(&record.translations);
        let translations = translations.map(|(unk, Translation { text, words, has_unk, counts })| {
            json!({"unk": unk.name(), "text": text, "words": words, "has_unk": has_unk,
                   "bleu": counts.bleu.sentence(), "chrf2": counts.chrf.score(), "ter": counts.ter.score()})
        });
        let mut object = json!({"line": at + 1, "source": pair.source,
            "references": pair.references().collect::<Vec<&str>>(),
            "source_words": self.lengths[at].0, "words": self.lengths[at].1 + 1, "tokens": record.tokens, "nll": record.nll,
            "source_unk": record.source_unk, "reference_unk": record.reference_unk,
            "translations": translations.collect::<Vec<_>>()});
        if let Some((counts, links)) = self.aligned(at) {
            object["aer"] = json!(counts.rates().aer);
            object["links"] = json!(hard::pharaoh(links));
        }
        object
    }
}

/// The first kind of translations, a line each.
fn translations(file: &mut impl Write, measured: &MeasuredSystem) -> std::io::Result<()> {
    for record in &measured.records {
        let text = record.translations.first().map_or("", |translation| translation.text.as_str());
        writeln!(file, "{}", text.replace(char::is_control, " "))?;
    }
    Ok(())
}
