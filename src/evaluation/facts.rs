//! Floor 6: facts about models that a lesson rests on, as its writer says them, and whether they are so.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::analysis::alignment::Alignment;
use crate::analysis::words::merge_alpha;
use crate::decoding::ablate::{AlphaChange, ablate};
use crate::decoding::apart::{Path, Then, take_apart};
use crate::decoding::{Ensemble, Hypothesis, SearchOptions};
use crate::error::{Error, Result};
use crate::evaluation::ask::AskedSystem;
use crate::evaluation::wording::text;
use crate::models::anatomy::Miswiring;
use crate::models::untrained::dissect;
use crate::models::{Kernels, Stepper};
use crate::nn::device::Device;
use crate::text::line;
use crate::text::sentence::{EOS, Sentence};
use crate::text::words::{translated, vocabulary_words};
use crate::ticket::CancellationToken;

/// How a translation is compared with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedFacts {
    /// The text is a part of it.
    Contains,
    /// The text is no part of it.
    Lacks,
    /// It is the text.
    Is,
}

/// What alpha of a pair of words is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoreBound {
    /// So much or more.
    AtLeast(f32),
    /// So much or less.
    AtMost(f32),
    /// The greatest of its row.
    Greatest,
    /// Less than the greatest of its row.
    NotGreatest,
}

impl ScoreBound {
    /// What alpha of source word j is in a row, where that is not so.
    fn wrong(self, row: &[f32], j: usize) -> Option<String> {
        let greatest = row.iter().all(|alpha| *alpha <= row[j]);
        let is_so = match self {
            Self::AtLeast(least) => row[j] >= least,
            Self::AtMost(most) => row[j] <= most,
            Self::Greatest => greatest,
            Self::NotGreatest => !greatest,
        };
        let place = if greatest { "the greatest" } else { "not the greatest" };
        (!is_so).then(|| format!("is {:.2}, {place} of its row", row[j]))
    }
}

/// As what a model reads a source word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFacts {
    /// As itself.
    Itself,
    /// As `[UNK]`.
    Unknown,
    /// As two pieces or more.
    Pieces,
}

/// A fact.
#[derive(Clone, Debug, PartialEq)]
pub enum EvaluationFact {
    /// About the best translation.
    Translation(String, ComparedFacts, String),
    /// About alpha of a target word and a source word in it.
    Alpha {
        model: String,
        /// Source word, as written; the first of its kind.
        source: String,
        /// Target word, as written; the first of its kind.
        target: String,
        /// The translation that the model is given; `None`: its own.
        given: Option<String>,
        bound: ScoreBound,
    },
    /// The best translation of the first beam is more probable than that of the second.
    Beams(String, usize, usize),
    /// How a source word is read.
    Reads(String, String, ReadFacts),
    /// Whether the step of a target word would say another word if it looked at all source words alike.
    Uniform(String, String, bool),
    /// No word has more of alpha than this before the model was trained.
    Untrained(String, f32),
}

/// What facts may be: each as it is written, with an example.
pub const FORMS: &[&str] = &[
    "translation rnnsearch-en-fr contains: rouges",
    "translation rnnencdec-en-fr lacks: blanche",
    "translation rnnsearch-en-fr is: Je ne fume pas.",
    "alpha rnnsearch-en-fr red -> rouges: at least 0.5",
    "alpha rnnsearch-en-fr not -> pas: at most 0.2",
    "alpha rnnsearch-en-fr red -> rouges: greatest",
    "alpha rnnsearch-en-fr not -> pas: not greatest",
    "alpha rnnsearch-en-fr red -> rouge in La maison rouge.: at least 0.5",
    "log p rnnsearch-en-fr: beam 5 above beam 1",
    "reads rnnsearch-en-fr Penzance: as [UNK]",
    "reads rnnsearch-en-fr house: as itself",
    "reads rnnsearch-guided-en-fr theremin: as pieces",
    "uniform rnnsearch-en-fr rouges: another word",
    "uniform rnnsearch-en-fr fume: the same word",
    "untrained rnnsearch-en-fr: alpha at most 0.2",
];

impl EvaluationFact {
    /// Reads a fact from what stands before the colon and behind it.
    ///
    /// # Errors
    /// What it is not, as a sentence.
    pub fn read(key: &str, value: &str) -> std::result::Result<Self, String> {
        let words: Vec<&str> = key.split_whitespace().collect();
        let own = |text: &str| text.to_owned();
        let no = || format!("`{key}: {value}` is no fact; facts look like `{}`", FORMS.join("`, `"));
        match words.as_slice() {
            ["translation", model, how] => {
                let how = match *how {
                    "contains" => ComparedFacts::Contains,
                    "lacks" => ComparedFacts::Lacks,
                    "is" => ComparedFacts::Is,
                    _ => return Err(no()),
                };
                Ok(Self::Translation(own(model), how, own(value)))
            }
            ["alpha", model, source, "->", target] => {
                let bound = bound(value).ok_or_else(no)?;
                Ok(Self::Alpha { model: own(model), source: own(source), target: own(target), given: None, bound })
            }
            ["alpha", model, source, "->", target, "in", given @ ..] if !given.is_empty() => {
                let bound = bound(value).ok_or_else(no)?;
                let given = Some(given.join(" "));
                Ok(Self::Alpha { model: own(model), source: own(source), target: own(target), given, bound })
            }
            ["log", "p", model] => {
                let beams = value.strip_prefix("beam ").and_then(|rest| rest.split_once(" above beam "));
                let (a, b) = beams.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?))).ok_or_else(no)?;
                Ok(Self::Beams(own(model), a, b))
            }
            ["reads", model, word] => {
                let read = match value {
                    "as itself" => ReadFacts::Itself,
                    "as [UNK]" => ReadFacts::Unknown,
                    "as pieces" => ReadFacts::Pieces,
                    _ => return Err(no()),
                };
                Ok(Self::Reads(own(model), own(word), read))
            }
            ["uniform", model, word] if ["another word", "the same word"].contains(&value) => {
                Ok(Self::Uniform(own(model), own(word), value == "another word"))
            }
            ["untrained", model] => match value.strip_prefix("alpha ").and_then(bound) {
                Some(ScoreBound::AtMost(most)) => Ok(Self::Untrained(own(model), most)),
                _ => Err(no()),
            },
            _ => Err(no()),
        }
    }

    /// The model that it is about.
    pub fn model(&self) -> &str {
        match self {
            Self::Translation(model, ..)
            | Self::Alpha { model, .. }
            | Self::Beams(model, ..)
            | Self::Reads(model, ..)
            | Self::Uniform(model, ..)
            | Self::Untrained(model, _) => model,
        }
    }
}

fn bound(value: &str) -> Option<ScoreBound> {
    let number = |text: &str| text.trim().parse::<f32>().ok().filter(|number| (0.0..=1.0).contains(number));
    match value {
        "greatest" => Some(ScoreBound::Greatest),
        "not greatest" => Some(ScoreBound::NotGreatest),
        _ => match (value.strip_prefix("at least"), value.strip_prefix("at most")) {
            (Some(least), _) => number(least).map(ScoreBound::AtLeast),
            (_, Some(most)) => number(most).map(ScoreBound::AtMost),
            (None, None) => None,
        },
    }
}

/// Steps of an untrained model that are looked at.
const FIRST_STEPS: usize = 4;

/// Finds the folder of a model by its name.
pub type FindFile = Box<dyn Fn(&str) -> Result<PathBuf>>;

/// What a model says: the source as it read it, and its best translation.
type Said = Arc<(Sentence, Hypothesis)>;

/// Models on which facts are tried; each is loaded, and each sentence translated, once.
pub struct Bench {
    find: FindFile,
    threads: usize,
    models: HashMap<String, (Ensemble, Box<dyn Stepper>)>,
    said: HashMap<(String, String, usize), Said>,
}

impl Bench {
    /// No model is loaded yet.
    pub fn new(find: FindFile, threads: usize) -> Self {
        Self { find, threads, models: HashMap::new(), said: HashMap::new() }
    }

    /// Whether a fact is so of a sentence and a beam; if not, what is so instead.
    ///
    /// # Errors
    /// A model that is not there or cannot be used.
    pub fn holds(
        &mut self,
        fact: &EvaluationFact,
        sentence: &str,
        beam: usize,
    ) -> Result<std::result::Result<(), String>> {
        let said = match fact {
            EvaluationFact::Alpha { model, given: Some(given), .. } => self.give(model, sentence, given)?,
            _ => self.say(fact.model(), sentence, beam)?,
        };
        let translation = self.text(fact.model(), &said)?;
        let wrong = match fact {
            EvaluationFact::Translation(_, how, text) => {
                let is_so = match how {
                    ComparedFacts::Contains => translation.contains(text.as_str()),
                    ComparedFacts::Lacks => !translation.contains(text.as_str()),
                    ComparedFacts::Is => translation == *text,
                };
                (!is_so).then(|| format!("the translation of \u{201c}{sentence}\u{201d} is another"))
            }
            EvaluationFact::Alpha { model, source, target, bound, .. } => {
                match self.row(model, &said, source, target)? {
                    Err(words) => Some(words),
                    Ok((row, j)) => bound.wrong(&row, j).map(|place| format!("alpha of {source} for {target} {place}")),
                }
            }
            EvaluationFact::Beams(model, above, below) => {
                let mut log_p = |beam| self.say(model, sentence, beam).map(|said| said.1.log_p);
                let (above, below) = (log_p(*above)?, log_p(*below)?);
                (above <= below).then(|| format!("log p is {above:.2} and {below:.2}"))
            }
            EvaluationFact::Reads(model, word, read) => {
                let found = self.read(model, word)?;
                (found != *read).then(|| format!("{word} is read otherwise ({found:?})"))
            }
            EvaluationFact::Untrained(model, most) => match self.untrained(model, &said.0)? {
                Some(alpha) if alpha <= *most => None,
                Some(alpha) => Some(format!("before its training a word has {alpha:.2} of alpha")),
                None => Some("it has no alignment".to_owned()),
            },
            EvaluationFact::Uniform(model, word, changes) => match self.uniform(model, &said, word)? {
                Ok(found) if found == *changes => None,
                Ok(found) => Some(format!("with a uniform row {word} {}", if found { "changes" } else { "stays" })),
                Err(words) => Some(words),
            },
        };
        Ok(wrong.map_or(Ok(()), |wrong| Err(format!("{wrong}; {} says: {translation}", fact.model()))))
    }

    fn open(&mut self, model: &str) -> Result<&mut (Ensemble, Box<dyn Stepper>)> {
        if !self.models.contains_key(model) {
            let folder = (self.find)(model)?;
            let system = Ensemble::load(&folder.into(), &Device::cpu())?;
            let stepper = system.stepper(Kernels::Fused, self.threads)?;
            self.models.insert(model.to_owned(), (system, stepper));
        }
        self.models.get_mut(model).ok_or_else(|| Error::Internal("a model was lost".to_owned()))
    }

    /// The ids of the best translation, `</s>` included.
    ///
    /// # Errors
    /// A model that is not there or cannot be used.
    pub fn best(&mut self, model: &str, sentence: &str, beam: usize) -> Result<Vec<u32>> {
        Ok(self.say(model, sentence, beam)?.1.tokens.clone())
    }

    /// The greatest alpha of the first steps of a model that has learned nothing; `None` where it has no alignment.
    fn untrained(&mut self, model: &str, source: &Sentence) -> Result<Option<f32>> {
        let (system, _) = self.open(model)?;
        let (lead, eos) = (system.lead(), system.specials().eos);
        let mut anatomy = dissect(&lead.config, &lead.weights, Some(Miswiring::Untrained))?;
        let path = Path { given: &[], then: Then::Greedy, eos, limit: FIRST_STEPS, best: 1 };
        let (_, steps) = take_apart(&mut anatomy, &source.ids, &path, &CancellationToken::forever())?;
        let rows = steps.iter().filter_map(|step| step.alpha_i.as_ref());
        Ok(rows.flatten().copied().reduce(f32::max))
    }

    fn say(&mut self, model: &str, sentence: &str, beam: usize) -> Result<Said> {
        let key = (model.to_owned(), sentence.to_owned(), beam);
        if let Some(said) = self.said.get(&key) {
            return Ok(Arc::clone(said));
        }
        let (system, stepper) = self.open(model)?;
        let source = system.lead().source.encode(sentence);
        let search = SearchOptions { beam, ..SearchOptions::default() };
        let ticket = CancellationToken::forever();
        let asked =
            AskedSystem { system: (&*system).into(), search: &search, batch: 1, reading: None, ticket: &ticket };
        let best = asked.translate(&mut **stepper, &[&source.ids], &[])?.into_iter().next();
        let best = best.filter(|best| !best.tokens.is_empty());
        let best = best.ok_or_else(|| Error::Input(format!("{model} says nothing to \u{201c}{sentence}\u{201d}")))?;
        let said = Arc::new((source, best));
        self.said.insert(key, Arc::clone(&said));
        Ok(said)
    }

    /// What a model makes of a translation that it is given.
    fn give(&mut self, model: &str, sentence: &str, given: &str) -> Result<Said> {
        let (system, stepper) = self.open(model)?;
        let source = system.lead().source.encode(sentence);
        let target = line::read(&system.lead().target, given, false)
            .map_err(|why| Error::Input(format!("the given translation \u{201c}{given}\u{201d} {why}")))?;
        let pair = (source.ids.as_slice(), target.ids.as_slice());
        let (search, ticket) = (SearchOptions::default(), CancellationToken::forever());
        let asked =
            AskedSystem { system: (&*system).into(), search: &search, batch: 1, reading: None, ticket: &ticket };
        let read = asked.force(&mut **stepper, &[pair])?.into_iter().next();
        Ok(Arc::new((source, read.unwrap_or_default())))
    }

    fn text(&mut self, model: &str, said: &Said) -> Result<String> {
        let (system, _) = self.open(model)?;
        Ok(text(system.lead(), &said.1, &said.0, None, false))
    }

    /// The row of alpha of a target word over the source words, and which of them is meant.
    fn row(
        &mut self,
        model: &str,
        said: &Said,
        source: &str,
        target: &str,
    ) -> Result<std::result::Result<(Vec<f32>, usize), String>> {
        let (system, _) = self.open(model)?;
        let (lead, (sentence, best)) = (system.lead(), &**said);
        let Some(alpha) = &best.alpha else { return Ok(Err("it has no alignment".to_owned())) };
        let x = vocabulary_words(&lead.source, sentence, false);
        let (y, words) = translated(&lead.target, &best.tokens);
        let span =
            |word: &std::ops::Range<usize>| sentence.spans[word.start].start..sentence.spans[word.end.max(1) - 1].end;
        let is_source = |word: &std::ops::Range<usize>| {
            let text = &sentence.text[span(word)];
            text == source || text.is_empty() && source == EOS
        };
        let (i, j) = (words.iter().position(|word| word == target), x.iter().position(is_source));
        Ok(match (i, j) {
            (Some(i), Some(j)) => Ok((merge_alpha(&Alignment::from_rows(alpha), &x, &y).row(i).to_vec(), j)),
            (None, _) => Err(format!("there is no word {target}")),
            (_, None) => Err(format!("there is no source word {source}")),
        })
    }

    fn read(&mut self, model: &str, word: &str) -> Result<ReadFacts> {
        let (system, _) = self.open(model)?;
        let source = &system.lead().source;
        let sentence = source.encode_with(word, None);
        let unk = source.id(crate::text::sentence::UNK);
        Ok(match sentence.ids.as_slice() {
            [id] if Some(*id) == unk => ReadFacts::Unknown,
            [_] => ReadFacts::Itself,
            ids if ids.iter().any(|id| Some(*id) == unk) => ReadFacts::Unknown,
            _ if source.marks().has_pieces() => ReadFacts::Pieces,
            _ => ReadFacts::Itself,
        })
    }

    fn uniform(&mut self, model: &str, said: &Said, word: &str) -> Result<std::result::Result<bool, String>> {
        let (system, stepper) = self.open(model)?;
        let (y, words) = translated(&system.lead().target, &said.1.tokens);
        let Some(at) = words.iter().position(|other| other == word) else {
            return Ok(Err(format!("there is no word {word}")));
        };
        let mut changes = None;
        let best = |log_p: &[f32]| log_p.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(id, _)| id);
        let pair = (said.0.ids.as_slice(), said.1.tokens.as_slice());
        ablate(&mut **stepper, pair, &[], &CancellationToken::forever(), &mut |answer| {
            if answer.i == y[at].start && answer.change == AlphaChange::Uniform {
                changes = Some(best(answer.log_p) != best(answer.own));
            }
        })?;
        Ok(changes.ok_or_else(|| format!("the step of {word} was not taken")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_are_read_and_others_are_told_them() {
        for form in FORMS {
            let (key, value) = form.split_once(": ").expect("a colon");
            EvaluationFact::read(key, value).unwrap_or_else(|words| panic!("{form}: {words}"));
        }
        for (key, value) in
            [("translation m has", "x"), ("alpha m a -> b", "at least 2"), ("log p m", "beam x"), ("", "")]
        {
            let words = EvaluationFact::read(key, value).expect_err(key);
            assert!(words.contains("is no fact"), "{words}");
        }
    }
}
