//! The recurrent models of Marian (`amun`, `nematus`, `s2s`): options become sizes, its names ours.
//!
//! | here | `s2s` | `amun`, `nematus`, and Nematus itself |
//! |---|---|---|
//! | encoder.forward.1.1, backward | `encoder_bi`, `encoder_bi_r` | `encoder`, `encoder_r` |
//! | encoder.forward.1.2 | `encoder_bi_cell2` | `encoder_.._drt_1` |
//! | encoder.forward.2.1 | `encoder_bi_l2_cell1` | `encoder_r_2`: it turns |
//! | encoder.top.1.1 | `encoder_l2_cell1` | |
//! | decoder.1.1, .2, .3 | `decoder_cell1`, `_cell2`, `_cell3` | `decoder`, `.._nl` with `_Wc`, `_Wcx`, `.._nl_drt_1` |
//! | decoder.2.1 | `decoder_l2_cell1` | `decoder_2` |
//! | W_r and W_z, W; W_f, W_i, W_g, W_o | columns of `_W`, `_Wx`; of `_W` | |
//! | W_norm.g, U_norm.g | columns of `_gamma1`, `_gamma2` | `_W_lns`, `_Wx_lns`; `_lnb` for b |
//! | start | `decoder_ff_state` | `ff_state` |
//! | readout.word, .state, .context | `decoder_ff_logit_l1_W0`, `W1`, `W2` | `ff_logit_prev`, `_lstm`, `_ctx` |

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::{Error, Result};
use crate::models::checkpoint::{Array, Weights};
use crate::models::config::{Architecture, Config};
use crate::models::nematus::sizes::{EncoderKind, NematusNorm, NematusSizes, NematusUnit};
use crate::models::origins::marian_options::{KnownOption, MarianOptions};
use crate::models::{entry::shapes, origins::marian::MarianTensors, transformer::sizes::NamedChoice};

/// Options that are implemented in some of their values only; an older file leaves some out.
const KNOWN: &[KnownOption] = &[
    ("type", TYPES),
    ("enc-type", &["", "bidirectional", "alternating", "bi-unidirectional"]),
    ("enc-cell", &["", "gru", "gru-nematus", "lstm"]),
    ("dec-cell", &["", "gru", "gru-nematus", "lstm"]),
    ("right-left", &["", "false"]),
    ("input-types", &[""]),
    ("factors-dim-emb", &["", "0"]),
    ("lemma-dependency", &[""]),
    ("lemma-dim-emb", &["", "0"]),
    ("ulr", &["", "false"]),
];

pub const TYPES: &[&str] = &["amun", "nematus", "s2s"];

const MOST_LAYERS: usize = 64;

pub fn convert(path: &Path, tensors: &mut dyn MarianTensors, options: &MarianOptions) -> Result<(Config, Weights)> {
    let sizes = sizes(options)?;
    let [embedding, hidden] = ["dim-emb", "dim-rnn"].map(|key| options.count(key, None, 1 << 20));
    let theirs = TensorNames { is_nematus: false, omits_bias: options.is_on("output-omit-bias") };
    theirs.convert(path, tensors, [embedding?, hidden?], sizes)
}

fn sizes(options: &MarianOptions) -> Result<NematusSizes> {
    options.check(KNOWN)?;
    if options.list("dim-vocabs").len() > 2 {
        return Err(options.wrong("dim-vocabs", "names several sources; models of one source are read"));
    }
    let depth = |key: &str, default: usize| options.count(key, Some(default), MOST_LAYERS);
    let is_tied = |own: &str| options.is_on(own) || options.is_on("tied-embeddings-all");
    let norm = match (options.is_on("layer-normalization"), options.text("type")) {
        (false, _) => NematusNorm::None,
        (true, Some("nematus")) => NematusNorm::Nematus,
        (true, _) => NematusNorm::Marian,
    };
    Ok(NematusSizes {
        encoder: named(options, "enc-type", EncoderKind::Bidirectional),
        encoder_unit: named(options, "enc-cell", NematusUnit::Gru),
        decoder_unit: named(options, "dec-cell", NematusUnit::Gru),
        encoder_layers: depth("enc-depth", 1)?,
        encoder_cells: depth("enc-cell-depth", 1)?,
        decoder_layers: depth("dec-depth", 1)?,
        base_cells: depth("dec-cell-base-depth", 2)?,
        high_cells: depth("dec-cell-high-depth", 1)?,
        skip: options.is_on("skip"),
        norm,
        shared_embedding: is_tied("tied-embeddings-src"),
        tied_output: is_tied("tied-embeddings"),
    })
}

fn named<T: NamedChoice>(options: &MarianOptions, key: &str, default: T) -> T {
    options.text(key).and_then(T::from_name).unwrap_or(default)
}

/// How a toolkit writes its tensors.
pub struct TensorNames {
    /// Nematus itself, whose encoder alternates directions, and so do its names.
    pub is_nematus: bool,
    pub omits_bias: bool,
}

/// Where a tensor of ours stands among theirs.
struct Origin {
    ours: String,
    theirs: Vec<String>,
    /// Which of so many equal parts of the last dimension it is, from 0.
    part: [usize; 2],
    may_be_turned: bool,
}

impl TensorNames {
    pub fn convert(
        &self, path: &Path, tensors: &mut dyn MarianTensors, [embedding, hidden]: [usize; 2], sizes: NematusSizes,
    ) -> Result<(Config, Weights)> {
        let rows = |names: &[&str]| {
            let name = names.iter().copied().find(|name| tensors.shape(name).is_some()).unwrap_or("Wemb");
            match tensors.shape(name).as_deref() {
                Some(&[words, width]) if width == embedding && words > 1 => Ok(words),
                Some(shape) => {
                    let message = format!("has the shape {shape:?} where [words, {embedding}] was expected");
                    Err(Error::tensor(path, name, message))
                }
                None => Err(Error::tensor(path, name, "is missing; the file is of another architecture")),
            }
        };
        let config = Config {
            name: "Marian".into(),
            source_vocabulary: rows(&["encoder_Wemb"])?,
            target_vocabulary: rows(&["decoder_Wemb", "Wemb_dec"])?,
            embedding,
            own: sizes.into(),
            ..Config::bare(Architecture::NEMATUS, hidden)
        };
        let weights = self.weights(path, tensors, &config)?;
        Ok((config, weights))
    }

    fn weights(&self, path: &Path, tensors: &mut dyn MarianTensors, config: &Config) -> Result<Weights> {
        let Some(sizes) = config.nematus() else { return Err(Error::Internal("no recurrent model".into())) };
        let expected: HashMap<String, Vec<usize>> = shapes(config).into_iter().collect();
        let mut weights = Weights::new();
        let mut arrays: HashMap<String, Array> = HashMap::new();
        for origin in self.origins(config, sizes) {
            let Some(shape) = expected.get(&origin.ours) else {
                return Err(Error::Internal(format!("{} has no shape", origin.ours)));
            };
            let known = origin.theirs.iter().find(|name| tensors.shape(name).is_some());
            let own = if self.is_nematus { origin.theirs.last() } else { origin.theirs.first() };
            let name = known.or(own).map(String::as_str).unwrap_or_default();
            if !arrays.contains_key(name) {
                arrays.insert(name.to_owned(), tensors.array(name)?);
            }
            let array = part(&arrays[name], &origin, name, shape).map_err(|found| {
                let message = format!("has the shape {found:?}, which does not give `{}` its {shape:?}", origin.ours);
                Error::tensor(path, name, message)
            })?;
            let is_context = CONTEXT.iter().any(|part| origin.ours.starts_with(part));
            let swaps = self.is_nematus && sizes.encoder_layers % 2 == 0 && is_context && shape.len() == 2;
            weights.insert(origin.ours, if swaps { halves_swapped(array) } else { array });
        }
        if self.omits_bias {
            let k = config.target_vocabulary;
            weights.insert("readout.b_o", Array { shape: vec![k], data: vec![0.0; k] });
        }
        let used: HashSet<&str> = arrays.keys().map(String::as_str).collect();
        match tensors.names().into_iter().find(|name| !used.contains(name.as_str()) && !is_no_weight(name)) {
            Some(extra) => {
                Err(Error::tensor(path, extra, "is not part of a recurrent model of this kind that is implemented"))
            }
            None => Ok(weights),
        }
    }

    fn origins(&self, config: &Config, sizes: &NematusSizes) -> Vec<Origin> {
        let mut origins = Vec::new();
        let whole = |ours: &str, theirs: &[&str]| Origin {
            ours: ours.to_owned(),
            theirs: theirs.iter().map(|name| (*name).to_owned()).collect(),
            part: [0, 1],
            may_be_turned: false,
        };
        origins.push(whole("source_embedding", &["encoder_Wemb", "Wemb"]));
        if !sizes.shared_embedding {
            origins.push(whole("target_embedding", &["decoder_Wemb", "Wemb_dec"]));
        }
        for (stack, l, places) in sizes.layers(config.embedding, config.hidden) {
            for (k, place) in places.into_iter().enumerate() {
                let unit = UnitName { stack, l, k: k + 1 };
                for (ours, _) in place.shapes(&format!("{stack}.{l}.{}", k + 1), config.hidden) {
                    origins.push(self.of_unit(unit, place.kind, place.is_normed, ours));
                }
            }
        }
        for (ours, [w, b, gain, nematus_gain, shift]) in dense_layers() {
            let mut all = vec![("W", w), ("b", b)];
            if ours == "attention.query" {
                all.pop();
            }
            match sizes.norm {
                NematusNorm::None => {}
                NematusNorm::Marian => all.push(("norm.g", gain)),
                NematusNorm::Nematus => all.extend([("norm.g", nematus_gain), ("norm.b", shift)]),
            }
            for (part, names) in all {
                origins.push(whole(&format!("{ours}.{part}"), &names.split(' ').collect::<Vec<_>>()));
            }
        }
        origins.push(whole("attention.v_a", &["decoder_U_att"]));
        if !sizes.tied_output {
            let names = ["decoder_ff_logit_l2_Wt", "decoder_ff_logit_l2_W", "ff_logit_W"];
            origins.push(Origin { may_be_turned: true, ..whole("readout.W_o", &names) });
        }
        if !self.omits_bias {
            origins.push(whole("readout.b_o", &["decoder_ff_logit_l2_b", "ff_logit_b"]));
        }
        origins
    }

    fn of_unit(&self, unit: UnitName<'_>, kind: NematusUnit, is_normed: bool, ours: String) -> Origin {
        let own = ours.splitn(4 + unit.stack.matches('.').count(), '.').last().unwrap_or_default();
        let letter = &own[..1];
        let norm = own.split_once("_norm.").map(|(_, norm)| &norm[..1]);
        let gate = own.trim_start_matches("W_norm.").trim_start_matches("U_norm.");
        let (extra, part) = match &gate[1..] {
            "_r" => ("", [0, 2]),
            "_z" => ("", [1, 2]),
            "_f" => ("", [0, 4]),
            "_i" => ("", [1, 4]),
            "_g" => ("", [2, 4]),
            "_o" => ("", [3, 4]),
            _ => ("x", [0, 1]),
        };
        let is_joint = is_normed && kind != NematusUnit::GruNematus;
        if norm.is_some() && is_joint {
            let gamma = if letter == "W" { "gamma1" } else { "gamma2" };
            let part = match part {
                [gate, 4] => [gate, 4],
                [gate, 2] => [gate, 3],
                _ => [2, 3],
            };
            return Origin { ours, theirs: unit.names(self.is_nematus, gamma, ""), part, may_be_turned: false };
        }
        let end = match norm {
            None => "",
            Some("g") => "_lns",
            Some(_) => "_lnb",
        };
        let theirs = unit.names(self.is_nematus, &format!("{letter}{extra}"), end);
        Origin { ours, theirs, part, may_be_turned: false }
    }
}

/// What reads c or h: of Nematus' encoders with an even number of layers, the halves change places.
const CONTEXT: [&str; 5] = ["start.W", "attention.key.W", "decoder.1.2.W", "readout.context.W", "encoder.top.1.1.W"];

/// Layers that are no units: W, b, Marian's gain, and gain and shift of Nematus.
fn dense_layers() -> [(&'static str, [String; 5]); 6] {
    let start = ["W", "b", "gamma", "ln_s", "ln_b"].map(|end| format!("decoder_ff_state_{end} ff_state_{end}"));
    let query = ["decoder_W_comb_att", "", "decoder_att_gamma2", "decoder_W_comb_att_lns", "decoder_W_comb_att_lnb"];
    let key = ["decoder_Wc_att", "decoder_b_att", "decoder_att_gamma1", "decoder_Wc_att_lns", "decoder_Wc_att_lnb"];
    let readout = |n: usize, name: &str| {
        let own = |end: &str| format!("decoder_ff_logit_l1_{end}{n} ff_logit_{name}_{end}");
        let gain = format!("decoder_ff_logit_l1_gamma{n} ff_logit_l1_gamma{n}");
        [own("W"), own("b"), gain, own("ln_s"), own("ln_b")]
    };
    [
        ("start", start),
        ("attention.query", query.map(str::to_owned)),
        ("attention.key", key.map(str::to_owned)),
        ("readout.word", readout(0, "prev")),
        ("readout.state", readout(1, "lstm")),
        ("readout.context", readout(2, "ctx")),
    ]
}

#[derive(Clone, Copy)]
struct UnitName<'a> {
    stack: &'a str,
    l: usize,
    k: usize,
}

impl UnitName<'_> {
    fn names(self, is_nematus: bool, part: &str, end: &str) -> Vec<String> {
        let Self { stack, l, k } = self;
        let deep = if l > 1 { format!("_l{l}_cell{k}") } else { format!("_cell{k}") };
        let paired = if l > 1 || k > 1 { deep.as_str() } else { "" };
        let (s2s, base) = match stack {
            "encoder.forward" => (format!("encoder_bi{paired}"), "encoder"),
            "encoder.backward" => (format!("encoder_bi_r{paired}"), "encoder_r"),
            "encoder.top" => (format!("encoder_l{}_cell{k}", l + 1), ""),
            _ => (format!("decoder{deep}"), "decoder"),
        };
        let mut names = vec![format!("{s2s}_{part}{end}")];
        if base.is_empty() || (l > 1 && !is_nematus) {
            return names;
        }
        // the stack that begins forward reads backward in every second layer, and has the name of that
        let base = match (base, l % 2) {
            ("encoder", 0) => "encoder_r",
            ("encoder_r", 0) => "encoder",
            _ => base,
        };
        let level = if l > 1 { format!("_{l}") } else { String::new() };
        names.push(match (base, l, k, part) {
            ("decoder", 1, 2, "W") => format!("decoder_Wc{end}"),
            ("decoder", 1, 2, "Wx") => format!("decoder_Wcx{end}"),
            ("decoder", 1, 2, _) => format!("decoder_{part}_nl{end}"),
            ("decoder", 1, 3.., _) => format!("decoder_{part}_nl_drt_{}{end}", k - 2),
            (_, _, 1, _) => format!("{base}{level}_{part}{end}"),
            _ => format!("{base}{level}_{part}_drt_{}{end}", k - 1),
        });
        names
    }
}

fn part(array: &Array, origin: &Origin, name: &str, shape: &[usize]) -> std::result::Result<Array, Vec<usize>> {
    let [k, parts] = origin.part;
    let wrong = || Err(array.shape.clone());
    let is_embedding = origin.ours.ends_with("_embedding") || (origin.may_be_turned && name.ends_with("Wt"));
    let (rows, columns) = match array.shape.as_slice() {
        [columns] => (1, *columns),
        [rows, columns] => (*rows, *columns),
        _ => return wrong(),
    };
    match *shape {
        [out, input] if is_embedding && (rows, columns) == (out, input) => Ok(array.clone()),
        [out, input] if !is_embedding && (rows, columns) == (input, out * parts) => {
            let data = (0..out).flat_map(|o| (0..input).map(move |i| i * columns + k * out + o));
            Ok(Array { shape: shape.to_vec(), data: data.map(|place| array.data[place]).collect() })
        }
        // a vector stands as a row or, the energies' one, as a column
        [size] if (rows == 1 && columns == size * parts) || (parts == 1 && (rows, columns) == (size, 1)) => {
            Ok(Array { shape: shape.to_vec(), data: array.data[k * size..(k + 1) * size].to_vec() })
        }
        _ => wrong(),
    }
}

fn halves_swapped(mut array: Array) -> Array {
    let width = array.shape.last().copied().unwrap_or(0);
    for row in array.data.chunks_mut(width.max(1)) {
        row.rotate_left(width / 2);
    }
    array
}

/// Whether an array is no weight: options, the energies' scalar (which changes no weight), or training state.
fn is_no_weight(name: &str) -> bool {
    const NO_WEIGHTS: [&str; 4] = ["decoder_c_tt", "uidx", "history_errs", "zipped_params"];
    name.starts_with("special:") || name.starts_with("adam") || NO_WEIGHTS.contains(&name)
}
