//! Floor 13: `interlinear concordance`: what links of any kind say of the words of a text, as counts, and where they meet a pattern.

use std::collections::{BTreeMap, HashMap};

use clap::Args;
use serde_json::json;

use crate::analysis::concordance::counts::{LinkCounts, WordLinks, linked_words};
use crate::analysis::concordance::{ConcordanceLine, ConcordanceQuery, ConcordanceSentence};
use crate::analysis::contrast::minimal::mcnemar;
use crate::cli::args::{TableFormat, count};
use crate::cli::columns::TextTable;
use crate::cli::figure::gloss::GlossedFiles;
use crate::cli::output::LineOutput;
use crate::error::{Error, Result};
use crate::figure::interlinear::{GlossedSentence, GlossedText};
use crate::text::links::Link;
use crate::text::tsv::{TsvCell, rows};

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Links may come from anywhere, as for `gloss`: several --links files of one --target stand for alpha with a threshold, an alignment head, the
statistical aligner (all of `interlinear align`) and people, and with --model the links of models are those of their own translations.

Without --query there is a row for each kind of links: of all source words, and with --by of each word, or of each lemma or part of speech (a column of
--conllu, or the name of a --tier with one for each word):
  fertility             links for each source word
  unaligned, crossing   the shares of words without a link, and with one that crosses that of another word
  p                     of McNemar's exact test against the first links, over the same words
  targets               the words that it is linked to most often

With --query (see the manual, Corpus, Concordance) it is looked for among the source words, or their --by, and the words that each hit is linked to are counted;
--hits prints the hits themselves.

  interlinear align --model rnnsearch-en-fr --threshold 0.2 --source s.en --target t.fr > alpha.links
  interlinear align --model rnnsearch-en-fr --reading head --source s.en --target t.fr > head.links
  interlinear concordance --source s.en --target t.fr --links alpha.links --target t.fr --links head.links --query '_ -> _ _ -> _ crossing'"
)]
pub struct ConcordanceArgs {
    #[command(flatten)]
    files: GlossedFiles,
    /// A row for each `word`, or for each cell of a line under the words, such as `lemma` or `pos`
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Leave out what is rarer
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = count(u32::MAX))]
    least: usize,
    /// Look for a pattern
    #[arg(long, value_name = "PATTERN")]
    query: Option<String>,
    /// Print every hit with what stands around it
    #[arg(long, requires = "query")]
    hits: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
}

/// Target words that are told of a word.
const TOLD: usize = 5;

/// Reads links, counts, and prints.
///
/// # Errors
/// A sentence about a file; sentences without links; a name that no line has.
pub fn run(low: &ConcordanceArgs) -> anyhow::Result<()> {
    let sentences = low.files.read()?;
    let names: Vec<String> = sentences.first().map_or_else(Vec::new, |one| unique(&one.texts));
    if names.is_empty() {
        return Err(Error::Input("there are no links; give --target and --links, or --model".to_owned()).into());
    }
    let keys = sentences.iter().map(|sentence| keys(sentence, low.by.as_deref())).collect::<Vec<_>>();
    if let Some(by) = low.by.as_deref().filter(|_| keys.iter().flatten().all(String::is_empty)) {
        let known: Vec<&str> = sentences.iter().flat_map(|one| &one.tiers).map(|tier| tier.name.as_str()).collect();
        let known = known
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .fold(String::new(), |all, name| all + ", " + name);
        return Err(
            Error::Input(format!("--by: there is no line `{by}` under the words; there are word{known}")).into()
        );
    }
    let mut output = LineOutput::stdout();
    let table = match &low.query {
        None => counted(low, &sentences, &keys, &names),
        Some(query) => searched(low, query, (&sentences, &keys), &names)?,
    };
    table.print(low.format, &mut output)?;
    output.finish()
}

/// What texts are called, numbered where several are called alike.
fn unique(texts: &[GlossedText]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for text in texts {
        let count = texts.iter().take(names.len()).filter(|other| other.name == text.name).count();
        names.push(if count == 0 { text.name.clone() } else { format!("{} ({})", text.name, count + 1) });
    }
    names
}

/// What each word counts as: itself in small letters, or what stands under it.
fn keys(sentence: &GlossedSentence, by: Option<&str>) -> Vec<String> {
    match by {
        None | Some("word") => sentence.words.iter().map(|word| word.to_lowercase()).collect(),
        Some(name) => {
            let tier = sentence.tiers.iter().find(|tier| tier.name == name);
            tier.map_or_else(|| vec![String::new(); sentence.words.len()], |tier| tier.cells.clone())
        }
    }
}

/// All links, sure or possible.
fn links(text: &GlossedText) -> Vec<Link> {
    text.links.all().into_iter().map(|(link, _)| link).collect()
}

/// Rows of cells under heads, numbers apart from texts.
struct CountTable {
    head: Vec<&'static str>,
    rows: Vec<Vec<CountCell>>,
}

#[derive(Clone, Debug)]
enum CountCell {
    Text(String),
    Count(u64),
    Number(Option<f64>),
}

impl CountTable {
    fn print(&self, format: TableFormat, output: &mut LineOutput) -> anyhow::Result<()> {
        match format {
            TableFormat::Text => {
                let mut table = TextTable::new(self.head.iter().copied());
                let cell = |cell: &CountCell| match cell {
                    CountCell::Text(text) => text.clone(),
                    CountCell::Count(count) => count.to_string(),
                    CountCell::Number(number) => number.map_or_else(|| "-".to_owned(), |number| format!("{number:.4}")),
                };
                self.rows.iter().for_each(|row| table.row(row.iter().map(cell)));
                output.text(&table.text())
            }
            TableFormat::Tsv => {
                let cell = |cell: &CountCell| match cell {
                    CountCell::Text(text) => TsvCell::from(text),
                    CountCell::Count(count) => TsvCell::plain(count),
                    CountCell::Number(number) => {
                        TsvCell::Plain(number.map_or_else(String::new, |number| number.to_string()))
                    }
                };
                let head = self.head.iter().map(|name| TsvCell::plain(*name)).collect();
                output.text(&rows(
                    std::iter::once(head).chain(self.rows.iter().map(|row| row.iter().map(cell).collect())),
                ))
            }
            TableFormat::Json => self.rows.iter().try_for_each(|row| {
                let value = |cell: &CountCell| match cell {
                    CountCell::Text(text) => json!(text),
                    CountCell::Count(count) => json!(count),
                    CountCell::Number(number) => json!(number),
                };
                let object = self.head.iter().zip(row).map(|(name, cell)| ((*name).to_owned(), value(cell)));
                output.json(&object.collect::<serde_json::Map<String, serde_json::Value>>())
            }),
        }
    }
}

/// Counts of one kind of words by one kind of links, and the words that they are linked to.
#[derive(Default)]
struct WordCounts {
    counts: LinkCounts,
    targets: HashMap<String, u64>,
}

fn counted(low: &ConcordanceArgs, sentences: &[GlossedSentence], keys: &[Vec<String>], names: &[String]) -> CountTable {
    // all words have no name
    let mut found: BTreeMap<Option<&str>, Vec<WordCounts>> = BTreeMap::new();
    let none = || names.iter().map(|_| WordCounts::default()).collect::<Vec<_>>();
    for (sentence, keys) in sentences.iter().zip(keys) {
        let read: Vec<Vec<WordLinks>> =
            sentence.texts.iter().map(|text| linked_words(&links(text), sentence.words.len())).collect();
        for (j, key) in keys.iter().enumerate() {
            let own = low.by.as_ref().map(|_| Some(key.as_str())).filter(|_| !key.is_empty());
            for kind in [Some(None), own].into_iter().flatten() {
                let all = found.entry(kind).or_insert_with(none);
                for ((counts, words), text) in all.iter_mut().zip(&read).zip(&sentence.texts) {
                    counts.counts.add(&words[j], &read[0][j]);
                    for word in words[j].targets.iter().filter_map(|i| text.words.get(*i)).filter(|_| kind.is_some()) {
                        *counts.targets.entry(word.to_lowercase()).or_default() += 1;
                    }
                }
            }
        }
    }
    let mut kinds: Vec<(Option<&str>, Vec<WordCounts>)> = found.into_iter().collect();
    kinds.retain(|(kind, counts)| kind.is_none() || counts[0].counts.words >= low.least as u64);
    kinds.sort_by_key(|(kind, counts)| (kind.is_some(), std::cmp::Reverse(counts[0].counts.words)));
    let row = |kind: Option<&str>, n: usize, WordCounts { counts, targets }: &WordCounts| {
        let [p_unaligned, p_crossing] = counts.tests().map(|p| (n > 0).then_some(p));
        vec![
            CountCell::Text(kind.unwrap_or("(all)").to_owned()),
            CountCell::Text(names[n].clone()),
            CountCell::Count(counts.words),
            CountCell::Number(Some(counts.fertility())),
            CountCell::Number(Some(counts.unaligned_share())),
            CountCell::Number(p_unaligned),
            CountCell::Number(Some(counts.crossing_share())),
            CountCell::Number(p_crossing),
            CountCell::Text(most(targets)),
        ]
    };
    let rows =
        kinds.iter().flat_map(|(kind, all)| all.iter().enumerate().map(move |(n, counts)| row(*kind, n, counts)));
    let head =
        vec!["word", "links", "words", "fertility", "unaligned", "p_unaligned", "crossing", "p_crossing", "targets"];
    CountTable { head, rows: rows.collect() }
}

/// The words that are linked to most often.
fn most(targets: &HashMap<String, u64>) -> String {
    let mut all: Vec<(&String, &u64)> = targets.iter().collect();
    all.sort_by(|(one, of_one), (other, of_other)| of_other.cmp(of_one).then(one.cmp(other)));
    all.iter().take(TOLD).map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ")
}

fn searched(
    low: &ConcordanceArgs,
    query: &str,
    (sentences, keys): (&[GlossedSentence], &[Vec<String>]),
    names: &[String],
) -> Result<CountTable> {
    let query = ConcordanceQuery::parse(query).map_err(|why| Error::Input(format!("--query, {why}")))?;
    let mut lines: Vec<Vec<ConcordanceLine>> = names.iter().map(|_| Vec::new()).collect();
    let mut met: Vec<Vec<bool>> = lines.iter().map(|_| Vec::with_capacity(sentences.len())).collect();
    for (at, (sentence, keys)) in sentences.iter().zip(keys).enumerate() {
        let source = if low.by.is_some() { keys } else { &sentence.words };
        for ((lines, met), text) in lines.iter_mut().zip(&mut met).zip(&sentence.texts) {
            let links = links(text);
            let read = ConcordanceSentence { source, output: &text.words, links: &links };
            let found = query.find(&read);
            met.push(!found.hits.is_empty());
            lines.extend(found.hits.iter().map(|hit| ConcordanceLine::of(at as u32, hit, &read)));
        }
    }
    if low.hits {
        return Ok(hits(&lines, names));
    }
    let mut rows = Vec::new();
    for (n, lines) in lines.iter().enumerate() {
        let apart = |one: usize, other: usize| {
            met[one].iter().zip(&met[other]).filter(|(one, other)| **one && !**other).count() as u64
        };
        let p = (n > 0).then(|| mcnemar(apart(0, n), apart(n, 0)));
        let sentences = met[n].iter().filter(|met| **met).count() as u64;
        let row = |hit: &str, linked: &str, count: u64, share: Option<f64>, p: Option<f64>| {
            let texts = [names[n].as_str(), hit, linked].map(|text| CountCell::Text(text.to_owned()));
            texts.into_iter().chain([CountCell::Count(count), CountCell::Number(share), CountCell::Number(p)]).collect()
        };
        rows.push(row("(sentences)", "", sentences, Some(sentences as f64 / met[n].len().max(1) as f64), p));
        let mut counts: HashMap<(String, String), u64> = HashMap::new();
        for line in lines {
            let hit = line.parts()[1].join(" ").to_lowercase();
            *counts.entry((hit, line.linked_words().join(" ").to_lowercase())).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by(|(one, of_one), (other, of_other)| of_other.cmp(of_one).then(one.cmp(other)));
        let share = |count: u64| Some(count as f64 / lines.len() as f64);
        rows.extend(counts.iter().map(|((hit, linked), count)| row(hit, linked, *count, share(*count), None)));
    }
    Ok(CountTable { head: vec!["links", "hit", "linked", "count", "share", "p"], rows })
}

/// Every hit.
fn hits(lines: &[Vec<ConcordanceLine>], names: &[String]) -> CountTable {
    let row = |n: usize, line: &ConcordanceLine| {
        let [left, hit, right] = line.parts().map(|words| words.join(" "));
        let texts = [names[n].clone(), left, hit, right, line.linked_words().join(" ")].map(CountCell::Text);
        std::iter::once(CountCell::Count(u64::from(line.at) + 1)).chain(texts).collect()
    };
    let rows = lines.iter().enumerate().flat_map(|(n, lines)| lines.iter().map(move |line| row(n, line))).collect();
    CountTable { head: vec!["sentence", "links", "left", "hit", "right", "linked"], rows }
}
