//! What people say of sentences and outputs: tags, marks, schemes, agreement.

pub mod agreement;
pub mod alpha;
pub mod campaign;
pub mod change;
pub mod counts;
pub mod judge;
pub mod judgement_io;
pub mod plan;
pub mod scheme;
pub mod spans;
