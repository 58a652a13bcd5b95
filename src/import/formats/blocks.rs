//! Dumps with a block for each sentence: a header, a matrix, a blank line.
//!
//! Nematus (`-a`) and OpenNMT (lua, `-save_attention`): `id ||| target ||| score ||| source ||| S T`, a row for each
//! target token; Nematus counts and writes `</s>` on both sides, OpenNMT on neither. Sockeye 1
//! (`translation_with_alignment_matrix`): `id ||| target ||| score ||| source ||| S ||| T`, a row for each source
//! token.

use crate::facts::{Behind, Facts, ImportReported, Warnings};
use crate::format::{FileSample, FormatReader, system};
use crate::input::{ImportInput, TextLine, TextLines};
use crate::matrix::{FileMatrix, MOST_ID, PEEKED, number, orientation, weight};
use crate::options::{ImportOptions, Orientation};
use crate::record::{ImportedOutput, ImportedText, Record};
use engine::text::readable::{readable, tokens};
use engine::{analysis::alignment::Alignment, error::Result, text::sentence::EOS};

/// Nematus: counts with `</s>`.
pub fn sniff_nematus(sample: &FileSample<'_>) -> u8 {
    match counts(sample.first()) {
        Some(counts) if !counts.apart => 90,
        _ => 0,
    }
}

/// OpenNMT: counts without `</s>`, or none.
pub fn sniff_opennmt(sample: &FileSample<'_>) -> u8 {
    let weights = sample.lines().nth(1).map_or(0, |row| tokens(row).len());
    match counts(sample.first()) {
        Some(counts) if !counts.apart && counts.without_end && weights != counts.source + 1 => 95,
        _ => 0,
    }
}

/// Sockeye: counts in fields of their own.
pub fn sniff_sockeye(sample: &FileSample<'_>) -> u8 {
    if counts(sample.first()).is_some_and(|counts| counts.apart) { 95 } else { 0 }
}

struct Counts {
    apart: bool,
    without_end: bool,
    source: usize,
}

/// The fields of a header; one without letters has one space alone.
fn fields(header: &str) -> Vec<&str> {
    header.split("|||").map(str::trim).collect()
}

fn counts(header: &str) -> Option<Counts> {
    let fields = fields(header);
    let number = |field: &str| field.parse::<usize>().ok();
    match fields.as_slice() {
        [_, _, _, source, counts] => {
            let (s, t) = counts.split_once(' ')?;
            let (s, _) = (number(s)?, number(t)?);
            let source = tokens(source).len();
            Some(Counts { apart: false, without_end: s == 0 || s == source, source })
        }
        [_, _, _, _, s, t] => number(s).zip(number(t)).map(|_| Counts { apart: true, without_end: false, source: 0 }),
        _ => None,
    }
}

/// Starts to read a dump of Nematus or OpenNMT.
pub fn open(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    start(input, options, facts, Orientation::TargetRows)
}

/// Starts to read a dump of Sockeye.
pub fn open_sockeye(input: &ImportInput, options: &ImportOptions, facts: &mut Facts) -> Result<Box<dyn FormatReader>> {
    start(input, options, facts, Orientation::SourceRows)
}

fn start(
    input: &ImportInput, options: &ImportOptions, facts: &mut Facts, usual: Orientation,
) -> Result<Box<dyn FormatReader>> {
    let mut peeked = Vec::new();
    let mut blocks = Blocks { lines: input.lines()?, waiting: None };
    let mut unheard = Warnings::new(input.path());
    // Damage is noted when it is reached in earnest.
    while peeked.len() < PEEKED
        && let Ok(Some(block)) = blocks.next(&mut unheard)
    {
        peeked.push(block);
    }
    facts.behind = Behind::Padding;
    let from = peeked.first().filter(|_| !same_ids(&peeked)).map(|block| usize::from(block.id != "0"));
    facts.notes.push(match from {
        Some(from) => format!("Sentences are counted from {from}."),
        None => "The numbers of sentences in the file tell nothing; they are counted as they come.".into(),
    });
    let ids: Vec<usize> = peeked.iter().filter_map(|block| block.id.parse().ok()).collect();
    if from.is_some() && ids.windows(2).any(|pair| pair[1] > pair[0] + 1) {
        facts.notes.push(
            "Ids are left out; where no text is known for them, their sentences are blank, so that other files fit."
                .into(),
        );
    }
    let seen: Vec<FileMatrix> = peeked.into_iter().filter_map(Block::seen).collect();
    facts.orientation = orientation(&seen, options.orientation, usual);
    Ok(Box::new(BlockReader {
        blocks: Blocks { lines: input.lines()?, waiting: None },
        orientation: facts.orientation.value().unwrap_or(usual),
        system: system(input, options),
        from,
        count: 0,
        waiting: None,
    }))
}

/// Whether different sentences have the same id, as where a toolkit writes 0 before each.
fn same_ids(blocks: &[Block]) -> bool {
    blocks.windows(2).any(|pair| pair[0].id == pair[1].id && pair[0].source != pair[1].source)
}

#[derive(Debug)]
struct Block {
    line: usize,
    id: String,
    target: Vec<String>,
    score: Option<f32>,
    source: Vec<String>,
    matrix: Option<Alignment>,
}

impl Block {
    fn new(line: usize, header: &str) -> Option<Self> {
        let fields = fields(header);
        let [id, target, score, source, ..] = fields.as_slice() else { return None };
        (fields.len() <= 6).then(|| Self {
            line,
            id: (*id).to_owned(),
            target: tokens(target),
            score: number(score),
            source: tokens(source),
            matrix: None,
        })
    }

    fn seen(self) -> Option<FileMatrix> {
        let (source, target) = (Some(self.source.len()), Some(self.target.len()));
        self.matrix.map(|matrix| FileMatrix { matrix, source, target })
    }
}

struct Blocks {
    lines: TextLines,
    /// A header that was met where a row was expected.
    waiting: Option<(usize, String)>,
}

impl Blocks {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Block>> {
        let Some((number, header)) = self.header(warnings)? else { return Ok(None) };
        let Some(mut block) = Block::new(number, &header) else { return Ok(None) };
        block.matrix = self.matrix(warnings)?;
        Ok(Some(block))
    }

    /// The next header that is one; whatever else comes before it is noted once.
    fn header(&mut self, warnings: &mut Warnings) -> Result<Option<(usize, String)>> {
        let mut noted = false;
        loop {
            let (number, text) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => match self.lines.next(warnings)? {
                    None => return Ok(None),
                    Some(TextLine { number, text }) => (number, text.unwrap_or_default()),
                },
            };
            if Block::new(number, &text).is_some() {
                return Ok(Some((number, text)));
            }
            if !text.trim().is_empty() && !noted {
                noted = true;
                let advice = "a sentence begins with `id ||| target ||| score ||| source ||| S T`";
                warnings.add(number, format!("is no header of a sentence: {advice}; it is left out"));
            }
        }
    }

    fn matrix(&mut self, warnings: &mut Warnings) -> Result<Option<Alignment>> {
        let (mut weights, mut columns, mut fault) = (Vec::new(), 0, None);
        while let Some(line) = self.lines.next(warnings)? {
            let text = line.text.unwrap_or_default();
            if text.contains("|||") {
                self.waiting = Some((line.number, text));
                break;
            }
            if text.trim().is_empty() {
                break;
            }
            if fault.is_none() {
                fault = row(&text, &mut weights, &mut columns).err().map(|message| (line.number, message));
            }
        }
        if let Some((number, message)) = fault {
            warnings.add(number, format!("{message}; the alignment of its sentence is left out"));
            return Ok(None);
        }
        Ok(Alignment::new(weights, columns).filter(|matrix| matrix.rows() > 0))
    }
}

fn row(text: &str, weights: &mut Vec<f32>, columns: &mut usize) -> ImportReported<()> {
    let before = weights.len();
    for word in text.split_ascii_whitespace() {
        weights.push(weight(word)?);
    }
    let count = weights.len() - before;
    if before > 0 && count != *columns {
        return Err(format!("has {count} weights, the row before it {columns}"));
    }
    *columns = count;
    Ok(())
}

struct BlockReader {
    blocks: Blocks,
    orientation: Orientation,
    system: String,
    /// The number of the first sentence of the corpus in the file; `None` where all have the same.
    from: Option<usize>,
    count: usize,
    waiting: Option<Block>,
}

impl FormatReader for BlockReader {
    fn next(&mut self, warnings: &mut Warnings) -> Result<Option<Record>> {
        let first = match self.waiting.take() {
            Some(block) => Some(block),
            None => self.blocks.next(warnings)?,
        };
        let Some(first) = first else { return Ok(None) };
        let (id, source) = (first.id.clone(), first.source.clone());
        let mut record = self.record(first);
        while let Some(block) = self.blocks.next(warnings)? {
            if block.id != id || block.source != source {
                self.waiting = Some(block);
                break;
            }
            record.outputs.extend(self.record(block).outputs);
        }
        self.count = record.sentence;
        Ok(Some(record))
    }
}

impl BlockReader {
    fn record(&self, block: Block) -> Record {
        let Block { line, id, target, score, source, matrix } = block;
        let (text, source_text) = (readable(&target), readable(&source));
        // A translation without words is one too.
        let target = if target.is_empty() { vec![EOS.to_owned()] } else { target };
        let is_turned = self.orientation == Orientation::SourceRows;
        let alpha = matrix.map(|matrix| if is_turned { matrix.turned() } else { matrix });
        let number = id.parse::<usize>().ok().filter(|number| *number < MOST_ID);
        let number = number.zip(self.from).and_then(|(number, from)| (number + 1).checked_sub(from));
        let output = ImportedOutput { tokens: target, score, alpha, ..ImportedOutput::plain(&self.system, text) };
        Record {
            sentence: number.filter(|number| *number > 0).unwrap_or(self.count + 1),
            line,
            id: Some(id),
            source: Some(ImportedText { text: source_text, tokens: Some(source) }),
            outputs: vec![output],
            ..Record::default()
        }
    }
}
