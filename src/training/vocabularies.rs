//! The two tokenizers of a training: built from its text, read from a model folder, written into one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::settings::{TextPair, TokenKind, TrainingSettings};
use engine::text::{reader::LineReader, tokenizer::Tokenizer, vocab, vocab::bpe};
use engine::{error::Result, ticket::CancellationToken};

/// Both tokenizers of a model.
#[derive(Debug)]
pub struct TrainingTokenizers {
    pub source: Tokenizer,
    pub target: Tokenizer,
}

/// File names of the tokenizers in a model folder, source first.
pub const TOKENIZER_FILES: [&str; 2] = ["source.tokenizer.json", "target.tokenizer.json"];

impl TrainingTokenizers {
    pub fn load(folder: &Path) -> Result<Self> {
        let [source, target] = TOKENIZER_FILES.map(|name| Tokenizer::from_file(&folder.join(name)));
        Ok(Self { source: source?, target: target? })
    }

    /// Builds shortlists of the most frequent words of the training text, or learns its subwords.
    pub fn build(settings: &TrainingSettings, ticket: &CancellationToken) -> Result<Self> {
        let model = &settings.model;
        let languages = [&*model.source_language, &model.target_language];
        let [x, y] = [model.source_vocabulary, model.target_vocabulary];
        let source = counts(settings, languages[0], |pair| &pair.source, ticket)?;
        let target = counts(settings, languages[1], |pair| &pair.target, ticket)?;
        let (source, target) = match model.tokens {
            TokenKind::Words => (vocab::build(languages[0], source, x)?, vocab::build(languages[1], target, y)?),
            TokenKind::Bpe if model.joint => bpe::build_joint_bpe(languages, [source, target], x)?.into(),
            TokenKind::Bpe => (bpe::build_bpe(languages[0], source, x)?, bpe::build_bpe(languages[1], target, y)?),
        };
        Ok(Self { source, target })
    }

    pub fn save(&self, folder: &Path) -> Result<()> {
        let [source, target] = TOKENIZER_FILES.map(|name| folder.join(name));
        self.source.save(&source)?;
        self.target.save(&target)
    }
}

fn counts(
    settings: &TrainingSettings, language: &str, path: fn(&TextPair) -> &PathBuf, ticket: &CancellationToken,
) -> Result<HashMap<String, u64>> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for pair in &settings.data.train {
        // a limited text counts only as far as it is likely to be read
        let lines = LineReader::open(path(pair))?.learned_from().take(pair.limit.unwrap_or(usize::MAX));
        let checked = lines.map(|line| ticket.check().and(line));
        for (word, count) in vocab::count(language, checked)? {
            *counts.entry(word).or_default() += count * pair.repeat as u64;
        }
    }
    Ok(counts)
}
