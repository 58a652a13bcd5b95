//! Floor 7: what the search found, turned from ids into words.

use std::collections::BTreeMap;

use crate::analysis::unknown;
use crate::decoding::{Hypothesis, Node};
use crate::text::join::join;
use crate::text::sentence::{EOS, Sentence, UNK};
use crate::worker::protocol::HypothesisView;
use crate::worker::shelved::Shelved;

/// A hypothesis in the words of the model's target vocabulary.
pub(super) fn view(shelved: &Shelved, source: &Sentence, hypothesis: Hypothesis) -> HypothesisView {
    let vocabulary = &shelved.model.target;
    let word = |id: u32| vocabulary.token(id).unwrap_or(UNK).to_owned();
    let unk = shelved.facts.unk;
    let tokens: Vec<String> = hypothesis.tokens.iter().map(|&id| word(id)).collect();
    let aligned = |(i, &id)| if id == unk { attended(source, &hypothesis, i) } else { None };
    let replaced: Vec<Option<String>> = hypothesis.tokens.iter().enumerate().map(aligned).collect();
    HypothesisView {
        is_unk: hypothesis.tokens.iter().map(|&id| id == unk).collect(),
        text: join(&shelved.facts.target_language, without_eos(&tokens)),
        token_log_p: hypothesis.token_log_p,
        log_p: hypothesis.log_p,
        rank: hypothesis.rank,
        finished: hypothesis.finished,
        alpha: hypothesis.alpha,
        energies: hypothesis.energies,
        p_t: hypothesis.p_t,
        left_out: hypothesis.left_out,
        candidates: hypothesis
            .candidates
            .iter()
            .map(|best| best.iter().map(|&(id, log_p)| (word(id), log_p)).collect())
            .collect(),
        replaced,
        tokens,
        ids: hypothesis.tokens,
    }
}

/// The words that the nodes mention, by id.
pub(super) fn words(shelved: &Shelved, nodes: &[Node]) -> BTreeMap<u32, String> {
    let mut words = BTreeMap::new();
    for id in nodes.iter().flat_map(|node| std::iter::once(node.token).chain(node.candidates.iter().map(|&(id, _)| id)))
    {
        words.entry(id).or_insert_with(|| shelved.model.target.token(id).unwrap_or(UNK).to_owned());
    }
    words
}

fn without_eos(tokens: &[String]) -> &[String] {
    tokens.strip_suffix(&[EOS.to_owned()]).unwrap_or(tokens)
}

/// The typed word of greatest alpha for target position i, `</s>` left aside.
fn attended(source: &Sentence, hypothesis: &Hypothesis, i: usize) -> Option<String> {
    unknown::attended(hypothesis.alpha.as_deref()?, i, source).map(|j| source.tokens[j].clone())
}
