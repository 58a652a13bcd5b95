//! `interlinear concordance`: what links of any kind say of the words of a text, as counts, and where they meet a pattern.

use std::{collections::BTreeSet, path::Path};

use clap::Args;

use crate::args::{TableFormat, count};
use crate::{columns::print, figure::gloss::GlossedFiles, output::LineOutput};
use corpus::query::linked;
use engine::analysis::concordance::ConcordanceLine;
use engine::analysis::concordance::tally::{LinkTally, TalliedSentence, TalliedText, hits};
use engine::error::{Error, Result};
use engine::text::{cells::CellTable, words::folded};
use figure::interlinear::{GlossTier, GlossedSentence, GlossedText};

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Links may come from anywhere, as for `gloss`: several --links files of one --target stand for alpha with a threshold, an alignment head, the
statistical aligner (all of `interlinear align`) and people, and with --model the links of models are those of their own translations.

Without --query there is a row for each kind of links: of all source words, and with --by of each word, or of each lemma or part of speech (a column of
--conllu, or the name of a --tier with one for each word):
  fertility             links for each source word
  unaligned, crossing   the shares of words without a link, and with one that crosses that of another word
  diff                  where each share less that of the first links lies with a confidence of 95 % (Newcombe 1998, for pairs)
  p                     of McNemar's exact test against the first links, over the same words; below ten the table says so, and files keep p
  targets               the words that it is linked to most often

With --query (see the manual, Corpus, Concordance) it is looked for among the source words, or their --by, and the words that each hit is linked to are counted;
--hits prints the hits themselves. `not -/> pas` finds what is not linked to this word. For weights in place of links see analyse --query --weights.

Where links count words between spaces, punctuation is not counted, and the tokens of one such word share its links. Write links of tokens to count exactly:

  interlinear align --model rnnsearch-en-fr --threshold 0.2 --link-words tokens --source s.en --target t.fr > alpha.links
  interlinear align --model rnnsearch-en-fr --reading head --link-words tokens --source s.en --target t.fr > head.links
  interlinear concordance --link-words tokens --source s.en --target t.fr --links alpha.links --target t.fr --links head.links --query '_ -> _ _ -> _ crossing'"
)]
pub struct ConcordanceArgs {
    #[command(flatten)]
    files: GlossedFiles,
    /// A row for each `word`, or for each cell of a line under the words, such as `lemma` or `pos`
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// What the words of translations count as, and are looked for as: `word`, or a line of --target-conllu, such as `pos`
    #[arg(long, value_name = "NAME", requires = "target_conllu")]
    target_by: Option<String>,
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

/// Reads links, counts, and prints.
pub fn run(args: &ConcordanceArgs) -> anyhow::Result<()> {
    let sentences = args.files.read()?;
    let names: Vec<String> = sentences.first().map_or_else(Vec::new, |one| unique(&one.texts));
    if names.is_empty() {
        return Err(Error::Input("there are no links; give --target and --links, or --model".to_owned()).into());
    }
    let folded = |words: &[String]| words.iter().map(|word| folded(word)).collect();
    let key = |one: &GlossedSentence| keys((&one.words, &one.tiers), args.by.as_deref(), folded);
    let keys: Vec<Vec<String>> = sentences.iter().map(key).collect();
    if let Some(by) = args.by.as_deref().filter(|_| keys.iter().flatten().all(String::is_empty)) {
        return no_line("--by", by, "", sentences.iter().flat_map(|one| &one.tiers));
    }
    let tiers = || sentences.iter().flat_map(|one| &one.texts).flat_map(|text| &text.tiers);
    if let Some(by) = args.target_by.as_deref().filter(|by| *by != "word" && tiers().all(|tier| tier.name != *by)) {
        return no_line("--target-by", by, " of translations", tiers());
    }
    let mut output = LineOutput::stdout();
    print(args.format, &table(args, &sentences, &keys, &names)?, &mut output)?;
    output.finish()
}

fn no_line<'a>(flag: &str, by: &str, of: &str, tiers: impl Iterator<Item = &'a GlossTier>) -> anyhow::Result<()> {
    let known: BTreeSet<&str> = tiers.map(|tier| tier.name.as_str()).collect();
    let known = known.into_iter().fold(String::new(), |all, name| all + ", " + name);
    Err(Error::Input(format!("{flag}: there is no line `{by}` under the words{of}; there are word{known}")).into())
}

fn unique(texts: &[GlossedText]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for text in texts {
        let count = texts.iter().take(names.len()).filter(|other| other.name == text.name).count();
        names.push(if count == 0 { text.name.clone() } else { format!("{} ({})", text.name, count + 1) });
    }
    names
}

fn keys(
    (words, tiers): (&[String], &[GlossTier]), by: Option<&str>, of_words: impl Fn(&[String]) -> Vec<String>,
) -> Vec<String> {
    let Some(name) = by.filter(|by| *by != "word") else { return of_words(words) };
    let tier = tiers.iter().find(|tier| tier.name == name);
    tier.map_or_else(|| vec![String::new(); words.len()], |tier| tier.cells.clone())
}

fn tallied(text: &GlossedText, by: Option<&str>) -> TalliedText {
    let links = text.links.all().into_iter().map(|(link, _)| link).collect();
    (keys((&text.words, &text.tiers), by, <[String]>::to_vec), links, text.chunks.clone())
}

fn table(
    args: &ConcordanceArgs, sentences: &[GlossedSentence], keys: &[Vec<String>], names: &[String],
) -> Result<CellTable> {
    let parsed =
        |text: &String| linked::parsed(text, Path::new("")).map_err(|why| Error::Input(format!("--query, {why}")));
    let query = args.query.as_ref().map(parsed).transpose()?;
    let mut tally = LinkTally::new(names.to_vec(), query, args.by.is_some());
    let mut lines: Vec<Vec<ConcordanceLine>> = vec![Vec::new(); names.len()];
    for (at, (sentence, keys)) in sentences.iter().zip(keys).enumerate() {
        let source = if args.by.is_some() { keys } else { &sentence.words };
        let texts: Vec<_> = sentence.texts.iter().map(|text| tallied(text, args.target_by.as_deref())).collect();
        let found = tally.add(at as u32, TalliedSentence { keys, source, texts: &texts });
        if args.hits {
            lines.iter_mut().zip(found).for_each(|(lines, found)| lines.extend(found));
        }
    }
    Ok(if args.hits { hits(&lines, names) } else { tally.table(args.least) })
}
