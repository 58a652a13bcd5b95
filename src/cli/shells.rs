//! `interlinear completions` and `interlinear man`: what shells and `man` know of the commands, from the same
//! table as the help.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::output::{LineOutput, STDOUT, failed};
use engine::text::write::{FolderDraft, write_atomic};

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
    let commands: Vec<clap::Command> = program.get_subcommands().cloned().collect();
    for command in std::iter::once(program).chain(commands) {
        // The name of a command without spaces is its own; built, it knows the program's as well.
        let name = command.get_display_name().unwrap_or(NAME).to_owned();
        let page = page(command)?;
        write_atomic(&folder.path().join(format!("{name}.{CHAPTER}")), |file| file.write_all(&page))?;
    }
    Ok(folder.keep()?)
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
