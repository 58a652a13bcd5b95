//! Files that say something of sentences and have none of their own: judgements, marks and scores of others, parts of
//! speech; and those that nobody reads.

use std::path::Path;

use crate::import::{mqm, scored, spans, tagged};
use crate::import::{report::ImportReport, spans::SpanFormat};
use crate::{judgements::judgement_io, store::file::Workspace};
use engine::error::{Error, Result};
use engine::ticket::CancellationToken;
use import::format::{CorpusKind, FormatEntry, FormatReading};
use import::options::ImportOptions;

/// Imports a file whose kind is not [`FormatReading::Sentences`].
pub(super) fn import(
    workspace: &mut Workspace, (path, options): (&Path, &ImportOptions), kind: &FormatEntry, ticket: &CancellationToken,
) -> Result<ImportReport> {
    let special = match kind.reading {
        FormatReading::OfCorpus(special) => special,
        FormatReading::Refused(why) => {
            let message = format!(
                "{why}. If its lines are the sentences all the same, `analyse --import-format text` takes them"
            );
            return Err(Error::file(path, message));
        }
        FormatReading::Sentences(_) => return Err(Error::Internal("a file of sentences is no special one".to_owned())),
    };
    if options.is_role_sure {
        let message = format!("is of the kind \"{}\", which says itself what it is; give it to --import", kind.label);
        return Err(Error::file(path, message));
    }
    match special {
        CorpusKind::Judgements => judgement_io::import(workspace, path, None, ticket),
        CorpusKind::Conllu => tagged::import(workspace, path, ticket),
        CorpusKind::Mqm => mqm::import(workspace, (path, options.replaces), ticket),
        CorpusKind::Pearmut => spans::import(workspace, (path, options.replaces), SpanFormat::Pearmut),
        CorpusKind::Scores => match scored::read(path, options)? {
            Some(lines) => scored::import(workspace, (path, options), lines),
            None => Err(Error::file(path, "has no scores that can be read; name them with --scores COMET.NAME=FILE")),
        },
        CorpusKind::Comet => spans::import(workspace, (path, options.replaces), SpanFormat::Comet),
    }
}
