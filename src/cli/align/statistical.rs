//! `interlinear align --statistical`: links that need no model, or on which alignment heads have a vote.

use crate::align::arguments::{AlignArgs, LinkFormat};
use crate::input::{InputFiles, InputLine, InputLines};
use crate::{args, output::LineOutput, progress::ProgressLine, statistical::Text, windows};
use engine::analysis::{alignment::Alignment, row_convention::RowConvention};
use engine::error::{Error, Result};
use engine::evaluation::alignment::{Aligner, AlignerDirection, Refused, VOTED, WordPair, voted};
use engine::models::{Model, Stepper};
use engine::text::reader::{MOST_BLANK, MOST_LINES, MOST_TEXT};
use engine::text::{language::primary, line, links::Link, sentence::MAX_SOURCE_TOKENS, words::words};
use engine::{
    aligner::words::LineAligner, evaluation::rows::RowReader, models::choice::ModelSpec, ticket::CancellationToken,
};
use training::settings::LinkWords;

type Read = Result<(String, String)>;

struct Voter {
    model: Model,
    stepper: Box<dyn Stepper>,
    is_turned: bool,
}

impl Voter {
    fn read(&self, pair: (&str, &str), pretokenized: bool) -> std::result::Result<WordPair, Refused> {
        if !self.is_turned {
            return WordPair::read(&self.model, pair, pretokenized);
        }
        let turned = |refused: Refused| Refused { target: !refused.target, ..refused };
        WordPair::read(&self.model, (pair.1, pair.0), pretokenized).map_err(turned)
    }
}

/// Learns, or reads what was learned, and aligns.
pub fn run(args: &AlignArgs) -> anyhow::Result<()> {
    if args.format == LinkFormat::Jsonl {
        let message =
            "--format jsonl writes the matrices of a model; choose pharaoh or naacl with a statistical aligner";
        return Err(Error::Input(message.into()).into());
    }
    let mut files = args.pairs.open()?;
    // What is learned from must be read to its end before the first pair can be aligned.
    let kept = if args.statistical.learned.is_some() { Vec::new() } else { keep(&mut files, MOST_LINES)? };
    let readable: Vec<(&str, &str)> =
        kept.iter().flatten().map(|(source, target)| (source.as_str(), target.as_str())).collect();
    let names = (args.pairs.source.as_path(), args.pairs.target.as_path());
    let text = Text { files: names, pairs: &readable, pretokenized: args.pairs.pretokenized };
    let aligner = args.statistical.aligner(text, args.run.cores())?;
    if let Some(path) = &args.save {
        aligner.learned.pruned(args.save_pairs).save(path)?;
    }
    let shared = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let progress = ProgressLine::new("aligning", files.source.size, shared);
    let runtime = args.run.plan()?;
    let (from, to) = args.statistical.languages(text, Some(&aligner.learned.languages));
    let voter = |model: &ModelSpec| -> Result<Voter> {
        let model = args::load(model, &runtime)?;
        let stepper = model.stepper_with_head(runtime.engine, runtime.threads)?;
        RowReader::chosen((&model).into(), &*stepper, Some(RowConvention::Head))?;
        let is_turned = translates(&model, (&to, &from)) && !translates(&model, (&from, &to));
        Ok(Voter { model, stepper, is_turned })
    };
    let voters = args.vote.iter().map(voter).collect::<Result<Vec<Voter>>>()?;
    let output = LineOutput::stdout();
    let mut writer = Writer { args, aligner, voters, output, progress, waiting: Vec::new(), number: 0, refused: 0 };
    for pair in kept {
        writer.pair(pair, 0)?;
    }
    while let Some(pair) = read(&mut files)? {
        writer.pair(pair, files.source.bytes)?;
        if !files.is_ready() {
            writer.poll()?;
            writer.output.flush()?;
        }
    }
    writer.poll()?;
    writer.progress.finish();
    writer.output.finish()?;
    files.source.warn_if_empty("align");
    windows::refused(writer.refused)
}

fn translates(model: &Model, (from, to): (&str, &str)) -> bool {
    let (source, target) = (&model.config.source_language, &model.config.target_language);
    primary(source) == primary(from) && primary(target) == primary(to)
}

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
            return Err(Error::file(&files.source.name, message));
        }
        kept.push(pair);
    }
    Ok(kept)
}

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

struct Writer<'a> {
    args: &'a AlignArgs,
    aligner: LineAligner,
    voters: Vec<Voter>,
    output: LineOutput,
    progress: ProgressLine,
    waiting: Vec<Read>,
    number: usize,
    refused: usize,
}

impl Writer<'_> {
    fn pair(&mut self, pair: Read, position: u64) -> anyhow::Result<()> {
        self.progress.add(1, 0, position);
        if !self.voters.is_empty() {
            self.waiting.push(pair);
            return if self.waiting.len() < self.args.batch.batch { Ok(()) } else { self.poll() };
        }
        let way = self.args.symmetrize.unwrap_or(AlignerDirection::Likely);
        let links = pair.map(|(source, target)| {
            way.of(match self.args.counted.link_words {
                LinkWords::Spaces => self.aligner.lines(&source, &target),
                LinkWords::Tokens => self.aligner.words(&source, &target).2,
            })
        });
        self.write(links)
    }

    fn poll(&mut self) -> anyhow::Result<()> {
        let mut pairs = std::mem::take(&mut self.waiting);
        let mut heads: Vec<Vec<Alignment>> = vec![Vec::new(); pairs.len()];
        let (batch, ticket) = (self.args.batch.batch, CancellationToken::forever());
        for voter in &mut self.voters {
            let (mut read, mut places) = (Vec::new(), Vec::new());
            for (at, pair) in pairs.iter_mut().enumerate() {
                let Ok((source, target)) = pair else { continue };
                match voter.read((source, target), self.args.pairs.pretokenized) {
                    Ok(words) => {
                        read.push(words);
                        places.push(at);
                    }
                    Err(refused) => {
                        let files = &self.args.pairs;
                        let file = if refused.target { &files.target } else { &files.source };
                        *pair = Err(Error::line(file, self.number + at + 1, refused.why));
                    }
                }
            }
            let mut aligner = Aligner { system: (&voter.model).into(), stepper: voter.stepper.as_mut() };
            let weights = aligner.head_weights(&read.iter().collect::<Vec<_>>(), batch, &ticket)?;
            for (&at, weights) in places.iter().zip(weights) {
                heads[at].push(if voter.is_turned { weights.turned() } else { weights });
            }
        }
        let theta = self.args.threshold.unwrap_or(VOTED);
        for (pair, heads) in pairs.into_iter().zip(heads) {
            let links = pair.map(|(source, target)| voted(&self.aligner.weights(&source, &target), &heads, theta));
            self.write(links)?;
        }
        Ok(())
    }

    fn write(&mut self, links: Result<Vec<Link>>) -> anyhow::Result<()> {
        let links = links.unwrap_or_else(|why| {
            self.refused += 1;
            self.progress.notify(&why.to_string());
            Vec::new()
        });
        self.number += 1;
        self.args.format.write(&mut self.output, self.number, links)
    }
}
