//! What people say of sentences, read from a table or from JSON lines.
//!
//! A file is matched by the texts of its sentences, each annotator keeps the name, and all that it says is one act of
//! the undo. Of a table only the columns that it has are taken; a line of JSON is all that its annotators say of the
//! sentence.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::Deserialize;

use crate::import::places::{SentencePlaces, is_same};
use crate::import::{places::refuse_copy, places::stem};
use crate::import::{references::beyond, report::ImportReport};
use crate::judgements::judge::{ErrorMark, Given, Judgement, Judgements, MOST_RATING, MOST_STARS, NOBODY, StaleMark};
use crate::judgements::spans::{read_span, span};
use crate::store::{file::Workspace, rules::SideRules};
use engine::error::{Error, Result};
use engine::text::links::{Links, pharaoh};
use engine::text::{links::read::links_of, reader::LineReader};
use engine::ticket::CancellationToken;
use import::Warnings;
use import::formats::rows::{Rows, TableStyle, TableSurvey, heads};
use import::input::ImportInput;

pub(crate) const APART: &str = "set_apart";
/// The column of the letters that the file of a mark had marked, as JSON.
pub(crate) const SPANS: &str = "spans";
/// The column of what a word of source and translation is, where words are named by their numbers.
pub(crate) const WORD_RULES: &str = "word_rules";
/// Stands there where they are not known.
pub(crate) const UNKNOWN: &str = "?";
pub(crate) const YES: &str = "yes";
pub(crate) const NO_ERRORS: &str = "no_errors";
pub(crate) const RATING: &str = "rating";
pub(crate) const LETTERS: &str = "letters";
pub(crate) const BAR: &str = " | ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    Lines,
    Table,
    Corpus,
}

fn notation(path: &Path, is_named: bool) -> Option<Notation> {
    let head = ImportInput::open(path, None).ok()?.head();
    if head.trim_start().starts_with('{') {
        let lines = LineReader::open(path).ok()?;
        let first = lines.map_while(std::result::Result::ok).find(|line| !line.trim().is_empty())?;
        let is_corpus = first.contains("\"judgements\":") && first.contains("\"systems\":");
        let notation = if is_corpus { Notation::Corpus } else { Notation::Lines };
        return serde_json::from_str::<Line>(&first)
            .ok()
            .filter(|line| is_corpus || line.by.is_some())
            .map(|_| notation);
    }
    let heads = heads(&head);
    let has = |name: &str| heads.iter().any(|head| head == name);
    ((has("annotator") || is_named) && (has("sentence") || has("source"))).then_some(Notation::Table)
}

#[derive(Deserialize)]
struct Line {
    #[serde(alias = "number")]
    sentence: Option<usize>,
    source: Option<String>,
    #[serde(alias = "judgements")]
    by: Option<BTreeMap<String, Judgement>>,
    #[serde(default)]
    gold: Option<String>,
    /// What a word is in what it says; without it what stands between spaces.
    words: Option<SideRules>,
}

/// Imports a file of judgements as one act, of annotator `name` if given; on failure nothing is taken.
pub fn import(
    workspace: &mut Workspace, path: &Path, name: Option<&str>, ticket: &CancellationToken,
) -> Result<ImportReport> {
    refuse_copy(path)?;
    let Some(notation) = notation(path, name.is_some()) else {
        let advice = "lines as `analyse --format judgements` writes them, or a table with the columns `annotator` (unless it is NAME=FILE) and `sentence` or `source`";
        return Err(Error::file(path, format!("holds no judgements; they are {advice}")));
    };
    let known = workspace.judgements()?;
    let len = workspace.len()?;
    let mut reading = Reading {
        workspace,
        path,
        name,
        stem: stem(path),
        len,
        shift: 0,
        places: None,
        found: HashMap::new(),
        taken: BTreeSet::new(),
        said: BTreeMap::new(),
        golds: BTreeMap::new(),
        texts: HashMap::new(),
        report: ImportReport::default(),
        rows: 0,
        lost: 0,
        is_renamed: false,
    };
    match notation {
        Notation::Lines | Notation::Corpus => reading.lines(ticket)?,
        Notation::Table => reading.table(&known, ticket)?,
    }
    let Reading { said, golds, mut report, is_renamed, stem, rows, lost, .. } = reading;
    if lost * 2 > rows {
        let first = report.warnings.first().cloned().unwrap_or_default();
        let why = format!("{lost} of {rows} rows are of no sentence of this corpus, so none is taken; {first}");
        return Err(Error::file(path, why));
    }
    let how = if notation == Notation::Table { "a table" } else { "JSON lines" };
    report.facts.push(format!("Judgements as {how}."));
    if is_renamed {
        report.facts.push(format!("Those by \"{NOBODY}\" are kept as by \"{stem}\", the name of the file."));
    }
    report.facts.extend(strange(&said, workspace)?);
    report.judgements = said.len();
    let given: Vec<Given> = said.into_iter().map(|((at, by), judgement)| (at, by, judgement)).collect();
    let golds = with_own(golds, &given, workspace)?;
    report.golds = golds.len();
    workspace.judge_all(&given, &golds)?;
    let places: Vec<usize> = golds.iter().map(|(at, _)| *at).collect();
    workspace.measure(&places)?;
    Ok(report)
}

fn with_own(mut golds: BTreeMap<usize, Links>, given: &[Given], workspace: &Workspace) -> Result<Vec<(usize, Links)>> {
    let have = workspace.golds()?;
    for (at, _, judgement) in given.iter().filter(|(at, ..)| !have.contains(at)) {
        if let Some(links) = judgement.drawn() {
            golds.entry(*at).or_insert(links);
        }
    }
    Ok(golds.into_iter().collect())
}

pub(crate) fn strange(said: &BTreeMap<(usize, String), Judgement>, workspace: &Workspace) -> Result<Vec<String>> {
    let (scheme, systems) = (workspace.scheme()?, workspace.systems()?);
    let marks = || said.values().flat_map(|judgement| &judgement.marks);
    let kinds = marks().map(|mark| &mark.category).filter(|name| !scheme.categories.contains(name));
    let is_severity = |name: &String| scheme.severities.iter().any(|known| known.name == *name);
    let severities = marks().map(|mark| &mark.severity).filter(|name| !is_severity(name));
    let judged = said.values().flat_map(|judgement| &judgement.no_errors);
    let is_system = |name: &String| systems.iter().any(|known| known.name == *name);
    let systems = marks().map(|mark| &mark.system).chain(judged).filter(|name| !is_system(name));
    let listed = |what: &str, names: BTreeSet<&String>| {
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        (!names.is_empty()).then(|| format!("{what} {}.", names.join(", ")))
    };
    let schemes = listed("The scheme of errors lacks", kinds.chain(severities).collect());
    let waiting = listed("Marks of systems that are not here wait until they come:", systems.collect());
    Ok(schemes.into_iter().chain(waiting).collect())
}

struct Reading<'a> {
    workspace: &'a mut Workspace,
    path: &'a Path,
    name: Option<&'a str>,
    stem: String,
    len: usize,
    /// How far behind its number in the file the last sentence was found.
    shift: isize,
    places: Option<SentencePlaces>,
    /// Where sentences of the file were found, by their numbers, and these places: of twins each is another one.
    found: HashMap<usize, usize>,
    taken: BTreeSet<usize>,
    said: BTreeMap<(usize, String), Judgement>,
    golds: BTreeMap<usize, Links>,
    texts: HashMap<(usize, String), Option<String>>,
    report: ImportReport,
    rows: usize,
    lost: usize,
    is_renamed: bool,
}

impl Reading<'_> {
    fn warn(&mut self, line: usize, message: &str) {
        self.report.warn(self.path, line, message);
    }

    fn lines(&mut self, ticket: &CancellationToken) -> Result<()> {
        let mut lines = LineReader::open(self.path)?;
        while let Some(text) = lines.next().transpose()? {
            ticket.check()?;
            let number = lines.line();
            if text.trim().is_empty() {
                continue;
            }
            let line = match serde_json::from_str::<Line>(&text) {
                Ok(line) => line,
                Err(error) => {
                    let why = error.to_string().replace(" at line 1 column", ", column");
                    self.warn(number, &format!("is no judgement ({why}); it is left out"));
                    continue;
                }
            };
            let Some(at) = self.find(number, line.sentence, line.source.as_deref())? else { continue };
            let rules = line.words.unwrap_or(SideRules::SPACES);
            if let Some(gold) =
                line.gold.as_deref().map(|gold| self.links(number, at, (gold, rules))).transpose()?.flatten()
            {
                self.golds.insert(at, gold);
            }
            for (annotator, judgement) in line.by.into_iter().flatten() {
                if let Some(annotator) = self.annotator(number, &annotator) {
                    let judgement = self.respread((number, at), judgement, rules)?;
                    self.keep(number, at, annotator, judgement)?;
                }
            }
        }
        Ok(())
    }

    fn table(&mut self, known: &Judgements, ticket: &CancellationToken) -> Result<()> {
        let input = ImportInput::open(self.path, None)?;
        let style = TableSurvey::of(&input, TableStyle::of(&input)?)?.style;
        let (mut rows, mut warnings) = (Rows::open(&input, style)?, Warnings::new(self.path));
        let heads = rows.next(&mut warnings)?.map(|(_, heads)| heads).unwrap_or_default();
        let heads: Vec<String> = heads.iter().map(|head| head.trim().to_lowercase()).collect();
        while let Some((line, row)) = rows.next(&mut warnings)? {
            ticket.check()?;
            let cells = Cells { heads: &heads, row: &row };
            let number = match cells.get("sentence") {
                "" => None,
                text => {
                    let Ok(number) = text.parse() else {
                        self.warn(line, &format!("`{text:.40}` is no number of a sentence; the row is left out"));
                        continue;
                    };
                    Some(number)
                }
            };
            let source = Some(cells.get("source")).filter(|source| !source.is_empty());
            let Some(at) = self.find(line, number, source)? else { continue };
            self.row(line, at, cells, known)?;
        }
        // Where somebody marked errors, and no column says who found none, a rating without a mark does.
        let asks = heads.iter().all(|head| head != NO_ERRORS) && self.said.values().any(Judgement::judges_any);
        self.said.values_mut().for_each(|said| said.settle(|_| asks));
        Ok(())
    }

    fn row(&mut self, line: usize, at: usize, cells: Cells<'_>, known: &Judgements) -> Result<()> {
        let Some(annotator) = self.annotator(line, cells.get("annotator")) else { return Ok(()) };
        let rules = serde_json::from_str(cells.get(WORD_RULES)).unwrap_or(SideRules::SPACES);
        let begun = self.said.get(&(at, annotator.clone())).cloned();
        let mut judgement = begun.unwrap_or_else(|| {
            let known = known.get(&at).and_then(|by| by.get(&annotator)).cloned().unwrap_or_default();
            cells.cleared(known)
        });
        match cells.get("stars") {
            "" => {}
            text => judgement.stars = text.parse().unwrap_or(u8::MAX),
        }
        judgement
            .tags
            .extend(cells.get("tags").split('|').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned));
        for (name, part) in [("note", &mut judgement.note), ("links", &mut judgement.links)] {
            if !cells.get(name).is_empty() {
                cells.get(name).clone_into(part);
            }
        }
        match cells.get(NO_ERRORS).to_lowercase().as_str() {
            YES | "true" | "1" | "x" if cells.get("system").is_empty() => {
                self.warn(line, "`no_errors` needs the name of a system beside it; it is left out");
            }
            YES | "true" | "1" | "x" => drop(judgement.no_errors.insert(cells.get("system").to_owned())),
            "" | "no" | "false" | "0" => {}
            other => self.warn(line, &format!("`{other:.40}` is neither yes nor no; it is left out")),
        }
        match (cells.get(RATING), cells.get("system")) {
            ("", _) => {}
            (text, system) => match text.parse().ok().filter(|rating| *rating <= MOST_RATING) {
                Some(rating) if !system.is_empty() => judgement.rate(system.to_owned(), Some(rating)),
                _ => {
                    let why = "no rating of a system: a whole number from 0 to 100 beside its name";
                    self.warn(line, &format!("`{text:.40}` is {why}; it is left out"));
                }
            },
        }
        if !cells.get("links").is_empty() {
            judgement.links = self.respread_links(at, &judgement.links, rules)?;
        }
        match cells.mark() {
            Ok(Some(mark)) if !cells.get(APART).is_empty() => {
                let words = Some(cells.get(APART)).filter(|words| *words != UNKNOWN).unwrap_or_default().to_owned();
                judgement.stale.push(StaleMark { mark, words });
            }
            Ok(Some(mark)) => judgement.marks.extend(self.respread_mark((line, at), mark, rules)?),
            Ok(None) => {}
            Err(why) => self.warn(line, &format!("{why}; the mark is left out")),
        }
        self.keep(line, at, annotator, judgement)
    }

    fn keep(&mut self, line: usize, at: usize, annotator: String, mut judgement: Judgement) -> Result<()> {
        if judgement.stars > MOST_STARS {
            self.warn(line, &format!("has no number of stars from 0 to {MOST_STARS}; they are left out"));
            judgement.stars = 0;
        }
        if !judgement.links.is_empty() && self.links(line, at, (&judgement.links, self.workspace.rules()))?.is_none() {
            judgement.links.clear();
        }
        let mut marks = Vec::with_capacity(judgement.marks.len());
        for mark in judgement.marks {
            let text = self.text(at, &mark.system)?;
            let most = text.map_or(usize::MAX, |text| self.workspace.rules().target.count(&text));
            let is_part = mark.letters.is_none_or(|(first, behind)| first < behind);
            if !is_part || mark.target.0 > mark.target.1 || mark.target.1 > most || mark.source.0 > mark.source.1 {
                let what = format!("words {} of {}, which has {most}", span(mark.target), mark.system);
                self.warn(line, &format!("marks {what}; the mark is left out"));
            } else {
                marks.push(mark);
            }
        }
        judgement.marks = marks;
        // Errors that are marked count for more than a word that there are none.
        let marks = &judgement.marks;
        judgement.ratings.retain(|name, rating| !name.is_empty() && *rating <= MOST_RATING);
        judgement.no_errors.retain(|name| !name.is_empty() && !marks.iter().any(|mark| mark.system == *name));
        self.said.insert((at, annotator), judgement);
        Ok(())
    }

    fn respread(
        &mut self, (line, at): (usize, usize), mut judgement: Judgement, rules: SideRules,
    ) -> Result<Judgement> {
        if rules != self.workspace.rules() {
            judgement.links = self.respread_links(at, &judgement.links, rules)?;
            for mark in std::mem::take(&mut judgement.marks) {
                judgement.marks.extend(self.respread_mark((line, at), mark, rules)?);
            }
        }
        Ok(judgement)
    }

    fn respread_mark(
        &mut self, (line, at): (usize, usize), mark: ErrorMark, rules: SideRules,
    ) -> Result<Option<ErrorMark>> {
        let Some(text) = self.text(at, &mark.system)? else { return Ok(Some(mark)) };
        let most = rules.target.count(&text);
        if mark.target.1 > most {
            let what = format!("words {} of {}, which has {most}", span(mark.target), mark.system);
            self.warn(line, &format!("marks {what}; the mark is left out"));
            return Ok(None);
        }
        let source = self.workspace.sentence(at)?.map_or_else(String::new, |sentence| sentence.source);
        Ok(Some(mark.respread((&text, &source, self.workspace.rules()), rules)))
    }

    fn respread_links(&self, at: usize, text: &str, rules: SideRules) -> Result<String> {
        let (Some(links), Some(sentence)) = (links_of(text), self.workspace.sentence(at)?) else {
            return Ok(text.to_owned());
        };
        let texts = (sentence.source.as_str(), sentence.reference.as_deref().unwrap_or_default());
        // those beyond the words are told as they are
        let is_beyond = beyond(&links, rules.source.count(texts.0), Some(rules.target.count(texts.1))).is_some();
        let own = self.workspace.rules();
        Ok(if is_beyond { text.to_owned() } else { pharaoh(&own.respread(&links, rules, texts)) })
    }

    fn text(&mut self, at: usize, system: &str) -> Result<Option<String>> {
        if let Some(text) = self.texts.get(&(at, system.to_owned())) {
            return Ok(text.clone());
        }
        let known = self.workspace.systems()?.into_iter().find(|known| known.name == system);
        let text = known.map(|known| self.workspace.output_text(known.id, at)).transpose()?.flatten();
        self.texts.insert((at, system.to_owned()), text.clone());
        Ok(text)
    }

    fn annotator(&mut self, line: usize, name: &str) -> Option<String> {
        let name = self.name.unwrap_or(name).trim();
        if name.is_empty() {
            self.warn(line, "names no annotator; it is left out");
            return None;
        }
        if self.name.is_none() && name == NOBODY {
            self.is_renamed = true;
            return Some(self.stem.clone());
        }
        Some(name.to_owned())
    }

    fn links(&mut self, line: usize, at: usize, (text, rules): (&str, SideRules)) -> Result<Option<Links>> {
        let Some(links) = links_of(text) else {
            self.warn(line, &format!("`{text:.40}` are no links; write `i-j` and `i?j`; they are left out"));
            return Ok(None);
        };
        let Some(sentence) = self.workspace.sentence(at)? else { return Ok(None) };
        let texts = (sentence.source.as_str(), sentence.reference.as_deref().unwrap_or_default());
        if let Some(words) = beyond(&links, rules.source.count(texts.0), Some(rules.target.count(texts.1))) {
            let message = format!("has links beyond {words} of sentence {}; they are left out", at + 1);
            self.warn(line, &message);
            return Ok(None);
        }
        Ok(Some(self.workspace.rules().respread(&links, rules, texts)))
    }

    fn find(&mut self, line: usize, number: Option<usize>, source: Option<&str>) -> Result<Option<usize>> {
        let found = self.place(line, number, source)?;
        self.rows += 1;
        self.lost += usize::from(found.is_none());
        Ok(found)
    }

    fn place(&mut self, line: usize, number: Option<usize>, source: Option<&str>) -> Result<Option<usize>> {
        let place = number.and_then(|number| number.checked_sub(1));
        let Some(source) = source else {
            let found = place.filter(|at| *at < self.len);
            if found.is_none() {
                self.warn(line, &format!("names no sentence from 1 to {}; it is left out", self.len));
            }
            return Ok(found);
        };
        let known = number.and_then(|number| self.found.get(&number).copied());
        let near = [place, place.and_then(|place| place.checked_add_signed(self.shift))];
        let free = near.into_iter().flatten().filter(|at| !self.taken.contains(at));
        let mut found = None;
        for at in known.into_iter().chain(free) {
            let is_it = self.workspace.sentence(at)?.is_some_and(|known| is_same(&known.source, source));
            found = found.or(is_it.then_some(at));
        }
        if found.is_none() {
            let places = self.places.take().map_or_else(|| SentencePlaces::read(self.workspace), Ok)?;
            let is_free = |at: &usize| number.is_none() || !self.taken.contains(at);
            let mut alike = places.of(self.workspace, source);
            found = alike.find_map(|one| one.map(|(at, _)| Some(at).filter(is_free)).transpose()).transpose()?;
            drop(alike);
            self.places = Some(places);
        }
        match (found, number) {
            (None, _) => {
                self.warn(line, "is of no sentence of this corpus, or of one that is judged before; it is left out");
            }
            (Some(at), Some(number)) => {
                self.shift = at as isize + 1 - number as isize;
                self.found.insert(number, at);
                self.taken.insert(at);
            }
            _ => {}
        }
        Ok(found)
    }
}

#[derive(Clone, Copy)]
struct Cells<'a> {
    heads: &'a [String],
    row: &'a [String],
}

impl<'a> Cells<'a> {
    fn has(self, name: &str) -> bool {
        self.heads.iter().any(|head| head == name)
    }

    fn get(self, name: &str) -> &'a str {
        let at = self.heads.iter().position(|head| head == name);
        at.and_then(|at| self.row.get(at)).map(|cell| cell.trim()).unwrap_or_default()
    }

    fn cleared(self, known: Judgement) -> Judgement {
        let none = Judgement::default();
        Judgement {
            stars: if self.has("stars") { none.stars } else { known.stars },
            tags: if self.has("tags") { none.tags } else { known.tags },
            note: if self.has("note") { none.note } else { known.note },
            marks: if self.has("category") { none.marks } else { known.marks },
            no_errors: if self.has(NO_ERRORS) { none.no_errors } else { known.no_errors },
            ratings: if self.has(RATING) { none.ratings } else { known.ratings },
            links: if self.has("links") { none.links } else { known.links },
            stale: if self.has(APART) { none.stale } else { known.stale },
        }
    }

    fn mark(self) -> std::result::Result<Option<ErrorMark>, String> {
        let category = self.get("category");
        if category.is_empty() {
            return Ok(None);
        }
        let span = |name: &str| match self.get(name) {
            "" => Ok((0, 0)),
            text => read_span(text).ok_or_else(|| format!("`{text:.40}` are no words; write `3`, `3-4` or `before 3`")),
        };
        Ok(Some(ErrorMark {
            system: self.get("system").to_owned(),
            target: span("words")?,
            letters: Some(span(LETTERS)?).filter(|letters| letters.1 > 0),
            source: span("source_words")?,
            spans: serde_json::from_str(self.get(SPANS)).ok(),
            category: category.to_owned(),
            severity: self.get("severity").to_owned(),
            note: self.get("remark").to_owned(),
        }))
    }
}
