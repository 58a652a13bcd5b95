//! Floor 6: the formats, a file each. Imports its room.

pub mod text;
