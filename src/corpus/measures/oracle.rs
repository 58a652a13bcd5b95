//! N-best lists: which candidate comes nearest to the references, the oracle of what a system could have said, and
//! where it stands; and what else candidates are ranked by.

use engine::analysis::bleu::{BleuCounts, BleuSettings};
use engine::analysis::chrf;
use import::{ImportedOutput, OracleBy};

/// The score of a candidate, from 0 to 100.
pub fn score(by: OracleBy, text: &str, references: &[&str], bleu: &BleuSettings) -> f64 {
    match by {
        OracleBy::Bleu => BleuCounts::of(text, references, bleu).sentence(),
        OracleBy::Chrf => chrf::ChrfCounts::of(text, references, false).score(),
    }
}

/// The place of the best candidate, from 0; the first of equals. `None` without candidates or references.
pub fn oracle<'a>(
    by: OracleBy, candidates: impl IntoIterator<Item = &'a str>, references: &[&str], bleu: &BleuSettings,
) -> Option<usize> {
    if references.is_empty() {
        return None;
    }
    greatest(candidates.into_iter().map(|text| score(by, text, references, bleu)))
}

/// What candidates are ranked by: a feature, `score`, or `log_p`; NaN if a candidate lacks it.
pub fn ranked_by(candidates: &[&ImportedOutput], name: &str) -> Result<Vec<f64>, String> {
    let value = |output: &&ImportedOutput| match name {
        "score" => output.score,
        "log_p" => output.log_p.or(output.score),
        "log_p_per_token" => {
            output.log_p.filter(|_| output.token_count > 0).map(|log_p| log_p / output.token_count as f32)
        }
        _ => output.features.iter().find(|(known, _)| known == name).map(|(_, value)| *value),
    };
    let values: Vec<Option<f32>> = candidates.iter().map(value).collect();
    if values.iter().all(Option::is_none) {
        let features = candidates.first().map(|output| &output.features);
        let names: Vec<&str> = features.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let known = if names.is_empty() { "no features".to_owned() } else { names.join(", ") };
        return Err(format!("has no `{name}`; its candidates have {known}"));
    }
    Ok(values.into_iter().map(|value| value.map_or(f64::NAN, f64::from)).collect())
}

/// The place of the greatest number, from 0; the first of equals. NaN is never it.
pub fn greatest(numbers: impl IntoIterator<Item = f64>) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (n, number) in numbers.into_iter().enumerate().filter(|(_, number)| !number.is_nan()) {
        if best.is_none_or(|(_, other)| number > other) {
            best = Some((n, number));
        }
    }
    best.map(|(n, _)| n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_is_the_first_of_the_best() {
        let references = ["le vieux moulin tourne"];
        for (candidates, wanted) in [
            (&["un moulin", "le vieux moulin tourne", "le vieux moulin tourne"][..], Some(1)),
            (&["le vieux moulin tourne"][..], Some(0)),
            (&[][..], None),
        ] {
            for by in [OracleBy::Bleu, OracleBy::Chrf] {
                assert_eq!(
                    oracle(by, candidates.iter().copied(), &references, &BleuSettings::default()),
                    wanted,
                    "{by:?}"
                );
            }
        }
        assert_eq!(oracle(OracleBy::Chrf, ["a"], &[], &BleuSettings::default()), None);
        assert_eq!(greatest([f64::NAN, -2.0, -1.0, -1.0]), Some(2));
    }
}
