//! Files that a browser is given to save. It alone knows where they go.

use std::path::Path;

use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Blob, HtmlAnchorElement, Url};

use engine::error::{Error, Result};

pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    offer(path, bytes).map_err(|error| Error::file(path, format!("could not be given to the browser ({error:?})")))
}

fn offer(path: &Path, bytes: &[u8]) -> std::result::Result<(), JsValue> {
    let missing = || JsValue::from_str("no page");
    let document = web_sys::window().and_then(|window| window.document()).ok_or_else(missing)?;
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    let address = Url::create_object_url_with_blob(&Blob::new_with_u8_array_sequence(&parts)?)?;
    let link: HtmlAnchorElement = document.create_element("a")?.dyn_into().map_err(|_| missing())?;
    link.set_href(&address);
    link.set_download(&path.file_name().unwrap_or_default().to_string_lossy());
    link.click();
    Url::revoke_object_url(&address)
}
