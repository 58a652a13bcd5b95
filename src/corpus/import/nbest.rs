//! N-best lists on their way in: of each the first candidate is taken, and where that is asked for the one nearest to
//! the references and the first by another score, as separate systems.

use crate::measures::oracle::{self, greatest, ranked_by};
use crate::{import::scores::GivenScores, store::read::ORACLE_OF};
use engine::analysis::bleu::BleuSettings;
use import::{ImportOptions, ImportedOutput, Record};

/// The title of the score that says where the oracle stands in its list, from 1.
const ORACLE: &str = "oracle place";

/// What systems output in a record; an unnamed one is called by the `stem`.
pub(super) fn said<'r>(
    (at, record): (usize, &'r Record),
    (stem, options, bleu): (&str, &ImportOptions, &BleuSettings),
    references: &[&str],
    oracles: &mut GivenScores,
) -> Result<Vec<(String, &'r ImportedOutput)>, String> {
    let mut lists: Vec<(String, Vec<&ImportedOutput>)> = Vec::new();
    for output in &record.outputs {
        let name = output.system.as_deref().unwrap_or(stem);
        match lists.iter_mut().find(|(other, _)| other == name) {
            Some((_, list)) => list.push(output),
            None => lists.push((name.to_owned(), vec![output])),
        }
    }
    let mut said = Vec::new();
    for (name, list) in lists {
        let texts = list.iter().map(|output| output.text.as_str());
        let oracle =
            options.oracle.filter(|_| list.len() > 1).and_then(|by| oracle::oracle(by, texts, references, bleu));
        said.push((name.clone(), list[0]));
        if let Some(best) = oracle {
            oracles.entry((ORACLE.to_owned(), Some(name.clone()))).or_default().insert(at, (best + 1) as f32);
            said.push((format!("{ORACLE_OF}{name}"), list[best]));
        }
        if let Some(rerank) = &options.rerank {
            match ranked_by(&list, rerank) {
                Ok(ranks) => said.push((format!("{name} by {rerank}"), list[greatest(ranks).unwrap_or_default()])),
                // A text of single sentences has nothing to be put into another order.
                Err(_) if list.len() == 1 => {}
                Err(why) => return Err(why),
            }
        }
    }
    Ok(said)
}
