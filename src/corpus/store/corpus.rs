//! A workspace in memory, without alignments: what the table shows, sorts and looks through. Columns are read when
//! something of them is asked for first.

use std::collections::{BTreeMap, BTreeSet};
use std::{ops::Range, sync::Arc};

use crate::judgements::{campaign::Campaign, counts::Counts, judge::Judgements, scheme::ErrorScheme};
use crate::measures::table::{CorpusMeasure, OF_SENTENCES};
use crate::store::blocks::{Blocks, Loose, Written, count_outputs};
use crate::store::file::{Workspace, list, number};
use crate::store::read::{StoredSystem, compared};
use crate::store::rules::SideRules;
use crate::store::texts::{ColumnNumbers, PIECE, TextStore, are_too_many};
use engine::analysis::{bleu::BleuSettings, lexical::cut};
use engine::error::Result;

/// Sentences, what systems say of them and what people say of that. A copy shares all that is large.
#[derive(Clone, Default)]
pub struct CorpusTable {
    pub sources: TextStore,
    /// The first reference of each sentence.
    pub references: TextStore,
    pub further: Vec<TextStore>,
    /// Measures of the sentences, in the order of [`CorpusTable::of_sentences`].
    pub numbers: Vec<ColumnNumbers>,
    given: Arc<Vec<CorpusMeasure>>,
    /// What is known of each output: [`MEASURES`](crate::measures::table::MEASURES), then the scores that others gave.
    pub measures: Arc<Vec<CorpusMeasure>>,
    pub systems: Vec<SystemColumn>,
    pub judgements: Arc<Judgements>,
    pub golds: Arc<BTreeSet<usize>>,
    /// What a word is.
    pub rules: SideRules,
    pub has_parts: bool,
    /// Whether references or outputs have them.
    pub has_target_parts: bool,
    pub scheme: Arc<ErrorScheme>,
    pub bleu: BleuSettings,
    /// Who judges which sentences, where that is planned.
    pub campaign: Option<Arc<Campaign>>,
    pub counts: Arc<Counts>,
    /// What could not be read when it was opened, in sentences; [`CorpusTable::take_damages`] tells what came to light since.
    pub damages: Vec<String>,
    /// The last row of measures that was seen: what came later is new.
    seen: i64,
    blocks: Option<Arc<Blocks>>,
}

impl std::fmt::Debug for CorpusTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Corpus").field("sentences", &self.len()).field("systems", &self.systems).finish_non_exhaustive()
    }
}

/// What a system says.
#[derive(Clone, Debug)]
pub struct SystemColumn {
    pub system: StoredSystem,
    pub texts: TextStore,
    /// Measures, in the order of [`CorpusTable::measures`].
    pub numbers: Vec<ColumnNumbers>,
    /// How many sentences it has been asked about.
    pub done: usize,
}

/// References that were forced are not compared with themselves, whatever a file says of them.
fn is_measured(is_forced: bool, measure: &CorpusMeasure) -> bool {
    !(is_forced && measure.compares())
}

impl SystemColumn {
    fn new(system: StoredSystem, len: usize, blocks: &Arc<Blocks>, measures: &[CorpusMeasure]) -> Self {
        let texts = blocks.texts(Written::Outputs(system.id), len);
        let mut column = Self { numbers: Vec::new(), system, texts, done: 0 };
        column.add(measures, len, blocks);
        column
    }

    fn add(&mut self, measures: &[CorpusMeasure], len: usize, blocks: &Arc<Blocks>) {
        let is_forced = self.system.is_forced();
        self.numbers.extend(measures.iter().map(|measure| {
            let name = if is_measured(is_forced, measure) { measure.stored() } else { "" };
            blocks.numbers(self.system.id, name, len)
        }));
    }

    fn count(&mut self, workspace: &Workspace, len: usize) -> Result<()> {
        self.done = workspace.ask(|all| count_outputs(all, self.system.id, len))?;
        Ok(())
    }
}

/// A row of measures that came: of which system, for which sentences, and the numbers unless they are folded.
struct Came {
    id: i64,
    system: i64,
    places: Range<usize>,
    numbers: Option<Loose>,
}

impl CorpusTable {
    /// Source and target language of the first system whose models say so.
    pub fn languages(&self) -> Option<(String, String)> {
        let mut known = self.systems.iter().filter_map(|column| column.system.about.languages.split_once('>'));
        known.next().map(|(source, target)| (source.to_owned(), target.to_owned()))
    }

    /// What is known of each sentence: [`OF_SENTENCES`], then the numbers that files gave.
    pub fn of_sentences(&self) -> impl Iterator<Item = &CorpusMeasure> {
        OF_SENTENCES.iter().chain(self.given.iter())
    }

    /// Opens a workspace as far as it is sound; texts and numbers are read on demand.
    pub fn read(workspace: &Workspace) -> Result<Self> {
        // One moment of the file, whatever others write meanwhile.
        let _moment = workspace.ask(rusqlite::Connection::unchecked_transaction)?;
        let (len, blocks) = (workspace.len()?, Blocks::new(workspace.path()));
        let sql = "SELECT coalesce(max(id), 0) FROM numbers";
        let mut corpus = Self {
            sources: blocks.texts(Written::Sources, len),
            references: blocks.texts(Written::Reference(0), len),
            further: (1..workspace.references()?).map(|n| blocks.texts(Written::Reference(n), len)).collect(),
            seen: workspace.ask(|all| number(all, sql, []))?,
            rules: workspace.rules(),
            ..Self::default()
        };
        let given = workspace.sentence_numbers().map(|given| corpus.given = Arc::new(given));
        corpus.numbers = corpus.of_sentences().map(|measure| blocks.numbers(0, measure.stored(), len)).collect();
        let read = workspace.systems().and_then(|systems| {
            corpus.measures = Arc::new(workspace.measures()?);
            let column = |system| SystemColumn::new(system, len, &blocks, &corpus.measures);
            corpus.systems = systems.into_iter().map(column).collect();
            corpus.systems.iter_mut().try_for_each(|column| column.count(workspace, len))
        });
        let stray = workspace.stray_judgements();
        let read = [given, read, corpus.read_judgements(workspace)];
        corpus.damages = read.into_iter().filter_map(|read| read.err().map(|error| error.to_string())).collect();
        corpus.damages.extend(stray.ok().flatten());
        corpus.blocks = Some(blocks);
        Ok(corpus)
    }

    /// Reads again what people say.
    pub fn read_judgements(&mut self, workspace: &Workspace) -> Result<()> {
        self.judgements = Arc::new(workspace.judgements()?);
        self.golds = Arc::new(workspace.golds()?);
        self.has_parts = workspace.has_parts();
        self.has_target_parts = workspace.has_target_parts();
        self.scheme = Arc::new(workspace.scheme()?);
        self.bleu = workspace.bleu()?;
        self.campaign = workspace.campaign()?.map(Arc::new);
        self.counts = Arc::new(Counts::of(&self.judgements));
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.sources.len()
    }

    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Whether there are references: those of the first piece tell, which is always in memory.
    pub fn has_references(&self) -> bool {
        (0..self.len().min(PIECE)).any(|at| self.references.get(at).is_some())
    }

    /// Everything that has a text for each sentence.
    pub fn texts(&self) -> impl Iterator<Item = &TextStore> {
        let of_sentences = [&self.sources, &self.references].into_iter().chain(&self.further);
        of_sentences.chain(self.systems.iter().map(|column| &column.texts))
    }

    /// The references that the outputs of a sentence, from 0, are compared with.
    pub fn references_of(&self, at: usize) -> Vec<&str> {
        compared(self.references.get(at), self.further.iter().filter_map(|texts| texts.get(at)))
    }

    /// A text of the target language as words, by the tokenizer of BLEU; see [`cut`].
    pub fn cut(&self, text: &str) -> String {
        cut(text, self.bleu.tokenization)
    }

    /// How the columns of references are called: `reference`, `reference_2` and so on.
    pub fn reference_names(&self) -> impl Iterator<Item = String> {
        let name = |n: usize| if n == 0 { "reference".to_owned() } else { format!("reference_{}", n + 1) };
        (0..=self.further.len()).map(name)
    }

    fn all_texts(&mut self) -> impl Iterator<Item = &mut TextStore> {
        let of_systems = self.systems.iter_mut().map(|column| &mut column.texts);
        [&mut self.sources, &mut self.references].into_iter().chain(&mut self.further).chain(of_systems)
    }

    fn all_numbers(&self) -> impl Iterator<Item = &ColumnNumbers> {
        self.numbers.iter().chain(self.systems.iter().flat_map(|column| &column.numbers))
    }

    /// Reads on for a few milliseconds: texts that nobody has asked for yet. Whether there may be more, and room for them.
    pub fn read_on(&self) -> bool {
        let unread = |n| self.texts().find(|texts| !texts.is_read(n) && texts.has_room()).map(|texts| (n, texts));
        let next = (0..self.sources.pieces()).find_map(unread);
        next.inspect(|(n, texts)| texts.read(*n)).is_some()
    }

    pub fn read_texts(&self) {
        (0..self.sources.pieces()).for_each(|n| self.texts().for_each(|texts| texts.read(n)));
    }

    /// Whether more of the texts is in memory than should stay there.
    pub fn holds_too_much(&self) -> bool {
        self.blocks.as_ref().is_some_and(|blocks| are_too_many(&blocks.held))
    }

    /// Lets go of the texts, which are read again when they are asked for. Copies keep them.
    pub fn forget_texts(&mut self) {
        self.all_texts().for_each(TextStore::forget);
    }

    /// Reads all numbers of the columns in use, and texts of these sentences: what the table shows next.
    pub fn read_for(&self, rows: &[u32]) {
        for at in rows {
            self.texts().for_each(|texts| texts.read(*at as usize / PIECE));
        }
        for numbers in self.all_numbers().filter(|numbers| numbers.is_used()) {
            (0..self.sources.pieces()).for_each(|n| numbers.read(n));
        }
    }

    /// Reads everything of a sentence.
    pub fn read_sentence(&self, at: usize) {
        self.texts().for_each(|texts| texts.read(at / PIECE));
        self.all_numbers().for_each(|numbers| numbers.read(at / PIECE));
    }

    /// A copy for the window that never reads the file; it shares texts and numbers, but not the judgements.
    pub fn without_file(&self) -> Self {
        let mut copy = self.clone();
        copy.references.read(0);
        copy.blocks = None;
        copy.all_texts().for_each(TextStore::stop_reading);
        copy.numbers.iter_mut().for_each(ColumnNumbers::stop_reading);
        copy.systems.iter_mut().flat_map(|column| &mut column.numbers).for_each(ColumnNumbers::stop_reading);
        copy.judgements = Arc::new(Judgements::clone(&self.judgements));
        copy.golds = Arc::new(BTreeSet::clone(&self.golds));
        copy.counts = Arc::new(Counts::clone(&self.counts));
        copy
    }

    /// What could not be read since this was asked last, in sentences.
    pub fn take_damages(&self) -> Vec<String> {
        self.blocks.as_ref().map(|blocks| blocks.take_damages()).unwrap_or_default()
    }

    /// Reads what came since, from this window or another: everything that is written leaves measures behind.
    pub fn refresh(&mut self, workspace: &Workspace) -> Result<()> {
        let Some(blocks) = self.blocks.clone() else {
            *self = Self::read(workspace)?;
            return Ok(());
        };
        let _moment = workspace.ask(rusqlite::Connection::unchecked_transaction)?;
        self.rules = workspace.rules();
        let len = workspace.len()?;
        let systems = workspace.systems()?;
        self.systems.retain(|column| systems.iter().any(|system| system.id == column.system.id));
        // Scores come behind those that are there, so that no column moves.
        let is_new = |measure: &CorpusMeasure| self.measures.iter().all(|known| known.name != measure.name);
        let new: Vec<CorpusMeasure> = workspace.measures()?.into_iter().filter(is_new).collect();
        self.systems.iter_mut().for_each(|column| column.add(&new, len, &blocks));
        Arc::make_mut(&mut self.measures).extend(new);
        let is_new = |measure: &CorpusMeasure| self.given.iter().all(|known| known.name != measure.name);
        let new: Vec<CorpusMeasure> = workspace.sentence_numbers()?.into_iter().filter(is_new).collect();
        self.numbers.extend(new.iter().map(|measure| blocks.numbers(0, measure.stored(), len)));
        Arc::make_mut(&mut self.given).extend(new);
        for system in systems {
            if !self.systems.iter().any(|column| column.system.id == system.id) {
                self.systems.push(SystemColumn::new(system, len, &blocks, &self.measures));
            }
        }
        for n in self.further.len() + 1..workspace.references()? {
            self.further.push(blocks.texts(Written::Reference(n), len));
        }
        self.all_texts().for_each(|texts| texts.grow(len));
        self.numbers.iter_mut().for_each(|numbers| numbers.grow(len));
        self.systems.iter_mut().flat_map(|column| &mut column.numbers).for_each(|numbers| numbers.grow(len));
        let mut by_system: BTreeMap<i64, Vec<Range<usize>>> = BTreeMap::new();
        for came in workspace.ask(|all| came(all, self.seen))? {
            self.take_numbers(&came);
            by_system.entry(came.system).or_default().push(came.places);
        }
        for (id, mut places) in by_system {
            places.sort_by_key(|places| places.start);
            let column = self.systems.iter_mut().find(|column| column.system.id == id);
            let texts = match column {
                Some(column) => {
                    column.count(workspace, len)?;
                    vec![&mut column.texts]
                }
                None if id == 0 => {
                    [&mut self.sources, &mut self.references].into_iter().chain(&mut self.further).collect()
                }
                None => continue,
            };
            let places = together(&places);
            for texts in texts {
                for places in &places {
                    texts.read_again(places);
                }
            }
        }
        self.read_judgements(workspace)
    }

    fn take_numbers(&mut self, came: &Came) {
        self.seen = came.id;
        let (own, measures, columns, is_forced) = if came.system == 0 {
            (OF_SENTENCES, &self.given, &mut self.numbers, false)
        } else {
            let Some(column) = self.systems.iter_mut().find(|column| column.system.id == came.system) else { return };
            (&[][..], &self.measures, &mut column.numbers, column.system.is_forced())
        };
        for (measure, numbers) in
            own.iter().chain(measures.iter()).zip(columns).filter(|(measure, _)| is_measured(is_forced, measure))
        {
            match &came.numbers {
                None => numbers.read_again(&came.places),
                Some(loose) => loose.numbers(measure.stored()).for_each(|(at, number)| numbers.update(at, number)),
            }
        }
    }
}

/// Places that follow each other as one, so that no piece is read twice.
fn together(places: &[Range<usize>]) -> Vec<Range<usize>> {
    let follows = |a: &Range<usize>, b: &Range<usize>| b.start <= a.end.next_multiple_of(PIECE);
    let end = |run: &[Range<usize>]| run.iter().map(|places| places.end).max().unwrap_or_default();
    places.chunk_by(follows).map(|run| run[0].start..end(run)).collect()
}

fn came(all: &rusqlite::Connection, seen: i64) -> rusqlite::Result<Vec<Came>> {
    let sql = "SELECT numbers.id, system, first, count, packed, names FROM numbers
        JOIN measures ON measures.id = numbers.measures WHERE numbers.id > ?1 ORDER BY numbers.id";
    list(all, sql, [seen], |row| {
        let (id, system, first) = (row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?.max(0) as usize);
        let packed: Vec<u8> = row.get(4)?;
        if packed.is_empty() {
            let count = row.get::<_, Option<i64>>(3)?.unwrap_or_default().max(0) as usize;
            return Ok(Came { id, system, places: first..first + count, numbers: None });
        }
        let names: String = row.get(5)?;
        let loose = Loose { id, names: names.split(' ').map(str::to_owned).collect(), first, packed };
        Ok(Came { id, system, places: loose.places(), numbers: Some(loose) })
    })
}
