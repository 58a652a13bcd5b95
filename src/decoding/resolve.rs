//! Floor 4: interventions of a file, in words, as those of one model and one sentence, in ids; and back.

use std::ops::Range;

use crate::decoding::intervention::Intervention;
use crate::error::Result;
use crate::text::interventions::{Alpha, Forbid, Force, Interventions, Origin, Pin, Place};
use crate::text::sentence::{Sentence, UNK};
use crate::text::tokenizer::Tokenizer;

/// The model that interventions are read for.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// Its target words.
    pub target: &'a Tokenizer,
    /// Whether it has an alignment.
    pub aligns: bool,
}

/// A source sentence, and which of its tokens make up each word.
#[derive(Clone, Copy, Debug)]
pub struct Read<'a> {
    /// The sentence.
    pub sentence: &'a Sentence,
    /// Its words, `</s>` being one.
    pub words: &'a [Range<usize>],
}

/// What is wrong, with the key.
type Wrong = (String, String);
type Resolved<T> = std::result::Result<T, Wrong>;

impl Reader<'_> {
    /// The interventions as those of a sentence.
    ///
    /// # Errors
    /// A sentence that names the key: a word that the model does not know, a position that there is not, alpha where
    /// the model has none, another sentence than the one that they were made for.
    pub fn resolve(&self, file: &Interventions, origin: &Origin, source: Read<'_>) -> Result<Vec<Intervention>> {
        let all = || {
            let mut list = self.targets(file)?;
            list.extend(sources(file, source)?);
            Ok(list)
        };
        all().map_err(|(key, message): Wrong| origin.wrong(&key, &message))
    }

    /// What can be checked without a sentence.
    pub fn check(&self, file: &Interventions, origin: &Origin) -> Result<()> {
        self.targets(file).map(|_| ()).map_err(|(key, message)| origin.wrong(&key, &message))
    }

    /// What concerns the target alone.
    fn targets(&self, file: &Interventions) -> Resolved<Vec<Intervention>> {
        let keys = [
            ("pin", !file.pin.is_empty()),
            ("mask", !file.mask.is_empty()),
            ("temperature", file.temperature.is_some()),
        ];
        if let Some((key, _)) = keys.into_iter().find(|(_, given)| *given && !self.aligns) {
            let message = "changes the alignment, but this model has none; take it out or choose a model that aligns";
            return Err((key.to_owned(), message.to_owned()));
        }
        let mut list = Vec::new();
        let prefix = self.ids(&file.prefix, "prefix")?;
        list.extend(prefix.into_iter().enumerate().map(|(i, token)| Intervention::Force { i, token }));
        for (n, Force { position, word, held: _ }) in file.force.iter().enumerate() {
            let first = from_one(*position, || format!("force[{n}].position"))?;
            let ids = self.ids(word, &format!("force[{n}].word"))?;
            list.extend(ids.into_iter().enumerate().map(|(k, token)| Intervention::Force { i: first + k, token }));
        }
        for (n, Forbid { position, word }) in file.forbid.iter().enumerate() {
            let i = position.map(|position| from_one(position, || format!("forbid[{n}].position"))).transpose()?;
            let key = format!("forbid[{n}].word");
            let ids = self.ids(word, &key)?;
            let [token] = ids[..] else {
                let message = format!(
                    "\"{word}\" is {} pieces in this vocabulary, and each occurs in other words; name one piece",
                    ids.len()
                );
                return Err((key, message));
            };
            list.push(Intervention::Forbid { i, token });
        }
        for (n, pin) in file.pin.iter().enumerate() {
            from_one(pin.row, || format!("pin[{n}].row"))?;
        }
        Ok(list)
    }

    /// The ids of a text: an entry of the vocabulary as it writes it, or words that the tokenizer cuts.
    fn ids(&self, text: &str, key: &str) -> Resolved<Vec<u32>> {
        if let Some(id) = self.target.id(text) {
            return Ok(vec![id]);
        }
        let ids = self.target.encode_phrase(text, None);
        let unknown = self.target.id(UNK);
        match text.split_whitespace().find(|word| {
            let ids = self.target.encode_phrase(word, None);
            *word != UNK && (ids.is_empty() || ids.iter().any(|id| Some(*id) == unknown))
        }) {
            Some(word) => {
                let message = format!(
                    "has \"{word}\", which this model cannot say; choose a word of its vocabulary, or {UNK} for an unknown word"
                );
                Err((key.to_owned(), message))
            }
            None if ids.is_empty() && key != "prefix" => Err((key.to_owned(), "is empty; name a word".to_owned())),
            None => Ok(ids),
        }
    }

    /// Interventions of a sentence as a file has them, in this model's words.
    pub fn describe(&self, list: &[Intervention], source: Option<&str>) -> Interventions {
        let word = |token: u32| self.target.token(token).unwrap_or(UNK).to_owned();
        let mut file = Interventions { source: source.map(str::to_owned), ..Interventions::default() };
        for one in list {
            match one {
                Intervention::Pin { i, alpha } => {
                    file.pin.push(Pin { row: i + 1, alpha: Alpha::Weights(alpha.clone()) });
                }
                Intervention::Permute { i, seed } => {
                    file.pin.push(Pin { row: i + 1, alpha: Alpha::Permuted(*seed) });
                }
                Intervention::Mask { j } => file.mask.push(Place::Position(j + 1)),
                Intervention::Temperature(t) => file.temperature = Some(*t),
                Intervention::Force { i, token } => {
                    file.force.push(Force { position: i + 1, word: word(*token), held: false });
                }
                Intervention::Forbid { i, token } => {
                    file.forbid.push(Forbid { position: i.map(|i| i + 1), word: word(*token) });
                }
            }
        }
        file
    }
}

impl Read<'_> {
    /// The tokens of a word, wherever it stands.
    fn places(&self, word: &str) -> Vec<usize> {
        let text = |tokens: &Range<usize>| {
            let (first, last) = (tokens.start, tokens.end.saturating_sub(1).max(tokens.start));
            let (tokens, spans) = (&self.sentence.tokens, &self.sentence.spans);
            let span = spans.get(first).zip(spans.get(last)).map(|(first, last)| first.start..last.end);
            let text = span.filter(|span| !span.is_empty()).and_then(|span| self.sentence.text.get(span));
            text.or(tokens.get(first).map(String::as_str))
        };
        self.words.iter().filter(|tokens| text(tokens) == Some(word)).flat_map(Clone::clone).collect()
    }
}

/// What concerns the source.
fn sources(file: &Interventions, source: Read<'_>) -> Resolved<Vec<Intervention>> {
    let t_x = source.sentence.len();
    if let Some(text) = file.source.as_ref().filter(|text| !same(text, &source.sentence.text)) {
        let message =
            format!("is \"{text}\", another sentence than the one to translate; take it out to go on all the same");
        return Err(("source".to_owned(), message));
    }
    let mut list = Vec::new();
    for (n, Pin { row, alpha }) in file.pin.iter().enumerate() {
        let key = || format!("pin[{n}].alpha");
        let i = from_one(*row, || format!("pin[{n}].row"))?;
        let one = match alpha {
            Alpha::Weights(weights) => Intervention::Pin { i, alpha: weights.clone() },
            Alpha::Position(j) => Intervention::Pin { i, alpha: even(&[from_one(*j, key)?], t_x, &key)? },
            Alpha::Word(word) => match source.places(word) {
                places if places.is_empty() => {
                    return Err((key(), format!("\"{word}\" is no word of the sentence")));
                }
                places => Intervention::Pin { i, alpha: even(&places, t_x, &key)? },
            },
            Alpha::Uniform => Intervention::Pin { i, alpha: even(&(0..t_x).collect::<Vec<_>>(), t_x, &key)? },
            Alpha::Permuted(seed) => Intervention::Permute { i, seed: *seed },
        };
        one.check_source(t_x).map_err(|error| (key(), format!("does not fit, since {error}")))?;
        list.push(one);
    }
    for (n, place) in file.mask.iter().enumerate() {
        let key = || format!("mask[{n}]");
        let places = match place {
            Place::Position(j) => vec![from_one(*j, key)?],
            // a list of words to hide may serve sentences that do not have them
            Place::Word(word) => source.places(word),
        };
        for j in places {
            let one = Intervention::Mask { j };
            one.check_source(t_x).map_err(|error| (key(), format!("does not fit, since {error}")))?;
            list.push(one);
        }
    }
    if let Some(t) = file.temperature {
        let one = Intervention::Temperature(t);
        one.check_source(t_x).map_err(|error| ("temperature".to_owned(), format!("is wrong: {error}")))?;
        list.push(one);
    }
    Ok(list)
}

/// A position from 1 as one from 0.
fn from_one(position: usize, key: impl Fn() -> String) -> Resolved<usize> {
    match position.checked_sub(1) {
        None => Err((key(), "is 0, but positions count from 1".to_owned())),
        Some(i) if i > u32::MAX as usize => Err((key(), "is larger than any position".to_owned())),
        Some(i) => Ok(i),
    }
}

/// A row of alpha that these source words share.
fn even(places: &[usize], t_x: usize, key: &impl Fn() -> String) -> Resolved<Vec<f32>> {
    let mut row = vec![0.0; t_x];
    for &j in places {
        let Some(weight) = row.get_mut(j) else {
            return Err((key(), format!("names source word {}, but the sentence has only {t_x}", j + 1)));
        };
        *weight = 1.0 / places.len() as f32;
    }
    Ok(row)
}

/// The same text, spaces aside.
fn same(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}
