//! The pages of the manual, which are the files of `assets/manual`.

use std::sync::OnceLock;

use egui::TextureHandle;

use engine::lang;
use engine::text::markdown::{MarkdownBlock, blocks};
use engine::text::words::folded;

/// A page of the manual.
pub struct ManualPage {
    pub file: &'static str,
    pub blocks: Vec<MarkdownBlock>,
}

impl ManualPage {
    pub fn title(&self) -> String {
        self.blocks.first().map(MarkdownBlock::plain).unwrap_or_default()
    }
}

/// The pages of a folder of `assets`, the contents first.
macro_rules! files {
    ($folder:literal) => {
        files![$folder:
            "README.md",
            "first-steps.md",
            "sentence.md",
            "acting.md",
            "steps.md",
            "teaching.md",
            "pages.md",
            "keys.md",
            "figures.md",
            "command-line.md",
            "search.md",
            "evaluation.md",
            "corpus.md",
            "aligner.md",
            "phrase-tables.md",
            "plane.md",
            "models.md",
            "training.md",
            "install.md",
            "browser.md",
            "python.md",
        ]
    };
    ($folder:literal: $($file:literal),* $(,)?) => {
        &[$(($file, include_str!(concat!("../../../assets/", $folder, $file)))),*]
    };
}

macro_rules! pictures {
    ($($file:literal),* $(,)?) => {
        &[$(($file, include_bytes!(concat!("../../../assets/manual/", $file)))),*]
    };
}

const FILES: &[(&str, &str)] = files!["manual/"];

pub const PICTURES: &[(&str, &[u8])] =
    pictures!["pictures/heatmap.png", "pictures/links.png", "pictures/beam.png", "pictures/local.png"];

/// Every page, the contents first, in the language of the thread or else in English.
pub fn pages() -> &'static [ManualPage] {
    static READ: [OnceLock<Vec<ManualPage>>; lang::COUNT] = [const { OnceLock::new() }; lang::COUNT];
    READ[lang::spoken() as usize].get_or_init(|| {
        let translated = translated::of(lang::spoken());
        let text = |file: &str| translated.iter().find(|(other, _)| *other == file).map(|(_, text)| at_home(text));
        let page = |(file, own): &(&'static str, &str)| {
            let blocks = text(file).map_or_else(|| blocks(own), |text| blocks(&text));
            ManualPage { file, blocks }
        };
        FILES.iter().map(page).collect()
    })
}

/// A page of another folder whose links work as those of the English pages.
fn at_home(text: &str) -> String {
    let beside = text.replace("../../../manual/", "");
    beside.replace("../../../../", "../../").replace("../../../", "../")
}

/// The pages in other languages; a browser leaves them out.
mod translated {
    use engine::lang::Language;

    pub(super) fn of(language: Language) -> &'static [(&'static str, &'static str)] {
        match language {
            #[cfg(not(target_family = "wasm"))]
            Language::French => files!["lang/fr/manual/"],
            #[cfg(not(target_family = "wasm"))]
            Language::German => files!["lang/de/manual/"],
            _ => &[],
        }
    }
}

const MOST_BEFORE: usize = 100;

/// What the manual remembers between frames.
#[derive(Default)]
pub struct ManualLocal {
    pub page: usize,
    pub query: String,
    found: (String, Vec<ManualHit>),
    pub before: Vec<usize>,
    pub goes_to: Option<usize>,
    pub pictures: Vec<(String, TextureHandle)>,
}

impl ManualLocal {
    pub fn open(&mut self, page: usize, block: Option<usize>) {
        if page != self.page {
            if self.before.len() == MOST_BEFORE {
                self.before.remove(0);
            }
            self.before.push(self.page);
        }
        (self.page, self.goes_to) = (page, Some(block.unwrap_or(0)));
        self.query.clear();
    }

    pub fn hits(&mut self) -> &[ManualHit] {
        if self.found.0 != self.query {
            self.found = (self.query.clone(), search(&self.query));
        }
        &self.found.1
    }

    pub fn back(&mut self) {
        if let Some(page) = self.before.pop() {
            (self.page, self.goes_to) = (page, Some(0));
        }
        self.query.clear();
    }
}

/// A result of a search: a page and one of its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualHit {
    pub page: usize,
    pub block: usize,
    pub excerpt: String,
}

const MOST_HITS: usize = 40;

const AROUND: usize = 40;

/// Blocks with every word of `query`, without case and apostrophes; headings first.
pub fn search(query: &str) -> Vec<ManualHit> {
    let wanted: Vec<String> = query.split_whitespace().map(folded).collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for (page, content) in pages().iter().enumerate() {
        for (block, found) in content.blocks.iter().enumerate() {
            let text = found.plain();
            let low = folded(&text);
            if wanted.iter().all(|word| low.contains(word)) {
                let is_heading = matches!(found, MarkdownBlock::Heading { .. });
                hits.push((!is_heading, ManualHit { page, block, excerpt: excerpt(&text, &wanted[0]) }));
            }
        }
    }
    hits.sort_by_key(|(behind, _)| *behind);
    hits.into_iter().map(|(_, hit)| hit).take(MOST_HITS).collect()
}

fn excerpt(text: &str, word: &str) -> String {
    let line: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let low: String = line.iter().filter_map(|letter| folded(letter.encode_utf8(&mut [0; 4])).chars().next()).collect();
    let at = low.find(word).map_or(0, |at| low[..at].chars().count());
    let (from, to) = (at.saturating_sub(AROUND), (at + word.chars().count() + AROUND).min(line.len()));
    let part: String = line[from..to].iter().collect();
    let mark = |there: bool| if there { "..." } else { "" };
    format!("{}{}{}", mark(from > 0), part.trim(), mark(to < line.len()))
}
