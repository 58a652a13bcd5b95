//! Two documents as beads: they are cut into sentences, which are aligned by their lengths and then by their words.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::documents::beads::BeadRow;
use crate::documents::{ImportedDocument, ParagraphBreaks};
use engine::aligner::corpus::{CorpusBuilder, RARE};
use engine::aligner::sentences::beads::{Bead, DocumentSide};
use engine::aligner::sentences::{by_length, by_words};
use engine::aligner::{
    bundled::bundled, learn::learn, learned::Learned, sentences::lexical::TrustedLexicon, settings::AlignerSettings,
    words::Cutter,
};
use engine::text::language::{guess, of_file};
use engine::{error::Result, text::sentences::sentences, ticket::CancellationToken};

/// How documents are aligned.
#[derive(Clone, Debug, Default)]
pub struct DocumentOptions {
    /// Of source and target; `None`: from the file's name, or its text.
    pub languages: [Option<String>; 2],
    pub breaks: ParagraphBreaks,
    /// Every paragraph is a sentence already.
    pub whole: bool,
    pub lengths: bool,
    /// The lexicon of this aligner, in place of what comes with the program.
    pub learned: Option<PathBuf>,
}

struct Sentences {
    texts: Vec<String>,
    side: DocumentSide,
    language: String,
    cutter: Cutter,
}

impl Sentences {
    fn open(path: &Path, options: &DocumentOptions, side: usize) -> Result<Self> {
        let document = ImportedDocument::open(path, options.breaks)?;
        let language = options.languages[side].clone().unwrap_or_else(|| language_in(path, &document));
        let mut own =
            Self { texts: Vec::new(), side: DocumentSide::default(), cutter: Cutter::new(&language, false), language };
        for paragraph in &document.paragraphs {
            let found = if options.whole { vec![paragraph.as_str()] } else { sentences(paragraph, &own.language) };
            for (n, sentence) in found.into_iter().enumerate() {
                own.side.push(sentence, own.cutter.cut(sentence).words, n == 0);
                own.texts.push(sentence.to_owned());
            }
        }
        Ok(own)
    }

    fn of(&self, range: &Range<usize>) -> Vec<String> {
        self.texts[range.clone()].to_vec()
    }
}

fn language_in(path: &Path, document: &ImportedDocument) -> String {
    let named = of_file(path);
    let text = || document.paragraphs.iter().take(50).map(String::as_str).collect::<Vec<_>>().join(" ");
    match named.as_str() {
        "und" | "htm" => guess(&text()).unwrap_or("und").to_owned(),
        _ => named,
    }
}

/// Aligns two documents; also returns whether they had too few sentences to learn words from.
pub fn align(
    [source, target]: [&Path; 2], options: &DocumentOptions, threads: usize, ticket: &CancellationToken,
) -> Result<(Vec<BeadRow>, bool)> {
    let (x, y) = (Sentences::open(source, options, 0)?, Sentences::open(target, options, 1)?);
    let (mut beads, mut is_short) = (by_length(&x.side, &y.side, ticket)?, false);
    let sides = (&x.side, &y.side);
    let known = match &options.learned {
        _ if options.lengths => None,
        Some(path) => Some((Learned::open(path)?, KNOWN)),
        None => lexicon(&x.language, &y.language)?,
    };
    if let Some((known, free)) = known {
        beads = by_words(sides, TrustedLexicon { learned: &known, free }, &beads, ticket)?;
    } else if !options.lengths {
        let nothing = Learned::default();
        let alike = by_words(sides, TrustedLexicon { learned: &nothing, free: OWN }, &beads, ticket)?;
        for round in 0..ROUNDS {
            let near = if round == 0 { &alike } else { &beads };
            let learned = learned_from(sides, near, threads, ticket)?;
            is_short = learned.is_none();
            let Some(learned) = learned else { break };
            beads = by_words(sides, TrustedLexicon { learned: &learned, free: OWN }, near, ticket)?;
        }
    }
    let row = |bead: &Bead| BeadRow::new([x.of(&bead.source), y.of(&bead.target)], bead.score);
    Ok((beads.iter().map(row).collect(), is_short))
}

/// How many words a lexicon of much text, one through a third language, and one of these documents leave untranslated:
/// the first by what is usual, the others by what does best on the yearbook of Vecalign's `dev`.
const KNOWN: f32 = 0.25;
const THROUGH: f32 = 0.5;
const OWN: f32 = 0.7;

/// What comes with the program for two languages, by itself or through English, and how far it is trusted.
fn lexicon(source: &str, target: &str) -> Result<Option<(Learned, f32)>> {
    if let Some(known) = bundled(source, target).transpose()? {
        return Ok(Some((known, KNOWN)));
    }
    let (Some(there), Some(back)) = (bundled(source, BETWEEN), bundled(BETWEEN, target)) else { return Ok(None) };
    Ok(Some((there?.through(&back?), THROUGH)))
}

/// The language that lexicons of two others meet in.
const BETWEEN: &str = "en";

const ROUNDS: usize = 2;
const LEAST_PAIRS: usize = 20;

fn learned_from(
    (x, y): (&DocumentSide, &DocumentSide), beads: &[Bead], threads: usize, ticket: &CancellationToken,
) -> Result<Option<Learned>> {
    let mut corpus = CorpusBuilder::default();
    for bead in beads.iter().filter(|bead| bead.source.len() == 1 && bead.target.len() == 1) {
        corpus.push(&x.words[bead.source.start], &y.words[bead.target.start]);
    }
    if corpus.len() < LEAST_PAIRS {
        return Ok(None);
    }
    learn(corpus.finish(RARE), &AlignerSettings::default(), threads, ticket, &mut |_| {}).map(Some)
}

/// The sentences of rows that were read from a table, where each side is one text.
pub fn cut_again(rows: &mut [BeadRow]) {
    let sides = [0, 1].map(|side| rows.iter().take(50).map(|row| row.text(side)).collect::<Vec<_>>().join(" "));
    let languages = sides.map(|text| guess(&text).unwrap_or("und").to_owned());
    for row in rows {
        let sides = [0, 1].map(|side| {
            let text = row.text(side);
            sentences(&text, &languages[side]).into_iter().map(str::to_owned).collect()
        });
        // of a table as it says
        let kind = std::mem::take(&mut row.kind);
        let new = BeadRow::new(sides, row.score);
        *row = if kind.is_empty() { new } else { BeadRow { kind, ..new } };
    }
}
