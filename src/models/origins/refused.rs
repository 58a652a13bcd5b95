//! Floor 3: models of toolkits that are known but not read, told apart by what their files name, so that the refusal says
//! which toolkit it is and which way there is. Nothing of them is read but their first bytes.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::error::Error;
use crate::models::origins::marian_files::model_files;

/// The names of such files end in one of these.
const EXTENSIONS: [&str; 4] = ["pt", "pth", "ckpt", "t7"];
/// How many bytes of a file are looked through: a checkpoint begins with the names of its parts.
const LOOKED_AT: u64 = 4 << 20;

/// What only checkpoints of a toolkit name, and what is said of them: which toolkit, and what its users can do.
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

/// Why a path, a file or a folder, is not opened, where it is a checkpoint of a toolkit that is known.
pub fn refused(path: &Path) -> Option<Error> {
    let files = EXTENSIONS.iter().flat_map(|extension| model_files(path, extension, |_| true));
    let marks: Vec<&str> = TOOLKITS.iter().map(|(mark, _)| *mark).collect();
    files.into_iter().find_map(|file| {
        let (_, told) = TOOLKITS[names(&file, &marks)?];
        Some(Error::file(file, format!("is a checkpoint of {told}")))
    })
}

/// Which of these names a file has near its beginning.
pub fn names(file: &Path, marks: &[&str]) -> Option<usize> {
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(LOOKED_AT).read_to_end(&mut bytes).ok()?;
    marks.iter().position(|mark| bytes.windows(mark.len()).any(|part| part == mark.as_bytes()))
}
