//! What comes with the program: an aligner that has learned already, for pairs of languages that the bundled models
//! translate. `assets/aligner/README.md` says from which text, and its licences.

use std::path::Path;

use crate::aligner::learned::Learned;
use crate::error::Result;

/// Source and target language, and the file.
const BUNDLED: &[(&str, &str, &[u8])] = &[("en", "fr", include_bytes!("../../assets/aligner/en-fr.aligner"))];

/// Whether something comes with the program for two languages.
pub fn is_bundled(source: &str, target: &str) -> bool {
    let (source, target) = (primary(source), primary(target));
    let fits =
        |first: &str, second: &str| (source == first && target == second) || (source == second && target == first);
    BUNDLED.iter().any(|(first, second, _)| fits(first, second))
}

/// The language of a tag without its script and region.
fn primary(tag: &str) -> String {
    tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}

/// What was learned of two languages, given by their BCP 47 tags, in either order; `None` where nothing was.
pub fn bundled(source: &str, target: &str) -> Option<Result<Learned>> {
    let (source, target) = (primary(source), primary(target));
    let open = |bytes: &'static [u8]| Learned::from_bytes(Path::new("the bundled aligner"), bytes);
    BUNDLED.iter().find_map(|(first, second, bytes)| match (*first, *second) {
        pair if pair == (source.as_str(), target.as_str()) => Some(open(bytes)),
        pair if pair == (target.as_str(), source.as_str()) => Some(open(bytes).map(Learned::turned)),
        _ => None,
    })
}
