//! The panel of lessons: the list, a page with its acts and questions, by names and by the keyboard.

use egui::Key;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::pages::sentence::command::{SelectCommand, SentenceCommand};
use interlinear::{app::command::WindowCommand, app::layout::Layout, jobs::files::texts::FolderTexts};
use interlinear::{pages::command::Command, pages::lesson::LessonCommand, session::state::Session, ui::App};

use crate::{desk, desk::WindowActions as _};

fn session() -> Session {
    let mut session = desk::session("the red shoe");
    for (name, aligns) in [("luong-global-en-fr", true), ("rnnsearch-en-fr", true), ("rnnencdec-en-fr", false)] {
        let column = desk::add_column(&mut session, desk::facts(name, aligns));
        let context = (!aligns).then(|| vec![0.5, -0.25, 0.1]);
        desk::finish(&mut session, column, "the red shoe", &["le soulier rouge"], context);
    }
    session
}

fn names(app: &App) -> Vec<String> {
    app.session().app().document.columns.iter().map(|column| column.system.to_string()).collect()
}

fn open_list(harness: &mut Harness<'static, App>) {
    if !harness.has_any("Lessons") {
        harness.click_on("Menu");
    }
    harness.click_on("Lessons");
}

#[test]
fn a_lesson_opens_from_the_menu_turns_pages_by_the_keyboard_and_leaves_the_window_as_it_was() {
    for size in [[1280.0, 800.0], [1024.0, 768.0]] {
        let (mut harness, wires) = desk::window_of(session(), size);
        let before = (names(harness.state()), harness.app().document.source().to_owned());
        open_list(&mut harness);
        harness.click_on("1. Why one vector is a bottleneck");
        harness.get_by_label("A translator without the text");
        assert_eq!(names(harness.state()), ["rnnencdec-en-fr"]);
        assert_eq!(harness.app().document.source(), "The woman bought red shoes.");
        harness.get_each(&["Framed: the translation", "Page 1 of 6"]);

        harness.press(Key::Enter);
        harness.get_each(&["The list itself", "Your turn"]);
        assert!(!harness.has_any("It has as many numbers as before."), "it waits for an act");
        harness.click_on_each(&["Pass over", "It gets a few more numbers."]);
        harness.get_by_label("Not quite.");
        harness.click_on("It has as many numbers as before.");
        harness.get_by_label("Right.");
        harness.click_on("Reveal");
        harness.get_by_label("Answer: It has as many numbers as before.");
        harness.click_on("Page back");
        harness.get_by_label("A translator without the text");

        // both buttons stay within the window, also with the longest labels
        for label in ["Next page", "End lesson", "Print..."] {
            let rect = harness.get_by_label(label).rect();
            assert!(rect.right() <= size[0] && rect.bottom() <= size[1], "{label} {rect:?}");
        }
        harness.click_on("End lesson");
        harness.get_by_label("2. What alignment is");
        let after = (names(harness.state()), harness.app().document.source().to_owned());
        assert_eq!(after, before);
        assert!(wires.heard(LessonCommand::Close));
        harness.click_on("Close");
        assert!(!harness.has_any("2. What alignment is"));
    }
}

#[test]
fn what_a_page_waits_for_lets_it_go_on() {
    let (mut harness, wires) = desk::window(session());
    harness.state_mut().send(LessonCommand::Open("alignment".to_owned()));
    harness.state_mut().send(LessonCommand::Next);
    harness.state_mut().send(LessonCommand::Next);
    let session = harness.state().session();
    let column = session.app().document.columns[0].id;
    let source = desk::sentence("The woman bought red shoes .", &[]);
    let events = desk::finished(session, column, source, &["La femme acheta des chaussures rouges ."], None);
    wires.events.borrow_mut().extend(events);
    harness.run();
    harness.get_by_label("Read a row");
    let prompt = "Click the word rouges, in the translation or at the left of the picture.";
    harness.get_by_label(prompt);
    harness.send(SelectCommand::Target { column, i: 5 });
    harness.get_by_label(&format!("Done: {prompt}"));
    harness.get_by_label("Framed: the inspector below");
}

#[test]
fn the_manual_leads_to_lessons() {
    let (mut harness, wires) = desk::window_of(session(), [1280.0, 1400.0]);
    harness.press(Key::F1);
    harness.click_on("Teaching");
    harness.click_containing("Beam against greedy");
    assert!(wires.heard(LessonCommand::Open("beam-greedy".to_owned())));
    harness.get_by_label("One word at a time");
    assert!(!harness.has_any("Search the manual"), "the lesson takes the manual's place");
}

#[test]
fn what_is_lit_comes_into_view() {
    let mut session = session();
    let text = "title = 'T'\n[[page]]\nheading = 'A'\n[[page]]\nheading = 'B'\npart = [{ light = ['beam rnnencdec-en-fr'] }]\n".to_owned();
    session.absorb_texts(&FolderTexts { files: vec![("lessons/mine.toml".into(), Ok(text))] });
    let (mut harness, _) = desk::window_of(session, [1024.0, 768.0]);
    harness.state_mut().send(WindowCommand::SetLayout(Box::new(Layout { motion: false, ..Layout::default() })));
    harness.send(LessonCommand::Open("own/mine".to_owned()));
    assert!(harness.ctx.global_style().animation_time == 0.0, "motion is off");
    let panel = harness.get_by_label("End lesson").rect().left();
    let right = |harness: &Harness<'static, App>| {
        harness.query_by_label("Beam of rnnencdec-en-fr").map_or(f32::INFINITY, |beam| beam.rect().right())
    };
    assert!(right(&harness) > panel, "the last column is out of view");
    harness.send(LessonCommand::Next);
    assert!(right(&harness) < 1024.0 - 250.0, "{}", right(&harness));
}

fn long() -> Session {
    let mut session = session();
    let text = "word ".repeat(60);
    let parts: String = (0..30).map(|n| format!("[[page.part]]\ntext = 'Line {n} {text}'\n")).collect();
    let text =
        format!("title = 'T'\n[[page]]\nheading = 'A'\n{parts}[[page]]\nheading = 'B'\n[[page.part]]\ntext = 'End'\n");
    session.absorb_texts(&FolderTexts { files: vec![("lessons/mine.toml".into(), Ok(text))] });
    session
}

fn focused(harness: &Harness<'static, App>, label: &str) -> bool {
    harness.get_by_label(label).accesskit_node().is_focused()
}

#[test]
fn the_keyboard_stays_with_a_lesson() {
    let (mut harness, _) = desk::window(long());
    harness.send(LessonCommand::Open("own/mine".to_owned()));
    harness.press(Key::Enter);
    harness.get_by_label("Page 2 of 2");
    assert!(focused(&harness, "Next page"), "at the last page");
    harness.press(Key::Enter);
    harness.get_by_label("Page 2 of 2");
    harness.focus_on("Page back");
    harness.press(Key::Enter);
    harness.run();
    assert!(focused(&harness, "Next page"), "there is no page before the first");
    harness.press(Key::Tab);
    assert!(!focused(&harness, "Next page") && !focused(&harness, "Page back"), "it goes on");
}

#[test]
fn page_down_scrolls_the_text_of_a_lesson() {
    let (mut harness, wires) = desk::window(long());
    harness.send(LessonCommand::Open("own/mine".to_owned()));
    let top = |harness: &Harness<'static, App>| harness.get_by_label_contains("Line 0 ").rect().top();
    let before = top(&harness);
    wires.sent.borrow_mut().clear();
    harness.press(Key::PageDown);
    assert!(top(&harness) < before - 200.0, "{before} {}", top(&harness));
    harness.press(Key::PageUp);
    assert!((top(&harness) - before).abs() < 1.0, "{before} {}", top(&harness));
    let moves = |command: &Command| matches!(command, Command::Sentence(SentenceCommand::List(_)));
    assert!(!wires.sent.borrow().iter().any(moves), "{:?}", wires.sent.borrow());
}

#[test]
fn the_end_of_a_lesson_sums_up_and_leads_on() {
    let question = |n: usize| {
        format!(
            "[[page.part]]\nask.question = 'Q{n}'\nask.choices = [{{ right = 'yes {n}' }}, {{ wrong = 'no {n}' }}]\nask.why = 'So {n}.'\n"
        )
    };
    let script = |title: &str, parts: &str| Ok(format!("title = '{title}'\n[[page]]\nheading = 'Of {title}'\n{parts}"));
    let mut session = session();
    let first = script("First", &format!("{}{}", question(1), question(2)));
    let files = vec![("lessons/a.toml".into(), first), ("lessons/b.toml".into(), script("Second", ""))];
    session.absorb_texts(&FolderTexts { files });
    let (mut harness, _) = desk::window_of(session, [1280.0, 900.0]);
    harness.send(LessonCommand::Open("own/a".to_owned()));
    for answer in ["no 1", "yes 1", "yes 2"] {
        harness.click_on(answer);
    }
    harness.get_each(&["The lesson is at its end", "You answered 2 of 2 questions rightly, 1 of them at once."]);
    harness.click_on("Next lesson: Second");
    harness.get_by_label("Of Second");
    assert!(harness.query_by_label_contains("Next lesson").is_none(), "it is the last one");
}

#[test]
fn a_typed_answer_is_marked_by_its_reader_and_stays_with_its_question() {
    let page = |n: usize| {
        format!(
            "[[page]]\nheading = 'P{n}'\n[[page.part]]\nask.question = 'Why {n}?'\nask.answer = 'So {n}.'\nask.hint = 'Look {n}.'\n"
        )
    };
    let mut session = session();
    let text = format!("title = 'T'\n{}{}", page(1), page(2));
    session.absorb_texts(&FolderTexts { files: vec![("lessons/mine.toml".into(), Ok(text))] });
    let (mut harness, _) = desk::window(session);
    harness.send(LessonCommand::Open("own/mine".to_owned()));
    harness.focus_on("Your answer to Why 1?");
    harness.get_by_label("Your answer to Why 1?").type_text("because");
    harness.run();
    harness.press_with(egui::Modifiers::SHIFT, Key::Enter);
    assert!(!harness.has_any("Answer: So 1."), "first the reader's own, of several lines if need be");
    assert_eq!(harness.get_by_label("Your answer to Why 1?").value().as_deref(), Some("because\n"));
    harness.press(Key::Backspace);
    harness.press(Key::Enter);
    harness.get_by_label("Answer: So 1.");
    harness.click_on("Not quite");
    harness.click_on("Yes");
    harness.click_on("Next page");
    assert_eq!(harness.get_by_label("Your answer to Why 2?").value().as_deref(), Some(""), "another question's field");
    harness.click_on("Page back");
    assert_eq!(harness.get_by_label("Your answer to Why 1?").value().as_deref(), Some("because"));
    harness.click_on("Next page");
    harness.get_by_label("You answered 1 of 2 questions rightly, 0 of them at once.");
}
