//! Serves one request, without channel or mailbox. Models are waited for and decoded side by side, one thread each;
//! columns of one model take turns, so that the first rows come soonest.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::jobs::gate::{ForegroundGate, ForegroundGuard};
use crate::jobs::live::protocol::{
    ColumnResult, ColumnSpec, Event, HypothesisView, Request, Shift, SystemKey, UntouchedTranslation,
};
use crate::jobs::live::view;
use crate::jobs::models::store::{Outcome, Store};
use crate::jobs::thread::{caught, lock, panic_sentence};
use crate::jobs::{models::cache::ReadProgress, models::loaded::LoadedModel};
use engine::analysis::{divergence::jensen_shannon, neighbours::Space};
use engine::decoding::{Decoded, Hypothesis, SearchOptions, SearchProgress, decode, force, forced::follow};
use engine::error::{Error, Result};
use engine::evaluation::rows::{self, RowReader};
use engine::interventions::{Intervening, Intervention};
use engine::models::representations::{VocabularySide, words};
use engine::models::{StepOutput, Stepper};
use engine::text::sentence::{Sentence, UNK};
use engine::text::{line, tokenizer::Tokenizer};
use engine::{clock::Instant, ticket::CancellationToken};

/// Most numbers (alpha and energies) of a trace; longer sentences are searched without one.
const MAX_TRACE: usize = 16_000_000;
/// Most numbers of all hypotheses of a result; further down the beam they are left out.
const MAX_NUMBERS: usize = 16_000_000;
/// A source of more words than this is long: its rows are sent no closer than [`FRAME`].
const LONG: usize = 100;
/// A frame of the window at 60 a second.
const FRAME: Duration = Duration::from_millis(16);

type Out<'a> = Mutex<&'a mut (dyn FnMut(Event) + Send)>;

struct Job<'a> {
    request: &'a Request,
    store: &'a Store,
    ticket: &'a CancellationToken,
    /// Held shut while a column has something to do.
    gate: Option<Arc<ForegroundGate>>,
    out: Out<'a>,
    threads: usize,
    start: Instant,
}

/// Loads the requested models and translates in every column. Failures are events; a stale ticket ends it silently.
pub fn serve(request: &Request, store: &mut Store, ticket: &CancellationToken, emit: &mut (dyn FnMut(Event) + Send)) {
    serve_holding(request, store, ticket, None, emit);
}

/// As [`serve`]; releases the gate when only a stalled reader is waited for.
pub(crate) fn serve_holding(
    request: &Request, store: &mut Store, ticket: &CancellationToken, busy: Option<ForegroundGuard>,
    emit: &mut (dyn FnMut(Event) + Send),
) {
    let start = Instant::now();
    store.arrange(request);
    let mut systems: Vec<(SystemKey, Vec<&ColumnSpec>)> = Vec::new();
    for spec in &request.columns {
        let key = spec.key();
        match systems.iter_mut().find(|(known, _)| *known == key) {
            Some((_, columns)) => columns.push(spec),
            None => systems.push((key, vec![spec])),
        }
    }
    // Only columns with work count for the cores: one with its result on screen or without a model has none.
    let is_busy = |spec: &&ColumnSpec| (spec.decode || spec.given.is_some()) && !store.has_failed(spec);
    let working = systems.iter().filter(|(_, columns)| columns.iter().any(is_busy)).count();
    let threads = (store.threads / working.max(1)).max(1);
    let gate = busy.as_ref().map(|busy| Arc::clone(&busy.0));
    let job = Job { request, store, ticket, gate, out: Mutex::new(emit), threads, start };
    let holds: Vec<Option<ForegroundGuard>> = systems.iter().map(|_| job.hold()).collect();
    drop(busy);
    std::thread::scope(|scope| {
        let last = systems.len().saturating_sub(1);
        for (n, ((system, columns), hold)) in systems.iter().zip(holds).enumerate() {
            let job = &job;
            let work = move || job.system(system, columns, hold);
            let thread = std::thread::Builder::new().name("interlinear-column".to_owned());
            if n == last {
                work();
            } else if thread.spawn_scoped(scope, work).is_err() {
                // No thread to be had: one after the other, then.
                job.system(system, columns, job.hold());
            }
        }
    });
    let _hold = job.hold();
    for (system, columns) in &systems {
        job.near(system, columns);
    }
    for (system, columns) in &systems {
        job.fingerprint(system, columns);
    }
}

impl Job<'_> {
    fn emit(&self, event: Event) {
        lock(&self.out)(event);
    }

    fn hold(&self) -> Option<ForegroundGuard> {
        self.gate.as_ref().map(ForegroundGate::shut)
    }

    /// The columns of one model or ensemble, in turn. `hold` is let go while nothing but a stalled reader is waited for.
    fn system(&self, system: &SystemKey, columns: &[&ColumnSpec], mut hold: Option<ForegroundGuard>) {
        let mut on_progress = |progress| match progress {
            ReadProgress::Stalled => hold = None,
            ReadProgress::Read(fraction) => {
                for spec in columns {
                    self.store.must_report(spec, Outcome::Loading);
                    self.emit(Event::Loading { column: spec.column, fraction });
                }
            }
        };
        let Some(model) = self.store.wait(system, self.ticket, &mut on_progress) else { return };
        let _hold = hold.or_else(|| self.hold());
        let model = match model {
            Ok(model) => model,
            Err(message) => {
                for spec in columns.iter().filter(|spec| self.store.must_report(spec, Outcome::Failed)) {
                    self.emit(Event::LoadFailed { column: spec.column, message: message.clone() });
                }
                return;
            }
        };
        for spec in columns.iter().filter(|spec| self.store.must_report(spec, Outcome::Loaded)) {
            self.emit(Event::Loaded { column: spec.column, facts: model.facts() });
        }
        let has_text = |spec: &&&ColumnSpec| !spec.source_in(self.request).trim().is_empty();
        for spec in columns.iter().filter(|spec| spec.decode).filter(has_text) {
            let message = match caught(|| self.column(spec, &model)) {
                Ok(Ok(())) => continue,
                Ok(Err(Error::Stale)) => return,
                Ok(Err(error)) => error.to_string(),
                Err(words) => panic_sentence("this column", &words),
            };
            self.emit(Event::Failed { number: self.request.number, column: spec.column, message });
        }
        for (spec, text) in columns.iter().filter(has_text).filter_map(|spec| Some((spec, spec.given.as_deref()?))) {
            let given = match caught(|| self.given(spec, &model, text)) {
                Ok(Ok(view)) => Ok(Box::new(view)),
                Ok(Err(Error::Stale)) => return,
                Ok(Err(error)) => Err(error.to_string()),
                Err(words) => Err(panic_sentence("this column", &words)),
            };
            self.emit(Event::Given { number: self.request.number, column: spec.column, given });
        }
    }

    fn given(&self, spec: &ColumnSpec, model: &LoadedModel, text: &str) -> Result<HypothesisView> {
        self.ticket.check()?;
        let mut source = view::ReadSource::new(&model.wording(), model.read(spec.source_in(self.request))?, false);
        // what is set for all words holds for these too; the rest is about words of the model's translation
        let set = source.set(model.reader(), &spec.interventions);
        let list: Arc<[Intervention]> = set.iter().filter(|one| one.is_for_all_words()).cloned().collect();
        let source = source.untouched();
        model.with_stepper(spec.engine, self.threads, |stepper| {
            if list.is_empty() {
                return forced_view(model, &source, text, stepper, self.ticket);
            }
            let mut stepper = Intervening::new(&mut *stepper, vec![Arc::clone(&list)]);
            forced_view(model, &source, text, &mut stepper, self.ticket)
        })
    }

    fn fingerprint(&self, system: &SystemKey, columns: &[&ColumnSpec]) {
        if columns.iter().any(|spec| self.store.has_failed(spec)) {
            return;
        }
        for spec in columns.iter().filter(|spec| self.store.owes_fingerprint(spec)) {
            let Some(Ok(model)) = self.store.wait(system, self.ticket, &mut |_| ()) else { return };
            // The next letter does not wait for it.
            let Some(digest) = model.digest_while(&|| !self.ticket.is_stale()) else { return };
            self.store.mark_fingerprint_sent(spec);
            self.emit(Event::Fingerprint { column: spec.column, digest });
        }
    }

    fn near(&self, system: &SystemKey, columns: &[&ColumnSpec]) {
        let Some(wanted) = &self.request.near else { return };
        if columns.iter().any(|spec| self.store.has_failed(spec))
            || !columns.iter().any(|spec| spec.column == wanted.column)
        {
            return;
        }
        let Some(model) = self.store.wait(system, self.ticket, &mut |_| ()) else { return };
        let near = model.and_then(|model| match caught(|| neighbours(&model, &wanted.word)) {
            Ok(near) => near.map_err(|error| error.to_string()),
            Err(words) => Err(panic_sentence("this column", &words)),
        });
        self.emit(Event::Near { number: self.request.number, column: wanted.column, near });
    }

    fn column(&self, spec: &ColumnSpec, model: &LoadedModel) -> Result<()> {
        self.ticket.check()?;
        let mut source = view::ReadSource::new(&model.wording(), model.read(spec.source_in(self.request))?, false);
        let list = source.set(model.reader(), &spec.interventions);
        let sentence = &source.sentence;
        let mut wanted = spec.options.clone();
        // a beginning that was set is never cut
        wanted.max_length = Some(wanted.limit(sentence.len()).max(source.touched.form.begun() + 1));
        let options = within_memory(&wanted, sentence.len());
        let (number, column) = (self.request.number, spec.column);
        let mut rows = Pace { first_row_millis: None, last: None, every: self.store.row_every };
        let mut on_progress = |_: usize, progress: SearchProgress<'_>| match progress {
            _ if self.ticket.is_stale() => {}
            SearchProgress::Encoded { context } => {
                self.emit(Event::Started { number, column, source: sentence.clone(), context });
            }
            SearchProgress::Expanded { best } => {
                if rows.is_due(self.start, best.tokens.len(), sentence.len()) {
                    self.emit(Event::Expanded {
                        number,
                        column,
                        best: view::view(&model.wording(), &source, best.clone()),
                    });
                }
            }
        };
        // alpha that a person has set does not go on behind `</s>`
        let goes_on = !list.iter().any(Intervention::needs_alignment);
        let (decoded, took) = model.with_stepper(spec.engine, self.threads, |stepper| {
            let decoded = if list.is_empty() {
                self.search(stepper, model, sentence, &options, &mut on_progress)?
            } else {
                let mut stepper = Intervening::new(&mut *stepper, vec![Arc::clone(&list)]);
                self.search(&mut stepper, model, sentence, &options, &mut on_progress)?
            };
            let took = millis(self.start);
            if !goes_on {
                return Ok((decoded, took));
            }
            Ok((self.read_to_the_end(stepper, model, sentence, decoded)?, took))
        })?;
        let best = decoded.hypotheses.first().map_or_else(Vec::new, |best| best.tokens.clone());
        let result = result(model, &source, decoded, (&rows, took));
        self.ticket.check()?;
        self.emit(Event::Finished { number, column, result });
        if source.touched.is_untouched() {
            return Ok(());
        }
        let untouched = self.untouched(spec, model, source, &list, &best)?;
        self.ticket.check()?;
        self.emit(Event::Untouched { number, column, untouched });
        Ok(())
    }

    fn search(
        &self, stepper: &mut dyn Stepper, model: &LoadedModel, source: &Sentence, options: &SearchOptions,
        on_progress: &mut dyn FnMut(usize, SearchProgress<'_>),
    ) -> Result<Decoded> {
        let decoded = decode(stepper, model.facts.specials, &[&source.ids], options, self.ticket, on_progress)?;
        decoded.into_iter().next().ok_or_else(|| Error::Internal("the search gave no result".to_owned()))
    }

    /// With the rows of the last words, where rows belong to the words that were read.
    fn read_to_the_end(
        &self, stepper: &mut dyn Stepper, model: &LoadedModel, source: &Sentence, mut decoded: Decoded,
    ) -> Result<Decoded> {
        let mut all: Vec<&mut Hypothesis> = decoded.hypotheses.iter_mut().collect();
        let (sources, batch) = (vec![source.ids.as_slice(); all.len()], all.len().max(1));
        RowReader::own(model.system()).extend_past_eos(stepper, &sources, &mut all, batch, self.ticket)?;
        Ok(decoded)
    }

    fn untouched(
        &self, spec: &ColumnSpec, model: &LoadedModel, source: view::ReadSource, list: &[Intervention], best: &[u32],
    ) -> Result<UntouchedTranslation> {
        let options = SearchOptions { trace: false, ..within_memory(&spec.options, source.sentence.len()) };
        let source = source.untouched();
        let sentence = &source.sentence;
        let (decoded, shifts) = model.with_stepper(spec.engine, self.threads, |stepper| {
            let decoded = self.search(stepper, model, sentence, &options, &mut |_, _| ())?;
            let decoded = self.read_to_the_end(stepper, model, sentence, decoded)?;
            let words = (&model.model().target, options.candidates);
            Ok((decoded, shifts(stepper, list, (&sentence.ids, best), words, self.ticket)?))
        })?;
        let best = decoded.hypotheses.into_iter().next().unwrap_or_default();
        Ok(UntouchedTranslation { best: view::view(&model.wording(), &source, best), shifts })
    }
}

/// What was found in so many milliseconds.
fn result(
    model: &LoadedModel, source: &view::ReadSource, decoded: Decoded, (pace, millis): (&Pace, f32),
) -> ColumnResult {
    let words = decoded.hypotheses.first().map_or(0, |best| best.tokens.len());
    let words_per_second = words as f32 * 1000.0 / millis.max(0.001);
    ColumnResult {
        hypotheses: decoded.hypotheses.into_iter().map(|one| view::view(&model.wording(), source, one)).collect(),
        words: view::words(&model.wording(), &decoded.nodes),
        nodes: decoded.nodes,
        context: decoded.context,
        millis,
        first_row_millis: pace.first_row_millis.unwrap_or(millis),
        words_per_second,
    }
}

struct Pace {
    first_row_millis: Option<f32>,
    last: Option<Instant>,
    every: Duration,
}

impl Pace {
    /// The first row is due at once; later ones less often the larger the picture, which is costly to copy and draw.
    fn is_due(&mut self, start: Instant, t_y: usize, t_x: usize) -> bool {
        self.first_row_millis.get_or_insert_with(|| millis(start));
        let cells = (t_y * t_x) as u64;
        let frame = if t_x > LONG { FRAME } else { Duration::ZERO };
        let every = self.every.max(frame).max(Duration::from_micros(cells / 10));
        if self.last.is_some_and(|last| last.elapsed() < every) {
            return false;
        }
        self.last = Some(Instant::now());
        true
    }
}

fn millis(start: Instant) -> f32 {
    start.elapsed().as_secs_f32() * 1000.0
}

/// A long sentence with a wide beam is searched without a trace, and only its best hypotheses keep alignments.
fn within_memory(options: &SearchOptions, t_x: usize) -> SearchOptions {
    let numbers = 2 * t_x * options.limit(t_x) * options.beam;
    let (trace, most_numbers) = (options.trace && numbers <= MAX_TRACE, options.most_numbers.min(MAX_NUMBERS));
    SearchOptions { trace, most_numbers, ..options.clone() }
}

/// Most numbers of its alignment.
const MOST_CELLS: usize = 4_000_000;

/// The given words under this model, `</s>` included. Error: no words, too many, or [`Error::Stale`].
fn forced_view(
    model: &LoadedModel, source: &view::ReadSource, text: &str, stepper: &mut dyn Stepper, ticket: &CancellationToken,
) -> Result<HypothesisView> {
    let target = line::read(&model.model().target, text, false);
    let target = target.map_err(|why| Error::Input(format!("Your translation {why}.")))?;
    if target.words() == 0 {
        return Err(Error::Input("Your translation has no words that this model could read.".to_owned()));
    }
    let cells = source.sentence.len() * target.ids.len();
    if cells > MOST_CELLS {
        return Err(Error::Input("Your translation is too long to be aligned with this text.".to_owned()));
    }
    let longer = RowReader::own(model.system()).tokens_past_eos(&target.ids);
    let forced = force(stepper, &[(&source.sentence.ids, &longer)], ticket)?;
    let forced = rows::of_tokens_alone(forced.into_iter().next().unwrap_or_default(), target.ids.len());
    Ok(view::given(&model.wording(), source, (&target, false), forced))
}

const NEAR_SHOWN: usize = 8;
/// Neighbours that are examined; pieces of words and punctuation are skipped.
const LOOKED_AT: usize = 200;

/// The words nearest to `word` with their cosines. Error: an ensemble, or a word that is not one vocabulary entry.
fn neighbours(model: &LoadedModel, word: &str) -> Result<Vec<(String, f32)>> {
    let facts = &model.facts;
    if !facts.members.is_empty() {
        return Err(Error::Input("An ensemble has no embeddings of its own; type a word".to_owned()));
    }
    let vocabulary = &model.model().source;
    let id = match vocabulary.encode_with(word, None).ids.as_slice() {
        &[id] if id != facts.specials.unk => id,
        [_] => return Err(Error::Input(format!("{} does not know the word \"{word}\"; type another", facts.name))),
        _ => {
            let sentence = "is several pieces for this model, which have no neighbours together; type another word";
            return Err(Error::Input(format!("\"{word}\" {sentence}")));
        }
    };
    let words = words(model.model(), VocabularySide::Source, usize::MAX)?;
    let Some(row) = words.ids.iter().position(|other| *other == id) else { return Ok(Vec::new()) };
    let space = Space::new(words.dimension, words.rows);
    let typed = |id: u32| {
        let text = vocabulary.spaced(&[vocabulary.token(id)?]);
        let is_word = text != UNK && text.chars().any(char::is_alphanumeric);
        (is_word && vocabulary.encode_with(&text, None).ids == [id]).then_some(text)
    };
    let near = space.nearest_to(row, LOOKED_AT).into_iter();
    Ok(near.filter_map(|near| Some((typed(words.ids[near.index])?, near.cosine))).take(NEAR_SHOWN).collect())
}

/// Most log p that are kept of the model's own steps; words further on are not compared.
const MOST_OWN: usize = 16_000_000;

/// How interventions change the next word at each place of `target`, given the same words; forced words are ignored.
fn shifts(
    stepper: &mut dyn Stepper, list: &[Intervention], pair: (&[u32], &[u32]), words: (&Tokenizer, usize),
    ticket: &CancellationToken,
) -> Result<Vec<Shift>> {
    let (source, target) = pair;
    let (vocabulary, candidates) = words;
    let best = |output: &StepOutput| -> Vec<(String, f32)> {
        let word = |id: u32| vocabulary.token(id).unwrap_or(UNK).to_owned();
        output.best_row(0).iter().map(|&(id, log_p)| (word(id), log_p)).collect()
    };
    let compared = &target[..target.len().min(MOST_OWN / vocabulary.len().max(1))];
    let (mut own, mut shifts) = (Vec::new(), Vec::new());
    follow(stepper, source, compared, candidates, ticket, &mut |i, output| {
        let log_p = output.log_p.get(compared[i] as usize).copied().unwrap_or(f32::NEG_INFINITY);
        shifts.push(Shift { before: best(output), log_p, ..Shift::default() });
        own.push(output.log_p.clone());
    })?;
    let free = list.iter().filter(|one| !matches!(one, Intervention::Force { .. })).cloned();
    let mut changed = Intervening::new(stepper, vec![free.collect()]);
    follow(&mut changed, source, compared, candidates, ticket, &mut |i, output| {
        shifts[i].after = best(output);
        shifts[i].divergence = jensen_shannon(&own[i], &output.log_p) as f32;
    })?;
    Ok(shifts)
}
