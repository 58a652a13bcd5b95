//! What a session asks for, one kind at a time. What is asked for of the other kinds is passed over.

use std::path::PathBuf;

use interlinear::app::effect::{Effect, FileEvent, FileJob, QueueCall};
use interlinear::app::page::SENTENCE;
use interlinear::app::page::{Dropped, Page};
use interlinear::jobs::live::protocol::Request;
use interlinear::pages::command::Command;
use interlinear::session::state::Session;

/// Does this; answers with the request that it calls for, if any.
pub fn act(session: &mut Session, command: impl Into<Command>) -> Option<Request> {
    session.take_effects();
    session.apply(command);
    session.take_effects().into_iter().find_map(|effect| match effect {
        Effect::Decode(request) => Some(request),
        Effect::Lane(_)
        | Effect::Chore(_)
        | Effect::Follow(_)
        | Effect::FollowTexts(_)
        | Effect::TakeApart { .. }
        | Effect::Corpus(_) => None,
    })
}

/// What the corpus lane is asked for.
pub fn lane_calls(session: &mut Session) -> Vec<QueueCall> {
    let calls = session.take_effects().into_iter().filter_map(|effect| match effect {
        Effect::Lane(call) => Some(call),
        Effect::Decode(_)
        | Effect::Chore(_)
        | Effect::Follow(_)
        | Effect::FollowTexts(_)
        | Effect::TakeApart { .. }
        | Effect::Corpus(_) => None,
    });
    calls.collect()
}

/// The work on files that is asked for.
pub fn chores(session: &mut Session) -> Vec<FileJob> {
    let chores = session.take_effects().into_iter().filter_map(|effect| match effect {
        Effect::Chore(chore) => Some(chore),
        Effect::Decode(_)
        | Effect::Lane(_)
        | Effect::Follow(_)
        | Effect::FollowTexts(_)
        | Effect::TakeApart { .. }
        | Effect::Corpus(_) => None,
    });
    chores.collect()
}

/// The logs that are to be followed.
pub fn followed(session: &mut Session) -> Option<Vec<PathBuf>> {
    session.take_effects().into_iter().find_map(|effect| match effect {
        Effect::Follow(logs) => Some(logs),
        Effect::Decode(_)
        | Effect::Lane(_)
        | Effect::Chore(_)
        | Effect::FollowTexts(_)
        | Effect::TakeApart { .. }
        | Effect::Corpus(_) => None,
    })
}

/// The news that a path turned out to be this.
pub fn opened(path: impl Into<PathBuf>, what: Dropped, on: Page) -> FileEvent {
    FileEvent::Opened { path: path.into(), what, on }
}

/// The news that a text file was opened.
pub fn text_opened(path: impl Into<PathBuf>) -> FileEvent {
    opened(path, Dropped::Text, SENTENCE)
}
