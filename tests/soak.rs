//! The real window with real, tiny models, and somebody who types, clicks, drags, opens and resizes at random, judges in a
//! workspace, goes through lessons and page Steps, changes models and sizes: nothing panics, and memory, threads and
//! descriptors stay flat.
//!
//! It takes some seconds, in a process of its own, whose use is measured. `INTERLINEAR_SOAK=86400 cargo test --release
//! --test soak -- --nocapture` goes on for a day and says every minute what is used.

#![cfg(feature = "gui")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Event, Key, Modifiers, MouseWheelUnit, PointerButton, Pos2, Vec2, pos2, vec2};
use egui_kittest::Harness;
use interlinear::app::command::{SettingsCommand, WindowCommand};
use interlinear::app::document::column::{Column, ColumnState};
use interlinear::corpus::store::{file::Workspace, output::SystemOutput, read::StoredAbout, write::NewSentence};
use interlinear::pages::steps::command::{MODES, StepsCommand};
use interlinear::pages::{PAGES, command::Command, corpus::command::CorpusCommand, lesson::LessonCommand};
use interlinear::session::driver::{Driver, OpenWith};
use interlinear::{corpus::measures::table::Measuring, jobs::corpus::thread::CorpusRequest};
use interlinear::{pages::sentence::command::ColumnCommand, session::lessons::shelf::BUNDLED, ui::App};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ACTS: usize = 150;
const LOOKS: usize = 2;
const ASKED: &str = "INTERLINEAR_SOAK";
/// Between two lines that say what is used, where it goes on for long.
const LINE: Duration = Duration::from_mins(1);
/// The part of a long run before its first look.
const WARM_UP: u32 = 6;
/// How much more than at the first look may be in use, whatever comes: bytes, threads, descriptors.
const MORE_MEMORY: u64 = 100 << 20;
/// Among them those of the models that are read where a look falls into their reading: eight at most, four threads each.
const MORE_THREADS: u64 = 8 + 32;
const MORE_DESCRIPTORS: u64 = 8;

/// Keys that do something, and some that do not.
const KEYS: &[Key] = &[
    Key::ArrowUp,
    Key::ArrowDown,
    Key::ArrowLeft,
    Key::ArrowRight,
    Key::Home,
    Key::End,
    Key::PageUp,
    Key::PageDown,
    Key::Tab,
    Key::Enter,
    Key::Space,
    Key::Escape,
    Key::Backspace,
    Key::Delete,
    Key::F1,
    Key::F6,
    Key::OpenBracket,
    Key::CloseBracket,
    Key::Plus,
    Key::Minus,
    Key::Num0,
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Period,
    Key::B,
    Key::E,
    Key::F,
    Key::I,
    Key::L,
    Key::P,
    Key::T,
    Key::Y,
    Key::Z,
];

const TEXTS: &[&str] = &[
    "s2 ", "s9 s31 ", "zorglub ", "é", "שלום ", "猫", "e\u{301}", "\u{200b}", "\t", ". ", "\u{1f468}\u{200d}\u{1f469}",
];

#[test]
fn random_acts_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // a path that is typed at random leads nowhere else
    std::env::set_current_dir(folder.path()).expect("the folder was just made");
    let mut soak = Soak::new(folder.path());
    soak.tour();
    let until = std::env::var(ASKED).ok().and_then(|text| text.parse().ok()).map(Duration::from_secs);
    let began = Instant::now();
    soak.acts(ACTS);
    // what is kept, such as undo and letters, takes a while to reach its bounds
    while until.is_some_and(|until| began.elapsed() < until / WARM_UP) {
        soak.acts(ACTS);
    }
    let first = soak.settled();
    let mut look = 0;
    let mut told = Duration::ZERO;
    while until.map_or(look < LOOKS, |until| began.elapsed() < until) {
        look += 1;
        soak.acts(ACTS);
        let used = soak.settled();
        if until.is_some() && began.elapsed() >= told {
            told = began.elapsed() + LINE;
            let Used { memory, threads, descriptors } = used;
            let (minutes, acts) = (began.elapsed().as_secs() / 60, ACTS * (look + 1));
            eprintln!("{minutes} min, {acts} acts: {} MB, {threads} threads, {descriptors} descriptors", memory >> 20);
        }
        assert!(used.memory <= first.memory + MORE_MEMORY, "memory grew from {first:?} to {used:?} by look {look}");
        let by = || format!("from {first:?} to {used:?} by look {look}: {:?}", threads());
        assert!(used.threads <= first.threads + MORE_THREADS, "threads grew {}", by());
        let most = first.descriptors + MORE_DESCRIPTORS;
        assert!(used.descriptors <= most, "descriptors grew from {first:?} to {used:?} by look {look}");
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Used {
    memory: u64,
    threads: u64,
    descriptors: u64,
}

fn used() -> Used {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let number = |key: &str| -> Option<u64> {
        let line = status.lines().find(|line| line.starts_with(key))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    Used {
        memory: 1024 * number("VmRSS:").unwrap_or(0),
        threads: number("Threads:").unwrap_or(0),
        descriptors: std::fs::read_dir("/proc/self/fd").map_or(0, |open| open.count() as u64),
    }
}

fn threads() -> Vec<String> {
    let all = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    all.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok()).collect()
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("the window reads files itself".to_owned())
    }
}

fn workspace(path: &Path) {
    let mut workspace = Workspace::open(path).expect("a workspace");
    let sentence = |n: usize| NewSentence {
        source: format!("s{} s{} s{}", 2 + n % 9, 3 + n % 31, 4 + n % 17),
        reference: Some(format!("t{} t{}", 2 + n % 5, 3 + n % 4)),
        ..NewSentence::default()
    };
    let sentences: Vec<NewSentence> = (0..200).map(sentence).collect();
    workspace.add_sentences(1, &sentences).expect("sentences");
    let system = workspace.add_system("Mill", &StoredAbout::default()).expect("a system").id;
    let said = |n: usize| (n, SystemOutput { text: format!("t{} t{}", 2 + n % 7, 3), ..SystemOutput::default() });
    let said: Vec<_> = (0..200).map(said).collect();
    workspace.add_outputs(system, &said, &mut Measuring::default()).expect("outputs");
}

struct Soak {
    harness: Harness<'static, App>,
    rng: ChaCha8Rng,
    workspace: PathBuf,
    files: Vec<PathBuf>,
}

impl Soak {
    fn new(folder: &Path) -> Self {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reference");
        let model = |name: &str| models.join(name);
        let text = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("a temporary file");
            path
        };
        let files = vec![
            model("rnnencdec"),
            model("luong-local-p-general"),
            models.with_file_name("marian").join("guided/model.npz"),
            models.with_file_name("origins").join("ct2-int8"),
            models.with_file_name("origins").join("argos/en_fr.argosmodel"),
            text("sentences.txt", &"s9 s31 s31 s17\ns2 zorglub s4\n\ns5\n".repeat(50)),
            text("table.txt", "s2 ||| t3 ||| 0.5 0.25 0.5 0.25\ns2 s3 ||| t4 ||| 0.1 0.2 0.3 0.4\n"),
            text("none.bin", "\u{0}\u{1}"),
            folder.join("missing"),
        ];
        let options = OpenWith {
            saved: Some(folder.join("session.json")),
            models: vec![model("rnnsearch").into(), model("luong-global-dot").into()],
            threads: Some(1),
            ..OpenWith::default()
        };
        let own = folder.join("w.ilws");
        workspace(&own);
        let driver = Driver::open(options, Arc::new(|| {}));
        let builder = Harness::builder().with_size([1280.0, 800.0]).with_max_steps(4).allow_missing_glyphs();
        let mut harness = builder.build_eframe(|creation| App::new(Box::new(driver), &creation.egui_ctx));
        // A graphics card offers more than the window may take; eframe asks the window before every frame.
        let mut offered = egui::RawInput { max_texture_side: Some(16_384), ..egui::RawInput::default() };
        let ctx = harness.ctx.clone();
        eframe::App::raw_input_hook(harness.state_mut(), &ctx, &mut offered);
        harness.input_mut().max_texture_side = offered.max_texture_side;
        Self { harness, rng: ChaCha8Rng::seed_from_u64(11), workspace: own, files }
    }

    fn tour(&mut self) {
        self.send(CorpusRequest::Open(self.workspace.clone()));
        for page in PAGES {
            self.send(WindowCommand::ShowPage(*page));
            self.harness.run_steps(3);
        }
        for (key, _) in BUNDLED {
            self.send(LessonCommand::Open((*key).to_owned()));
            self.harness.run_steps(2);
        }
        self.send(LessonCommand::Close);
        self.harness.run_steps(2);
    }

    fn send(&mut self, command: impl Into<Command>) {
        self.harness.state_mut().send(command);
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.rng.random_range(0..of.len())]
    }

    fn command(&mut self) {
        let number = self.rng.random_range(0..200_usize);
        let command: Command = match self.rng.random_range(0..22) {
            0..=2 => WindowCommand::ShowPage(self.pick(PAGES)).into(),
            3 => CorpusRequest::Open(self.workspace.clone()).into(),
            4 => CorpusRequest::Close.into(),
            5 => CorpusCommand::Select(Some(number)).into(),
            6 => CorpusCommand::Star((number % 6) as u8).into(),
            7 => CorpusCommand::Tag(format!("tag {}", number % 5)).into(),
            8 => {
                let note = format!("a note of {number}");
                CorpusCommand::Note { at: number, annotator: "anna".to_owned(), note }.into()
            }
            9 => CorpusCommand::NoErrors("Mill".to_owned()).into(),
            10 => CorpusCommand::SetFilter(self.pick(&["", "s3", "bleu.1>20", "stars>0"]).to_owned()).into(),
            11 => CorpusCommand::Sort(self.pick(&["words", "source", "bleu.1"]).to_owned()).into(),
            12 => LessonCommand::Open(self.pick(BUNDLED).0.to_owned()).into(),
            13..=14 => LessonCommand::Next.into(),
            15 => self
                .pick(&[0_usize, 1, 2])
                .checked_sub(1)
                .map_or(LessonCommand::Close, |n| LessonCommand::Answer(n, n))
                .into(),
            16 => StepsCommand::Move(self.pick(&[-3, -1, 1, 2, 9])).into(),
            17 => StepsCommand::SetMode(self.pick(MODES).value).into(),
            18 => StepsCommand::SetBeam(number % 2 == 0).into(),
            19 => SettingsCommand::SetZoom(self.rng.random_range(0.5..3.0)).into(),
            20 => {
                let columns = &self.harness.state().session().app().document.columns;
                let Some(column) = columns.get(number % 4).map(|column| column.id) else { return };
                ColumnCommand::Remove(column).into()
            }
            _ => ColumnCommand::Add((&self.files[number % 5]).into()).into(),
        };
        self.send(command);
    }

    fn acts(&mut self, count: usize) {
        for _ in 0..count {
            self.act();
            // what is animated would go on for ever, so that only a frame is asked for
            self.harness.step();
        }
    }

    fn settled(&mut self) -> Used {
        let began = Instant::now();
        let is_busy = |harness: &Harness<'_, App>| {
            let document = &harness.state().session().app().document;
            let is_read = |column: &Column| matches!(column.state, ColumnState::Loading(_));
            document.decoding() > 0 || document.columns.iter().any(is_read)
        };
        while is_busy(&self.harness) && began.elapsed() < Duration::from_secs(20) {
            self.harness.step();
        }
        used()
    }

    fn act(&mut self) {
        match self.rng.random_range(0..22) {
            16.. => self.command(),
            0..=3 => {
                let text = TEXTS[self.rng.random_range(0..TEXTS.len())];
                self.harness.event(Event::Text(text.to_owned()));
            }
            4..=6 => self.key(),
            7..=10 => self.click(),
            11 => {
                let place = self.place();
                self.harness.event(Event::PointerMoved(place));
            }
            12 => self.drag(),
            13 => self.wheel(),
            14 => {
                let size = vec2(self.rng.random_range(80.0..1900.0), self.rng.random_range(60.0..1100.0));
                self.harness.set_size(size);
            }
            _ => self.drop_file(),
        }
    }

    fn place(&mut self) -> Pos2 {
        let size = self.harness.ctx.content_rect().size();
        pos2(self.rng.random_range(0.0..1.0) * size.x, self.rng.random_range(0.0..1.0) * size.y)
    }

    fn modifiers(&mut self) -> Modifiers {
        let all = [Modifiers::NONE, Modifiers::NONE, Modifiers::COMMAND, Modifiers::ALT, Modifiers::SHIFT];
        all[self.rng.random_range(0..all.len())]
    }

    fn key(&mut self) {
        let (key, modifiers) = (KEYS[self.rng.random_range(0..KEYS.len())], self.modifiers());
        self.harness.key_press_modifiers(modifiers, key);
    }

    fn button(&mut self, pos: Pos2, pressed: bool) {
        let modifiers = self.modifiers();
        self.harness.event(Event::PointerButton { pos, button: PointerButton::Primary, pressed, modifiers });
    }

    fn click(&mut self) {
        let place = self.place();
        self.harness.event(Event::PointerMoved(place));
        self.button(place, true);
        self.button(place, false);
    }

    fn drag(&mut self) {
        let (from, to) = (self.place(), self.place());
        self.harness.event(Event::PointerMoved(from));
        self.button(from, true);
        self.harness.step();
        self.harness.event(Event::PointerMoved(to));
        self.harness.step();
        self.button(to, false);
    }

    fn wheel(&mut self) {
        let (delta, modifiers) = (self.rng.random_range(-200.0..200.0), self.modifiers());
        self.harness.event(Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: Vec2::new(delta / 2.0, delta),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
            modifiers,
        });
    }

    fn drop_file(&mut self) {
        let path = self.files[self.rng.random_range(0..self.files.len())].clone();
        self.harness.input_mut().dropped_files.push(Arc::new(Dropped(path)));
    }
}
