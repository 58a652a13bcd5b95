//! `interlinear examples`: the texts that the samples of README and the manual name.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::output::LineOutput;
use engine::error::Error;
use engine::{evaluation::first_set, text::write::FolderDraft};

/// Phrases for `sample`, `map` and `neighbours --phrases`.
const PHRASES: &str = "a white house\nin the garden\nmy brother\nevery morning\na beautiful city\n";

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "Files:
  test.en, test.fr, test.links  24 sentences, their translations and their word alignments in Pharaoh's notation; words are
                                split by spaces
  text.en, text.fr              the same sentences, as a text to learn from
  phrases.txt                   a phrase a line
So few sentences tell little about a model; they are there to try the commands with.")]
pub struct ExamplesArgs {
    /// The folder; it is made if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the files.
pub fn run(args: &ExamplesArgs) -> anyhow::Result<()> {
    let column = |of: fn((&'static str, &'static str, &'static str)) -> &'static str| -> String {
        first_set::lines(false).map(|line| format!("{}\n", of(line))).collect()
    };
    let (source, target) = (column(|line| line.0), column(|line| line.1));
    let files = [
        ("test.en", source.clone()),
        ("test.fr", target.clone()),
        ("test.links", column(|line| line.2)),
        ("text.en", source),
        ("text.fr", target),
        ("phrases.txt", PHRASES.to_owned()),
    ];
    let differs = |(name, text): &&(&str, String)| {
        let path = args.folder.join(name);
        path.exists() && fs::read(&path).ok().as_deref() != Some(text.as_bytes())
    };
    if let Some((name, _)) = files.iter().find(differs) {
        return Err(Error::file(args.folder.join(name), "exists and is another text; name another folder").into());
    }
    let draft = FolderDraft::new(&args.folder)?;
    let mut output = LineOutput::stdout();
    for (name, text) in files {
        let path = draft.path().join(name);
        fs::write(&path, text).map_err(|error| Error::io(&path, &error))?;
        output.line(&args.folder.join(name).display().to_string())?;
    }
    draft.keep()?;
    output.finish()
}
