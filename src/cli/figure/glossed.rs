//! Translations of a model as lines of interlinear text, with its links.

use std::path::Path;

use crate::args;
use engine::error::{Error, Result};
use engine::evaluation::{ask::AskedSystem, rows::RowReader};
use engine::models::{Model, Stepper};
use engine::text::{cut::WordRule, line, links::Links, sentence::Sentence};
use engine::{decoding::SearchOptions, models::choice::ModelSpec, ticket::CancellationToken};
use figure::interlinear::GlossedText;
use host::{runtime::Runtime, words, words::LinkedSides};
use training::settings::LinkWords;

const BATCH: usize = 32;

/// A model, and whose rows are its links: its alignment head's, else alpha.
pub struct GlossingModel {
    model: Model,
    stepper: Box<dyn Stepper>,
    rows: RowReader,
}

impl GlossingModel {
    pub fn load(model: &ModelSpec, runtime: &Runtime) -> Result<Self> {
        let model = args::load(model, runtime)?;
        let stepper = model.stepper_with_head(runtime.engine, runtime.threads)?;
        let rows = RowReader::best((&model).into(), &*stepper, None)?;
        if !model.config.aligns() && !stepper.has_alignment_head() {
            let message = format!(
                "{} has no alignment, so that nothing can stand under a word; choose another model",
                model.config.name
            );
            return Err(Error::Input(message));
        }
        Ok(Self { model, stepper, rows })
    }

    /// The language that it reads, a BCP 47 tag.
    pub fn source_language(&self) -> &str {
        &self.model.config.source_language
    }

    /// The best translation of each sentence, which came from a file and has words by a rule.
    pub fn translate(
        mut self, (file, sources): (&Path, &[String]), rule: WordRule, search: &SearchOptions,
    ) -> Result<Vec<GlossedText>> {
        let (name, pretokenized) = (&self.model.config.name, rule == WordRule::Given);
        let read = |(n, text): (usize, &String)| {
            let sentence = line::read(&self.model.source, text, pretokenized);
            sentence.map_err(|why| Error::line(file, n + 1, format!("{why} ({name})")))
        };
        let sentences = sources.iter().enumerate().map(read).collect::<Result<Vec<Sentence>>>()?;
        let readable: Vec<&[u32]> =
            sentences.iter().filter(|one| one.words() > 0).map(|one| one.ids.as_slice()).collect();
        let ticket = CancellationToken::forever();
        let (system, reading) = ((&self.model).into(), Some(self.rows.reading));
        let asked = AskedSystem { system, search, batch: BATCH, reading, ticket: &ticket };
        let mut said = asked.translate(self.stepper.as_mut(), &readable, &[])?.into_iter();
        let one = |sentence: &Sentence| {
            let nothing = || GlossedText { name: name.clone(), ..GlossedText::default() };
            let Some(best) = (if sentence.words() > 0 { said.next() } else { None }) else { return nothing() };
            let sides = LinkedSides::of_translation(&self.model, sentence, &best, pretokenized);
            let sides = sides.and_then(|sides| sides.cut_by(sentence, rule));
            let rows = best.alpha.as_deref().map(|rows| (rows, self.rows.reading));
            let text = words::text(&self.model, &best, sentence, None, pretokenized);
            GlossedText {
                words: self.model.target.rule(pretokenized).owned(&text),
                links: Links::new(words::links(sides, rows, LinkWords::Tokens), Vec::new()),
                text,
                ..nothing()
            }
        };
        Ok(sentences.iter().map(one).collect())
    }
}
