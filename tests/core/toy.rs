//! An architecture in one file: a small attention model that no paper describes. [`ENTRY`] is all that the program is
//! told of it; a table with that one line is enough to read, decode and train it.
//!
//! h_j = tanh(W_x e(x_j)); s_i = tanh(W_y e(y_{i-1}) + U s_{i-1}), s_0 = 0; e_ij = s_i' h_j, alpha_i = softmax(e_i),
//! c_i = sum_j alpha_ij h_j; p(y_i) = softmax(W_o (s_i + c_i)).

use std::{collections::HashMap, path::Path, sync::Arc};

use candle_core::{DType, Device as Candle, Tensor};
use interlinear::attention::{Attention, AttentionKind, Query};
use interlinear::corpus::measures::table::{CorpusMeasure, MeasureSubject, Of, measure_all};
use interlinear::decoding::{SearchOptions, Specials, decode};
use interlinear::interventions::{Intervening, Intervention};
use interlinear::models::batch::{Batch, embed_previous, embed_shifted};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::models::loss::{Hidden, Regularizer, Trainable, trainable};
use interlinear::models::{
    AlignedStep, AlignmentMode, Annotations, Kernels, Model, ModelEntry, Shapes, State, Step, TranslationModel, folder,
    shapes,
};
use interlinear::nn::linear::{Parameters, apply};
use interlinear::training::settings::{OptimizerSettings, Rule};
use interlinear::training::{fused::StepOptions, layout::ParameterLayout, minibatch::Minibatch, plain::PlainEngine};
use interlinear::{analysis::bleu::BleuSettings, attention, corpus::store::output::SystemOutput, error::Result};
use interlinear::{models::checkpoint::Weights, models::config::Config, nn::device::Device, nn::softmax::log_softmax};
use interlinear::{text::tokenizer::Tokenizers, text::vocab, training::backend::Engine as _, training::fused};

use crate::folder::{Files as _, Folder};
use crate::forever;

const TABLE: &[ModelEntry] = &[ENTRY];

const ENTRY: ModelEntry = ModelEntry {
    name: "toy",
    citation: "nobody, nowhere",
    needs: &[],
    may: &[],
    shapes: toy_shapes,
    readable: |config, all| Ok(Box::new(Toy::new(config, all)?)),
    fused: |_| None,
    looks: |_| attention::find("dot").map(|score| AlignmentMode { kind: AttentionKind::Global, score }),
    input_delay: Some(1),
    annotation: |config| config.hidden,
    one_context: |_| false,
    anatomy: None,
    gain: |_| 3.0,
};

fn toy_shapes(config: &Config) -> Shapes {
    let (m, n, k_x, k_y) = (config.embedding, config.hidden, config.source_vocabulary, config.target_vocabulary);
    let tensors = [
        ("source_embedding", vec![k_x, m]),
        ("target_embedding", vec![k_y, m]),
        ("encoder.W", vec![n, m]),
        ("decoder.W", vec![n, m]),
        ("decoder.U", vec![n, n]),
        ("readout.W_o", vec![k_y, n]),
    ];
    tensors.map(|(name, shape)| (name.to_owned(), shape)).to_vec()
}

struct Toy {
    config: Config,
    tensors: HashMap<String, Tensor>,
    attention: Box<dyn Attention>,
}

impl Toy {
    fn new(config: &Config, all: &Parameters<'_>) -> Result<Self> {
        let tensors = toy_shapes(config).into_iter().map(|(name, _)| all.get(&name).map(|tensor| (name, tensor)));
        let attention = attention::dot::construct(all)?;
        Ok(Self { config: config.clone(), tensors: tensors.collect::<Result<_>>()?, attention })
    }

    fn tensor(&self, name: &str) -> &Tensor {
        &self.tensors[name]
    }

    fn annotate(&self, source: &Batch) -> Result<Annotations> {
        let e = source.embed(self.tensor("source_embedding"))?; // [t_x, b, m]
        let h = apply(self.tensor("encoder.W"), &e)?.tanh()?.transpose(0, 1)?.contiguous()?; // [b, t_x, n]
        let mask = source.mask(DType::F32, h.device())?;
        Ok(Annotations {
            keys: self.attention.keys(&h)?,
            h,
            last: Vec::new(),
            mask,
            lengths: source.lengths.clone(),
            changes: Vec::new(),
        })
    }

    fn next(&self, e: &Tensor, s_prev: &Tensor) -> Result<Tensor> {
        Ok((apply(self.tensor("decoder.W"), e)? + apply(self.tensor("decoder.U"), s_prev)?)?.tanh()?)
    }

    fn look(&self, s: &Tensor, i: usize, annotations: &Annotations) -> Result<(Tensor, Tensor)> {
        let (query, source) = (Query { state: s, i }, annotations.source());
        let e_i = self.attention.energies(&query, &source)?;
        let alpha_i = self.attention.align(&query, &e_i, &source)?.alpha;
        Ok((e_i, alpha_i))
    }
}

impl TranslationModel for Toy {
    fn config(&self) -> &Config {
        &self.config
    }

    fn encode(&self, source: &[&[u32]]) -> Result<Annotations> {
        self.annotate(&Batch::new(source)?)
    }

    fn init_state(&self, annotations: &Annotations) -> Result<State> {
        let s = annotations.h.narrow(1, 0, 1)?.squeeze(1)?.zeros_like()?;
        Ok(State { tensors: vec![s], i: 0 })
    }

    fn align(&self, y_prev: Option<&[u32]>, s_prev: &State, annotations: &Annotations) -> Result<AlignedStep> {
        let s_prev_i = s_prev.only()?;
        let e = embed_previous(self.tensor("target_embedding"), y_prev, s_prev_i.dim(0)?)?;
        let s = self.next(&e, s_prev_i)?;
        let (e_i, alpha_i) = self.look(&s, s_prev.i, annotations)?;
        let s = State { tensors: vec![s], i: s_prev.i };
        Ok(AlignedStep { s, e_i: Some(e_i), alpha_i: Some(alpha_i), p_t: None })
    }

    fn predict(&self, _: Option<&[u32]>, aligned: &AlignedStep, annotations: &Annotations) -> Result<Step> {
        let (s, c_i) = (aligned.s.only()?, annotations.context(aligned.alpha()?)?);
        let log_p = log_softmax(&self.logits(&(s + &c_i)?)?)?;
        Ok(Step { s: State { tensors: vec![s.clone()], i: aligned.s.i + 1 }, c_i: Some(c_i), log_p })
    }
}

impl Trainable for Toy {
    fn last_hidden(&self, source: &Batch, target: &Batch, regularizer: &mut Regularizer) -> Result<Hidden> {
        let annotations = self.annotate(source)?;
        let e = regularizer.drop(&embed_shifted(self.tensor("target_embedding"), target, None)?)?; // [t_y, b, m]
        let mut s = self.init_state(&annotations)?.only()?.clone();
        let (mut hidden, mut alpha) = (Vec::new(), Vec::new());
        for i in 0..target.longest {
            s = self.next(&e.get(i)?, &s)?;
            let (_, alpha_i) = self.look(&s, i, &annotations)?;
            hidden.push((&s + annotations.context(&alpha_i)?)?);
            alpha.push(alpha_i);
        }
        Ok(Hidden { rows: target.rows_of_words(&Tensor::cat(&hidden, 0)?)?, alpha })
    }

    fn logits(&self, t: &Tensor) -> Result<Tensor> {
        apply(self.tensor("readout.W_o"), t)
    }
}

// --- what the program makes of it ------------------------------------------------------------------

const SOURCE: &[&[u32]] = &[&[2, 3, 0], &[3, 4, 2, 0], &[4, 0], &[2, 4, 0]];
const TARGET: &[&[u32]] = &[&[4, 3, 0], &[3, 2, 4, 0], &[2, 0], &[4, 2, 0]];

fn write_folder(folder: &Path) -> Config {
    let json = r#"{"format": "interlinear", "version": 1, "name": "toy", "architecture": "toy", "source_language": "en",
        "target_language": "fr", "source_vocabulary": 5, "target_vocabulary": 5, "eos": 0, "unk": 1,
        "source_eos": true, "embedding": 8, "hidden": 12}"#;
    folder.put("config.json", json);
    for (file, words) in
        [("source.tokenizer.json", ["one", "two", "three"]), ("target.tokenizer.json", ["c", "b", "a"])]
    {
        let counted = words.iter().enumerate().map(|(n, word)| ((*word).to_owned(), 100 - n as u64));
        let tokenizer = vocab::build("en", counted, usize::MAX).expect("a plain language");
        tokenizer.save(&folder.join(file)).expect("written");
    }
    Config::load_among(TABLE, &folder.join("config.json")).expect("it is in the table")
}

fn train(config: &Config) -> Weights {
    let layout = ParameterLayout::new(config);
    let flat = layout.flatten(&initial_weights(config, InitScheme::Scaled, 3)).expect("its own weights");
    let optimizer = OptimizerSettings { rule: Rule::Adam, ..OptimizerSettings::default() };
    let mut engine = PlainEngine::new(config, &flat, &optimizer, &Candle::Cpu).expect("an engine");
    let batch = Minibatch::new(SOURCE, TARGET);
    let before = engine.measure(batch).expect("a loss").nll;
    let options = StepOptions { dropout: 0.0, smoothing: 0.0, scale: 0.25, seed: 1, guide: 0.0 };
    for update in 0..150 {
        engine.update(batch, options, 0.02, update).expect("an update");
    }
    let after = engine.measure(batch).expect("a loss").nll;
    assert!(after < 0.1 * before, "{before} fell to {after} only");
    layout.name(&engine.weights().expect("weights"))
}

#[test]
fn an_architecture_is_one_file_and_one_line() {
    let (folder, config) = Folder::of(write_folder);
    let refused = Config::load(&folder.join("config.json")).expect_err("it is in no other table").to_string();
    assert!(refused.contains("\"toy\"") && refused.contains("rnnencdec, rnnsearch, luong"), "{refused}");
    assert_eq!((config.attention().as_deref(), config.input_delay()), (Some("dot"), Some(1)));
    assert!(!fused::supports(&config), "nobody wrote its gradients");
    train(&config).save(&folder.join("model.safetensors"), false).expect("written");

    let (path, known) = (&folder, Tokenizers::default());
    let model = Model::load_rest(config, path, &Device::cpu(), &known, &mut |_| {}).expect("the folder is sound");
    let mut stepper = model.stepper(Kernels::Fused, 2).expect("the readable form, where there are no kernels");
    let specials = Specials { eos: 0, unk: 1, bars_unk: false };
    let options = SearchOptions { beam: 3, ..SearchOptions::default() };
    let found = decode(stepper.as_mut(), specials, SOURCE, &options, &forever(), &mut |_, _| {}).expect("decodes");
    for (found, target) in found.iter().zip(TARGET) {
        assert_eq!(found.hypotheses[0].tokens, *target, "what it learned");
        assert!(found.hypotheses[0].alpha.is_some());
    }
    assert_eq!(model.source.encode("two one").ids, [3, 2, 0]);

    let pinned = vec![0.0, 1.0, 0.0];
    let list: Arc<[Intervention]> = [Intervention::Pin { i: 0, alpha: pinned.clone() }].into();
    let mut changed = Intervening::new(stepper.as_mut(), vec![list]);
    let found = decode(&mut changed, specials, &SOURCE[..1], &options, &forever(), &mut |_, _| {}).expect("decodes");
    assert_eq!(found[0].hypotheses[0].alpha.as_ref().expect("it aligns")[0], pinned);

    let alone = folder::stepper(&model.config, &model.weights, 1);
    assert!(alone.is_ok(), "measured in training by the readable form");
}

#[test]
fn its_loss_is_that_of_its_steps() {
    let (_folder, config) = Folder::of(write_folder);
    let weights = initial_weights(&config, InitScheme::Scaled, 3);
    assert!(
        weights
            .names()
            .eq(["decoder.U", "decoder.W", "encoder.W", "readout.W_o", "source_embedding", "target_embedding"])
    );
    assert_eq!(
        weights.parameters(),
        shapes(&config).iter().map(|(_, shape)| shape.iter().product::<usize>()).sum::<usize>()
    );
    let tensors: HashMap<String, Tensor> =
        weights.names().map(|name| (name.to_owned(), weights.tensor(name, &Candle::Cpu).expect("a tensor"))).collect();
    let model = trainable(&config, &tensors).expect("a model");
    let (loss, words) = model.loss(SOURCE, TARGET).expect("a loss");
    let mut stepper = folder::stepper(&config, &Arc::new(weights), 1).expect("a stepper");
    let pairs: Vec<(&[u32], &[u32])> = SOURCE.iter().copied().zip(TARGET.iter().copied()).collect();
    let scored = interlinear::decoding::force(stepper.as_mut(), &pairs, &forever()).expect("it scores");
    let total: f32 = scored.iter().map(|scored| scored.log_p).sum();
    let loss: f32 = loss.to_scalar().expect("a number");
    assert!((loss + total).abs() < 1e-4 && words == 12, "{loss} is not {total}");
}

const CAPITALS: CorpusMeasure = CorpusMeasure {
    name: "capitals",
    title: "capitals",
    about: "Words of the output that begin with a capital letter",
    digits: 0,
    of: Of::Subject(|subject| {
        let words = subject.output?.text.split_whitespace();
        Some(words.filter(|word| word.starts_with(char::is_uppercase)).count() as f32)
    }),
};

#[test]
fn a_measure_of_one_line_is_measured_and_nothing_to_measure_is_no_number() {
    let output = SystemOutput { text: "Tom lives in Rome .".to_owned(), ..SystemOutput::default() };
    let subject = MeasureSubject::new(&output, &[], BleuSettings::default());
    assert_eq!(measure_all(&[CAPITALS], &subject), [2.0]);
    assert!(measure_all(&[CAPITALS], &MeasureSubject { output: None, ..subject })[0].is_nan());
}
