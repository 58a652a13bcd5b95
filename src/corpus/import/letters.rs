//! Names and texts as files of others are matched by them.

use std::path::Path;

use unicode_normalization::char::is_combining_mark;

use engine::error::{Error, Result};
use engine::text::{words, write::is_database};

pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.split('.').next().unwrap_or_default().to_owned()
}

/// The letters of a text as copies of it are compared: as [`words::visible`], without soft hyphens and the like.
pub(crate) fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
    let straight = |c| if matches!(c, '\u{2018}' | '\u{2bc}' | '\u{b4}' | '`') { '\'' } else { c };
    words::visible(text).filter(|c| is_shown(*c)).map(straight)
}

fn is_shown(c: char) -> bool {
    // Tables have a space for what terminals obey.
    !c.is_whitespace() && !c.is_control() && !matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Whether a letter counts when places in copies of a text are compared.
pub(crate) fn is_base(c: char) -> bool {
    is_shown(c) && !is_combining_mark(c)
}

pub(crate) fn refuse_copy(path: &Path) -> Result<()> {
    if !is_database(path) {
        return Ok(());
    }
    let (name, to) = (path.file_name().unwrap_or(path.as_os_str()).display(), stem(path));
    let how = format!("interlinear analyse --workspace {name} --format judgements --save {to}.jsonl");
    let message =
        format!("is a corpus, and only its judgements can be imported: write them with `{how}` and import that file");
    Err(Error::file(path, message))
}
