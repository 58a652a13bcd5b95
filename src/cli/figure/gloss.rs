//! `interlinear gloss`: sentences word by word with what stands under the words, for papers.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::args;
use crate::args::{GoldLayoutArgs, LINK_WORDS, RunArgs, SearchArgs, one_of};
use crate::figure::glossed::GlossingModel;
use crate::figure::{no_terminal, to_stdout, within};
use crate::output::{notify, provenance};
use corpus::import::tagged::{TaggedSentences, cells_of};
use corpus::store::rules::SideRules;
use engine::error::{Error, Result};
use engine::models::choice::ModelSpec;
use engine::text::cut::{WordExchange, WordRule};
use engine::text::links::{Links, read};
use engine::text::{language::of_file, reader::LineReader, write::write_atomic};
use explorer::app::document::column::file_name;
use figure::formats::{format, format_of};
use figure::interlinear::picture::{TITLE, picture};
use figure::interlinear::{GLOSS_FORMATS, GlossTier, GlossedSentence, GlossedText, UNSEEN, formats};
use figure::interlinear::{conllu, leipzig::fits};
use figure::page::{DPIS, FigurePage, WIDTHS_MM};
use figure::{fonts::Fonts, measure::SansSerif, palette::LIGHT, provenance::Provenance};
use training::settings::LinkWords;

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(
    after_long_help = "Under each word of the source stand the lines of --tier, then for every --target the words that its --links lead
to, joined by full stops. Links may come from anywhere: from a model's attention or its alignment head and from the statistical
aligner (interlinear align), or from people. Words are tokens as the rules of the languages cut them, which the names of the files
say (`story.en`); with --pretokenized they are what stands between spaces. Links count the words between spaces unless --link-words
says otherwise, and go to all words of these that have a letter or digit. A tier has a word for each of the source, `_` for none; of a
sentence with as many glosses as words between spaces these are its words.

  interlinear translate --model rnnsearch-en-fr story.en > story.fr
  interlinear align --model rnnsearch-en-fr --reading head --source story.en --target story.fr > story.links
  interlinear gloss --source story.en --target story.fr --links story.links --format gb4e

With --model the translations of models are lines, too, with the links of their alignment heads, or of alpha where they have none:

  interlinear gloss --source story.en --model rnnsearch-en-fr --model luong-global-en-fr

With --in-a-row the links of each --target lead from the --target before it, as from German through English to French; what stands under the
words of the source follows from them, and TikZ draws them from row to row.

With --conllu the words come from a file in CoNLL-U, whose lemmas, parts of speech and morphology are lines under them, and so is what its
last column has by name, such as Gloss and Translit; --format conllu writes one, in which the lines that were not changed are as they
came. Links count the words between the spaces of its text (`# text`, or forms and SpaceAfter), and go to its words by their letters.
--rows says which lines are shown, in which order.

--format svg, pdf or png draws it, with letters of 10 points, on paper of --width: a number, the words in columns, what stands under them, and the translations below.

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
    /// How it is written; by default what the name of --output ends with, else text
    #[arg(long, value_name = "FORMAT", value_parser = one_of(formats().map(|(name, _, about)| (name, about, name))))]
    format: Option<&'static str>,
    /// The file to write; by default standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Width of the paper of svg, pdf and png: longer lines go on below. By default 160, and less where all lines are shorter
    #[arg(long, value_name = "MM", value_parser = |text: &str| within(text, WIDTHS_MM))]
    width: Option<f32>,
    /// Resolution of PNG, pixels in an inch
    #[arg(long, value_name = "N", default_value_t = 300.0, value_parser = |text: &str| within(text, DPIS))]
    dpi: f32,
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
    /// Which words the links count; without it `spaces` where they fit
    #[arg(long, value_name = "WORDS", value_parser = one_of(LINK_WORDS.iter().copied()))]
    link_words: Option<LinkWords>,
    /// The words of --source and --target are split by spaces already
    #[arg(long)]
    pretokenized: bool,
    /// The lemmas and parts of speech of translations, in CoNLL-U; sentences are found by their letters
    #[arg(long, value_name = "FILE")]
    target_conllu: Vec<PathBuf>,
    /// What each translation is called, by default as its file
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
    /// A model whose translations are a line; once for each
    #[arg(long, value_name = "DIR", value_parser = args::folder())]
    model: Vec<ModelSpec>,
    /// The links of each --target lead from the one before it, not from the source
    #[arg(long, requires = "target")]
    in_a_row: bool,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    run: RunArgs,
}

pub fn run(args: &GlossArgs) -> anyhow::Result<()> {
    let drawn = match args.format {
        Some(name) => format(name),
        None => args.output.as_deref().and_then(|path| format_of(path).ok()),
    };
    if let Some(format) = drawn {
        provenance::begin("gloss");
        args.output.as_ref().map_or_else(|| no_terminal(format), |_| Ok(()))?;
    }
    let mut sentences = args.files.read()?;
    if args.leipzig {
        check_glosses(&args.files.tier, &mut sentences)?;
    }
    arrange(&args.rows, &mut sentences)?;
    let bytes = match drawn {
        None => {
            let text = GLOSS_FORMATS.iter().find(|one| Some(one.name) == args.format).unwrap_or(&GLOSS_FORMATS[0]);
            text.file(&sentences).into_bytes()
        }
        Some(format) => {
            let mut figure = picture(&sentences, args.width, &SansSerif, &LIGHT)?;
            figure.provenance = Provenance { title: TITLE.to_owned(), ..provenance::used().unwrap_or_default() };
            (format.write)(&figure, &FigurePage { width_mm: args.width, dpi: args.dpi }, &Fonts::default())?
        }
    };
    match &args.output {
        Some(path) => Ok(write_atomic(path, |file| file.write_all(&bytes))?),
        None => to_stdout(&bytes),
    }
}

impl GlossedFiles {
    /// Reads the files, and lets the models translate.
    pub fn read(&self) -> Result<Vec<GlossedSentence>> {
        if self.links.len() != self.target.len() || self.name.len() > self.target.len() {
            let (targets, links, names) = (self.target.len(), self.links.len(), self.name.len());
            let message = format!(
                "{targets} files of --target, {links} of --links and {names} names; give links for each, and names for as many"
            );
            return Err(Error::Input(message));
        }
        let first = self.model.first().map(|folder| GlossingModel::load(folder, &self.run.plan()?)).transpose()?;
        let path = self.conllu.as_ref().or(self.source.as_ref());
        let path = path.ok_or_else(|| Error::Input("give --source or --conllu".to_owned()))?;
        let rule = self.rule(path, first.as_ref().map_or("und", GlossingModel::source_language));
        let mut sentences = match &self.conllu {
            Some(path) => conllu::read_file(path)?,
            None => lines(path)?.into_iter().map(|text| sentence(text, rule)).collect(),
        };
        let rules = self.read_tiers(path, rule, &mut sentences)?;
        let mut before = vec![WordRule::Given; sentences.len()];
        for (n, (target, links)) in self.target.iter().zip(&self.links).enumerate() {
            let own = self.rule(target, "und");
            let name = self.name.get(n).cloned().unwrap_or_else(|| file_name(target));
            let texts = beside(path, target, sentences.len())?.into_iter();
            let texts: Vec<GlossedText> = texts
                .map(|text| GlossedText { name: name.clone(), words: own.owned(&text), text, ..GlossedText::default() })
                .collect();
            let is_first = !self.in_a_row || sentences.iter().all(|sentence| sentence.texts.is_empty());
            let from = if is_first { &rules } else { &before };
            let found = self.links(links, (path, is_first), (&sentences, from), (&texts, own))?;
            for ((sentence, text), (links, chunks)) in sentences.iter_mut().zip(texts).zip(found) {
                let text = GlossedText { links, chunks, ..text };
                if self.in_a_row { sentence.push_between(text) } else { sentence.texts.push(text) }
            }
            before.fill(own);
        }
        self.translate(first, (path, rule), &rules, &mut sentences)?;
        self.target_conllu.iter().try_for_each(|path| tag(path, &mut sentences))?;
        Ok(sentences)
    }

    fn rule(&self, path: &Path, language: &str) -> WordRule {
        let own = of_file(path);
        WordRule::of(if own == "und" { language } else { &own }, self.pretokenized)
    }

    fn read_tiers(&self, path: &Path, rule: WordRule, sentences: &mut [GlossedSentence]) -> Result<Vec<WordRule>> {
        let mut tiers = Vec::new();
        for tier in &self.tier {
            let cells = beside(path, tier, sentences.len())?;
            tiers.push(cells.iter().map(|cells| WordRule::Spaces.owned(cells)).collect::<Vec<_>>());
        }
        let mut rules = vec![rule; sentences.len()];
        for (at, sentence) in sentences.iter_mut().enumerate() {
            let spaced = WordRule::Spaces.owned(&sentence.text);
            let fits = |words: &[String]| tiers.iter().all(|tier| tier[at].len() == words.len());
            if sentence.written.is_none() && !fits(&sentence.words) && fits(&spaced) {
                (sentence.words, rules[at]) = (spaced, WordRule::Spaces);
            }
            for (file, tier) in self.tier.iter().zip(&mut tiers) {
                let (cells, words) = (std::mem::take(&mut tier[at]), sentence.words.len());
                if cells.len() != words {
                    let cells = cells.len();
                    let message = format!("has {cells} glosses for {words} words; write `_` under a word without one");
                    return Err(Error::line(file, at + 1, message));
                }
                let cells = cells.into_iter().map(|cell| if cell == "_" { String::new() } else { cell }).collect();
                sentence.tiers.push(GlossTier { name: file_name(file), cells, is_gloss: false });
            }
        }
        Ok(rules)
    }

    fn links(
        &self, file: &Path, (path, is_first): (&Path, bool), (sentences, rules): (&[GlossedSentence], &[WordRule]),
        (texts, own): (&[GlossedText], WordRule),
    ) -> Result<Vec<(Links, Option<[WordExchange; 2]>)>> {
        let mut layout = self.layout.plan();
        // links of the file's own words would pass for turned ones
        layout.order = layout.order.or(self.conllu.as_ref().map(|_| read::LinkOrder::SourceFirst));
        let spaces = if self.pretokenized { WordRule::Given } else { WordRule::Spaces };
        let before = |sentence: &GlossedSentence| match sentence.texts.last() {
            Some(before) if !is_first => (before.text(), before.words.len()),
            _ => (sentence.text(), sentence.words.len()),
        };
        // with the words of a file in CoNLL-U others are counted between spaces
        let is_written = |sentence: &GlossedSentence| is_first && sentence.written.is_some();
        let read = |is_cut: bool| -> Result<Vec<Links>> {
            let count = |text: &str, words: usize, is_cut: bool| if is_cut { words } else { spaces.count(text) };
            let lengths = sentences.iter().zip(texts).map(|(sentence, y)| {
                let ((x, words), y_is_cut) = (before(sentence), is_cut && !is_written(sentence));
                (count(&x, words, is_cut), count(&y.text, y.words.len(), y_is_cut))
            });
            let found = read::read(file, &lengths.collect::<Vec<_>>(), &layout)?;
            if (found.base, found.order) != Default::default() || found.note.contains('?') {
                notify(&format!("{}: {}", file.display(), found.note));
            }
            Ok(found.pairs)
        };
        let (found, is_cut) = match self.link_words {
            Some(LinkWords::Tokens) => (read(true)?, true),
            Some(LinkWords::Spaces) => (read(false)?, false),
            None => match read(false) {
                Ok(found) => (found, false),
                Err(error) => {
                    let found = read(true).map_err(|_| error)?;
                    let (file, path) = (file.display(), path.display());
                    let why = "has links beyond the words between spaces; read as links of the words of";
                    notify(&format!("{file}: {why} {path} (--link-words tokens)"));
                    (found, true)
                }
            },
        };
        let brought = |(((sentence, rule), text), links): (((&GlossedSentence, &WordRule), &GlossedText), &Links)| {
            let ((x, _), is_written) = (before(sentence), is_written(sentence));
            let counted = SideRules {
                source: if is_cut || is_written { *rule } else { spaces },
                target: if is_cut && !is_written { own } else { spaces },
            };
            let links = SideRules { source: *rule, target: own }.respread(links, counted, (&x, &text.text));
            if is_written && !is_cut {
                return (carried(path, sentence, &links, spaces), None);
            }
            let chunks = || [WordExchange::of(&x, *rule), WordExchange::of(&text.text, own)];
            (links, (!is_cut).then(chunks))
        };
        let all: Vec<_> = sentences.iter().zip(rules).zip(texts).zip(&found).map(brought).collect();
        let is_bare = |links: &Links| links.all().is_empty();
        let is_lost = !found.iter().all(is_bare) && all.iter().all(|(links, _)| is_bare(links));
        if is_lost && !is_cut && sentences.iter().any(is_written) {
            let message = "has no sentence whose `# text` has the letters of its words; give links of these words with --link-words tokens";
            return Err(Error::file(path, message));
        }
        Ok(all)
    }

    fn translate(
        &self, mut first: Option<GlossingModel>, (path, rule): (&Path, WordRule), rules: &[WordRule],
        sentences: &mut [GlossedSentence],
    ) -> Result<()> {
        let sources: Vec<String> = sentences.iter().map(GlossedSentence::text).collect();
        for folder in &self.model {
            let load = || GlossingModel::load(folder, &self.run.plan()?);
            let model = first.take().map_or_else(load, Ok)?;
            let texts = model.translate((path, &sources), rule, &self.search.plan())?;
            for ((sentence, own), text) in sentences.iter_mut().zip(rules).zip(texts) {
                let links = if sentence.written.is_some() {
                    carried(path, sentence, &text.links, rule)
                } else {
                    let [from, to] = [rule, *own].map(|source| SideRules { source, target: rule });
                    to.respread(&text.links, from, (&sentence.text, &text.text))
                };
                sentence.texts.push(GlossedText { links, ..text });
            }
        }
        Ok(())
    }
}

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
            notify(&format!("{}: {} of {all} translations have no sentence there", path.display(), all - found));
            Ok(())
        }
        _ => Ok(()),
    }
}

fn sentence(text: String, rule: WordRule) -> GlossedSentence {
    GlossedSentence { words: rule.owned(&text), text, ..GlossedSentence::default() }
}

fn carried(path: &Path, sentence: &GlossedSentence, links: &Links, rule: WordRule) -> Links {
    sentence.carried(links, rule).unwrap_or_else(|| {
        let (line, name) = sentence.written.as_ref().map_or((1, ""), |own| (own.line, own.id.as_str()));
        let why = "begins a sentence whose `# text` has other letters than its words; its links are left out";
        let message = format!("{why}: {name:.80} `{:.80}`", sentence.text());
        notify(&Error::line(path, line, message).to_string());
        Links::default()
    })
}

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

fn beside(source: &Path, path: &Path, count: usize) -> Result<Vec<String>> {
    let found = lines(path)?;
    if found.len() != count {
        let message = format!("has {} lines, and {} has {count} sentences", found.len(), source.display());
        return Err(Error::file(path, message));
    }
    Ok(found)
}

fn lines(path: &Path) -> Result<Vec<String>> {
    LineReader::open(path)?.held().map(|line| Ok(line?.trim().to_owned())).collect()
}
