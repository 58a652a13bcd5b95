//! Floor 13: a window without a display, whose frames are laid out and tessellated: everything that the window's own
//! thread does for a frame but handing it to the graphics card.

use std::time::{Duration, Instant};

use egui::{Event as Input, Pos2, RawInput, Rect, Vec2, vec2};

use crate::session::command::Command;
use crate::session::state::Session;
use crate::ui::{App, Desk};

/// Frames before those that count: fonts, textures and layout settle.
pub(super) const WARM_UP: usize = 12;
/// The usual window, points.
pub(super) const WINDOW: Vec2 = Vec2::new(1280.0, 800.0);
/// Syllables that the words are made of.
const SYLLABLES: [&str; 8] = ["la", "mer", "sol", "ti", "vent", "ro", "ge", "nuit"];

/// A word that is not like its neighbours in length.
pub(super) fn word(n: usize) -> String {
    (0..=n % 3).map(|k| SYLLABLES[(n * 5 + k * 3) % SYLLABLES.len()]).collect()
}

/// The wheel in frame n: forth and back, down and to the right.
pub(super) fn wheel(n: usize) -> Input {
    let delta = if (n / 30).is_multiple_of(2) { vec2(-23.0, -31.0) } else { vec2(23.0, 31.0) };
    let (unit, phase, modifiers) = (egui::MouseWheelUnit::Point, egui::TouchPhase::Move, egui::Modifiers::NONE);
    let source = egui::MouseWheelSource::Wheel;
    Input::MouseWheel { unit, delta, phase, source, modifiers }
}

/// The window without a display.
pub(super) struct Window {
    pub(super) app: App,
    ctx: egui::Context,
    size: Vec2,
    time: f64,
    pub(super) triangles: usize,
}

impl Window {
    pub(super) fn new(session: Session, size: Vec2) -> Self {
        Self::of(Box::new(Alone(session)), size)
    }

    pub(super) fn of(desk: Box<dyn Desk>, size: Vec2) -> Self {
        let ctx = egui::Context::default();
        let app = App::new(desk, &ctx);
        Self { app, ctx, size, time: 0.0, triangles: 0 }
    }

    /// One frame, a sixtieth of a second after the last; how long it took, milliseconds.
    pub(super) fn frame(&mut self, events: Vec<Input>) -> f64 {
        self.time += 1.0 / 60.0;
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, self.size));
        let input = RawInput { screen_rect, time: Some(self.time), events, ..RawInput::default() };
        let began = Instant::now();
        self.app.begin();
        let mut output = self.ctx.run_ui(input, |ui| self.app.paint(ui));
        let meshes = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        let took = 1000.0 * began.elapsed().as_secs_f64();
        // there is no graphics card that would take them
        output.textures_delta.clear();
        let triangles = |primitive: &egui::ClippedPrimitive| match &primitive.primitive {
            egui::epaint::Primitive::Mesh(mesh) => mesh.indices.len() / 3,
            egui::epaint::Primitive::Callback(_) => 0,
        };
        self.triangles = meshes.iter().map(triangles).sum();
        took
    }
}

/// A session without a worker.
struct Alone(Session);

impl Desk for Alone {
    fn session(&self) -> &Session {
        &self.0
    }

    fn send(&mut self, command: Command) {
        self.0.apply(command);
    }

    fn pump(&mut self, _budget: Duration) -> bool {
        false
    }
}
