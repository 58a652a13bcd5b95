//! Every character that the program itself paints has a glyph in the fonts that come with it: those of the window, and
//! that of figures.

use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, fs, sync::Arc};

use egui::{FontData, FontDefinitions, FontFamily, FontId};
use interlinear::widgets::theme;

const WINDOW: &[&str] = &[
    "src/explorer/ui", "src/explorer/pages", "src/explorer/widgets", "src/explorer/app", "src/explorer/session",
    "src/engine/models/anatomy", "src/engine/analysis", "src/corpus/measures", "src/corpus/overview", "assets/lessons",
    "assets/manual",
];
const FIGURES: &[&str] = &["src/figure", "src/engine/models/anatomy"];
const OTHERS: &[&str] =
    &["bidi.rs", "fonts.rs", "measure.rs", "table.rs", "rewording.rs", "confidence.rs", "svg.rs", "mteval.rs"];
const RING: char = '\u{2218}';

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder").flatten() {
            files(&entry.path(), found);
        }
    } else if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| !OTHERS.contains(&name)) {
        found.push(path.to_owned());
    }
}

fn characters(path: &Path) -> Vec<char> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let is_code = path.extension().is_some_and(|end| end == "rs");
    let text = if is_code { text.split("#[cfg(test)]").next().unwrap_or_default() } else { &text };
    let lines = text.lines().filter(|line| !is_code || !line.trim_start().starts_with("//"));
    let mut found = Vec::new();
    for line in lines {
        found.extend(line.chars().filter(|letter| !letter.is_ascii()));
        let escapes = line.split("\\u{").skip(1).filter_map(|rest| rest.split_once('}'));
        found.extend(escapes.filter_map(|(digits, _)| char::from_u32(u32::from_str_radix(digits, 16).ok()?)));
    }
    let is_painted =
        |letter: &char| *letter != RING && !letter.is_control() && !letter.is_whitespace() && !letter.is_ascii();
    found.into_iter().filter(is_painted).collect()
}

fn missing(ctx: &egui::Context, folders: &[&str]) -> BTreeMap<char, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = Vec::new();
    for folder in folders {
        files(&root.join(folder), &mut all);
    }
    let mut missing = BTreeMap::new();
    for path in all {
        for letter in characters(&path) {
            if !ctx.fonts_mut(|fonts| fonts.has_glyph(&FontId::proportional(14.0), letter)) {
                missing.insert(letter, format!("{:x} {}", u32::from(letter), path.display()));
            }
        }
    }
    missing
}

fn fonts(definitions: FontDefinitions) -> egui::Context {
    let ctx = egui::Context::default();
    ctx.set_fonts(definitions);
    // fonts are there from the first frame on
    ctx.run_ui(egui::RawInput::default(), |_| {}).textures_delta.clear();
    ctx
}

#[test]
fn the_window_has_a_glyph_for_all_that_it_says() {
    let missing = missing(&fonts(theme::fonts()), WINDOW);
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn figures_have_a_glyph_for_all_that_they_say() {
    let bytes = include_bytes!("../../assets/fonts/LiberationSans-Regular.ttf");
    let mut definitions = FontDefinitions::empty();
    definitions.font_data.insert("Liberation".to_owned(), Arc::new(FontData::from_static(bytes)));
    for family in [FontFamily::Proportional, FontFamily::Monospace] {
        definitions.families.insert(family, vec!["Liberation".to_owned()]);
    }
    let missing = missing(&fonts(definitions), FIGURES);
    assert!(missing.is_empty(), "{missing:#?}");
}
