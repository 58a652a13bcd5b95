//! Floor 6: where a figure comes from, for the file that it is written to.

/// Where a figure comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// What it shows, in a line.
    pub title: String,
    /// Names and values that someone needs to make it again, such as the model, its fingerprint and the sentence.
    pub facts: Vec<(String, String)>,
}
