//! What a browser needs of the library: models from memory, requests and events as bytes, lanes of another kind.

use std::{cell::RefCell, collections::BTreeMap, path::Path, rc::Rc, sync::Arc, time::Duration};

use interlinear::interventions::{Force, Interventions, Word};
use interlinear::jobs::live::protocol::{Event, Near, Request};
use interlinear::jobs::steps::{StepTrace, StepsRequest, at_once};
use interlinear::models::anatomy::{Miswiring, machine};
use interlinear::models::disk::{CARD_FILE, CONFIG_FILE, SOURCE_FILE, TARGET_FILE, WEIGHTS_FILE};
use interlinear::models::{Kernels, Model};
use interlinear::nn::device::{Device, DeviceChoice};
use interlinear::session::driver::{BackgroundJobs, JobNews};
use interlinear::{app::open_with::OpenWith, app::tasks::QueueCall, decoding::step_trace::Then, jobs::Library};
use interlinear::{jobs::corpus::thread::CorpusRequest, session::driver::Driver, text::tokenizer::Tokenizers};
use serde::{Serialize, de::DeserializeOwned};

use crate::worker::{request, serve_all, store};
use crate::{cli::reference, effects::Shows as _, forever};

fn sent<T: Serialize + DeserializeOwned>(message: &T) -> T {
    let mut bytes = Vec::new();
    ciborium::into_writer(message, &mut bytes).expect("a message becomes bytes");
    ciborium::from_reader(bytes.as_slice()).expect("the bytes are the message")
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = [CONFIG_FILE, WEIGHTS_FILE, SOURCE_FILE, TARGET_FILE, CARD_FILE];
    let read = names.into_iter().filter_map(|name| Some((name.to_owned(), std::fs::read(folder.join(name)).ok()?)));
    read.collect()
}

#[test]
fn a_request_and_all_that_comes_of_it_survive_as_bytes() {
    let models = ["rnnsearch", "rnnencdec", "luong-local-p-general"].map(reference);
    let mut asked = request(7, "s9 s31 unheard", &models);
    asked.columns[1].given = Some("t3 t4".to_owned());
    let force = vec![Force { i: 0, word: Word::Entry("t5".to_owned()), held: false }];
    asked.columns[2].interventions = Arc::new(Interventions { force, ..Interventions::default() });
    asked.near = Some(Near { column: 1, word: "s9".to_owned() });
    let again: Request = sent(&asked);
    assert_eq!(again, asked);
    let events = serve_all(&again, &mut store(), &forever());
    let kinds: std::collections::BTreeSet<String> = events
        .iter()
        .map(|event| format!("{event:?}").split([' ', '(', '{']).next().unwrap_or_default().into())
        .collect();
    for kind in ["Loaded", "Fingerprint", "Started", "Expanded", "Finished", "Given", "Untouched", "Near"] {
        assert!(kinds.contains(kind), "no {kind} among {kinds:?}");
    }
    for event in &events {
        let again: Event = sent(event);
        assert_eq!(format!("{again:?}"), format!("{event:?}"));
    }
}

#[test]
fn what_was_taken_apart_survives_and_its_machine_is_drawn_anew() {
    for (name, wrong) in [
        ("rnnsearch", None),
        ("rnnsearch", Some(Miswiring::LateQuery)),
        ("rnnsearch", Some(Miswiring::Untrained)),
        ("rnnencdec", Some(Miswiring::ResetPlace)),
        ("luong-local-p-general", None),
    ] {
        let (folder, device) = (reference(name), DeviceChoice::Cpu);
        let source = "s9 s31".to_owned();
        let asked = StepsRequest { model: (&folder).into(), device, source, given: vec![5], then: Then::Greedy, wrong };
        assert_eq!(sent(&asked), asked);
        let trace = at_once(&Library::new(1), &asked).expect("it is taken apart");
        let mut again: StepTrace = sent(&trace);
        assert!(again.machine.stages.is_empty(), "the drawing is not sent");
        let model = Model::load(&folder, &Device::cpu()).expect("a model");
        again.machine = machine(&model.config, wrong);
        assert!(!again.machine.stages.is_empty(), "{name}");
        assert_eq!(format!("{again:?}"), format!("{trace:?}"), "{name} {wrong:?}");
    }
}

#[test]
fn a_model_in_memory_is_the_model_of_its_folder() {
    for name in ["rnnsearch", "luong-local-p-general"] {
        let folder = reference(name);
        let own = Model::load(&folder, &Device::cpu()).expect("a model");
        let held =
            Model::from_files(Path::new("models/held"), &files(&folder), &Tokenizers::default()).expect("the same");
        let source = [own.source.encode("s9 s31").ids];
        let log_p = |model: &Model| {
            let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
            let (eos, pair) = (model.config.eos, [4, 5]);
            let target = [pair[0], pair[1], eos];
            let forced = interlinear::decoding::force(&mut *stepper, &[(&source[0], &target)], &forever());
            forced.expect("it is read").remove(0)
        };
        assert_eq!(format!("{:?}", log_p(&held)), format!("{:?}", log_p(&own)));
        assert_eq!((held.digest(), held.card()), (own.digest(), own.card()));
        for (missing, says) in [(CONFIG_FILE, "config.json"), (WEIGHTS_FILE, "model.safetensors")] {
            let mut some = files(&folder);
            some.remove(missing);
            let error = Model::from_files(Path::new("models/held"), &some, &Tokenizers::default())
                .expect_err("a part is missing");
            assert!(error.is_users() && error.to_string().contains(says), "{error}");
        }
        let mut cut = files(&folder);
        cut.get_mut(WEIGHTS_FILE).expect("weights").truncate(5000);
        let error =
            Model::from_files(Path::new("models/held"), &cut, &Tokenizers::default()).expect_err("it is cut short");
        assert!(error.to_string().contains("models/held/model.safetensors: is truncated"), "{error}");
    }
}

#[derive(Default)]
struct Noted {
    asked: Rc<RefCell<Vec<u64>>>,
    events: Vec<Event>,
}

impl BackgroundJobs for Noted {
    fn decode(&mut self, request: Request) {
        self.asked.borrow_mut().push(request.number);
        let message = "not here".to_owned();
        self.events.extend(
            request.columns.iter().map(|spec| Event::LoadFailed { column: spec.column, message: message.clone() }),
        );
    }

    fn decoded(&mut self) -> Option<Event> {
        self.events.pop()
    }

    fn trace(&mut self, _number: u64, _request: StepsRequest) {}

    fn let_go(&mut self) {}

    fn queue(&mut self, _call: QueueCall) {}

    fn corpus(&mut self, _request: CorpusRequest) {}

    fn news(&mut self) -> Option<JobNews> {
        None
    }
}

#[test]
fn a_session_runs_on_lanes_of_another_kind() {
    let lanes = Noted::default();
    let asked = Rc::clone(&lanes.asked);
    let options = OpenWith { models: vec!["models/one".into()], ..OpenWith::default() };
    let mut driver = Driver::on(Box::new(lanes), options, Arc::new(|| {}));
    assert_eq!(asked.borrow().len(), 1);
    assert!(driver.pump(Duration::from_secs(1)));
    let column = driver.session().nth(0);
    assert!(format!("{:?}", column.state).contains("not here"), "{:?}", column.state);
}
