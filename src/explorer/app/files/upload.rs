//! Files that a person gives to the page of a browser, by its dialog or by a drop.

use std::future::Future;
use std::path::{Path, PathBuf};

use js_sys::{Function, Promise};
use wasm_bindgen::JsCast as _;
use web_sys::HtmlInputElement;

use engine::{models::disk::CONFIG_FILE, text::given};

/// Opens the browser's dialog for a folder or files, stores them and returns the first path.
pub async fn asked(is_folder: bool) -> Option<PathBuf> {
    let document = web_sys::window()?.document()?;
    let input: HtmlInputElement = document.create_element("input").ok()?.dyn_into().ok()?;
    input.set_type("file");
    input.set_multiple(true);
    if is_folder {
        input.set_attribute("webkitdirectory", "").ok()?;
    }
    let answered = Promise::new(&mut |resolve: Function, _: Function| {
        for event in ["change", "cancel"] {
            // where it cannot be heard the dialog has no answer
            let _ = input.add_event_listener_with_callback(event, &resolve);
        }
        input.click();
    });
    wasm_bindgen_futures::JsFuture::from(answered).await.ok()?;
    let files = input.files()?;
    let mut given = Vec::new();
    for at in 0..files.length() {
        let file = files.get(at)?;
        // of a folder, the names of its files
        let name = file.name();
        given.push((name, async move {
            let bytes = wasm_bindgen_futures::JsFuture::from(file.array_buffer()).await.ok()?;
            Some(js_sys::Uint8Array::new(&bytes).to_vec())
        }));
    }
    kept(given).await
}

/// Stores files in their own folder; returns the configuration of a model, else the first path.
pub async fn kept<F: Future<Output = Option<Vec<u8>>>>(files: Vec<(String, F)>) -> Option<PathBuf> {
    let folder = given::fresh_folder();
    let mut first = None;
    for (name, bytes) in files {
        let path = folder.join(Path::new(&name).file_name()?);
        given::put(path.clone(), bytes.await?);
        if first.is_none() || name == CONFIG_FILE {
            first = Some(path);
        }
    }
    first
}
