//! BLEU of weights in training: greedy translations of the first development sentences
//! against the raw text of their references.

use std::sync::Arc;

use crate::{
    layout::ParameterLayout, settings::TrainingSettings, trainer::MeasureBleu, vocabularies::TrainingTokenizers,
};
use engine::analysis::bleu::{self, BleuSettings, Tokenization};
use engine::decoding::{SearchOptions, Specials};
use engine::models::{config::Config, folder};
use engine::{decoding, error::Result, text::reader::LineReader, ticket::CancellationToken};

const BATCH: usize = 64;

/// The measuring function, or `None` where the schedule asks for no BLEU.
pub fn bleu<'a>(
    settings: &TrainingSettings, config: &'a Config, tokenizers: &'a TrainingTokenizers, threads: usize,
    ticket: &'a CancellationToken,
) -> Result<Option<Box<MeasureBleu<'a>>>> {
    let most = settings.schedule.bleu_sentences;
    if most == 0 {
        return Ok(None);
    }
    let text = &settings.data.development;
    let mut sources = Vec::new();
    for line in LineReader::open(&text.source)?.take(most) {
        sources.push(tokenizers.source.encode(&line?).ids);
    }
    let references: Vec<String> = LineReader::open(&text.target)?.take(most).collect::<Result<_>>()?;
    let layout = ParameterLayout::new(config);
    let counted =
        BleuSettings { tokenization: Tokenization::usual(&config.target_language), ..BleuSettings::default() };
    Ok(Some(Box::new(move |flat| {
        let hypotheses = translate(config, &layout, flat, tokenizers, &sources, threads, ticket)?;
        Ok(bleu::corpus(&hypotheses, &references, &counted).score)
    })))
}

fn translate(
    config: &Config, layout: &ParameterLayout, flat: &[f32], tokenizers: &TrainingTokenizers, sources: &[Vec<u32>],
    threads: usize, ticket: &CancellationToken,
) -> Result<Vec<String>> {
    let mut stepper = folder::stepper(config, &Arc::new(layout.name(flat)), threads)?;
    let specials = Specials::of(config);
    let options = SearchOptions { beam: 1, ..SearchOptions::default() };
    let lengths: Vec<usize> = sources.iter().map(Vec::len).collect();
    let mut texts = vec![String::new(); sources.len()];
    for batch in decoding::batches(&lengths, BATCH) {
        let ids: Vec<&[u32]> = batch.iter().map(|&i| sources[i].as_slice()).collect();
        let decoded = decoding::decode(&mut *stepper, specials, &ids, &options, ticket, &mut |_, _| {})?;
        for (&i, decoded) in batch.iter().zip(&decoded) {
            if let Some(best) = decoded.hypotheses.first() {
                texts[i] = tokenizers.target.join(&config.target_language, &tokenizers.target.tokens(&best.tokens));
            }
        }
    }
    Ok(texts)
}
