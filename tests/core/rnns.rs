//! Recurrent models of Marian, small ones that it trained itself, against what it made of them: its lists of the best
//! with their scores and soft alignments, and its log p of given targets.

use std::path::{Path, PathBuf};
use std::{collections::HashMap, sync::Arc};

use candle_core::{DType, Device as Candle, Tensor, Var};
use interlinear::decoding::{SearchOptions, Specials, decode, force};
use interlinear::interventions::{Intervening, Intervention};
use interlinear::models::origins::marian_options::{MarianOptions, OPTIONS};
use interlinear::models::{Model, folder, shapes};
use interlinear::{decoding::trace::Hypothesis, models::checkpoint::Weights, models::config::Config};
use interlinear::{
    models::loss::trainable, models::origins::marian_rnn, models::origins::npz::Npz, nn::device::Device,
};

use crate::folder::{Files as _, Folder};
use crate::forever;

const SPECIALS: Specials = Specials { eos: 0, unk: 1, bars_unk: false };
const DIGITS: f32 = 1e-5;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/marian-rnn")
}

fn kinds() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(models()).expect("fixtures").map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    folders.sort();
    assert_eq!(folders.len(), 8);
    folders
}

pub fn text(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn open(folder: &Path) -> (Npz, String) {
    let mut archive = Npz::open(&folder.join("model.npz")).expect("an archive");
    let options = archive.text(OPTIONS).expect("text").expect("options");
    (archive, options)
}

fn read(folder: &Path) -> (Config, Arc<Weights>) {
    let (mut archive, options) = open(folder);
    let path = folder.join("model.npz");
    let read = marian_rnn::convert(&path, &mut archive, &MarianOptions::new(&path, &options));
    let (config, weights) = read.unwrap_or_else(|error| panic!("{error}"));
    let expected = shapes(&config);
    assert_eq!(expected.len(), weights.names().count());
    for (name, shape) in expected {
        assert_eq!(weights.get(&name).expect("a tensor").shape, shape, "{name}");
    }
    (config, Arc::new(weights))
}

struct Words(HashMap<String, u32>);

impl Words {
    fn of(path: PathBuf) -> Self {
        let entry = |line: &str| {
            let (word, id) = line.rsplit_once(": ").expect("a word and its id");
            (word.trim_matches('"').to_owned(), id.parse().expect("an id"))
        };
        Self(text(path).lines().map(entry).collect())
    }

    fn ids(&self, sentence: &str) -> Vec<u32> {
        let id = |word: &str| self.0.get(word).copied().unwrap_or(SPECIALS.unk);
        sentence.split_whitespace().map(id).chain([SPECIALS.eos]).collect()
    }
}

pub fn rows(text: &str) -> Vec<Vec<f32>> {
    let numbers = |row: &str| row.split(',').map(|number| number.parse().expect("a number")).collect();
    text.split_whitespace().map(numbers).collect()
}

pub fn check_rows(found: &[Vec<f32>], expected: &[Vec<f32>], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len(), "{what}, row {i}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < DIGITS, "{what}, row {i}: {found} is not {expected}");
        }
    }
}

fn sources(words: &Words) -> Vec<Vec<u32>> {
    text(models().join("source.txt")).lines().map(|line| words.ids(line)).collect()
}

#[test]
fn lists_of_the_best_are_those_of_marian() {
    for folder in kinds() {
        let what = folder.display().to_string();
        let (config, weights) = read(&folder);
        let (source, target) = (Words::of(folder.join("source.yml")), Words::of(folder.join("target.yml")));
        let mut stepper = folder::stepper(&config, &weights, 1).expect("a stepper");
        let expected = text(folder.join("nbest"));
        for (n, ids) in sources(&source).iter().enumerate() {
            let limit = 3 * ids.len();
            let options =
                SearchOptions { beam: 4, forbid_unk: true, max_length: Some(limit), ..SearchOptions::default() };
            let found = decode(stepper.as_mut(), SPECIALS, &[ids], &options, &forever(), &mut |_, _| {});
            // at the limit Marian lists what has not ended too
            let found = found.expect("it decodes").remove(0).hypotheses.into_iter();
            let found: Vec<Hypothesis> = found.filter(|hypothesis| hypothesis.tokens.len() < limit).collect();
            let lines = expected.lines().filter(|line| line.starts_with(&format!("{n} ||| ")));
            let lines: Vec<Vec<&str>> = lines.map(|line| line.split(" ||| ").collect()).collect();
            assert_eq!(lines.len(), 4, "{what}");
            let scores = |line: &Vec<&str>| -> Vec<f32> {
                let scores = line[3].trim_start_matches("WordScores= ").split(' ');
                scores.map(|score| score.parse().expect("a number")).collect()
            };
            let lines: Vec<_> = lines.iter().filter(|line| scores(line).len() < limit).collect();
            assert!((n == 4 || !lines.is_empty()) && lines.len() == found.len(), "{what}: {} of {n}", found.len());
            for (rank, (hypothesis, line)) in found.iter().zip(lines).enumerate() {
                let what = format!("{what}, sentence {n}, hypothesis {rank}");
                assert_eq!(hypothesis.tokens, target.ids(line[1]), "{what}: {}", line[1]);
                check_rows(hypothesis.alpha.as_deref().expect("it aligns"), &rows(line[2]), &what);
                for (i, (found, score)) in hypothesis.token_log_p.iter().zip(scores(line)).enumerate() {
                    assert!((found - score).abs() < 1e-4, "{what}, word {i}: {found} is not {score}");
                }
                let score: f32 = line[5].parse().expect("a number");
                assert!((hypothesis.log_p - score).abs() < 1e-4, "{what}: {} is not {score}", hypothesis.log_p);
            }
        }
    }
}

#[test]
fn scores_of_given_targets_are_those_of_marian() {
    for folder in kinds() {
        let (config, weights) = read(&folder);
        let (source, target) = (Words::of(folder.join("source.yml")), Words::of(folder.join("target.yml")));
        let sources = sources(&source);
        let targets: Vec<Vec<u32>> = text(models().join("target.txt")).lines().map(|line| target.ids(line)).collect();
        let pairs: Vec<(&[u32], &[u32])> =
            sources.iter().zip(&targets).map(|(source, target)| (&source[..], &target[..])).collect();
        let mut stepper = folder::stepper(&config, &weights, 1).expect("a stepper");
        let forced = force(stepper.as_mut(), &pairs, &forever()).expect("it scores");
        let lines = text(folder.join("score"));
        assert_eq!(lines.lines().count(), pairs.len());
        for (n, (forced, line)) in forced.iter().zip(lines.lines()).enumerate() {
            let what = format!("{}, sentence {n}", folder.display());
            let (score, alpha) = line.split_once(" ||| ").expect("a score and an alignment");
            let score: f32 = score.parse().expect("a number");
            assert!((forced.log_p - score).abs() < 1e-4, "{what}: {} is not {score}", forced.log_p);
            check_rows(forced.alpha.as_deref().expect("it aligns"), &rows(alpha), &what);
        }
    }
}

#[test]
fn a_changed_alignment_is_what_the_words_follow() {
    let folder = models().join("s2s-lstm");
    let (config, weights) = read(&folder);
    let source = Words::of(folder.join("source.yml")).ids("the old cat eats .");
    let mut stepper = folder::stepper(&config, &weights, 1).expect("a stepper");
    let options = SearchOptions { beam: 1, ..SearchOptions::default() };
    let mut run = |list: Vec<Intervention>| {
        let mut changed = Intervening::new(stepper.as_mut(), vec![list.into()]);
        let found = decode(&mut changed, SPECIALS, &[&source], &options, &forever(), &mut |_, _| {});
        found.expect("it decodes").remove(0).hypotheses.remove(0)
    };
    let plain = run(Vec::new());
    let own = plain.alpha.as_ref().expect("it aligns")[1].clone();
    assert_eq!(run(vec![Intervention::Pin { i: 1, alpha: own }]), plain);
    let pinned: Vec<f32> = (0..source.len()).map(|j| if j == 0 { 1.0 } else { 0.0 }).collect();
    let moved = run(vec![Intervention::Pin { i: 1, alpha: pinned.clone() }]);
    assert_eq!(moved.alpha.as_ref().expect("it aligns")[1], pinned);
    assert_eq!(moved.token_log_p[..1], plain.token_log_p[..1]);
    assert_ne!(moved.token_log_p[1..2], plain.token_log_p[1..2]);
}

#[test]
fn gradients_are_those_of_differences() {
    const STEP: f64 = 1e-5;
    let (source, target): (&[&[u32]], &[&[u32]]) = (&[&[2, 5, 3, 0], &[4, 0]], &[&[3, 2, 0], &[5, 6, 4, 0]]);
    let of_marian = ["nematus-deep", "s2s-one", "s2s-lstm", "s2s-topped"].map(|kind| models().join(kind));
    for folder in of_marian {
        let (config, weights) = read(&folder);
        let variable = |name: &str| -> interlinear::error::Result<(String, Var)> {
            let wide = weights.tensor(name, &Candle::Cpu)?.to_dtype(DType::F64)?;
            Ok((name.to_owned(), Var::from_tensor(&wide)?))
        };
        let variables: HashMap<String, Var> = weights.names().map(|name| variable(name).expect("a variable")).collect();
        let tensors: HashMap<String, Tensor> =
            variables.iter().map(|(name, variable)| (name.clone(), variable.as_tensor().clone())).collect();
        let model = trainable(&config, &tensors).expect("a model");
        let loss = || model.loss(source, target).expect("a loss").0;
        let value = || loss().to_scalar::<f64>().expect("a number");
        let pairs: Vec<(&[u32], &[u32])> = source.iter().copied().zip(target.iter().copied()).collect();
        let mut stepper = folder::stepper(&config, &weights, 1).expect("a stepper");
        let forced = force(stepper.as_mut(), &pairs, &forever()).expect("it scores");
        let total: f32 = forced.iter().map(|forced| forced.log_p).sum();
        assert!((value() + f64::from(total)).abs() < 1e-4, "{}: {} is not {total}", folder.display(), value());
        let gradients = loss().backward().expect("gradients");
        let mut names: Vec<&String> = variables.keys().collect();
        names.sort();
        for name in names.into_iter().step_by(5) {
            let variable = &variables[name];
            let all: Vec<f64> = variable.flatten_all().and_then(|all| all.to_vec1()).expect("numbers");
            let place = (all.len() * 3) / 7;
            let found = gradients.get(variable).map_or(0.0, |gradient| {
                gradient.flatten_all().and_then(|all| all.to_vec1::<f64>()).expect("numbers")[place]
            });
            let moved = |change: f64| {
                let mut all = all.clone();
                all[place] += change;
                variable.set(&Tensor::from_vec(all, variable.shape(), &Candle::Cpu).expect("it fits")).expect("set");
                value()
            };
            let difference = (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
            moved(0.0);
            let message = format!("{} {name}: {found} is not {difference}", folder.display());
            assert!((found - difference).abs() < 1e-6 * (1.0 + difference.abs()), "{message}");
        }
    }
}

#[test]
fn its_configuration_is_kept() {
    let (_folder, path) = Folder::and_path("config.json");
    for kind in kinds().into_iter().filter(|kind| !kind.ends_with("s2s-lstm")).chain([models().join("s2s-lstm")]) {
        let (config, _) = read(&kind);
        config.save(&path).expect("written");
        assert_eq!(Config::load(&path).expect("read"), config);
        assert_eq!((config.attention().as_deref(), config.input_delay()), (Some("additive"), Some(1)));
    }
    let json = text(&path);
    for (from, to, told) in [
        ("\"encoder_type\"", "\"encoder_typ\"", "encoder_typ"),
        ("\"norm\": \"marian\"", "\"norm\": \"some\"", "none, marian, nematus"),
        ("\"base_cells\": 3", "\"base_cells\": 0", "base_cells"),
        ("\"decoder_layers\": 2", "\"decoder_layers\": 1000000", "decoder_layers"),
        ("\"source_vocabulary\": ", "\"source_vocabulary\": 1", "shared_embedding"),
    ] {
        let changed = json.replace(from, to);
        assert_ne!(changed, json, "{from}: {json}");
        let error = Config::from_json(&path, &changed).expect_err(to).to_string();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn what_is_not_known_is_refused_by_its_name() {
    for (kind, from, to, told) in [
        ("s2s-lstm", "enc-cell: lstm", "enc-cell: sru", "key `enc-cell` is sru, which is not implemented"),
        ("s2s-lstm", "dec-cell: lstm", "dec-cell: mlstm", "key `dec-cell` is mlstm"),
        ("s2s-lstm", "type: s2s", "type: multi-s2s", "key `type` is multi-s2s"),
        ("s2s-lstm", "enc-type: alternating", "enc-type: sideways", "key `enc-type` is sideways"),
        ("s2s-lstm", "right-left: false", "right-left: true", "key `right-left` is true"),
        ("s2s-lstm", "enc-depth: 3", "enc-depth: 2", "tensor `encoder_bi_l3_cell1_U` is not part"),
        ("s2s-lstm", "enc-depth: 3", "enc-depth: 4", "tensor `encoder_bi_l4_cell1_b` is missing"),
        ("s2s-lstm", "enc-depth: 3", "enc-depth: 0", "key `enc-depth` is 0"),
        ("s2s-lstm", "enc-depth: 3", "enc-depth: -3", "key `enc-depth` is `-3`"),
        ("s2s-lstm", "dec-cell-high-depth: 2", "dec-cell-high-depth: 99999999", "key `dec-cell-high-depth`"),
        ("s2s-lstm", "dim-rnn: 8", "dim-rnn: 7", "tensor `encoder_bi_b` has the shape [1, 32]"),
        ("s2s-lstm", "dim-emb: 6", "dim-emb: 5", "tensor `Wemb` has the shape"),
        ("s2s-lstm", "dim-rnn: 8", "dim-rnn: many", "key `dim-rnn` is `many`"),
        ("s2s-lstm", "layer-normalization: true", "layer-normalization: false", "gamma"),
        ("amun-norm", "type: amun", "type: nematus", "ln_s` is missing"),
        ("nematus-deep", "tied-embeddings: true", "tied-embeddings: false", "decoder_ff_logit_l2_Wt` is missing"),
        ("nematus-plain", "enc-cell: gru-nematus", "enc-cell: lstm", "has the shape [1, 16]"),
        ("s2s-topped", "output-omit-bias: true", "output-omit-bias: false", "decoder_ff_logit_l2_b` is missing"),
    ] {
        let folder = models().join(kind);
        let path = folder.join("model.npz");
        let (mut archive, options) = open(&folder);
        let changed = options.replace(from, to);
        assert_ne!(changed, options, "{kind} {from}: {options}");
        let read = marian_rnn::convert(&path, &mut archive, &MarianOptions::new(&path, &changed));
        let error = read.expect_err(to).to_string();
        assert!(error.contains(told) && error.contains("model.npz"), "{to}: {error}");
    }
}

#[test]
fn models_open_with_what_lies_beside_them() {
    let (kind, folder) = (models().join("s2s-lstm"), Folder::new());
    for (from, to) in
        [("model.npz", "model.npz"), ("source.yml", "vocab.source.yml"), ("target.yml", "vocab.target.yml")]
    {
        std::fs::copy(kind.join(from), folder.join(to)).expect("copied");
    }
    let model = Model::load(folder.join("model.npz"), &Device::cpu()).expect("Marian's");
    assert_eq!(model.source.encode("the old cat").ids.len(), 4);
    assert!(model.card().contains("the attention of the decoder's first layer"), "{}", model.card());

    let (kind, folder) = (models().join("nematus-deep"), Folder::new());
    std::fs::copy(kind.join("model.npz"), folder.join("model.npz")).expect("copied");
    for side in ["source", "target"] {
        let words = Words::of(kind.join(format!("{side}.yml"))).0.into_iter();
        let renamed = words.map(|(word, id)| match word.as_str() {
            "</s>" => ("eos".to_owned(), id),
            "<unk>" => ("UNK".to_owned(), id),
            _ => (word, id),
        });
        let json = serde_json::to_string(&renamed.collect::<HashMap<_, _>>()).expect("JSON");
        folder.put(format!("{side}.json"), json);
    }
    let options = folder.join("model.npz.json");
    let json = r#"{"dim": 8, "dim_word": 6, "enc_recurrence_transition_depth": 2, "encoder": "gru", "decoder": "gru_cond",
        "dec_base_recurrence_transition_depth": 4, "layer_normalisation": true, "tie_decoder_embeddings": true,
        "model_version": 0.1, "use_dropout": true, "factors": 1, "dictionaries": ["/far/source.json", "target.json"]}"#;
    std::fs::write(&options, json).expect("written");
    let model = Model::load(&folder, &Device::cpu()).expect("Nematus'");
    assert_eq!(*model.weights, *read(&kind).1, "as Marian's names give them");
    for (from, to, told) in [
        ("\"encoder\": \"gru\"", "\"encoder\": \"lstm\"", "key `encoder` is lstm, which is not implemented"),
        ("\"factors\": 1", "\"factors\": 2", "key `factors` is 2"),
        ("\"factors\": 1", "\"weight_normalisation\": true", "key `weight_normalisation` is true"),
        ("\"model_version\": 0.1", "\"model_version\": 0", "key `use_dropout`"),
        ("\"dim\": 8", "\"dim\": -1", "key `dim` must be a whole number"),
        ("\"dim\": 8", "\"dim\": 9", "tensor `encoder_b` has the shape [1, 16]"),
        ("\"factors\": 1", "\"enc_depth\": 2, \"enc_depth_bidirectional\": 1", "key `enc_depth_bidirectional`"),
        ("\"factors\": 1", "\"enc_depth\": 2", "is missing"),
        ("\"target.json\"", "\"other.json\"", "other.json"),
        ("\"/far/source.json\", ", "", "key `dictionaries` must name two files"),
        ("{\"dim\"", "[\"dim\"", "model.npz.json, line 1"),
    ] {
        let changed = json.replace(from, to);
        assert_ne!(changed, json, "{from}");
        std::fs::write(&options, changed).expect("written");
        let error = Model::load(&folder, &Device::cpu()).expect_err(to).to_string();
        assert!(error.contains(told), "{to}: {error}");
    }
}

/// Models by the names of Nematus, deep ones whose encoder turns too, against its equations written down apart in numpy.
#[test]
fn models_of_nematus_score_as_its_equations() {
    let pairs: [(&[u32], &[u32]); 4] = [
        (&[2, 3, 4, 5, 0], &[2, 4, 3, 5, 0]),
        (&[4, 8, 0], &[3, 0]),
        (&[0], &[9, 1, 2, 0]),
        (&[7, 6, 5, 1, 3, 2, 0], &[9, 8, 0]),
    ];
    for kind in ["plain", "turning"] {
        let folder = models().join("../nematus").join(kind);
        let model = Model::load(&folder, &Device::cpu()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(model.source.encode("the cat barks").ids, [2, 4, 1, 0]);
        let mut stepper = folder::stepper(&model.config, &model.weights, 1).expect("a stepper");
        let forced = force(stepper.as_mut(), &pairs, &forever()).expect("it scores");
        for (n, (forced, line)) in forced.iter().zip(text(folder.join("score")).lines()).enumerate() {
            let what = format!("{kind}, sentence {n}");
            let (score, alpha) = line.split_once(" ||| ").expect("a score and an alignment");
            let score: f32 = score.parse().expect("a number");
            assert!((forced.log_p - score).abs() < 1e-4, "{what}: {} is not {score}", forced.log_p);
            check_rows(forced.alpha.as_deref().expect("it aligns"), &rows(alpha), &what);
        }
    }
}
