//! Interventions on every architecture against a slow direct computation: the readable equations, one hypothesis at a
//! time, with alpha replaced by hand, and a beam search written out by its definition.

use std::{cell::RefCell, collections::HashMap, rc::Rc, sync::Arc};

use candle_core::{Device as Candle, Tensor};
use interlinear::decoding::sample::{Numbered, SampleOptions};
use interlinear::decoding::{Decoded, Ensemble, SearchOptions, Specials, decode, force, sample};
use interlinear::interventions::{Intervening, Intervention};
use interlinear::models::{Annotations, Kernels, Model, Need, State, StepOutput, StepRow, Stepper, TranslationModel};
use interlinear::{attention::AttentionKind, decoding::reweigh::permutation};
use interlinear::{models::config::Config, models::folder::readable, text::tokenizer::Encode as _};

use crate::models::{FOLDERS, FOREIGN, load};
use crate::{forever, models::loaded, tiny::TINY};

const SPECIALS: Specials = Specials { eos: 0, unk: 1, bars_unk: false };
const SOURCES: [&[u32]; 2] = [&[2, 9, 4, 7, 6, 0], &[5, 3, 8, 0]];
const BEAM: usize = 3;
const LENGTH: usize = 5;

struct Direct<'a> {
    model: Box<dyn TranslationModel>,
    config: &'a Config,
    source: &'a [u32],
    list: &'a [Intervention],
    annotations: Annotations,
    known: RefCell<HashMap<Vec<u32>, Rc<Next>>>,
}

struct Next {
    s: State,
    log_p: Vec<f32>,
    alpha: Vec<Vec<f32>>,
}

fn host(tensor: &Tensor) -> Vec<f32> {
    tensor.flatten_all().and_then(|flat| flat.to_vec1()).expect("numbers")
}

impl<'a> Direct<'a> {
    fn new(model: &'a Model, source: &'a [u32], list: &'a [Intervention]) -> Self {
        let readable = readable(&model.config, &model.weights, &Candle::Cpu).expect("a model");
        let annotations = readable.encode(&[source]).expect("it encodes");
        Self { model: readable, config: &model.config, source, list, annotations, known: RefCell::default() }
    }

    fn next(&self, prefix: &[u32]) -> Rc<Next> {
        if let Some(known) = self.known.borrow().get(prefix) {
            return Rc::clone(known);
        }
        let (before, mut alpha) = match prefix.split_last() {
            Some((_, before)) => (self.next(before).s.clone(), self.next(before).alpha.clone()),
            None => (self.model.init_state(&self.annotations).expect("a state"), Vec::new()),
        };
        let y_prev = prefix.last().map(std::slice::from_ref);
        let mut aligned = self.model.align(y_prev, &before, &self.annotations).expect("it looks");
        if let (Some(alpha_i), Some(e_i)) = (&aligned.alpha_i, &aligned.e_i) {
            let p_t = aligned.p_t.as_ref().map(|p_t| host(p_t)[0]);
            let changed = self.alpha(prefix.len(), &host(alpha_i), &host(e_i), p_t);
            alpha.push(changed.clone());
            aligned.alpha_i = Some(Tensor::from_vec(changed, (1, self.source.len()), &Candle::Cpu).expect("a row"));
        }
        let step = self.model.predict(y_prev, &aligned, &self.annotations).expect("it speaks");
        let mut log_p = host(&step.log_p);
        self.silence(prefix.len(), &mut log_p);
        let next = Rc::new(Next { s: step.s, log_p, alpha });
        self.known.borrow_mut().insert(prefix.to_vec(), Rc::clone(&next));
        next
    }

    fn alpha(&self, i: usize, alpha: &[f32], e_i: &[f32], p_t: Option<f32>) -> Vec<f32> {
        let (mut masked, mut temperature, mut pinned) = (Vec::new(), None, None);
        for one in self.list {
            match one {
                Intervention::Pin { i: at, alpha } if *at == i => pinned = Some(alpha.clone()),
                Intervention::Permute { i: at, seed } if *at == i => {
                    pinned = Some(permutation(*seed, i, alpha.len()).into_iter().map(|j| alpha[j]).collect());
                }
                Intervention::Mask { j } => masked.push(*j),
                Intervention::Temperature(t) => temperature = Some(f64::from(*t)),
                _ => {}
            }
        }
        if pinned.is_some() || (masked.is_empty() && temperature.is_none()) {
            return pinned.unwrap_or_else(|| alpha.to_vec());
        }
        let gaussian = self.config.luong().is_some_and(|luong| luong.attention == AttentionKind::LocalP);
        let weight = |j: usize| {
            let distance = p_t.map_or(0.0, |p_t| j as f64 - f64::from(p_t));
            let d = self.config.window().unwrap_or(1) as f64;
            if masked.contains(&j) || e_i[j].is_nan() || distance.abs() > d {
                return 0.0;
            }
            let g = if gaussian { (-2.0 * distance * distance / (d * d)).exp() } else { 1.0 };
            (f64::from(e_i[j]) / temperature.unwrap_or(1.0)).exp() * g
        };
        let (sum, total): (f64, f32) = ((0..alpha.len()).map(weight).sum(), alpha.iter().sum());
        let share = |j| if sum > 0.0 { (f64::from(total) * weight(j) / sum) as f32 } else { 0.0 };
        (0..alpha.len()).map(share).collect()
    }

    fn silence(&self, i: usize, log_p: &mut [f32]) {
        let forced = self.list.iter().rev().find_map(|one| match one {
            Intervention::Force { i: at, token } if *at == i => Some(*token),
            _ => None,
        });
        for (token, log_p) in (0..).zip(log_p) {
            let forbidden = self.list.iter().any(|one| match one {
                Intervention::Forbid { i: at, token: word } => *word == token && at.is_none_or(|at| at == i),
                _ => false,
            });
            if forced.map_or(forbidden, |forced| forced != token) {
                *log_p = f32::NEG_INFINITY;
            }
        }
    }

    fn beam(&self) -> Vec<(Vec<u32>, f64)> {
        let (mut live, mut finished): (Vec<(Vec<u32>, f64)>, Vec<_>) = (vec![(Vec::new(), 0.0)], Vec::new());
        for _ in 0..LENGTH {
            let mut all = Vec::new();
            for (tokens, total) in &live {
                let next = self.next(tokens);
                let possible = (0..).zip(next.log_p.iter().copied()).filter(|(_, log_p)| *log_p > f32::NEG_INFINITY);
                all.extend(possible.map(|(token, log_p)| {
                    let tokens: Vec<u32> = tokens.iter().copied().chain([token]).collect();
                    (tokens, total + f64::from(log_p))
                }));
            }
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
            all.truncate(BEAM - finished.len());
            let (ended, going): (Vec<_>, Vec<_>) = all.into_iter().partition(|(tokens, _)| tokens.last() == Some(&0));
            finished.extend(ended);
            live = going;
        }
        let mut found = if finished.is_empty() { live } else { finished };
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    }
}

fn changes(aligns: bool, best: u32) -> Vec<[Vec<Intervention>; 2]> {
    let one_hot = |j: usize, t_x: usize| (0..t_x).map(|k| if j == k { 1.0 } else { 0.0 }).collect::<Vec<f32>>();
    let forced = vec![Intervention::Force { i: 1, token: 7 }];
    let forbidden = vec![Intervention::Forbid { i: None, token: best }, Intervention::Forbid { i: Some(1), token: 3 }];
    let endless = vec![Intervention::Forbid { i: None, token: 0 }, Intervention::Force { i: 0, token: best }];
    let mut changes = vec![[forced.clone(), forbidden.clone()], [endless, Vec::new()]];
    if aligns {
        let pinned = vec![
            Intervention::Pin { i: 0, alpha: one_hot(2, 6) },
            Intervention::Pin { i: 2, alpha: vec![0.1, 0.2, 0.3, 0.1, 0.2, 0.1] },
        ];
        let turned = vec![Intervention::Pin { i: 1, alpha: one_hot(3, 4) }];
        let both = vec![Intervention::Mask { j: 0 }, Intervention::Temperature(3.0)];
        changes.push([pinned.clone(), turned]);
        let shuffled = vec![Intervention::Permute { i: 0, seed: 3 }, Intervention::Permute { i: 2, seed: 4 }];
        changes.push([shuffled.clone(), [both.clone(), shuffled].concat()]);
        changes
            .push([vec![Intervention::Mask { j: 1 }], vec![Intervention::Mask { j: 0 }, Intervention::Mask { j: 3 }]]);
        changes.push([vec![Intervention::Temperature(0.5)], both.clone()]);
        changes.push([[pinned, both, forced].concat(), [vec![Intervention::Mask { j: 2 }], forbidden].concat()]);
    }
    changes
}

fn near(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4 || a == b);
    assert!(near, "{what}: {found:?} is not {expected:?}");
}

#[test]
fn every_architecture_follows_what_was_changed() {
    for (folder, model) in loaded() {
        let best = Direct::new(&model, SOURCES[0], &[]).beam()[0].0[0];
        for (number, lists) in changes(model.config.aligns(), best.max(2)).into_iter().enumerate() {
            let direct = [0, 1].map(|sentence| Direct::new(&model, SOURCES[sentence], &lists[sentence]));
            let expected = direct.each_ref().map(Direct::beam);
            for kernels in [Kernels::Plain, Kernels::Fused] {
                let found = beams(&model, kernels, &lists);
                for ((direct, expected), found) in direct.iter().zip(&expected).zip(&found) {
                    let what = format!("{folder}, {kernels:?}, change {number}: {:?}", direct.list);
                    check(&what, direct, expected, found);
                }
            }
        }
    }
}

fn beams(model: &Model, kernels: Kernels, lists: &[Vec<Intervention>; 2]) -> Vec<Decoded> {
    let options = SearchOptions { beam: BEAM, max_length: Some(LENGTH), ..SearchOptions::default() };
    let mut stepper = model.stepper(kernels, 2).expect("a stepper");
    let by_sentence = lists.iter().map(|list| Arc::from(list.as_slice())).collect();
    let mut changed = Intervening::new(stepper.as_mut(), by_sentence);
    decode(&mut changed, SPECIALS, &SOURCES, &options, &forever(), &mut |_, _| {}).expect("it decodes")
}

fn check(what: &str, direct: &Direct<'_>, expected: &[(Vec<u32>, f64)], found: &Decoded) {
    assert_eq!(found.hypotheses.len(), expected.len(), "{what}");
    for (found, (tokens, log_p)) in found.hypotheses.iter().zip(expected) {
        assert_eq!(&found.tokens, tokens, "{what}");
        near(what, &[found.log_p], &[*log_p as f32]);
        let alpha = &direct.next(&tokens[..tokens.len() - 1]).alpha;
        near(what, &found.alpha.clone().unwrap_or_default().concat(), &alpha.concat());
    }
}

fn load_config(folder: &str) -> Config {
    load(folder).config
}

#[test]
fn words_may_be_asked_for_again_with_another_alpha() {
    for folder in FOLDERS.into_iter().chain(FOREIGN) {
        let model = load(folder);
        for kernels in [Kernels::Plain, Kernels::Fused] {
            let what = format!("{folder}, {kernels:?}");
            let steps = |disturb: bool| {
                let mut stepper = model.stepper(kernels, 1).expect("a stepper");
                stepper.begin(&SOURCES).expect("it encodes");
                let mut output = StepOutput::default();
                let mut said = Vec::new();
                for i in 0..3 {
                    let y_prev = (i > 0).then_some(5);
                    let rows = [0, 1].map(|sentence| StepRow { sentence, parent: sentence, y_prev });
                    stepper.align(&rows, &mut output).expect("it looks");
                    if disturb {
                        let alpha = output.alpha.clone();
                        output.alpha.fill(0.25);
                        stepper.predict(&rows, &Need::all(), &mut output).expect("it speaks");
                        said.push(output.log_p.clone());
                        output.alpha = alpha;
                    }
                    stepper.predict(&rows, &Need::all(), &mut output).expect("it speaks again");
                    said.push(output.log_p.clone());
                }
                said
            };
            let (plain, disturbed) = (steps(false), steps(true));
            for i in 0..3 {
                near(&what, &disturbed[2 * i + 1], &plain[i]);
                let same = disturbed[2 * i] == plain[i];
                assert_eq!(same, !model.config.aligns(), "{what}: alpha tells in step {i}");
            }
        }
    }
}

#[test]
fn rows_of_one_parent_may_look_elsewhere() {
    for folder in FOLDERS.iter().chain(&FOREIGN).filter(|folder| load_config(folder).aligns()) {
        let model = load(folder);
        let said = [Kernels::Plain, Kernels::Fused].map(|kernels| {
            let mut stepper = model.stepper(kernels, 1).expect("a stepper");
            stepper.begin(&[SOURCES[0]]).expect("it encodes");
            let mut output = StepOutput::default();
            let rows = [None; 3].map(|y_prev| StepRow { sentence: 0, parent: 0, y_prev });
            stepper.align(&rows, &mut output).expect("it looks");
            output.alpha[6..12].copy_from_slice(&[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
            stepper.predict(&rows, &Need::all(), &mut output).expect("it speaks");
            output
        });
        let [plain, fused] = &said;
        (0..3).for_each(|row| near(folder, fused.log_p_row(row), plain.log_p_row(row)));
        near(folder, fused.log_p_row(0), fused.log_p_row(2));
        assert_ne!(fused.log_p_row(0), fused.log_p_row(1), "{folder}");
    }
}

#[test]
fn scores_and_samples_obey() {
    let model = load("rnnsearch");
    let list: Arc<[Intervention]> =
        [Intervention::Force { i: 1, token: 7 }, Intervention::Forbid { i: None, token: 4 }].into();
    let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
    let plain = force(stepper.as_mut(), &[(SOURCES[0], &[3, 7, 4, 0])], &forever()).expect("it scores");
    let mut changed = Intervening::new(stepper.as_mut(), vec![Arc::clone(&list)]);
    let scored = force(&mut changed, &[(SOURCES[0], &[3, 7, 4, 0])], &forever()).expect("it scores");
    near("the forced word keeps its log p", &scored[0].token_log_p[..2], &plain[0].token_log_p[..2]);
    assert_eq!(scored[0].token_log_p[2], f32::NEG_INFINITY, "it was forbidden");
    let options = SampleOptions { count: 50, max_length: Some(6), ..SampleOptions::default() };
    let numbered = [Numbered { number: 0, source: SOURCES[0] }];
    let drawn = sample(&mut changed, SPECIALS, &numbered, &options, &forever()).expect("it draws");
    let tokens: Vec<&Vec<u32>> = drawn[0].iter().map(|sample| &sample.tokens).collect();
    assert!(tokens.len() > 3 && tokens.iter().all(|tokens| !tokens.contains(&4)), "{tokens:?}");
    assert!(tokens.iter().all(|tokens| tokens.get(1).is_none_or(|word| *word == 7)), "{tokens:?}");
}

#[test]
fn members_of_an_ensemble_look_where_it_was_pinned() {
    let members = [TINY.model(), crate::tiny::Tiny { seed: 2, ..TINY }.model()];
    let ensemble = Ensemble::new(members.to_vec(), interlinear::decoding::ensemble::Mixing::default()).expect("one");
    let pin: Arc<[Intervention]> = [Intervention::Pin { i: 0, alpha: vec![0.0, 0.75, 0.25] }].into();
    let say = |stepper: &mut dyn Stepper, source: &[u32]| {
        let mut changed = Intervening::new(stepper, vec![Arc::clone(&pin)]);
        changed.begin(&[source]).expect("it encodes");
        let mut output = StepOutput::default();
        let rows = [StepRow { sentence: 0, parent: 0, y_prev: None }];
        changed.step(&rows, &Need::all(), &mut output).expect("it speaks");
        output
    };
    let source = ensemble.encode("two three").ids;
    let together = say(ensemble.stepper(Kernels::Fused, 1).expect("a stepper").as_mut(), &source);
    near("alpha", &together.alpha, &[0.0, 0.75, 0.25]);
    let each = members.map(|member| {
        let source = member.source.encode("two three").ids;
        say(member.stepper(Kernels::Fused, 1).expect("a stepper").as_mut(), &source).log_p
    });
    let mean: Vec<f32> = each[0].iter().zip(&each[1]).map(|(a, b)| f32::midpoint(a.exp(), b.exp()).ln()).collect();
    near("words", &together.log_p, &mean);
}

#[test]
fn what_means_nothing_for_a_sentence_is_said() {
    let pin = |alpha: &[f32]| Intervention::Pin { i: 1, alpha: alpha.to_vec() };
    let cases = [
        ("rnnsearch", pin(&[1.0; 5]), "target word 2 was set with 5 weights, but the source has 6 words"),
        ("rnnsearch", pin(&[0.0, 0.0, f32::NAN, 0.0, 0.0, 1.0]), "not a number from 0 up"),
        ("rnnsearch", Intervention::Mask { j: 6 }, "source word 7 was masked"),
        ("rnnsearch", Intervention::Temperature(0.0), "above 0"),
        ("rnnsearch", Intervention::Force { i: 3, token: 33 }, "word id 33"),
        ("luong-none", Intervention::Mask { j: 0 }, "no alignment"),
        ("rnnencdec", Intervention::Temperature(2.0), "no alignment"),
    ];
    for (folder, one, says) in cases {
        let model = load(folder);
        let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
        let mut changed = Intervening::new(stepper.as_mut(), vec![[one].into()]);
        let options = SearchOptions::default();
        let found = decode(&mut changed, SPECIALS, &SOURCES[..1], &options, &forever(), &mut |_, _| {});
        let error = found.expect_err(says);
        assert!(error.is_users() && error.to_string().contains(says), "{error}");
    }
}
