//! The window, by its accessible labels; and its widgets as numbers. No pictures; models only where a class walks through the
//! lessons.

#![cfg(feature = "gui")]

mod acting;
mod campaign;
mod defect;
mod desk;
mod explore;
mod glosses;
mod glyphs;
mod heads;
mod keys;
mod language;
mod layout;
mod lessons;
mod manual;
mod maps;
#[path = "../made/measured.rs"]
mod measured;
mod numbers;
mod offers;
mod overlay;
mod picture;
mod probes;
mod reachable;
mod small;
mod steps;
mod study;
mod views;
mod walk;
mod what_if;
mod workbench;
