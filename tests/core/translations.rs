//! The catalogues of `assets/lang` against the texts in the sources and in the lessons: nothing is missing, nothing is left
//! over, and what is put into a text is put into its translation.
//!
//! `INTERLINEAR_POT=ui.pot cargo test --test core translations` writes the ids and where they occur, for gettext's tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt::Write as _, fs, sync::Arc, sync::mpsc::channel, time::Duration};

use interlinear::lang::{Catalogue, Language};
use interlinear::{jobs::files::disk::Disk, lang, session::lessons::shelf::PATH};
use regex::Regex;

const WINDOW: [&str; 4] = ["fr", "de", "es", "zh"];
/// Spanish and Chinese have the lessons of [`PATH`].
const LESSONS: [(&str, bool); 4] = [("fr", true), ("de", true), ("es", false), ("zh", false)];

const UNSEEN: &[&str] = &["do", "check", "light", "key", "word", "model", "for"];

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
}

#[derive(Default)]
struct Found {
    many: Option<String>,
    files: BTreeSet<String>,
}

fn said(literal: &str) -> String {
    let mut text = String::new();
    let mut rest = literal;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let mut letters = rest[at + 1..].chars();
        let letter = letters.next().expect("something is escaped");
        rest = letters.as_str();
        match letter {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            '\n' => rest = rest.trim_start(),
            'u' => {
                let (code, behind) = rest[1..].split_once('}').expect("a code in braces");
                text.push(u32::from_str_radix(code, 16).ok().and_then(char::from_u32).expect("a letter"));
                rest = behind;
            }
            other => text.push(other),
        }
    }
    text + rest
}

fn ids() -> BTreeMap<String, Found> {
    let literal = r#""((?:[^"\\]|\\(?s:.))*)""#;
    let marked = Regex::new(&format!(r"\b(?:tr|id)!\(\s*{literal}(?:\s*\|\s*{literal}\s*%)?")).expect("a pattern");
    // the table of acts takes literals alone
    let act = Regex::new(&format!(r"(?:Everywhere|Sentence|Source|Edits), {literal}, *\n? *\[")).expect("a pattern");
    let mut sources = Vec::new();
    files(&root("src"), "rs", &mut sources);
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    for path in sources.iter().filter(|path| !path.ends_with("lang.rs")) {
        let text = fs::read_to_string(path).expect("a source");
        let name = path.strip_prefix(root("")).expect("it lies here").to_string_lossy().replace('\\', "/");
        assert!(!text.contains("tr!(r") && !text.contains("id!(r"), "{name} has a raw text, which is not found");
        let acts = act.captures_iter(&text).filter(|_| name.ends_with("shell/act.rs"));
        for one in marked.captures_iter(&text).chain(acts) {
            let many = one.get(2).map(|many| said(many.as_str()));
            let entry = found.entry(said(&one[1])).or_default();
            assert!(entry.files.is_empty() || entry.many == many, "{} has a count here and none there", &one[1]);
            entry.many = many;
            entry.files.insert(name.clone());
        }
    }
    for group in interlinear::app::files::lists::examples() {
        for text in [group.name, group.shows] {
            found.entry(text).or_default().files.insert("assets/examples.toml".to_owned());
        }
    }
    found
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t"))
}

#[test]
fn the_ids_are_written_where_that_is_asked_for() {
    let ids = ids();
    assert!(ids.len() > 1000, "only {} ids were found", ids.len());
    let Some(path) = std::env::var_os("INTERLINEAR_POT") else { return };
    let mut pot = "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=utf-8\\n\"\n".to_owned();
    for (id, found) in &ids {
        let files = found.files.iter().cloned().collect::<Vec<_>>().join(" ");
        let _ = write!(pot, "\n#: {files}\nmsgid {}\n", quoted(id));
        let _ = match &found.many {
            Some(many) => write!(pot, "msgid_plural {}\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n", quoted(many)),
            None => writeln!(pot, "msgstr \"\""),
        };
    }
    fs::write(path, pot).expect("the file of the ids");
}

fn catalogue(name: &str) -> Catalogue {
    lang::read(&fs::read_to_string(root(&format!("assets/lang/{name}.po"))).expect("a catalogue"))
}

fn values(text: &str) -> BTreeSet<String> {
    let text = text.replace("{{", "").replace("}}", "");
    let mut next = 0;
    let name = |part: &str| {
        let name = part.split_once('}').expect("a brace is closed").0;
        next += usize::from(name.is_empty());
        if name.is_empty() { (next - 1).to_string() } else { name.to_owned() }
    };
    text.split('{').skip(1).map(name).collect()
}

fn fault(language: &str, id: &str, found: &Found, forms: &[String]) -> Option<String> {
    let wanted = match (&found.many, language) {
        (None, _) | (_, "zh") => 1,
        (Some(_), _) => 2,
    };
    if forms.len() != wanted {
        return Some(format!("has {} forms and not {wanted}", forms.len()));
    }
    let own = values(id).into_iter().chain(found.many.iter().flat_map(|many| values(many))).collect::<BTreeSet<_>>();
    for form in forms {
        let theirs = values(form);
        let is_missing = |name: &String| !(theirs.contains(name) || name == "n" && found.many.is_some());
        if own.iter().any(is_missing) || !theirs.is_subset(&own) {
            return Some(format!("puts {theirs:?} where {own:?} are put"));
        }
        let ends = |text: &str| (text.starts_with(' '), text.ends_with(' '), text.matches('\n').count());
        if language != "zh" && ends(id) != ends(form) {
            return Some("begins or ends with other spaces, or has other lines".to_owned());
        }
        // such a sign never begins a line in French
        if language == "fr" && [" : ", " ; ", " ?", " !", " »"].iter().any(|sign| form.contains(sign)) {
            return Some("has a space that a line may break at before a sign".to_owned());
        }
    }
    None
}

#[test]
fn each_id_is_in_every_catalogue_and_no_catalogue_has_another() {
    let ids = ids();
    let mut report = String::new();
    for language in WINDOW {
        let messages = catalogue(language);
        for (id, found) in &ids {
            let fault = match messages.get(id) {
                Some(forms) => fault(language, id, found, forms),
                None => Some("is missing".to_owned()),
            };
            if let Some(fault) = fault {
                let _ = writeln!(report, "{language}.po: {} {fault}", quoted(id));
            }
        }
        for id in messages.keys().filter(|id| !ids.contains_key(*id)) {
            let _ = writeln!(report, "{language}.po: {} is no text of the sources", quoted(id));
        }
    }
    let count = report.lines().count();
    assert!(report.is_empty(), "{count} faults:\n{report:.6000}");
}

fn shown(value: &toml::Value, texts: &mut BTreeSet<String>) {
    match value {
        toml::Value::String(text) if !text.trim().is_empty() => {
            texts.insert(text.trim().to_owned());
        }
        toml::Value::Array(list) => list.iter().for_each(|value| shown(value, texts)),
        toml::Value::Table(table) => {
            table.iter().filter(|(key, _)| !UNSEEN.contains(&key.as_str())).for_each(|(_, value)| shown(value, texts));
        }
        _ => {}
    }
}

#[test]
fn each_text_of_the_lessons_is_in_the_catalogues_of_lessons() {
    let (mut texts, mut of_path) = (BTreeSet::new(), BTreeSet::new());
    let mut lessons = Vec::new();
    files(&root("assets/lessons"), "toml", &mut lessons);
    for path in lessons {
        let text = fs::read_to_string(&path).expect("a lesson");
        let lesson = toml::from_str(&text).expect("lessons are TOML");
        shown(&lesson, &mut texts);
        if PATH.iter().any(|(key, _)| path.file_stem().is_some_and(|stem| stem == *key)) {
            shown(&lesson, &mut of_path);
        }
    }
    assert!(texts.len() > 100 && of_path.len() > 50, "only {} and {} texts were found", texts.len(), of_path.len());
    for (language, has_all) in LESSONS {
        let there = catalogue(&format!("lessons.{language}"));
        let texts = if has_all { &texts } else { &of_path };
        let missing: Vec<&String> = texts.iter().filter(|text| !there.contains_key(*text)).collect();
        assert!(missing.is_empty(), "{} texts are missing in lessons.{language}.po: {missing:.3000?}", missing.len());
        let left: Vec<&String> = there.keys().filter(|id| !texts.contains(*id)).collect();
        assert!(left.is_empty(), "lessons.{language}.po has texts of no lesson: {left:?}");
    }
}

#[test]
fn values_go_where_a_translation_has_them() {
    let values: [(&str, &dyn std::fmt::Display); 3] = [("", &"a"), ("", &2), ("name", &"c")];
    for (text, filled) in [
        ("{} of {}, {name}", "a of 2, c"),
        ("{name}: {1}/{0}", "c: 2/a"),
        ("{{}} {name}", "{} c"),
        ("{other} {", "{other} {"),
    ] {
        assert_eq!(lang::fill(text, &values), filled, "{text}");
    }
}

#[test]
fn a_system_names_its_language_in_many_ways() {
    for (codes, language) in [
        (&["de_AT.UTF-8"][..], Language::German),
        (&["zh-Hans-CN", "en"], Language::Chinese),
        (&["ru", "fr-CA"], Language::French),
        (&["C"], Language::English),
        (&[], Language::English),
    ] {
        assert_eq!(Language::first_of(codes), language, "{codes:?}");
    }
}

#[test]
fn counts_are_grouped_as_the_language_does() {
    for (language, text) in
        [(Language::English, "12,345"), (Language::German, "12\u{a0}345"), (Language::Chinese, "12,345")]
    {
        lang::speak(language);
        assert_eq!(lang::Count::of(12_345_usize).to_string(), text);
    }
    lang::speak(Language::English);
}

#[test]
fn threads_speak_the_language_of_the_one_that_started_them() {
    let mut disk = Disk::spawn(Duration::ZERO, Arc::new(|| {}));
    let (go, goes) = channel::<()>();
    lang::speak(Language::German);
    let job = move |notify: &mut dyn FnMut(Language) -> bool| {
        notify(lang::spoken());
        goes.recv().expect("the test goes on");
        notify(lang::in_english(lang::spoken));
        Some(lang::spoken())
    };
    disk.run_reporting("read", Box::new(job));
    let next = || disk.news.next_within(Duration::from_mins(1)).expect("it tells");
    assert_eq!(next(), Language::German);
    lang::speak(Language::French);
    lang::in_english(|| go.send(())).expect("the job listens");
    assert_eq!([next(), next()], [Language::English, Language::French]);
    lang::speak(Language::English);
}
