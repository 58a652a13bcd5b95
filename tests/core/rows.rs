//! Rows of alpha by the words that they belong to: as somebody wants them, and as training guided them, in everything
//! that is written and shown.

use std::path::{Path, PathBuf};

use interlinear::decoding::{Hypothesis, SearchOptions, decode, force};
use interlinear::jobs::live::protocol::{Event, ModelFacts};
use interlinear::models::{Kernels, Model, shapes};
use interlinear::session::{driver::OpenWith, persist::SavedSession, state::Session};
use interlinear::{analysis::row_convention::RowConvention, app::command::SettingsCommand};
use interlinear::{evaluation::rows::RowReader, models::checkpoint::Weights, nn::device::Device};
use serde_json::Value;

use crate::cli::{feed, json_of, reference, reference_word};
use crate::folder::{Files as _, Folder};
use crate::worker::{request, serve_all, store};
use crate::{bad_input::copy_of, forever};

const SOURCE: &str = "s9 s31 s31 s17";
const TARGET: &str = "t18 t13";

fn told(name: &str, reading: &str) -> (Folder, PathBuf) {
    let folder = Folder::new();
    let at = copy_of(name, &folder);
    let path = at.join("model.safetensors");
    let model = load(&at);
    let mut weights = Weights::load(&path, &shapes(&model.config)).expect("its weights");
    weights.set_guided(Some(reading.to_owned()));
    weights.save(&path, false).expect("written");
    (folder, at)
}

fn load(folder: &Path) -> Model {
    Model::load(folder, &Device::cpu()).expect("the model")
}

fn ids(model: &Model, target: &str) -> (Vec<u32>, Vec<u32>) {
    (model.source.encode(SOURCE).ids, model.target.encode(target).ids)
}

fn forced(model: &Model, target: &[u32]) -> Hypothesis {
    let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
    let source = ids(model, "").0;
    force(&mut *stepper, &[(&source, target)], &forever()).expect("it is scored").swap_remove(0)
}

fn expected(model: &Model, target: &[u32], delay: usize) -> Vec<Vec<f32>> {
    let longer: Vec<u32> = target.iter().copied().chain(std::iter::repeat_n(model.config.eos, delay)).collect();
    forced(model, &longer).alpha.expect("it aligns").split_off(delay)
}

fn assert_near(read: &[Vec<f32>], wanted: &[Vec<f32>], what: &str) {
    assert_eq!(read.len(), wanted.len(), "{what}");
    for (read, wanted) in read.iter().zip(wanted) {
        assert_eq!(read.len(), wanted.len(), "{what}");
        for (read, wanted) in read.iter().zip(wanted) {
            assert!((read - wanted).abs() < 1e-6, "{what}: {read} {wanted}");
        }
    }
}

#[test]
fn a_given_pair_has_the_row_of_every_word_and_the_numbers_of_its_tokens_alone() {
    for (name, delay) in [("rnnsearch", 2), ("luong-global-general", 1)] {
        let model = load(&reference(name));
        let (source, target) = ids(&model, TARGET);
        let plain = forced(&model, &target);
        let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
        for reading in [RowConvention::Predicted, RowConvention::Input] {
            let rows = RowReader::wanted((&model).into(), Some(reading));
            let pairs = [(source.as_slice(), target.as_slice())];
            let read = rows.force_all(&mut *stepper, &pairs, 4, &forever(), &mut |_, _| {}).expect("read");
            assert_eq!((&read[0].token_log_p, read[0].log_p), (&plain.token_log_p, plain.log_p), "{name}");
            let wanted = match reading {
                RowConvention::Predicted => plain.alpha.clone().expect("it aligns"),
                _ => expected(&model, &target, delay),
            };
            assert_eq!(read[0].alpha.as_ref(), Some(&wanted), "{name}, {reading:?}");
        }
    }
}

#[test]
fn a_translation_goes_on_behind_its_end_only_for_rows_of_words_read() {
    let model = load(&reference("rnnsearch"));
    let source = ids(&model, "").0;
    let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
    let (eos, unk) = model.specials();
    let specials = interlinear::decoding::Specials { eos, unk, bars_unk: false };
    let options = SearchOptions { beam: 3, ..SearchOptions::default() };
    let found = decode(&mut *stepper, specials, &[&source], &options, &forever(), &mut |_, _| ());
    let found = found.expect("it translates").swap_remove(0).hypotheses;
    assert!(found.iter().any(|one| one.finished), "{found:?}");
    for (wanted, more) in [(None, 0), (Some(RowConvention::Predicted), 0), (Some(RowConvention::Input), 2)] {
        let rows = RowReader::wanted((&model).into(), wanted);
        let mut longer = found.clone();
        let mut all: Vec<&mut Hypothesis> = longer.iter_mut().collect();
        let sources = vec![source.as_slice(); all.len()];
        rows.extend_past_eos(&mut *stepper, &sources, &mut all, 2, &forever()).expect("it goes on");
        for (one, before) in longer.iter().zip(&found) {
            let (alpha, was) = (one.alpha.as_ref().expect("it aligns"), before.alpha.as_ref().expect("it aligned"));
            assert_eq!(&alpha[..was.len()], was, "what was there stays");
            assert_eq!(alpha.len() - was.len(), if one.finished { more } else { 0 });
            if one.finished && more > 0 {
                let mut read = one.clone();
                rows.assign(&mut read);
                let read = read.alpha.expect("it aligns");
                assert_near(&read, &expected(&model, &one.tokens, 2), "a translation");
            }
        }
    }
}

#[test]
fn what_is_written_of_a_model_has_the_rows_that_its_training_guided() {
    let (_folder, at) = told("rnnsearch", "input");
    at.put("x", format!("{SOURCE}\n"));
    at.put("y", format!("{TARGET}\n"));
    let model = load(&at);
    let target = ids(&model, TARGET).1;
    let wanted = expected(&model, &target, 2);
    let run = |arguments: &[&str]| feed(&at, arguments, format!("{SOURCE}\n").as_bytes()).quiet().stdout;
    let alpha = |json: &Value| -> Vec<Vec<f32>> { serde_json::from_value(json.clone()).expect("rows of numbers") };
    let pairs = ["--model", ".", "--source", "x", "--target", "y"];
    let scored = json_of(&run(&[&["score"], &pairs[..]].concat()));
    assert_eq!((&scored["reading"], alpha(&scored["alpha"])), (&"input".into(), wanted.clone()));
    assert_eq!(scored["token_log_p"].as_array().map(Vec::len), Some(3));

    let best = |row: &[f32], words: usize| (0..words).max_by(|&a, &b| row[a].total_cmp(&row[b])).expect("a word");
    let links: Vec<String> = (0..2).map(|i| format!("{}-{i}", best(&wanted[i], 4))).collect();
    let mut links: Vec<&str> = links.iter().map(String::as_str).collect();
    links.sort_unstable();
    let sorted = |text: &str| {
        let mut links: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        links.sort_unstable();
        links
    };
    for arguments in [&["align"][..], &["align", "--reading", "input"], &["score", "--format", "pharaoh"]] {
        assert_eq!(sorted(&run(&[arguments, &pairs[..]].concat())), links, "{arguments:?}");
    }
    let plain = run(&[&["align", "--reading", "predicted"], &pairs[..]].concat());
    let untold = reference_word("rnnsearch");
    let others = ["--model", &untold, "--source", "x", "--target", "y"];
    assert_eq!(plain, run(&[&["align"], &others[..]].concat()), "the choice is the user's");

    let said = json_of(&run(&["translate", "--model", ".", "--format", "jsonl"]));
    let one = &said["hypotheses"][0];
    let tokens: Vec<u32> = one["tokens"]
        .as_array()
        .expect("words")
        .iter()
        .map(|token| model.target.id(token.as_str().expect("a word")).expect("it is known"))
        .collect();
    let wanted = expected(&model, &tokens, 2);
    assert_eq!(said["reading"], "input");
    assert_near(&alpha(&one["alpha"]), &wanted, "a translation as JSON");
    let jsonl = json_of(&run(&[&["align", "--format", "jsonl"], &pairs[..]].concat()));
    assert_eq!(jsonl["reading"], "input");
    assert_near(&alpha(&jsonl["matrix"]), &expected(&model, &target, 2), "the matrix");
    let text = run(&["translate", "--model", &untold, "--format", "jsonl"]);
    assert!(!text.contains("\"reading\""), "{text}");
}

#[test]
fn the_window_reads_the_rows_of_each_model_as_it_was_trained() {
    let (_folder, at) = told("rnnsearch", "input");
    let mut store = store();
    for (folder, reading, more) in
        [(at, RowConvention::Input, 2), (reference("rnnsearch"), RowConvention::Predicted, 0)]
    {
        let mut wanted = request(1, SOURCE, &[folder]);
        wanted.columns[0].given = Some(TARGET.to_owned());
        let events = serve_all(&wanted, &mut store, &forever());
        let facts = events.iter().find_map(|event| match event {
            Event::Loaded { facts, .. } => Some(facts.clone()),
            _ => None,
        });
        assert_eq!(facts.expect("it is loaded").reading, reading);
        let mut views = Vec::new();
        for event in events {
            match event {
                Event::Finished { result, .. } => views.extend(result.hypotheses),
                Event::Given { given, .. } => views.push(*given.expect("it can be read")),
                _ => {}
            }
        }
        assert!(views.iter().filter(|view| view.found.finished).count() > 1, "one is found and one given");
        for view in views.iter().filter(|view| view.found.finished) {
            assert_eq!(view.found.alpha.as_ref().map(Vec::len), Some(view.tokens.len() + more), "{reading:?}");
            assert_eq!(view.found.energies.as_ref().map(Vec::len), Some(view.tokens.len() + more), "{reading:?}");
        }
    }
}

#[test]
fn each_model_has_its_own_reading_until_one_is_chosen_for_all_and_the_choice_is_kept() {
    let facts = |reading| ModelFacts { input_delay: Some(2), reading, ..ModelFacts::default() };
    let none = ModelFacts { input_delay: None, ..ModelFacts::default() };
    let mut session = Session::start(None, &OpenWith::default());
    let read = |session: &Session| {
        let settings = &session.app().view.settings;
        [RowConvention::Predicted, RowConvention::Input]
            .map(|own| settings.reading_of(Some(&facts(own))).expect("a choice").0)
    };
    assert_eq!(session.app().view.settings.reading_of(Some(&none)), None);
    assert_eq!(read(&session), [RowConvention::Predicted, RowConvention::Input]);
    for (choice, name) in
        [(Some(RowConvention::Predicted), "predicted"), (Some(RowConvention::Input), "input"), (None, "own")]
    {
        session.apply(SettingsCommand::SetReading(choice));
        let wanted = choice.map_or([RowConvention::Predicted, RowConvention::Input], |reading| [reading, reading]);
        assert_eq!(read(&session), wanted);
        let saved: SavedSession = session.saved();
        assert_eq!(serde_json::to_value(&saved).expect("JSON")["rows_by"], name);
        assert_eq!(Session::start(Some(saved), &OpenWith::default()).app().view.settings.reading, choice);
    }
}
