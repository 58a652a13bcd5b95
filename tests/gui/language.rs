//! The window in other languages: with texts longer by two fifths nothing lies over anything, each control is translated,
//! and French is spoken by name.

use egui::accesskit::Role;
use egui::{Rect, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::command::{SettingsCommand, WindowCommand};
use interlinear::lang::{Language, MARK};
use interlinear::pages::corpus::views::{ExploreCommand, ExploreView};
use interlinear::pages::{corpus::CORPUS, lesson::LessonCommand};
use interlinear::{app::layout::Layout, decoding::step_trace::Then, jobs::live::protocol::ModelFacts, ui::App};

use crate::{campaign, desk, desk::WindowActions as _, explore, layout, maps, picture, steps, study};

const SIZES: [[f32; 2]; 2] = [[1024.0, 768.0], [1366.0, 768.0]];

const SCROLLED: [&str; 2] = ["Corpus, overview", "Corpus, minimal pairs"];

pub fn windows() -> Vec<(&'static str, Harness<'static, App>)> {
    let mut corpora = desk::two_models();
    corpora.apply(WindowCommand::ShowPage(CORPUS));
    let mut lesson = desk::two_models();
    lesson.apply(LessonCommand::Open("alignment".to_owned()));
    let mut shelf = desk::two_models();
    shelf.apply(LessonCommand::Show(true));
    let sessions = vec![
        ("Sentence", layout::session(3)),
        ("Sentence with a word", picture::inspected()),
        ("Sentence with a lesson", lesson),
        ("Sentence with the lessons", shelf),
        ("Corpus to begin with", corpora),
    ];
    let mut windows: Vec<_> =
        sessions.into_iter().map(|(name, session)| (name, desk::window_of(session, SIZES[0]).0)).collect();
    windows.push(("Map", maps::page().0));
    windows.push(("Steps", steps::page(steps::trace(Then::Wait, vec![4, 5, 7]), SIZES[0]).0));
    for (name, view) in [
        ("Corpus", ExploreView::Table),
        ("Corpus, overview", ExploreView::Overview),
        ("Corpus, concordance", ExploreView::Concordance),
        ("Corpus, judge", ExploreView::Judge),
    ] {
        let mut bench = explore::two_systems();
        bench.send(ExploreCommand::SetView(view));
        windows.push((name, bench.harness));
    }
    windows.push(("A campaign", campaign::desk(4, campaign::plan(true)).harness));
    windows.push(("Corpus, minimal pairs", study::contrasted().0));
    let mut interlinear = desk::window_of(desk::two_models(), SIZES[0]).0;
    interlinear.state_mut().send(WindowCommand::SetLayout(Box::new(Layout { interlinear: true, ..Layout::default() })));
    interlinear.run();
    windows.push(("Interlinear text", interlinear));
    windows
}

const WIDE: [f32; 2] = [1900.0, 768.0];

const OPENED: &[&[&str]] = &[
    &["View"],
    &["Decoding"],
    &["File"],
    &["Help"],
    &["Menu of RNNsearch"],
    &["Menu of RNNsearch", "Save a figure..."],
];

#[test]
fn menus_and_sheets_of_longer_texts_stay_in_the_window() {
    let mut report = String::new();
    for opened in OPENED {
        let outside = |language| {
            let mut harness = desk::window_of(desk::two_models(), WIDE).0;
            speak(&mut harness, language);
            for label in *opened {
                harness.click_containing(label);
            }
            let window = Rect::from_min_size(egui::Pos2::ZERO, WIDE.into()).expand(1.0);
            let all = layout::controls(&harness);
            let out: Vec<_> = all.iter().filter(|(_, rect)| !window.contains_rect(*rect)).cloned().collect();
            (all.len(), out)
        };
        let ((count, before), (longer, after)) = (outside(Language::English), outside(Language::Longer));
        assert_eq!(count, longer, "{opened:?}: the same is open");
        if after.len() > before.len() {
            report += &format!("{opened:?}:\n  {after:?}\n");
        }
    }
    assert!(report.is_empty(), "{report}");
}

fn speak(harness: &mut Harness<'_, App>, language: Language) {
    harness.send(SettingsCommand::SetLanguage(Some(language)));
    harness.run();
}

fn faults(harness: &Harness<'_, App>, size: [f32; 2]) -> Vec<String> {
    let window = Rect::from_min_size(egui::Pos2::ZERO, size.into());
    let controls = layout::controls(harness);
    let mut faults = Vec::new();
    // lessons and the columns of a corpus are lists that scroll
    let is_listed = |name: &str| name.starts_with(char::is_numeric) || name.ends_with(char::is_numeric);
    for (n, (name, rect)) in controls.iter().enumerate().filter(|(_, (name, _))| !is_listed(name)) {
        if !window.expand(1.0).contains_rect(*rect) {
            faults.push(format!("{name} at {rect} lies outside {window}"));
        }
        for (other, place) in &controls[n + 1..] {
            let both = rect.intersect(*place);
            if both.width() >= 1.5 && both.height() >= 1.5 {
                faults.push(format!("{name} at {rect} lies over {other} at {place}"));
            }
        }
    }
    faults
}

#[test]
fn longer_texts_leave_the_controls_of_every_page_apart_and_in_view() {
    let mut report = String::new();
    for (name, mut harness) in windows() {
        for size in SIZES {
            harness.set_size(vec2(size[0], size[1]));
            speak(&mut harness, Language::English);
            let is_fault = |fault: &String| !SCROLLED.contains(&name) || !fault.contains("lies outside");
            let found = |harness: &Harness<'_, App>| faults(harness, size).into_iter().filter(is_fault).collect();
            let before: Vec<String> = found(&harness);
            speak(&mut harness, Language::Longer);
            let after: Vec<String> = found(&harness);
            if after.len() > before.len() {
                report += &format!("{name} at {size:?}:\n  {}\n", after.join("\n  "));
            }
        }
    }
    assert!(report.is_empty(), "{report}");
}

#[test]
fn the_line_over_the_pictures_stays_in_narrow_windows_of_longer_words() {
    let mut session = desk::session("the red shoe");
    for _ in 0..2 {
        let facts = ModelFacts { has_head: true, ..desk::facts("RNNsearch", true) };
        desk::add_translated(&mut session, facts, "the red shoe", &["la chaussure rouge"]);
    }
    let (mut harness, _) = desk::window_of(session, [1280.0, 768.0]);
    let mut report = String::new();
    for language in [Language::French, Language::German, Language::Spanish, Language::Longer] {
        for width in [800.0, 830.0, 900.0, 1024.0, 1280.0] {
            harness.set_size(vec2(width, 768.0));
            speak(&mut harness, language);
            for (name, rect) in layout::controls(&harness) {
                if rect.right() > width + 1.0 {
                    report += &format!("{language:?} at {width}: {name} ends at {}\n", rect.right());
                }
            }
        }
    }
    assert!(report.is_empty(), "{report}");
}

fn is_data(label: &str) -> bool {
    !label.chars().any(char::is_alphabetic) || DATA.iter().any(|part| label.contains(part))
}

const DATA: &[&str] = &[
    "BLEU", "TER", "chrF", "AER", "PCA", "t-SNE", "en-fr", "RNN", "Luong", "13a", "alpha", "Another", "Other", "Third",
];

#[test]
fn each_control_says_its_name_in_the_language_of_the_window() {
    let roles =
        [Role::Button, Role::Tab, Role::CheckBox, Role::ComboBox, Role::RadioButton, Role::Slider, Role::SpinButton];
    let mut report = String::new();
    for (name, mut harness) in windows() {
        speak(&mut harness, Language::Longer);
        for role in roles {
            for node in harness.query_all_by_role(role) {
                let label = node.accesskit_node().label().unwrap_or_default();
                if !label.contains(MARK) && !is_data(&label) {
                    report += &format!("{name}: {role:?} {label}\n");
                }
            }
        }
    }
    assert!(report.is_empty(), "{} without a translation:\n{report}", report.lines().count());
}

#[test]
fn french_is_spoken_in_menus_tabs_and_to_those_who_listen() {
    // the menus fold where there is no room for French words
    let (mut harness, _) = desk::window_of(desk::two_models(), [1920.0, 1080.0]);
    speak(&mut harness, Language::French);
    for (role, label) in [
        (Role::Button, "Affichage"),
        (Role::Button, "Fichier"),
        (Role::Tab, "Page \u{c9}tapes"),
        (Role::MultilineTextInput, "Texte source"),
    ] {
        assert!(harness.query_by_role_and_label(role, label).is_some(), "{label}");
    }
    assert!(harness.query_by_role_and_label(Role::Button, "View").is_none());
    speak(&mut harness, Language::English);
    assert!(harness.query_by_role_and_label(Role::Button, "View").is_some());
}

#[test]
fn an_open_lesson_and_the_examples_follow_the_language() {
    let mut session = desk::two_models();
    session.apply(LessonCommand::Open("alignment".to_owned()));
    session.apply(LessonCommand::Turn(1));
    session.apply(LessonCommand::Answer(0, 1));
    let (mut harness, _) = desk::window_of(session, [1920.0, 1080.0]);
    let open = |harness: &Harness<'_, App>| {
        let open = harness.state().session().lessons().open().expect("it is open").clone();
        (open.script.title.clone(), open.shown().heading.clone(), open.page, open.answers)
    };
    let english = open(&harness);
    speak(&mut harness, Language::French);
    let french = open(&harness);
    assert_eq!((french.2, &french.3), (english.2, &english.3), "its page and its answers stay");
    assert!(french.0 != english.0 && french.1 != english.1, "{french:?}");
    assert!(harness.query_all_by_label_contains(&french.1).next().is_some(), "{}", french.1);
    harness.send(LessonCommand::Close);
    assert!(harness.has("Pour commencer") && !harness.has_any("Start here"));
    speak(&mut harness, Language::English);
    assert!(harness.has("Start here"));
}
