//! Floor 6: how files are known that no reader of this room reads: those that only a corpus takes, and those that are no
//! sentences, whatever they look like. Imports its room and `text`.

use crate::import::format::FileSample;
use crate::import::formats::rows::heads;
use crate::text::phrases::PhraseEntry;

/// Lines that are looked at.
const PEEKED: usize = 50;
/// The columns that every table of MQM has.
pub const MQM: [&str; 6] = ["system", "rater", "source", "target", "category", "severity"];
/// Elements with which marked-up texts begin that declare nothing.
const ROOTS: &[&str] = &[
    "srcset",
    "refset",
    "tstset",
    "mteval",
    "doc",
    "html",
    "tei",
    "teicorpus",
    "cesalign",
    "cesdoc",
    "cesana",
    "dataset",
];

fn certain(is: bool) -> u8 {
    if is { 98 } else { 0 }
}

/// Lines of `analyse --format judgements`, or a table with a row for each.
pub fn judgements(sample: &FileSample<'_>) -> u8 {
    let (first, heads) = (sample.first().trim_start(), heads(sample.head));
    let has = |name: &str| heads.iter().any(|head| head == name);
    let by = first.split_once("\"by\":").filter(|_| first.starts_with('{'));
    let is_line = by.is_some_and(|(_, said)| said.trim_start().starts_with('{'));
    certain(is_line || has("annotator") && (has("sentence") || has("source")))
}

/// A table with their columns.
pub fn mqm(sample: &FileSample<'_>) -> u8 {
    let heads = heads(sample.head);
    certain(MQM.iter().all(|name| heads.iter().any(|head| head == name)))
}

/// Objects of annotations.
pub fn pearmut(sample: &FileSample<'_>) -> u8 {
    let has = |key: &str| sample.head.contains(key);
    certain(is_object(sample) && has("\"annotation\"") && (has("\"user_id\"") || has("\"error_spans\"")))
}

/// An object of lists of sources and translations.
pub fn comet(sample: &FileSample<'_>) -> u8 {
    let has = |key: &str| sample.head.contains(key);
    let is_list = sample.head.split_once("\"src\"").is_some_and(|(before, _)| before.contains('['));
    certain(is_object(sample) && is_list && has("\"mt\"") && pearmut(sample) == 0)
}

fn is_object(sample: &FileSample<'_>) -> bool {
    sample.head.trim_start().starts_with('{')
}

/// Ten columns, of which one counts the words of a sentence, one has capitals, and one the numbers of heads.
pub fn conllu(sample: &FileSample<'_>) -> u8 {
    let first = sample.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    let columns: Vec<&str> = first.split('\t').collect();
    let [id, _, _, part, _, _, head, _, _, _] = columns.as_slice() else { return 0 };
    let is_blank_or = |cell: &str, is: fn(&u8) -> bool| cell == "_" || cell.as_bytes().iter().all(is);
    let is_word = is_blank_or(part, u8::is_ascii_uppercase) && is_blank_or(head, u8::is_ascii_digit);
    certain(is_word && matches!(id.split(['-', '.']).next(), Some("0" | "1")))
}

/// Phrases and numbers between bars; n-best lists, which have them too, begin with numbers.
pub fn phrase_table(sample: &FileSample<'_>) -> u8 {
    let entries = || sample.lines().take(PEEKED).map(|line| PhraseEntry::new(1, line.to_owned()).ok());
    let is_number = |entry: &PhraseEntry| entry.source().parse::<usize>().is_ok();
    let is_one = entries().all(|entry| entry.is_some_and(|entry| entry.features().next().is_some()));
    certain(is_one && !entries().flatten().all(|entry| is_number(&entry)))
}

/// `a.fr<TAB>Segment 0<TAB>score: 0.8275`, among other lines.
pub fn comet_log(sample: &FileSample<'_>) -> u8 {
    let score = |line: &str| line.rsplit_once('\t')?.1.strip_prefix("score: ")?.trim().parse::<f64>().ok();
    certain(sample.lines().take(PEEKED).any(|line| score(line).is_some()))
}

/// A head of system, number of the sentence and score.
pub fn wmt_scores(sample: &FileSample<'_>) -> u8 {
    certain(score_places(sample.first()).is_some())
}

/// Where a head of three words has system, number of the sentence and score.
pub fn score_places(head: &str) -> Option<[usize; 3]> {
    let words: Vec<String> = head.split_whitespace().map(str::to_lowercase).collect();
    let find = |is: fn(&str) -> bool| words.iter().position(|word| is(word));
    let places =
        [find(|word| word == "system")?, find(|word| word.starts_with("seg"))?, find(|word| word.contains("score"))?];
    (words.len() == 3).then_some(places)
}

/// Declared XML with a tag in the next line, or an element that is known and tags at the beginnings of most lines; a text may
/// begin with `<` too.
pub fn markup(sample: &FileSample<'_>) -> u8 {
    let first = sample.first().trim_start().trim_start_matches('\u{feff}').to_lowercase();
    let name = first.strip_prefix('<').map(|rest| rest.split([' ', '>', '\t', '/']).next().unwrap_or_default());
    let is_declared = ["<?xml ", "<!doctype "].iter().any(|start| first.starts_with(start));
    let lines: Vec<&str> = sample.lines().take(PEEKED).map(str::trim_start).collect();
    let tagged = lines.iter().filter(|line| line.starts_with('<')).count();
    let is_known = name.is_some_and(|name| ROOTS.contains(&name)) && tagged * 2 >= lines.len();
    if is_known || is_declared && lines.get(1).is_none_or(|line| line.starts_with('<')) { 90 } else { 0 }
}

/// `# Sentence pair (1) source length 3 target length 4`
pub fn giza(sample: &FileSample<'_>) -> u8 {
    certain(sample.first().starts_with("# Sentence pair ("))
}

/// `var alignments = [`
pub fn softalignments(sample: &FileSample<'_>) -> u8 {
    let list = sample.first().strip_prefix("var ").and_then(|rest| rest.split_once('='));
    let is_list = list.is_some_and(|(name, list)| {
        let names = ["alignments", "confidences", "sentence_confidences", "sources", "targets"];
        (names.contains(&name.trim()) || sample.has_extension(&["js"])) && list.trim_start().starts_with('[')
    });
    certain(is_list)
}

/// Two texts between bars in each line.
pub fn bars(sample: &FileSample<'_>) -> u8 {
    let mut lines = sample.lines().take(PEEKED).peekable();
    if lines.peek().is_some() && lines.all(|line| line.split(" ||| ").count() == 2) { 60 } else { 0 }
}

/// Rows of decimal numbers, perhaps in brackets and with a word before them.
pub fn matrix(sample: &FileSample<'_>) -> u8 {
    let is_row = |line: &&str| {
        let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '(' | ')');
        let mut cells = line.split(is_between).filter(|cell| !cell.is_empty()).peekable();
        // The word of the row.
        cells.next_if(|cell| cell.parse::<f64>().is_err());
        let (mut count, mut decimal) = (0, 0);
        for cell in cells {
            if cell.parse::<f64>().is_err() {
                return false;
            }
            count += 1;
            decimal += usize::from(cell.contains('.'));
        }
        count >= 2 && decimal * 2 > count
    };
    let lines: Vec<&str> = sample.lines().take(PEEKED).collect();
    let rows = lines.iter().filter(|line| is_row(line)).count();
    if rows >= 2 && rows * 4 >= lines.len() * 3 { 70 } else { 0 }
}

/// A file that is called a table and has no tabs, but the same number of words in each line, some of them numbers in all.
pub fn spaced(sample: &FileSample<'_>) -> u8 {
    let rows: Vec<Vec<&str>> = sample.lines().take(PEEKED).map(|line| line.split_whitespace().collect()).collect();
    let Some((head, body)) = rows.split_first().filter(|(head, body)| head.len() > 1 && body.len() > 1) else {
        return 0;
    };
    let is_wide = body.iter().all(|row| row.len() == head.len());
    let are_numbers = |at: usize| body.iter().all(|row| row.get(at).is_some_and(|cell| cell.parse::<f64>().is_ok()));
    let is_table = sample.has_extension(&["tsv", "tab", "csv"]) && !sample.head.contains(['\t', ',', ';']);
    if is_table && is_wide && (0..head.len()).any(are_numbers) { 85 } else { 0 }
}

/// Nothing but values of JSON, objects or lists, as far as they are there.
pub fn json(sample: &FileSample<'_>) -> u8 {
    let mut values = serde_json::Deserializer::from_str(sample.head).into_iter::<serde::de::IgnoredAny>();
    let is_begun = sample.head.trim_start().starts_with(['{', '[']);
    u8::from(is_begun && values.all(|value| value.map_or_else(|error| error.is_eof(), |_| true))) * 5
}
