//! Floor 13: `interlinear align --statistical`: links that need no model.

use crate::aligner::words::LineAligner;
use crate::cli::align::{AlignArgs, LinkFormat};
use crate::cli::input::{InputFiles, InputLine, InputLines};
use crate::cli::output::LineOutput;
use crate::cli::progress::ProgressLine;
use crate::cli::statistical::Text;
use crate::cli::words;
use crate::error::{Error, Result};
use crate::text::line;
use crate::text::reader::{MOST_BLANK, MOST_LINES, MOST_TEXT};
use crate::text::sentence::MAX_SOURCE_TOKENS;
use crate::text::words::words;
use crate::training::settings::LinkWords;

/// A pair of lines, or why it is not aligned.
type Read = Result<(String, String)>;

/// Learns, or reads what was learned, and aligns.
pub fn run(low: &AlignArgs) -> anyhow::Result<()> {
    if low.format == LinkFormat::Jsonl {
        let message =
            "--format jsonl writes the matrices of a model; choose pharaoh or naacl with a statistical aligner";
        return Err(Error::Input(message.into()).into());
    }
    let mut files = low.pairs.open()?;
    // What is learned from must be read to its end before the first pair can be aligned.
    let kept = if low.statistical.is_learned() { Vec::new() } else { keep(&mut files, MOST_LINES)? };
    let readable: Vec<(&str, &str)> =
        kept.iter().flatten().map(|(source, target)| (source.as_str(), target.as_str())).collect();
    let names = (low.pairs.source.as_path(), low.pairs.target.as_path());
    let text = Text { files: names, pairs: &readable, pretokenized: low.pairs.pretokenized };
    let aligner = low.statistical.aligner(text, low.run.cores())?;
    if let Some(path) = &low.save {
        aligner.learned.pruned(low.save_pairs).save(path)?;
    }
    let shared = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let progress = ProgressLine::new("aligning", files.source.size(), shared);
    let mut writer = Writer { low, aligner, output: LineOutput::stdout(), progress, number: 0, refused: 0 };
    for pair in kept {
        writer.pair(pair, 0)?;
    }
    while let Some(pair) = read(&mut files)? {
        writer.pair(pair, files.source.position())?;
        if !files.is_ready() {
            writer.output.flush()?;
        }
    }
    writer.progress.finish();
    writer.output.finish()?;
    files.source.tell_empty("align");
    words::refused(writer.refused)
}

/// All pairs, at most `most`: they are held in memory.
fn keep(files: &mut InputFiles, most: usize) -> Result<Vec<Read>> {
    let (mut kept, mut bytes, mut blank) = (Vec::new(), 0, 0);
    while let Some(pair) = read(files)? {
        let is_blank = |text: &str| text.trim_ascii().is_empty();
        let teaches = pair.as_ref().is_ok_and(|(source, target)| !is_blank(source) && !is_blank(target));
        blank = if teaches { 0 } else { blank + 1 };
        if blank > MOST_BLANK {
            let message =
                format!("teaches nothing, as do the {MOST_BLANK} pairs before it; give a text with sentences");
            return Err(files.source.refuse(message));
        }
        bytes += pair.as_ref().map_or(0, |(source, target)| (source.len() + target.len()) as u64);
        if kept.len() == most || bytes > MOST_TEXT {
            let advice = "learn from a part of it with --save, and align the whole with --learned";
            let message = format!("is too long to be held in memory (more than {most} lines or 2 GiB); {advice}");
            return Err(Error::file(files.source.name(), message));
        }
        kept.push(pair);
    }
    Ok(kept)
}

/// The next pair of lines.
fn read(files: &mut InputFiles) -> Result<Option<Read>> {
    let Some((source, target)) = files.pair()? else { return Ok(None) };
    let text = |line: InputLine, lines: &InputLines| match line {
        Err(why) => Err(lines.refuse(why)),
        Ok(text) => match words(&text).count() {
            words if words > MAX_SOURCE_TOKENS => Err(lines.refuse(line::too_many_words(words))),
            _ => Ok(text),
        },
    };
    let (source, target) = (text(source, &files.source), text(target, files.side(true)));
    Ok(Some(source.and_then(|source| Ok((source, target?)))))
}

/// Aligns pair after pair and writes the links.
struct Writer<'a> {
    low: &'a AlignArgs,
    aligner: LineAligner,
    output: LineOutput,
    progress: ProgressLine,
    number: usize,
    refused: usize,
}

impl Writer<'_> {
    fn pair(&mut self, pair: Read, position: u64) -> anyhow::Result<()> {
        let links = match pair {
            Ok((source, target)) => {
                let links = match self.low.link_words {
                    LinkWords::Spaces => self.aligner.lines(&source, &target),
                    LinkWords::Tokens => self.aligner.words(&source, &target).2,
                };
                self.low.way().of(links.forward, &links.reverse)
            }
            Err(why) => {
                self.refused += 1;
                self.progress.tell(&why.to_string());
                Vec::new()
            }
        };
        self.number += 1;
        self.progress.add(1, 0, position);
        self.low.format.write(&mut self.output, self.number, links)
    }
}
