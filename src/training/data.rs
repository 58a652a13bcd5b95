//! Floor 6: from text files to corpora of ids.

use crate::analysis::reading::Reading;
use crate::error::{Error, Result};
use crate::models::config::Config;
use crate::text::corpus::{Corpus, PairRules};
use crate::ticket::Ticket;
use crate::training::guide;
use crate::training::guide::Guide;
use crate::training::settings::{TextPair, TrainingSettings};
use crate::training::vocabularies::Tokenizers;

/// Training text as ids.
#[derive(Debug, Default)]
pub struct Training {
    /// Its pairs.
    pub pairs: Corpus,
    /// Where alpha is to look in each of them, where attention is guided.
    pub guide: Option<Guide>,
}

/// Training text as ids, each text as often as its `repeat` says.
///
/// # Errors
/// A sentence that names the file and line; [`Error::Stale`].
pub fn training(
    settings: &TrainingSettings,
    config: &Config,
    tokenizers: &Tokenizers,
    ticket: &Ticket,
) -> Result<Training> {
    let delay = settings.guide.as_ref().map(|guide| match guide.reading() {
        Reading::Predicted => 0,
        Reading::Input => config.input_delay().unwrap_or_default(),
    });
    let (mut all, mut guide) = (Corpus::default(), delay.map(|_| Guide::default()));
    for text in &settings.data.train {
        let (corpus, looks) = match (&text.links, delay) {
            (Some(links), Some(delay)) => guide::read(text, links, settings, tokenizers, delay, ticket)?,
            _ => (read(text, settings.data.max_length, tokenizers, ticket)?, Guide::default()),
        };
        for _ in 0..text.repeat {
            for i in 0..corpus.len() {
                let (source, target) = corpus.pair(i);
                all.push(source, target);
                if let Some(guide) = &mut guide {
                    guide.push(looks.of(i));
                }
            }
        }
        all.left_out += corpus.left_out;
    }
    if all.is_empty() {
        return Err(Error::Input(
            "there is no training text; give `data.train` at least one pair of files with `repeat` of 1 or more".into(),
        ));
    }
    Ok(Training { pairs: all, guide })
}

/// One text as ids.
pub fn read(text: &TextPair, max_length: usize, tokenizers: &Tokenizers, ticket: &Ticket) -> Result<Corpus> {
    let reading = PairRules { eos: 0, source_eos: true, max_words: max_length, max_pairs: text.limit };
    let files = [(text.source.clone(), text.target.clone())];
    Corpus::read(&files, &tokenizers.source, &tokenizers.target, &reading, &mut |_| ticket.check())
}
