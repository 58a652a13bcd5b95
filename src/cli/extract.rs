//! Floor 13: `interlinear phrases`: a phrase table from parallel text, by given word alignments or a model's own.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::analysis::extract::PhraseCounts;
use crate::cli::align::{NO_MODEL, default_way, way};
use crate::cli::args::links::GoldLayoutArgs;
use crate::cli::args::{BatchArgs, ModelArgs, PairArgs, ReadingArgs, RunArgs, count};
use crate::cli::output;
use crate::cli::pairs::PairForcer;
use crate::cli::statistical::{StatisticalArgs, Text};
use crate::cli::windows;
use crate::corpus::store::rules::SideRules;
use crate::error::{Error, Result};
use crate::evaluation::alignment::AlignerDirection;
use crate::text::cut::WordRule;
use crate::text::links::read;
use crate::text::links::read::LinkLayout;
use crate::text::write::write_packed;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Phrase pairs are those that no link leads out of (Och and Ney). The table has a line for each, sorted:
SOURCE ||| TARGET ||| p(s|t) lex(s|t) p(t|s) lex(t|s) ||| ALIGNMENT ||| COUNTS, as Moses writes it. It is counted in
memory, some hundred bytes for each different pair.

Words are tokens as the rules of the languages cut them; with --pretokenized they are split by spaces. The links of --links count
what stands between spaces, as alignment files do, and go to the words of that; where the file starts to count and which
side it names first is found out and told. Without --links, each target word is linked with its source word of greatest alpha,
of the model that --model names, whose tokenizer cuts the words; or with --statistical by an aligner that learns from the text
itself, in both directions, which --symmetrize puts together.",
    mut_arg("model", |model| model
        .required(false)
        .required_unless_present_any(["links", "statistical", "learned"])
        .conflicts_with("links")
        .conflicts_with_all(NO_MODEL))
)]
pub struct ExtractArgs {
    /// Alignments of the sentences, Pharaoh (`0-0 1-2`) or HLT-NAACL 2003, instead of a model
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "statistical", "learned"])]
    links: Option<PathBuf>,
    #[command(flatten)]
    layout: GoldLayoutArgs,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    statistical: StatisticalArgs,
    /// How the aligner's directions become one [default: grow-diag-final-and]
    #[arg(long, value_name = "NAME", value_parser = way(), conflicts_with_all = ["model", "links"], help_heading = "Statistical aligner")]
    symmetrize: Option<AlignerDirection>,
    /// Where the table goes, packed as its name says (.gz, .zst)
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Most words of a phrase on either side
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = count(100))]
    max_length: usize,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Counts and writes.
pub fn run(low: &ExtractArgs) -> anyhow::Result<()> {
    let (mut counts, mut refused, most) = (PhraseCounts::default(), 0, low.max_length);
    if let Some(links) = &low.links {
        let pairs = &low.pairs;
        let text = Text { files: (&pairs.source, &pairs.target), pairs: &[], pretokenized: pairs.pretokenized };
        let (source, target) = low.statistical.languages(text, None);
        let [source, target] = [source, target].map(|language| WordRule::of(&language, pairs.pretokenized));
        let rules = SideRules { source, target };
        by_links((links, &low.layout.high()), (pairs, rules), most, &mut counts)?;
    } else if low.statistical.asked() {
        let way = low.symmetrize.unwrap_or_else(default_way);
        low.statistical.align(&low.pairs, low.run.cores(), &mut |x, y, links| {
            counts.add(x, y, &way.of(links), most);
        })?;
    } else {
        let forcer = PairForcer::open(&low.pairs, &low.models, (low.reading, true), (low.batch, &low.run))?;
        forcer.require_alignment("a phrase table")?;
        refused = forcer.run_aligned(&mut |worded| counts.add(&worded.source, &worded.target, &worded.links, most))?;
    }
    if counts.is_empty() {
        return Err(Error::Input("the text has no phrase pair, because no words are linked".into()).into());
    }
    let path = &low.output;
    write_packed(path, |file| counts.write(file).map_err(|error| Error::io(path, &error)))?;
    output::tell(&format!("{} phrase pairs in {}", counts.len(), path.display()));
    windows::refused(refused)
}

fn by_links(
    (path, layout): (&Path, &LinkLayout),
    (pairs, rules): (&PairArgs, SideRules),
    most: usize,
    counts: &mut PhraseCounts,
) -> Result<()> {
    let (source, target): (Vec<String>, Vec<String>) = pairs.read()?.into_iter().unzip();
    let gold = read::read(path, &read::lengths(&source, &target), layout)?;
    output::tell(&gold.note);
    for ((source, target), links) in source.iter().zip(&target).zip(&gold.pairs) {
        // Possible links count as well: a phrase that one of them leads out of is no whole.
        let links: Vec<_> = links.all().into_iter().map(|(link, _)| link).collect();
        let links = rules.retold_links(&links, SideRules::SPACES, (source, target));
        counts.add(&rules.source.words(source), &rules.target.words(target), &links, most);
    }
    Ok(())
}
