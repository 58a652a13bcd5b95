//! Floor 3: models of GroundHog (lisa-groundhog), in which the authors of RNNsearch and of the RNN Encoder-Decoder wrote
//! them: `NAME_model.npz`, its settings in `NAME_state.pkl`, and the words of both sides in the pickles that these name.
//!
//! | here | there |
//! |---|---|
//! | an embedding | `W_0_enc_approx_embdr` + `b_0_enc_approx_embdr` |
//! | W, W_r, W_z; b | `W_0_enc_{input,reset,update}_embdr_0`; `b_0_enc_input_embdr_0` |
//! | U, U_r, U_z | `W_`, `R_`, `G_enc_transition_0` |
//! | C, C_r, C_z | `W_0_dec_dec_{inputter,reseter,updater}_0` |
//! | U_a, W_a, v_a | `A_`, `B_`, `D_dec_transition_0` |
//! | W_o | W2 W1 of `dec_deep_softmax`; G_l and G_r where that is less |
//!
//! The end of a sentence is their last word and has the id 0 here; `<s>`, whose id that is there, is the last word here.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::models::checkpoint::{Array, Weights};
use crate::models::config::{Architecture, Config};
use crate::models::origins::card::ForeignCard;
use crate::models::origins::marian_files::{NOWHERE, RECURRENT, chosen, last_part, model_files, own_name};
use crate::models::origins::npz::Npz;
use crate::models::origins::{Foreign, OriginEntry, python};
use crate::models::shapes;
use crate::nn::fused::Precision;
use crate::text::foreign::vocabulary::Vocabulary;
use crate::text::sentence::{EOS, UNK};

/// Its line in the table of origins.
pub const ENTRY: OriginEntry = OriginEntry {
    name: "GroundHog npz",
    about: "models of GroundHog: NAME_model.npz with NAME_state.pkl and the words of both sides beside it",
    finds: |path| !files(path).is_empty(),
    read,
};

const TRUE: &[&str] = &["true", "1"];
const SIGMOID: &[&str] = &["lambdax:TT.nnet.sigmoid(x)"];

/// Settings that are implemented in these values only, without spaces; those that are not named have the first.
const KNOWN: &[(&str, &[&str])] = &[
    ("last_backward", &["false", "0"]),
    ("bigram", TRUE),
    ("bias_code", TRUE),
    ("decoding_inputs", TRUE),
    ("deep_out", TRUE),
    ("check_first_word", TRUE),
    ("encoder_stack", &["1"]),
    ("decoder_stack", &["1"]),
    ("rank_n_activ", &["lambdax:x"]),
    ("activ", &["lambdax:TT.tanh(x)"]),
    ("unary_activ", &["Maxout(2)"]),
    ("maxout_part", &["2.0", "2"]),
    ("softmax_layer", &["SoftmaxLayer"]),
    ("rec_layer", &["RecurrentLayer"]),
    ("enc_rec_layer", &["RecurrentLayer"]),
    ("dec_rec_layer", &["RecurrentLayer", "RecurrentLayerWithSearch"]),
    ("rec_gating", TRUE),
    ("rec_reseting", TRUE),
    ("rec_gater", SIGMOID),
    ("rec_reseter", SIGMOID),
    ("enc_rec_gating", TRUE),
    ("enc_rec_reseting", TRUE),
    ("enc_rec_gater", SIGMOID),
    ("enc_rec_reseter", SIGMOID),
    ("dec_rec_gating", TRUE),
    ("dec_rec_reseting", TRUE),
    ("dec_rec_gater", SIGMOID),
    ("dec_rec_reseter", SIGMOID),
    ("dropout", &["1.0", "1"]),
    ("dropout_rec", &["1.0", "1"]),
];

/// The file of the settings of a model: its own name with another end.
fn state_file(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?.strip_suffix("_model.npz")?;
    Some(file.with_file_name(format!("{name}_state.pkl")))
}

fn files(path: &Path) -> Vec<PathBuf> {
    let mut files = model_files(path, "npz", |start| start.starts_with(b"PK"));
    files.retain(|file| state_file(file).is_some_and(|state| state.is_file()));
    files
}

/// Settings of GroundHog.
struct GroundHogState {
    path: PathBuf,
    map: Map<String, Value>,
}

impl GroundHogState {
    fn wrong(&self, key: &str, message: impl Into<String>) -> Error {
        Error::key(&self.path, key, message)
    }

    /// What is not implemented is refused by its name. Whether the decoder looks.
    fn check(&self) -> Result<bool> {
        let is_on = |key: &str| TRUE.contains(&self.text(key).as_str());
        let searches = is_on("search");
        let parts = [("forward", searches), ("backward", searches), ("last_forward", !searches)];
        if let Some((key, expected)) = parts.into_iter().find(|(key, expected)| is_on(key) != *expected) {
            let with = if searches { "with" } else { "without" };
            return Err(
                self.wrong(key, format!("must be {expected} in a model {with} search; others are not implemented"))
            );
        }
        for (key, implemented) in KNOWN {
            let value = self.text(key);
            if !value.is_empty() && !implemented.contains(&value.as_str()) {
                return Err(self.wrong(key, format!("is {value:.60}, which is not implemented")));
            }
        }
        Ok(searches)
    }

    /// A value as text without spaces; empty where there is none.
    fn text(&self, key: &str) -> String {
        let value = self.map.get(key).filter(|value| !value.is_null());
        let text = value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        text.unwrap_or_default().split_whitespace().collect()
    }

    /// A whole number from `least`.
    fn size(&self, key: &str, least: u64) -> Result<usize> {
        let size = self.map.get(key).and_then(Value::as_u64).filter(|size| (least..=1 << 24).contains(size));
        size.map(|size| size as usize).ok_or_else(|| self.wrong(key, format!("must be a whole number from {least}")))
    }

    /// The words of a side in the order of their ids here.
    fn words(&self, keys: [&str; 2], unknown: usize, size: usize) -> Result<Vocabulary> {
        let beside = |key: &&str| {
            let name = self.map.get(*key)?.as_str()?;
            Some(self.path.with_file_name(last_part(name)))
        };
        let files: Vec<PathBuf> = keys.iter().filter_map(beside).collect();
        let Some(path) = files.iter().find(|file| file.is_file()).or(files.first()) else {
            return Err(self.wrong(keys[0], "must name the file with the words and their ids"));
        };
        let mut words = python::words(path, size, &["<s>", "</s>"])?;
        for (id, word) in [(0, EOS), (unknown, UNK), (size - 1, "<s>")] {
            word.clone_into(&mut words[id]);
        }
        Vocabulary::from_words(path, words)
    }
}

/// The archive, and which arrays of it were asked for.
struct GroundHogArrays {
    archive: Npz,
    used: Vec<String>,
}

impl GroundHogArrays {
    /// An array of theirs, which must have this shape.
    fn array(&mut self, name: &str, shape: &[usize]) -> Result<Array> {
        let array = self.archive.array(name)?;
        if array.shape != shape {
            let message = format!("has the shape {:?} where {shape:?} was expected", array.shape);
            return Err(Error::tensor(self.archive.path(), name, message));
        }
        self.used.push(name.to_owned());
        Ok(array)
    }

    /// A matrix of theirs, [in, out], as [out, in].
    fn matrix(&mut self, name: &str, [out, input]: [usize; 2]) -> Result<Array> {
        self.array(name, &[input, out]).map(Array::transposed)
    }

    /// An embedding with its bias in every row.
    fn embedding(&mut self, side: &str, [words, m]: [usize; 2]) -> Result<Array> {
        let mut rows = self.array(&format!("W_0_{side}_approx_embdr"), &[words, m])?;
        let bias = self.array(&format!("b_0_{side}_approx_embdr"), &[m])?;
        rows.data.chunks_exact_mut(m).for_each(|row| row.iter_mut().zip(&bias.data).for_each(|(e, b)| *e += b));
        Ok(rows)
    }

    /// W1 and W2 of the output layer as [K_y, l] or, where that is less, as [K_y, r] and [r, l].
    fn output(&mut self, config: &Config, rank: usize) -> Result<Vec<(&'static str, Array)>> {
        let (k, l) = (config.target_vocabulary, config.maxout);
        let w_2 = swapped(self.matrix("W2_dec_deep_softmax", [k, rank])?);
        if config.output_rank.is_some() {
            return Ok(vec![("readout.G_l", w_2), ("readout.G_r", self.matrix("W1_dec_deep_softmax", [rank, l])?)]);
        }
        let w_1 = self.array("W1_dec_deep_softmax", &[l, rank])?;
        let mut data = vec![0.0; k * l];
        Precision::F32.matmul_nt(k, l, rank, &w_2.data, &w_1.data, &mut data, false);
        Ok(vec![("readout.W_o", Array { shape: vec![k, l], data })])
    }

    /// All tensors of ours, with words by their ids.
    fn weights(&mut self, config: &Config, rank: usize) -> Result<Weights> {
        let (m, k_x, k_y) = (config.embedding, config.source_vocabulary, config.target_vocabulary);
        let mut weights = Weights::new();
        weights.insert("source_embedding", swapped(self.embedding("enc", [k_x, m])?));
        weights.insert("target_embedding", swapped(self.embedding("dec", [k_y, m])?));
        for (name, array) in self.output(config, rank)? {
            weights.insert(name, array);
        }
        weights.insert("readout.b_w", swapped(self.array("b_dec_deep_softmax", &[k_y])?));
        for (name, shape) in shapes(config) {
            if weights.get(&name).is_ok() {
                continue;
            }
            let array = match (theirs(&name), shape.as_slice()) {
                (Some(theirs), [out, input]) => self.matrix(&theirs, [*out, *input])?,
                // v_a is a matrix of one column
                (Some(theirs), [size]) if name == "attention.v_a" => {
                    Array { shape: vec![*size], data: self.array(&theirs, &[*size, 1])?.data }
                }
                (Some(theirs), shape) => self.array(&theirs, shape)?,
                (None, shape) => Array { shape: shape.to_vec(), data: vec![0.0; shape.iter().product()] },
            };
            weights.insert(name, array);
        }
        match self.archive.names().find(|name| !self.used.iter().any(|used| used == name)) {
            Some(extra) => {
                let message = "is not part of a model of this kind that is implemented; a model of an older GroundHog goes \
                               through its convert_model.py first";
                Err(Error::tensor(self.archive.path(), extra, message))
            }
            None => Ok(weights),
        }
    }
}

/// Their name of a tensor of ours; `None` for a bias that they do not have.
fn theirs(ours: &str) -> Option<String> {
    let whole = match ours {
        "decoder.W_s" => "W_0_dec_initializer_0",
        "decoder.b_s" => "b_0_dec_initializer_0",
        "attention.U_a" => "A_dec_transition_0",
        "attention.W_a" => "B_dec_transition_0",
        "attention.v_a" => "D_dec_transition_0",
        "readout.U_o" => "W_0_dec_hid_readout_0",
        "readout.b_o" => "b_0_dec_hid_readout_0",
        "readout.V_o" => "W_0_dec_prev_readout_0",
        "readout.C_o" => "W_0_dec_repr_readout",
        _ => "",
    };
    if !whole.is_empty() {
        return Some(whole.to_owned());
    }
    let (unit, letter) = ours.rsplit_once('.')?;
    let unit = match unit {
        "encoder.forward" => "enc",
        "encoder.backward" => "back_enc",
        "decoder" => "dec",
        _ => return None,
    };
    Some(match letter {
        "W" => format!("W_0_{unit}_input_embdr_0"),
        "W_r" => format!("W_0_{unit}_reset_embdr_0"),
        "W_z" => format!("W_0_{unit}_update_embdr_0"),
        "b" => format!("b_0_{unit}_input_embdr_0"),
        "U" => format!("W_{unit}_transition_0"),
        "U_r" => format!("R_{unit}_transition_0"),
        "U_z" => format!("G_{unit}_transition_0"),
        "C" => format!("W_0_{unit}_dec_inputter_0"),
        "C_r" => format!("W_0_{unit}_dec_reseter_0"),
        "C_z" => format!("W_0_{unit}_dec_updater_0"),
        _ => return None,
    })
}

/// The first and the last row in each other's place.
fn swapped(mut array: Array) -> Array {
    let rows = array.shape.first().copied().unwrap_or(0);
    let width = array.data.len() / rows.max(1);
    if let (Some((first, rest)), true) = (array.data.split_at_mut_checked(width), rows > 1) {
        let last = rest.len() - width;
        first.swap_with_slice(&mut rest[last..]);
    }
    array
}

fn read(path: &Path) -> Result<Foreign> {
    let file = chosen(path, files(path))?;
    let state = state_file(&file).unwrap_or_default();
    let state = GroundHogState { map: python::settings(&state)?, path: state };
    let searches = state.check()?;
    let (hidden, rank) = (state.size("dim", 2)?, state.size("rank_n_approx", 1)?);
    let [source_vocabulary, target_vocabulary] = [state.size("n_sym_source", 3)?, state.size("n_sym_target", 3)?];
    for (key, words) in [("null_sym_source", source_vocabulary), ("null_sym_target", target_vocabulary)] {
        if state.size(key, 0)? + 1 != words {
            return Err(state.wrong(key, format!("must be {}, the last of {words} words", words - 1)));
        }
    }
    let unknown = state.size("unk_sym_source", 1)?;
    if state.size("unk_sym_target", 1)? != unknown || unknown + 1 >= source_vocabulary.min(target_vocabulary) {
        return Err(state.wrong("unk_sym_target", "must be that of the source and the id of a word"));
    }
    if hidden % 2 != 0 {
        return Err(state.wrong("dim", format!("is {hidden}, which is not even, as two numbers make one of maxout")));
    }
    let maxout = hidden / 2;
    let config = Config {
        name: own_name(&file),
        source_vocabulary,
        target_vocabulary,
        unk: unknown as u32,
        embedding: rank,
        maxout,
        alignment: if searches { hidden } else { 0 },
        output_rank: Some(rank).filter(|rank| *rank < maxout),
        ..Config::bare(Architecture::GROUNDHOG, hidden)
    };
    let weights = GroundHogArrays { archive: Npz::open(&file)?, used: Vec::new() }.weights(&config, rank)?;
    let source = state.words(["word_indx", "indx_word"], unknown, source_vocabulary)?.words_tokenizer(None)?;
    let target =
        state.words(["word_indx_trgt", "indx_word_target"], unknown, target_vocabulary)?.words_tokenizer(None)?;
    let card = ForeignCard {
        name: config.name.clone(),
        toolkit: ENTRY.name.into(),
        languages: (config.source_language.clone(), config.target_language.clone()),
        ..ForeignCard::default()
    };
    let card = card.page(if searches { RECURRENT } else { NOWHERE });
    Ok(Foreign { config, weights, source, target, card, file })
}
