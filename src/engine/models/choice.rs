//! A model by its path and what is chosen of it ([`ModelSpec`]), in this order: `@fra` a target language, `@shortlist`
//! the words of its shortlist, `@6.1` head 1 of layer 6 as the alignment (`@6.1+3` the mean of two heads, `@6` of all).

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::models::transformer::sizes::{AlignmentReason, TransformerSizes};

/// Heads of one layer, both from 1; no heads: all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HeadChoice {
    pub layer: usize,
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
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.parse().ok().filter(|n| *n > 0 && text.len() < 5);
        let (layer, heads) = text.split_once('.').map_or((text, None), |(layer, heads)| (layer, Some(heads)));
        let heads: Option<Vec<usize>> = heads.map_or(Some(Vec::new()), |heads| heads.split('+').map(number).collect());
        let mut heads = heads?;
        heads.sort_unstable();
        heads.dedup();
        Some(Self { layer: number(layer)?, heads })
    }

    /// The same sizes with these heads as the alignment; an error lists the layers and heads that exist.
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
}

/// What is chosen of a model; by default what its files say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModelChoice {
    pub language: Option<String>,
    pub shortlist: bool,
    pub heads: Option<HeadChoice>,
}

const SHORTLIST: &str = "shortlist";

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.language.iter().try_for_each(|language| write!(f, "@{language}"))?;
        if self.shortlist {
            write!(f, "@{SHORTLIST}")?;
        }
        self.heads.iter().try_for_each(|heads| write!(f, "@{heads}"))
    }
}

impl ModelChoice {
    /// A name without the choice appended by [`crate::models::Model::choosing`], with this one.
    pub fn named(&self, name: &str) -> String {
        let base = name.rsplit_once(" @").filter(|(_, choice)| read(&format!("@{choice}")).0.is_empty());
        let base = base.map_or(name, |(base, _)| base);
        if *self == Self::default() { base.to_owned() } else { format!("{base} {self}") }
    }
}

fn can_be_language(text: &str) -> bool {
    let mut parts = text.split(['_', '-']);
    let is_first = |part: &str| (2..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_part = |part: &str| (1..=10).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    parts.next().is_some_and(is_first) && parts.all(is_part)
}

fn read(text: &str) -> (&str, ModelChoice) {
    let last = |text| str::rsplit_once(text, '@');
    let heads = last(text).and_then(|(before, choice)| Some((before, HeadChoice::parse(choice)?)));
    let (rest, heads) = heads.map_or((text, None), |(before, heads)| (before, Some(heads)));
    let listed = last(rest).filter(|(_, listed)| *listed == SHORTLIST);
    let (rest, shortlist) = listed.map_or((rest, false), |(before, _)| (before, true));
    match last(rest).filter(|(_, language)| can_be_language(language)) {
        Some((before, language)) => (before, ModelChoice { language: Some(language.to_owned()), shortlist, heads }),
        None => (rest, ModelChoice { language: None, shortlist, heads }),
    }
}

/// A model by path and choice, as text `models/x@fra@6.1`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ModelSpec {
    pub folder: PathBuf,
    pub choice: ModelChoice,
}

impl ModelSpec {
    pub fn name(&self) -> String {
        let folder = self.folder.file_name().unwrap_or(self.folder.as_os_str());
        format!("{}{}", folder.to_string_lossy(), self.choice)
    }
}

impl From<PathBuf> for ModelSpec {
    /// A path that exists as it is has no choice, and neither has one that is nothing but a choice.
    fn from(path: PathBuf) -> Self {
        match path.to_str().map(read) {
            Some((folder, choice)) if choice != ModelChoice::default() && !folder.is_empty() && !path.exists() => {
                Self { folder: folder.into(), choice }
            }
            _ => Self { folder: path, choice: ModelChoice::default() },
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for ModelSpec {
    fn from(path: &P) -> Self {
        path.as_ref().to_path_buf().into()
    }
}

impl From<&ModelSpec> for ModelSpec {
    fn from(spec: &ModelSpec) -> Self {
        spec.clone()
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.folder.display(), self.choice)
    }
}

impl Serialize for ModelSpec {
    fn serialize<S: Serializer>(&self, output: S) -> std::result::Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ModelSpec {
    fn deserialize<D: Deserializer<'de>>(input: D) -> std::result::Result<Self, D::Error> {
        PathBuf::deserialize(input).map(Self::from)
    }
}

/// An installed model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    pub folder: PathBuf,
    /// BCP 47 tags of what it reads and writes; empty where that is not known before it is read.
    pub languages: (String, String),
    /// The paper that it follows; empty where that is not known.
    pub paper: String,
    /// The numbers of a state of its decoder where it aligns, else 0: of models of a pair the largest is the best.
    pub state: u64,
    /// Bytes of its weights; 0 where that is not known.
    pub bytes: u64,
}

impl From<PathBuf> for Installed {
    fn from(folder: PathBuf) -> Self {
        Self { folder, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_as_it_is_written() {
        for text in [
            "@6", "@6.1", "@2.1+3+8", "@fra", "@pt_br", "@cmn_Hans", "@fra@6.1", "@shortlist", "@fra@shortlist@6.1", "",
        ] {
            let ModelSpec { folder, choice } = ModelSpec::from(&format!("models/some@home.org/x{text}"));
            assert_eq!((folder.to_str(), choice.to_string().as_str()), (Some("models/some@home.org/x"), text));
            assert_eq!(choice.named("x"), if text.is_empty() { "x".to_owned() } else { format!("x {text}") });
            assert_eq!(ModelChoice::default().named(&choice.named("x")), "x", "it is taken away whole");
        }
        for text in
            ["x@", "x@0", "x@1.0", "x@1.", "x@a", "@3", "@fra", "x@99999", "user@host.org", "x@French", "me @ home"]
        {
            assert_eq!(ModelSpec::from(text), ModelSpec { folder: text.into(), ..ModelSpec::default() }, "{text}");
        }
        let heads = HeadChoice::parse("2.3+1+3");
        let choice = ModelChoice { heads, language: Some("deu".to_owned()), shortlist: false };
        assert_eq!(ModelSpec { choice, ..ModelSpec::from("x@fra@6.1") }.to_string(), "x@deu@2.1+3");
    }
}
