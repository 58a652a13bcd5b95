//! The window at many sizes: what can be clicked lies inside it, and nothing lies over anything else.

use std::sync::{Arc, Mutex};

use egui::accesskit::Role;
use egui::{Modifiers, OutputCommand, Rect, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::app::command::{SettingsCommand, SourceCommand, WindowCommand};
use interlinear::app::layout::{Layout, Look};
use interlinear::jobs::live::protocol::{Event, HypothesisView, ModelFacts, Pieces};
use interlinear::pages::{command::Command, lesson::LessonCommand, sentence::command::SelectCommand};
use interlinear::{analysis::row_convention::RowConvention, app::open_with::OpenWith, app::settings::Shown};
use interlinear::{session::link::ShownLink, session::persist::of_text, session::state::Session, ui::App};

use crate::{desk, desk::WindowActions as _};

const SCREENS: [(f32, f32, f32); 10] = [
    (1024.0, 768.0, 2.0),
    (1024.0, 768.0, 1.0),
    (1024.0, 768.0, 1.5),
    (1280.0, 800.0, 1.0),
    (1280.0, 800.0, 1.5),
    (1280.0, 800.0, 2.0),
    (1920.0, 1080.0, 1.0),
    (1920.0, 1080.0, 3.0),
    (2560.0, 1440.0, 1.0),
    (3840.0, 2160.0, 2.0),
];

const ROLES: [Role; 5] = [Role::Button, Role::Tab, Role::ComboBox, Role::SpinButton, Role::Slider];

pub fn session(columns: usize) -> Session {
    let text = "The little girl who lost her red shoe was waiting for the last train .";
    let mut session = desk::session(text);
    for n in 0..columns {
        desk::add_finished(
            &mut session,
            ["RNNsearch en-fr", "Luong local-p en-fr"][n % 2],
            text,
            &[text, "The little girl ."],
        );
    }
    session
}

pub fn controls(harness: &Harness<'_, App>) -> Vec<(String, Rect)> {
    ROLES
        .iter()
        .flat_map(|role| harness.query_all_by_role(*role))
        .map(|node| (node.accesskit_node().label().unwrap_or_default(), node.rect()))
        // the models' names and columns scroll where there is no room for all of them
        .filter(|(name, rect)| rect.is_positive() && !name.contains("en-fr") && !name.contains("probability"))
        .collect()
}

fn check(what: &str, window: Rect, controls: &[(String, Rect)]) {
    assert!(controls.len() > 5, "{what}: {controls:?}");
    for (n, (name, rect)) in controls.iter().enumerate() {
        assert!(window.expand(1.0).contains_rect(*rect), "{what}: {name} at {rect} lies outside {window}");
        for (other, place) in &controls[n + 1..] {
            let both = rect.intersect(*place);
            assert!(both.width() < 1.5 || both.height() < 1.5, "{what}: {name} at {rect} lies over {other} at {place}");
        }
    }
}

#[test]
fn nothing_overlaps_or_lies_outside_at_any_size() {
    for (width, height, zoom) in SCREENS {
        for columns in [1, 2, 4] {
            for look in [Look::Heatmap, Look::Links] {
                let (mut harness, _) = desk::window(session(columns));
                harness.set_size(vec2(width, height) / zoom);
                let commands: [Command; 2] = [
                    SettingsCommand::SetZoom(1.0).into(),
                    WindowCommand::SetLayout(Box::new(Layout { look, ..Layout::default() })).into(),
                ];
                for command in commands {
                    harness.state_mut().send(command);
                }
                harness.run();
                let window = Rect::from_min_size(egui::Pos2::ZERO, vec2(width, height) / zoom);
                let what = format!("{width} x {height} at zoom {zoom}, {columns} columns, {look:?}");
                check(&what, window, &controls(&harness));
            }
        }
    }
}

#[test]
fn a_presentation_shows_one_column_and_no_panel() {
    let (mut harness, _) = desk::window(session(3));
    harness.set_size(vec2(1024.0, 768.0));
    harness.press(egui::Key::F5);
    let columns = |harness: &Harness<'_, App>| harness.query_all_by_role(Role::Grid).count();
    assert_eq!(columns(&harness), 1);
    assert!(!harness.has_any("Help"), "the bar at the top is gone");
    let window = Rect::from_min_size(egui::Pos2::ZERO, harness.ctx.content_rect().size());
    for (name, rect) in controls(&harness) {
        assert!(window.expand(1.0).contains_rect(rect), "{name} at {rect} lies outside {window}");
    }
    harness.press(egui::Key::Escape);
    assert!(harness.has("Help"), "Escape leaves");
}

#[test]
fn one_column_stands_alone_and_all_come_back() {
    let (mut harness, _) = desk::window(session(3));
    let count = |harness: &Harness<'_, App>| harness.query_all_by_role(Role::Grid).count();
    assert_eq!(count(&harness), 3);
    for expected in [1, 3] {
        harness.press_with(Modifiers::COMMAND, egui::Key::D);
        assert_eq!(count(&harness), expected);
    }
}

#[test]
fn the_tabs_of_the_pages_fold_last() {
    for (width, models, has_tabs) in [(1280.0, 4, true), (1024.0, 3, true), (700.0, 1, false)] {
        let mut session = desk::session("the red shoe");
        for n in 0..models {
            desk::add_finished(&mut session, &format!("RNNsearch {n}"), "the red shoe", &["la chaussure rouge"]);
        }
        let (harness, _) = desk::window_of(session, [width, 800.0]);
        let tab = harness.query_by_role_and_label(Role::Tab, "Page Map");
        assert_eq!(tab.is_some(), has_tabs, "{width}");
        assert!(tab.is_none_or(|tab| tab.rect().right() < width), "{width}");
        for label in ["Help", "Add a model"] {
            assert!(harness.get_by_label(label).rect().right() <= width, "{label} at {width}");
        }
    }
}

#[test]
fn a_presentation_is_typed_into_and_has_two_models_and_the_lesson() {
    let (mut harness, wires) = desk::window_of(desk::two_models(), [1920.0, 1080.0]);
    harness.press(egui::Key::F5);
    harness.run();
    for name in ["Column of RNNencdec", "Column of RNNsearch"] {
        assert!(harness.has(name), "{name}");
    }
    harness.click_on("Source text");
    harness.type_into("Source text", "x");
    let is_edit = |command: &Command| format!("{command:?}").contains("Edit");
    assert!(wires.sent.borrow().iter().any(is_edit), "what is typed is translated");
    harness.send(LessonCommand::Open("learning".to_owned()));
    harness.get_by_label("End lesson");
}

pub fn copied(harness: &mut Harness<'_, App>) -> Vec<String> {
    let mut texts = Vec::new();
    for _ in 0..8 {
        harness.step();
        for command in &harness.output().platform_output.commands {
            if let OutputCommand::CopyText(text) = command {
                texts.push(text.clone());
            }
        }
    }
    texts
}

#[test]
fn a_link_to_what_is_shown_is_copied_by_its_key_and_from_the_menu() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.press_with(Modifiers::COMMAND.plus(Modifiers::SHIFT), egui::Key::L);
    let is_told = |command: &Command| *command == WindowCommand::LinkCopied.into();
    assert!(wires.sent.borrow().iter().any(is_told), "the key copies it");

    harness.click_button("File");
    harness.get_by_label_contains("Copy link").click();
    let [link] = copied(&mut harness).try_into().expect("one text is copied");
    let shown = ShownLink::read(&link).expect("it is a link").state;
    assert_eq!(shown.source.as_deref(), Some(harness.app().document.source()));
    assert_eq!(shown.columns.map_or(0, |columns| columns.len()), 2);
}

#[test]
fn where_nothing_may_be_copied_the_text_is_shown_in_a_field() {
    let session = desk::two_models();
    let site = OpenWith { site: Some("http://192.168.1.7:8080/".to_owned()), ..OpenWith::default() };
    let session = Session::start(Some(session.saved()), &site);
    let (mut harness, wires) = desk::window_changed(session, |app| app.copying(false));
    harness.press_with(Modifiers::COMMAND.plus(Modifiers::SHIFT), egui::Key::L);
    harness.run();
    assert!(!wires.heard(WindowCommand::LinkCopied), "nobody says that it was copied");
    let field = harness.get_by_label("Text to copy");
    assert!(field.value().is_some_and(|text| text.starts_with("http://192.168.1.7:8080/#v1.")));
    assert!(field.accesskit_node().is_focused());
    harness.get_by_label("Link to what is shown, as a code");
    harness.click_on("Close");
    assert!(!harness.has_any("Copy from here"));
}

#[test]
fn what_is_shown_is_kept_as_a_link_and_as_a_state() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&kept);
    let (mut harness, _) = desk::window_changed(desk::two_models(), |app| {
        app.keeping(Box::new(move |link, state| keep.lock().expect("open").push((link.to_owned(), state.to_owned()))))
    });
    harness.state_mut().send(SourceCommand::Edit("the old shoe".to_owned()));
    harness.run();
    let all = kept.lock().expect("open");
    let (link, state) = all.last().expect("it was kept");
    assert_eq!(ShownLink::read(link).expect("a link").state.source.as_deref(), Some("the old shoe"));
    assert_eq!(of_text(state).expect("a state").source.as_deref(), Some("the old shoe"));
    let count = all.len();
    drop(all);
    harness.run();
    assert_eq!(kept.lock().expect("open").len(), count, "what did not change is not kept again");
}

#[test]
fn a_presentation_has_a_code_where_the_address_of_a_site_is_known() {
    let presented = |site: Option<&str>| {
        let mut session = desk::two_models();
        if let Some(site) = site {
            session =
                Session::start(Some(session.saved()), &OpenWith { site: Some(site.to_owned()), ..OpenWith::default() });
        }
        let (mut harness, _) = desk::window_of(session, [1280.0, 800.0]);
        harness.press(egui::Key::F5);
        harness.run();
        harness.click_button("Code");
        harness.query_by_label("Link to what is shown, as a code").map(|code| code.rect())
    };
    assert_eq!(presented(None), None);
    let code = presented(Some("https://example.org/")).expect("it is shown");
    assert!(code.width() > 200.0 && (code.width() - code.height()).abs() < 0.1, "{code}");
}

#[test]
fn on_a_phone_nothing_of_the_bar_lies_over_anything_and_the_beam_is_in_a_menu() {
    let (mut harness, wires) = desk::window_of(desk::two_models(), [360.0, 740.0]);
    harness.run();
    // the models scroll where there is no room for all of them
    let is_bar = |(name, rect): &(String, Rect)| rect.top() < 30.0 && !name.contains("RNN");
    let bar: Vec<(String, Rect)> = controls(&harness).into_iter().filter(is_bar).collect();
    assert!(bar.len() > 2, "{bar:?}");
    for (at, (name, rect)) in bar.iter().enumerate() {
        assert!(rect.left() >= 0.0 && rect.right() <= 361.0, "{name} at {rect}");
        for (other, under) in &bar[at + 1..] {
            assert!(!rect.shrink(1.0).intersects(under.shrink(1.0)), "{name} at {rect} lies over {other} at {under}");
        }
    }
    let field = harness.get_by_role_and_label(Role::MultilineTextInput, "Source text").rect();
    assert!(field.width() > 280.0, "the text has the width of the window: {field}");
    assert!(!harness.has_any("Beam"), "it is in the menu");
    harness.click_button("Menu");
    harness.click_containing("Decoding");
    harness.get_by_role_and_label(Role::SpinButton, "Beam").click();
    assert!(wires.sent.borrow().is_empty());
}

#[test]
fn on_a_phone_lessons_stand_under_the_window_and_not_beside_it() {
    let mut session = desk::two_models();
    session.apply(LessonCommand::Show(true));
    let (mut harness, _) = desk::window_of(session, [360.0, 740.0]);
    harness.run();
    let field = harness.get_by_role_and_label(Role::MultilineTextInput, "Source text").rect();
    let lessons = harness.get_by_label_contains("Ten minutes each").rect();
    assert!(field.width() > 280.0 && lessons.width() > 280.0, "{field} {lessons}");
    assert!(lessons.top() > field.bottom() + 100.0, "{field} {lessons}");
}

#[test]
fn links_take_the_place_of_the_heatmap_and_say_their_alpha() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.press_with(Modifiers::COMMAND, egui::Key::J);
    assert!(!harness.has_any("chaussure <- red 0.80"), "no cell is left");
    let word = harness.get_by_label_contains("chaussure: red 0.80");
    word.click();
    harness.run();
    let selected = wires.heard_of("Target");
    assert!(selected, "a click on a target word selects it");
    assert!(harness.query_by_label_contains("Links of RNNsearch, ").is_some());
}

#[test]
fn escape_closes_a_menu_and_nothing_else() {
    let (mut harness, wires) = desk::window(desk::two_models());
    harness.click_button("View");
    assert!(harness.query_by_label_contains("Presentation").is_some(), "the menu is open");
    harness.press(egui::Key::Escape);
    assert!(harness.query_by_label_contains("Presentation").is_none(), "Escape closes it");
    let deselected = wires.heard_of("Nothing");
    assert!(!deselected, "and selects nothing only where no menu is open");
}

fn columns(harness: &Harness<'_, App>) -> Vec<Rect> {
    let headings = harness.query_all_by_role(Role::DisclosureTriangle);
    let is_beam = |name: String| name.starts_with("Beam of");
    let beams = headings.filter(|node| node.accesskit_node().label().is_some_and(is_beam));
    let mut found: Vec<Rect> = beams.map(|node| node.rect()).collect();
    found.sort_by(|a, b| a.left().total_cmp(&b.left()));
    found
}

#[test]
fn three_columns_fit_a_window_of_1024_points_and_the_sentences_open_over_them() {
    let (mut harness, _) = desk::window_of(session(3), [1024.0, 768.0]);
    let list = "List of sentences, arrows move through it";
    assert!(!harness.has_any(list), "the list is folded");
    let before = columns(&harness);
    assert_eq!(before.len(), 3);
    for rect in &before {
        assert!(rect.left() >= 0.0 && rect.right() <= 1024.0 && rect.width() >= 280.0, "{rect}");
    }
    harness.click_on("Sentences");
    let shown = harness.get_by_label(list).rect();
    assert!(shown.left() >= 0.0 && shown.right() < 400.0 && shown.height() > 300.0, "{shown}");
    assert_eq!(before, columns(&harness), "nothing moves");
    harness.press(egui::Key::Escape);
    assert!(!harness.has_any(list), "Escape closes it");
    for _ in 0..2 {
        harness.press_with(Modifiers::COMMAND, egui::Key::F);
        assert!(harness.has(list), "looking for a sentence opens it");
    }
    harness.click_on("Close the sentences");
    assert!(!harness.has_any(list));
}

#[test]
fn where_names_have_no_room_one_model_stands_before_a_list_of_all() {
    let (mut harness, wires) = desk::window_of(session(9), [1024.0, 768.0]);
    harness.run();
    let tabs = |harness: &Harness<'_, App>| {
        harness.query_all_by_role_and_label(Role::Tab, "RNNsearch en-fr").count()
            + harness.query_all_by_role_and_label(Role::Tab, "Luong local-p en-fr").count()
    };
    assert_eq!(tabs(&harness), 1);
    let second = harness.app().document.columns[1].id;
    harness.click_on("All models");
    let lines: Vec<_> = harness.query_all_by_role_and_label(Role::Button, "Luong local-p en-fr").collect();
    assert_eq!(lines.len(), 4);
    lines[0].click();
    harness.run();
    assert!(wires.heard(SelectCommand::Column(second)));
    assert_eq!(tabs(&harness), 1);
    harness.set_size([2560.0, 1440.0].into());
    harness.run();
    assert_eq!((tabs(&harness), harness.has_any("All models")), (9, false), "a wide window names each");
}

#[test]
fn a_wide_window_keeps_the_sentences_beside_the_columns() {
    for (columns, size, is_folded) in [
        (3, [1280.0, 800.0], false),
        (2, [1024.0, 768.0], false),
        (1, [640.0, 400.0], true),
        (6, [1280.0, 800.0], false),
    ] {
        let (harness, _) = desk::window_of(session(columns), size);
        let is_there = harness.has("List of sentences, arrows move through it");
        assert_eq!(is_there, !is_folded, "{columns} columns in {size:?}");
        let button = harness.query_by_role_and_label(Role::Button, "Sentences").is_some();
        assert_eq!(button, is_folded, "{columns} columns in {size:?}");
    }
}

#[test]
fn columns_that_do_not_fit_are_on_further_pages() {
    let window = Rect::from_min_size(egui::Pos2::ZERO, vec2(1024.0, 768.0));
    let (mut harness, _) = desk::window_of(session(6), [1024.0, 768.0]);
    let seen = |harness: &Harness<'_, App>| -> Vec<usize> {
        let is_in_view = |(n, rect): (usize, &Rect)| window.contains_rect(*rect).then_some(n + 1);
        columns(harness).iter().enumerate().filter_map(is_in_view).collect()
    };
    assert_eq!(seen(&harness), [1, 2, 3]);
    harness.get_by_label("Columns 1 to 3 of 6");
    harness.click_on("Next columns");
    assert_eq!(seen(&harness), [4, 5, 6]);
    harness.get_by_label("Columns 4 to 6 of 6");
    harness.click_on("Previous columns");
    assert_eq!(seen(&harness), [1, 2, 3]);
    for n in 2..=5 {
        harness.press_with(Modifiers::ALT, egui::Key::ArrowRight);
        assert!(seen(&harness).contains(&n), "keys bring column {n} into view");
    }
    let (harness, _) = desk::window_of(session(3), [1280.0, 800.0]);
    assert!(!harness.has_any("Next columns"), "there is no other page");
}

#[test]
fn a_translation_of_ones_own_leaves_everything_in_its_place() {
    for (width, height, zoom) in
        [(1024.0, 768.0, 1.0), (1280.0, 800.0, 1.0), (1280.0, 800.0, 1.5), (1280.0, 800.0, 2.0)]
    {
        for columns in [1, 3] {
            let mut session = session(columns);
            session.apply(SourceCommand::Give(Some("The girl .".to_owned())));
            for column in session.app().document.columns.iter().map(|column| column.id).collect::<Vec<_>>() {
                let given = Ok(Box::new(desk::hypothesis("The girl .", 16, true, -9.0)));
                session.absorb(Event::Given { number: session.app().tasks.newest, column, given });
            }
            let size = vec2(width, height) / zoom;
            let (harness, _) = desk::window_of(session, size.into());
            let window = Rect::from_min_size(egui::Pos2::ZERO, size);
            let what = format!("{width} x {height} at zoom {zoom}, {columns} columns");
            let captions = |(name, _): &(String, Rect)| !name.contains("log p");
            let controls: Vec<_> = controls(&harness).into_iter().filter(captions).collect();
            check(&what, window, &controls);
        }
    }
}

fn rows(harness: &Harness<'_, App>) -> Vec<Rect> {
    let cells = harness.query_all_by_role(Role::GridCell);
    let of_first = |name: String| name.contains("<- The ");
    let firsts = cells.filter(|node| node.accesskit_node().label().is_some_and(of_first));
    // what is less than a point of a row is rounding
    let mut found: Vec<Rect> = firsts.map(|node| node.rect()).filter(|rect| rect.height() > 1.0).collect();
    found.sort_by(|a, b| a.top().total_cmp(&b.top()));
    found
}

#[test]
fn automatic_cells_never_cut_a_row_in_half() {
    for (width, height, zoom) in SCREENS {
        for count in [1, 3, 4, 6] {
            let size = vec2(width, height) / zoom;
            let (harness, _) = desk::window_of(session(count), size.into());
            let what = format!("{width} x {height} at zoom {zoom}, {count} columns");
            let rows = rows(&harness);
            let Some(last) = rows.last() else { continue };
            let side = rows[0].height();
            assert!((last.height() - side).abs() < 0.5, "{what}: {last} is lower than {side}");
            // a beam beside the picture begins higher
            let below = columns(&harness).into_iter().map(|beam| beam.top()).find(|top| *top > rows[0].top());
            let beam = below.unwrap_or(size.y);
            assert!(last.bottom() <= beam + 0.5, "{what}: {last} ends below {beam}");
        }
    }
}

#[test]
fn the_beam_gives_its_rows_up_where_the_heatmap_would_not_be_whole() {
    for (count, size) in [(4, [1280.0, 800.0]), (3, [1024.0, 768.0]), (4, [1024.0, 768.0])] {
        let (harness, _) = desk::window_of(session(count), size);
        let rows = rows(&harness);
        let mut tops: Vec<i32> = rows.iter().map(|rect| rect.top().round() as i32).collect();
        tops.dedup();
        assert_eq!(tops.len(), 16, "{count} columns in {size:?}: every row is in view");
    }
}

#[test]
fn nothing_jumps_when_columns_no_longer_fit() {
    let editor = |harness: &Harness<'_, App>| {
        harness.get_by_role_and_label(Role::MultilineTextInput, "Source text").rect().top()
    };
    for size in [[1280.0, 800.0], [1024.0, 768.0], [2560.0, 1440.0]] {
        let places: Vec<f32> =
            [1, 3, 6].map(|count| editor(&desk::window_of(session(count), size).0)).into_iter().collect();
        assert!(places.iter().all(|place| *place == places[0]), "{size:?}: {places:?}");
    }
    let (mut harness, _) = desk::window_of(session(6), [1280.0, 800.0]);
    let left = |harness: &Harness<'_, App>| columns(harness).iter().map(Rect::left).find(|left| *left > 248.0);
    let before = left(&harness);
    harness.click_on("Next columns");
    assert_eq!(left(&harness), before, "the fourth column stands where the first stood");
}

#[test]
fn a_window_with_room_for_one_column_began_at_the_model_that_was_done_first() {
    let mut session = desk::session("the red shoe");
    desk::add_column(&mut session, desk::facts("RNNencdec", false));
    desk::add_column(&mut session, desk::facts("Luong", true));
    let last = desk::add_column(&mut session, desk::facts("RNNsearch", true));
    desk::finish(&mut session, last, "the red shoe", &["la chaussure rouge"], None);
    let (mut harness, _) = desk::window_of(session, [512.0, 384.0]);
    harness.run();
    harness.get_by_label("Column 1 of 3");
}

#[test]
fn a_very_low_window_keeps_its_height_for_the_picture() {
    let (mut harness, _) = desk::window_of(session(3), [512.0, 384.0]);
    let grid = harness.query_all_by_role(Role::Grid).map(|node| node.rect()).next();
    assert!(grid.is_some_and(|grid| grid.top() < 270.0), "{grid:?}");
    let mut tops: Vec<i32> = rows(&harness).iter().map(|rect| rect.top().round() as i32).collect();
    tops.dedup();
    assert!(tops.len() >= 4, "{tops:?}");
    harness.get_by_label("Column 1 of 3");
    harness.click_on("Next columns");
    harness.get_by_label("Column 2 of 3");
}

fn add_local(session: &mut Session, facts: ModelFacts, said: &str, change: impl FnOnce(&mut HypothesisView)) {
    let column = desk::add_column(session, ModelFacts { window: Some(2), ..facts });
    let mut events = desk::finished(session, column, desk::sentence("the red shoe", &[]), &[said], None);
    let Some(Event::Finished { result, .. }) = events.last_mut() else { panic!("it ends") };
    let best = &mut result.hypotheses[0];
    best.found.p_t = Some(vec![0.2, 1.9, 1.1, 3.6]);
    change(best);
    desk::absorb(session, events);
}

/// Of the line over the columns, in a window of this width.
fn check_line(what: &str, session: Session, width: i16) {
    let size = vec2(f32::from(width), 800.0);
    let (harness, _) = desk::window_of(session, size.into());
    let legends = harness.query_all_by_role(Role::Legend).map(|node| ("legend".to_owned(), node.rect()));
    let all = controls(&harness).into_iter().chain(legends);
    let bar = harness.get_by_role_and_label(Role::Button, "heatmap").rect().y_range();
    let in_bar: Vec<_> = all.filter(|(_, rect)| bar.contains(rect.center().y)).collect();
    check(&format!("{width} points, {what}"), Rect::from_min_size(egui::Pos2::ZERO, size), &in_bar);
}

/// At 1440 points with four columns, `aligner` and `p_t` lay under - and + while a measure was shown.
#[test]
fn the_line_folds_before_its_switches_overlap() {
    for width in [1000, 1120, 1280, 1360, 1440, 1600, 1920] {
        for shown in [Shown::Alpha, Shown::Energies, Shown::Measure(1)] {
            let mut session = desk::session("the red shoe");
            for n in 0..4 {
                let own = if n == 1 { RowConvention::Input } else { RowConvention::Predicted };
                let facts = ModelFacts { input_delay: Some(1), reading: own, ..desk::facts("Luong local-p", true) };
                let said = if n == 0 { "le soulier rouge" } else { "la chaussure rouge" };
                add_local(&mut session, facts, said, |best| {
                    let words = best.tokens.clone();
                    let single = || (0..4).map(|i| i..i + 1).collect();
                    best.pieces = (n == 2).then(|| Pieces { source: single(), target: single(), words });
                });
            }
            session.apply(SettingsCommand::SetShown(shown));
            session.apply(SettingsCommand::SetLinks(true));
            check_line(&format!("{shown:?}"), session, width);
        }
    }
}

#[test]
fn the_line_over_the_columns_never_paints_over_itself() {
    for width in (600..1500).step_by(60) {
        for is_wordy in [false, true] {
            let mut session = desk::session("the red shoe");
            for n in 0..3 {
                let said = if is_wordy && n == 0 { "le soulier rouge" } else { "la chaussure rouge" };
                add_local(&mut session, desk::facts("Luong local-p", true), said, |_| {});
            }
            check_line(&format!("words differ {is_wordy}"), session, width);
        }
    }
}

/// What a reader can press or type into, words and cells of the pictures apart.
fn pressable(harness: &Harness<'static, App>) -> Vec<String> {
    const ROLES: [Role; 9] = [
        Role::Button,
        Role::TextInput,
        Role::MultilineTextInput,
        Role::CheckBox,
        Role::ComboBox,
        Role::Tab,
        Role::RadioButton,
        Role::SpinButton,
        Role::DisclosureTriangle,
    ];
    let all = ROLES.iter().flat_map(|role| harness.query_all_by_role(*role));
    let labels = all.map(|node| node.accesskit_node().label().unwrap_or_default());
    labels.filter(|label| !label.contains(" probability ") && !label.starts_with("Source word")).collect()
}

#[test]
fn class_mode_shows_whole_pictures_and_hardly_anything_to_press_and_is_left_by_one_button() {
    let words: Vec<String> = (0..18).map(|n| format!("mot{n}")).collect();
    for size in [[1280.0, 720.0], [1024.0, 768.0]] {
        let mut session = desk::session("the red shoe");
        for name in ["one", "two", "three"] {
            let column = desk::add_column(&mut session, desk::facts(name, true));
            desk::finish(&mut session, column, "the red shoe", &[&words.join(" ")], None);
        }
        let (mut harness, _) = desk::window_of(session, size);
        let before = pressable(&harness).len();
        harness.key_press_modifiers(egui::Modifiers::SHIFT, egui::Key::F5);
        harness.run();
        let shown = pressable(&harness);
        assert!(shown.len() <= 8 && before > 2 * shown.len(), "{before}, then {shown:?}");
        assert!(!harness.has_any("log p"), "no numbers");
        let cells = |harness: &Harness<'static, App>| {
            let all = harness.query_all_by_role(Role::GridCell).map(|cell| cell.rect());
            all.fold((0, 0.0f32, f32::INFINITY), |(n, low, high), cell| {
                (n + 1, low.max(cell.bottom()), high.min(cell.top()))
            })
        };
        let all = cells(&harness);
        assert!(all.0 >= 2 * 18 * 3 && all.1 < size[1] && all.2 > 0.0, "{all:?}");
        let column = harness.app().document.columns[0].id;
        harness.send(SelectCommand::Target { column, i: 3 });
        assert_eq!(cells(&harness), all, "a click makes no picture smaller");
        harness.click_on("All controls");
        assert!(pressable(&harness).len() >= before);
    }
}

#[test]
fn the_first_screen_has_few_things_to_press_and_more_behind_one_button() {
    let mut session = desk::two_models();
    session.apply(WindowCommand::SetLayout(Box::new(Layout::first())));
    let (mut harness, _) = desk::window_of(session, [1280.0, 720.0]);
    let shown = pressable(&harness);
    assert!(shown.len() <= 25, "{} of 25: {shown:?}", shown.len());
    assert!(!harness.has("Score yours"));
    harness.click_on_each(&["More", "Always show these switches"]);
    harness.press(egui::Key::Escape);
    harness.assert_has_all(&["Score yours", "energies"]);
    assert!(pressable(&harness).len() > shown.len() + 5);
}

#[test]
fn a_click_takes_no_row_out_of_view() {
    for (rows, size) in [(12, [1280.0, 720.0]), (18, [1280.0, 720.0]), (12, [1280.0, 800.0])] {
        let words: Vec<String> = (0..rows - 1).map(|n| format!("mot{n}")).collect();
        let mut session = desk::session("the red shoe");
        for name in ["one", "two", "three"] {
            desk::add_finished(&mut session, name, "the red shoe", &[&words.join(" "), "le soulier"]);
        }
        let column = session.app().document.columns[0].id;
        let (mut harness, _) = desk::window_of(session, size);
        let in_view = |harness: &Harness<'static, App>| harness.query_all_by_role(Role::GridCell).count();
        let before = in_view(&harness);
        assert!(before >= 3 * 12 * 4, "{rows} rows at {size:?}: {before} cells");
        harness.send(SelectCommand::Target { column, i: 3 });
        harness.run();
        let after = in_view(&harness);
        assert!(after >= 3 * 12 * 4, "{rows} rows at {size:?}: {before} cells, {after} after a click");
        assert!(harness.query_by_label_contains("Next word").is_some(), "the word is inspected");
    }
}
