//! A Transformer in the window: which heads are its alignment, and all of them side by side.

use std::sync::Arc;

use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::analysis::measures::{HeadMatrix, MEASURES, MeasuredWords, Tested};
use interlinear::app::files::work::{FileEvent, FileJob};
use interlinear::app::{command::SettingsCommand, settings::Shown, tasks::Effect};
use interlinear::jobs::live::protocol::{Event, ModelFacts, ModelSizes};
use interlinear::jobs::queue::{Found, QueueNews};
use interlinear::models::choice::{HeadChoice, ModelChoice};
use interlinear::models::transformer::heads::{HeadKind, HeadPlace};
use interlinear::pages::sentence::command::{ColumnCommand, InterveneCommand, ProbeCommand};
use interlinear::text::links::{Link, Links};
use interlinear::{jobs::queue::probe::Probed, session::state::Session, ui::App};

use crate::{desk, desk::WindowActions as _, desk::Wires};

fn transformer() -> (Session, u64) {
    let mut session = desk::session("the red shoe");
    let sizes = ModelSizes { heads: (2, 2), ..ModelSizes::default() };
    let facts = ModelFacts { sizes, architecture: "transformer".to_owned(), ..desk::facts("Opus", true) };
    let column = desk::add_translated(&mut session, facts, "the red shoe", &["la chaussure rouge"]);
    (session, column)
}

fn labels(harness: &Harness<'_, App>, part: &str) -> Vec<String> {
    let found = harness.query_all_by_label_contains(part);
    found.filter_map(|node| node.accesskit_node().label()).collect()
}

fn tested(measure: usize, has_target: bool) -> Arc<Tested> {
    let leaves_out = MEASURES[measure].name == "heads-left-out";
    let mut heads = Vec::new();
    for (n, attention) in HeadKind::ALL.into_iter().enumerate().filter(|(n, _)| has_target || *n < 2) {
        for (at, (layer, head)) in [(1, 1), (1, 2), (2, 1), (2, 2)].into_iter().enumerate() {
            let row = |i: usize| (0..4).map(|j| f32::from(u8::from(j == (i + at) % 4))).collect();
            let js = leaves_out.then_some(0.01 * (n + at) as f64);
            let (place, rows) = (HeadPlace { attention, layer, head }, (0..4).map(row).collect());
            heads.push(HeadMatrix { place, rows, js, is_alignment: false });
        }
    }
    let measured = vec![MeasuredWords { measure, rows: vec![vec![0.25; 4]; 4], heads, kendall: None }];
    Arc::new(Tested { source: vec![5, 5, 5, 0], target: vec![7, 7, 7, 0], measured, ..Tested::default() })
}

fn answer(harness: &mut Harness<'_, App>, wires: &Wires, tested: Arc<Tested>) {
    let number = harness.state().session().sentence().probes.last().expect("a question").number;
    let found = QueueNews::Found(Found::Probed(Probed::Measured(tested)));
    wires.report(harness, number, found);
}

fn measure(name: &str) -> usize {
    MEASURES.iter().position(|line| line.name == name).expect("a measure")
}

fn show(harness: &mut Harness<'_, App>, wires: &Wires, title: &str, tested: Arc<Tested>) {
    harness.click_on("Measures");
    harness.click_on(title);
    answer(harness, wires, tested);
}

#[test]
fn the_menu_alignment_chooses_a_head_or_the_mean_of_a_layer() {
    let (session, _) = transformer();
    let (mut harness, wires) = desk::window(session);
    for (layer, item, chosen) in [
        ("Layer 2", "Head 1", Some(HeadChoice { layer: 2, heads: vec![1] })),
        ("Layer 1", "Mean of its heads", Some(HeadChoice { layer: 1, heads: Vec::new() })),
        ("", "By default", None),
    ] {
        let column = harness.app().document.columns[0].id;
        harness.click_containing("Menu of Opus");
        harness.click_on("Alignment");
        if !layer.is_empty() {
            assert_eq!(labels(&harness, "Layer "), ["Layer 1", "Layer 2"]);
            harness.click_on(layer);
        }
        harness.click_on(item);
        let chosen = ModelChoice { heads: chosen, ..ModelChoice::default() };
        assert!(wires.heard(ColumnCommand::Choose { column, chosen: chosen.clone() }), "{item}");
        let columns = &harness.app().document.columns;
        assert_eq!(columns[0].system.to_string(), format!("Opus{chosen}"));
        // its model is another one, which is read first
        let (column, facts) = (columns[0].id, ModelFacts { name: "Opus".to_owned(), ..transformer_facts() });
        wires.events.borrow_mut().push(Event::Loaded { column, facts });
        harness.run();
    }
    // models without heads have no such menu
    let (mut harness, _) = desk::window(desk::two_models());
    harness.click_on("Menu of RNNsearch");
    assert!(!harness.has_any("Alignment"));
}

fn transformer_facts() -> ModelFacts {
    let (session, _) = transformer();
    session.app().document.columns[0].facts.clone().expect("facts")
}

#[test]
fn a_click_on_the_heads_of_a_column_shows_all_of_them_next_to_a_model_that_has_none() {
    let mut session = desk::session("the red shoe");
    desk::add_finished(&mut session, "RNNsearch", "the red shoe", &["la chaussure rouge"]);
    let facts = ModelFacts { attention: Some("layer 2, head 1 (guided)".to_owned()), ..transformer_facts() };
    let column = desk::add_translated(&mut session, facts, "the red shoe", &["la chaussure rouge"]);
    let (mut harness, wires) = desk::window(session);
    harness.click_on("All heads of Opus");
    let all = measure("heads");
    assert!(wires.heard(ProbeCommand::Measure { column, measure: all }));
    answer(&mut harness, &wires, tested(all, true));
    assert_eq!(labels(&harness, ", head ").len(), 4);
    assert!(!labels(&harness, "rouge <- ").is_empty(), "RNNsearch goes on showing its alignment");
    harness.click_on("All heads of Opus");
    assert!(wires.heard(SettingsCommand::SetShown(Shown::Alpha)));
    assert!(labels(&harness, ", head ").is_empty());
}

#[test]
fn all_heads_are_sorted_by_their_error_against_the_links() {
    let (session, column) = transformer();
    let (mut harness, wires) = desk::window(session);
    show(&mut harness, &wires, "all heads", tested(measure("heads"), true));
    assert_eq!(
        labels(&harness, ", head "),
        ["Layer 1, head 1", "Layer 1, head 2", "Layer 2, head 1", "Layer 2, head 2"]
    );
    assert!(harness.query_by_label_contains("Layer by layer.").is_some());

    // links one word to the right of where the first head looks: the second head is right
    let mut session = transformer().0;
    session.apply(SettingsCommand::SetLinks(true));
    let links = Links::new((0..2).map(|i| Link { source: i + 1, target: i }).collect(), Vec::new());
    for effect in session.take_effects() {
        if let Effect::Chore(FileJob::Align { number, .. }) = effect {
            session.absorb_file(FileEvent::Aligned { number, links: links.clone() });
        }
    }
    let (mut harness, wires) = desk::window(session);
    show(&mut harness, &wires, "all heads", tested(measure("heads"), true));
    let shown = labels(&harness, ", head ");
    let errors: Vec<f64> = shown
        .iter()
        .map(|label| label.split("AER ").nth(1).expect("an error").trim().parse().expect("a number"))
        .collect();
    assert!(errors.is_sorted() && errors[0] < errors[3], "{shown:?}");
    assert!(shown[0].starts_with("Layer 1, head 2, AER"), "{shown:?}");
    let first = shown[0].clone();
    harness.click_on(&first);
    let of = |head| ModelChoice { heads: Some(HeadChoice { layer: 1, heads: vec![head] }), ..ModelChoice::default() };
    assert!(wires.heard(ColumnCommand::Choose { column, chosen: of(2) }));
    assert_eq!(harness.app().view.settings.shown, Shown::Alpha);
}

#[test]
fn the_head_that_is_the_alignment_is_marked() {
    let (mut harness, wires) = desk::window(transformer().0);
    let mut tested = tested(measure("heads"), true);
    let head = &mut Arc::get_mut(&mut tested).expect("it is new").measured[0].heads[2];
    (head.is_alignment, head.js) = (true, None);
    show(&mut harness, &wires, "all heads", tested);
    assert_eq!(labels(&harness, ", the alignment"), ["Layer 2, head 1, the alignment"]);
}

#[test]
fn heads_of_either_side_are_shown_and_an_ssru_says_that_it_has_none() {
    let (session, _) = transformer();
    let (mut harness, wires) = desk::window(session);
    show(&mut harness, &wires, "all heads", tested(measure("heads"), false));
    harness.click_on("source self-attention");
    assert_eq!(labels(&harness, ", head ").len(), 4);
    assert!(labels(&harness, ", head ").iter().all(|label| label.starts_with("source self-attention Layer ")));
    harness.click_on("target self-attention");
    assert!(labels(&harness, ", head ").is_empty());
    assert!(harness.query_by_label_contains("SSRU").is_some());
}

#[test]
fn a_head_is_left_out_by_its_menu_and_taken_back_in_the_bar() {
    let (session, column) = transformer();
    let (mut harness, wires) = desk::window(session);
    show(&mut harness, &wires, "all heads", tested(measure("heads"), true));
    harness.open_menu_of("Layer 2, head 1");
    harness.click_on("Leave it out");
    let place = HeadPlace { attention: HeadKind::Cross, layer: 2, head: 1 };
    assert!(wires.heard(InterveneCommand::LeaveOut { column, place, is_left_out: true }));
    let set = |harness: &Harness<'_, App>| {
        let document = &harness.app().document;
        document.interventions(&document.columns[0]).leave_out.clone()
    };
    assert_eq!(set(&harness), [place]);
    harness.click_on("Take away in Opus, head 2.1 is left out");
    assert!(set(&harness).is_empty());
    // a head of the own side by a click
    harness.click_on_each(&["source self-attention", "source self-attention Layer 1, head 2"]);
    assert_eq!(set(&harness), [HeadPlace { attention: HeadKind::Source, layer: 1, head: 2 }]);
    // what is set goes along when another head becomes the alignment
    let heads = Some(HeadChoice { layer: 1, heads: vec![1] });
    let chosen = ModelChoice { heads, ..ModelChoice::default() };
    harness.send(ColumnCommand::Choose { column, chosen });
    assert_eq!(set(&harness).len(), 1);
}

#[test]
fn heads_are_sorted_by_what_leaving_them_out_changes() {
    let (session, column) = transformer();
    let (mut harness, wires) = desk::window(session);
    show(&mut harness, &wires, "all heads", tested(measure("heads"), true));
    harness.click_on("Show heads left out: JS");
    let other = measure("heads-left-out");
    assert!(wires.heard(ProbeCommand::Measure { column, measure: other }));
    answer(&mut harness, &wires, tested(other, true));
    let shown = labels(&harness, ", head ");
    assert_eq!(shown[0], "Layer 2, head 2, JS 0.030");
    assert_eq!(shown[3], "Layer 1, head 1, JS 0.000");
    assert!(harness.query_by_label_contains("First the head without which").is_some());
}

#[test]
fn heads_are_measured_without_those_that_are_left_out() {
    let (mut session, column) = transformer();
    let place = HeadPlace { attention: HeadKind::Target, layer: 1, head: 1 };
    session.apply(InterveneCommand::LeaveOut { column, place, is_left_out: true });
    let why = |session: &Session, name: &str| {
        let document = &session.app().document;
        document.why_not_measured(&document.columns[0], measure(name))
    };
    assert_eq!(why(&session, "heads"), None);
    assert!(why(&session, "gradient").is_some_and(|why| why.contains("take that away first")));
}
