//! Texts of the workbench, in the order in which they are read, with what differs from another marked, and
//! words that people marked set off. A leaf.

use std::{ops::Range, sync::Arc};

use egui::text::{LayoutJob, TextWrapping};
use egui::{Align, Color32, FontId, Galley, Label, Layout, Painter, ScrollArea, Stroke, TextFormat, Ui, vec2};

use crate::widgets::{bidi, labels};
use engine::analysis::lexical;
use engine::text::{cut::WordRule, words::place};

/// Lines of a text that are seen at once; longer ones scroll.
const LINES: f32 = 8.0;

/// How part of a text is set off.
#[derive(Clone, Debug, PartialEq)]
pub struct Tint {
    /// Where it stands, in bytes.
    pub place: Range<usize>,
    pub line: Stroke,
    pub ground: Color32,
}

/// A text with what differs marked.
#[derive(Clone, Debug)]
pub struct Marked<'a> {
    text: &'a str,
    /// Where the words stand that none of the other texts has.
    odd: Vec<Range<usize>>,
    font: FontId,
    /// Of most words, and of the odd ones.
    colours: (Color32, Color32),
    /// Of parts that lie over each other the last one with a line has it.
    tints: Vec<Tint>,
    /// What is read out in its place.
    said: Option<String>,
}

impl<'a> Marked<'a> {
    /// A text; words that none of the others has are odd, where there are others.
    pub fn new(text: &'a str, (others, rule): (&[&str], WordRule), font: FontId, colours: (Color32, Color32)) -> Self {
        Self { text, odd: odd(text, others, rule), font, colours, tints: Vec::new(), said: None }
    }

    pub fn with_tints(self, tints: Vec<Tint>, said: Option<String>) -> Self {
        Self { tints, said, ..self }
    }

    /// Part of it as one line behind some lead, from left to right as it is seen.
    fn job(&self, lead: &str, part: Range<usize>) -> LayoutJob {
        let (mut job, text) = (LayoutJob::default(), &self.text[part.clone()]);
        let mut append = |text: &str, format: TextFormat| job.append(text, 0.0, format);
        let plain = TextFormat { font_id: self.font.clone(), color: self.colours.0, ..TextFormat::default() };
        append(lead, plain);
        if !bidi::has_right(text) {
            self.split(part, &mut append);
            return job;
        }
        for (range, seen) in bidi::pieces(text) {
            let range = part.start + range.start..part.start + range.end;
            if *seen == self.text[range.clone()] {
                self.split(range, &mut append);
            } else {
                append(&seen, self.format(range.start));
            }
        }
        job
    }

    /// What stands in a range, cut where its look changes.
    fn split(&self, range: Range<usize>, append: &mut impl FnMut(&str, TextFormat)) {
        let places = self.odd.iter().chain(self.tints.iter().map(|tint| &tint.place));
        let ends = places.flat_map(|place| [place.start, place.end]);
        let mut cuts: Vec<usize> = ends.filter(|at| range.contains(at)).chain([range.start, range.end]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        for pair in cuts.windows(2) {
            append(&self.text[pair[0]..pair[1]], self.format(pair[0]));
        }
    }

    fn format(&self, at: usize) -> TextFormat {
        // in order and apart from each other
        let next = self.odd.partition_point(|odd| odd.end <= at);
        let is_odd = self.odd.get(next).is_some_and(|odd| odd.contains(&at));
        let color = if is_odd { self.colours.1 } else { self.colours.0 };
        let mut format = TextFormat { font_id: self.font.clone(), color, ..TextFormat::default() };
        for tint in self.tints.iter().filter(|tint| tint.place.contains(&at)) {
            if tint.line != Stroke::NONE {
                format.underline = tint.line;
            }
            if tint.ground != Color32::TRANSPARENT {
                format.background = tint.ground;
            }
        }
        format
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
                let label = ui.add(Label::new(self.job("", 0..self.text.len())).wrap().selectable(true));
                if let Some(said) = &self.said {
                    labels::said(label, said);
                }
                return;
            }
            let align = if bidi::starts_right(self.text) { Align::Max } else { Align::Min };
            ui.with_layout(Layout::top_down(align), |ui| {
                for (at, line) in self.lines(ui).into_iter().enumerate() {
                    let label = ui.add(Label::new(self.job("", line)).extend());
                    if let Some(said) = self.said.as_ref().filter(|_| at == 0) {
                        labels::said(label, said);
                    }
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

/// Where the words stand that none of the others has so often; nowhere where there are none.
fn odd(text: &str, others: &[&str], rule: WordRule) -> Vec<Range<usize>> {
    let bares = |text: &str| rule.words(text).into_iter().map(lexical::bare).collect::<Vec<String>>();
    let others: Vec<Vec<String>> = others.iter().map(|other| bares(other)).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let is_right = lexical::right_of_any(&bares(text), &others);
    let odd = rule.words(text).into_iter().zip(is_right).filter(|(_, is_right)| !is_right);
    odd.map(|(word, _)| place(text, word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::text::words::place_of;

    #[test]
    fn a_word_is_odd_that_no_reference_has_so_often() {
        let (text, first, second) = ("Le bateau le \u{ab}vogue\u{bb} vert", "le bateau navigue", "le, le bateau vogue");
        let found = |others: &[&str]| {
            odd(text, others, WordRule::Eliding).into_iter().map(|place| &text[place]).collect::<Vec<_>>()
        };
        assert_eq!(found(&[first]), ["le", "\u{ab}", "vogue", "\u{bb}", "vert"]);
        assert_eq!(found(&[first, second]), ["\u{ab}", "\u{bb}", "vert"]);
        assert!(found(&[]).is_empty(), "there is nothing to compare with");
        let text = "我喜欢红色的书。";
        let found: Vec<&str> =
            odd(text, &["我喜欢蓝色的书"], WordRule::Tokens).into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["红色", "。"]);
    }

    #[test]
    fn a_text_is_cut_where_its_look_changes_and_keeps_all_its_letters() {
        let (line, none) = (Stroke::new(2.0, Color32::RED), Color32::TRANSPARENT);
        let tint = |place: Range<usize>, line: Stroke, ground: Color32| Tint { place, line, ground };
        for text in
            ["le vieux moulin tourne", "\u{5d4}\u{5e1}\u{5e4}\u{5e8} \u{5d0}\u{5d3}\u{5d5}\u{5dd} \u{5e2}\u{5dc}"]
        {
            let second = place_of(text, WordRule::Tokens, (1, 2)).expect("a word");
            let both = place_of(text, WordRule::Tokens, (0, 2)).expect("words");
            let tints = vec![tint(both, line, none), tint(second, Stroke::NONE, Color32::BLUE)];
            let marked =
                Marked::new(text, (&[], WordRule::Tokens), FontId::default(), (Color32::WHITE, Color32::WHITE));
            let job = marked.with_tints(tints, None).job("", 0..text.len());
            assert_eq!(job.text.chars().count(), text.chars().count());
            let letters = |is: fn(&TextFormat) -> bool| -> usize {
                let sections = job.sections.iter().filter(|section| is(&section.format));
                let range = |section: &egui::text::LayoutSection| section.byte_range.start.0..section.byte_range.end.0;
                sections.map(|section| job.text[range(section)].chars().count()).sum()
            };
            let count =
                |span: (usize, usize)| text[place_of(text, WordRule::Tokens, span).expect("words")].chars().count();
            assert_eq!(letters(|format| format.underline.width > 0.0), count((0, 2)), "{text}");
            assert_eq!(letters(|format| format.background == Color32::BLUE), count((1, 2)), "{text}");
        }
    }
}
