//! The manual: its pages, where their links lead, and the panel that shows them.

use std::path::{Path, PathBuf};
use std::{collections::BTreeSet, fs};

use egui::Key;
use egui_kittest::kittest::Queryable as _;
use interlinear::ui::manual::{ManualPage, PICTURES, pages, search};
use interlinear::ui::views::manual::{Target, target};
use interlinear::{app::command::WindowCommand, cli::COMMANDS, lang, lang::Language, pages::command::Command};
use interlinear::{
    pages::corpus::CORPUS, pages::shell::act::key_text, text::markdown::MarkdownBlock, ui::act::bindings,
};

use crate::{desk, desk::WindowActions as _};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/manual")
}

fn links(page: &'static ManualPage) -> impl Iterator<Item = &'static str> {
    let spans = page.blocks.iter().flat_map(|block| -> Vec<_> {
        match block {
            MarkdownBlock::Heading { spans, .. } | MarkdownBlock::Text(spans) | MarkdownBlock::Item { spans, .. } => {
                spans.iter().collect()
            }
            MarkdownBlock::Table(rows) => rows.iter().flatten().flatten().collect(),
            MarkdownBlock::Code(_) | MarkdownBlock::Picture { .. } => Vec::new(),
        }
    });
    spans.filter_map(|span| span.link.as_deref())
}

#[test]
fn every_file_is_a_page_and_the_contents_name_them_in_order() {
    let files = fs::read_dir(folder()).expect("the manual").filter_map(Result::ok).map(|entry| entry.path());
    let name = |path: PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
    let is_page = |path: &PathBuf| path.extension().is_some_and(|end| end == "md");
    let files: BTreeSet<String> = files.filter(is_page).map(name).collect();
    assert_eq!(files, pages().iter().map(|page| page.file.to_owned()).collect());
    let contents: Vec<&str> = links(&pages()[0]).collect();
    assert_eq!(contents, pages()[1..].iter().map(|page| page.file).collect::<Vec<_>>());
    assert!(pages().iter().all(|page| !page.title().is_empty()));
}

#[test]
fn the_manual_in_other_languages_has_the_same_pages_with_the_same_links() {
    let words = |page: &'static ManualPage| page.blocks.iter().map(MarkdownBlock::plain).collect::<String>();
    // headings are named otherwise
    let file = |link: &str| link.split('#').next().unwrap_or(link).to_owned();
    let places = |page: &'static ManualPage| links(page).map(file).collect::<BTreeSet<String>>();
    let english: Vec<_> = pages().iter().map(|page| (words(page), places(page))).collect();
    for language in [Language::French, Language::German] {
        lang::speak(language);
        for (page, (english, links)) in pages().iter().zip(&english) {
            assert!(words(page) != *english, "{language:?}: {} is English", page.file);
            assert_eq!(places(page), *links, "{language:?}: {}", page.file);
        }
    }
}

#[test]
fn every_link_leads_somewhere_and_every_picture_is_there() {
    for language in [Language::English, Language::French, Language::German] {
        lang::speak(language);
        every_link_leads_somewhere();
    }
}

fn every_link_leads_somewhere() {
    for page in pages() {
        for link in links(page) {
            match target(link).unwrap_or_else(|| panic!("{} has a link that leads nowhere: {link}", page.file)) {
                Target::File(path) => {
                    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path).exists(), "{}: {path}", page.file);
                }
                Target::Manual(_) | Target::Act(_) | Target::Lesson(_) | Target::Web(_) => {}
            }
        }
        for block in &page.blocks {
            if let MarkdownBlock::Picture { path, shows } = block {
                assert!(PICTURES.iter().any(|(there, _)| there == path), "{}: {path} is not built in", page.file);
                assert!(shows.len() > 20, "{path} says what it shows");
            }
        }
    }
    for (path, _) in PICTURES {
        let shown =
            |block: &MarkdownBlock| matches!(block, MarkdownBlock::Picture { path: there, .. } if there == path);
        assert!(pages().iter().any(|page| page.blocks.iter().any(shown)), "no page shows {path}");
    }
}

fn keys_page() -> String {
    let ctx = egui::Context::default();
    ctx.set_os(egui::os::OperatingSystem::Nix);
    let mut text = "# Keys\n\nThe menus show the keys of what they do, and `?` shows them all. On a Mac, Ctrl is Cmd. Keys without Ctrl, Alt or F\nwork while no text is being typed.\n".to_owned();
    let mut group = "";
    let mut named = Vec::new();
    for binding in bindings() {
        if binding.group != group {
            group = binding.group;
            text += &format!("\n## {group}\n\n| key | what it does |\n|---|---|\n");
        }
        if !named.contains(&binding.name) {
            named.push(binding.name);
            let same = bindings().iter().filter(|other| other.act == binding.act).flat_map(|other| other.keys);
            let keys: Vec<String> = same.map(|key| format!("`{}`", key_text(&ctx, key))).collect();
            text += &format!("| {} | {} |\n", keys.join(", "), binding.name);
        }
    }
    text + "\nSentences, columns, palette and layout come back at the next start.\n"
}

#[test]
fn the_page_of_keys_is_the_table_of_keys() {
    let (wanted, found) = (keys_page(), fs::read_to_string(folder().join("keys.md")).expect("the page"));
    assert_eq!(found, wanted, "write this into assets/manual/keys.md:\n{wanted}");
}

#[test]
fn every_command_is_described() {
    let page = pages().iter().find(|page| page.file == "command-line.md").expect("the page");
    let text: String = page.blocks.iter().map(MarkdownBlock::plain).collect::<Vec<_>>().join("\n");
    for entry in COMMANDS {
        assert!(text.lines().any(|line| line.starts_with(entry.name)), "{} is not in the manual", entry.name);
    }
}

#[test]
fn a_search_finds_words_and_headings_first() {
    let hits = search("statistical ALIGNER");
    assert!(hits.iter().any(|hit| pages()[hit.page].file == "aligner.md"), "{hits:?}");
    assert!(hits.iter().all(|hit| hit.excerpt.to_lowercase().contains("statistical")), "{hits:?}");
    let training = search("training");
    let first = &pages()[training[0].page];
    assert!(matches!(first.blocks[training[0].block], MarkdownBlock::Heading { .. }), "{training:?}");
    assert!(search("zorglub").is_empty() && search("  ").is_empty());
}

#[test]
fn the_manual_opens_leads_on_and_does_what_its_links_say() {
    for size in [[1280.0, 800.0], [1024.0, 768.0]] {
        let (mut harness, wires) = desk::window_of(desk::two_models(), size);
        harness.press(Key::F1);
        harness.click_on("First steps");
        harness.get_by_label("Reading the picture");
        wires.sent.borrow_mut().clear();
        let (mut corpus, page) = (None, Command::from(WindowCommand::ShowPage(CORPUS)));
        for node in harness.query_all_by_label_contains("The page Corpus") {
            corpus = Some(node);
        }
        corpus.expect("a link").scroll_to_me();
        harness.run();
        harness.query_all_by_label_contains("The page Corpus").last().expect("a link").click();
        harness.run();
        assert!(wires.sent.borrow().contains(&page), "{:?}", wires.sent.borrow());
        harness.click_on("Back");
        harness.focus_on("Search the manual");
        harness.type_into("Search the manual", "pharaoh");
        harness.get_all_by_label("Word alignments").next().expect("a place").scroll_to_me();
        harness.run();
        harness.get_all_by_label("Word alignments").next().expect("a place").click();
        harness.run();
        harness.get_by_label("From text alone");
        harness.press(Key::F1);
        assert!(!harness.has_any("Search the manual"), "F1 closes it");
    }
}
