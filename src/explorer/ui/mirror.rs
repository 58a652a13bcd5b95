//! The window's accessibility tree as elements of the page, for screen readers: a browser sees only a picture in a canvas.
//!
//! Each named node of the tree becomes an element with its role, name, state and place, over the canvas and not seen. The canvas and the
//! field that takes the keyboard name the element that has the focus. A click on an element, as screen readers send, goes to the window.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use egui::accesskit::{Action, ActionRequest, Node, NodeId, Role, Toggled, TreeId};
use egui::{Context, Event, FullOutput, Plugin, RawInput};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Document, Element};

/// Seconds between two looks at the tree: a translation that grows word by word is not mirrored at each word.
const EVERY: f64 = 0.25;

struct Shown {
    element: Element,
    attributes: Vec<(&'static str, String)>,
    children: Vec<NodeId>,
}

#[derive(Default)]
struct Page {
    shown: HashMap<NodeId, Shown>,
    asked: Vec<ActionRequest>,
    looked: f64,
}

thread_local! {
    static PAGE: RefCell<Page> = RefCell::default();
}

/// Keeps the mirror.
pub struct Mirror;

impl Mirror {
    /// Keeps the element `mirror` of the page as the window is, and hears what is done with its elements.
    pub fn install(ctx: &Context) {
        ctx.enable_accesskit();
        ctx.add_plugin(Self);
        for (event, action) in [("click", Action::Click), ("focusin", Action::Focus)] {
            let ctx = ctx.clone();
            let heard = Closure::<dyn Fn(web_sys::Event)>::new(move |event: web_sys::Event| {
                let id =
                    event.target().and_then(|target| target.dyn_into::<Element>().ok()).map(|element| element.id());
                let Some(node) = id.as_deref().and_then(|id| id.strip_prefix('n')?.parse().ok()) else { return };
                let request =
                    ActionRequest { action, target_tree: TreeId::ROOT, target_node: NodeId(node), data: None };
                PAGE.with_borrow_mut(|page| page.asked.push(request));
                // keys go to the window
                if let Some(canvas) = document().and_then(|document| document.get_element_by_id("explorer")) {
                    let _ = canvas.unchecked_into::<web_sys::HtmlCanvasElement>().focus();
                }
                ctx.request_repaint();
            });
            if let Some(root) = document().and_then(|document| document.get_element_by_id("mirror")) {
                let _ = root.add_event_listener_with_callback(event, heard.as_ref().unchecked_ref());
            }
            // as long as the page
            heard.forget();
        }
    }
}

impl Plugin for Mirror {
    fn debug_name(&self) -> &'static str {
        "mirror"
    }

    fn input_hook(&mut self, _ctx: &Context, input: &mut RawInput) {
        let asked = PAGE.with_borrow_mut(|page| std::mem::take(&mut page.asked));
        input.events.extend(asked.into_iter().map(Event::AccessKitActionRequest));
    }

    fn output_hook(&mut self, ctx: &Context, output: &mut FullOutput) {
        let Some(update) = output.platform_output.accesskit_update.take() else { return };
        PAGE.with_borrow_mut(|page| {
            let now = ctx.input(|input| input.time);
            if now - page.looked < EVERY {
                ctx.request_repaint_after_secs(EVERY as f32);
                return;
            }
            page.looked = now;
            let nodes: HashMap<NodeId, &Node> = update.nodes.iter().map(|(id, node)| (*id, node)).collect();
            let (Some(tree), Some(document)) = (&update.tree, document()) else { return };
            // a page without a mirror is one that nobody reads
            let _ = page.show(&document, &nodes, tree.root, update.focus, ctx.zoom_factor());
        });
    }
}

impl Page {
    fn show(
        &mut self, document: &Document, nodes: &HashMap<NodeId, &Node>, root: NodeId, focus: NodeId, zoom: f32,
    ) -> Result<(), JsValue> {
        let mut seen = HashSet::new();
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            let Some(node) = nodes.get(&id).filter(|_| seen.insert(id)) else { continue };
            let children = kept_children(nodes, node);
            todo.extend(&children);
            let by =
                node.labelled_by().iter().find_map(|by| nodes.get(by)).and_then(|by| by.label().or_else(|| by.value()));
            let attributes = attributes(id, node, by, zoom);
            let shown = match self.shown.get_mut(&id) {
                Some(shown) => shown,
                None => {
                    let place = document.get_element_by_id("mirror").filter(|_| id == root);
                    let element = place.map_or_else(|| document.create_element("div"), Ok)?;
                    self.shown.entry(id).or_insert(Shown { element, attributes: Vec::new(), children: Vec::new() })
                }
            };
            if id != root && shown.attributes != attributes {
                for (name, _) in
                    shown.attributes.iter().filter(|(name, _)| !attributes.iter().any(|(own, _)| own == name))
                {
                    shown.element.remove_attribute(name)?;
                }
                for (name, value) in attributes.iter().filter(|attribute| !shown.attributes.contains(attribute)) {
                    shown.element.set_attribute(name, value)?;
                }
                shown.attributes = attributes;
            }
            if shown.children != children {
                shown.children.clone_from(&children);
                let parent = shown.element.clone();
                // only what is not in its place is moved: what moves loses the screen reader's place
                let mut place = parent.first_child();
                for child in children {
                    let element = match self.shown.get(&child) {
                        Some(shown) => shown.element.clone(),
                        None => document.create_element("div")?,
                    };
                    if place.as_ref().is_some_and(|place| place.is_same_node(Some(&element))) {
                        place = element.next_sibling();
                    } else {
                        parent.insert_before(&element, place.as_ref())?;
                    }
                    let fresh = || Shown { element, attributes: Vec::new(), children: Vec::new() };
                    self.shown.entry(child).or_insert_with(fresh);
                }
            }
        }
        self.shown.retain(|id, shown| {
            let stays = seen.contains(id);
            if !stays {
                shown.element.remove();
            }
            stays
        });
        self.point_to(document, nodes, focus, root)
    }

    /// What has the keyboard names the node that has the focus; the field of the keyboard is called as the field that it fills.
    fn point_to(
        &self, document: &Document, nodes: &HashMap<NodeId, &Node>, focus: NodeId, root: NodeId,
    ) -> Result<(), JsValue> {
        for holder in ["#explorer", "body > input"] {
            let Some(holder) = document.query_selector(holder)? else { continue };
            let Some(node) = nodes.get(&focus).filter(|_| focus != root && self.shown.contains_key(&focus)) else {
                holder.remove_attribute("aria-activedescendant")?;
                continue;
            };
            holder.set_attribute("aria-activedescendant", &place(focus))?;
            if holder.tag_name() == "INPUT" {
                holder.set_attribute("aria-label", node.label().unwrap_or_default())?;
            }
        }
        Ok(())
    }
}

fn document() -> Option<Document> {
    web_sys::window()?.document()
}

fn place(id: NodeId) -> String {
    format!("n{}", id.0)
}

/// The nodes below that are worth an element: what has neither name nor use gives its place to what is within.
fn kept_children(nodes: &HashMap<NodeId, &Node>, node: &Node) -> Vec<NodeId> {
    let mut kept = Vec::new();
    for id in node.children() {
        let Some(child) = nodes.get(id).filter(|child| !child.is_hidden()) else { continue };
        match child.role() {
            Role::TextRun => {}
            _ if role(child).is_some() => kept.push(*id),
            _ => kept.extend(kept_children(nodes, child)),
        }
    }
    kept
}

/// The role of ARIA; `None`: the node says nothing.
fn role(node: &Node) -> Option<&'static str> {
    let is_named = node.label().is_some() || node.value().is_some();
    Some(match node.role() {
        Role::Button | Role::DefaultButton => "button",
        Role::CheckBox => "checkbox",
        Role::RadioButton => "radio",
        Role::Switch => "switch",
        Role::Slider => "slider",
        Role::SpinButton => "spinbutton",
        Role::TextInput | Role::MultilineTextInput | Role::SearchInput => "textbox",
        Role::ComboBox | Role::EditableComboBox => "combobox",
        Role::Link => "link",
        Role::Tab => "tab",
        Role::MenuItem => "menuitem",
        Role::ListItem => "listitem",
        Role::ListBoxOption => "option",
        Role::ProgressIndicator => "progressbar",
        Role::Heading => "heading",
        Role::Table | Role::Grid => "table",
        Role::Row => "row",
        Role::Cell | Role::GridCell => "cell",
        Role::ColumnHeader => "columnheader",
        Role::RowHeader => "rowheader",
        Role::Dialog | Role::AlertDialog => "dialog",
        Role::Image | Role::GraphicsObject | Role::Canvas if is_named => "img",
        Role::Label if is_named => "note",
        _ if is_named => "group",
        _ => return None,
    })
}

/// `by` is the text that labels it from beside.
fn attributes(id: NodeId, node: &Node, by: Option<&str>, zoom: f32) -> Vec<(&'static str, String)> {
    let role = role(node).unwrap_or("group");
    let mut all = vec![("id", place(id)), ("role", role.to_owned())];
    let label = node.label().or(by).or_else(|| node.value().filter(|_| role == "note"));
    all.extend(label.map(|label| ("aria-label", label.to_owned())));
    if label != node.value() {
        all.extend(node.value().map(|value| ("aria-valuetext", value.to_owned())));
    }
    for (name, number) in [
        ("aria-valuenow", node.numeric_value()),
        ("aria-valuemin", node.min_numeric_value()),
        ("aria-valuemax", node.max_numeric_value()),
    ] {
        all.extend(number.map(|number| (name, number.to_string())));
    }
    let toggled = node.toggled().map(|toggled| match toggled {
        Toggled::True => "true",
        Toggled::False => "false",
        Toggled::Mixed => "mixed",
    });
    let pressed = if role == "button" { "aria-pressed" } else { "aria-checked" };
    all.extend(toggled.map(|toggled| (pressed, toggled.to_owned())));
    all.extend(node.is_selected().map(|is_selected| ("aria-selected", is_selected.to_string())));
    if node.is_disabled() {
        all.push(("aria-disabled", "true".to_owned()));
    }
    if node.supports_action(Action::Click) || node.supports_action(Action::Focus) {
        all.push(("tabindex", "-1".to_owned()));
    }
    if let Some(bounds) = node.bounds() {
        let [x, y, width, height] = [bounds.x0, bounds.y0, bounds.width(), bounds.height()].map(|n| n as f32 * zoom);
        all.push(("style", format!("left:{x:.0}px;top:{y:.0}px;width:{width:.0}px;height:{height:.0}px")));
    }
    all
}
