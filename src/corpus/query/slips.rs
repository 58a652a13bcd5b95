//! Conditions that were probably meant otherwise, each with a sentence that says how.

use crate::{query::column::TableColumn, store::corpus::CorpusTable};
use engine::text::words::{composed, folded};

const HEADS: &str = "source reference output note tag by task todo has differs right missed extra wrong";
/// What others call them.
const OTHERS: [&str; 6] = ["src source", "ref reference", "target output", "hyp output", "mt output", "label tag"];

/// The head that was probably meant: one letter more, less or other, two swapped, or other case.
pub(super) fn misspelt(head: &str) -> Option<&'static str> {
    let name = head.split_once('.').map_or(head, |(name, _)| name);
    let typed = name.to_lowercase();
    let is_meant = |head: &&'static str| match head.len() {
        4.. => strsim::osa_distance(&typed, head) < 2,
        3 => typed == **head || typed.len() == 4 && typed.starts_with(*head),
        _ => typed == **head,
    };
    let is_known = HEADS.split(' ').any(|head| head == name);
    HEADS.split(' ').find(is_meant).filter(|_| !is_known)
}

pub(super) fn of_text(word: &str, corpus: &CorpusTable) -> Option<String> {
    let column = |name: &str| TableColumn::named(name, corpus);
    if column(word).is_ok() {
        return Some(format!("`{word}` is a column and no text has it; say what its number must be, as in {word}>10"));
    }
    if let (Some((name, _)), Err(why)) = (word.rsplit_once('.'), column(word))
        && column(name).is_ok()
    {
        return Some(why.to_string());
    }
    let (head, rest) = word.split_once(':').filter(|(head, _)| head.contains(char::is_alphabetic))?;
    let small = folded(head);
    let system = corpus.systems.iter().position(|column| folded(&column.system.name).starts_with(&small));
    let other = OTHERS.iter().find_map(|other| other.split_once(' ').filter(|(other, _)| *other == small));
    let meant = system.map(|at| format!("{}:{rest}", at + 1)).or_else(|| Some(format!("{}:{rest}", other?.1)));
    let meant = meant.or_else(|| Some(format!("tag:{}", tag_like(word, corpus)?)));
    let advice = meant.map_or_else(
        || format!("there are {}:, and N: of system N", HEADS.replace(' ', ":, ")),
        |meant| format!("write {meant}"),
    );
    Some(format!("`{head}:` is no condition, and no text has `{word}`; {advice}"))
}

pub(super) fn of_tag(tag: &str, corpus: &CorpusTable) -> Option<String> {
    let is_there = tags(corpus).any(|known| composed(known) == composed(tag));
    let known = tag_like(tag, corpus).filter(|_| !is_there)?;
    Some(format!("no sentence has the tag `{tag}`; there is tag:{known}"))
}

fn tags(corpus: &CorpusTable) -> impl Iterator<Item = &String> {
    corpus.judgements.values().flat_map(|by| by.values()).flat_map(|judgement| &judgement.tags)
}

fn tag_like<'a>(tag: &str, corpus: &'a CorpusTable) -> Option<&'a String> {
    let tag = folded(tag);
    let kind = tag.split_once(':').map(|(kind, _)| format!("{kind}:"));
    let exact = tags(corpus).find(|known| folded(known) == tag || folded(known).ends_with(&format!(":{tag}")));
    exact.or_else(|| tags(corpus).find(|known| kind.as_ref().is_some_and(|kind| folded(known).starts_with(kind))))
}
