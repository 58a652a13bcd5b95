//! Page Corpus, what the corpus thread tells.

use std::{path::PathBuf, sync::Arc};

use crate::app::state::AppState;
use crate::jobs::corpus::thread::{CorpusNews, CorpusRequest};
use crate::pages::corpus::{Busy, CorpusPage, picture};
use corpus::{import::importer::ImportReport, store::corpus::CorpusTable};
use import;

impl CorpusPage {
    fn take_corpus(&mut self, path: PathBuf, corpus: Arc<CorpusTable>, app: &mut AppState) {
        // One that was closed meanwhile is none any more.
        if self.pending.path.as_ref() != Some(&path) {
            return;
        }
        if self.path.as_ref() != Some(&path) {
            if !self.pending.is_unsaved {
                self.kept.workspace = Some(path.clone());
            }
            self.path = Some(path);
            app.changed();
        }
        let is_longer = corpus.systems.len() != self.corpus.systems.len();
        self.replace_table(corpus);
        self.note_outputs();
        self.pending.seen = None;
        if let Some(at) = self.selected.filter(|_| is_longer || !self.tasks.is_empty()) {
            Self::send(app, CorpusRequest::Detail(at));
        }
    }

    fn take_import(&mut self, path: PathBuf, imported: ImportReport, app: &mut AppState) {
        self.message = None;
        // After the sources come their translations, of which there may be several; the next system has another name.
        if imported.sentences > 0 && imported.references == 0 && self.incoming.role == import::Role::Source {
            self.incoming.role = import::Role::Reference;
        } else if matches!(self.incoming.role, import::Role::Output(_)) && imported.outputs > 0 {
            self.incoming.role = import::Role::Output(String::new());
        }
        self.incoming.last = Some((path, imported));
        if let Some(at) = self.selected {
            Self::send(app, CorpusRequest::Detail(at));
        }
        self.whole.revision += 1;
        self.show_views(app);
    }

    pub fn absorb(&mut self, news: CorpusNews, app: &mut AppState) {
        match news {
            CorpusNews::Made { path, is_saved } => {
                // One that was closed meanwhile is none any more.
                if self.pending.is_unsaved {
                    self.stop_tasks(app);
                    (self.pending.path, self.pending.is_unsaved) = (Some(path), !is_saved);
                }
            }
            CorpusNews::Corpus(path, corpus) => self.take_corpus(path, corpus, app),
            CorpusNews::Rows(Ok(rows)) => {
                self.rows = rows;
                self.trouble = None;
                self.show_views(app);
            }
            CorpusNews::Rows(Err(trouble)) => self.trouble = Some(trouble),
            CorpusNews::Seen => self.pending.seen = None,
            CorpusNews::Judged(change) => self.judged(Arc::unwrap_or_clone(change), app),
            CorpusNews::Compared(agreement) => {
                if let Some(compared) = &mut self.compared {
                    compared.agreement = agreement;
                }
            }
            CorpusNews::Detail(detail) => {
                // One of a sentence that is not chosen any more comes too late.
                if self.selected != Some(detail.at) {
                    return;
                }
                self.forget_drawn(&detail);
                self.tables = picture::tables(&detail, self.corpus.rules, || app.tasks.fresh_id());
                self.detail = Some(Arc::from(detail));
            }
            CorpusNews::Busy { progress, is_import } => self.busy = Some(Busy { progress, imports: is_import }),
            CorpusNews::Idle => self.busy = None,
            CorpusNews::Imported(path, imported) => self.take_import(path, *imported, app),
            CorpusNews::Written(path) => app.notify(tr!("Saved {}", path.display()), false),
            CorpusNews::Look(look) => {
                self.columns.look = *look;
                if self.sorting != self.columns.look.sorting {
                    self.sorting.clone_from(&self.columns.look.sorting);
                    self.show(app);
                }
                self.send_resources(app);
            }
            CorpusNews::Counting(progress) => self.whole.counted.share = Some(progress.share()),
            CorpusNews::Counted(overview) => {
                self.whole.counted.take(overview);
                self.show_views(app);
            }
            CorpusNews::Hits(hits) => {
                let is_over = hits.is_over;
                self.whole.concordance.take(hits);
                if is_over {
                    self.show_views(app);
                }
            }
            CorpusNews::Tallied(number, progress, table) => {
                let is_over = table.is_some();
                self.whole.tallied.take(number, progress.share(), table);
                if is_over {
                    self.show_views(app);
                }
            }
            CorpusNews::Refused(number, why) => self.whole.refuse(number, why),
            CorpusNews::Failed(message) => {
                // What was under way may be what failed.
                self.whole.fail();
                self.pending.under_way.clear();
                self.message = Some(message);
            }
        }
    }
}
