//! Text to words with their places, to ids, and back. Hugging Face `tokenizers` inside, so any of
//! its files works: those that [`crate::text::vocab`] makes, and others' with words or subwords.

mod check;
mod file;
mod open;

use std::io::Write as _;
use std::{collections::HashMap, fmt, ops::Range, path::Path, sync::Arc};

use tokenizers::{ModelWrapper, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer as _};
use unicode_normalization::char::is_combining_mark;

use crate::error::{Error, Result};
use crate::text::pieces::{PieceMarks, SPACE};
use crate::text::sentence::{EOS, Sentence, UNK, is_language};
use crate::text::tokenizer::file::{Cutter, Shared};
use crate::text::{cut::WordRule, join::join, unspaced, write::write_inside};

pub use crate::text::tokenizer::open::Tokenizers;

/// A vocabulary and the rules that cut text into its words.
#[derive(Clone)]
pub struct Tokenizer {
    shared: Arc<Shared>,
    eos: Option<u32>,
    language: Option<u32>,
    /// Of the source side of a model the most tokens that it has positions for.
    most: Option<usize>,
    rule: WordRule,
}

/// Whatever reads text as source words: a [`Tokenizer`], or models that read it side by side.
pub trait Encode: fmt::Debug {
    fn encode(&self, text: &str) -> Sentence;
    fn encode_words(&self, words: &[&str]) -> Sentence;
    fn refuses(&self, sentence: &Sentence) -> Option<String>;
}

impl Encode for Tokenizer {
    fn encode(&self, text: &str) -> Sentence {
        Self::encode(self, text)
    }

    fn encode_words(&self, words: &[&str]) -> Sentence {
        Self::encode_words(self, words)
    }

    fn refuses(&self, sentence: &Sentence) -> Option<String> {
        Self::refuses(self, sentence)
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Tokenizer {
    pub fn save(&self, path: &Path) -> Result<()> {
        let json = match &self.shared.cutter {
            Cutter::Library(inner) => {
                inner.to_string(true).map_err(|error| Error::Internal(error.to_string()))?.into_bytes()
            }
            Cutter::Foreign(_, json) => json.clone(),
        };
        write_inside(path, |writer| writer.write_all(&json))
    }

    /// Size of the vocabulary: the greatest id plus 1.
    pub fn len(&self) -> usize {
        self.shared.words.len()
    }

    /// Never true for a tokenizer that was read: it has at least the specials.
    pub fn is_empty(&self) -> bool {
        self.shared.words.is_empty()
    }

    pub fn token(&self, id: u32) -> Option<&str> {
        self.shared.words.get(id as usize).map(String::as_str)
    }

    pub fn id(&self, token: &str) -> Option<u32> {
        self.shared.cutter.id(token)
    }

    pub fn tokens(&self, ids: &[u32]) -> Vec<String> {
        ids.iter().map(|id| self.token(*id).unwrap_or(UNK).to_owned()).collect()
    }

    /// The same tokenizer with or without `</s>` at the end of what it encodes (`source_eos` of the model; with at
    /// first).
    pub fn ending(mut self, eos: bool) -> Self {
        self.eos = if eos { self.id(EOS) } else { None };
        self
    }

    /// The same tokenizer for text that is to be translated into this language, one of [`Tokenizer::languages`].
    pub fn into_language(mut self, language: &str) -> Option<Self> {
        self.language = Some(self.id(&format!(">>{language}<<"))?);
        Some(self)
    }

    /// The same tokenizer for text of a language given by its BCP 47 tag, which says what its words are.
    pub fn of_language(mut self, language: &str) -> Self {
        self.rule = WordRule::of(language, false);
        self
    }

    /// What the words of a text are; those of one that is cut already stand between its spaces.
    pub fn rule(&self, pretokenized: bool) -> WordRule {
        if pretokenized { WordRule::Given } else { self.rule }
    }

    pub fn languages(&self) -> impl Iterator<Item = &str> {
        self.shared.languages.iter().filter_map(|id| self.token(*id)?.strip_prefix(">>")?.strip_suffix("<<"))
    }

    /// The same tokenizer for the source of a model that has positions for so many tokens.
    pub fn of_source(mut self, most: usize) -> Self {
        self.most = Some(most);
        self
    }

    /// Why a model does not read a sentence of its source, as the rest of a sentence that begins with what it is: it
    /// says no target language where there are several, or is too long for its positions.
    pub fn refuses(&self, sentence: &Sentence) -> Option<String> {
        let most = self.most?;
        if sentence.len() > most {
            let pieces = sentence.len();
            return Some(format!(
                "has {pieces} pieces, more than the {most} that this model has positions for; cut it into sentences"
            ));
        }
        let first = self.languages().next()?;
        let is_known = |word: &str| self.id(word).is_some_and(|id| self.shared.languages.contains(&id));
        let typed = sentence.text.split_whitespace().next().filter(|word| is_language(word) && !is_known(word));
        if typed.is_none() && sentence.tokens.first().is_some_and(|word| is_known(word)) {
            return None;
        }
        let why = typed.map_or("says no target language".to_owned(), |typed| format!("begins with {typed}"));
        let known = self.language_list();
        Some(format!(
            "{why}, and the model translates into {known}; choose one in the menu of its column, name the model with one \
             behind it, as `MODEL@{first}`, or begin the text with one, as >>{first}<<"
        ))
    }

    /// The languages of [`Tokenizer::languages`] for a sentence; of many the first.
    pub fn language_list(&self) -> String {
        const MOST: usize = 40;
        let known: Vec<&str> = self.languages().collect();
        match known.len() {
            many @ MOST.. => {
                let named = known[..MOST].join(", ");
                format!("{many} languages, {named} and so on (`interlinear inspect` tells them all)")
            }
            _ => known.join(", "),
        }
    }

    /// Cuts `text` into words with their byte ranges in it, looks each up, and ends with `</s>` unless
    /// [`Tokenizer::ending`] says otherwise. Text without anything visible gives only `</s>`.
    pub fn encode(&self, text: &str) -> Sentence {
        self.led(self.encode_with(text, self.eos))
    }

    fn led(&self, mut sentence: Sentence) -> Sentence {
        let is_named = sentence.tokens.first().is_some_and(|word| is_language(word));
        let Some((id, word)) = self.language.and_then(|id| Some((id, self.token(id)?))).filter(|_| !is_named) else {
            return sentence;
        };
        sentence.ids.insert(0, id);
        sentence.tokens.insert(0, word.to_owned());
        sentence.spans.insert(0, 0..0);
        sentence
    }

    /// As [`Tokenizer::encode`], with the id given that ends the sentence, if any.
    pub fn encode_with(&self, text: &str, eos: Option<u32>) -> Sentence {
        let mut sentence = Sentence { text: text.to_owned(), ..Sentence::default() };
        let cut = self.cut(text);
        if matches!(self.shared.cutter, Cutter::Foreign(..)) {
            for (span, id) in cut {
                self.push(&mut sentence, &text[span.clone()], span, id);
            }
            push_eos(&mut sentence, eos);
            return sentence;
        }
        for (n, (span, id)) in cut.iter().enumerate() {
            let next = cut.get(n + 1).map_or(text.len(), |(span, _)| span.start);
            let span = span.start..end_with_marks(text, span.end, next);
            // Offsets are those of the library; a range that it got wrong must not bring the window down.
            let Some(word) = text.get(span.clone()) else { continue };
            if word.chars().any(is_visible) {
                self.push(&mut sentence, word, span, *id);
            }
        }
        push_eos(&mut sentence, eos);
        sentence
    }

    /// The sentence of words that are already cut, in any script; each is looked up whole, or cut into its pieces
    /// alone. The text is the words joined by spaces.
    pub fn encode_words(&self, words: &[&str]) -> Sentence {
        let mut sentence = Sentence { text: words.join(" "), ..Sentence::default() };
        if self.marks().has_pieces() {
            let text = sentence.text.clone();
            let mut start = 0;
            for word in words {
                for (span, id) in self.cut_at_spaces(word) {
                    let span = start + span.start..start + span.end;
                    let Some(piece) = text.get(span.clone()) else { continue };
                    self.push(&mut sentence, piece, span, id);
                }
                start += word.len() + 1;
            }
            push_eos(&mut sentence, self.eos);
            return self.led(sentence);
        }
        let mut start = 0;
        for word in words {
            let span = start..start + word.len();
            start = span.end + 1;
            let id = self.id(word).or_else(|| self.id(&self.normalize(word)));
            self.push(&mut sentence, word, span, id.unwrap_or(self.shared.unk));
        }
        push_eos(&mut sentence, self.eos);
        self.led(sentence)
    }

    /// The ids of a phrase that is split by spaces already, as those of phrase tables are, but perhaps by other rules:
    /// where the vocabulary is one of whole words, a word that it has is taken whole (`'t`, `-vous`), and any other is
    /// cut. `eos` ends it, if any.
    pub fn encode_phrase(&self, phrase: &str, eos: Option<u32>) -> Vec<u32> {
        let is_word_list = |inner: &tokenizers::Tokenizer| matches!(inner.get_model(), ModelWrapper::WordLevel(_));
        if !matches!(&self.shared.cutter, Cutter::Library(inner) if is_word_list(inner)) {
            return self.led(self.encode_with(phrase, eos)).ids;
        }
        let mut ids = Vec::new();
        for word in phrase.split_whitespace() {
            match self.id(word).or_else(|| self.id(&self.normalize(word))).filter(|_| word != EOS) {
                Some(id) => ids.push(id),
                None => ids.extend(self.encode_with(word, None).ids),
            }
        }
        ids.extend(eos);
        ids
    }

    /// The words of `text` as normalised, before they are looked up: what a vocabulary is counted over.
    pub fn words(&self, text: &str) -> Vec<String> {
        match unspaced::cut(text).filter(|_| !self.shared.crosses_spaces) {
            Some(words) => words.into_iter().flat_map(|word| self.words_at_spaces(word)).collect(),
            None => self.words_at_spaces(text),
        }
    }

    fn words_at_spaces(&self, text: &str) -> Vec<String> {
        let mut pieces = PreTokenizedString::from(self.normalize(text));
        let rule = match &self.shared.cutter {
            Cutter::Library(inner) => inner.get_pre_tokenizer().map(|rule| rule.pre_tokenize(&mut pieces)),
            Cutter::Foreign(..) => return text.split_whitespace().map(str::to_owned).collect(),
        };
        if rule.is_some_and(|rule| rule.is_err()) {
            return text.split_whitespace().map(str::to_owned).collect();
        }
        let words =
            pieces.get_splits(OffsetReferential::Normalized, OffsetType::None).into_iter().map(|(word, _, _)| word);
        words.filter(|word| word.chars().any(is_visible)).map(str::to_owned).collect()
    }

    pub fn marks(&self) -> &PieceMarks {
        &self.shared.marks
    }

    /// The words that some entries of the vocabulary make up, each as a range of them; `</s>` is one.
    pub fn word_ranges(&self, ids: &[u32]) -> Vec<Range<usize>> {
        let pieces: Vec<&str> = ids.iter().map(|id| self.token(*id).unwrap_or(UNK)).collect();
        self.marks().words(&pieces, self.rule)
    }

    pub fn join<T: AsRef<str>>(&self, language: &str, tokens: &[T]) -> String {
        if self.shared.only_spaces || self.marks().are_spaces() {
            let said: Vec<&str> = tokens.iter().map(AsRef::as_ref).filter(|token| *token != EOS).collect();
            return self.spaced(&said);
        }
        if !self.marks().has_pieces() {
            return join(language, tokens);
        }
        let words = self.marks().chunks(tokens).into_iter().map(|chunk| self.marks().word(&tokens[chunk]));
        join(language, &words.collect::<Vec<_>>())
    }

    pub fn spaced<T: AsRef<str>>(&self, tokens: &[T]) -> String {
        let words = self.marks().chunks(tokens).into_iter().map(|chunk| self.marks().word(&tokens[chunk]));
        words.collect::<Vec<_>>().join(" ")
    }

    fn cut(&self, text: &str) -> Vec<(Range<usize>, u32)> {
        let ends_at_spaces = self.shared.only_spaces || !self.shared.crosses_spaces;
        let Some(words) = ends_at_spaces.then(|| unspaced::cut(text)).flatten() else {
            return self.cut_at_spaces(text);
        };
        let mut found = Vec::new();
        for word in words {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            let shifted = |(span, id): (Range<usize>, u32)| (start + span.start..start + span.end, id);
            found.extend(self.cut_at_spaces(word).into_iter().map(shifted));
        }
        found
    }

    /// Byte ranges and ids. A text that the library refuses (a foreign file without rules for unknown words) is cut at
    /// whitespace, all of it unknown.
    fn cut_at_spaces(&self, text: &str) -> Vec<(Range<usize>, u32)> {
        if let Cutter::Foreign(foreign, _) = &self.shared.cutter {
            return foreign.cut(text);
        }
        let Some(encoding) = self.shared.encode(text) else {
            let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
            return text
                .split_whitespace()
                .map(|word| (place(word)..place(word) + word.len(), self.shared.unk))
                .collect();
        };
        let spans = encoding.get_offsets().iter().map(|(start, end)| *start..*end);
        let cut = spans.zip(encoding.get_ids().iter().copied());
        if !self.marks().has_pieces() {
            return cut.collect();
        }
        self.unknown_whole(cut.zip(encoding.get_word_ids().iter().copied()))
    }

    /// A word with a piece that is unknown is unknown whole, so that `[UNK]` is always a word. Foreign rules keep the
    /// other pieces, as their models do.
    fn unknown_whole(&self, cut: impl Iterator<Item = ((Range<usize>, u32), Option<u32>)>) -> Vec<(Range<usize>, u32)> {
        let mut words: Vec<(Range<usize>, u32)> = Vec::new();
        // Where the word that is being read begins among `words`.
        let (mut first, mut current) = (0, None);
        for ((span, id), word) in cut {
            if word.is_none() || word != current {
                (first, current) = (words.len(), word);
            }
            let unknown = id == self.shared.unk || words.get(first).is_some_and(|(_, id)| *id == self.shared.unk);
            if unknown && first < words.len() {
                let start = words[first].0.start;
                words.truncate(first);
                words.push((start..span.end, self.shared.unk));
            } else {
                words.push((span, id));
            }
        }
        words
    }

    fn normalize(&self, text: &str) -> String {
        self.shared.fold(text).unwrap_or_else(|| text.to_owned())
    }

    fn push(&self, sentence: &mut Sentence, word: &str, span: Range<usize>, id: u32) {
        // `</s>` that somebody typed is text, not the end of the sentence.
        let typed_special = self.token(id) == Some(EOS);
        sentence.ids.push(if typed_special { self.shared.unk } else { id });
        // A piece for which nothing is typed, such as the space before a word, has its own name.
        let is_mark = word.is_empty() && matches!(self.shared.cutter, Cutter::Foreign(..));
        let word = if is_mark { self.token(id).filter(|mark| *mark != UNK).unwrap_or(SPACE) } else { word };
        sentence.tokens.push(word.to_owned());
        sentence.spans.push(span);
    }
}

/// A tokenizer with a memory of the chunks that it has seen: many times faster on a corpus, without spans. Where the
/// rules look beyond a space, as those of byte-level vocabularies do, lines are read whole, without a memory.
#[derive(Debug)]
pub struct CorpusEncoder<'a> {
    tokenizer: &'a Tokenizer,
    chunks: HashMap<String, Box<[u32]>>,
}

const REMEMBERED: usize = 2_000_000;

impl<'a> CorpusEncoder<'a> {
    pub fn new(tokenizer: &'a Tokenizer) -> Self {
        Self { tokenizer, chunks: HashMap::new() }
    }

    /// Appends the ids of `line`, without `</s>`.
    pub fn extend(&mut self, line: &str, ids: &mut Vec<u32>) {
        if self.tokenizer.shared.crosses_spaces {
            ids.extend(self.tokenizer.encode_with(line, None).ids);
            return;
        }
        for chunk in unspaced::words(line).flat_map(str::split_whitespace) {
            if let Some(known) = self.chunks.get(chunk) {
                ids.extend_from_slice(known);
                continue;
            }
            let new = self.tokenizer.encode_with(chunk, None).ids;
            ids.extend_from_slice(&new);
            if self.chunks.len() < REMEMBERED {
                self.chunks.insert(chunk.to_owned(), new.into_boxed_slice());
            }
        }
    }
}

fn push_eos(sentence: &mut Sentence, eos: Option<u32>) {
    if let Some(eos) = eos {
        let end = sentence.text.len();
        sentence.ids.push(eos);
        sentence.tokens.push(EOS.to_owned());
        sentence.spans.push(end..end);
    }
}

/// The end of a word with the combining marks that follow before the next word: where they were composed with its last
/// letter, the library counts that letter alone.
fn end_with_marks(text: &str, end: usize, next: usize) -> usize {
    let rest = text.get(end..next).unwrap_or_default();
    end + rest.find(|c| !is_combining_mark(c)).unwrap_or(rest.len())
}

fn is_visible(c: char) -> bool {
    let without_width = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    !(c.is_whitespace() || c.is_control() || without_width)
}
