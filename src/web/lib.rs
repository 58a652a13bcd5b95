//! The explorer in a browser: the page ([`start`]) and its worker ([`worker`]), one module of WebAssembly in both.

#![cfg(target_family = "wasm")]

pub mod jobs;
pub mod message;
pub mod worker;

use std::{cell::RefCell, path::PathBuf, sync::Arc};

use js_sys::Function;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{HtmlCanvasElement, Response};

use crate::jobs::WorkerLanes;
use engine::lang;
use engine::lang::{CatalogueOf, Language};
use explorer::app::open_with::{Installed, OpenWith};
use explorer::ui::{App, spoken::Announcer};
use explorer::{jobs::Wake, session::driver::Driver};

/// Opens the explorer on a canvas.
#[wasm_bindgen]
pub async fn start(
    canvas: HtmlCanvasElement, models: Vec<String>, shown: usize, spawn: Function, site: String, link: Option<String>,
) -> Result<(), JsValue> {
    let folders: Vec<PathBuf> = models.into_iter().map(PathBuf::from).collect();
    let opening = folders.iter().take(shown).cloned().collect();
    let bundled: Vec<Installed> = folders.into_iter().map(Installed::from).collect();
    let options = eframe::WebOptions { dithering: false, ..eframe::WebOptions::default() };
    let create: eframe::AppCreator<'static> = Box::new(move |creation| {
        Announcer::install(&creation.egui_ctx, say);
        let ctx = creation.egui_ctx.clone();
        let wake: Wake = Arc::new(move || ctx.request_repaint());
        let jobs = WorkerLanes::new(spawn, &wake);
        let with = OpenWith { bundled: bundled.clone(), opening, site: Some(site), link, ..OpenWith::default() };
        let driver = Driver::on(Box::new(jobs), with, Arc::clone(&wake));
        let app = App::new(Box::new(driver), &creation.egui_ctx).with_bundled(bundled, None);
        Ok(Box::new(app.in_language(browser_language()).with_catalogues(fetching(wake))))
    });
    eframe::WebRunner::new().start(canvas, options, create).await
}

fn browser_language() -> Language {
    let listed = web_sys::window().map(|window| window.navigator().languages()).unwrap_or_default();
    let codes = listed.iter().filter_map(|code| code.as_string());
    let language = Language::first_of(codes);
    if language == Language::Chinese { Language::English } else { language }
}

fn fetching(wake: Wake) -> Box<dyn Fn(Language)> {
    let asked = RefCell::new(Vec::new());
    Box::new(move |language| {
        if asked.borrow().contains(&language) {
            return;
        }
        asked.borrow_mut().push(language);
        let wake = Arc::clone(&wake);
        spawn_local(async move {
            let code = language.code();
            // lessons are read when the window speaks the language, and so must be there before
            for (of, path) in [
                (CatalogueOf::Lessons, language.has_lessons().then(|| format!("lang/lessons.{code}.po"))),
                (CatalogueOf::Window, Some(format!("lang/{code}.po"))),
            ] {
                let Some(path) = path else { continue };
                if let Ok(po) = fetched(&path).await {
                    lang::bring(language, of, &po);
                }
            }
            wake();
        });
    })
}

async fn fetched(path: &str) -> Result<String, JsValue> {
    let window = web_sys::window().ok_or(JsValue::NULL)?;
    let answer: Response = JsFuture::from(window.fetch_with_str(path)).await?.dyn_into()?;
    if !answer.ok() {
        return Err(JsValue::NULL);
    }
    JsFuture::from(answer.text()?).await?.as_string().ok_or(JsValue::NULL)
}

fn say(reported: &str) {
    let place = web_sys::window().and_then(|window| window.document()?.get_element_by_id("spoken"));
    if let Some(place) = place {
        place.set_text_content(Some(reported));
    }
}
