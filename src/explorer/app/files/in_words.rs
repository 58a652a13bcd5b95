//! The shown alignment in words, to be read and heard: each target word with its source words and their shares. Pure.

use crate::app::document::column::Column;
use crate::app::document::table::{AlignmentTable, SourceWord, TargetWord};
use engine::{analysis::row_convention::RowConvention, text::tsv, text::tsv::TsvCell};
use figure::label::source_text;

/// Source words with a smaller share are left out; the one with the greatest share stays.
const LEAST: f32 = 0.05;

/// A target word in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordInWords {
    pub target: String,
    /// Such as `house 83 %, white 9 %`.
    pub sources: String,
    /// Both as a sentence for those who listen.
    pub said: String,
}

/// Each target word of what a column shows; `None` without an alignment.
pub fn rows(column: &Column, replaces: bool) -> Option<Vec<WordInWords>> {
    let table = column.table.as_deref()?;
    table.alpha.as_ref()?;
    let row = |(i, word): (usize, &TargetWord)| {
        let shares = shares(table, i);
        let sources = shares.iter().map(|(word, share)| format!("{} {}", source_text(&word.text, word.is_unk), share));
        let heard = shares.iter().map(|(word, share)| format!("{} {}", heard_source(word), share));
        let heard = heard.collect::<Vec<_>>().join(", ");
        let target = word.label(replaces).into_owned();
        let named = if word.is_eos { end() } else { tr!("“{word}”", word = target) };
        let said = if shares.is_empty() {
            tr!("{named} from no word", named)
        } else {
            tr!("{named} from {heard}", named, heard)
        };
        WordInWords { target, sources: sources.collect::<Vec<_>>().join(", "), said }
    };
    Some(table.target.iter().enumerate().map(row).collect())
}

fn end() -> String {
    tr!("the end of the sentence").to_owned()
}

fn heard_source(word: &SourceWord) -> String {
    if word.is_eos { end() } else { tr!("“{word}”", word = source_text(&word.text, word.is_unk)) }
}

/// The source words of target word i, greatest share first.
fn weights(table: &AlignmentTable, i: usize) -> Vec<(&SourceWord, f32)> {
    let row = table.alpha.as_ref().map_or(&[][..], |alpha| alpha.row(i));
    let mut weights: Vec<_> = table.source.iter().zip(row.iter().copied()).filter(|(_, share)| *share > 0.0).collect();
    weights.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let count = weights.iter().take_while(|(_, share)| *share >= LEAST).count();
    weights.truncate(count.max(1));
    weights
}

fn shares(table: &AlignmentTable, i: usize) -> Vec<(&SourceWord, String)> {
    let percent = |share: f32| if share < 0.005 { "<1 %".to_owned() } else { format!("{:.0} %", 100.0 * share) };
    weights(table, i).into_iter().map(|(word, share)| (word, percent(share))).collect()
}

/// What the shares are.
pub fn about(column: &Column) -> &'static str {
    if column.is_probe() {
        tr!("A probe, trained afterwards; this model has no attention")
    } else if column.table.as_ref().is_some_and(|table| table.reading == Some(RowConvention::Head)) {
        tr!("Shares by the alignment head: where each word comes from")
    } else {
        tr!("Shares of alpha: where the model looked to choose each word")
    }
}

/// The same rows as text, a line for each target word and source word; empty without an alignment.
pub fn tsv(column: &Column, replaces: bool) -> String {
    let Some(table) = column.table.as_deref().filter(|table| table.alpha.is_some()) else { return String::new() };
    let kind = match table.reading {
        _ if column.is_probe() => "probe",
        Some(RowConvention::Head) => "head",
        _ => "alpha",
    };
    let head = ["target".to_owned(), "source".to_owned(), format!("share ({kind})")].map(|name| TsvCell::from(&name));
    let lines = table.target.iter().enumerate().flat_map(|(i, word)| {
        let cells = move |(source, share): (&SourceWord, f32)| {
            let target = word.label(replaces).into_owned();
            vec![TsvCell::from(&target), TsvCell::from(&source.text), TsvCell::plain(&share)]
        };
        weights(table, i).into_iter().map(cells).collect::<Vec<_>>()
    });
    tsv::rows(std::iter::once(head.into()).chain(lines))
}
