//! What every format comes to: a sentence with what its file says about it.

use crate::options::Role;
use engine::analysis::alignment::Alignment;
use engine::text::links::{Link, Links};
use engine::text::{cut::WordRule, readable::readable};

/// One sentence of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Its number in the corpus, from 1: files are joined by it. A sentence that a file lost or spoiled leaves a gap.
    pub sentence: usize,
    /// The line where it begins in the file, from 1; its number where the file has no lines.
    pub line: usize,
    pub id: Option<String>,
    pub source: Option<ImportedText>,
    pub reference: Option<ImportedText>,
    /// What others made of it, in the order of the file; empty where there is none.
    pub further: Vec<String>,
    pub outputs: Vec<ImportedOutput>,
    pub gold: Option<Links>,
    /// What a word of source and target is for its links, where the file says so.
    pub words: Option<[WordRule; 2]>,
    /// Parts of speech: of the source, or of a translation by its text; one for each word, with spaces between.
    pub parts: Vec<(Option<String>, String)>,
    pub extra: Vec<(String, String)>,
}

impl Record {
    /// A reference, counted from 0.
    pub fn reference(&self, n: usize) -> Option<&str> {
        match n.checked_sub(1) {
            None => self.reference.as_ref().map(|reference| reference.text.as_str()),
            Some(n) => self.further.get(n).map(String::as_str).filter(|text| !text.trim().is_empty()),
        }
    }

    /// Takes in a text in its role; formats with texts refuse the roles of links.
    pub fn put(&mut self, role: &Role, text: String) {
        match role {
            Role::Source => self.source = Some(ImportedText::plain(text)),
            Role::Output(system) => self.outputs.push(ImportedOutput::plain(system, text)),
            Role::Reference | Role::Gold => self.reference = Some(ImportedText::plain(text)),
            Role::Scores(column) => self.extra.push((column.clone(), text)),
        }
    }
}

/// A sentence of one language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedText {
    pub text: String,
    /// As the file cuts it, `</s>` at the end where an alignment has a column or row for it.
    pub tokens: Option<Vec<String>>,
}

impl ImportedText {
    /// A text that nobody cut.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), tokens: None }
    }
}

/// What a system made of a sentence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedOutput {
    /// The system's name; `None` where neither the file nor the caller gave one.
    pub system: Option<String>,
    pub text: String,
    /// As the file cuts it, `</s>` at the end where alpha has a row for it; empty where the file does not cut it.
    pub tokens: Vec<String>,
    /// The source as the file cuts it for this output, if it differs from one output to the next.
    pub source: Option<Vec<String>>,
    /// ln p(y given x), where the file has it.
    pub log_p: Option<f32>,
    /// What the system ranked it by, where that may be something else: a cost, or divided by the length.
    pub score: Option<f32>,
    /// The same for each token; empty where the file does not have it.
    pub token_log_p: Vec<f32>,
    /// Tokens of the model that log p is over, `</s>` counted; 0 where the file does not say it.
    pub token_count: usize,
    /// What else the system counted for it, by name.
    pub features: Vec<(String, f32)>,
    pub alpha: Option<Alignment>,
    /// Hard links between the words of the source and of this output, words from 0, `</s>` left out.
    pub links: Option<Vec<Link>>,
}

impl ImportedOutput {
    /// A text of a system that nobody cut.
    pub fn plain(system: &str, text: String) -> Self {
        Self { system: Some(system.to_owned()), text, ..Self::default() }
    }

    /// A text of a system that is cut already.
    pub fn cut(system: &str, tokens: Vec<String>) -> Self {
        let text = readable(&tokens);
        Self { tokens, ..Self::plain(system, text) }
    }
}
