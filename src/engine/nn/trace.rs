//! What a model computes, noted by name (`trace.note("z", &z)`) if somebody records; a note is named as a parameter
//! would be, such as `decoder.z`, and shares the tensor's storage.

use std::sync::{Arc, Mutex, PoisonError};

use candle_core::Tensor;

/// What was noted, in the order of computing; one name may come several times.
pub type Notes = Vec<(String, Tensor)>;

/// A recorder, or none; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    prefix: String,
    notes: Option<Arc<Mutex<Notes>>>,
}

impl Trace {
    pub fn recording() -> Self {
        Self { prefix: String::new(), notes: Some(Arc::default()) }
    }

    pub fn below(&self, prefix: &str) -> Self {
        Self { prefix: prefix.to_owned(), notes: self.notes.clone() }
    }

    pub fn note(&self, name: &str, value: &Tensor) {
        let Some(notes) = &self.notes else { return };
        let note = (format!("{}{name}", self.prefix), value.clone());
        notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }

    /// Notes the terms of a sum, such as `z+state`; missing ones are left out.
    pub fn note_sum<const N: usize>(&self, name: &str, terms: [(&str, Option<&Tensor>); N]) {
        if self.notes.is_none() {
            return;
        }
        for (term, value) in terms {
            if let Some(value) = value {
                self.note(&format!("{name}+{term}"), value);
            }
        }
    }

    pub fn take(&self) -> Notes {
        let notes = self.notes.as_ref();
        notes.map_or_else(Vec::new, |notes| std::mem::take(&mut *notes.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
