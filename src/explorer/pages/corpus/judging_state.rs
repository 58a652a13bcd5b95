//! Page Corpus, the desk of one who judges: where the keyboard is among the tasks and the translations, and what each
//! key does there. A leaf.

use std::sync::Arc;

use corpus::judgements::campaign::{Campaign, STAR};
use corpus::judgements::judge::{ErrorMark, Judgement, MOST_RATING, MOST_STARS};
use corpus::{judgements::scheme::ErrorScheme, store::rules::SideRules};
use engine::text::{cut::WordRule, words::place_of};

const MOST_DIGITS: usize = 3;

/// A key or click while judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgingKey {
    Row(isize),
    Words(isize),
    Wider(isize),
    /// This word, or the words up to it.
    Click(usize),
    ClickSource(usize),
    /// So many letters more at the end of the words.
    Letters(isize),
    /// They begin so many letters later.
    LettersBefore(isize),
    Source(isize),
    SourceWider(isize),
    /// A digit of a rating, or the severity of this number.
    Digit(u8),
    Kind(usize),
    /// Words are missing before the first of these.
    Missing,
    /// The rating is as typed; or the next task.
    Enter,
    NoErrors,
    /// Takes back what was typed last, else a mark.
    Back,
    /// Takes over what a metric marked.
    TakeOver,
    Task(isize),
}

/// An action of the judging view.
#[derive(Clone, Debug, PartialEq)]
pub enum JudgingAction {
    Rate(String, u8),
    Mark(ErrorMark),
    Unmark(usize),
    /// Says that there are no errors, or takes that back.
    NoErrors(String),
    Select(usize),
}

impl JudgingAction {
    fn apply(&self, own: &mut Judgement) {
        match self {
            Self::Rate(system, rating) => own.rate(system.clone(), Some(*rating)),
            Self::Mark(mark) => own.mark(mark.clone()),
            Self::Unmark(number) => drop(own.marks.remove(*number)),
            Self::NoErrors(system) => own.turn_no_errors(system.clone()),
            Self::Select(_) => {}
        }
    }
}

/// The sentence that is judged.
pub struct DeskSheet<'a> {
    pub at: usize,
    pub source: &'a str,
    pub rules: SideRules,
    /// The systems and what they say, in the order in which they stand.
    pub rows: Vec<(&'a str, &'a str)>,
    /// What the one who judges says of it.
    pub own: Judgement,
    pub suggested: Vec<&'a ErrorMark>,
}

/// The keyboard state while judging.
#[derive(Debug, Default)]
pub struct JudgingState {
    /// The sentences, from 0, of the one who judges.
    pub tasks: Arc<Vec<u32>>,
    pub of: Option<(String, Arc<Campaign>)>,
    at: Option<usize>,
    /// The translation, by the place where it stands.
    pub row: usize,
    /// Its words, the first and the one behind the last; none where these are equal.
    pub target: (usize, usize),
    /// Letters of these, where not all are meant.
    pub letters: Option<(usize, usize)>,
    pub source: (usize, usize),
    /// Words are missing before the first of these.
    pub is_missing: bool,
    /// The kind that was chosen, by its place: its severity is to come.
    pub kind: Option<usize>,
    /// Digits of a rating.
    pub typed: String,
    /// Keys and clicks that were not yet heard: what they are about is on its way.
    pub waiting: Vec<JudgingKey>,
}

/// The words behind, or before, those of a span, of so many.
fn stepped((first, behind): (usize, usize), by: isize, count: usize) -> (usize, usize) {
    let next = match (first == behind, by > 0) {
        (true, true) => 0,
        (true, false) => count.saturating_sub(1),
        (false, true) => behind.min(count.saturating_sub(1)),
        (false, false) => first.saturating_sub(1),
    };
    if count == 0 { (0, 0) } else { (next, next + 1) }
}

/// A span after a click: one word, or up to it from the only one so far.
fn spanned((first, behind): (usize, usize), n: usize) -> (usize, usize) {
    if behind == first + 1 && first != n { (first.min(n), behind.max(n + 1)) } else { (n, n + 1) }
}

fn widened((first, behind): (usize, usize), by: isize, count: usize) -> (usize, usize) {
    if first == behind {
        return stepped((first, behind), by, count);
    }
    (first, behind.saturating_add_signed(by).clamp(first + 1, count.max(first + 1)))
}

impl JudgingState {
    pub fn sit(&mut self, annotator: &str, campaign: &Arc<Campaign>) {
        let is_same = self.of.as_ref().is_some_and(|(name, of)| name == annotator && of == campaign);
        if !is_same {
            self.tasks = Arc::new(campaign.tasks(annotator));
            self.of = Some((annotator.to_owned(), Arc::clone(campaign)));
        }
    }

    pub fn lay(&mut self, at: usize) {
        if self.at != Some(at) {
            self.at = Some(at);
            self.row = 0;
            self.clear();
        }
    }

    /// Whether anything is begun that is not done.
    pub fn is_clear(&self) -> bool {
        self.target == (0, 0) && self.source == (0, 0) && self.kind.is_none() && self.typed.is_empty()
    }

    pub fn clear(&mut self) {
        (self.target, self.letters, self.source, self.is_missing) = ((0, 0), None, (0, 0), false);
        self.kind = None;
        self.typed.clear();
    }

    pub fn go_to(&mut self, row: usize) {
        if self.row != row {
            self.row = row;
            self.clear();
        }
    }

    /// The task so many behind that of a sentence; the first where it is none.
    fn task(&self, at: usize, by: isize) -> Option<usize> {
        let place = self.tasks.iter().position(|task| *task as usize == at);
        let last = self.tasks.len().checked_sub(1)?;
        let next = place.map_or(0, |place| place.saturating_add_signed(by).min(last));
        self.tasks.get(next).map(|at| *at as usize)
    }

    /// The next task that is not done, from that of a sentence on and then from the first; `None` where all are.
    pub fn open_task(&self, at: Option<usize>, is_done: impl Fn(usize) -> bool) -> Option<usize> {
        let place = at.and_then(|at| self.tasks.iter().position(|task| *task as usize == at));
        let (before, behind) = self.tasks.split_at(place.map_or(0, |place| place + 1));
        behind.iter().chain(before).map(|at| *at as usize).find(|at| !is_done(*at))
    }

    /// Handles the waiting keys that concern this sentence; `is_done` reports whether another one is judged.
    pub fn handle_keys(
        &mut self, sheet: &mut DeskSheet<'_>, with: (&Campaign, &ErrorScheme), is_done: impl Fn(usize) -> bool,
    ) -> Vec<JudgingAction> {
        let mut all = Vec::new();
        let mut keys = std::mem::take(&mut self.waiting).into_iter();
        for key in keys.by_ref() {
            let deeds = self.press(key, sheet, with, &is_done);
            for action in &deeds {
                action.apply(&mut sheet.own);
            }
            let is_left = deeds.iter().any(|action| matches!(action, JudgingAction::Select(at) if *at != sheet.at));
            all.extend(deeds);
            if is_left {
                break;
            }
        }
        self.waiting = keys.collect();
        all
    }

    fn press(
        &mut self, key: JudgingKey, sheet: &DeskSheet<'_>, (campaign, scheme): (&Campaign, &ErrorScheme),
        is_done: impl Fn(usize) -> bool,
    ) -> Vec<JudgingAction> {
        if let JudgingKey::Task(by) = key {
            return self.task(sheet.at, by).map(JudgingAction::Select).into_iter().collect();
        }
        let Some((system, text)) = sheet.rows.get(self.row).copied() else { return Vec::new() };
        let (count, source) = (sheet.rules.target.count(text), sheet.rules.source.count(sheet.source));
        match key {
            JudgingKey::Row(by) => {
                let last = sheet.rows.len() - 1;
                self.go_to(self.row.saturating_add_signed(by).min(last));
            }
            JudgingKey::Words(by) => self.choose(stepped(self.target, by, count)),
            JudgingKey::Wider(by) => self.choose(widened(self.target, by, count)),
            JudgingKey::Letters(by) => self.cut((text, sheet.rules.target), (0, by)),
            JudgingKey::LettersBefore(by) => self.cut((text, sheet.rules.target), (by, 0)),
            JudgingKey::Source(by) => self.source = stepped(self.source, by, source),
            JudgingKey::SourceWider(by) => self.source = widened(self.source, by, source),
            JudgingKey::Missing => self.is_missing = !self.is_missing,
            JudgingKey::Kind(kind) if kind < scheme.categories.len() => {
                self.kind = Some(kind);
                self.typed.clear();
                if scheme.severities.len() == 1 {
                    return self.mark((system, count), scheme, 0);
                }
            }
            JudgingKey::Kind(_) => {}
            JudgingKey::Digit(digit) if self.kind.is_some() => {
                return self.mark((system, count), scheme, usize::from(digit).wrapping_sub(1));
            }
            JudgingKey::Digit(digit) if campaign.in_stars => {
                let is_some = (1..=MOST_STARS).contains(&digit);
                return is_some.then(|| JudgingAction::Rate(system.to_owned(), digit * STAR)).into_iter().collect();
            }
            JudgingKey::Digit(digit) if self.typed.len() < MOST_DIGITS => self.typed.push(char::from(b'0' + digit)),
            JudgingKey::Digit(_) => {}
            JudgingKey::Enter => return self.enter(sheet, campaign, is_done),
            JudgingKey::NoErrors => return vec![JudgingAction::NoErrors(system.to_owned())],
            JudgingKey::Back => return self.back(system, &sheet.own),
            JudgingKey::TakeOver => {
                let of = sheet.suggested.iter().filter(|mark| mark.system == system && !sheet.own.marks.contains(mark));
                return of.map(|mark| JudgingAction::Mark((*mark).clone())).collect();
            }
            JudgingKey::Click(n) => self.choose(spanned(self.target, n)),
            // the only one that was chosen is no longer meant
            JudgingKey::ClickSource(n) if self.source == (n, n + 1) => self.source = (0, 0),
            JudgingKey::ClickSource(n) => self.source = spanned(self.source, n),
            JudgingKey::Task(_) => {}
        }
        Vec::new()
    }

    fn choose(&mut self, target: (usize, usize)) {
        (self.target, self.letters) = (target, None);
    }

    /// What is typed is more than the highest rating: it is not taken, and stays until it is taken back.
    pub fn is_too_high(&self) -> bool {
        self.typed.parse().is_ok_and(|rating: u16| rating > u16::from(MOST_RATING))
    }

    /// Takes letters to the words, or from them, at their beginning and their end.
    fn cut(&mut self, (text, rule): (&str, WordRule), (before, behind): (isize, isize)) {
        let Some(place) = place_of(text, rule, self.target).filter(|_| self.target.0 < self.target.1) else {
            return;
        };
        let count = text[place].chars().count();
        let (first, last) = self.letters.unwrap_or((0, count));
        let first = first.saturating_add_signed(before).min(last.saturating_sub(1));
        let last = last.saturating_add_signed(behind).clamp(first + 1, count);
        self.letters = Some((first, last)).filter(|letters| *letters != (0, count));
    }

    /// Marks the chosen words with the chosen kind; without any the whole translation.
    fn mark(&mut self, (system, count): (&str, usize), scheme: &ErrorScheme, severity: usize) -> Vec<JudgingAction> {
        let kind = self.kind.and_then(|kind| scheme.categories.get(kind));
        let (Some(kind), Some(severity)) = (kind, scheme.severities.get(severity)) else { return Vec::new() };
        let whole = if self.target.0 == self.target.1 { (0, count) } else { self.target };
        let first = if self.target.0 == self.target.1 { count } else { self.target.0 };
        let mark = ErrorMark {
            system: system.to_owned(),
            target: if self.is_missing { (first, first) } else { whole },
            letters: self.letters.filter(|_| !self.is_missing),
            source: self.source,
            spans: None,
            category: kind.clone(),
            severity: severity.name.clone(),
            note: String::new(),
        };
        self.clear();
        vec![JudgingAction::Mark(mark)]
    }

    fn enter(
        &mut self, sheet: &DeskSheet<'_>, campaign: &Campaign, is_done: impl Fn(usize) -> bool,
    ) -> Vec<JudgingAction> {
        if self.is_too_high() {
            return Vec::new();
        }
        let own = self.row;
        let is_left = |n: &usize| !campaign.has(&sheet.own, sheet.rows[*n].0);
        let rating: Option<u8> = self.typed.parse().ok();
        let rows = sheet.rows.len();
        let next = (own + 1..rows).chain(0..own).find(is_left);
        if let Some(rating) = rating {
            let action = JudgingAction::Rate(sheet.rows[own].0.to_owned(), rating);
            self.clear();
            self.go_to(next.unwrap_or(own));
            return vec![action];
        }
        match next {
            Some(next) if !is_left(&own) || !campaign.rates => {
                self.go_to(next);
                Vec::new()
            }
            None if !is_left(&own) => {
                let next = self.open_task(Some(sheet.at), |at| at == sheet.at || is_done(at));
                next.map(JudgingAction::Select).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn back(&mut self, system: &str, own: &Judgement) -> Vec<JudgingAction> {
        if self.typed.pop().is_some() || self.kind.take().is_some() {
            return Vec::new();
        }
        let of = |mark: &ErrorMark| mark.system == system;
        let (first, behind) = self.target;
        let is_here = |mark: &ErrorMark| of(mark) && mark.target.0 < behind && mark.target.1 > first;
        let last = own.marks.iter().rposition(is_here).or_else(|| own.marks.iter().rposition(of));
        last.map(JudgingAction::Unmark).into_iter().collect()
    }
}
