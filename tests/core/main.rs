//! The tests of everything below the window, one module a room.
mod ablation;
mod acting;
mod acting_runs;
mod aligner;
mod aligning;
mod analysis;
mod anatomy;
mod bad_input;
mod bench;
mod browser;
mod cli;
mod contrast;
mod corpus_words;
mod cost;
mod decoding;
mod documents;
mod drawing;
mod effects;
mod ensembles;
mod evaluation;
mod explore;
mod figure;
mod folder;
mod fused;
mod given;
mod gloss;
mod head_rows;
mod heads;
mod import;
mod importance;
mod intervention_files;
mod interventions;
mod judging;
mod kept;
mod lane;
mod languages;
mod lessons;
mod limits;
mod link;
mod linked_words;
mod luong;
mod marian;
#[path = "../made/measured.rs"]
mod measured;
mod mixed;
mod models;
mod nbest;
mod origins;
mod packaging;
mod pages;
mod phrases;
mod pieces;
mod pipes;
mod probes;
mod provenance;
mod rating;
mod readers;
mod references;
mod rnns;
mod round_trip;
mod rows;
mod scores;
mod screen;
mod second_start;
mod serve;
mod session;
mod shortlist;
mod shown;
mod soak;
mod steps;
mod store;
mod story;
mod strangers;
mod text;
mod tiny;
mod toolkits;
mod toy;
mod training;
mod transformer;
mod translations;
mod unknown;
mod unspaced_corpus;
mod vectors;
mod what_if;
mod wild;
mod workbench;
mod worker;
mod workspace;

/// A ticket of what nobody cancels.
fn forever() -> interlinear::ticket::CancellationToken {
    interlinear::ticket::CancellationToken::forever()
}

/// A ticket, and what makes it stale.
fn counted() -> (interlinear::ticket::Generation, interlinear::ticket::CancellationToken) {
    let counter = interlinear::ticket::Generation::new();
    let ticket = counter.next();
    (counter, ticket)
}
