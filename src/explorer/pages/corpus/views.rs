//! Page Corpus, the sentences as a whole: an overview, a concordance. A leaf.

use std::path::PathBuf;
use std::sync::Arc;

use crate::jobs::corpus::calls::Hits;
use corpus::overview::compute::{MOST_COUNTED, Overview, OverviewOptions, first_pair};
use corpus::query::linked::LinkChoice;
use corpus::store::corpus::CorpusTable;
use engine::analysis::bleu::Tokenization;
use engine::analysis::concordance::{ConcordanceLine, ConcordanceOrder, sorted};
use engine::text::cells::CellTable;

/// What stands on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExploreView {
    /// A row for each sentence.
    #[default]
    Table,
    /// Numbers over all of them.
    Overview,
    /// Hits of a query.
    Concordance,
    /// What an annotator judges.
    Judge,
    Contrast,
    /// Curves of training runs.
    Training,
}

/// What the user does with the whole.
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
    /// Cuts text into words for BLEU with another tokenizer.
    SetTokenizer(Tokenization),
    /// Moves a column by so many.
    MoveColumn(String, isize),
    /// What is looked for.
    SetQuery(String),
    /// In which text, and by which links.
    SetLinks(LinkChoice),
    /// Whether it is looked for among parts of speech in place of source words, and of words of the text.
    SetByParts(bool, bool),
    /// Whether links are counted in place of hits, and which.
    SetCounts(CountedLinks),
    /// Writes the counts of links as a table.
    SaveCounts(PathBuf),
    /// How hits are sorted.
    SetOrder(ConcordanceOrder),
    /// Writes the hits as a table.
    SaveHits(PathBuf),
    /// Chooses so many hits down.
    MoveHit(isize),
    /// Chooses a hit, by its row.
    SelectHit(usize),
}

/// An overview.
#[derive(Clone, Debug, Default)]
pub struct ExploredCounts {
    /// As it was counted last.
    pub overview: Option<Arc<Overview>>,
    /// How far a new one is.
    pub share: Option<f32>,
    /// The two systems that are compared.
    pub pair: Option<(usize, usize)>,
    /// What it was counted of: the state of the corpus and the rows.
    of: Option<(u64, Arc<Vec<u32>>)>,
}

impl ExploredCounts {
    /// What is to be counted, where that is not what was counted last. What is under way is not begun anew because more
    /// outputs came: they are counted when it is done.
    pub fn wanted(&mut self, revision: u64, rows: &Arc<Vec<u32>>, corpus: &CorpusTable) -> Option<OverviewOptions> {
        if !is_new(&mut self.of, self.share.is_some(), revision, rows) {
            return None;
        }
        self.share = Some(0.0);
        let pair = self.pair.unwrap_or_else(|| first_pair(corpus));
        Some(OverviewOptions { pair, most: MOST_COUNTED, ..OverviewOptions::default() })
    }

    /// What was counted does not hold any more.
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
    /// In which text, and by which links.
    pub links: LinkChoice,
    /// Over parts of speech in place of source words.
    pub by_parts: bool,
    /// Over parts of speech in place of the words of the text.
    pub by_target: bool,
    /// How hits are sorted.
    pub order: ConcordanceOrder,
    /// All hits until now.
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
    /// What is left out.
    pub note: Option<String>,
    number: u64,
    /// The hits are of the search before.
    is_old: bool,
    of: Option<(u64, Arc<Vec<u32>>)>,
}

impl Concordance {
    /// Whether it is to be looked for again.
    pub fn wanted(&mut self, revision: u64, rows: &Arc<Vec<u32>>) -> bool {
        is_new(&mut self.of, self.is_searching, revision, rows)
    }

    /// The query is another.
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

    /// Takes hits of the last search.
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

    /// The query is none.
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

    /// A hit by its row.
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

/// Kinds of links against each other.
#[derive(Clone, Debug, Default)]
pub struct LinkCounting {
    /// What was asked for.
    pub asked: CountedLinks,
    /// As it was counted last.
    pub table: Option<Arc<CellTable>>,
    /// How far a new one is.
    pub share: Option<f32>,
    /// Why there is none, as a sentence.
    pub trouble: Option<String>,
    number: u64,
    of: Option<(u64, Arc<Vec<u32>>)>,
}

impl LinkCounting {
    /// Whether it is to be counted again.
    pub fn wanted(&mut self, revision: u64, rows: &Arc<Vec<u32>>) -> bool {
        is_new(&mut self.of, self.share.is_some(), revision, rows)
    }

    /// What was counted does not hold any more.
    pub fn forget(&mut self) {
        self.of = None;
        self.share = None;
    }

    pub fn begin(&mut self, number: u64) {
        (self.number, self.share, self.trouble) = (number, Some(0.0), None);
    }

    /// It has come so far.
    pub fn take(&mut self, number: u64, share: f32, table: Option<Arc<CellTable>>) {
        if number == self.number {
            self.share = table.is_none().then_some(share);
            self.table = table.or(self.table.take());
        }
    }
}

/// What the page knows of the whole.
#[derive(Clone, Debug, Default)]
pub struct CorpusViews {
    /// What stands on the page.
    pub view: ExploreView,
    /// Where a way back leads: a view and its conditions.
    pub back: Vec<(ExploreView, String)>,
    pub counted: ExploredCounts,
    pub concordance: Concordance,
    /// Kinds of links against each other.
    pub tallied: LinkCounting,
    /// Counts the states of the corpus.
    pub revision: u64,
    /// How much each system says, by its id; how many sentences there are, and how many with links by hand.
    pub said: Vec<(i64, usize)>,
}

impl CorpusViews {
    /// What was asked under a number comes to nothing.
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
