//! The Transformer: the fused form against the readable one, over what models of others have.

use std::path::Path;
use std::sync::Arc;

use candle_core::{DType, Device as Candle};
use interlinear::decoding::{Decoded, SearchOptions, Specials, decode, decode_all, force, force_heads};
use interlinear::interventions::{Intervening, Intervention};
use interlinear::models::anatomy::{MachineStage, dissect};
use interlinear::models::checkpoint::Weights;
use interlinear::models::choice::HeadChoice;
use interlinear::models::config::{Architecture, Config};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::models::loss::trainable;
use interlinear::models::plain::PlainStepper;
use interlinear::models::transformer::position;
use interlinear::models::transformer::sizes::{Activation, AlignmentReason, DecoderCell, Positions, TransformerSizes};
use interlinear::models::{Need, StepOutput, StepRow, Stepper, folder, fused};
use interlinear::ticket::CancellationToken;

use crate::models::{assert_close, check_gradients, variables};

const SPECIALS: Specials = Specials { eos: 0, unk: 1 };
const SOURCES: &[&[u32]] = &[&[4, 2, 5, 0], &[3, 0], &[6, 6, 2, 7, 3, 0], &[5, 0], &[2, 3, 4, 5, 6, 7, 0], &[7, 2, 0]];

fn config(name: &str, sizes: TransformerSizes) -> Config {
    Config {
        name: name.to_owned(),
        architecture: Architecture::TRANSFORMER,
        source_language: "en".to_owned(),
        target_language: "fr".to_owned(),
        source_vocabulary: 9,
        target_vocabulary: if sizes.shared_embedding { 9 } else { 8 },
        eos: 0,
        unk: 1,
        source_eos: true,
        embedding: 12,
        hidden: 12,
        maxout: 0,
        alignment: 0,
        output_rank: None,
        luong: None,
        transformer: Some(sizes),
        nematus: None,
    }
}

/// What people's models have: Marian's, Hugging Face's, Firefox's, OpenNMT's.
fn configs() -> Vec<Config> {
    let marian = TransformerSizes {
        heads: 3,
        encoder_layers: 2,
        decoder_layers: 2,
        feed_forward: 10,
        decoder_feed_forward: 14,
        norm_first: false,
        norm_epsilon: 1e-6,
        activation: Activation::Swish,
        cell: DecoderCell::SelfAttention,
        positions: Positions::Marian,
        max_positions: 0,
        scale_embedding: true,
        shared_embedding: false,
        tied_output: true,
        start: None,
        alignment_layer: 2,
        alignment_heads: vec![1],
        alignment_reason: AlignmentReason::Guided,
    };
    let hugging = TransformerSizes {
        shared_embedding: true,
        positions: Positions::Vaswani,
        alignment_heads: vec![1, 2, 3],
        alignment_reason: AlignmentReason::Unknown,
        ..marian.clone()
    };
    let firefox = TransformerSizes {
        cell: DecoderCell::Ssru,
        activation: Activation::Relu,
        shared_embedding: true,
        decoder_layers: 3,
        ..marian.clone()
    };
    let open = TransformerSizes {
        norm_first: true,
        activation: Activation::Gelu,
        positions: Positions::Table,
        max_positions: 40,
        tied_output: false,
        start: Some(3),
        alignment_layer: 1,
        alignment_heads: vec![2, 3],
        alignment_reason: AlignmentReason::Named,
        ..marian.clone()
    };
    let pre = TransformerSizes { norm_first: true, cell: DecoderCell::Ssru, scale_embedding: false, ..marian.clone() };
    [("marian", marian), ("hugging", hugging), ("firefox", firefox), ("open", open), ("pre", pre)]
        .into_iter()
        .map(|(name, sizes)| config(name, sizes))
        .collect()
}

/// Weights far from 0, so that every part of the model is felt.
fn weights(config: &Config, seed: u64) -> Arc<Weights> {
    let mut weights = initial_weights(config, InitScheme::Uniform, seed);
    for (name, array) in weights.iter_mut() {
        let (scale, shift) = if name.rsplit('.').next() == Some("g") { (3.0, 1.0) } else { (7.0, 0.0) };
        array.data.iter_mut().for_each(|x| *x = *x * scale + shift);
    }
    Arc::new(weights)
}

fn plain(config: &Config, weights: &Weights) -> PlainStepper {
    PlainStepper::new(folder::readable(config, weights, &Candle::Cpu).expect("the readable form"))
}

fn quick(config: &Config, weights: &Arc<Weights>) -> Box<dyn Stepper> {
    fused::stepper(config, weights, 2).expect("the fused form")
}

/// One step of both, and the same numbers.
fn same_step(what: &str, steppers: &mut [&mut dyn Stepper; 2], rows: &[StepRow], lengths: &[usize]) {
    let mut outputs = [StepOutput::default(), StepOutput::default()];
    for (stepper, output) in steppers.iter_mut().zip(&mut outputs) {
        stepper.step(rows, &Need::all(), output).expect("a step");
    }
    let [found, expected] = &outputs;
    assert_close(&format!("{what}: log p"), &found.log_p, &expected.log_p);
    for (r, row) in rows.iter().enumerate() {
        let length = lengths[row.sentence];
        let alpha = |output: &StepOutput| output.alpha_row(r, length).expect("it aligns").to_vec();
        assert_close(&format!("{what}: alpha"), &alpha(found), &alpha(expected));
        assert!((alpha(found).iter().sum::<f32>() - 1.0).abs() < 1e-5, "{what}");
        let e = |output: &StepOutput| output.energies_row(r, length).expect("it aligns").to_vec();
        if e(expected)[0].is_nan() {
            assert!(e(found).iter().all(|e| e.is_nan()), "{what}: energies were made up");
        } else {
            assert_close(&format!("{what}: energies"), &e(found), &e(expected));
        }
    }
}

#[test]
fn the_fused_form_gives_the_numbers_of_the_readable_one() {
    for config in configs() {
        let weights = weights(&config, 7);
        let (mut plain, mut quick) = (plain(&config, &weights), quick(&config, &weights));
        let sources = &SOURCES[..3];
        let lengths: Vec<usize> = sources.iter().map(|source| source.len()).collect();
        let mut both: [&mut dyn Stepper; 2] = [quick.as_mut(), &mut plain];
        for stepper in &mut both {
            stepper.begin(sources).expect("encodes");
        }
        let row = |sentence, parent, y_prev| StepRow { sentence, parent, y_prev };
        let steps: &[&[StepRow]] = &[
            &[row(0, 0, None), row(1, 0, None), row(2, 0, None), row(2, 0, None)],
            &[row(2, 3, Some(4)), row(0, 0, Some(2)), row(2, 2, Some(5)), row(2, 3, Some(6)), row(0, 0, Some(2))],
            &[row(0, 1, Some(3)), row(2, 3, Some(3)), row(2, 0, Some(1))],
            &[row(2, 2, Some(7)), row(2, 1, Some(2)), row(0, 0, Some(4)), row(2, 1, Some(2))],
        ];
        for (i, rows) in steps.iter().enumerate() {
            same_step(&format!("{}, step {i}", config.name), &mut both, rows, &lengths);
        }
    }
}

fn best(stepper: &mut dyn Stepper, source: &[u32]) -> Decoded {
    let options = SearchOptions { beam: 3, max_length: Some(9), ..SearchOptions::default() };
    let found = decode(stepper, SPECIALS, &[source], &options, &CancellationToken::forever(), &mut |_, _| {});
    found.expect("it decodes").remove(0)
}

fn check_same(what: &str, found: &Decoded, expected: &Decoded) {
    assert_eq!(found.hypotheses.len(), expected.hypotheses.len(), "{what}");
    for (found, expected) in found.hypotheses.iter().zip(&expected.hypotheses) {
        assert_eq!(found.tokens, expected.tokens, "{what}");
        assert_close(what, &[found.log_p], &[expected.log_p]);
        let numbers = |rows: &Option<Vec<Vec<f32>>>| rows.iter().flatten().flatten().copied().collect::<Vec<f32>>();
        assert_close(what, &numbers(&found.alpha), &numbers(&expected.alpha));
    }
}

/// Words that were said leave the stores of a batch that sentences enter and leave.
#[test]
fn sentences_that_enter_a_batch_have_the_translations_that_they_have_alone() {
    for config in configs() {
        let weights = weights(&config, 11);
        let (mut plain, mut quick) = (plain(&config, &weights), quick(&config, &weights));
        assert!(quick.joins());
        let many: Vec<&[u32]> = SOURCES.iter().copied().cycle().take(24).collect();
        let options = SearchOptions { beam: 3, max_length: Some(9), ..SearchOptions::default() };
        let mut all: Vec<Option<Decoded>> = many.iter().map(|_| None).collect();
        let mut keep = |indexes: &[usize], decoded: Vec<Decoded>| {
            indexes.iter().zip(decoded).for_each(|(index, decoded)| all[*index] = Some(decoded));
            Ok(())
        };
        let forever = CancellationToken::forever();
        decode_all(quick.as_mut(), SPECIALS, &many, &options, 3, &forever, &mut keep).expect("they decode");
        for (n, source) in SOURCES.iter().enumerate() {
            let expected = best(&mut plain, source);
            check_same(&format!("{}, alone {n}", config.name), &best(quick.as_mut(), source), &expected);
            for again in (n..many.len()).step_by(SOURCES.len()) {
                let found = all[again].as_ref().expect("translated");
                check_same(&format!("{}, sentence {again}", config.name), found, &expected);
            }
        }
    }
}

/// Where alpha is set, the heads that are the alignment look as it says, in both forms; set as it was, nothing changes.
#[test]
fn what_is_set_by_hand_is_what_the_heads_read() {
    for config in configs() {
        let weights = weights(&config, 5);
        let (mut plain, mut quick) = (plain(&config, &weights), quick(&config, &weights));
        let words = best(quick.as_mut(), SOURCES[0]).hypotheses[0].tokens.clone();
        let pair: [(&[u32], &[u32]); 1] = [(SOURCES[0], &words)];
        let forever = CancellationToken::forever();
        let scored = |stepper: &mut dyn Stepper| {
            let free = force(stepper, &pair, &forever).expect("it scores").remove(0);
            let own = free.alpha.expect("it aligns")[0].clone();
            let set = [own, vec![0.0, 0.0, 1.0, 0.0]].map(|alpha| {
                let list: Arc<[Intervention]> = [Intervention::Pin { i: 0, alpha }].into();
                let mut changed = Intervening::new(&mut *stepper, vec![list]);
                force(&mut changed, &pair, &forever).expect("it scores").remove(0).log_p
            });
            [free.log_p, set[0], set[1]]
        };
        let (found, expected) = (scored(quick.as_mut()), scored(&mut plain));
        assert_close(&config.name, &found, &expected);
        assert_close(&config.name, &found[1..2], &found[..1]);
        assert!((found[2] - found[0]).abs() > 1e-4, "{}: {found:?}", config.name);
    }
}

/// What all heads show is what each shows as the alignment, and their mean where several are.
#[test]
fn every_head_is_what_it_shows_as_the_alignment() {
    for config in configs() {
        let weights = weights(&config, 9);
        let words: &[u32] = &[2, 5, 3, 0];
        let pair: [(&[u32], &[u32]); 1] = [(SOURCES[2], words)];
        let forever = CancellationToken::forever();
        let heads = force_heads(quick(&config, &weights).as_mut(), &pair, &forever).expect("it has heads").remove(0);
        let sizes = config.transformer.clone().expect("sizes");
        assert_eq!(heads.len(), sizes.decoder_layers * sizes.heads);
        for choice in ["1.1", "2.3", "2.1+3", "1"] {
            let chosen = HeadChoice::parse(choice).expect("a choice");
            let path = Path::new("model");
            let other = Config { transformer: Some(chosen.of(path, &sizes).expect("there")), ..config.clone() };
            for mut stepper in [quick(&other, &weights), Box::new(plain(&other, &weights))] {
                let alpha =
                    force(stepper.as_mut(), &pair, &forever).expect("it scores").remove(0).alpha.expect("it aligns");
                let all = (1..=sizes.heads).collect();
                let wanted = if chosen.heads.is_empty() { all } else { chosen.heads.clone() };
                for (i, row) in alpha.iter().enumerate() {
                    let at = |head: &usize| &heads[(chosen.layer - 1) * sizes.heads + head - 1][i];
                    let mean = |j: usize| wanted.iter().map(|head| at(head)[j]).sum::<f32>() / wanted.len() as f32;
                    let mean: Vec<f32> = (0..row.len()).map(mean).collect();
                    assert_close(&format!("{}@{choice}", config.name), row, &mean);
                }
            }
        }
        let refused = HeadChoice::parse("9.1").expect("a choice").of(Path::new("model"), &sizes).expect_err("too high");
        assert!(refused.to_string().contains("decoder layers of 3 heads"), "{refused}");
    }
    let tiny = crate::tiny::TINY.model();
    let mut stepper = tiny.stepper(interlinear::models::Kernels::Fused, 1).expect("a stepper");
    let refused = force_heads(stepper.as_mut(), &[(&[2, 0], &[2, 0])], &CancellationToken::forever());
    assert!(refused.expect_err("an RNN").to_string().contains("choose a Transformer"));
}

/// Page Steps shows the numbers of the steps.
#[test]
fn taken_apart_it_computes_the_same() {
    for config in configs() {
        let weights = weights(&config, 13);
        let mut stepper = quick(&config, &weights);
        let words = [4, 2, 0];
        let pair: [(&[u32], &[u32]); 1] = [(SOURCES[0], &words)];
        let expected = force(stepper.as_mut(), &pair, &CancellationToken::forever()).expect("it scores").remove(0);
        let mut anatomy = dissect(&config, &weights, None).expect("it can be taken apart");
        let encoded = anatomy.encode(SOURCES[0]).expect("it reads");
        let stages = anatomy.machine().stages;
        let (mut state, mut y_prev) = (encoded.start.clone(), None);
        for (i, word) in words.iter().enumerate() {
            let taken = anatomy.step(&encoded, &state, y_prev).expect("a step");
            let alpha = expected.alpha.as_ref().expect("it aligns");
            assert_close(&config.name, taken.alpha_i.as_ref().expect("it aligns"), &alpha[i]);
            assert_close(&config.name, &[taken.log_p[*word as usize]], &[expected.token_log_p[i]]);
            let parts: Vec<&str> = encoded.parts.iter().chain(&taken.parts).map(|part| part.key).collect();
            let shown = |stage: &&MachineStage| !stage.shows.is_empty();
            assert!(stages.iter().filter(shown).all(|stage| parts.contains(&stage.key)), "{parts:?}");
            (state, y_prev) = (taken.state, Some(*word));
        }
    }
}

#[test]
fn gradients_agree_with_differences_in_float64() {
    for config in configs().into_iter().filter(|config| ["hugging", "pre"].contains(&config.name.as_str())) {
        let weights = weights(&config, 3);
        let (tensors, variables) = variables(&weights, DType::F64);
        let model = trainable(&config, &tensors).expect("a model");
        check_gradients(&config.name, model.as_ref(), &variables, (0.0, 0.0), 1);
    }
}

#[test]
fn positions_are_those_of_the_origins() {
    // t = 3 of d = 4: Marian's angles are 3 and 3 / 10000, those of the paper 3 and 3 / 100
    let found = position(Positions::Marian, 3, 4);
    assert_close("marian", &found, &[3f32.sin(), 3e-4, 3f32.cos(), 1.0]);
    assert_close("vaswani", &position(Positions::Vaswani, 3, 4), &[3f32.sin(), 0.029_995_5, 3f32.cos(), 0.999_55]);
}

#[test]
fn a_configuration_is_written_as_it_is_read_and_its_faults_are_named() {
    let path = std::path::Path::new("config.json");
    for config in configs() {
        let json = config.to_json();
        assert_eq!(Config::from_json(path, &json).expect("sound"), config, "{json}");
    }
    let json = configs()[0].to_json();
    let faults = [
        ("\"heads\": 3", "\"heads\": 5", "heads"),
        ("\"alignment_heads\": [1]", "\"alignment_heads\": [4]", "from 1 to 3"),
        ("\"alignment_heads\": [1]", "\"alignment_heads\": []", "alignment_heads"),
        ("\"alignment_layer\": 2", "\"alignment_layer\": 3", "alignment_layer"),
        ("\"activation\": \"swish\"", "\"activation\": \"tanh\"", "relu, swish, gelu"),
        ("\"positions\": \"marian\"", "\"positions\": \"table\"", "max_positions"),
        ("\"norm_epsilon\": 1e-6", "\"norm_epsilon\": 3", "norm_epsilon"),
        ("\"tied_output\": true,", "", "tied_output"),
    ];
    for (from, to, named) in faults {
        assert!(json.contains(from), "{from} in {json}");
        let refused = Config::from_json(path, &json.replace(from, to)).expect_err(to).to_string();
        assert!(refused.contains(named), "{refused}");
    }
}
