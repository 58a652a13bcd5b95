//! The window of the desk. After a crash a question comes first, so that a state that crashes is not reopened.

use std::sync::{Arc, OnceLock};

use egui::{CentralPanel, Context, Ui};

use crate::session::{defect, driver, persist};
use crate::session::{defect::Defect, driver::Driver};
use crate::ui::app::App;
use crate::widgets::{labels, theme};
use engine::error::{Error, Result};
use engine::lang::Language;

/// The size of the window at the first start, points.
const FIRST_SIZE: [f32; 2] = [1280.0, 800.0];
const LEAST_SIZE: [f32; 2] = [800.0, 500.0];

pub fn run(options: driver::OpenWith) -> Result<()> {
    open(options, |app| Box::new(app))
}

/// As [`run`], with the application wrapped in another.
pub fn open(options: driver::OpenWith, wrap: impl FnOnce(App) -> Box<dyn eframe::App> + 'static) -> Result<()> {
    if let Some(defect) = options.saved.as_deref().and_then(defect::found) {
        let begin: Begin = Box::new(move |is_anew, ctx| begun(options, is_anew, ctx, wrap));
        return show(None, |ctx| Box::new(AfterDefect::new(defect, ctx, begin)));
    }
    let window: Arc<OnceLock<egui::Context>> = Arc::default();
    let waker = Arc::clone(&window);
    // Models begin to load before the window is there; until then there is nothing to wake.
    let (bundled, home) = (options.bundled.clone(), options.home.clone());
    let driver = Driver::open(
        options,
        Arc::new(move || {
            if let Some(ctx) = waker.get() {
                ctx.request_repaint();
            }
        }),
    );
    let size = driver.session().app().view.layout.window;
    show(size, move |ctx| {
        let _ = window.set(ctx.clone());
        wrap(App::new(Box::new(driver), ctx).with_bundled(bundled, home).in_language(system_language()))
    })
}

fn begun(
    mut options: driver::OpenWith, is_anew: bool, ctx: &egui::Context, wrap: impl FnOnce(App) -> Box<dyn eframe::App>,
) -> Box<dyn eframe::App> {
    if is_anew {
        // A state that cannot be moved is left, and nothing is kept.
        options.saved = options.saved.filter(|path| persist::put_aside(path).is_ok() || !path.exists());
    }
    let (bundled, home) = (options.bundled.clone(), options.home.clone());
    let waker = ctx.clone();
    let driver = Driver::open(options, Arc::new(move || waker.request_repaint()));
    wrap(App::new(Box::new(driver), ctx).with_bundled(bundled, home).in_language(system_language()))
}

fn system_language() -> Language {
    Language::first_of(sys_locale::get_locales())
}

fn show(size: Option<[f32; 2]>, make: impl FnOnce(&egui::Context) -> Box<dyn eframe::App>) -> Result<()> {
    let native = native_options(size);
    eframe::run_native("Interlinear", native, Box::new(move |creation| Ok(make(&creation.egui_ctx)))).map_err(|error| {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let has_display = cfg!(any(windows, target_os = "macos"))
            || ["WAYLAND_DISPLAY", "WAYLAND_SOCKET", "DISPLAY"].iter().any(is_set);
        let why = if has_display { reason(&error.to_string()) } else { "there is no display".to_owned() };
        Error::Device(format!(
            "the window cannot open: {why}; the commands work without one, `interlinear help` lists them"
        ))
    })
}

/// What an error of the window's library says behind the place in its source, which is of the machine that built it.
fn reason(error: &str) -> String {
    let behind = error.rsplit_once(".rs:").and_then(|(_, place)| place.split_once(": "));
    behind.map_or(error, |(_, reason)| reason).to_owned()
}

fn native_options(size: Option<[f32; 2]>) -> eframe::NativeOptions {
    // A damaged icon is no reason not to open.
    let icon = eframe::icon_data::from_png_bytes(include_bytes!("../../../assets/icon.png")).unwrap_or_default();
    let side = |at: usize| size.map(|size| size[at]).filter(|side| *side >= LEAST_SIZE[at]).unwrap_or(FIRST_SIZE[at]);
    eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Interlinear")
            .with_app_id("interlinear")
            .with_icon(icon)
            .with_inner_size([side(0), side(1)])
            .with_min_inner_size(LEAST_SIZE),
        // Named because a build with tests turns the other renderer on as well.
        renderer: eframe::Renderer::Glow,
        // It would blur colours that mean numbers.
        dithering: false,
        ..Default::default()
    }
}

/// Makes the application; true: without the saved state.
pub type Begin = Box<dyn FnOnce(bool, &Context) -> Box<dyn eframe::App>>;

/// Asks about a defect of the last run, then starts the application.
pub struct AfterDefect {
    defect: Defect,
    begin: Option<Begin>,
    app: Option<Box<dyn eframe::App>>,
}

impl AfterDefect {
    pub fn new(defect: Defect, ctx: &Context, begin: Begin) -> Self {
        theme::install(ctx);
        Self { defect, begin: Some(begin), app: None }
    }
}

fn question_ui(ui: &mut Ui, defect: &Defect) -> Option<bool> {
    let mut answer = None;
    CentralPanel::default().show(ui, |ui| {
        ui.add_space(theme::SPACE_5);
        ui.heading(tr!("A defect ended Interlinear the last time"));
        ui.add_space(theme::SPACE_2);
        ui.label(tr!(
            "It was at {}. Please report it with the file {}, which holds nothing that you typed or opened.",
            defect.place,
            defect.path.display()
        ));
        ui.add_space(theme::SPACE_4);
        ui.horizontal(|ui| {
            let go_on = ui.button(tr!("Go on where it ended"));
            if ui.memory(|memory| memory.focused().is_none()) {
                go_on.request_focus();
            }
            if go_on.clicked() {
                answer = Some(false);
            }
            if ui.button(tr!("Begin anew")).clicked() {
                answer = Some(true);
            }
        });
        labels::note(
            ui,
            tr!(
                "Begun anew, the state of before is set aside under another name. Should the window end again, do that."
            ),
        );
    });
    answer
}

impl eframe::App for AfterDefect {
    fn raw_input_hook(&mut self, ctx: &Context, input: &mut egui::RawInput) {
        if let Some(app) = &mut self.app {
            app.raw_input_hook(ctx, input);
        }
    }

    fn logic(&mut self, ctx: &Context, frame: &mut eframe::Frame) {
        if let Some(app) = &mut self.app {
            app.logic(ctx, frame);
        }
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        if let Some(app) = &mut self.app {
            return app.ui(ui, frame);
        }
        let Some(is_anew) = question_ui(ui, &self.defect) else { return };
        self.app = self.begin.take().map(|begin| begin(is_anew, ui.ctx()));
        ui.ctx().request_repaint();
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
