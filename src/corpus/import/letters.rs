//! Floor 7: names and texts as files of others are matched by them.

use std::path::Path;

pub(crate) use crate::text::words::visible;

/// The name of a file up to its first full stop.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.split('.').next().unwrap_or_default().to_owned()
}
