//! From text files to corpora of ids.

use crate::settings::{TextPair, TrainingSettings};
use crate::{guide, guide::Guide, vocabularies::TrainingTokenizers};
use engine::error::{Error, Result};
use engine::text::corpus::{PairRules, ParallelText};
use engine::{
    analysis::row_convention::RowConvention, models::config::Config, text::vocab::EOS_ID, ticket::CancellationToken,
};

/// Training text as ids.
#[derive(Debug, Default)]
pub struct Training {
    pub pairs: ParallelText,
    /// Where alpha is to look in each of them, where attention is guided.
    pub guide: Option<Guide>,
}

/// Training text as ids, each text as often as its `repeat` says. It takes half of `memory` at most, where that is
/// known, since a text is copied once.
pub fn training(
    settings: &TrainingSettings, config: &Config, tokenizers: &TrainingTokenizers, memory: Option<u64>,
    ticket: &CancellationToken,
) -> Result<Training> {
    let half = memory.map_or(u64::MAX, |memory| memory / 2);
    let delay = settings.guide.as_ref().map(|guide| match guide.reading() {
        RowConvention::Predicted | RowConvention::Head => 0,
        RowConvention::Input => config.input_delay().unwrap_or_default(),
    });
    let (mut all, mut guide) = (ParallelText::default(), delay.map(|_| Guide::default()));
    for text in &settings.data.train {
        let rules = rules(text, settings.data.max_length, half.saturating_sub(all.bytes()));
        let (corpus, looks) = match (&text.links, delay) {
            (Some(links), Some(delay)) => guide::read(text, links, settings, tokenizers, (delay, &rules), ticket)?,
            _ => (read(text, &rules, tokenizers, ticket)?, Guide::default()),
        };
        let within = PairRules { max_bytes: half, ..rules };
        for _ in 0..text.repeat {
            for i in 0..corpus.len() {
                let (source, target) = corpus.pair(i);
                all.push(source, target);
                all.check_size(std::iter::once(text.source.as_path()), &within)?;
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

/// How a text is read.
pub fn rules(text: &TextPair, max_words: usize, max_bytes: u64) -> PairRules {
    PairRules { eos: EOS_ID, source_eos: true, max_words, max_pairs: text.limit, max_bytes }
}

/// One text as ids.
pub fn read(
    text: &TextPair, rules: &PairRules, tokenizers: &TrainingTokenizers, ticket: &CancellationToken,
) -> Result<ParallelText> {
    let files = [(text.source.clone(), text.target.clone())];
    ParallelText::read(&files, &tokenizers.source, &tokenizers.target, rules, &mut |_| ticket.check())
}
