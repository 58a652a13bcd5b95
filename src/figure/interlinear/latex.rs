//! Interlinear text as LaTeX, for the packages that linguists use.

use std::fmt::Write as _;

use crate::interlinear::leipzig::{Abbreviation, labelled};
use crate::interlinear::sentence::{GlossTier, GlossedSentence, GlossedText};
use engine::text::commands::is_turn;

/// As LaTeX reads it.
fn latex(text: &str) -> String {
    let one = |c: char| match c {
        '#' | '$' | '%' | '&' | '_' | '{' | '}' => format!("\\{c}"),
        '~' => "\\textasciitilde{}".to_owned(),
        '^' => "\\textasciicircum{}".to_owned(),
        '\\' => "\\textbackslash{}".to_owned(),
        '\u{200B}' | '\u{200E}'..='\u{200F}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' => String::new(),
        // the mark of Arabic letters, too
        c if is_turn(c) || u32::from(c) == 0x61c => String::new(),
        c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => " ".to_owned(),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

fn cell(text: &str, is_gloss: bool) -> String {
    let part = |(part, is_label): (&str, bool)| {
        if is_label && is_gloss { format!("\\textsc{{{}}}", latex(&part.to_lowercase())) } else { latex(part) }
    };
    let cell: String = labelled(text).into_iter().map(part).collect();
    if cell.is_empty() || cell.contains(' ') { format!("{{{cell}}}") } else { cell }
}

fn gloss_line(cells: &[String], words: usize, is_gloss: bool) -> String {
    (0..words).map(|j| cell(cells.get(j).map_or("", String::as_str), is_gloss)).collect::<Vec<_>>().join(" ")
}

fn lines(rows: &[GlossTier], words: usize) -> String {
    rows.iter().map(|row| format!("\\\\\n{}", gloss_line(&row.cells, words, row.is_gloss))).collect()
}

fn translations(sentence: &GlossedSentence) -> String {
    let one = |text: &GlossedText| format!("\\glt `{}' ({})\n", latex(&text.text()), latex(&text.name));
    sentence.texts.iter().map(one).collect()
}

/// What labels mean, as a paragraph.
pub fn list(known: &[Abbreviation]) -> String {
    let one = |(label, meaning): &Abbreviation| format!("\\textsc{{{}}} {meaning}", label.to_lowercase());
    format!("\\noindent {}\n", known.iter().map(one).collect::<Vec<_>>().join(", "))
}

pub fn gb4e(sentence: &GlossedSentence, _: usize) -> String {
    let mut rows = sentence.rows();
    let left_out: Vec<String> = rows.drain(rows.len().min(2)..).map(|row| row.name).collect();
    let note = match left_out.as_slice() {
        [] => String::new(),
        names => {
            format!("% gb4e has two lines under the words; langsci and expex have these, too: {}\n", names.join(", "))
        }
    };
    format!("{note}\\begin{{exe}}\n\\ex {}\\end{{exe}}\n\n", glossed(sentence, &rows))
}

/// The package langsci-gb4e, with its own marks of an example.
pub fn langsci(sentence: &GlossedSentence, _: usize) -> String {
    format!("\\ea\n{}\\z\n\n", glossed(sentence, &sentence.rows()))
}

fn glossed(sentence: &GlossedSentence, rows: &[GlossTier]) -> String {
    let words = sentence.words.len();
    let (command, first) = ("l".repeat(rows.len() + 1), gloss_line(&sentence.words, words, false));
    format!("\\g{command} {first}{}\\\\\n{}", lines(rows, words), translations(sentence))
}

pub fn expex(sentence: &GlossedSentence, _: usize) -> String {
    let words = sentence.words.len();
    let mut example = format!("\\ex\n\\begingl\n\\gla {}//\n", gloss_line(&sentence.words, words, false));
    for row in sentence.rows() {
        let _ = writeln!(example, "\\glb {}//", gloss_line(&row.cells, words, row.is_gloss));
    }
    for text in &sentence.texts {
        let _ = writeln!(example, "\\glft `{}' ({})//", latex(&text.text()), latex(&text.name));
    }
    example + "\\endgl\n\\xe\n\n"
}

/// Between two lines of a node, centimetres.
const LINE: f32 = 0.45;

/// Words in rows with what is typed under them, and a line for every link: from the sentence to each text, or from text to text.
pub fn tikz(sentence: &GlossedSentence, number: usize) -> String {
    let tiers: Vec<GlossTier> = sentence.rows().into_iter().filter(|row| !sentence.has_text(&row.name)).collect();
    let (align, high) = if tiers.is_empty() { ("", 0.0) } else { (",align=left", LINE * tiers.len() as f32) };
    let mut picture =
        format!("% ({number})\n\\begin{{tikzpicture}}[word/.style={{anchor=base west,inner sep=2pt{align}}}]\n");
    let mut row = |name: &str, below: usize, words: &[String]| {
        for (j, word) in words.iter().enumerate() {
            let at = match j {
                0 if below > 0 => format!("at (0,{})", 0.0 - 1.6 * below as f32 - high),
                0 => "at (0,0)".to_owned(),
                _ => format!("at ([xshift=.6em]{name}{}.base east)", j - 1),
            };
            let under = tiers.iter().filter(|_| below == 0);
            let under = under.map(|tier| {
                format!("\\\\{}\\strut", gloss_line(tier.cells.get(j..=j).unwrap_or_default(), 1, tier.is_gloss))
            });
            let _ =
                writeln!(picture, "\\node[word] ({name}{j}) {at} {{{}{}}};", latex(word), under.collect::<String>());
        }
    };
    row("s", 0, &sentence.words);
    for (n, text) in sentence.texts.iter().enumerate() {
        row(&format!("t{n}x"), n + 1, &text.words);
    }
    for (n, text) in sentence.texts.iter().enumerate() {
        let above = match &text.between {
            Some(_) => format!("t{}x", n - 1),
            None => "s".to_owned(),
        };
        for (link, is_sure) in text.between.as_ref().unwrap_or(&text.links).all() {
            let dashed = if is_sure { "" } else { "[dashed]" };
            let _ = writeln!(picture, "\\draw{dashed} ({above}{}.south) -- (t{n}x{}.north);", link.source, link.target);
        }
    }
    picture + "\\end{tikzpicture}\n\n"
}
