//! Markdown as a list of blocks that a window can paint. `pulldown-cmark` reads it.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Words of one look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkdownSpan {
    pub text: String,
    pub strong: bool,
    pub emphasis: bool,
    /// What one types or reads in a file.
    pub code: bool,
    pub link: Option<String>,
}

/// A part of a page that stands by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkdownBlock {
    Heading {
        /// From 1, the greatest.
        level: usize,
        spans: Vec<MarkdownSpan>,
    },
    Text(Vec<MarkdownSpan>),
    /// A line of a list.
    Item {
        /// How deep the list lies in others, from 0.
        depth: usize,
        number: Option<u64>,
        spans: Vec<MarkdownSpan>,
    },
    /// Lines of a file or a terminal, as they are.
    Code(String),
    /// A table; the first row is its head.
    Table(Vec<Vec<Vec<MarkdownSpan>>>),
    Picture {
        path: String,
        shows: String,
    },
}

impl MarkdownBlock {
    /// Its words without their look.
    pub fn plain(&self) -> String {
        match self {
            Self::Heading { spans, .. } | Self::Text(spans) | Self::Item { spans, .. } => words(spans),
            Self::Code(text) => text.clone(),
            Self::Table(rows) => {
                let row =
                    |row: &Vec<Vec<MarkdownSpan>>| row.iter().map(|cell| words(cell)).collect::<Vec<_>>().join(" ");
                rows.iter().map(row).collect::<Vec<_>>().join("\n")
            }
            Self::Picture { shows, .. } => shows.clone(),
        }
    }
}

fn words(spans: &[MarkdownSpan]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

/// The blocks of a page, from top to bottom.
pub fn blocks(text: &str) -> Vec<MarkdownBlock> {
    let mut reader = Reader::default();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        reader.take(event);
    }
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<MarkdownBlock>,
    spans: Vec<MarkdownSpan>,
    look: MarkdownSpan,
    lists: Vec<Option<u64>>,
    in_item: bool,
    number: Option<u64>,
    code: Option<String>,
    rows: Vec<Vec<Vec<MarkdownSpan>>>,
    picture: Option<String>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.say(&text, false),
            },
            Event::Code(text) => self.say(&text, true),
            Event::SoftBreak | Event::HardBreak => self.say(" ", false),
            Event::Html(text) | Event::InlineHtml(text) => self.say(&text, false),
            // a rule says nothing; the others need options that are off
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::Rule => {}
        }
    }

    fn say(&mut self, text: &str, code: bool) {
        self.spans.push(MarkdownSpan { text: text.to_owned(), code, ..self.look.clone() });
    }

    fn open(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::List(first) => {
                self.paragraph();
                self.lists.push(first);
            }
            Tag::Item => {
                self.number = self.lists.last_mut().and_then(|next| {
                    let number = *next;
                    *next = number.map(|number| number + 1);
                    number
                });
                self.in_item = true;
            }
            Tag::CodeBlock(_) => {
                self.paragraph();
                self.code = Some(String::new());
            }
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            Tag::Strong => self.look.strong = true,
            Tag::Emphasis => self.look.emphasis = true,
            Tag::Link { dest_url, .. } => self.look.link = Some(dest_url.into_string()),
            Tag::Image { dest_url, .. } => {
                self.paragraph();
                self.picture = Some(dest_url.into_string());
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let spans = std::mem::take(&mut self.spans);
                self.blocks.push(MarkdownBlock::Heading { level: number(level), spans });
            }
            TagEnd::Paragraph => self.paragraph(),
            TagEnd::Item => {
                self.paragraph();
                (self.in_item, self.number) = (false, None);
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::CodeBlock => self.blocks.extend(self.code.take().map(MarkdownBlock::Code)),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.blocks.push(MarkdownBlock::Table(std::mem::take(&mut self.rows))),
            TagEnd::Strong => self.look.strong = false,
            TagEnd::Emphasis => self.look.emphasis = false,
            TagEnd::Link => self.look.link = None,
            TagEnd::Image => {
                let shows = words(&std::mem::take(&mut self.spans));
                self.blocks.extend(self.picture.take().map(|path| MarkdownBlock::Picture { path, shows }));
            }
            _ => {}
        }
    }

    fn paragraph(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        let depth = self.lists.len().saturating_sub(1);
        let is_item = std::mem::take(&mut self.in_item);
        let number = self.number.take();
        self.blocks.push(if is_item {
            MarkdownBlock::Item { depth, number, spans }
        } else {
            MarkdownBlock::Text(spans)
        });
    }
}

fn number(level: HeadingLevel) -> usize {
    level as usize
}
