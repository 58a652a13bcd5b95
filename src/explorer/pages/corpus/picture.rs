//! What systems say of the chosen sentence, as tables that the heatmap shows.

use std::sync::Arc;

use crate::app::document::table::{AlignmentTable, SourceWord, TargetWord};
use crate::jobs::corpus::thread::Detail;
use corpus::store::{output::SystemOutput, rules::SideRules};
use engine::text::links::{Link, Links};
use engine::text::sentence::{EOS, UNK, is_language};
use engine::{analysis::alignment::Alignment, text::readable::places};

/// A table for each system, `None` where it has no alignment. `number` is another for each.
pub fn tables(detail: &Detail, rules: SideRules, mut number: impl FnMut() -> u64) -> Vec<Option<Arc<AlignmentTable>>> {
    let table = |(n, output): (usize, &Option<SystemOutput>)| {
        let output = output.as_ref()?;
        let alpha = output.alpha.as_ref()?;
        Some(Arc::new(AlignmentTable {
            revision: number(),
            source: source(output, alpha),
            target: target(output),
            alpha: Some(alpha.clone()),
            links: gold(detail.golds.get(n).and_then(Option::as_ref), detail, output, rules),
            text: output.text.clone(),
            log_p: output.log_p.unwrap_or(f32::NAN),
            ..AlignmentTable::default()
        }))
    };
    detail.outputs.iter().enumerate().map(table).collect()
}

fn source(output: &SystemOutput, alpha: &Alignment) -> Vec<SourceWord> {
    let column = |j: usize| (0..alpha.rows()).filter_map(|i| alpha.get(i, j)).sum();
    let word = |(j, text): (usize, &String)| SourceWord {
        text: text.clone(),
        is_unk: text == UNK,
        is_eos: text == EOS,
        is_language: is_language(text),
        coverage: column(j),
        ..SourceWord::default()
    };
    output.source.iter().enumerate().map(word).collect()
}

fn target(output: &SystemOutput) -> Vec<TargetWord> {
    let word = |(i, text): (usize, &String)| {
        let log_p = output.word_log_p.get(i).copied().unwrap_or(f32::NAN);
        TargetWord {
            text: text.clone(),
            is_unk: text == UNK,
            is_eos: text == EOS,
            log_p,
            probability: log_p.exp(),
            ..TargetWord::default()
        }
    };
    output.target.iter().enumerate().map(word).collect()
}

/// Links by hand of an output between its words: they are of the words of the corpus, which the system may have cut otherwise.
fn gold(gold: Option<&Links>, detail: &Detail, output: &SystemOutput, rules: SideRules) -> Option<Links> {
    let gold = gold?;
    let source = places(output.source_words(), &detail.sentence.source, rules.source)?;
    let target = places(output.words(), &output.text, rules.target)?;
    let spread = |links: &[Link]| -> Vec<Link> {
        let parts = |link: &Link| {
            let targets: Vec<usize> = target.parts_of(link.target).collect();
            let pairs = source
                .parts_of(link.source)
                .flat_map(move |source| targets.clone().into_iter().map(move |target| Link { source, target }));
            pairs.collect::<Vec<_>>()
        };
        links.iter().flat_map(parts).collect()
    };
    Some(Links::new(spread(gold.sure()), spread(gold.possible())))
}
