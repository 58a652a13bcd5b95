//! Where the links of the manual and of lessons lead.

use crate::pages::{page_of_key, shell::act::Act};
use crate::session::lessons::shelf::BUNDLED;
use crate::ui::{act::bindings, manual::pages};

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Manual(usize),
    Act(Act),
    Lesson(String),
    Web(String),
    /// A file of the source tree, by its path from the root.
    File(String),
}

pub const ALL_LESSONS: &str = "all";

const PROGRAM: &str = "interlinear:";

pub fn target(link: &str) -> Option<Target> {
    if let Some(wanted) = link.strip_prefix(PROGRAM) {
        return program(wanted);
    }
    if link.starts_with("https://") {
        return Some(Target::Web(link.to_owned()));
    }
    if let Some(path) = link.strip_prefix("../../") {
        return Some(Target::File(path.to_owned()));
    }
    if let Some(path) = link.strip_prefix("../") {
        return Some(Target::File(format!("assets/{path}")));
    }
    let file = link.split('#').next().unwrap_or(link);
    pages().iter().position(|page| page.file == file).map(Target::Manual)
}

/// `page/NAME`, `act/NAME`, `lesson/KEY`, or `lesson/all` for the list of them.
fn program(wanted: &str) -> Option<Target> {
    let (kind, name) = wanted.split_once('/')?;
    match kind {
        "page" => page_of_key(name).map(|page| Target::Act(Act::ShowPage(page))),
        "act" => bindings().iter().map(|row| row.act).find(|act| format!("{act:?}") == name).map(Target::Act),
        "lesson" => {
            let is_there = name == ALL_LESSONS || BUNDLED.iter().any(|(key, _)| *key == name);
            is_there.then(|| Target::Lesson(name.to_owned()))
        }
        _ => None,
    }
}
