#[path = "core/rnns.rs"]
mod rnns;
