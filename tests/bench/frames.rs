//! CPU time of frames of a window without a display, laid out and cut into triangles: everything that the window's own
//! thread does for a frame but handing it to the graphics card.

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{Event as Input, Pos2, RawInput, Rect, Vec2, pos2, vec2};
use serde_json::json;

use crate::timing::{millis, told};
use crate::{Setup, scenes};
use interlinear::app::command::{SettingsCommand, WindowCommand};
use interlinear::app::layout::{Layout, Look};
use interlinear::cli::bench::figures::{BenchColumn, Figures};
use interlinear::jobs::steps::{StepTrace, StepsEvent};
use interlinear::ui::{App, SessionHost};
use interlinear::{app::tasks::Effect, pages::command::Command, pages::sentence::view::memory::TreeMemory};
use interlinear::{pages::steps::STEPS, pages::steps::command::StepsCommand, session::state::Session, widgets::theme};

/// The heatmap's words a side, and whether all of them are in view.
const SIZES: &[(usize, bool)] = &[(60, false), (200, false), (200, true)];
/// Beam and words of the search, and of that of the quick form.
const SEARCHES: [(usize, usize); 2] = [(12, 40), (3, 5)];
const WARM_UP: usize = 12;
const WINDOW: Vec2 = Vec2::new(1280.0, 800.0);

const COLUMNS: &[BenchColumn] = &[
    BenchColumn::words("shown", 28),
    BenchColumn::number("triangles", 0),
    BenchColumn::words("what happens", 20),
    BenchColumn::number("median ms", 2),
    BenchColumn::number("p99 ms", 2),
    BenchColumn::number("most ms", 2),
];

type Before<'a> = &'a mut dyn FnMut(&mut Window, usize) -> Vec<Input>;

pub fn heatmap(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    figures.head(COLUMNS)?;
    for &(words, whole) in if setup.quick { &[(6, false)] } else { SIZES } {
        let side = words as f32 * theme::CELL_AUTO.0;
        let size = if whole { WINDOW.max(vec2(side + 520.0, side + 760.0)) } else { WINDOW };
        let mut window = Window::new(scenes::translation(words), size);
        window.settle();
        // under the source text and the translation, over the beam
        let (top, height) = (0.55 * size.y, 0.45 * size.y - 220.0);
        let over = |n| wandering(n, Rect::from_min_size(pos2(0.38 * size.x, top), vec2(0.2 * size.x, height)));
        let shown = format!("{words} x {words} in {:.0} x {:.0}", size.x, size.y);
        let kinds: [(&str, Before<'_>); 4] = [
            ("nothing", &mut |_, _| Vec::new()),
            ("mouse", &mut |_, n| vec![Input::PointerMoved(over(n))]),
            ("wheel", &mut |_, n| vec![wheel(n)]),
            ("new numbers", &mut |window, n| {
                let name = theme::COLOUR_MAPS[n % theme::COLOUR_MAPS.len()].name;
                window.app.send(SettingsCommand::SetPalette(name.to_owned()));
                Vec::new()
            }),
        ];
        rows(setup, figures, &mut window, &shown, kinds)?;
    }
    Ok(())
}

pub fn tree(setup: &Setup, figures: &mut Figures) -> anyhow::Result<()> {
    let (beam, words) = SEARCHES[usize::from(setup.quick)];
    figures.head(COLUMNS)?;
    for pruned in [false, true] {
        let mut window = Window::new(scenes::tree(beam, words), WINDOW);
        window.app.send(WindowCommand::SetLayout(Box::new(Layout { look: Look::Tree, ..Layout::default() })));
        window.frame(Vec::new());
        window.remember(|memory| memory.pruned = pruned);
        window.settle();
        let mut nodes = Vec::new();
        window.remember(|memory| {
            let arranged = memory.arranged.iter();
            nodes = arranged.flat_map(|arranged| arranged.drawn.parts.iter().flatten().copied()).collect();
        });
        let (top, height) = (0.5 * WINDOW.y, 0.5 * WINDOW.y - 260.0);
        let over = |n| wandering(n, Rect::from_min_size(pos2(0.38 * WINDOW.x, top), vec2(0.4 * WINDOW.x, height)));
        let shown = format!("beam {beam}, {words} words, {} nodes", nodes.len());
        let kinds: [(&str, Before<'_>); 5] = [
            ("nothing", &mut |_, _| Vec::new()),
            ("mouse", &mut |_, n| vec![Input::PointerMoved(over(n))]),
            ("wheel", &mut |_, n| vec![wheel(n)]),
            ("another node", &mut |window, n| {
                window.remember(|memory| memory.selected = nodes.get(n % nodes.len().max(1)).copied());
                Vec::new()
            }),
            ("another step", &mut |window, n| {
                window.remember(|memory| memory.steps = Some(1 + n % words));
                Vec::new()
            }),
        ];
        rows(setup, figures, &mut window, &shown, kinds)?;
    }
    Ok(())
}

pub fn steps(setup: &Setup, figures: &mut Figures, all: &[Arc<StepTrace>]) -> anyhow::Result<()> {
    figures.head(COLUMNS)?;
    for apart in all {
        let (count, machine) = (apart.steps.len().max(1), &apart.machine);
        let mut window = Window::new(steps_of(apart), WINDOW);
        window.settle();
        let kinds: [(&str, Before<'_>); 3] = [
            ("nothing", &mut |_, _| Vec::new()),
            ("next step", &mut |window, n| {
                window.app.send(StepsCommand::GoTo(n % count));
                Vec::new()
            }),
            ("open box", &mut |window, n| {
                let stage = machine.stages.get(n % machine.stages.len().max(1));
                window.app.send(StepsCommand::Open(stage.map(|stage| stage.key.to_owned())));
                Vec::new()
            }),
        ];
        rows(setup, figures, &mut window, &apart.model, kinds)?;
    }
    Ok(())
}

fn steps_of(apart: &Arc<StepTrace>) -> Session {
    let mut session = scenes::translation(4);
    session.apply(WindowCommand::ShowPage(STEPS));
    for effect in session.take_effects() {
        if let Effect::TakeApart { number, .. } = effect {
            session.absorb_steps(StepsEvent { number, found: Ok(Arc::clone(apart)) });
        }
    }
    session
}

fn rows<const KINDS: usize>(
    setup: &Setup, figures: &mut Figures, window: &mut Window, shown: &str, kinds: [(&str, Before<'_>); KINDS],
) -> anyhow::Result<()> {
    anyhow::ensure!(window.triangles > 0, "nothing was drawn of {shown}");
    let triangles = json!(window.triangles);
    for (what, before) in kinds {
        let times = window.frames(setup.frames(), before);
        figures.row(&[&[json!(shown), triangles.clone(), json!(what)], &told(&times)[..]].concat())?;
    }
    Ok(())
}

fn wandering(n: usize, over: Rect) -> Pos2 {
    let share = |step: usize| (n * step % 100) as f32 / 100.0;
    over.min + over.size() * vec2(share(7), share(3))
}

pub fn wheel(n: usize) -> Input {
    let delta = if (n / 30).is_multiple_of(2) { vec2(-23.0, -31.0) } else { vec2(23.0, 31.0) };
    let (unit, phase, modifiers) = (egui::MouseWheelUnit::Point, egui::TouchPhase::Move, egui::Modifiers::NONE);
    let source = egui::MouseWheelSource::Wheel;
    Input::MouseWheel { unit, delta, phase, source, modifiers }
}

pub struct Window {
    pub app: App,
    ctx: egui::Context,
    size: Vec2,
    time: f64,
    triangles: usize,
}

impl Window {
    fn new(session: Session, size: Vec2) -> Self {
        Self::of(Box::new(Alone(session)), size)
    }

    pub fn usual(desk: Box<dyn SessionHost>) -> Self {
        Self::of(desk, WINDOW)
    }

    fn of(desk: Box<dyn SessionHost>, size: Vec2) -> Self {
        let ctx = egui::Context::default();
        let app = App::new(desk, &ctx);
        Self { app, ctx, size, time: 0.0, triangles: 0 }
    }

    pub fn settle(&mut self) {
        self.frames(WARM_UP, &mut |_, _| Vec::new());
    }

    pub fn frames(&mut self, count: usize, before: Before<'_>) -> Vec<f64> {
        let mut frame = |n| {
            let events = before(self, n);
            self.frame(events)
        };
        (0..count).map(&mut frame).collect()
    }

    fn remember(&mut self, change: impl FnOnce(&mut TreeMemory)) {
        if let Some(memory) = self.app.trees().next() {
            change(memory);
        }
    }

    pub fn frame(&mut self, events: Vec<Input>) -> f64 {
        self.time += 1.0 / 60.0;
        let screen_rect = Some(Rect::from_min_size(Pos2::ZERO, self.size));
        let input = RawInput { screen_rect, time: Some(self.time), events, ..RawInput::default() };
        let began = Instant::now();
        self.app.begin();
        let mut output = self.ctx.run_ui(input, |ui| self.app.paint(ui));
        let meshes = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        let took = millis(began);
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

struct Alone(Session);

impl SessionHost for Alone {
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
