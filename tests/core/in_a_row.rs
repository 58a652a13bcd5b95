//! Two models in a row: the second translates what the first says, and their alignments are composed.

use std::path::Path;

use interlinear::decoding::ensemble::{Ensemble, Mixing};
use interlinear::decoding::{SearchOptions, Specials, decode, decode_all, force};
use interlinear::error::Error;
use interlinear::evaluation::EvaluatedSystem;
use interlinear::models::config::Architecture;
use interlinear::models::{Kernels, Model};
use interlinear::nn::device::Device;
use interlinear::text::tokenizer::Encode as _;
use interlinear::ticket::{CancellationToken, Generation};
use serde_json::Value;

use crate::cli::run_in;
use crate::tiny::{TINY, Tiny};

/// Reads what [`TINY`] says.
const NEXT: Tiny = Tiny { name: "next", source: TINY.target, target: &["eins", "zwei"], seed: 4, ..TINY };
const BLIND: Tiny = Tiny { name: "blind", architecture: Architecture::RNN_ENC_DEC, ..NEXT };

/// A model that reads French.
fn reads_french(tiny: &Tiny, folder: &Path) -> Model {
    let path = tiny.save(folder).join("config.json");
    let config = std::fs::read_to_string(&path).expect("a file");
    let config = config.replace("\"fr\"", "\"de\"").replace("\"en\"", "\"fr\"");
    std::fs::write(&path, config).expect("written");
    Model::load(&folder.join(tiny.name), &Device::cpu()).expect("a model")
}

fn specials(model: &Model) -> Specials {
    Specials { eos: model.config.eos, unk: model.config.unk, bars_unk: false }
}

#[test]
fn the_second_translates_what_the_first_says_and_alpha_is_the_product_of_both() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (TINY.model(), reads_french(&NEXT, folder.path()));
    let row = Ensemble::new(vec![first.clone(), second.clone()], Mixing::PIVOT).expect("fr to fr");
    assert_eq!((row.name().as_str(), row.aligns()), ("tiny > next", true));
    let system = EvaluatedSystem::from(&row);
    assert_eq!((system.architecture(), system.lead().config.source_language.as_str()), ("pivot", "en"));
    let (forever, options) =
        (CancellationToken::forever(), SearchOptions { max_length: Some(6), ..SearchOptions::default() });
    let mut stepper = row.stepper(Kernels::Fused, 1).expect("a stepper");
    let mut seen = Vec::new();
    for text in ["one two three", "three", "two two one one"] {
        let source = row.encode(text);
        assert_eq!(source, first.source.encode(text), "the words of the first");
        let whole = decode(&mut *stepper, row.specials(), &[&source.ids], &options, &forever, &mut |_, _| {});
        let whole = whole.expect("translated").remove(0).hypotheses;
        // the same by two searches
        let mut one = first.stepper(Kernels::Fused, 1).expect("a stepper");
        let said =
            decode(&mut *one, specials(&first), &[&source.ids], &SearchOptions::default(), &forever, &mut |_, _| {});
        let said = said.expect("translated").remove(0).hypotheses.remove(0);
        let words = said.tokens.strip_suffix(&[first.config.eos]).unwrap_or(&said.tokens).to_vec();
        let between = first.target.join("fr", &first.target.tokens(&words));
        let read = second.source.encode(&between);
        let mut two = second.stepper(Kernels::Fused, 1).expect("a stepper");
        let then = decode(
            &mut *two,
            specials(&second),
            &[&read.ids],
            &SearchOptions { max_length: Some(6), ..options.clone() },
            &forever,
            &mut |_, _| {},
        );
        let then = then.expect("translated").remove(0).hypotheses;
        for (whole, then) in whole.iter().zip(&then) {
            assert_eq!((&whole.tokens, whole.log_p), (&then.tokens, then.log_p), "{text}");
        }
        // each word is one token on both sides here, so the product is plain
        let (alpha, beta) = (then[0].alpha.as_ref().expect("it aligns"), said.alpha.as_ref().expect("it aligns"));
        assert_eq!(read.len(), words.len() + 1, "{between}");
        for (i, row) in whole[0].alpha.as_ref().expect("composed").iter().enumerate() {
            for (j, found) in row.iter().enumerate() {
                let end = beta.len() - 1;
                let beta_of = |w: usize| if w < words.len() { beta[w][j] } else { beta[end][j] };
                let product: f32 = alpha[i].iter().enumerate().map(|(w, alpha)| alpha * beta_of(w)).sum();
                assert!((found - product).abs() < 1e-5, "{text}: {found} is not {product}");
            }
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{text}: rows sum to 1");
        }
        let kept = row.between(&source.ids).expect("it is kept");
        assert_eq!((&kept.text, &kept.said.tokens), (&between, &said.tokens));
        seen.push((source.ids.clone(), whole[0].tokens.clone()));
    }
    // in a batch that others join, and with words that are given
    let sources: Vec<&[u32]> = seen.iter().map(|(source, _)| source.as_slice()).collect();
    let fresh = Ensemble::new(vec![first.clone(), second], Mixing::PIVOT).expect("fr to fr");
    let mut stepper = fresh.stepper(Kernels::Fused, 1).expect("a stepper");
    let mut found = vec![Vec::new(); sources.len()];
    decode_all(&mut *stepper, fresh.specials(), &sources, &options, 2, &forever, &mut |indexes, decoded| {
        for (index, decoded) in indexes.iter().zip(decoded) {
            found[*index].clone_from(&decoded.hypotheses[0].tokens);
        }
        Ok(())
    })
    .expect("translated");
    assert!(found.iter().eq(seen.iter().map(|(_, best)| best)), "{found:?}");
    let forced = force(&mut *stepper, &[(&seen[0].0, &seen[0].1)], &forever).expect("scored");
    assert!(forced[0].alpha.as_ref().is_some_and(|alpha| alpha[0].len() == seen[0].0.len()));
    // the first model is not waited for
    let generation = Generation::new();
    let stale = generation.next();
    let mut stepper = Ensemble::new(fresh.members().to_vec(), Mixing::PIVOT)
        .and_then(|row| row.stepper(Kernels::Plain, 1))
        .expect("one");
    stepper.heed(&stale);
    generation.cancel();
    assert!(matches!(stepper.begin(&sources), Err(Error::Stale)));
}

#[test]
fn what_cannot_be_a_row_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (TINY.model(), reads_french(&NEXT, folder.path()));
    let refuse = |members: &[&Model], told: &str| {
        let why =
            Ensemble::new(members.iter().map(|model| (*model).clone()).collect(), Mixing::PIVOT).expect_err("refused");
        assert!(why.to_string().contains(told), "{why}");
    };
    refuse(&[&second, &first], "writes `de`, but tiny reads `en`");
    refuse(&[&first], "are 1; name two");
    refuse(&[&first, &second, &first], "are 3; name two");
    let blind = reads_french(&BLIND, folder.path());
    let row = Ensemble::new(vec![first.clone(), blind], Mixing::PIVOT).expect("fr to fr");
    let source = row.encode("one");
    let mut stepper = row.stepper(Kernels::Fused, 1).expect("a stepper");
    let forever = CancellationToken::forever();
    let decoded =
        decode(&mut *stepper, row.specials(), &[&source.ids], &SearchOptions::default(), &forever, &mut |_, _| {});
    assert!(!row.aligns() && decoded.expect("translated")[0].hypotheses[0].alpha.is_none(), "no alignment is made up");
}

#[test]
fn commands_translate_and_score_by_two_models() {
    let folder = tempfile::tempdir().expect("a folder");
    TINY.save(folder.path());
    reads_french(&NEXT, folder.path());
    let run = |arguments: &[&str], input: &str| run_in(folder.path(), arguments, input.as_bytes());
    let json = |arguments: &[&str], input: &str| -> Vec<Value> {
        let done = run(arguments, input);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{arguments:?}");
        done.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let input = "one two three\n\nthree\n";
    let translate = ["translate", "--format", "jsonl", "--model"];
    let row = json(&[&translate[..], &["tiny", "--then", "next"]].concat(), input);
    let alone = json(&[&translate[..], &["tiny"]].concat(), input);
    let texts = |lines: &[Value], key: &str| -> String {
        lines.iter().map(|line| format!("{}\n", line[key]["text"].as_str().unwrap_or_default())).collect()
    };
    for (row, alone) in row.iter().zip(&alone) {
        assert_eq!(row["pivot"]["text"], alone["hypotheses"][0]["text"]);
        assert_eq!(row["pivot"]["alpha"], alone["hypotheses"][0]["alpha"]);
        assert_eq!(row["source"], alone["source"]);
    }
    let then = json(&[&translate[..], &["next"]].concat(), &texts(&row, "pivot"));
    for (row, then) in row.iter().zip(&then) {
        assert_eq!(row["hypotheses"][0]["text"], then["hypotheses"][0]["text"]);
        assert_eq!(row["hypotheses"][0]["log_p"], then["hypotheses"][0]["log_p"]);
    }
    let pinned = folder.path().join("set.json");
    std::fs::write(&pinned, r#"{"version": 1, "pin": [{"row": 1, "alpha": "uniform"}]}"#).expect("written");
    let set = run(&["translate", "--model", "tiny", "--then", "next", "--interventions", "set.json"], "one\n");
    assert!(set.code != 0 && set.stderr.contains("alpha of two models in a row"), "{}: {}", set.code, set.stderr);
    for (arguments, told) in [
        (&["--model", "next", "--then", "tiny"][..], "writes `de`, but tiny reads `en`"),
        (&["--model", "tiny", "--model", "tiny", "--then", "next"], "give it once"),
        (&["--model", "tiny", "--then", "next", "--ensemble"], "cannot be used with"),
    ] {
        let refused = run(&[&["translate"], arguments].concat(), "one\n");
        assert!(refused.code == 2 && refused.stderr.contains(told), "{arguments:?}: {}", refused.stderr);
    }
}
