//! Words and phrases as points in the plane, with zoom, pan and labels that do not overlap.

pub mod paint;

use std::sync::Arc;

use egui::accesskit::{Action, Role};
use egui::{Event, EventFilter, Id, Key, Modifiers, Rect, Response, Sense, Ui, vec2};

use crate::pages::map::VectorMap;
use crate::widgets::{has_reader, keep, marks, node, theme};
use figure::geometry::{Area, Point};
use figure::plane::{Camera, Labels};
use figure::{measure::SansSerif, palette::Palette, plane, provenance::Provenance};

const STEP: f32 = 60.0;
const CLOSER: f32 = 1.4;
/// Labels measured in a frame at most; the rest waits for the next frame.
const MEASURED: usize = 400;

/// A map with its points, to be painted.
pub struct PlaneWidget<'a> {
    pub id: Id,
    pub name: &'a str,
    pub chart: &'a Arc<VectorMap>,
    /// From 0 to 1 for each point.
    pub shade: &'a dyn Fn(usize) -> f32,
    pub selected: Option<usize>,
    pub near: &'a [usize],
    pub matches: &'a [usize],
}

/// What a map remembers between two frames.
#[derive(Default)]
pub struct PlaneMemory {
    chart: Option<Arc<VectorMap>>,
    /// `None`: all points are in view.
    pub camera: Option<Camera>,
    /// Widths of labels and the pixels a point at which they were measured; NaN where not measured yet.
    widths: (f32, Vec<f32>),
    seen: Option<usize>,
    /// The factor by which buttons zoom.
    pub asked: Option<f32>,
}

impl PlaneWidget<'_> {
    /// Paints the map; answers with what was clicked: a point, or nothing.
    pub fn show(&self, ui: &mut Ui, memory: &mut PlaneMemory) -> Option<Option<usize>> {
        let view = ui.available_rect_before_wrap();
        if !view.is_positive() {
            return None;
        }
        let response = ui.interact(view, self.id, Sense::click_and_drag());
        let mut camera = self.camera(view, memory);
        if let Some(factor) = memory.asked.take() {
            camera = camera.zoomed(&view, view.center(), factor);
        }
        self.move_camera(ui, view, &response, &mut camera);
        // A view that was not moved goes on showing everything when its size changes.
        memory.camera = Some(camera).filter(|camera| *camera != self.whole(view));
        let area = view;
        let feet: Vec<Point> = self.chart.layout.places.iter().map(|place| camera.to_screen(&area, *place)).collect();
        let under = response.hover_pos().filter(|_| !response.dragged()).and_then(|at| plane::hit(&feet, at));
        let mut clicked = response.clicked().then_some(under);
        if clicked.is_some() {
            response.request_focus();
        }
        let figure = plane::Plane {
            feet: &feet,
            shade: self.shade,
            text: &|at| self.chart.points[at].text.as_str(),
            selected: self.selected,
            near: self.near,
            matches: self.matches,
            under,
            closeness: camera.closeness(),
            dark: ui.visuals().dark_mode,
        };
        let labels = self.labels(ui, &area, &figure, memory);
        marks::paint(&ui.painter().with_clip_rect(view), figure.marks(&area, &labels));
        if response.has_focus() {
            paint::focus(ui, view);
        }
        clicked = self.read_out(ui, view, &labels, &response).or(clicked);
        if let Some(under) = under {
            paint::tooltip(&response, self.chart, under);
        }
        let is_dark = ui.visuals().dark_mode;
        keep::corner_ui(ui, view, self.name, || {
            let provenance = Provenance { title: self.name.to_owned(), facts: Vec::new() };
            let still = plane::Plane { under: None, dark: is_dark, ..figure };
            let whole = still.whole(&self.chart.layout.places, keep::MAP, &SansSerif, provenance);
            whole.grounded(Palette::of(is_dark)).kept()
        });
        ui.advance_cursor_after_rect(view);
        clicked
    }

    /// The camera of the last frame, or all points for a new map. A newly selected point scrolls into view.
    fn camera(&self, view: Rect, memory: &mut PlaneMemory) -> Camera {
        if !memory.chart.as_ref().is_some_and(|chart| Arc::ptr_eq(chart, self.chart)) {
            *memory = PlaneMemory { chart: Some(Arc::clone(self.chart)), ..PlaneMemory::default() };
        }
        let mut camera = memory.camera.unwrap_or_else(|| self.whole(view));
        if memory.seen != self.selected {
            memory.seen = self.selected;
            let place = self.selected.and_then(|at| self.chart.layout.places.get(at));
            if let Some(place) = place
                && !view.shrink(view.size().min_elem() * 0.1).contains(camera.to_screen(&view, *place))
            {
                camera = camera.centred(*place);
            }
        }
        camera
    }

    fn whole(&self, view: Rect) -> Camera {
        Camera::whole(&self.chart.layout.places, view.size())
    }

    fn move_camera(&self, ui: &Ui, view: Rect, response: &Response, camera: &mut Camera) {
        if response.dragged() {
            *camera = camera.panned(response.drag_delta());
        }
        if let Some(at) = response.hover_pos() {
            let (pinch, wheel) = ui.input(|input| (input.zoom_delta(), input.smooth_scroll_delta().y));
            let factor = pinch * (wheel / 400.0).exp();
            if (factor - 1.0).abs() > f32::EPSILON {
                *camera = camera.zoomed(&view, at, factor);
            }
        }
        if response.double_clicked() {
            *camera = self.whole(view);
        }
        if response.has_focus() {
            self.keys(ui, view, camera);
        }
    }

    fn keys(&self, ui: &Ui, view: Rect, camera: &mut Camera) {
        let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(self.id, filter));
        let presses = |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key)) as f32;
        let right = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
        let down = presses(Key::ArrowDown) - presses(Key::ArrowUp);
        let closer = presses(Key::Plus) + presses(Key::Equals) - presses(Key::Minus);
        let all = presses(Key::Num0) > 0.0;
        *camera = camera.panned(-STEP * vec2(right, down));
        if closer != 0.0 {
            *camera = camera.zoomed(&view, view.center(), CLOSER.powf(closer));
        }
        if all {
            *camera = self.whole(view);
        }
    }

    fn labels(&self, ui: &Ui, view: &Area, figure: &plane::Plane<'_, '_>, memory: &mut PlaneMemory) -> Labels {
        let (pixels, count) = (ui.ctx().pixels_per_point(), figure.feet.len());
        if memory.widths.0 != pixels || memory.widths.1.len() != count {
            memory.widths = (pixels, vec![f32::NAN; count]);
        }
        let widths = &mut memory.widths.1;
        let mut measured = 0;
        figure.labels(view, ui.ctx().fonts_mut(|fonts| fonts.row_height(&theme::small())), |at| {
            if widths[at].is_nan() {
                if measured == MEASURED {
                    ui.ctx().request_repaint();
                    return None;
                }
                measured += 1;
                widths[at] = paint::label_width(ui, &self.chart.points[at].text);
            }
            Some(widths[at])
        })
    }

    /// Makes accessibility nodes of the plane and of the labelled points. The others are found by searching.
    #[expect(clippy::option_option, reason = "no click, a click beside all points, one on a point")]
    fn read_out(&self, ui: &Ui, view: Rect, labels: &Labels, response: &Response) -> Option<Option<usize>> {
        node(response, Role::Canvas, || self.name.to_owned());
        if !has_reader(response) {
            return None;
        }
        let mut clicked = None;
        let ctx = ui.ctx();
        ctx.allow_widget_id_changes_in(Rect::EVERYTHING);
        let wanted =
            ctx.input(|input| input.events.iter().any(|event| matches!(event, Event::AccessKitActionRequest(_))));
        for &(at, area) in &labels.placed {
            let id = response.id.with(("point", at));
            let point = ui.interact(area.intersect(view), id, Sense::hover());
            node(&point, Role::GridCell, || paint::describe(self.chart, at));
            if wanted && ctx.input(|input| input.has_accesskit_action_request(id, Action::Click)) {
                clicked = Some(Some(at));
            }
        }
        clicked
    }
}
