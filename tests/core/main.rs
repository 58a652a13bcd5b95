//! The tests of everything below the window, one module a room.
mod analysis;
mod bad_input;
mod bench;
mod cli;
mod cost;
mod decoding;
mod ensembles;
mod evaluation;
mod fused;
mod lane;
mod luong;
#[path = "../made/measured.rs"]
mod measured;
mod models;
mod pages;
mod pairs;
mod phrases;
mod readers;
mod screen;
mod session;
mod soak;
mod text;
mod tiny;
mod training;
mod unknown;
mod vectors;
mod worker;
