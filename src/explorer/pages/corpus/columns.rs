//! Page Corpus, the columns of numbers: which there are, which are shown, in which order. A leaf.

use std::collections::BTreeSet;

use corpus::store::{corpus::CorpusTable, parts::FileVersion};
use corpus::{export::out, query::column::TableColumn};

/// Measures that are shown of each system at first, by their names.
const FIRST_MEASURES: &[&str] = &["bleu", "logp"];

/// How the columns are looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableColumns {
    /// What the workspace keeps of it.
    pub look: FileVersion,
}

impl TableColumns {
    /// Every column in the user's order: of sentences, outputs, and differences of pairs.
    pub fn all(&self, corpus: &CorpusTable) -> Vec<TableColumn> {
        let mut columns = out::all_columns(corpus);
        let shown = self.look.shown.iter().filter(|(_, is_shown)| **is_shown);
        let shown = shown.filter_map(|(name, _)| match TableColumn::named(name, corpus) {
            Ok(TableColumn::Difference(_, first, second) | TableColumn::RatingDifference(first, second)) => {
                Some((first, second))
            }
            _ => None,
        });
        let pairs: BTreeSet<(usize, usize)> = [(0, 1)].into_iter().chain(self.look.pair).chain(shown).collect();
        for (first, second) in pairs.into_iter().filter(|(first, second)| *first.max(second) < corpus.systems.len()) {
            columns.extend((0..corpus.measures.len()).map(|at| TableColumn::Difference(at, first, second)));
            columns.push(TableColumn::RatingDifference(first, second));
        }
        // Columns that were never moved stand behind those that were, in their own order.
        let place = |column: &TableColumn| {
            let name = column.name(corpus);
            self.look.order.iter().position(|other| *other == name).unwrap_or(usize::MAX)
        };
        columns.sort_by_cached_key(place);
        columns
    }

    pub fn shown(&self, corpus: &CorpusTable) -> Vec<TableColumn> {
        self.all(corpus).into_iter().filter(|column| self.is_shown(*column, corpus)).collect()
    }

    pub fn is_shown(&self, column: TableColumn, corpus: &CorpusTable) -> bool {
        let is_first =
            |most| column.measure(corpus).is_some_and(|measure| FIRST_MEASURES[..most].contains(&measure.name));
        let at_first = match column {
            TableColumn::Output(..) => is_first(FIRST_MEASURES.len()),
            TableColumn::Sentence(at) => at == 0,
            TableColumn::Difference(_, 0, 1) => is_first(1),
            TableColumn::Difference(..) => false,
            TableColumn::Errors(_) => corpus.counts.errors_judged > 0,
            // They are there only where they have numbers.
            TableColumn::Weight(..) => true,
            TableColumn::Rating(_) => corpus.counts.ratings > 0,
            TableColumn::RatingDifference(..) => false,
            TableColumn::Number | TableColumn::Stars | TableColumn::Marks => false,
        };
        self.look.shown.get(&column.name(corpus)).copied().unwrap_or(at_first)
    }

    /// Moves a column that is shown by so many of those that are.
    pub fn move_by(&mut self, name: &str, by: isize, corpus: &CorpusTable) {
        let shown: Vec<String> = self.shown(corpus).iter().map(|column| column.name(corpus)).collect();
        let Some(from) = shown.iter().position(|other| other == name) else { return };
        let to = (from as isize + by).clamp(0, shown.len() as isize - 1) as usize;
        if to == from {
            return;
        }
        let mut order: Vec<String> = self.all(corpus).iter().map(|column| column.name(corpus)).collect();
        order.retain(|other| other != name);
        // It comes before or behind the one whose place it takes, whatever hidden ones lie between.
        if let Some(place) = order.iter().position(|other| *other == shown[to]) {
            order.insert(place + usize::from(to > from), name.to_owned());
        }
        self.look.order = order;
    }
}
