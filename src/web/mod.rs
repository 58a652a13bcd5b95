//! Floor 14: the explorer in a browser: the page ([`start`]) and its worker ([`worker`]), one module of WebAssembly in both.

pub mod lanes;
pub mod message;
pub mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::HtmlCanvasElement;

use crate::app::open_with::{Installed, OpenWith};
use crate::jobs::Wake;
use crate::session::driver::Driver;
use crate::ui::App;
use crate::ui::spoken::Announcer;
use crate::web::lanes::WorkerLanes;

/// Opens the explorer on a canvas. `models` are the addresses of the site's models, in the order of their menu, of which
/// the first `shown` are shown; `spawn` gives a worker; `site` is the address of the page, with which links begin, and
/// `link` what stood behind it.
///
/// # Errors
/// A browser that draws nothing.
#[wasm_bindgen]
pub async fn start(
    canvas: HtmlCanvasElement,
    models: Vec<String>,
    shown: usize,
    spawn: Function,
    site: String,
    link: Option<String>,
) -> Result<(), JsValue> {
    let folders: Vec<PathBuf> = models.into_iter().map(PathBuf::from).collect();
    let opening = folders.iter().take(shown).cloned().collect();
    let bundled: Vec<Installed> = folders.into_iter().map(Installed::from).collect();
    let options = eframe::WebOptions { dithering: false, ..eframe::WebOptions::default() };
    let create: eframe::AppCreator<'static> = Box::new(move |creation| {
        Announcer::install(&creation.egui_ctx, say);
        let ctx = creation.egui_ctx.clone();
        let wake: Wake = Arc::new(move || ctx.request_repaint());
        let lanes = WorkerLanes::new(spawn, &wake);
        let with = OpenWith { bundled: bundled.clone(), opening, site: Some(site), link, ..OpenWith::default() };
        let driver = Driver::on(Box::new(lanes), with, wake);
        Ok(Box::new(App::new(Box::new(driver), &creation.egui_ctx).with_bundled(bundled, None)))
    });
    eframe::WebRunner::new().start(canvas, options, create).await
}

/// Writes where screen readers listen, and where nothing is seen.
fn say(told: &str) {
    let place = web_sys::window().and_then(|window| window.document()?.get_element_by_id("spoken"));
    if let Some(place) = place {
        place.set_text_content(Some(told));
    }
}
