//! What a caller knows of a file, and what it overrules.

use crate::beside::Sides;

pub use engine::text::links::guess::{Base, LinkOrder};

/// What a file is for. A file with several kinds of text says most of it itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    #[default]
    Source,
    Reference,
    Output(String),
    Gold,
    /// A number for each sentence, such as `COMET.1`: a score that others gave what a system made of it.
    Scores(String),
}

/// Which side the rows of a file's matrices belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// A row for each target token, as here.
    TargetRows,
    /// A row for each source token.
    SourceRows,
}

impl Orientation {
    pub fn name(self) -> &'static str {
        match self {
            Self::TargetRows => "a row for each target token",
            Self::SourceRows => "a row for each source token",
        }
    }

    pub fn other(self) -> Self {
        match self {
            Self::TargetRows => Self::SourceRows,
            Self::SourceRows => Self::TargetRows,
        }
    }
}

/// What a column of a table holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ColumnRole {
    Id,
    Source,
    Reference,
    Output(String),
    /// ln p of the output of the system of this name.
    LogP(String),
    /// Links of the output of the system of this name, in Pharaoh's notation.
    Links(String),
    Gold,
    /// Numbers, kept by its name.
    Number,
    Extra,
}

/// By what the best of an n-best list is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OracleBy {
    /// By BLEU of the sentence, with effective order.
    Bleu,
    /// By chrF2 of the sentence, which tells more candidates apart.
    #[default]
    Chrf,
}

/// What a caller knows of a file; what is left open is found out.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// What the file is for; by default what its format usually is.
    pub role: Option<Role>,
    /// Whether people said that it is this and nothing else. Otherwise a file that says itself what it is may be that.
    pub is_role_sure: bool,
    /// The format, a name of [`FORMATS`](crate::FORMATS).
    pub format: Option<String>,
    /// The encoding, a label of the WHATWG's Encoding Standard such as `utf-8` or `windows-1252`.
    pub encoding: Option<String>,
    pub orientation: Option<Orientation>,
    /// Whether links of lines count the words of the corpus, in place of what stands between spaces.
    pub link_tokens: bool,
    /// Whether the words of the texts are what stands between spaces: a corpus that begins with them keeps that.
    pub pretokenized: bool,
    pub base: Option<Base>,
    pub order: Option<LinkOrder>,
    pub header: Option<bool>,
    /// What columns of a table hold, by their names or, without a header, by their numbers from 1.
    pub columns: Vec<(String, ColumnRole)>,
    /// The languages of source and target, in files that have several (BCP 47; `en` takes `en-US` too).
    pub languages: (Option<String>, Option<String>),
    /// The words of the sentences that the file tells of, where the corpus has them.
    pub beside: Sides,
    /// The system whose outputs came in the same command before it: that of alignments without texts and names.
    pub came_with: Option<String>,
    /// Whether texts and links go in the place of others that a workspace has already.
    pub replaces: bool,
    /// Whether the candidate of an n-best list that comes nearest to the references is a system of its own.
    pub oracle: Option<OracleBy>,
    /// The feature, `score` or `log_p` by which n-best lists are reranked into a separate system.
    pub rerank: Option<String>,
}

impl ImportOptions {
    /// Whether the file belongs to sentences that are there, so that it brings no new ones into a corpus that has some.
    pub fn adds_to_sentences(&self) -> bool {
        matches!(self.role, Some(Role::Gold)) || self.is_role_sure && !matches!(self.role, Some(Role::Source) | None)
    }

    /// What the target side of a file with both sides is: the outputs of a system, or else the reference.
    pub fn target_role(&self) -> Role {
        self.role.clone().filter(|role| matches!(role, Role::Output(_))).unwrap_or(Role::Reference)
    }
}
