//! Floor 13: `interlinear gloss`: sentences word by word with what stands under the words, for papers.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::app::document::column::file_name;
use crate::cli::args::one_of;
use crate::cli::output::LineOutput;
use crate::error::{Error, Result};
use crate::figure::interlinear::{GLOSS_FORMATS, GlossFormat, GlossTier, GlossedSentence, GlossedText, read_conllu};
use crate::text::links::read;
use crate::text::reader::{LineReader, MOST_TEXT, read_file};
use crate::text::words::words;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Under each word of the source stand the lines of --tier, then for every --target the words that its --links lead
to, joined by full stops. Links may come from anywhere: from a model's attention or its alignment head and from the statistical
aligner (interlinear align), or from people. Words are what stands between spaces; a tier has a word for each of the
source, `_` for none.

  interlinear translate --model rnnsearch-en-fr story.en > story.fr
  interlinear align --model rnnsearch-en-fr --reading head --source story.en --target story.fr > story.links
  interlinear gloss --source story.en --target story.fr --links story.links --format gb4e

With --conllu the words come from a file in CoNLL-U, whose lemmas, parts of speech and morphology are lines under them;
--format conllu writes one."
)]
pub struct GlossArgs {
    /// The sentences, one a line
    #[arg(long, value_name = "FILE", required_unless_present = "conllu")]
    source: Option<PathBuf>,
    /// The sentences with lemmas and parts of speech, in CoNLL-U
    #[arg(long, value_name = "FILE", conflicts_with = "source")]
    conllu: Option<PathBuf>,
    /// A line under the words, typed by hand: a gloss for each word of each sentence; once for each
    #[arg(long, value_name = "FILE")]
    tier: Vec<PathBuf>,
    /// Translations, line by line; once for each
    #[arg(long, value_name = "FILE")]
    target: Vec<PathBuf>,
    /// The word links of each, as Pharaoh or NAACL files
    #[arg(long, value_name = "FILE")]
    links: Vec<PathBuf>,
    /// What each translation is called, by default as its file
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// How it is written
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = one_of(GLOSS_FORMATS.iter().map(|one| (one.name, one.about, one))))]
    format: &'static GlossFormat,
}

/// Writes the sentences.
pub fn run(low: &GlossArgs) -> anyhow::Result<()> {
    let sentences = read_all(low)?;
    let mut output = LineOutput::stdout();
    output.text(low.format.around.0)?;
    for (n, sentence) in sentences.iter().enumerate() {
        output.text(&(low.format.write)(sentence, n + 1))?;
    }
    output.text(low.format.around.1)?;
    output.finish()
}

fn read_all(low: &GlossArgs) -> Result<Vec<GlossedSentence>> {
    if low.links.len() != low.target.len() || low.name.len() > low.target.len() {
        let (targets, links, names) = (low.target.len(), low.links.len(), low.name.len());
        let message = format!(
            "{targets} files of --target, {links} of --links and {names} names; give links for each, and names for as many"
        );
        return Err(Error::Input(message));
    }
    let (path, mut sentences) = match (&low.conllu, &low.source) {
        (Some(path), _) => {
            let bytes = read_file(path, MOST_TEXT)?;
            let text = String::from_utf8(bytes).map_err(|_| Error::file(path, "is not UTF-8"))?;
            (path, read_conllu(&text).map_err(|(line, why)| Error::line(path, line, why))?)
        }
        (None, path) => {
            let path = path.as_ref().ok_or_else(|| Error::Input("give --source or --conllu".to_owned()))?;
            let one = |words| GlossedSentence { words, ..GlossedSentence::default() };
            (path, lines(path)?.into_iter().map(one).collect())
        }
    };
    for tier in &low.tier {
        let cells = beside(path, tier, sentences.len())?;
        for (at, (sentence, cells)) in sentences.iter_mut().zip(cells).enumerate() {
            if cells.len() != sentence.words.len() {
                let (cells, words) = (cells.len(), sentence.words.len());
                let message = format!("has {cells} glosses for {words} words; write `_` under a word without one");
                return Err(Error::line(tier, at + 1, message));
            }
            let cells = cells.into_iter().map(|cell| if cell == "_" { String::new() } else { cell }).collect();
            sentence.tiers.push(GlossTier { name: file_name(tier), cells });
        }
    }
    for (n, (target, links)) in low.target.iter().zip(&low.links).enumerate() {
        let texts = beside(path, target, sentences.len())?;
        let lengths: Vec<(usize, usize)> =
            sentences.iter().zip(&texts).map(|(sentence, words)| (sentence.words.len(), words.len())).collect();
        let layout = read::LinkLayout { order: Some(read::LinkOrder::SourceFirst), ..read::LinkLayout::default() };
        let found = read::read(links, &lengths, &layout)?.pairs;
        let name = low.name.get(n).cloned().unwrap_or_else(|| file_name(target));
        for ((sentence, words), links) in sentences.iter_mut().zip(texts).zip(found) {
            sentence.texts.push(GlossedText { name: name.clone(), words, links });
        }
    }
    Ok(sentences)
}

/// The words of the lines of a file that has as many as another.
fn beside(source: &Path, path: &Path, count: usize) -> Result<Vec<Vec<String>>> {
    let found = lines(path)?;
    if found.len() != count {
        let message = format!("has {} lines, and {} has {count} sentences", found.len(), source.display());
        return Err(Error::file(path, message));
    }
    Ok(found)
}

fn lines(path: &Path) -> Result<Vec<Vec<String>>> {
    let one = |line: Result<String>| Ok(words(&line?).map(str::to_owned).collect());
    LineReader::open(path)?.held().map(one).collect()
}
