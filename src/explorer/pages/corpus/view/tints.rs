//! Page Corpus, the marks of the chosen sentence as they are seen in its texts: a line below the words of each,
//! which is thicker and redder the more its severity weighs, and a ground under those of the mark that is shown.

use egui::{Color32, Stroke, Ui};

use crate::pages::{
    corpus::CorpusPage, corpus::view::memory::CorpusMemory, corpus::view::memory::MarkKey, corpus::view::words::Tint,
    shell::local::Window,
};
use crate::{jobs::corpus::thread::Detail, widgets::theme};
use corpus::judgements::judge::{ErrorMark, Judgement};
use corpus::{judgements::scheme::ErrorScheme, store::rules::SideRules};
use engine::text::words::{letters_at, place_of};

/// Width of the line below the words of a mark that weighs nothing, and how much more the gravest has, points.
const LINE: (f32, f32) = (1.0, 1.5);

/// A text of the sentence.
#[derive(Clone, Copy)]
pub enum TintedSide<'a> {
    Source,
    System(&'a str),
}

/// A mark of the sentence.
pub struct TintedWords {
    pub key: MarkKey,
    pub mark: ErrorMark,
    line: Stroke,
}

/// The marks of the sentence, those of the one who judges here first.
pub struct Tints {
    pub seen: Vec<TintedWords>,
    /// The one that the mouse is over, else the chosen one.
    pub shown: Option<MarkKey>,
    pub own: Judgement,
    rules: SideRules,
    ground: Color32,
}

impl Tints {
    pub fn of(ui: &Ui, page: &CorpusPage, window: &mut Window<'_>, detail: &Detail) -> Self {
        let own = page.said(detail.at, &page.kept.annotator);
        let others = page.judgements(detail.at).iter().filter(|(name, _)| **name != page.kept.annotator);
        let all = std::iter::once((&page.kept.annotator, &own)).chain(others);
        let mut seen = Vec::new();
        for (annotator, judgement) in all {
            for (number, mark) in judgement.marks.iter().enumerate() {
                let key = MarkKey { at: detail.at, annotator: annotator.clone(), number };
                let line = line(ui, &page.corpus.scheme, &mark.severity);
                seen.push(TintedWords { key, mark: mark.clone(), line });
            }
        }
        // The list below says anew what the mouse is over.
        let local = window.local.of::<CorpusMemory>();
        let shown = local.over_mark.take().or(local.mark.clone());
        let shown = shown.filter(|key| seen.iter().any(|seen: &TintedWords| seen.key == *key));
        Self { seen, shown, own, rules: page.corpus.rules, ground: theme::tokens(ui).accent_soft }
    }

    pub fn has(&self, key: &MarkKey) -> bool {
        self.seen.iter().any(|seen| seen.key == *key)
    }

    pub fn head(&self) -> String {
        match (self.seen.len(), self.own.no_errors.len()) {
            (0, 0) => tr!("Errors").to_owned(),
            (0, faultless) => tr!("Errors: none in {n} system" | "Errors: none in {n} systems" % faultless),
            (marks, 0) => tr!("Errors: {n} mark" | "Errors: {n} marks" % marks),
            (marks, faultless) => tr!(
                "Errors: {}, none in {}",
                tr!("{n} mark" | "{n} marks" % marks),
                tr!("{n} system" | "{n} systems" % faultless)
            ),
        }
    }

    /// What is set off in a text, and what is read out of it; nothing where nothing is.
    pub fn on(&self, text: &str, side: TintedSide<'_>) -> (Vec<Tint>, Option<String>) {
        let (mut tints, mut marked, mut shown) = (Vec::new(), Vec::new(), None);
        for seen in &self.seen {
            let is_shown = self.shown.as_ref() == Some(&seen.key);
            let span = match side {
                TintedSide::Source if seen.mark.source.0 == seen.mark.source.1 => continue,
                TintedSide::Source => seen.mark.source,
                TintedSide::System(name) if seen.mark.system != name => continue,
                TintedSide::System(_) => seen.mark.target,
            };
            let rule = if matches!(side, TintedSide::Source) { self.rules.source } else { self.rules.target };
            let Some(mut place) = place_of(text, rule, span) else { continue };
            if let (TintedSide::System(_), Some(letters)) = (side, seen.mark.letters) {
                place = letters_at(text, &place, letters);
            }
            let ground = if is_shown { self.ground } else { Color32::TRANSPARENT };
            let words = if span.0 == span.1 { tr!("missing words") } else { &text[place.clone()] };
            let words = format!("\u{201c}{words}\u{201d}");
            if is_shown {
                shown = Some(words.clone());
            }
            marked.push(format!("{words} {}", seen.mark.severity));
            tints.push(Tint { place, line: seen.line, ground });
        }
        // What is shown lies over the others.
        tints.sort_by_key(|tint| tint.ground != Color32::TRANSPARENT);
        let shown = shown.map_or_else(String::new, |words| tr!("; shown: {words}", words));
        let said = (!marked.is_empty()).then(|| tr!("{text}; marked: {}{shown}", marked.join(", "), text, shown));
        (tints, said)
    }
}

/// The line below the words of a mark, by what its severity weighs of the gravest.
pub fn line(ui: &Ui, scheme: &ErrorScheme, severity: &str) -> Stroke {
    let t = theme::tokens(ui);
    let most = scheme.severities.iter().map(|severity| severity.weight).fold(0.0, f64::max);
    let weight = scheme.severity(severity);
    if weight <= 0.0 || most <= 0.0 {
        return Stroke::new(LINE.0, t.weak);
    }
    // Weights grow fast: the root keeps the mild ones apart.
    let share = (weight / most).sqrt() as f32;
    Stroke::new(LINE.0 + LINE.1 * share, t.warm.lerp_to_gamma(t.error, share))
}
