//! Page Corpus, what people say of the chosen sentence: judgements, links by hand, and what is taken back.

use std::sync::Arc;

use crate::app::state::AppState;
use crate::jobs::corpus::thread::{CorpusRequest, Detail};
use crate::pages::corpus::{CorpusPage, picture};
use corpus::judgements::judge::{ByAnnotator, Judgement};
use corpus::judgements::{campaign::Campaign, change::Change};
use corpus::store::{corpus::CorpusTable, output::SystemOutput, output::is_said};
use engine::text::links::{Link, Links};

impl CorpusPage {
    pub(super) fn judge(&mut self, app: &mut AppState, change: impl FnOnce(&mut Judgement)) {
        if let Some(at) = self.selected {
            self.judge_of(at, self.kept.annotator.clone(), app, change);
        }
    }

    /// As [`Self::judge`] where the sentence in view is the chosen one, and not still the one before.
    pub(super) fn judge_shown(&mut self, app: &mut AppState, change: impl FnOnce(&mut Judgement)) {
        if self.detail.as_ref().is_some_and(|detail| Some(detail.at) == self.selected) {
            self.judge(app, change);
        }
    }

    /// Changes what an annotator says of a sentence, from what was said last.
    pub(super) fn judge_of(
        &mut self, at: usize, annotator: String, app: &mut AppState, change: impl FnOnce(&mut Judgement),
    ) {
        let before = self.said(at, &annotator);
        let mut judgement = before.clone();
        change(&mut judgement);
        let is_own = |campaign: &&Arc<Campaign>| {
            campaign.annotators.contains(&annotator) && campaign.sentences.contains(&(at as u32))
        };
        if let Some(campaign) = self.corpus.campaign.as_ref().filter(is_own) {
            campaign.settle(&mut judgement);
        }
        if judgement != before {
            self.say(at, &annotator, judgement.clone());
            Self::send(app, CorpusRequest::Judge(at, annotator, judgement));
        }
    }

    /// What all say of a sentence, from 0.
    pub fn judgements(&self, at: usize) -> &ByAnnotator {
        static NONE: ByAnnotator = ByAnnotator::new();
        self.corpus.judgements.get(&at).map_or(&NONE, |all| all)
    }

    /// Puts a judgement into the table in view, while the thread writes it into the file.
    fn say(&mut self, at: usize, annotator: &str, judgement: Judgement) {
        let mut all = self.judgements(at).clone();
        if judgement.is_empty() {
            all.remove(annotator);
        } else {
            all.insert(annotator.to_owned(), judgement);
        }
        Arc::make_mut(&mut self.corpus).apply(&Change::of_judgements([(at, Arc::new(all))]));
        self.pending.under_way.push(at);
    }

    /// Another table comes into view; what is on its way into the file stays as it was said.
    pub(super) fn replace_table(&mut self, corpus: Arc<CorpusTable>) {
        let before = std::mem::replace(&mut self.corpus, corpus);
        if !self.pending.under_way.is_empty() {
            let judged =
                self.pending.under_way.iter().map(|at| (*at, before.judgements.get(at).cloned().unwrap_or_default()));
            Arc::make_mut(&mut self.corpus).apply(&Change::of_judgements(judged));
        }
    }

    /// Whether the annotator has judged a sentence, from 0, as a campaign asks.
    pub fn has_judged(&self, campaign: &Campaign, at: usize) -> bool {
        campaign.is_done_by(&self.corpus, &self.kept.annotator, at)
    }

    /// Takes back, or does again; what it concerns is chosen.
    pub(super) fn take_back(&mut self, call: CorpusRequest, app: &mut AppState) {
        self.pending.drawn = None;
        self.pending.chooses = true;
        self.whole.revision += 1;
        Self::send(app, call);
    }

    /// The links by hand of the chosen sentence, once they are known.
    pub(super) fn gold(&self) -> Option<(usize, Links)> {
        let detail = self.detail.as_ref().filter(|detail| Some(detail.at) == self.selected)?;
        let drawn = self.pending.drawn.as_ref().filter(|(at, _)| *at == detail.at).map(|(_, gold)| gold);
        Some((detail.at, drawn.or(self.kept_gold(detail))?.clone().unwrap_or_default()))
    }

    /// Those of the text that is linked, as far as the corpus has them.
    fn kept_gold<'a>(&self, detail: &'a Detail) -> Option<&'a Option<Links>> {
        self.linked.map_or(Some(&detail.gold), |system| detail.golds.get(system))
    }

    /// The output that is linked in place of the reference; none where it says the reference.
    fn linked_output(&self) -> Option<String> {
        let detail = self.detail.as_ref()?;
        let output = detail.outputs.get(self.linked?)?.as_ref()?;
        Some(output.text.clone()).filter(|text| !is_said(text, detail.sentence.reference.as_deref()))
    }

    pub(super) fn draw(&mut self, at: usize, gold: Option<Links>, app: &mut AppState) {
        if let Some(text) = self.linked_output() {
            (self.pending.drawn, self.whole.revision) = (Some((at, gold.clone())), self.whole.revision + 1);
            Self::send(app, CorpusRequest::SetOutputGold(at, text, gold));
            return;
        }
        // What is judged before the answer keeps the links.
        let links = gold.as_ref().map(engine::text::links::pharaoh).unwrap_or_default();
        let judgement = Judgement { links, ..self.said(at, &self.kept.annotator) };
        let annotator = self.kept.annotator.clone();
        self.say(at, &annotator, judgement);
        self.pending.drawn = Some((at, gold.clone()));
        self.whole.revision += 1;
        Self::send(app, CorpusRequest::SetGold(at, annotator, gold));
    }

    pub(super) fn link(&mut self, link: Link, app: &mut AppState) {
        let Some((at, gold)) = self.gold() else { return };
        let (mut sure, mut possible) = (gold.sure().to_vec(), gold.possible().to_vec());
        if gold.is_sure(link) {
            sure.retain(|other| *other != link);
            possible.push(link);
        } else if gold.is_possible(link) {
            possible.retain(|other| *other != link);
        } else {
            sure.push(link);
        }
        let gold = Links::new(sure, possible);
        self.draw(at, Some(gold).filter(|gold| !gold.all().is_empty()), app);
    }

    pub(super) fn links_of_aligner(&mut self, app: &mut AppState) {
        let Some(at) = self.selected else { return };
        let Some(aligner) = self.aligner(app) else {
            let message = tr!("Which languages these are is not known; add a model of them with + Model above");
            self.message = Some(message.to_owned());
            return;
        };
        Self::send(app, CorpusRequest::Align(at, self.kept.annotator.clone(), aligner));
    }

    /// Links that were drawn and are part of the details by now are known from there.
    pub(super) fn forget_drawn(&mut self, detail: &Detail) {
        let kept = self.kept_gold(detail).cloned();
        self.pending.drawn.take_if(|(at, gold)| *at != detail.at || kept.is_none_or(|kept| *gold == kept));
    }

    /// Takes in what was judged; what was taken back, or done again, is chosen.
    pub(super) fn judged(&mut self, mut change: Change, app: &mut AppState) {
        let first = change.first();
        let written = first.or(self.pending.under_way.first().copied());
        if let Some(n) = self.pending.under_way.iter().position(|at| Some(*at) == written) {
            self.pending.under_way.remove(n);
        }
        change.judged.retain(|at, _| !self.pending.under_way.contains(at));
        Arc::make_mut(&mut self.corpus).apply(&change);
        self.note_outputs();
        if let Some(mut shared) = self.detail.take() {
            let detail = Arc::make_mut(&mut shared);
            if let Some(gold) = change.golds.get(&detail.at) {
                detail.gold.clone_from(gold);
                let own = change.output_golds.get(&detail.at);
                let of_output = |output: &Option<SystemOutput>| {
                    let text = &output.as_ref()?.text;
                    let own = || Some(own?.iter().find(|(of, _)| of == text)?.1.clone());
                    if is_said(text, detail.sentence.reference.as_deref()) { gold.clone() } else { own() }
                };
                detail.golds = detail.outputs.iter().map(of_output).collect();
                self.tables = picture::tables(detail, self.corpus.rules, || app.tasks.fresh_id());
            }
            self.forget_drawn(detail);
            self.detail = Some(shared);
        }
        if std::mem::take(&mut self.pending.chooses)
            && let Some(at) = first.filter(|at| self.selected != Some(*at))
        {
            self.select(Some(at), app);
        }
    }
}

/// A condition that shows where two annotators differ.
pub fn condition(first: &str, second: &str) -> String {
    let names = format!("{first},{second}");
    if names.contains(char::is_whitespace) { format!("differs:\"{names}\"") } else { format!("differs:{names}") }
}
