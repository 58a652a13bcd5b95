//! Page Corpus, the sentences as a whole: an overview, a concordance. A leaf.

use std::{path::PathBuf, sync::Arc};

use crate::jobs::corpus::calls::Hits;
use corpus::{overview::compute::Overview, query::linked::LinkChoice};
use engine::analysis::concordance::{ConcordanceLine, ConcordanceOrder, sorted};
use engine::{analysis::bleu::Tokenization, text::cells::CellTable};

/// A view of the Corpus page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExploreView {
    #[default]
    Table,
    Overview,
    Concordance,
    Judge,
    Contrast,
    Training,
}

/// A command for the views of all sentences.
#[derive(Clone, Debug, PartialEq)]
pub enum ExploreCommand {
    SetView(ExploreView),
    /// Shows the sentences for which this holds too.
    Follow(String),
    /// Goes back to where [`ExploreCommand::Follow`] came from.
    Back,
    /// Compares these systems, by their places.
    SetPair(usize, usize),
    /// Reads frequencies from a file; `None`: counts the references.
    SetFrequencies(Option<PathBuf>),
    /// Links words with a file before any other; `None`: as elsewhere.
    SetAligner(Option<PathBuf>),
    SetTokenizer(Tokenization),
    MoveColumn(String, isize),
    SetQuery(String),
    SetLinks(LinkChoice),
    /// Whether it is looked for among parts of speech in place of source words, and of words of the text.
    SetByParts(bool, bool),
    /// Whether links are counted in place of hits, and which.
    SetCounts(CountedLinks),
    SaveCounts(PathBuf),
    SetOrder(ConcordanceOrder),
    SaveHits(PathBuf),
    MoveHit(isize),
    SelectHit(usize),
}

/// The overview.
#[derive(Clone, Debug, Default)]
pub struct ExploredCounts {
    pub overview: Option<Arc<Overview>>,
    /// How far a new one is.
    pub share: Option<f32>,
    /// What it was counted of: the state of the corpus and the rows.
    of: Option<(u64, Arc<Vec<u32>>)>,
}

impl ExploredCounts {
    /// Whether to count, as was not done last. A running count is not restarted because of new outputs.
    pub fn wanted(&mut self, revision: u64, rows: &Arc<Vec<u32>>) -> bool {
        let is_wanted = is_new(&mut self.of, self.share.is_some(), revision, rows);
        if is_wanted {
            self.share = Some(0.0);
        }
        is_wanted
    }

    pub fn forget(&mut self) {
        self.of = None;
        self.share = None;
    }

    pub fn take(&mut self, overview: Arc<Overview>) {
        self.overview = Some(overview);
        self.share = None;
    }
}

/// Whether rows, or a state of the corpus, are others than those that were asked about; they are then.
fn is_new(of: &mut Option<(u64, Arc<Vec<u32>>)>, is_under_way: bool, revision: u64, rows: &Arc<Vec<u32>>) -> bool {
    if of.as_ref().is_some_and(|(known, of)| of == rows && (*known == revision || is_under_way)) {
        return false;
    }
    *of = Some((revision, Arc::clone(rows)));
    true
}

/// A concordance.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any of them may hold together")]
pub struct Concordance {
    pub query: String,
    pub links: LinkChoice,
    /// Over parts of speech in place of source words.
    pub by_parts: bool,
    /// Over parts of speech in place of the words of the text.
    pub by_target: bool,
    pub order: ConcordanceOrder,
    pub lines: Arc<Vec<ConcordanceLine>>,
    pub sorted: Arc<Vec<u32>>,
    /// The chosen one, by its row.
    pub selected: Option<usize>,
    /// Sentences that were looked through.
    pub done: usize,
    pub sentences: usize,
    pub is_searching: bool,
    /// Why the query is none.
    pub trouble: Option<String>,
    pub note: Option<String>,
    number: u64,
    /// The hits are of the search before.
    is_old: bool,
    of: Option<(u64, Arc<Vec<u32>>)>,
}

impl Concordance {
    pub fn wanted(&mut self, revision: u64, rows: &Arc<Vec<u32>>) -> bool {
        is_new(&mut self.of, self.is_searching, revision, rows)
    }

    pub fn forget(&mut self) {
        self.of = None;
    }

    /// Begins a search of this number; the old hits stay until there are new ones.
    pub fn begin(&mut self, number: u64) {
        self.number = number;
        self.is_old = true;
        (self.trouble, self.note) = (None, None);
        self.is_searching = !self.query.trim().is_empty();
        if !self.is_searching {
            self.clear();
        }
    }

    fn clear(&mut self) {
        self.lines = Arc::default();
        self.sorted = Arc::default();
        self.is_old = false;
        (self.selected, self.done, self.sentences) = (None, 0, 0);
    }

    pub fn take(&mut self, hits: Hits) {
        if hits.number != self.number {
            return;
        }
        if self.is_old {
            self.clear();
        }
        self.sentences += hits.lines.chunk_by(|a, b| a.at == b.at).count();
        Arc::make_mut(&mut self.lines).extend(hits.lines);
        (self.done, self.is_searching, self.note) = (hits.done, !hits.is_over, hits.note);
        // Sorting all at every step would take longer and longer: they are sorted when they have doubled, and at the end.
        let is_many = self.lines.len() >= 2 * self.sorted.len();
        if self.order == ConcordanceOrder::Place || hits.is_over || is_many {
            self.sort();
        } else {
            let new = self.sorted.len() as u32..self.lines.len() as u32;
            Arc::make_mut(&mut self.sorted).extend(new);
        }
    }

    pub fn refuse(&mut self, number: u64, why: String) {
        if number == self.number {
            self.clear();
            (self.is_searching, self.trouble) = (false, Some(why));
        }
    }

    /// Puts the hits in order; the chosen one stays chosen.
    pub fn sort(&mut self) {
        let chosen = self.selected.and_then(|row| self.sorted.get(row).copied());
        self.sorted = Arc::new(sorted(&self.lines, self.order));
        self.selected = chosen.and_then(|line| self.sorted.iter().position(|other| *other == line));
    }

    pub fn line(&self, row: usize) -> Option<&ConcordanceLine> {
        self.lines.get(*self.sorted.get(row)? as usize)
    }
}

/// Which kinds of links are counted, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedLinks {
    /// In place of hits.
    pub is_shown: bool,
    /// The weights of all systems in place of links.
    pub weighs: bool,
    /// Those that are compared with the links of the concordance.
    pub beside: Vec<LinkChoice>,
    pub each_word: bool,
    /// Words that are rarer are left out.
    pub least: usize,
}

impl Default for CountedLinks {
    fn default() -> Self {
        Self { is_shown: false, weighs: false, beside: Vec::new(), each_word: false, least: 5 }
    }
}

/// Counts of link kinds.
#[derive(Clone, Debug, Default)]
pub struct LinkCounting {
    pub asked: CountedLinks,
    pub table: Option<Arc<CellTable>>,
    /// How far a new one is.
    pub share: Option<f32>,
    /// Why there is none, as a sentence.
    pub trouble: Option<String>,
    number: u64,
    of: Option<(u64, Arc<Vec<u32>>)>,
}

impl LinkCounting {
    pub fn wanted(&mut self, revision: u64, rows: &Arc<Vec<u32>>) -> bool {
        is_new(&mut self.of, self.share.is_some(), revision, rows)
    }

    pub fn forget(&mut self) {
        self.of = None;
        self.share = None;
    }

    pub fn begin(&mut self, number: u64) {
        (self.number, self.share, self.trouble) = (number, Some(0.0), None);
    }

    pub fn take(&mut self, number: u64, share: f32, table: Option<Arc<CellTable>>) {
        if number == self.number {
            self.share = table.is_none().then_some(share);
            self.table = table.or(self.table.take());
        }
    }
}

/// The views of all sentences.
#[derive(Clone, Debug, Default)]
pub struct CorpusViews {
    pub view: ExploreView,
    /// Where a way back leads: a view and its conditions.
    pub back: Vec<(ExploreView, String)>,
    pub counted: ExploredCounts,
    pub concordance: Concordance,
    pub tallied: LinkCounting,
    /// Counts the states of the corpus.
    pub revision: u64,
    /// How much each system says, by its id; how many sentences there are, and how many with links by hand.
    pub said: Vec<(i64, usize)>,
}

impl CorpusViews {
    pub fn refuse(&mut self, number: u64, why: String) {
        if number == self.tallied.number {
            (self.tallied.share, self.tallied.table) = (None, None);
            self.tallied.trouble = Some(why);
        } else {
            self.concordance.refuse(number, why);
        }
    }

    /// What is under way may be what failed.
    pub fn fail(&mut self) {
        (self.counted.share, self.tallied.share) = (None, None);
        self.concordance.is_searching = false;
    }

    /// What is under way comes to nothing; it is asked for again.
    pub fn stop(&mut self) {
        self.counted.forget();
        self.tallied.forget();
        self.concordance.forget();
        self.concordance.is_searching = false;
    }
}
