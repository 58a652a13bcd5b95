//! Floor 10: a translation with what differs from the reference marked. A leaf.

use std::collections::HashMap;

use egui::text::LayoutJob;
use egui::{Color32, FontId, TextFormat};

/// A text as a line; words that `other` does not have stand in `odd`.
pub fn differing(text: &str, other: Option<&str>, font: &FontId, (plain, odd): (Color32, Color32)) -> LayoutJob {
    let mut job = LayoutJob::default();
    let Some(other) = other else {
        job.append(text, 0.0, format(font, plain));
        return job;
    };
    let mut left: HashMap<String, usize> = HashMap::new();
    for word in other.split_whitespace() {
        *left.entry(bare(word)).or_insert(0) += 1;
    }
    for (n, word) in text.split_whitespace().enumerate() {
        let space = if n == 0 { "" } else { " " };
        let known = left.get_mut(&bare(word)).filter(|count| **count > 0);
        let is_known = known.is_some();
        if let Some(count) = known {
            *count -= 1;
        }
        job.append(space, 0.0, format(font, plain));
        job.append(word, 0.0, format(font, if is_known { plain } else { odd }));
    }
    job
}

/// A word without the marks round it, in small letters.
fn bare(word: &str) -> String {
    let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
    if bare.is_empty() { word.to_owned() } else { bare.to_lowercase() }
}

fn format(font: &FontId, colour: Color32) -> TextFormat {
    TextFormat { font_id: font.clone(), color: colour, ..TextFormat::default() }
}
