//! Guess first: what the class clicks or types before the step is shown, and what came of it.

use std::fmt::Write as _;

use egui::accesskit::Role;
use egui::{Id, Key, Label, RichText, TextEdit, Ui, WidgetInfo};

use crate::jobs::steps::{CANDIDATES, StepTrace};
use crate::pages::steps::guess::{Guessing, f1, is_right, place_of};
use crate::pages::{
    shell::local::Window,
    steps::Guessed,
    steps::StepsPage,
    steps::command::StepsCommand,
    steps::picture::{first_word, words},
    steps::view::together,
};
use crate::widgets::{labels, theme};
use engine::analysis::aer::AerCounts;

const FIELD: f32 = 130.0;

pub fn guess_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    match steps.hidden(steps.i) {
        Some(_) if steps.whole().is_some() => whole_ui(ui),
        Some(Guessed::Row | Guessed::Whole) => row_ui(ui, steps, window, trace),
        Some(Guessed::Word) => word_ui(ui, steps, window),
        None => {}
    }
}

fn row_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>, trace: &StepTrace) {
    let Some(guessing) = &steps.guessing else { return };
    let text = match trace.said(steps.i) {
        Some(word) => tr!("Where does the model look to say \u{201c}{word}\u{201d}?", word),
        None => tr!("Where does the model look now?").to_owned(),
    };
    ui.label(RichText::new(text).color(theme::tokens(ui).accent));
    ui.horizontal_wrapped(|ui| {
        for (j, word) in words(trace).iter().enumerate() {
            let is_guessed = guessing.words.contains(&j);
            let label = ui.selectable_label(is_guessed, RichText::new(*word).size(theme::TEXT_OUTPUT));
            let said = tr!("Guess source word {} {word}", j + first_word(trace), word);
            label.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, is_guessed, &said));
            window.push_if(label.clicked(), StepsCommand::Guess(j));
        }
    });
    ui.add_space(theme::SPACE_1);
}

fn whole_ui(ui: &mut Ui) {
    let text = tr!("Where does the model look to say each word? Click the cells, one or more in a row.");
    ui.add(Label::new(RichText::new(text).color(theme::tokens(ui).accent)).wrap());
    ui.add_space(theme::SPACE_1);
}

fn word_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>) {
    let Some(guessing) = &steps.guessing else { return };
    let guess = guessing.word.clone().unwrap_or_default();
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(tr!("Which word comes next?")).color(theme::tokens(ui).accent));
        for option in steps.options() {
            let is_guessed = guess == option;
            let label = ui.selectable_label(is_guessed, RichText::new(option).size(theme::TEXT_OUTPUT));
            let said = tr!("Guess the word {option}", option);
            label.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_guessed, &said));
            if label.clicked() {
                window.push(StepsCommand::GuessWord(option.to_owned()));
            }
        }
        let mut typed = guess.clone();
        let field = TextEdit::singleline(&mut typed).id(Id::unique("steps_guess")).hint_text(tr!("or type it"));
        let field = ui.add(field.desired_width(FIELD)).accessible_name(tr!("Your guess of the word"));
        window.push_if(field.changed(), StepsCommand::GuessWord(typed));
        if field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
            window.push(StepsCommand::Reveal);
        }
    });
    ui.add_space(theme::SPACE_1);
}

pub fn player_ui(ui: &mut Ui, steps: &StepsPage, window: &mut Window<'_>) {
    let (Some(guessing), Some(trace)) = (&steps.guessing, &steps.trace) else { return };
    let t = *theme::tokens(ui);
    if steps.hidden(steps.i).is_some() {
        let text = if guessing.is_made() || guessing.voices() > 0 { tr!("Show") } else { tr!("Show without a guess") };
        let note = match guessing.of {
            Guessed::Whole => tr!("Shows where all steps look (Enter, or one move on)"),
            Guessed::Row | Guessed::Word => tr!("Shows what the step does (Enter, or one move on)"),
        };
        window.push_if(ui.button(text).on_hover_text(note).clicked(), StepsCommand::Reveal);
        together::groups_ui(ui, guessing, window);
    } else if guessing.is_revealed {
        match guessing.of {
            Guessed::Row => looked_ui(ui, steps, guessing, trace),
            Guessed::Word => said_ui(ui, steps, window, guessing, trace),
            Guessed::Whole => compared_ui(ui, guessing),
        }
    }
    if guessing.score.steps > 0 {
        ui.add(Label::new(RichText::new(score(guessing)).size(theme::TEXT_SMALL).color(t.weak)));
    }
}

fn score(guessing: &Guessing) -> String {
    let score = guessing.score;
    let share = 100.0 * score.mass / score.steps.max(1) as f32;
    match guessing.of {
        Guessed::Row => {
            let model = tr!(
                "{} of {} guesses as the model, {share} % of alpha",
                score.model,
                score.steps,
                share = format_args!("{share:.0}")
            );
            let aligner = tr!("; {} of {} as the aligner", score.aligner, score.linked);
            if score.linked > 0 { model + &aligner } else { model }
        }
        Guessed::Word => tr!(
            "{} of {} words as the model, {} among its {CANDIDATES} best, {share} % of p",
            score.model,
            score.steps,
            score.among,
            CANDIDATES,
            share = format_args!("{share:.0}")
        ),
        Guessed::Whole => String::new(),
    }
}

fn compared_ui(ui: &mut Ui, guessing: &Guessing) {
    let Some(compared) = guessing.compared else { return };
    let t = theme::tokens(ui);
    let mut said = format!("{}.", among(tr!("your"), &compared.model, tr!("the model's")));
    if let Some(aligner) = &compared.aligner {
        let _ = write!(said, " {}.", among(tr!("your"), aligner, tr!("the aligner's")));
    }
    ui.label(RichText::new(said).color(t.text)).on_hover_text(
        tr!("The model's link of a word is its greatest alpha. F1 is 100 % where both have the same links, and 0 % where they share none."),
    );
    if let Some(beside) = &compared.model_to_aligner {
        let said = tr!("For comparison: {}.", among(tr!("the model's"), beside, tr!("the aligner's")));
        labels::caption(ui, said);
    }
}

/// `6 of your 8 links are among the model's 9, F1 71 %`.
fn among(whose: &str, counts: &AerCounts, others: &str) -> String {
    let (both, found, sure) = (counts.found_sure, counts.found, counts.sure);
    tr!(
        "{both} of {whose} {found} links are among {others} {sure}, F1 {} %",
        format_args!("{:.0}", 100.0 * f1(counts)),
        both,
        whose,
        found,
        others,
        sure
    )
}

fn said(guessing: &Guessing) -> &'static str {
    if guessing.voices() > 1 { tr!("The class said") } else { tr!("You said") }
}

fn looked_ui(ui: &mut Ui, steps: &StepsPage, guessing: &Guessing, trace: &StepTrace) {
    let alpha_i = trace.steps.get(steps.i).and_then(|step| step.alpha_i.as_ref());
    let most = alpha_i.and_then(|row| row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)));
    let words = words(trace);
    let Some((j, share)) = most.filter(|(j, _)| *j < words.len()) else { return };
    let guessed: Vec<&str> = guessing.words.iter().filter_map(|j| words.get(*j).copied()).collect();
    let yours = if guessed.is_empty() { String::new() } else { format!(" {} {}.", said(guessing), guessed.join(", ")) };
    let says =
        tr!("it looks most at \u{201c}{}\u{201d}, {} %.{yours}", words[j], format_args!("{:.0}", 100.0 * share), yours);
    verdict_ui(ui, Some(guessing.words.contains(&j)).filter(|_| guessing.is_made()), &says);
}

fn said_ui(ui: &mut Ui, steps: &StepsPage, window: &Window<'_>, guessing: &Guessing, trace: &StepTrace) {
    let (Some(truth), Some(step)) = (steps.truth(steps.i), trace.steps.get(steps.i)) else { return };
    let marks = steps.marks(window.app);
    let candidates = trace.candidates(steps.i);
    let words: Vec<&str> = candidates.iter().map(String::as_str).collect();
    let share = |word: &str| {
        let place = place_of(word, &words, &marks)?;
        Some((place, 100.0 * step.best.get(place)?.1.exp()))
    };
    // Where the class is to say the word, the best candidate is the truth.
    let own = step.said.or_else(|| step.best.first().copied()).map(|(_, log_p)| 100.0 * log_p.exp());
    let percent = own.map_or_else(String::new, |p| format!(", {p:.0} %"));
    let says = tr!("it says \u{201c}{truth}\u{201d}{percent}.", truth, percent);
    let Some(guess) = guessing.word.as_deref().map(str::trim) else { return verdict_ui(ui, None, &says) };
    let is_right = is_right(guess, truth, &words, &marks);
    let yours = match share(guess) {
        _ if is_right => String::new(),
        Some((place, p)) => {
            tr!(" {} {guess}, its candidate {}, {p} %.", said(guessing), place + 1, guess, p = format_args!("{p:.0}"))
        }
        None => tr!(" {} {guess}, which is not among its {CANDIDATES} best.", said(guessing), guess, CANDIDATES),
    };
    verdict_ui(ui, Some(is_right), &(says + &yours));
}

fn verdict_ui(ui: &mut Ui, is_right: Option<bool>, says: &str) {
    let t = theme::tokens(ui);
    let verdict = match is_right {
        Some(true) => tr!("Right: "),
        Some(false) => tr!("No: "),
        None => "",
    };
    let colour = if is_right == Some(true) { t.accent } else { t.text };
    ui.label(RichText::new(format!("{verdict}{says}")).color(colour));
}
