//! The view model of a column, made from one hypothesis: words and numbers, no pixels.

use std::{borrow::Cow, ops::Range, sync::Arc};

use crate::app::{document::variant::VariantLabel, settings::Shown};
use crate::jobs::live::protocol::{HypothesisView, Pieces};
use engine::analysis::alignment::{Alignment, greatest};
use engine::analysis::measures::{HeadMatrix, MEASURES, Measure, Tested};
use engine::analysis::words::{merge_alpha, merge_energies, merge_log_p, over_words};
use engine::analysis::{
    ablation::AblationMeans, hard, hard::AlignmentAgreement, omission, row_convention::RowConvention,
};
use engine::interventions::{Applied, Said};
use engine::models::transformer::heads::{HeadKind, HeadPlace};
use engine::text::sentence::{EOS, Sentence, is_language};
use engine::text::words::{SideWords, WordPlaces, whole_words, without_end};
use engine::text::{cut::WordRule, links::Links};
use figure::heatmap::outlines;
use figure::label::{Hand, target_text};

/// A source word x_j.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any of them may hold together")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceWord {
    /// As typed; `</s>` for the end.
    pub text: String,
    /// Where it is in the typed text, in bytes; empty for `</s>`.
    pub span: Range<usize>,
    /// The model does not know it and reads `[UNK]`.
    pub is_unk: bool,
    pub is_eos: bool,
    /// It is the target language that was chosen, and not typed.
    pub is_language: bool,
    /// Sum of alpha_ij over the target words so far; 0 without alignment.
    pub coverage: f32,
    /// A person has taken its weight in every row that is not pinned.
    pub is_masked: bool,
    /// The translation probably leaves it out.
    pub is_left_out: bool,
}

/// A target word y_i.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any of them may hold together")]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetWord {
    /// As the vocabulary writes it, `[UNK]` and `</s>` included.
    pub text: String,
    pub is_unk: bool,
    pub is_eos: bool,
    /// It probably repeats what was said just before.
    pub is_repeated: bool,
    /// For `[UNK]` the typed word of greatest alpha; in a given translation the word that was given there.
    pub replaced: Option<String>,
    pub is_given: bool,
    /// log p(y_i | y_<i, x).
    pub log_p: f32,
    /// p(y_i | y_<i, x), from 0 to 1.
    pub probability: f32,
    /// Not shared with the output of the first column that has one (there: with any other), by longest common subsequence.
    pub differs: bool,
    /// The best words at this position with their probabilities, best first; of several pieces those at the first.
    pub candidates: Vec<(String, f32)>,
    /// Its pieces, where it has several and is shown as one.
    pub pieces: Vec<String>,
    /// The word, or its first piece, as the vocabulary writes it.
    pub entry: String,
    pub said: Said,
    /// A person has set a row of its alpha.
    pub is_pinned: bool,
}

/// What a column draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlignmentTable {
    /// Changes whenever anything here changes; textures may be kept by it.
    pub revision: u64,
    pub source: Vec<SourceWord>,
    pub target: Vec<TargetWord>,
    /// alpha_ij, or alpha'_ij of an alignment head; `None` without alignment and where it was too large.
    pub alpha: Option<Alignment>,
    /// e_ij, NaN at words that have none; `None` as alpha is.
    pub energies: Option<Alignment>,
    pub measured: Vec<MeasuredTable>,
    /// The means of the standard tests of its words, where they were made.
    pub tests: Option<AblationMeans>,
    /// Aligned position p_t of each target word, NaN without a row; `None` if not local, or if it counts pieces.
    pub p_t: Option<Vec<f32>>,
    pub reading: Option<RowConvention>,
    pub units: Option<Units>,
    /// The links that are outlined, where any are: [`Settings::outlined`](crate::app::settings::Settings::outlined) says whose.
    pub links: Option<Links>,
    /// How far alpha and the links of a statistical aligner agree, where those are outlined.
    pub agreement: Option<AlignmentAgreement>,
    /// The model has an alignment here, but it was too large to keep (see [`LEFT_OUT`]).
    pub left_out: bool,
    pub text: String,
    /// log p(y | x).
    pub log_p: f32,
    /// log p of the words that were held or forced, and of those that the model chose, where a person has set any.
    pub log_p_parts: Option<(f32, f32)>,
    pub touched: Option<Arc<Applied>>,
    /// Which hypothesis of the beam, from 0.
    pub hypothesis: usize,
    pub is_given: bool,
    pub variant: Option<Arc<VariantLabel>>,
}

/// Dependence of the words on each source word by one measure; a row is that of the word it predicts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredTable {
    /// Its place in `MEASURES`.
    pub measure: usize,
    /// Numbers of the words that are shown; columns are added over the pieces of a word and rows averaged, as of alpha.
    pub matrix: Alignment,
    /// alpha and energies of the same steps, those that predict the words, whatever the reading of the table.
    pub alpha: Option<Alignment>,
    pub energies: Option<Alignment>,
    /// Kendall's tau-b between its rows and those of that alpha, the mean over tokens.
    pub kendall: Option<f64>,
    /// Every head of a Transformer, those of cross-attention and of layer 1 first; none but where they were measured.
    pub heads: Vec<HeadTable>,
}

impl MeasuredTable {
    pub fn is_tested(&self) -> bool {
        MEASURES.get(self.measure).is_some_and(Measure::is_tested)
    }
}

/// Where a head of a Transformer looks, in the words that are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadTable {
    pub place: HeadPlace,
    /// Of cross-attention [target, source]; of the source [source, source]; of the target [read, read from y_0].
    pub alpha: Alignment,
    /// What leaving it out does, where that was measured: Jensen-Shannon divergence, nats, the mean over the target words.
    pub js: Option<f64>,
    pub is_alignment: bool,
}

pub const GIVEN: &str = id!("your translation, not the model's");

pub const LEFT_OUT: &str =
    id!("The alignment of this hypothesis was too large to keep; a shorter text or a smaller beam shows it");

impl SourceWord {
    pub fn is_word(&self) -> bool {
        !self.is_eos && !self.is_language
    }

    pub fn hand(&self) -> Hand {
        Hand { said: Said::Free, is_set: self.is_masked }
    }
}

impl TargetWord {
    /// As it is shown; `replace` puts the source word first that `[UNK]` probably stands for.
    pub fn label(&self, replace: bool) -> Cow<'_, str> {
        target_text(&self.text, self.is_unk, self.replaced.as_deref(), replace || self.is_given)
    }

    pub fn hand(&self) -> Hand {
        Hand { said: self.said, is_set: self.is_pinned }
    }

    pub fn set_text(&self) -> String {
        let said = self.said.name().map(|name| format!(", {name}")).unwrap_or_default();
        format!("{said}{}", if self.is_pinned { tr!(", alpha set by hand") } else { "" })
    }
}

/// What the tokens of a table are, where a vocabulary has pieces of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// Words: columns of alpha are added and rows averaged over the pieces.
    Words,
    Pieces,
}

impl Units {
    pub fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Pieces => "pieces",
        }
    }
}

/// Parameters of a table besides its hypothesis.
#[derive(Clone, Copy, Debug, Default)]
pub struct Making<'a> {
    /// The ids of `</s>` and `[UNK]`.
    pub specials: Option<(u32, u32)>,
    /// How rows are read where there is a choice, with the delay of the reading `input`.
    pub reading: Option<(RowConvention, usize)>,
    pub pieces: bool,
    pub links: Option<&'a Links>,
    /// The reading of the rows whose links are outlined instead.
    pub outlined: Option<(RowConvention, usize)>,
    pub is_given: bool,
    pub variant: Option<&'a Arc<VariantLabel>>,
    /// BCP 47 tags of source and target.
    pub languages: (&'a str, &'a str),
    pub tested: &'a [Arc<Tested>],
}

pub fn tested_for<'a>(
    tested: &'a [Arc<Tested>], source: &'a Sentence, shown: &'a HypothesisView,
) -> impl Iterator<Item = &'a Arc<Tested>> {
    let is_it = |tested: &&Arc<Tested>| {
        let is_same = tested.source == source.ids && tested.target == shown.found.tokens;
        is_same && tested.left_out == shown.touched.form.leave_out
    };
    tested.iter().filter(is_it)
}

pub fn build(source: &Sentence, shown: &HypothesisView, hypothesis: usize, making: &Making<'_>) -> AlignmentTable {
    let (reading, delay) = making.reading.unwrap_or_default();
    let pieces = shown.pieces.as_ref().filter(|_| !making.pieces);
    let is_step = reading != RowConvention::Head;
    let alpha = rows_by(shown, (reading, delay));
    let energies = shown.found.energies.as_deref().filter(|_| is_step);
    let energies = energies.map(|rows| cut(reading.read_after(delay, rows), shown.tokens.len()));
    let mut table = AlignmentTable {
        source: source_words(source, pieces, making.specials),
        target: target_words(shown, pieces)
            .into_iter()
            .map(|word| TargetWord { is_given: making.is_given, ..word })
            .collect(),
        reading: making.reading.map(|(reading, _)| reading).filter(|_| alpha.is_some()),
        units: shown.pieces.as_ref().map(|_| if making.pieces { Units::Pieces } else { Units::Words }),
        left_out: shown.found.left_out,
        text: shown.text.clone(),
        log_p: shown.found.log_p,
        hypothesis,
        is_given: making.is_given,
        variant: making.variant.cloned(),
        ..AlignmentTable::default()
    };
    let rows = table.target.len();
    table.alpha = alpha.map(|alpha| table.added(alpha, pieces));
    table.energies = energies.map(|energies| table.energies_of(energies, pieces));
    if pieces.is_none() {
        let p_t = shown.found.p_t.as_deref().filter(|_| is_step).map(|p_t| reading.read_after(delay, p_t));
        table.p_t = p_t.map(|p_t| (0..rows).map(|i| p_t.get(i).copied().unwrap_or(f32::NAN)).collect());
    }
    if let Some(alpha) = &table.alpha {
        for (j, word) in table.source.iter_mut().enumerate() {
            word.coverage = (0..alpha.rows()).filter_map(|i| alpha.get(i, j)).sum();
        }
    }
    for tested in tested_for(making.tested, source, shown) {
        table.measure(tested, shown, pieces);
    }
    if *shown.touched != Applied::default() {
        table.touch(shown, pieces, making.reading.unwrap_or_default());
    }
    if let Some(rows) = making.outlined.and_then(|of| rows_by(shown, of)) {
        // of all that is shown, `</s>` too; sure from the higher weight on
        let weights = table.added(rows, pieces);
        let [sure, possible] = outlines::FROM.map(|least| hard::links_above(&weights, least));
        table.links = Some(Links::new(sure, possible));
    } else if let Some(links) = making.links {
        table.agreement = alpha.and_then(|rows| agreement(source, shown, (rows, reading), links));
        table.links = Some(match shown.pieces.as_ref().filter(|_| making.pieces) {
            Some(pieces) => links.spread(&pieces.source, &pieces.target),
            None => links.clone(),
        });
    }
    let is_whole = shown.found.finished && table.units != Some(Units::Pieces);
    if is_whole && !making.is_given {
        table.doubt(shown, pieces, making.languages);
    }
    table
}

/// How far alpha and links agree over the words of the texts; `None` if the tokens are not the texts.
fn agreement(
    source: &Sentence, shown: &HypothesisView, (rows, reading): (&[Vec<f32>], RowConvention), links: &Links,
) -> Option<AlignmentAgreement> {
    let (source, target) = sides(source, shown)?;
    let links = links.spread(&source.places.places, &target.places.places);
    let mut agreement = AlignmentAgreement::default();
    for link in reading.links(&over_words(rows, &source, &target)) {
        agreement.add(link.target, link.source, &links);
    }
    Some(agreement)
}

/// The words of a sentence and of a translation with their tokens; `None` if the tokens are not the texts.
pub(crate) fn sides(source: &Sentence, shown: &HypothesisView) -> Option<(SideWords, SideWords)> {
    sides_by(shown.rules, source, shown)
}

pub(crate) fn sides_by(
    rules: [WordRule; 2], source: &Sentence, shown: &HypothesisView,
) -> Option<(SideWords, SideWords)> {
    let singles = |count: usize| (0..count).map(|i| i..i + 1).collect();
    let (x, y, said) = match &shown.pieces {
        Some(pieces) => (pieces.source.clone(), pieces.target.clone(), &pieces.words),
        None => (singles(source.len()), singles(shown.tokens.len()), &shown.tokens),
    };
    let places = WordPlaces::of_sentence(&whole_words(source, &x), &source.text, rules[0])?;
    let source = SideWords { words: x, places };
    Some((source, SideWords { words: y, places: WordPlaces::of_parts(without_end(said), &shown.text, rules[1])? }))
}

/// The rows of alpha, or of the alignment head, by the tokens that they belong to; `None` where there are none.
pub(crate) fn rows_by(shown: &HypothesisView, (reading, delay): (RowConvention, usize)) -> Option<&[Vec<f32>]> {
    let rows = if reading == RowConvention::Head { &shown.found.head } else { &shown.found.alpha };
    rows.as_deref().map(|rows| cut(reading.read_after(delay, rows), shown.tokens.len()))
}

fn cut<T>(rows: &[T], count: usize) -> &[T] {
    &rows[..rows.len().min(count)]
}

/// The words that have some of the first `count` rows, each with those pieces that have one.
fn with_rows(target: &[Range<usize>], count: usize) -> Vec<Range<usize>> {
    let clipped = target.iter().map(|word| word.start.min(count)..word.end.min(count));
    clipped.take_while(|word| !word.is_empty()).collect()
}

impl AlignmentTable {
    /// The target word that is the same as word i of another output, the one nearest to its place.
    pub fn like_target(&self, other: &Self, i: usize) -> Option<usize> {
        let word = &other.target.get(i)?.text;
        let likes = self.target.iter().enumerate().filter(|(_, own)| own.text == *word);
        likes.map(|(at, _)| at).min_by_key(|at| at.abs_diff(i))
    }

    fn touch(&mut self, shown: &HypothesisView, pieces: Option<&Pieces>, reading: (RowConvention, usize)) {
        let touched = &shown.touched;
        let (reading, delay) = reading;
        let rows = shown.found.alpha.as_ref().map_or(0, Vec::len);
        let (pinned, masked) = (touched.pinned(), touched.masked());
        let is_step = reading != RowConvention::Head;
        let is_pinned =
            |token| is_step && reading.row_after(delay, token, rows).is_some_and(|row| pinned.contains(&row));
        for (i, word) in self.target.iter_mut().enumerate() {
            let tokens = pieces.map_or(i..i + 1, |pieces| pieces.target[i].clone());
            word.said = tokens.clone().map(|token| touched.said(token)).max().unwrap_or_default();
            word.is_pinned = tokens.into_iter().any(is_pinned);
        }
        for (j, word) in self.source.iter_mut().enumerate() {
            let tokens = pieces.map_or(j..j + 1, |pieces| pieces.source[j].clone());
            word.is_masked = tokens.into_iter().all(|token| masked.contains(&token));
        }
        self.log_p_parts = touched.has_words().then(|| touched.parts(&shown.found.token_log_p));
        self.touched = Some(Arc::clone(touched));
    }

    pub fn numbers(&self, shown: Shown) -> Option<&Alignment> {
        match shown {
            Shown::Alpha => self.alpha.as_ref(),
            Shown::Energies => self.energies.as_ref(),
            Shown::Measure(_) => self.measured(shown).map(|measured| &measured.matrix),
        }
    }

    pub fn measured(&self, shown: Shown) -> Option<&MeasuredTable> {
        let Shown::Measure(measure) = shown else { return None };
        self.measured.iter().rev().find(|measured| measured.measure == measure)
    }

    pub fn measured_text(&self, measured: &MeasuredTable) -> String {
        let mut parts = Vec::new();
        let step = if self.reading.is_some_and(|reading| reading != RowConvention::Predicted) {
            tr!(" of the same step")
        } else {
            ""
        };
        parts.extend(
            measured
                .kendall
                .map(|tau| tr!("Kendall's tau with alpha{step} {tau}", step, tau = format_args!("{tau:.2}"))),
        );
        let means = self.tests.as_ref().filter(|_| measured.is_tested());
        for (name, words) in [("js_uniform", tr!("JS of uniform alpha")), ("js_permuted", tr!("of permuted alpha"))] {
            let mean = means.and_then(|means| means.named(name));
            parts.extend(mean.map(|mean| tr!("{words} {mean} nats", words, mean = format_args!("{mean:.3}"))));
        }
        parts.join(", ")
    }

    /// Rows of tokens as rows of the words that are shown: columns are added over the pieces of a word, rows averaged.
    fn added(&self, rows: &[Vec<f32>], pieces: Option<&Pieces>) -> Alignment {
        let all = Alignment::from_rows(rows);
        let words = pieces.map(|of| merge_alpha(&all, &of.source, &with_rows(&of.target, rows.len())));
        words.unwrap_or(all).resized(self.target.len(), self.source.len(), 0.0)
    }

    /// Marks what is probably left out, by the alignment head, and what is repeated.
    fn doubt(&mut self, shown: &HypothesisView, pieces: Option<&Pieces>, languages: (&str, &str)) {
        let source: Vec<&str> =
            self.source.iter().map(|word| if word.is_word() { word.text.as_str() } else { "" }).collect();
        let target: Vec<Option<&str>> =
            self.target.iter().map(|word| Some(word.text.as_str()).filter(|_| !word.is_unk && !word.is_eos)).collect();
        let repeated = omission::repeated(&target, &source, languages.1);
        let last = self.target.iter().position(|word| word.is_eos).unwrap_or(self.target.len());
        let head = shown.found.head.as_deref().map(|rows| self.added(cut(rows, shown.tokens.len()), pieces));
        let head = head.map(|head| head.resized(last, self.source.len(), 0.0));
        let left_out = head.map_or_else(Vec::new, |head| omission::left_out(&head, &source, languages.0));
        left_out.into_iter().for_each(|j| self.source[j].is_left_out = true);
        repeated.into_iter().for_each(|i| self.target[i].is_repeated = true);
    }

    fn energies_of(&self, rows: &[Vec<f32>], pieces: Option<&Pieces>) -> Alignment {
        let words = pieces.map(|of| merge_energies(rows, &of.source, &with_rows(&of.target, rows.len())));
        Alignment::from_rows(words.as_deref().unwrap_or(rows)).resized(self.target.len(), self.source.len(), f32::NAN)
    }

    /// Adds what was measured, with alpha and energies of the steps that it was measured at.
    fn measure(&mut self, tested: &Tested, shown: &HypothesisView, pieces: Option<&Pieces>) {
        let steps = |rows| cut(rows, shown.tokens.len());
        let alpha = shown.found.alpha.as_deref().map(|rows| self.added(steps(rows), pieces));
        let energies = shown.found.energies.as_deref().map(|rows| self.energies_of(steps(rows), pieces));
        let made = tested.measured.iter().map(|measured| MeasuredTable {
            measure: measured.measure,
            matrix: self.added(&measured.rows, pieces),
            alpha: alpha.clone(),
            energies: energies.clone(),
            kendall: measured.kendall,
            heads: measured.heads.iter().map(|head| self.head(head, pieces)).collect(),
        });
        let made: Vec<MeasuredTable> = made.collect();
        self.measured.extend(made);
        self.tests = tested.means.clone().or(self.tests.take());
    }

    fn head(&self, head: &HeadMatrix, pieces: Option<&Pieces>) -> HeadTable {
        let all = Alignment::from_rows(&head.rows);
        let words: Option<Vec<Range<usize>>> = pieces.map(|of| match head.place.attention {
            HeadKind::Target => {
                let read = with_rows(&of.target, all.rows().saturating_sub(1));
                std::iter::once(0..1).chain(read.iter().map(|word| word.start + 1..word.end + 1)).collect()
            }
            HeadKind::Cross | HeadKind::Source => of.source.clone(),
        });
        let alpha = match (head.place.attention, words) {
            (HeadKind::Cross, _) => self.added(&head.rows, pieces),
            (_, Some(words)) => merge_alpha(&all, &words, &words),
            (_, None) => all,
        };
        HeadTable { place: head.place, alpha, js: head.js, is_alignment: head.is_alignment }
    }

    /// The source word of greatest alpha of target word i, without `</s>` and language; `None` if there is none.
    pub fn looks_at(&self, i: usize) -> Option<usize> {
        let first = self.source.iter().position(SourceWord::is_word)?;
        let words = self.source.iter().position(|word| word.is_eos).unwrap_or(self.source.len());
        Some(first + greatest(self.alpha.as_ref()?.row(i).get(first..words)?)?)
    }
}

/// Links between the words of the texts as links between the words of the vocabularies that cover them.
pub(crate) fn of_vocabulary(links: &Links, source: &SideWords, target: &SideWords) -> Links {
    let parts = |side: &SideWords| -> Vec<Range<usize>> {
        let of = |word| {
            let mut parts = side.places.parts_of(word);
            parts.next().map_or(0..0, |first| first..parts.last().unwrap_or(first) + 1)
        };
        (0..side.places.words).map(of).collect()
    };
    links.spread(&parts(source), &parts(target))
}

fn source_words(source: &Sentence, pieces: Option<&Pieces>, specials: Option<(u32, u32)>) -> Vec<SourceWord> {
    let is_unk = |j: usize| specials.is_some_and(|(_, unk)| source.ids.get(j) == Some(&unk));
    match pieces {
        None => (0..source.len()).map(|j| source_word(source, j..j + 1, is_unk(j))).collect(),
        Some(pieces) => {
            let of = |word: &Range<usize>| source_word(source, word.clone(), word.clone().any(is_unk));
            pieces.source.iter().map(of).collect()
        }
    }
}

fn source_word(source: &Sentence, tokens: Range<usize>, is_unk: bool) -> SourceWord {
    let span = span(source, &tokens);
    let first = source.tokens.get(tokens.start).cloned().unwrap_or_default();
    // Someone may type `</s>`; only the one that was added has no place in the text.
    let (is_eos, is_language) = if span.is_empty() { (first == EOS, is_language(&first)) } else { (false, false) };
    let typed = if tokens.len() > 1 { source.text.get(span.clone()).map(str::to_owned) } else { None };
    SourceWord { is_unk, is_eos, is_language, text: typed.unwrap_or(first), span, ..SourceWord::default() }
}

pub fn span(source: &Sentence, tokens: &Range<usize>) -> Range<usize> {
    let at = |j: usize| source.spans.get(j).cloned().unwrap_or_default();
    at(tokens.start).start..at(tokens.end.saturating_sub(1).max(tokens.start)).end
}

pub(crate) fn target_words(shown: &HypothesisView, pieces: Option<&Pieces>) -> Vec<TargetWord> {
    let Some(pieces) = pieces else { return (0..shown.tokens.len()).map(|i| target_word(shown, i)).collect() };
    let log_p = merge_log_p(&shown.found.token_log_p, &pieces.target);
    let word = |((tokens, text), log_p): ((&Range<usize>, &String), f32)| {
        let first = target_word(shown, tokens.start);
        if tokens.len() <= 1 {
            return TargetWord { text: text.clone(), ..first };
        }
        let pieces = shown.tokens.get(tokens.clone()).unwrap_or_default().to_vec();
        TargetWord { text: text.clone(), log_p, probability: log_p.exp(), pieces, ..first }
    };
    pieces.target.iter().zip(&pieces.words).zip(log_p).map(word).collect()
}

fn target_word(shown: &HypothesisView, i: usize) -> TargetWord {
    let text = shown.tokens[i].clone();
    let log_p = shown.found.token_log_p.get(i).copied().unwrap_or(f32::NEG_INFINITY);
    let candidates = shown.candidates.get(i).map_or(&[][..], Vec::as_slice);
    TargetWord {
        is_unk: shown.is_unk.get(i).copied().unwrap_or(false),
        is_eos: text == EOS,
        replaced: shown.replaced.get(i).cloned().flatten(),
        log_p,
        probability: log_p.exp(),
        candidates: candidates.iter().map(|(word, log_p)| (word.clone(), log_p.exp())).collect(),
        entry: text.clone(),
        text,
        ..TargetWord::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_one_piece_was_not_found_among_its_candidates() {
        let pieces =
            Pieces { target: std::iter::once(0..1).collect(), words: vec!["house".to_owned()], ..Pieces::default() };
        let shown = HypothesisView { tokens: vec!["\u{2581}house".to_owned()], ..HypothesisView::default() };
        let words = target_words(&shown, Some(&pieces));
        assert_eq!((words[0].text.as_str(), words[0].entry.as_str()), ("house", "\u{2581}house"));
    }
}
