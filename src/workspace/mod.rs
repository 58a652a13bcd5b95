//! Floor 7: sentences, systems, outputs and judgements in one file.
