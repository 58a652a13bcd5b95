//! Models of a handful of words with random weights, so small that everything can be enumerated.

use std::path::{Path, PathBuf};

use interlinear::models::config::{Architecture, Config};
use interlinear::models::init::{InitScheme, initial_weights};
use interlinear::{models::Model, nn::device::Device, text::tokenizer::Tokenizer, text::vocab};

use crate::folder::Folder;

#[derive(Clone, Copy)]
pub struct Tiny {
    pub name: &'static str,
    pub architecture: Architecture,
    pub source: &'static [&'static str],
    pub target: &'static [&'static str],
    pub source_eos: bool,
    pub seed: u64,
    pub unk: f32,
}

pub const TINY: Tiny = Tiny {
    name: "tiny",
    architecture: Architecture::RNN_SEARCH,
    source: &["one", "two", "three"],
    target: &["un", "deux", "trois"],
    source_eos: true,
    seed: 1,
    unk: 0.0,
};

fn tokenizer(language: &str, words: &[&str]) -> Tokenizer {
    let counted = words.iter().enumerate().map(|(n, word)| ((*word).to_owned(), 1000 - n as u64));
    vocab::build(language, counted, usize::MAX).expect("a plain language")
}

impl Tiny {
    fn config(&self) -> Config {
        let align = self.architecture == Architecture::RNN_SEARCH;
        Config {
            name: self.name.to_owned(),
            source_language: "en".to_owned(),
            target_language: "fr".to_owned(),
            source_vocabulary: self.source.len() + 2,
            target_vocabulary: self.target.len() + 2,
            eos: vocab::EOS_ID,
            source_eos: self.source_eos,
            embedding: 4,
            maxout: 5,
            alignment: if align { 5 } else { 0 },
            ..Config::bare(self.architecture, 6)
        }
    }

    pub fn unknowing(self) -> Self {
        Self { unk: 4.0, ..self }
    }

    pub fn save(&self, folder: &Path) -> PathBuf {
        let folder = folder.join(self.name);
        std::fs::create_dir(&folder).expect("created");
        let config = self.config();
        let mut weights = initial_weights(&config, InitScheme::Scaled, self.seed);
        // Far from uniform, so that averages of different kinds are far from each other.
        weights.iter_mut().flat_map(|(_, array)| &mut array.data).for_each(|weight| *weight *= 2.5);
        let mut bias = weights.get("readout.b_w").expect("it has one").clone();
        bias.data[config.unk as usize] += self.unk;
        weights.insert("readout.b_w", bias);
        config.save(&folder.join("config.json")).expect("written");
        weights.save(&folder.join("model.safetensors"), false).expect("written");
        tokenizer("en", self.source).save(&folder.join("source.tokenizer.json")).expect("written");
        tokenizer("fr", self.target).save(&folder.join("target.tokenizer.json")).expect("written");
        folder
    }

    pub fn model(&self) -> Model {
        let folder = Folder::new();
        Model::load(self.save(&folder), &Device::cpu()).expect("a sound model")
    }
}
