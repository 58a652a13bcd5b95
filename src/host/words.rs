//! From hypotheses to words and links, as commands and Python give them.

use engine::analysis::words::{merge_alpha, over_words};
use engine::analysis::{alignment::Alignment, hard, hard::Link, row_convention::RowConvention};
use engine::decoding::{Decoded, Ensemble, Hypothesis, SearchOptions, Specials};
use engine::error::{Error, Result};
use engine::models::{Model, Stepper};
use engine::text::cut::{WordExchange, WordRule};
use engine::text::words::{SideWords, WordPlaces, vocabulary_words, whole_words};
use engine::text::{sentence::Sentence, tokenizer::Tokenizer};
use engine::{decoding, text::links::LinkWords, ticket::CancellationToken};

pub use engine::evaluation::wording::{join_words, text, tokens, without_eos};

/// The ids that the search must know.
pub fn specials(model: &Model) -> Specials {
    Specials::of(&model.config)
}

/// What is decoded of each source, by work that is never cancelled.
pub fn decode_all(
    specials: Specials, stepper: &mut dyn Stepper, sources: &[&[u32]], options: &SearchOptions, batch: usize,
) -> Result<Vec<Decoded>> {
    let mut done = vec![Decoded::default(); sources.len()];
    let ticket = CancellationToken::forever();
    decoding::decode_all(stepper, specials, sources, options, batch, &ticket, &mut |indexes, decoded| {
        indexes.iter().zip(decoded).for_each(|(&index, decoded)| done[index] = decoded);
        Ok(())
    })?;
    Ok(done)
}

/// Rows of a translation, and how links are read off them.
pub type ReadBy<'a> = Option<(&'a [Vec<f32>], RowConvention)>;

/// The rows of an alignment head where there are some, else those of alpha.
pub fn read_by<'a>(head: Option<&'a [Vec<f32>]>, alpha: Option<&'a [Vec<f32>]>) -> ReadBy<'a> {
    let head = head.map(|head| (head, RowConvention::Head));
    head.or_else(|| Some((alpha?, RowConvention::default())))
}

/// Those of a forced target.
pub fn came_from(forced: &Hypothesis) -> ReadBy<'_> {
    read_by(forced.head.as_deref(), forced.alpha.as_deref())
}

/// Both sides of a pair, from the tokens to the words of the texts, and those to what stands between spaces.
#[derive(Clone, Debug)]
pub struct LinkedSides {
    words: [SideWords; 2],
    spaced: [WordExchange; 2],
}

impl LinkedSides {
    /// Of a translation. `None` where its tokens are not the texts.
    pub fn of_translation(
        model: &Model, source: &Sentence, hypothesis: &Hypothesis, pretokenized: bool,
    ) -> Option<Self> {
        let said = text(model, hypothesis, source, None, pretokenized);
        let own = without_eos(model, &hypothesis.tokens);
        let target = SideWords::of_translation(&model.target, own, &said, pretokenized)?;
        let spaced = WordExchange::of(&said, model.target.rule(pretokenized));
        Some(Self::new(side(&model.source, source, pretokenized)?, (target, spaced)))
    }

    /// Of a pair whose target was forced.
    pub fn of_pair(system: &Ensemble, (source, target): (&Sentence, &Sentence), pretokenized: bool) -> Option<Self> {
        let source = side(&system.lead().source, source, pretokenized)?;
        Some(Self::new(source, side(system.target(), target, pretokenized)?))
    }

    fn new(source: (SideWords, WordExchange), target: (SideWords, WordExchange)) -> Self {
        Self { words: [source.0, target.0], spaced: [source.1, target.1] }
    }

    /// The same with a source whose words are cut by another rule.
    #[must_use]
    pub fn cut_by(mut self, source: &Sentence, rule: WordRule) -> Option<Self> {
        self.words[0].places = WordPlaces::of_sentence(&whole_words(source, &self.words[0].words), &source.text, rule)?;
        Some(self)
    }

    /// All links with alpha above 0 and their alpha, in their order; a link of several words comes several times.
    pub fn weights(&self, rows: &[Vec<f32>], counted: LinkWords) -> Vec<(Link, f32)> {
        let alpha = over_words(rows, &self.words[0], &self.words[1]);
        let counted = |link: Link| match counted {
            LinkWords::Tokens => Some(link),
            LinkWords::Spaces => WordExchange::carried(&[link], &self.spaced[0], &self.spaced[1]).pop(),
        };
        let weighed = |link: Link| Some((counted(link)?, alpha.row(link.target)[link.source]));
        hard::links_above(&alpha, 0.0).into_iter().filter_map(weighed).collect()
    }

    /// The links that `read` finds in alpha over words, as those of the words that are counted.
    pub fn links(&self, rows: &[Vec<f32>], read: impl Fn(&Alignment) -> Vec<Link>, counted: LinkWords) -> Vec<Link> {
        let links = read(&over_words(rows, &self.words[0], &self.words[1]));
        match counted {
            LinkWords::Tokens => links,
            LinkWords::Spaces => WordExchange::carried(&links, &self.spaced[0], &self.spaced[1]),
        }
    }
}

fn side(tokenizer: &Tokenizer, sentence: &Sentence, pretokenized: bool) -> Option<(SideWords, WordExchange)> {
    let words = SideWords::of_sentence(tokenizer, sentence, &sentence.text, pretokenized)?;
    Some((words, WordExchange::of(&sentence.text, tokenizer.rule(pretokenized))))
}

/// For every word of a text the source word of greatest weight; none where the model has no alignment.
pub fn links(sides: Option<LinkedSides>, rows: ReadBy<'_>, counted: LinkWords) -> Vec<Link> {
    let both = rows.zip(sides);
    both.map_or_else(Vec::new, |((rows, reading), sides)| sides.links(rows, |words| reading.links(words), counted))
}

/// The words of the vocabularies in a pair whose target was forced, and the links between them.
pub struct Worded {
    pub source: Vec<String>,
    pub target: Vec<String>,
    /// For every target word its source word of greatest weight.
    pub links: Vec<Link>,
}

/// Tokens of a forced pair as words, `</s>` left out.
pub fn worded(
    system: &Ensemble, (source, target): (&Sentence, &Sentence), (rows, reading): (&[Vec<f32>], RowConvention),
    pretokenized: bool,
) -> Worded {
    let x = vocabulary_words(&system.lead().source, source, pretokenized);
    let y = vocabulary_words(system.target(), target, pretokenized);
    let (source, target) = (whole_words(source, &x), whole_words(target, &y));
    let alpha = merge_alpha(&Alignment::from_rows(rows), &x, &y).words(target.words(), source.words());
    let words = |sentence: Sentence| sentence.tokens[..sentence.words()].to_vec();
    Worded { source: words(source), target: words(target), links: reading.links(&alpha) }
}

/// Refuses what needs an alignment where the model has none, and no alignment head that is to be used.
pub fn require_alignment(system: &Ensemble, has_head: bool, flag: &str) -> Result<()> {
    if system.aligns() || has_head {
        return Ok(());
    }
    let architecture = |model: &Model| model.config.architecture.name();
    let architectures: Vec<&str> = system.members().iter().map(architecture).collect();
    Err(Error::Input(format!(
        "{flag} needs an alignment and {} ({}) has none; choose an rnnsearch model or a luong model with attention, or learn an \
         alignment head for it with `interlinear train --head`",
        system.name(),
        architectures.join(", ")
    )))
}
