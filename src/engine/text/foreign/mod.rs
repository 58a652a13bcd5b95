//! Vocabularies of others' models, and the rules by which their toolkits cut text: SentencePiece models, lists
//! of words, codes of byte pair encoding. Each becomes a tokenizer file that [`crate::text::tokenizer`] reads.
//!
//! The library inside the tokenizer is near to SentencePiece but not the same: it normalises by what looks like one
//! letter instead of the longest rule, adds scores in 64 bits, and numbers pieces by their places. So texts are cut
//! here, with the arithmetic of sentencepiece 0.2.3, and a file of such rules holds the bytes of the `.spm` as they are.

mod bpe;
mod codes;
pub mod cutter;
mod form;
mod normal;
mod protobuf;
mod punctuation;
mod segmenter;
pub mod sentencepiece;
mod trie;
mod unigram;
pub mod vocabulary;
