//! Everyone's hands and eyes: on every page each thing that takes the keyboard has a name of its own and room for a finger.

use std::collections::{BTreeMap, BTreeSet};

use egui::accesskit::{Action, Role};
use egui::{Key, Modifiers, Rect};
use egui_kittest::Harness;
use egui_kittest::kittest::{AccessKitNode, NodeT as _, Queryable as _};
use interlinear::app::command::{SettingsCommand, WindowCommand};
use interlinear::app::layout::{Layout, Look};
use interlinear::app::settings::RowSource;
use interlinear::jobs::live::protocol::{Event, ModelFacts};
use interlinear::pages::corpus::views::{ExploreCommand, ExploreView};
use interlinear::pages::{PAGES, sentence::command::SelectCommand, shell::source};
use interlinear::{ui::App, widgets::theme};

use crate::{desk, desk::WindowActions as _, explore, language, layout, picture};

/// The least height and width of what is pressed, points.
const LEAST: f32 = 24.0;

/// Rows of lists and words in pictures are none: they are as high as text, as wide as their list, and the arrows reach them.
const CONTROLS: &[Role] = &[
    Role::Button,
    Role::Tab,
    Role::ComboBox,
    Role::SpinButton,
    Role::CheckBox,
    Role::RadioButton,
    Role::Slider,
    Role::TextInput,
    Role::DisclosureTriangle,
];

/// What is smaller, by a part of its name, and why it may be.
const SMALLER: &[(&str, &str)] = &[
    (" probability ", "a word in a line of text, as wide as it is"),
    ("Source word ", "a word in a line of text, as wide as it is"),
    ("Word ", "a word in a line of text, as wide as it is"),
    ("Candidate ", "a bar of a plot; \"Change the word\" has the same in a menu"),
    (" goes wrong in ", "a bar of a plot; the list of sentences has the same"),
];

fn name_of(node: &AccessKitNode<'_>) -> String {
    node.label().or_else(|| node.value()).unwrap_or_default()
}

fn takes_keyboard(node: &AccessKitNode<'_>) -> bool {
    node.data().supports_action(Action::Focus) && !node.is_hidden()
}

/// Menus and sheets that are opened over the page Sentence, by what is clicked.
const OPENED: &[&[&str]] = &[
    &["View"],
    &["View", "Language"],
    &["Decoding"],
    &["File"],
    &["Measures"],
    &["Menu of RNNsearch"],
    &["Menu of RNNsearch", "Save a figure..."],
    &["Menu of RNNsearch", "Learn an alignment head..."],
    &["Menu of RNNsearch", "Beside it with other settings..."],
    &["Add a model"],
    &["Help"],
    &["Lessons"],
];

const KEYS: &[(Modifiers, Key)] = &[
    (Modifiers::NONE, Key::F1),
    (Modifiers::NONE, Key::F2),
    (Modifiers::NONE, Key::F5),
    (Modifiers::SHIFT, Key::F5),
    (Modifiers::COMMAND, Key::G),
    (Modifiers { shift: true, ..Modifiers::COMMAND }, Key::N),
];

const SIZE: [f32; 2] = [1600.0, 900.0];

/// Every page, and what opens over the page Sentence.
fn windows() -> Vec<(String, Harness<'static, App>)> {
    let mut windows: Vec<(String, Harness<'static, App>)> =
        language::windows().into_iter().map(|(name, harness)| (name.to_owned(), harness)).collect();
    for page in PAGES {
        windows.push((page.title().to_owned(), desk::on_page(*page).0));
    }
    for look in [Look::Links, Look::Tree] {
        let mut harness = desk::window_of(desk::two_models(), SIZE).0;
        let layout = Layout { look, beam_open: true, ..Layout::default() };
        harness.send(WindowCommand::SetLayout(Box::new(layout)));
        windows.push((format!("Sentence, {look:?}"), harness));
    }
    let mut harness = desk::window_of(desk::two_models(), SIZE).0;
    harness.send(WindowCommand::SetLayout(Box::new(Layout::first())));
    harness.click_on("More");
    windows.push(("More".to_owned(), harness));
    let mut bench = explore::two_systems();
    bench.send(ExploreCommand::SetView(ExploreView::Training));
    windows.push(("Corpus, trainings".to_owned(), bench.harness));
    for labels in [&[][..], &["Replace the source word..."], &["Insert words before it..."]] {
        let mut harness = desk::window_of(desk::two_models(), SIZE).0;
        harness.open_menu_of("Source word 2 red");
        for label in labels {
            harness.click_containing(label);
        }
        windows.push((format!("a word's menu, {labels:?}"), harness));
    }
    for labels in OPENED {
        let mut harness = desk::window_of(desk::two_models(), SIZE).0;
        let column = harness.app().document.columns[1].id;
        harness.send(SelectCommand::Column(column));
        for label in *labels {
            harness.click_containing(label);
        }
        windows.push((format!("{labels:?}"), harness));
    }
    for (modifiers, key) in KEYS {
        let mut harness = desk::window_of(picture::inspected(), SIZE).0;
        harness.press_with(*modifiers, *key);
        windows.push((format!("{key:?}"), harness));
    }
    windows
}

#[test]
fn every_part_of_every_page_that_takes_the_keyboard_has_a_name_of_its_own() {
    let mut report = BTreeSet::new();
    for (page, harness) in windows() {
        let root = harness.root();
        let mut siblings = BTreeMap::new();
        for node in root.children_recursive() {
            let own = node.accesskit_node();
            if !takes_keyboard(&own) {
                continue;
            }
            let (name, role, parent) = (name_of(&own), own.role(), own.parent().map(|parent| parent.id()));
            if name.trim().is_empty() {
                report.insert(format!("{page}: {role:?} at {} has no name", node.rect()));
            }
            let key = (format!("{parent:?}"), format!("{role:?}"), name, own.position_in_set());
            if let Some(other) = siblings.insert(key.clone(), node.rect()) {
                report.insert(format!("{page}: two of {} {:?}, {other} {}", key.1, key.2, node.rect()));
            }
        }
    }
    assert!(report.is_empty(), "{}", report.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn what_is_pressed_has_room_for_a_finger() {
    let mut report = BTreeSet::new();
    for (page, harness) in windows() {
        for node in harness.root().children_recursive() {
            let own = node.accesskit_node();
            let is_pressed = own.data().supports_action(Action::Click) && own.data().bounds().is_some();
            if !is_pressed || !CONTROLS.contains(&own.role()) {
                continue;
            }
            let rect = node.rect();
            if !harness.ctx.content_rect().contains_rect(rect) || !rect.is_positive() {
                continue;
            }
            let name = name_of(&own);
            let is_allowed = SMALLER.iter().any(|(part, _)| name.contains(part));
            if !is_allowed && rect.size().min_elem() < LEAST - 0.1 {
                report.insert(format!("{:?} {name:?} {:?} {page}", own.role(), rect.size()));
            }
        }
    }
    assert!(report.is_empty(), "{}\n{}", report.len(), report.into_iter().collect::<Vec<_>>().join("\n"));
}

/// A sheet that closes gives the keyboard back: after Add a model what was typed went nowhere.
#[test]
fn the_keyboard_goes_back_to_the_sentence_when_a_sheet_closes() {
    let (mut harness, _) = desk::window_at_start(desk::two_models(), SIZE);
    let focused = |harness: &Harness<'_, App>| harness.ctx.memory(egui::Memory::focused);
    for opens in ["Add a model", "Help"] {
        harness.click_on(opens);
        harness.press(Key::Escape);
        assert_eq!(focused(&harness), Some(source::editor_id()), "{opens}");
    }
    harness.focus_on("List of sentences, arrows move through it");
    let list = focused(&harness);
    for key in [Key::Questionmark, Key::F2] {
        harness.press(key);
        assert_ne!(focused(&harness), list, "{key:?}");
        harness.press(Key::Escape);
        assert_eq!(focused(&harness), list, "{key:?}");
    }
    harness.ctx.memory_mut(egui::Memory::stop_text_input);
    harness.press(Key::Questionmark);
    harness.press(Key::Escape);
    assert_eq!(focused(&harness), None, "keys that are letters work on");
}

fn rows(harness: &Harness<'_, App>) -> Vec<String> {
    harness.query_all_by_role(Role::ListItem).filter_map(|node| node.accesskit_node().label()).collect()
}

#[test]
fn the_alignment_is_read_and_heard_as_a_table() {
    let (mut harness, wires, column) = desk::two_models_and(1);
    harness.send(SelectCommand::Column(column));
    harness.press(Key::F2);
    assert!(
        harness.query_all_by_role(Role::Label).any(|node| node.value() == Some("Alignment of RNNsearch".to_owned()))
    );
    harness.get_by_label("Shares of alpha: where the model looked to choose each word");
    assert_eq!(
        rows(&harness),
        [
            "\u{201c}la\u{201d} from \u{201c}the\u{201d} 80 %, \u{201c}red\u{201d} 7 %, \u{201c}shoe\u{201d} 7 %, the end of the sentence 7 %",
            "\u{201c}chaussure\u{201d} from \u{201c}red\u{201d} 80 %, \u{201c}the\u{201d} 7 %, \u{201c}shoe\u{201d} 7 %, the end of the sentence 7 %",
            "\u{201c}rouge\u{201d} from \u{201c}shoe\u{201d} 80 %, \u{201c}the\u{201d} 7 %, \u{201c}red\u{201d} 7 %, the end of the sentence 7 %",
            "the end of the sentence from the end of the sentence 80 %, \u{201c}the\u{201d} 7 %, \u{201c}red\u{201d} 7 %, \u{201c}shoe\u{201d} 7 %",
        ]
    );
    let has_keyboard = |harness: &Harness<'_, App>| {
        let rows = harness.query_all_by_role(Role::ListItem);
        rows.map(|row| row.accesskit_node().is_focused()).collect::<Vec<_>>()
    };
    assert_eq!(has_keyboard(&harness), [true, false, false, false]);
    harness.press(Key::ArrowDown);
    assert_eq!(has_keyboard(&harness), [false, true, false, false]);
    harness.press(Key::Enter);
    assert!(wires.heard(SelectCommand::Target { column, i: 1 }), "Enter marks the word in the picture");
    harness.get_by_label("Copy").click();
    let copied = layout::copied(&mut harness);
    assert!(copied[0].starts_with("target\tsource\tshare (alpha)\nla\tthe\t0.8\nla\tred\t"), "{copied:?}");
    harness.press_with(Modifiers::ALT, Key::ArrowLeft);
    assert!(rows(&harness).is_empty());
    assert!(harness.query_all_by_label_contains("This model has no alignment").next().is_some());
}

#[test]
fn the_table_names_a_probe_and_the_head_and_fits_small_windows() {
    for (has_alignment, about, kind) in [
        (false, "A probe, trained afterwards; this model has no attention", "probe"),
        (true, "Shares by the alignment head: where each word comes from", "head"),
    ] {
        let mut session = desk::session("the red shoe");
        let facts = ModelFacts { has_head: true, ..desk::facts("RNN", has_alignment) };
        let column = desk::add_column(&mut session, facts);
        let context = (!has_alignment).then(|| vec![0.5]);
        let mut events =
            desk::finished(&session, column, desk::sentence("the red shoe", &[]), &["la chaussure"], context);
        if let Some(Event::Finished { result, .. }) = events.last_mut() {
            result.hypotheses[0].found.head =
                Some(vec![vec![0.02, 0.9, 0.04, 0.0], vec![0.0, 0.04, 0.03, 0.02], vec![0.0; 4]]);
        }
        desk::absorb(&mut session, events);
        session.apply(SettingsCommand::SetAsked(RowSource { origin: true, both: false }));
        let (mut harness, _) = desk::window_of(session, [1024.0, 768.0]);
        harness.press(Key::F2);
        assert!(harness.query_all_by_label_contains(about).next().is_some(), "{kind}");
        let expected = [
            "\u{201c}la\u{201d} from \u{201c}red\u{201d} 90 %",
            "\u{201c}chaussure\u{201d} from \u{201c}red\u{201d} 4 %",
            "the end of the sentence from no word",
        ];
        assert_eq!(rows(&harness), expected, "{kind}");
        for size in [[1024.0, 768.0], [1280.0, 720.0], [640.0, 400.0]] {
            harness.set_size(size.into());
            harness.run();
            let window = Rect::from_min_size(egui::Pos2::ZERO, size.into());
            for label in ["Close", "Copy", "Alignment of RNN"] {
                let rect = harness.query_all_by_label(label).last().expect(label).rect();
                assert!(window.contains_rect(rect), "{label} at {rect} in {size:?}");
            }
        }
        harness.get_by_label("Copy").click();
        assert!(layout::copied(&mut harness)[0].contains(&format!("share ({kind})")), "{kind}");
    }
}

#[test]
fn words_are_selected_without_dragging_and_panels_are_sized_by_keys() {
    let (mut harness, _) = desk::window_of(desk::two_models(), SIZE);
    for word in ["Source word 1 the", "Source word 2 red"] {
        harness.get_by_label(word).click_modifiers(Modifiers::SHIFT);
        harness.run();
    }
    let picked = harness.state().local.shared.picked.as_ref().map(|picked| picked.part.clone());
    assert_eq!(picked.as_deref(), Some("the red"));
    let width = |harness: &Harness<'_, App>| harness.get_by_label("Source text").rect().left();
    let before = width(&harness);
    harness.focus_on("Edge of the panel Sentences");
    harness.press(Key::ArrowRight);
    harness.run();
    assert!(width(&harness) > before + 20.0, "{before} then {}", width(&harness));
    harness.press(Key::ArrowLeft);
    harness.run();
    assert!((width(&harness) - before).abs() < 1.0, "{before} then {}", width(&harness));
}

/// The shapes near a place that are painted in the colour of focus.
fn rings(harness: &Harness<'_, App>, place: Rect, accent: egui::Color32) -> usize {
    fn count(shape: &egui::Shape, place: Rect, accent: egui::Color32) -> usize {
        match shape {
            egui::Shape::Vec(shapes) => shapes.iter().map(|shape| count(shape, place, accent)).sum(),
            egui::Shape::Rect(rect) => usize::from(rect.stroke.color == accent && rect.rect.intersects(place)),
            egui::Shape::LineSegment { points, stroke } => {
                usize::from(stroke.color == accent && place.contains(points[0]))
            }
            egui::Shape::Circle(circle) => usize::from(circle.stroke.color == accent && place.contains(circle.center)),
            egui::Shape::Path(path) => {
                let is_accent = path.stroke.color == egui::epaint::ColorMode::Solid(accent);
                usize::from(is_accent && path.visual_bounding_rect().intersects(place))
            }
            _ => 0,
        }
    }
    harness.output().shapes.iter().map(|clipped| count(&clipped.shape, place, accent)).sum()
}

#[test]
fn what_has_the_keyboard_is_framed() {
    let mut report = BTreeSet::new();
    for (page, mut harness) in windows() {
        let accent = theme::of(harness.ctx.theme() == egui::Theme::Dark).accent;
        let stops = harness.root().children_recursive().filter(|node| takes_keyboard(&node.accesskit_node()));
        let stops: Vec<_> = stops.map(|node| node.accesskit_node().id()).collect();
        for id in stops {
            let find = |harness: &Harness<'static, App>| {
                let mut all = harness.root().children_recursive();
                all.find(|node| node.accesskit_node().id() == id).map(|node| {
                    node.focus();
                    let own = node.accesskit_node();
                    (format!("{:?} {}", own.role(), name_of(&own)), node.rect(), own.is_focused())
                })
            };
            harness.ctx.memory_mut(egui::Memory::stop_text_input);
            if find(&harness).is_none() {
                continue;
            }
            harness.step();
            let Some((name, rect, is_focused)) = find(&harness) else { continue };
            // what lies behind a sheet takes no keyboard; a text field has its cursor
            let is_seen = harness.ctx.content_rect().contains_rect(rect) && !harness.ctx.text_edit_focused();
            if is_focused && is_seen && rings(&harness, rect, accent) == 0 {
                report.insert(format!("{name} ({page})"));
            }
        }
    }
    assert!(report.is_empty(), "{}\n{}", report.len(), report.into_iter().collect::<Vec<_>>().join("\n"));
}
