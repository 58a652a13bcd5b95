//! Alignment heads: their rows by plain loops, translations that stay as they are, and what is learned, on the papers' models
//! and on those of others.

use std::path::{Path, PathBuf};
use std::{sync::Arc, time::Duration};

use interlinear::aligner::bundled::{AlignerChoice, AlignerFiles};
use interlinear::decoding::{Decoded, SearchOptions, Specials, decode_all, force, force_all};
use interlinear::jobs::queue::head::{HeadOrder, LearnedOfText};
use interlinear::jobs::queue::{Found, JobQueue, QueueNews, QueueOrder};
use interlinear::models::fused::head::{HEAD_FILE, HEAD_WIDTH, HeadSizes, weights_of};
use interlinear::models::{Kernels, Model, Need, StepOutput, StepRow, Stepper};
use interlinear::nn::device::{Device, DeviceChoice};
use interlinear::text::{corpus::ParallelText, links::Link};
use interlinear::training::head::{HeadTraining, head_parameters, is_of, train_head};
use interlinear::training::{guide::Guide, minibatch::GuidedLink, state::Checkpoint};
use interlinear::{aligner::words::LineAligner, analysis::row_convention::RowConvention, evaluation::rows::RowReader};
use interlinear::{
    jobs::Library, jobs::gate::ForegroundGate, models::checkpoint::Weights, models::config::Architecture,
};

use crate::folder::{Files as _, Folder};
use crate::tiny::{TINY, Tiny};
use crate::{bad_input::copy_of, forever};

const FOREIGN: [&str; 7] = [
    "marian/guided", "marian/pre", "marian/ssru", "marian-rnn/s2s-topped", "marian-rnn/s2s-lstm", "origins/onmt-brnn",
    "origins/joey-gru",
];

const LUONG: [&str; 2] = ["luong-global-general", "luong-local-p-dot"];

pub fn models(folder: &Path) -> Vec<PathBuf> {
    let encdec = Tiny { name: "encdec", architecture: Architecture::RNN_ENC_DEC, ..TINY };
    let mut models = vec![TINY.save(folder), encdec.save(folder)];
    for name in LUONG {
        std::fs::create_dir(folder.join(name)).expect("created");
        models.push(copy_of(name, &folder.join(name)));
    }
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

pub fn with_head(folder: &Path) -> (Model, Weights) {
    let model = Model::load(folder, &Device::cpu()).unwrap_or_else(|error| panic!("{error}"));
    let sizes = HeadSizes::of(&model.config, &model.weights);
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
    let read = model.weights.numbers("source_embedding").expect("it is there");
    let m_x = model.weights.shape("source_embedding").expect("it is there")[1];
    let [w, u, v, x_weights] = ["W", "U", "v", "X"].map(|name| head.numbers(name).expect("it is there"));
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
        let energy = |(j, h): (usize, &Vec<f32>)| -> f32 {
            let near = [j.wrapping_sub(1), j, j + 1].map(|at| match source.get(at) {
                Some(&x) => read[x as usize * m_x..(x as usize + 1) * m_x].to_vec(),
                None => vec![0.0; m_x],
            });
            let (mut key, words) = (times(&u, h), times(&x_weights, &near.concat()));
            key.iter_mut().zip(words).for_each(|(key, word)| *key += word);
            (0..HEAD_WIDTH).map(|k| v[k] * (asked[k] + key[k]).tanh()).sum()
        };
        let e: Vec<f32> = h.iter().enumerate().map(energy).map(f32::exp).collect();
        let sum: f32 = e.iter().sum();
        e.iter().map(|e| e / sum).collect()
    };
    target.iter().enumerate().map(row).collect()
}

#[test]
fn a_head_without_x_is_one_whose_x_is_zero() {
    let folder = Folder::new();
    let model = Model::load(TINY.save(&folder), &Device::cpu()).expect("a sound model");
    let whole = HeadSizes::of(&model.config, &model.weights);
    let plain = HeadSizes { source: 0, ..whole };
    let mut flat: Vec<f32> = (0..head_parameters(plain)).map(|k| (k as f32 * 0.37 + 1.0).sin() * 0.5).collect();
    let mut rows = |sizes: HeadSizes| {
        flat.resize(head_parameters(sizes), 0.0);
        weights_of(sizes, &flat).save(&model.head_file(), false).expect("written");
        model.forget_head();
        let mut stepper = model.stepper_with_head(Kernels::Fused, 1).expect("a head");
        let mut rows = Vec::new();
        force_all(&mut *stepper, &[(&[2, 3, 4, 0], &[4, 2, 0])], 1, &forever(), &mut |_, forced| {
            rows = forced[0].head.clone().unwrap_or_default();
            Ok(())
        })
        .expect("forced");
        rows
    };
    let (without, with) = (rows(plain), rows(whole));
    assert!(!without.is_empty());
    assert_eq!(without, with);
}

#[test]
fn rows_are_those_of_the_equation_in_padded_batches_and_nothing_else_changes() {
    let folder = Folder::new();
    for path in models(&folder) {
        let ((model, head), name) = (with_head(&path), path.display());
        let pairs: [(&[u32], &[u32]); 3] =
            [(&[2, 3, 4, 0], &[4, 2, 0]), (&[4, 0], &[3, 3, 2, 4, 0]), (&[2, 2, 0], &[0])];
        let plain = RowReader::default()
            .force_all(
                &mut *model.stepper(Kernels::Fused, 1).expect("a stepper"),
                &pairs,
                2,
                &forever(),
                &mut |_, _| {},
            )
            .expect("forced");
        let rows = RowReader::wanted((&model).into(), Some(RowConvention::Head));
        let mut stepper = model.stepper_with_head(Kernels::Fused, 1).expect("it has a head");
        let forced = rows.force_all(&mut *stepper, &pairs, 2, &forever(), &mut |_, _| {}).expect("forced");
        for ((forced, plain), (source, target)) in forced.into_iter().zip(plain).zip(pairs) {
            assert_eq!(forced.token_log_p, plain.token_log_p, "{name}: log p");
            let alpha = forced.alpha.expect("a head always aligns");
            let expected = by_hand(&model, &head, source, target);
            let (last, before) = alpha.split_last().expect("a row for each word");
            assert!(before.len() + 1 == expected.len() && last.iter().all(|a| *a == 0.0), "{name}: {last:?}");
            for (row, expected) in before.iter().zip(&expected) {
                let far = row.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(far < 2e-5, "{name}: {row:?} for {expected:?}");
            }
        }
    }
}

#[test]
fn translations_do_not_change_by_a_letter_and_their_rows_are_those_of_forced_ones() {
    let folder = Folder::new();
    for path in models(&folder) {
        let ((model, _), name, forever) = (with_head(&path), path.display(), forever());
        let sources: [&[u32]; 4] = [&[2, 3, 4, 0], &[4, 0], &[3, 3, 2, 0], &[2, 0]];
        let options = SearchOptions { beam: 3, ..SearchOptions::default() };
        let (eos, unk) = model.specials();
        let translate = |mut stepper: Box<dyn Stepper>| {
            let mut all = vec![Vec::new(); sources.len()];
            let mut keep = |at: &[usize], found: Vec<Decoded>| {
                at.iter().zip(found).for_each(|(at, one)| all[*at] = one.hypotheses);
                Ok(())
            };
            let specials = Specials { eos, unk, bars_unk: false };
            decode_all(&mut *stepper, specials, &sources, &options, 2, &forever, &mut keep).expect("translated");
            all
        };
        let plain = translate(model.stepper(Kernels::Fused, 1).expect("a stepper"));
        let mut told = translate(model.stepper_with_head(Kernels::Fused, 1).expect("it has a head"));
        let mut stepper = model.stepper_with_head(Kernels::Fused, 1).expect("it has a head");
        for (source, one) in
            sources.iter().zip(&mut told).flat_map(|(source, all)| all.iter_mut().map(move |one| (source, one)))
        {
            let forced = force(&mut *stepper, &[(source, &one.tokens)], &forever).expect("forced").swap_remove(0);
            let (found, forced) = (one.head.take().expect("rows"), forced.head.expect("rows"));
            assert_eq!((found.len(), forced.len()), (one.tokens.len(), one.tokens.len()), "{name}");
            for (found, forced) in found.concat().iter().zip(forced.concat()) {
                assert!((found - forced).abs() < 1e-5, "{name}: {found} for {forced}");
            }
        }
        // in words, for energies may be no numbers; every digit is told
        assert!(format!("{told:?}") == format!("{plain:?}"), "{name}");
    }
}

#[test]
fn a_step_that_is_answered_twice_is_one_step() {
    let folder = Folder::new();
    let (model, _) = with_head(&TINY.save(&folder));
    let rows = |again: bool| {
        let mut stepper = model.stepper_with_head(Kernels::Fused, 1).expect("it has a head");
        let (mut output, mut heads) = (StepOutput::default(), Vec::new());
        stepper.begin(&[&[2, 3, 0]]).expect("encoded");
        for y_prev in [None, Some(3), Some(2), Some(4)] {
            let row = [StepRow { sentence: 0, parent: 0, y_prev }];
            stepper.align(&row, &mut output).expect("aligned");
            if again {
                let own = output.alpha.clone();
                output.alpha.fill(1.0 / 3.0);
                stepper.predict(&row, &Need::default(), &mut output).expect("said");
                output.alpha = own;
            }
            stepper.predict(&row, &Need::default(), &mut output).expect("said");
            heads.push(output.head.clone());
        }
        heads
    };
    assert_eq!(rows(true), rows(false));
}

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
    let folder = Folder::new();
    for path in models(&folder) {
        let learned = [
            ("tiny", 40, 0.3),
            ("encdec", 40, 0.8),
            ("luong-global-general/model", 40, 0.8),
            ("luong-local-p-dot/model", 40, 0.8),
            ("guided", 15, 0.75),
            ("s2s-topped", 15, 0.95),
        ];
        let Some((_, passes, share)) = learned.into_iter().find(|(kind, ..)| path.ends_with(kind)) else { continue };
        let model = Model::load(&path, &Device::cpu()).expect("a sound model");
        let options = HeadTraining { passes, rate: 1e-2, seed: 3, ..HeadTraining::default() };
        let learn = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let mut costs = Vec::new();
            let weights = pool.install(|| {
                train_head(&model, (&corpus, &guide), options, None, &forever(), &mut |step| {
                    costs.push(step.progress.cost);
                    Ok(())
                })
            });
            (weights.expect("learned"), costs)
        };
        let (one, costs) = learn(1);
        let (first, last, name) = (costs[0], costs[costs.len() - 1], path.display());
        assert!(last < share * first, "{name}: {first} to {last}");
        assert_eq!(learn(2).0, one, "{name}");
    }
}

/// What finds no room is asked of the model again, and a run that was ended goes on from its checkpoint: the head is the same.
#[test]
fn neither_room_nor_a_break_changes_what_is_learned() {
    let ((corpus, guide), folder) = (text(), Folder::new());
    let path = Tiny { name: "encdec", architecture: Architecture::RNN_ENC_DEC, ..TINY }.save(&folder);
    for path in [TINY.save(&folder), path] {
        let model = Model::load(&path, &Device::cpu()).expect("a sound model");
        let (whole, forever) = (HeadTraining { passes: 3, seed: 5, ..HeadTraining::default() }, forever());
        let learn = |options: HeadTraining, before: Option<&Checkpoint>, kept: Option<(u64, &Path)>| {
            let mut updates = Vec::new();
            let weights = train_head(&model, (&corpus, &guide), options, before, &forever, &mut |step| {
                updates.push(step.progress.updates.0);
                match kept.filter(|(at, _)| *at == step.progress.updates.0) {
                    None => Ok(()),
                    Some((_, path)) => step.checkpoint().save(path),
                }
            });
            (weights, updates)
        };
        let file = path.join("alignment.checkpoint");
        let (first, updates) = learn(whole, None, Some((4, &file)));
        let first = first.expect("learned");
        assert_eq!(updates, (1..=9).collect::<Vec<u64>>(), "20 groups, 8 at a time, three times");
        for keep in [0, 2000] {
            assert_eq!(learn(HeadTraining { keep, ..whole }, None, None).0.expect("learned"), first, "room of {keep}");
        }
        let parameters = head_parameters(HeadSizes::of(&model.config, &model.weights));
        let before = Checkpoint::load(&file, parameters).expect("a checkpoint");
        let (rest, updates) = learn(whole, Some(&before), None);
        assert_eq!((rest.expect("learned"), updates), (first, (5..=9).collect()));
        for other in [HeadTraining { seed: 6, ..whole }, HeadTraining { passes: 4, ..whole }] {
            assert!(!is_of(&before, &model, (&corpus, &guide), other));
            let refused = learn(other, Some(&before), None).0.expect_err("of another run").to_string();
            assert!(refused.contains("the checkpoint is of another"), "{refused}");
        }
    }
}

#[test]
fn the_lane_learns_a_head_that_the_model_has_at_once() {
    let folder = Folder::new();
    let path = Tiny { name: "encdec", architecture: Architecture::RNN_ENC_DEC, ..TINY }.save(&folder);
    let [source, target, links] = ["source", "target", "links"].map(|name| folder.join(name));
    std::fs::write(&source, "one two\nthree one two\n".repeat(20)).expect("written");
    std::fs::write(&target, "un deux\ntrois un deux\n".repeat(20)).expect("written");
    std::fs::write(&links, "0-0 1-1\n0-0 1-1 2-2\n".repeat(20)).expect("written");
    let lane = JobQueue::spawn(Library::new(1), ForegroundGate::new(), Arc::new(|| {}));
    let mut number = 0;
    let mut order = |files: (&Path, &Path), links: Option<&Path>, (own, aligner): (AlignerFiles, Option<PathBuf>)| {
        number += 1;
        lane.submit(
            number,
            QueueOrder::Head(HeadOrder {
                model: (&path).into(),
                device: DeviceChoice::Cpu,
                files: (files.0.to_owned(), files.1.to_owned()),
                links: links.map(Path::to_owned),
                own,
                passes: 2,
                aligner,
            }),
        );
        let mut told = Vec::new();
        loop {
            match lane.news.next_within(Duration::from_mins(1)).expect("it ends").kind {
                QueueNews::Progress(progress) => told.push(progress),
                ended => return (ended, told),
            }
        }
    };
    let mut learn = |files: (&Path, &Path), links: Option<&Path>| order(files, links, (AlignerFiles::default(), None));
    for links in [Some(links.as_path()), None] {
        let (ended, told) = learn((&source, &target), links);
        let QueueNews::Found(Found::Head(LearnedOfText::Head(learned))) = ended else { panic!("{ended:?}") };
        assert_eq!((learned.pairs, &learned.path), (40, &path.join(HEAD_FILE)));
        assert!(learned.path.is_file() && !path.join("alignment.checkpoint").exists());
        let last = told.last().expect("progress");
        assert!(last.done == last.total && last.what.starts_with("Learning an alignment head for encdec"), "{last:?}");
    }
    let model = Model::load(&path, &Device::cpu()).expect("a sound model");
    assert!(model.stepper_with_head(Kernels::Fused, 1).expect("a stepper").has_alignment_head());
    let (ended, _) = learn((&source, &links), Some(&source));
    let QueueNews::Failed(why) = ended else { panic!("{ended:?}") };
    assert!(why.contains("source") && !why.contains("panicked"), "{why}");
    let (ended, _) = learn((&source, &folder.join("none")), None);
    let QueueNews::Failed(why) = ended else { panic!("{ended:?}") };
    assert!(why.contains("none"), "{why}");
}

#[test]
fn the_lane_learns_an_aligner_from_the_text_alone() {
    let folder = Folder::new();
    let model = TINY.save(&folder);
    let [source, target, kept] = ["source", "target", "own.aligner"].map(|name| folder.join(name));
    std::fs::write(&source, "one two\nthree one two\ntwo\n".repeat(20)).expect("written");
    std::fs::write(&target, "un deux\ntrois un deux\ndeux\n".repeat(20)).expect("written");
    let lane = JobQueue::spawn(Library::new(1), ForegroundGate::new(), Arc::new(|| {}));
    let order = HeadOrder {
        model: model.into(),
        device: DeviceChoice::Cpu,
        files: (source, target),
        links: None,
        own: AlignerFiles::default(),
        passes: 1,
        aligner: Some(kept.clone()),
    };
    lane.submit(1, QueueOrder::Head(order));
    let file = loop {
        match lane.news.next_within(Duration::from_mins(1)).expect("it ends").kind {
            QueueNews::Progress(_) => {}
            QueueNews::Found(Found::Head(LearnedOfText::Aligner(file))) => break file,
            ended => panic!("{ended:?}"),
        }
    };
    assert_eq!((file.path.clone(), file.languages.clone()), (kept, ("en".to_owned(), "fr".to_owned())));
    let mut own = AlignerFiles::default();
    own.add(file);
    let choice = AlignerChoice::new(("en".to_owned(), "fr".to_owned()), &own);
    assert!(choice.own.is_some(), "it goes before what comes along");
    let mut aligner = LineAligner::chosen(&choice, false).expect("it opens").expect("it is there");
    let links: Vec<_> = aligner.lines("one three two", "trois un deux").likely;
    let has = |source, target| links.contains(&Link { source, target });
    assert!(has(1, 0) && has(0, 1), "{links:?}");
}

#[test]
fn a_head_of_a_foreign_model_is_learned_and_read_on_the_command_line() {
    let folder = Folder::new();
    let kind = models(&folder).into_iter().find(|path| path.ends_with("guided")).expect("a Transformer");
    let (file, text) = (kind.join("model.npz"), folder.join("text"));
    let model = Model::load(&file, &Device::cpu()).expect("a sound model");
    let words: Vec<&str> = (2..6).filter_map(|id| model.source.token(id)).collect();
    let line = |k: usize| format!("{} {}\n", words[k % 4], words[(k / 2) % 4]);
    std::fs::write(&text, (0..40).map(line).collect::<String>()).expect("written");
    let run = |arguments: &[&str]| crate::cli::run_in(&folder, arguments).good().stdout;
    let [file, text] = [&file, &text].map(|path| path.to_str().expect("UTF-8"));
    let links = folder.put("links", "0-0 1-1\n".repeat(40));
    let links = links.to_str().expect("UTF-8");
    run(&["train", "--head", file, "--source", text, "--target", text, "--links", links, "--passes", "30"]);
    let again = ["train", "--head", file, "--source", text, "--target", text, "--links", links, "--resume"];
    crate::cli::run_in(&folder, &again).refused("model.npz.alignment.checkpoint");
    assert!(kind.join("model.npz.alignment.safetensors").is_file());
    let read = run(&["align", "--model", file, "--source", text, "--target", text, "--reading", "head"]);
    assert_eq!(read.lines().count(), 40);
}

#[test]
fn what_is_no_head_of_this_model_is_refused() {
    let folder = Folder::new();
    let model = Model::load(TINY.save(&folder), &Device::cpu()).expect("a sound model");
    let plain = model.stepper_with_head(Kernels::Fused, 1).expect("a stepper without a head");
    assert!(!plain.has_alignment_head());
    let missing =
        RowReader::chosen((&model).into(), &*plain, Some(RowConvention::Head)).expect_err("there is none").to_string();
    assert!(missing.contains("has no alignment head"), "{missing}");
    let sizes = HeadSizes { state: 5, ..HeadSizes::of(&model.config, &model.weights) };
    let count: usize = sizes.shapes().iter().map(|(_, shape)| shape.iter().product::<usize>()).sum();
    weights_of(sizes, &vec![0.0; count]).save(&model.folder.join(HEAD_FILE), false).expect("written");
    let wrong = model.stepper_with_head(Kernels::Fused, 1).err().expect("another model's").to_string();
    assert!(wrong.contains(HEAD_FILE) && wrong.contains('W'), "{wrong}");
}
