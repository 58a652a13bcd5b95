//! Questions about one translation of a column, answered behind the window: which row of alpha would make the
//! model say a word, how much the words depend on each source word, and what a file of interventions is for a model.

use std::{path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::jobs::{
    live::protocol::ColumnId, models::loaded::LoadedModel, queue::work::Work, queue::yielding::YieldToForeground,
};
use engine::analysis::measures::{MEASURES, Tested};
use engine::error::{Error, Result};
use engine::interventions::{Intervening, Intervention, InterventionFile, Interventions, Place, ResolvedText, Word};
use engine::models::gradient::{Gradients, PersuadedRow};
use engine::models::{Kernels, choice::ModelSpec, transformer::heads::HeadPlace};
use engine::text::sentence::{MAX_SOURCE_BYTES, UNK};
use engine::text::{reader::require_file, words::vocabulary_words};
use engine::{analysis::measures, decoding::importance::Subject, nn::device::DeviceChoice};

/// A question to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    pub model: ModelSpec,
    pub device: DeviceChoice,
    pub question: ProbeQuestion,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ProbeQuestion {
    /// The smallest change of the row after these words that makes the model predict a word.
    Persuade {
        /// Ids of the source, `</s>` included.
        source: Vec<u32>,
        before: Vec<u32>,
        /// The alpha that they were said with, where it is not the model's own. [i][t_x]
        rows: Vec<Vec<f32>>,
        word: Word,
    },
    Measure {
        /// A place in `MEASURES`.
        measure: usize,
        /// Ids of the source, `</s>` included.
        source: Vec<u32>,
        /// Ids of the translation, `</s>` included.
        target: Vec<u32>,
        left_out: Vec<HeadPlace>,
    },
    Open {
        path: PathBuf,
        /// The sentence for a file that names none.
        source: String,
        /// Columns with their models; the first is meant, unless the file names the model of another one.
        columns: Vec<(ColumnId, ModelSpec)>,
    },
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Probed {
    Persuaded(Persuasion),
    Measured(Arc<Tested>),
    Opened(Opened),
}

/// A row that makes a model say a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Persuasion {
    /// The entry of the vocabulary that is said.
    pub word: String,
    /// It is the first piece of this word, which the vocabulary has in several.
    pub piece_of: Option<String>,
    /// The row; `None` where none was found.
    pub row: Option<PersuadedRow>,
}

/// A file of interventions resolved for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    pub column: ColumnId,
    /// The name of the model that it was made with, where that is another one.
    pub made_with: Option<String>,
    pub source: String,
    pub interventions: Interventions,
}

impl Probe {
    pub(crate) fn run(self, work: &Work<'_>) -> Result<Probed> {
        let Self { model, device, question } = self;
        match question {
            ProbeQuestion::Persuade { source, before, rows, word } => {
                let model = work.model(&model, device)?;
                work.say(tr!("Looking for a row that makes {} say \"{}\"", model.facts.name, word.text()));
                persuade(work, &model, (&source, &before), &rows, &word).map(Probed::Persuaded)
            }
            ProbeQuestion::Measure { measure, source, target, left_out } => {
                let model = work.model(&model, device)?;
                let title = MEASURES.get(measure).map_or("", |measure| measure.title);
                work.say(tr!("Measuring with {}: {title}", model.facts.name, title = engine::lang::text(title)));
                let tested = model.with_stepper(Kernels::Fused, work.library.threads, |stepper| {
                    let mut yielding = YieldToForeground::new(stepper, &work.breath);
                    let changes = left_out.iter().copied().map(Intervention::LeaveOut).collect();
                    let mut changed = Intervening::for_all(&mut yielding, changes);
                    let mut subject = Subject::new(model.model(), &mut changed);
                    measures::measure(&mut subject, measure, (&source, &target), &work.ticket)
                })?;
                Ok(Probed::Measured(Arc::new(Tested { left_out, ..tested })))
            }
            ProbeQuestion::Open { path, source, columns } => {
                open(work, device, (path, source), &columns).map(Probed::Opened)
            }
        }
    }
}

fn persuade(
    work: &Work<'_>, model: &LoadedModel, pair: (&[u32], &[u32]), rows: &[Vec<f32>], word: &Word,
) -> Result<Persuasion> {
    let name = &model.facts.name;
    let ids = model.reader().ids(word).map_err(|_| {
        Error::Input(format!("{name} does not know the word \"{}\"; choose one of its vocabulary", word.text()))
    })?;
    let &[first, ..] = ids.as_slice() else {
        return Err(Error::Input("There is no word to say; type one".to_owned()));
    };
    let entry = model.model().target.token(first).unwrap_or(UNK).to_owned();
    let piece_of = (ids.len() > 1).then(|| word.text().trim().to_owned());
    let row = Gradients::new(model.model())?.persuade(pair, rows, first, &work.ticket)?;
    Ok(Persuasion { word: entry, piece_of, row })
}

fn open(
    work: &Work<'_>, device: DeviceChoice, (path, source): (PathBuf, String), columns: &[(ColumnId, ModelSpec)],
) -> Result<Opened> {
    work.say(tr!("Opening {}", path.display()));
    require_file(&path)?;
    let file = InterventionFile::open(&path)?;
    let Some((file, origin)) = file.all() else {
        let message = "has a line for each of several sentences; the window opens a file with one object";
        return Err(Error::file(&path, message));
    };
    let mut chosen = None;
    for (column, folder) in columns {
        let model = work.model(folder, device)?;
        let is_named = file.model.as_ref().is_none_or(|name| *name == model.facts.name);
        if is_named || chosen.is_none() {
            chosen = Some((*column, model));
        }
        if is_named {
            break;
        }
    }
    let Some((column, model)) = chosen else {
        return Err(Error::Input("There is no model to set anything for; add one first".to_owned()));
    };
    let source = file.source.clone().unwrap_or(source);
    if source.len() > MAX_SOURCE_BYTES {
        return Err(origin.wrong("source", &format!("is longer than {MAX_SOURCE_BYTES} bytes")));
    }
    let sentence = model.encode(&source);
    let words = vocabulary_words(&model.model().source, &sentence, false);
    let read = ResolvedText { sentence: &sentence, words: &words };
    let mut interventions = model.reader().resolve(file, read).strict(&origin)?.applied.form;
    // other models cut the text in other ways
    for place in &mut interventions.mask {
        if let Place::Position(j) = place {
            *place = Place::Bytes(sentence.spans.get(*j).cloned().unwrap_or_default());
        }
    }
    let made_with = file.model.clone().filter(|name| *name != model.facts.name);
    Ok(Opened { column, made_with, source, interventions })
}
