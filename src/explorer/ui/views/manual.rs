//! The manual, in a panel at the right, so that one can read and try at once; and where its links and those of lessons
//! lead.

use egui::text::LayoutJob;
use egui::{Align, FontSelection, Id, Label, Layout, Panel, RichText, ScrollArea, TextureHandle, Ui, vec2};

use crate::app::{command::WindowCommand, page::SENTENCE};
use crate::pages::shell::local::{Window, keep_side};
use crate::pages::{lesson::LessonCommand, page_of_key, shell::act::Act};
use crate::session::lessons::shelf::BUNDLED;
use crate::ui::manual::{ManualLocal, ManualPage, PICTURES, pages};
use crate::{ui::act, widgets, widgets::theme};
use engine::text::markdown::{MarkdownBlock, MarkdownSpan};
use figure::png;

const LIMITS: (f32, f32) = (280.0, 900.0);
const WIDTH: f32 = 440.0;
const MOST: f32 = 0.6;

pub fn manual_ui(ui: &mut Ui, window: &mut Window<'_>) {
    if !window.layout.manual_open {
        return;
    }
    let most = (ui.ctx().content_rect().width() * MOST).clamp(LIMITS.0, LIMITS.1);
    let width = window.layout.manual_width.unwrap_or(WIDTH).clamp(LIMITS.0, most);
    let panel = Panel::right("manual").default_size(width).min_size(LIMITS.0).max_size(most).resizable(true);
    let panel = panel.frame(theme::panel(theme::tokens(ui)));
    let shown = widgets::sized(ui, ("manual", tr!("Manual")), |ui| panel.show(ui, |ui| panel_ui(ui, window)));
    keep_side(ui, &mut window.layout.manual_width, width, shown.response.rect.width());
}

fn panel_ui(ui: &mut Ui, window: &mut Window<'_>) {
    bar_ui(ui, window);
    ui.separator();
    if window.local.of::<ManualLocal>().query.trim().is_empty() {
        page_ui(ui, window);
    } else {
        hits_ui(ui, window.local.of::<ManualLocal>());
    }
}

fn bar_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let manual = window.local.of::<ManualLocal>();
    let mut closes = false;
    ui.horizontal(|ui| {
        if ui.add_enabled(!manual.before.is_empty(), egui::Button::new(tr!("Back"))).clicked() {
            manual.back();
        }
        if ui.add_enabled(manual.page != 0 || !manual.query.is_empty(), egui::Button::new(tr!("Contents"))).clicked() {
            manual.open(0, None);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            closes = ui.button(tr!("Close")).on_hover_text(Act::Manual.key_text(ui.ctx())).clicked();
            let field = egui::TextEdit::singleline(&mut manual.query)
                .id(Id::unique("manual_search"))
                .hint_text(tr!("Search the manual"))
                .desired_width(f32::INFINITY);
            let _ = ui.add(field).accessible_name(tr!("Search the manual"));
        });
    });
    if closes {
        window.layout.manual_open = false;
    }
}

fn hits_ui(ui: &mut Ui, manual: &mut ManualLocal) {
    let weak = theme::tokens(ui).weak;
    let mut opens = None;
    let hits = manual.hits();
    if hits.is_empty() {
        ui.label(RichText::new(tr!("No page has these words.")).color(weak));
    }
    ScrollArea::vertical().id_salt("manual_hits").auto_shrink([false, false]).show(ui, |ui| {
        for hit in hits {
            let title = pages().get(hit.page).map(ManualPage::title).unwrap_or_default();
            if ui.link(title).clicked() {
                opens = Some((hit.page, hit.block));
            }
            ui.add(Label::new(RichText::new(&hit.excerpt).color(weak)).wrap());
            ui.add_space(theme::SPACE_2);
        }
    });
    if let Some((page, block)) = opens {
        manual.open(page, Some(block));
    }
}

fn page_ui(ui: &mut Ui, window: &mut Window<'_>) {
    let at = window.local.of::<ManualLocal>().page;
    let Some(page) = pages().get(at) else { return };
    let mut follows = None;
    let goes_to = window.local.of::<ManualLocal>().goes_to.take();
    // lines of text stand closer than buttons do
    ui.spacing_mut().interact_size.y = 0.0;
    ScrollArea::vertical().id_salt(("manual", at)).auto_shrink([false, false]).show(ui, |ui| {
        for (n, block) in page.blocks.iter().enumerate() {
            let top = ui.cursor().min;
            ui.push_id(n, |ui| block_ui(ui, window.local.of::<ManualLocal>(), block, &mut follows));
            if goes_to == Some(n) {
                let place = egui::Rect::from_min_size(top, vec2(1.0, 1.0));
                ui.scroll_to_rect(place, Some(Align::TOP));
            }
        }
        ui.add_space(theme::SPACE_5);
    });
    if let Some(link) = follows {
        follow(ui, window, &link);
    }
}

pub fn follow(ui: &Ui, window: &mut Window<'_>, link: &str) {
    match target(link) {
        Some(Target::Manual(page)) => {
            window.layout.manual_open = true;
            window.local.of::<ManualLocal>().open(page, None);
        }
        Some(Target::Act(wanted)) => {
            let page = window.app.view.page;
            if act::bindings().iter().any(|row| row.act == wanted && !act::works_on(row, page)) {
                window.push(WindowCommand::ShowPage(SENTENCE));
            }
            window.local.acts.push(wanted);
        }
        Some(Target::Lesson(key)) => {
            window.push(if key == ALL_LESSONS { LessonCommand::Show(true) } else { LessonCommand::Open(key) });
            window.layout.manual_open = false;
        }
        Some(Target::Web(address)) => ui.ctx().open_url(egui::OpenUrl::new_tab(address)),
        Some(Target::File(_)) | None => {}
    }
}

pub fn blocks_ui(ui: &mut Ui, window: &mut Window<'_>, blocks: &[MarkdownBlock], follows: &mut Option<String>) {
    for (n, block) in blocks.iter().enumerate() {
        ui.push_id(n, |ui| {
            ui.spacing_mut().interact_size.y = 0.0;
            block_ui(ui, window.local.of::<ManualLocal>(), block, follows);
        });
    }
}

fn block_ui(ui: &mut Ui, manual: &mut ManualLocal, block: &MarkdownBlock, follows: &mut Option<String>) {
    match block {
        MarkdownBlock::Heading { level, spans } => {
            ui.add_space(if *level == 1 { 0.0 } else { theme::SPACE_3 });
            let size = if *level == 1 { theme::TEXT_TITLE } else { theme::TEXT_OUTPUT };
            let words: String = spans.iter().map(|span| span.text.as_str()).collect();
            ui.add(Label::new(RichText::new(words).size(size).strong()).wrap());
            ui.add_space(theme::SPACE_1);
        }
        MarkdownBlock::Text(spans) => {
            ui.horizontal_wrapped(|ui| spans_ui(ui, spans, follows));
            ui.add_space(theme::SPACE_2);
        }
        MarkdownBlock::Item { depth, number, spans } => {
            ui.horizontal_top(|ui| {
                ui.add_space(theme::SPACE_4 * *depth as f32);
                ui.label(number.map_or_else(|| "\u{2022}".to_owned(), |number| format!("{number}.")));
                ui.vertical(|ui| ui.horizontal_wrapped(|ui| spans_ui(ui, spans, follows)));
            });
        }
        MarkdownBlock::Code(text) => code_ui(ui, text),
        MarkdownBlock::Table(rows) => table_ui(ui, rows, follows),
        MarkdownBlock::Picture { path, shows } => picture_ui(ui, manual, path, shows),
    }
}

/// Spans of a paragraph. Text without links is one label as far as possible, so that it wraps as text.
fn spans_ui(ui: &mut Ui, spans: &[MarkdownSpan], follows: &mut Option<String>) {
    ui.spacing_mut().item_spacing.x = 0.0;
    // a file beside the source is not there for the program
    let leads =
        |span: &MarkdownSpan| span.link.clone().filter(|link| !matches!(target(link), Some(Target::File(_)) | None));
    for run in spans.chunk_by(|a, b| leads(a).is_none() && leads(b).is_none()) {
        if let Some(link) = run.first().and_then(leads) {
            let mark = if link.starts_with("interlinear:") { "\u{25b8} " } else { "" };
            if ui.link(format!("{mark}{}", run[0].text)).clicked() {
                *follows = Some(link);
            }
            continue;
        }
        let mut job = LayoutJob::default();
        for span in run {
            rich(ui, span).append_to(&mut job, ui.style(), FontSelection::Default, Align::Center);
        }
        ui.label(job);
    }
}

fn rich(ui: &Ui, span: &MarkdownSpan) -> RichText {
    let mut text = RichText::new(&span.text);
    if span.strong {
        text = text.color(theme::tokens(ui).accent);
    }
    if span.emphasis {
        text = text.italics();
    }
    if span.code {
        text = text.monospace();
    }
    text
}

fn code_ui(ui: &mut Ui, text: &str) {
    theme::card(theme::tokens(ui)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ScrollArea::horizontal().auto_shrink([false, true]).show(ui, |ui| {
            let words = RichText::new(text.trim_end()).monospace().size(theme::TEXT_SMALL);
            ui.add(Label::new(words).extend());
        });
    });
    ui.add_space(theme::SPACE_2);
}

fn table_ui(ui: &mut Ui, rows: &[Vec<Vec<MarkdownSpan>>], follows: &mut Option<String>) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let room = ui.available_width();
    // the first column is short in most tables; the last one has the sentences
    let width = |n: usize| match columns {
        1 => room,
        2 => room * if n == 0 { 0.36 } else { 0.6 },
        _ => (room / columns as f32 - theme::SPACE_2).max(96.0),
    };
    ScrollArea::horizontal().auto_shrink([false, true]).show(ui, |ui| {
        egui::Grid::new("table").num_columns(columns).striped(true).spacing([theme::SPACE_2, theme::SPACE_1]).show(
            ui,
            |ui| {
                for row in rows {
                    for (n, cell) in row.iter().enumerate() {
                        ui.vertical(|ui| {
                            ui.set_width(width(n));
                            ui.horizontal_wrapped(|ui| spans_ui(ui, cell, follows));
                        });
                    }
                    ui.end_row();
                }
            },
        );
    });
    ui.add_space(theme::SPACE_2);
}

fn picture_ui(ui: &mut Ui, manual: &mut ManualLocal, path: &str, shows: &str) {
    let Some(texture) = texture(ui, manual, path) else {
        ui.label(shows);
        return;
    };
    let size = texture.size_vec2();
    let scale = (ui.available_width() / size.x).min(1.0);
    let image = egui::Image::new((texture.id(), size * scale)).alt_text(shows).corner_radius(theme::RADIUS_SMALL);
    ui.add(image).on_hover_text(shows);
    ui.add_space(theme::SPACE_2);
}

fn texture(ui: &Ui, manual: &mut ManualLocal, path: &str) -> Option<TextureHandle> {
    if let Some((_, texture)) = manual.pictures.iter().find(|(there, _)| there == path) {
        return Some(texture.clone());
    }
    let (_, bytes) = PICTURES.iter().find(|(there, _)| *there == path)?;
    let picture = png::read(bytes)?;
    let size = [picture.width as usize, picture.height as usize];
    let image = egui::ColorImage::from_rgba_unmultiplied(size, &picture.rgba);
    let texture = ui.ctx().load_texture(path, image, egui::TextureOptions::LINEAR);
    manual.pictures.push((path.to_owned(), texture.clone()));
    Some(texture)
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Manual(usize),
    Act(Act),
    Lesson(String),
    Web(String),
    /// A file of the source tree, by its path from the root.
    File(String),
}

pub const ALL_LESSONS: &str = "all";

const PROGRAM: &str = "interlinear:";

pub fn target(link: &str) -> Option<Target> {
    if let Some(wanted) = link.strip_prefix(PROGRAM) {
        return program(wanted);
    }
    if link.starts_with("https://") {
        return Some(Target::Web(link.to_owned()));
    }
    if let Some(path) = link.strip_prefix("../../") {
        return Some(Target::File(path.to_owned()));
    }
    if let Some(path) = link.strip_prefix("../") {
        return Some(Target::File(format!("assets/{path}")));
    }
    let file = link.split('#').next().unwrap_or(link);
    pages().iter().position(|page| page.file == file).map(Target::Manual)
}

/// `page/NAME`, `act/NAME`, `lesson/KEY`, or `lesson/all` for the list of them.
fn program(wanted: &str) -> Option<Target> {
    let (kind, name) = wanted.split_once('/')?;
    match kind {
        "page" => page_of_key(name).map(|page| Target::Act(Act::ShowPage(page))),
        "act" => act::bindings().iter().map(|row| row.act).find(|act| format!("{act:?}") == name).map(Target::Act),
        "lesson" => {
            let is_there = name == ALL_LESSONS || BUNDLED.iter().any(|(key, _)| *key == name);
            is_there.then(|| Target::Lesson(name.to_owned()))
        }
        _ => None,
    }
}
