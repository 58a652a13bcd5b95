//! `interlinear analyse --agreement`: how far two annotators, or more, agree.

use serde_json::{Value, json};

use crate::output::LineOutput;
use corpus::judgements::agreement::{AgreementLine, AlphaLine, Aspect, compare};
use corpus::{judgements::alpha::alphas, store::corpus::CorpusTable};
use engine::text::tsv::{TsvCell, text};

/// Prints how far annotators agree: of two also where they differ.
pub fn agreement(
    annotators: &[&str], as_json: bool, corpus: &CorpusTable, chosen: &[u32], output: &mut LineOutput,
) -> anyhow::Result<()> {
    let alphas = alphas(corpus, annotators, chosen)?;
    if let [first, second] = annotators {
        return of_two((first, second), &alphas, as_json, (corpus, chosen), output);
    }
    if as_json {
        return output.json(&json!({ "annotators": annotators, "alpha": all(&alphas) }));
    }
    output.text(&table(&alphas))
}

fn all(alphas: &[AlphaLine]) -> Vec<Value> {
    let line = |line: &AlphaLine| json!({ "name": line.name, "of": line.of, "items": line.units, "judgements": line.values, "alpha": line.alpha });
    alphas.iter().map(line).collect()
}

fn table(alphas: &[AlphaLine]) -> String {
    let row = |line: &AlphaLine| {
        let counts = [&line.units, &line.values].map(TsvCell::plain);
        [vec![TsvCell::from(&line.name), TsvCell::plain(line.of)], counts.to_vec(), vec![rate(line.alpha)]].concat()
    };
    text(&["measure", "counted", "items", "judgements", "alpha"], alphas.iter().map(row))
}

fn rate(rate: Option<f64>) -> TsvCell {
    TsvCell::Plain(rate.map_or_else(String::new, |rate| format!("{rate:.4}")))
}

fn of_two(
    (first, second): (&str, &str), alphas: &[AlphaLine], as_json: bool, (corpus, chosen): (&CorpusTable, &[u32]),
    output: &mut LineOutput,
) -> anyhow::Result<()> {
    let found = compare(corpus, (first, second), chosen)?;
    let names = |aspects: &[Aspect]| aspects.iter().map(|aspect| aspect.name()).collect::<Vec<_>>();
    if as_json {
        let line = |line: &AgreementLine| {
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
            "alpha": all(alphas),
            "agreement": found.lines.iter().map(line).collect::<Vec<_>>(),
            "differing": differing.collect::<Vec<_>>(),
        }));
    }
    let row = |line: &AgreementLine| {
        let counts = line.kappa.map_or([0, 0], |kappa| [kappa.items, kappa.agreed]).map(|count| TsvCell::plain(&count));
        let more: Vec<String> = line.more.iter().map(|(name, number)| format!("{name} {number:.4}")).collect();
        let rest = vec![rate(line.kappa.and_then(|kappa| kappa.kappa)), TsvCell::Plain(more.join(", "))];
        [vec![TsvCell::from(&line.name), TsvCell::plain(line.of)], counts.to_vec(), rest].concat()
    };
    let head = ["measure", "counted", "items", "same", "kappa", "more"];
    output.text(&text(&head, found.lines.iter().map(row)))?;
    output.text("\n")?;
    let row = |(at, aspects): &(usize, Vec<Aspect>)| {
        let source = TsvCell::from(corpus.sources.get(*at).unwrap_or_default());
        vec![TsvCell::plain(&(at + 1)), TsvCell::Plain(names(aspects).join(", ")), source]
    };
    output.text(&text(&["sentence", "differs", "source"], found.differing.iter().map(row)))?;
    output.text("\n")?;
    output.text(&self::table(alphas))
}
