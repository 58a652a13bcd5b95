//! Floor 11: two annotators compared, as page Corpus shows it.

use std::sync::Arc;

use crate::corpus::judgements::agreement;
use crate::pages::corpus::Workbench;

/// A condition that shows where two annotators differ.
pub fn condition(first: &str, second: &str) -> String {
    let names = format!("{first},{second}");
    if names.contains(char::is_whitespace) { format!("differs:\"{names}\"") } else { format!("differs:{names}") }
}

impl Workbench {
    /// Compares these two, or no longer.
    pub(crate) fn compare(&mut self, pair: Option<(String, String)>) {
        self.compared = pair;
        self.compare_again();
    }

    /// After something was judged.
    pub(crate) fn compare_again(&mut self) {
        self.annotators = agreement::annotators(&self.corpus);
        let rows: Vec<u32> = (0..self.corpus.len() as u32).collect();
        let pair = self.compared.as_ref().map(|(first, second)| (first.as_str(), second.as_str()));
        let found = pair.and_then(|pair| agreement::compare(&self.corpus, pair, &rows).ok());
        self.agreement = found.map(Arc::new);
    }
}
