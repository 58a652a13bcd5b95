//! Floor 3: which heads of a Transformer are its alignment, where somebody chooses: a path that ends in `@6.1` is the
//! model there with head 1 of layer 6, `@6.1+3` the mean of two heads, `@6` that of the whole layer.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::models::transformer::sizes::{AlignmentReason, TransformerSizes};

/// Heads of one layer, both from 1; no heads: all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadChoice {
    /// The decoder layer.
    pub layer: usize,
    /// Its heads.
    pub heads: Vec<usize>,
}

impl fmt::Display for HeadChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.layer)?;
        let heads: Vec<String> = self.heads.iter().map(usize::to_string).collect();
        if heads.is_empty() { Ok(()) } else { write!(f, ".{}", heads.join("+")) }
    }
}

impl HeadChoice {
    /// As it is written behind the `@`.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|n| *n > 0 && text.len() < 5);
        let (layer, heads) = text.split_once('.').map_or((text, None), |(layer, heads)| (layer, Some(heads)));
        let heads: Option<Vec<usize>> = heads.map_or(Some(Vec::new()), |heads| heads.split('+').map(number).collect());
        let mut heads = heads?;
        heads.sort_unstable();
        heads.dedup();
        Some(Self { layer: number(layer)?, heads })
    }

    /// The same sizes with these heads as the alignment.
    ///
    /// # Errors
    /// A sentence that says which layers and heads there are.
    pub fn of(&self, folder: &Path, sizes: &TransformerSizes) -> Result<TransformerSizes> {
        let (layers, heads) = (sizes.decoder_layers, sizes.heads);
        if self.layer > layers || self.heads.iter().any(|head| *head > heads) {
            let message = format!("has {layers} decoder layers of {heads} heads, so there is no @{self}");
            return Err(Error::file(folder, message));
        }
        Ok(TransformerSizes {
            alignment_layer: self.layer,
            alignment_heads: if self.heads.is_empty() { (1..=heads).collect() } else { self.heads.clone() },
            alignment_reason: AlignmentReason::Chosen,
            ..sizes.clone()
        })
    }

    /// This choice of the model at a path, whose own choice goes.
    pub fn at(&self, path: &Path) -> PathBuf {
        let mut name = split(path).0.into_os_string();
        name.push(format!("@{self}"));
        name.into()
    }
}

/// A path and the choice behind it. A path that exists as it is has none.
pub fn split(path: &Path) -> (PathBuf, Option<HeadChoice>) {
    let text = path.to_str().and_then(|text| text.rsplit_once('@'));
    let found = text.and_then(|(before, choice)| Some((before, HeadChoice::parse(choice)?)));
    match found {
        Some((before, choice)) if !before.is_empty() && !path.exists() => (before.into(), Some(choice)),
        _ => (path.into(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_as_it_is_written() {
        for text in ["6", "6.1", "2.1+3+8"] {
            let (path, choice) = split(Path::new(&format!("models/some@home/x@{text}")));
            assert_eq!(
                (path.to_str(), choice.map(|choice| choice.to_string())),
                (Some("models/some@home/x"), Some(text.to_owned()))
            );
        }
        for text in ["x@", "x@0", "x@1.0", "x@1.", "x@a", "@3", "x@99999", "user@host"] {
            assert_eq!(split(Path::new(text)), (text.into(), None), "{text}");
        }
        let choice = HeadChoice::parse("2.3+1+3").expect("a choice");
        assert_eq!(choice.at(Path::new("x@6.1")), Path::new("x@2.1+3"));
    }
}
