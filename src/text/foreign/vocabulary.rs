//! Floor 1: lists of words with their ids, as Marian, Hugging Face, CTranslate2 and Nematus keep them. Imports floor 0.

use std::collections::HashMap;
use std::path::Path;

use saphyr_parser::{Event, Parser};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::text::foreign::codes::Codes;
use crate::text::foreign::form::{ForeignModel, file};
use crate::text::reader::read_file;
use crate::text::sentence::{EOS, UNK};

/// The largest file.
const MOST_BYTES: u64 = 256 << 20;
/// The largest file of codes.
const MOST_CODES: u64 = 64 << 20;

/// What others call a special word, and the id that it has where it could also be a word of text.
type SpecialName = (&'static str, Option<usize>);

/// What others call the end of a sentence and unknown words.
const NAMES: [(&str, &[SpecialName]); 2] = [
    (EOS, &[("</s>", None), ("eos", Some(0)), ("<EOS>", Some(0))]),
    (UNK, &[("<unk>", None), (UNK, None), ("UNK", Some(1)), ("<UNK>", Some(1))]),
];

/// A vocabulary that stands in a file of its own: words and their ids from 0.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    words: Vec<String>,
    ids: HashMap<String, u32>,
}

/// An entry: the word, its id, the line where it stands if that can be told.
type Entry = (String, u64, Option<usize>);

impl Vocabulary {
    /// Reads `.yml` and `.yaml` (`word: id` a line, or a list), `.json` (the same), `.txt` (a word a line).
    ///
    /// # Errors
    /// A sentence that names the line of a word without an id, of an id that is given twice, and what is missing.
    pub fn read(path: &Path) -> Result<Self> {
        let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default().to_ascii_lowercase();
        if !["yml", "yaml", "json", "txt"].contains(&kind.as_str()) {
            let message = "is no list of words that is known by its name; such files end with .yml, .json or .txt";
            return Err(Error::file(path, message));
        }
        let bytes = read_file(path, MOST_BYTES)?;
        let text = str::from_utf8(&bytes).map_err(|error| {
            let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
            Error::line(path, line, "is not UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let entries = match kind.as_str() {
            "txt" => listed(text),
            // JSON is YAML but for some of its escapes.
            "json" => json_entries(path, text)?,
            _ if text.starts_with('{') => json_entries(path, text).or_else(|_| yaml_entries(path, text))?,
            _ => yaml_entries(path, text)?,
        };
        Self::of(path, entries)
    }

    /// From words in the order of their ids; errors name `path`.
    pub fn from_words(path: &Path, words: Vec<String>) -> Result<Self> {
        Self::of(path, words.into_iter().zip(0..).map(|(word, id)| (word, id, None)).collect())
    }

    fn of(path: &Path, entries: Vec<Entry>) -> Result<Self> {
        let wrong = |line: Option<usize>, message: String| match line {
            Some(line) => Error::line(path, line, message),
            None => Error::file(path, message),
        };
        let count = entries.len();
        let mut words = vec![None; count];
        let mut ids = HashMap::with_capacity(count);
        for (word, id, line) in entries {
            let place = usize::try_from(id).ok().and_then(|id| words.get_mut(id)).ok_or_else(|| {
                wrong(
                    line,
                    format!(
                        "gives `{word}` the id {id}, but there are only {count} words; ids go from 0 without holes"
                    ),
                )
            })?;
            if let Some(other) = place {
                return Err(wrong(line, format!("gives `{word}` the id {id} that `{other}` has")));
            }
            if ids.insert(word.clone(), id as u32).is_some() {
                return Err(wrong(line, format!("has the word `{word}` again")));
            }
            *place = Some(word);
        }
        let mut vocabulary = Self { words: words.into_iter().flatten().collect(), ids };
        for (ours, names) in NAMES {
            vocabulary.rename(ours, names).map_err(|message| Error::file(path, message))?;
        }
        Ok(vocabulary)
    }

    /// Gives a special word the name that it has here.
    fn rename(&mut self, ours: &str, names: &[SpecialName]) -> std::result::Result<(), String> {
        let known = names.iter().filter_map(|(name, place)| Some((*name, *self.ids.get(*name)?, *place)));
        let mut fitting = known.filter(|(_, id, place)| place.is_none_or(|place| place == *id as usize));
        let Some((name, id, _)) = fitting.next() else {
            return Err(format!("has no word `{}`; the models here need it", names[0].0));
        };
        if name != ours {
            if self.ids.contains_key(ours) {
                return Err(format!("has both `{name}` and `{ours}`, which mean the same here; rename one"));
            }
            self.ids.remove(name);
            self.ids.insert(ours.to_owned(), id);
            ours.clone_into(&mut self.words[id as usize]);
        }
        Ok(())
    }

    /// The words by ids; the end of a sentence is [`EOS`], the unknown word [`UNK`].
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The id of a word.
    pub fn id(&self, word: &str) -> Option<u32> {
        self.ids.get(word).copied()
    }

    /// As many words as a model has rows for: those behind it are unknown to it, rows behind the last word have names that
    /// occur in no text.
    pub fn resized(mut self, count: usize) -> Self {
        for extra in self.words.split_off(count.min(self.words.len())) {
            self.ids.remove(&extra);
        }
        for id in self.words.len()..count {
            let name = format!("<unused {id}>");
            self.ids.insert(name.clone(), id as u32);
            self.words.push(name);
        }
        self
    }

    /// The tokenizer file for [`crate::text::tokenizer::Tokenizer::from_json`] of a model of these words: text is split at
    /// spaces, and each word is cut by `bpe_codes` (of subword-nmt) where there are some.
    ///
    /// # Errors
    /// A line of the codes that is none.
    pub fn words_tokenizer(&self, bpe_codes: Option<&Path>) -> Result<Vec<u8>> {
        let Some(path) = bpe_codes else {
            let split = json!({"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": false});
            return file(&json!({"type": "WordLevel", "vocab": self.ids, "unk_token": UNK}), &split);
        };
        let codes = String::from_utf8(read_file(path, MOST_CODES)?).map_err(|_| Error::file(path, "is not UTF-8"))?;
        Codes::read(path, &codes)?;
        ForeignModel::BpeCodes { codes, vocabulary: self.words.clone() }.file()
    }
}

/// A word a line.
fn listed(text: &str) -> Vec<Entry> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    // A carriage return may be a word, so it belongs to the ends of lines only where all have one.
    let returns = text.split('\n').all(|line| line.ends_with('\r'));
    let lines = text.split('\n').map(|line| if returns { &line[..line.len() - 1] } else { line });
    lines.zip(0..).map(|(word, id)| (word.to_owned(), id, Some(id as usize + 1))).collect()
}

fn json_entries(path: &Path, text: &str) -> Result<Vec<Entry>> {
    let wrong = |what: &str| {
        Error::file(path, format!("{what}; it should be JSON of words, each with its id, or in their order"))
    };
    match serde_json::from_str(text).map_err(|error| wrong(&format!("cannot be read ({error})")))? {
        Value::Object(words) => {
            let entry = |(word, id): (String, Value)| match id.as_u64() {
                Some(id) => Ok((word, id, None)),
                None => Err(wrong(&format!("gives `{word}` {id} in place of an id"))),
            };
            words.into_iter().map(entry).collect()
        }
        Value::Array(words) => {
            let entry = |(word, id): (Value, u64)| match word {
                Value::String(word) => Ok((word, id, None)),
                other => Err(wrong(&format!("has {other} in place of word {id}"))),
            };
            words.into_iter().zip(0..).map(entry).collect()
        }
        _ => Err(wrong("is neither a list nor words with ids")),
    }
}

/// The parser's events, so that a word such as `null`, `1.0` or `<<` is that word.
fn yaml_entries(path: &Path, text: &str) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut word: Option<(String, usize)> = None;
    let mut is_list = None;
    for event in Parser::new_from_str(text) {
        let (event, span) = event
            .map_err(|error| Error::line(path, error.marker().line(), format!("is not YAML ({})", error.info())))?;
        let line = span.start.line();
        match (event, is_list) {
            (Event::SequenceStart(..), None) => is_list = Some(true),
            (Event::MappingStart(..), None) => is_list = Some(false),
            (Event::Scalar(text, ..), Some(true)) => {
                entries.push((text.into_owned(), entries.len() as u64, Some(line)));
            }
            (Event::Scalar(text, ..), Some(false)) => match word.take() {
                None => word = Some((text.into_owned(), line)),
                Some((word, line)) => {
                    let no_id = |_| Error::line(path, line, format!("gives `{word}` `{text}` in place of an id"));
                    let id = text.parse().map_err(no_id)?;
                    entries.push((word, id, Some(line)));
                }
            },
            (Event::Scalar(..) | Event::Alias(..) | Event::SequenceStart(..) | Event::MappingStart(..), _) => {
                return Err(Error::line(path, line, "has more than words and their ids; write `word: id`"));
            }
            _ => {}
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Vec<String>> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        Vocabulary::read(&path).map(|read| read.words().to_vec())
    }

    /// Words that look like something else, in every form.
    #[test]
    fn every_form_gives_the_same_words() -> Result<()> {
        let expected = ["</s>", "[UNK]", "null", "1.0", "<<", "\u{2581}a: b", "\"", "#", "\u{1f600}"];
        let forms = [
            (
                "a.yml",
                "</s>: 0\n<unk>: 1\nnull: 2\n1.0: 3\n<<: 4\n\"\u{2581}a: b\": 5\n'\"': 6\n\"#\": 7\n\"\\U0001F600\": 8\n",
            ),
            ("b.yaml", "- </s>\n- <unk>\n- null\n- 1.0\n- <<\n- \"\u{2581}a: b\"\n- '\"'\n- '#'\n- \u{1f600}\n"),
            (
                "c.yml",
                "{\"null\": 2, \"</s>\": 0, \"<unk>\": 1, \"1.0\": 3, \"<<\": 4, \"\u{2581}a: b\": 5, \"\\\"\": 6, \"#\": 7, \"\\ud83d\\ude00\": 8}",
            ),
            (
                "d.json",
                "[\"</s>\", \"<unk>\", \"null\", \"1.0\", \"<<\", \"\u{2581}a: b\", \"\\\"\", \"#\", \"\u{1f600}\"]",
            ),
            (
                "e.json",
                "{\"null\": 2, \"eos\": 0, \"UNK\": 1, \"1.0\": 3, \"<<\": 4, \"\u{2581}a: b\": 5, \"\\\"\": 6, \"#\": 7, \"\u{1f600}\": 8}",
            ),
            ("f.txt", "</s>\n<unk>\nnull\n1.0\n<<\n\u{2581}a: b\n\"\n#\n\u{1f600}\n"),
            ("g.TXT", "</s>\r\n<unk>\r\nnull\r\n1.0\r\n<<\r\n\u{2581}a: b\r\n\"\r\n#\r\n\u{1f600}\r\n"),
        ];
        for (name, text) in forms {
            assert_eq!(read(name, text)?, expected, "{name}");
        }
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = [
            ("a.yml", "</s>: 0\n<unk>: 1\nsun: 3\n", "line 3"),
            ("b.yml", "</s>: 0\n<unk>: 1\nsun: 1\n", "line 3"),
            ("c.yml", "</s>: 0\n<unk>: 1\nsun: x\n", "line 3"),
            ("d.yml", "</s>: 0\n<unk>: 1\nsun:\n  - 2\n", "line 4"),
            ("e.yml", "</s>: 0\n<unk>: 1\nsun: [\n", "line "),
            ("f.txt", "</s>\n<unk>\nsun\nsun\n", "line 4"),
            ("g.json", "{\"</s>\": 0, \"<unk>\": -1}", "`<unk>`"),
            ("h.json", "[\"</s>\", 7]", "word 1"),
            ("i.txt", "<unk>\nsun\n", "`</s>`"),
            ("j.txt", "</s>\nsun\n", "`<unk>`"),
            ("k.txt", "</s>\n<unk>\n[UNK]\n", "[UNK]"),
            ("l.json", "{\"eos\": 1, \"UNK\": 0}", "`</s>`"),
            ("m.spm", "", ".yml"),
            ("n.yml", "", "`</s>`"),
        ];
        for (name, text, expected) in wrong {
            let told = read(name, text).map(|words| words.join(" ")).expect_err(name).to_string();
            assert!(told.contains(expected) && told.contains(name), "{name}: {told}");
        }
    }
}
