//! Lists of words with their ids, as Marian, Hugging Face, CTranslate2 and Nematus keep them. Imports floor 0.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use saphyr_parser::{Event, Parser};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::text::foreign::form::{ForeignModel, file};
use crate::text::sentence::{EOS, UNK};
use crate::text::{foreign::codes::Codes, reader::read_file};

const MOST_BYTES: u64 = 256 << 20;
const MOST_CODES: u64 = 64 << 20;

/// The end of a sentence and the unknown word in lists of others.
const NAMES: [(&str, &[&str]); 2] = [(EOS, &[EOS]), (UNK, &["<unk>", UNK])];
/// What words 0 and 1 are called in dictionaries of Nematus, which are read as Marian reads them: an id without a word
/// is free for the special one, since a word of the corpus that is called `eos` took its entry.
const OLD_NAMES: [&[&str]; 2] = [&[EOS, "eos", "<EOS>"], &["<unk>", UNK, "UNK", "<UNK>"]];
/// Ids may exceed the count of the words by so many; behind that a dictionary is taken for damaged.
const MOST_HOLES: usize = 1 << 16;

/// A vocabulary that stands in a file of its own: words and their ids from 0.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    words: Vec<String>,
    ids: HashMap<String, u32>,
}

/// An entry: the word, its id, the line where it stands if that can be told.
pub type Entry = (String, u64, Option<usize>);

/// Which words are the end of a sentence and the unknown one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialWords {
    /// Those of these names, as in lists.
    Named,
    /// As Marian reads dictionaries: words 0 and 1 by the names of Nematus or without any, else those of its own names.
    Marian,
    /// Words 0 and 1, or 2 behind `<GO>`, whatever they are called.
    Nematus,
}

impl Vocabulary {
    /// Reads `.yml` and `.yaml` (`word: id` a line, or a list), `.json` (the same), `.txt` (a word a line). With a
    /// `size` it has as many words as a model has rows: words of higher ids are left out, rows without a word get names
    /// that occur in no text.
    pub fn read(path: &Path, size: Option<usize>) -> Result<Self> {
        let (entries, is_list) = entries(path)?;
        Self::of(path, entries, size, if is_list { SpecialWords::Named } else { SpecialWords::Marian })
    }

    /// From words in the order of their ids; errors name `path`.
    pub fn from_words(path: &Path, words: Vec<String>) -> Result<Self> {
        Self::of(
            path,
            words.into_iter().zip(0..).map(|(word, id)| (word, id, None)).collect(),
            None,
            SpecialWords::Named,
        )
    }

    /// From entries of a file; `size` as in [`Vocabulary::read`].
    pub fn of(path: &Path, entries: Vec<Entry>, size: Option<usize>, specials: SpecialWords) -> Result<Self> {
        let wrong = |line: Option<usize>, message: String| match line {
            Some(line) => Error::line(path, line, message),
            None => Error::file(path, message),
        };
        let count = entries.len();
        let mut words: Vec<Option<String>> = Vec::new();
        let mut known = HashSet::with_capacity(count);
        for (word, id, line) in entries {
            let place = usize::try_from(id).unwrap_or(usize::MAX);
            if !known.insert(word.clone()) {
                return Err(wrong(line, format!("has the word `{word}` again")));
            }
            if size.is_some_and(|size| place >= size) {
                continue;
            }
            if size.is_none() && place >= count + MOST_HOLES {
                let message =
                    format!("gives `{word}` the id {id}, but there are only {count} words; copy the file again");
                return Err(wrong(line, message));
            }
            words.resize(words.len().max(place + 1), None);
            if let Some(other) = &words[place] {
                return Err(wrong(line, format!("gives `{word}` the id {id} that `{other}` has")));
            }
            words[place] = Some(word);
        }
        let found = special_ids(&words, specials)
            .map_err(|missing| Error::file(path, format!("has no word `{missing}`; the models here need it")))?;
        words.resize(size.unwrap_or(words.len()), None);
        let name = |(id, word): (usize, Option<String>)| match (found.iter().position(|special| *special == id), word) {
            (Some(special), _) => NAMES[special].0.to_owned(),
            (None, Some(word)) if word != EOS && word != UNK => word,
            // an id without a word, or a word of texts that is called as a special one here
            _ => format!("<unused {id}>"),
        };
        let words: Vec<String> = words.into_iter().enumerate().map(name).collect();
        let ids = words.iter().cloned().zip(0..).collect();
        Ok(Self { words, ids })
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn id(&self, word: &str) -> Option<u32> {
        self.ids.get(word).copied()
    }

    /// The tokenizer file for [`crate::text::tokenizer::Tokenizer::from_json`] of a model of these words: text is split
    /// at spaces, and each word is cut by `bpe_codes` (of subword-nmt) where there are some.
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

fn special_ids(words: &[Option<String>], specials: SpecialWords) -> std::result::Result<[usize; 2], &'static str> {
    let is = |id: usize, names: &[&str]| match words.get(id) {
        Some(Some(word)) => names.contains(&word.as_str()),
        other => other.is_some(),
    };
    let behind_go = matches!(words.get(2), Some(Some(word)) if word == "<UNK>");
    if specials == SpecialWords::Nematus && words.len() > 2 {
        return Ok([0, if behind_go { 2 } else { 1 }]);
    }
    let mut found = [0; 2];
    for (special, (_, names)) in NAMES.iter().enumerate() {
        let named = names.iter().find_map(|name| words.iter().position(|word| word.as_deref() == Some(name)));
        let old = Some(special).filter(|id| specials != SpecialWords::Named && is(*id, OLD_NAMES[special]));
        let behind = Some(2).filter(|_| special == 1 && behind_go);
        let in_list =
            Some(special).filter(|id| words.get(*id).is_some_and(Option::is_some) && is(*id, OLD_NAMES[special]));
        found[special] = old.or(named).or(behind).or(in_list).ok_or(names[0])?;
    }
    Ok(found)
}

/// The entries of a file, and whether it is a list.
pub fn entries(path: &Path) -> Result<(Vec<Entry>, bool)> {
    let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default().to_ascii_lowercase();
    if !["yml", "yaml", "json", "txt"].contains(&kind.as_str()) {
        let message = "is no list of words that is known by its name; such files end with .yml, .json or .txt";
        return Err(Error::file(path, message));
    }
    let bytes = read_file(path, MOST_BYTES)?;
    let text = utf8(path, &bytes)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match kind.as_str() {
        "txt" => Ok((listed(text), true)),
        // JSON is YAML but for some of its escapes.
        "json" => json_entries(path, text),
        _ if text.starts_with('{') => json_entries(path, text).or_else(|_| yaml_entries(path, text)),
        _ => yaml_entries(path, text),
    }
}

/// The words of a list: JSON, or a word a line; none of them is given another name.
pub fn list(path: &Path, bytes: &[u8]) -> Result<Vec<String>> {
    let text = utf8(path, bytes)?;
    let is_json = path.extension().is_some_and(|kind| kind == "json");
    let entries = if is_json { json_entries(path, text)? } else { (listed(text), true) };
    match entries {
        (entries, true) => Ok(entries.into_iter().map(|(word, ..)| word).collect()),
        _ => Err(Error::file(path, "gives ids to words; it should list the words in the order of their ids")),
    }
}

fn utf8<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str> {
    str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
        Error::line(path, line, "is not UTF-8")
    })
}

fn listed(text: &str) -> Vec<Entry> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    // A carriage return may be a word, so it belongs to the ends of lines only where all have one.
    let returns = text.split('\n').all(|line| line.ends_with('\r'));
    let lines = text.split('\n').map(|line| if returns { &line[..line.len() - 1] } else { line });
    lines.zip(0..).map(|(word, id)| (word.to_owned(), id, Some(id as usize + 1))).collect()
}

fn json_entries(path: &Path, text: &str) -> Result<(Vec<Entry>, bool)> {
    let wrong = |what: &str| {
        Error::file(path, format!("{what}; it should be JSON of words, each with its id, or in their order"))
    };
    match serde_json::from_str(text).map_err(|error| wrong(&format!("cannot be read ({error})")))? {
        Value::Object(words) => {
            let entry = |(word, id): (String, Value)| match id.as_u64() {
                Some(id) => Ok((word, id, None)),
                None => Err(wrong(&format!("gives `{word}` {id} in place of an id"))),
            };
            Ok((words.into_iter().map(entry).collect::<Result<_>>()?, false))
        }
        Value::Array(words) => {
            let entry = |(word, id): (Value, u64)| match word {
                Value::String(word) => Ok((word, id, None)),
                other => Err(wrong(&format!("has {other} in place of word {id}"))),
            };
            Ok((words.into_iter().zip(0..).map(entry).collect::<Result<_>>()?, true))
        }
        _ => Err(wrong("is neither a list nor words with ids")),
    }
}

/// The parser's events, so that a word such as `null`, `1.0` or `<<` is that word.
fn yaml_entries(path: &Path, text: &str) -> Result<(Vec<Entry>, bool)> {
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
    Ok((entries, is_list.unwrap_or(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Vec<String>> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        Vocabulary::read(&path, None).map(|read| read.words().to_vec())
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

    /// A corpus has the pieces `eos` and `UNK`, which overwrote the entries of the special words; special words of
    /// 2018.
    #[test]
    fn dictionaries_of_nematus_may_have_holes_and_other_names() -> Result<()> {
        let known = |text: &str, specials| {
            let entries = json_entries(Path::new("d.json"), text)?.0;
            Vocabulary::of(Path::new("d.json"), entries, Some(6), specials).map(|read| read.words().join(" "))
        };
        let holes = r#"{"UNK": 4, "the": 2, "eos": 5, "[UNK]": 3, "far": 74153}"#;
        let of_2018 = r#"{"<EOS>": 0, "<GO>": 1, "<UNK>": 2, "the": 3}"#;
        let strange = r#"{"<s>": 0, "<pad>": 1, "the": 2, "</s>": 3, "<unk>": 4}"#;
        for specials in [SpecialWords::Nematus, SpecialWords::Marian] {
            assert_eq!(known(holes, specials)?, "</s> [UNK] the <unused 3> UNK eos");
            assert_eq!(known(of_2018, specials)?, "</s> <GO> [UNK] the <unused 4> <unused 5>");
        }
        assert_eq!(known(strange, SpecialWords::Nematus)?, "</s> [UNK] the <unused 3> <unk> <unused 5>");
        assert_eq!(known(strange, SpecialWords::Marian)?, "<s> <pad> the </s> [UNK] <unused 5>");
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = [
            ("a.yml", "</s>: 0\n<unk>: 1\nsun: 99999\n", "line 3"),
            ("b.yml", "</s>: 0\n<unk>: 1\nsun: 1\n", "line 3"),
            ("c.yml", "</s>: 0\n<unk>: 1\nsun: x\n", "line 3"),
            ("d.yml", "</s>: 0\n<unk>: 1\nsun:\n  - 2\n", "line 4"),
            ("e.yml", "</s>: 0\n<unk>: 1\nsun: [\n", "line "),
            ("f.txt", "</s>\n<unk>\nsun\nsun\n", "line 4"),
            ("g.json", "{\"</s>\": 0, \"<unk>\": -1}", "`<unk>`"),
            ("h.json", "[\"</s>\", 7]", "word 1"),
            ("i.txt", "<unk>\nsun\n", "`</s>`"),
            ("j.txt", "</s>\nsun\n", "`<unk>`"),
            ("l.json", "{\"eos\": 1, \"UNK\": 0}", "`</s>`"),
            ("k.json", "{\"the\": 0, \"</s>\": 1, \"UNK\": 2}", "`<unk>`"),
            ("m.spm", "", ".yml"),
            ("n.yml", "", "`</s>`"),
        ];
        for (name, text, expected) in wrong {
            let message = read(name, text).map(|words| words.join(" ")).expect_err(name).to_string();
            assert!(message.contains(expected) && message.contains(name), "{name}: {message}");
        }
    }
}
