//! The page Map by its labels.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{pos2, vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use interlinear::jobs::queue::{Found, JobProgress, QueueEvent, QueueNews};
use interlinear::pages::map::{MAP, MapPoint, Method, PointChoice, VectorMap};
use interlinear::{analysis::map::MapLayout, analysis::neighbours::Space, pages::map::command::MapCommand};
use interlinear::{pages::map as maps, pages::sentence::command::SelectCommand, ui::App};

use crate::{desk, desk::WindowActions as _, desk::Wires};

fn chart() -> Arc<VectorMap> {
    let words = ["house", "home", "cat", "dog", "barn"];
    let points = words.iter().enumerate().map(|(at, word)| MapPoint {
        text: (*word).to_owned(),
        number: at + 2,
        length: word.len(),
    });
    Arc::new(VectorMap {
        model: "RNNsearch".to_owned(),
        vector: "source embedding".to_owned(),
        method: Method::Pca,
        points: points.collect(),
        space: Space::new(2, vec![1.0, 0.0, 0.9, 0.1, 0.0, 1.0, 0.1, 0.9, 0.95, 0.05]),
        layout: MapLayout {
            places: vec![[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0]],
            explained: Some([0.5, 0.25]),
            perplexity: None,
        },
        ..VectorMap::default()
    })
}

pub fn page() -> (Harness<'static, App>, Wires) {
    let (mut harness, wires) = desk::on_page(MAP);
    hear(&mut harness, &wires, QueueNews::Found(Found::Mapped(chart())));
    (harness, wires)
}

fn hear(harness: &mut Harness<'_, App>, wires: &Wires, kind: QueueNews) {
    let number = harness.state().session().maps().task.expect("a map is under way");
    wires.corpus.borrow_mut().push(QueueEvent { number, kind });
    harness.run();
}

#[track_caller]
#[test]
fn the_page_opens_on_a_map_and_tells_how_far_it_is() {
    let (mut harness, wires) = desk::on_page(MAP);
    assert!(wires.heard(MapCommand::Compute));
    let progress =
        JobProgress { done: 300, total: 1000, what: "Laying out by t-SNE".to_owned(), ..JobProgress::default() };
    hear(&mut harness, &wires, QueueNews::Progress(progress));
    harness.assert_has("The map appears here when it is done");
    harness.click_on("Cancel");
    // Whoever cancelled the first map is not given it again.
    assert_eq!((harness.state().session().maps().task, harness.has("Cancel")), (None, false));
    harness.click_on("Make map");
    hear(&mut harness, &wires, QueueNews::Failed("The device is full".to_owned()));
    harness.assert_has("The device is full");
    harness.click_on("Dismiss");
    assert!(!harness.has_any("The device is full"));
}

#[test]
fn points_have_labels_and_a_click_shows_what_is_near() {
    let (mut harness, wires) = page();
    harness
        .assert_has("Map of 4 source words of RNNsearch, source embedding, PCA, x 50.0 % and y 25.0 % of the variance");
    harness.get_by_label("house, rank 1").click_accesskit();
    harness.run();
    assert!(wires.heard(MapCommand::Select(Some(0))));
    for label in ["id 2, rank 1, 5 letters", "Neighbour barn cosine 0.999", "Neighbour home cosine 0.994"] {
        harness.assert_has(label);
    }
    harness.click_on("Neighbour home cosine 0.994");
    assert_eq!(harness.state().session().maps().selected, Some(1));
    harness.click_on("Neighbour barn cosine 0.998");
    harness.assert_has("id 6, rank 5, 4 letters, not on this map");
    harness.press(egui::Key::Escape);
    assert_eq!(harness.state().session().maps().selected, None);
    harness.get_by_label("dog, rank 4").click_accesskit();
    harness.run();
    harness.click_on("Save...");
    harness.assert_has("Save the neighbours as TSV");
}

#[test]
fn the_mouse_finds_points_and_the_wheel_zooms() {
    let (mut harness, _) = page();
    let plane = harness.get_by_role(Role::Canvas).rect();
    harness.hover_at(plane.center() + vec2(0.0, -1.0));
    harness.run();
    assert!(!harness.has_any("id 4, rank 3, 3 letters"), "nothing is in the middle");
    // The cross fills the lower side, so the upper arm lies on the middle of the upper edge but for the margin.
    let cat = harness.get_by_label("cat, rank 3").rect();
    harness.hover_at(pos2(plane.center().x, cat.center().y));
    harness.run();
    harness.assert_has("id 4, rank 3, 3 letters");
    harness.click_on("Closer");
    let now = harness.query_by_label("cat, rank 3").map(|cat| cat.rect());
    assert!(
        now.is_none_or(|now| (now.center().y - plane.center().y).abs() > (cat.center().y - plane.center().y).abs())
    );
    harness.click_on("Whole map");
    assert!((harness.get_by_label("cat, rank 3").rect().center().y - cat.center().y).abs() < 1.0);
}

#[test]
fn searching_lists_what_was_found() {
    let (mut harness, wires) = page();
    harness.click_on("Search the map");
    harness.type_into("Search the map", "ho");
    assert!(wires.heard(MapCommand::Search("ho".to_owned())));
    for label in ["Found 2 times", "Match house", "Match home"] {
        harness.assert_has(label);
    }
    harness.press(egui::Key::Enter);
    assert_eq!(harness.state().session().maps().selected, Some(0));
    harness.assert_has("1 of 2");
    harness.click_on("Next match");
    assert_eq!(harness.state().session().maps().selected, Some(1));
}

#[test]
fn what_is_found_and_not_drawn_is_said() {
    for (text, told) in [
        ("barn", "Found once, not drawn on the map"),
        ("cat", "Found once"),
        ("a", "Found 2 times, 1 drawn on the map"),
    ] {
        let (mut harness, _) = page();
        harness.click_on("Search the map");
        harness.type_into("Search the map", text);
        harness.assert_has(told);
    }
}

#[test]
fn the_pages_begin_with_the_selected_model() {
    let mut session = desk::two_models();
    for folder in ["RNNencdec", "RNNsearch"] {
        let column = session
            .app()
            .document
            .columns
            .iter()
            .find(|column| column.system.name() == folder)
            .expect("it is there")
            .id;
        session.apply(SelectCommand::Target { column, i: 0 });
        assert_eq!(session.maps().model_of(session.app()).map(|model| model.name() == *folder), Some(true), "{folder}");
    }
}

#[test]
fn what_is_mapped_and_how_is_chosen_above() {
    let (mut harness, wires) = page();
    harness.assert_has("perplexity");
    harness.click_on("PCA");
    assert!(!harness.has_any("perplexity"), "PCA has none");
    harness.get_by_label("length").click();
    harness.click_on_each(&["What is mapped", "Typed phrases"]);
    harness.assert_has("Phrases, one a line");
    harness.click_on("Make map");
    for command in [
        MapCommand::SetMethod(Method::Pca),
        MapCommand::SetColour(maps::Colour::Length),
        MapCommand::SetChoice(PointChoice::Typed),
        MapCommand::Compute,
    ] {
        assert!(wires.heard(command.clone()), "{command:?}");
    }
}
