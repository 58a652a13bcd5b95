//! The shortlist beside a model: read as its makers write it, refused where it is damaged, and no other word is said.

use std::path::{Path, PathBuf};

use interlinear::decoding::{SearchOptions, Specials, decode, decode_all};
use interlinear::models::{Kernels, Model, Need, StepOutput, StepRow};
use interlinear::{models::shortlist::Shortlist, nn::device::Device};

use crate::folder::{Files as _, Folder};
use crate::forever;

fn file(frequent: u64, lists: &[&[u32]]) -> Vec<u8> {
    let mut numbers: Vec<u64> =
        vec![frequent, 50, lists.len() as u64 + 1, lists.iter().map(|list| list.len() as u64).sum()];
    let mut at = 0;
    numbers.push(at);
    for list in lists {
        at += list.len() as u64;
        numbers.push(at);
    }
    let mut rest: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    rest.extend(lists.iter().flat_map(|list| list.iter()).flat_map(|id| id.to_le_bytes()));
    let mut sum = 0_u64;
    for word in rest.chunks_exact(8) {
        let value = u64::from_le_bytes(word.try_into().expect("eight bytes"));
        sum ^= value.wrapping_add(0x9e37_79b9).wrapping_add(sum << 6).wrapping_add(sum >> 2);
    }
    [&0xF11A_48D5_0134_17F5_u64.to_le_bytes()[..], &sum.to_le_bytes(), &rest].concat()
}

fn beside(folder: &Path, bytes: &[u8]) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/marian/bergamot");
    for entry in std::fs::read_dir(from).expect("a fixture").flatten() {
        std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("a copy");
    }
    folder.put("lex.50.50.enfr.s2t.bin", bytes);
    folder.join("model.enfr.intgemm.alphas.bin")
}

fn named(file: &Path) -> PathBuf {
    PathBuf::from(format!("{}@shortlist", file.display()))
}

#[test]
fn a_sentence_has_the_frequent_words_and_those_of_its_own_in_eights() {
    let folder = Folder::new();
    let path = folder.put("lex.bin", file(2, &[&[], &[3, 7], &[9], &[19, 18]]));
    let list = |shared| Shortlist::read(&path, [4, 20], shared).expect("sound");
    let (own, shared) = (list(false), list(true));
    for (source, expected) in [
        (&[0_u32][..], &[0_u32, 1, 2, 3, 4, 5, 6, 7][..]),
        (&[1, 2, 0], &[0, 1, 2, 3, 4, 5, 7, 9]),
        (&[3, 3], &[0, 1, 2, 3, 4, 5, 18, 19]),
        (&[1, 99], &[0, 1, 2, 3, 4, 5, 6, 7]),
    ] {
        assert_eq!(own.of(source), expected, "{source:?}");
    }
    assert_eq!(shared.of(&[3, 2]), [0, 1, 2, 3, 4, 9, 18, 19], "its own words, where they are words of the target");
}

#[test]
fn what_is_wrong_with_a_shortlist_is_told() {
    let (_folder, path) = Folder::and_path("lex.bin");
    let sound = file(2, &[&[1, 3], &[2]]);
    let changed = |at: usize, byte: u8| {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        bytes
    };
    for (bytes, told) in [
        (changed(0, 1), "no binary shortlist"),
        (Vec::new(), "no binary shortlist"),
        (sound[..30].to_vec(), "fewer than its head"),
        (sound[..sound.len() - 1].to_vec(), "but has"),
        (changed(33, 1), "offsets"),
        (changed(39, 255), "bytes"),
        (changed(16, 3), "checksum"),
        (file(2, &[&[1, 3]]), "is for 1 source words, but the model has 2"),
        (file(2, &[&[1, 3], &[20]]), "lists the target word 20, but the model has 20"),
    ] {
        std::fs::write(&path, &bytes).expect("written");
        let why = Shortlist::read(&path, [2, 20], false).expect_err(told).to_string();
        assert!(why.contains(told) && why.contains("lex.bin"), "{told}: {why}");
    }
}

#[test]
fn a_model_with_its_shortlist_says_no_other_word() {
    let folder = Folder::new();
    let plain = Model::load(beside(&folder, b""), &Device::cpu()).expect("the list is not asked for");
    let (words, forever) = (plain.target.len() as u32, forever());
    let lists: Vec<Vec<u32>> = (0..plain.source.len() as u32).map(|id| vec![id * 3 % words, id * 7 % words]).collect();
    let mut lists: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
    let file = beside(&folder, &file(4, &lists));
    let listed = Model::load(named(&file), &Device::cpu()).expect("a sound list");
    assert!(listed.config.name.ends_with(" @shortlist"), "{}", listed.config.name);
    let list =
        Shortlist::read(&Shortlist::next_to(&file).expect("one"), [lists.len(), words as usize], true).expect("sound");
    let sources: Vec<Vec<u32>> =
        ["the cat sees the old mill .", "quiet"].map(|text| plain.source.encode(text).ids).to_vec();
    // p over the listed words is that over all, made to sum to 1
    let row = [StepRow { sentence: 0, parent: 0, y_prev: None }];
    let [mut all, mut few] = [&plain, &listed].map(|model| {
        let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
        stepper.begin(&[&sources[0]]).expect("encoded");
        let mut output = StepOutput::default();
        stepper.step(&row, &Need::all(), &mut output).expect("a step");
        output
    });
    let may = list.of(&sources[0]);
    let sum: f32 = may.iter().map(|id| all.log_p[*id as usize].exp()).sum();
    for (id, (all, few)) in all.log_p.drain(..).zip(few.log_p.drain(..)).enumerate() {
        let expected = if may.contains(&(id as u32)) { all - sum.ln() } else { f32::NEG_INFINITY };
        assert!(few == expected || (few - expected).abs() < 1e-5, "{id}: {few} is not {expected}");
    }
    assert_eq!(all.alpha, few.alpha, "where it looks stays");
    let specials = Specials { eos: listed.config.eos, unk: listed.config.unk, bars_unk: false };
    let options = SearchOptions { beam: 4, ..SearchOptions::default() };
    let mut stepper = listed.stepper(Kernels::Fused, 1).expect("a stepper");
    let mut best = Vec::new();
    for source in &sources {
        let found = decode(&mut *stepper, specials, &[source], &options, &forever, &mut |_, _| {}).expect("translated");
        let may = list.of(source);
        assert!(found[0].hypotheses.iter().flat_map(|one| &one.tokens).all(|token| may.contains(token)));
        best.push(found[0].hypotheses[0].tokens.clone());
    }
    let many: Vec<&[u32]> = [0, 1, 1, 0, 1].map(|n: usize| sources[n].as_slice()).to_vec();
    decode_all(&mut *stepper, specials, &many, &options, 2, &forever, &mut |indexes, decoded| {
        for (index, decoded) in indexes.iter().zip(decoded) {
            assert_eq!(decoded.hypotheses[0].tokens, best[usize::from(many[*index] != sources[0].as_slice())]);
        }
        Ok(())
    })
    .expect("translated");
    lists.pop();
    std::fs::remove_file(folder.join("lex.50.50.enfr.s2t.bin")).expect("it was there");
    let why = Model::load(named(&file), &Device::cpu()).expect_err("none").to_string();
    assert!(why.contains("has no shortlist"), "{why}");
}
