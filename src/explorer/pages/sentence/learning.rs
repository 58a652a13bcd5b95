//! An alignment head that is learned for an open model: what the sheet has of it, its order, and what comes of it.

use std::path::PathBuf;

use crate::app::{page::SENTENCE, state::AppState};
use crate::jobs::queue::head::{HeadLearned, HeadOrder, LearnedOfText};
use crate::jobs::{live::protocol::ColumnId, queue::QueueOrder};
use crate::pages::{sentence::asked::SentencePage, sentence::command::HeadCommand};

impl SentencePage {
    pub(super) fn learn(&mut self, app: &mut AppState, command: HeadCommand) {
        match command {
            HeadCommand::File(at, text) => {
                if let Some(file) = self.head.files.get_mut(at) {
                    *file = text;
                }
                // what was wrong with the files before says nothing of these
                self.head.message = None;
            }
            HeadCommand::Passes(passes) => self.head.passes = passes.clamp(1, 100),
            HeadCommand::Learn(column, aligner) => {
                self.head.message = self.order_head(app, column, aligner).err().map(|why| (why, true));
            }
        }
    }

    fn order_head(&mut self, app: &mut AppState, column: ColumnId, aligner: Option<PathBuf>) -> Result<(), String> {
        let column = app.document.column(column).ok_or(tr!("This model is not open any more"))?;
        let Some(model) = column.system.only() else {
            return Err(tr!("Several models have no head together; open one of them alone").to_owned());
        };
        let [source, target, links] = self.head.files.each_ref().map(|file| file.trim());
        if source.is_empty() || target.is_empty() {
            return Err(tr!("Name a file of sentences and one of their translations, line by line").to_owned());
        }
        if self.head.number.is_some() {
            return Err(tr!("Another head is being learned; wait for it, or cancel it").to_owned());
        }
        let order = HeadOrder {
            model: model.clone(),
            device: app.view.settings.device,
            files: (PathBuf::from(source), PathBuf::from(target)),
            links: (!links.is_empty()).then(|| PathBuf::from(links)),
            own: app.view.settings.aligner.clone(),
            passes: self.head.passes,
            aligner,
        };
        self.head.number = Some(app.tasks.order(SENTENCE, QueueOrder::Head(order)));
        Ok(())
    }

    pub(super) fn learned(&mut self, app: &mut AppState, number: u64, found: LearnedOfText) {
        if self.head.number == Some(number) {
            self.head.number = None;
        }
        let HeadLearned { model, path, pairs, cost } = match found {
            LearnedOfText::Head(found) => found,
            LearnedOfText::Aligner(file) => {
                let message = tr!("The aligner is learned and written to {}", file.path.display());
                self.head.message = Some((message, false));
                return app.add_aligner(file);
            }
        };
        let message = tr!(
            "Learned from {pairs} pairs to {cost} nats a word, and written to {}",
            path.display(),
            pairs,
            cost = format_args!("{cost:.3}")
        );
        self.head.message = Some((message, false));
        for column in &mut app.document.columns {
            let has_it = column.system.members.iter().any(|other| other.folder == model.folder);
            if let Some(facts) = column.facts.as_mut().filter(|_| has_it) {
                facts.has_head = true;
                (column.request.result_key, column.given.key) = (None, None);
            }
        }
        app.notify(
            tr!("The alignment head is learned; over the pictures you choose what they answer").to_owned(),
            false,
        );
        app.request();
    }

    pub(super) fn not_learned(&mut self, number: u64, message: Option<&String>) -> bool {
        let is_it = self.head.number == Some(number);
        if is_it {
            let ended = || tr!("Ended; the same files and passes go on where it was").to_owned();
            self.head.message = Some((message.cloned().unwrap_or_else(ended), message.is_some()));
            self.head.number = None;
        }
        is_it
    }
}
