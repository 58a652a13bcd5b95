//! Floor 13: the window of the desk.

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::pages::window::local;
use crate::session::driver;
use crate::session::driver::Driver;

use crate::ui::app::App;

/// The size of the window at the first start, points.
const FIRST_SIZE: [f32; 2] = [1280.0, 800.0];
/// Smaller windows would cut things off.
const LEAST_SIZE: [f32; 2] = [800.0, 500.0];

/// Opens the window and stays until it is closed.
pub fn run(options: driver::OpenWith) -> Result<()> {
    open(options, |app| Box::new(app))
}

/// As [`run`], with the application wrapped in another.
pub fn open(options: driver::OpenWith, wrap: impl FnOnce(App) -> Box<dyn eframe::App> + 'static) -> Result<()> {
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
    let native = native_options(&driver);
    eframe::run_native(
        "Interlinear",
        native,
        Box::new(move |creation| {
            let _ = window.set(creation.egui_ctx.clone());
            Ok(wrap(App::new(Box::new(driver), &creation.egui_ctx).with_bundled(bundled, home)))
        }),
    )
    .map_err(|error| {
        Error::Device(format!(
            "the window could not be opened ({error}); the commands translate, score and inspect work without one"
        ))
    })
}

fn native_options(driver: &Driver) -> eframe::NativeOptions {
    let layout = &driver.session().app().view.layout();
    // A damaged icon is no reason not to open.
    let icon = eframe::icon_data::from_png_bytes(include_bytes!("../../assets/icon.png")).unwrap_or_default();
    let size = |key: &str, index: usize| {
        layout.get(key).copied().filter(|side| *side >= LEAST_SIZE[index]).unwrap_or(FIRST_SIZE[index])
    };
    eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Interlinear")
            .with_app_id("interlinear")
            .with_icon(icon)
            .with_inner_size([size(local::WINDOW_WIDTH, 0), size(local::WINDOW_HEIGHT, 1)])
            .with_min_inner_size(LEAST_SIZE),
        // Named because a build with tests turns the other renderer on as well.
        renderer: eframe::Renderer::Glow,
        // It would blur colours that mean numbers.
        dithering: false,
        ..Default::default()
    }
}
