//! `interlinear completions` and `interlinear man`: what shells and `man` know of the commands, from the same
//! table as the help.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::output::{LineOutput, STDOUT, failed};
use engine::error::Error;
use engine::text::markdown;
use engine::text::write::{FolderDraft, write_atomic};
use explorer::session::lessons::handout::manual_page;

const NAME: &str = "interlinear";
const CHAPTER: &str = "1";

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "  interlinear completions bash > ~/.local/share/bash-completion/completions/interlinear
  interlinear completions zsh > ~/.zfunc/_interlinear
  interlinear completions fish > ~/.config/fish/completions/interlinear.fish")]
pub struct CompletionArgs {
    /// For which shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// As typed.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = "  interlinear man | man -l -
  interlinear man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write a page for the program and one for each command into this folder; by default the first goes to standard
    /// output
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Write the pages of the manual in this folder, which are Markdown, into DIR as HTML instead
    #[arg(long, value_name = "MANUAL", requires = "folder")]
    html: Option<PathBuf>,
}

/// Writes what a shell completes of the program.
pub fn completions(args: &CompletionArgs, mut program: clap::Command) -> anyhow::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, NAME, &mut text);
    print(&text)
}

/// Writes the pages of the program's manual.
pub fn man(args: &ManArgs, mut program: clap::Command) -> anyhow::Result<()> {
    program.build();
    let Some(folder) = &args.folder else { return print(&page(program)?) };
    let folder = FolderDraft::new(folder)?;
    if let Some(manual) = &args.html {
        html(manual, folder.path())?;
        return Ok(folder.keep()?);
    }
    let commands: Vec<clap::Command> = program.get_subcommands().cloned().collect();
    for command in std::iter::once(program).chain(commands) {
        // The name of a command without spaces is its own; built, it knows the program's as well.
        let name = command.get_display_name().unwrap_or(NAME).to_owned();
        let page = page(command)?;
        write_atomic(&folder.path().join(format!("{name}.{CHAPTER}")), |file| file.write_all(&page))?;
    }
    Ok(folder.keep()?)
}

/// The pages of a manual as HTML, and their pictures.
fn html(manual: &Path, folder: &Path) -> anyhow::Result<()> {
    fn io(path: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
        move |error| Error::io(path, &error)
    }
    for entry in std::fs::read_dir(manual).map_err(io(manual))? {
        let path = entry.map_err(io(manual))?.path();
        let Some(name) = path.file_name().map(PathBuf::from) else { continue };
        if path.extension().is_some_and(|end| end == "md") {
            let text = std::fs::read_to_string(&path).map_err(io(&path))?;
            let page = manual_page(&markdown::blocks(&text));
            write_atomic(&folder.join(name).with_extension("html"), |file| file.write_all(page.as_bytes()))?;
        } else if path.is_dir() && name == Path::new("pictures") {
            std::fs::create_dir(folder.join(&name)).map_err(io(folder))?;
            for picture in std::fs::read_dir(&path).map_err(io(&path))?.flatten() {
                let to = folder.join(&name).join(picture.file_name());
                std::fs::copy(picture.path(), to).map_err(io(&picture.path()))?;
            }
        }
    }
    Ok(())
}

fn page(command: clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command).section(CHAPTER).render(&mut text).map_err(|error| failed("a page of the manual", error))?;
    Ok(text)
}

fn print(text: &[u8]) -> anyhow::Result<()> {
    let mut output = LineOutput::stdout();
    output.write_all(text).map_err(|error| failed(STDOUT, error))?;
    output.finish()
}
