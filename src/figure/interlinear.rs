//! Interlinear text: a sentence word by word, and under each word what is typed of it and what it is linked to in other
//! texts, as linguists print it (the Leipzig glossing rules of Comrie, Haspelmath and Bickel). Words that share one cell are
//! joined by full stops. A new format is one line of [`GLOSS_FORMATS`].

pub mod conllu;
mod latex;
pub mod leipzig;
pub mod picture;
mod sentence;

use std::fmt::Write as _;

use crate::interlinear::latex::{expex, gb4e, langsci, tikz};
use crate::interlinear::leipzig::{Abbreviation, labelled, used};
use crate::{formats::FORMATS, svg::escaped};

pub use crate::interlinear::sentence::{GlossTier, GlossedSentence, GlossedText, UNSEEN, through};

/// How interlinear text is written.
#[derive(Clone, Copy, Debug)]
pub struct GlossFormat {
    pub name: &'static str,
    pub ending: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// Before the first sentence and behind the last.
    pub around: (&'static str, &'static str),
    /// One sentence by its number, from 1, its line ended.
    write: SentenceWriter,
    /// What the labels of grammar mean, below all sentences.
    list: fn(&[Abbreviation]) -> String,
}

type SentenceWriter = fn(&GlossedSentence, usize) -> String;

pub const GLOSS_FORMATS: &[GlossFormat] = &[
    GlossFormat::new(["text", "txt", id!("Columns of plain text, for reading")], text, leipzig::text),
    GlossFormat {
        around: (
            "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Interlinear text</title>\n<style>.word{display:inline-block;margin:0 .8em .4em \
             0;vertical-align:top}.word span{display:block;min-height:1.2em}.word span:first-child{font-weight:bold}small{font-size:inherit;font-variant:small-caps}</style>\n",
            "",
        ),
        ..GlossFormat::new(["html", "html", id!("A page whose lines wrap between words")], html, leipzig::html)
    },
    GlossFormat::latex("gb4e", id!("LaTeX with the package gb4e: at most two lines under the words"), gb4e),
    GlossFormat::latex("langsci", id!("LaTeX with the package langsci-gb4e, for any number of lines"), langsci),
    GlossFormat::latex("expex", id!("LaTeX with the package expex"), expex),
    GlossFormat::latex(
        "tikz",
        id!("LaTeX with TikZ: words in rows, and a line for every link, dashed where it is only possible"),
        tikz,
    ),
    GlossFormat::new(
        ["conllu", "conllu", id!("CoNLL-U, with what else stands under a word in its last column")],
        conllu::write,
        |_| String::new(),
    ),
];

/// Name, ending and purpose of every format, pictures among them.
pub fn formats() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let texts = GLOSS_FORMATS.iter().map(|format| (format.name, format.ending, format.about));
    texts.chain(FORMATS.iter().map(|format| (format.name, format.name, format.about)))
}

impl GlossFormat {
    const fn new(texts: [&'static str; 3], write: SentenceWriter, list: fn(&[Abbreviation]) -> String) -> Self {
        let [name, ending, about] = texts;
        Self { name, ending, about, around: ("", ""), write, list }
    }

    const fn latex(name: &'static str, about: &'static str, write: SentenceWriter) -> Self {
        Self::new([name, "tex", about], write, latex::list)
    }

    /// Sentences as a whole file, with what their labels of grammar mean at the end.
    pub fn file(&self, sentences: &[GlossedSentence]) -> String {
        let mut file = self.around.0.to_owned();
        file.extend(sentences.iter().enumerate().map(|(n, sentence)| (self.write)(sentence, n + 1)));
        let known = known(sentences);
        if !known.is_empty() {
            file += &(self.list)(&known);
        }
        file + self.around.1
    }
}

fn known(sentences: &[GlossedSentence]) -> Vec<Abbreviation> {
    let glosses = sentences.iter().flat_map(|sentence| &sentence.tiers).filter(|tier| tier.is_gloss);
    used(glosses.flat_map(|tier| &tier.cells).map(String::as_str))
}

fn wide(text: &str) -> usize {
    text.chars().count()
}

fn text(sentence: &GlossedSentence, number: usize) -> String {
    let mut rows: Vec<Vec<String>> = vec![sentence.words.clone()];
    rows.extend(sentence.rows().into_iter().map(|row| row.cells));
    let shown = |cell: Option<&String>| cell.filter(|cell| !cell.is_empty()).map_or("-", String::as_str).to_owned();
    let width = |j: usize| rows.iter().map(|row| wide(&shown(row.get(j)))).max().unwrap_or(0);
    let widths: Vec<usize> = (0..sentence.words.len()).map(width).collect();
    let mark = format!("({number})");
    let mut lines = String::new();
    for (n, row) in rows.iter().enumerate() {
        let mut line = if n == 0 { mark.clone() } else { " ".repeat(wide(&mark)) };
        for (j, width) in widths.iter().enumerate() {
            let cell = shown(row.get(j));
            let _ = write!(line, "  {cell}{}", " ".repeat(width - wide(&cell)));
        }
        lines += line.trim_end();
        lines.push('\n');
    }
    for text in &sentence.texts {
        let _ = writeln!(lines, "{}  \u{2018}{}\u{2019} ({})", " ".repeat(wide(&mark)), text.text(), text.name);
    }
    lines + "\n"
}

fn html(sentence: &GlossedSentence, number: usize) -> String {
    let rows = sentence.rows();
    let mut page = format!("<div><span class=\"word\">({number})</span>");
    for (j, word) in sentence.words.iter().enumerate() {
        let cells = rows.iter().map(|row| {
            let cell = row.cells.get(j).map_or("", String::as_str);
            let small = |(part, is_label): (&str, bool)| {
                if is_label { format!("<small>{}</small>", escaped(&part.to_lowercase())) } else { escaped(part) }
            };
            if row.is_gloss { labelled(cell).into_iter().map(small).collect() } else { escaped(cell) }
        });
        let cells = std::iter::once(escaped(word)).chain(cells);
        let _ = write!(
            page,
            "<span class=\"word\">{}</span>",
            cells.map(|cell| format!("<span>{cell}</span>")).collect::<String>()
        );
    }
    for text in &sentence.texts {
        let _ = write!(page, "<p>\u{2018}{}\u{2019} ({})</p>", escaped(&text.text()), escaped(&text.name));
    }
    page + "</div>\n"
}
