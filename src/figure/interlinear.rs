//! Floor 6: interlinear text: a sentence word by word, and under each word what is typed of it and what it is linked to in other
//! texts, as linguists print it (the Leipzig glossing rules of Comrie, Haspelmath and Bickel). Words that share one cell are
//! joined by full stops. A new format is one line of [`GLOSS_FORMATS`].

use std::fmt::Write as _;

use crate::figure::svg::escaped;
use crate::text::links::Links;

/// A line under the words: one cell for each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlossTier {
    pub name: String,
    /// Empty where a word has nothing.
    pub cells: Vec<String>,
}

/// A text that the words are linked to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlossedText {
    pub name: String,
    pub words: Vec<String>,
    /// From the words above to these.
    pub links: Links,
}

/// A sentence with all that stands below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlossedSentence {
    pub words: Vec<String>,
    /// What was typed by hand or comes with the words, such as lemmas.
    pub tiers: Vec<GlossTier>,
    /// Translations, of people or of models.
    pub texts: Vec<GlossedText>,
}

/// How interlinear text is written.
#[derive(Clone, Copy, Debug)]
pub struct GlossFormat {
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// Before the first sentence and behind the last.
    pub around: (&'static str, &'static str),
    /// One sentence by its number, from 1, its line ended.
    pub write: fn(&GlossedSentence, usize) -> String,
}

/// Every format.
pub const GLOSS_FORMATS: &[GlossFormat] = &[
    GlossFormat { name: "text", about: "Columns of plain text, for reading", around: ("", ""), write: text },
    GlossFormat {
        name: "html",
        about: "A page whose lines wrap between words",
        around: (
            "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>Interlinear text</title>\n<style>.word{display:inline-block;margin:0 .8em .4em \
             0;vertical-align:top}.word span{display:block;min-height:1.2em}.word span:first-child{font-weight:bold}</style>\n",
            "",
        ),
        write: html,
    },
    GlossFormat {
        name: "gb4e",
        about: "LaTeX with the package gb4e, or langsci-gb4e where there are more than two lines under the words",
        around: ("", ""),
        write: gb4e,
    },
    GlossFormat { name: "expex", about: "LaTeX with the package expex", around: ("", ""), write: expex },
    GlossFormat {
        name: "tikz",
        about: "LaTeX with TikZ: words in rows, and a line for every link, dashed where it is only possible",
        around: ("", ""),
        write: tikz,
    },
    GlossFormat {
        name: "conllu",
        about: "CoNLL-U, with what stands under a word in its last column",
        around: ("", ""),
        write: conllu,
    },
];

impl GlossedSentence {
    /// All lines under the words.
    pub fn rows(&self) -> Vec<GlossTier> {
        self.tiers.iter().cloned().chain(self.texts.iter().map(|text| text.row(self.words.len()))).collect()
    }
}

impl GlossedText {
    /// Under each word above the words that it is linked to, in their order.
    fn row(&self, words: usize) -> GlossTier {
        let mut cells = vec![Vec::new(); words];
        let mut links = self.links.all();
        links.sort_by_key(|(link, _)| link.target);
        for (link, _) in links {
            if let (Some(cell), Some(word)) = (cells.get_mut(link.source), self.words.get(link.target)) {
                cell.push(word.as_str());
            }
        }
        GlossTier { name: self.name.clone(), cells: cells.into_iter().map(|cell| cell.join(".")).collect() }
    }
}

/// Letters that a column needs.
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
        let _ =
            writeln!(lines, "{}  \u{2018}{}\u{2019} ({})", " ".repeat(wide(&mark)), text.words.join(" "), text.name);
    }
    lines + "\n"
}

fn html(sentence: &GlossedSentence, number: usize) -> String {
    let rows = sentence.rows();
    let mut page = format!("<div><span class=\"word\">({number})</span>");
    for (j, word) in sentence.words.iter().enumerate() {
        let cells = rows.iter().map(|row| row.cells.get(j).map_or("", String::as_str));
        let cells: String =
            std::iter::once(word.as_str()).chain(cells).map(|cell| format!("<span>{}</span>", escaped(cell))).collect();
        let _ = write!(page, "<span class=\"word\">{cells}</span>");
    }
    for text in &sentence.texts {
        let _ = write!(page, "<p>\u{2018}{}\u{2019} ({})</p>", escaped(&text.words.join(" ")), escaped(&text.name));
    }
    page + "</div>\n"
}

/// As LaTeX reads it.
fn latex(text: &str) -> String {
    let one = |c: char| match c {
        '#' | '$' | '%' | '&' | '_' | '{' | '}' => format!("\\{c}"),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '\\' => "\\textbackslash{}".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

/// A line of words for LaTeX, braces where there is none.
fn gloss_line(cells: &[String], words: usize) -> String {
    let cell = |j: usize| cells.get(j).filter(|cell| !cell.is_empty()).map_or("{}".to_owned(), |cell| latex(cell));
    (0..words).map(cell).collect::<Vec<_>>().join(" ")
}

fn gb4e(sentence: &GlossedSentence, _: usize) -> String {
    let (rows, words) = (sentence.rows(), sentence.words.len());
    // \gll has two lines, \glll three, and so on
    let mut example =
        format!("\\begin{{exe}}\n\\ex \\g{} {}", "l".repeat(rows.len() + 1), gloss_line(&sentence.words, words));
    for row in &rows {
        let _ = write!(example, "\\\\\n{}", gloss_line(&row.cells, words));
    }
    example += "\\\\\n";
    for text in &sentence.texts {
        let _ = writeln!(example, "\\glt `{}' ({})", latex(&text.words.join(" ")), latex(&text.name));
    }
    example + "\\end{exe}\n\n"
}

fn expex(sentence: &GlossedSentence, _: usize) -> String {
    let words = sentence.words.len();
    let mut example = format!("\\ex\n\\begingl\n\\gla {}//\n", gloss_line(&sentence.words, words));
    for row in sentence.rows() {
        let _ = writeln!(example, "\\glb {}//", gloss_line(&row.cells, words));
    }
    for text in &sentence.texts {
        let _ = writeln!(example, "\\glft `{}' ({})//", latex(&text.words.join(" ")), latex(&text.name));
    }
    example + "\\endgl\n\\xe\n\n"
}

fn tikz(sentence: &GlossedSentence, number: usize) -> String {
    let mut picture = format!("% ({number})\n\\begin{{tikzpicture}}[word/.style={{anchor=base west,inner sep=2pt}}]\n");
    let mut row = |name: &str, below: usize, words: &[String]| {
        for (j, word) in words.iter().enumerate() {
            let at = match j {
                0 => format!("at (0,{})", 0.0 - 1.6 * below as f32),
                _ => format!("at ([xshift=.6em]{name}{}.base east)", j - 1),
            };
            let _ = writeln!(picture, "\\node[word] ({name}{j}) {at} {{{}}};", latex(word));
        }
    };
    row("s", 0, &sentence.words);
    for (n, text) in sentence.texts.iter().enumerate() {
        row(&format!("t{n}x"), n + 1, &text.words);
    }
    for (n, text) in sentence.texts.iter().enumerate() {
        for (link, is_sure) in text.links.all() {
            let dashed = if is_sure { "" } else { "[dashed]" };
            let _ = writeln!(picture, "\\draw{dashed} (s{}.south) -- (t{n}x{}.north);", link.source, link.target);
        }
    }
    picture + "\\end{tikzpicture}\n\n"
}

fn conllu(sentence: &GlossedSentence, number: usize) -> String {
    let mut lines = format!("# sent_id = {number}\n# text = {}\n", sentence.words.join(" "));
    for text in &sentence.texts {
        let _ = writeln!(lines, "# text_{} = {}", text.name.replace([' ', '='], "_"), text.words.join(" "));
    }
    let rows = sentence.rows();
    let column = |name: &str, j: usize| {
        let cell = rows.iter().find(|row| row.name == name).and_then(|row| row.cells.get(j));
        cell.filter(|cell| !cell.is_empty()).map_or("_", String::as_str).replace(' ', "\u{a0}")
    };
    for (j, word) in sentence.words.iter().enumerate() {
        let own = |row: &&GlossTier| !CONLLU.contains(&row.name.as_str());
        let rest =
            rows.iter().filter(own).filter_map(|row| Some((row, row.cells.get(j).filter(|cell| !cell.is_empty())?)));
        let rest =
            rest.map(|(row, cell)| format!("{}={}", row.name.replace([' ', '=', '|'], "_"), cell.replace('|', "/")));
        let rest = rest.collect::<Vec<_>>().join("|");
        let [lemma, pos, xpos, morphology] = CONLLU.map(|name| column(name, j));
        let rest = if rest.is_empty() { "_" } else { &rest };
        let _ = writeln!(lines, "{}\t{word}\t{lemma}\t{pos}\t{xpos}\t{morphology}\t_\t_\t_\t{rest}", j + 1);
    }
    lines + "\n"
}

/// The columns of CoNLL-U behind the word that are lines of their own.
pub const CONLLU: [&str; 4] = ["lemma", "pos", "xpos", "morphology"];

/// The sentences of a text in CoNLL-U: syntactic words, and a line for each of [`CONLLU`] that has anything.
///
/// # Errors
/// The number of a line, from 1, and what is wrong with it.
pub fn read_conllu(text: &str) -> Result<Vec<GlossedSentence>, (usize, String)> {
    let mut sentences = Vec::new();
    let mut words: Vec<Vec<&str>> = Vec::new();
    for (at, line) in text.lines().map(|line| line.trim_end_matches('\r')).chain([""]).enumerate() {
        if line.is_empty() {
            if !words.is_empty() {
                sentences.push(of_columns(&std::mem::take(&mut words)));
            }
            continue;
        }
        if line.starts_with('#') {
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

fn of_columns(words: &[Vec<&str>]) -> GlossedSentence {
    let cell = |text: &str| if text == "_" { String::new() } else { text.to_owned() };
    let tiers = CONLLU.iter().enumerate().map(|(n, name)| GlossTier {
        name: (*name).to_owned(),
        cells: words.iter().map(|columns| cell(columns[n + 2])).collect(),
    });
    let tiers = tiers.filter(|tier| tier.cells.iter().any(|cell| !cell.is_empty())).collect();
    GlossedSentence { words: words.iter().map(|columns| columns[1].to_owned()).collect(), tiers, texts: Vec::new() }
}
