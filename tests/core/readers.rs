//! Models that take long to read, are given up, wanted again or mended. Readers stand at doors that the test opens, so
//! that no test sleeps and no file has to be slow.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{collections::HashSet, time::Duration};

use interlinear::jobs::queue::maps::{MapOrder, What};
use interlinear::jobs::queue::{JobQueue, QueueNews, QueueOrder};
use interlinear::jobs::steps::{StepsRequest, StepsThread};
use interlinear::jobs::{Reader, Store, Worker, serve};
use interlinear::{error::Error, jobs::files::disk::Disk, jobs::gate::ForegroundGate, jobs::live::protocol::Event};
use interlinear::{models::Model, models::representations::VocabularySide, nn::device::DeviceChoice};

use crate::worker::{PATIENCE, request, serve_all, story};
use crate::{cli::reference, counted, folder::Folder, forever};

const AT_ONCE: Duration = Duration::ZERO;
const NEVER: Duration = Duration::from_hours(1);

#[derive(Default)]
struct Doors {
    open: Mutex<HashSet<usize>>,
    changed: Condvar,
}

impl Doors {
    fn pass(&self, door: usize) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let all_shut = |open: &mut HashSet<usize>| !open.contains(&door);
        drop(self.changed.wait_while(open, all_shut).unwrap_or_else(PoisonError::into_inner));
    }

    fn open(&self, door: usize) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(door);
        self.changed.notify_all();
    }
}

struct Held {
    store: Store,
    doors: Arc<Doors>,
    begun: Receiver<usize>,
    through: Receiver<usize>,
}

fn held(stalled: Duration, fails: Option<usize>) -> Held {
    let doors = Arc::<Doors>::default();
    let ((began, begun), (gone, through)): ((Sender<usize>, _), (Sender<usize>, _)) = (channel(), channel());
    let (readers, theirs) = (AtomicUsize::new(0), Arc::clone(&doors));
    let reader: Reader = Arc::new(move |folder, device, tokenizers, progress| {
        if folder != Path::new("held") {
            return Model::load_with(folder, device, tokenizers, progress);
        }
        let door = readers.fetch_add(1, Ordering::AcqRel);
        let _ = began.send(door);
        // Files are read side by side: all threads that there are stand there.
        rayon::scope(|scope| (0..rayon::current_num_threads()).for_each(|_| scope.spawn(|_| theirs.pass(door))));
        progress(0.1 + door as f32 / 10.0);
        let _ = gone.send(door);
        if fails == Some(door) {
            return Err(Error::Input("planted".to_owned()));
        }
        Model::load_with(&reference("rnnsearch"), device, tokenizers, &mut |_| ())
    });
    Held { store: Store::new(2).with_every_row().with_reader(reader, stalled), doors, begun, through }
}

fn serve_to_the_first_event(number: u64, folders: &[PathBuf], column: u64, store: &mut Store) {
    let (tickets, ticket) = counted();
    let mut wanted = request(number, "", folders);
    wanted.columns.iter_mut().for_each(|spec| spec.column = column);
    serve(&wanted, store, &ticket, &mut |_| tickets.cancel());
}

fn ends(work: impl FnOnce() + Send + 'static) -> bool {
    let (done, is_done) = channel();
    std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    is_done.recv_timeout(PATIENCE).is_ok()
}

fn words_of(model: PathBuf) -> QueueOrder {
    let what = What::Words { side: VocabularySide::default(), count: 5 };
    QueueOrder::Map(MapOrder { model: model.into(), device: DeviceChoice::Cpu, what, ..MapOrder::default() })
}

fn end(lane: &JobQueue<QueueOrder>) -> QueueNews {
    loop {
        let event = lane.news.next_within(PATIENCE).expect("every order ends");
        if !matches!(event.kind, QueueNews::Progress(_)) {
            return event.kind;
        }
    }
}

#[test]
fn a_model_whose_files_do_not_answer_holds_up_no_column_no_order_and_no_exit() {
    let Held { store, doors, begun, .. } = held(AT_ONCE, None);
    let worker = Worker::spawn_with(store, Arc::new(|| {}));
    let lane: JobQueue<QueueOrder> = JobQueue::spawn(worker.library.clone(), Arc::clone(&worker.gate), Arc::new(|| {}));
    let until_finished = |number: u64| {
        loop {
            let event = worker.next_within(PATIENCE).expect("the other column goes on");
            if matches!(event, Event::Finished { .. }) && event.address() == (Some(number), 2) {
                return;
            }
        }
    };
    worker.submit(request(1, "s9 s31", &[PathBuf::from("held"), reference("rnnsearch")]));
    until_finished(1);
    begun.recv_timeout(PATIENCE).expect("it is being read");
    lane.submit(1, words_of(reference("rnnsearch")));
    assert!(matches!(end(&lane), QueueNews::Found(_)), "an order of another model is done meanwhile");
    let mut without = request(2, "s9", &[PathBuf::from("held"), reference("rnnencdec")]);
    without.columns.remove(0);
    worker.submit(without);
    until_finished(2);
    lane.submit(2, words_of(PathBuf::from("held")));
    lane.cancel(2);
    assert!(matches!(end(&lane), QueueNews::Cancelled), "an order of the same model can be cancelled");
    assert!(ends(move || drop((lane, worker))), "the end of the program waits for a file");
    (0..2).for_each(|door| doors.open(door));
}

#[test]
fn a_file_that_does_not_answer_holds_up_no_exit() {
    let doors = Arc::<Doors>::default();
    let mut disk: Disk<u32> = Disk::spawn(PATIENCE, Arc::new(|| {}));
    let (theirs, (began, begun)) = (Arc::clone(&doors), channel());
    let read = move |_: &mut dyn FnMut(u32) -> bool| {
        let _ = began.send(());
        theirs.pass(0);
        Some(1)
    };
    disk.run_reporting("read", Box::new(read));
    begun.recv_timeout(PATIENCE).expect("it is being read");
    assert!(ends(move || drop(disk)), "the end of the program waits for a file");
    doors.open(0);
}

#[test]
fn a_model_removed_and_added_again_while_it_loads_has_one_reader() {
    let Held { mut store, doors, begun, .. } = held(NEVER, None);
    let folders = [PathBuf::from("held")];
    serve_to_the_first_event(1, &folders, 1, &mut store);
    serve_all(&request(2, "", &[]), &mut store, &forever());
    assert_eq!(store.models(), 0);
    serve_to_the_first_event(3, &folders, 2, &mut store);
    (0..2).for_each(|door| doors.open(door));
    let mut wanted = request(4, "s9", &folders);
    wanted.columns[0].column = 2;
    let events = serve_all(&wanted, &mut store, &forever());
    assert!(story(&events, 2).ends_with(&["loaded", "started", "row", "finished"]), "{events:?}");
    assert_eq!(begun.try_iter().collect::<Vec<_>>(), [0], "two readers share a slot");
}

#[test]
fn what_a_reader_that_was_given_up_says_is_not_heard() {
    let Held { mut store, doors, begun, through } = held(AT_ONCE, Some(0));
    let folders = [PathBuf::from("held")];
    serve_to_the_first_event(1, &folders, 1, &mut store);
    assert_eq!(begun.recv_timeout(PATIENCE), Ok(0));
    serve_all(&request(2, "", &[]), &mut store, &forever());
    serve_to_the_first_event(3, &folders, 2, &mut store);
    assert_eq!(begun.recv_timeout(PATIENCE), Ok(1), "the first one has stalled");
    let serve_second = |number, store: &mut Store| {
        let mut wanted = request(number, "s9", &folders);
        wanted.columns[0].column = 2;
        let events = serve_all(&wanted, store, &forever());
        story(&events, 2)
    };
    doors.open(1);
    assert!(serve_second(4, &mut store).ends_with(&["loaded", "started", "row", "finished"]));
    doors.open(0);
    assert_eq!(through.recv_timeout(PATIENCE), Ok(1));
    assert_eq!(through.recv_timeout(PATIENCE), Ok(0));
    for number in 5..25 {
        assert_eq!(serve_second(number, &mut store), ["started", "row", "finished"], "a ready model is ready for good");
    }
}

#[test]
fn a_column_is_told_again_when_its_device_goes_away_and_comes_back() {
    let mut store = Store::new(2).with_every_row();
    let folders = [reference("rnnsearch"), reference("rnnsearch")];
    let mut serve_on = |number, device| {
        let mut wanted = request(number, "s9", &folders);
        wanted.columns[0].device = device;
        let events = serve_all(&wanted, &mut store, &forever());
        story(&events, 1)
    };
    let loaded = ["loaded", "started", "row", "finished"];
    assert!(serve_on(1, DeviceChoice::Cpu).ends_with(&loaded));
    assert!(serve_on(2, DeviceChoice::Cuda(97)).ends_with(&["load failed"]));
    // The other column has kept the model all the while.
    assert_eq!(serve_on(3, DeviceChoice::Cpu), loaded);
}

#[test]
fn a_failed_model_that_an_order_has_read_is_not_failed_any_more() {
    let (_parent, folder) = Folder::and_path("mended");
    let mut store = Store::new(2).with_every_row();
    let wanted = |number| request(number, "s9", std::slice::from_ref(&folder));
    let events = serve_all(&wanted(1), &mut store, &forever());
    assert!(story(&events, 1).ends_with(&["load failed"]));
    std::fs::create_dir(&folder).expect("a folder");
    for file in ["config.json", "model.safetensors", "source.tokenizer.json", "target.tokenizer.json"] {
        std::fs::copy(reference("rnnsearch").join(file), folder.join(file)).expect("a copy");
    }
    let lane: JobQueue<QueueOrder> = JobQueue::spawn(store.library(), ForegroundGate::new(), Arc::new(|| {}));
    lane.submit(1, words_of(folder.clone()));
    assert!(matches!(end(&lane), QueueNews::Found(_)));
    let events = serve_all(&wanted(2), &mut store, &forever());
    assert_eq!(story(&events, 1), ["loaded", "started", "row", "finished"]);
}

#[test]
fn a_save_that_panics_is_not_the_last() {
    let disk: Disk<u32> = Disk::spawn(Duration::ZERO, Arc::new(|| {}));
    let (went, gone) = channel();
    disk.save_soon(Box::new(move || {
        let _ = went.send(());
        panic!("planted")
    }));
    gone.recv_timeout(PATIENCE).expect("it was tried");
    disk.save_soon(Box::new(|| Some(2)));
    assert_eq!(disk.news.next_within(PATIENCE), Some(2));
}

#[test]
fn a_model_whose_request_went_stale_while_it_was_read_is_let_go() {
    let Held { store, doors, begun, .. } = held(NEVER, None);
    let lane = StepsThread::spawn(store.library(), Arc::new(|| {}));
    let of =
        |model| StepsRequest { model, source: "s9".to_owned(), device: DeviceChoice::Cpu, ..StepsRequest::default() };
    lane.submit(1, of("held".into()));
    begun.recv_timeout(PATIENCE).expect("a reader");
    lane.submit(2, of(reference("rnnsearch").into()));
    let event = lane.news.next_within(PATIENCE).expect("an answer");
    assert!(event.number == 2 && event.found.is_ok());
    assert_eq!(store.models(), 0);
    doors.open(0);
}
