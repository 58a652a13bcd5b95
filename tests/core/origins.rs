//! Models of others against what their own toolkits make of them: the same pieces, words, log p, beams and weights; and
//! files that are not as they should be, each told in a sentence.

use std::fs;
use std::path::{Path, PathBuf};

use interlinear::decoding::{SearchOptions, Specials, decode, force};
use interlinear::models::{Kernels, Model};
use interlinear::text::{foreign::vocabulary::Vocabulary, tokenizer::Tokenizer};
use interlinear::{models::config::OwnSizes, nn::device::Device};
use serde_json::Value;

use crate::{cli::run_line, folder::Folder, forever};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/origins").join(name)
}

fn expected(path: &Path) -> Vec<Value> {
    serde_json::from_slice(&fs::read(path).expect("it is there")).expect("JSON")
}

fn numbers(value: &Value) -> Vec<f32> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number") as f32).collect()
}

fn ids(value: &Value) -> Vec<u32> {
    numbers(value).into_iter().map(|id| id as u32).collect()
}

fn words(value: &Value) -> Vec<String> {
    let words = value.as_array().expect("words").iter().filter_map(Value::as_str);
    words.map(|word| word.replace("<unk>", "[UNK]")).collect()
}

#[track_caller]
fn near(what: &str, found: &[f32], expected: &[f32], most: f32) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart <= most, "{what}: {apart} apart");
}

#[track_caller]
fn near_rows(what: &str, found: &[Vec<f32>], expected: &Value, most: f32) {
    for (found, expected) in found.iter().zip(expected.as_array().expect("rows")) {
        near(what, found, &numbers(expected), most);
    }
}

fn options(beam: usize, record: &Value) -> SearchOptions {
    SearchOptions { beam, max_length: record["most"].as_u64().map(|most| most as usize), ..SearchOptions::default() }
}

fn search(model: &Model, source: &[u32], options: &SearchOptions) -> Vec<interlinear::decoding::Hypothesis> {
    let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
    let specials = Specials { eos: model.config.eos, unk: model.config.unk, bars_unk: false };
    let found = decode(stepper.as_mut(), specials, &[source], options, &forever(), &mut |_, _| {});
    found.expect("translated").remove(0).hypotheses
}

fn look(model: &Model, layer: usize, heads: Vec<usize>, source: &[u32], target: &[u32]) -> Vec<Vec<f32>> {
    let mut other = model.clone();
    let OwnSizes::Transformer(sizes) = &mut other.config.own else { panic!("no Transformer") };
    (sizes.alignment_layer, sizes.alignment_heads) = (layer, heads);
    let mut stepper = other.stepper(Kernels::Plain, 1).expect("a stepper");
    let forced = force(stepper.as_mut(), &[(source, target)], &forever()).expect("forced");
    forced.into_iter().next().and_then(|forced| forced.alpha).expect("it aligns")
}

#[test]
fn marianmt_folders_say_what_transformers_says() {
    for name in ["mt-trained", "mt-random", "mt-multi", "mt-separate", "mt-half"] {
        let model = Model::load(fixture(name), &Device::cpu()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let sizes = model.config.transformer().cloned().expect("a Transformer");
        for record in expected(&fixture(name).join("expected.json")) {
            let text = record["text"].as_str().expect("a text");
            let source = model.source.encode(text).ids;
            assert_eq!(source, ids(&record["source"]), "{name}: {text}");
            let best = &search(&model, &source, &options(1, &record))[0];
            assert_eq!(best.tokens, ids(&record["greedy"]), "{name}: {text}");
            near(&format!("{name}: {text}"), &best.token_log_p, &numbers(&record["log_p"]), 1e-4);
            let first = look(&model, sizes.decoder_layers, vec![1], &source, &best.tokens);
            near_rows(&format!("{name}: {text}, head 1"), &first, &record["alpha"], 1e-5);
            let all = (1..=sizes.heads).collect();
            let below = look(&model, 1, all, &source, &best.tokens);
            near_rows(&format!("{name}: {text}, layer 1"), &below, &record["first"], 1e-5);
            let found = search(&model, &source, &options(3, &record));
            let list = record["beam"].as_array().expect("a list");
            for (found, expected) in found.iter().zip(list) {
                assert_eq!(found.tokens, ids(&expected[0]), "{name}: {text}");
                let log_p = expected[1].as_f64().expect("a number") as f32;
                near(&format!("{name}: {text}, beam"), &[found.log_p], &[log_p], 1e-4);
            }
        }
    }
}

#[test]
fn ctranslate2_and_argos_say_what_ctranslate2_says() {
    let packages = ["ct2-f32", "ct2-int8", "ct2-f16", "ct2-int16", "ct2-bf16", "ct2-onmt", "argos"];
    for name in packages {
        let path = if name == "argos" { fixture(name).join("en_fr.argosmodel") } else { fixture(name) };
        let model = Model::load(&path, &Device::cpu()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let files: &[(&str, f32)] = if name == "ct2-int8" {
            // there the activations are rounded too
            &[("expected.json", 1e-5), ("int8.json", 2e-2)]
        } else {
            &[("expected.json", 1e-5)]
        };
        for (file, most) in files {
            for record in expected(&fixture(name).join(file)) {
                let text = record["text"].as_str().expect("a text");
                let pieces: Vec<&str> =
                    record["source"].as_array().expect("pieces").iter().filter_map(Value::as_str).collect();
                let source = if name == "ct2-onmt" {
                    model.source.encode(&pieces.join(" ")).ids
                } else {
                    model.source.encode(text).ids
                };
                assert_eq!(model.source.tokens(&source), words(&record["source"]), "{name}: {text}");
                let mut best = search(&model, &source, &options(1, &record)).remove(0);
                best.tokens.retain(|token| *token != model.config.eos);
                let greedy = words(&record["greedy"]);
                assert_eq!(model.target.tokens(&best.tokens), greedy, "{name}: {text}");
                let count = greedy.len();
                if *most < 1e-3 {
                    let log_p = numbers(&record["log_p"]);
                    near(&format!("{name}: {text}"), &best.token_log_p[..count], &log_p[..count], 1e-4);
                }
                let alpha = best.alpha.expect("it aligns");
                near_rows(&format!("{name}: {text}, alpha"), &alpha, &record["attention"], *most);
            }
        }
    }
}

#[test]
fn checkpoints_say_what_opennmt_and_joey_say() {
    let folders = [
        "onmt-brnn", "onmt-gru", "onmt-dot", "onmt-transformer", "onmt3-gru", "onmt3-transformer", "joey-gru",
        "joey-lstm", "joey-pre", "joey-post",
    ];
    for name in folders {
        let model = Model::load(fixture(name), &Device::cpu()).unwrap_or_else(|error| panic!("{name}: {error}"));
        for record in expected(&fixture(name).join("expected.json")) {
            let text = record["text"].as_str().expect("a text");
            let what = format!("{name}: {text}");
            let source = model.source.encode(text).ids;
            assert_eq!(model.source.tokens(&source), words(&record["source"]), "{what}");
            let best = &search(&model, &source, &options(1, &record))[0];
            assert_eq!(model.target.tokens(&best.tokens), words(&record["greedy"]), "{what}");
            near(&what, &best.token_log_p, &numbers(&record["log_p"]), 1e-4);
            // what OpenNMT-py shows of a Transformer is its first head, Joey NMT the mean: the alignment here too
            let alpha = best.alpha.as_ref().expect("it aligns");
            near_rows(&format!("{what}, alpha"), alpha, &record["alpha"], 1e-5);
            let found = search(&model, &source, &options(3, &record));
            let list = record["beam"].as_array().expect("a list");
            let ended = found.iter().filter(|hypothesis| hypothesis.tokens.last() == Some(&model.config.eos));
            let ended: Vec<_> = ended.collect();
            assert!(ended.len() >= list.len(), "{what}: {} of {}", ended.len(), list.len());
            for (found, expected) in ended.iter().zip(list) {
                assert_eq!(model.target.tokens(&found.tokens), words(&expected[0]), "{what}");
                let log_p = expected[1].as_f64().expect("a number") as f32;
                near(&format!("{what}, list"), &[found.log_p], &[log_p], 1e-4);
            }
        }
    }
}

#[test]
fn inspect_says_what_a_checkpoint_is() {
    for (name, facts) in [
        ("onmt-brnn", ["OpenNMT-py checkpoint", "toolkit             OpenNMT-py", "both directions     true", "lstm"]),
        (
            "onmt3-transformer",
            ["OpenNMT-py checkpoint", "heads               2", "head 1 of decoder layer 2 of 2, which", "und"],
        ),
        ("joey-gru", ["Joey NMT checkpoint", "source language     de", "target language     en", "gru-cudnn"]),
    ] {
        let shown = run_line(&fixture(name), "inspect .").stdout;
        for fact in facts.into_iter().chain(["licence             not known", "alignment           "]) {
            assert!(shown.contains(fact), "{name}: {fact} in {shown}");
        }
    }
}

#[test]
fn what_a_checkpoint_has_that_is_not_known_is_refused_by_its_name() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/opennmt");
    for (file, told) in [
        ("copy", "key `copy_attn` is true, which is not implemented"),
        ("sparse", "key `global_attention_function` is sparsemax"),
        ("gate", "key `context_gate` is both"),
        ("coverage", "tensor `decoder.attn.linear_cover.weight` is not part of"),
        ("feature", "tensor `encoder.embeddings.make_embedding.emb_luts.1.weight` is not part of"),
        ("shape", "tensor `decoder.attn.linear_out.weight` has the shape [6, 11] where [6, 12] was expected"),
        ("half-vocabulary", "no list of the words of `src`"),
        ("without-model", "is a checkpoint of OpenNMT-py without its weights"),
        ("call", "asks for `posix.system`"),
        ("cut", "is damaged"),
    ] {
        let message = Model::load(corpus.join(file).with_extension("pt"), &Device::cpu()).expect_err(file).to_string();
        assert!(message.contains(told) && message.contains(file), "{file}: {message}");
    }
    let mut folder = fixture("onmt-gru");
    assert_eq!(Model::load(&folder, &Device::cpu()).expect("a model").config.name, "onmt-gru");
    folder.push("model_step_10.pt");
    assert_eq!(Model::load(&folder, &Device::cpu()).expect("a model").config.name, "onmt-gru", "not model_step_10");
}

#[test]
fn text_of_a_model_of_words_alone_is_read_again_as_it_was_said() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("written");
        path
    };
    let words =
        Vocabulary::read(&write("v.yml", "</s>: 0\n<unk>: 1\nit: 2\n\"'s\": 3\nlate: 4\n\",\": 5\n.: 6\n"), None)
            .expect("words");
    let pieces = "</s>: 0\n<unk>: 1\nit: 2\n\"'s\": 3\nl@@: 4\nate: 5\n.: 6\n";
    let pieces = Vocabulary::read(&write("p.yml", pieces), None).expect("pieces");
    let codes = write("codes", "#version: 0.2\na t\nat e</w>\ni t</w>\n' s</w>\n");
    for (what, json, ids) in [
        ("words", words.words_tokenizer(None), vec![2, 3, 4, 5, 4, 6]),
        ("codes", pieces.words_tokenizer(Some(&codes)), vec![2, 3, 4, 5, 6]),
    ] {
        let tokenizer = Tokenizer::from_json(&folder, &json.expect(what)).expect(what).ending(false);
        let text = tokenizer.join("en", &tokenizer.tokens(&ids));
        assert_eq!(tokenizer.encode(&text).ids, ids, "{what}: {text}");
    }
}

#[test]
fn checkpoints_of_other_toolkits_are_refused_by_the_toolkit() {
    let folder = Folder::new();
    for (file, bytes, told) in [
        (
            "model_step_9.pt",
            &b"PK\x03\x04..encoder.embeddings.make_embedding.emb_luts.0.weight"[..],
            "is a damaged zip",
        ),
        ("checkpoint_best.pt", b"PK\x03\x04..extra_state..optimizer_history..", "fairseq"),
        ("best.ckpt", b"PK\x03\x04..best_ckpt_score..model_state", "Joey NMT"),
        ("final.T7", b"\x04\x00..onmt.Encoder..", "OpenNMT-lua"),
        ("other.pt", b"PK\x03\x04..weights", "other.pt"),
    ] {
        let path = folder.join(file);
        std::fs::write(&path, bytes).expect("written");
        let named = Model::load(&path, &Device::cpu()).expect_err(file).to_string();
        let inside = Model::load(&folder, &Device::cpu()).expect_err(file).to_string();
        std::fs::remove_file(&path).expect("removed");
        assert!(named.contains(told) && named.contains(file), "{named}");
        let is_known = !["other.pt", "model_step_9.pt"].contains(&file);
        assert_eq!([&named, &inside].map(|error| error.contains("is a checkpoint of")), [is_known; 2], "{inside}");
    }
}
