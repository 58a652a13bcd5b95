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
use web_sys::{HtmlCanvasElement, Response, Storage};

use crate::jobs::WorkerLanes;
use engine::lang;
use engine::lang::{CatalogueOf, Language};
use explorer::app::open_with::{Installed, OpenWith};
use explorer::ui::{App, mirror::Mirror, spoken::Announcer};
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
        Mirror::install(&creation.egui_ctx);
        let ctx = creation.egui_ctx.clone();
        let wake: Wake = Arc::new(move || ctx.request_repaint());
        let jobs = WorkerLanes::new(spawn, &wake);
        let kept = storage().and_then(|storage| storage.get_item(KEPT).ok()?);
        let with = OpenWith { bundled: bundled.clone(), opening, site: Some(site), link, kept, ..OpenWith::default() };
        let driver = Driver::on(Box::new(jobs), with, Arc::clone(&wake));
        let app = App::new(Box::new(driver), &creation.egui_ctx).with_bundled(bundled, None);
        let app = app.in_language(browser_language()).with_catalogues(fetching(wake));
        let is_secure = web_sys::window().is_some_and(|window| window.is_secure_context());
        Ok(Box::new(app.keeping(Box::new(keep)).copying(is_secure)))
    });
    eframe::WebRunner::new().start(canvas, options, create).await
}

/// Under which name this tab keeps the state.
const KEPT: &str = "interlinear";

fn storage() -> Option<Storage> {
    web_sys::window()?.session_storage().ok()?
}

/// The address of the page becomes the link, so that a reload, a bookmark and the history of the tab show the same. A browser that
/// has no room or does not allow it goes on without.
fn keep(link: &str, state: &str) {
    if let Some(history) = web_sys::window().and_then(|window| window.history().ok()) {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(link));
    }
    if let Some(storage) = storage() {
        if storage.set_item(KEPT, state).is_err() {
            // an older state is worse than none
            let _ = storage.remove_item(KEPT);
        }
    }
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
