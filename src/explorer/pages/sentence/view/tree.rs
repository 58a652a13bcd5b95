//! The search of a column as a tree, with keys, a slider of steps, and a way to continue from any node.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use egui::accesskit::Role;
use egui::{
    Align, EventFilter, Id, Key, Layout, Modifiers, RichText, ScrollArea, Sense, Slider, Stroke, StrokeKind, Ui,
};

use crate::app::document::tree::{DrawnTree, SearchTree, ShownTree};
use crate::pages::sentence::view::memory::{Arranged, SentenceMemory, TreeMemory};
use crate::pages::shell::local::{Panel, Window};
use crate::pages::{sentence::command::InterveneCommand, shell::clicked::MenuTarget};
use crate::widgets::{has_reader, labels, marks, node, theme};
use crate::{app::document::column::Column, widgets::marks::Letters};
use engine::analysis::row_convention::RowConvention;
use engine::lang;
use figure::tree::{DrawnNode, NodeState, TreeFigure};
use figure::{geometry::Area, measure::TextMeasure};

/// Widths of words in the cache at most; the words of a search are far fewer.
const MOST_WIDTHS: usize = 10_000;
const DETAILS: f32 = 66.0;
const REASON: f32 = 17.0;
/// Below this height the details are one line, of the second height, points.
const LOW: (f32, f32) = (190.0, 22.0);
const NARROW: f32 = 520.0;
const SLIDER: (f32, f32) = (32.0, 90.0);
const BESIDE_SLIDER: f32 = 276.0;
const SCALES: (f32, f32) = (0.5, 2.0);
const NAMED: usize = 5;

pub fn tree_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let mut memory = window.local.of::<SentenceMemory>().trees.remove(&column.id).unwrap_or_default();
    let revision = column.table.as_ref().map_or(0, |table| table.revision);
    if memory.tree.is_none() || memory.revision != revision {
        let scale = if memory.tree.is_some() || memory.scale > 0.0 { memory.scale } else { 1.0 };
        let (pruned, follows) = (memory.pruned, memory.follows);
        let tree = SearchTree::of(column).map(Arc::new);
        let selected = tree.as_ref().and_then(|tree| tree.roots.first().copied());
        memory = TreeMemory { revision, tree, selected, follows, pruned, scale, ..TreeMemory::default() };
    }
    match memory.tree.clone() {
        Some(tree) => whole_ui(ui, window, column, &tree, &mut memory),
        None if column.decoding => drop(ui.label(tr!("The tree is there when the search has ended"))),
        None => {
            let text = tr!("The search was too large to keep; a shorter text or a smaller beam shows it");
            ui.add(egui::Label::new(text).wrap());
        }
    }
    window.local.of::<SentenceMemory>().trees.insert(column.id, memory);
}

fn whole_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, tree: &SearchTree, memory: &mut TreeMemory) {
    controls_ui(ui, tree, memory);
    let rect = ui.available_rect_before_wrap();
    let details = match rect.width() {
        _ if rect.height() < LOW.0 => LOW.1,
        width if width < NARROW => DETAILS + REASON,
        _ => DETAILS,
    };
    let foot = (rect.bottom() - details).max(rect.top());
    let (above, below) = rect.split_top_bottom_at_y(foot);
    nodes_ui(&mut ui.new_child(egui::UiBuilder::new().id_salt("tree").max_rect(above)), window, column, tree, memory);
    let mut details = ui.new_child(egui::UiBuilder::new().id_salt("tree details").max_rect(below));
    details_ui(&mut details, window, column, tree, memory);
}

fn controls_ui(ui: &mut Ui, tree: &SearchTree, memory: &mut TreeMemory) {
    ui.horizontal(|ui| {
        ui.spacing_mut().slider_width = (ui.available_width() - BESIDE_SLIDER).clamp(SLIDER.0, SLIDER.1);
        let small = |text: &str| RichText::new(text).size(theme::TEXT_SMALL);
        let label = ui.label(small(tr!("steps")).color(theme::tokens(ui).weak));
        let mut steps = memory.steps.unwrap_or(tree.steps);
        let slider = ui.add(Slider::new(&mut steps, 1..=tree.steps.max(1))).labelled_by(label.id);
        if slider.on_hover_text(tr!("The search grows step by step")).changed() {
            memory.steps = (steps < tree.steps).then_some(steps);
        }
        let note = tr!("Branches that fell out of the beam, with the reason");
        ui.checkbox(&mut memory.pruned, small(tr!("pruned")))
            .accessible_name(tr!("Pruned branches"))
            .on_hover_text(note);
        let note = tr!("Chooses the last word of the shown hypothesis and keeps it in view while the search grows");
        let follow = ui.checkbox(&mut memory.follows, small(tr!("best"))).accessible_name(tr!("Follow the best"));
        if follow.on_hover_text(note).changed() {
            memory.followed = None;
        }
        for (name, said, factor) in [("-", tr!("Smaller tree"), 0.8), ("+", tr!("Larger tree"), 1.25)] {
            if labels::small_button(ui, name).accessible_name(said).on_hover_text(said).clicked() {
                memory.scale = (memory.scale * factor).clamp(SCALES.0, SCALES.1);
            }
        }
    });
}

/// What is drawn, and where. It is computed again only when what it shows changes.
fn arrange(ui: &Ui, window: &Window<'_>, tree: &SearchTree, memory: &mut TreeMemory) -> Arc<Arranged> {
    let of = ShownTree {
        steps: memory.steps.unwrap_or(tree.steps),
        pruned: memory.pruned,
        pieces: window.app.view.settings.pieces,
        collapsed: memory.collapsed.clone(),
        selected: memory.selected.filter(|at| !tree.stays(*at)),
    };
    let size = (memory.scale, ui.pixels_per_point());
    if let Some(arranged) = memory.arranged.as_ref().filter(|known| known.of == of && known.size == size) {
        return Arc::clone(arranged);
    }
    if memory.arranged.as_ref().is_none_or(|known| known.size != size) || memory.widths.len() > MOST_WIDTHS {
        memory.widths.clear();
    }
    let drawn = tree.shown(&of);
    let figure = TreeFigure { nodes: &drawn.nodes, selected: None, scale: memory.scale, palette: theme::palette(ui) };
    let measure = Known { letters: Letters(ui), widths: RefCell::new(std::mem::take(&mut memory.widths)) };
    let layout = figure.layout(&measure);
    memory.widths = measure.widths.into_inner();
    let arranged = Arc::new(Arranged { of, size, drawn, layout });
    memory.arranged = Some(Arc::clone(&arranged));
    arranged
}

/// Measures texts with a cache of widths.
struct Known<'a> {
    letters: Letters<'a>,
    widths: RefCell<HashMap<String, f32>>,
}

impl TextMeasure for Known<'_> {
    fn width(&self, text: &str, size: f32) -> f32 {
        let known = self.widths.borrow().get(text).copied();
        known.unwrap_or_else(|| {
            let width = self.letters.width(text, size);
            self.widths.borrow_mut().insert(text.to_owned(), width);
            width
        })
    }

    fn height(&self, size: f32) -> f32 {
        self.letters.height(size)
    }
}

fn nodes_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, tree: &SearchTree, memory: &mut TreeMemory) {
    let arranged = arrange(ui, window, tree, memory);
    follow(&arranged, memory);
    let Arranged { drawn, layout, .. } = &*arranged;
    let selected = memory.selected.and_then(|at| drawn.place(at));
    let figure = TreeFigure { nodes: &drawn.nodes, selected, scale: memory.scale, palette: theme::palette(ui) };
    let view = ui.available_rect_before_wrap();
    let (mut chosen, mut scale) = (None, memory.scale);
    let reveals = selected.filter(|_| memory.seen != memory.selected);
    ScrollArea::both().id_salt(("tree", column.id)).auto_shrink(false).show(ui, |ui| {
        let (rect, response) = ui.allocate_exact_size(layout.size, Sense::click());
        let name = || tr!("Search of {} as a tree, {} nodes shown", column.name(), drawn.nodes.len());
        node(&response, Role::Tree, name);
        let is_selected = window.app.selected_column().is_some_and(|selected| selected.id == column.id);
        if is_selected && window.local.shared.takes_focus(Panel::Picture) {
            response.request_focus();
        }
        let corner = rect.min.to_vec2();
        let seen: Area = ui.clip_rect().translate(-corner);
        let mut painted = figure.marks(layout, &seen);
        for mark in &mut painted {
            mark.shift(corner);
        }
        marks::paint(ui.painter(), painted);
        ui.ctx().allow_widget_id_changes_in(rect.expand(1.0));
        if let Some(area) = reveals.and_then(|place| layout.boxes.get(place)) {
            ui.scroll_to_rect((*area).translate(corner).expand(24.0), None);
        }
        for place in layout.lines(&seen) {
            let area = layout.boxes[place].translate(corner);
            let Some(at) = drawn.id(place).filter(|_| ui.clip_rect().intersects(area)) else { continue };
            // no stop of the Tab key: the arrows walk the tree
            let part = ui.interact(area, Id::unique(("tree node", column.id, at)), Sense::CLICK);
            if has_reader(&part) {
                node(&part, Role::TreeItem, || label(tree, at, &drawn.nodes[place]));
            }
            if part.clicked() {
                chosen = Some(at);
                response.request_focus();
            }
            if part.double_clicked() {
                go_on(window, column, tree, at);
            }
            window.offer(&part, MenuTarget::Picture { column: column.id });
            part.on_hover_ui(|ui| drop(ui.label(tree.reason(at))));
        }
        window.offer(&response, MenuTarget::Picture { column: column.id });
        if response.contains_pointer() {
            scale *= ui.input(egui::InputState::zoom_delta);
        }
        if response.has_focus() {
            let ring = Stroke::new(1.5, theme::tokens(ui).accent);
            ui.painter().rect_stroke(view.shrink(1.0), 3.0, ring, StrokeKind::Inside);
            chosen = keys(ui, window, column, (tree, drawn), response.id, memory).or(chosen);
        }
    });
    memory.scale = scale.clamp(SCALES.0, SCALES.1);
    memory.seen = memory.selected;
    if chosen.is_some() {
        memory.selected = chosen;
    }
}

fn follow(arranged: &Arranged, memory: &mut TreeMemory) {
    let steps = Some(arranged.of.steps);
    if !memory.follows || memory.followed == steps {
        return;
    }
    memory.followed = steps;
    let tip = arranged.drawn.nodes.iter().rposition(|node| node.is_best);
    memory.selected = tip.and_then(|place| arranged.drawn.id(place)).or(memory.selected);
}

fn label(tree: &SearchTree, at: usize, node: &DrawnNode<'_>) -> String {
    let step = tree.nodes.get(at).map_or(0, |node| node.step + 1);
    let state = match node.state {
        NodeState::Inner => "",
        NodeState::Finished => tr!(", finished"),
        NodeState::Cut => tr!(", cut"),
        NodeState::Pruned => tr!(", pruned"),
    };
    let said = node.said.name().map(|name| format!(", {}", lang::text(name))).unwrap_or_default();
    let best = if node.is_best { tr!(", of the shown hypothesis") } else { "" };
    tr!(
        "Node {}, step {step}, probability {}{state}{said}{best}",
        node.text,
        format_args!("{:.2}", node.log_p.exp()),
        step,
        state,
        said,
        best
    )
}

/// Arrows move in the tree, Space folds a branch, Enter continues from the node. Returns the selected node.
fn keys(
    ui: &Ui, window: &mut Window<'_>, column: &Column, (tree, drawn): (&SearchTree, &DrawnTree), id: Id,
    memory: &mut TreeMemory,
) -> Option<usize> {
    let nodes = &drawn.nodes;
    let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let here = memory.selected.and_then(|at| drawn.place(at));
    let (Some(here), Some(at)) = (here, here.and_then(|here| drawn.id(here))) else { return drawn.id(0) };
    if pressed(Key::Enter) {
        go_on(window, column, tree, at);
    }
    if pressed(Key::Space) && !memory.collapsed.remove(&at) {
        memory.collapsed.insert(at);
    }
    let step = nodes[here].step;
    let same = |node: &DrawnNode<'_>| node.step == step;
    let to = if pressed(Key::ArrowLeft) {
        nodes[here].parent
    } else if pressed(Key::ArrowRight) {
        nodes.get(here + 1).filter(|next| next.parent == Some(here)).map(|_| here + 1)
    } else if pressed(Key::ArrowDown) {
        nodes[here + 1..].iter().position(same).map(|further| here + 1 + further)
    } else if pressed(Key::ArrowUp) {
        nodes[..here].iter().rposition(same)
    } else {
        None
    };
    to.and_then(|to| drawn.id(to))
}

/// Continues the search from a node: its words are held, the last one is forced.
fn go_on(window: &mut Window<'_>, column: &Column, tree: &SearchTree, at: usize) {
    window.push(InterveneCommand::Follow { column: column.id, tokens: tree.words(at) });
}

/// Details of the selected node. Of a word of several pieces alpha is the mean of their rows.
fn details_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, tree: &SearchTree, memory: &mut TreeMemory) {
    let Some(at) = memory.selected else { return };
    let drawn = memory.arranged.as_ref().map(|arranged| &arranged.drawn);
    let part = drawn.map_or_else(|| vec![at], |drawn| drawn.part_of(at));
    let text = drawn.and_then(|drawn| Some(drawn.nodes.get(drawn.place(at)?)?.text.to_string()));
    let Some(at) = part.last().copied() else { return };
    let Some(node) = tree.nodes.get(at) else { return };
    let found: Vec<&engine::decoding::Node> = part.iter().filter_map(|at| column.result.nodes.get(*at)).collect();
    let t = theme::tokens(ui);
    let small = |text: String| RichText::new(text).size(theme::TEXT_SMALL);
    ui.spacing_mut().item_spacing.y = 1.0;
    let is_narrow = ui.available_width() < NARROW;
    let reason = |ui: &mut Ui| ui.add(egui::Label::new(small(tree.reason(at)).color(t.weak)).truncate());
    let log_p: f32 = found.iter().map(|found| found.log_p).sum();
    let text = format!("{}   p {:.3}", text.as_deref().unwrap_or(&node.text), log_p.exp());
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            buttons_ui(ui, window, column, (tree, at), memory);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let word = egui::Label::new(RichText::new(text).color(t.accent)).truncate();
                ui.add(word).on_hover_text(tree.reason(at));
                if !is_narrow {
                    reason(ui);
                }
            });
        });
    });
    if ui.max_rect().height() <= LOW.1 {
        return;
    }
    if is_narrow {
        reason(ui);
    }
    if let Some(alpha) = mean(&found) {
        let mut most: Vec<(usize, f32)> = alpha.into_iter().enumerate().collect();
        most.sort_by(|a, b| b.1.total_cmp(&a.1));
        let word = |j: usize| column.source.tokens.get(j).map_or("", String::as_str);
        let named = most.iter().take(NAMED).filter(|(_, alpha)| *alpha >= 0.005);
        let named: Vec<String> =
            named.map(|(j, alpha)| format!("{} {}", word(*j), labels::alpha_text(*alpha))).collect();
        // a node has the row that it was predicted with
        let is_read = column.table.as_ref().is_some_and(|table| table.reading == Some(RowConvention::Input));
        let when = if is_read { tr!(", when it was predicted") } else { "" };
        ui.add(egui::Label::new(small(tr!("looks at {}{when}", named.join(", "), when))).truncate());
    }
    let word = |id: &u32| column.result.words.get(id).map_or("", String::as_str);
    let others = found.first().map_or(&[][..], |first| &first.candidates).iter().take(NAMED);
    let others: Vec<String> = others.map(|(id, log_p)| format!("{} {:.3}", word(id), log_p.exp())).collect();
    let of = if part.len() > 1 { tr!("candidates for its first piece") } else { tr!("candidates") };
    ui.add(egui::Label::new(small(format!("{of} {}", others.join(", ")))).truncate());
}

fn buttons_ui(
    ui: &mut Ui, window: &mut Window<'_>, column: &Column, (tree, at): (&SearchTree, usize), memory: &mut TreeMemory,
) {
    if tree.nodes.get(at).is_some_and(|node| !node.children.is_empty()) {
        let is_closed = memory.collapsed.contains(&at);
        let (text, name) =
            if is_closed { (tr!("Open"), tr!("Open branch")) } else { (tr!("Close"), tr!("Close branch")) };
        let note = tr!("{name}: its words are drawn, or only counted (Space)", name);
        let button = labels::small_button(ui, text).on_hover_text(note).accessible_name(name);
        if button.clicked() && !memory.collapsed.remove(&at) {
            memory.collapsed.insert(at);
        }
    }
    let note = tr!("The search goes on from here: holds these words and forces the last (Enter)");
    if labels::small_button(ui, tr!("Go on")).on_hover_text(note).accessible_name(tr!("Go on from here")).clicked() {
        go_on(window, column, tree, at);
    }
}

fn mean(found: &[&engine::decoding::Node]) -> Option<Vec<f32>> {
    let rows = found.iter().map(|found| found.alpha.as_deref()).collect::<Option<Vec<&[f32]>>>()?;
    let share = 1.0 / rows.len() as f32;
    let mut mean = vec![0.0; rows.first()?.len()];
    for row in rows {
        mean.iter_mut().zip(row).for_each(|(mean, alpha)| *mean += share * alpha);
    }
    Some(mean)
}
