//! What `interlinear evaluate --output` writes into a folder: the figures, and every sentence of every model.

use std::{io::Write, path::Path};

use serde_json::{Value, json};

use crate::evaluate::evaluated::{Evaluated, MeasuredModel, unk_name};
use crate::{columns::figure, evaluate::report};
use corpus::measures::scores::{ComparedScores, SystemScores};
use corpus::store::{output::SystemOutput, write::NewSentence};
use engine::analysis::{aer::AerCounts, hard};
use engine::error::Result;
use engine::text::tsv::{Tsv, TsvCell};
use engine::text::{links::Link, sentence::UNK, write::write_inside};

/// Writes all files; those of an earlier run with the same names are replaced.
pub fn write(folder: &Path, evaluated: &Evaluated) -> Result<()> {
    let text = |name: &str, text: &str| write_inside(&folder.join(name), |file| file.write_all(text.as_bytes()));
    text("figures.tsv", &report::scores(evaluated))?;
    if let Some(bootstrap) = report::bootstrap(evaluated) {
        text("bootstrap.tsv", &bootstrap)?;
    }
    if let Some(alignments) = report::alignments(evaluated) {
        text("alignment.tsv", &alignments)?;
    }
    text("report.json", &format!("{:#}\n", report::json(evaluated)))?;
    let lengths = evaluated.test_set.lengths();
    for ((at, measured), name) in evaluated.models.iter().enumerate().zip(names(evaluated)) {
        let all = Sentences { evaluated, measured, forced: evaluated.forced(at), lengths: &lengths };
        write_inside(&folder.join(format!("{name}.sentences.tsv")), |file| all.table(file))?;
        write_inside(&folder.join(format!("{name}.sentences.jsonl")), |file| all.jsonl(file))?;
        if !evaluated.unk.is_empty() {
            write_inside(&folder.join(format!("{name}.txt")), |file| all.translations(file))?;
        }
    }
    Ok(())
}

/// The longest file name of a model in bytes: file systems allow 255, and endings and numbers follow.
const MOST_NAME: usize = 150;

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

struct Sentences<'a> {
    evaluated: &'a Evaluated,
    measured: &'a MeasuredModel,
    forced: usize,
    lengths: &'a [(usize, usize)],
}

struct Translation {
    text: String,
    words: usize,
    /// Holds `[UNK]`, or did before it was replaced.
    has_unk: bool,
    counts: ComparedScores,
}

impl Sentences<'_> {
    fn pairs(&self) -> impl Iterator<Item = (usize, &NewSentence, &SystemScores)> {
        let all = self.evaluated.test_set.pairs.iter().zip(&self.evaluated.counts[self.forced]);
        all.enumerate().map(|(at, (pair, scores))| (at, pair, scores))
    }

    fn translated(&self, at: usize) -> std::io::Result<Vec<Translation>> {
        let Evaluated { corpus, workspace, counts, unk, .. } = self.evaluated;
        let systems = self.forced + 1..=self.forced + unk.len();
        systems
            .map(|place| {
                let output = workspace.output(corpus.systems[place].system.id, at).map_err(std::io::Error::other)?;
                let SystemOutput { text, target, token_count: words, .. } = output.unwrap_or_default();
                let (has_unk, counts) = (target.iter().any(|word| word == UNK), counts[place][at].counts);
                Ok(Translation { text, words, has_unk, counts })
            })
            .collect()
    }

    /// The alignment errors of a sentence and its links; `None` where they were not measured.
    fn aligned(&self, at: usize) -> Option<(AerCounts, &[Link])> {
        let links = self.measured.alignment.as_ref()?.links.get(at)?;
        Some((AerCounts::of(links, self.evaluated.test_set.pairs[at].gold.as_ref()?), links))
    }

    fn table(&self, file: &mut impl Write) -> std::io::Result<()> {
        let unk = self.evaluated.unk;
        let head = ["line", "source_words", "words", "nll", "nll_per_word", "source_unk", "reference_unk"];
        let mut head = head.map(str::to_owned).to_vec();
        for one in unk {
            let of = if unk.len() > 1 { format!("_{}", unk_name(*one)) } else { String::new() };
            head.extend(["bleu", "chrf2", "output_unk", "translation"].map(|name| format!("{name}{of}")));
        }
        head.extend(self.measured.alignment.as_ref().map(|_| "aer".to_owned()));
        head.push("source".to_owned());
        let count = self.evaluated.test_set.references.len();
        head.extend((1..=count).map(|n| if count == 1 { "reference".into() } else { format!("reference_{n}") }));
        let mut tsv = Tsv::new(file, head)?;
        for (at, pair, &SystemScores { words, nll, .. }) in self.pairs() {
            let unknown = self.measured.unknown[at].map(|unk| u8::from(unk).to_string());
            let counts = [at + 1, self.lengths[at].0, words].map(|count| count.to_string());
            let nll = [nll, nll / words as f64].map(|nll| format!("{nll:.6}"));
            let mut row: Vec<TsvCell> = counts.into_iter().chain(nll).chain(unknown).map(TsvCell::Plain).collect();
            for Translation { has_unk, text, counts, .. } in self.translated(at)? {
                let scores = [counts.bleu.sentence(), counts.chrf.score()];
                row.extend(scores.map(|score| TsvCell::Plain(format!("{score:.4}"))));
                row.extend([TsvCell::plain(&u8::from(has_unk)), TsvCell::from(&text)]);
            }
            if self.measured.alignment.is_some() {
                row.push(TsvCell::Plain(figure(self.aligned(at).and_then(|(counts, _)| counts.rates().aer), 6)));
            }
            row.extend(std::iter::once(pair.source.as_str()).chain(pair.references()).map(TsvCell::from));
            tsv.row(row)?;
        }
        tsv.finish()
    }

    fn jsonl(&self, file: &mut impl Write) -> std::io::Result<()> {
        self.pairs().try_for_each(|(at, pair, scores)| writeln!(file, "{}", self.sentence(at, pair, scores)?))
    }

    fn sentence(&self, at: usize, pair: &NewSentence, scores: &SystemScores) -> std::io::Result<Value> {
        let translations = self.evaluated.unk.iter().zip(self.translated(at)?);
        let translations = translations.map(|(unk, Translation { text, words, has_unk, counts })| {
            json!({"unk": unk_name(*unk), "text": text, "words": words, "has_unk": has_unk,
                   "bleu": counts.bleu.sentence(), "chrf2": counts.chrf.score(), "ter": counts.ter.score()})
        });
        let [source_unk, reference_unk] = self.measured.unknown[at];
        let mut object = json!({"line": at + 1, "source": pair.source,
            "references": pair.references().collect::<Vec<&str>>(),
            "source_words": self.lengths[at].0, "words": scores.words, "tokens": scores.tokens, "nll": scores.nll,
            "source_unk": source_unk, "reference_unk": reference_unk,
            "translations": translations.collect::<Vec<_>>()});
        if let Some((counts, links)) = self.aligned(at) {
            object["aer"] = json!(counts.rates().aer);
            object["links"] = json!(hard::pharaoh(links));
        }
        Ok(object)
    }

    fn translations(&self, file: &mut impl Write) -> std::io::Result<()> {
        let column = &self.evaluated.corpus.systems[self.forced + 1];
        self.pairs().try_for_each(|(at, ..)| {
            let text = column.texts.get(at).unwrap_or_default();
            writeln!(file, "{}", text.replace(char::is_control, " "))
        })
    }
}
