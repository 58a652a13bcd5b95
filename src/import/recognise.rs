//! How files are known that no reader of this room reads: those that only a corpus takes, and those that are no
//! sentences, whatever they look like.

use crate::{decimal::is_number, format::FileSample, formats::rows::heads};
use engine::text::phrases::PhraseEntry;

const PEEKED: usize = 50;
/// The columns that every table of MQM has.
pub const MQM: [&str; 6] = ["system", "rater", "source", "target", "category", "severity"];
/// Elements with which marked-up texts begin that declare nothing.
const ROOTS: &[&str] = &[
    "srcset", "refset", "tstset", "mteval", "doc", "html", "tei", "teicorpus", "cesalign", "cesdoc", "cesana",
    "dataset", "url", "svg",
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

/// What is between the cells of a line of a table of scores; a space is any space.
pub fn score_separator(head: &str) -> char {
    ['\t', ';', ','].into_iter().find(|separator| head.contains(*separator)).unwrap_or(' ')
}

/// The cells of a line of a table of scores.
pub fn score_cells(line: &str, separator: char) -> Vec<&str> {
    match separator {
        ' ' => line.split_whitespace().collect(),
        _ => line.split(separator).map(|cell| cell.trim().trim_matches('"')).collect(),
    }
}

/// Places of system, sentence number and score in a head, or in a line of the WMT's metrics files.
pub fn score_places(head: &str) -> Option<[usize; 3]> {
    let words = head.trim_start_matches('\u{feff}').to_lowercase();
    let words = score_cells(&words, score_separator(&words));
    let find = |is: fn(&str) -> bool| words.iter().position(|word| is(word));
    let is_text = |word: &str| {
        ["src", "tgt", "ref", "mt", "hyp", "source", "target", "reference", "translation", "text"].contains(&word)
    };
    let is_pair = |word: &&str| word.split_once('-').is_some_and(|(one, other)| one.len() == 2 && other.len() == 2);
    if let [_, languages, _, .., _, sentence, score] = &words[..]
        && is_pair(languages)
        && sentence.parse::<usize>().is_ok()
        && is_number(score)
    {
        return Some([words.len() - 3, words.len() - 2, words.len() - 1]);
    }
    let places =
        [find(|word| word == "system")?, find(|word| word.starts_with("seg"))?, find(|word| word.contains("score"))?];
    (!words.iter().any(|word| is_text(word))).then_some(places)
}

/// Declared XML, or tags with their ends at the beginnings of most lines; a text may begin with `<` too.
pub fn markup(sample: &FileSample<'_>) -> u8 {
    let first = sample.first().trim_start().trim_start_matches('\u{feff}').to_lowercase();
    let name = first.strip_prefix('<').map(|rest| rest.split([' ', '>', '\t', '/']).next().unwrap_or_default());
    let is_declared = ["<?xml ", "<!doctype "].iter().any(|start| first.starts_with(start));
    let lines: Vec<&str> = sample.lines().take(PEEKED).map(str::trim_start).collect();
    let tagged = lines.iter().filter(|line| line.starts_with('<')).count();
    let is_alone = first.trim_end().ends_with('>');
    let is_known = name.is_some_and(|name| ROOTS.contains(&name)) && (is_alone || tagged * 2 >= lines.len());
    let is_closed = |line: &&&str| line.starts_with('<') && line.contains("</") && line.trim_end().ends_with('>');
    let opens = is_alone && first.matches('<').count() == 1 && tagged == lines.len();
    let is_tree = opens && lines.iter().skip(1).find(is_closed).is_some_and(|line| !line.starts_with("<s>"));
    if is_known || is_tree || is_declared && lines.get(1).is_none_or(|line| line.starts_with('<')) { 90 } else { 0 }
}

/// Subtitles with other times, `[Script Info]` and `0:00:01.000,0:00:02.000`, and messages of gettext.
pub fn other_texts(sample: &FileSample<'_>) -> u8 {
    let (first, mut lines) = (sample.first().trim(), sample.lines().take(PEEKED));
    let is_time = |time: &str| {
        time.matches(':').count() == 2 && time.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte))
    };
    let is_sbv = first.split_once(',').is_some_and(|(from, to)| is_time(from) && is_time(to));
    let is_po = sample.has_extension(&["po", "pot"]) && lines.any(|line| line.starts_with("msgid "));
    certain(is_sbv || is_po || first.trim_start_matches('\u{feff}') == "[Script Info]")
}

/// Two texts in each line, as fast_align reads them.
pub fn sides(sample: &FileSample<'_>) -> u8 {
    let are_two = |line: &str| line.matches(" ||| ").count() == 1;
    if sample.lines().count() > 1 && sample.lines().take(PEEKED).all(are_two) { 60 } else { 0 }
}

/// `categories = [` and severities.
pub fn scheme(sample: &FileSample<'_>) -> u8 {
    certain(sample.first().starts_with("categories = [") && sample.head.contains("[[severities]]"))
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

/// A decimal number in each line, as scores are; or rows of them, perhaps in brackets and with a word before them.
pub fn matrix(sample: &FileSample<'_>) -> u8 {
    let is_score = |line: &str| line.contains(['.', ',']) && is_number(line);
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
    let rows = lines.iter().filter(|line| is_score(line) || is_row(line)).count();
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
