//! Any number of annotators compared, where each judged some of the sentences: Krippendorff's alpha of ratings,
//! stars, tags and marks. A thing counts where two or more judged it.

use std::collections::BTreeSet;

use crate::judgements::agreement::{AlphaLine, Label, check, labels, systems_of};
use crate::{judgements::judge::Judgement, store::corpus::CorpusTable};
use engine::{analysis::kappa::JudgedUnits, error::Result};

fn line<T: Ord + Clone>(name: &str, of: &'static str, units: &JudgedUnits<T>, alpha: Option<f64>) -> AlphaLine {
    AlphaLine { name: name.to_owned(), of, units: units.units, values: units.values, alpha }
}

/// How far these annotators agree about some sentences, by their places.
pub fn alphas(corpus: &CorpusTable, annotators: &[&str], rows: &[u32]) -> Result<Vec<AlphaLine>> {
    annotators.iter().try_for_each(|name| check(corpus, name))?;
    let judged = rows.iter().filter_map(|&at| {
        let by = corpus.judgements.get(&(at as usize))?;
        Some((at as usize, annotators.iter().filter_map(|name| by.get(*name)).collect()))
    });
    let judged: Vec<(usize, Vec<&Judgement>)> = judged.collect();
    let mut lines = vec![ratings(&judged), stars(&judged)];
    lines.extend(tags(&judged));
    lines.extend(marks(corpus, &judged));
    Ok(lines)
}

type JudgedSentences<'a> = [(usize, Vec<&'a Judgement>)];

fn ratings(judged: &JudgedSentences<'_>) -> AlphaLine {
    let mut units = JudgedUnits::default();
    for (_, said) in judged {
        let systems: BTreeSet<&String> = said.iter().flat_map(|one| one.ratings.keys()).collect();
        for system in systems {
            let given: Vec<u8> = said.iter().filter_map(|one| one.ratings.get(system).copied()).collect();
            units.add(&given);
        }
    }
    line(id!("ratings"), id!("translations"), &units, units.interval())
}

fn stars(judged: &JudgedSentences<'_>) -> AlphaLine {
    let mut units = JudgedUnits::default();
    for (_, said) in judged {
        let given: Vec<u8> = said.iter().map(|one| one.stars).filter(|stars| *stars > 0).collect();
        units.add(&given);
    }
    line(id!("stars"), id!("sentences"), &units, units.ordinal())
}

fn tags(judged: &JudgedSentences<'_>) -> Vec<AlphaLine> {
    let names: BTreeSet<&String> = judged.iter().flat_map(|(_, said)| said.iter()).flat_map(|one| &one.tags).collect();
    let (mut all, mut lines) = (JudgedUnits::default(), Vec::new());
    for name in names {
        let mut units = JudgedUnits::default();
        for (_, said) in judged {
            let has: Vec<bool> = said.iter().map(|one| one.tags.contains(name)).collect();
            units.add(&has);
            all.add(&has);
        }
        lines.push(line(&format!("tag {name}"), "sentences", &units, units.nominal()));
    }
    lines.insert(0, line(id!("tags"), id!("sentences and tags"), &all, all.nominal()));
    lines
}

fn marks(corpus: &CorpusTable, judged: &JudgedSentences<'_>) -> [AlphaLine; 3] {
    let (mut wrong, mut kinds, mut severities) =
        (JudgedUnits::default(), JudgedUnits::default(), JudgedUnits::default());
    for (at, said) in judged {
        for system in systems_of(said.iter().copied()) {
            let of = said.iter().filter(|one| one.judges(system)).map(|one| labels(corpus, *at, system, one));
            let of: Vec<Vec<Label<'_>>> = of.collect();
            for word in 0..of.first().map_or(0, Vec::len) {
                let labels: Vec<Label<'_>> = of.iter().map(|labels| labels[word]).collect();
                wrong.add(&labels.iter().map(Option::is_some).collect::<Vec<_>>());
                kinds.add(&labels.iter().map(|label| label.map(|label| label.0)).collect::<Vec<_>>());
                severities.add(&labels.iter().map(|label| label.map(|label| label.1)).collect::<Vec<_>>());
            }
        }
    }
    [
        line(id!("words marked"), id!("words"), &wrong, wrong.nominal()),
        line(id!("kind of each word"), id!("words"), &kinds, kinds.nominal()),
        line(id!("severity of each word"), id!("words"), &severities, severities.nominal()),
    ]
}
