//! The Transformer: the fused form against the readable one, over what models of others have.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use candle_core::{DType, Device as Candle};
use interlinear::analysis::{ablation, divergence::jensen_shannon, measures::MEASURES};
use interlinear::decoding::{Decoded, HeadAlphas, SearchOptions, Specials, decode, force, force_heads};
use interlinear::interventions::{Intervening, Intervention, InterventionReader, Interventions, Origin, ResolvedText};
use interlinear::jobs::queue::probe::{ProbeQuestion, Probed};
use interlinear::models::anatomy::{MachineStage, Miswiring, anatomy_of};
use interlinear::models::checkpoint::{Array, Weights};
use interlinear::models::config::{Architecture, Config};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::models::transformer::heads::{HeadKind, HeadPlace};
use interlinear::models::transformer::sizes::{Activation, AlignmentReason, DecoderCell, Positions, TransformerSizes};
use interlinear::models::{Kernels, Model, Need, StepOutput, StepRow, Stepper, fused, shapes};
use interlinear::models::{choice::HeadChoice, folder::hexadecimal, loss::trainable, transformer::sizes::position};
use interlinear::{decoding::forced::follow, decoding::reweigh::share, host::words::decode_all};
use interlinear::{nn::device::Device, nn::linear::Parameters, nn::trace::Trace, text::vocab};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::cli::{json_lines, json_of, run_in};
use crate::folder::{Files as _, Folder};
use crate::models::{assert_close, check_gradients, variables};
use crate::toolkits::{plain, quick};
use crate::{forever, probes::lane_answers};

const SPECIALS: Specials = Specials { eos: 0, unk: 1, bars_unk: false };
const SOURCES: &[&[u32]] = &[&[4, 2, 5, 0], &[3, 0], &[6, 6, 2, 7, 3, 0], &[5, 0], &[2, 3, 4, 5, 6, 7, 0], &[7, 2, 0]];

fn config(name: &str, sizes: TransformerSizes) -> Config {
    Config {
        name: name.to_owned(),
        source_language: "en".to_owned(),
        target_language: "fr".to_owned(),
        source_vocabulary: 9,
        target_vocabulary: if sizes.shared_embedding { 9 } else { 8 },
        own: sizes.into(),
        ..Config::bare(Architecture::TRANSFORMER, 12)
    }
}

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

fn weights(config: &Config, seed: u64) -> Arc<Weights> {
    let mut weights = initial_weights(config, InitScheme::Uniform, seed);
    for (name, array) in weights.iter_mut() {
        let (scale, shift) = if name.rsplit('.').next() == Some("g") { (3.0, 1.0) } else { (7.0, 0.0) };
        array.data.iter_mut().for_each(|x| *x = *x * scale + shift);
    }
    Arc::new(weights)
}

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
    let found = decode(stepper, SPECIALS, &[source], &options, &forever(), &mut |_, _| {});
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

#[test]
fn sentences_that_enter_a_batch_have_the_translations_that_they_have_alone() {
    for config in configs() {
        let weights = weights(&config, 11);
        let (mut plain, mut quick) = (plain(&config, &weights), quick(&config, &weights));
        assert!(quick.joins());
        let many: Vec<&[u32]> = SOURCES.iter().copied().cycle().take(24).collect();
        let options = SearchOptions { beam: 3, max_length: Some(9), ..SearchOptions::default() };
        let all = decode_all(SPECIALS, quick.as_mut(), &many, &options, 3).expect("they decode");
        for (n, source) in SOURCES.iter().enumerate() {
            let expected = best(&mut plain, source);
            check_same(&format!("{}, alone {n}", config.name), &best(quick.as_mut(), source), &expected);
            for again in (n..many.len()).step_by(SOURCES.len()) {
                check_same(&format!("{}, sentence {again}", config.name), &all[again], &expected);
            }
        }
    }
}

#[test]
fn what_is_set_by_hand_is_what_the_heads_read() {
    for config in configs() {
        let weights = weights(&config, 5);
        let (mut plain, mut quick) = (plain(&config, &weights), quick(&config, &weights));
        let words = best(quick.as_mut(), SOURCES[0]).hypotheses[0].tokens.clone();
        let pair: [(&[u32], &[u32]); 1] = [(SOURCES[0], &words)];
        let scored = |stepper: &mut dyn Stepper| {
            let free = force(stepper, &pair, &forever()).expect("it scores").remove(0);
            let own = free.alpha.expect("it aligns")[0].clone();
            let set = [own, vec![0.0, 0.0, 1.0, 0.0]].map(|alpha| {
                let list: Arc<[Intervention]> = [Intervention::Pin { i: 0, alpha }].into();
                let mut changed = Intervening::new(&mut *stepper, vec![list]);
                force(&mut changed, &pair, &forever()).expect("it scores").remove(0).log_p
            });
            [free.log_p, set[0], set[1]]
        };
        let (found, expected) = (scored(quick.as_mut()), scored(&mut plain));
        assert_close(&config.name, &found, &expected);
        assert_close(&config.name, &found[1..2], &found[..1]);
        assert!((found[2] - found[0]).abs() > 1e-4, "{}: {found:?}", config.name);
    }
}

#[test]
fn every_head_is_what_it_shows_as_the_alignment() {
    for config in configs() {
        let weights = weights(&config, 9);
        let words: &[u32] = &[2, 5, 3, 0];
        let pair: [(&[u32], &[u32]); 1] = [(SOURCES[2], words)];
        let heads = force_heads(quick(&config, &weights).as_mut(), &pair, HeadKind::Cross, &forever());
        let heads = heads.expect("it has heads").remove(0);
        let sizes = config.transformer().cloned().expect("sizes");
        assert_eq!(heads.len(), sizes.decoder_layers * sizes.heads);
        for choice in ["1.1", "2.3", "2.1+3", "1"] {
            let chosen = HeadChoice::parse(choice).expect("a choice");
            let path = Path::new("model");
            let other = Config { own: chosen.of(path, &sizes).expect("there").into(), ..config.clone() };
            for mut stepper in [quick(&other, &weights), Box::new(plain(&other, &weights))] {
                let alpha =
                    force(stepper.as_mut(), &pair, &forever()).expect("it scores").remove(0).alpha.expect("it aligns");
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
    for kind in HeadKind::ALL {
        let refused = force_heads(stepper.as_mut(), &[(&[2, 0], &[2, 0])], kind, &forever());
        assert!(refused.expect_err("an RNN").to_string().contains("choose a Transformer"));
    }
}

fn noted(config: &Config, weights: &Weights, pair: (&[u32], &[u32])) -> Vec<(String, Vec<f32>)> {
    let tensors = weights.tensors(&Candle::Cpu).expect("tensors");
    let trace = Trace::recording();
    let all = Parameters::new(&tensors).traced(&trace, false);
    let model = (config.architecture.entry().readable)(config, &all).expect("a model");
    let annotations = model.encode(&[pair.0]).expect("it reads");
    let mut state = model.init_state(&annotations).expect("a state");
    for i in 0..pair.1.len() {
        let y_prev = i.checked_sub(1).map(|before| &pair.1[before..=before]);
        state = model.step(y_prev, &state, &annotations).expect("a step").s;
    }
    let is_it = |(name, _): &(String, candle_core::Tensor)| name.ends_with("self.alpha");
    let numbers = |tensor: candle_core::Tensor| tensor.flatten_all().expect("flat").to_vec1().expect("numbers");
    trace.take().into_iter().filter(is_it).map(|(name, tensor)| (name, numbers(tensor))).collect()
}

#[test]
fn heads_of_self_attention_are_those_of_the_readable_form() {
    for config in configs() {
        let weights = weights(&config, 9);
        let pairs: [(&[u32], &[u32]); 2] = [(SOURCES[2], &[2, 5, 3, 0]), (SOURCES[1], &[4, 0])];
        let sizes = config.transformer().cloned().expect("sizes");
        let mut stepper = quick(&config, &weights);
        let mut of = |kind| force_heads(stepper.as_mut(), &pairs, kind, &forever()).expect("it has heads");
        let (source, target): (Vec<HeadAlphas>, Vec<HeadAlphas>) = (of(HeadKind::Source), of(HeadKind::Target));
        for (n, pair) in pairs.iter().enumerate() {
            assert_eq!(source[n].len(), sizes.places(HeadKind::Source).count());
            assert_eq!(target[n].len(), sizes.places(HeadKind::Target).count());
            assert_eq!(target[n].is_empty(), sizes.cell == DecoderCell::Ssru, "{}", config.name);
            let noted = noted(&config, &weights, *pair);
            for (at, found) in source[n].iter().enumerate() {
                let (layer, head, t) = (at / sizes.heads + 1, at % sizes.heads, pair.0.len());
                let own = noted.iter().find(|(name, _)| *name == format!("encoder.{layer}.self.alpha")).expect("noted");
                assert_close(&config.name, &found.concat(), &own.1[head * t * t..(head + 1) * t * t]);
            }
            for (at, found) in target[n].iter().enumerate() {
                let (layer, head, t) = (at / sizes.heads + 1, at % sizes.heads, pair.1.len());
                let name = format!("decoder.{layer}.self.alpha");
                let steps: Vec<&Vec<f32>> = noted.iter().filter(|(own, _)| *own == name).map(|own| &own.1).collect();
                assert_eq!((steps.len(), found.len()), (t, t));
                for (i, row) in found.iter().enumerate() {
                    assert_close(&config.name, &row[..=i], &steps[i][head * (i + 1)..(head + 1) * (i + 1)]);
                    assert!(row.len() == t && row[i + 1..].iter().all(|weight| *weight == 0.0));
                }
            }
        }
    }
}

fn cut(config: &Config, weights: &Arc<Weights>, places: &[HeadPlace]) -> Arc<Weights> {
    let mut cut = (**weights).clone();
    let (d, width) = (config.hidden, config.hidden / config.transformer().expect("sizes").heads);
    for HeadPlace { attention, layer, head } in places {
        let part = match attention {
            HeadKind::Cross => format!("decoder.{layer}.cross.W_o"),
            HeadKind::Source => format!("encoder.{layer}.self.W_o"),
            HeadKind::Target => format!("decoder.{layer}.self.W_o"),
        };
        let mut w_o = cut.get(&part).expect("it is there").clone();
        w_o.data.chunks_exact_mut(d).for_each(|row| row[(head - 1) * width..head * width].fill(0.0));
        cut.insert(part, w_o);
    }
    Arc::new(cut)
}

fn log_p(stepper: &mut dyn Stepper, pairs: &[(&[u32], &[u32])], lists: Vec<Arc<[Intervention]>>) -> Vec<Vec<f32>> {
    let mut changed = Intervening::new(stepper, lists);
    let forced = force(&mut changed, pairs, &forever()).expect("it scores");
    forced.into_iter().map(|forced| forced.token_log_p).collect()
}

#[test]
fn a_head_that_is_left_out_says_nothing() {
    let place = |attention, layer, head| HeadPlace { attention, layer, head };
    let (cross, source, target) =
        (place(HeadKind::Cross, 1, 2), place(HeadKind::Source, 2, 1), place(HeadKind::Target, 2, 3));
    for config in configs() {
        let weights = weights(&config, 21);
        let has_target = config.transformer().is_some_and(|sizes| sizes.cell == DecoderCell::SelfAttention);
        let own = place(HeadKind::Cross, config.transformer().expect("sizes").alignment_layer, 1);
        let mut wanted = [vec![cross], vec![source], vec![], vec![cross, source, own]];
        if has_target {
            wanted[1].push(target);
        }
        let words: &[u32] = &[2, 5, 3, 0];
        let pairs: Vec<(&[u32], &[u32])> = SOURCES[..4].iter().map(|source| (*source, words)).collect();
        let lists: Vec<Arc<[Intervention]>> =
            wanted.iter().map(|places| places.iter().map(|place| Intervention::LeaveOut(*place)).collect()).collect();
        let (mut plain, mut quick) = (plain(&config, &weights), quick(&config, &weights));
        for (form, stepper) in [("fused", quick.as_mut()), ("readable", &mut plain as &mut dyn Stepper)] {
            let what = format!("{}, {form}", config.name);
            let found = log_p(stepper, &pairs, lists.clone());
            let untouched = log_p(stepper, &pairs, Vec::new());
            for (n, places) in wanted.iter().enumerate() {
                let expected =
                    log_p(&mut self::plain(&config, &cut(&config, &weights, places)), &pairs[n..=n], Vec::new());
                assert_close(&what, &found[n], &expected[0]);
                let far = found[n].iter().zip(&untouched[n]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert_eq!(far > 1e-4, !places.is_empty(), "{what}, sentence {n}: {far}");
            }
        }
    }
    let mut rnn = crate::tiny::TINY.model().stepper(interlinear::models::Kernels::Fused, 1).expect("a stepper");
    let list: Arc<[Intervention]> = [Intervention::LeaveOut(cross)].into();
    let refused = force(&mut Intervening::new(rnn.as_mut(), vec![list]), &[(&[2, 0], &[2, 0])], &forever());
    assert!(refused.expect_err("an RNN").to_string().contains("has no heads"));
}

#[test]
fn a_masked_word_is_hidden_from_all_heads() {
    for config in configs() {
        let weights = weights(&config, 23);
        let words: &[u32] = &[2, 5, 3, 0];
        let pair: [(&[u32], &[u32]); 1] = [(SOURCES[2], words)];
        let list: Arc<[Intervention]> = [Intervention::Mask { j: 1 }, Intervention::Mask { j: 4 }].into();
        let mut quick = quick(&config, &weights);
        let (mut changed, count) = (Intervening::new(quick.as_mut(), vec![Arc::clone(&list)]), words.len());
        let heads = force_heads(&mut changed, &pair, HeadKind::Cross, &forever()).expect("heads").remove(0);
        for head in &heads {
            for row in head {
                assert!(row[1] == 0.0 && row[4] == 0.0 && (row.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{row:?}");
            }
        }
        // in the first layer the step has looked at nothing yet: the others share in proportion
        let own = force_heads(quick.as_mut(), &pair, HeadKind::Cross, &forever()).expect("heads").remove(0);
        let sizes = config.transformer().expect("sizes");
        for (own, found) in own.iter().zip(&heads).take(sizes.heads) {
            for (own, found) in own.iter().zip(found).take(count) {
                let mut expected = own.clone();
                let scores: Vec<f64> = own.iter().map(|alpha| f64::from(*alpha).ln()).collect();
                share(&scores, &[1, 4], &mut expected);
                assert_close(&config.name, found, &expected);
            }
        }
        let found = log_p(quick.as_mut(), &pair, vec![Arc::clone(&list)]);
        let expected = log_p(&mut plain(&config, &weights), &pair, vec![list]);
        assert_close(&config.name, &found[0], &expected[0]);
        let all: Arc<[Intervention]> = (0..SOURCES[2].len()).map(|j| Intervention::Mask { j }).collect();
        let found = log_p(quick.as_mut(), &pair, vec![Arc::clone(&all)]);
        assert_close(&config.name, &found[0], &log_p(&mut plain(&config, &weights), &pair, vec![all])[0]);
        assert!(found[0].iter().all(|log_p| log_p.is_finite()));
    }
}

#[test]
fn what_acts_on_other_models_acts_on_a_transformer() {
    for config in configs() {
        let weights = weights(&config, 25);
        let source = SOURCES[2];
        let mut quick = quick(&config, &weights);
        let act = |stepper: &mut dyn Stepper, list: &[Intervention]| {
            let mut changed = Intervening::new(stepper, vec![list.into()]);
            best(&mut changed, source).hypotheses.remove(0)
        };
        let own = act(quick.as_mut(), &[]);
        for list in [
            vec![Intervention::Temperature(3.0)],
            vec![Intervention::Temperature(3.0), Intervention::Mask { j: 1 }],
            vec![Intervention::Permute { i: 0, seed: 3 }],
        ] {
            let (found, expected) = (act(quick.as_mut(), &list), act(&mut plain(&config, &weights), &list));
            let what = format!("{}: {list:?}", config.name);
            assert_eq!(found.tokens, expected.tokens, "{what}");
            assert_close(&what, &found.token_log_p, &expected.token_log_p);
            let (rows, own) = (found.alpha.expect("rows"), own.alpha.as_ref().expect("rows"));
            assert!(rows.iter().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-4), "{what}: {rows:?}");
            assert_ne!(rows[0], own[0], "{what}");
        }
        let other = (2..7).find(|token| *token != own.tokens[0]).expect("another word");
        assert_eq!(act(quick.as_mut(), &[Intervention::Force { i: 0, token: other }]).tokens[0], other);
        let banned = act(quick.as_mut(), &[Intervention::Forbid { i: None, token: own.tokens[0] }]);
        assert!(!banned.tokens.contains(&own.tokens[0]), "{}", config.name);
    }
}

#[test]
fn leaving_heads_out_one_by_one_is_measured() {
    for config in configs() {
        let weights = weights(&config, 27);
        let sizes = config.transformer().cloned().expect("sizes");
        let places: Vec<HeadPlace> = HeadKind::ALL.into_iter().flat_map(|kind| sizes.places(kind)).collect();
        let pair: (&[u32], &[u32]) = (SOURCES[0], &[4, 2, 0]);
        let found = ablation::heads(quick(&config, &weights).as_mut(), pair, &places, &forever()).expect("measured");
        let says = |weights: &Weights| {
            let mut all = Vec::new();
            let mut hear = |_: usize, output: &StepOutput| all.push(output.log_p.clone());
            follow(&mut plain(&config, weights), pair.0, pair.1, 1, &forever(), &mut hear).expect("it goes through");
            all
        };
        let own = says(&weights);
        for (place, found) in places.iter().zip(&found) {
            let other = says(&cut(&config, &weights, std::slice::from_ref(place)));
            let expected: f64 = own.iter().zip(&other).map(|(own, other)| jensen_shannon(own, other)).sum();
            assert!((found - expected).abs() < 1e-5, "{}, {place}: {found} is not {expected}", config.name);
        }
        assert!(found.iter().any(|js| *js > 1e-4), "{found:?}");
    }
}

#[test]
fn heads_of_a_file_are_those_of_the_model_or_refused() {
    let tiny = crate::tiny::TINY.model();
    let all = configs();
    let [open, firefox] = [&all[3], &all[2]].map(|config| config.transformer().expect("sizes"));
    let origin = Origin { path: PathBuf::from("plan.json"), line: None };
    let sentence = tiny.source.encode("one two");
    let words: Vec<std::ops::Range<usize>> = (0..sentence.len()).map(|j| j..j + 1).collect();
    let read = |json: &str, heads| {
        let json = format!("{{\"version\": 1, \"leave_out\": {json}}}");
        let form = Interventions::parse(Path::new("plan.json"), 0, &json).map_err(|error| error.to_string())?;
        let reader = InterventionReader { target: &tiny.target, aligns: true, heads };
        reader.check(&form, &origin).map_err(|error| error.to_string())?;
        let found = reader.resolve(&form, ResolvedText { sentence: &sentence, words: &words });
        let found = found.strict(&origin).map_err(|error| error.to_string())?;
        Ok::<_, String>((found.list.to_vec(), found.applied.form.to_json().expect("JSON"), found.applied.describe(2)))
    };
    let given = r#"[{"attention": "source", "layer": 2, "head": 3}, {"layer": 1, "head": 2}, {"layer": 1, "head": 2}]"#;
    let (list, json, said) = read(given, Some(open)).expect("it has these heads");
    let [cross, source] = [(HeadKind::Cross, 1, 2), (HeadKind::Source, 2, 3)]
        .map(|(attention, layer, head)| HeadPlace { attention, layer, head });
    assert!([cross, source].iter().all(|place| list.contains(&Intervention::LeaveOut(*place))), "{list:?}");
    let written = r#""leave_out":[{"layer":1,"head":2},{"attention":"source","layer":2,"head":3}]"#;
    assert!(json.contains(written), "{json}");
    assert_eq!(said, "left out 1.2, source 2.3");
    for (json, heads, named) in [
        (r#"[{"layer": 1, "head": 2}]"#, None, "which has none; take it out or choose a Transformer"),
        (r#"[{"layer": 1, "head": 1}, {"layer": 9, "head": 1}]"#, Some(open), "leave_out[1]"),
        (r#"[{"layer": 1, "head": 0}]"#, Some(open), "2 layers of cross-attention with 3 heads each"),
        (r#"[{"attention": "target", "layer": 1, "head": 1}]"#, Some(firefox), "with an SSRU"),
        (r#"[{"attention": "self", "layer": 1, "head": 1}]"#, Some(open), "self"),
        (r#"[{"layer": 1}]"#, Some(open), "head"),
    ] {
        let refused = read(json, heads).expect_err(json);
        assert!(refused.contains(named) && refused.contains("plan.json"), "{refused}");
    }
}

fn save(config: &Config, folder: &Path) -> PathBuf {
    let path = folder.join(&config.name);
    std::fs::create_dir(&path).expect("created");
    config.save(&path.join("config.json")).expect("written");
    weights(config, 29).save(&path.join("model.safetensors"), false).expect("written");
    let sides = [("en", "source", config.source_vocabulary), ("fr", "target", config.target_vocabulary)];
    for (language, side, size) in sides {
        let words = ('a'..='z').zip(0..).take(size - 2).map(|(word, n)| (word.to_string(), 1000 - n));
        let tokenizer = vocab::build(language, words, size).expect("a vocabulary");
        tokenizer.save(&path.join(format!("{side}.tokenizer.json"))).expect("written");
    }
    path
}

#[test]
fn what_was_packed_is_still_the_file() {
    for half in [false, true] {
        for config in configs() {
            let folder = Folder::new();
            let path = save(&config, &folder);
            let file = path.join("model.safetensors");
            Weights::load(&file, &shapes(&config)).expect("read").save(&file, half).expect("written");
            let [model, untouched] = [0, 1].map(|_| Model::load(&path, &Device::cpu()).expect("a model"));
            let before = force(&mut *model.stepper(Kernels::Fused, 1).expect("packed"), PAIRS, &forever());
            assert!(model.weights.iter().eq(untouched.weights.iter()), "{}, half {half}", config.name);
            let bytes = std::fs::read(&file).expect("a file");
            let model = Model::load(&path, &Device::cpu()).expect("a model");
            let again = force(&mut *model.stepper(Kernels::Fused, 1).expect("packed"), PAIRS, &forever());
            assert_eq!(model.digest(), hexadecimal(&Sha256::digest(bytes)), "{}, half {half}", config.name);
            assert_eq!(before.expect("scored")[0].token_log_p, again.expect("scored")[0].token_log_p);
            let twice = fused::stepper(&model.config, &model.weights, 1).expect("packed from what was packed");
            let (mut first, mut second) = (model.stepper(Kernels::Fused, 1).expect("packed"), twice);
            let [first, second] = [&mut first, &mut second].map(|stepper| force(&mut **stepper, PAIRS, &forever()));
            assert_eq!(first.expect("scored")[0].alpha, second.expect("scored")[0].alpha);
        }
    }
}

const PAIRS: &[(&[u32], &[u32])] = &[(&[4, 2, 5, 0], &[2, 3, 0])];

#[test]
fn commands_leave_heads_out() {
    let folder = Folder::new();
    let config = &configs()[0];
    let path = save(config, &folder);
    let model = path.to_str().expect("a name");
    folder.put("a.en", "a b c\n");
    folder.put("a.fr", "b a d\n");
    let heads = ["heads", "--model", model, "--source", "a.en", "--target", "a.fr", "--leave-out", "--pretokenized"];
    let done = run_in(&folder, &[&heads[..], &["--format", "jsonl"]].concat()).good();
    let found = json_lines(&done.stdout);
    assert_eq!(found.len(), 18, "three kinds of two layers of three heads: {}", done.stdout);
    let js = |value: &Value| value["js"].as_f64().expect("a number");
    assert!(found.is_sorted_by(|a, b| js(a) >= js(b)) && js(&found[0]) > 0.0, "{}", done.stdout);
    // a and b have the ids 2 and 3, and so on
    let (source, target) = (vec![2, 3, 4, 0], vec![3, 2, 5, 0]);
    let place = MEASURES.iter().position(|line| line.name == "heads-left-out").expect("a measure");
    let question = |left_out: Vec<HeadPlace>| ProbeQuestion::Measure {
        measure: place,
        source: source.clone(),
        target: target.clone(),
        left_out,
    };
    let measured = |left_out: &[HeadPlace]| match lane_answers(&path, question(left_out.to_vec())).expect("measured") {
        Probed::Measured(tested) => tested,
        other => panic!("{other:?}"),
    };
    let first = &found[0];
    let tested = measured(&[]);
    let is_first = |place: &HeadPlace| {
        let at = |key: &str| first[key].as_u64().expect("a number") as usize;
        first["attention"] == place.attention.name() && (at("layer"), at("head")) == (place.layer, place.head)
    };
    let head = tested.measured[0].heads.iter().find(|head| is_first(&head.place)).expect("this head");
    assert!((head.js.expect("measured") - js(first)).abs() < 1e-6, "{head:?} is not {first}");
    // where it is left out by hand already, leaving it out changes nothing more
    let again = measured(&[head.place]);
    assert_eq!(again.left_out, [head.place]);
    let same = again.measured[0].heads.iter().find(|other| other.place == head.place).expect("this head");
    assert!(same.js.expect("measured") < 1e-9, "{same:?}");

    let plan = format!("{{\"version\": 1, \"leave_out\": [{}]}}", serde_json::to_string(&head.place).expect("JSON"));
    folder.put("plan.json", plan);
    let translate = ["translate", "--model", model, "--format", "jsonl", "--interventions", "plan.json", "a.en"];
    let done = run_in(&folder, &translate).good();
    let found = json_of(&done.stdout);
    assert_eq!(found["interventions"]["leave_out"][0]["layer"], head.place.layer);
    let best = &found["hypotheses"][0];
    let ids: Vec<u32> = best["tokens"]
        .as_array()
        .expect("tokens")
        .iter()
        .map(|token| match token.as_str() {
            Some("</s>") => 0,
            Some("[UNK]") => 1,
            token => u32::from(token.and_then(|token| token.bytes().next()).expect("a word") - b'a') + 2,
        })
        .collect();
    let list: Arc<[Intervention]> = [Intervention::LeaveOut(head.place)].into();
    let expected = log_p(quick(config, &weights(config, 29)).as_mut(), &[(&source, &ids)], vec![list]);
    let found: Vec<f32> =
        best["token_log_p"].as_array().expect("numbers").iter().map(|x| x.as_f64().expect("a number") as f32).collect();
    assert_close("translate", &found, &expected[0]);
}

#[test]
fn taken_apart_it_computes_the_same() {
    for config in configs() {
        let weights = weights(&config, 13);
        let mut stepper = quick(&config, &weights);
        let words = [4, 2, 0];
        let pair: [(&[u32], &[u32]); 1] = [(SOURCES[0], &words)];
        let expected = force(stepper.as_mut(), &pair, &forever()).expect("it scores").remove(0);
        let mut anatomy = anatomy_of(&config, &weights, None).expect("it can be taken apart");
        let encoded = anatomy.encode(SOURCES[0]).expect("it reads");
        let stages = anatomy.machine().stages;
        let layers = encoded.parts.iter().filter(|part| ["layers", "annotations"].contains(&part.key));
        let queries = layers.flat_map(|part| &part.quantities).filter(|quantity| quantity.symbol == "q_j").count();
        assert_eq!(queries, config.transformer().expect("sizes").encoder_layers, "every layer of the encoder");
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

#[test]
fn gains_begin_at_1() {
    for config in configs() {
        for scheme in [InitScheme::Paper, InitScheme::Scaled, InitScheme::Uniform] {
            let weights = initial_weights(&config, scheme, 1);
            let gains: Vec<_> = weights.iter().filter(|(name, _)| name.ends_with("norm.g")).collect();
            let is_1 =
                |array: &Array| scheme == InitScheme::Uniform || array.data.iter().all(|x| (x - 1.0).abs() < 1e-6);
            assert!(!gains.is_empty() && gains.iter().all(|(_, array)| is_1(array)), "{scheme:?}");
        }
    }
}

/// Without positions a sentence in another order has the same annotations, in that order; with them it has others.
#[test]
fn without_positions_self_attention_reads_a_bag_of_words() {
    let config = &configs()[0];
    let weights = weights(config, 2);
    let source = [5, 8, 7, 4, 0];
    let turned: Vec<u32> = source.iter().rev().copied().collect();
    for (wrong, is_bag) in [(None, false), (Some(Miswiring::NoPositions), true)] {
        let mut anatomy = anatomy_of(config, &weights, wrong).expect("apart");
        let mut h = |source: &[u32]| {
            let encoded = anatomy.encode(source).expect("encodes");
            let annotations = encoded.parts.iter().find(|part| part.key == "annotations").expect("annotations");
            annotations.quantities.last().expect("h").clone()
        };
        let (straight, back) = (h(&source), h(&turned));
        let apart = (0..source.len()).flat_map(|j| {
            straight.row(j).iter().zip(back.row(source.len() - 1 - j)).map(|(a, b)| (a - b).abs()).collect::<Vec<_>>()
        });
        let most = apart.fold(0.0_f32, f32::max);
        assert_eq!(most < 1e-5, is_bag, "{wrong:?}: {most}");
    }
}
