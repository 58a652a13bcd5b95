//! The lanes of the page: its worker, started again when it is lost.

use std::collections::{BTreeSet, VecDeque};
use std::{cell::RefCell, path::PathBuf, rc::Rc, sync::Arc};

use js_sys::{Function, Object, Reflect, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Blob, MessageEvent, Url, Worker};

use crate::message::{FromWorker, ToWorker, packed, unpacked};
use engine::models::{anatomy, choice::ModelSpec, config::Config};
use engine::text::given;
use explorer::jobs::live::protocol::{Event, Request};
use explorer::jobs::queue::{QueueEvent, QueueNews, QueueOrder};
use explorer::jobs::steps::{StepsEvent, StepsRequest};
use explorer::session::driver::{BackgroundJobs, JobNews};
use explorer::{app::tasks::QueueCall, jobs::Wake};

#[derive(Default)]
struct Inbox {
    news: VecDeque<Vec<u8>>,
    is_lost: bool,
    /// It ended by itself, for what was wanted before made way to something else.
    has_left: bool,
}

struct Sign(String);

impl Sign {
    fn put() -> Option<Self> {
        Url::create_object_url_with_blob(&Blob::new().ok()?).ok().map(Self)
    }
}

impl Drop for Sign {
    fn drop(&mut self) {
        // one that stays has a worker finish what it does, as without
        let _ = Url::revoke_object_url(&self.0);
    }
}

/// The worker, and what it was asked last.
pub struct WorkerLanes {
    spawn: Function,
    worker: Option<Worker>,
    sign: Option<Sign>,
    inbox: Rc<RefCell<Inbox>>,
    received: [Closure<dyn FnMut(MessageEvent)>; 2],
    decoded: VecDeque<Event>,
    others: VecDeque<JobNews>,
    last: Option<Request>,
    trace: Option<(u64, StepsRequest)>,
    orders: Vec<(u64, QueueOrder)>,
    given: BTreeSet<PathBuf>,
    lost_over: Option<u64>,
}

impl WorkerLanes {
    /// Lanes on the workers that `spawn` gives.
    pub fn new(spawn: Function, wake: &Wake) -> Self {
        let inbox = Rc::<RefCell<Inbox>>::default();
        let listen = |take: fn(&mut Inbox, MessageEvent)| {
            let (inbox, wake) = (Rc::clone(&inbox), Arc::clone(wake));
            Closure::<dyn FnMut(MessageEvent)>::new(move |event| {
                take(&mut inbox.borrow_mut(), event);
                wake();
            })
        };
        let news = listen(|inbox, event| match event.data() {
            word if word.is_string() => inbox.has_left = true,
            bytes => inbox.news.push_back(Uint8Array::new(&bytes).to_vec()),
        });
        let lost = listen(|inbox, _| inbox.is_lost = true);
        let received = [news, lost];
        let mut jobs = Self {
            spawn,
            worker: None,
            sign: None,
            inbox,
            received,
            decoded: VecDeque::new(),
            others: VecDeque::new(),
            last: None,
            trace: None,
            orders: Vec::new(),
            given: BTreeSet::new(),
            lost_over: None,
        };
        jobs.start();
        jobs
    }

    fn start(&mut self) {
        let worker = self.spawn.call0(&JsValue::NULL).ok().and_then(|worker| worker.dyn_into::<Worker>().ok());
        if let Some(worker) = &worker {
            worker.set_onmessage(Some(self.received[0].as_ref().unchecked_ref()));
            worker.set_onerror(Some(self.received[1].as_ref().unchecked_ref()));
        }
        self.worker = worker;
    }

    fn ask(&mut self, message: &ToWorker) -> Result<(), String> {
        let bytes = packed(message).map_err(|error| format!("{:?}", JsValue::from(error)))?;
        let worker = self.worker.as_ref().ok_or("This browser gives no worker; use another one.")?;
        let letter = Object::new();
        let set = |key: &str, value: &JsValue| Reflect::set(&letter, &key.into(), value);
        let sign = if self.interrupts(message) { Sign::put() } else { None };
        let wrong = |error: JsValue| format!("{error:?}");
        set("bytes", &Uint8Array::from(bytes.as_slice())).map_err(wrong)?;
        if let Some(Sign(address)) = &sign {
            set("sign", &address.as_str().into()).map_err(wrong)?;
        }
        worker.post_message(&letter).map_err(wrong)?;
        // the old one goes when the message is on its way
        self.sign = sign.or_else(|| self.sign.take());
        Ok(())
    }

    fn interrupts(&self, message: &ToWorker) -> bool {
        match message {
            ToWorker::Decode(_) | ToWorker::Queue(QueueCall::Cancel(_)) => true,
            // long work makes way
            ToWorker::TakeApart(..) => !self.orders.is_empty(),
            ToWorker::Queue(_) | ToWorker::LetGo => false,
        }
    }

    fn give(&mut self, request: &Request) {
        let Some(worker) = &self.worker else { return };
        for ModelSpec { folder, .. } in request.columns.iter().flat_map(|spec| &spec.system.members) {
            let own = given::inside(folder);
            if own.is_empty() || !self.given.insert(folder.clone()) {
                continue;
            }
            let files = Object::new();
            let message = Object::new();
            let set = |object: &Object, key: &str, value: &JsValue| Reflect::set(object, &key.into(), value);
            let mut is_set = true;
            for (name, bytes) in own {
                is_set &= set(&files, &name, &Uint8Array::from(&*bytes)).is_ok();
            }
            is_set &= set(&message, "folder", &folder.to_string_lossy().as_ref().into()).is_ok();
            is_set &= set(&message, "files", &files).is_ok();
            if is_set {
                // a worker that does not get them says that the model is missing
                let _ = worker.post_message(&message);
            }
        }
    }

    /// A worker that is lost or has left is replaced, and does what the last one was asked.
    fn mend(&mut self) {
        let is_lost = std::mem::take(&mut self.inbox.borrow_mut().is_lost);
        if !std::mem::take(&mut self.inbox.borrow_mut().has_left) && !is_lost {
            return;
        }
        if let Some(worker) = self.worker.take() {
            worker.terminate();
        }
        self.start();
        let number = self.last.as_ref().map_or(0, |request| request.number);
        let message = "The worker of this page was lost twice over this text; change it, or load the page anew.";
        let is_again = is_lost && self.lost_over == Some(number);
        // whichever of them it was, it is not tried a third time
        if is_again {
            let failed = |number| QueueEvent { number, kind: QueueNews::Failed(message.to_owned()) };
            self.others.extend(self.orders.drain(..).map(|(number, _)| JobNews::Queue(failed(number))));
            let found = Err(message.to_owned());
            self.others.extend(self.trace.take().map(|(number, _)| JobNews::Steps(StepsEvent { number, found })));
        }
        let again = self.trace.iter().map(|(number, request)| ToWorker::TakeApart(*number, request.clone()));
        let orders =
            self.orders.iter().map(|(number, order)| ToWorker::Queue(QueueCall::Submit(*number, order.clone())));
        let again: Vec<ToWorker> = again.chain(orders).collect();
        let Some(mut request) = self.last.clone() else { return };
        if is_lost && self.lost_over.replace(request.number) == Some(request.number) {
            for spec in &mut request.columns {
                let (number, column, message) = (request.number, spec.column, message.to_owned());
                self.decoded.push_back(Event::Failed { number, column, message });
                (spec.decode, spec.given) = (false, None);
            }
        }
        self.given.clear();
        self.give(&request);
        // a worker that cannot be asked says so by another loss
        let _ = self.ask(&ToWorker::Decode(request));
        for message in again {
            let _ = self.ask(&message);
        }
    }

    fn take_in(&mut self) {
        self.mend();
        loop {
            let Some(bytes) = self.inbox.borrow_mut().news.pop_front() else { return };
            match unpacked(&bytes) {
                Ok(FromWorker::Decoded(event)) => self.decoded.push_back(event),
                Ok(FromWorker::Queue(event)) => {
                    if !matches!(event.kind, QueueNews::Progress(_)) {
                        self.orders.retain(|(number, _)| *number != event.number);
                    }
                    self.others.push_back(JobNews::Queue(event));
                }
                Ok(FromWorker::Steps(event, config)) => {
                    self.trace.take_if(|(number, _)| *number == event.number);
                    self.others.push_back(JobNews::Steps(drawn(event, config.as_deref())));
                }
                Err(_) => self.inbox.borrow_mut().is_lost = true,
            }
        }
    }
}

fn drawn(mut event: StepsEvent, config: Option<&str>) -> StepsEvent {
    if let (Ok(trace), Some(config)) = (&mut event.found, config)
        && let (Some(trace), Ok(config)) = (Arc::get_mut(trace), Config::from_json("config.json".as_ref(), config))
    {
        trace.machine = anatomy::machine(&config, trace.wrong);
    }
    event
}

impl BackgroundJobs for WorkerLanes {
    fn decode(&mut self, request: Request) {
        self.give(&request);
        if let Err(message) = self.ask(&ToWorker::Decode(request.clone())) {
            let failed = |column| Event::LoadFailed { column, message: message.clone() };
            self.decoded.extend(request.columns.iter().map(|spec| failed(spec.column)));
        }
        self.last = Some(request);
    }

    fn decoded(&mut self) -> Option<Event> {
        self.take_in();
        self.decoded.pop_front()
    }

    fn trace(&mut self, number: u64, request: StepsRequest) {
        self.trace = Some((number, request.clone()));
        if let Err(message) = self.ask(&ToWorker::TakeApart(number, request)) {
            self.others.push_back(JobNews::Steps(StepsEvent { number, found: Err(message) }));
        }
    }

    fn let_go(&mut self) {
        self.trace = None;
        // a worker that is lost holds nothing
        let _ = self.ask(&ToWorker::LetGo);
    }

    fn queue(&mut self, call: QueueCall) {
        let number = match &call {
            QueueCall::Submit(number, order) => {
                self.orders.push((*number, order.clone()));
                Some(*number)
            }
            QueueCall::Cancel(number) => {
                self.orders.retain(|(own, _)| own != number);
                None
            }
            QueueCall::Pause(..) => None,
        };
        if let (Err(message), Some(number)) = (self.ask(&ToWorker::Queue(call)), number) {
            self.others.push_back(JobNews::Queue(QueueEvent { number, kind: QueueNews::Failed(message) }));
        }
    }

    fn news(&mut self) -> Option<JobNews> {
        self.others.pop_front()
    }
}
