//! What is measured: models whose translations do not end early, and sentences for them.
//!
//! Bundled models are changed so that `</s>` is not chosen. Random ones (every number uniform, of deviation 0.05) have
//! the sizes of the bundled models and of the papers; weights of 16 bits are rounded to f16, as bundled ones are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use half::f16;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde_json::json;

use crate::Setup;
use interlinear::decoding::Specials;
use interlinear::models::checkpoint::{Array, Weights};
use interlinear::models::config::{Architecture, AttentionKind, Config, LuongSizes};
use interlinear::models::fused::{packed, supports};
use interlinear::models::nematus::sizes::{EncoderKind, NematusNorm, NematusSizes, NematusUnit};
use interlinear::models::opennmt::sizes::{AttentionalMix, DecoderStart, OpenNmtSizes};
use interlinear::models::transformer::sizes::{Activation, AlignmentReason, DecoderCell, Positions, TransformerSizes};
use interlinear::models::{Kernels, Model, Stepper, disk, folder, shapes};
use interlinear::text::sentence::{EOS, UNK};
use interlinear::{error::Result, models::plain::PlainStepper, nn::device::Device, text::tokenizer::Tokenizer};

/// Half the width of the uniform distribution of random weights; its deviation is 0.05.
const HALF_WIDTH: f32 = 0.0866;
/// Keeps `</s>` from being emitted, in f16 too.
const NEVER: f32 = -3e4;
/// Numbers of weights from which a model is slow enough that few sentences are enough.
const LARGE: usize = 40_000_000;

pub struct Subject {
    pub config: Config,
    half: bool,
    weights: Arc<Weights>,
    origin: Option<(PathBuf, Tokenizer)>,
}

pub enum Source {
    Folder(PathBuf),
    Random(Box<Config>, bool),
}

impl Source {
    pub fn all(setup: &Setup, random: Vec<Self>) -> Vec<Self> {
        let quick = || tiny().map(|config| Self::Random(Box::new(config), true)).into();
        let random = if setup.quick { quick() } else { random };
        setup.models().into_iter().map(Self::Folder).chain(random).collect()
    }

    pub fn is_meant(&self, only: &str) -> bool {
        match self {
            Self::Folder(folder) => folder.to_string_lossy().contains(only),
            Self::Random(config, _) => config.name.contains(only),
        }
    }

    pub fn subject(self, device: &Device) -> Result<Subject> {
        let (config, mut weights, half, origin) = match self {
            Self::Folder(folder) => {
                let model = Model::load(&folder, device)?;
                let in_half = |x: &f32| f16::from_f32(*x).to_f32() == *x;
                let half = model.weights.iter().all(|(_, array)| array.data.par_iter().all(in_half));
                (model.config, (*model.weights).clone(), half, Some((folder, model.source)))
            }
            Self::Random(config, half) => {
                let weights = random_weights(&config, half);
                (*config, weights, half, None)
            }
        };
        silence(&mut weights, &config);
        Ok(Subject { config, half, weights: Arc::new(weights), origin })
    }
}

impl Subject {
    pub fn precision(&self) -> &'static str {
        if self.half { "f16" } else { "f32" }
    }

    pub fn is_large(&self) -> bool {
        self.weights.parameters() > LARGE
    }

    pub fn stepper(&self, engine: Kernels, device: &Device, threads: usize) -> Result<Box<dyn Stepper>> {
        if engine == Kernels::Fused && device.is_cpu() && supports(&self.config) {
            return Ok(packed(&self.config, &self.weights)?.stepper(&self.config, threads));
        }
        let plain = folder::readable(&self.config, &self.weights, &device.candle)?;
        Ok(Box::new(PlainStepper::new(plain)))
    }

    pub fn specials(&self) -> Specials {
        Specials { eos: self.config.eos, unk: self.config.unk, bars_unk: false }
    }

    pub fn sentences(&self, count: usize, words: usize) -> Vec<Vec<u32>> {
        let mut rng = ChaCha8Rng::seed_from_u64(20);
        let lowest = self.config.eos.max(self.config.unk) + 1;
        let vocabulary = (self.config.source_vocabulary as u32).max(lowest + 1);
        let word = |rng: &mut ChaCha8Rng| rng.random_range(lowest..vocabulary);
        let sentence = |rng: &mut ChaCha8Rng| (0..words).map(|_| word(rng)).chain([self.config.eos]).collect();
        (0..count).map(|_| sentence(&mut rng)).collect()
    }

    pub fn text(&self, sentences: &[Vec<u32>]) -> String {
        let word = |id: &u32| match &self.origin {
            Some((_, tokenizer)) => tokenizer.token(*id).unwrap_or(UNK).to_owned(),
            None => made_word('s', *id as usize),
        };
        let line = |ids: &Vec<u32>| {
            let words: Vec<String> = ids.iter().filter(|id| **id != self.config.eos).map(word).collect();
            words.join(" ") + "\n"
        };
        sentences.iter().map(line).collect()
    }

    pub fn save(&self, folder: &Path) -> anyhow::Result<()> {
        std::fs::create_dir_all(folder)?;
        self.config.save(&folder.join(disk::CONFIG_FILE))?;
        self.weights.save(&folder.join(disk::WEIGHTS_FILE), self.half)?;
        let sides = [
            (disk::SOURCE_FILE, 's', self.config.source_vocabulary),
            (disk::TARGET_FILE, 't', self.config.target_vocabulary),
        ];
        for (name, letter, count) in sides {
            let path = folder.join(name);
            match &self.origin {
                Some((from, _)) => std::fs::copy(from.join(name), &path).map(drop)?,
                None => std::fs::write(&path, made_tokenizer(letter, count))?,
            }
        }
        Ok(())
    }
}

fn made_word(letter: char, id: usize) -> String {
    match id {
        0 => EOS.to_owned(),
        1 => UNK.to_owned(),
        _ => format!("{letter}{id}"),
    }
}

fn made_tokenizer(letter: char, count: usize) -> String {
    let words: serde_json::Map<_, _> = (0..count).map(|id| (made_word(letter, id), json!(id))).collect();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": UNK},
    });
    tokenizer.to_string()
}

pub fn rnn_search(name: &str, [k, m, n, l, alignment]: [usize; 5]) -> Config {
    Config {
        name: name.into(),
        source_language: "en".into(),
        target_language: "fr".into(),
        source_vocabulary: k,
        target_vocabulary: k,
        embedding: m,
        maxout: l,
        alignment,
        ..Config::bare(Architecture::RNN_SEARCH, n)
    }
}

pub fn rnn_encdec(name: &str, [k, m, n, l]: [usize; 4]) -> Config {
    Config { architecture: Architecture::RNN_ENC_DEC, alignment: 0, ..rnn_search(name, [k, m, n, l, 0]) }
}

pub fn luong(name: &str, [k, m, n, layers]: [usize; 4]) -> Config {
    let sizes = LuongSizes {
        layers,
        attention: AttentionKind::Global,
        score: "general".into(),
        input_feeding: true,
        reverse_source: true,
        window: 0,
        max_source: 0,
        start: 0,
    };
    Config { architecture: Architecture::LUONG, maxout: 0, own: sizes.into(), ..rnn_search(name, [k, m, n, 0, 0]) }
}

pub fn small() -> Config {
    rnn_search("RNNsearch small", [12_000, 256, 320, 256, 320])
}

/// RNNsearch of Bahdanau et al. 2015.
pub fn paper() -> Config {
    rnn_search("RNNsearch paper", [30_000, 620, 1000, 500, 1000])
}

/// RNNencdec of Bahdanau et al. 2015.
pub fn paper_encdec() -> Config {
    rnn_encdec("RNNencdec paper", [30_000, 620, 1000, 500])
}

/// Four layers of Luong et al. 2015.
pub fn paper_luong() -> Config {
    luong("Luong paper", [50_000, 1000, 1000, 4])
}

pub fn transformer(name: &str, [k, d, inner]: [usize; 3], layers: usize) -> Config {
    let sizes = TransformerSizes {
        heads: 8,
        encoder_layers: layers,
        decoder_layers: layers,
        feed_forward: inner,
        decoder_feed_forward: inner,
        norm_first: false,
        norm_epsilon: 1e-6,
        activation: Activation::Swish,
        cell: DecoderCell::SelfAttention,
        positions: Positions::Marian,
        max_positions: 0,
        scale_embedding: true,
        shared_embedding: true,
        tied_output: true,
        start: None,
        alignment_layer: layers,
        alignment_heads: vec![1],
        alignment_reason: AlignmentReason::Guided,
    };
    let config = rnn_search(name, [k, d, d, 0, 0]);
    Config { architecture: Architecture::TRANSFORMER, own: sizes.into(), ..config }
}

pub fn base_transformer() -> Config {
    transformer("Transformer base", [53_000, 512, 2048], 6)
}

pub fn tiny_transformer() -> Config {
    transformer("Transformer tiny", [53_000, 256, 1536], 6)
}

pub fn nematus(name: &str, [k, m, n]: [usize; 3]) -> Config {
    let sizes = NematusSizes {
        encoder: EncoderKind::Bidirectional,
        encoder_unit: NematusUnit::Gru,
        decoder_unit: NematusUnit::Gru,
        encoder_layers: 1,
        encoder_cells: 1,
        decoder_layers: 1,
        base_cells: 2,
        high_cells: 1,
        skip: false,
        norm: NematusNorm::None,
        shared_embedding: false,
        tied_output: false,
    };
    Config { architecture: Architecture::NEMATUS, own: sizes.into(), ..rnn_search(name, [k, m, n, 0, 0]) }
}

pub fn opennmt(name: &str, [k, m, n]: [usize; 3]) -> Config {
    let sizes = OpenNmtSizes {
        both_directions: true,
        unit: NematusUnit::Lstm,
        encoder_hidden: n / 2,
        encoder_layers: 2,
        decoder_layers: 2,
        start_state: DecoderStart::Layers,
        score: "general".into(),
        mixing: AttentionalMix::Tanh,
        input_feeding: true,
        shared_embedding: false,
        tied_output: false,
        start: 2,
    };
    Config { architecture: Architecture::OPENNMT, own: sizes.into(), ..rnn_search(name, [k, m, n, 0, 0]) }
}

pub fn of_toolkits() -> [Config; 2] {
    [nematus("Nematus 500, 1000", [30_000, 500, 1000]), opennmt("OpenNMT 500, 1000", [30_000, 500, 1000])]
}

pub fn tiny() -> [Config; 6] {
    [
        transformer("Transformer least", [60, 16, 24], 2),
        nematus("Nematus tiny", [60, 8, 12]),
        opennmt("OpenNMT tiny", [60, 8, 12]),
        rnn_encdec("RNNencdec tiny", [60, 8, 12, 8]),
        rnn_search("RNNsearch tiny", [60, 8, 12, 8, 10]),
        luong("Luong tiny", [60, 8, 12, 2]),
    ]
}

fn random_weights(config: &Config, half: bool) -> Weights {
    let tensor = |(stream, (name, shape)): (usize, (String, Vec<usize>))| {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        rng.set_stream(stream as u64);
        let count = shape.iter().product();
        // what a norm multiplies by is near 1, so that the layers are felt
        let one = if name.rsplit('.').next() == Some("g") { 1.0 } else { 0.0 };
        let data = (0..count).map(|_| one + uniform(&mut rng, half)).collect();
        (name, Array { shape, data })
    };
    let tensors: Vec<(String, Array)> = shapes(config).into_par_iter().enumerate().map(tensor).collect();
    let mut weights = Weights::new();
    for (name, array) in tensors {
        weights.insert(name, array);
    }
    weights
}

fn uniform(rng: &mut ChaCha8Rng, half: bool) -> f32 {
    let number = (rng.next_u32() as f32 / u32::MAX as f32 * 2.0 - 1.0) * HALF_WIDTH;
    if half { f16::from_f32(number).to_f32() } else { number }
}

fn silence(weights: &mut Weights, config: &Config) {
    let eos = config.eos as usize;
    let has_maxout = config.maxout > 0;
    let bias = if has_maxout { "readout.b_w" } else { "readout.b_o" };
    for (name, array) in weights.iter_mut() {
        match (name, array.shape.as_slice()) {
            (name, _) if name == bias => {
                if let Some(bias) = array.data.get_mut(eos) {
                    *bias = NEVER;
                }
            }
            ("W_s", &[_, n]) => {
                if let Some(row) = array.data.get_mut(eos * n..(eos + 1) * n) {
                    row.fill(0.0);
                }
            }
            _ => {}
        }
    }
}
