//! A lesson on paper: a page of HTML for the class, with room for answers, and one with the solutions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::{files::picture::FigureRequest, files::work::FileEvent, files::work::write_whole};
use crate::session::lessons::script::{Ask, Script, ScriptPage, ScriptPart};
use engine::lang;
use engine::text::markdown::{MarkdownBlock, MarkdownSpan};
use figure::svg::bare;
use figure::{Figure, svg};

/// A page's picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Paper {
    Column(Box<FigureRequest>),
    Machine(Arc<Figure<'static>>),
    /// An alignment that the class draws itself: source words, target words.
    Grid(Vec<String>, Vec<String>),
}

impl Paper {
    /// As HTML; `None` where it cannot be drawn.
    pub fn html(&self) -> Option<String> {
        match self {
            Self::Column(picture) => String::from_utf8(picture.bytes(Path::new("figure.svg")).ok()?).ok(),
            Self::Machine(figure) => Some(svg::svg(figure)),
            Self::Grid(source, target) => Some(grid_html(source, target)),
        }
    }
}

/// A cell for each target and source word, with nothing in it.
pub fn grid_html(source: &[String], target: &[String]) -> String {
    let head: String = source.iter().map(|word| format!("<th>{}</th>", escaped(word))).collect();
    let cells = "<td></td>".repeat(source.len());
    let row = |word: &String| format!("<tr><th>{}</th>{cells}</tr>", escaped(word));
    let rows: String = target.iter().map(row).collect();
    format!("<table class=\"grid\"><tr><td></td>{head}</tr>{rows}</table>")
}

/// A page's words and pictures on paper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnPaper<P = String> {
    /// Whose words, and the words: the sentence, and what each model makes of it.
    pub said: Vec<(String, String)>,
    /// As HTML, once they are drawn.
    pub pictures: Vec<P>,
}

const STYLE: &str = "body{font:12pt/1.45 Georgia,serif;max-width:44em;margin:2em auto;padding:0 1em;color:#111;background:#fff}\
h1{font-size:1.7em}h2{font-size:1.2em;margin-top:1.6em;break-after:avoid}code{font-size:.9em}\
section{break-inside:avoid}.pictures{display:flex;gap:1em;align-items:flex-start}\
.pictures figure{flex:1 1 0;min-width:0}.grid td,.grid th{min-width:2.2em;height:1.6em;text-align:center;font-weight:normal}\
@media print{body{font-size:10pt;margin:0}h2{margin-top:.8em}figure svg{max-height:7cm}}table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2em .6em;text-align:left}\
.said{display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em;margin:.6em 0;font-style:italic}\
.said dt{font-style:normal;color:#555}.said dd{margin:0}.do{border-left:3px solid #888;padding-left:.8em;margin:.6em 0}.ask{border:1px solid #888;padding:.6em .9em;margin:.8em 0}\
.ask ul{list-style:none;padding-left:.4em}.room{height:5em;border-bottom:1px dotted #888}figure{margin:.8em 0}\
figure svg{max-width:100%;height:auto}";

pub fn solutions_path(path: &Path) -> PathBuf {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    path.with_file_name(format!("{stem}-solutions.html"))
}

/// The lesson for the class: on each page what is there before anything is done, the task, and the questions. `shown` is
/// what its pages show, in their order, by page from 0.
pub fn handout(script: &Script, shown: &[(usize, OnPaper)]) -> String {
    let page = |(n, page): (usize, &ScriptPage)| {
        let first = of_page(shown, n).next().map_or_else(String::new, |first| shown_html(first, None));
        let parts: String = before_done(page).chain(asked(page)).map(part_html).collect();
        format!("<section><h2>{}. {}</h2>\n{first}{parts}</section>\n", n + 1, escaped(&page.heading))
    };
    let body: String = blocks_html(&script.about) + &script.pages.iter().enumerate().map(page).collect::<String>();
    document(&script.title, &body)
}

/// For the teacher: what comes of each task, with its picture, and the answers.
pub fn solutions(script: &Script, shown: &[(usize, OnPaper)]) -> String {
    let mut body = String::new();
    for (n, page) in script.pages.iter().enumerate() {
        let first = of_page(shown, n).next();
        let pictures: String = of_page(shown, n).skip(1).map(|shown| shown_html(shown, first)).collect();
        let is_text = |part: &&ScriptPart| matches!(part, ScriptPart::Text(_));
        let behind = page.parts.iter().skip(before_done(page).count()).filter(is_text).map(part_html);
        let asks = page.asks().map(solution_html);
        let found: String = std::iter::once(pictures).chain(behind).chain(asks).collect();
        if !found.is_empty() {
            body += &format!("<section><h2>{}. {}</h2>{found}</section>\n", n + 1, escaped(&page.heading));
        }
    }
    document(&tr!("Solutions: {}", script.title), &body)
}

fn of_page(shown: &[(usize, OnPaper)], n: usize) -> impl Iterator<Item = &OnPaper> {
    shown.iter().filter(move |(page, _)| *page == n).map(|(_, shown)| shown)
}

fn is_wait(part: &ScriptPart) -> bool {
    matches!(part, ScriptPart::Wait(_))
}

/// The parts of a page to its first task: what is behind one speaks of what came of it.
fn before_done(page: &ScriptPage) -> impl Iterator<Item = &ScriptPart> {
    page.parts.iter().take_while(|part| !is_wait(part))
}

/// The tasks, and the questions behind the first one.
fn asked(page: &ScriptPage) -> impl Iterator<Item = &ScriptPart> {
    let is_asked = |part: &&ScriptPart| matches!(part, ScriptPart::Wait(_) | ScriptPart::Ask(_));
    page.parts.iter().skip_while(|part| !is_wait(part)).filter(is_asked)
}

fn document(title: &str, body: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style></head>\n\
         <body>\n<h1>{title}</h1>\n{body}</body></html>\n",
        lang::spoken().code()
    )
}

/// Without what was shown already.
fn shown_html(shown: &OnPaper, already: Option<&OnPaper>) -> String {
    let line = |(whose, words): &(String, String)| format!("<dt>{}</dt><dd>{}</dd>", escaped(whose), escaped(words));
    let is_new = already.is_none_or(|already| already.said != shown.said) && !shown.said.is_empty();
    let said: String = shown.said.iter().filter(|_| is_new).map(line).collect();
    let said = if is_new { format!("<dl class=\"said\">{said}</dl>\n") } else { said };
    let is_other = |svg: &&String| already.is_none_or(|already| !already.pictures.contains(svg));
    let picture = |svg: &String| format!("<figure>{}</figure>\n", bare(svg));
    let pictures: String = shown.pictures.iter().filter(is_other).map(picture).collect();
    if pictures.is_empty() { said } else { format!("{said}<div class=\"pictures\">{pictures}</div>\n") }
}

fn part_html(part: &ScriptPart) -> String {
    match part {
        ScriptPart::Text(blocks) => blocks_html(blocks),
        ScriptPart::Wait(wait) => {
            let task = wait.paper.as_ref().map(|task| format!("<p class=\"do\">{}</p>\n", escaped(task)));
            task.unwrap_or_default()
        }
        ScriptPart::Ask(ask) => ask_html(ask),
        ScriptPart::Do(_) | ScriptPart::Light(_) => String::new(),
    }
}

fn ask_html(ask: &Ask) -> String {
    let choices: String =
        ask.choices.iter().map(|choice| format!("<li>&#9744; {}</li>", escaped(choice.text()))).collect();
    let room = if choices.is_empty() { "<div class=\"room\"></div>".to_owned() } else { format!("<ul>{choices}</ul>") };
    format!("<div class=\"ask\"><strong>{}</strong>{room}</div>\n", escaped(&ask.question))
}

fn solution_html(ask: &Ask) -> String {
    let why = if ask.why.is_empty() { String::new() } else { format!("<p>{}</p>", escaped(&ask.why)) };
    format!(
        "<div class=\"ask\"><strong>{}</strong><p>{}</p>{why}</div>\n",
        escaped(&ask.question),
        escaped(&ask.solution())
    )
}

fn blocks_html(blocks: &[MarkdownBlock]) -> String {
    let mut html = String::new();
    let mut list = None;
    for block in blocks {
        let wanted = match block {
            MarkdownBlock::Item { number, .. } => Some(if number.is_some() { "ol" } else { "ul" }),
            _ => None,
        };
        if wanted != list {
            html += &list.map_or_else(String::new, |tag| format!("</{tag}>\n"));
            html += &wanted.map_or_else(String::new, |tag| format!("<{tag}>"));
            list = wanted;
        }
        html += &block_html(block);
    }
    html + &list.map_or_else(String::new, |tag| format!("</{tag}>\n"))
}

fn block_html(block: &MarkdownBlock) -> String {
    match block {
        MarkdownBlock::Heading { level, spans } => {
            let level = (level + 1).min(6);
            format!("<h{level} id=\"{}\">{}</h{level}>\n", escaped(&anchor(spans)), spans_html(spans))
        }
        MarkdownBlock::Text(spans) => format!("<p>{}</p>\n", spans_html(spans)),
        MarkdownBlock::Item { spans, .. } => format!("<li>{}</li>", spans_html(spans)),
        MarkdownBlock::Code(text) => format!("<pre><code>{}</code></pre>\n", escaped(text)),
        MarkdownBlock::Table(rows) => {
            let cell = |cell: &Vec<MarkdownSpan>| format!("<td>{}</td>", spans_html(cell));
            let row = |row: &Vec<Vec<MarkdownSpan>>| format!("<tr>{}</tr>", row.iter().map(cell).collect::<String>());
            format!("<table>{}</table>\n", rows.iter().map(row).collect::<String>())
        }
        MarkdownBlock::Picture { path, shows } => {
            format!("<figure><img src=\"{}\" alt=\"{}\"></figure>\n", escaped(path), escaped(shows))
        }
    }
}

fn spans_html(spans: &[MarkdownSpan]) -> String {
    spans.iter().map(span_html).collect()
}

/// A page of the manual for a browser; its links to other pages lead to their files.
pub fn manual_page(blocks: &[MarkdownBlock]) -> String {
    let title = blocks.first().map(MarkdownBlock::plain).unwrap_or_default();
    document(&title, &blocks_html(blocks.get(1..).unwrap_or_default()))
}

/// How a heading is called in links: its words in small letters, with hyphens between.
fn anchor(spans: &[MarkdownSpan]) -> String {
    let text: String = spans.iter().map(|span| span.text.as_str()).collect::<String>().to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric() || "- _".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Links lead to the web or to other pages of the manual; those into the program lead nowhere.
fn span_html(span: &MarkdownSpan) -> String {
    let mut html = escaped(&span.text);
    let leads = |link: &&String| {
        link.starts_with("http") || link.starts_with('#') || !link.contains('/') && link.contains(".md")
    };
    if let Some(link) = span.link.as_ref().filter(leads) {
        html = format!("<a href=\"{}\">{html}</a>", escaped(&link.replacen(".md", ".html", 1)));
    }
    for (is_on, tag) in [(span.code, "code"), (span.emphasis, "em"), (span.strong, "strong")] {
        if is_on {
            html = format!("<{tag}>{html}</{tag}>");
        }
    }
    html
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A picture that cannot be drawn is left out: the text is what counts.
pub(super) fn write(path: &Path, script: &Script, shown: Vec<(usize, OnPaper<Paper>)>) -> FileEvent {
    let drawn = |(page, shown): (usize, OnPaper<Paper>)| {
        (page, OnPaper { said: shown.said, pictures: shown.pictures.iter().filter_map(Paper::html).collect() })
    };
    let shown: Vec<(usize, OnPaper)> = shown.into_iter().map(drawn).collect();
    let beside = solutions_path(path);
    let written = write_whole(path, handout(script, &shown).as_bytes())
        .and_then(|()| write_whole(&beside, solutions(script, &shown).as_bytes()));
    match written {
        Ok(()) => FileEvent::Notice { text: tr!("Saved {} and {}", path.display(), beside.display()), is_error: false },
        Err(error) => FileEvent::failed(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::lessons::script::read;

    #[test]
    fn solutions_stand_apart_and_nothing_of_a_lesson_becomes_markup() {
        let text = "title = 'A < B'\n[[page]]\nheading = 'One'\npart = [\n{ text = '- **x** & y' },\n\
            { ask = { question = 'Which <b>?', choices = [{ wrong = 'left' }, { right = 'right' }], why = 'since' } },\n\
            { wait = { for = { page = 'steps' }, say = 'Click it.', paper = 'Look at it.' } },\n\
            { text = 'It turned out so.' },\n{ ask = { question = 'And now?', answer = 'so' } },\n]\n";
        let script = read(text).expect("it can be read");
        let said = vec![("English".to_owned(), "a < b".to_owned()), ("RNNsearch".to_owned(), "c".to_owned())];
        let shown = OnPaper { said, pictures: vec!["<?xml?><svg id=\"f\"></svg>".to_owned()] };
        let shown = [(0, shown)];
        let class = handout(&script, &shown);
        for part in [
            "<h1>A &lt; B</h1>",
            "<ul><li><strong>x</strong> &amp; y</li></ul>",
            "&#9744; right",
            "Look at it.",
            "<dt>English</dt><dd>a &lt; b</dd><dt>RNNsearch</dt><dd>c</dd>",
            "<figure><svg",
        ] {
            assert!(class.contains(part), "{part} is not in {class}");
        }
        assert!(class.contains("And now?") && !class.contains("turned out"), "what comes of a task is no part of it");
        assert!(!class.contains("since") && !class.contains("Click") && !class.contains("<b>"), "{class}");
        let teacher = solutions(&script, &shown);
        assert!(teacher.contains("<p>right</p><p>since</p>") && !teacher.contains(">left<"), "{teacher}");
        assert!(teacher.contains("It turned out so."), "{teacher}");
        let grid = grid_html(&["a".to_owned(), "b".to_owned()], &["<c>".to_owned()]);
        assert!(grid.contains("<th>&lt;c&gt;</th><td></td><td></td></tr>"), "{grid}");
        assert_eq!(solutions_path(Path::new("a/b.html")), Path::new("a/b-solutions.html"));
    }
}
