//! Floor 10: texts of the workbench, in the order in which they are read, with what differs from another marked. A leaf.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use egui::text::{LayoutJob, TextWrapping};
use egui::{Align, Color32, FontId, Galley, Label, Layout, Painter, ScrollArea, TextFormat, Ui, vec2};

use crate::text::links::places::words;
use crate::ui::bidi;

/// Lines of a text that are seen at once; longer ones scroll.
const LINES: f32 = 8.0;

/// A text with what differs marked.
#[derive(Clone, Debug)]
pub struct Marked<'a> {
    text: &'a str,
    /// Where the words stand that the other text does not have.
    odd: Vec<Range<usize>>,
    font: FontId,
    /// Of most words, and of the odd ones.
    colours: (Color32, Color32),
}

impl<'a> Marked<'a> {
    /// A text; words that `other` does not have are odd.
    pub fn new(text: &'a str, other: Option<&str>, font: FontId, colours: (Color32, Color32)) -> Self {
        Self { text, odd: other.map_or_else(Vec::new, |other| odd(text, other)), font, colours }
    }

    /// Part of it as one line behind some lead, from left to right as it is seen.
    fn job(&self, lead: &str, part: Range<usize>) -> LayoutJob {
        let (mut job, text) = (LayoutJob::default(), &self.text[part.clone()]);
        let mut append = |text: &str, is_odd: bool| {
            let color = if is_odd { self.colours.1 } else { self.colours.0 };
            job.append(text, 0.0, TextFormat { font_id: self.font.clone(), color, ..TextFormat::default() });
        };
        append(lead, false);
        if !bidi::has_right(text) {
            self.split(part, &mut append);
            return job;
        }
        for (range, seen) in bidi::pieces(text) {
            let range = part.start + range.start..part.start + range.end;
            if *seen == self.text[range.clone()] {
                self.split(range, &mut append);
            } else {
                append(&seen, self.is_odd(range.start));
            }
        }
        job
    }

    /// What stands in a range, odd words apart.
    fn split(&self, range: Range<usize>, append: &mut impl FnMut(&str, bool)) {
        let mut at = range.start;
        for odd in self.odd.iter().filter(|odd| odd.start < range.end && odd.end > range.start) {
            let (from, to) = (odd.start.max(at), odd.end.min(range.end));
            append(&self.text[at..from], false);
            append(&self.text[from..to], true);
            at = to;
        }
        append(&self.text[at..range.end], false);
    }

    fn is_odd(&self, at: usize) -> bool {
        self.odd.iter().any(|odd| odd.contains(&at))
    }

    /// One line, cut with an ellipsis at `width` points; text from the right is cut at its left.
    pub fn line(&self, painter: &Painter, width: f32) -> Arc<Galley> {
        let mut job = self.job("", 0..self.text.len());
        job.wrap = TextWrapping::truncate_at_width(width);
        let whole = painter.layout_job(job);
        if !whole.elided || !bidi::starts_right(self.text) {
            return whole;
        }
        let ends: Vec<usize> = self.text.char_indices().map(|(at, _)| at).collect();
        let cut = |count: usize| painter.layout_job(self.job("\u{2026}", 0..ends[count]));
        let (mut fits, mut over) = (0, ends.len());
        while over - fits > 1 {
            let middle = usize::midpoint(fits, over);
            if cut(middle).size().x <= width { fits = middle } else { over = middle }
        }
        cut(fits)
    }

    /// All of it, in lines; a long text scrolls. `salt` tells it from others.
    pub fn paragraph_ui(&self, ui: &mut Ui, salt: impl egui::AsIdSalt) {
        let most = LINES * ui.text_style_height(&egui::TextStyle::Body);
        let area = ScrollArea::vertical().id_salt(salt).max_height(most).auto_shrink([false, true]);
        area.show(ui, |ui| {
            if !bidi::has_right(self.text) {
                ui.add(Label::new(self.job("", 0..self.text.len())).wrap().selectable(true));
                return;
            }
            let align = if bidi::starts_right(self.text) { Align::Max } else { Align::Min };
            ui.with_layout(Layout::top_down(align), |ui| {
                for line in self.lines(ui) {
                    ui.add(Label::new(self.job("", line)).extend());
                }
            });
        });
    }

    /// Where lines break: each is put into its order by itself.
    fn lines(&self, ui: &Ui) -> Vec<Range<usize>> {
        let room = ui.available_width() - 4.0;
        let width = |range: Range<usize>| ui.painter().layout_job(self.job("", range)).size().x;
        let (mut lines, mut from, mut to) = (Vec::new(), 0, 0);
        for word in self.text.split_inclusive(char::is_whitespace) {
            if to > from && width(from..to + word.len()) > room {
                lines.push(from..to);
                from = to;
            }
            to += word.len();
        }
        lines.push(from..to);
        lines
    }
}

/// Lines of chips that are words of a text, from where it begins.
pub fn chips_ui(ui: &mut Ui, text: &str, chips: impl FnOnce(&mut Ui)) {
    let layout =
        if bidi::starts_right(text) { Layout::right_to_left(Align::Min) } else { Layout::left_to_right(Align::Min) };
    let height = ui.spacing().interact_size.y;
    let room = vec2(ui.available_width(), height);
    ui.allocate_ui_with_layout(room, layout.with_main_wrap(true), chips);
}

/// Where the words stand that `other` does not have so often.
fn odd(text: &str, other: &str) -> Vec<Range<usize>> {
    let mut left: HashMap<String, usize> = HashMap::new();
    for word in words(other) {
        *left.entry(bare(word)).or_insert(0) += 1;
    }
    let mut found = Vec::new();
    for word in words(text) {
        if let Some(count) = left.get_mut(&bare(word)).filter(|count| **count > 0) {
            *count -= 1;
            continue;
        }
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        found.push(at..at + word.len());
    }
    found
}

/// A word without the marks round it, in small letters.
fn bare(word: &str) -> String {
    let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
    if bare.is_empty() { word.to_owned() } else { bare.to_lowercase() }
}
