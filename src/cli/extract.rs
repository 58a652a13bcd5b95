//! Floor 13: `interlinear phrases`: a phrase table from parallel text, by given word alignments or a model's own.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args, FromArgMatches as _};

use crate::analysis::extract::PhraseCounts;
use crate::cli::align::{NO_MODEL, default_way, way};
use crate::cli::args::{BatchArgs, ModelArgs, PairArgs, RunArgs, physical_cores};
use crate::cli::pairs::PairForcer;
use crate::cli::statistical::{StatisticalArgs, Text};
use crate::cli::{Context, output, words};
use crate::error::{Error, Result};
use crate::evaluation::alignment::AlignerDirection;
use crate::text::links::read;
use crate::text::links::read::LinkLayout;
use crate::text::words::words;
use crate::text::write::write_packed;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Phrase pairs are those that no link leads out of (Och and Ney). The table has a line for each, sorted:
SOURCE ||| TARGET ||| p(s|t) lex(s|t) p(t|s) lex(t|s) ||| ALIGNMENT ||| COUNTS, as Moses writes it. It is counted in
memory, some hundred bytes for each different pair.

With --links the words are split by spaces, as alignment files count them; where the file starts to count and which
side it names first is found out and told. Without, each target word is linked with its source word of greatest alpha,
of the model that --model names, whose tokenizer cuts the words; or with --statistical by an aligner that learns from the text
itself, in both directions, which --symmetrize puts together."
)]
pub struct ExtractArgs {
    /// Alignments of the sentences, Pharaoh (`0-0 1-2`) or HLT-NAACL 2003, instead of a model
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "statistical", "learned"])]
    links: Option<PathBuf>,
    #[command(flatten)]
    models: ModelArgs,
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    statistical: StatisticalArgs,
    /// How the aligner's directions become one: intersection, grow-diag, grow-diag-final-and (the default),
    /// grow-diag-final, union, forward or reverse
    #[arg(long, value_name = "NAME", value_parser = way, conflicts_with_all = ["model", "links"], help_heading = "Statistical aligner")]
    symmetrize: Option<AlignerDirection>,
    /// Where the table goes, packed as its name says (.gz, .zst)
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Most words of a phrase on either side
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u8).range(1..=100))]
    max_length: u8,
    #[command(flatten)]
    batch: BatchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Its arguments.
pub fn arguments(command: clap::Command) -> clap::Command {
    ExtractArgs::augment_args(command).mut_arg("model", |model| {
        let others = ["links", "statistical", "learned"];
        model.required(false).required_unless_present_any(others).conflicts_with("links").conflicts_with_all(NO_MODEL)
    })
}

/// Counts and writes.
///
/// # Errors
/// When the model, the input or the output fails; when pairs were refused, at the end.
pub fn run(matches: &ArgMatches, _: Context) -> anyhow::Result<()> {
    let most = |low: u8| usize::from(low);
    let (counts, refused, path) = if let Some(links) = matches.get_one::<PathBuf>("links") {
        let pairs = PairArgs::from_arg_matches(matches)?;
        let low: u8 = *matches.get_one("max_length").unwrap_or(&7);
        (by_links(links, &pairs, most(low))?, 0, matches.get_one::<PathBuf>("output").cloned())
    } else {
        let low = ExtractArgs::from_arg_matches(matches)?;
        let (counts, refused) = if low.statistical.asked() { (by_aligner(&low)?, 0) } else { by_model(&low)? };
        (counts, refused, Some(low.output))
    };
    if counts.is_empty() {
        return Err(Error::Input("the text has no phrase pair, because no words are linked".into()).into());
    }
    let path = path.unwrap_or_default();
    write_packed(&path, |file| counts.write(file).map_err(|error| Error::io(&path, &error)))?;
    output::tell(&format!("{} phrase pairs in {}", counts.len(), path.display()));
    words::refused(refused)
}

fn by_model(low: &ExtractArgs) -> anyhow::Result<(PhraseCounts, usize)> {
    let forcer = PairForcer::open(&low.pairs, &low.models, low.batch, &low.run)?;
    words::require_alignment(&forcer.system, "a phrase table")?;
    let mut counts = PhraseCounts::default();
    let most = usize::from(low.max_length);
    let refused = forcer.run_aligned(&mut |worded| counts.add(&worded.source, &worded.target, &worded.links, most))?;
    Ok((counts, refused))
}

/// By a statistical aligner, whose words are the ones it cuts.
fn by_aligner(low: &ExtractArgs) -> Result<PhraseCounts> {
    let lines = low.pairs.read()?;
    let pairs: Vec<(&str, &str)> = lines.iter().map(|(source, target)| (source.as_str(), target.as_str())).collect();
    let files = (low.pairs.source.as_path(), low.pairs.target.as_path());
    let text = Text { files, pairs: &pairs, pretokenized: low.pairs.pretokenized };
    let mut aligner = low.statistical.aligner(text, low.run.threads().unwrap_or_else(physical_cores))?;
    let mut counts = PhraseCounts::default();
    let way = low.symmetrize.unwrap_or_else(default_way);
    for (source, target) in pairs {
        let (x, y, links) = aligner.words(source, target);
        let links = way.of(links.forward, &links.reverse);
        counts.add(&x.words, &y.words, &links, usize::from(low.max_length));
    }
    Ok(counts)
}

fn by_links(path: &Path, pairs: &PairArgs, most: usize) -> Result<PhraseCounts> {
    let (source, target): (Vec<String>, Vec<String>) = pairs.read()?.into_iter().unzip();
    let gold = read::read(path, &read::lengths(&source, &target), &LinkLayout::default())?;
    output::tell(&gold.note);
    let mut counts = PhraseCounts::default();
    for ((source, target), links) in source.iter().zip(&target).zip(&gold.pairs) {
        let (x, y): (Vec<&str>, Vec<&str>) = (words(source).collect(), words(target).collect());
        // Possible links count as well: a phrase that one of them leads out of is no whole.
        let links: Vec<_> = links.all().into_iter().map(|(link, _)| link).collect();
        counts.add(&x, &y, &links, most);
    }
    Ok(counts)
}
