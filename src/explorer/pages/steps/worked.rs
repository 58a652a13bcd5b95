//! How a number of the machine is computed: a sum or a product, with both factors of every term.

use crate::{jobs::steps::StepTrace, pages::steps::picture::words};
use engine::models::anatomy::{MachineSpan, Quantity};

/// Greatest difference between a number and the sum of its terms.
const NEAR: f32 = 2e-3;
const MOST_TERMS: usize = 8;

/// A number of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkedNumber {
    pub stage: &'static str,
    pub quantity: usize,
    /// The source word, if there is a row for each.
    pub row: usize,
    pub unit: usize,
}

/// A term of a sum.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkedTerm {
    pub name: String,
    /// The factors; `None` for a plain term.
    pub factors: Option<(f32, f32)>,
    pub part: f32,
}

/// How a number was computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Worked {
    pub says: String,
    /// Terms that sum to it; empty if the sentence is enough.
    pub terms: Vec<WorkedTerm>,
    pub value: f32,
}

fn term(name: impl Into<String>, a: f32, b: f32) -> WorkedTerm {
    WorkedTerm { name: name.into(), factors: Some((a, b)), part: a * b }
}

impl Worked {
    /// `None` if the terms sum to another number.
    fn sum(says: impl Into<String>, terms: Vec<WorkedTerm>, value: f32) -> Option<Self> {
        let sum: f32 = terms.iter().map(|term| term.part).sum();
        ((sum - value).abs() <= NEAR * value.abs().max(1.0)).then(|| Self { says: says.into(), terms, value })
    }

    /// Strongest terms first; the weaker ones are one term.
    fn cut(mut self) -> Self {
        if self.terms.len() > MOST_TERMS {
            self.terms.sort_by(|a, b| b.part.abs().total_cmp(&a.part.abs()));
            let rest = self.terms.split_off(MOST_TERMS - 1);
            let part = rest.iter().map(|term| term.part).sum();
            self.terms.push(WorkedTerm { name: tr!("{} more", rest.len()), factors: None, part });
        }
        self
    }
}

/// How a number of step `i` was computed; `None` if it needs more than the numbers of the step.
pub fn worked(trace: &StepTrace, i: usize, number: WorkedNumber) -> Option<Worked> {
    let step = trace.steps.get(i)?;
    let unit = number.unit;
    match number.stage {
        "alpha" => share(trace, step.e_i.as_deref()?, *step.alpha_i.as_ref()?.get(unit)?, step.p_t, unit),
        "energies" => energy(trace, i, *step.e_i.as_ref()?.get(unit)?, unit).map(Worked::cut),
        "context" => context(trace, i, value(trace, i, number)?, unit),
        "next" => renewed(trace, i, value(trace, i, number)?, unit),
        "top" | "below" => memory(trace, i, number).or_else(|| added(trace, i, number)),
        "readout" => greater(trace, i, number).or_else(|| added(trace, i, number)),
        "gates" | "proposal" => added(trace, i, number),
        "annotations" => joined(trace, i, number),
        _ => None,
    }
}

/// The default number of a box: of energies the one that fits best, else the strongest of the last vector.
pub fn strongest(trace: &StepTrace, i: usize, stage: &'static str) -> Option<WorkedNumber> {
    let count = if ["alpha", "energies"].contains(&stage) { 1 } else { quantities(trace, i, stage).len() };
    (0..count).rev().find_map(|quantity| {
        let values = values(trace, i, stage, quantity)?;
        let mut order: Vec<usize> = (0..values.len()).filter(|unit| values[*unit].is_finite()).collect();
        let size = |unit: usize| if stage == "energies" { values[unit] } else { values[unit].abs() };
        order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
        let numbers = order.into_iter().map(|unit| WorkedNumber { stage, quantity, row: 0, unit });
        // of several heads, each with weights of its own, only those of the alignment are sums by alpha
        numbers.filter(|number| worked(trace, i, *number).is_some()).take(1).next()
    })
}

pub fn values<'a>(trace: &'a StepTrace, i: usize, stage: &str, quantity: usize) -> Option<&'a [f32]> {
    let step = trace.steps.get(i)?;
    match stage {
        "alpha" => step.alpha_i.as_deref(),
        "energies" => step.e_i.as_deref(),
        _ => quantities(trace, i, stage).get(quantity).map(|quantity| quantity.row(0)),
    }
}

pub fn quantities<'a>(trace: &'a StepTrace, i: usize, stage: &str) -> &'a [Quantity] {
    trace.part(stage, i).map_or(&[], |part| &part.quantities)
}

fn value(trace: &StepTrace, i: usize, number: WorkedNumber) -> Option<f32> {
    quantities(trace, i, number.stage).get(number.quantity)?.row(number.row).get(number.unit).copied()
}

/// The softmax of the energies; with a predicted place p_t, weighted by the distance from it.
fn share(trace: &StepTrace, e_i: &[f32], alpha: f32, p_t: Option<f32>, j: usize) -> Option<Worked> {
    let most = e_i.iter().copied().filter(|energy| energy.is_finite()).reduce(f32::max)?;
    let sum: f32 = e_i.iter().filter(|energy| energy.is_finite()).map(|energy| (energy - most).exp()).sum();
    let energy = *e_i.get(j).filter(|energy| energy.is_finite())?;
    let softmax = (energy - most).exp() / sum;
    let word = *words(trace).get(j)?;
    let mut says = tr!(
        "exp({energy}) divided by the sum of exp(e) over all source words, {}, is {softmax}",
        format_args!("{:.3}", sum * most.exp()),
        energy = format_args!("{energy:.3}"),
        softmax = format_args!("{softmax:.3}")
    );
    if let Some(place) = p_t.filter(|_| (softmax - alpha).abs() > NEAR) {
        says = tr!(
            "{says}; times {}, for \u{201c}{word}\u{201d} is {} words away from the place {place}: {alpha}",
            format_args!("{:.3}", alpha / softmax.max(1e-9)),
            format_args!("{:.1}", (j as f32 - place).abs()),
            says,
            word,
            place = format_args!("{place:.1}"),
            alpha = format_args!("{alpha:.3}")
        );
    } else if (softmax - alpha).abs() > NEAR {
        return None;
    }
    Some(Worked { says: format!("{says}."), terms: Vec::new(), value: alpha })
}

/// Additive attention, or a product of two vectors.
fn energy(trace: &StepTrace, i: usize, energy: f32, j: usize) -> Option<Worked> {
    let keys = quantities(trace, i, "annotations");
    let (h, key) = (keys.first()?.row(j), keys.get(1).map(|keys| keys.row(j)));
    let state = |stage: &str, n: usize| quantities(trace, i, stage).get(n).map(|quantity| quantity.row(0));
    let word = *words(trace).get(j)?;
    let additive = || {
        let (query, key) = (state("state", 1).or_else(|| state("next", 1))?, key?);
        let v_a = &trace.vectors.iter().find(|(name, _)| name.ends_with("v_a"))?.1;
        let terms = query.iter().zip(key).zip(v_a.iter()).enumerate();
        let terms = terms.map(|(k, ((query, key), v))| term(tr!("unit {}", k + 1), *v, (query + key).tanh()));
        let says =
            tr!("Each unit of v times tanh of what is read of the state and of \u{201c}{word}\u{201d}, summed", word);
        Worked::sum(says, terms.collect(), energy)
    };
    let product = |a: Option<&[f32]>, b: Option<&[f32]>| {
        let terms = a?.iter().zip(b?).enumerate().map(|(k, (a, b))| term(tr!("unit {}", k + 1), *a, *b));
        let says = tr!("Each unit of the state times that of \u{201c}{word}\u{201d}, summed", word);
        Worked::sum(says, terms.collect(), energy)
    };
    let top = quantities(trace, i, "top").last().or_else(|| quantities(trace, i, "state").last());
    let top = top.map(|state| state.row(0));
    additive().or_else(|| product(top, key)).or_else(|| product(top, Some(h)))
}

const VALUES: &str = "v_j";

fn context(trace: &StepTrace, i: usize, value: f32, k: usize) -> Option<Worked> {
    let alpha_i = trace.steps[i].alpha_i.as_ref()?;
    let of_heads = quantities(trace, i, "keys").iter().find(|quantity| quantity.symbol == VALUES);
    let h = of_heads.or_else(|| quantities(trace, i, "annotations").first())?;
    let terms = words(trace).into_iter().zip(alpha_i).enumerate();
    let terms = terms.map(|(j, (word, alpha))| term(word, *alpha, h.row(j).get(k).copied().unwrap_or(0.0)));
    Worked::sum(tr!("The share of each source word times its number, summed"), terms.collect(), value)
}

/// The old state and the proposal, mixed by the update gate as in the model's paper.
fn renewed(trace: &StepTrace, i: usize, value: f32, k: usize) -> Option<Worked> {
    let number = |stage: &str| quantities(trace, i, stage).first()?.row(0).get(k).copied();
    let (old, new, z) = (number("state")?, number("proposal")?, number("gates")?);
    let says = tr!("The old number and the proposed one, by the update gate");
    let by = |kept: f32, entering: f32| {
        Worked::sum(says, vec![term(tr!("what was"), kept, old), term(tr!("proposal"), entering, new)], value)
    };
    by(1.0 - z, z).or_else(|| by(z, 1.0 - z))
}

fn memory(trace: &StepTrace, i: usize, number: WorkedNumber) -> Option<Worked> {
    const CELL: usize = 4;
    const WIDTH: usize = 6;
    let (first, which) = (number.quantity / WIDTH * WIDTH, number.quantity % WIDTH);
    let at = |i: usize, n: usize| {
        quantities(trace, i, number.stage).get(first + n)?.row(number.row).get(number.unit).copied()
    };
    let value = value(trace, i, number)?;
    if which == WIDTH - 1 {
        let (o, m) = (at(i, 2)?, at(i, CELL)?);
        let says = tr!("How far the output gate is open, times tanh({m})", m = format_args!("{m:.3}"));
        return Worked::sum(says, vec![term(tr!("shows"), o, m.tanh())], value);
    }
    if which != CELL {
        return None;
    }
    let (input, forget, new, old) = (at(i, 0)?, at(i, 1)?, at(i, 3)?, at(i.checked_sub(1)?, CELL)?);
    let says = tr!("What the forget gate keeps of the memory, and what the input gate lets in of the proposal");
    Worked::sum(says, vec![term(tr!("memory"), forget, old), term(tr!("proposal"), input, new)], value)
}

/// A gate, a proposal or the input of maxout: the sum of terms of the previous word, the state and the context.
fn added(trace: &StepTrace, i: usize, number: WorkedNumber) -> Option<Worked> {
    let quantity = quantities(trace, i, number.stage).get(number.quantity)?;
    let value = *quantity.row(number.row).get(number.unit)?;
    let term = |(name, values): &(String, Vec<f32>)| {
        let name = match name.as_str() {
            "word" if ["top", "below"].contains(&number.stage) => tr!("what the layer reads, and b"),
            "word" if number.stage != "readout" => tr!("the word before, and b"),
            "word" => tr!("the word before"),
            "state" if number.stage == "readout" => tr!("the state, and b"),
            "state" => tr!("the state before"),
            _ => tr!("the context"),
        };
        Some(WorkedTerm { name: name.to_owned(), factors: None, part: *values.get(number.unit)? })
    };
    let terms: Vec<WorkedTerm> = quantity.terms.iter().map(term).collect::<Option<_>>()?;
    let sum: f32 = terms.iter().map(|term| term.part).sum();
    let (from, to) = (format!("{sum:.3}"), format!("{value:.3}"));
    let (made, says) = match quantity.span {
        MachineSpan::Gate => {
            let says = tr!("What each says for this unit, summed; σ({from}) is {to}", from, to);
            (1.0 / (1.0 + (-sum).exp()), says)
        }
        MachineSpan::Signed => {
            (sum.tanh(), tr!("What each says for this unit, summed; tanh({from}) is {to}", from, to))
        }
        MachineSpan::Free => (sum, tr!("What each says for this unit, summed").to_owned()),
    };
    (!terms.is_empty() && (made - value).abs() <= NEAR).then_some(Worked { says, terms, value })
}

fn greater(trace: &StepTrace, i: usize, number: WorkedNumber) -> Option<Worked> {
    let (value, before) = (value(trace, i, number)?, quantities(trace, i, number.stage).first()?.row(0));
    let (a, b) = (*before.get(2 * number.unit)?, *before.get(2 * number.unit + 1)?);
    let says =
        tr!("The greater of two neighbours, {a} and {b}.", a = format_args!("{a:.3}"), b = format_args!("{b:.3}"));
    ((a.max(b) - value).abs() <= NEAR && number.quantity > 0).then(|| Worked { says, terms: Vec::new(), value })
}

fn joined(trace: &StepTrace, i: usize, number: WorkedNumber) -> Option<Worked> {
    let value = value(trace, i, number).filter(|_| number.quantity == 0)?;
    let reader = |stage: &str| quantities(trace, i, stage).last().map(|quantity| quantity.row(number.row));
    let (forward, backward) = (reader("forward")?, reader("backward")?);
    let (text, unit, own) = match number.unit.checked_sub(forward.len()) {
        None => (tr!("forwards"), number.unit, forward.get(number.unit)?),
        Some(unit) => (tr!("backwards"), unit, backward.get(unit)?),
    };
    let word = *words(trace).get(number.row)?;
    let says = tr!(
        "Number {} of the state that reads {text}, when it has come to \u{201c}{word}\u{201d}.",
        unit + 1,
        text,
        word
    );
    ((own - value).abs() <= NEAR).then(|| Worked { says, terms: Vec::new(), value })
}
