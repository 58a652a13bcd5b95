//! Which sentences and columns of a corpus, and the aligner that links their references.

use std::{path::PathBuf, sync::Arc};

use clap::Args;

use crate::args::{Choice, one_of};
use crate::output;
use corpus::export::out::{ExportFormat, Out};
use corpus::query::{column::TableColumn, expensive::FilterResources, table, table::Sorting};
use corpus::store::{corpus::CorpusTable, file::Workspace, kinds::MOST_PICTURES};
use engine::aligner::bundled::{AlignerChoice, AlignerFile, AlignerFiles};
use engine::error::Result;

/// Which sentences and columns, as typed.
#[derive(Args, Clone, Debug)]
pub struct ChoiceArgs {
    /// Conditions, as `analyse --help` lists them
    #[arg(long, value_name = "CONDITIONS", default_value = "", allow_hyphen_values = true)]
    pub(super) filter: String,
    /// Sort by this column, a number or `source`, `reference` or `output.1`; - before it means the greatest first
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(super) sort: Option<String>,
    /// Only these columns of numbers, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(super) columns: Vec<String>,
    /// At most so many sentences
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<usize>,
    /// Source and target, such as en-fr or pt-BR-en-GB: those that are read of TMX and XLIFF, and of the aligner that links references
    /// that nobody has linked; without it those of the models that were run
    #[arg(long, value_name = "LANGUAGES", value_parser = languages)]
    pub(super) languages: Option<(String, String)>,
    /// What links in Pharaoh's notation count, those that come in without texts and those of --format links and gold
    #[arg(long = "link-words", default_value = "spaces", value_parser = one_of(LINK_WORDS.iter().copied()), action = clap::ArgAction::Set)]
    pub(super) link_tokens: bool,
    /// A file of `align --statistical --save`: it links words of its languages in the place of the corpus's own file and of
    /// the aligner that comes with the program
    #[arg(long, value_name = "FILE")]
    pub(super) learned: Option<PathBuf>,
}

impl ChoiceArgs {
    pub(super) fn own(&self) -> Result<AlignerFiles> {
        Ok(self.learned.clone().map(AlignerFile::open).transpose()?.into())
    }

    pub(super) fn first(&self, workspace: &Workspace) -> Option<PathBuf> {
        workspace.look().aligner.filter(|_| self.learned.is_none())
    }

    /// Of `--languages`, else of those of the models that were run; as in the window.
    fn aligner(&self, corpus: &CorpusTable, workspace: &Workspace) -> Result<Option<AlignerChoice>> {
        let languages = self.languages.clone().or_else(|| corpus.languages());
        Ok(AlignerChoice::with(languages, &self.own()?, self.first(workspace)))
    }

    pub(super) fn means(
        &self, frequencies: Option<PathBuf>, (corpus, workspace): (&CorpusTable, &Workspace), asks_for_words: bool,
    ) -> Result<FilterResources> {
        let mut means = FilterResources::default();
        means.set(frequencies, self.aligner(corpus, workspace)?);
        if let Some(trouble) = means.aligner.as_ref().and_then(AlignerChoice::trouble) {
            output::notify(&trouble);
        }
        if means.aligner.is_none()
            && (asks_for_words || ["wrong.", "wrong:"].iter().any(|head| self.filter.contains(head)))
        {
            output::notify(
                "wrong:, --overview words: no model says which languages these are, so that references which nobody linked have no links \
                 and their words count as neither right nor wrong; name the languages with --languages, such as en-fr",
            );
        }
        Ok(means)
    }

    pub(super) fn rows(
        &self, corpus: &CorpusTable, workspace: &Workspace, means: &mut FilterResources,
    ) -> Result<Vec<u32>> {
        let filter = means.filter(&self.filter, corpus, workspace, &mut || true)?;
        let sorting = self.sort.as_deref().map(|name| Sorting::named(name, corpus)).transpose()?;
        let mut rows = table::rows(corpus, &filter, sorting.as_ref());
        rows.truncate(self.limit.unwrap_or(usize::MAX));
        Ok(rows)
    }

    pub(super) fn out(
        &self, path: PathBuf, kind: ExportFormat, rows: Vec<u32>, (corpus, workspace): (&CorpusTable, &Workspace),
    ) -> Result<Out> {
        let columns = self.columns.iter().map(|name| TableColumn::named(name, corpus)).collect::<Result<_>>()?;
        let (rows, chosen, aligner) = (Arc::new(rows), self.filter.clone(), self.aligner(corpus, workspace)?);
        let (pictures, link_tokens, title) = (MOST_PICTURES, self.link_tokens, String::new());
        Ok(Out { path, kind, rows, columns, chosen, pictures, link_tokens, aligner, title })
    }
}

const LINK_WORDS: &[Choice<bool>] = &[
    ("spaces", "What stands between spaces, as other programs count; punctuation has no part in it", false),
    ("tokens", "The words of the corpus", true),
];

fn languages(text: &str) -> std::result::Result<(String, String), String> {
    let parts: Vec<&str> = text.split('-').collect();
    let is_language = |part: &str| matches!(part.len(), 2 | 3) && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut found = (1..parts.len()).filter(|at| is_language(parts[*at]));
    let at = found.next().filter(|_| found.next().is_none()).unwrap_or(parts.len() / 2);
    if at == 0 || parts.contains(&"") {
        return Err("write the source and the target, such as en-fr".to_owned());
    }
    Ok((parts[..at].join("-"), parts[at..].join("-")))
}
