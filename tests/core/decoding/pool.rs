//! Sentences that enter a batch as others leave it have the translations that they have alone.

use interlinear::decoding::{Decoded, Ensemble, SearchOptions, Specials, decode, decode_all};
use interlinear::models::{Kernels, Model, Stepper};
use interlinear::{decoding::ensemble::Mixing, nn::device::Device, text::tokenizer::Encode as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::{SPECIALS, check_near, model_of, options_of};
use crate::tiny::{TINY, Tiny};
use crate::{cli::reference, decoding::fake::Fake, forever, models::FOLDERS};

fn sentences(count: usize, vocabulary: u32, seed: u64) -> Vec<Vec<u32>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sentence = |_| (0..rng.random_range(1..13)).map(|_| rng.random_range(2..vocabulary)).chain([0]).collect();
    (0..count).map(sentence).collect()
}

fn together(
    stepper: &mut dyn Stepper, specials: Specials, sources: &[&[u32]], options: &SearchOptions, batch: usize,
) -> Vec<Decoded> {
    let mut all: Vec<Option<Decoded>> = sources.iter().map(|_| None).collect();
    let mut keep = |indexes: &[usize], decoded: Vec<Decoded>| {
        for (&index, decoded) in indexes.iter().zip(decoded) {
            assert!(all[index].replace(decoded).is_none(), "sentence {index} was translated once");
        }
        Ok(())
    };
    decode_all(stepper, specials, sources, options, batch, &forever(), &mut keep).expect("they decode");
    all.into_iter().map(|decoded| decoded.expect("every sentence is translated")).collect()
}

fn alone(stepper: &mut dyn Stepper, specials: Specials, source: &[u32], options: &SearchOptions) -> Decoded {
    let decoded = decode(stepper, specials, &[source], options, &forever(), &mut |_, _| {});
    decoded.expect("it decodes").remove(0)
}

#[test]
fn the_search_is_that_of_each_sentence_alone() {
    let mut entered = 0;
    for seed in 0..60 {
        let (fake, options) = (model_of(seed), options_of(seed));
        let sources = sentences(23, 60, seed);
        let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
        let mut joining = Fake { joining: true, ..fake.clone() };
        let batch = [1, 2, 4, 7][(seed % 4) as usize];
        let found = together(&mut joining, SPECIALS, &sources, &options, batch);
        entered += joining.joined;
        for (source, found) in sources.iter().zip(found) {
            assert_eq!(found, alone(&mut fake.clone(), SPECIALS, source, &options), "seed {seed}, {options:?}");
        }
    }
    assert!(entered > 60, "only {entered} times did a sentence enter");
}

fn check_same(what: &str, found: &Decoded, expected: &Decoded) {
    assert_eq!(found.hypotheses.len(), expected.hypotheses.len(), "{what}");
    for (found, expected) in found.hypotheses.iter().zip(&expected.hypotheses) {
        assert_eq!(found.tokens, expected.tokens, "{what}");
        check_near(found.log_p, expected.log_p.into());
        let numbers = |rows: &Option<Vec<Vec<f32>>>| rows.iter().flatten().flatten().copied().collect::<Vec<f32>>();
        let (alpha, same) = (numbers(&found.alpha), numbers(&expected.alpha));
        assert_eq!(alpha.len(), same.len(), "{what}");
        alpha.iter().zip(same).for_each(|(&alpha, same)| check_near(alpha, same.into()));
    }
    let (context, same) = (found.context.iter().flatten(), expected.context.iter().flatten());
    context.zip(same).for_each(|(&c, &same)| check_near(c, same.into()));
    assert_eq!(found.context.is_some(), expected.context.is_some(), "{what}");
}

#[test]
fn every_architecture_takes_sentences_in() {
    let options = SearchOptions { beam: 3, max_length: Some(9), ..SearchOptions::default() };
    for folder in FOLDERS {
        let model = Model::load(reference(folder), &Device::cpu()).expect("the fixture loads");
        let sources = sentences(20, model.config.source_vocabulary as u32, 5);
        let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
        let mut stepper = model.stepper(Kernels::Fused, 2).expect("a stepper");
        assert_eq!(stepper.joins(), !folder.contains("local-m"), "{folder}");
        for batch in [3, 7] {
            for (index, found) in together(stepper.as_mut(), SPECIALS, &sources, &options, batch).iter().enumerate() {
                let expected = alone(stepper.as_mut(), SPECIALS, sources[index], &options);
                check_same(&format!("{folder}, batch {batch}, sentence {index}"), found, &expected);
            }
        }
    }
}

#[test]
fn the_members_of_an_ensemble_take_the_same_sentences_in() {
    let members = [TINY, Tiny { name: "other", source: &["three", "four"], source_eos: false, seed: 2, ..TINY }];
    let ensemble = Ensemble::new(members.iter().map(Tiny::model).collect(), Mixing::default()).expect("an ensemble");
    let words = ["one", "two", "three", "four"];
    let texts: Vec<String> = sentences(20, 6, 9)
        .iter()
        .map(|ids| ids.iter().filter(|id| **id > 1).map(|id| words[*id as usize - 2]).collect::<Vec<_>>().join(" "))
        .collect();
    let sources: Vec<_> = texts.iter().map(|text| ensemble.encode(text)).collect();
    let sources: Vec<&[u32]> = sources.iter().map(|source| source.ids.as_slice()).collect();
    let options = SearchOptions { max_length: Some(6), ..SearchOptions::default() };
    let mut stepper = ensemble.stepper(Kernels::Fused, 1).expect("a stepper");
    assert!(stepper.joins());
    for (index, found) in together(stepper.as_mut(), ensemble.specials(), &sources, &options, 5).iter().enumerate() {
        let expected = alone(stepper.as_mut(), ensemble.specials(), sources[index], &options);
        check_same(&texts[index], found, &expected);
    }
}
