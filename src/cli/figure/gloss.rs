//! Floor 13: `interlinear gloss`: sentences word by word with what stands under the words, for papers.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::app::document::column::file_name;
use crate::cli::args::links::GoldLayoutArgs;
use crate::cli::args::{Choice, RunArgs, SearchArgs, one_of};
use crate::cli::bundled;
use crate::cli::figure::glossed::GlossingModel;
use crate::cli::output::{LineOutput, tell};
use crate::corpus::import::tagged::{TaggedSentences, cells_of};
use crate::error::{Error, Result};
use crate::figure::interlinear::conllu;
use crate::figure::interlinear::leipzig::fits;
use crate::figure::interlinear::{GLOSS_FORMATS, GlossFormat, GlossTier, GlossedSentence, GlossedText, UNSEEN};
use crate::text::links::{Links, read};
use crate::text::reader::LineReader;
use crate::text::words::words;
use crate::training::settings::LinkWords;

/// Which words of a file in CoNLL-U links count.
const LINK_WORDS: &[Choice<LinkWords>] = &[
    ("spaces", "What stands between the spaces of its text", LinkWords::Spaces),
    ("tokens", "Its own words, such as `à` and `le` of `au`", LinkWords::Tokens),
];

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

With --model the translations of models are lines, too, with the links of their alignment heads, or of alpha where they have none:

  interlinear gloss --source story.en --model rnnsearch-en-fr --model luong-global-en-fr

With --in-a-row the links of each --target lead from the --target before it, as from German through English to French; what stands under the
words of the source follows from them, and TikZ draws them from row to row.

With --conllu the words come from a file in CoNLL-U, whose lemmas, parts of speech and morphology are lines under them, and so is what its
last column has by name, such as Gloss and Translit; --format conllu writes one, in which the lines that were not changed are as they
came. Links count the words between the spaces of its text (`# text`, or forms and SpaceAfter), and go to its words by their letters. --rows says which lines are shown, in which order.

With --target-conllu what stands under the words of translations in a file in CoNLL-U are lines, too, under the words that they are linked to.

With --leipzig the last --tier is a line of glosses by the Leipzig rules: each has as many hyphens, equals signs and tildes as the cell above it (that of the --tier
before, else the word), its labels of grammar are set in small capitals, and those that it uses are explained at the end."
)]
pub struct GlossArgs {
    #[command(flatten)]
    files: GlossedFiles,
    /// The last --tier has glosses by the Leipzig rules
    #[arg(long, requires = "tier")]
    leipzig: bool,
    /// The lines under the words, by their names, in this order, with commas between
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    rows: Vec<String>,
    /// How it is written
    #[arg(long, value_name = "FORMAT", default_value = "text", value_parser = one_of(GLOSS_FORMATS.iter().map(|one| (one.name, one.about, one))))]
    format: &'static GlossFormat,
}

/// Sentences, and what stands under their words, as typed.
#[derive(Args, Clone, Debug)]
pub struct GlossedFiles {
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
    #[command(flatten)]
    layout: GoldLayoutArgs,
    /// Which words of --conllu the links count; without it `spaces` where they fit
    #[arg(long, value_name = "WORDS", requires = "conllu", value_parser = one_of(LINK_WORDS.iter().copied()))]
    link_words: Option<LinkWords>,
    /// The lemmas and parts of speech of translations, in CoNLL-U; sentences are found by their letters
    #[arg(long, value_name = "FILE")]
    target_conllu: Vec<PathBuf>,
    /// What each translation is called, by default as its file
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// A model whose translations are a line; once for each
    #[arg(long, value_name = "DIR", value_parser = bundled::argument())]
    model: Vec<PathBuf>,
    /// The links of each --target lead from the one before it, not from the source
    #[arg(long, requires = "target")]
    in_a_row: bool,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Writes the sentences.
pub fn run(low: &GlossArgs) -> anyhow::Result<()> {
    let mut sentences = low.files.read()?;
    if low.leipzig {
        check_glosses(&low.files.tier, &mut sentences)?;
    }
    arrange(&low.rows, &mut sentences)?;
    let mut output = LineOutput::stdout();
    output.text(&low.format.file(&sentences))?;
    output.finish()
}

impl GlossedFiles {
    /// Reads the files, and lets the models translate.
    ///
    /// # Errors
    /// A sentence that names a file and a line that do not fit the others.
    pub fn read(&self) -> Result<Vec<GlossedSentence>> {
        if self.links.len() != self.target.len() || self.name.len() > self.target.len() {
            let (targets, links, names) = (self.target.len(), self.links.len(), self.name.len());
            let message = format!(
                "{targets} files of --target, {links} of --links and {names} names; give links for each, and names for as many"
            );
            return Err(Error::Input(message));
        }
        let (path, mut sentences) = match (&self.conllu, &self.source) {
            (Some(path), _) => (path, conllu::read_file(path)?),
            (None, path) => {
                let path = path.as_ref().ok_or_else(|| Error::Input("give --source or --conllu".to_owned()))?;
                let one = |words| GlossedSentence { words, ..GlossedSentence::default() };
                (path, lines(path)?.into_iter().map(one).collect())
            }
        };
        for tier in &self.tier {
            let cells = beside(path, tier, sentences.len())?;
            for (at, (sentence, cells)) in sentences.iter_mut().zip(cells).enumerate() {
                if cells.len() != sentence.words.len() {
                    let (cells, words) = (cells.len(), sentence.words.len());
                    let message = format!("has {cells} glosses for {words} words; write `_` under a word without one");
                    return Err(Error::line(tier, at + 1, message));
                }
                let cells = cells.into_iter().map(|cell| if cell == "_" { String::new() } else { cell }).collect();
                sentence.tiers.push(GlossTier { name: file_name(tier), cells, is_gloss: false });
            }
        }
        for (n, (target, links)) in self.target.iter().zip(&self.links).enumerate() {
            let texts = beside(path, target, sentences.len())?;
            let found = self.links(links, path, &sentences, &texts)?;
            let name = self.name.get(n).cloned().unwrap_or_else(|| file_name(target));
            for ((sentence, words), links) in sentences.iter_mut().zip(texts).zip(found) {
                let text = GlossedText { name: name.clone(), words, links, ..GlossedText::default() };
                if self.in_a_row { sentence.push_between(text) } else { sentence.texts.push(text) }
            }
        }
        self.translate(path, &mut sentences)?;
        self.target_conllu.iter().try_for_each(|path| tag(path, &mut sentences))?;
        Ok(sentences)
    }

    /// The links of a file between the words of the sentences and those of texts. It counts words between spaces; where a sentence
    /// has more, those of the file in CoNLL-U.
    fn links(
        &self,
        file: &Path,
        path: &Path,
        sentences: &[GlossedSentence],
        texts: &[Vec<String>],
    ) -> Result<Vec<Links>> {
        let mut layout = self.layout.high();
        // links of the file's own words would pass for turned ones
        layout.order = layout.order.or(self.conllu.as_ref().map(|_| read::LinkOrder::SourceFirst));
        let read = |is_cut: bool| {
            let count =
                |sentence: &GlossedSentence| match (sentence.texts.last().filter(|_| self.in_a_row), &sentence.written)
                {
                    (Some(before), _) => before.words.len(),
                    (None, Some(written)) if !is_cut => words(&written.text).count(),
                    _ => sentence.words.len(),
                };
            let lengths: Vec<_> = sentences.iter().map(count).zip(texts.iter().map(Vec::len)).collect();
            let found = read::read(file, &lengths, &layout)?;
            if (found.base, found.order) != Default::default() || found.note.contains('?') {
                tell(&format!("{}: {}", file.display(), found.note));
            }
            Ok(found.pairs)
        };
        let is_first = !self.in_a_row || sentences.iter().all(|sentence| sentence.texts.is_empty());
        if self.conllu.is_none() || !is_first || self.link_words == Some(LinkWords::Tokens) {
            return read(true);
        }
        let found = match (read(false), self.link_words) {
            (Err(error), None) => {
                let found = read(true).map_err(|_| error)?;
                let (file, path) = (file.display(), path.display());
                let why = "has links beyond the words between spaces; read as links of the words of";
                tell(&format!("{file}: {why} {path} (--link-words tokens)"));
                return Ok(found);
            }
            (found, _) => found?,
        };
        let all: Vec<Links> =
            sentences.iter().zip(&found).map(|(sentence, links)| carried(path, sentence, links)).collect();
        let has_links = |all: &[Links]| all.iter().any(|links| !links.all().is_empty());
        if has_links(&found) && !has_links(&all) {
            let message = "has no sentence whose `# text` has the letters of its words; give links of these words with --link-words tokens";
            return Err(Error::file(path, message));
        }
        Ok(all)
    }

    /// Adds what models say.
    fn translate(&self, path: &Path, sentences: &mut [GlossedSentence]) -> Result<()> {
        if self.model.is_empty() {
            return Ok(());
        }
        let runtime = self.run.high()?;
        for folder in &self.model {
            let model = GlossingModel::load(folder, &runtime)?;
            let sources: Vec<String> = sentences.iter().map(GlossedSentence::text).collect();
            let texts = model.translate(path, &sources, &self.search.high())?;
            for (sentence, text) in sentences.iter_mut().zip(texts) {
                let links = carried(path, sentence, &text.links);
                sentence.texts.push(GlossedText { links, ..text });
            }
        }
        Ok(())
    }
}

/// Gives the texts that have the letters of sentences of a file what stands under their words there.
fn tag(path: &Path, sentences: &mut [GlossedSentence]) -> Result<()> {
    let file = conllu::read_file(path)?;
    let (tagged, mut found, mut all) = (TaggedSentences::new(&file), 0, 0);
    for (at, text) in
        sentences.iter_mut().enumerate().flat_map(|(at, one)| one.texts.iter_mut().map(move |text| (at, text)))
    {
        let words: Vec<&str> = text.words.iter().map(String::as_str).collect();
        let own = tagged.of(at, &words.join(" ")).map(|n| &file[n]);
        let tiers = own.into_iter().flat_map(|own| own.tiers.iter().map(move |tier| (own, &tier.name)));
        let cells = tiers.filter(|(_, name)| !UNSEEN.contains(&name.as_str())).filter_map(|(own, name)| {
            Some(GlossTier { name: name.clone(), cells: cells_of(own, name, &words)?, is_gloss: false })
        });
        text.tiers = cells.collect();
        (found, all) = (found + usize::from(!text.tiers.is_empty()), all + 1);
    }
    match found {
        0 => Err(Error::file(path, "has no sentence with the words of a translation; give the file of the same text")),
        _ if found < all => {
            tell(&format!("{}: {} of {all} translations have no sentence there", path.display(), all - found));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Links of the words between spaces as links of the words of a sentence; where its text has other letters, that is told.
fn carried(path: &Path, sentence: &GlossedSentence, links: &Links) -> Links {
    sentence.carried(links).unwrap_or_else(|| {
        let (line, name) = sentence.written.as_ref().map_or((1, ""), |own| (own.line, own.id.as_str()));
        let why = "begins a sentence whose `# text` has other letters than its words; its links are left out";
        let message = format!("{why}: {name:.80} `{:.80}`", sentence.text());
        tell(&Error::line(path, line, message).to_string());
        Links::default()
    })
}

/// The last line that was typed is one of glosses, which fit what stands above them.
fn check_glosses(tiers: &[PathBuf], sentences: &mut [GlossedSentence]) -> Result<()> {
    let Some(file) = tiers.last() else { return Ok(()) };
    for (at, sentence) in sentences.iter_mut().enumerate() {
        let Some((tier, before)) = sentence.tiers.split_last_mut() else { continue };
        let above = if tiers.len() > 1 { before.last().map(|tier| &tier.cells) } else { None };
        let above = above.unwrap_or(&sentence.words);
        if let Some((n, (word, gloss))) =
            above.iter().zip(&tier.cells).enumerate().find(|(_, (word, gloss))| !fits(word, gloss))
        {
            let message = format!(
                "glosses word {}, `{word}`, as `{gloss}`; both need the same hyphens, equals signs and tildes",
                n + 1
            );
            return Err(Error::line(file, at + 1, message));
        }
        tier.is_gloss = true;
    }
    Ok(())
}

/// Says which lines are shown; names that no sentence has are refused.
fn arrange(rows: &[String], sentences: &mut [GlossedSentence]) -> Result<()> {
    let mut known: Vec<String> = sentences.iter().flat_map(GlossedSentence::all_rows).map(|row| row.name).collect();
    known.sort();
    known.dedup();
    if let Some(name) = rows.iter().find(|name| !known.contains(name)) {
        return Err(Error::Input(format!("--rows: there is no line `{name}`; there are {}", known.join(", "))));
    }
    for sentence in sentences {
        sentence.order = rows.to_vec();
    }
    Ok(())
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
