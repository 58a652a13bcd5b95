//! Floor 6: outputs of Marian and Amun with `--alignment`, and of its scorer. Imports its room.
//!
//! `translation ||| alignment`, with `--n-best` `id ||| translation ||| alignment ||| .. ||| score`, from the scorer
//! `score ||| alignment`; `WordScores= ..` may follow. Soft alignments are groups `w,w,w`, one for each target token,
//! mostly with `</s>`; hard ones and those above a threshold are links `s-t`, those of `</s>` among them. The source is
//! a file of its own, and so is the target of the scorer.

use crate::analysis::alignment::Alignment;
use crate::error::Result;
use crate::import::beside::Sides;
use crate::import::facts::{Facts, ImportReported, Warnings};
use crate::import::format::{FileSample, FormatReader, system};
use crate::import::input::{ImportInput, TextLines};
use crate::import::matrix::{FileMatrix, MOST_ID, MOST_WORDS, PEEKED, fit, kept, number, orientation, settle, weight};
use crate::import::options::{ImportOptions, Orientation};
use crate::import::record::{ImportedOutput, ImportedText, Record};
use crate::text::links::Link;
use crate::text::links::read::pharaoh_link;
use crate::text::readable::{readable, tokens};

/// What stands in the field of the alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Soft,
    Hard,
}

impl Kind {
    /// Whether a field that is not blank is of this kind.
    fn is(self, field: &str) -> bool {
        let first = field.split_ascii_whitespace().next().unwrap_or_default();
        match self {
            Self::Soft => first.split(',').all(|part| part.parse::<f32>().is_ok()),
            Self::Hard => pharaoh_link(first).is_some(),
        }
    }
}

/// Groups of weights with commas between.
pub fn sniff_soft(sample: &FileSample<'_>) -> u8 {
    sniff(sample, Kind::Soft)
}

/// Links behind bars.
pub fn sniff_hard(sample: &FileSample<'_>) -> u8 {
    sniff(sample, Kind::Hard)
}

fn sniff(sample: &FileSample<'_>, kind: Kind) -> u8 {
    let aligned = |line: &str| fields(line).iter().skip(1).any(|field| !field.is_empty() && kind.is(field));
    let lines: Vec<&str> = sample.lines().take(3).collect();
    let has_bars = lines.first().is_some_and(|line| line.contains("|||"));
    if has_bars && lines.iter().any(|line| aligned(line)) { 80 } else { 0 }
}

/// Starts to read soft alignments.
pub fn open_soft(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    let mut reader = MarianReader::open(input, options, facts, Kind::Soft)?;
    let mut sides = Sides::open(&options.beside)?;
    let (mut matrices, mut unheard) = (Vec::new(), Warnings::new(input.path()));
    let mut lines = input.lines()?;
    while matrices.len() < PEEKED
        && let Ok(Some(line)) = lines.next(&mut unheard)
    {
        let parsed = reader.layout.parse(line.text.as_deref().unwrap_or_default());
        let Ok(Some(matrix)) = soft(parsed.alignment) else { continue };
        let sentence = parsed.id.map_or(line.number, |id| id + 1);
        let source = sides.source(sentence, line.number, &mut unheard)?;
        let target = parsed.text.map(|text| tokens(text).len());
        matrices.push(FileMatrix { matrix, source: source.map(|source| tokens(&source).len()), target });
    }
    facts.orientation = orientation(&matrices, options.orientation, Orientation::TargetRows);
    reader.orientation = facts.orientation.value().unwrap_or(Orientation::TargetRows);
    Ok(Box::new(reader))
}

/// Starts to read links.
pub fn open_hard(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    Ok(Box::new(MarianReader::open(input, options, facts, Kind::Hard)?))
}

/// Which fields a line has.
#[derive(Clone, Copy, Debug)]
struct Layout {
    kind: Kind,
    is_nbest: bool,
    is_scored: bool,
}

/// A line in its fields.
#[derive(Debug, Default)]
struct Parsed<'a> {
    /// From 0.
    id: Option<usize>,
    text: Option<&'a str>,
    alignment: &'a str,
    token_log_p: Vec<f32>,
    score: Option<f32>,
}

/// The fields of a line.
fn fields(line: &str) -> Vec<&str> {
    line.split("|||").map(str::trim).collect()
}

impl Layout {
    /// The layout of a file, by its first lines.
    fn of(input: &ImportInput, kind: Kind) -> Result<Self> {
        let (mut peeked, mut lines, mut unheard) = (Vec::new(), input.lines()?, Warnings::new(input.path()));
        while peeked.len() < PEEKED
            && let Ok(Some(line)) = lines.next(&mut unheard)
        {
            peeked.extend(line.text);
        }
        let lines: Vec<Vec<&str>> = peeked.iter().map(|line| fields(line)).filter(|fields| fields.len() > 1).collect();
        let all = |test: fn(&[&str]) -> bool| !lines.is_empty() && lines.iter().all(|fields| test(fields));
        let is_nbest = all(|fields| {
            let has_score = fields.last().is_some_and(|score| score.parse::<f32>().is_ok());
            fields.len() >= 4
                && fields[0].parse::<usize>().is_ok()
                && has_score
                && fields[fields.len() - 2].contains('=')
        });
        let is_scored = !is_nbest && all(|fields| fields[0].contains('.') && fields[0].parse::<f32>().is_ok());
        Ok(Self { kind, is_nbest, is_scored })
    }

    fn parse(self, line: &str) -> Parsed<'_> {
        let fields = fields(line);
        let mut parsed = Parsed::default();
        let rest = if self.is_nbest {
            parsed.id = fields.first().and_then(|id| id.parse().ok()).filter(|id| *id < MOST_ID);
            parsed.text = fields.get(1).copied();
            parsed.score = fields.last().and_then(|score| number(score));
            fields.get(2..fields.len() - 1).unwrap_or_default()
        } else if self.is_scored {
            parsed.score = fields.first().and_then(|score| number(score));
            &fields[1..]
        } else {
            parsed.text = fields.first().copied();
            &fields[1..]
        };
        for field in rest {
            if let Some(scores) = field.strip_prefix("WordScores=") {
                parsed.token_log_p = scores.split_ascii_whitespace().filter_map(number).collect();
            } else if parsed.alignment.is_empty() && !field.contains('=') {
                parsed.alignment = field;
            }
        }
        parsed
    }
}

/// The matrix of groups; `None` where there are none.
fn soft(field: &str) -> ImportReported<Option<Alignment>> {
    let (mut weights, mut columns) = (Vec::new(), 0);
    for group in field.split_ascii_whitespace() {
        let before = weights.len();
        for word in group.split(',') {
            weights.push(weight(word)?);
        }
        let count = weights.len() - before;
        if before > 0 && count != columns {
            return Err(format!("has a group of {count} weights behind one of {columns}"));
        }
        columns = count;
    }
    Ok(Alignment::new(weights, columns).filter(|matrix| matrix.rows() > 0))
}

struct MarianReader {
    lines: TextLines,
    layout: Layout,
    sides: Sides,
    orientation: Orientation,
    system: String,
    /// The line that begins the next sentence.
    waiting: Option<(usize, String)>,
    /// The sentence given out last, and its line.
    last: (usize, usize),
}

impl MarianReader {
    fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts, kind: Kind) -> Result<Self> {
        let layout = Layout::of(input, kind)?;
        let sides = Sides::open(&options.beside)?;
        if !sides.has_source() {
            facts.notes.push(
                "The dump has no source sentences; where they are not there yet, name their file, so that the weights fit its words.".into(),
            );
        }
        if layout.is_scored && !sides.has_target() {
            facts.notes.push("The file is of Marian's scorer and has no texts; name the target file too.".into());
        }
        Ok(Self {
            lines: input.lines()?,
            layout,
            sides,
            orientation: Orientation::TargetRows,
            system: system(input, options),
            waiting: None,
            last: (0, 0),
        })
    }

    fn line(&mut self, warnings: &mut Warnings) -> Result<Option<(usize, String)>> {
        if let Some(waiting) = self.waiting.take() {
            return Ok(Some(waiting));
        }
        while let Some(line) = self.lines.next(warnings)? {
            if let Some(text) = line.text {
                return Ok(Some((line.number, text)));
            }
        }
        Ok(None)
    }

    /// The number of the sentence of a line, from 1.
    fn sentence(&self, number: usize, line: &str) -> usize {
        if self.layout.is_nbest { self.layout.parse(line).id.map_or(self.last.0 + 1, |id| id + 1) } else { number }
    }

    fn output(
        &mut self,
        (number, line): (usize, &str),
        sentence: usize,
        source: Option<&mut Vec<String>>,
        warnings: &mut Warnings,
    ) -> Result<ImportedOutput> {
        let parsed = self.layout.parse(line);
        let beside = if parsed.text.is_none() { self.sides.target(sentence, number, warnings)? } else { None };
        let text = parsed.text.or(beside.as_deref()).unwrap_or_default();
        let mut tokens = tokens(text);
        let mut output = ImportedOutput::plain(&self.system, readable(&tokens));
        let known = !text.is_empty() || parsed.text.is_some();
        match self.layout.kind {
            Kind::Soft => output.alpha = self.alpha(parsed.alignment, number, known, &mut tokens, source, warnings),
            Kind::Hard => {
                let (t, s) = (known.then_some(tokens.len()), source.map(|source| source.len()));
                output.links = links(parsed.alignment, t, s).map_err(|message| warnings.add(number, message)).ok();
            }
        }
        output.tokens = tokens;
        output.score = parsed.score;
        output.log_p = if self.layout.is_scored { parsed.score } else { None };
        if !parsed.token_log_p.is_empty() {
            output.log_p = Some(parsed.token_log_p.iter().sum());
            output.token_log_p = parsed.token_log_p;
        }
        Ok(output)
    }

    fn alpha(
        &self,
        field: &str,
        number: usize,
        is_text_known: bool,
        tokens: &mut Vec<String>,
        source: Option<&mut Vec<String>>,
        warnings: &mut Warnings,
    ) -> Option<Alignment> {
        let fitted = soft(field).transpose()?.and_then(|matrix| {
            if is_text_known {
                return fit(matrix, self.orientation, tokens, source);
            }
            // Without the texts there is nothing to fit the weights to.
            Ok(if self.orientation == Orientation::SourceRows { matrix.turned() } else { matrix })
        });
        kept(Some(fitted), number, warnings)
    }
}

/// The links of a field; those of `</s>`, the place behind the words of a side, are left out.
fn links(field: &str, target: Option<usize>, source: Option<usize>) -> ImportReported<Vec<Link>> {
    let mut links = Vec::new();
    for word in field.split_ascii_whitespace() {
        let found = pharaoh_link(word).filter(|(s, t, _)| (*s).max(*t) < MOST_WORDS);
        let (s, t, _) = found.ok_or_else(|| format!("`{word:.40}` is no link; its links are left out"))?;
        if target.is_some_and(|target| t > target) || source.is_some_and(|source| s > source) {
            return Err(format!("the link {s}-{t} lies outside its sentence; its links are left out"));
        }
        if target != Some(t) && source != Some(s) {
            links.push(Link { source: s, target: t });
        }
    }
    links.sort_unstable();
    links.dedup();
    Ok(links)
}

impl FormatReader for MarianReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        let Some((number, line)) = self.line(warnings)? else {
            let (sentence, line) = self.last;
            self.sides.end(sentence, line, warnings)?;
            return Ok(None);
        };
        let sentence = self.sentence(number, &line);
        self.last = (sentence, number);
        let text = self.sides.source(sentence, number, warnings)?;
        let cut = text.as_deref().map(tokens);
        let mut record = Record { sentence, line: number, ..Record::default() };
        let output = self.output((number, &line), sentence, cut.clone().as_mut(), warnings)?;
        record.outputs.push(output);
        if self.layout.is_nbest {
            record.id = self.layout.parse(&line).id.map(|id| id.to_string());
            while let Some((number, line)) = self.line(warnings)? {
                if self.sentence(number, &line) != sentence {
                    self.waiting = Some((number, line));
                    break;
                }
                let output = self.output((number, &line), sentence, cut.clone().as_mut(), warnings)?;
                record.outputs.push(output);
            }
        }
        record.source = cut.map(ImportedText::cut);
        settle(&mut record, warnings);
        Ok(Some(record))
    }
}
