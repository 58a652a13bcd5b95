//! The lane that takes translations apart, for the page Steps: one thread, one slot, the latest request wins. It
//! shares the models and does not stop what is being translated.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::jobs::models::cache::{Key, Library};
use crate::jobs::thread;
use crate::jobs::thread::{GRACE, Outbox, Service, Wake, caught, panic_sentence};
use crate::jobs::{live::mailbox::Mailbox, models::loaded::LoadedModel};
use engine::decoding::step_trace::{Path, Then, TracedStep, trace_steps};
use engine::error::{Error, Result};
use engine::models::anatomy::{Anatomy, Diagram, MachinePart, Miswiring, Shrunk, anatomy_of, shrunk};
#[cfg(target_family = "wasm")]
use engine::models::config::Config;
use engine::models::{anatomy::shrunk::vectors, anatomy::untrained, choice::ModelSpec};
use engine::nn::device::DeviceChoice;
use engine::text::sentence::{Sentence, UNK};
use engine::ticket::{CancellationToken, Generation};

const ROOM: usize = 16;
pub const CANDIDATES: usize = 10;
/// Steps that are taken at most: their numbers stay in memory.
pub const MOST_STEPS: usize = 400;
/// Source words that are taken apart at most, for the same reason.
pub const MOST_WORDS: usize = 400;

/// A translation to trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepsRequest {
    pub model: ModelSpec,
    /// Where the columns compute; by it the model is found in memory.
    pub device: DeviceChoice,
    pub source: String,
    /// The words that are said first, by id.
    pub given: Vec<u32>,
    pub then: Then,
    pub wrong: Option<Miswiring>,
}

/// A traced translation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepTrace {
    pub model: String,
    /// BCP 47 tags of source and target.
    pub languages: (String, String),
    pub architecture: String,
    pub aligns: bool,
    pub wrong: Option<Miswiring>,
    #[serde(skip)]
    pub machine: Diagram,
    /// The tensors of its boxes as small pictures.
    pub matrices: Arc<[Shrunk]>,
    /// Those that are vectors, whole.
    pub vectors: Arc<[(String, Vec<f32>)]>,
    /// The source as the model reads it, `</s>` included.
    pub source: Sentence,
    pub encoder: Vec<MachinePart>,
    pub steps: Vec<TracedStep>,
    /// For each step its candidates and, at the end, the word that was said, in letters.
    pub words: Vec<Vec<String>>,
    pub eos: u32,
    pub unk: u32,
    /// Steps were left out, because there are too many.
    pub is_cut: bool,
}

impl StepTrace {
    /// The numbers of a stage at step `i`; of the encoder's stages whatever the step.
    pub fn part(&self, key: &str, i: usize) -> Option<&MachinePart> {
        let of_step = self.steps.get(i).and_then(|step| step.parts.iter().find(|part| part.key == key));
        of_step.or_else(|| self.encoder.iter().find(|part| part.key == key))
    }

    /// The step that says this word first; a number: that step, from 1.
    pub fn place(&self, step: &str) -> Option<usize> {
        match step.parse::<usize>() {
            Ok(number) => number.checked_sub(1),
            Err(_) => (0..self.steps.len()).find(|i| self.said(*i) == Some(step)),
        }
    }

    /// All words that were said.
    pub fn target_words(&self) -> Vec<String> {
        (0..self.steps.len()).filter_map(|i| self.said(i)).map(str::to_owned).collect()
    }

    /// The candidates of step `i` in letters, best first.
    pub fn candidates(&self, i: usize) -> &[String] {
        let count = self.steps.get(i).map_or(0, |step| step.best.len());
        self.words.get(i).and_then(|words| words.get(..count)).unwrap_or(&[])
    }

    /// The word that step `i` says; `None` while one is waited for.
    pub fn said(&self, i: usize) -> Option<&str> {
        self.steps.get(i)?.said?;
        self.words.get(i)?.last().map(String::as_str)
    }
}

/// The answer to a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepsEvent {
    pub number: u64,
    /// The steps, or why not, as a sentence for the user.
    pub found: std::result::Result<Arc<StepTrace>, String>,
}

/// The thread of traced translations.
pub struct StepsThread {
    mailbox: Arc<Mailbox<Letter>>,
    tickets: Generation,
    pub news: Service<StepsEvent>,
}

/// A request; `None`: release the last model.
type Letter = Option<(u64, StepsRequest, CancellationToken)>;

/// The last traced model, since words are tried one after the other.
pub struct Open {
    wrong: Option<Miswiring>,
    model: Arc<LoadedModel>,
    anatomy: Anatomy,
    matrices: Arc<[Shrunk]>,
    vectors: Arc<[(String, Vec<f32>)]>,
}

impl StepsThread {
    pub fn spawn(library: Library, wake: Wake) -> Self {
        let (out, events) = thread::channel(ROOM, wake);
        let (mailbox, tickets) = (Arc::new(Mailbox::<Letter>::new()), Generation::new());
        let (inbox, closed, cancelled) = (Arc::clone(&mailbox), Arc::clone(&mailbox), tickets.clone());
        let stop = move || {
            cancelled.cancel();
            closed.close();
        };
        let news = Service::start("steps", GRACE, events, stop, move || run(&library, &inbox, &out));
        Self { mailbox, tickets, news }
    }

    /// Makes this the wanted request; it replaces all earlier ones.
    pub fn submit(&self, number: u64, request: StepsRequest) {
        let ticket = self.tickets.next();
        if self.news.has_thread() {
            self.mailbox.put(Some((number, request, ticket)));
        } else {
            let message = "The system gave no thread to take the model apart with; close other programs.";
            self.news.refuse(StepsEvent { number, found: Err(message.to_owned()) });
        }
    }

    /// The model that was taken apart last goes, with its memory: no column has it any more.
    pub fn let_go(&self) {
        self.tickets.next();
        self.mailbox.put(None);
    }
}

/// Traces at once, for a caller without a window. Error: an unusable model or text.
pub fn at_once(library: &Library, request: &StepsRequest) -> Result<StepTrace> {
    serve(library, request, &mut None, &CancellationToken::forever())
}

fn run(library: &Library, inbox: &Mailbox<Letter>, out: &Outbox<StepsEvent>) {
    thread::step_back(thread::LIVE_STEP);
    let mut open = None;
    while let Some(letter) = inbox.take() {
        let Some((number, request, ticket)) = letter else {
            open = None;
            continue;
        };
        let found = match caught(|| serve(library, &request, &mut open, &ticket)) {
            Ok(Ok(trace)) => Ok(Arc::new(trace)),
            Ok(Err(Error::Stale)) => continue,
            Ok(Err(error)) => Err(error.to_string()),
            Err(words) => Err(panic_sentence("these steps", &words)),
        };
        out.send(StepsEvent { number, found });
    }
}

pub fn serve(
    library: &Library, request: &StepsRequest, open: &mut Option<Open>, ticket: &CancellationToken,
) -> Result<StepTrace> {
    let StepsRequest { model, device, wrong, .. } = request;
    let kept = open.take();
    let key: Key = (model.clone(), *device);
    let (_, model) = library.borrow(&key, ticket)?;
    // a model that was read again has other weights
    let fits = |open: &Open| Arc::ptr_eq(&open.model, &model) && open.wrong == *wrong;
    let kept = if let Some(kept) = kept.filter(fits) { kept } else { Open::new(model, *wrong)? };
    trace(open.insert(kept), request, ticket)
}

impl Open {
    #[cfg(target_family = "wasm")]
    pub fn config(&self) -> &Config {
        &self.model.model().config
    }

    fn new(model: Arc<LoadedModel>, wrong: Option<Miswiring>) -> Result<Self> {
        let fresh = (wrong == Some(Miswiring::Untrained)).then(|| untrained(&model.model().config));
        let weights = fresh.as_ref().unwrap_or(&model.model().weights);
        let anatomy = anatomy_of(&model.model().config, weights, wrong.filter(|_| fresh.is_none()))?;
        let matrices = shrunk(&anatomy.machine(), weights)?.into();
        let vectors = vectors(&anatomy.machine(), weights)?.into();
        Ok(Self { wrong, model, anatomy, matrices, vectors })
    }
}

fn trace(open: &mut Open, request: &StepsRequest, ticket: &CancellationToken) -> Result<StepTrace> {
    let (model, facts) = (&open.model, &open.model.facts);
    let source = model.read(&request.source)?;
    if source.len() > MOST_WORDS {
        return Err(Error::Input(format!(
            "The text has {} words, but at most {MOST_WORDS} are taken apart; choose a shorter one.",
            source.len()
        )));
    }
    let limit = MOST_STEPS.min(request.given.len().max(2 * source.len() + 10) + 1);
    let path = Path { given: &request.given, then: request.then, eos: facts.specials.eos, limit, best: CANDIDATES };
    let (encoder, steps) = trace_steps(&mut open.anatomy, &source.ids, &path, ticket)?;
    let target = &model.model().target;
    let word = |id: u32| target.marks().label(target.token(id).unwrap_or(UNK)).into_owned();
    let words = steps.iter().map(|step| step.best.iter().chain(&step.said).map(|(id, _)| word(*id)).collect());
    let is_cut =
        steps.len() == limit && steps.last().and_then(|step| step.said).is_some_and(|(id, _)| id != facts.specials.eos);
    Ok(StepTrace {
        model: facts.name.clone(),
        languages: (facts.source_language.clone(), facts.target_language.clone()),
        architecture: facts.architecture.clone(),
        aligns: facts.has_alignment,
        wrong: request.wrong,
        machine: open.anatomy.machine(),
        matrices: Arc::clone(&open.matrices),
        vectors: Arc::clone(&open.vectors),
        source,
        encoder,
        words: words.collect(),
        steps,
        eos: facts.specials.eos,
        unk: facts.specials.unk,
        is_cut,
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Weights and what they were taken apart into stayed after the column of the model was closed.
    #[test]
    fn a_model_that_is_let_go_leaves_nothing_behind() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/reference/rnnsearch");
        let library = Library::new(1);
        let key: Key = (folder.into(), DeviceChoice::Cpu);
        let (guard, model) = library.borrow(&key, &CancellationToken::forever()).expect("a model");
        let weak = Arc::downgrade(&model);
        let steps = StepsThread::spawn(library, Arc::new(|| {}));
        let given = Vec::new();
        let then = Then::Greedy;
        let request = StepsRequest {
            model: key.0,
            device: DeviceChoice::Cpu,
            source: "s2 s3".to_owned(),
            given,
            then,
            wrong: None,
        };
        steps.submit(1, request);
        let event = steps.news.next_within(Duration::from_mins(1)).expect("it is taken apart");
        assert!(event.found.is_ok(), "{:?}", event.found);
        drop((guard, model));
        assert!(weak.upgrade().is_some(), "the next word is tried with the same model");
        steps.let_go();
        let end = Instant::now() + Duration::from_mins(1);
        while weak.strong_count() > 0 && Instant::now() < end {
            std::thread::yield_now();
        }
        assert_eq!(weak.strong_count(), 0);
    }
}
