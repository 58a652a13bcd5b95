//! Ensembles on test sets, against sums and means that are computed here, word by word, from what the members say alone.

use std::{path::Path, sync::Arc, time::Duration};

use interlinear::aligner::bundled::{AlignerFile, AlignerFiles};
use interlinear::corpus::{measures::table::Measuring, overview::gold};
use interlinear::corpus::{overview::gold::AlignmentOptions, overview::test_set::TestSet, run, run::SystemRunOptions};
use interlinear::decoding::ensemble::{AVERAGES, AlignmentOf, Average, Ensemble, Mixing};
use interlinear::decoding::{SearchOptions, SystemSpec};
use interlinear::evaluation::{EvaluatedSystem, alignment::Aligner};
use interlinear::jobs::queue::{Found, JobQueue, QueueNews, QueueOrder};
use interlinear::jobs::{Store, gate::ForegroundGate, queue::analyse::Analyse};
use interlinear::models::{Kernels, Model, Need, StepOutput, StepRow};
use interlinear::nn::device::{Device, DeviceChoice};
use interlinear::text::links::{Link, Links};
use interlinear::{models::config::Architecture, text::line, text::reader::LineReader, text::sentence::Sentence};
use serde_json::Value;

use crate::cli::{json_of, reference, run_in};
use crate::folder::{Files as _, Folder};
use crate::forever;
use crate::tiny::{TINY, Tiny};

const PAIRS: [(&str, &str); 3] = [("s2 s3 s4", "t2 t3"), ("s5 x", "t4"), ("s6 s7 s8 s9", "t5 x t7")];
const TOGETHER: [[&str; 2]; 2] = [["rnnsearch", "luong-global-general"], ["rnnencdec", "luong-local-p-dot"]];
const MOST: usize = 6;

fn members(names: [&str; 2]) -> Vec<Model> {
    names.iter().map(|name| Model::load(reference(name), &Device::cpu()).expect("a sound model")).collect()
}

fn test_set() -> TestSet {
    let side = |name: &str, text: fn(&(&'static str, &'static str)) -> &'static str| {
        let text = PAIRS.iter().map(text).collect::<Vec<_>>().join("\n");
        LineReader::new(Path::new(name), Box::new(std::io::Cursor::new(text.into_bytes())))
    };
    TestSet::from_lines(side("source", |pair| pair.0), vec![side("target", |pair| pair.1)], true).expect("equal files")
}

fn read(model: &Model, (source, target): (&str, &str)) -> (Sentence, Sentence) {
    (line::encode(&model.source, source, true), line::encode(&model.target, target, true))
}

fn say(model: &Model, source: &[u32], prefix: &[u32]) -> StepOutput {
    let mut stepper = model.stepper(Kernels::Plain, 1).expect("a stepper");
    let mut output = StepOutput::default();
    stepper.begin(&[source]).expect("begun");
    for i in 0..=prefix.len() {
        let y_prev = i.checked_sub(1).map(|i| prefix[i]);
        stepper.step(&[StepRow { sentence: 0, parent: 0, y_prev }], &Need::all(), &mut output).expect("a step");
    }
    output
}

fn mean(members: &[Model], source: &str, prefix: &[u32], average: Average) -> (Vec<f64>, Vec<f64>) {
    let said: Vec<StepOutput> =
        members.iter().map(|member| say(member, &read(member, (source, "")).0.ids, prefix)).collect();
    let count = said.len() as f64;
    let of = |k: usize| said.iter().map(move |said| f64::from(said.log_p[k]));
    let log_p: Vec<f64> = match average {
        Average::Probability => {
            (0..said[0].log_p.len()).map(|k| (of(k).map(f64::exp).sum::<f64>() / count).ln()).collect()
        }
        Average::LogProbability => {
            let mean: Vec<f64> = (0..said[0].log_p.len()).map(|k| of(k).sum::<f64>() / count).collect();
            let z: f64 = mean.iter().map(|log_p| log_p.exp()).sum();
            mean.iter().map(|log_p| log_p - z.ln()).collect()
        }
    };
    let looking: Vec<&StepOutput> = said.iter().filter(|said| !said.alpha.is_empty()).collect();
    let t_x = looking.first().map_or(0, |said| said.alpha.len());
    let look = |j: usize| looking.iter().map(|said| f64::from(said.alpha[j])).sum::<f64>() / looking.len() as f64;
    (log_p, (0..t_x).map(look).collect())
}

fn greatest(values: impl Iterator<Item = f64>) -> usize {
    let best = values.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
    best.expect("there are values").0
}

#[test]
fn the_figures_are_those_of_the_members_mean() {
    let mut set = test_set();
    set.set_golds(vec![Links::new(vec![Link { source: 0, target: 0 }], Vec::new()); PAIRS.len()]);
    for (names, average) in TOGETHER.iter().flat_map(|names| AVERAGES.map(|average| (*names, average))) {
        let what = format!("{names:?} by {average}");
        let members = members(names);
        let mixing = Mixing { average, alignment: AlignmentOf::Mean };
        let ensemble = Ensemble::new(members.clone(), mixing).expect("one vocabulary");
        let mut stepper = ensemble.stepper(Kernels::Fused, 1).expect("a stepper");
        let search = SearchOptions { beam: 1, max_length: Some(MOST), ..SearchOptions::default() };
        let system = EvaluatedSystem::from(&ensemble);
        assert_eq!((system.architecture(), system.mixing()), ("ensemble", Some(mixing)));
        let folder = Folder::new();
        let mut workspace = set.corpus(&folder.join("c.ilws")).expect("a corpus");
        let mut systems = Vec::new();
        for forces in [false, true] {
            let options = SystemRunOptions { search: search.clone(), batch: 2, forces, ..SystemRunOptions::default() };
            let id = run::begin(&mut workspace, system, &SystemSpec::default(), &options).expect("a system").id;
            let (mut measuring, forever) = (Measuring::default(), forever());
            run::run(&mut workspace, id, (system, stepper.as_mut()), &options, &mut measuring, &forever, &mut |_| {
                Ok(())
            })
            .expect("it runs");
            systems.push(id);
        }
        let output = |id, at| workspace.output(id, at).expect("it is read").expect("an output");
        let found = gold::measure(
            Aligner { system, stepper: stepper.as_mut() },
            None,
            &set,
            &AlignmentOptions::default(),
            &forever(),
            &mut |_, _| {},
        )
        .expect("it aligns");
        for (n, pair) in PAIRS.iter().enumerate() {
            let target = read(&members[0], *pair).1;
            let steps: Vec<(Vec<f64>, Vec<f64>)> =
                (0..target.len()).map(|i| mean(&members, pair.0, &target.ids[..i], average)).collect();
            let nll: f64 = -steps.iter().zip(&target.ids).map(|((log_p, _), &id)| log_p[id as usize]).sum::<f64>();
            let got = -f64::from(output(systems[1], n).log_p.expect("log p"));
            assert!((got - nll).abs() < 2e-5 * (1.0 + nll), "{what}: NLL {got} instead of {nll}");
            // the row and the column of `</s>` are left out
            let words = pair.0.split(' ').count();
            let link = |(target, (_, alpha)): (usize, &(Vec<f64>, Vec<f64>))| {
                let alpha = &alpha[..words];
                let looks = alpha.iter().any(|alpha| *alpha > 0.0);
                looks.then(|| Link { source: greatest(alpha.iter().copied()), target })
            };
            let links: Vec<Link> = steps[..target.words()].iter().enumerate().filter_map(link).collect();
            assert_eq!(found.links[n], links, "{what}: {pair:?}");
            // greedy search, word by word
            let mut said: Vec<u32> = Vec::new();
            while said.len() < MOST {
                let next = greatest(mean(&members, pair.0, &said, average).0.into_iter()) as u32;
                if next == ensemble.specials().eos {
                    break;
                }
                said.push(next);
            }
            let words: Vec<&str> = said.iter().filter_map(|id| ensemble.target().token(*id)).collect();
            assert_eq!(output(systems[0], n).text, words.join(" "), "{what}: {pair:?}");
        }
    }
}

const OTHER: Tiny = Tiny { name: "other", source: &["three", "four"], seed: 2, ..TINY };
const ENCDEC: Tiny = Tiny { name: "encdec", architecture: Architecture::RNN_ENC_DEC, seed: 3, ..TINY };
const FOREIGN: Tiny = Tiny { name: "foreign", target: &["un", "deux", "quatre"], ..TINY };

fn models() -> Folder {
    let folder = Folder::new();
    for tiny in [TINY, OTHER, ENCDEC, FOREIGN] {
        tiny.save(&folder);
    }
    folder.put_all([
        ("s", "one two three\nfour\nthree one one two\n"),
        ("t", "un deux\ntrois\nun un deux\n"),
        ("g", "0-0 1-1\n0-0\n0-0 1-1\n"),
    ]);
    folder
}

const FILES: [&str; 7] = ["--source", "s", "--target", "t", "--pretokenized", "--max-length", "6"];

#[test]
fn the_command_line_measures_an_ensemble_and_its_members() {
    let folder = models();
    let two = ["--model", "tiny", "--model", "encdec", "--ensemble"];
    let gold = ["--gold", "g", "--gold-order", "source", "--gold-base", "0"];
    let run = |extra: &[&str]| {
        let arguments = [&["evaluate", "--format", "json"], &FILES[..], &two, extra].concat();
        let outcome = run_in(&folder, &arguments).good();
        json_of(&outcome.stdout)["models"].clone()
    };
    let alone = run(&gold);
    assert_eq!(alone.as_array().map(Vec::len), Some(1));
    let all = run(&[&gold[..], &["--members", "--bootstrap", "10"]].concat());
    let name = |n: usize| all[n]["name"].as_str().unwrap_or_default().to_owned();
    assert_eq!([0, 1, 2].map(name), ["tiny", "encdec", "tiny + encdec"]);
    assert_eq!((&all[2]["architecture"], &all[2]["average"]), (&"ensemble".into(), &"probability".into()));
    assert_eq!((&all[0]["average"], &all[1]["alignment"]), (&Value::Null, &Value::Null));
    assert_eq!(all[2]["rows"], alone[0]["rows"]);
    assert_eq!(all[2]["alignment"], all[0]["alignment"], "the only member that aligns");
    assert_eq!(all[2]["against_first"].as_array().map(Vec::len), Some(1));
    assert_ne!(run(&["--ensemble-average", "log-probability"])[0]["rows"], alone[0]["rows"]);
    // `score` of the same ensemble says the same of the references
    let score = [&["score", "--format", "jsonl"], &FILES[..5], &two].concat();
    let scored = run_in(&folder, &score).good();
    let log_p = |line: &str| json_of(line)["log_p"].as_f64().expect("a number");
    let sum: f64 = scored.stdout.lines().map(log_p).sum();
    let nll = alone[0]["rows"][0]["nll"].as_f64().expect("a number");
    assert!((sum + nll).abs() < 1e-4, "{sum} and {nll}");
}

#[test]
fn what_cannot_be_measured_together_is_said() {
    let folder = models();
    for (arguments, code, expected) in [
        (&["--model", "tiny", "--model", "foreign", "--ensemble"][..], 2, "the target word 4 is \"trois\" in tiny"),
        (&["--model", "tiny", "--model", "other", "--ensemble", "--bootstrap", "5"], 2, "add --members"),
        (&["--model", "tiny", "--members"], 2, "--ensemble"),
        (&["--model", "encdec", "--model", "encdec", "--ensemble", "--gold", "g"], 2, "(ensemble) has no alignment"),
    ] {
        let outcome = run_in(&folder, &[&["evaluate"], &FILES[..], arguments].concat());
        assert!(outcome.code == code && outcome.stderr.contains(expected), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn the_window_runs_an_ensemble_beside_the_models() {
    let folder = models();
    let at = |name: &str| folder.join(name);
    let files = ["--source", "s", "--reference", "t", "--pretokenized", "--format", "none"];
    run_in(&folder, &[&["analyse", "--workspace", "c.ilws"], &files[..]].concat());
    let spec = SystemSpec { members: vec![at("tiny").into(), at("encdec").into()], mixing: Mixing::default() };
    // links off the statistical aligner's go by the model's own
    let own = AlignerFile { path: at("gone.aligner"), languages: Default::default(), model: Some(at("tiny").into()) };
    let lane: JobQueue<QueueOrder> = JobQueue::spawn(Store::new(1).library(), ForegroundGate::new(), Arc::new(|| {}));
    let run = |number: u64, system: SystemSpec| {
        let order = Analyse {
            workspace: at("c.ilws"),
            system,
            device: DeviceChoice::Cpu,
            search: SearchOptions { max_length: Some(6), ..SearchOptions::default() },
            forces: false,
            acting: None,
            aligner: AlignerFiles::from(Some(own.clone())),
            reading: None,
        };
        lane.submit(number, QueueOrder::Analyse(order));
        loop {
            match lane.news.next_within(Duration::from_mins(1)).expect("it goes on").kind {
                QueueNews::Progress(_) => {}
                QueueNews::Found(Found::Analysed(found)) => break found,
                other => panic!("{other:?}"),
            }
        }
    };
    let [tiny, both] = [(1, at("tiny").into()), (2, spec)].map(|(number, system)| run(number, system));
    assert_eq!((tiny.system.as_str(), both.system.as_str()), ("tiny", "tiny + encdec"));
    assert_eq!((tiny.sentences, both.sentences, tiny.refusals + both.refusals), (3, 3, 0));
    assert!(tiny.trouble.is_some_and(|note| note.contains("gone.aligner: does not exist")));
}
