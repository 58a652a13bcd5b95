//! Samples against exact probabilities, against greedy search, and against themselves in other batches.

use std::collections::HashMap;

use interlinear::decoding::sample::{Numbered, Sample, SampleOptions, sample};
use interlinear::decoding::{Ensemble, SearchOptions, Specials, decode};
use interlinear::models::{Kernels, Stepper};
use interlinear::{decoding::ensemble::Mixing, error::Error, text::tokenizer::Encode as _};

use super::fake::Fake;
use crate::tiny::{TINY, Tiny};
use crate::{counted, forever};

const SPECIALS: Specials = Specials { eos: 0, unk: 1, bars_unk: false };
const SOURCES: [&[u32]; 4] = [&[4, 2, 0], &[0], &[2, 2, 3, 0], &[3, 0]];

fn numbered<'a>(sources: &[&'a [u32]]) -> Vec<Numbered<'a>> {
    (10..).zip(sources).map(|(number, &source)| Numbered { number, source }).collect()
}

fn draw(stepper: &mut dyn Stepper, sentences: &[Numbered<'_>], options: &SampleOptions) -> Vec<Vec<Sample>> {
    sample(stepper, SPECIALS, sentences, options, &forever()).expect("nothing to refuse")
}

/// p^(1/T), normalised, of every next word.
fn sharpened(model: &Fake, state: u64, options: &SampleOptions) -> Vec<f64> {
    let mut p: Vec<f64> =
        model.log_p(state).iter().map(|&log_p| (f64::from(log_p) / f64::from(options.temperature)).exp()).collect();
    if options.forbid_unk {
        p[1] = 0.0;
    }
    let sum: f64 = p.iter().sum();
    p.iter().map(|p| p / sum).collect()
}

fn exact(model: &Fake, source: &[u32], options: &SampleOptions) -> HashMap<Vec<u32>, f64> {
    let (mut open, mut done) = (vec![(Vec::new(), 1.0)], HashMap::new());
    while let Some((prefix, p)) = open.pop() {
        for (token, q) in (0u32..).zip(sharpened(model, model.state(source, &prefix), options)) {
            let tokens = [prefix.as_slice(), &[token]].concat();
            let ends = token == 0 || Some(tokens.len()) == options.max_length;
            if ends {
                done.insert(tokens, p * q);
            } else {
                open.push((tokens, p * q));
            }
        }
    }
    done
}

#[test]
fn frequencies_are_those_of_the_exact_probabilities() {
    for (seed, temperature, forbid_unk) in [(1, 1.0, false), (2, 0.5, false), (3, 2.0, true), (4, 1.0, true)] {
        let mut model = Fake::new(seed, 4);
        let options =
            SampleOptions { count: 10_000, temperature, seed, max_length: Some(3), forbid_unk, allow_unk: false };
        for (source, samples) in SOURCES.iter().zip(draw(&mut model, &numbered(&SOURCES), &options)) {
            assert_eq!(samples.iter().map(|sample| sample.count).sum::<usize>(), options.count);
            let mut probabilities = exact(&model, source, &options);
            let (mut chi_square, mut cells) = (0.0_f64, 0.0_f64);
            for sample in &samples {
                let p = probabilities.remove(&sample.tokens).expect("it is possible");
                let expected = p * options.count as f64;
                assert!(expected > 0.0, "{:?} is impossible", sample.tokens);
                if expected >= 5.0 {
                    chi_square += (sample.count as f64 - expected).powi(2) / expected;
                    cells += 1.0;
                }
                let states = (0..sample.tokens.len()).map(|i| model.state(source, &sample.tokens[..i]));
                let log_p: f64 =
                    states.zip(&sample.tokens).map(|(state, &y)| f64::from(model.log_p(state)[y as usize])).sum();
                assert!((f64::from(sample.log_p) - log_p).abs() < 1e-5, "log p is the model's");
                assert_eq!(sample.finished, sample.tokens.last() == Some(&0));
            }
            let missed: f64 = probabilities.values().sum();
            assert!(missed < 0.02, "{missed} of the probability was never drawn");
            // Four deviations above the mean of a chi-square of so many cells.
            assert!(chi_square < cells + 4.0 * (2.0 * cells).sqrt(), "{chi_square} over {cells} cells");
            assert!(samples.is_sorted_by(|a, b| a.log_p >= b.log_p), "most probable first");
        }
    }
}

#[test]
fn the_colder_the_greedier() {
    let mut model = Fake::new(7, 30);
    let greedy = SearchOptions { beam: 1, ..SearchOptions::default() };
    let wanted = decode(&mut model, SPECIALS, &SOURCES, &greedy, &forever(), &mut |_, _| {}).expect("decoded");
    for temperature in [0.0, 1e-30, 1e-6] {
        let options = SampleOptions { count: 3, temperature, ..SampleOptions::default() };
        for (samples, wanted) in draw(&mut model, &numbered(&SOURCES), &options).iter().zip(&wanted) {
            let [only] = samples.as_slice() else { panic!("{temperature} draws {} different ones", samples.len()) };
            assert_eq!((&only.tokens, only.count), (&wanted.hypotheses[0].tokens, 3));
        }
    }
}

#[test]
fn what_is_drawn_follows_from_seed_and_number_alone() {
    let members = [TINY, Tiny { seed: 5, ..TINY }].map(|tiny| tiny.model());
    let ensemble = Ensemble::new(members.to_vec(), Mixing::default()).expect("the same words");
    let texts = ["one two", "three", "two two one three", "one"];
    for alone in [false, true] {
        let encode = |text: &&str| if alone { members[0].source.encode(text) } else { ensemble.encode(text) };
        let sources: Vec<_> = texts.iter().map(encode).collect();
        let sources: Vec<&[u32]> = sources.iter().map(|source| source.ids.as_slice()).collect();
        let sentences = numbered(&sources);
        let stepper = |threads| {
            if alone { members[0].stepper(Kernels::Fused, threads) } else { ensemble.stepper(Kernels::Fused, threads) }
        };
        let options = SampleOptions { count: 40, seed: 3, max_length: Some(12), ..SampleOptions::default() };
        let together = draw(stepper(1).expect("a stepper").as_mut(), &sentences, &options);
        assert_eq!(draw(stepper(2).expect("a stepper").as_mut(), &sentences, &options), together, "two threads");
        for (sentence, together) in sentences.iter().zip(&together) {
            let alone = draw(stepper(1).expect("a stepper").as_mut(), &[*sentence], &options);
            let plain =
                |samples: &[Sample]| -> Vec<_> { samples.iter().map(|s| (s.tokens.clone(), s.count)).collect() };
            assert_eq!(plain(&alone[0]), plain(together), "alone or in a batch");
        }
        let other = SampleOptions { seed: 4, ..options };
        assert_ne!(draw(stepper(1).expect("a stepper").as_mut(), &sentences, &other), together);
        let same = [Numbered { number: 1, source: sources[0] }, Numbered { number: 2, source: sources[0] }];
        let same = draw(stepper(1).expect("a stepper").as_mut(), &same, &options);
        assert_ne!(same[0], same[1], "another number, other draws");
    }
}

/// It promised the same samples whatever the batch and the threads, which no sum of rounded numbers can keep.
#[test]
fn the_help_of_sample_promised_too_much() {
    let help = crate::cli::run_line(std::path::Path::new("."), "sample --help").stdout;
    assert!(help.contains("may change the last digits of a probability and so, rarely, a draw"), "{help}");
    assert!(!help.contains("whatever --batch"), "{help}");
}

#[test]
fn more_draws_are_the_same_and_further_ones() {
    let mut model = Fake::new(2, 5);
    let counts = |count: usize, model: &mut Fake| -> Vec<HashMap<Vec<u32>, usize>> {
        let options = SampleOptions { count, max_length: Some(4), ..SampleOptions::default() };
        let drawn = draw(model, &numbered(&SOURCES), &options);
        drawn.into_iter().map(|samples| samples.into_iter().map(|one| (one.tokens, one.count)).collect()).collect()
    };
    let (fewer, more) = (counts(900, &mut model), counts(2500, &mut model));
    for (fewer, more) in fewer.iter().zip(&more) {
        assert_eq!((fewer.values().sum::<usize>(), more.values().sum::<usize>()), (900, 2500));
        assert!(fewer.iter().all(|(tokens, count)| more[tokens] >= *count));
    }
}

#[test]
fn what_cannot_be_drawn_is_said_in_a_sentence() {
    let refuse = |model: Fake, options: SampleOptions, source: &[u32], expected: &str| {
        let result = sample(&mut model.clone(), SPECIALS, &numbered(&[source]), &options, &forever());
        let message = result.expect_err(expected).to_string();
        assert!(message.contains(expected), "{message}");
    };
    let plain = SampleOptions::default();
    for temperature in [-1.0, f32::NAN, f32::INFINITY] {
        refuse(Fake::new(1, 9), SampleOptions { temperature, ..plain }, &[2, 0], "the temperature is ");
    }
    refuse(Fake::new(1, 9), plain, &[], "source sentence 1 is empty");
    refuse(
        Fake { broken_at: Some(1), ..Fake::new(9, 30) },
        SampleOptions { count: 50, ..plain },
        &[2, 0],
        "at target position 2",
    );
    let (counter, ticket) = counted();
    let mut model = Fake { cancel: Some((1, counter)), ..Fake::new(1, 30) };
    let options = SampleOptions { count: 50, ..plain };
    assert!(matches!(sample(&mut model, SPECIALS, &numbered(&SOURCES), &options, &ticket), Err(Error::Stale)));
    let impossible = Fake { impossible: Some(4), ..Fake::new(1, 9) };
    let many = SampleOptions { count: 500, temperature: 50.0, ..plain };
    let drawn = draw(&mut impossible.clone(), &numbered(&SOURCES), &many);
    assert!(drawn.iter().flatten().all(|sample| !sample.tokens.contains(&4)));
    assert!(draw(&mut Fake::new(1, 9), &[], &plain).is_empty());
    let none = SampleOptions { max_length: Some(0), ..plain };
    assert!(draw(&mut Fake::new(1, 9), &numbered(&SOURCES), &none).iter().all(Vec::is_empty));
}
