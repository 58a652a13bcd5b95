//! How far long work is: a bar on a terminal, plain lines otherwise, both on stderr.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

const EVERY: Duration = Duration::from_secs(10);

/// Counts sentences and words against a known or unknown total.
pub struct ProgressLine {
    doing: String,
    what: &'static str,
    bar: ProgressBar,
    started: Instant,
    reported: Instant,
    sentences: usize,
    words: usize,
    total: Option<u64>,
    position: u64,
}

impl ProgressLine {
    /// Work named by `doing` ("translating"), of `total` units of any kind.
    pub fn new(doing: impl Into<String>, total: Option<u64>, shared: bool) -> Self {
        let doing = doing.into().replace(char::is_control, " ");
        let bar = if shared { ProgressBar::hidden() } else { bar(&doing, total) };
        let now = Instant::now();
        Self { doing, what: "sentences", bar, started: now, reported: now, sentences: 0, words: 0, total, position: 0 }
    }

    /// The same, for units other than sentences.
    pub fn counting(self, what: &'static str) -> Self {
        Self { what, ..self }
    }

    /// `sentences` with `words` words in all are done, and `position` units of the total.
    pub fn add(&mut self, sentences: usize, words: usize, position: u64) {
        self.sentences += sentences;
        self.words += words;
        self.position = position;
        if !self.bar.is_hidden() {
            self.bar.set_position(position);
            self.bar.set_message(self.counted().unwrap_or_default());
        } else if self.reported.elapsed() >= EVERY && !std::io::stderr().is_terminal() {
            self.reported = Instant::now();
            let percent = self.total.filter(|&total| total > 0).map(|total| 100 * position / total);
            let reported: Vec<String> =
                percent.map(|percent| format!("{percent} %")).into_iter().chain(self.counted()).collect();
            output::notify(&format!("{}: {}", self.doing, reported.join(", ")));
        }
    }

    /// Takes the bar away, as before a message or at the end.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Says a sentence without tearing the bar.
    pub fn notify(&self, sentence: &str) {
        self.bar.suspend(|| output::notify(sentence));
    }

    fn counted(&self) -> Option<String> {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-9);
        match (self.sentences, self.words) {
            (0, 0) => None,
            (pieces, 0) => Some(format!("{pieces} {}", self.what)),
            (pieces, words) => Some(format!("{pieces} {}, {:.0} words/s", self.what, words as f64 / seconds)),
        }
    }
}

fn bar(doing: &str, total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{prefix} {wide_bar} {percent} % {msg}, {eta} left",
        None => "{prefix} {spinner} {msg}",
    };
    let bar = total.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.with_prefix(doing.to_owned())
}
