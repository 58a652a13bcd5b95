//! `config.json` of a model folder, with every key checked by name; which of the [`OWN_KEYS`] an architecture has
//! stands in its entry of [`MODELS`](super::MODELS).

use std::path::Path;

use serde_json::{Map, Value};

use crate::attention::{KINDS, find, scores};
use crate::error::{Error, Result};
use crate::models::entry::{AlignmentMode, ModelEntry};
use crate::models::transformer::sizes::{NamedChoice, Positions, TransformerSizes};
use crate::models::{disk, nematus::sizes::NematusSizes, opennmt::sizes::OpenNmtSizes};
use crate::text::write::write_inside;

pub use crate::attention::AttentionKind;
pub use crate::models::{entry::Architecture, luong::sizes::LuongSizes};

pub const FORMAT: &str = "interlinear";
const VERSION: usize = 1;
/// No size may exceed this: it keeps products of two sizes far from overflow.
const LARGEST: usize = 1 << 24;
/// The papers have 4; the names of all tensors are listed before the weights are read.
const MOST_LAYERS: usize = 64;

/// Sizes and languages of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub name: String,
    pub architecture: Architecture,
    pub source_language: String,
    pub target_language: String,
    pub source_vocabulary: usize,
    pub target_vocabulary: usize,
    /// Id of `</s>` on both sides.
    pub eos: u32,
    /// Id of `[UNK]` on both sides.
    pub unk: u32,
    pub source_eos: bool,
    /// Whether translations have `[UNK]` only if the user allows it.
    pub bars_unk: bool,
    pub embedding: usize,
    pub hidden: usize,
    /// l; 0 for luong, which has no maxout layer.
    pub maxout: usize,
    /// n', rnnsearch only (0 otherwise).
    pub alignment: usize,
    /// Rank r of `G = G_l G_r`, rnnencdec only.
    pub output_rank: Option<usize>,
    pub own: OwnSizes,
}

macro_rules! own_sizes {
    ($($kind:ident($sizes:ty) $get:ident),*) => {
        /// Sizes that only one architecture has.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub enum OwnSizes {
            #[default]
            None,
            $(#[doc = concat!("Of ", stringify!($get), ".")] $kind($sizes)),*
        }

        $(impl From<$sizes> for OwnSizes {
            fn from(sizes: $sizes) -> Self {
                Self::$kind(sizes)
            }
        })*

        impl Config {
            $(#[doc = concat!("The sizes of ", stringify!($get), "; `None` for every other architecture.")]
            pub fn $get(&self) -> Option<&$sizes> {
                if let OwnSizes::$kind(sizes) = &self.own { Some(sizes) } else { None }
            })*
        }
    };
}

own_sizes!(
    Luong(LuongSizes) luong,
    Transformer(TransformerSizes) transformer,
    Nematus(NematusSizes) nematus,
    OpenNmt(OpenNmtSizes) opennmt
);

/// The sizes that only one architecture has, whose name is `owner`.
pub fn required<T: Clone>(sizes: Option<&T>, owner: &str) -> Result<T> {
    sizes.cloned().ok_or_else(|| Error::Internal(format!("this configuration is not one of {owner}")))
}

macro_rules! of {
    ($config:ident, $($kind:ident)|+, $own:ident => $value:expr) => {
        match &$config.own {
            $(OwnSizes::$kind($own) => Some(Value::from($value)),)+
            _ => None,
        }
    };
}

type Key = (&'static str, fn(&Config) -> Option<Value>);

const COMMON_KEYS: &[Key] = &[
    ("format", |_| Some(FORMAT.into())),
    ("version", |_| Some(VERSION.into())),
    ("name", |config| Some(config.name.as_str().into())),
    ("architecture", |config| Some(config.architecture.name().into())),
    ("source_language", |config| Some(config.source_language.as_str().into())),
    ("target_language", |config| Some(config.target_language.as_str().into())),
    ("source_vocabulary", |config| Some(config.source_vocabulary.into())),
    ("target_vocabulary", |config| Some(config.target_vocabulary.into())),
    ("eos", |config| Some(config.eos.into())),
    ("unk", |config| Some(config.unk.into())),
    ("source_eos", |config| Some(config.source_eos.into())),
    ("bars_unk", |config| config.bars_unk.then(|| true.into())),
    ("embedding", |config| Some(config.embedding.into())),
    ("hidden", |config| Some(config.hidden.into())),
];

/// Keys that only some architectures have ([`ModelEntry::needs`], [`ModelEntry::may`]), written after the common ones.
pub const OWN_KEYS: &[Key] = &[
    ("maxout", |config| size(config.maxout)),
    ("alignment", |config| size(config.alignment)),
    ("output_rank", |config| config.output_rank.map(Value::from)),
    ("layers", |config| Some(config.luong()?.layers.into())),
    ("attention", |config| Some(config.luong()?.attention.name().into())),
    ("score", |config| of!(config, Luong | OpenNmt, own => own.score.as_str())),
    ("input_feeding", |config| of!(config, Luong | OpenNmt, own => own.input_feeding)),
    ("reverse_source", |config| Some(config.luong()?.reverse_source.into())),
    ("window", |config| size(config.luong()?.window)),
    ("max_source", |config| size(config.luong()?.max_source)),
    ("start", |config| config.start().map(Value::from)),
    ("heads", |config| Some(config.transformer()?.heads.into())),
    ("encoder_layers", |config| of!(config, Transformer | Nematus | OpenNmt, own => own.encoder_layers)),
    ("decoder_layers", |config| of!(config, Transformer | Nematus | OpenNmt, own => own.decoder_layers)),
    ("feed_forward", |config| Some(config.transformer()?.feed_forward.into())),
    ("decoder_feed_forward", |config| Some(config.transformer()?.decoder_feed_forward.into())),
    ("norm_first", |config| Some(config.transformer()?.norm_first.into())),
    ("norm_epsilon", |config| Some(config.transformer()?.norm_epsilon.into())),
    ("activation", |config| Some(config.transformer()?.activation.name().into())),
    ("decoder_cell", |config| Some(config.transformer()?.cell.name().into())),
    ("positions", |config| Some(config.transformer()?.positions.name().into())),
    ("max_positions", |config| size(config.transformer()?.max_positions)),
    ("scale_embedding", |config| Some(config.transformer()?.scale_embedding.into())),
    ("shared_embedding", |config| of!(config, Transformer | Nematus | OpenNmt, own => own.shared_embedding)),
    ("tied_output", |config| of!(config, Transformer | Nematus | OpenNmt, own => own.tied_output)),
    ("alignment_layer", |config| Some(config.transformer()?.alignment_layer.into())),
    ("alignment_heads", |config| Some(config.transformer()?.alignment_heads.as_slice().into())),
    ("alignment_reason", |config| Some(config.transformer()?.alignment_reason.name().into())),
    ("encoder_type", |config| Some(config.nematus()?.encoder.name().into())),
    ("encoder_unit", |config| Some(config.nematus()?.encoder_unit.name().into())),
    ("encoder_cells", |config| Some(config.nematus()?.encoder_cells.into())),
    ("decoder_unit", |config| Some(config.nematus()?.decoder_unit.name().into())),
    ("base_cells", |config| Some(config.nematus()?.base_cells.into())),
    ("high_cells", |config| Some(config.nematus()?.high_cells.into())),
    ("skip", |config| Some(config.nematus()?.skip.into())),
    ("norm", |config| Some(config.nematus()?.norm.name().into())),
    ("both_directions", |config| Some(config.opennmt()?.both_directions.into())),
    ("unit", |config| Some(config.opennmt()?.unit.name().into())),
    ("encoder_hidden", |config| Some(config.opennmt()?.encoder_hidden.into())),
    ("start_state", |config| Some(config.opennmt()?.start_state.name().into())),
    ("mixing", |config| Some(config.opennmt()?.mixing.name().into())),
];

fn size(size: usize) -> Option<Value> {
    (size > 0).then(|| size.into())
}

impl Config {
    /// A model with all sizes `width` and Marian's ids; languages and vocabularies are still to be set.
    pub fn bare(architecture: Architecture, width: usize) -> Self {
        Self {
            name: String::new(),
            architecture,
            source_language: "und".to_owned(),
            target_language: "und".to_owned(),
            source_vocabulary: 0,
            target_vocabulary: 0,
            eos: 0,
            unk: 1,
            source_eos: true,
            bars_unk: false,
            embedding: width,
            hidden: width,
            maxout: 0,
            alignment: 0,
            output_rank: None,
            own: OwnSizes::None,
        }
    }

    pub fn aligns(&self) -> bool {
        self.looks().is_some()
    }

    pub fn looks(&self) -> Option<AlignmentMode> {
        (self.architecture.entry().looks)(self)
    }

    /// [`Config::looks`] as text such as `local-p general`, without the kind if the architecture has only one.
    pub fn attention(&self) -> Option<String> {
        let AlignmentMode { kind, score } = self.looks()?;
        if let Some(sizes) = self.transformer() {
            return Some(sizes.looks());
        }
        let chosen = self.architecture.entry().needs.contains(&"attention");
        Some(if chosen { format!("{} {}", kind.name(), score.name) } else { score.name.to_owned() })
    }

    /// y_0, the id that the decoder reads first; `None` where it first reads zeros.
    pub fn start(&self) -> Option<u32> {
        match &self.own {
            OwnSizes::Luong(own) => Some(own.start),
            OwnSizes::OpenNmt(own) => Some(own.start),
            OwnSizes::Transformer(own) => own.start,
            OwnSizes::Nematus(_) | OwnSizes::None => None,
        }
    }

    pub fn target_embedding(&self) -> &'static str {
        let shares = of!(self, Transformer | Nematus | OpenNmt, own => own.shared_embedding);
        if shares == Some(true.into()) { "source_embedding" } else { "target_embedding" }
    }

    /// D of local attention, in words; `None` for models that look at every word or at none.
    pub fn window(&self) -> Option<usize> {
        self.luong().filter(|luong| luong.attention.is_local()).map(|luong| luong.window)
    }

    /// Rows between the row that predicts a word and the first whose state has read it (reading `input`): 1 for content
    /// scores of Luong et al. (footnote 14), 2 for RNNsearch (appendix A.2); `None` if rows have one reading alone.
    pub fn input_delay(&self) -> Option<usize> {
        self.architecture.entry().input_delay.filter(|_| self.looks().is_some_and(|looks| looks.score.content))
    }

    pub fn load_among(models: &'static [ModelEntry], path: &Path) -> Result<Self> {
        let bytes = disk::read(path, disk::CONFIG_LIMIT)?;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Err(Error::file(path, "is not UTF-8 text; a model's config.json is JSON"));
        };
        Self::from_json_among(models, path, text)
    }

    pub fn from_json_among(models: &'static [ModelEntry], path: &Path, text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| Error::line(path, error.line().max(1), format!("is not valid JSON ({error})")))?;
        let Value::Object(map) = value else {
            return Err(Error::file(path, "must hold one JSON object, { ... }"));
        };
        Reader { models, path, map: &map }.config()
    }

    pub fn save(&self, path: &Path) -> Result<()> {
        use std::io::Write as _;
        write_inside(path, |file| file.write_all(self.to_json().as_bytes()))
    }

    pub fn to_json(&self) -> String {
        let keys = COMMON_KEYS.iter().chain(OWN_KEYS);
        let line = |(key, value): &Key| Some(format!("  {}: {}", Value::from(*key), value(self)?));
        format!("{{\n{}\n}}\n", keys.filter_map(line).collect::<Vec<_>>().join(",\n"))
    }
}

struct Reader<'a> {
    models: &'static [ModelEntry],
    path: &'a Path,
    map: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn config(&self) -> Result<Config> {
        self.format()?;
        let architecture = self.architecture()?;
        let entry = architecture.entry();
        self.refuse_foreign_keys(entry)?;
        let config = Config {
            name: self.text("name")?,
            architecture,
            source_language: self.language("source_language")?,
            target_language: self.language("target_language")?,
            source_vocabulary: self.size("source_vocabulary")?,
            target_vocabulary: self.size("target_vocabulary")?,
            eos: self.id("eos")?,
            unk: self.id("unk")?,
            source_eos: self.truth("source_eos")?,
            bars_unk: self.map.contains_key("bars_unk") && self.truth("bars_unk")?,
            embedding: self.size("embedding")?,
            hidden: self.size("hidden")?,
            maxout: self.own_size(entry, "maxout")?.unwrap_or(0),
            alignment: self.own_size(entry, "alignment")?.unwrap_or(0),
            output_rank: self.own_size(entry, "output_rank")?,
            own: match () {
                () if entry.needs.contains(&"layers") => self.luong(entry)?.into(),
                () if entry.needs.contains(&"heads") => self.transformer()?.into(),
                () if entry.needs.contains(&"encoder_unit") => self.nematus()?.into(),
                () if entry.needs.contains(&"start_state") => self.opennmt()?.into(),
                () => OwnSizes::None,
            },
        };
        self.check_ids(&config)?;
        Ok(config)
    }

    fn own_size(&self, entry: &ModelEntry, key: &str) -> Result<Option<usize>> {
        let is_read = entry.needs.contains(&key) || self.map.contains_key(key);
        is_read.then(|| self.size(key)).transpose()
    }

    fn luong(&self, model: &ModelEntry) -> Result<LuongSizes> {
        let kinds: Vec<&str> = KINDS.iter().map(|entry| entry.name).collect();
        let attention = self.one_of("attention", &kinds)?;
        let attention = AttentionKind::from_name(&attention).unwrap_or_default();
        let known: Vec<&str> = scores(model.name).map(|entry| entry.name).collect();
        let score = self.one_of("score", &known)?;
        let entry = find(&score);
        if entry.is_some_and(|entry| !attention.allows(entry)) {
            let message =
                format!("is \"{score}\", which does not go with {} attention; choose another", attention.name());
            return self.wrong("score", message);
        }
        let by_place = attention != AttentionKind::None && entry.is_some_and(|entry| !entry.content);
        Ok(LuongSizes {
            layers: self.size_up_to("layers", MOST_LAYERS)?,
            attention,
            score,
            input_feeding: self.truth("input_feeding")?,
            reverse_source: self.truth("reverse_source")?,
            window: self.size_if("window", attention.is_local(), "attention is local-m or local-p")?,
            max_source: self.size_if("max_source", by_place, "score is location")?,
            start: self.id("start")?,
        })
    }

    fn transformer(&self) -> Result<TransformerSizes> {
        let (d, heads) = (self.size("hidden")?, self.size("heads")?);
        if self.size("embedding")? != d || d % heads != 0 || d % 2 != 0 {
            let message = format!("is {heads}; `hidden` must be `embedding`, even, and a multiple of it");
            return self.wrong("heads", message);
        }
        let decoder_layers = self.size_up_to("decoder_layers", MOST_LAYERS)?;
        let positions: Positions = self.named("positions")?;
        let by_table = positions == Positions::Table;
        let start = self.map.contains_key("start").then(|| self.id("start")).transpose()?;
        Ok(TransformerSizes {
            heads,
            encoder_layers: self.size_up_to("encoder_layers", MOST_LAYERS)?,
            decoder_layers,
            feed_forward: self.size("feed_forward")?,
            decoder_feed_forward: self.size("decoder_feed_forward")?,
            norm_first: self.truth("norm_first")?,
            norm_epsilon: self.small("norm_epsilon")?,
            activation: self.named("activation")?,
            cell: self.named("decoder_cell")?,
            positions,
            max_positions: self.size_if("max_positions", by_table, "positions is table")?,
            scale_embedding: self.truth("scale_embedding")?,
            shared_embedding: self.truth("shared_embedding")?,
            tied_output: self.truth("tied_output")?,
            start,
            alignment_layer: self.size_up_to("alignment_layer", decoder_layers)?,
            alignment_heads: self.heads(heads)?,
            alignment_reason: self.named("alignment_reason")?,
        })
    }

    fn shares_embedding(&self) -> Result<bool> {
        let shared_embedding = self.truth("shared_embedding")?;
        if shared_embedding && self.size("source_vocabulary")? != self.size("target_vocabulary")? {
            return self.wrong("shared_embedding", "is true, but the two vocabularies have different sizes");
        }
        Ok(shared_embedding)
    }

    fn opennmt(&self) -> Result<OpenNmtSizes> {
        let sizes = OpenNmtSizes {
            both_directions: self.truth("both_directions")?,
            unit: self.named("unit")?,
            encoder_hidden: self.size("encoder_hidden")?,
            encoder_layers: self.size_up_to("encoder_layers", MOST_LAYERS)?,
            decoder_layers: self.size_up_to("decoder_layers", MOST_LAYERS)?,
            start_state: self.named("start_state")?,
            score: self.one_of("score", &OpenNmtSizes::SCORES)?,
            mixing: self.named("mixing")?,
            input_feeding: self.truth("input_feeding")?,
            shared_embedding: self.shares_embedding()?,
            tied_output: self.truth("tied_output")?,
            start: self.id("start")?,
        };
        match sizes.misfit(self.size("embedding")?, self.size("hidden")?) {
            Some((key, message)) => self.wrong(key, message),
            None => Ok(sizes),
        }
    }

    fn nematus(&self) -> Result<NematusSizes> {
        let shared_embedding = self.shares_embedding()?;
        Ok(NematusSizes {
            encoder: self.named("encoder_type")?,
            encoder_unit: self.named("encoder_unit")?,
            decoder_unit: self.named("decoder_unit")?,
            encoder_layers: self.size_up_to("encoder_layers", MOST_LAYERS)?,
            encoder_cells: self.size_up_to("encoder_cells", MOST_LAYERS)?,
            decoder_layers: self.size_up_to("decoder_layers", MOST_LAYERS)?,
            base_cells: self.size_up_to("base_cells", MOST_LAYERS)?,
            high_cells: self.size_up_to("high_cells", MOST_LAYERS)?,
            skip: self.truth("skip")?,
            norm: self.named("norm")?,
            shared_embedding,
            tied_output: self.truth("tied_output")?,
        })
    }

    fn heads(&self, heads: usize) -> Result<Vec<usize>> {
        let key = "alignment_heads";
        let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        let list: Option<Vec<usize>> = self.get(key)?.as_array().and_then(|list| list.iter().map(number).collect());
        let is_sound = |list: &Vec<usize>| {
            !list.is_empty() && list.is_sorted_by(|a, b| a < b) && list.iter().all(|head| (1..=heads).contains(head))
        };
        let message = || format!("must be a list of heads, each from 1 to {heads} and once, in increasing order");
        list.filter(is_sound).map_or_else(|| self.wrong(key, message()), Ok)
    }

    fn small(&self, key: &str) -> Result<f64> {
        let value = self.get(key)?;
        let small = value.as_f64().filter(|number| (1e-12..=0.1).contains(number));
        let message = || format!("must be a number from 1e-12 to 0.1, not {}", short(value));
        small.map_or_else(|| self.wrong(key, message()), Ok)
    }

    fn named<T: NamedChoice>(&self, key: &str) -> Result<T> {
        let names: Vec<&str> = T::ALL.iter().map(|one| one.name()).collect();
        let text = self.one_of(key, &names)?;
        T::from_name(&text).map_or_else(|| self.wrong(key, "is unknown"), Ok)
    }

    fn size_if(&self, key: &str, needed: bool, when: &str) -> Result<usize> {
        match (needed, self.map.contains_key(key)) {
            (true, _) => self.size(key),
            (false, true) => self.wrong(key, format!("means something only where {when}; remove it")),
            (false, false) => Ok(0),
        }
    }

    fn one_of(&self, key: &str, names: &[&str]) -> Result<String> {
        let text = self.text(key)?;
        if names.contains(&text.as_str()) {
            return Ok(text);
        }
        self.wrong(key, format!("is \"{text}\"; choose one of {}", names.join(", ")))
    }

    fn wrong<T>(&self, key: &str, message: impl Into<String>) -> Result<T> {
        Err(Error::key(self.path, key, message))
    }

    fn get(&self, key: &str) -> Result<&Value> {
        self.map.get(key).map_or_else(|| self.wrong(key, "is missing; add it"), Ok)
    }

    fn format(&self) -> Result<()> {
        match self.map.get("format").and_then(Value::as_str) {
            Some(FORMAT) => {}
            _ => return self.wrong("format", format!("must be \"{FORMAT}\"; this is not a model of Interlinear")),
        }
        match self.get("version")?.as_u64() {
            Some(1) => Ok(()),
            _ => self.wrong("version", format!("must be {VERSION}, the only version that this program reads")),
        }
    }

    fn architecture(&self) -> Result<Architecture> {
        let name = self.text("architecture")?;
        let known: Vec<&str> = self.models.iter().map(|entry| entry.name).collect();
        let message = || format!("is \"{name}\", which this program does not know; it knows {}", known.join(", "));
        Architecture::among(self.models, &name).map_or_else(|| self.wrong("architecture", message()), Ok)
    }

    fn refuse_foreign_keys(&self, entry: &ModelEntry) -> Result<()> {
        let has = |entry: &ModelEntry, key: &str| entry.needs.contains(&key) || entry.may.contains(&key);
        let foreign = |key: &&String| COMMON_KEYS.iter().all(|(known, _)| known != key) && !has(entry, key);
        let Some(key) = self.map.keys().find(foreign) else { return Ok(()) };
        let others: Vec<&str> = self.models.iter().filter(|other| has(other, key)).map(|other| other.name).collect();
        if others.is_empty() {
            return self.wrong(key, "is unknown; remove it or correct its spelling");
        }
        self.wrong(key, format!("belongs to {} and not to {}; remove it", others.join(" and "), entry.name))
    }

    fn text(&self, key: &str) -> Result<String> {
        match self.get(key)? {
            Value::String(text) if !text.trim().is_empty() => Ok(text.clone()),
            other => self.wrong(key, format!("must be a text that is not empty, not {}", short(other))),
        }
    }

    fn language(&self, key: &str) -> Result<String> {
        let text = self.text(key)?;
        let well_formed = text
            .split('-')
            .all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        if well_formed {
            Ok(text)
        } else {
            self.wrong(key, format!("must be a BCP 47 language such as \"en\", not \"{text}\""))
        }
    }

    fn truth(&self, key: &str) -> Result<bool> {
        match self.get(key)? {
            Value::Bool(truth) => Ok(*truth),
            other => self.wrong(key, format!("must be true or false, not {}", short(other))),
        }
    }

    fn size(&self, key: &str) -> Result<usize> {
        self.size_up_to(key, LARGEST)
    }

    fn size_up_to(&self, key: &str, most: usize) -> Result<usize> {
        let value = self.get(key)?;
        let size = value.as_u64().and_then(|size| usize::try_from(size).ok()).filter(|size| (1..=most).contains(size));
        let message = || format!("must be a whole number from 1 to {most}, not {}", short(value));
        size.map_or_else(|| self.wrong(key, message()), Ok)
    }

    fn id(&self, key: &str) -> Result<u32> {
        let value = self.get(key)?;
        value.as_u64().and_then(|id| u32::try_from(id).ok()).map_or_else(
            || self.wrong(key, format!("must be a word's id, a whole number from 0, not {}", short(value))),
            Ok,
        )
    }

    fn check_ids(&self, config: &Config) -> Result<()> {
        let smaller = config.source_vocabulary.min(config.target_vocabulary);
        for (key, id) in [("eos", config.eos), ("unk", config.unk)] {
            if id as usize >= smaller {
                return self.wrong(
                    key,
                    format!("is {id}, but the smaller vocabulary has only {smaller} words (0 to {})", smaller - 1),
                );
            }
        }
        let words = config.target_vocabulary;
        if let Some(start) = config.start().filter(|start| *start as usize >= words) {
            let message = format!("is {start}, but there are only {words} target words (0 to {})", words - 1);
            return self.wrong("start", message);
        }
        if config.eos == config.unk {
            return self.wrong("unk", format!("is {}, the same id as `eos`; they are two words", config.unk));
        }
        Ok(())
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 40 { text } else { format!("{}...", text.chars().take(37).collect::<String>()) }
}
