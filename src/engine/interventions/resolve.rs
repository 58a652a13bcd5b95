//! Interventions in words as those of one model and one sentence, in ids.
//!
//! What does not fit is a [`Misfit`]: a file, a line of a text or a corpus refuses it ([`Resolved::strict`]), the window leaves it out
//! and says so.

use std::{ops::Range, sync::Arc};

use crate::interventions::form::{Forbid, Force, Interventions, Pin, Place, SetAlpha, Word};
use crate::interventions::{decorate::Intervention, file::Origin, marks::Applied};
use crate::text::sentence::{EOS, Sentence, UNK};
use crate::{error::Result, models::transformer::sizes::TransformerSizes, text::tokenizer::Tokenizer};

/// The model that interventions are resolved for.
#[derive(Clone, Copy, Debug)]
pub struct InterventionReader<'a> {
    pub target: &'a Tokenizer,
    pub aligns: bool,
    /// Its heads, where it is a Transformer.
    pub heads: Option<&'a TransformerSizes>,
}

/// A source sentence, and which of its tokens make up each word.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedText<'a> {
    pub sentence: &'a Sentence,
    pub words: &'a [Range<usize>],
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Misfit {
    key: String,
    /// What the key is for a reader who sees no file.
    what: String,
    why: String,
}

/// Interventions of a model and a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolved {
    pub list: Arc<[Intervention]>,
    /// As they were applied.
    pub applied: Applied,
    misfits: Vec<Misfit>,
}

impl Resolved {
    /// All of them or none.
    pub fn strict(self, origin: &Origin) -> Result<Self> {
        match self.misfits.first() {
            Some(Misfit { key, why, .. }) => Err(origin.wrong(key, why)),
            None => Ok(self),
        }
    }
}

impl InterventionReader<'_> {
    /// What `form` is for this model and a sentence.
    pub fn resolve(self, form: &Interventions, source: ResolvedText<'_>) -> Resolved {
        let mut resolving = Resolving::new(self);
        resolving.words(form);
        resolving.heads(form);
        if resolving.may_look(form) {
            resolving.alignment(form, source);
        }
        resolving.finish()
    }

    /// What can be checked without a sentence.
    pub fn check(self, form: &Interventions, origin: &Origin) -> Result<()> {
        let mut resolving = Resolving::new(self);
        resolving.may_look(form);
        resolving.words(form);
        resolving.heads(form);
        resolving.finish().strict(origin).map(drop)
    }

    pub fn ids(self, word: &Word) -> std::result::Result<Vec<u32>, String> {
        let text = word.text().trim();
        let entry = match word {
            Word::Entry(entry) => self.target.id(entry),
            Word::Typed(_) => self.target.id(text).filter(|_| text == EOS || text == UNK),
        };
        if let Some(id) = entry {
            return Ok(vec![id]);
        }
        let unknown = self.target.id(UNK);
        let cannot_say = |word: &&str| {
            let ids = self.target.encode_phrase(word, None);
            *word != UNK && (ids.is_empty() || ids.iter().any(|id| Some(*id) == unknown))
        };
        if let Some(word) = text.split_whitespace().find(cannot_say) {
            return Err(format!(
                "has \"{word}\", which this model cannot say; choose a word of its vocabulary, or {UNK} for an unknown word"
            ));
        }
        let ids = self.target.encode_phrase(text, None);
        if ids.is_empty() { Err("is empty; name a word".to_owned()) } else { Ok(ids) }
    }
}

impl ResolvedText<'_> {
    fn places(&self, word: &str) -> Vec<usize> {
        let text = |tokens: &Range<usize>| {
            let (first, last) = (tokens.start, tokens.end.saturating_sub(1).max(tokens.start));
            let (tokens, spans) = (&self.sentence.tokens, &self.sentence.spans);
            let span = spans.get(first).zip(spans.get(last)).map(|(first, last)| first.start..last.end);
            let text = span.filter(|span| !span.is_empty()).and_then(|span| self.sentence.text.get(span));
            text.or(tokens.get(first).map(String::as_str))
        };
        let is_it = |tokens: &Range<usize>| text(tokens) == Some(word);
        self.words.iter().filter(|tokens| is_it(tokens)).flat_map(Clone::clone).collect()
    }

    fn within(&self, bytes: &Range<usize>) -> Vec<usize> {
        let is_it = |span: &Range<usize>| {
            if bytes.is_empty() {
                span.is_empty() && (span.start == 0) == (bytes.start == 0)
            } else {
                span.start < bytes.end && bytes.start < span.end
            }
        };
        self.sentence.spans.iter().enumerate().filter(|(_, span)| is_it(span)).map(|(j, _)| j).collect()
    }
}

type Fits<T> = std::result::Result<T, String>;

struct Resolving<'a> {
    reader: InterventionReader<'a>,
    list: Vec<Intervention>,
    form: Interventions,
    misfits: Vec<Misfit>,
}

impl<'a> Resolving<'a> {
    fn new(reader: InterventionReader<'a>) -> Self {
        Self { reader, list: Vec::new(), form: Interventions::default(), misfits: Vec::new() }
    }

    fn finish(mut self) -> Resolved {
        let form = &mut self.form;
        // of several at one position the last counts
        form.force.reverse();
        form.force.sort_by_key(|force| force.i);
        form.force.dedup_by_key(|force| force.i);
        form.mask.sort_by_key(|place| if let Place::Position(j) = place { *j } else { usize::MAX });
        form.mask.dedup();
        form.leave_out.sort_unstable();
        form.leave_out.dedup();
        let notes = self.misfits.iter().map(|Misfit { what, why, .. }| format!("{what} {why}")).collect();
        Resolved { list: self.list.into(), applied: Applied { form: self.form, notes }, misfits: self.misfits }
    }

    fn misfit(&mut self, key: String, what: String, why: String) {
        self.misfits.push(Misfit { key, what, why });
    }

    fn taken<T>(&mut self, found: Fits<T>, key: impl FnOnce() -> String, what: impl FnOnce() -> String) -> Option<T> {
        found.map_err(|why| self.misfit(key(), what(), why)).ok()
    }

    fn words(&mut self, form: &Interventions) {
        if !form.prefix.trim().is_empty() {
            let ids = self.reader.ids(&Word::Entry(form.prefix.clone()));
            let ids = self.taken(ids, || "prefix".to_owned(), || "What it is to begin with".to_owned());
            self.say(0, &ids.unwrap_or_default(), false);
        }
        self.forces(form);
        for (n, pin) in form.pin.iter().enumerate() {
            self.taken(at(pin.i), || format!("pin[{n}].row"), || "A row".to_owned());
        }
        for (n, Forbid { i, word }) in form.forbid.iter().enumerate() {
            let what = || format!("\"{}\", which is not to be said,", word.text().trim());
            let Some(i) = self.taken(i.map(at).transpose(), || format!("forbid[{n}].position"), what) else { continue };
            let token = self.reader.ids(word).and_then(|ids| match ids[..] {
                [token] => Ok(token),
                _ => Err(format!(
                    "is {} pieces in this vocabulary, and each occurs in other words; name one piece",
                    ids.len()
                )),
            });
            let Some(token) = self.taken(token, || format!("forbid[{n}].word"), what) else { continue };
            self.list.push(Intervention::Forbid { i, token });
            self.form.forbid.push(Forbid { i, word: self.entry(token) });
        }
    }

    fn forces(&mut self, form: &Interventions) {
        let begun = form.begun();
        // pieces of typed words at the beginning, beyond the first of each
        let (mut more, mut is_broken) = (0, false);
        for (n, Force { i, word, held }) in form.force.iter().enumerate() {
            let is_start = n < begun;
            // what follows a word that cannot be said was chosen for what it stands behind
            if is_start && is_broken || !is_start && (begun..begun + more).contains(i) {
                continue;
            }
            let what = || format!("Word {}", i.saturating_add(1));
            let Some(i) = self.taken(at(*i), || format!("force[{n}].position"), what) else { continue };
            let Some(ids) = self.taken(self.reader.ids(word), || format!("force[{n}].word"), what) else {
                is_broken |= is_start;
                continue;
            };
            self.say(if is_start { i + more } else { i }, &ids, *held);
            if is_start && matches!(word, Word::Typed(_)) {
                more += ids.len() - 1;
            }
        }
    }

    fn entry(&self, token: u32) -> Word {
        Word::Entry(self.reader.target.token(token).unwrap_or(UNK).to_owned())
    }

    fn say(&mut self, first: usize, ids: &[u32], held: bool) {
        for (i, &token) in (first..).zip(ids) {
            self.list.push(Intervention::Force { i, token });
            self.form.force.push(Force { i, word: self.entry(token), held });
        }
    }

    fn heads(&mut self, form: &Interventions) {
        for (n, &place) in form.leave_out.iter().enumerate() {
            let none =
                || Some("is no head of this model, which has none; take it out or choose a Transformer".to_owned());
            let lacks = self.reader.heads.map_or_else(none, |sizes| sizes.lacks(place));
            let there = lacks.map_or(Ok(()), Err);
            if self.taken(there, || format!("leave_out[{n}]"), || format!("Head {place}")).is_some() {
                self.list.push(Intervention::LeaveOut(place));
                self.form.leave_out.push(place);
            }
        }
    }

    fn may_look(&mut self, form: &Interventions) -> bool {
        let keys = [
            ("pin", !form.pin.is_empty()),
            ("mask", !form.mask.is_empty()),
            ("temperature", form.temperature.is_some()),
        ];
        let Some((key, _)) = keys.into_iter().find(|(_, is_given)| *is_given && !self.reader.aligns) else {
            return true;
        };
        let why = "changes the alignment, but this model has none; take it out or choose a model that aligns";
        self.misfit(key.to_owned(), "What is set".to_owned(), why.to_owned());
        false
    }

    fn alignment(&mut self, form: &Interventions, source: ResolvedText<'_>) {
        let t_x = source.sentence.len();
        if let Some(text) = form.source.as_ref().filter(|text| !same(text, &source.sentence.text)) {
            let why =
                format!("is \"{text}\", another sentence than the one to translate; take it out to go on all the same");
            self.misfit("source".to_owned(), "The sentence".to_owned(), why);
        }
        for (n, Pin { i, alpha }) in form.pin.iter().enumerate() {
            let what = || format!("Row {}", i.saturating_add(1));
            let Ok(i) = at(*i) else { continue };
            let one = row(i, alpha, source).and_then(|one| fits(one, t_x));
            let Some(one) = self.taken(one, || format!("pin[{n}].alpha"), what) else { continue };
            let alpha = match &one {
                Intervention::Pin { alpha, .. } => SetAlpha::Weights(alpha.clone()),
                _ => alpha.clone(),
            };
            self.form.pin(Pin { i, alpha });
            self.list.push(one);
        }
        for (n, place) in form.mask.iter().enumerate() {
            let places = match place {
                Place::Position(j) => at(*j).map(|j| vec![j]),
                // a list of words to hide may serve sentences that do not have them
                Place::Word(word) => Ok(source.places(word)),
                Place::Bytes(bytes) => Ok(source.within(bytes)),
            };
            let masks = places.and_then(|places| {
                places
                    .into_iter()
                    .map(|j| fits(Intervention::Mask { j }, t_x).map(|one| (j, one)))
                    .collect::<Fits<Vec<_>>>()
            });
            let masks = self.taken(masks, || format!("mask[{n}]"), || "A mask".to_owned());
            for (j, one) in masks.into_iter().flatten() {
                self.form.mask.push(Place::Position(j));
                self.list.push(one);
            }
        }
        if let Some(t) = form.temperature {
            let one = Intervention::Temperature(t);
            let wrong = one.check_source(t_x).map_err(|error| format!("is wrong: {error}"));
            if self.taken(wrong, || "temperature".to_owned(), || "The temperature".to_owned()).is_some() {
                self.form.temperature = Some(t);
                self.list.push(one);
            }
        }
    }
}

fn fits(one: Intervention, t_x: usize) -> Fits<Intervention> {
    one.check_source(t_x).map_err(|error| format!("does not fit, since {error}"))?;
    Ok(one)
}

fn row(i: usize, alpha: &SetAlpha, source: ResolvedText<'_>) -> Fits<Intervention> {
    let t_x = source.sentence.len();
    let alpha = match alpha {
        SetAlpha::Weights(weights) => weights.clone(),
        SetAlpha::Position(j) => even(&[at(*j)?], t_x)?,
        SetAlpha::Word(word) => match source.places(word) {
            places if places.is_empty() => return Err(format!("names \"{word}\", which is no word of the sentence")),
            places => even(&places, t_x)?,
        },
        SetAlpha::Uniform => even(&(0..t_x).collect::<Vec<_>>(), t_x)?,
        SetAlpha::Permuted(seed) => return Ok(Intervention::Permute { i, seed: *seed }),
    };
    Ok(Intervention::Pin { i, alpha })
}

fn at(i: usize) -> Fits<usize> {
    match i {
        usize::MAX => Err("is 0, but positions count from 1".to_owned()),
        i if i > u32::MAX as usize => Err("is larger than any position".to_owned()),
        i => Ok(i),
    }
}

fn even(places: &[usize], t_x: usize) -> Fits<Vec<f32>> {
    let mut row = vec![0.0; t_x];
    for &j in places {
        let Some(weight) = row.get_mut(j) else {
            return Err(format!("names source word {}, but the sentence has only {t_x}", j + 1));
        };
        *weight = 1.0 / places.len() as f32;
    }
    Ok(row)
}

fn same(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}
