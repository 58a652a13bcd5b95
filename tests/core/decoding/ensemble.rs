//! Ensembles against their members, and against averages taken by brute force.

use interlinear::decoding::ensemble::{AlignmentOf, Average, Mixing};
use interlinear::decoding::{Ensemble, SearchOptions, decode, force};
use interlinear::models::{Kernels, Model, Need, StepOutput, StepRow, Stepper};
use interlinear::{models::config::Architecture, text::tokenizer::Encode as _};

use crate::forever;
use crate::tiny::{TINY, Tiny};

const AVERAGES: [Average; 2] = [Average::Probability, Average::LogProbability];

const OTHER: Tiny = Tiny { name: "other", source: &["three", "four"], source_eos: false, seed: 2, ..TINY };
const ENCDEC: Tiny = Tiny { name: "encdec", architecture: Architecture::RNN_ENC_DEC, seed: 3, ..TINY };
const TEXTS: [&str; 4] = ["one two three", "four", "two two five one", "three three"];

fn ensemble(members: &[Tiny], average: Average, alignment: AlignmentOf) -> Ensemble {
    let members: Vec<Model> = members.iter().map(Tiny::model).collect();
    Ensemble::new(members, Mixing { average, alignment }).expect("they have the same target words")
}

fn near(got: f32, expected: f64, what: &str) {
    assert!((f64::from(got) - expected).abs() < 2e-5 * (1.0 + expected.abs()), "{what}: {got} instead of {expected}");
}

fn say(stepper: &mut dyn Stepper, source: &[u32], prefix: &[u32]) -> StepOutput {
    let mut output = StepOutput::default();
    stepper.begin(&[source]).expect("begun");
    for i in 0..=prefix.len() {
        let y_prev = i.checked_sub(1).map(|i| prefix[i]);
        stepper.step(&[StepRow { sentence: 0, parent: 0, y_prev }], &Need::all(), &mut output).expect("a step");
    }
    output
}

fn by_hand(members: &[Model], text: &str, prefix: &[u32], average: Average) -> Vec<f64> {
    let said: Vec<Vec<f64>> = members
        .iter()
        .map(|member| {
            let mut stepper = member.stepper(Kernels::Plain, 1).expect("a stepper");
            let output = say(stepper.as_mut(), &member.source.encode(text).ids, prefix);
            output.log_p.iter().map(|&log_p| f64::from(log_p)).collect()
        })
        .collect();
    let count = said.len() as f64;
    let column = |k: usize| said.iter().map(move |log_p| log_p[k]);
    match average {
        Average::Probability => {
            (0..said[0].len()).map(|k| (column(k).map(f64::exp).sum::<f64>() / count).ln()).collect()
        }
        Average::LogProbability => {
            let mean: Vec<f64> = (0..said[0].len()).map(|k| column(k).sum::<f64>() / count).collect();
            let z: f64 = mean.iter().map(|log_p| log_p.exp()).sum();
            mean.iter().map(|log_p| log_p - z.ln()).collect()
        }
    }
}

#[test]
fn a_model_with_itself_is_that_model() {
    for tiny in [TINY, OTHER, ENCDEC] {
        for average in AVERAGES {
            let one = ensemble(&[tiny], average, AlignmentOf::Mean);
            let two = ensemble(&[tiny, tiny], average, AlignmentOf::Mean);
            let specials = one.specials();
            assert_eq!((one.aligns(), two.aligns()), (tiny.architecture != Architecture::RNN_ENC_DEC, one.aligns()));
            let decoded = [&one, &two].map(|ensemble| {
                let sources: Vec<_> = TEXTS.iter().map(|text| ensemble.encode(text)).collect();
                let sources: Vec<&[u32]> = sources.iter().map(|source| source.ids.as_slice()).collect();
                let mut stepper = ensemble.stepper(Kernels::Fused, 1).expect("a stepper");
                let options = SearchOptions { max_length: Some(6), ..SearchOptions::default() };
                decode(stepper.as_mut(), specials, &sources, &options, &forever(), &mut |_, _| {}).expect("decoded")
            });
            for (alone, twice) in decoded[0].iter().zip(&decoded[1]) {
                assert_eq!(alone.hypotheses.len(), twice.hypotheses.len());
                for (alone, twice) in alone.hypotheses.iter().zip(&twice.hypotheses) {
                    assert_eq!(alone.tokens, twice.tokens, "{}, {average}", tiny.name);
                    near(twice.log_p, alone.log_p.into(), tiny.name);
                    assert_eq!(alone.alpha.is_some(), twice.alpha.is_some());
                    let flat =
                        |rows: &Option<Vec<Vec<f32>>>| rows.iter().flatten().flatten().copied().collect::<Vec<_>>();
                    let (alpha, same) = (flat(&alone.alpha), flat(&twice.alpha));
                    assert_eq!(alpha.len(), same.len());
                    same.iter().zip(alpha).for_each(|(&got, alpha)| near(got, alpha.into(), tiny.name));
                }
            }
        }
    }
}

#[test]
fn words_are_averaged_over_the_members() {
    for average in AVERAGES {
        let all = ensemble(&[ENCDEC, OTHER, TINY], average, AlignmentOf::Mean);
        let mut stepper = all.stepper(Kernels::Fused, 1).expect("a stepper");
        for text in TEXTS {
            let source = all.encode(text);
            assert_eq!(source.len(), text.split(' ').count() + 1, "the lead reads `</s>`");
            for prefix in [&[][..], &[2], &[4, 3], &[2, 1, 2]] {
                let output = say(stepper.as_mut(), &source.ids, prefix);
                let expected = by_hand(all.members(), text, prefix, average);
                assert_eq!(output.log_p.len(), expected.len());
                output.log_p.iter().zip(expected).for_each(|(&got, expected)| near(got, expected, text));
            }
        }
    }
}

fn enumerate(members: &[Model], text: &str, average: Average, most: usize) -> Vec<(f64, Vec<u32>)> {
    let (mut open, mut finished) = (vec![(0.0, Vec::new())], Vec::new());
    for _ in 0..most {
        let mut next = Vec::new();
        for (total, prefix) in open {
            for (token, log_p) in (0u32..).zip(by_hand(members, text, &prefix, average)) {
                let longer = (total + log_p, [prefix.as_slice(), &[token]].concat());
                if token == 0 { finished.push(longer) } else { next.push(longer) }
            }
        }
        open = next;
    }
    finished.sort_by(|a, b| b.0.total_cmp(&a.0));
    finished
}

#[test]
fn the_beam_finds_what_brute_force_finds() {
    for average in AVERAGES {
        let both = ensemble(&[TINY, OTHER], average, AlignmentOf::Mean);
        let mut stepper = both.stepper(Kernels::Fused, 2).expect("a stepper");
        for text in &TEXTS[..2] {
            let expected = enumerate(both.members(), text, average, 3);
            let options = SearchOptions { beam: 200, max_length: Some(3), ..SearchOptions::default() };
            let source = both.encode(text);
            let decoded =
                decode(stepper.as_mut(), both.specials(), &[&source.ids], &options, &forever(), &mut |_, _| {});
            let hypotheses = &decoded.expect("decoded")[0].hypotheses;
            assert_eq!(hypotheses.len(), expected.len());
            for (got, (log_p, tokens)) in hypotheses.iter().zip(&expected).take(10) {
                assert_eq!(&got.tokens, tokens, "{text}, {average}");
                near(got.log_p, *log_p, text);
            }
            let (log_p, tokens) = &expected[3];
            let forced = force(stepper.as_mut(), &[(&source.ids, tokens)], &forever()).expect("scored");
            near(forced[0].log_p, *log_p, "forced");
        }
    }
}

#[test]
fn the_alignment_is_a_members_or_the_mean() {
    let text = "one three five";
    let alone = |tiny: Tiny| {
        let model = tiny.model();
        let output =
            say(model.stepper(Kernels::Fused, 1).expect("a stepper").as_mut(), &model.source.encode(text).ids, &[2]);
        (output.alpha, output.energies)
    };
    let together = |members: &[Tiny], alignment: AlignmentOf| {
        let ensemble = ensemble(members, Average::Probability, alignment);
        let source = ensemble.encode(text);
        assert_eq!(source.text, text);
        let output = say(ensemble.stepper(Kernels::Fused, 1).expect("a stepper").as_mut(), &source.ids, &[2]);
        (output.alpha, output.energies, source.tokens.len())
    };
    let (tiny, other) = (alone(TINY), alone(OTHER));
    let of = AlignmentOf::Member;
    assert_eq!(together(&[ENCDEC, TINY, OTHER], of(1)), (tiny.0.clone(), tiny.1.clone(), 4));
    assert_eq!(together(&[OTHER, TINY], of(0)), (other.0.clone(), other.1, 3), "its own words, without `</s>`");
    assert_eq!(together(&[ENCDEC, TINY], AlignmentOf::Mean), (tiny.0.clone(), tiny.1, 4), "the only one that aligns");
    let mean: Vec<f32> = (0..4).map(|j| tiny.0[j] * 0.5 + other.0.get(j).map_or(0.0, |alpha| alpha * 0.5)).collect();
    assert_eq!(together(&[OTHER, ENCDEC, TINY], AlignmentOf::Mean), (mean, Vec::new(), 4), "energies have no mean");
    assert_eq!(together(&[ENCDEC, ENCDEC], AlignmentOf::Mean), (Vec::new(), Vec::new(), 4), "never invented");
}

#[test]
fn what_cannot_be_one_is_refused_in_a_sentence() {
    let refuse = |members: &[Tiny], alignment: AlignmentOf, expected: &str| {
        let members = members.iter().map(Tiny::model).collect();
        let error = Ensemble::new(members, Mixing { alignment, ..Mixing::default() }).expect_err(expected);
        assert!(error.is_users() && error.to_string().contains(expected), "{error}");
    };
    let swapped = Tiny { target: &["un", "trois", "deux"], ..TINY };
    let larger = Tiny { target: &["un", "deux", "trois", "quatre"], ..TINY };
    refuse(&[], AlignmentOf::Mean, "at least one model");
    refuse(&[TINY, OTHER, swapped], AlignmentOf::Mean, "the target word 3 is \"deux\" in ");
    refuse(&[TINY, larger], AlignmentOf::Mean, "has 5 target words, but ");
    refuse(&[TINY, ENCDEC], AlignmentOf::Member(1), "encdec (rnnencdec) has none");
    refuse(&[TINY, ENCDEC], AlignmentOf::Member(2), "has only 2");
    for (text, alignment) in [
        ("mean", Some(AlignmentOf::Mean)),
        ("2", Some(AlignmentOf::Member(1))),
        ("0", None),
        ("-1", None),
        ("all", None),
    ] {
        assert_eq!(text.parse::<AlignmentOf>().ok(), alignment, "{text}");
    }
}
