//! What the page and its worker tell each other, as bytes.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsError;

use explorer::jobs::live::protocol::{Event, Request};
use explorer::jobs::steps::{StepsEvent, StepsRequest};
use explorer::{app::tasks::QueueCall, jobs::queue::QueueEvent};

/// What the page asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "one is made for each act of a person")]
pub enum ToWorker {
    /// Translate this, and nothing that was wanted before.
    Decode(Request),
    /// Take this apart, and nothing that was wanted before.
    TakeApart(u64, StepsRequest),
    /// The model that was taken apart last is not needed any more.
    LetGo,
    Queue(QueueCall),
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "each is taken up at once")]
pub enum FromWorker {
    Decoded(Event),
    /// With the `config.json` of its model, which says how the machine is drawn.
    Steps(StepsEvent, Option<String>),
    Queue(QueueEvent),
}

/// A message as bytes.
pub fn packed(message: &impl Serialize) -> Result<Vec<u8>, JsError> {
    let mut bytes = Vec::new();
    ciborium::into_writer(message, &mut bytes).map_err(|error| JsError::new(&error.to_string()))?;
    Ok(bytes)
}

/// The message of these bytes.
pub fn unpacked<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JsError> {
    ciborium::from_reader(bytes).map_err(|error| JsError::new(&error.to_string()))
}
