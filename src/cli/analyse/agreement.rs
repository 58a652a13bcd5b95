//! Floor 13: `interlinear analyse --agreement`: how far two annotators agree.

use serde_json::json;

use crate::cli::output::Output;
use crate::corpus::judgements::agreement::{Aspect, Line, compare};
use crate::corpus::store::corpus::Corpus;
use crate::text::tsv::{Cell, rows};

/// Prints how far two annotators agree, and where they differ.
pub fn agreement(
    (first, second): (&str, &str),
    as_json: bool,
    corpus: &Corpus,
    chosen: &[u32],
    output: &mut Output,
) -> anyhow::Result<()> {
    let found = compare(corpus, (first, second), chosen)?;
    let names = |aspects: &[Aspect]| aspects.iter().map(|aspect| aspect.name()).collect::<Vec<_>>();
    if as_json {
        let line = |line: &Line| {
            let (kappa, more) = (line.kappa, line.more.iter().copied().collect::<std::collections::BTreeMap<_, _>>());
            json!({
                "name": line.name,
                "of": line.of,
                "items": kappa.map_or(0, |kappa| kappa.items),
                "same": kappa.map_or(0, |kappa| kappa.agreed),
                "kappa": kappa.and_then(|kappa| kappa.kappa),
                "more": more,
            })
        };
        let differing =
            found.differing.iter().map(|(at, aspects)| json!({"sentence": at + 1, "differs": names(aspects)}));
        return output.json(&json!({
            "annotators": [first, second],
            "both": found.both,
            "agreement": found.lines.iter().map(line).collect::<Vec<_>>(),
            "differing": differing.collect::<Vec<_>>(),
        }));
    }
    let mut table = vec![["measure", "counted", "items", "same", "kappa", "more"].map(Cell::plain).to_vec()];
    for line in &found.lines {
        let (items, same) = line.kappa.map_or((0, 0), |kappa| (kappa.items, kappa.agreed));
        let kappa = line.kappa.and_then(|kappa| kappa.kappa).map_or_else(String::new, |kappa| format!("{kappa:.4}"));
        let more: Vec<String> = line.more.iter().map(|(name, number)| format!("{name} {number:.4}")).collect();
        table.push(vec![
            Cell::from(&line.name),
            Cell::plain(line.of),
            Cell::plain(&items),
            Cell::plain(&same),
            Cell::Plain(kappa),
            Cell::Plain(more.join(", ")),
        ]);
    }
    output.text(&rows(table))?;
    output.text("\n")?;
    let mut table = vec![["sentence", "differs", "source"].map(Cell::plain).to_vec()];
    for (at, aspects) in &found.differing {
        let source = Cell::from(corpus.sources.get(*at).unwrap_or_default());
        table.push(vec![Cell::plain(&(at + 1)), Cell::Plain(names(aspects).join(", ")), source]);
    }
    output.text(&rows(table))
}
