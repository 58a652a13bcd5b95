//! Interventions as they are kept between starts.

use std::sync::Arc;

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use engine::interventions::{Interventions, Place, SetAlpha};

/// Unknown keys are ignored, missing ones are empty.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// As in a file of interventions; nothing where a later version wrote what this one cannot read.
    set: Value,
}

pub(super) fn serialize<S: Serializer>(set: &Arc<Interventions>, output: S) -> Result<S::Ok, S::Error> {
    let set = serde_json::to_value(&**set).map_err(S::Error::custom)?;
    Kept { set }.serialize(output)
}

/// Drops what makes no sense.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Arc<Interventions>, D::Error> {
    let Kept { set } = Kept::deserialize(input)?;
    let mut set: Interventions = serde_json::from_value(set).unwrap_or_default();
    let is_weight = |alpha: &f32| alpha.is_finite() && *alpha >= 0.0;
    set.pin.retain(|pin| if let SetAlpha::Weights(row) = &pin.alpha { row.iter().all(is_weight) } else { true });
    set.mask.retain(|mask| if let Place::Bytes(bytes) = mask { bytes.start <= bytes.end } else { true });
    set.temperature = set.temperature.filter(|t| t.is_finite() && *t > 0.0);
    Ok(Arc::new(set))
}
