//! Interlinear text in and out of CoNLL-U, the format of Universal Dependencies: lemma, part of speech and morphology are
//! lines under the words, and so is what the last column has by name, such as `Gloss` and `Translit`.

use std::{ops::Range, path::Path};

use crate::interlinear::sentence::{GlossTier, GlossedSentence, GlossedText, WrittenSentence};
use engine::error::{Error, Result};
use engine::text::reader::LineReader;

/// The name of a row in the last column.
pub fn misc_name(name: &str) -> String {
    name.replace([' ', '=', '|'], "_")
}

/// A sentence: the lines of the file that it comes from, in which only what has changed is written again.
pub fn write(sentence: &GlossedSentence, number: usize) -> String {
    let lines = sentence.written.as_ref().map_or_else(|| plain(sentence, number), |written| written.lines.clone());
    let columns: Vec<Vec<&str>> =
        lines.iter().filter(|line| is_word(line)).map(|line| line.split('\t').collect()).collect();
    let (before, rows) = (of_columns(&columns), sentence.all_rows());
    let has_comment = |text: &String| lines.iter().any(|line| line.split_whitespace().eq(text.split_whitespace()));
    let comment = |text: &GlossedText| format!("# text_{} = {}", text.name.replace([' ', '='], "_"), text.text());
    let mut texts: Vec<String> = sentence.texts.iter().map(comment).filter(|text| !has_comment(text)).collect();
    let (mut file, mut words) = (String::new(), 0);
    for line in &lines {
        if !line.starts_with('#') {
            texts.drain(..).for_each(|text| file += &(text + "\n"));
        }
        if is_word(line) {
            file += &changed(&columns[words], words, &before, &rows);
            words += 1;
        } else {
            file += line;
        }
        file.push('\n');
    }
    file + "\n"
}

fn plain(sentence: &GlossedSentence, number: usize) -> Vec<String> {
    let text = sentence.text();
    let comments = [format!("# sent_id = {number}"), format!("# text = {text}")];
    let mut rest = text.trim();
    let words = sentence.words.iter().zip(1..).map(|(word, j)| {
        rest = rest.strip_prefix(word.as_str()).unwrap_or_default();
        let touches = rest.chars().next().is_some_and(|next| !next.is_whitespace());
        rest = rest.trim_start();
        format!("{j}\t{word}{}\t{}", "\t_".repeat(7), if touches { "SpaceAfter=No" } else { "_" })
    });
    comments.into_iter().chain(words).collect()
}

fn is_word(line: &str) -> bool {
    !line.starts_with('#') && line.split('\t').next().is_some_and(|id| !id.contains(['-', '.']))
}

/// The line of word `j`, from 0, with what stands under it now.
fn changed(columns: &[&str], j: usize, before: &GlossedSentence, rows: &[GlossTier]) -> String {
    let cell = |rows: &[GlossTier], is: &dyn Fn(&str) -> bool| -> String {
        let row = rows.iter().find(|row| is(&row.name));
        row.and_then(|row| row.cells.get(j)).cloned().unwrap_or_default()
    };
    let mut line = columns[..2].join("\t");
    for (name, own) in CONLLU.iter().zip(&columns[2..9]) {
        let now = cell(rows, &|row| row == *name);
        let is_same = now == cell(&before.tiers, &|row| row == *name);
        let now = if now.is_empty() { "_".to_owned() } else { now.replace(' ', "\u{a0}") };
        line = line + "\t" + if is_same { own } else { &now };
    }
    let is_new = |row: &&GlossTier| {
        let is_own = CONLLU.contains(&row.name.as_str()) || LAYOUT.contains(&row.name.as_str());
        !is_own && row.cells.get(j).is_some_and(|now| *now != cell(&before.tiers, &|name| name == row.name))
    };
    let new: Vec<(String, &String)> =
        rows.iter().filter(is_new).map(|row| (misc_name(&row.name), &row.cells[j])).collect();
    let name = |part: &str| part.split('=').next().unwrap_or_default().to_owned();
    let kept = columns[9].split('|').filter(|part| *part != "_" && !new.iter().any(|(new, _)| *new == name(part)));
    let new = new.iter().filter(|(_, cell)| !cell.is_empty());
    let new = new.map(|(name, cell)| format!("{name}={}", cell.replace('|', "/")));
    let rest = kept.map(str::to_owned).chain(new).collect::<Vec<_>>().join("|");
    line + "\t" + if rest.is_empty() { "_" } else { &rest }
}

const CONLLU: [&str; 7] = ["lemma", "pos", "xpos", "morphology", "head", "relation", "enhanced"];
const LAYOUT: [&str; 3] = ["SpaceAfter", "SpacesAfter", "SpacesBefore"];

const MOST_NAMES: usize = 1000;

/// The sentences of a text in CoNLL-U: syntactic words, a line for each column and each name of the last one that has anything,
/// translations that comments have, such as `# text_en`, and how it is written.
pub fn read_conllu(text: &str) -> std::result::Result<Vec<GlossedSentence>, (usize, String)> {
    let (mut sentences, mut open) = (Vec::new(), OpenSentence::default());
    for (at, line) in text.lines().map(|line| line.trim_end_matches('\r')).chain([""]).enumerate() {
        if !line.trim().is_empty() {
            open.take(at + 1, line).map_err(|why| (at + 1, why))?;
        } else if !open.words.is_empty() || !open.units.is_empty() {
            sentences.push(std::mem::take(&mut open).close()?);
        }
    }
    Ok(sentences)
}

#[derive(Default)]
struct OpenSentence<'a> {
    written: WrittenSentence,
    words: Vec<Vec<&'a str>>,
    texts: Vec<GlossedText>,
    units: Vec<(&'a str, Range<usize>, bool)>,
    unwritten: usize,
    range: usize,
}

impl<'a> OpenSentence<'a> {
    fn take(&mut self, number: usize, line: &'a str) -> std::result::Result<(), String> {
        if self.written.lines.is_empty() {
            self.written.line = number;
        }
        self.written.lines.push(line.to_owned());
        if let Some(comment) = line.strip_prefix('#') {
            self.comment(comment.trim_start());
            return Ok(());
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let (id, count) = (columns[0], columns.len());
        if count != 10 {
            return Err(format!("has {count} columns, and CoNLL-U has 10 with tabs between"));
        }
        let (due, covered) = (self.words.len() + 1, self.units.last().map_or(0, |unit| unit.1.end));
        let is_spaced = !columns[9].split('|').any(|part| part == "SpaceAfter=No");
        let of_two = |mark: char| {
            let (first, second) = id.split_once(mark)?;
            Some((first.parse::<usize>().ok()?, second.parse::<usize>().ok()?))
        };
        if let Some((first, last)) = of_two('-').filter(|(first, last)| *first == due && last > first && covered < due)
        {
            self.units.push((columns[1], first - 1..last, is_spaced));
            self.range = number;
        } else if of_two('.') == Some((due - 1, self.unwritten + 1)) {
            self.unwritten += 1;
        } else if id.parse() == Ok(due) {
            self.words.push(columns);
            self.unwritten = 0;
            if covered < due {
                self.units.push((self.words[due - 1][1], due - 1..due, is_spaced));
            }
        } else {
            return Err(format!("begins with `{id:.40}` where word {due} is due; a blank line parts sentences"));
        }
        Ok(())
    }

    fn comment(&mut self, comment: &str) {
        let Some((name, text)) = comment.split_once('=') else { return };
        match name.trim().strip_prefix("text") {
            Some("") => text.trim().clone_into(&mut self.written.text),
            Some(name) if name.starts_with('_') => self.texts.push(GlossedText {
                name: name[1..].to_owned(),
                words: text.split_whitespace().map(str::to_owned).collect(),
                ..GlossedText::default()
            }),
            _ if name.trim() == "sent_id" => text.trim().clone_into(&mut self.written.id),
            _ => {}
        }
    }

    fn close(mut self) -> std::result::Result<GlossedSentence, (usize, String)> {
        if let Some((form, words, _)) = self.units.last().filter(|unit| unit.1.end > self.words.len()) {
            let (first, last, missing) = (words.start + 1, words.end, self.words.len() + 1);
            let why = format!("has the words {first} to {last} as `{form}`, but word {missing} is not there");
            return Err((self.range, why));
        }
        if self.written.text.is_empty() {
            let spaced =
                self.units.iter().map(|(form, _, is_spaced)| [*form, if *is_spaced { " " } else { "" }].concat());
            spaced.collect::<String>().trim_end().clone_into(&mut self.written.text);
        }
        self.written.units = self.units.into_iter().map(|(form, words, _)| (form.to_owned(), words)).collect();
        let sentence = of_columns(&self.words);
        if sentence.tiers.len() > MOST_NAMES {
            let why = format!("begins a sentence with more than {MOST_NAMES} names in the last column");
            return Err((self.written.line, why));
        }
        Ok(GlossedSentence { texts: self.texts, written: Some(self.written), ..sentence })
    }
}

/// The sentences of a file.
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
            let known = tiers.iter().position(|tier| tier.name == name);
            // a sentence with more is refused
            let Some(place) = known.or_else(|| (tiers.len() <= MOST_NAMES + CONLLU.len()).then_some(tiers.len()))
            else {
                continue;
            };
            if known.is_none() {
                tiers.push(tier(&name, vec![String::new(); words.len()]));
            }
            tiers[place].cells[at] = cell;
        }
    }
    tiers.retain(|tier| tier.cells.iter().any(|cell| !cell.is_empty()));
    let words = words.iter().map(|columns| columns[1].to_owned()).collect();
    GlossedSentence { words, tiers, ..GlossedSentence::default() }
}
