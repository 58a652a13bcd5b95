//! Files of interventions: what they say, what is refused, and that `translate` does what the engine does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use interlinear::decoding::{Decoded, SearchOptions, Specials};
use interlinear::interventions::{
    Intervention, InterventionFile, InterventionReader, Interventions, Origin, Resolved, ResolvedText, intervene_all,
};
use interlinear::models::{Kernels, Model};
use interlinear::{decoding::reweigh::permutation, models::config::Architecture, text::words::vocabulary_words};

use crate::cli::{feed, json_of};
use crate::folder::{Files as _, Folder};
use crate::forever;
use crate::tiny::{TINY, Tiny};

const SOURCE: &str = "one three two";

fn origin() -> Origin {
    Origin { path: PathBuf::from("plan.json"), line: None }
}

fn resolved(model: &Model, json: &str, text: &str) -> Result<Resolved, String> {
    let file = Interventions::parse(Path::new("plan.json"), 0, json).map_err(|error| error.to_string())?;
    let sentence = model.source.encode(text);
    let heads = model.config.transformer();
    let reader = InterventionReader { target: &model.target, aligns: model.config.aligns(), heads };
    let words = vocabulary_words(&model.source, &sentence, false);
    let read = ResolvedText { sentence: &sentence, words: &words };
    let found = reader.resolve(&file, read).strict(&origin()).map_err(|error| error.to_string())?;
    // What is written is read as the same.
    let written = found.applied.form.to_json().expect("JSON");
    let again = Interventions::parse(Path::new("written"), 0, &written).expect("it reads what it wrote");
    let again = reader.resolve(&again, read).strict(&origin()).expect("it fits");
    assert_eq!(again.applied, found.applied);
    assert!(again.list.iter().all(|one| found.list.contains(one)), "{found:?} became {again:?}");
    Ok(found)
}

fn resolve(model: &Model, json: &str, text: &str) -> Result<Vec<Intervention>, String> {
    resolved(model, json, text).map(|found| found.list.to_vec())
}

#[test]
fn words_and_positions_become_ids() {
    let model = TINY.model();
    let id = |word: &str| model.target.id(word).expect("a word");
    let (un, deux, trois) = (id("un"), id("deux"), id("trois"));
    let third = 1.0 / 3.0;
    let cases: &[(&str, Vec<Intervention>)] = &[
        ("", vec![]),
        (
            r#","prefix": "deux un", "force": [{"position": 2, "word": "trois"}]"#,
            vec![
                Intervention::Force { i: 0, token: deux },
                Intervention::Force { i: 1, token: un },
                Intervention::Force { i: 1, token: trois },
            ],
        ),
        (
            r#","forbid": [{"word": "un"}, {"position": 3, "word": "</s>"}, {"word": "[UNK]"}]"#,
            vec![
                Intervention::Forbid { i: None, token: un },
                Intervention::Forbid { i: Some(2), token: 0 },
                Intervention::Forbid { i: None, token: 1 },
            ],
        ),
        (
            r#","pin": [{"row": 1, "alpha": {"position": 4}}, {"row": 2, "alpha": {"word": "two"}}, {"row": 3, "alpha": "uniform"},
                {"row": 4, "alpha": {"weights": [0, 0.5, 2, 1e-3]}}, {"row": 5, "alpha": {"permuted": 9}}]"#,
            vec![
                Intervention::Pin { i: 0, alpha: vec![0.0, 0.0, 0.0, 1.0] },
                Intervention::Pin { i: 1, alpha: vec![0.0, 0.0, 1.0, 0.0] },
                Intervention::Pin { i: 2, alpha: vec![0.25; 4] },
                Intervention::Pin { i: 3, alpha: vec![0.0, 0.5, 2.0, 1e-3] },
                Intervention::Permute { i: 4, seed: 9 },
            ],
        ),
        (
            r#","source": "one  three two", "mask": [{"word": "three"}, {"position": 1}, {"word": "house"}], "temperature": 0.5"#,
            vec![Intervention::Mask { j: 1 }, Intervention::Mask { j: 0 }, Intervention::Temperature(0.5)],
        ),
    ];
    for (json, expected) in cases {
        let found = resolve(&model, &format!("{{\"version\": 1{json}}}"), SOURCE).expect(json);
        assert_eq!(&found, expected, "{json}");
    }
    let twice = resolve(&model, r#"{"version": 1, "pin": [{"row": 1, "alpha": {"word": "two"}}]}"#, "two two two one");
    assert_eq!(twice, Ok(vec![Intervention::Pin { i: 0, alpha: vec![third, third, third, 0.0, 0.0] }]));
}

#[test]
fn what_is_wrong_is_named_with_its_key() {
    let (model, deaf) = (TINY.model(), Tiny { architecture: Architecture::RNN_ENC_DEC, ..TINY }.model());
    let cases = [
        (r"[]", "plan.json, line 1: "),
        (r#"{"version": 2}"#, "key `version` is 2"),
        (r"{}", "has no `version`"),
        ("{\"version\": 1,\n\"prefixes\": \"un\"}", "line 2: unknown field `prefixes`"),
        (r#"{"version": 1, "pin": [{"row": 1, "alpha": "flat"}]}"#, "unknown variant `flat`"),
        (r#"{"version": 1, "force": [{"position": 1, "word": "vier"}]}"#, "key `force[0].word` has \"vier\""),
        (r#"{"version": 1, "prefix": "un vier"}"#, "key `prefix` has \"vier\""),
        (r#"{"version": 1, "forbid": [{"word": "un deux"}]}"#, "key `forbid[0].word` is 2 pieces"),
        (r#"{"version": 1, "forbid": [{"word": ""}]}"#, "key `forbid[0].word` is empty"),
        (r#"{"version": 1, "force": [{"position": 0, "word": "un"}]}"#, "key `force[0].position` is 0"),
        (r#"{"version": 1, "mask": [{"position": 5}]}"#, "key `mask[0]` does not fit"),
        (r#"{"version": 1, "pin": [{"row": 1, "alpha": {"position": 5}}]}"#, "names source word 5"),
        (r#"{"version": 1, "pin": [{"row": 1, "alpha": {"word": "house"}}]}"#, "is no word of the sentence"),
        (r#"{"version": 1, "pin": [{"row": 1, "alpha": {"weights": [1]}}]}"#, "key `pin[0].alpha` does not fit"),
        (r#"{"version": 1, "temperature": 0}"#, "key `temperature` is wrong"),
        (r#"{"version": 1, "source": "one"}"#, "key `source` is \"one\""),
    ];
    for (json, says) in cases {
        let error = resolve(&model, json, SOURCE).expect_err(json);
        assert!(error.contains(says), "{json}: {error}");
    }
    for json in [r#"{"version": 1, "mask": [{"word": "x"}]}"#, r#"{"version": 1, "temperature": 2}"#] {
        let error = resolve(&deaf, json, SOURCE).expect_err(json);
        assert!(error.contains("this model has none"), "{error}");
    }
}

fn decoded(model: &Model, list: Vec<Intervention>, beam: usize) -> Decoded {
    let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
    let (eos, unk) = model.specials();
    let source = model.source.encode(SOURCE).ids;
    let mut found = None;
    let options = SearchOptions { beam, ..SearchOptions::default() };
    let specials = Specials { eos, unk, bars_unk: false };
    let mut done = |_: &[usize], mut decoded: Vec<Decoded>| {
        found = decoded.pop();
        Ok(())
    };
    intervene_all(stepper.as_mut(), specials, &[&source], &[list.into()], &options, 4, &forever(), &mut done)
        .expect("it decodes");
    found.expect("a translation")
}

const PLAN: &str = r#"{"version": 1, "prefix": "deux", "forbid": [{"word": "un"}], "mask": [{"word": "one"}],
    "pin": [{"row": 2, "alpha": {"position": 2}}, {"row": 1, "alpha": {"permuted": 5}}]}"#;

#[test]
fn translate_does_what_the_file_says_and_marks_it() {
    let folder = Folder::new();
    TINY.save(&folder);
    let model = TINY.model();
    folder.put("plan.json", PLAN);
    let set = resolved(&model, PLAN, SOURCE).expect("it fits");
    let best = decoded(&model, set.list.to_vec(), 3).hypotheses.remove(0);
    let translate = |more: &[&str]| {
        let all = ["translate", "--model", "tiny", "--beam", "3", "--interventions", "plan.json"];
        feed(&folder, &[&all, more].concat(), SOURCE.as_bytes()).quiet().stdout
    };
    let json = json_of(&translate(&["--format", "jsonl"]));
    let found = &json["hypotheses"][0];
    let words: Vec<&str> = best.tokens.iter().map(|id| model.target.token(*id).expect("a word")).collect();
    assert_eq!(found["tokens"], serde_json::json!(words));
    assert_eq!(words[0], "deux");
    assert!(!words.contains(&"un"));
    let alpha: Option<Vec<Vec<f32>>> = serde_json::from_value(found["alpha"].clone()).expect("rows");
    assert_eq!(alpha, best.alpha);
    assert_eq!(alpha.map(|alpha| alpha[1].clone()), Some(vec![0.0, 1.0, 0.0, 0.0]));
    let rows = set.applied.pinned();
    let pinned: Vec<bool> = (0..words.len()).map(|i| rows.contains(&i)).collect();
    assert_eq!((found["forced"][0].as_bool(), found["forced"][1].as_bool()), (Some(true), Some(false)));
    assert_eq!(found["pinned"], serde_json::json!(pinned));
    let number = |key: &str| found[key].as_f64().expect("a number");
    assert!((number("log_p_forced") + number("log_p_free") - number("log_p")).abs() < 1e-5);
    assert!((number("log_p_forced") - f64::from(best.token_log_p[0])).abs() < 1e-6);
    assert_eq!(json["interventions"]["mask"], serde_json::json!([{"position": 1}]));
    let says = "forced 1; pinned 1 2; masked 1; 1 forbidden";
    let (text, pharaoh) = (translate(&[]), translate(&["--format", "pharaoh"]));
    assert_eq!(text.trim_end().split_once('\t').map(|(_, marks)| marks), Some(says), "{text}");
    assert_eq!(pharaoh.trim_end().split_once('\t').map(|(_, marks)| marks), Some(says), "{pharaoh}");
    let moses = translate(&["--nbest", "2"]);
    assert!(moses.lines().all(|line| line.ends_with(&format!(" ||| {says}"))), "{moses}");
    // Row 1 has the weights of the model itself, in the order of the seed, in spite of the mask.
    let own = decoded(&model, vec![Intervention::Force { i: 0, token: best.tokens[0] }], 1);
    let own = &own.hypotheses[0].alpha.as_ref().expect("it aligns")[0];
    let permuted: Vec<f32> = permutation(5, 0, 4).into_iter().map(|j| own[j]).collect();
    assert_eq!(best.alpha.as_ref().map(|alpha| &alpha[0]), Some(&permuted));
}

#[test]
fn a_line_each_and_what_does_not_fit_leaves_its_line_out() {
    let folder = Folder::new();
    TINY.save(&folder);
    let lines = "{\"version\": 1, \"prefix\": \"trois\"}\n\n{\"version\": 1, \"mask\": [{\"position\": 4}]}\n{\"version\": 1, \"prefix\": \"deux\"}\n";
    folder.put("plan.jsonl", lines);
    let arguments = ["translate", "--model", "tiny", "--beam", "1", "--interventions", "plan.jsonl"];
    let outcome = feed(&folder, &arguments, b"one two\nthree\none two\ntwo\n");
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("line 3: is left out: plan.jsonl, line 3: key `mask[0]`"), "{}", outcome.stderr);
    let found: Vec<&str> = outcome.stdout.lines().collect();
    assert!(found[0].starts_with("trois") && found[0].ends_with("\tforced 1"), "{found:?}");
    assert!(!found[1].contains('\t') && found[2].is_empty(), "{found:?}");
    assert!(found[3].starts_with("deux"), "{found:?}");
    for (text, says) in
        [("one\n".repeat(5), "has 4 lines, but the text has more"), ("one\n".repeat(2), "line 3: has no sentence")]
    {
        feed(&folder, &arguments, text.as_bytes()).refused(says);
    }
    let open = |text: &str| {
        folder.put("one.json", text);
        InterventionFile::open(&folder.join("one.json")).map(|file| file.all().is_some())
    };
    for (text, all) in [
        ("{\"version\": 1}", true),
        ("\n{\n\"version\": 1\n}\n", true),
        ("{\"version\": 1}\n{\"version\": 1}", false),
        ("\n{\"version\": 1}", false),
        ("{\"version\": 1}\n\n", true),
        ("{\"version\": 1}\n\n\n", false),
    ] {
        assert_eq!(open(text).expect(text), all, "{text:?}");
    }
    assert!(open("{\"version\": 1").is_err() && open("").is_err());
}

#[test]
fn nothing_changed_is_the_same_as_no_file() {
    let model = TINY.model();
    let plain = decoded(&model, Vec::new(), 3);
    let masked = decoded(&model, vec![Intervention::Mask { j: 0 }], 3);
    assert_ne!(plain, masked);
    let same: Arc<[Intervention]> = Arc::default();
    assert_eq!(decoded(&model, same.to_vec(), 3), plain);
}
