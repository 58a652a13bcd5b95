//! What leaves a corpus says of which systems it is.

use crate::store::corpus::CorpusTable;
use figure::provenance::Provenance;

/// What an export comes from: one system of a corpus by its facts, or all systems, each with its facts in one text.
pub fn provenance(corpus: &CorpusTable, only: Option<usize>) -> Provenance {
    let mut all = Provenance::default();
    let systems = corpus.systems.iter().enumerate().filter(|(n, _)| only.is_none_or(|only| only == *n));
    for system in systems.map(|(_, column)| &column.system) {
        let facts = system.about.facts();
        if only.is_some() {
            all.fact("system", &system.name);
            for (name, value) in facts {
                all.fact(name, value);
            }
        } else {
            let facts: Vec<String> = facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
            all.fact("system", format!("{}: {}", system.name, facts.join("; ")));
        }
    }
    all.program();
    all
}
