//! The files next to the weights of a model of Marian: vocabularies, rules for pieces, and notes of its makers.
//! Only names of the folder itself are looked at; a path in a file of options counts by its last part.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::models::disk::{CARD_FILE, CONFIG_FILE};
use crate::models::{config::Config, disk, origins::card::ForeignCard, origins::marian_options::MarianOptions};
use crate::text::foreign::sentencepiece::{SentencePiece, SpmPieceKind};
use crate::text::sentence::{EOS, UNK, is_language};
use crate::text::{foreign::vocabulary::Vocabulary, write::folder_of};

const MOST_FILES: usize = 4096;

/// Files of this form at `path`: itself, or those in a folder not ours; `is_start` checks the first eight bytes.
pub fn model_files(path: &Path, extension: &str, is_start: fn(&[u8]) -> bool) -> Vec<PathBuf> {
    let is_one = |file: &PathBuf| {
        let mut start = Vec::new();
        let is_named = file.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension)) && file.is_file();
        let read = is_named.then(|| File::open(file).ok()?.take(8).read_to_end(&mut start).ok());
        read.flatten().is_some() && is_start(&start)
    };
    if !path.is_dir() {
        return Some(path.to_path_buf()).filter(is_one).into_iter().collect();
    }
    if path.join(CONFIG_FILE).exists() {
        return Vec::new();
    }
    let is_weights = |name: &&String| !name.contains(".optimizer.");
    names_in(path).iter().filter(is_weights).map(|name| path.join(name)).filter(is_one).collect()
}

pub fn chosen(path: &Path, files: Vec<PathBuf>) -> Result<PathBuf> {
    if files.len() < 2 {
        return Ok(files.into_iter().next().unwrap_or_else(|| path.into()));
    }
    let listed =
        MarianOptions::read(&path.join("decoder.yml")).and_then(|options| options.text("models").map(last_part));
    let named = listed.and_then(|own| files.iter().find(|file| file.file_name().is_some_and(|name| *name == *own)));
    let list = || {
        let names: Vec<String> =
            files.iter().filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())).collect();
        Error::file(path, format!("holds several models; name one of them: {}", names.join(", ")))
    };
    named.cloned().ok_or_else(list)
}

pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_FILES);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

fn ends(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// The file's name, or its folder's if the file has a usual name such as `model.npz` or `best.ckpt`.
pub fn own_name(file: &Path) -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let usual = ["model", "best", "latest", "model_hal", "search", "encdec"];
    let bare = stem.trim_end_matches(|letter: char| letter.is_ascii_digit() || ['.', '-', '_'].contains(&letter));
    let bare = bare.trim_end_matches("_step").trim_end_matches(".iter").trim_end_matches("_model");
    let folder = || name(std::path::absolute(file).ok()?.parent()?);
    if usual.contains(&bare) || bare.is_empty() { folder().unwrap_or(stem) } else { stem }
}

pub fn last_part(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

/// The files next to a model.
#[derive(Debug)]
pub struct MarianFiles {
    file: PathBuf,
    folder: PathBuf,
    names: Vec<String>,
    options: Vec<MarianOptions>,
    facts: Value,
    readme: String,
}

/// Both tokenizer files, and what they have in common.
#[derive(Debug, Default)]
pub struct MarianTexts {
    pub source: Vec<u8>,
    pub target: Vec<u8>,
    pub eos: u32,
    pub unk: u32,
    pub choices: Vec<String>,
    pub files: [String; 2],
}

/// A tokenizer file, the ids of the end of a sentence and of the unknown word, and what chooses a target language.
type Side = (Vec<u8>, [u32; 2], Vec<String>);

impl MarianFiles {
    pub fn next_to(file: &Path) -> Self {
        let folder = folder_of(file);
        let names = names_in(folder);
        let own = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let usual = [format!("{own}.decoder.yml"), "decoder.yml".to_owned(), format!("{own}.yml")];
        let configs = names.iter().filter(|name| name.starts_with("config") && ends(name, "yml"));
        let options = usual.iter().chain(configs).filter_map(|name| MarianOptions::read(&folder.join(name))).collect();
        let read = |name: &str| disk::read(&folder.join(name), disk::CARD_LIMIT).ok();
        let facts = ["metadata.json", "model_info.json"].iter().find_map(|name| read(name));
        Self {
            facts: facts.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default(),
            readme: read(CARD_FILE).map_or_else(String::new, |bytes| String::from_utf8_lossy(&bytes).into_owned()),
            file: file.into(),
            folder: folder.into(),
            names,
            options,
        }
    }

    /// Whether training guided a head by word alignments, by its options or the name of the release.
    pub fn is_guided(&self) -> bool {
        if let Some(guide) = self.options.iter().find_map(|options| options.text("guided-alignment")) {
            return guide != "none";
        }
        let names = [self.file.to_string_lossy(), self.readme.as_str().into()];
        names.iter().any(|text| text.contains("transformer-align")) || self.facts.is_object()
    }

    pub fn allows_unk(&self) -> bool {
        self.options.iter().any(|options| options.is_on("allow-unk"))
    }

    fn vocabularies(&self) -> Result<[String; 2]> {
        let is_here = |name: &String| self.names.contains(name);
        for options in &self.options {
            let named: Vec<String> = options.list("vocabs").iter().map(|path| last_part(path)).collect();
            let present: Vec<String> = named.iter().filter(|name| is_here(name)).cloned().collect();
            if let ([_], Some(missing)) = (present.as_slice(), named.iter().find(|name| !is_here(name))) {
                let message =
                    format!("has no `{missing}` beside it, which its options name as a vocabulary; put it there");
                return Err(Error::file(&self.file, message));
            }
            match present.as_slice() {
                [source, target] => return Ok([source.clone(), target.clone()]),
                [both] => return Ok([both.clone(), both.clone()]),
                _ => {}
            }
        }
        let kinds: [fn(&str) -> bool; 2] = [
            |name| ends(name, "spm"),
            |name| name.contains("vocab") && [".yml", ".yaml", ".json", ".txt"].iter().any(|end| name.ends_with(end)),
        ];
        for kind in kinds.iter().rev() {
            let found: Vec<&String> = self.names.iter().filter(|name| kind(name)).collect();
            let side = |marks: [&str; 2]| found.iter().find(|name| marks.iter().any(|mark| name.contains(mark)));
            match (found.as_slice(), side(["src", "source"]), side(["trg", "target"])) {
                ([both], ..) => return Ok([(*both).clone(), (*both).clone()]),
                (_, Some(source), Some(target)) => return Ok([(*source).clone(), (*target).clone()]),
                _ => {}
            }
        }
        let message = "has no vocabularies beside it; put those files into its folder that `vocabs` in its decoder.yml \
                       names, or vocab.spm, or srcvocab.spm and trgvocab.spm";
        Err(Error::file(&self.file, message))
    }

    pub fn tokenizers(&self, sizes: [usize; 2]) -> Result<MarianTexts> {
        let files = self.vocabularies()?;
        let (source, [eos, unk], choices) = self.side(&files[0], sizes[0], "source")?;
        let (target, ids, _) = self.side(&files[1], sizes[1], "target")?;
        if ids != [eos, unk] {
            let message = format!("has `{EOS}` and `{UNK}` at {ids:?}, where {} has {:?}", files[0], [eos, unk]);
            return Err(Error::file(self.folder.join(&files[1]), message));
        }
        Ok(MarianTexts { source, target, eos, unk, choices, files })
    }

    fn side(&self, name: &str, size: usize, side: &str) -> Result<Side> {
        let path = self.folder.join(name);
        if ends(name, "spm") {
            let model = SentencePiece::read(&path)?;
            let tokenizer = model.tokenizer(None, false)?;
            if model.pieces.len() != size {
                let message = format!("has {} pieces, but the model has {size} words on this side", model.pieces.len());
                return Err(Error::file(&path, message));
            }
            let id = |is: &dyn Fn(usize) -> bool| (0..size).find(|at| is(*at)).unwrap_or(0) as u32;
            let pieces = &model.pieces;
            let eos = id(&|at| pieces[at].kind == SpmPieceKind::Control && pieces[at].text == model.specials.eos);
            return Ok((tokenizer, [eos, id(&|at| pieces[at].kind == SpmPieceKind::Unknown)], Vec::new()));
        }
        let words = Vocabulary::read(&path, Some(size))?;
        let ids = [EOS, UNK].map(|word| words.id(word).unwrap_or(u32::MAX));
        let choices = words.words().iter().filter(|word| is_language(word)).cloned().collect();
        let tokenizer = match (self.pieces(side, ".spm"), self.pieces(side, ".bpe")) {
            (Some(pieces), _) => SentencePiece::read(&pieces)?.tokenizer(Some(&words), true)?,
            (None, codes) => words.words_tokenizer(codes.as_deref())?,
        };
        Ok((tokenizer, ids, choices))
    }

    fn pieces(&self, side: &str, end: &str) -> Option<PathBuf> {
        let all: Vec<&String> = self.names.iter().filter(|name| name.ends_with(end)).collect();
        let own = all.iter().find(|name| name.starts_with(side));
        let only = || all.first().filter(|_| all.len() == 1);
        own.or_else(only).map(|name| self.folder.join(name.as_str()))
    }

    pub fn languages(&self, vocabularies: &[String; 2]) -> (String, String) {
        let listed = |side: &str| {
            let begins = format!("{side} language(s):");
            let line =
                self.readme.lines().find_map(|line| line.trim_start_matches(['*', '-', ' ']).strip_prefix(&begins))?;
            let line = line.trim();
            Some(if line.contains([' ', ',']) { "mul".to_owned() } else { line.to_owned() })
        };
        let fact = |keys: [&str; 2]| Some(keys.iter().find_map(|key| self.facts[*key].as_str())?.to_owned());
        let tag = self.facts["srcTags"].as_object().and_then(|tags| tags.keys().next().cloned());
        let facts = tag.or_else(|| fact(["sourceLanguage", "src"])).zip(fact(["trgTag", "targetLanguage"]));
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let sources = [facts, listed("source").zip(listed("target"))];
        let own = name(&self.file);
        let names = [&own, &vocabularies[0]].into_iter().map(|name| joined(name));
        let sides = || Some((inner(&vocabularies[0])?.to_owned(), inner(&vocabularies[1])?.to_owned()));
        let known = sources.into_iter().chain(names).find_map(|pair| pair.filter(|(a, b)| is_tag(a) && is_tag(b)));
        known.or_else(sides).or_else(|| pair(&name(&self.folder))).unwrap_or_else(|| ("und".into(), "und".into()))
    }

    pub fn name(&self) -> String {
        let heading =
            self.readme.lines().find_map(|line| line.strip_prefix("# ")).map(|line| line.trim_end_matches(".zip"));
        let name = heading.or_else(|| self.facts["modelName"].as_str()).map(str::trim).filter(|name| !name.is_empty());
        name.map_or_else(|| own_name(&self.file), str::to_owned)
    }

    pub fn card(&self, config: &Config, toolkit: &str, version: Option<&str>, choices: Vec<String>) -> String {
        let mut card = ForeignCard {
            name: config.name.clone(),
            toolkit: version.map_or_else(|| toolkit.to_owned(), |version| format!("{toolkit}, Marian {version}")),
            languages: (config.source_language.clone(), config.target_language.clone()),
            choices,
            ..ForeignCard::default()
        };
        card.read(&self.readme);
        let says = |line: &str| {
            let (key, value) = line.trim_start_matches(['*', '-', ' ']).split_once(':')?;
            let is_licence = ["license", "licence"].contains(&key.trim().to_ascii_lowercase().as_str());
            Some(value.trim().to_owned()).filter(|value| is_licence && !value.is_empty())
        };
        let file = || {
            let name = self.names.iter().find(|name| name.to_ascii_uppercase().starts_with("LICEN"))?;
            let text = disk::read(&self.folder.join(name), disk::CARD_LIMIT).ok()?;
            String::from_utf8_lossy(&text).lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
        };
        card.licence = card.licence.take().or_else(|| self.readme.lines().find_map(says)).or_else(file);
        card.markdown(config)
    }
}

fn is_tag(text: &str) -> bool {
    text.split('-').all(|part| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// The languages of `vocab.deen.spm` and `model.deen.intgemm.alphas.bin`.
fn joined(name: &str) -> Option<(String, String)> {
    let part = name.split('.').nth(1).filter(|_| name.starts_with("vocab.") || name.starts_with("model."))?;
    let is_pair = part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    is_pair.then(|| (part[..2].to_owned(), part[2..].to_owned()))
}

/// The language of `v.en.yml`.
fn inner(name: &str) -> Option<&str> {
    let part = name.rsplit('.').nth(1)?;
    let is_code = (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_lowercase());
    Some(part).filter(|_| is_code)
}

/// The languages of a folder such as `opus-mt-en-de`.
fn pair(folder: &str) -> Option<(String, String)> {
    const OTHERS: &[&str] = &["opus", "mt", "tc", "big", "tiny", "base", "model"];
    let parts: Vec<&str> = folder.split(['-', '_', '.']).filter(|part| !OTHERS.contains(part)).collect();
    let is_code = |part: &str| (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_lowercase());
    match parts.as_slice() {
        [source, target] if is_code(source) && is_code(target) => Some(((*source).to_owned(), (*target).to_owned())),
        _ => None,
    }
}
