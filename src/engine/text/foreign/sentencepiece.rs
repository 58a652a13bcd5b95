//! SentencePiece models (`.spm`, `.model`): their pieces, and the facts about how they cut text. Imports floor 0.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::error::{Error, Result};
use crate::text::foreign::protobuf::{Field, Message};
use crate::text::sentence::{EOS, UNK};
use crate::text::{foreign::form::ForeignModel, foreign::vocabulary::Vocabulary, pieces::byte_of, reader::read_file};

const MOST_BYTES: u64 = 64 << 20;
const MOST_PIECES: usize = 4_000_000;
const MOST_PIECE: usize = 4096;

/// A SentencePiece model as it was read.
#[derive(Clone, Debug)]
pub struct SentencePiece {
    /// The pieces, by their ids in the file.
    pub pieces: Vec<SpmPiece>,
    /// How pieces are found.
    pub model: SpmModel,
    /// Unknown letters become their bytes.
    pub byte_fallback: bool,
    /// A space ends a word instead of beginning one.
    pub space_at_end: bool,
    /// The names of the pieces with a meaning.
    pub specials: SpmSpecials,
    /// What becomes of text before it is cut.
    pub normalizer: SpmNormalizer,
    origin: PathBuf,
    bytes: Vec<u8>,
}

/// A piece.
#[derive(Clone, Debug)]
pub struct SpmPiece {
    /// As text, with [`crate::text::pieces::SPACE`] for a space.
    pub text: String,
    pub score: f32,
    /// What it is for.
    pub kind: SpmPieceKind,
}

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpmPieceKind {
    /// A part of text.
    Normal,
    /// Whatever is not known.
    Unknown,
    /// A sign to the model, never found in text.
    Control,
    /// A part of text that its maker fixed.
    UserDefined,
    Unused,
    /// A byte of a letter that is not known.
    Byte,
}

/// How pieces are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpmModel {
    Unigram,
    /// Neighbours made one, the best first.
    Bpe,
    /// What stands between spaces, whole.
    Word,
    Char,
}

/// The names of the pieces with a meaning.
#[derive(Clone, Debug)]
pub struct SpmSpecials {
    /// Whatever is not known.
    pub unk: String,
    /// The beginning of a sentence.
    pub bos: String,
    /// The end of a sentence.
    pub eos: String,
    /// What fills short sentences.
    pub pad: String,
}

/// What becomes of text before it is cut.
#[derive(Clone, Debug)]
pub struct SpmNormalizer {
    /// The name of the rules, such as `nmt_nfkc`.
    pub name: String,
    pub charsmap: Vec<u8>,
    /// A space is put before the text, or behind it.
    pub add_dummy_prefix: bool,
    /// Spaces at both ends go, and several become one.
    pub remove_extra_whitespaces: bool,
}

impl SentencePiece {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_bytes(path, &read_file(path, MOST_BYTES)?)
    }

    /// As [`SentencePiece::read`] from bytes; errors name `origin`.
    pub fn from_bytes(origin: &Path, bytes: &[u8]) -> Result<Self> {
        let read = Self::parse(origin, bytes)
            .map_err(|message| Error::file(origin, format!("is no sound SentencePiece model: it {message}")))?;
        read.check().map_err(|message| Error::file(origin, message))?;
        Ok(read)
    }

    fn parse(origin: &Path, bytes: &[u8]) -> std::result::Result<Self, String> {
        let specials = ["<unk>", "<s>", "</s>", "<pad>"].map(str::to_owned);
        let [unk, bos, eos, pad] = specials;
        let mut read = Self {
            pieces: Vec::new(),
            model: SpmModel::Unigram,
            byte_fallback: false,
            space_at_end: false,
            specials: SpmSpecials { unk, bos, eos, pad },
            normalizer: SpmNormalizer {
                name: String::new(),
                charsmap: Vec::new(),
                add_dummy_prefix: true,
                remove_extra_whitespaces: true,
            },
            origin: origin.to_owned(),
            bytes: bytes.to_owned(),
        };
        let mut message = Message::new(bytes);
        while let Some(field) = message.next()? {
            match field {
                (1, Field::Bytes(piece)) if read.pieces.len() < MOST_PIECES => {
                    let number = read.pieces.len();
                    let piece =
                        SpmPiece::read(piece).map_err(|what| format!("has a piece, number {number}, that {what}"))?;
                    read.pieces.push(piece);
                }
                (1, Field::Bytes(_)) => return Err(format!("has more than {MOST_PIECES} pieces")),
                (2, Field::Bytes(trainer)) => read.read_trainer(trainer)?,
                (3, Field::Bytes(normalizer)) => read.read_normalizer(normalizer)?,
                (1..=3, _) => return Err("has a part that is no message".to_owned()),
                _ => {}
            }
        }
        Ok(read)
    }

    fn read_trainer(&mut self, bytes: &[u8]) -> std::result::Result<(), String> {
        let mut message = Message::new(bytes);
        while let Some(field) = message.next()? {
            match field {
                (3, Field::Number(1)) => self.model = SpmModel::Unigram,
                (3, Field::Number(2)) => self.model = SpmModel::Bpe,
                (3, Field::Number(3)) => self.model = SpmModel::Word,
                (3, Field::Number(4)) => self.model = SpmModel::Char,
                (3, Field::Number(other)) => {
                    return Err(format!(
                        "is of the kind {other}; `unigram`, `bpe`, `word` and `char` (1 to 4) are read"
                    ));
                }
                (24, Field::Number(flag)) => self.space_at_end = flag != 0,
                (35, Field::Number(flag)) => self.byte_fallback = flag != 0,
                (number @ 45..=48, Field::Bytes(name)) if !name.is_empty() => {
                    let SpmSpecials { unk, bos, eos, pad } = &mut self.specials;
                    let place = match number {
                        45 => unk,
                        46 => bos,
                        47 => eos,
                        _ => pad,
                    };
                    name_of(name)?.clone_into(place);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_normalizer(&mut self, bytes: &[u8]) -> std::result::Result<(), String> {
        let normalizer = &mut self.normalizer;
        let mut message = Message::new(bytes);
        while let Some(field) = message.next()? {
            match field {
                (1, Field::Bytes(name)) => name_of(name)?.clone_into(&mut normalizer.name),
                (2, Field::Bytes(charsmap)) => charsmap.clone_into(&mut normalizer.charsmap),
                (3, Field::Number(flag)) => normalizer.add_dummy_prefix = flag != 0,
                (4, Field::Number(flag)) => normalizer.remove_extra_whitespaces = flag != 0,
                (5, Field::Number(0)) => {
                    return Err("has pieces with spaces as they are (`escape_whitespaces` false), which are not read"
                        .to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check(&self) -> std::result::Result<(), String> {
        let of = |kind| self.pieces.iter().filter(move |piece| piece.kind == kind);
        let unknown = of(SpmPieceKind::Unknown).count();
        if unknown != 1 {
            return Err(format!("is no SentencePiece model: it has {unknown} pieces for what is unknown, and not one"));
        }
        if self.model == SpmModel::Unigram && of(SpmPieceKind::Normal).next().is_none() {
            return Err("is no sound SentencePiece model: it has no pieces of text".to_owned());
        }
        let bytes: HashSet<u8> = of(SpmPieceKind::Byte).filter_map(|piece| byte_of(&piece.text)).collect();
        let named = of(SpmPieceKind::Byte).count();
        if named != bytes.len() || named != if self.byte_fallback { 256 } else { 0 } {
            return Err(format!(
                "is no sound SentencePiece model: it has {named} pieces for bytes, not all 256 or none"
            ));
        }
        let mut names = HashSet::with_capacity(self.pieces.len());
        match self.pieces.iter().find(|piece| !names.insert(piece.text.as_str())) {
            Some(twice) => Err(format!("is no sound SentencePiece model: it has the piece `{}` twice", twice.text)),
            None => Ok(()),
        }
    }

    /// The words of the model with their ids those of the file; the unknown one and the end of a sentence have our
    /// names.
    pub(super) fn words(&self) -> Result<Vec<String>> {
        let name = |piece: &SpmPiece| match piece.kind {
            SpmPieceKind::Unknown => UNK.to_owned(),
            SpmPieceKind::Control if piece.text == self.specials.eos => EOS.to_owned(),
            _ => piece.text.clone(),
        };
        let words: Vec<String> = self.pieces.iter().map(name).collect();
        for special in [EOS, UNK] {
            let count = words.iter().filter(|word| *word == special).count();
            if count != 1 {
                let message = if count == 0 {
                    format!(
                        "has no piece `{}` that ends a sentence; name the vocabulary that belongs to the model",
                        self.specials.eos
                    )
                } else {
                    format!("has a piece `{special}` that is part of text, and this name is taken here")
                };
                return Err(Error::file(&self.origin, message));
            }
        }
        Ok(words)
    }

    /// The tokenizer file for [`crate::text::tokenizer::Tokenizer::from_json`]: it cuts text exactly as the
    /// `sentencepiece` library does.
    ///
    /// With `ids` the numbers are those of that vocabulary: a piece that it lacks is [`UNK`], and where it names target
    /// languages, such a name at the beginning of a text is one token. `punctuation` is folded before as OPUS-MT's own
    /// scripts do; Hugging Face's tokenizers of the same models leave it as it is.
    pub fn tokenizer(&self, ids: Option<&Vocabulary>, punctuation: bool) -> Result<Vec<u8>> {
        if ids.is_none() {
            self.words()?;
        }
        let vocabulary = ids.map(|ids| ids.words().to_vec());
        ForeignModel::SentencePiece { spm: BASE64_STANDARD.encode(&self.bytes), vocabulary, punctuation }.file()
    }
}

impl SpmPiece {
    fn read(bytes: &[u8]) -> std::result::Result<Self, String> {
        let mut piece = Self { text: String::new(), score: 0.0, kind: SpmPieceKind::Normal };
        let mut message = Message::new(bytes);
        while let Some(field) = message.next()? {
            match field {
                (1, Field::Bytes(text)) => name_of(text)?.clone_into(&mut piece.text),
                (2, Field::Four(bits)) => piece.score = f32::from_bits(bits),
                (3, Field::Number(kind)) => {
                    piece.kind = match kind {
                        1 => SpmPieceKind::Normal,
                        2 => SpmPieceKind::Unknown,
                        3 => SpmPieceKind::Control,
                        4 => SpmPieceKind::UserDefined,
                        5 => SpmPieceKind::Unused,
                        6 => SpmPieceKind::Byte,
                        other => return Err(format!("is of a kind, {other}, that is not known")),
                    }
                }
                (1..=3, _) => return Err("is damaged".to_owned()),
                _ => {}
            }
        }
        if piece.text.is_empty() {
            return Err("is empty".to_owned());
        }
        if !piece.score.is_finite() {
            return Err(format!("has the score {}; only numbers may be added", piece.score));
        }
        Ok(piece)
    }
}

fn name_of(bytes: &[u8]) -> std::result::Result<&str, String> {
    if bytes.len() > MOST_PIECE {
        return Err(format!("has a text of {} bytes, more than {MOST_PIECE}", bytes.len()));
    }
    str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())
}
