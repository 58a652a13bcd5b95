//! What comes with the program: an aligner that has learned already, for pairs of languages that the bundled models
//! translate. `assets/aligner/README.md` says from which text, and its licences.

use std::path::Path;

use crate::aligner::learned::Learned;
use crate::error::Result;

/// Source and target language, and the file.
const BUNDLED: &[(&str, &str, &[u8])] = &[("en", "fr", include_bytes!("../../assets/aligner/en-fr.aligner"))];

/// Whether something comes with the program for two languages.
pub fn is_bundled(source: &str, target: &str) -> bool {
    find(source, target).is_some()
}

/// What was learned of two languages, given by their BCP 47 tags, in either order; `None` where nothing was.
pub fn bundled(source: &str, target: &str) -> Option<Result<Learned>> {
    let (bytes, is_turned) = find(source, target)?;
    let learned = Learned::from_bytes(Path::new("the bundled aligner"), bytes);
    Some(if is_turned { learned.map(Learned::turned) } else { learned })
}

/// The file for two languages, and whether it has them the other way round.
fn find(source: &str, target: &str) -> Option<(&'static [u8], bool)> {
    let (source, target) = (primary(source), primary(target));
    BUNDLED.iter().find_map(|(first, second, bytes)| match (*first, *second) {
        pair if pair == (source.as_str(), target.as_str()) => Some((*bytes, false)),
        pair if pair == (target.as_str(), source.as_str()) => Some((*bytes, true)),
        _ => None,
    })
}

/// The language of a tag without its script and region.
fn primary(tag: &str) -> String {
    tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}
