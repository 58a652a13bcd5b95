//! What an act of judging changed, as the thread that owns a corpus and the window apply it, each to its own copy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::judgements::judge::{ByAnnotator, Changed};
use crate::judgements::scheme::ErrorScheme;
use crate::measures::table::{DISAGREEMENT, MEASURES};
use crate::store::{corpus::CorpusTable, file::Workspace, write::Measured};
use engine::{error::Result, text::links::Links};

/// What is new of some sentences, by their places from 0.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// All that is said of each now.
    pub judged: BTreeMap<usize, Arc<ByAnnotator>>,
    pub golds: BTreeMap<usize, Option<Links>>,
    /// Of the same sentences, links by hand of outputs by their texts.
    pub output_golds: BTreeMap<usize, Vec<(String, Links)>>,
    pub scheme: Option<Arc<ErrorScheme>>,
    numbers: Vec<(i64, Vec<Measured>)>,
}

impl Change {
    /// That these sentences have these judgements now, and nothing else.
    pub fn of_judgements(judged: impl IntoIterator<Item = (usize, Arc<ByAnnotator>)>) -> Self {
        Self { judged: judged.into_iter().collect(), ..Self::default() }
    }

    /// Reads what was changed, and measures what depends on it.
    pub fn read(workspace: &mut Workspace, changed: &Changed) -> Result<Self> {
        let mut change = Self::default();
        for at in &changed.judged {
            change.judged.insert(*at, Arc::new(workspace.judgements_of(*at)?));
        }
        for (at, by, judgement) in workspace.campaign()?.map(|known| known.settled(&change.judged)).unwrap_or_default()
        {
            Arc::make_mut(change.judged.entry(at).or_default()).insert(by, judgement);
        }
        for at in &changed.golds {
            change.golds.insert(*at, workspace.gold(*at)?);
            change.output_golds.insert(*at, workspace.output_golds(*at));
        }
        if changed.scheme {
            change.scheme = Some(Arc::new(workspace.scheme()?));
        }
        let places: Vec<usize> = changed.golds.iter().copied().collect();
        change.numbers = workspace.measure(&places)?;
        Ok(change)
    }

    /// The first sentence that it is about, from 0; `None`: the scheme alone.
    pub fn first(&self) -> Option<usize> {
        self.judged.keys().chain(self.golds.keys()).min().copied()
    }
}

impl CorpusTable {
    /// Takes a change in; costs what it changes.
    pub fn apply(&mut self, change: &Change) {
        let (judgements, counts) = (Arc::make_mut(&mut self.judgements), Arc::make_mut(&mut self.counts));
        for (at, by) in &change.judged {
            counts.add(by);
            let before = if by.is_empty() { judgements.remove(at) } else { judgements.insert(*at, Arc::clone(by)) };
            if let Some(before) = &before {
                counts.remove(before);
            }
        }
        if !change.golds.is_empty() {
            let golds: &mut BTreeSet<usize> = Arc::make_mut(&mut self.golds);
            for (at, gold) in &change.golds {
                if gold.is_some() || change.output_golds.get(at).is_some_and(|all| !all.is_empty()) {
                    golds.insert(*at)
                } else {
                    golds.remove(at)
                };
            }
        }
        if let Some(scheme) = &change.scheme {
            self.scheme = Arc::clone(scheme);
        }
        for (id, rows) in &change.numbers {
            let Some(column) = self.systems.iter_mut().find(|column| column.system.id == *id) else { continue };
            let measured = MEASURES.iter().zip(&mut column.numbers).enumerate();
            // Without an aligner nothing new is known of its links.
            for (k, (_, numbers)) in measured.filter(|(_, (measure, _))| measure.name != DISAGREEMENT) {
                for (at, row) in rows {
                    numbers.update(*at, row[k]);
                }
            }
        }
    }
}
