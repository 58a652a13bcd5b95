//! Floor 6: files of others: texts, tables, outputs of systems, alignments and attention.
