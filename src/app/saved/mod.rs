//! Floor 9: what is kept between starts, as it is written.

pub mod saved_figure;
pub mod saved_interventions;
pub mod saved_variant;
