//! The words that a model aligns in given pairs, as Luong et al. (2015, section 5.4) have them: the target is
//! forced, and each of its words gets the one source word of greatest alpha.
//!
//! Links are read off between the words of the lines ([`crate::text::cut`]): alpha over a model's own
//! tokens becomes alpha over words ([`crate::analysis::words`]). They are told of what stands between spaces, as alignment files
//! count, unless tokens are asked for. The row and the column of `</s>` are left out: a target word that
//! looks mostly at `</s>` is linked to the word that it looks at most.

use half::f16;

use crate::analysis::symmetrize::{SYMMETRIZATIONS, Symmetrization};
use crate::analysis::words::{over_words, pooled};
use crate::analysis::{ablation, alignment::Alignment, hard, row_convention::RowConvention};
use crate::error::{Error, Result};
use crate::evaluation::{EvaluatedSystem, rows::RowReader};
use crate::models::transformer::heads::{HeadKind, HeadPlace};
use crate::text::tokenizer::{Encode, Tokenizer};
use crate::text::words::{SideWords, WordPlaces};
use crate::text::{cut::WordExchange, line, links::Link, sentence::Sentence};
use crate::{aligner::learned::Directions, decoding, models::Stepper, ticket::CancellationToken};

struct Side {
    sentence: Sentence,
    words: SideWords,
    exchange: Option<WordExchange>,
}

/// A pair of lines as a model reads it, with the places of its tokens among the words of the lines.
pub struct WordPair {
    source: Side,
    target: Side,
}

/// Why a model does not read a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The target line is at fault, not the source line.
    pub target: bool,
    /// The rest of a sentence that begins with the name of the line.
    pub why: String,
}

impl WordPair {
    /// Tokenises a pair for a model or an ensemble.
    pub fn read<'a>(
        system: impl Into<EvaluatedSystem<'a>>, (source, target): (&str, &str), pretokenized: bool,
    ) -> std::result::Result<Self, Refused> {
        let system = system.into();
        let side = |encode: &dyn Encode, tokenizer: &Tokenizer, text: &str, is_target| {
            let refuse = |why| Refused { target: is_target, why };
            let sentence = line::read(encode, text, pretokenized).map_err(refuse)?;
            let words = SideWords::of_sentence(tokenizer, &sentence, text, pretokenized)
                .ok_or_else(|| refuse("is changed by the tokenizer beyond its spaces; give it tokenised".to_owned()))?;
            let exchange = Some(WordExchange::of(text, tokenizer.rule(pretokenized)));
            Ok(Side { sentence, words, exchange })
        };
        let lead = system.lead();
        let source = side(system.source(), &lead.source, source, false)?;
        let target = side(&lead.target, &lead.target, target, true)?;
        if source.sentence.is_empty() {
            return Err(Refused { target: false, why: line::NO_WORDS.to_owned() });
        }
        Ok(Self { source, target })
    }

    /// The same pair with links that count its words, not what stands between the spaces.
    #[must_use]
    pub fn by_words(mut self) -> Self {
        (self.source.exchange, self.target.exchange) = (None, None);
        self
    }

    /// The tokens of both sides, `</s>` included.
    pub fn tokens(&self) -> (&[String], &[String]) {
        (&self.source.sentence.tokens, &self.target.sentence.tokens)
    }

    fn over_words(&self, alpha: &[Vec<f32>], reading: RowConvention, delay: usize) -> Alignment {
        // as a corpus keeps it: weights that are equal there are equal here, too, and the first of them counts
        let kept = |row: &Vec<f32>| row.iter().map(|weight| f16::from_f32(*weight).to_f32()).collect();
        let alpha: Vec<Vec<f32>> = alpha.iter().map(kept).collect();
        over_words(&reading.assign_after(delay, &alpha), &self.source.words, &self.target.words)
    }

    fn links(&self, alpha: &[Vec<f32>], extraction: Extraction, delay: usize) -> Vec<Link> {
        let words = self.over_words(alpha, extraction.reading, delay);
        let greatest = || extraction.reading.links(&words);
        let links = extraction.threshold.map_or_else(greatest, |theta| hard::links_above(&words, theta));
        let sides = self.source.exchange.as_ref().zip(self.target.exchange.as_ref());
        sides.map_or_else(|| links.clone(), |(source, target)| WordExchange::carried(&links, source, target))
    }
}

/// How links are read off alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extraction {
    pub reading: RowConvention,
    /// All source words with an alpha of at least this; `None`: the one of greatest alpha.
    pub threshold: Option<f32>,
}

/// A model or an ensemble and what runs it.
pub struct Aligner<'a> {
    pub system: EvaluatedSystem<'a>,
    pub stepper: &'a mut dyn Stepper,
}

impl Aligner<'_> {
    /// The links of some pairs, for each pair one list for each extraction; a reading that the model's rows do not have
    /// gives way to the first that they have. `done` gets the sentences and words of every batch.
    pub fn links(
        &mut self, pairs: &[&WordPair], extractions: &[Extraction], batch: usize, ticket: &CancellationToken,
        done: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Vec<Vec<Link>>>> {
        let possible = self.readings();
        if possible.is_empty() {
            self.require_alignment()?;
        }
        let eos = self.system.specials().eos;
        let rows = |reading| RowReader::wanted(self.system, Some(reading));
        // Where a word has its row only after the next step but one, the last word needs a step after `</s>`.
        let behind = extractions.iter().map(|extraction| rows(extraction.reading).steps_behind());
        let more = behind.max().unwrap_or(0).saturating_sub(1);
        let targets: Vec<Vec<u32>> = pairs
            .iter()
            .map(|pair| pair.target.sentence.ids.iter().copied().chain(std::iter::repeat_n(eos, more)).collect())
            .collect();
        let sources = pairs.iter().map(|pair| &pair.source.sentence.ids[..]);
        let ids: Vec<(&[u32], &[u32])> = sources.zip(targets.iter().map(Vec::as_slice)).collect();
        let mut links = vec![Vec::new(); pairs.len()];
        decoding::force_all(self.stepper, &ids, batch, ticket, &mut |indexes, forced| {
            for (&index, forced) in indexes.iter().zip(forced) {
                let (alpha, head) = (forced.alpha.unwrap_or_default(), forced.head.unwrap_or_default());
                let read = |extraction: &Extraction| {
                    let reading = if possible.contains(&extraction.reading) { extraction.reading } else { possible[0] };
                    let weights = if reading == RowConvention::Head { &head } else { &alpha };
                    pairs[index].links(weights, Extraction { reading, ..*extraction }, rows(reading).delay)
                };
                links[index] = extractions.iter().map(read).collect();
            }
            done(indexes.len(), indexes.iter().map(|&index| ids[index].1.len()).sum());
            Ok(())
        })?;
        Ok(links)
    }

    /// What the alignment head gives to the words that the links of some pairs count, [target words, source words].
    pub fn head_weights(
        &mut self, pairs: &[&WordPair], batch: usize, ticket: &CancellationToken,
    ) -> Result<Vec<Alignment>> {
        let rows = RowReader::chosen(self.system, self.stepper, Some(RowConvention::Head))?;
        let ids = pairs.iter().map(|pair| (&pair.source.sentence.ids[..], &pair.target.sentence.ids[..]));
        let mut weights = vec![Alignment::default(); pairs.len()];
        decoding::force_all(self.stepper, &ids.collect::<Vec<_>>(), batch, ticket, &mut |indexes, forced| {
            for (&index, forced) in indexes.iter().zip(forced) {
                let head = forced.head.unwrap_or_default();
                let pair = pairs[index];
                let words = pair.over_words(&head, rows.reading, rows.delay);
                let sides = pair.source.exchange.as_ref().zip(pair.target.exchange.as_ref());
                let places = sides.map(|(x, y)| (WordPlaces::of_exchange(x), WordPlaces::of_exchange(y)));
                weights[index] = places.map_or(words.clone(), |(x, y)| pooled(&words, &x, &y));
            }
            Ok(())
        })?;
        Ok(weights)
    }

    /// The links of some pairs by every head of every layer, the heads of layer 1 first: for each pair, of each head,
    /// one list for each reading. `done` gets the words of every batch.
    pub fn head_links(
        &mut self, pairs: &[&WordPair], readings: &[RowConvention], batch: usize, ticket: &CancellationToken,
        done: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<Vec<Vec<Vec<Link>>>>> {
        let mut links = Vec::with_capacity(pairs.len());
        for pairs in pairs.chunks(batch.max(1)) {
            let ids: Vec<(&[u32], &[u32])> =
                pairs.iter().map(|pair| (&pair.source.sentence.ids[..], &pair.target.sentence.ids[..])).collect();
            for (pair, heads) in pairs.iter().zip(decoding::force_heads(self.stepper, &ids, HeadKind::Cross, ticket)?) {
                let read = |alpha: &Vec<Vec<f32>>| {
                    let of = |&reading: &RowConvention| {
                        let delay = RowReader::wanted(self.system, Some(reading)).delay;
                        pair.links(alpha, Extraction { reading, threshold: None }, delay)
                    };
                    readings.iter().map(of).collect()
                };
                links.push(heads.iter().map(read).collect());
            }
            done(pairs.len(), ids.iter().map(|pair| pair.1.len()).sum());
        }
        Ok(links)
    }

    /// What leaving out each of these heads does to the next-word distributions of some pairs: the Jensen-Shannon
    /// divergence, nats, the mean over all target words. `done` gets the words of every pair.
    pub fn heads_left_out(
        &mut self, pairs: &[&WordPair], places: &[HeadPlace], ticket: &CancellationToken, done: &mut dyn FnMut(usize),
    ) -> Result<Vec<f64>> {
        let (mut sums, mut words) = (vec![0.0; places.len()], 0);
        for pair in pairs {
            let ids = (&pair.source.sentence.ids[..], &pair.target.sentence.ids[..]);
            let found = ablation::heads(self.stepper, ids, places, ticket)?;
            sums.iter_mut().zip(found).for_each(|(sum, js)| *sum += js);
            words += ids.1.len();
            done(ids.1.len());
        }
        Ok(sums.into_iter().map(|sum| sum / words.max(1) as f64).collect())
    }

    /// alpha of a pair by the words that its rows belong to, [target tokens, source tokens], `</s>` included.
    pub fn own_rows(&mut self, pair: &WordPair, ticket: &CancellationToken) -> Result<Vec<Vec<f32>>> {
        self.require_alignment()?;
        let ids = (pair.source.sentence.ids.as_slice(), pair.target.sentence.ids.as_slice());
        let forced = RowReader::own(self.system).force_all(self.stepper, &[ids], 1, ticket, &mut |_, _| {})?;
        Ok(forced.into_iter().filter_map(|forced| forced.alpha).flatten().collect())
    }

    pub fn require_alignment(&self) -> Result<()> {
        if self.system.aligns() {
            return Ok(());
        }
        let (name, architecture) = (self.system.name(), self.system.architecture());
        Err(Error::Input(format!("{name} ({architecture}) has no alignment; choose a model that has one")))
    }

    pub fn has_head(&self) -> bool {
        self.stepper.has_alignment_head()
    }

    /// The readings of its rows, that of its own first, and that of an alignment head last.
    pub fn readings(&self) -> Vec<RowConvention> {
        let head = self.has_head().then_some(RowConvention::Head);
        self.of_alpha().iter().copied().chain(head).collect()
    }

    /// The readings that the rows of its alpha have, that of its own first: both where a later row has read the word
    /// ([`EvaluatedSystem::input_delay`]), else the usual one alone; none without an alignment.
    pub fn of_alpha(&self) -> &'static [RowConvention] {
        match self.system.input_delay() {
            _ if !self.system.aligns() => &[],
            Some(_) if RowReader::own(self.system).reading == RowConvention::Input => {
                &[RowConvention::Input, RowConvention::Predicted]
            }
            Some(_) => &[RowConvention::Predicted, RowConvention::Input],
            None => &[RowConvention::Predicted],
        }
    }
}

/// What most have to say for a link on the mean where alignment heads have a vote.
pub const VOTED: f32 = 0.4;

/// The links that a statistical aligner and alignment heads agree about: both of its directions, whose mean `weights`
/// are, and each head have a vote of the same weight, and links are those of at least `theta` on the mean.
pub fn voted(weights: &[Vec<f32>], heads: &[Alignment], theta: f32) -> Vec<Link> {
    let share = 1.0 / (2 + heads.len()) as f32;
    let sum = |i: usize, j: usize| heads.iter().filter_map(|head| head.get(i, j)).sum::<f32>();
    let row = |(i, row): (usize, &Vec<f32>)| -> Vec<f32> {
        row.iter().enumerate().map(|(j, weight)| share * (2.0 * weight + sum(i, j))).collect()
    };
    let rows: Vec<Vec<f32>> = weights.iter().enumerate().map(row).collect();
    hard::links_above(&Alignment::from_rows(&rows), theta)
}

/// Which links.
#[derive(Clone, Copy, Debug)]
pub enum AlignerDirection {
    /// Those of the model.
    Forward,
    /// Those of the model of the other direction, turned.
    Reverse,
    Both(&'static Symmetrization),
    /// Those that are likelier than not by the mean of both, where there are posteriors.
    Likely,
}

impl PartialEq for AlignerDirection {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl AlignerDirection {
    /// Every one that links alone suffice for.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        [Self::Forward, Self::Reverse].into_iter().chain(SYMMETRIZATIONS.iter().map(Self::Both))
    }

    /// Every one of an aligner that has posteriors.
    pub fn of_aligner() -> impl Iterator<Item = Self> + Clone {
        Self::all().chain([Self::Likely])
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Forward => id!("forward"),
            Self::Reverse => id!("reverse"),
            Self::Both(symmetrization) => symmetrization.name,
            Self::Likely => id!("posterior"),
        }
    }

    /// The links of this direction out of those of both.
    pub fn of(&self, links: Directions) -> Vec<Link> {
        match self {
            Self::Forward => links.forward,
            Self::Reverse => links.reverse,
            Self::Both(symmetrization) => (symmetrization.combine)(&links.forward, &links.reverse),
            Self::Likely => links.likely,
        }
    }
}
