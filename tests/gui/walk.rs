//! Every lesson on the bundled models, page by page as a class sees it: what is done, answered wrongly or passed over, in a
//! small window and in a large one. What a page frames is on the screen and whole; what it names is there by its label.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Key, Modifiers, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::{command::SourceCommand, lights::HighlightPart, open_with::Installed};
use interlinear::models::transformer::heads::HeadKind;
use interlinear::pages::sentence::command::{SearchCommand, SelectCommand};
use interlinear::session::driver::{Driver, OpenWith};
use interlinear::session::lessons::doing::{StepBaseline, settled};
use interlinear::session::lessons::script::{ScriptPart, Wait};
use interlinear::session::lessons::shelf::BUNDLED;
use interlinear::session::lessons::things::{LessonAct, LessonAction};
use interlinear::{figure::equation::spoken, pages::lesson::LessonCommand};
use interlinear::{pages::steps::STEPS, session::lessons::Running, session::state::Session, ui::App};

const PATIENCE: Duration = Duration::from_mins(5);
const FRAMES: usize = 3;

const SIZES: [[f32; 2]; 2] = [[1024.0, 768.0], [1920.0, 1080.0]];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Does,
    PassesOver,
}

struct Class {
    harness: Harness<'static, App>,
    woken: mpsc::Receiver<()>,
    size: [f32; 2],
    what: String,
}

impl Class {
    fn open(size: [f32; 2]) -> Self {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        let names = [
            "rnnencdec-en-fr", "rnnsearch-en-fr", "rnnsearch-guided-en-fr", "luong-global-en-fr",
            "luong-local-p-en-fr", "transformer-en-fr",
        ];
        let mut bundled: Vec<PathBuf> = names.iter().map(|name| models.join(name)).collect();
        let copies =
            ["0200", "0500", "2000", "9000"].map(|n| models.join(format!("learning-en-fr/rnnsearch-small-{n}")));
        bundled.extend(copies);
        bundled.extend(["rnnencdec", "rnnsearch-guided"].map(|name| models.join(format!("en-de/{name}-en-de"))));
        let (wake, woken) = mpsc::channel();
        let opening = vec![bundled[1].clone(), bundled[3].clone()];
        let bundled = bundled.into_iter().map(Installed::from).collect();
        let options = OpenWith { opening, bundled, threads: Some(2), ..OpenWith::default() };
        let driver = Driver::open(options, Arc::new(move || _ = wake.send(())));
        let builder = Harness::builder().with_size(size).allow_missing_glyphs();
        let harness = builder.build_eframe(move |cc| App::new(Box::new(driver), &cc.egui_ctx));
        Self { harness, woken, size, what: String::new() }
    }

    fn resize(&mut self, size: [f32; 2]) {
        self.size = size;
        self.harness.set_size(size.into());
        self.rest();
    }

    fn session(&self) -> &Session {
        self.harness.state().session()
    }

    fn running(&self) -> &Running {
        self.session().lessons().open().expect("it is open")
    }

    fn until(&mut self, is_so: impl Fn(&Session) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            self.harness.step();
            if is_so(self.session()) {
                break;
            }
            let left = end.checked_duration_since(Instant::now());
            assert!(left.is_some(), "{} took too long", self.what);
            let _ = self.woken.recv_timeout(Duration::from_millis(250));
        }
        self.rest();
    }

    fn settle(&mut self) {
        self.until(|session| {
            let steps = session.steps();
            let is_apart = session.app().view.page != STEPS || steps.trace.is_some() && !steps.is_waiting();
            let is_ready = session.lessons().open().is_none_or(Running::is_ready);
            is_ready && is_apart && settled(session.app())
        });
    }

    fn found(&self, role: Role, label: &str) -> egui_kittest::Node<'_> {
        let begins =
            |node: &egui_kittest::Node<'_>| node.accesskit_node().label().is_some_and(|own| own.starts_with(label));
        let found = self.harness.query_all_by_role(role).find(begins);
        found.unwrap_or_else(|| panic!("{}: there is no {role:?} {label:?}", self.what))
    }

    fn click(&mut self, role: Role, label: &str) {
        self.found(role, label).click();
        self.rest();
    }

    fn rest(&mut self) {
        for _ in 0..FRAMES {
            self.harness.step();
        }
    }

    fn has(&self, label: &str) -> bool {
        self.harness.query_all_by_label_contains(label).next().is_some()
    }

    fn check_frames(&self) {
        let framed = &self.harness.state().local.lit;
        let window = Rect::from_min_size(egui::Pos2::ZERO, self.size.into());
        let lights = &self.running().lights;
        for light in lights {
            assert!(framed.iter().any(|(lit, ..)| *lit == light.lit), "{}: {light:?} is not there", self.what);
        }
        let several = lights.iter().any(|light| light.of.is_none());
        for (lit, shown, whole) in framed {
            let is_seen = shown.width() > 20.0 && shown.height() > 10.0 && window.contains_rect(*shown);
            let scrolls =
                several && [HighlightPart::Heatmap, HighlightPart::Translation, HighlightPart::Beam].contains(lit);
            assert!(is_seen || scrolls, "{}: {lit:?} {shown:?} is not in view", self.what);
            let is_whole = shown.expand(1.5).contains_rect(*whole);
            assert!(is_whole || scrolls, "{}: {lit:?} {whole:?} is cut to {shown:?}", self.what);
        }
    }

    fn act(&mut self, wait: &Wait) {
        let says = wait.says();
        let quoted: Vec<String> = says.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        match &wait.thing {
            LessonAction::Word(Some(word)) => {
                let is_word = |node: &egui_kittest::Node<'_>| {
                    let label = node.accesskit_node().label();
                    label.is_some_and(|own| {
                        let says = own.strip_prefix("Yours, ").unwrap_or(&own);
                        says.starts_with(word.as_str()) && says.contains(" probability ")
                    })
                };
                // that of the column that is framed, where one is
                let framed = &self.harness.state().local.lit;
                let is_framed = |node: &egui_kittest::Node<'_>| {
                    framed.iter().any(|(_, shown, _)| shown.x_range().contains(node.rect().center().x))
                };
                let words = || self.harness.query_all_by_label_contains(word).filter(is_word);
                let found = words().find(is_framed).or_else(|| words().next());
                found.unwrap_or_else(|| panic!("{}: there is no word {word}", self.what)).click();
                self.rest();
            }
            LessonAction::Row(Some(row)) => {
                let (_, _, word) = self.session().app().selected_word().expect("a word");
                let over =
                    if row == "even" { format!("{} <- ", word.text) } else { format!("{} <- {row} ", word.text) };
                self.found(Role::GridCell, &over).click_secondary();
                self.rest();
                self.click(Role::Button, &quoted[0]);
            }
            LessonAction::Wrong(_) => {
                let combo = self.harness.get_by_role_and_label(Role::ComboBox, "Wiring");
                assert_eq!(combo.value().as_deref(), Some(quoted[0].as_str()), "{}", self.what);
                self.click(Role::ComboBox, "Wiring");
                self.click(Role::Button, &quoted[1]);
            }
            LessonAction::Box(Some(key)) => {
                let trace = self.session().steps().trace.clone().expect("a machine");
                let stage = trace.machine.stages.iter().find(|stage| stage.key == key).expect("a box");
                assert!(says.contains(stage.title), "{}: {says} speaks of another box than {}", self.what, stage.title);
                let label = format!("{}, {}", stage.title, spoken(stage.symbol));
                self.click(Role::Button, &label);
            }
            LessonAction::Links(_) | LessonAction::Pieces(_) => {
                let item = says
                    .split("choose ")
                    .nth(1)
                    .and_then(|rest| rest.split(" in the menu").next())
                    .expect("an item")
                    .to_owned();
                self.menu("View");
                // in a small window a long menu scrolls
                self.found(Role::Button, &item).scroll_to_me();
                self.rest();
                self.click(Role::Button, &item);
            }
            LessonAction::Heads(Some(HeadKind::Cross)) => self.click(Role::Button, "All heads of "),
            LessonAction::Heads(Some(kind)) => {
                self.until(|session| {
                    let table = session.app().selected_column().and_then(|column| column.table.as_ref());
                    table.is_some_and(|table| table.measured(session.app().view.settings.shown).is_some())
                });
                self.click(Role::Button, kind.title());
            }
            LessonAction::TypedWords(_) => {
                self.menu("Decoding");
                self.click(Role::CheckBox, &quoted[0]);
                self.harness.key_press(Key::Escape);
            }
            LessonAction::Beam(beam) => {
                assert!(self.has("Beam"));
                self.harness.state_mut().send(SearchCommand::SetBeam(*beam));
            }
            LessonAction::Act(act) => self.by_hand(*act),
            other => panic!("{}: nobody does {other:?}", self.what),
        }
    }

    fn by_hand(&mut self, act: LessonAct) {
        match act {
            LessonAct::AnotherSentence => {
                self.harness.state_mut().send(SourceCommand::Edit("He lives in a white house.".to_owned()));
            }
            LessonAct::SelectWord => self.harness.state_mut().send(SelectCommand::MoveTarget(1)),
            LessonAct::Reveal => self.click(Role::Button, "Show"),
            LessonAct::AnotherStep => {
                // the key turns the step and leaves the keyboard where it is
                let focus = self.harness.ctx.memory(egui::Memory::focused);
                self.harness.key_press(Key::ArrowRight);
                self.harness.step();
                self.harness.step();
                assert_eq!(self.harness.ctx.memory(egui::Memory::focused), focus, "{}", self.what);
            }
            LessonAct::Say => {
                let steps = self.session().steps();
                let word = steps.trace.as_ref().expect("a machine").candidates(0)[1].clone();
                self.click(Role::Button, &format!("{word} "));
            }
            LessonAct::AnotherHypothesis => {
                let framed = self.harness.state().local.lit.iter().find(|(lit, ..)| *lit == HighlightPart::Beam);
                let (_, shown, _) = framed.unwrap_or_else(|| panic!("{}: the list is not framed", self.what));
                let second = self.harness.query_all_by_label_contains("Hypothesis 2, ").next();
                let second = second.unwrap_or_else(|| panic!("{}: there is no second line", self.what)).rect();
                assert!(shown.contains(second.center()), "{}: {second:?} is not in view in {shown:?}", self.what);
                let line = self.harness.query_all_by_label_contains("Hypothesis 3, ").next();
                line.unwrap_or_else(|| panic!("{}: there is no third line", self.what)).click();
                self.rest();
            }
            LessonAct::Intervene => panic!("{}: no lesson asks for anything at all", self.what),
        }
    }

    fn menu(&mut self, name: &str) {
        if self.harness.query_by_label(name).is_none() {
            self.harness.get_by_label("Menu").click();
            self.rest();
        }
        self.click(Role::Button, name);
    }

    fn answer(&mut self, wrongly: bool) {
        let page = self.running().shown().clone();
        for part in &page.parts {
            let ScriptPart::Ask(ask) = part else { continue };
            let Some(choice) = ask.choices.iter().find(|choice| choice.is_right() != wrongly) else { continue };
            self.click(Role::RadioButton, choice.text());
            assert!(self.has(if wrongly { "Not quite." } else { "Right." }), "{}", self.what);
        }
    }
}

fn walk(class: &mut Class, key: &str, reader: Reader) {
    class.harness.state_mut().send(LessonCommand::Open(key.to_owned()));
    read(class, key, reader);
    class.click(Role::Button, "End lesson");
    class.settle();
    assert_eq!(class.session().app().document.columns.len(), 2, "{key}: the window is as it was");
    assert!(!class.has("Columns 2 to"), "{key}: the first column is in view again");
}

/// The open lesson to its last page.
fn read(class: &mut Class, key: &str, reader: Reader) {
    loop {
        class.settle();
        let running = class.running().clone();
        let (page, wait, is_last) = (running.page, running.waits().cloned(), running.is_last());
        let heading = &running.shown().heading;
        let size = class.size;
        class.what = format!("{key}, {reader:?}, {size:?}, page {} \u{201c}{heading}\u{201d}", page + 1);
        assert!(running.troubles.is_empty(), "{}: {:?}", class.what, running.troubles);
        class.check_frames();
        match wait {
            None => {
                class.answer(reader == Reader::PassesOver);
                if is_last {
                    break;
                }
                class.harness.state_mut().send(LessonCommand::Next);
            }
            Some(wait) if reader == Reader::Does => {
                let place = (page, running.parts().len());
                class.act(&wait);
                class.until(|session| {
                    let open = session.lessons().open().expect("it is open");
                    (open.page, open.parts().len()) != place || open.is_last()
                });
                if class.running().page == page {
                    assert!(class.has(&format!("Done: {}", wait.says())), "{}", class.what);
                }
            }
            Some(wait) => {
                class.click(Role::Button, "Pass over");
                class.settle();
                if class.running().page == page {
                    let came = if wait.thing.can_be_done() { "Done for you" } else { "Passed over, not done" };
                    assert!(class.has(&format!("{came}: {}", wait.says())), "{}: {came}", class.what);
                }
                let (app, steps) = (class.session().app(), class.session().steps());
                let is_so = wait.thing.holds(&StepBaseline::default(), app, steps);
                assert!(is_so || !wait.thing.can_be_done(), "{}: {:?} was not done", class.what, wait.thing);
            }
        }
    }
}

macro_rules! each_lesson {
    ($($name:ident: $key:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            let mut class = Class::open(SIZES[0]);
            for size in SIZES {
                class.resize(size);
                for reader in [Reader::Does, Reader::PassesOver] {
                    walk(&mut class, $key, reader);
                }
            }
        })*
    };
}

each_lesson! {
    a_class_walks_through_bottleneck: "bottleneck",
    a_class_walks_through_alignment: "alignment",
    a_class_walks_through_verb_last: "verb-last",
    a_class_walks_through_soft_hard: "soft-hard",
    a_class_walks_through_global_local: "global-local",
    a_class_walks_through_bahdanau_luong: "bahdanau-luong",
    a_class_walks_through_beam_greedy: "beam-greedy",
    a_class_walks_through_learning: "learning",
    a_class_walks_through_copies: "copies",
    a_class_walks_through_explanation: "explanation",
    a_class_walks_through_attention_fails: "attention-fails",
    a_class_walks_through_unknown_words: "unknown-words",
    a_class_walks_through_annotation: "annotation",
    a_class_walks_through_query_key_value: "query-key-value",
    a_class_walks_through_transformer: "transformer",
}

/// As students do it alone, each lesson over what the one before has left on the screen.
fn walk_in_order(size: [f32; 2]) {
    let mut class = Class::open(size);
    class.harness.state_mut().send(LessonCommand::Open(BUNDLED[0].0.to_owned()));
    for (n, (key, _)) in BUNDLED.iter().enumerate() {
        class.settle();
        assert_eq!(class.running().key, *key);
        read(&mut class, key, Reader::Does);
        if n + 1 < BUNDLED.len() {
            class.found(Role::Button, "Next lesson").scroll_to_me();
            class.rest();
            class.click(Role::Button, "Next lesson");
        }
    }
}

#[test]
fn a_class_walks_through_all_lessons_in_their_order_on_a_small_screen() {
    walk_in_order([1024.0, 768.0]);
}

#[test]
fn a_class_walks_through_all_lessons_in_their_order_on_a_low_screen() {
    walk_in_order([1280.0, 720.0]);
}

/// What a page sets, whatever stood there before.
fn what_is_set(class: &Class) -> String {
    let (app, steps) = (class.session().app(), class.session().steps());
    let columns: Vec<String> = app.document.columns.iter().map(|column| column.system.to_string()).collect();
    let (view, selection) = (&app.view, app.view.selection);
    let selected = (selection.column.is_some_and(|id| id != app.document.columns[0].id), selection.target);
    let shown =
        (view.page == STEPS).then_some((steps.depth, steps.i, &steps.open, steps.by_stage, steps.wrong, steps.mode));
    let page = view.page.name();
    format!("{page} {columns:?} {selected:?} {shown:?} {:?} {:?} {:?}", view.settings, view.heads, app.document.state)
}

/// From the last page of a lesson to one that is `stride` places behind it: it begins as if it were the first.
fn begins_alike(strides: &[usize]) {
    let mut class = Class::open([1024.0, 768.0]);
    let mut begins = Vec::new();
    for (key, _) in BUNDLED {
        class.harness.state_mut().send(LessonCommand::Open((*key).to_owned()));
        class.settle();
        begins.push(what_is_set(&class));
        class.click(Role::Button, "End lesson");
        class.settle();
    }
    for (at, (left, _)) in BUNDLED.iter().enumerate() {
        for to in strides.iter().map(|stride| (at + stride) % BUNDLED.len()) {
            let ((key, _), begin) = (BUNDLED[to], &begins[to]);
            class.harness.state_mut().send(LessonCommand::Open((*left).to_owned()));
            let last = class.running().script.pages.len() - 1;
            class.harness.state_mut().send(LessonCommand::Turn(last));
            class.settle();
            class.harness.state_mut().send(LessonCommand::Open(key.to_owned()));
            class.settle();
            class.what = format!("{key} after {left}");
            assert!(class.running().troubles.is_empty(), "{}: {:?}", class.what, class.running().troubles);
            class.check_frames();
            assert_eq!(what_is_set(&class), *begin, "{}", class.what);
        }
    }
}

#[test]
fn a_lesson_begins_alike_after_one_that_is_not_before_it_in_the_list() {
    begins_alike(&[4]);
}

/// All pairs take ten minutes: cargo test --test gui each_other -- --ignored
#[test]
#[ignore = "takes ten minutes"]
fn a_lesson_begins_alike_after_each_other_one() {
    begins_alike(&(1..BUNDLED.len()).collect::<Vec<_>>());
}

#[test]
fn enter_turns_the_page_and_ends_no_lesson() {
    let mut class = Class::open([1280.0, 800.0]);
    class.harness.state_mut().send(LessonCommand::Open("beam-greedy".to_owned()));
    class.settle();
    for key in [Key::ArrowRight, Key::ArrowRight, Key::Enter] {
        class.harness.key_press_modifiers(Modifiers::NONE, key);
        class.settle();
    }
    assert_eq!(class.session().lessons().open().map(|open| open.page), Some(1), "the second page is open");
}

#[test]
fn the_framed_column_is_in_view_where_columns_were_scrolled() {
    let mut class = Class::open([1280.0, 800.0]);
    class.settle();
    for size in [[1280.0, 800.0], [1024.0, 768.0], [1920.0, 1080.0]] {
        class.resize(size);
        class.harness.state_mut().send(LessonCommand::Open("copies".to_owned()));
        class.settle();
        class.what = format!("copies at {size:?}");
        class.check_frames();
        class.harness.state_mut().send(LessonCommand::Close);
        class.settle();
    }
}
