//! A translation taken apart: every step with all of its numbers, after words that are given and then, if so
//! wished, after the most probable ones.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::models::anatomy::{Anatomy, MachinePart};
use crate::{models::need::top, ticket::CancellationToken};

/// What is done when the given words are at an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Then {
    /// The next step is taken without a word being said: it shows what may be said.
    #[default]
    Wait,
    /// The most probable word is said, again and again, until the sentence ends.
    Greedy,
}

/// Which words are read on.
#[derive(Clone, Debug, PartialEq)]
pub struct Path<'a> {
    pub given: &'a [u32],
    /// What is done after them.
    pub then: Then,
    pub eos: u32,
    /// At most so many steps.
    pub limit: usize,
    /// Candidates kept at each step.
    pub best: usize,
}

/// A decoder step and what was said in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracedStep {
    /// The numbers of the decoder's stages.
    pub parts: Vec<MachinePart>,
    pub e_i: Option<Vec<f32>>,
    /// Weights; `None` without alignment. [t_x]
    pub alpha_i: Option<Vec<f32>>,
    pub p_t: Option<f32>,
    /// The most probable words with their log p, best first, of equals the lower id.
    pub best: Vec<(u32, f32)>,
    /// The word that is said with its log p; `None` while one is waited for.
    pub said: Option<(u32, f32)>,
}

/// Takes the decoding of a source apart. Gives the numbers of the encoder and the steps.
pub fn trace_steps(
    anatomy: &mut Anatomy, source: &[u32], path: &Path<'_>, ticket: &CancellationToken,
) -> Result<(Vec<MachinePart>, Vec<TracedStep>)> {
    if source.is_empty() {
        return Err(Error::Input("The text has no words that this model could read.".to_owned()));
    }
    ticket.check()?;
    let encoded = anatomy.encode(source)?;
    let (mut state, mut y_prev, mut steps) = (encoded.start.clone(), None, Vec::new());
    while steps.len() < path.limit {
        ticket.check()?;
        let i = steps.len();
        let taken = anatomy.step(&encoded, &state, y_prev)?;
        let best = top(&taken.log_p, path.best.max(1));
        let next = path.given.get(i).copied().or_else(|| match path.then {
            Then::Wait => None,
            Then::Greedy => best.first().map(|(id, _)| *id),
        });
        let log_p = |id: u32| taken.log_p.get(id as usize).copied().map(|log_p| (id, log_p));
        let said = next.map(|id| log_p(id).ok_or_else(|| unknown(id, taken.log_p.len()))).transpose()?;
        let (parts, e_i, alpha_i, p_t) = (taken.parts, taken.e_i, taken.alpha_i, taken.p_t);
        steps.push(TracedStep { parts, e_i, alpha_i, p_t, best, said });
        match next {
            Some(id) if id != path.eos => (state, y_prev) = (taken.state, Some(id)),
            _ => break,
        }
    }
    Ok((encoded.parts, steps))
}

fn unknown(id: u32, vocabulary: usize) -> Error {
    Error::Input(format!("the model knows only {vocabulary} target words, and none with the id {id}"))
}
