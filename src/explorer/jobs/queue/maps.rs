//! Vectors of words and phrases laid out in the plane, behind the window.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use serde::{Deserialize, Serialize};

use crate::jobs::queue::work::{JobProgress, Work};
use crate::jobs::{live::protocol::MAX_SOURCE_TOKENS, models::loaded::LoadedModel};
use engine::analysis::map::{MapLayout, Method};
use engine::analysis::{map, neighbours::Space, tsne::TsneOptions};
use engine::error::{Error, Result};
use engine::models::{Kernels, representations};
use engine::models::{choice::ModelSpec, representations::VocabularySide};
use engine::nn::device::DeviceChoice;

const STEPS: usize = 1000;

/// A map to compute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapOrder {
    pub model: ModelSpec,
    pub device: DeviceChoice,
    pub what: What,
    pub method: Method,
    /// About how many neighbours count for a point, for t-SNE.
    pub perplexity: f32,
}

/// What is mapped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum What {
    Words {
        side: VocabularySide,
        /// The most frequent so many are drawn; neighbours are looked for among all.
        count: usize,
    },
    /// Phrases by c, or by the mean of their annotations.
    Phrases {
        /// Each with its number in the list, from 1; those without words are left out.
        lines: Vec<(usize, String)>,
    },
    /// The annotations h_j of a sentence.
    Annotations { text: String },
}

impl Default for What {
    fn default() -> Self {
        Self::Words { side: VocabularySide::Source, count: 0 }
    }
}

/// What the points are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PointKind {
    #[default]
    SourceWords,
    TargetWords,
    Phrases,
    /// Source words of one sentence, in their context.
    Annotations,
}

/// A word or a phrase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapPoint {
    pub text: String,
    /// A word's id; a phrase's or an annotation's place in the list or the sentence, from 1.
    pub number: usize,
    /// Letters of a word, words of a phrase.
    pub length: usize,
}

/// A map with everything that can be looked up in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VectorMap {
    pub model: String,
    pub kind: PointKind,
    /// What the vectors are, in words.
    pub vector: String,
    pub method: Method,
    /// Everything that has a vector; the first of them are drawn.
    pub points: Vec<MapPoint>,
    pub space: Space,
    /// Where the first points lie.
    pub layout: MapLayout,
}

struct Gathered {
    kind: PointKind,
    vector: String,
    points: Vec<MapPoint>,
    dimension: usize,
    rows: Vec<f32>,
    /// The first so many are drawn.
    drawn: usize,
}

impl MapOrder {
    pub(crate) fn run(self, work: &Work<'_>) -> Result<Arc<VectorMap>> {
        let name = self.model.name();
        work.say(tr!("Loading {name}", name));
        let model = work.model(&self.model, self.device)?;
        let gathered = match &self.what {
            What::Words { side, count } => words(&model, *side, *count)?,
            What::Phrases { lines } => phrases(work, &model, lines)?,
            What::Annotations { text } => annotations(work, &model, text)?,
        };
        work.pause_point()?;
        let drawn = &gathered.rows[..gathered.drawn * gathered.dimension];
        let options = TsneOptions { perplexity: self.perplexity, ..TsneOptions::default() };
        let layout = lay_out(work, drawn, gathered.dimension, self.method, &options)?;
        let chart = VectorMap {
            model: model.facts.name.clone(),
            kind: gathered.kind,
            vector: gathered.vector,
            method: self.method,
            points: gathered.points,
            space: Space::new(gathered.dimension, gathered.rows),
            layout,
        };
        Ok(Arc::new(chart))
    }
}

fn progress(done: usize, total: usize, what: String) -> JobProgress {
    JobProgress { done, total, what, words_per_second: 0.0 }
}

fn words(model: &LoadedModel, side: VocabularySide, count: usize) -> Result<Gathered> {
    let words = representations::words(model.model(), side, usize::MAX)?;
    let vocabulary = representations::tokenizer(model.model(), side);
    let point = |&id: &u32| {
        let text = vocabulary.token(id).unwrap_or_default().to_owned();
        MapPoint { length: text.chars().count(), text, number: id as usize }
    };
    let points: Vec<MapPoint> = words.ids.iter().map(point).collect();
    Ok(Gathered {
        kind: if side == VocabularySide::Source { PointKind::SourceWords } else { PointKind::TargetWords },
        vector: match side {
            VocabularySide::Source => id!("source embedding"),
            VocabularySide::Target => id!("target embedding"),
        }
        .to_owned(),
        drawn: count.min(points.len()),
        points,
        dimension: words.dimension,
        rows: words.rows,
    })
}

fn phrases(work: &Work<'_>, model: &LoadedModel, lines: &[(usize, String)]) -> Result<Gathered> {
    let read = lines.iter().map(|(number, text)| (*number, model.model().source.encode(text)));
    let readable: Vec<_> = read.filter(|(_, sentence)| (1..=MAX_SOURCE_TOKENS).contains(&sentence.words())).collect();
    if readable.is_empty() {
        return Err(Error::Input("There is no phrase to map; open a list or type some lines".to_owned()));
    }
    let sources: Vec<&[u32]> = readable.iter().map(|(_, sentence)| sentence.ids.as_slice()).collect();
    let what = tr!("Reading phrases with {}", model.facts.name);
    let read = model.with_stepper(Kernels::Fused, work.library.threads, |stepper| {
        representations::phrases(&model.facts.name, stepper, &sources, model.model().source_eos(), &mut |done| {
            work.notify(progress(done, sources.len(), what.clone()));
            work.pause_point()
        })
    })?;
    let point = |(number, sentence): &(usize, engine::text::sentence::Sentence)| MapPoint {
        text: sentence.text.trim().to_owned(),
        number: *number,
        length: sentence.words(),
    };
    Ok(Gathered {
        kind: PointKind::Phrases,
        vector: read.vector.name().to_owned(),
        points: readable.iter().map(point).collect(),
        dimension: read.dimension,
        rows: read.rows,
        drawn: readable.len(),
    })
}

fn annotations(work: &Work<'_>, model: &LoadedModel, text: &str) -> Result<Gathered> {
    let sentence = model.model().source.encode(text);
    if !(1..=MAX_SOURCE_TOKENS).contains(&sentence.words()) {
        return Err(Error::Input("The sentence is empty or too long for this model".to_owned()));
    }
    let h = model.with_stepper(Kernels::Fused, work.library.threads, |stepper| {
        stepper.begin(&[&sentence.ids])?;
        Ok(stepper.annotations(0))
    })?;
    let Some(h) = h else {
        let name = &model.facts.name;
        return Err(Error::Input(format!("{name} keeps no annotations; choose a model with attention")));
    };
    let point =
        |(at, token): (usize, &String)| MapPoint { text: token.clone(), number: at + 1, length: token.chars().count() };
    let points: Vec<MapPoint> = sentence.tokens.iter().take(h.len()).enumerate().map(point).collect();
    Ok(Gathered {
        kind: PointKind::Annotations,
        vector: id!("annotations h_j").to_owned(),
        drawn: points.len(),
        points,
        dimension: h.first().map_or(0, Vec::len),
        rows: h.concat(),
    })
}

/// A step of the other thread: how far it is, from 0 to 1.
type Step = f32;

/// Runs on a one-thread pool, in which t-SNE is reproducible. Each step waits for permission, so that it can pause.
fn lay_out(
    work: &Work<'_>, rows: &[f32], dimension: usize, method: Method, options: &TsneOptions,
) -> Result<MapLayout> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "interlinear-map".to_owned()).build();
    let Ok(pool) = pool else {
        // without a thread, as in a browser, it is laid out here
        let mut step = |share, _: &[f32]| work.notify(step_of(method, share));
        return map::layout(rows, dimension, method, options, &work.ticket, &mut step);
    };
    let (steps, progress) = sync_channel::<Step>(0);
    let (leave, leaves) = sync_channel::<()>(1);
    let ticket = work.ticket.clone();
    let mut outcome = Err(Error::Stale);
    pool.in_place_scope(|scope| {
        let outcome = &mut outcome;
        scope.spawn(move |_| {
            let mut step = |share: f32, _: &[f32]| {
                // If the other side is gone the ticket is stale, which the next step checks.
                if steps.send(share).is_ok() {
                    let _ = leaves.recv();
                }
            };
            *outcome = map::layout(rows, dimension, method, options, &ticket, &mut step);
        });
        follow(work, method, &progress, || leave.send(()).is_ok());
        drop(leave);
        drop(progress);
    });
    outcome
}

fn step_of(method: Method, share: Step) -> JobProgress {
    progress((share * STEPS as f32) as usize, STEPS, tr!("Laying out by {}", method.entry().title))
}

/// Reports each step and lets the other thread take the next one, until it is done or the order is cancelled.
fn follow(work: &Work<'_>, method: Method, progress: &Receiver<Step>, go_on: impl Fn() -> bool) {
    while let Ok(share) = progress.recv() {
        work.notify(step_of(method, share));
        if work.pause_point().is_err() || !go_on() {
            return;
        }
    }
}
