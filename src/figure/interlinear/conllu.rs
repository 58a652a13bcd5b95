//! Floor 6: interlinear text in and out of CoNLL-U, the format of Universal Dependencies: lemma, part of speech and morphology are
//! lines under the words, and so is what the last column has by name, such as `Gloss` and `Translit`. Imports its room and `text`.

use std::fmt::Write as _;
use std::path::Path;

use crate::error::{Error, Result};
use crate::figure::interlinear::sentence::{GlossTier, GlossedSentence, GlossedText};
use crate::text::reader::LineReader;

/// The name of a row in the last column.
pub fn misc_name(name: &str) -> String {
    name.replace([' ', '=', '|'], "_")
}

/// A sentence.
pub fn write(sentence: &GlossedSentence, number: usize) -> String {
    let mut lines = format!("# sent_id = {number}\n# text = {}\n", sentence.words.join(" "));
    for text in &sentence.texts {
        let _ = writeln!(lines, "# text_{} = {}", text.name.replace([' ', '='], "_"), text.words.join(" "));
    }
    let rows = sentence.all_rows();
    let column = |name: &str, j: usize| {
        let cell = rows.iter().find(|row| row.name == name).and_then(|row| row.cells.get(j));
        cell.filter(|cell| !cell.is_empty()).map_or("_", String::as_str).replace(' ', "\u{a0}")
    };
    for (j, word) in sentence.words.iter().enumerate() {
        let own = |row: &&GlossTier| !CONLLU.contains(&row.name.as_str());
        let rest =
            rows.iter().filter(own).filter_map(|row| Some((row, row.cells.get(j).filter(|cell| !cell.is_empty())?)));
        let rest = rest.map(|(row, cell)| format!("{}={}", misc_name(&row.name), cell.replace('|', "/")));
        let rest = rest.collect::<Vec<_>>().join("|");
        let columns = CONLLU.map(|name| column(name, j)).join("\t");
        let rest = if rest.is_empty() { "_" } else { &rest };
        let _ = writeln!(lines, "{}\t{word}\t{columns}\t{rest}", j + 1);
    }
    lines + "\n"
}

/// The columns of CoNLL-U behind the word that are lines of their own.
const CONLLU: [&str; 7] = ["lemma", "pos", "xpos", "morphology", "head", "relation", "enhanced"];
/// What the last column says of the layout, not of the word.
const LAYOUT: [&str; 3] = ["SpaceAfter", "SpacesAfter", "SpacesBefore"];

/// The sentences of a text in CoNLL-U: syntactic words, a line for each column and each name of the last one that has anything, and
/// translations that comments have, such as `# text_en`.
///
/// # Errors
/// The number of a line, from 1, and what is wrong with it.
pub fn read_conllu(text: &str) -> std::result::Result<Vec<GlossedSentence>, (usize, String)> {
    let mut sentences = Vec::new();
    let (mut words, mut texts): (Vec<Vec<&str>>, Vec<GlossedText>) = (Vec::new(), Vec::new());
    for (at, line) in text.lines().map(|line| line.trim_end_matches('\r')).chain([""]).enumerate() {
        if line.is_empty() {
            let texts = std::mem::take(&mut texts);
            if !words.is_empty() {
                sentences.push(GlossedSentence { texts, ..of_columns(&std::mem::take(&mut words)) });
            }
            continue;
        }
        if let Some(comment) = line.strip_prefix('#') {
            let text = comment.trim_start().strip_prefix("text_").and_then(|rest| rest.split_once('='));
            texts.extend(text.map(|(name, text)| GlossedText {
                name: name.trim().to_owned(),
                words: text.split_whitespace().map(str::to_owned).collect(),
                ..GlossedText::default()
            }));
            continue;
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, ..] = columns[..] else { continue };
        if columns.len() != 10 {
            return Err((at + 1, format!("has {} columns, and CoNLL-U has 10 with tabs between", columns.len())));
        }
        // 3-4 is one typed word of two, 5.1 one that nobody wrote
        if id.contains(['-', '.']) {
            continue;
        }
        if id.parse() != Ok(words.len() + 1) {
            return Err((at + 1, format!("begins with `{id}` where word {} is due", words.len() + 1)));
        }
        words.push(columns);
    }
    Ok(sentences)
}

/// The sentences of a file.
///
/// # Errors
/// A file that cannot be read, or the line that is wrong.
pub fn read_file(path: &Path) -> Result<Vec<GlossedSentence>> {
    let lines = LineReader::open(path)?.held().collect::<Result<Vec<String>>>()?;
    read_conllu(&lines.join("\n")).map_err(|(line, why)| Error::line(path, line, why))
}

fn of_columns(words: &[Vec<&str>]) -> GlossedSentence {
    let cell = |text: &str| if text == "_" { String::new() } else { text.replace('\u{a0}', " ") };
    let tier = |name: &str, cells: Vec<String>| GlossTier { name: name.to_owned(), cells, is_gloss: false };
    let columns = CONLLU.iter().enumerate();
    let mut tiers: Vec<GlossTier> =
        columns.map(|(n, name)| tier(name, words.iter().map(|columns| cell(columns[n + 2])).collect())).collect();
    let named = |columns: &Vec<&str>| -> Vec<(String, String)> {
        let parts = columns[9].split('|').filter_map(|part| part.split_once('='));
        parts.map(|(name, cell)| (name.to_owned(), cell.to_owned())).collect()
    };
    for (at, columns) in words.iter().enumerate() {
        for (name, cell) in named(columns).into_iter().filter(|(name, _)| !LAYOUT.contains(&name.as_str())) {
            let place = tiers.iter().position(|tier| tier.name == name).unwrap_or_else(|| {
                tiers.push(tier(&name, vec![String::new(); words.len()]));
                tiers.len() - 1
            });
            tiers[place].cells[at] = cell;
        }
    }
    tiers.retain(|tier| tier.cells.iter().any(|cell| !cell.is_empty()));
    GlossedSentence {
        words: words.iter().map(|columns| columns[1].to_owned()).collect(),
        tiers,
        ..GlossedSentence::default()
    }
}
