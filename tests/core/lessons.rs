//! Lessons: those that come with the program are opened page by page on the bundled models, their acts done, and what
//! they say of the models is tried; a user's own are read again; the window is afterwards as it was before.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use interlinear::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use interlinear::app::{
    files::work::FileJob, layout::Look, lights::HighlightPart, open_with::Installed, tasks::Effect,
};
use interlinear::jobs::steps::{StepsRequest, at_once};
use interlinear::pages::sentence::command::{InterveneCommand, RowEdit, SearchCommand, SelectCommand};
use interlinear::pages::steps::{Guessed, command::StepsCommand, picture::figure};
use interlinear::pages::{command::Command, lesson::LessonCommand, map::MAP};
use interlinear::session::driver::{Driver, OpenWith};
use interlinear::session::lessons::doing::{StepOutcome, settled};
use interlinear::session::lessons::script::{Script, ScriptPage, ScriptPart, read};
use interlinear::session::lessons::shelf::{BUNDLED, bundled};
use interlinear::session::lessons::things::{LessonAct, LessonAction};
use interlinear::session::persist::of_text;
use interlinear::session::{
    lessons::Running, lessons::handout::handout, lessons::progress::Progress, lessons::spoken::spoken, state::Session,
};
use interlinear::{app::page::SENTENCE, app::settings::RowSource, decoding::SystemSpec, decoding::step_trace::Then};
use interlinear::{figure::svg::svg, jobs::Library, jobs::files::texts::FolderTexts, models::anatomy::Miswiring};

use crate::folder::Folder;

mod facts;

const PATIENCE: Duration = Duration::from_mins(5);

fn folder(name: &str) -> PathBuf {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let grouped = ["learning-en-fr", "en-de"].map(|group| models.join(group).join(name));
    grouped.into_iter().find(|folder| folder.exists()).unwrap_or_else(|| models.join(name))
}

fn script(key: &str) -> Arc<Script> {
    let kept = bundled().iter().find(|kept| kept.key == key).expect("it comes with the program");
    assert_eq!(kept.fault, None);
    kept.script.clone().expect("it can be read")
}

#[test]
fn bundled_lessons_are_short_and_ask_and_wait() {
    let words = |page: &ScriptPage| -> usize {
        let words = |part: &ScriptPart| match part {
            ScriptPart::Text(blocks) => blocks.iter().map(|block| block.plain().split_whitespace().count()).sum(),
            _ => 0,
        };
        page.parts.iter().map(words).sum()
    };
    for (key, _) in BUNDLED {
        let script = script(key);
        assert!((5..=8).contains(&script.pages.len()), "{key} has {} pages", script.pages.len());
        assert!(!script.about.is_empty(), "{key}");
        for page in &script.pages {
            assert!(words(page) <= 90, "{key}: {} has {} words", page.heading, words(page));
        }
        let parts = || script.pages.iter().flat_map(|page| &page.parts);
        assert!(parts().any(|part| matches!(part, ScriptPart::Wait(_))), "{key} waits for nothing");
        assert!(parts().any(|part| matches!(part, ScriptPart::Ask(..))), "{key} asks nothing");
    }
}

#[test]
fn questions_of_bundled_lessons_help() {
    for (key, _) in BUNDLED {
        for (_, _, ask) in script(key).asks().filter(|(_, _, ask)| !ask.is_open()) {
            assert!(!ask.hint.is_empty(), "{key}: {} helps nobody", ask.question);
        }
    }
}

#[test]
fn no_page_of_a_bundled_lesson_turns_by_itself() {
    for (key, _) in BUNDLED {
        for page in &script(key).pages {
            assert!(!matches!(page.parts.last(), Some(ScriptPart::Wait(_))), "{key}: {}", page.heading);
        }
    }
}

#[test]
fn bundled_lessons_stand_on_paper() {
    for (key, _) in BUNDLED {
        let script = script(key);
        let text = handout(&script, &[]).to_lowercase();
        for word in ["click", "framed", "press ", "inspector", "ctrl", "menu", "drag it"] {
            assert!(!text.contains(word), "{key}: {word:?} stands on paper");
        }
    }
}

struct Desk {
    driver: Driver,
    woken: mpsc::Receiver<()>,
}

impl Desk {
    fn open() -> Self {
        let names = [
            "rnnencdec-en-fr", "rnnsearch-en-fr", "rnnsearch-guided-en-fr", "luong-global-en-fr",
            "luong-local-p-en-fr", "rnnsearch-small-0200", "rnnsearch-small-0500", "rnnsearch-small-2000",
            "rnnsearch-small-9000", "rnnencdec-en-de", "rnnsearch-guided-en-de", "transformer-en-fr",
        ];
        let bundled: Vec<PathBuf> = names.iter().map(|name| folder(name)).collect();
        let (wake, woken) = mpsc::channel();
        let opening = bundled[1..2].to_vec();
        let bundled = bundled.into_iter().map(Installed::from).collect();
        let options = OpenWith { opening, bundled, threads: Some(2), ..OpenWith::default() };
        Self { driver: Driver::open(options, Arc::new(move || _ = wake.send(()))), woken }
    }

    fn session(&self) -> &Session {
        self.driver.session()
    }

    fn until(&mut self, what: &str, is_so: impl Fn(&Session) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            self.driver.pump(Duration::from_millis(50));
            if is_so(self.session()) {
                return;
            }
            let left = end.checked_duration_since(Instant::now()).unwrap_or_else(|| panic!("{what} took too long"));
            let _ = self.woken.recv_timeout(left);
        }
    }

    fn act(&mut self, thing: &LessonAction, what: &str) {
        let needs_words = matches!(
            thing,
            LessonAction::Act(LessonAct::SelectWord | LessonAct::Intervene | LessonAct::AnotherHypothesis)
        );
        if needs_words {
            self.until(what, |session| settled(session.app()));
        }
        if matches!(thing, LessonAction::Act(LessonAct::Say | LessonAct::Reveal | LessonAct::AnotherStep)) {
            self.until(what, |session| session.steps().trace.is_some() && !session.steps().is_waiting());
        }
        if !matches!(thing, LessonAction::Act(_)) {
            self.until(what, |session| thing.now(session.app(), session.steps()) != StepOutcome::NotYet);
        }
        let commands = match thing {
            LessonAction::Act(act) => by_hand(*act, self.session()),
            _ => match thing.now(self.session().app(), self.session().steps()) {
                StepOutcome::Do(commands) => commands,
                other => panic!("{what}: {other:?}"),
            },
        };
        for command in commands {
            self.driver.send(command);
        }
    }
}

fn by_hand(act: LessonAct, session: &Session) -> Vec<Command> {
    let column = session.app().selected_column().expect("a column").id;
    match act {
        LessonAct::AnotherSentence => vec![SourceCommand::Edit("I do not know.".to_owned()).into()],
        LessonAct::SelectWord => vec![SelectCommand::MoveTarget(1).into()],
        LessonAct::Reveal => {
            let word = StepsCommand::GuessWord("mot".to_owned());
            vec![StepsCommand::Guess(0).into(), word.into(), StepsCommand::Reveal.into()]
        }
        LessonAct::Intervene => vec![InterveneCommand::Row { column, i: 0, edit: RowEdit::Uniform }.into()],
        LessonAct::AnotherStep => vec![StepsCommand::MoveWord(1).into()],
        LessonAct::Say => {
            let (id, _) = session.steps().trace.as_ref().expect("a machine").steps[0].best[1];
            vec![StepsCommand::Say(id).into()]
        }
        LessonAct::AnotherHypothesis => vec![SelectCommand::MoveHypothesis(1).into()],
    }
}

fn go_through(key: &str) {
    let mut desk = Desk::open();
    let before = (desk.session().app().document.state.clone(), desk.session().app().view.page, columns(desk.session()));
    desk.driver.send(LessonCommand::Open(key.to_owned()));
    let pages = script(key).pages.len();
    loop {
        let running = desk.session().lessons().open().expect("it is open");
        let (page, waits) = (running.page, running.waits().map(|wait| wait.thing.clone()));
        let what = format!("{key}, page {} \u{201c}{}\u{201d}", page + 1, running.shown().heading);
        desk.until(&what, |session| session.lessons().open().is_some_and(Running::is_ready));
        let running = desk.session().lessons().open().expect("it is open");
        assert!(running.troubles.is_empty(), "{what}: {:?}", running.troubles);
        let place = (running.page, running.parts().len());
        match waits {
            Some(thing) => {
                desk.act(&thing, &what);
                let has_passed = |session: &Session| {
                    let open = session.lessons().open().expect("it is open");
                    (open.page, open.parts().len()) != place || open.is_last()
                };
                desk.until(&format!("{what}, after {thing:?}"), has_passed);
            }
            None if page + 1 == pages => break,
            None => desk.driver.send(LessonCommand::Next),
        }
    }
    if key == "learning" {
        print(&mut desk);
    }
    desk.driver.send(LessonCommand::Close);
    let after = (desk.session().app().document.state.clone(), desk.session().app().view.page, columns(desk.session()));
    assert_eq!(after, before, "{key}: the window is as it was before");
}

fn print(desk: &mut Desk) {
    let (_folder, path) = Folder::and_path("handout.html");
    desk.driver.send(LessonCommand::Print(path.clone()));
    desk.until("printing", |session| session.app().view.notices.iter().any(|notice| notice.text.starts_with("Saved")));
    let text = std::fs::read_to_string(path).expect("the handout");
    assert!(text.contains("<figure><svg") && text.contains("<title>RNNsearch en-fr: step"), "the machine is drawn");
}

fn columns(session: &Session) -> Vec<SystemSpec> {
    session.app().document.columns.iter().map(|column| column.system.clone()).collect()
}

macro_rules! each_lesson {
    ($($name:ident: $key:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            go_through($key);
        })*

        #[test]
        fn every_bundled_lesson_is_gone_through() {
            assert_eq!(BUNDLED.iter().map(|(key, _)| *key).collect::<Vec<_>>(), [$($key),*]);
        }
    };
}

each_lesson! {
    one_goes_through_bottleneck: "bottleneck",
    one_goes_through_alignment: "alignment",
    one_goes_through_verb_last: "verb-last",
    one_goes_through_soft_hard: "soft-hard",
    one_goes_through_global_local: "global-local",
    one_goes_through_bahdanau_luong: "bahdanau-luong",
    one_goes_through_beam_greedy: "beam-greedy",
    one_goes_through_learning: "learning",
    one_goes_through_copies: "copies",
    one_goes_through_explanation: "explanation",
    one_goes_through_attention_fails: "attention-fails",
    one_goes_through_unknown_words: "unknown-words",
    one_goes_through_annotation: "annotation",
    one_goes_through_query_key_value: "query-key-value",
    one_goes_through_transformer: "transformer",
}

const OWN: &str = "
title = 'Mine'
about = 'About.'
[[page]]
heading = 'One'
[[page.part]]
do.beam = 2
do.page = 'map'
[[page.part]]
light = ['beam-size']
[[page.part]]
text = 'Text.'
[[page.part]]
wait.for.page = 'sentence'
[[page.part]]
text = 'More.'
[[page.part]]
ask.question = 'Why?'
ask.choices = [{ wrong = 'a' }, { right = 'b' }]
[[page]]
heading = 'Two'
[[page.part]]
do.beam = 3
";

fn own(text: &str) -> FolderTexts {
    FolderTexts { files: vec![(PathBuf::from("lessons/mine.toml"), Ok(text.to_owned()))] }
}

fn session_with(text: &str) -> Session {
    let mut session = Session::start(None, &OpenWith::default());
    session.absorb_texts(&own(text));
    session
}

#[test]
fn a_page_acts_lights_waits_and_is_answered() {
    let mut session = session_with(OWN);
    session.apply(SearchCommand::SetBeam(7));
    session.apply(LessonCommand::Open("own/mine".to_owned()));
    let beam = |session: &Session| session.app().document.state.search.beam;
    assert_eq!((beam(&session), session.app().view.page), (2, MAP));
    let open = |session: &Session| session.lessons().open().expect("it is open").clone();
    assert!(
        session.lessons().lights().lights(HighlightPart::BeamSize, "")
            && !session.lessons().lights().lights(HighlightPart::Beam, "")
    );
    assert_eq!(open(&session).parts().len(), 4, "what follows the act is not there yet");
    session.apply(WindowCommand::ShowPage(SENTENCE));
    assert_eq!((open(&session).parts().len(), open(&session).waits()), (6, None), "it goes on by itself");
    session.apply(LessonCommand::Answer(5, 1));
    session.apply(LessonCommand::Reveal);
    assert_eq!(open(&session).answers.get(&(0, 5)), Some(&1));
    session.apply(LessonCommand::Next);
    assert_eq!((open(&session).page, beam(&session)), (1, 3));
    assert!(!session.lessons().lights().lights(HighlightPart::BeamSize, ""), "lights go out with the page");
    session.apply(LessonCommand::Back);
    assert_eq!((open(&session).page, beam(&session), session.app().view.page), (0, 2, SENTENCE));
    assert_eq!(open(&session).waits(), None, "what was done stays done");
    session.apply(LessonCommand::Open("own/mine".to_owned()));
    assert_eq!((open(&session).page, session.app().view.page), (0, MAP), "who begins again does it again");
    session.apply(LessonCommand::Next);
    assert_eq!((open(&session).page, open(&session).waits()), (0, None), "what is waited for can be passed over");
    let saved = session.saved();
    assert_eq!((saved.search.beam, saved.page.as_str()), (7, "sentence"), "who quits now finds the window as it was");
    assert_eq!(
        saved.lessons.get("own/mine"),
        Some(&Progress { page: 0, is_done: true, ..Progress::default() }),
        "and that its end was reached"
    );
    session.apply(LessonCommand::Close);
    assert_eq!((beam(&session), session.app().view.page), (7, SENTENCE));
    assert!(session.lessons().open().is_none());
}

#[test]
fn answers_are_there_again_after_a_restart_and_gone_when_a_lesson_was_left_at_its_end() {
    let mut session = session_with(OWN);
    session.apply(LessonCommand::Open("own/mine".to_owned()));
    session.apply(WindowCommand::ShowPage(SENTENCE));
    session.apply(LessonCommand::Answer(5, 1));
    session.apply(LessonCommand::Say(4, "it is".to_owned()));
    let again = |session: &Session| {
        let text = serde_json::to_string(&session.saved()).expect("it becomes text");
        let mut next = Session::start(of_text(&text), &OpenWith::default());
        next.absorb_texts(&own(OWN));
        next.apply(LessonCommand::Open("own/mine".to_owned()));
        next
    };
    let mut next = again(&session);
    let open = next.lessons().open().expect("it is open");
    assert_eq!(open.answers.get(&(0, 5)), Some(&1));
    assert_eq!(open.typed.get(&(0, 4)).map(String::as_str), Some("it is"));
    next.apply(LessonCommand::Next);
    next.apply(LessonCommand::Next);
    assert!(next.lessons().open().is_some_and(Running::is_last));
    next.apply(LessonCommand::Close);
    assert!(again(&next).lessons().open().is_some_and(|open| open.answers.is_empty() && open.typed.is_empty()));
    for bad in ["", "[]", "{\"version\": 99}", "{\"source\": 3}"] {
        assert_eq!(of_text(bad), None, "{bad}");
    }
}

#[test]
fn a_lesson_begins_with_where_models_looked() {
    let mut session = session_with(OWN);
    let wanted = RowSource { origin: true, both: true };
    session.apply(SettingsCommand::SetAsked(wanted));
    session.apply(LessonCommand::Open("own/mine".to_owned()));
    assert_eq!(session.app().view.settings.asked, RowSource::default());
    session.apply(LessonCommand::Close);
    assert_eq!(session.app().view.settings.asked, wanted);
}

#[test]
fn what_is_passed_over_is_done_or_known() {
    let text = "title = 'T'\n[[page]]\nheading = 'A'\npart = [{ wait = { for = { page = 'map' } } }, { wait = { for = { beam = 3 } } },\n\
        { wait = { for = { act = 'another sentence' } } }, { text = 'b' }]\n[[page]]\nheading = 'B'\n";
    let mut session = session_with(text);
    session.apply(LessonCommand::Open("own/mine".to_owned()));
    for _ in 0..3 {
        session.apply(LessonCommand::Next);
    }
    let app = session.app();
    assert_eq!((app.view.page, app.document.state.search.beam), (MAP, 3), "both were done");
    let open = session.lessons().open().expect("it is open");
    assert_eq!((open.page, open.waits()), (0, None));
    let done: Vec<bool> = (0..3).map(|at| open.passed.contains(&(0, at))).collect();
    assert_eq!(done, [true; 3]);
    let can = |at: usize| matches!(&open.shown().parts[at], ScriptPart::Wait(wait) if wait.thing.can_be_done());
    assert_eq!([can(0), can(1), can(2)], [true, true, false]);
    session.apply(LessonCommand::Next);
    session.apply(LessonCommand::Back);
    assert!(session.lessons().open().expect("it is open").passed.is_empty(), "the page begins anew");
}

#[test]
fn a_lesson_of_ones_own_is_read_again_and_a_bad_one_stays_as_it_was() {
    let mut session = session_with(OWN);
    session.apply(LessonCommand::Open("own/mine".to_owned()));
    session.absorb_texts(&own(&OWN.replace("do.beam = 2", "do.beam = 4")));
    assert_eq!(session.app().document.state.search.beam, 4, "the page that is open is made again");
    session.absorb_texts(&own(&OWN.replace("do.beam = 2", "do.beem = 2")));
    let kept = session.lessons().shelf().last().expect("a lesson");
    let fault = kept.fault.as_deref().expect("a fault");
    assert!(fault.contains("mine.toml, line 7") && fault.contains("`beem`, expected one of"), "{fault}");
    assert!(kept.script.is_some() && session.lessons().open().is_some(), "the last good version stays");
    session.absorb_texts(&own(OWN));
    assert_eq!(session.lessons().shelf().last().expect("a lesson").fault, None);
}

#[test]
fn a_lesson_for_models_that_are_not_there_says_so() {
    let text = "title = 'T'\n[[page]]\nheading = 'P'\npart = [{ do = { models = ['no-such-model'] } }]\n";
    let mut session = session_with(text);
    session.apply(LessonCommand::Open("own/mine".to_owned()));
    let troubles = &session.lessons().open().expect("it is open").troubles;
    assert!(troubles[0].contains("no-such-model"), "{troubles:?}");
}

#[test]
fn a_lesson_is_printed_behind_the_window() {
    let folder = Folder::new();
    let mut session = session_with(OWN);
    session.apply(LessonCommand::Open("own/mine".to_owned()));
    session.take_effects();
    session.apply(LessonCommand::Print(folder.join("handout")));
    let effects = session.take_effects();
    let work = effects.iter().find_map(|effect| match effect {
        Effect::Chore(FileJob::Work(work)) => Some(work.clone()),
        _ => None,
    });
    let path = folder.join("handout.html");
    assert!(!path.exists(), "nothing is written on the window's thread");
    (work.expect("there is work").0)();
    assert!(path.exists());
}

#[test]
fn the_manual_names_everything_that_a_lesson_may_say() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/manual/teaching.md");
    let text = std::fs::read_to_string(page).expect("the page");
    // what the parser expects in place of a key that is none
    for (part, form) in [("x = 1", "`{}`"), ("do.x = 1", "| `{}` |"), ("light = ['x']", "`{}`")] {
        let fault = read(&format!("title = ''\n[[page]]\nheading = ''\n[[page.part]]\n{part}\n")).expect_err(part);
        let keys: Vec<&str> = fault.text.split('`').skip(3).step_by(2).collect();
        assert!(keys.len() > 4, "{fault}");
        for key in keys {
            assert!(text.contains(&form.replace("{}", key)), "the key {key} is missing");
        }
    }
    let example = text.split("````toml\n").nth(1).and_then(|rest| rest.split("\n````").next()).expect("an example");
    read(example).unwrap_or_else(|fault| panic!("{fault}"));
}

#[test]
fn the_machine_of_a_page_stands_on_paper() {
    let script = script("learning");
    let before = script.pages.iter().position(|page| page.heading == "Before the first update").expect("a page");
    let found = spoken(&script, before, false).expect("it is about steps");
    assert_eq!((found.model.as_str(), found.wrong), ("rnnsearch-en-fr", Some(Miswiring::Untrained)));
    assert_eq!((found.sentence.as_str(), found.step.as_deref()), ("The black cat sleeps on the old chair.", Some("3")));
    let first = spoken(&script, 0, false).expect("it is about a column");
    assert_eq!((first.page, first.look, first.given), (SENTENCE, Look::Heatmap, None));
    let done = spoken(&script, before, true).expect("it is about steps");
    assert_eq!(done.wrong, None, "what is waited for is so behind it");

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/reference/rnnsearch");
    let request = StepsRequest {
        model: folder.into(),
        source: "s9 s31".to_owned(),
        then: Then::Greedy,
        ..StepsRequest::default()
    };
    let trace = at_once(&Library::new(1), &request).expect("steps");
    let said = trace.said(1).expect("a word").to_owned();
    let open = svg(&figure(&trace, 1, None, Some("alpha")));
    let guessed = svg(&figure(&trace, 1, Some(Guessed::Word), None));
    for part in ["Annotations", "Candidates", "step 2", &format!("&quot;{said}&quot;")] {
        assert!(open.contains(part), "{part} is not in the picture");
    }
    assert!(guessed.contains(">?<") && !guessed.contains("which says"), "what is asked for is not told");
}
