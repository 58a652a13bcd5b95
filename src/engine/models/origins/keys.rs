//! Settings of others in JSON, each read by its key.

use std::path::{Path, PathBuf};

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::models::transformer::sizes::Activation;

const LARGEST: u64 = 1 << 24;
const MOST_LAYERS: u64 = 64;
const MOST_DEPTH: usize = 16;
const MOST_NAME: usize = 200;

/// A setting and its implemented values; a missing one counts as empty.
pub type KnownSetting = (&'static str, &'static [&'static str]);

/// A JSON object of settings.
#[derive(Debug, Default)]
pub struct ForeignSettings {
    path: PathBuf,
    map: Map<String, Value>,
}

impl ForeignSettings {
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self> {
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(map)) => Ok(Self { path: path.into(), map }),
            Ok(_) => Err(Error::file(path, "must hold one JSON object, { ... }")),
            Err(error) => {
                Err(Error::line(path, error.line().max(1), format!("is not valid JSON ({error}); copy the file again")))
            }
        }
    }

    /// Reads YAML; the name of a nested value is its path, joined by points.
    pub fn yaml(path: &Path, bytes: &[u8]) -> Result<Self> {
        let text = str::from_utf8(bytes).map_err(|_| Error::file(path, "is not UTF-8"))?;
        let mut map = Map::new();
        // the collections that are open: whether it has names, and the one whose value comes next
        let mut open: Vec<(bool, Option<String>)> = Vec::new();
        for event in Parser::new_from_str(text) {
            let (event, span) = event
                .map_err(|error| Error::line(path, error.marker().line(), format!("is not YAML ({})", error.info())))?;
            match event {
                Event::MappingStart(..) | Event::SequenceStart(..) if open.len() < MOST_DEPTH => {
                    open.push((matches!(event, Event::MappingStart(..)), None));
                }
                Event::MappingStart(..) | Event::SequenceStart(..) | Event::Alias(..) => {
                    return Err(Error::line(
                        path,
                        span.start.line(),
                        "has more than names and values; write them plainly",
                    ));
                }
                Event::MappingEnd | Event::SequenceEnd => {
                    open.pop();
                    open.last_mut().filter(|(has_names, _)| *has_names).into_iter().for_each(|(_, name)| *name = None);
                }
                Event::Scalar(text, ..) => {
                    let Some((has_names, name)) = open.last_mut() else { continue };
                    if *has_names && name.is_none() && text.len() <= MOST_NAME {
                        *name = Some(text.into_owned());
                        continue;
                    }
                    if *has_names && name.is_none() {
                        return Err(Error::line(path, span.start.line(), "has a name that is too long"));
                    }
                    let names: Vec<&str> = open.iter().filter_map(|(_, name)| name.as_deref()).collect();
                    let (names, value) = (names.join("."), plain(&text));
                    match open.last_mut() {
                        Some((true, name)) => {
                            *name = None;
                            map.insert(names, value);
                        }
                        _ => match map.entry(names).or_insert_with(|| Value::Array(Vec::new())) {
                            Value::Array(list) => list.push(value),
                            other => *other = value,
                        },
                    }
                }
                _ => {}
            }
        }
        Ok(Self { path: path.into(), map })
    }

    pub fn of(path: &Path, map: Map<String, Value>) -> Self {
        Self { path: path.into(), map }
    }

    pub fn check(&self, known: &[(&str, &[&str])]) -> Result<()> {
        for (key, implemented) in known {
            let value = self.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            let value = value.unwrap_or_default();
            if !implemented.contains(&value.as_str()) {
                return self.wrong(key, format!("is {}, which is not implemented", short(&value)));
            }
        }
        Ok(())
    }

    pub fn real(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_f64()
    }

    pub fn whole_number(&self, key: &str) -> Option<i64> {
        self.get(key)?.as_i64()
    }

    pub fn wrong<T>(&self, key: &str, message: impl Into<String>) -> Result<T> {
        Err(Error::key(&self.path, key, message))
    }

    /// `None` for what is missing or `null`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    pub fn is_null(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(Value::is_null)
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str().filter(|text| !text.trim().is_empty())
    }

    fn whole(&self, key: &str, least: u64, most: u64) -> Result<usize> {
        let number = self.get(key).and_then(Value::as_u64).filter(|number| (least..=most).contains(number));
        let found = self.get(key).map_or("missing".to_owned(), |value| short(&value.to_string()));
        let message = || format!("is {found}, where a whole number from {least} to {most} was expected");
        number.map_or_else(|| self.wrong(key, message()), |number| Ok(number as usize))
    }

    pub fn size(&self, key: &str) -> Result<usize> {
        self.whole(key, 1, LARGEST)
    }

    pub fn layers(&self, key: &str) -> Result<usize> {
        self.whole(key, 1, MOST_LAYERS)
    }

    pub fn id(&self, key: &str, words: usize) -> Result<u32> {
        self.whole(key, 0, words.saturating_sub(1) as u64).map(|id| id as u32)
    }

    pub fn flag(&self, key: &str, otherwise: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(otherwise),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => {
                self.wrong(key, format!("is {}, where true or false was expected", short(&other.to_string())))
            }
        }
    }

    pub fn must_be(&self, key: &str, expected: bool) -> Result<()> {
        if self.flag(key, expected)? == expected {
            return Ok(());
        }
        self.wrong(key, format!("is {}, which is not implemented; only {expected} is", !expected))
    }

    pub fn activation(&self, key: &str, otherwise: &str) -> Result<Activation> {
        match self.text(key).or(Some(otherwise)) {
            Some("relu") => Ok(Activation::Relu),
            Some("swish" | "silu") => Ok(Activation::Swish),
            Some("gelu") => Ok(Activation::Gelu),
            other => {
                let found = short(other.filter(|name| !name.is_empty()).unwrap_or("missing"));
                self.wrong(key, format!("is {found}; relu, swish (or silu) and gelu are implemented"))
            }
        }
    }
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" | "True" | "yes" => Value::from(true),
        "false" | "False" | "no" => Value::from(false),
        text => match text.parse::<i64>() {
            Ok(number) => Value::from(number),
            Err(_) => text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from),
        },
    }
}

pub fn short(text: &str) -> String {
    if text.chars().count() <= 40 {
        text.to_owned()
    } else {
        format!("{}...", text.chars().take(37).collect::<String>())
    }
}
