//! Questions about a column, from the window: measures as pictures, rows that say a word, links by hand, files.

use std::sync::Arc;

use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use interlinear::analysis::measures::{MeasuredWords, Tested};
use interlinear::jobs::queue::probe::{Persuasion, Probed};
use interlinear::jobs::queue::{Found, QueueNews};
use interlinear::pages::sentence::command::{InterveneCommand, ProbeCommand, RowEdit, SelectCommand};
use interlinear::text::links::{Link, Links};
use interlinear::{app::command::SettingsCommand, app::settings::Shown, interventions::Word};
use interlinear::{jobs::live::protocol::Event, models::gradient::PersuadedRow, session::state::Session, ui::App};

use crate::{desk, desk::WindowActions as _, desk::Wires, measured};

fn shows(harness: &Harness<'_, App>, label: &str) -> bool {
    harness.has(label)
}

fn answer(harness: &mut Harness<'_, App>, wires: &Wires, found: Probed) {
    let number = harness.state().session().sentence().probes.last().expect("a question").number;
    wires.report(harness, number, QueueNews::Found(Found::Probed(found)));
}

fn search(session: &Session) -> u64 {
    session.app().document.columns[1].id
}

fn tested(measure: usize) -> Arc<Tested> {
    let rows = (0..4).map(|i| (0..4).map(|j| if i == j { 0.5 } else { -0.25 }).collect()).collect();
    let measured = vec![MeasuredWords { measure, rows, kendall: Some(0.25), heads: Vec::new() }];
    Arc::new(Tested { source: vec![5, 5, 5, 0], target: vec![7, 7, 7, 0], measured, ..Tested::default() })
}

#[test]
fn a_measure_is_a_picture_that_never_passes_for_alpha() {
    let mut session = desk::two_models();
    let column = search(&session);
    session.apply(SelectCommand::Column(column));
    let (mut harness, wires) = desk::window(session);
    assert!(shows(&harness, "chaussure <- red 0.80"));
    harness.click_on_each(&["Measures", "left out: log p lost"]);
    assert!(wires.heard(ProbeCommand::Measure { column, measure: 1 }));
    assert!(shows(&harness, "left out: log p lost: not measured yet for this translation"));
    assert!(!shows(&harness, "chaussure <- red 0.80"), "alpha is not shown in its place");
    assert!(shows(&harness, "Cancel"), "it can be ended");
    answer(&mut harness, &wires, Probed::Measured(tested(1)));
    for label in [
        "left out: log p lost of RNNsearch, not alpha: Kendall's tau with alpha 0.25",
        "chaussure <- red left out: log p lost 0.500",
        "left out: log p lost of RNNsearch, 4 target by 4 source words",
        "Measures, left out: log p lost",
        "left out: log p lost (nats)",
    ] {
        assert!(shows(&harness, label), "{label} is missing");
    }
    assert!(!harness.has_any("Palette"), "it has colours of its own");
    // the other column says why it has none
    assert!(harness.query_by_label_contains("This model has no alignment, which").is_some());
    harness.click_on_each(&["Measures, left out: log p lost", "unread: log p lost"]);
    harness.click_on("Measure unread: log p lost with RNNencdec");
    let encdec = harness.app().document.columns[0].id;
    assert!(wires.heard(ProbeCommand::Measure { column: encdec, measure: 3 }));
    answer(&mut harness, &wires, Probed::Measured(tested(3)));
    assert!(shows(&harness, "rouge <- red unread: log p lost 0.500"), "a picture of a model without alpha");
    harness.click_on("alpha");
    assert!(shows(&harness, "chaussure <- red 0.80"));
}

/// The legend of a divergence went below 0, and that of energies was of one column alone.
#[test]
fn a_legend_is_of_all_columns_and_has_no_side_without_numbers() {
    let mut session = desk::two_models();
    let column = search(&session);
    session.apply(SelectCommand::Column(column));
    let (mut harness, wires) = desk::window_of(session, [1600.0, 900.0]);
    harness.click_on_each(&["Measures", "left out: JS"]);
    let mut found = (*tested(0)).clone();
    for number in found.measured[0].rows.iter_mut().flatten() {
        *number = number.abs();
    }
    answer(&mut harness, &wires, Probed::Measured(Arc::new(found)));
    assert!(shows(&harness, "0.00") && shows(&harness, "0.50") && !shows(&harness, "-0.50"));

    let mut session = desk::session("the red shoe");
    for greatest in [2.7, 21.975] {
        let column = desk::add_column(&mut session, desk::facts("RNNsearch", true));
        let mut events =
            desk::finished(&session, column, desk::sentence("the red shoe", &[]), &["la chaussure rouge"], None);
        if let Some(Event::Finished { result, .. }) = events.last_mut() {
            result.hypotheses[0].found.energies.as_mut().expect("it has some")[0][0] = greatest;
        }
        desk::absorb(&mut session, events);
    }
    session.apply(SettingsCommand::SetShown(Shown::Energies));
    let (harness, _) = desk::window_of(session, [1600.0, 900.0]);
    assert!(shows(&harness, "22.0") && !shows(&harness, "2.7"), "one scale for both");
}

#[test]
fn a_row_towards_a_word_is_asked_for_from_the_menus() {
    let session = desk::two_models();
    let column = search(&session);
    let (mut harness, wires) = desk::window(session);
    harness.open_menu_of("chaussure <- red 0.80");
    harness.click_on("A row that says another word...");
    harness.run();
    harness.click_on("Find a row that says autre");
    assert!(wires.heard(ProbeCommand::Persuade { column, i: 1, word: Word::Entry("autre".to_owned()) }));
    let alpha = vec![0.0, 0.0, 1.0, 0.0];
    let row = PersuadedRow { alpha, moved: 0.5, divergence: 1.5, log_p: -0.5, own_log_p: -2.0 };
    answer(
        &mut harness,
        &wires,
        Probed::Persuaded(Persuasion { word: "autre".to_owned(), piece_of: None, row: Some(row) }),
    );
    assert!(shows(&harness, "Take away in RNNsearch, alpha of word 2 is set"));
    let found = "so that \"autre\" is the most probable: total variation 0.500, KL 1.500 nats from the model's own row, \
                 log p of the word -2.00 before and -0.50 now";
    assert!(shows(&harness, found), "the bar says how far it is");
}

#[test]
fn links_by_hand_are_rows_where_the_reference_is_said() {
    let mut session = desk::two_models();
    let column = search(&session);
    session.apply(SelectCommand::Target { column, i: 1 });
    let (mut harness, _) = desk::window(session);
    harness.click_on("Change the row");
    assert!(harness.get_by_label("As linked by hand").accesskit_node().is_disabled(), "none are known");
    drop(harness);

    for (reference, fits) in [("la chaussure rouge", true), ("le soulier rouge", false)] {
        let mut session = desk::two_models();
        let links = Links::new(vec![Link { source: 1, target: 1 }], Vec::new());
        measured::open_first(&mut session, ("the red shoe", reference), links);
        let (mut harness, wires) = desk::window(session);
        harness.open_menu_of("chaussure <- red 0.80");
        let line = if fits { "The row as linked by hand" } else { "Say the reference" };
        assert_eq!(shows(&harness, "All rows as linked by hand"), fits);
        harness.click_on(line);
        let wanted = if fits {
            InterveneCommand::Row { column, i: 1, edit: RowEdit::Gold }
        } else {
            InterveneCommand::Whole { column, text: reference.to_owned() }
        };
        assert!(wires.heard(wanted));
    }
}

#[test]
fn what_is_set_is_saved_from_the_menu_of_a_model() {
    let (mut harness, _) = desk::window(desk::two_models());
    harness.click_on("Menu of RNNsearch");
    assert!(shows(&harness, "Test what the words depend on"));
    harness.click_on("Save what is set...");
    assert!(shows(&harness, "Save the sentence with what is set"));
}
