//! `interlinear nbest`: what n-best lists hold: their first candidates, the best ones, where these stand, and the first by
//! another score.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::args::{one_of, tokenizers};
use crate::{analyse::ORACLES, output, output::LineOutput};
use corpus::measures::oracle::{self, greatest, ranked_by};
use corpus::measures::scores::{ComparedScores, SystemScores, signatures};
use corpus::store::read::{SAMPLE, compared};
use engine::analysis::bleu::{BleuSettings, Tokenization};
use engine::error::{Error, Result};
use engine::text::reader::LineReader;
use engine::text::tsv::{TsvCell, text};
use import;
use import::{ImportedOutput, OracleBy, Record};

const WINDOW: usize = 1000;
const PLACES: [usize; 9] = [1, 2, 3, 4, 5, 10, 20, 50, 100];

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "The file has lines `id ||| text ||| features ||| score` with ids from 0, as Moses, Marian and `translate --nbest` write them,
with alignments or without, or is that of `translate --nbest N --format jsonl`. The oracle is the candidate that comes nearest to the references, the first of equals.

  interlinear translate --model rnnsearch-en-fr --beam 12 --nbest 12 test.en > test.nbest
  interlinear nbest --target test.fr test.nbest
  interlinear nbest --target test.fr --rerank LM0 --format reranked test.nbest
  interlinear nbest --target test.fr --scores comet.txt test.nbest

Formats:
  table     BLEU, chrF2 and TER of the first candidates, of the oracle, and of the first by --rerank or --scores; then in how many
            lists the oracle stands at which place
  json      the same as one object
  tsv       a row for each list: candidates, place of the oracle, the scores of the first candidate and of the oracle by --by
  first, oracle, reranked   the candidates themselves, a line for each list"
)]
pub struct NbestArgs {
    /// The n-best lists
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// References, line by line; once for each
    #[arg(long, value_name = "FILE", required = true)]
    target: Vec<PathBuf>,
    /// What the oracle is the best by, for each sentence
    #[arg(long, value_name = "BY", default_value = "chrf", value_parser = one_of(ORACLES.iter().copied()))]
    by: OracleBy,
    /// Put the candidate first that has the greatest of this: the name of a feature, `score`, `log_p`, or `log_p_per_token` (tokens of the model, `</s>` counted)
    #[arg(long, value_name = "NAME", conflicts_with = "scores")]
    rerank: Option<String>,
    /// Put the candidate first that has the greatest number in this file, a line for each candidate
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    /// How BLEU cuts text into words; if it is not given, the script of the references decides, as for `evaluate`
    #[arg(long, value_name = "NAME", value_parser = tokenizers())]
    tokenize: Option<Tokenization>,
    /// What to print
    #[arg(long, value_enum, default_value_t)]
    format: NbestFormat,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NbestFormat {
    /// Scores, and the places of the oracle
    #[default]
    Table,
    /// The same as one object
    Json,
    /// A row for each list
    Tsv,
    /// The first candidates
    First,
    /// The best candidates
    Oracle,
    /// The first candidates by the other score
    Reranked,
}

struct ChosenNbest {
    sentence: usize,
    texts: Vec<String>,
    references: Vec<String>,
    oracle: usize,
    reranked: usize,
}

type Choosing = fn(&ChosenNbest) -> usize;

/// Reads the lists and prints what they hold.
pub fn run(args: &NbestArgs) -> anyhow::Result<()> {
    let is_reranked = args.rerank.is_some() || args.scores.is_some();
    if args.format == NbestFormat::Reranked && !is_reranked {
        return Err(Error::Input("--format reranked needs --rerank or --scores".to_owned()).into());
    }
    let targets: Vec<Vec<String>> = args.target.iter().map(|path| lines(path)).collect::<Result<_>>()?;
    let sample = targets.iter().flatten().take(SAMPLE).map(String::as_str).collect::<Vec<_>>().join(" ");
    let tokenization = args.tokenize.unwrap_or_else(|| Tokenization::usual_of("", &sample));
    let bleu = BleuSettings { tokenization, ..BleuSettings::default() };
    let lists = read(args, &targets, bleu)?;
    let mut output = LineOutput::stdout();
    match args.format {
        NbestFormat::Table | NbestFormat::Json => summary(args, (&lists, bleu), is_reranked, &mut output)?,
        NbestFormat::Tsv => output.text(&each(args, &lists, bleu))?,
        NbestFormat::First => lists.iter().try_for_each(|list| output.line(&list.texts[0]))?,
        NbestFormat::Oracle => lists.iter().try_for_each(|list| output.line(&list.texts[list.oracle]))?,
        NbestFormat::Reranked => lists.iter().try_for_each(|list| output.line(&list.texts[list.reranked]))?,
    }
    output.finish()
}

fn read(args: &NbestArgs, targets: &[Vec<String>], bleu: BleuSettings) -> Result<Vec<ChosenNbest>> {
    let mut scores = args.scores.as_deref().map(lines).transpose()?.map(|lines| lines.into_iter().enumerate());
    let mut file = import::open(&args.file, &import::ImportOptions::default())?;
    let mut lists = Vec::new();
    loop {
        let window = file.window(WINDOW)?;
        if window.is_empty() {
            break;
        }
        let (records, warnings) = window.read();
        warnings.kept.iter().for_each(|warning| output::notify(&warning.sentence));
        for record in records.iter().filter(|record| !record.outputs.is_empty()) {
            let references = references(args, targets, record)?;
            let known: Vec<&str> = references.iter().map(String::as_str).collect();
            let texts = || record.outputs.iter().map(|output| output.text.as_str());
            let reranked = match (&args.rerank, &mut scores) {
                (Some(name), _) => {
                    let why = |why| Error::line(&args.file, record.line, why);
                    Some(ranked_by(&record.outputs.iter().collect::<Vec<_>>(), name).map_err(why)?)
                }
                (None, Some(scores)) => Some(by_scores(args, record, scores)?),
                (None, None) => None,
            };
            lists.push(ChosenNbest {
                sentence: record.sentence,
                oracle: oracle::oracle(args.by, texts(), &known, &bleu).unwrap_or_default(),
                texts: texts().map(str::to_owned).collect(),
                references,
                reranked: reranked.and_then(greatest).unwrap_or_default(),
            });
        }
    }
    if lists.is_empty() {
        return Err(Error::file(&args.file, "has no candidates; write lines `id ||| text ||| score`"));
    }
    if scores.is_some_and(|mut scores| scores.next().is_some()) {
        let path = args.scores.as_deref().unwrap_or(&args.file);
        return Err(Error::file(path, "has more lines than there are candidates"));
    }
    Ok(lists)
}

fn lines(path: &Path) -> Result<Vec<String>> {
    LineReader::open(path)?.collect()
}

fn references(args: &NbestArgs, targets: &[Vec<String>], record: &Record) -> Result<Vec<String>> {
    let of = |(path, lines): (&PathBuf, &Vec<String>)| {
        let line = record.sentence.checked_sub(1).and_then(|at| lines.get(at));
        let (sentence, count) = (record.sentence, lines.len());
        line.cloned().ok_or_else(|| {
            Error::file(path, format!("has {count} lines, but the n-best lists have sentence {sentence}"))
        })
    };
    let all = args.target.iter().zip(targets).map(of).collect::<Result<Vec<_>>>()?;
    let known = compared(all.first().map(String::as_str), all.iter().skip(1).map(String::as_str));
    Ok(known.into_iter().map(str::to_owned).collect())
}

fn by_scores(
    args: &NbestArgs, record: &Record, scores: &mut impl Iterator<Item = (usize, String)>,
) -> Result<Vec<f64>> {
    let path = args.scores.as_deref().unwrap_or(&args.file);
    let next = |_: &ImportedOutput| {
        let Some((n, line)) = scores.next() else {
            return Err(Error::file(path, "has fewer lines than there are candidates; it needs one for each"));
        };
        line.trim()
            .parse()
            .map_err(|_| Error::line(path, n + 1, format!("is `{:.40}`, which is no number", line.trim())))
    };
    record.outputs.iter().map(next).collect()
}

fn scored((lists, bleu): (&[ChosenNbest], BleuSettings), choice: Choosing) -> SystemScores {
    let mut scores = SystemScores::default();
    for list in lists {
        let references: Vec<&str> = list.references.iter().map(String::as_str).collect();
        let counts = ComparedScores::of(&list.texts[choice(list)], &references, &bleu);
        scores += SystemScores::of(Some(counts));
    }
    scores
}

fn summary(
    args: &NbestArgs, (lists, bleu): (&[ChosenNbest], BleuSettings), is_reranked: bool, output: &mut LineOutput,
) -> anyhow::Result<()> {
    let mut choices: Vec<(&str, Choosing)> = vec![("first", |_| 0), ("oracle", |list| list.oracle)];
    if is_reranked {
        choices.push(("reranked", |list| list.reranked));
    }
    let scores: Vec<(&str, SystemScores)> =
        choices.iter().map(|(name, choice)| (*name, scored((lists, bleu), *choice))).collect();
    let place = |list: &ChosenNbest| PLACES.iter().position(|last| list.oracle < *last).unwrap_or(PLACES.len());
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    lists.iter().for_each(|list| *places.entry(place(list)).or_default() += 1);
    let mean = lists.iter().map(|list| (list.oracle + 1) as f64).sum::<f64>() / lists.len() as f64;
    let candidates = lists.iter().map(|list| list.texts.len()).sum::<usize>();
    let places: Vec<(String, usize)> = places.into_iter().map(|(n, count)| (place_name(n), count)).collect();
    let [signature, ..] = signatures(&bleu, lists.iter().map(|list| list.references.len()));
    output::notify(&format!("BLEU {signature}"));
    if args.format == NbestFormat::Json {
        let score = |(name, scores): &(&str, SystemScores)| json!({ "name": name, "bleu": scores.bleu(), "chrf": scores.chrf(), "ter": scores.ter() });
        return output.json(&json!({
            "lists": lists.len(),
            "candidates": candidates,
            "scores": scores.iter().map(score).collect::<Vec<_>>(),
            "mean_place": mean,
            "bleu_signature": signature,
            "places": places.iter().map(|(name, count)| json!({ "place": name, "lists": count })).collect::<Vec<_>>(),
        }));
    }
    let number = |number: Option<f64>| TsvCell::Plain(number.map_or_else(String::new, |number| format!("{number:.2}")));
    let rows = scores.iter().map(|(name, scores)| {
        let numbers = [scores.bleu(), scores.chrf(), scores.ter()].map(number);
        [vec![TsvCell::plain(*name), TsvCell::plain(&lists.len())], numbers.to_vec()].concat()
    });
    output.text(&text(&["candidates", "lists", "BLEU", "chrF2", "TER"], rows))?;
    output.line("")?;
    let share = |count: usize| count as f64 / lists.len() as f64;
    let places = places.into_iter().map(|(name, count)| [name, count.to_string(), format!("{:.4}", share(count))]);
    let mean = ["mean".to_owned(), format!("{mean:.2}"), format!("of {:.2}", share(candidates))];
    let rows = places.chain([mean]).map(|row| row.map(TsvCell::Plain).to_vec());
    output.text(&text(&["place of the oracle", "lists", "share"], rows))
}

fn place_name(n: usize) -> String {
    let before = n.checked_sub(1).map_or(0, |n| PLACES[n]);
    match PLACES.get(n) {
        Some(last) if *last == before + 1 => last.to_string(),
        Some(last) => format!("{}-{last}", before + 1),
        None => format!("{}-", before + 1),
    }
}

fn each(args: &NbestArgs, lists: &[ChosenNbest], bleu: BleuSettings) -> String {
    let head = ["sentence", "candidates", "place", "first", "oracle", "reranked", "text"];
    let row = |list: &ChosenNbest| {
        let references: Vec<&str> = list.references.iter().map(String::as_str).collect();
        let score =
            |at: usize| TsvCell::Plain(format!("{:.2}", oracle::score(args.by, &list.texts[at], &references, &bleu)));
        let counts = [list.sentence, list.texts.len(), list.oracle + 1].map(|count| TsvCell::plain(&count));
        let scores = [0, list.oracle, list.reranked].map(score);
        counts.into_iter().chain(scores).chain([TsvCell::from(&list.texts[list.oracle])]).collect()
    };
    text(&head, lists.iter().map(row))
}
