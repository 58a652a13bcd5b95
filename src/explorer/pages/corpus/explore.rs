//! Page Corpus, what is done with the whole of the sentences.

use std::{path::PathBuf, sync::Arc};

use crate::app::{files::work::FileJob, state::AppState};
use crate::jobs::corpus::calls::{CorpusRequest, Find};
use crate::pages::corpus::views::{ExploreCommand, ExploreView};
use crate::pages::corpus::{CorpusPage, moved};
use corpus::overview::compute::{MOST_COUNTED, OverviewOptions, first_pair};
use corpus::query::linked::{LinkChoice, TallyOrder};
use corpus::{export::provenance::provenance, store::kinds::with_condition};
use engine::aligner::bundled::AlignerChoice;

const MOST_BACK: usize = 100;

impl CorpusPage {
    pub(crate) fn explore(&mut self, command: ExploreCommand, app: &mut AppState) {
        match command {
            ExploreCommand::SetView(view) => {
                self.whole.back.clear();
                self.whole.view = view;
                self.show_views(app);
            }
            ExploreCommand::Follow(condition) => self.follow_condition(&condition, app),
            ExploreCommand::Back => {
                let Some((view, filter)) = self.whole.back.pop() else { return };
                self.whole.view = view;
                self.filter = filter;
                self.show(app);
            }
            ExploreCommand::SetPair(first, second) => {
                self.columns.look.pair = Some((first, second));
                self.keep_look(app);
                self.count_again(app);
            }
            ExploreCommand::SetFrequencies(path) => {
                self.columns.look.frequencies = path;
                self.measured_otherwise(app);
            }
            ExploreCommand::SetAligner(path) => {
                self.columns.look.aligner = path;
                // One that was in trouble is looked at again.
                (self.message, self.pending.means) = (None, None);
                self.measured_otherwise(app);
            }
            ExploreCommand::SetTokenizer(tokenizer) => Self::send(app, CorpusRequest::SetTokenizer(tokenizer)),
            ExploreCommand::MoveColumn(name, by) => {
                self.columns.move_by(&name, by, &self.corpus);
                self.keep_look(app);
            }
            ExploreCommand::SetQuery(query) => {
                self.whole.concordance.query = query;
                self.find_again(app);
            }
            ExploreCommand::SetLinks(links) => {
                self.whole.concordance.links = links;
                self.find_again(app);
            }
            ExploreCommand::SetByParts(by_parts, by_target) => {
                (self.whole.concordance.by_parts, self.whole.concordance.by_target) = (by_parts, by_target);
                self.find_again(app);
            }
            ExploreCommand::SetCounts(asked) => {
                self.whole.tallied.asked = asked;
                self.whole.tallied.forget();
                if !self.whole.tallied.asked.is_shown {
                    Self::send(app, CorpusRequest::Tally(None));
                }
                self.show_views(app);
            }
            ExploreCommand::SaveCounts(path) => {
                let table = self.whole.tallied.table.clone().unwrap_or_default();
                app.tasks.chore(FileJob::WriteBeside { path: path.clone(), from: provenance(&self.corpus, None) });
                app.tasks.chore(FileJob::Write { path, text: table.tsv() });
            }
            ExploreCommand::SetOrder(order) => {
                self.whole.concordance.order = order;
                self.whole.concordance.sort();
            }
            ExploreCommand::SaveHits(path) => self.save_hits(path, app),
            ExploreCommand::MoveHit(by) => {
                let concordance = &self.whole.concordance;
                let next = moved(concordance.selected, by, concordance.sorted.len());
                self.select_hit(next, app);
            }
            ExploreCommand::SelectHit(row) => self.select_hit(row, app),
        }
    }

    fn follow_condition(&mut self, condition: &str, app: &mut AppState) {
        if self.whole.back.len() == MOST_BACK {
            self.whole.back.remove(0);
        }
        self.whole.back.push((self.whole.view, self.filter.clone()));
        self.filter = with_condition(&self.filter, condition);
        self.whole.view = ExploreView::Table;
        self.show(app);
    }

    fn save_hits(&self, path: PathBuf, app: &mut AppState) {
        let concordance = &self.whole.concordance;
        let (lines, order) = (Arc::clone(&concordance.lines), Arc::clone(&concordance.sorted));
        Self::send(app, CorpusRequest::SaveHits { path, lines, order, links: concordance.links });
    }

    fn select_hit(&mut self, row: usize, app: &mut AppState) {
        let Some(at) = self.whole.concordance.line(row).map(|line| line.at as usize) else { return };
        self.whole.concordance.selected = Some(row);
        if self.selected != Some(at) {
            self.select(Some(at), app);
        }
    }

    fn measured_otherwise(&mut self, app: &mut AppState) {
        self.keep_look(app);
        self.show(app);
        self.count_again(app);
    }

    fn count_again(&mut self, app: &mut AppState) {
        self.whole.counted.forget();
        self.show_views(app);
    }

    /// Asks for what the view shows, where that is not known.
    pub(crate) fn show_views(&mut self, app: &mut AppState) {
        match self.whole.view {
            ExploreView::Table | ExploreView::Judge | ExploreView::Contrast | ExploreView::Training => {}
            ExploreView::Overview => {
                if self.whole.counted.wanted(self.whole.revision, &self.rows) {
                    let pair = self.columns.look.pair.unwrap_or_else(|| first_pair(&self.corpus));
                    let options = OverviewOptions { pair, most: MOST_COUNTED, ..OverviewOptions::default() };
                    self.send_resources(app);
                    Self::send(app, CorpusRequest::Count(Some(options)));
                }
            }
            ExploreView::Concordance if self.whole.tallied.asked.is_shown => {
                if self.whole.tallied.wanted(self.whole.revision, &self.rows) {
                    self.tally(app);
                }
            }
            ExploreView::Concordance => {
                if self.whole.concordance.wanted(self.whole.revision, &self.rows) {
                    self.find(app);
                }
            }
        }
    }

    fn find_again(&mut self, app: &mut AppState) {
        self.whole.concordance.forget();
        self.whole.tallied.forget();
        self.show_views(app);
    }

    /// The links of the concordance, as far as the corpus has such.
    fn chosen_links(&mut self) -> LinkChoice {
        let links = &mut self.whole.concordance.links;
        if !links.is_in(&self.corpus) {
            *links = LinkChoice::all(&self.corpus).first().copied().unwrap_or_default();
        }
        *links
    }

    fn tally(&mut self, app: &mut AppState) {
        self.send_resources(app);
        let (first, number) = (self.chosen_links(), app.tasks.fresh_id());
        self.whole.tallied.begin(number);
        let asked = &mut self.whole.tallied.asked;
        asked.beside.retain(|choice| choice.is_in(&self.corpus));
        let beside = asked.beside.iter().copied().filter(|choice| *choice != first);
        let links = || std::iter::once(first).chain(beside).map(|choice| (choice, choice.name(&self.corpus))).collect();
        let order = TallyOrder {
            number,
            query: self.whole.concordance.query.clone(),
            kinds: if asked.weighs { LinkChoice::systems(&self.corpus) } else { links() },
            each_word: asked.each_word,
            least: asked.least,
            by_parts: self.whole.concordance.by_parts && self.corpus.has_parts,
            weighs: asked.weighs,
            by_target: self.whole.concordance.by_target && self.corpus.has_target_parts,
        };
        Self::send(app, CorpusRequest::Tally(Some(order)));
    }

    fn find(&mut self, app: &mut AppState) {
        self.send_resources(app);
        let (links, number) = (self.chosen_links(), app.tasks.fresh_id());
        let concordance = &mut self.whole.concordance;
        concordance.begin(number);
        let by_parts = concordance.by_parts && self.corpus.has_parts;
        let by_target = concordance.by_target && self.corpus.has_target_parts;
        let find = Find { number, query: concordance.query.clone(), links, by_parts, by_target };
        let find = concordance.is_searching.then_some(find);
        Self::send(app, CorpusRequest::Find(find));
    }

    /// Notes whether more is said than before, so that it is counted; judgements alone change no number of the whole.
    pub(crate) fn note_outputs(&mut self) {
        let systems = self.corpus.systems.iter().map(|column| (column.system.id, column.done));
        let said = systems.chain([(0, self.corpus.len()), (-1, self.corpus.golds.len())]);
        let said = said.chain([(-2, self.corpus.bleu.tokenization as usize)]).collect();
        if said != self.whole.said {
            self.whole.said = said;
            self.whole.revision += 1;
        }
    }

    /// The aligner of the systems' languages, else of the corpus's own file, else of the first model.
    pub(crate) fn aligner(&self, app: &AppState) -> Option<AlignerChoice> {
        let (known, first) = (self.corpus.languages(), self.columns.look.aligner.clone());
        let is_guess = known.is_none();
        let languages = known.or_else(|| app.document.languages());
        let choice = AlignerChoice::with(languages, &app.view.settings.aligner, first)?;
        Some(AlignerChoice { is_guess, ..choice })
    }

    pub(crate) fn send_resources(&mut self, app: &mut AppState) {
        let means = (self.columns.look.frequencies.clone(), self.aligner(app));
        if self.pending.means.as_ref() != Some(&means) {
            self.pending.means = Some(means.clone());
            self.whole.revision += 1;
            Self::send(app, CorpusRequest::Means(means.0, means.1));
        }
    }

    pub(crate) fn keep_look(&self, app: &mut AppState) {
        Self::send(app, CorpusRequest::Keep(Box::new(self.columns.look.clone())));
    }
}
