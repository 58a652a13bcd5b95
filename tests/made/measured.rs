//! A corpus behind a session: what its thread answers.

use std::{sync::Arc, time::Duration};

use interlinear::corpus::{store::file::Workspace, store::write::NewSentence};
use interlinear::jobs::corpus::thread::{CorpusRequest, CorpusThread};
use interlinear::pages::{corpus::CorpusPage, corpus::command::CorpusCommand};
use interlinear::{app::tasks::Effect, session::state::Session, text::links::Links};

pub fn answer(session: &mut Session, thread: &CorpusThread, until: impl Fn(&CorpusPage) -> bool) {
    loop {
        for effect in session.take_effects() {
            if let Effect::Corpus(request) = effect {
                thread.send(request);
            }
        }
        if until(session.corpus()) {
            return;
        }
        let news = thread.news.next_within(Duration::from_secs(30)).expect("the thread answers");
        session.absorb_corpus(news);
    }
}

pub fn open_first(session: &mut Session, (source, reference): (&str, &str), links: Links) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("one.ilws");
    let mut workspace = Workspace::open(&path).expect("a workspace");
    let sentence = NewSentence {
        source: source.to_owned(),
        reference: Some(reference.to_owned()),
        gold: Some(links),
        ..NewSentence::default()
    };
    let origin = workspace.add_origin("one", "").expect("an origin");
    workspace.add_sentences(origin, &[sentence]).expect("a sentence");
    drop(workspace);
    session.apply(CorpusRequest::Open(path));
    let thread = CorpusThread::spawn(Arc::new(|| {}));
    answer(session, &thread, |page| !page.rows.is_empty());
    session.apply(CorpusCommand::Select(Some(0)));
    answer(session, &thread, |page| page.detail.is_some());
    session.apply(CorpusCommand::OpenSentence);
}
