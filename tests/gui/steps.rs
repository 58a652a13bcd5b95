//! The page Steps in the window: boxes are opened, words stepped through, guesses made, by name and by key.

use std::{path::Path, sync::Arc};

use egui::{Key, accesskit::Role};
use egui_kittest::{Harness, kittest::Queryable as _};
use interlinear::jobs::steps::{StepTrace, StepsRequest, StepsThread};
use interlinear::pages::steps::{Mode, STEPS, StepsPage, command::StepsCommand, depth::Depth};
use interlinear::{app::command::WindowCommand, decoding::step_trace::Then, jobs::Library, nn::device::DeviceChoice};
use interlinear::{text::links::Link, ui::App};

use crate::{desk, desk::WindowActions as _, desk::Wires};

pub fn trace(then: Then, given: Vec<u32>) -> Arc<StepTrace> {
    apart_of("reference/rnnsearch", then, given)
}

fn apart_of(fixture: &str, then: Then, given: Vec<u32>) -> Arc<StepTrace> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
    let lane = StepsThread::spawn(Library::new(1), Arc::new(|| {}));
    let source = "the red shoe".to_owned();
    lane.submit(1, StepsRequest { model: folder.into(), device: DeviceChoice::Cpu, source, given, then, wrong: None });
    lane.news.next_within(std::time::Duration::from_mins(1)).expect("an answer").found.expect("steps")
}

pub fn page(trace: Arc<StepTrace>, size: [f32; 2]) -> (Harness<'static, App>, Wires) {
    let (mut harness, wires) = desk::window_of(desk::two_models(), size);
    *wires.trace.borrow_mut() = Some(trace);
    harness.state_mut().send(WindowCommand::ShowPage(STEPS));
    harness.send(StepsCommand::SetDepth(Depth::Inside));
    (harness, wires)
}

fn steps<'a>(harness: &'a Harness<'_, App>) -> &'a StepsPage {
    harness.state().session().steps()
}

#[test]
fn boxes_open_into_equations_and_numbers() {
    let (mut harness, wires) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 800.0]);
    for (name, equation, number) in [
        (
            "Context, c_i",
            "c_i = ∑_j α_{ij} h_j, Bahdanau et al. 2015, eq. 5",
            "sum of the annotations by their shares c_i",
        ),
        (
            "New state, s_i",
            "s_i = (1 - z_i) * s_{i-1} + z_i * s~_i, Bahdanau et al. 2015, appendix A.2.2",
            "new state s_i",
        ),
        (
            "Annotations, h_j",
            "h_j = [h forward_j ; h backward_j], Bahdanau et al. 2015, eq. 7",
            "annotation of each source word of red",
        ),
    ] {
        harness.click_button(name);
        assert!(harness.has(equation), "{name}: {equation}");
        assert!(harness.query_all_by_label_contains(number).next().is_some(), "{name}: {number}");
    }
    harness.click_button("Weights, α_{ij}");
    assert!(harness.query_by_label_contains("Weights of red").is_some());
    harness.press(Key::Escape);
    assert!(wires.heard(StepsCommand::Open(None)) && steps(&harness).open.is_none());
}

#[test]
fn a_context_of_heads_is_the_sum_of_values() {
    let trace = apart_of("marian/guided", Then::Wait, vec![4, 5, 7]);
    let quantity = |key: &str, n: usize| trace.part(key, 0).expect("a box").quantities[n].clone();
    let (c, v) = (quantity("context", 0), quantity("keys", 1));
    let alpha = trace.steps[0].alpha_i.clone().expect("it aligns");
    let sum = |k: usize| -> f32 { alpha.iter().enumerate().map(|(j, alpha)| alpha * v.row(j)[k]).sum() };
    let own = (0..c.width).filter(|k| (sum(*k) - c.values[*k]).abs() < 1e-3);
    let k = own.max_by(|a, b| c.values[*a].abs().total_cmp(&c.values[*b].abs())).expect("those of the head");
    let said = format!("Together {:+.3}", c.values[k]);
    let (mut harness, _) = page(trace, [1280.0, 800.0]);
    harness.click_button("Context, c_i");
    assert!(harness.query_by_label(&said).is_some(), "{said}");
    for (name, symbol) in [("Lower layers, x_j", "q_j"), ("Encoder, h_j", "v_j")] {
        harness.click_button(name);
        assert!(harness.query_all_by_label_contains(symbol).next().is_some(), "{name}");
    }
}

#[test]
fn keys_step_and_the_heatmap_grows() {
    let (mut harness, wires) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 800.0]);
    let rows = |harness: &Harness<'_, App>| steps(harness).table.as_ref().map(|of| of.target.len());
    assert_eq!(rows(&harness), Some(1));
    for (key, i) in [(Key::ArrowRight, 1), (Key::PageDown, 2), (Key::ArrowDown, 3), (Key::PageUp, 2), (Key::ArrowUp, 1)]
    {
        harness.press(key);
        assert_eq!((steps(&harness).i, rows(&harness)), (i, Some(i + 1)), "{key:?}");
    }
    harness.click_containing("Step 3: ");
    assert_eq!(steps(&harness).i, 2);
    harness.key_press(Key::Space);
    harness.run_steps(2);
    assert!(wires.heard(StepsCommand::Play(true)));
    harness.get_by_label("Box by box").click();
    harness.run_steps(2);
    assert!(wires.heard(StepsCommand::SetByStage(true)));
}

#[test]
fn a_guess_is_made_by_clicking_words_and_shown_by_enter() {
    let (mut harness, wires) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 800.0]);
    choose(&mut harness, "Guess first", "Guess where it looks");
    harness.click_on("Guess source word 2 red");
    assert!(wires.heard(StepsCommand::Guess(1)));
    harness.press(Key::Enter);
    assert!(wires.heard(StepsCommand::Reveal));
    assert!(harness.query_by_label_contains("of 1 guesses as the model").is_some());
}

#[test]
fn the_whole_alignment_is_guessed_in_a_grid() {
    let (mut harness, wires) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 800.0]);
    choose(&mut harness, "Guess first", "Guess the whole alignment");
    assert!(harness.query_by_role_and_label(Role::Button, "Context, c_i").is_none(), "the grid has the room");
    let cell = format!("{} <- red", steps(&harness).truth(1).expect("a word"));
    harness.click_role(Role::GridCell, &cell);
    let link = |source: usize, target: usize| StepsCommand::GuessLink(Link { source, target });
    assert!(wires.heard(link(1, 1)));
    harness.get_by_role_and_label(Role::GridCell, &format!("{cell}, guessed"));
    // the click gave the grid the keyboard: one cell up, and back by one column
    for key in [Key::ArrowUp, Key::ArrowLeft, Key::Space] {
        harness.press(key);
    }
    assert!(wires.heard(link(0, 0)) && steps(&harness).i == 0);
    let rows = trace(Then::Wait, vec![4, 5, 7]);
    for alpha in rows.steps.iter().take(3).flat_map(|step| step.alpha_i.iter().flatten()) {
        let number = format!(" {alpha:.2}");
        assert!(harness.query_all_by_label_contains(&number).next().is_none(), "{number} is heard");
    }
    harness.press(Key::Enter);
    assert!(wires.heard(StepsCommand::Reveal));
    harness.get_by_label_contains("of your 2 links are among the model's");
    let alpha = rows.steps[1].alpha_i.as_ref().expect("a row")[1];
    let most = rows.steps[1].alpha_i.as_ref().expect("a row").iter().all(|other| *other <= alpha);
    let came = if most { "guessed right" } else { "guessed, not the model's" };
    harness.get_by_role_and_label(Role::GridCell, &format!("{cell} {alpha:.2}, {came}"));
}

#[test]
fn a_row_has_no_word_before_the_box_of_the_word() {
    let (mut harness, _) = page(trace(Then::Greedy, Vec::new()), [1280.0, 800.0]);
    for command in [
        StepsCommand::SetMode(Mode::Greedy),
        StepsCommand::SetByStage(true),
        StepsCommand::GoTo(0),
        StepsCommand::Move(1),
    ] {
        harness.state_mut().send(command);
    }
    let words = |harness: &Harness<'static, App>| -> Vec<String> {
        let table = steps(harness).table.clone().expect("rows");
        table.target.iter().map(|word| word.text.clone()).collect()
    };
    for _ in 0..9 {
        let steps = steps(&harness);
        let (is_said, truth) = (steps.is_done("word"), steps.truth(0).expect("a word").to_owned());
        let shown = words(&harness);
        assert!(is_said || !shown.contains(&truth), "{shown:?} at {:?}", steps.current());
        harness.send(StepsCommand::Move(1));
    }
    assert!(!words(&harness).is_empty());
}

#[test]
fn fewer_boxes_come_first_and_a_sentence_says_what_happens() {
    let (mut harness, wires) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 800.0]);
    let has = |harness: &Harness<'_, App>, name: &str| harness.query_by_role_and_label(Role::Button, name).is_some();
    for (depth, context, gates) in [("Sentence", false, false), ("One step", true, false), ("Inside", true, true)] {
        harness.click_on(depth);
        assert_eq!((has(&harness, "Context, c_i"), has(&harness, "Gates, z_i, r_i")), (context, gates), "{depth}");
        assert!(has(&harness, "Weights, α_{ij}") && has(&harness, "The word, y_i"), "{depth}");
    }
    assert!(wires.heard(StepsCommand::SetDepth(Depth::Sentence)));
    let truth = steps(&harness).truth(0).expect("a word").to_owned();
    harness.get_by_label_contains(&format!("\u{201c}{truth}\u{201d} is chosen with a probability of"));
    harness.get_by_label("Box by box").click();
    harness.run_steps(2);
    let mut told = Vec::new();
    for _ in 0..steps(&harness).stages().len() {
        harness.key_press(Key::ArrowRight);
        harness.run_steps(2);
        told.extend(steps(&harness).story());
        let story = told.last().cloned().unwrap_or_default();
        assert!(harness.query_by_label(&story).is_some(), "{story}");
    }
    assert!(told.iter().any(|story| story.starts_with("The energies become shares: ")), "{told:#?}");
}

#[test]
fn a_number_that_is_clicked_is_worked_out() {
    let (mut harness, _) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 900.0]);
    harness.click_button("Weights, α_{ij}");
    let alpha = steps(&harness).trace.as_ref().expect("steps").steps[0].alpha_i.clone().expect("a row");
    for (at, word) in ["the", "red", "shoe"].iter().enumerate() {
        harness.click_button(&format!("Weights of {word} {:.3}", alpha[at]));
        harness.get_by_label_contains("the sum of exp(e) over all source words");
        harness.get_by_label_contains(&format!("is {:.3}.", alpha[at]));
    }
    harness.click_button("Gates, z_i, r_i");
    harness.get_by_label_contains("What each says for this unit, summed");
    harness.get_by_label_contains("the word before, and b: ");
    harness.get_by_label_contains("the context: ");
}

#[test]
fn groups_guess_one_after_the_other() {
    let (mut harness, wires) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 800.0]);
    choose(&mut harness, "Guess first", "Guess where it looks");
    for word in ["2 red", "2 red", "3 shoe"] {
        harness.click_on(&format!("Guess source word {word}"));
        harness.click_on("Next group");
    }
    assert!(wires.heard(StepsCommand::NextGroup));
    harness.get_by_label("3 groups");
    harness.click_button("Show");
    harness.get_each(&["The class, 3 groups", "red: 2 of 3 groups", "shoe: 1 of 3 groups"]);
    let alpha = steps(&harness).trace.as_ref().expect("steps").steps[0].alpha_i.clone().expect("a row");
    harness.get_by_label(&format!("red: the model\u{2019}s alpha {:.2}", alpha[1]));

    choose(&mut harness, "Guess first", "Guess the whole alignment");
    let cell = format!("{} <- red", steps(&harness).truth(1).expect("a word"));
    for _ in 0..2 {
        harness.click_role(Role::GridCell, &cell);
        harness.click_on("Next group");
    }
    harness.press(Key::Enter);
    harness.get_by_label("The class, 2 groups");
    assert_eq!(harness.query_all_by_label_contains(&cell).count(), 2, "the same cell of the class and of the model");
}

#[test]
fn numbers_of_a_box_can_be_worked_out_by_hand() {
    let (mut harness, _) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 800.0]);
    harness.click_button("Context, c_i");
    let steps = steps(&harness).trace.clone().expect("steps");
    let (alpha, h) = (steps.steps[0].alpha_i.clone().expect("a row"), steps.part("annotations", 0).expect("h"));
    let c = &steps.part("context", 0).expect("c").quantities[0].values;
    let k = (0..c.len()).max_by(|a, b| c[*a].abs().total_cmp(&c[*b].abs())).expect("numbers");
    let of = h.quantities[0].row(1)[k];
    harness.get_by_label(&format!("red: {:.3} times {of:.3} is {:.3}", alpha[1], alpha[1] * of));
}

fn choose(harness: &mut Harness<'static, App>, list: &str, line: &str) {
    harness.click_role(Role::ComboBox, list);
    harness.click_button(line);
}

#[test]
fn a_word_is_guessed_by_a_click_or_typed_and_shown() {
    let (mut harness, wires) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 800.0]);
    choose(&mut harness, "Guess first", "Guess the word");
    let truth = steps(&harness).truth(0).expect("a word").to_owned();
    assert!(harness.query_by_label(&format!("Step 1: {truth}")).is_none(), "the word is hidden");
    harness.click_on(&format!("Guess the word {truth}"));
    assert!(wires.heard(StepsCommand::GuessWord(truth.clone())));
    harness.click_on("Show");
    harness.get_by_label_contains("Right: it says");
    harness.get_by_label_contains("1 of 1 words as the model");
    harness.press(Key::ArrowRight);
    // a word that is none of its candidates, by the keyboard alone
    harness.focus_on("Your guess of the word");
    harness.type_into("Your guess of the word", "zebra");
    harness.press(Key::Enter);
    harness.get_by_label_contains("You said zebra, which is not among its 10 best.");
}

#[test]
fn boxes_show_their_matrices_with_sizes_and_ends() {
    let (mut harness, _) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 1400.0]);
    let matrices = steps(&harness).trace.as_ref().expect("steps").matrices.clone();
    for (name, tensors) in [
        ("Energies, e_{ij}", &["attention.W_a", "attention.v_a"][..]),
        ("Gates, z_i, r_i", &["decoder.W_z", "decoder.U_r", "decoder.C_z", "decoder.b_r"]),
        ("Read forwards, h forward_j", &["encoder.forward.W", "encoder.forward.U_z"]),
    ] {
        harness.click_button(name);
        for tensor in tensors {
            let of = matrices.iter().find(|matrix| matrix.name == *tensor).expect("a picture");
            let size =
                if of.size.0 == 1 { of.size.1.to_string() } else { format!("{} \u{d7} {}", of.size.0, of.size.1) };
            let (low, high) = of.ends();
            harness.get_by_label(&format!("{tensor} {size}, numbers from {low:.3} to {high:.3}"));
        }
    }
}

#[test]
fn the_beam_stands_beside_the_steps_when_it_is_wanted() {
    let (mut harness, wires) = page(trace(Then::Wait, vec![4, 5, 7]), [1280.0, 800.0]);
    assert!(!harness.has_any("Beam at step 1"));
    harness.click_role(Role::CheckBox, "Beam");
    assert!(wires.heard(StepsCommand::SetBeam(true)));
    harness.get_by_label("Beam at step 1");
    // these columns have no trace of their search, which is said
    harness.get_by_label_contains("The search was too large to keep");
}

#[test]
fn a_presentation_has_the_rows_and_the_manual_opens_at_its_page() {
    let (mut harness, _) = page(trace(Then::Wait, vec![4, 5, 7]), [1920.0, 1080.0]);
    harness.press(Key::F5);
    assert!(harness.query_all_by_label_contains("step by step").next().is_some(), "the heatmap is there");
    harness.press(Key::F5);
    harness.press(Key::F1);
    assert!(harness.has("Whose words"), "the page about this page");
}

#[test]
fn parts_take_turns_on_a_small_screen() {
    let (mut harness, _) = page(trace(Then::Wait, vec![4, 5, 7]), [700.0, 600.0]);
    assert!(harness.query_by_role_and_label(Role::Button, "Context, c_i").is_some());
    harness.click_on("Rows");
    assert!(harness.query_by_role_and_label(Role::Button, "Context, c_i").is_none());
    assert!(harness.query_all_by_label_contains("step by step").next().is_some());
    harness.click_on("Machine");
    assert!(harness.query_by_role_and_label(Role::Button, "Context, c_i").is_some());
}

#[test]
fn the_class_says_a_candidate() {
    let (mut harness, wires) = page(trace(Then::Wait, Vec::new()), [1280.0, 800.0]);
    harness.click_on("You choose");
    assert!(wires.heard(StepsCommand::SetMode(Mode::Class)));
    assert!(harness.has("Which word shall it say?"));
    harness.click_button("Candidates, p(y_i)");
    let first = steps(&harness).trace.as_ref().map(|trace| trace.steps[0].best[0].0).expect("steps");
    let all: Vec<_> = harness.query_all_by_label_contains("Say ").collect();
    all[0].click();
    harness.run();
    assert!(wires.heard(StepsCommand::Say(first)));
}

#[test]
fn it_fits_a_small_screen_and_a_presentation() {
    let (mut harness, _) = page(trace(Then::Greedy, Vec::new()), [700.0, 520.0]);
    let inside = |harness: &Harness<'_, App>, name: &str| {
        let rect = harness.get_by_role_and_label(Role::Button, name).rect();
        rect.left() >= 0.0 && rect.right() <= 700.0
    };
    assert!(inside(&harness, "Context, c_i") && inside(&harness, "The word, y_i"));
    harness.click_button("Context, c_i");
    assert!(harness.query_by_role_and_label(Role::Button, "The word, y_i").is_none());
    harness.press(Key::F5);
    assert!(!harness.has_any("Always the best word") && harness.has("Leave"));
}

#[test]
fn an_open_box_shows_what_made_a_number_without_scrolling() {
    let size = [1280.0, 720.0];
    let (mut harness, _) = page(trace(Then::Wait, vec![4, 5, 7]), size);
    for (name, part) in [
        ("Energies, e_{ij}", "One number of it"),
        ("Weights, α_{ij}", "Together"),
        ("Context, c_i", "Together"),
        ("Gates, z_i, r_i", "Together"),
    ] {
        harness.click_button(name);
        let last =
            harness.query_all_by_label_contains(part).last().unwrap_or_else(|| panic!("{name}: no {part}")).rect();
        assert!(last.bottom() < size[1] - 20.0, "{name}: {last:?}");
        harness.click_on("Close");
    }
}
