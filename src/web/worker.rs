//! What the worker of the page does: it keeps the models, translates column after column, and takes apart.
//!
//! A browser gives it one thread and tells it nothing while it computes. So it computes in turns, of which each ends with a
//! column, and within one it asks whether the page has asked for something else ([`is_replaced`]): then the turn ends, and
//! what is wanted still begins again behind what is wanted now.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast as _, JsError};
use web_sys::DedicatedWorkerGlobalScope;

use crate::message::{FromWorker, ToWorker, packed, unpacked};
use engine::{error::Error, models::Model, text::tokenizer::Tokenizers, ticket::CancellationToken};
use explorer::app::tasks::QueueCall;
use explorer::jobs::live::protocol::{ColumnId, ColumnSpec, Event, Request};
use explorer::jobs::queue::{QueueEvent, QueueNews, QueueOrder};
use explorer::jobs::steps::{Open, StepsEvent, StepsRequest};
use explorer::jobs::{models::cache::Key, models::store::Store, queue::job_queue};
use explorer::jobs::{serve, steps};

const REPORT_EVERY: f32 = 0.02;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = isReplaced)]
    fn is_replaced() -> bool;
}

#[derive(Default)]
struct Coming {
    files: BTreeMap<String, Vec<u8>>,
    reported: f32,
}

/// The worker's end. `worker.js` calls it and fetches what it names.
#[wasm_bindgen]
pub struct PageWorker {
    store: Store,
    tokenizers: Tokenizers,
    request: Option<Request>,
    todo: VecDeque<ColumnId>,
    /// Models have come since columns were told.
    is_news: bool,
    coming: HashMap<PathBuf, Coming>,
    failed: HashMap<PathBuf, (String, Vec<ColumnId>)>,
    trace: Option<(u64, StepsRequest)>,
    open: Option<Open>,
    orders: VecDeque<(u64, QueueOrder)>,
}

#[wasm_bindgen]
impl PageWorker {
    /// A bench without models.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "the page makes it")]
    pub fn new() -> Self {
        // what ends the worker is worth a line for those who look
        std::panic::set_hook(Box::new(|panic| web_sys::console::error_1(&panic.to_string().into())));
        Self {
            store: Store::new(1),
            tokenizers: Tokenizers::default(),
            request: None,
            todo: VecDeque::new(),
            is_news: false,
            coming: HashMap::new(),
            failed: HashMap::new(),
            trace: None,
            open: None,
            orders: VecDeque::new(),
        }
    }

    /// Takes in what the page asks for.
    pub fn received(&mut self, bytes: &[u8]) -> Result<(), JsError> {
        match unpacked(bytes)? {
            ToWorker::Decode(request) => {
                let has_work = |spec: &&ColumnSpec| spec.decode || spec.given.is_some();
                self.todo = request.columns.iter().filter(has_work).map(|spec| spec.column).collect();
                let is_there = |id: &ColumnId| request.columns.iter().any(|spec| spec.column == *id);
                self.failed.values_mut().for_each(|(_, reported)| reported.retain(is_there));
                self.failed.retain(|_, (_, reported)| !reported.is_empty());
                self.is_news = true;
                self.request = Some(request);
            }
            ToWorker::TakeApart(number, request) => self.trace = Some((number, request)),
            ToWorker::LetGo => (self.trace, self.open) = (None, None),
            ToWorker::Queue(QueueCall::Submit(number, order)) => self.orders.push_back((number, order)),
            ToWorker::Queue(QueueCall::Cancel(number)) => self.orders.retain(|(own, _)| *own != number),
            ToWorker::Queue(QueueCall::Pause(..)) => {}
        }
        Ok(())
    }

    /// The models to fetch now; each is named once.
    pub fn missing(&mut self) -> Vec<String> {
        let wanted: Vec<PathBuf> = self.keys().map(|(model, _)| model.folder).collect();
        let mut missing = Vec::new();
        for folder in wanted {
            if !self.is_there(&folder) && !self.failed.contains_key(&folder) && !self.coming.contains_key(&folder) {
                self.coming.insert(folder.clone(), Coming::default());
                missing.push(folder.to_string_lossy().into_owned());
            }
        }
        missing
    }

    /// So much of a model has come.
    pub fn read(&mut self, folder: &str, share: f32) -> Result<(), JsError> {
        let folder = Path::new(folder);
        match self.coming.get_mut(folder) {
            Some(coming) if share >= coming.reported + REPORT_EVERY => coming.reported = share,
            _ => return Ok(()),
        }
        for column in self.columns_with(folder) {
            notify(&FromWorker::Decoded(Event::Loading { column, fraction: share }))?;
        }
        Ok(())
    }

    /// A file of a model has come.
    pub fn file(&mut self, folder: &str, name: String, bytes: Vec<u8>) {
        if let Some(coming) = self.coming.get_mut(Path::new(folder)) {
            coming.files.insert(name, bytes);
        }
    }

    /// All files of a model have come.
    pub fn whole(&mut self, folder: &str) -> Result<(), JsError> {
        let path = Path::new(folder);
        let Some(coming) = self.coming.remove(path) else { return Ok(()) };
        let model = match Model::from_files(path, &coming.files, &self.tokenizers) {
            Ok(model) => model,
            Err(error) => return self.failed(folder, error.to_string()),
        };
        let keys: Vec<Key> = self.keys().filter(|(wanted, _)| wanted.folder == path).collect();
        for key in keys {
            match model.choosing(&key.0.choice) {
                Ok(chosen) => self.store.put(key, chosen),
                Err(error) => self.failed(folder, error.to_string())?,
            }
        }
        self.is_news = true;
        Ok(())
    }

    /// A model cannot be had.
    pub fn failed(&mut self, folder: &str, message: String) -> Result<(), JsError> {
        let path = Path::new(folder);
        self.coming.remove(path);
        let columns = self.columns_with(path);
        for column in columns.iter().copied() {
            notify(&FromWorker::Decoded(Event::LoadFailed { column, message: message.clone() }))?;
        }
        self.failed.insert(path.to_owned(), (message, columns));
        Ok(())
    }

    /// Does one piece of work; whether there was any.
    pub fn turn(&mut self) -> Result<bool, JsError> {
        Ok(self.live_turn()? || self.steps_turn()? || self.queue_turn()?)
    }
}

impl PageWorker {
    fn keys(&self) -> impl Iterator<Item = Key> {
        let columns = self.request.iter().flat_map(|request| request.columns.iter().flat_map(ColumnSpec::keys));
        let trace = self.trace.iter().map(|(_, request)| (request.model.clone(), request.device));
        let orders = self.orders.iter().filter_map(|(_, order)| order.model());
        columns.chain(trace).chain(orders).collect::<Vec<_>>().into_iter()
    }

    fn is_there(&self, folder: &Path) -> bool {
        self.keys().filter(|(own, _)| own.folder == folder).all(|key| self.store.knows(&key))
    }

    fn columns_with(&self, folder: &Path) -> Vec<ColumnId> {
        let has = |spec: &&ColumnSpec| spec.system.members.iter().any(|own| own.folder == folder);
        self.request.iter().flat_map(|request| request.columns.iter().filter(has).map(|spec| spec.column)).collect()
    }

    fn live_turn(&mut self) -> Result<bool, JsError> {
        let Some(request) = &self.request else { return Ok(false) };
        let ready = |spec: &&ColumnSpec| spec.keys().all(|key| self.store.knows(&key));
        let columns: Vec<ColumnSpec> = request.columns.iter().filter(ready).cloned().collect();
        let next = self.todo.iter().position(|id| columns.iter().any(|spec| spec.column == *id));
        let is_near = self.todo.is_empty() && request.near.is_some();
        if next.is_none() && !self.is_news && !is_near {
            return Ok(false);
        }
        let chosen = next.and_then(|at| self.todo.remove(at));
        let rest = |spec: ColumnSpec| if Some(spec.column) == chosen { spec } else { without_work(spec) };
        let near = request.near.clone().filter(|_| is_near);
        let part = Request { columns: columns.into_iter().map(rest).collect(), near, ..request.clone() };
        self.is_news = false;
        let ticket = CancellationToken::asking(is_replaced);
        let mut lost = None;
        let mut emit = |event| lost = notify(&FromWorker::Decoded(event)).err().map(|_| ());
        serve(&part, &mut self.store, &ticket, &mut emit);
        if ticket.is_stale() {
            // what replaces it is heard before the next turn, unless it was long work that was cancelled
            chosen.into_iter().for_each(|column| self.todo.push_front(column));
        } else if let Some(request) = self.request.as_mut().filter(|_| is_near) {
            request.near = None;
        }
        match lost {
            None => Ok(true),
            Some(()) => Err(JsError::new("news could not be sent to the page")),
        }
    }

    fn steps_turn(&mut self) -> Result<bool, JsError> {
        let Some((number, request)) =
            self.trace.take_if(|(_, request)| self.store.knows(&(request.model.clone(), request.device)))
        else {
            return Ok(false);
        };
        let ticket = CancellationToken::asking(is_replaced);
        let found = steps::serve(&self.store.library(), &request, &mut self.open, &ticket);
        if matches!(found, Err(Error::Stale)) {
            self.trace = Some((number, request));
            return Ok(true);
        }
        let config = self.open.as_ref().map(|open| open.config().to_json());
        let found = found.map(Into::into).map_err(|error: Error| error.to_string());
        notify(&FromWorker::Steps(StepsEvent { number, found }, config))?;
        Ok(true)
    }

    fn queue_turn(&mut self) -> Result<bool, JsError> {
        let is_ready = |order: &QueueOrder| order.model().is_none_or(|key| self.store.knows(&key));
        let Some((number, order)) = self.orders.pop_front_if(|(_, order)| is_ready(order)) else { return Ok(false) };
        let progress = |progress| {
            // the page has the next one, or the end
            let _ = notify(&FromWorker::Queue(QueueEvent { number, kind: QueueNews::Progress(progress) }));
        };
        let ticket = CancellationToken::asking(is_replaced);
        let kind = job_queue::at_once(order.clone(), &self.store.library(), ticket, &progress);
        if matches!(kind, QueueNews::Cancelled) {
            self.orders.push_front((number, order));
            return Ok(true);
        }
        notify(&FromWorker::Queue(QueueEvent { number, kind }))?;
        Ok(true)
    }
}

fn without_work(spec: ColumnSpec) -> ColumnSpec {
    ColumnSpec { decode: false, given: None, ..spec }
}

fn notify(message: &FromWorker) -> Result<(), JsError> {
    let bytes = Uint8Array::from(packed(message)?.as_slice());
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    scope.post_message(&bytes).map_err(|_| JsError::new("the page does not hear"))
}
