//! What a session asks for, one kind at a time. What is asked for of the other kinds is passed over.

use std::path::PathBuf;

use interlinear::app::files::work::{FileEvent, FileJob};
use interlinear::app::page::{Dropped, Page};
use interlinear::app::tasks::{Effect, QueueCall};
use interlinear::{
    app::page::SENTENCE, jobs::live::protocol::Request, pages::command::Command, session::state::Session,
};

fn asked<T>(session: &mut Session, of: impl Fn(Effect) -> Option<T>) -> Vec<T> {
    session.take_effects().into_iter().filter_map(of).collect()
}

pub fn act(session: &mut Session, command: impl Into<Command>) -> Option<Request> {
    session.take_effects();
    session.apply(command);
    asked(session, |effect| if let Effect::Decode(request) = effect { Some(request) } else { None }).into_iter().next()
}

pub fn lane_calls(session: &mut Session) -> Vec<QueueCall> {
    asked(session, |effect| if let Effect::Job(call) = effect { Some(call) } else { None })
}

pub fn chores(session: &mut Session) -> Vec<FileJob> {
    asked(session, |effect| if let Effect::Chore(chore) = effect { Some(chore) } else { None })
}

pub fn followed(session: &mut Session) -> Option<Vec<PathBuf>> {
    asked(session, |effect| if let Effect::Follow(logs) = effect { Some(logs) } else { None }).into_iter().next()
}

pub fn opened(path: impl Into<PathBuf>, what: Dropped, on: Page) -> FileEvent {
    FileEvent::Opened { path: path.into(), what, on }
}

pub fn text_opened(path: impl Into<PathBuf>) -> FileEvent {
    opened(path, Dropped::Text, SENTENCE)
}
