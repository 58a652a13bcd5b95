//! Which words the links of a file count, as words of the corpus.

use std::path::Path;

use crate::store::rules::{KnownWords, SideRules, counterparts};
use engine::text::{cut::WordRule, language, readable::places, words::without_end};
use import::{Facts, ImportOptions, Record, Role};

pub(super) fn known((path, options): (&Path, &ImportOptions), facts: &Facts) -> KnownWords {
    let (source, target) = options.languages.clone();
    let (from, to) = facts.languages.clone().unzip();
    let named = Some(language::of_file(path)).filter(|tag| language::is_known(tag));
    let is_source = matches!(options.role, Some(Role::Source));
    let is_target = matches!(options.role, Some(Role::Reference | Role::Output(_)));
    let source = source.or(from).or(named.clone().filter(|_| is_source));
    let languages = [source, target.or(to).or(named.filter(|_| is_target))];
    KnownWords { languages: languages.map(|tag| tag.filter(|tag| language::is_known(tag))), ..KnownWords::default() }
}

/// For each word that a file counts, the words of the corpus that it stands for.
pub(super) type Counterparts = Vec<Vec<usize>>;

#[derive(Clone, Copy)]
pub(super) struct Counted {
    pub(super) from: SideRules,
    pub(super) to: SideRules,
}

impl Counted {
    pub(super) fn of(self, record: &Record) -> Self {
        let own = record.words.map(|[source, target]| SideRules { source, target });
        Self { from: own.unwrap_or(self.from), ..self }
    }

    /// The words of the source; `own` are the file's tokens and text. `None` if the letters differ.
    pub(super) fn source(self, own: (&[String], &str), text: &str) -> Option<Counterparts> {
        counted(own, text, (self.from.source, self.to.source))
    }

    pub(super) fn target(self, own: (&[String], &str), text: &str) -> Option<Counterparts> {
        counted(own, text, (self.from.target, self.to.target))
    }
}

fn counted((own, copy): (&[String], &str), text: &str, (from, to): (WordRule, WordRule)) -> Option<Counterparts> {
    let own = without_end(own);
    if own.is_empty() && (copy.is_empty() || copy == text) {
        return Some(counterparts(text, from, to));
    }
    let cut: Vec<&str> = if own.is_empty() { from.words(copy) } else { own.iter().map(String::as_str).collect() };
    match places(&cut, text, to) {
        Some(found) => Some(found.places.into_iter().map(Iterator::collect).collect()),
        // the same words in other letters
        None => (cut.len() == to.count(text)).then(|| (0..cut.len()).map(|word| vec![word]).collect()),
    }
}

/// The words of a text that nobody cut: those of the corpus, or those between spaces, which weights that come with it are of.
pub(super) fn uncut(text: &str, rule: WordRule, is_weighed: bool) -> Vec<String> {
    let rule = if is_weighed && rule.are_tokens() { WordRule::Spaces } else { rule };
    rule.owned(text)
}
