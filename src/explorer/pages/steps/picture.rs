//! The machine at a step as a drawing: what each box shows, for the window and for paper.

use std::borrow::Cow;

use crate::{jobs::steps::StepTrace, pages::steps::command::Guessed};
use engine::models::anatomy::MachineStage;
use figure::geometry::{Area, point, size};
use figure::machine::{Held, MachineDrawing};
use figure::{Figure, palette};
use figure::{measure::SansSerif, provenance::Provenance};

const ON_PAPER: (f32, f32) = (860.0, 430.0);

/// What a box shows at step `i`; what is to be guessed stays hidden.
pub fn held<'a>(trace: &'a StepTrace, i: usize, hidden: Option<Guessed>, stage: &MachineStage) -> Held<'a> {
    let step = trace.steps.get(i);
    match stage.key {
        "words" => Held::Text(Cow::Owned(words(trace).join(" "))),
        "energies" | "alpha" | "context" | "place" if hidden == Some(Guessed::Row) => Held::Hidden,
        "candidates" | "word" if hidden == Some(Guessed::Word) => Held::Hidden,
        "energies" => step.and_then(|step| step.e_i.as_deref()).map_or(Held::Nothing, Held::Shares),
        "alpha" => step.and_then(|step| step.alpha_i.as_deref()).map_or(Held::Nothing, Held::Shares),
        "candidates" => {
            let words = trace.candidates(i).iter();
            let shares = step.iter().flat_map(|step| &step.best).map(|(_, log_p)| log_p.exp());
            Held::Words(words.map(|word| Cow::Borrowed(word.as_str())).zip(shares).collect())
        }
        "word" => Held::Word(Cow::Borrowed(trace.said(i).unwrap_or("?"))),
        "previous" if i > 0 => Held::Word(Cow::Borrowed(trace.said(i - 1).unwrap_or("?"))),
        key => match trace.part(key, i).map(|part| &part.quantities[..]) {
            None => Held::Nothing,
            Some([only]) if only.values.len() == 1 => Held::Word(Cow::Owned(format!("{:.2}", only.values[0]))),
            Some(all) => Held::Numbers(all.iter().collect()),
        },
    }
}

pub fn words(trace: &StepTrace) -> Vec<&str> {
    let source = &trace.source;
    source
        .tokens
        .iter()
        .zip(&source.spans)
        .map(|(token, span)| source.text.get(span.clone()).filter(|text| !text.is_empty()).unwrap_or(token))
        .collect()
}

/// What the first source word is counted as: 0 where the model predicts a place p_t, which is counted so.
pub fn first_word(trace: &StepTrace) -> usize {
    usize::from(trace.steps.first().is_none_or(|step| step.p_t.is_none()))
}

/// The machine at step `i` for paper; `lit` is the highlighted box.
pub fn figure(trace: &StepTrace, i: usize, hidden: Option<Guessed>, lit: Option<&str>) -> Figure<'static> {
    let hidden = hidden.map(|of| if of == Guessed::Whole { Guessed::Row } else { of });
    let machine = &trace.machine;
    let drawing = MachineDrawing {
        machine,
        held: machine.stages.iter().map(|stage| held(trace, i, hidden, stage)).collect(),
        is_done: vec![true; machine.stages.len()],
        is_first: i == 0,
        lit,
        over: None,
        palette: &palette::LIGHT,
        measure: &SansSerif,
    };
    let size = size(ON_PAPER.0, ON_PAPER.1);
    let marks = drawing.marks(&Area::from_min_size(point(0.0, 0.0), size));
    let caption = caption(trace, i, hidden);
    let wiring = trace.wrong.map(|wrong| ("model otherwise than its paper", wrong.entry().name.to_owned()));
    let facts = [
        Some(("model", trace.model.clone())),
        wiring,
        Some(("sentence", trace.source.text.clone())),
        Some(("step", (i + 1).to_string())),
        Some(("program", format!("Interlinear {}", env!("CARGO_PKG_VERSION")))),
    ];
    let facts = facts.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect();
    let provenance = Provenance { title: format!("{}: step {}", trace.model, i + 1), facts };
    Figure { size, marks, provenance }.captioned(&caption, &SansSerif, &palette::LIGHT).grounded(&palette::LIGHT)
}

fn caption(trace: &StepTrace, i: usize, hidden: Option<Guessed>) -> String {
    let before: Vec<&str> = (0..i).filter_map(|n| trace.said(n)).collect();
    let after = if before.is_empty() { "the first word".to_owned() } else { format!("after \"{}\"", before.join(" ")) };
    let says = match (hidden, trace.said(i)) {
        (Some(Guessed::Word), _) | (_, None) => String::new(),
        (_, Some(word)) => format!(", which says \"{word}\""),
    };
    let wiring = trace.wrong.map_or_else(String::new, |wrong| format!(", {}", wrong.label()));
    format!("{}{wiring}, \"{}\": step {}, {after}{says}.", trace.model, trace.source.text, i + 1)
}
