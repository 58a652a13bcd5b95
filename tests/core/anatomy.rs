//! Models taken apart: every number against the reference and the readable form, and the drawing against itself.

use std::collections::HashSet;

use candle_core::Tensor;
use interlinear::decoding::step_trace::{Path, Then, trace_steps};
use interlinear::decoding::{SearchOptions, decode};
use interlinear::figure::geometry::{Area, point, size};
use interlinear::figure::machine::{Held, MachineDrawing, places};
use interlinear::figure::mark::{Mark, TextMark};
use interlinear::figure::measure::{SansSerif, TextMeasure as _, broken};
use interlinear::figure::{palette::LIGHT, sizes::TEXT_SMALL};
use interlinear::models::anatomy::{
    Anatomy, Arrow, Diagram, MachinePart, Miswiring, Shrunk, StepNumbers, WRONGS, shrunk,
};
use interlinear::models::{Kernels, anatomy::anatomy_of, config::Config};

use crate::models::{Case, FOLDERS, assert_close, cases, load};
use crate::{forever, models::loaded, toolkits};

fn row(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().and_then(|flat| flat.to_vec1()).expect("numbers")
}

fn steps(anatomy: &mut Anatomy, case: &Case) -> Vec<StepNumbers> {
    let encoded = anatomy.encode(&case.source).expect("encodes");
    let (mut state, mut steps) = (encoded.start.clone(), Vec::new());
    for i in 0..case.target.len() {
        let y_prev = (i > 0).then(|| case.target[i - 1]);
        let taken = anatomy.step(&encoded, &state, y_prev).expect("steps");
        state.clone_from(&taken.state);
        steps.push(taken);
    }
    steps
}

fn machines() -> Vec<(String, Diagram)> {
    let paper = |folder: &str| {
        let model = load(folder);
        (folder.to_owned(), anatomy_of(&model.config, &model.weights, None).expect("apart").machine())
    };
    let other = |config: Config| {
        let weights = toolkits::weights(&config, 2);
        (config.name.clone(), anatomy_of(&config, &weights, None).expect("apart").machine())
    };
    FOLDERS.map(paper).into_iter().chain(toolkits::configs(2).into_iter().map(other)).collect()
}

fn part<'a>(parts: &'a [MachinePart], key: &str) -> Option<&'a MachinePart> {
    parts.iter().find(|part| part.key == key)
}

#[test]
fn every_reference_case_holds_for_a_model_taken_apart() {
    for (folder, model) in loaded() {
        let mut anatomy = anatomy_of(&model.config, &model.weights, None).expect("it can be taken apart");
        for (k, case) in cases(&model).iter().enumerate() {
            for (i, taken) in steps(&mut anatomy, case).iter().enumerate() {
                let what = format!("{folder}, case {k}, word {i}");
                assert_close(&what, &[taken.log_p[case.target[i] as usize]], &[case.token_log_p[i]]);
                assert_close(&what, &[taken.log_p.iter().map(|x| x.exp()).sum()], &[1.0]);
                assert_eq!(taken.alpha_i.is_some(), case.alpha.is_some(), "{what}");
                if let (Some(alpha), Some(e), Some(of)) = (&taken.alpha_i, &taken.e_i, &case.energies) {
                    assert_close(&what, alpha, &case.alpha.as_ref().expect("both")[i]);
                    let finite = |row: &[f32]| -> Vec<f32> { row.iter().copied().filter(|e| !e.is_nan()).collect() };
                    assert_close(&what, &finite(e), &finite(&of[i]));
                }
            }
        }
    }
}

/// z, r and the proposal of RNNsearch give the new state by the paper's equation, unit by unit.
#[test]
fn gates_and_proposal_add_up_to_the_state() {
    for (folder, keeps) in [("rnnsearch", false), ("rnnencdec", true)] {
        let model = load(folder);
        let mut anatomy = anatomy_of(&model.config, &model.weights, None).expect("apart");
        let case = &cases(&model)[0];
        let mut before = row(anatomy.encode(&case.source).expect("encodes").start.only().expect("one state"));
        for taken in steps(&mut anatomy, case) {
            let of = |key: &str, n: usize| part(&taken.parts, key).expect(key).quantities[n].values.clone();
            let (z, proposal, s) = (of("gates", 0), of("proposal", 0), of("next", 0));
            let mixed = (0..s.len()).map(|k| {
                let old = if keeps { z[k] } else { 1.0 - z[k] };
                old * before[k] + (1.0 - old) * proposal[k]
            });
            assert_close(folder, &mixed.collect::<Vec<_>>(), &s);
            assert!(z.iter().chain(&of("gates", 1)).all(|gate| (0.0..=1.0).contains(gate)));
            before = s;
        }
    }
}

pub fn check_drawing<'a>(folder: &str, machine: &'a Diagram) -> HashSet<&'a str> {
    let keys: HashSet<&str> = machine.stages.iter().map(|stage| stage.key).collect();
    let places: HashSet<(usize, usize)> = machine.stages.iter().map(|stage| stage.place).collect();
    assert_eq!((keys.len(), places.len()), (machine.stages.len(), machine.stages.len()), "{folder}");
    for arrow in &machine.arrows {
        assert!(keys.contains(arrow.from) && keys.contains(arrow.to), "{folder}: {arrow:?}");
    }
    for stage in &machine.stages {
        let touches = |arrow: &Arrow| arrow.from == stage.key || arrow.to == stage.key;
        assert!(machine.arrows.iter().any(touches), "{folder}: {} hangs in the air", stage.key);
    }
    keys
}

#[test]
fn the_drawing_names_every_part_once_and_nothing_else() {
    for (folder, model) in loaded() {
        for wrong in std::iter::once(None).chain(WRONGS.iter().map(|entry| Some(entry.wrong))) {
            let mut anatomy = anatomy_of(&model.config, &model.weights, wrong).expect("apart");
            let machine = anatomy.machine();
            let keys = check_drawing(folder, &machine);
            let case = &cases(&model)[0];
            let encoder = anatomy.encode(&case.source).expect("encodes").parts;
            let taken = steps(&mut anatomy, case).remove(0);
            let found: Vec<&str> = encoder.iter().chain(&taken.parts).map(|part| part.key).collect();
            let own = ["words", "candidates", "word"];
            let expected: HashSet<&str> = keys.iter().copied().filter(|key| !own.contains(key)).collect();
            assert_eq!(found.iter().copied().collect::<HashSet<_>>(), expected, "{folder}");
            assert_eq!(found.len(), expected.len(), "{folder}");
            let reads = machine.stages.iter().filter(|stage| stage.reads_source() && stage.key != "words");
            assert!(reads.map(|stage| stage.key).eq(encoder.iter().map(|part| part.key)), "{folder}");
            for quantity in encoder.iter().chain(&taken.parts).flat_map(|part| &part.quantities) {
                assert!(quantity.width > 0 && quantity.values.len() == quantity.width * quantity.count(), "{folder}");
            }
        }
    }
}

#[test]
fn the_path_is_greedy_or_given_or_waits() {
    for (folder, model) in loaded() {
        let mut anatomy = anatomy_of(&model.config, &model.weights, None).expect("apart");
        let case = &cases(&model)[0];
        let options = SearchOptions { beam: 1, max_length: Some(8), ..SearchOptions::default() };
        let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
        let specials =
            interlinear::decoding::Specials { eos: model.config.eos, unk: model.config.unk, bars_unk: false };
        let greedy =
            decode(&mut *stepper, specials, &[&case.source], &options, &forever(), &mut |_, _| ()).expect("found");
        let best = &greedy[0].hypotheses[0];
        let eos = model.config.eos;
        let mut said = |given: &[u32], then| -> Vec<Option<u32>> {
            let path = Path { given, then, eos, limit: 8, best: 3 };
            let (_, steps) = trace_steps(&mut anatomy, &case.source, &path, &forever()).expect("apart");
            steps.iter().map(|step| step.said.map(|(id, _)| id)).collect()
        };
        let all: Vec<Option<u32>> = best.tokens.iter().copied().map(Some).collect();
        assert_eq!(said(&[], Then::Greedy), all, "{folder}");
        let given = [4, 5, 7];
        assert_eq!(said(&given, Then::Wait), [Some(4), Some(5), Some(7), None], "{folder}");
        assert_eq!(said(&[], Then::Wait), [None], "{folder}");
        let path = Path { given: &[1_000_000], then: Then::Wait, eos, limit: 8, best: 3 };
        let beyond = trace_steps(&mut anatomy, &case.source, &path, &forever());
        assert!(beyond.is_err_and(|error| error.to_string().contains("1000000")), "{folder}");
    }
}

#[test]
fn each_wrong_wiring_changes_what_it_is_about() {
    for entry in WRONGS {
        assert_eq!(Miswiring::from_key(entry.key), Some(entry.wrong));
        for folder in [
            "rnnsearch", "rnnencdec", "luong-global-general", "luong-local-p-dot", "luong-global-concat",
            "luong-global-location",
        ] {
            let model = load(folder);
            let architecture = model.config.architecture.name();
            let attention = model.config.attention();
            let fits = Miswiring::of(architecture, attention.as_deref()).any(|of| of.wrong == entry.wrong);
            let case = &cases(&model)[0];
            let of = |wrong| steps(&mut anatomy_of(&model.config, &model.weights, wrong).expect("apart"), case);
            let (right, wrong) = (of(None), of(Some(entry.wrong)));
            let differs = right.iter().zip(&wrong).any(|(a, b)| a.log_p != b.log_p);
            assert_eq!(differs, fits, "{folder}: {}", entry.key);
            if fits && entry.wrong == Miswiring::BlindWeights && folder != "luong-local-p-dot" {
                let alpha = wrong[0].alpha_i.as_ref().expect("aligns");
                assert_close(folder, alpha, &vec![1.0 / alpha.len() as f32; alpha.len()]);
            }
        }
    }
}

#[test]
fn pictures_of_matrices_are_their_own_numbers() {
    for (folder, model) in loaded() {
        let machine = anatomy_of(&model.config, &model.weights, None).expect("apart").machine();
        let all = shrunk(&machine, &model.weights).expect("pictures");
        for (name, shape) in machine.weights.iter().flatten() {
            let [small] = &all.iter().filter(|small| small.name == *name).collect::<Vec<_>>()[..] else {
                panic!("{folder}: {name}")
            };
            assert_eq!(small.size.0 * small.size.1, shape.iter().product::<usize>(), "{folder}: {name}");
            let coarse = Shrunk::of(&model.weights, name, 3).expect("a picture");
            assert!(small.blocks.0 <= 64 && small.blocks.1 <= 64 && coarse.blocks.0 <= 3 && coarse.blocks.1 <= 3);
            for small in [small, &coarse] {
                compare(small, &model.weights.numbers(name).expect("numbers"));
            }
        }
        let learned = machine.weights.iter().filter(|weights| !weights.is_empty()).count();
        assert!(learned >= machine.stages.len() / 2, "{folder}");
    }
}

fn compare(small: &Shrunk, numbers: &[f32]) {
    let (mut seen, width) = (0, small.size.1);
    for row in 0..small.blocks.0 {
        for column in 0..small.blocks.1 {
            let (rows, columns) = (small.rows(row), small.columns(column));
            let own: Vec<f32> =
                rows.flat_map(|r| columns.clone().map(move |c| (r, c))).map(|(r, c)| numbers[r * width + c]).collect();
            let block = small.at(row, column).expect("a block");
            seen += own.len();
            assert_close(&small.name, &[block.mean], &[own.iter().sum::<f32>() / own.len() as f32]);
            assert_eq!(block.least, own.iter().copied().fold(f32::INFINITY, f32::min));
            assert_eq!(block.greatest, own.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        }
    }
    assert_eq!(seen, numbers.len(), "{}: every number is in one block", small.name);
    assert_eq!(small.at(0, small.blocks.1), None);
}

#[test]
fn boxes_show_their_titles_whole_and_grow() {
    for (folder, machine) in machines() {
        let texts = |width: f32, height: f32| -> Vec<TextMark<'static>> {
            let drawing = MachineDrawing {
                machine: &machine,
                held: vec![Held::Nothing; machine.stages.len()],
                is_done: vec![true; machine.stages.len()],
                is_first: true,
                lit: None,
                over: None,
                palette: &LIGHT,
                measure: &SansSerif,
            };
            let marks = drawing.marks(&Area::from_min_size(point(0.0, 0.0), size(width, height)));
            marks.into_iter().filter_map(|mark| if let Mark::Text(text) = mark { Some(text) } else { None }).collect()
        };
        for (width, height) in [(560.0, 300.0), (600.0, 450.0), (860.0, 460.0), (2000.0, 1150.0)] {
            let all = texts(width, height);
            for stage in &machine.stages {
                let title = all.iter().find(|text| text.text == stage.title).expect("a title");
                let wide = SansSerif.width(&title.text, title.size);
                assert!(wide <= title.room + 0.1, "{folder}, {width}: {} is cut", stage.title);
                assert!(title.size >= 0.6 * TEXT_SMALL, "{folder}, {width}: {}", title.size);
                if width > 1500.0 {
                    assert!(title.size > 1.5 * TEXT_SMALL, "{folder}: {}", title.size);
                }
            }
        }
    }
}

#[test]
fn arrows_go_between_the_boxes() {
    for (folder, machine) in machines() {
        let names: Vec<(&str, &str)> = machine.arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
        assert!(names.iter().any(|(_, to)| ["state", "top"].contains(to)), "{folder}: {names:?}");
        for (is_first, (width, height)) in
            [(true, (560.0, 300.0)), (false, (560.0, 300.0)), (false, (860.0, 430.0)), (true, (2000.0, 1150.0))]
        {
            let drawing = MachineDrawing {
                machine: &machine,
                held: vec![Held::Nothing; machine.stages.len()],
                is_done: vec![true; machine.stages.len()],
                is_first,
                lit: None,
                over: None,
                palette: &LIGHT,
                measure: &SansSerif,
            };
            let area = Area::from_min_size(point(0.0, 0.0), size(width, height));
            let boxes = places(&machine, &area);
            let is_inside = |x: f32, y: f32| {
                let is_in = |place: &&Area| {
                    (place.left() + 2.0..place.right() - 2.0).contains(&x)
                        && (place.top() + 2.0..place.bottom() - 2.0).contains(&y)
                };
                boxes.iter().position(|place| is_in(&place)).map(|n| machine.stages[n].key)
            };
            let marks = drawing.marks(&area);
            let before = marks.iter().take_while(|mark| !matches!(mark, Mark::Rect(_)));
            let mut count = 0;
            for mark in before {
                count += 1;
                let points: Vec<_> = match mark {
                    Mark::Curve(curve) => bezier(&curve.points),
                    Mark::Lines(lines) => lines.ends.iter().flat_map(straight).collect(),
                    _ => Vec::new(),
                };
                for (x, y) in points {
                    assert_eq!(is_inside(x, y), None, "{folder}, {width}: at {x} {y}");
                    assert!(x >= 0.0 && y >= 0.0 && x <= width && y <= height, "{folder}: {x} {y}");
                }
            }
            assert!(count >= machine.stages.len(), "{folder}: {count} arrows");
        }
    }
}

fn bezier(points: &[interlinear::figure::geometry::Point; 4]) -> Vec<(f32, f32)> {
    let at = |t: f32| {
        let shares = [(1.0 - t).powi(3), 3.0 * (1.0 - t).powi(2) * t, 3.0 * (1.0 - t) * t * t, t.powi(3)];
        points.iter().zip(shares).fold((0.0, 0.0), |(x, y), (point, share)| (x + share * point.x, y + share * point.y))
    };
    (0..=60).map(|n| at(n as f32 / 60.0)).collect()
}

fn straight(ends: &[interlinear::figure::geometry::Point; 2]) -> Vec<(f32, f32)> {
    let [a, b] = ends;
    (0..=60).map(|n| n as f32 / 60.0).map(|t| (a.x + t * (b.x - a.x), a.y + t * (b.y - a.y))).collect()
}

#[test]
fn source_words_are_whole_in_their_box() {
    let model = load("rnnsearch");
    let machine = anatomy_of(&model.config, &model.weights, None).expect("apart").machine();
    let text = "The uncharacteristically incomprehensible announcement was misunderstood.";
    let mut held = vec![Held::Nothing; machine.stages.len()];
    held[0] = Held::Text(text.into());
    let is_done = vec![true; machine.stages.len()];
    let drawing = MachineDrawing {
        machine: &machine,
        held,
        is_done,
        is_first: true,
        lit: None,
        over: None,
        palette: &LIGHT,
        measure: &SansSerif,
    };
    for (width, height) in [(760.0, 560.0), (2000.0, 1150.0)] {
        let marks = drawing.marks(&Area::from_min_size(point(0.0, 0.0), size(width, height)));
        let of = |mark: &Mark<'static>| matches!(mark, Mark::Text(of) if of.text == text);
        let Some(Mark::Text(found)) = marks.into_iter().find(of) else { panic!("no text") };
        let lines = broken(&SansSerif, &found.text, found.size, found.room, found.lines);
        assert_eq!(lines.join(" "), text, "{width}");
    }
}
