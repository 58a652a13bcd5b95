//! Page Steps as a story: what it says now, how many boxes it shows, what made a number, what several groups guessed.

use std::{sync::Arc, time::Duration};

use interlinear::jobs::steps::{StepTrace, StepsRequest, StepsThread};
use interlinear::pages::steps::depth::{DEPTHS, Depth};
use interlinear::pages::steps::worked::{WorkedNumber, strongest, values, worked};
use interlinear::{decoding::step_trace::Then, jobs::Library, models::anatomy::Flows, nn::device::DeviceChoice};
use interlinear::{pages::steps::Guessed, pages::steps::command::StepsCommand, text::links::Link};

use crate::{cli::reference, steps::answered};

const GIVEN: [u32; 3] = [4, 5, 7];

fn trace(name: &str) -> Arc<StepTrace> {
    let lane = StepsThread::spawn(Library::new(1), Arc::new(|| {}));
    let (device, source) = (DeviceChoice::Cpu, "the red shoe".to_owned());
    let request = StepsRequest {
        model: reference(name).into(),
        device,
        source,
        given: GIVEN.to_vec(),
        then: Then::Wait,
        wrong: None,
    };
    lane.submit(1, request);
    lane.news.next_within(Duration::from_mins(1)).expect("an answer").found.expect("steps")
}

#[test]
fn a_number_is_worked_out_with_both_factors() {
    for (name, stages) in [
        ("rnnsearch", &["annotations", "energies", "alpha", "context", "next", "readout"][..]),
        ("rnnencdec", &["next", "readout"]),
        ("luong-global-dot", &["energies", "alpha", "context", "top"]),
        ("luong-global-general", &["energies", "alpha", "context", "top"]),
        ("luong-local-p-dot", &["energies", "alpha", "context", "top"]),
        ("luong-none", &["top"]),
    ] {
        let trace = trace(name);
        for i in 1..GIVEN.len() {
            for stage in stages {
                let number = strongest(&trace, i, stage)
                    .unwrap_or_else(|| panic!("{name}, step {i}: nothing of {stage} is worked out"));
                let found = worked(&trace, i, number).expect("it was chosen as one that is");
                let own = values(&trace, i, stage, number.quantity).expect("values")[number.unit];
                assert!((found.value - own).abs() < 1e-6, "{name} {stage}: {} is not {own}", found.value);
                let sum: f32 = found.terms.iter().map(|term| term.part).sum();
                let is_sum = found.terms.is_empty() || (sum - own).abs() <= 2e-3 * own.abs().max(1.0);
                assert!(is_sum && !found.says.is_empty(), "{name} {stage}: {sum} is not {own}");
                for term in &found.terms {
                    let product = term.factors.map_or(term.part, |(a, b)| a * b);
                    assert!((product - term.part).abs() < 1e-6, "{name} {stage}: {term:?}");
                }
            }
        }
        // what is not there is not worked out
        let nowhere = WorkedNumber { stage: "alpha", quantity: 9, row: 9, unit: 99 };
        assert_eq!(worked(&trace, 1, nowhere), None);
        assert_eq!(worked(&trace, 99, nowhere), None);
    }
}

#[test]
fn gates_are_worked_out_of_what_each_part_says() {
    let sigmoid: fn(f32) -> f32 = |sum| 1.0 / (1.0 + (-sum).exp());
    let tanh: fn(f32) -> f32 = f32::tanh;
    let as_it_is: fn(f32) -> f32 = |sum| sum;
    let of_gated = [("gates", 0, sigmoid), ("gates", 1, sigmoid), ("proposal", 0, tanh), ("readout", 0, as_it_is)];
    let of_memory = [("top", 0, sigmoid), ("top", 1, sigmoid), ("top", 2, sigmoid), ("top", 3, tanh)];
    for (name, all, count) in
        [("rnnsearch", of_gated, 3), ("rnnencdec", of_gated, 3), ("luong-global-general", of_memory, 2)]
    {
        let trace = trace(name);
        for (stage, quantity, made) in all {
            let own = values(&trace, 1, stage, quantity).expect("values");
            for (unit, own) in own.iter().enumerate() {
                let number = WorkedNumber { stage, quantity, row: 0, unit };
                let found =
                    worked(&trace, 1, number).unwrap_or_else(|| panic!("{name} {stage} {quantity}, unit {unit}"));
                let sum: f32 = found.terms.iter().map(|term| term.part).sum();
                assert!((made(sum) - own).abs() < 1e-4, "{name} {stage} {quantity}: {sum} makes {own}");
                let told = ["σ(", "tanh("].map(|function| found.says.contains(function));
                let wanted = [made(0.0) > 0.0, made(0.0) == 0.0 && made(9.0) <= 1.0];
                assert_eq!(told, wanted, "{name} {stage} {quantity}: {}", found.says);
                // what Cho's proposal reads of the state and of the summary goes through one gate
                let is_joined = (name, stage) == ("rnnencdec", "proposal");
                assert_eq!(found.terms.len(), if is_joined { 2 } else { count }, "{name} {stage}");
            }
        }
    }
}

#[test]
fn fewer_boxes_are_the_same_machine() {
    for name in ["rnnsearch", "rnnencdec", "luong-global-general", "luong-local-p-dot", "luong-none"] {
        let machine = trace(name).machine.clone();
        let mut before = 0;
        for entry in DEPTHS {
            let drawn = entry.value.drawn(&machine);
            let has = |key: &str| drawn.stages.iter().any(|stage| stage.key == key);
            assert!(drawn.stages.len() > before, "{name}, {}: no box more", entry.key);
            assert_eq!(drawn.stages.len(), drawn.weights.len());
            before = drawn.stages.len();
            assert!(has("words") && has("word"), "{name}, {}: the way from words to words", entry.key);
            for arrow in &drawn.arrows {
                assert!(has(arrow.from) && has(arrow.to) && arrow.from != arrow.to, "{name}, {}: {arrow:?}", entry.key);
            }
            // from the source words something leads to the word that is said
            let mut reached = vec!["words"];
            while let Some(next) = drawn
                .arrows
                .iter()
                .find(|a| a.flows == Flows::Always && reached.contains(&a.from) && !reached.contains(&a.to))
            {
                reached.push(next.to);
            }
            let of_all =
                Depth::Inside.drawn(&machine).arrows.iter().any(|a| a.from == "words" && a.flows == Flows::Always);
            assert!(!of_all || reached.contains(&"word"), "{name}, {}: {reached:?}", entry.key);
        }
        assert_eq!(before, machine.stages.len(), "{name}: inside, every box is there");
    }
}

#[test]
fn the_step_is_told_with_its_words_and_nothing_that_is_to_be_guessed() {
    let (mut session, _) = answered();
    let story = |session: &interlinear::session::state::Session| session.steps().story().expect("a story");
    let told = story(&session);
    assert!(told.contains("\u{201c}t8\u{201d} is chosen with a probability of 0.90"), "{told}");
    assert!(told.contains("\u{201c}house\u{201d} wins with 0.70"), "{told}");
    session.apply(StepsCommand::SetDepth(Depth::Inside));
    session.apply(StepsCommand::SetByStage(true));
    session.apply(StepsCommand::MoveWord(1));
    let mut all = Vec::new();
    for _ in 0..session.steps().stages().len() {
        all.push(story(&session));
        session.apply(StepsCommand::Move(1));
    }
    for wanted in [
        "The energies become shares: \u{201c}house\u{201d} wins with 0.70, then \u{201c}red\u{201d} with 0.20.",
        "though it was only number 2 here",
        "\u{201c}t8\u{201d} leads with 0.90",
    ] {
        assert!(all.iter().any(|told| told.contains(wanted)), "{wanted}: {all:#?}");
    }
    // a guess first: neither the word nor the row is told
    session.apply(StepsCommand::SetByStage(false));
    for (of, secrets) in [(Guessed::Row, ["house", "0.70"]), (Guessed::Word, ["t9", "0.90"])] {
        session.apply(StepsCommand::SetGuessing(Some(of)));
        session.apply(StepsCommand::GoTo(1));
        let told = story(&session);
        assert!(secrets.iter().all(|secret| !told.contains(secret)), "{told}");
        assert_eq!(session.steps().carried(if of == Guessed::Row { "alpha" } else { "candidates" }), None);
        session.apply(StepsCommand::Reveal);
        assert!(secrets.iter().any(|secret| story(&session).contains(secret)));
    }
}

#[test]
fn groups_answer_one_after_the_other() {
    let (mut session, _) = answered();
    let guessing = |session: &interlinear::session::state::Session| session.steps().guessing.clone().expect("on");
    session.apply(StepsCommand::SetGuessing(Some(Guessed::Row)));
    for j in [1, 1, 0] {
        session.apply(StepsCommand::Guess(j));
        session.apply(StepsCommand::NextGroup);
    }
    assert_eq!((guessing(&session).voices(), guessing(&session).word_counts(3)), (3, vec![1, 2, 0]));
    session.apply(StepsCommand::Reveal);
    let shown = guessing(&session);
    assert!(shown.is_revealed && shown.words.iter().eq(&[1]), "most of them said house");
    assert_eq!((shown.score.steps, shown.score.model), (1, 1));
    // the next step is asked of all groups anew
    session.apply(StepsCommand::Move(1));
    assert_eq!(guessing(&session).voices(), 0);

    session.apply(StepsCommand::SetGuessing(Some(Guessed::Whole)));
    for links in [&[(0, 0), (1, 1)][..], &[(0, 0)], &[(1, 0)]] {
        for &(source, target) in links {
            session.apply(StepsCommand::GuessLink(Link { source, target }));
        }
        session.apply(StepsCommand::NextGroup);
    }
    session.apply(StepsCommand::Reveal);
    let table = session.steps().class_table.clone().expect("what the class thought");
    let shares = table.alpha.as_ref().expect("shares").weights().to_vec();
    assert_eq!(shares[..2], [2.0 / 3.0, 1.0 / 3.0]);
    let kept = guessing(&session).links.into_iter().collect::<Vec<_>>();
    assert_eq!(kept, [Link { source: 0, target: 0 }], "links of at least half of the groups");
}
