//! Floor 9: the third picture of a column: its whole search as a tree, walked with the mouse or the arrow keys, grown step
//! by step, and gone on with from any node.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{EventFilter, Id, Key, Modifiers, Rect, RichText, ScrollArea, Sense, Slider, Stroke, StrokeKind, Ui, Vec2};

use crate::figure::tree::{Node, State, Tree};
use crate::session::tree::Shown;
use crate::session::{Column, InterveneCommand, SearchTree};
use crate::ui::local::{Panel, Window};
use crate::ui::theme;
use crate::ui::tree_memory::Memory;
use crate::ui::widgets::marks::Letters;
use crate::ui::widgets::{is_heard, labels, marks, node};

/// Height of what is said about the selected node, points.
const DETAILS: f32 = 66.0;
/// Sizes of the tree.
const SCALES: (f32, f32) = (0.5, 2.0);
/// So many source words and candidates are named.
const NAMED: usize = 5;

/// Paints the search of a column.
pub fn tree_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column) {
    let mut memory = window.local.trees.remove(&column.id).unwrap_or_default();
    let revision = column.table.as_ref().map_or(0, |table| table.revision);
    if memory.tree.is_none() || memory.revision != revision {
        let (pruned, scale) = (memory.pruned, memory.scale);
        let tree = SearchTree::of(column).map(Arc::new);
        let selected = tree.as_ref().and_then(|tree| tree.roots.first().copied());
        memory = Memory { revision, tree, selected, pruned, scale, ..Memory::default() };
    }
    match memory.tree.clone() {
        Some(tree) => whole_ui(ui, window, column, &tree, &mut memory),
        None if column.decoding => drop(ui.label("The tree is there when the search has ended")),
        None => {
            let text = "The search was too large to keep; a shorter text or a smaller beam shows it";
            ui.add(egui::Label::new(text).wrap());
        }
    }
    window.local.trees.insert(column.id, memory);
}

fn whole_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, tree: &SearchTree, memory: &mut Memory) {
    controls_ui(ui, tree, memory);
    let rect = ui.available_rect_before_wrap();
    let foot = (rect.bottom() - DETAILS).max(rect.top());
    let (above, below) = rect.split_top_bottom_at_y(foot);
    nodes_ui(&mut ui.new_child(egui::UiBuilder::new().id_salt("tree").max_rect(above)), window, column, tree, memory);
    let mut details = ui.new_child(egui::UiBuilder::new().id_salt("tree details").max_rect(below));
    details_ui(&mut details, window, column, tree, memory);
}

fn controls_ui(ui: &mut Ui, tree: &SearchTree, memory: &mut Memory) {
    ui.horizontal(|ui| {
        ui.spacing_mut().slider_width = 90.0;
        let small = |text: &str| RichText::new(text).size(theme::TEXT_SMALL);
        let label = ui.label(small("steps").color(theme::tokens(ui).weak));
        let mut steps = memory.steps.unwrap_or(tree.steps);
        let slider = ui.add(Slider::new(&mut steps, 1..=tree.steps.max(1))).labelled_by(label.id);
        if slider.on_hover_text("The search grows step by step").changed() {
            memory.steps = (steps < tree.steps).then_some(steps);
        }
        let note = "Branches that fell out of the beam, with the reason";
        ui.checkbox(&mut memory.pruned, small("pruned")).accessible_name("Pruned branches").on_hover_text(note);
        for (name, said, factor) in [("-", "Smaller tree", 0.8), ("+", "Larger tree", 1.25)] {
            if ui.small_button(name).accessible_name(said).on_hover_text(said).clicked() {
                memory.scale = (memory.scale * factor).clamp(SCALES.0, SCALES.1);
            }
        }
    });
}

fn nodes_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, tree: &SearchTree, memory: &mut Memory) {
    let steps = memory.steps.unwrap_or(tree.steps);
    let shown = Shown { steps, pruned: memory.pruned, collapsed: Some(&memory.collapsed), selected: memory.selected };
    let (ids, nodes) = tree.shown(&shown);
    let figure = Tree { nodes: &nodes, scale: memory.scale, palette: theme::palette(ui) };
    let layout = figure.layout(&Letters(ui));
    let view = ui.available_rect_before_wrap();
    let (mut chosen, mut scale) = (None, memory.scale);
    let reveals = memory.selected.filter(|_| memory.seen != memory.selected);
    ScrollArea::both().id_salt(("tree", column.id)).auto_shrink(false).show(ui, |ui| {
        let (rect, response) = ui.allocate_exact_size(Vec2::from(layout.size), Sense::click());
        let name = format!("Search of {} as a tree, {} nodes shown", column.name(), nodes.len());
        node(&response, Role::Tree, || name);
        let is_selected = window.session.selected_column().is_some_and(|selected| selected.id == column.id);
        if is_selected && window.local.takes_focus(Panel::Picture) {
            response.request_focus();
        }
        let layout = layout.moved(rect.min.to_vec2());
        marks::paint(ui.painter(), figure.marks(&layout, &ui.clip_rect().into()));
        ui.ctx().allow_widget_id_changes_in(rect.expand(1.0));
        for ((at, node_shown), area) in ids.iter().zip(&nodes).zip(&layout.boxes) {
            let area = Rect::from(*area);
            if reveals == Some(*at) {
                ui.scroll_to_rect(area.expand(24.0), None);
            }
            if !ui.clip_rect().intersects(area) {
                continue;
            }
            let part = ui.interact(area, Id::unique(("tree node", column.id, *at)), Sense::click());
            if is_heard(&part) {
                node(&part, Role::TreeItem, || label(node_shown));
            }
            if part.clicked() {
                chosen = Some(*at);
                response.request_focus();
            }
            if part.double_clicked() {
                go_on(window, column, tree, *at);
            }
            part.on_hover_text(tree.reason(*at));
        }
        if response.contains_pointer() {
            scale *= ui.input(egui::InputState::zoom_delta);
        }
        if response.has_focus() {
            let ring = Stroke::new(1.5, theme::tokens(ui).accent);
            ui.painter().rect_stroke(view.shrink(1.0), 3.0, ring, StrokeKind::Inside);
            chosen = keys(ui, window, column, (tree, &ids, &nodes), response.id, memory).or(chosen);
        }
    });
    memory.scale = scale.clamp(SCALES.0, SCALES.1);
    memory.seen = memory.selected;
    if chosen.is_some() {
        memory.selected = chosen;
    }
}

/// What a node says.
fn label(node: &Node<'_>) -> String {
    let state = match node.state {
        State::Inner => "",
        State::Finished => ", finished",
        State::Cut => ", cut",
        State::Pruned => ", pruned",
    };
    let said = node.said.name().map(|name| format!(", {name}")).unwrap_or_default();
    let best = if node.is_best { ", of the shown hypothesis" } else { "" };
    format!("Node {}, step {}, probability {:.2}{state}{said}{best}", node.text, node.step + 1, node.log_p.exp())
}

/// Arrows walk the tree, Space closes and opens a branch, Enter goes on from the node. Answers with the node that is chosen.
fn keys(
    ui: &Ui,
    window: &mut Window<'_>,
    column: &Column,
    drawn: (&SearchTree, &[usize], &[Node<'_>]),
    id: Id,
    memory: &mut Memory,
) -> Option<usize> {
    let (tree, ids, nodes) = drawn;
    let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let here = memory.selected.and_then(|at| ids.iter().position(|id| *id == at));
    let Some(here) = here else { return ids.first().copied() };
    let at = ids[here];
    if pressed(Key::Enter) {
        go_on(window, column, tree, at);
    }
    if pressed(Key::Space) && !memory.collapsed.remove(&at) {
        memory.collapsed.insert(at);
    }
    let step = nodes[here].step;
    let same = |node: &Node<'_>| node.step == step;
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
    to.map(|to| ids[to])
}

/// The search goes on from a node: its words are held, its last one is forced.
fn go_on(window: &mut Window<'_>, column: &Column, tree: &SearchTree, at: usize) {
    window.push(InterveneCommand::Follow { column: column.id, tokens: tree.words(at) });
}

/// What is known of the selected node: why it ended, where the model looked, what else could have been said.
fn details_ui(ui: &mut Ui, window: &mut Window<'_>, column: &Column, tree: &SearchTree, memory: &mut Memory) {
    let Some(at) = memory.selected else { return };
    let (Some(node), Some(found)) = (tree.nodes.get(at), column.result.nodes.get(at)) else { return };
    let t = theme::tokens(ui);
    let small = |text: String| RichText::new(text).size(theme::TEXT_SMALL);
    ui.spacing_mut().item_spacing.y = 1.0;
    ui.horizontal(|ui| {
        let text = format!("{}   p {:.3}", node.text, node.log_p.exp());
        ui.label(RichText::new(text).color(t.accent));
        let go = ui.small_button("Go on from here").on_hover_text("Holds these words and forces the last (Enter)");
        if go.clicked() {
            go_on(window, column, tree, at);
        }
        if !node.children.is_empty() {
            let is_closed = memory.collapsed.contains(&at);
            if ui.small_button(if is_closed { "Open" } else { "Close branch" }).on_hover_text("Space").clicked()
                && !memory.collapsed.remove(&at)
            {
                memory.collapsed.insert(at);
            }
        }
        ui.add(egui::Label::new(small(tree.reason(at)).color(t.weak)).truncate());
    });
    if let Some(alpha) = &found.alpha {
        let mut most: Vec<(usize, f32)> = alpha.iter().copied().enumerate().collect();
        most.sort_by(|a, b| b.1.total_cmp(&a.1));
        let word = |j: usize| column.source.tokens.get(j).map_or("", String::as_str);
        let named = most.iter().take(NAMED).filter(|(_, alpha)| *alpha >= 0.005);
        let named: Vec<String> =
            named.map(|(j, alpha)| format!("{} {}", word(*j), labels::alpha_text(*alpha))).collect();
        ui.add(egui::Label::new(small(format!("looks at {}", named.join(", ")))).truncate());
    }
    let word = |id: &u32| column.result.words.get(id).map_or("", String::as_str);
    let others = found.candidates.iter().take(NAMED);
    let others: Vec<String> = others.map(|(id, log_p)| format!("{} {:.3}", word(id), log_p.exp())).collect();
    ui.add(egui::Label::new(small(format!("candidates {}", others.join(", ")))).truncate());
}
