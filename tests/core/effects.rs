//! What a session shows, and what it asks for, one kind at a time. What is asked for of the other kinds is passed over.

use std::path::{Path, PathBuf};

use interlinear::app::files::{export, export::AlignmentFormat, work::FileEvent, work::FileJob};
use interlinear::app::page::{Dropped, Page, SENTENCE};
use interlinear::app::tasks::{Effect, QueueCall};
use interlinear::app::{command::SourceCommand, document::column::Column};
use interlinear::decoding::{Node, NodeFate, Specials};
use interlinear::jobs::live::protocol::{ColumnId, Event, ModelFacts, Request};
use interlinear::{app::open_with::OpenWith, models::choice::ModelSpec};
use interlinear::{pages::command::Command, pages::sentence::command::ColumnCommand, session::state::Session};

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

/// What a session shows.
pub trait Shows {
    fn nth(&self, column: usize) -> &Column;
    fn ids(&self) -> Vec<ColumnId>;
    fn source(&self) -> &str;
    fn notifies(&self, part: &str) -> bool;
    fn has_error(&self, part: &str) -> bool;
    /// The alignment of a column as a file has it.
    fn written(&self, column: usize, format: AlignmentFormat) -> Option<String>;
    fn absorb_all(&mut self, events: Vec<Event>);
}

impl Shows for Session {
    fn nth(&self, column: usize) -> &Column {
        &self.app().document.columns[column]
    }

    fn ids(&self) -> Vec<ColumnId> {
        self.app().document.columns.iter().map(|column| column.id).collect()
    }

    fn source(&self) -> &str {
        self.app().document.source()
    }

    fn notifies(&self, part: &str) -> bool {
        self.app().view.notices.iter().any(|notice| notice.text.contains(part))
    }

    fn has_error(&self, part: &str) -> bool {
        self.app().view.notices.iter().any(|notice| notice.is_error && notice.text.contains(part))
    }
    fn written(&self, column: usize, format: AlignmentFormat) -> Option<String> {
        export::text(self.nth(column), &self.app().view.settings, format)
    }

    fn absorb_all(&mut self, events: Vec<Event>) {
        for event in events {
            self.absorb(event);
        }
    }
}

/// Of a model that aligns, into French.
pub fn facts() -> ModelFacts {
    ModelFacts {
        specials: Specials { eos: 0, unk: 1, bars_unk: false },
        target_language: "fr".to_owned(),
        has_alignment: true,
        ..ModelFacts::default()
    }
}

/// A session whose models are read, so many.
pub fn with_models(count: usize, facts: impl Fn(usize) -> ModelFacts) -> Session {
    let models = (0..count).map(|n| ModelSpec::from(&format!("models/m{n}"))).collect();
    let mut session = Session::start(None, &OpenWith { models, ..OpenWith::default() });
    for (n, column) in session.ids().into_iter().enumerate() {
        session.absorb(Event::Loaded { column, facts: facts(n) });
    }
    session
}

/// A session of one model that is still to be read.
pub fn with_model(model: &Path) -> Session {
    Session::start(None, &OpenWith { models: vec![model.into()], ..OpenWith::default() })
}

/// A session of this sentence and no model.
pub fn without_models(source: &str) -> Session {
    let mut session = Session::start(None, &OpenWith::default());
    for id in session.ids() {
        session.apply(ColumnCommand::Remove(id));
    }
    session.apply(SourceCommand::Replace(source.to_owned()));
    session
}

/// A node of a search, without an alignment: its own log-probability and that of its path.
pub fn node(
    id: usize, (parent, step): (Option<usize>, usize), token: u32, [log_p, total]: [f32; 2], fate: NodeFate,
) -> Node {
    let (alpha, energies, p_t, candidates) = (None, None, None, Vec::new());
    Node { id, parent, step, token, log_p, total, alpha, energies, p_t, candidates, fate }
}
