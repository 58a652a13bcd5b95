//! Alignment heads: their rows by plain loops, translations that stay as they are, and what is learned, on the papers' models
//! and on those of others.

use std::path::{Path, PathBuf};

use interlinear::analysis::reading::Reading;
use interlinear::decoding::{Forced, SearchOptions, Specials, decode_all, force_all};
use interlinear::evaluation::rows::ReadRows;
use interlinear::models::checkpoint::Weights;
use interlinear::models::config::Architecture;
use interlinear::models::fused::head::{HEAD_FILE, HEAD_WIDTH, HeadSizes, weights_of};
use interlinear::models::{Kernels, Model, Need, StepOutput, StepRow};
use interlinear::nn::device::Device;
use interlinear::text::corpus::ParallelText;
use interlinear::ticket::CancellationToken;
use interlinear::training::guide::Guide;
use interlinear::training::head::{HeadTraining, train_head};
use interlinear::training::minibatch::GuidedLink;

use crate::tiny::{TINY, Tiny};

/// Models of others: Transformers with one embedding on both sides and with two, and recurrent ones, of which one has
/// annotations of half the usual length.
const FOREIGN: [&str; 6] = [
    "marian/guided",
    "marian/pre",
    "marian/ssru",
    "marian-rnn/s2s-topped",
    "marian-rnn/s2s-lstm",
    "old/groundhog-search",
];

/// A tiny model of each of ours that has a head, and copies of [`FOREIGN`].
fn models(folder: &Path) -> Vec<PathBuf> {
    let encdec = Tiny { name: "encdec", architecture: Architecture::RNN_ENC_DEC, ..TINY };
    let mut models = vec![TINY.save(folder), encdec.save(folder)];
    for kind in FOREIGN {
        let (from, to) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kind), folder.join(kind));
        std::fs::create_dir_all(&to).expect("created");
        for entry in std::fs::read_dir(from).expect("a fixture") {
            let entry = entry.expect("a file");
            let name = entry.file_name().into_string().expect("a name");
            let name = if ["source.yml", "target.yml"].contains(&&*name) { format!("vocab.{name}") } else { name };
            std::fs::copy(entry.path(), to.join(name)).expect("copied");
        }
        models.push(to);
    }
    models
}

/// A model with a head of numbers that are neither small nor alike.
fn with_head(folder: &Path) -> (Model, Weights) {
    let model = Model::load(folder, &Device::cpu()).unwrap_or_else(|error| panic!("{error}"));
    let sizes = HeadSizes::of(&model.config);
    let count: usize = sizes.shapes().iter().map(|(_, shape)| shape.iter().product::<usize>()).sum();
    let flat: Vec<f32> = (0..count).map(|k| (k as f32 * 0.37 + 1.0).sin() * 0.5).collect();
    let head = weights_of(sizes, &flat);
    head.save(&model.head_file(), false).expect("written");
    (model, head)
}

/// alpha'_i of a pair as the equation has it, a number after the other.
fn by_hand(model: &Model, head: &Weights, source: &[u32], target: &[u32]) -> Vec<Vec<f32>> {
    let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
    stepper.begin(&[source]).expect("encoded");
    let h = stepper.encoded(0).expect("states of the encoder");
    let mut s = vec![stepper.states().map_or_else(|| vec![0.0; model.config.hidden], <[f32]>::to_vec)];
    for i in 0..=target.len() {
        let row = StepRow { sentence: 0, parent: 0, y_prev: (i > 0).then(|| target[i - 1]) };
        stepper.step(&[row], &Need::default(), &mut StepOutput::default()).expect("a step");
        s.push(stepper.states().expect("s_i").to_vec());
    }
    let [w, u, v] = ["W", "U", "v"].map(|name| head.numbers(name).expect("it is there"));
    let shares = model.weights.get("target_embedding").is_err();
    let embedding = if shares { "source_embedding" } else { "target_embedding" };
    let embedding = model.weights.numbers(embedding).expect("it is there");
    let m = model.config.embedding;
    let times = |matrix: &[f32], x: &[f32]| -> Vec<f32> {
        matrix.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect()
    };
    let row = |(i, &y): (usize, &u32)| {
        let query = [&s[i][..], &s[i + 1], &s[i + 2], &embedding[y as usize * m..(y as usize + 1) * m]].concat();
        let asked = times(&w, &query);
        let energy = |h: &Vec<f32>| -> f32 {
            let key = times(&u, h);
            (0..HEAD_WIDTH).map(|k| v[k] * (asked[k] + key[k]).tanh()).sum()
        };
        let e: Vec<f32> = h.iter().map(energy).map(f32::exp).collect();
        let sum: f32 = e.iter().sum();
        e.iter().map(|e| e / sum).collect()
    };
    target.iter().enumerate().map(row).collect()
}

#[test]
fn rows_are_those_of_the_equation_in_padded_batches_and_nothing_else_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in models(folder.path()) {
        let ((model, head), name) = (with_head(&path), path.display());
        let pairs: [(&[u32], &[u32]); 3] =
            [(&[2, 3, 4, 0], &[4, 2, 0]), (&[4, 0], &[3, 3, 2, 4, 0]), (&[2, 2, 0], &[0])];
        let forever = CancellationToken::forever();
        let mut plain = vec![Forced::default(); 3];
        force_all(
            &mut *model.stepper(Kernels::Fused, 1).expect("a stepper"),
            &pairs,
            2,
            &forever,
            &mut |at, forced| {
                at.iter().zip(forced).for_each(|(at, forced)| plain[*at] = forced);
                Ok(())
            },
        )
        .expect("forced");
        let rows = ReadRows::wanted((&model).into(), Some(Reading::Head));
        let mut stepper = model.head_stepper(1).expect("it has a head");
        rows.force_all(&mut *stepper, &pairs, 2, &forever, &mut |at, forced| {
            for (&at, forced) in at.iter().zip(forced) {
                assert_eq!(forced.token_log_p, plain[at].token_log_p, "{name}: log p");
                let alpha = forced.alpha.expect("a head always aligns");
                let expected = by_hand(&model, &head, pairs[at].0, pairs[at].1);
                assert_eq!(alpha.len(), expected.len());
                for (row, expected) in alpha.iter().zip(&expected) {
                    let far = row.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    assert!(far < 2e-5, "{name}: {row:?} for {expected:?}");
                }
            }
            Ok(())
        })
        .expect("forced");
    }
}

#[test]
fn translations_do_not_change_by_a_letter() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in models(folder.path()) {
        let (model, _) = with_head(&path);
        let sources: [&[u32]; 4] = [&[2, 3, 4, 0], &[4, 0], &[3, 3, 2, 0], &[2, 0]];
        let options = SearchOptions { beam: 3, ..SearchOptions::default() };
        let (eos, unk) = model.specials();
        let translate = |mut stepper: Box<dyn interlinear::models::Stepper>| {
            let mut all = vec![(Vec::new(), 0.0); sources.len()];
            let specials = Specials { eos, unk };
            decode_all(
                &mut *stepper,
                specials,
                &sources,
                &options,
                2,
                &CancellationToken::forever(),
                &mut |at, found| {
                    for (at, one) in at.iter().zip(found) {
                        let best = one.hypotheses.into_iter().next().expect("a hypothesis");
                        all[*at] = (best.tokens, best.log_p);
                    }
                    Ok(())
                },
            )
            .expect("translated");
            all
        };
        let plain = translate(model.stepper(Kernels::Fused, 1).expect("a stepper"));
        assert_eq!(translate(model.head_stepper(1).expect("it has a head")), plain, "{}", path.display());
    }
}

/// Every word comes from the word at its place, and `</s>` from `</s>`.
fn text() -> (ParallelText, Guide) {
    let (mut corpus, mut guide) = (ParallelText::default(), Guide::default());
    for k in 0..200u32 {
        let words: Vec<u32> = (0..=k % 4).map(|i| 2 + (k / 3 + i * i) % 3).chain([0]).collect();
        corpus.push(&words, &words);
        let links: Vec<GuidedLink> = (0..words.len() as u16).map(|i| GuidedLink { i, j: i }).collect();
        guide.push(&links);
    }
    (corpus, guide)
}

#[test]
fn a_head_learns_the_links_the_same_on_any_number_of_threads() {
    let (corpus, guide) = text();
    let folder = tempfile::tempdir().expect("a folder");
    for path in models(folder.path()) {
        let learned = [("tiny", 40, 0.3), ("guided", 15, 0.75), ("s2s-topped", 15, 0.95)];
        let Some((_, passes, share)) = learned.into_iter().find(|(kind, ..)| path.ends_with(kind)) else { continue };
        let model = Model::load(&path, &Device::cpu()).expect("a sound model");
        let options = HeadTraining { passes, rate: 1e-2, seed: 3 };
        let learn = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let mut costs = Vec::new();
            let weights = pool.install(|| {
                let forever = CancellationToken::forever();
                train_head(&model, (&corpus, &guide), options, &forever, &mut |now| costs.push(now.cost))
            });
            (weights.expect("learned"), costs)
        };
        let (one, costs) = learn(1);
        let (first, last, name) = (costs[0], costs[costs.len() - 1], path.display());
        assert!(last < share * first, "{name}: {first} to {last}");
        assert_eq!(learn(2).0, one, "{name}");
    }
}

/// The whole way on the command line: learned on a model that is one file, kept beside it, and read off.
#[test]
fn a_head_of_a_foreign_model_is_learned_and_read_on_the_command_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let kind = models(folder.path()).into_iter().find(|path| path.ends_with("guided")).expect("a Transformer");
    let (file, text) = (kind.join("model.npz"), folder.path().join("text"));
    let model = Model::load(&file, &Device::cpu()).expect("a sound model");
    let words: Vec<&str> = (2..6).filter_map(|id| model.source.token(id)).collect();
    let line = |k: usize| format!("{} {}\n", words[k % 4], words[(k / 2) % 4]);
    std::fs::write(&text, (0..40).map(line).collect::<String>()).expect("written");
    let run = |arguments: &[&str]| {
        let told = crate::cli::run_in(folder.path(), arguments, b"");
        assert_eq!(told.code, 0, "{}", told.stderr);
        told.stdout
    };
    let [file, text] = [&file, &text].map(|path| path.to_str().expect("UTF-8"));
    let links = folder.path().join("links");
    std::fs::write(&links, "0-0 1-1\n".repeat(40)).expect("written");
    let links = links.to_str().expect("UTF-8");
    run(&["train", "--head", file, "--source", text, "--target", text, "--links", links, "--passes", "30"]);
    assert!(kind.join("model.npz.alignment.safetensors").is_file());
    let read = run(&["align", "--model", file, "--source", text, "--target", text, "--reading", "head"]);
    assert_eq!(read.lines().count(), 40);
}

#[test]
fn what_is_no_head_of_this_model_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = Model::load(&TINY.save(folder.path()), &Device::cpu()).expect("a sound model");
    let missing = model.head_stepper(1).err().expect("there is none").to_string();
    assert!(missing.contains("has no alignment head"), "{missing}");
    let sizes = HeadSizes { state: 5, ..HeadSizes::of(&model.config) };
    let count: usize = sizes.shapes().iter().map(|(_, shape)| shape.iter().product::<usize>()).sum();
    weights_of(sizes, &vec![0.0; count]).save(&model.folder.join(HEAD_FILE), false).expect("written");
    let wrong = model.head_stepper(1).err().expect("another model's").to_string();
    assert!(wrong.contains(HEAD_FILE) && wrong.contains('W'), "{wrong}");
}
