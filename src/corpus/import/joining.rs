//! Which sentences of a corpus the records of a file belong to. Records with a source are joined by what they say, in
//! any order; records without one by their names or numbers, and otherwise line by line. It is decided before
//! anything is written.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::{ops::Range, path::Path};

use crate::import::places::{SentencePlaces, mixed};
use crate::import::windows::{Done, Job, read};
use crate::import::{lanes::Lanes, places::stem, scores::is_score};
use crate::store::file::Workspace;
use engine::error::{Error, Result};
use engine::ticket::CancellationToken;
use import;
use import::{ColumnRole, ImportColumn, ImportOptions, Record, Role};

const TRIED: usize = 100;
const MOST_KINDS: usize = 64;

const NEW: u32 = u32::MAX;
/// Its sentence is not here, and the file may not add it.
const UNKNOWN: u32 = u32::MAX - 1;
/// Several sentences have its source, and nothing shows which is meant.
const UNCLEAR: u32 = u32::MAX - 2;

pub(super) enum Joining {
    Lines(Range<usize>),
    Block(usize),
    /// The place of each record, in order, and the first of them that was there before.
    Each(Vec<u32>, Option<usize>),
}

impl Joining {
    /// The place of record `n`; the error continues "line 3".
    pub(super) fn place(&self, n: usize, record: &Record) -> std::result::Result<usize, String> {
        let line = record.sentence.saturating_sub(1);
        match self {
            Self::Lines(places) if line < places.len() => Ok(places.start + line),
            Self::Lines(places) => Err(format!("belongs to sentence {}, but there are {}", line + 1, places.len())),
            Self::Block(base) => Ok(base + line),
            Self::Each(places, _) => match places.get(n).copied().unwrap_or(UNKNOWN) {
                UNCLEAR => {
                    Err("has a source that several sentences have, and nothing shows which one is meant; it is left \
                                out. Give the file a column with their ids, references or outputs"
                        .to_owned())
                }
                place if place >= UNCLEAR => Err("is not a sentence of the corpus; it is left out".to_owned()),
                place => Ok(place as usize),
            },
        }
    }

    pub(super) fn first_of_file(&self) -> usize {
        match self {
            Self::Lines(places) => places.start,
            Self::Block(base) => *base,
            Self::Each(..) => 0,
        }
    }

    pub(super) fn first(&self) -> Option<usize> {
        match self {
            Self::Lines(_) => None,
            Self::Block(base) => Some(*base),
            Self::Each(_, first) => *first,
        }
    }
}

/// Decides where the records of a file belong, before anything is written.
pub(super) fn joining(
    workspace: &Workspace, lanes: &Lanes<'_, '_, Job, Done>, (path, options): (&Path, &ImportOptions),
    ticket: &CancellationToken,
) -> Result<Joining> {
    let mut import = import::open(path, options)?;
    let columns = import.facts.columns.clone();
    let mut rows = FileRows::new(workspace, path, &columns)?;
    let is_empty = rows.texts.is_empty();
    // Why the file ends before its end is reported when it is imported; the first records of an empty corpus decide for all.
    read(lanes, &mut import, ticket, &mut |records, _| {
        for record in &records {
            rows.add(record);
        }
        Ok(!is_empty || records.is_empty())
    })?;
    if ticket.is_stale() {
        return Ok(Joining::Block(0));
    }
    match import.warnings.kept.first().filter(|_| rows.rows.is_empty()) {
        Some(first) => {
            Err(Error::Input(format!("{}. The file has nothing else, and nothing was imported", first.sentence)))
        }
        None => rows.joining(path, options),
    }
}

/// Something that a record or a sentence says: of what, and the number of its letters.
type Fact = (u64, u64);

const NAME: u64 = 0;
/// The sources before and behind.
const BESIDE: [u64; 2] = [1, 2];
/// A reference; greater numbers are of systems.
const REFERENCE: u64 = 3;

fn is_content((of, _): &Fact) -> bool {
    *of >= REFERENCE
}

fn content(facts: &[Fact]) -> impl Iterator<Item = &Fact> + Clone {
    facts.iter().filter(|fact| is_content(fact))
}

fn hashed(thing: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

fn said<'a>(
    references: impl Iterator<Item = &'a str>, outputs: impl Iterator<Item = (&'a str, &'a str)>,
) -> impl Iterator<Item = Fact> {
    let all =
        references.map(|text| (REFERENCE, text)).chain(outputs.map(|(of, text)| (hashed(of).max(REFERENCE + 1), text)));
    all.filter(|(_, text)| !text.trim().is_empty()).map(|(of, text)| (of, mixed(text)))
}

fn contradicts(new: &[Fact], known: &[Fact]) -> bool {
    content(new).any(|fact| !known.contains(fact) && known.iter().any(|(of, _)| *of == fact.0))
}

struct Row {
    line: usize,
    sentence: usize,
    text: Option<u64>,
    /// The number of its id, or the id itself if that is the number of a sentence.
    name: Option<u64>,
    number: Option<u64>,
    facts: usize,
    cells: u64,
}

struct FileRows<'w> {
    workspace: &'w Workspace,
    known: SentencePlaces,
    texts: Vec<Option<u64>>,
    stem: String,
    columns: &'w [ImportColumn],
    rows: Vec<Row>,
    facts: Vec<Fact>,
    has_more: bool,
    has_translations: bool,
    has_scores: bool,
}

impl<'w> FileRows<'w> {
    fn new(workspace: &'w Workspace, path: &Path, columns: &'w [ImportColumn]) -> Result<Self> {
        let known = SentencePlaces::read(workspace)?;
        Ok(Self {
            workspace,
            texts: known.in_order(workspace.len()?),
            known,
            stem: stem(path),
            columns,
            rows: Vec::new(),
            facts: Vec::new(),
            has_more: !columns.is_empty(),
            has_translations: false,
            has_scores: false,
        })
    }

    fn add(&mut self, record: &Record) {
        self.has_translations |= record.reference.is_some() || !record.outputs.is_empty() || record.gold.is_some();
        self.has_scores |= record.extra.iter().any(|(column, cell)| is_score(column, cell));
        self.has_more |= record.id.is_some() || self.has_translations || !record.extra.is_empty();
        let text = record.source.as_ref().map(|source| mixed(&source.text));
        let id = record.id.as_deref().map(str::trim).filter(|id| !id.is_empty());
        self.rows.push(Row {
            line: record.line,
            sentence: record.sentence,
            text,
            name: id.and_then(|id| if are_numbers(self.columns) { id.parse().ok() } else { Some(hashed(id)) }),
            number: id.and_then(|id| id.parse().ok()),
            facts: self.facts.len(),
            cells: hashed(record.extra.iter().filter(|(column, _)| is_score(column, "0")).collect::<Vec<_>>()),
        });
        if text.is_some_and(|text| !self.known.alike(text).is_empty()) {
            let references = (0..=record.further.len()).filter_map(|n| record.reference(n));
            let stem = self.stem.as_str();
            let outputs = record.outputs.iter();
            let outputs = outputs.map(|output| (output.system.as_deref().unwrap_or(stem), output.text.as_str()));
            self.facts.extend(said(references, outputs));
        }
    }

    fn alike(&self, n: usize) -> &[(u64, u32)] {
        self.rows[n].text.map_or(&[], |text| self.known.alike(text))
    }

    fn content(&self, n: usize) -> &[Fact] {
        let end = self.rows.get(n + 1).map_or(self.facts.len(), |next| next.facts);
        &self.facts[self.rows[n].facts..end]
    }

    fn beside(&self) -> &'static [isize] {
        let sure = (0..self.rows.len()).filter_map(|n| if let [(_, at)] = self.alike(n) { Some(*at) } else { None });
        let sure: Vec<u32> = sure.collect();
        let rising = sure.windows(2).filter(|pair| pair[0] < pair[1]).count();
        let falling = sure.len().saturating_sub(1) - rising;
        if rising >= 3 * falling {
            &[-1, 1]
        } else if falling >= 3 * rising {
            &[1, -1]
        } else {
            &[]
        }
    }

    fn facts(&self, n: usize, beside: &[isize]) -> Vec<Fact> {
        let mut facts = self.content(n).to_vec();
        facts.extend(self.rows[n].name.filter(|_| !are_numbers(self.columns)).map(|name| (NAME, name)));
        let beside = beside.iter().map(|step| self.rows.get(n.checked_add_signed(*step)?)?.text);
        facts.extend(BESIDE.into_iter().zip(beside).filter_map(|(of, text)| Some((of, text?))));
        facts
    }

    fn known_facts(&self, places: impl Iterator<Item = u32>) -> Result<Vec<(u32, Vec<Fact>)>> {
        let (systems, mut known) = (self.workspace.systems()?, Vec::new());
        for place in places {
            let at = place as usize;
            let Some(sentence) = self.workspace.sentence(at)? else { continue };
            let mut outputs = Vec::new();
            for system in &systems {
                outputs.extend(self.workspace.output_text(system.id, at)?.map(|text| (system.name.as_str(), text)));
            }
            let outputs = outputs.iter().map(|(name, text)| (*name, text.as_str()));
            let mut facts: Vec<Fact> = said(sentence.references().into_iter(), outputs).collect();
            facts.extend(sentence.name.map(|name| (NAME, hashed(name.trim()))));
            let beside = [at.checked_sub(1), Some(at + 1)].map(|at| *self.texts.get(at?)?);
            facts.extend(BESIDE.into_iter().zip(beside).filter_map(|(of, text)| Some((of, text?))));
            facts.sort_unstable();
            known.push((place, facts));
        }
        Ok(known)
    }

    fn joining(&self, path: &Path, options: &ImportOptions) -> Result<Joining> {
        let newest = self.workspace.newest()?;
        let may_add = matches!(options.role, None | Some(Role::Source))
            && (self.has_translations || !self.has_scores || self.texts.is_empty());
        let joining = if self.rows.iter().all(|row| row.text.is_none()) {
            self.by_name(&newest)?.unwrap_or(Joining::Lines(newest))
        } else if self.texts.is_empty() && may_add {
            Joining::Block(0)
        } else if let Some(base) = self.base(&newest, may_add)? {
            Joining::Block(base)
        } else if !self.has_more {
            Joining::Block(self.texts.len())
        } else {
            self.by_content(may_add)?
        };
        let why = |(n, row): (usize, &Row)| {
            let record = Record { sentence: row.sentence, ..Record::default() };
            joining.place(n, &record).err().map(|why| format!("line {} {why}", row.line))
        };
        let (mut lost, all) = (self.rows.iter().enumerate().filter_map(why).peekable(), self.rows.len());
        let first = lost.peek().cloned().unwrap_or_default();
        match lost.count() {
            count if count > 0 && self.texts.is_empty() => Err(Error::file(
                path,
                "has no source sentences, and none are here; import them first (`--source FILE`)",
            )),
            count if count * 2 > all => Err(Error::file(
                path,
                format!(
                    "cannot be joined with the {} sentences of the corpus: {count} of its {all} lines have none there ({first}). \
                     Nothing was imported. Import the source sentences first, or check that the file belongs to this corpus",
                    self.texts.len()
                ),
            )),
            _ => Ok(joining),
        }
    }

    fn base(&self, newest: &Range<usize>, may_add: bool) -> Result<Option<usize>> {
        let Some(first) = self.rows.iter().position(|row| row.text.is_some()) else { return Ok(None) };
        let tried = self.alike(first).iter().take(if self.has_more { 0 } else { TRIED });
        let tried = tried.filter_map(|(_, at)| (*at as usize + 1).checked_sub(self.rows[first].sentence));
        for base in [0, newest.start].into_iter().chain(tried) {
            let place = |(n, row): (usize, &Row)| {
                let at = base + row.sentence.saturating_sub(1);
                (row.text.is_some() && at < self.texts.len()).then_some((n, at))
            };
            let there: Vec<(usize, usize)> = self.rows.iter().enumerate().filter_map(place).collect();
            let (all, end) = (there.len(), base + there.len());
            let same = there.iter().filter(|(n, at)| self.texts[*at] == self.rows[*n].text).count();
            let is_whole = same == all && all > 0 && (end == self.texts.len() || (base..end) == *newest);
            if !self.has_more && (is_whole || same * 2 > self.rows.len()) {
                return Ok(Some(base));
            }
            if is_whole && (may_add || all == self.rows.len()) {
                let twins = || there.iter().filter(|(n, _)| self.alike(*n).len() > 1);
                let known = self.known_facts(twins().map(|(_, at)| *at as u32))?;
                if twins().zip(known).all(|((n, _), (_, known))| !contradicts(self.content(*n), &known)) {
                    return Ok(Some(base));
                }
            }
        }
        Ok(None)
    }

    /// Records without sources whose ids are names or numbers of sentences; `None` if they only count the lines.
    fn by_name(&self, newest: &Range<usize>) -> Result<Option<Joining>> {
        let counts = |from: u64| self.rows.iter().zip(from..).all(|(row, n)| row.number == Some(n));
        if self.rows.iter().all(|row| row.name.is_none()) || are_numbers(self.columns) && counts(1) {
            return Ok(None);
        }
        let mut names: HashMap<u64, u32> = (0..self.texts.len() as u32).map(|at| (u64::from(at) + 1, at)).collect();
        if !are_numbers(self.columns) {
            names =
                self.workspace.names()?.into_iter().rev().map(|(name, at)| (hashed(name.trim()), at as u32)).collect();
        }
        let is_named = !names.is_empty();
        let place = |row: &Row| names.remove(&row.name?);
        let places: Vec<u32> = self.rows.iter().map(place).map(|place| place.unwrap_or(UNKNOWN)).collect();
        let found = places.iter().filter(|place| **place != UNKNOWN).count();
        if found * 2 > places.len() {
            return Ok(Some(Joining::Each(places, None)));
        }
        // Where sentences have no names, numbers that are there once each count them, from 0 or 1.
        let numbers: BTreeSet<u64> = self.rows.iter().filter_map(|row| row.number).collect();
        let least = numbers.first().copied().unwrap_or_default();
        let are_all =
            numbers.iter().copied().eq(least..least + newest.len() as u64) && numbers.len() == self.rows.len();
        if !is_named && least < 2 && are_all {
            let place = |row: &Row| (newest.start as u64 + row.number.unwrap_or_default() - least) as u32;
            return Ok(Some(Joining::Each(self.rows.iter().map(place).collect(), None)));
        }
        let is_lost = self.has_scores && !self.has_translations && !counts(0) && !counts(1);
        Ok(is_lost.then_some(Joining::Each(places, None)))
    }

    fn by_content(&self, may_add: bool) -> Result<Joining> {
        let mut at = vec![UNKNOWN; self.rows.len()];
        let mut order: Vec<usize> = (0..at.len()).filter(|n| self.rows[*n].text.is_some()).collect();
        order.sort_by_key(|n| self.rows[*n].text);
        let beside = self.beside();
        for run in order.chunk_by(|a, b| self.rows[*a].text == self.rows[*b].text) {
            match self.alike(run[0]) {
                [] => {
                    for n in run {
                        at[*n] = NEW;
                    }
                }
                [(_, place)] if run.len() == 1 => at[run[0]] = *place,
                places => {
                    let known = self.known_facts(places.iter().map(|(_, at)| *at))?;
                    self.by_facts((run, beside), &known, &mut at);
                }
            }
        }
        let count = at.iter().filter(|at| **at < UNCLEAR).count();
        let first = at.iter().copied().find(|at| *at < UNCLEAR && count * 2 >= self.rows.len()).map(|at| at as usize);
        let mut next = self.texts.len() as u32;
        for (n, at) in at.iter_mut().enumerate() {
            // In a file that is mostly new the same source with another translation is another sentence.
            if first.is_none() && may_add && *at < UNCLEAR {
                let known = self.known_facts(std::iter::once(*at))?;
                *at = if known.iter().any(|(_, known)| contradicts(self.content(n), known)) { NEW } else { *at };
            }
            if *at == NEW {
                *at = if may_add { next } else { UNKNOWN };
                next += u32::from(may_add);
            }
        }
        Ok(Joining::Each(at, first))
    }

    /// Equal sources: each record belongs to the sentence with the most equal facts; equal sentences are taken in turn.
    fn by_facts(&self, (run, beside): (&[usize], &[isize]), places: &[(u32, Vec<Fact>)], at: &mut [u32]) {
        // Sentences with the same texts are one kind.
        let (mut numbers, mut free, mut kind_of) = (BTreeMap::new(), Vec::<BTreeSet<u32>>::new(), HashMap::new());
        let (mut kinds, mut beside_of): (HashMap<Fact, Vec<usize>>, HashMap<Fact, Vec<u32>>) = Default::default();
        for (place, facts) in places {
            let kind = *numbers.entry(content(facts).collect::<Vec<_>>()).or_insert(free.len());
            if kind == free.len() {
                free.push(BTreeSet::new());
                content(facts).for_each(|fact| kinds.entry(*fact).or_default().push(kind));
            }
            free[kind].insert(*place);
            kind_of.insert(*place, kind);
            let others = facts.iter().filter(|fact| !is_content(fact));
            others.for_each(|fact| beside_of.entry(*fact).or_default().push(*place));
        }
        let mut rest = Vec::new();
        for n in run {
            let (mut of_kinds, mut of_places) = (BTreeMap::<usize, usize>::new(), BTreeMap::<u32, usize>::new());
            for fact in self.facts(*n, beside) {
                for kind in kinds.get(&fact).into_iter().filter(|kinds| kinds.len() <= MOST_KINDS).flatten() {
                    *of_kinds.entry(*kind).or_default() += 5;
                }
                // A neighbour that is there once says more.
                let weight = if fact.0 == NAME { 5 } else { 1 + usize::from(self.known.alike(fact.1).len() == 1) };
                for place in beside_of.get(&fact).into_iter().filter(|places| places.len() <= MOST_KINDS).flatten() {
                    *of_places.entry(*place).or_default() += weight;
                }
            }
            let count = |kind: &usize| of_kinds.get(kind).copied().unwrap_or_default();
            let placed =
                of_places.iter().map(|(place, weight)| (weight + count(&kind_of[place]), kind_of[place], Some(*place)));
            let all: Vec<_> = placed.chain(of_kinds.iter().map(|(kind, count)| (*count, *kind, None))).collect();
            let most = all.iter().map(|(count, ..)| *count).max();
            let best: Vec<_> = all.into_iter().filter(|(count, ..)| Some(*count) == most).collect();
            let is_one = best.windows(2).all(|pair| pair[0].1 == pair[1].1);
            let chosen = best.into_iter().filter(|_| is_one).find_map(|(_, kind, place)| {
                place.filter(|place| free[kind].contains(place)).or_else(|| free[kind].first().copied())
            });
            match chosen {
                Some(place) => {
                    at[*n] = place;
                    free[kind_of[&place]].remove(&place);
                }
                None => rest.push(*n),
            }
        }
        let row = |n: usize| (self.content(n), self.rows[n].cells);
        let kinds = free.iter().filter(|places| !places.is_empty()).count();
        let places: BTreeSet<u32> = free.into_iter().flatten().collect();
        let are_equal =
            kinds < 2 || places.len() == rest.len() && rest.windows(2).all(|pair| row(pair[0]) == row(pair[1]));
        let mut places = places.into_iter();
        for n in rest {
            at[n] = if are_equal { places.next().unwrap_or(NEW) } else { UNCLEAR };
        }
    }
}

pub(super) fn are_numbers(columns: &[ImportColumn]) -> bool {
    let is_number = |name: &str| ["number", "nr", "#"].iter().any(|one| one.eq_ignore_ascii_case(name));
    columns.iter().any(|column| column.role == ColumnRole::Id && is_number(&column.name))
}
