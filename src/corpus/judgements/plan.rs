//! A campaign and a corpus: which sentences can be judged, and which are.

use crate::judgements::campaign::Campaign;
use crate::store::corpus::{CorpusTable, SystemColumn};
use engine::error::{Error, Result};

impl Campaign {
    /// The plan with the systems that translate, and the sentences that all of them translated.
    pub fn begun(self, corpus: &CorpusTable, rows: &[u32]) -> Result<Self> {
        let mut annotators: Vec<String> = Vec::new();
        for name in self.annotators.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            if !annotators.iter().any(|known| known == name) {
                annotators.push(name.to_owned());
            }
        }
        let translate = |column: &&SystemColumn| column.system.competes();
        let columns: Vec<_> = corpus.systems.iter().filter(translate).collect();
        if annotators.is_empty() || columns.is_empty() {
            let what = if columns.is_empty() { "a system that translates" } else { "the name of an annotator" };
            return Err(Error::Input(format!("a campaign needs {what}")));
        }
        let says = |at: &u32| columns.iter().all(|column| column.texts.get(*at as usize).is_some());
        let mut sentences: Vec<u32> = rows.iter().copied().filter(says).collect();
        // Who gets which follows from the seed, and not from how the table is sorted.
        sentences.sort_unstable();
        if sentences.is_empty() {
            let message = "of none of these sentences every system says something; choose others, or remove a system";
            return Err(Error::Input(message.to_owned()));
        }
        let systems = columns.iter().map(|column| column.system.name.clone()).collect();
        let each = self.each.clamp(1, annotators.len());
        Ok(Self { annotators, each, systems, sentences, ..self })
    }

    /// Whether an annotator has judged a sentence, from 0.
    pub fn is_done_by(&self, corpus: &CorpusTable, annotator: &str, at: usize) -> bool {
        let said = corpus.judgements.get(&at).and_then(|by| by.get(annotator));
        said.is_some_and(|judgement| self.is_done(judgement))
    }
}
