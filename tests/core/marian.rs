//! Marian's Transformers give the words, probabilities and alignments that Marian gives: tiny models that it trained and
//! converted, each with the beams that it found.

use std::path::{Path, PathBuf};

use interlinear::decoding::{Hypothesis, SearchOptions, Specials, decode};
use interlinear::models::origins::{self, Foreign};
use interlinear::models::transformer::sizes::AlignmentReason;
use interlinear::models::{Kernels, Model};
use interlinear::nn::device::Device;
use interlinear::text::tokenizer::Tokenizers;
use interlinear::ticket::CancellationToken;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/marian").join(name)
}

fn foreign(path: &Path) -> Foreign {
    let origin = origins::find(path).unwrap_or_else(|| panic!("{} is a model", path.display()));
    (origin.read)(path).unwrap_or_else(|error| panic!("{error}"))
}

/// A line of `nbest.txt`.
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
    let text = std::fs::read_to_string(folder.join("nbest.txt")).expect("what Marian gave");
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

/// Words as text; pieces without the spaces between them.
fn text(model: &Model, found: &Hypothesis) -> String {
    let words: Vec<&str> =
        found.tokens.iter().filter(|id| **id != 0).filter_map(|id| model.target.token(*id)).collect();
    let is_pieces = words.iter().any(|word| word.starts_with('\u{2581}'));
    if is_pieces { words.concat().replace('\u{2581}', " ").trim().to_owned() } else { words.join(" ") }
}

/// What is furthest from Marian among hypotheses of the same words: log p, alpha; and how many have other words.
pub fn compare(folder: &Path, kernels: Kernels) -> (f32, f32, usize, usize) {
    let mut foreign = foreign(folder);
    if let Some(sizes) = foreign.config.transformer.as_mut().filter(|sizes| sizes.alignment_heads.len() > 1) {
        // Marian gives the first head, guided or not.
        (sizes.alignment_heads, sizes.alignment_reason) = (vec![1], AlignmentReason::Chosen);
    }
    let model = Model::of_foreign(foreign, folder, &Device::cpu(), &Tokenizers::default()).expect("a whole model");
    let sources = std::fs::read_to_string(folder.join("source.txt")).expect("sentences");
    let wanted = wanted(folder);
    let specials = Specials { eos: model.config.eos, unk: model.config.unk };
    let (mut log_p, mut alpha, mut others, mut most) = (0.0_f32, 0.0_f32, 0, 0);
    for (sentence, line) in sources.lines().enumerate() {
        let source = model.source.encode(line).ids;
        let limit = wanted.iter().filter(|wanted| wanted.sentence == sentence).map(|wanted| wanted.alpha.len()).max();
        let options = SearchOptions {
            beam: 4,
            forbid_unk: true,
            max_length: Some(limit.unwrap_or(0).max(3 * source.len())),
            ..SearchOptions::default()
        };
        let mut stepper = model.stepper(kernels, 1).expect("a stepper");
        let ticket = CancellationToken::forever();
        let found = decode(&mut *stepper, specials, &[&source], &options, &ticket, &mut |_, _| {}).expect("a beam");
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
    }
    (log_p, alpha, others, most)
}

/// Folder, the most that log p and alpha may differ, and the hypotheses that may have other words.
const MODELS: &[(&str, f32, f32, usize)] = &[
    ("post", 1e-4, 1e-5, 0),
    ("pre", 1e-4, 1e-5, 0),
    ("ssru", 1e-4, 1e-5, 0),
    ("guided", 1e-4, 1e-5, 0),
    ("float", 1e-4, 1e-5, 0),
    ("integers", 0.1, 1e-2, 1),
    ("bergamot", 0.1, 1e-2, 1),
];

#[test]
fn every_beam_is_marians() {
    for (name, most_log_p, most_alpha, most_others) in MODELS {
        for kernels in [Kernels::Plain, Kernels::Fused] {
            let (log_p, alpha, others, all) = compare(&fixture(name), kernels);
            let told = format!("{name}, {kernels:?}: log p {log_p}, alpha {alpha}, {others} of {all} others");
            assert!(log_p <= *most_log_p && alpha <= *most_alpha && others <= *most_others && all >= 4, "{told}");
        }
    }
}
