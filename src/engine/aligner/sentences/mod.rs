//! Which sentences of two documents translate which: by their lengths (Gale and Church 1993), then by their words, too,
//! with a lexicon that was learned before or is learned from what lengths and words that are written alike have found,
//! as hunalign does (Varga et al. 2005). What words say is IBM model 1 against the frequency of words (Moore 2002).

pub mod agreement;
pub mod beads;
pub mod lengths;
pub mod lexical;
pub mod search;

use crate::aligner::sentences::beads::{Bead, DocumentSide};
use crate::aligner::sentences::lexical::{Lexical, TrustedLexicon};
use crate::aligner::sentences::search::{BeadCosts, Corridor, search};
use crate::{aligner::sentences::lengths::Lengths, error::Result, ticket::CancellationToken};

/// Aligns by lengths alone.
pub fn by_length(source: &DocumentSide, target: &DocumentSide, ticket: &CancellationToken) -> Result<Vec<Bead>> {
    let mut lengths = Lengths::new(source, target);
    let mut corridor = Corridor::diagonal((source.len(), target.len()));
    find(&mut lengths, &mut corridor, ticket)
}

/// Aligns by lengths and words, near beads that are known about.
pub fn by_words(
    (source, target): (&DocumentSide, &DocumentSide), lexicon: TrustedLexicon<'_>, near: &[Bead],
    ticket: &CancellationToken,
) -> Result<Vec<Bead>> {
    let mut costs = Lexical::new(source, target, lexicon);
    let mut corridor = Corridor::around((source.len(), target.len()), near);
    let mut beads = find(&mut costs, &mut corridor, ticket)?;
    for bead in &mut beads {
        bead.score = costs.score(bead);
    }
    Ok(beads)
}

fn find(costs: &mut dyn BeadCosts, corridor: &mut Corridor, ticket: &CancellationToken) -> Result<Vec<Bead>> {
    loop {
        let beads = search(costs, corridor, ticket)?;
        if !corridor.is_touched(&beads) {
            return Ok(beads);
        }
        corridor.widen(&beads);
    }
}
