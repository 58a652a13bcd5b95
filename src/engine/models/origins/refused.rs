//! Models of toolkits that are known but not read, told apart by what their files name, so that the refusal says
//! which toolkit it is and which way there is. Nothing of them is read but their first bytes.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::models::origins::marian_files::{model_files, names_in};
use crate::{error::Error, models::disk};

const EXTENSIONS: [&str; 4] = ["pt", "pth", "ckpt", "t7"];
/// How many bytes of a file are looked through: a checkpoint begins with the names of its parts.
const LOOKED_AT: u64 = 4 << 20;

const TOOLKITS: &[(&str, &str)] = &[
    (
        "optimizer_history",
        "fairseq, which is not read; a Transformer opens as a folder of CTranslate2, which `ct2-fairseq-converter` makes of it",
    ),
    (
        "best_ckpt_score",
        "Joey NMT, which is not read by itself; put config.yaml, src_vocab.txt and trg_vocab.txt of its folder beside it",
    ),
    (
        "src_word_vec_size",
        "OpenNMT-py without its weights, which lie in another file; save it with `-save_format pytorch`",
    ),
    ("onmt.", "OpenNMT-lua, which is not read; what `-save_attention` writes opens on page Corpus"),
];

/// How a file begins that stands for one of Git LFS, and how long such files are at most.
const POINTER: (&[u8], u64) = (b"version https://git-lfs.github.com/spec/", 1024);
const PACKED: &[&str] = &["gz", "bz2", "xz", "zst", "zip", "tar", "tgz"];
const PARTS: &[&str] =
    &["bin", "npz", "pt", "ckpt", "safetensors", "argosmodel", "spm", "model", "vocab", "json", "yml", "txt", "tar"];

/// Why a path was not opened: `error`, or a Git LFS pointer, a compressed file, a checkpoint of a known toolkit.
pub fn why(path: &Path, is_known: bool, error: Error) -> Error {
    let message = error.to_string();
    let files: Vec<PathBuf> =
        if path.is_dir() { names_in(path).iter().map(|name| path.join(name)).collect() } else { vec![path.to_owned()] };
    let named = files.iter().find_map(|file| packed_or_pointer(file, &message));
    let other = || refused(path).filter(|_| !is_known);
    let any = || {
        files.iter().find_map(|file| packed_or_pointer(file, "")).filter(|_| !is_known || message.contains("has no "))
    };
    named.or_else(other).or_else(any).unwrap_or(error)
}

/// What is wrong with a Git LFS pointer or compressed file, if `named` contains its name or is empty.
fn packed_or_pointer(file: &Path, named: &str) -> Option<Error> {
    let name = file.file_name()?.to_str()?;
    let ending = |name: &str, known: &[&str]| {
        let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        known.iter().any(|known| ending.eq_ignore_ascii_case(known))
    };
    let inner = Path::new(name).file_stem()?.to_str()?;
    if !named.is_empty() && !named.contains(name) {
        return None;
    }
    let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    if ending(name, PACKED) && (!named.is_empty() || ending(inner, PARTS)) {
        return Some(Error::file(file, "is compressed; unpack it first"));
    }
    if metadata.len() >= POINTER.1 {
        return None;
    }
    let bytes = disk::read(file, metadata.len()).ok().filter(|bytes| bytes.starts_with(POINTER.0));
    let message = "is a pointer of Git LFS, not the file itself: run `git lfs pull` in its folder";
    bytes.filter(|_| !named.is_empty() || ending(name, PARTS)).map(|_| Error::file(file, message))
}

pub fn refused(path: &Path) -> Option<Error> {
    let files = EXTENSIONS.iter().flat_map(|extension| model_files(path, extension, |_| true));
    let marks: Vec<&str> = TOOLKITS.iter().map(|(mark, _)| *mark).collect();
    files.into_iter().find_map(|file| {
        let (_, toolkit) = TOOLKITS[names(&file, &marks)?];
        Some(Error::file(file, format!("is a checkpoint of {toolkit}")))
    })
}

pub fn names(file: &Path, marks: &[&str]) -> Option<usize> {
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(LOOKED_AT).read_to_end(&mut bytes).ok()?;
    marks.iter().position(|mark| bytes.windows(mark.len()).any(|part| part == mark.as_bytes()))
}
