//! The source words nearest to one by the cosine of their embeddings, as text that can be typed.

use crate::jobs::models::loaded::LoadedModel;
use engine::error::{Error, Result};
use engine::models::{representations, representations::VocabularySide};
use engine::{analysis::neighbours::Space, text::sentence::UNK};

const TOLD: usize = 8;
/// Neighbours that are examined; pieces of words and punctuation are skipped.
const LOOKED_AT: usize = 200;

/// The words nearest to `word` with their cosines. Error: an ensemble, or a word that is not one vocabulary entry.
pub(crate) fn near(model: &LoadedModel, word: &str) -> Result<Vec<(String, f32)>> {
    let facts = &model.facts;
    if !facts.members.is_empty() {
        return Err(Error::Input("An ensemble has no embeddings of its own; type a word".to_owned()));
    }
    let vocabulary = &model.model().source;
    let id = match vocabulary.encode_with(word, None).ids.as_slice() {
        &[id] if id != facts.specials.unk => id,
        [_] => return Err(Error::Input(format!("{} does not know the word \"{word}\"; type another", facts.name))),
        _ => {
            let sentence = "is several pieces for this model, which have no neighbours together; type another word";
            return Err(Error::Input(format!("\"{word}\" {sentence}")));
        }
    };
    let words = representations::words(model.model(), VocabularySide::Source, usize::MAX)?;
    let Some(row) = words.ids.iter().position(|other| *other == id) else { return Ok(Vec::new()) };
    let space = Space::new(words.dimension, words.rows);
    let typed = |id: u32| {
        let text = vocabulary.spaced(&[vocabulary.token(id)?]);
        let is_word = text != UNK && text.chars().any(char::is_alphanumeric);
        (is_word && vocabulary.encode_with(&text, None).ids == [id]).then_some(text)
    };
    let near = space.nearest_to(row, LOOKED_AT).into_iter();
    Ok(near.filter_map(|near| Some((typed(words.ids[near.index])?, near.cosine))).take(TOLD).collect())
}
