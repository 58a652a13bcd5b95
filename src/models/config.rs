//! Floor 3: `config.json` of a model folder, with every key checked by name.
//!
//! Which keys an architecture has is one table ([`KEYS`]); reading, refusing and writing all go by it.

use std::path::Path;

use serde_json::Map;
use serde_json::Value;

use crate::error::Error;
use crate::error::Result;
use crate::models::MODELS;
use crate::text::lines::write_atomic;

/// The value of the key `format`.
pub const FORMAT: &str = "interlinear";
/// The only version of the format so far.
const VERSION: usize = 1;
/// No size may exceed this: it keeps products of two sizes far from overflow.
const LARGEST: usize = 1 << 24;

/// Which paper's wiring. Its name in files stands in [`MODELS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// Bahdanau, Cho, Bengio 2015.
    RnnSearch,
    /// Cho et al. 2014.
    RnnEncDec,
}

impl Architecture {
    /// Its name in `config.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        MODELS.iter().find(|entry| entry.architecture == self).map_or("unknown", |entry| entry.name)
    }

    /// The architecture of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        MODELS.iter().find(|entry| entry.name == name).map(|entry| entry.architecture)
    }
}

/// Sizes and languages of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The model's name, shown on its column.
    pub name: String,
    /// Which paper's wiring.
    pub architecture: Architecture,
    /// BCP 47.
    pub source_language: String,
    /// BCP 47.
    pub target_language: String,
    /// `K_x`.
    pub source_vocabulary: usize,
    /// `K_y`.
    pub target_vocabulary: usize,
    /// Id of `</s>` on both sides.
    pub eos: u32,
    /// Id of `[UNK]` on both sides.
    pub unk: u32,
    /// Whether the source ends with `</s>`.
    pub source_eos: bool,
    /// m.
    pub embedding: usize,
    /// n.
    pub hidden: usize,
    /// l.
    pub maxout: usize,
    /// n', rnnsearch only (0 otherwise).
    pub alignment: usize,
    /// Rank r of `G = G_l G_r`, rnnencdec only.
    pub output_rank: Option<usize>,
}

/// What a key of `config.json` belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Belongs {
    /// Every architecture has it.
    Everywhere,
    /// One architecture needs it.
    Needs(Architecture),
    /// One architecture may have it.
    May(Architecture),
}

/// Every key, in the order in which it is written.
const KEYS: &[(&str, Belongs)] = &[
    ("format", Belongs::Everywhere),
    ("version", Belongs::Everywhere),
    ("name", Belongs::Everywhere),
    ("architecture", Belongs::Everywhere),
    ("source_language", Belongs::Everywhere),
    ("target_language", Belongs::Everywhere),
    ("source_vocabulary", Belongs::Everywhere),
    ("target_vocabulary", Belongs::Everywhere),
    ("eos", Belongs::Everywhere),
    ("unk", Belongs::Everywhere),
    ("source_eos", Belongs::Everywhere),
    ("embedding", Belongs::Everywhere),
    ("hidden", Belongs::Everywhere),
    ("maxout", Belongs::Everywhere),
    ("alignment", Belongs::Needs(Architecture::RnnSearch)),
    ("output_rank", Belongs::May(Architecture::RnnEncDec)),
];

impl Config {
    /// Reads and checks `config.json`.
    ///
    /// # Errors
    /// A sentence that names the file and, where there is one, the line or the key.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| Error::io(path, &error))?;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Err(Error::file(path, "is not UTF-8 text; a model's config.json is JSON"));
        };
        Self::from_json(path, text)
    }

    /// Checks the text of a `config.json`; `path` is only named in errors.
    ///
    /// # Errors
    /// A sentence that names the file and, where there is one, the line or the key.
    pub fn from_json(path: &Path, text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| Error::line(path, error.line().max(1), format!("is not valid JSON ({error})")))?;
        let Value::Object(map) = value else {
            return Err(Error::file(path, "must hold one JSON object, { ... }"));
        };
        Reader { path, map: &map }.config()
    }

    /// Writes `config.json`, under a temporary name first.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        use std::io::Write as _;
        write_atomic(path, |file| file.write_all(self.to_json().as_bytes()))
    }

    /// The text of `config.json`, one key a line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let lines: Vec<String> = KEYS
            .iter()
            .filter_map(|(key, _)| self.value(key).map(|value| format!("  {}: {value}", Value::from(*key))))
            .collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }

    /// The value of a key; `None` where this architecture does not have it.
    fn value(&self, key: &str) -> Option<Value> {
        Some(match key {
            "format" => FORMAT.into(),
            "version" => VERSION.into(),
            "name" => self.name.as_str().into(),
            "architecture" => self.architecture.name().into(),
            "source_language" => self.source_language.as_str().into(),
            "target_language" => self.target_language.as_str().into(),
            "source_vocabulary" => self.source_vocabulary.into(),
            "target_vocabulary" => self.target_vocabulary.into(),
            "eos" => self.eos.into(),
            "unk" => self.unk.into(),
            "source_eos" => self.source_eos.into(),
            "embedding" => self.embedding.into(),
            "hidden" => self.hidden.into(),
            "maxout" => self.maxout.into(),
            "alignment" if self.alignment > 0 => self.alignment.into(),
            "output_rank" => self.output_rank?.into(),
            _ => return None,
        })
    }
}

/// Reads keys out of a JSON object and names the key that is wrong.
struct Reader<'a> {
    path: &'a Path,
    map: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn config(&self) -> Result<Config> {
        self.format()?;
        let architecture = self.architecture()?;
        self.refuse_foreign_keys(architecture)?;
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
            embedding: self.size("embedding")?,
            hidden: self.size("hidden")?,
            maxout: self.size("maxout")?,
            alignment: if architecture == Architecture::RnnSearch { self.size("alignment")? } else { 0 },
            output_rank: self.map.get("output_rank").map(|_| self.size("output_rank")).transpose()?,
        };
        self.check_ids(&config)?;
        Ok(config)
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
        let known: Vec<&str> = MODELS.iter().map(|entry| entry.name).collect();
        let message = || format!("is \"{name}\", which this program does not know; it knows {}", known.join(", "));
        Architecture::from_name(&name).map_or_else(|| self.wrong("architecture", message()), Ok)
    }

    fn refuse_foreign_keys(&self, architecture: Architecture) -> Result<()> {
        for key in self.map.keys() {
            match KEYS.iter().find(|(name, _)| name == key) {
                None => return self.wrong(key, "is unknown; remove it or correct its spelling"),
                Some((_, Belongs::Needs(other) | Belongs::May(other))) if *other != architecture => {
                    return self.wrong(
                        key,
                        format!("belongs to {} and not to {}; remove it", other.name(), architecture.name()),
                    );
                }
                Some(_) => {}
            }
        }
        Ok(())
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
        let value = self.get(key)?;
        value
            .as_u64()
            .and_then(|size| usize::try_from(size).ok())
            .filter(|size| (1..=LARGEST).contains(size))
            .map_or_else(
                || self.wrong(key, format!("must be a whole number from 1 to {LARGEST}, not {}", short(value))),
                Ok,
            )
    }

    fn id(&self, key: &str) -> Result<u32> {
        let value = self.get(key)?;
        value.as_u64().and_then(|id| u32::try_from(id).ok()).map_or_else(
            || self.wrong(key, format!("must be a word's id, a whole number from 0, not {}", short(value))),
            Ok,
        )
    }

    /// `</s>` and `[UNK]` are two different words of both vocabularies.
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
        if config.eos == config.unk {
            return self.wrong("unk", format!("is {}, the same id as `eos`; they are two words", config.unk));
        }
        Ok(())
    }
}

/// A JSON value, cut so that a sentence stays a sentence.
fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 40 { text } else { format!("{}...", text.chars().take(37).collect::<String>()) }
}
