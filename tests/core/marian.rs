//! Marian's Transformers give the words, probabilities and alignments that Marian gives: tiny models that it trained and
//! converted, each with the beams that it found. Pre-norm is compared with what it scores: there its decoder normalises the
//! words before for the first word alone, other than its training does, and what was learned counts here.

use std::path::{Path, PathBuf};

use interlinear::decoding::{Hypothesis, SearchOptions, Specials, decode, force};
use interlinear::models::{Kernels, Model};
use interlinear::models::{config::OwnSizes, origins, origins::foreign::Foreign, transformer::sizes::AlignmentReason};
use interlinear::{nn::device::Device, text::tokenizer::Tokenizers};

use crate::folder::{Files as _, Folder};
use crate::{cli::run_in, forever};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/marian").join(name)
}

fn foreign(path: &Path) -> Foreign {
    let origin = origins::find(path).unwrap_or_else(|| panic!("{} is a model", path.display()));
    (origin.read)(path).unwrap_or_else(|error| panic!("{error}"))
}

struct Wanted {
    sentence: usize,
    text: String,
    alpha: Vec<Vec<f32>>,
    token_log_p: Vec<f32>,
    log_p: f32,
}

fn numbers(text: &str, mark: char) -> Vec<f32> {
    text.split(mark).map(|number| number.parse().expect("a number")).collect()
}

fn wanted(folder: &Path) -> Vec<Wanted> {
    let text = ["nbest.txt", "scores.txt"].iter().find_map(|name| std::fs::read_to_string(folder.join(name)).ok());
    let text = text.expect("what Marian gave");
    let line = |line: &str| {
        let parts: Vec<&str> = line.split(" ||| ").collect();
        Wanted {
            sentence: parts[0].parse().expect("a number"),
            text: parts[1].trim().to_owned(),
            alpha: parts[2].split(' ').map(|row| numbers(row, ',')).collect(),
            token_log_p: numbers(parts[3].trim(), ' '),
            log_p: parts[4].trim().parse().expect("a number"),
        }
    };
    text.lines().map(line).collect()
}

fn furthest(one: &[f32], other: &[f32]) -> f32 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
}

fn text(model: &Model, found: &Hypothesis) -> String {
    let words: Vec<&str> =
        found.tokens.iter().filter(|id| **id != 0).filter_map(|id| model.target.token(*id)).collect();
    let is_pieces = words.iter().any(|word| word.starts_with('\u{2581}'));
    if is_pieces { words.concat().replace('\u{2581}', " ").trim().to_owned() } else { words.join(" ") }
}

fn compare(folder: &Path, kernels: Kernels) -> (Vec<(f32, f32)>, usize, usize) {
    let mut foreign = foreign(folder);
    if let OwnSizes::Transformer(sizes) = &mut foreign.config.own
        && sizes.alignment_heads.len() > 1
    {
        // Marian gives the first head, guided or not.
        (sizes.alignment_heads, sizes.alignment_reason) = (vec![1], AlignmentReason::Chosen);
    }
    let model = Model::of_foreign(foreign, folder, &Device::cpu(), &Tokenizers::default()).expect("a whole model");
    let sources = folder.text("source.txt");
    let wanted = wanted(folder);
    let specials = Specials { eos: model.config.eos, unk: model.config.unk, bars_unk: false };
    let (mut all, mut others, mut most) = (Vec::new(), 0, 0);
    for (sentence, line) in sources.lines().enumerate() {
        let (mut log_p, mut alpha) = (0.0_f32, 0.0_f32);
        let source = model.source.encode(line).ids;
        let limit = wanted.iter().filter(|wanted| wanted.sentence == sentence).map(|wanted| wanted.alpha.len()).max();
        let options = SearchOptions {
            beam: wanted.iter().filter(|wanted| wanted.sentence == sentence).count().min(4),
            forbid_unk: true,
            max_length: Some(limit.unwrap_or(0).max(3 * source.len())),
            ..SearchOptions::default()
        };
        let mut stepper = model.stepper(kernels, 1).expect("a stepper");
        if folder.join("scores.txt").exists() {
            let wanted = &wanted[sentence];
            let target = model.target.encode_with(&wanted.text, Some(model.config.eos)).ids;
            let forced = &force(&mut *stepper, &[(&source, &target)], &forever()).expect("it is scored")[0];
            log_p = log_p.max(furthest(&forced.token_log_p, &wanted.token_log_p));
            let rows = forced.alpha.as_ref().expect("a Transformer aligns").iter().zip(&wanted.alpha);
            alpha = rows.map(|(row, wanted)| furthest(row, wanted)).fold(alpha, f32::max);
            all.push((log_p, alpha));
            most += 4;
            continue;
        }
        let found = decode(&mut *stepper, specials, &[&source], &options, &forever(), &mut |_, _| {}).expect("a beam");
        let beam: Vec<&Wanted> = wanted.iter().filter(|wanted| wanted.sentence == sentence).collect();
        most += beam.len();
        for (rank, wanted) in beam.iter().enumerate() {
            let Some(found) =
                found[0].hypotheses.get(rank).filter(|found| text(&model, found) == wanted.text && found.finished)
            else {
                others += 1;
                continue;
            };
            log_p =
                log_p.max((found.log_p - wanted.log_p).abs()).max(furthest(&found.token_log_p, &wanted.token_log_p));
            let rows = found.alpha.as_ref().expect("a Transformer aligns");
            assert_eq!(rows.len(), wanted.alpha.len());
            for (row, wanted) in rows.iter().zip(&wanted.alpha) {
                alpha = alpha.max(furthest(row, wanted));
            }
        }
        all.push((log_p, alpha));
    }
    (all, others, most)
}

const MODELS: &[(&str, [f32; 2], [f32; 2], usize)] = &[
    ("post", [1e-4, 1e-5], [1e-4, 1e-5], 0),
    ("pre", [1e-4, 1e-5], [1e-4, 1e-5], 0),
    ("ssru", [1e-4, 1e-5], [1e-4, 1e-5], 0),
    ("guided", [1e-4, 1e-5], [1e-4, 1e-5], 0),
    ("float", [1e-4, 1e-5], [1e-4, 1e-5], 0),
    ("integers", [4e-3, 3e-5], [0.05, 3e-2], 1),
    // its list is of a Marian that does not round
    ("bergamot", [0.15, 1e-5], [0.25, 1e-5], 1),
];

#[test]
fn every_beam_is_marians() {
    for (name, most, furthest, most_others) in MODELS {
        for kernels in [Kernels::Plain, Kernels::Fused] {
            let (found, others, all) = compare(&fixture(name), kernels);
            let told = format!("{name}, {kernels:?}: {found:?}, {others} of {all} others");
            let is_within =
                |most: &[f32; 2]| found.iter().filter(|found| found.0 <= most[0] && found.1 <= most[1]).count();
            assert!(is_within(most) + 1 >= found.len() && is_within(furthest) == found.len(), "{told}");
            assert!(others <= *most_others && all >= 4, "{told}");
        }
    }
}

#[test]
fn integers_are_marians() {
    let folder = fixture("integers");
    let model = Model::load(&folder, &Device::cpu()).expect("a model");
    let text = folder.text("source.txt");
    let wanted = wanted(&folder);
    for (kernels, least) in [(Kernels::Plain, 8), (Kernels::Fused, 10)] {
        let mut stepper = model.stepper(kernels, 1).expect("a stepper");
        let mut same = 0;
        for (line, wanted) in text.lines().zip(&wanted) {
            let source = model.source.encode(line).ids;
            let target = model.target.encode_with(&wanted.text, Some(model.config.eos)).ids;
            let forced = &force(&mut *stepper, &[(&source, &target)], &forever()).expect("it is scored")[0];
            let rows = forced.alpha.as_ref().expect("a Transformer aligns").iter().zip(&wanted.alpha);
            let alpha = rows.map(|(row, wanted)| furthest(row, wanted)).fold(0.0, f32::max);
            // one list of words may be cut into pieces in several ways
            let is_cut_alike = forced.token_log_p.len() == wanted.token_log_p.len();
            same +=
                usize::from(is_cut_alike && alpha < 1e-5 && furthest(&forced.token_log_p, &wanted.token_log_p) < 1e-4);
        }
        assert!(same >= least && wanted.len() == 13, "{kernels:?}: {same} of {} are the same", wanted.len());
    }
}

#[test]
fn integers_are_the_same_in_every_company() {
    let folder = fixture("integers");
    let model = Model::load(&folder, &Device::cpu()).expect("a model");
    let specials = Specials { eos: model.config.eos, unk: model.config.unk, bars_unk: false };
    let text = folder.text("source.txt");
    let sources: Vec<Vec<u32>> = text.lines().map(|line| model.source.encode(line).ids).collect();
    let all: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
    let found = |threads: usize, sources: &[&[u32]]| {
        let mut stepper = model.stepper(Kernels::Fused, threads).expect("a stepper");
        let options = SearchOptions { beam: 3, ..SearchOptions::default() };
        decode(&mut *stepper, specials, sources, &options, &forever(), &mut |_, _| {}).expect("found")
    };
    for (together, source) in found(2, &all).iter().zip(&all) {
        let alone = &found(1, &[source])[0].hypotheses;
        assert_eq!(together.hypotheses.len(), alone.len());
        for (one, other) in together.hypotheses.iter().zip(alone) {
            assert_eq!((&one.tokens, &one.alpha), (&other.tokens, &other.alpha));
        }
    }
}

fn refused(name: &str, damage: &dyn Fn(&Path)) -> String {
    let folder = Folder::new();
    for entry in std::fs::read_dir(fixture(name)).expect("a fixture").flatten() {
        std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("a copy");
    }
    damage(&folder);
    let error = Model::load(&folder, &Device::cpu()).expect_err("it is damaged");
    assert!(error.is_users(), "{error}");
    error.to_string()
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    folder.put(name, bytes);
}

fn replace(folder: &Path, name: &str, from: &str, to: &str) {
    let mut bytes = std::fs::read(folder.join(name)).expect("a file");
    let place = bytes.windows(from.len()).position(|part| part == from.as_bytes()).expect("it is there");
    bytes.splice(place..place + from.len(), to.bytes());
    write(folder, name, &bytes);
}

type BadFolder = (&'static str, fn(&Path), &'static [&'static str]);

const BAD: &[BadFolder] = &[
    (
        "guided",
        |folder| std::fs::remove_file(folder.join("vocab.yml")).expect("a file"),
        &["model.npz", "no vocabularies"],
    ),
    (
        "post",
        |folder| std::fs::remove_file(folder.join("v.fr.yml")).expect("a file"),
        &["model.npz", "no `v.fr.yml` beside it", "put it there"],
    ),
    ("guided", |folder| write(folder, "vocab.yml", b"</s>: 0\n"), &["vocab.yml", "<unk>"]),
    ("guided", |folder| write(folder, "other.npz", b"PK"), &["several models", "model.npz, other.npz"]),
    ("guided", |folder| write(folder, "model.npz", b"PK and nothing"), &["model.npz", "no archive of numpy"]),
    ("float", |folder| write(folder, "model.bin", &1_u64.to_le_bytes()), &["model.bin", "ends before its tensors"]),
    (
        "float",
        |folder| replace(folder, "model.bin", "transformer-no-projection: false", "transformer-no-projection: true "),
        &["model.bin", "transformer-no-projection", "not implemented"],
    ),
    (
        "float",
        |folder| replace(folder, "model.bin", "transformer-decoder-autoreg: rnn", "transformer-decoder-autoreg: aan"),
        &["model.bin", "transformer-decoder-autoreg", "aan"],
    ),
    (
        "float",
        |folder| replace(folder, "model.bin", "encoder_l1_self_Wq", "encoder_l1_self_Wx"),
        &["model.bin", "encoder_l1_self_Wq", "missing"],
    ),
    ("float", |folder| replace(folder, "model.bin", "dim-emb: 8", "dim-emb: 6"), &["Wemb", "[70, 8]", "dim-emb"]),
];

#[test]
fn what_is_wrong_is_told_by_its_file_and_name() {
    for (name, damage, told) in BAD {
        let sentence = refused(name, &|folder| damage(folder));
        assert!(told.iter().all(|part| sentence.contains(part)), "{told:?}: {sentence}");
    }
}

#[test]
fn files_say_languages_guidance_and_licence_and_an_imported_folder_is_the_same_model() {
    let folder = Folder::new();
    for entry in std::fs::read_dir(fixture("post")).expect("a fixture").flatten() {
        std::fs::copy(entry.path(), folder.join(entry.file_name())).expect("a copy");
    }
    let card = "# opus-2020-01-15.zip\n\n* source language(s): fi\n* target language(s): sv\n* license: CC-BY 4.0\n";
    write(&folder, "README.md", card.as_bytes());
    write(&folder, "model.npz.yml", b"guided-alignment: corpus.align\n");
    let file = folder.join("model.npz");
    let read = foreign(&file);
    let sizes = read.config.transformer().expect("a Transformer");
    assert_eq!((sizes.alignment_heads.as_slice(), sizes.alignment_reason), (&[1][..], AlignmentReason::Guided));
    let languages = (read.config.source_language.as_str(), read.config.target_language.as_str());
    assert_eq!((read.config.name.as_str(), languages), ("opus-2020-01-15", ("fi", "sv")));
    assert!(read.card.contains("CC-BY 4.0") && read.card.contains("Marian"), "{}", read.card);

    let output = folder.join("ours");
    let arguments = [file.as_os_str(), output.as_os_str()].map(|path| path.to_string_lossy().into_owned());
    let import = || run_in(&folder, &["import", &arguments[0], &arguments[1]]);
    import().good();
    let ours = Model::load(&output, &Device::cpu()).expect("a model folder");
    assert_eq!(ours.config, read.config);
    assert!(ours.weights.iter().eq(read.weights.iter()), "the same weights");
    assert_eq!(ours.card(), read.card);
    import().refused("is there already");
    let shown = run_in(&folder, &["inspect", &arguments[0]]).stdout;
    for fact in ["Marian npz", "CC-BY 4.0", "guided", "decoder layers"] {
        assert!(shown.contains(fact), "{fact}: {shown}");
    }
}
