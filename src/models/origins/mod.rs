//! Floor 3: models of other toolkits, read as they lie on people's disks. One file an origin, one line of [`ORIGINS`].
//!
//! Nothing of such a file is run, nothing is downloaded. What is read becomes a configuration, tensors by the names of
//! [`shapes`], and two tokenizer files, so that everything behind it takes it for a model folder.

mod argos;
mod card;
mod ctranslate;
mod hugging_face;
mod joey;
mod keys;
pub mod marian;
pub mod marian_bin;
mod marian_files;
pub mod marian_npz;
pub mod marian_options;
pub mod marian_rnn;
pub mod model_bin;
pub mod nematus;
pub mod npz;
mod opennmt;
mod pack;
mod pickle;
mod pickled;
pub mod python;
mod refused;
pub mod tensors;
pub mod torch;
mod torch_layers;
mod words;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::models::checkpoint::Weights;
use crate::models::config::Config;
use crate::models::shapes;

pub use crate::models::origins::refused::{refused, why};

/// A model of another toolkit, in our form.
#[derive(Debug)]
pub struct Foreign {
    /// Sizes and languages.
    pub config: Config,
    /// Exactly the tensors of [`shapes`], matrices as \[out, in\].
    pub weights: Weights,
    /// The bytes of `source.tokenizer.json`.
    pub source: Vec<u8>,
    /// The bytes of `target.tokenizer.json`.
    pub target: Vec<u8>,
    /// A model card in Markdown: toolkit, release, languages and licence as far as the files say them, and which
    /// attention is the alignment, and why.
    pub card: String,
    /// The file that holds the weights.
    pub file: PathBuf,
}

/// One line of [`ORIGINS`].
pub struct OriginEntry {
    /// The toolkit and its form, such as `Marian npz`.
    pub name: &'static str,
    /// What of it is read, and where such models lie.
    pub about: &'static str,
    /// Whether a path, a folder or a file, is such a model; looks at names and first bytes alone.
    pub finds: fn(&Path) -> bool,
    /// Reads it. What is not understood is refused by its name.
    pub read: fn(&Path) -> Result<Foreign>,
}

/// Every form of others that is read, the more particular first.
pub const ORIGINS: &[OriginEntry] = &[
    marian_bin::ENTRY,
    nematus::ENTRY,
    marian_npz::ENTRY,
    argos::ENTRY,
    ctranslate::ENTRY,
    hugging_face::ENTRY,
    opennmt::ENTRY,
    joey::ENTRY,
];

/// The form that a path is in; `None` where it is none of [`ORIGINS`], and in a browser, whose page is given model folders alone.
pub fn find(path: &Path) -> Option<&'static OriginEntry> {
    if cfg!(target_family = "wasm") {
        return None;
    }
    ORIGINS.iter().find(|origin| (origin.finds)(path))
}

impl Foreign {
    /// Whether the tensors are those that the configuration asks for.
    ///
    /// # Errors
    /// A sentence that names the file and the tensor.
    pub fn check(&self) -> Result<()> {
        let expected = shapes(&self.config);
        for (name, shape) in &expected {
            let found = self.weights.shape(name).map_err(|_| Error::tensor(&self.file, name, "is missing"))?;
            if found != shape {
                let message = format!("has the shape {found:?} where {shape:?} was expected");
                return Err(Error::tensor(&self.file, name, message));
            }
        }
        match self.weights.names().find(|name| !expected.iter().any(|(known, _)| known == name)) {
            Some(extra) => Err(Error::tensor(&self.file, extra, "is not part of this architecture")),
            None => Ok(()),
        }
    }
}
