//! Keeps the house tidy: reads `src/` and fails with file and line where a rule of the front pages is broken
//! (`src/lib.rs`, and `lib.rs` of each member). Each rule is planted with a violation below, so that it cannot rot. What a
//! member may not name at all stands in its `Cargo.toml`, and the compiler keeps it.
//!
//! Rules look at code with comments and the insides of literals blanked out, so a word in a sentence never counts, and
//! groups of imports are opened, so none hides a name. Std only, except for reading `assets/examples.toml`.

#[path = "tidy/blank.rs"]
mod blank;
#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/imports.rs"]
mod imports;
#[path = "tidy/lengths.rs"]
mod lengths;

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

/// Members that have several rooms. Those of any other member are its files, and it is a room itself.
const HOUSES: [&str; 2] = ["engine", "explorer"];

/// Rooms of these members and their floors: a file may name a room on a lower floor, and its own. `error` lies
/// under everything: the other rooms of its floor may name it too.
const FLOORS: &[(&str, u8)] = &[
    ("clock", 0),
    ("error", 0),
    ("lang", 0),
    ("quiet", 0),
    ("ticket", 0),
    ("text", 1),
    ("nn", 1),
    ("attention", 2),
    ("models", 3),
    ("decoding", 4),
    ("interventions", 5),
    ("analysis", 5),
    ("aligner", 5),
    ("evaluation", 6),
    ("jobs", 8),
    ("app", 9),
    ("widgets", 10),
    ("pages", 11),
    ("session", 12),
    ("ui", 13),
];

/// Libraries that only some rooms of a member may name, and why. `pages/*/view` is the views of every page.
const CRATES: &[(&str, &[&str], &str)] = &[
    ("candle_core", TENSOR_ROOMS, "tensors stop at the models and their training; above everything is plain numbers"),
    ("candle_nn", &["nn", "attention"], "what candle offers beyond tensors is wrapped once"),
    ("egui", &["widgets", "pages/shell", "pages/*/view", "ui"], "the session must be testable without a window"),
    ("eframe", &["ui", "web"], "the session must be testable without a window"),
    ("egui_plot", &["widgets"], "the session must be testable without a window"),
    ("rfd", &["pages/shell"], "file dialogs belong to the window"),
    ("tokenizers", &["text"], "words and ids are the business of `text`"),
    ("icu_segmenter", &["text"], "the same words wherever words are counted"),
];
const TENSOR_ROOMS: &[&str] = &["error", "nn", "attention", "models", "training"];

/// Who may start threads or share work among them, and why. A path or the beginning of one.
const THREADS: &[(&str, &str)] = &[
    ("src/explorer/jobs/", "decodes, reads models and writes files behind the window"),
    ("src/cli/", "reads input, decodes and writes output at the same time"),
    ("src/host/runtime.rs", "sets how many threads share the work of the process"),
    (
        "src/engine/analysis/bootstrap.rs",
        "resamples are summed on all cores; they are drawn one after the other, so numbers stay the same",
    ),
    (
        "src/engine/aligner/parallel.rs",
        "sentence pairs are shared among the threads it is given; sums are exact in any order",
    ),
    ("src/corpus/import/lanes.rs", "lines of a file are read, measured and packed on the threads it is given"),
    ("src/engine/nn/fused/", "matrix kernels share their rows among the threads they are given"),
    ("src/engine/models/", "the fused steppers own a pool of the size they are given"),
    ("src/training/", "a minibatch is shared among the threads the configuration names"),
    ("src/python/", "works while Python goes on, so that Ctrl-C is heard"),
];

/// Who may build colours: the palettes of figures, the theme, which turns them into egui's, and nobody else.
const COLOURS: &[&str] = &["src/figure/palette.rs", "src/explorer/widgets/theme.rs"];

/// Rooms that must be told the time, the seed and the environment instead of asking for them.
const TIMELESS: &[&str] = &[
    "error", "ticket", "text", "nn", "attention", "models", "decoding", "interventions", "aligner", "analysis",
    "evaluation", "import", "corpus",
];

/// The pages, by their folders.
const PAGES: &[&str] = &["sentence", "map", "steps", "corpus", "training"];

/// What a view may not name: it paints what is in memory.
const NOT_PAINTED: &[&str] = &["std::fs", "Mutex", "RwLock", "rusqlite"];

/// What pages share of each other, and why.
const BETWEEN_PAGES: &[(&str, &str, &str)] = &[];

/// The most files of a folder.
const MOST_FILES: usize = 30;

/// The longest file, in lines.
const LONGEST: usize = 600;

/// Circles of files that exist and why they are still there. A file that joins one is a fault, and so is a line whose
/// circle is gone.
const CIRCLES: &[(&[&str], &str)] = &[(
    &[
        "src/engine/models/config.rs",
        "src/engine/models/entry.rs",
        "src/engine/models/loss.rs",
        "src/engine/models/readable.rs",
    ],
    "a configuration leads to the functions of its architecture, which may stand in no table, and these take a configuration",
)];

/// One file of `src/`.
pub struct Source {
    /// With forward slashes, from the repository's root.
    path: String,
    text: String,
    /// `text` with comments and the insides of literals blanked out, line for line.
    code: String,
    /// `code` line by line, groups of imports opened.
    opened: Vec<(usize, String)>,
}

/// Where a file's tests begin.
const TESTS: &str = "#[cfg(test)]";

impl Source {
    fn new(path: &str, text: &str) -> Self {
        let code = blank::blank(text);
        Self { path: path.to_owned(), text: text.to_owned(), opened: imports::opened(&code), code }
    }

    /// The folder of the member below `src/`; empty for the program's own files.
    fn member(&self) -> &str {
        let inner = self.path.strip_prefix("src/").unwrap_or(&self.path);
        inner.split_once('/').map_or("", |(member, _)| member)
    }

    /// The path below the member where that has rooms, else below `src/`.
    fn inner(&self) -> &str {
        let inner = self.path.strip_prefix("src/").unwrap_or(&self.path);
        if HOUSES.contains(&self.member()) { &inner[self.member().len() + 1..] } else { inner }
    }

    /// The first folder of the inner path, or the stem of a file that lies there itself.
    fn room(&self) -> &str {
        let first = self.inner().split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Whether it lies in a room, or in a folder such as `pages/*/view` whatever stands for the star.
    fn is_in(&self, room: &str) -> bool {
        let Some((before, after)) = room.split_once("*/") else {
            return self.room() == room || self.inner().starts_with(&format!("{room}/"));
        };
        let inside = self.inner().strip_prefix(before).and_then(|path| path.split_once('/'));
        inside.is_some_and(|(_, path)| path.strip_prefix(after).is_some_and(|rest| rest.starts_with(['/', '.'])))
    }

    /// How many modules lie around this file's code: 1 for `src/text/mod.rs`.
    fn depth(&self) -> usize {
        let folders = self.inner().matches('/').count() + 1;
        folders - usize::from(self.path.ends_with("/mod.rs") || self.room() == "lib")
    }

    /// Code lines with their numbers, counted from 1.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.opened.iter().map(|(number, line)| (*number, line.as_str()))
    }

    /// The same, up to the first `#[cfg(test)]`: tests close a file.
    fn library_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines().take_while(|(_, line)| !line.contains(TESTS))
    }

    /// The code up to the first `#[cfg(test)]`.
    fn library(&self) -> &str {
        &self.code[..self.code.find(TESTS).unwrap_or(self.code.len())]
    }

    /// Every `crate::`, `super::` and `self::` path of the library, but not those of a `pub use`.
    fn paths(&self) -> Vec<String> {
        let own = imports::imports(self.library()).into_iter().filter(|import| !import.public);
        let mut paths: Vec<String> = own.map(|import| import.path).collect();
        let code = imports::without_imports(self.library());
        for start in ["crate::", "super::"] {
            let named = code.match_indices(start).filter(|(at, _)| !code[..*at].ends_with(|c| is_word(c) || c == ':'));
            let path = |rest: &str| rest[..rest.find(|c| !is_word(c) && c != ':').unwrap_or(rest.len())].to_owned();
            paths.extend(named.map(|(at, _)| path(&code[at..])));
        }
        // A module that is declared here is named by its name alone.
        for line in code.lines().map(str::trim).filter(|line| line.ends_with(';')) {
            let Some((_, child)) = line.trim_end_matches(';').split_once("mod ") else { continue };
            let start = format!("{child}::");
            let named = code.match_indices(&start).any(|(at, _)| !code[..at].ends_with(|c| is_word(c) || c == ':'));
            paths.extend(named.then(|| format!("self::{child}")));
        }
        paths
    }
}

/// A broken rule: line and sentence.
type Fault = (usize, String);

/// A rule: its name, and what finds its faults in one file.
type Rule = (&'static str, fn(&Source) -> Vec<Fault>);

/// Every rule.
const RULES: &[Rule] = &[
    ("floors", floors),
    ("crates", crates),
    ("pages", pages),
    ("painting", painting),
    ("threads", threads),
    ("colours", colours),
    ("timeless", timeless),
    ("unsafe", unsafe_code),
    ("prints", prints),
    ("unfinished", unfinished),
    ("unwraps", unwraps),
    ("documented", documented),
    ("described", described),
    ("short", short),
    ("functions", lengths::functions),
    ("fields", lengths::fields),
];

fn floor_of(room: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

/// `crate::room` and `super::..::room` lead downwards or stay in the room.
fn floors(source: &Source) -> Vec<Fault> {
    let room = source.room();
    if room == "lib" || !HOUSES.contains(&source.member()) {
        return Vec::new();
    }
    let Some(own) = floor_of(room) else {
        return vec![(
            1,
            format!("the room `{room}` has no floor; give it one in tests/tidy.rs and in lib.rs of its member"),
        )];
    };
    let mut faults = Vec::new();
    for (number, line) in source.lines() {
        let named = after(line, "crate::").into_iter().chain(climbers(line, source.depth()));
        for name in named.filter(|name| *name != room && *name != "error") {
            if let Some(floor) = floor_of(name)
                && floor >= own
            {
                faults.push((number, format!("`{room}` (floor {own}) may not import `{name}` (floor {floor})")));
            }
        }
    }
    faults
}

fn crates(source: &Source) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, rooms, why) in CRATES {
        if rooms.iter().any(|room| source.is_in(room)) {
            continue;
        }
        let say = format!("only {} may name `{name}`: {why}", rooms.join(", "));
        faults.extend(names_crate(source, name).map(|number| (number, say.clone())));
    }
    faults
}

/// Lines that name a crate as a path or an import; a variable may well be called `tokenizers`.
fn names_crate(source: &Source, name: &str) -> impl Iterator<Item = usize> {
    let words = [format!("{name}::"), format!("use {name}")];
    let named = source.lines().filter(move |(_, line)| words.iter().any(|word| has_word(line, word)));
    named.map(|(number, _)| number)
}

/// A page names no other page, nor do its views name those of another.
fn pages(source: &Source) -> Vec<Fault> {
    let folder = source.path.strip_prefix("src/explorer/pages/").and_then(|path| path.split_once('/'));
    let Some((page, _)) = folder.filter(|(page, _)| PAGES.contains(page)) else { return Vec::new() };
    let shared = |name: &str| BETWEEN_PAGES.iter().any(|(path, other, _)| *path == source.path && *other == name);
    let is_other = |name: &str| PAGES.contains(&name) && name != page && !shared(name);
    let named = source.library_lines().filter(|(_, line)| after(line, "crate::pages::").into_iter().any(is_other));
    named.map(|(number, _)| (number, "a page does not know another; what both need lies below them".into())).collect()
}

fn painting(source: &Source) -> Vec<Fault> {
    let is_view = source.path.contains("/view/") || source.path.contains("/views/");
    let say = "a view holds no file, lock or database";
    if is_view { lines_with_words(source.library_lines(), NOT_PAINTED, say) } else { Vec::new() }
}

fn threads(source: &Source) -> Vec<Fault> {
    if THREADS.iter().any(|(path, _)| source.path.starts_with(path)) {
        return Vec::new();
    }
    let say = "only files listed in tests/tidy.rs, with a reason, may start threads";
    let found = source.library_lines().filter(|(_, line)| threading(line));
    found.map(|(number, _)| (number, say.to_owned())).collect()
}

/// Whether a line starts a thread or shares work among them.
fn threading(line: &str) -> bool {
    let words = ["thread::spawn", "thread::scope", "thread::Builder", "rayon", "ThreadPoolBuilder"];
    words.iter().any(|word| has_word(line, word))
}

fn colours(source: &Source) -> Vec<Fault> {
    if COLOURS.iter().any(|path| source.path.starts_with(path)) {
        return Vec::new();
    }
    let builds = |line: &str| {
        // A picture painted with white is painted as it is.
        let untinted = |name: &str| name == "WHITE" && line.contains(".image(");
        let constant = |name: &str| name != "TRANSPARENT" && name != "PLACEHOLDER" && !untinted(name);
        let made = |name: &str| name.starts_with("from_") || name.starts_with(|c: char| c.is_ascii_uppercase());
        ["Color32::", "Rgba::", "Hsva::"]
            .iter()
            .any(|kind| after(line, kind).into_iter().any(|name| made(name) && constant(name)))
            || has_word(line, "hex_color!")
    };
    let say = "colours come from src/figure/palette.rs, through src/explorer/widgets/theme.rs in the window";
    source.library_lines().filter(|(_, line)| builds(line)).map(|(number, _)| (number, say.to_owned())).collect()
}

fn timeless(source: &Source) -> Vec<Fault> {
    if !TIMELESS.contains(&source.room()) {
        return Vec::new();
    }
    let say = "time, seeds and the environment are passed in";
    let words = ["Instant::now", "SystemTime::now", "env::var", "rand::rng", "thread_rng", "rand::random"];
    lines_with_words(source.library_lines(), &words, say)
}

/// Where `unsafe` is, and what for.
const UNSAFE: &[(&str, &str)] = &[
    ("src/engine/nn/fused", "instructions of processors"),
    ("src/engine/nn/device.rs", "settings of NVIDIA's driver"),
    ("src/training/card/launch.rs", "kernels on NVIDIA's cards"),
];

fn unsafe_code(source: &Source) -> Vec<Fault> {
    if UNSAFE.iter().any(|(place, _)| source.path.starts_with(place)) {
        return Vec::new();
    }
    lines_with_words(source.lines(), &["unsafe"], "`unsafe` is for the places of the table alone")
}

fn prints(source: &Source) -> Vec<Fault> {
    let mut faults = lines_with_words(source.lines(), &["dbg!"], "`dbg!` is for a private moment");
    if !["cli", "main"].contains(&source.room()) {
        let words = ["print!", "println!", "eprint!", "eprintln!"];
        faults.extend(lines_with_words(source.library_lines(), &words, "nothing below `cli` prints"));
    }
    faults
}

fn unfinished(source: &Source) -> Vec<Fault> {
    lines_with_words(source.lines(), &["todo!", "unimplemented!"], "finish it, or return an error that says so")
}

fn unwraps(source: &Source) -> Vec<Fault> {
    let say = "use `let .. else`, `?`, or `expect` with a reason that a reader can check";
    let found = source.library_lines().filter(|(_, line)| line.contains(".unwrap()"));
    found.map(|(number, _)| (number, say.to_owned())).collect()
}

fn documented(source: &Source) -> Vec<Fault> {
    let opens = source.text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.starts_with("//!"));
    if opens {
        Vec::new()
    } else {
        vec![(1, "open the file with `//!`: what lives here and what it may import".into())]
    }
}

/// Public types and traits have docs; what is in them has them where name and type do not say it all.
fn described(source: &Source) -> Vec<Fault> {
    let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
    let code: Vec<&str> = source.code.lines().map(str::trim).collect();
    // Attributes of several lines may stand between, with text in them.
    let ends = |code: &str| code.starts_with("pub ") || code.ends_with([';', '{', '}']);
    let is_doc = |line: &str| line.starts_with("///") || line.starts_with("$(#[");
    let has_docs = |at: usize| {
        let mut before = lines[..at].iter().zip(&code).rev();
        before.find(|(line, code)| is_doc(line) || ends(code)).is_some_and(|(line, _)| is_doc(line))
    };
    let bare = public_types(source).filter(|(number, _)| !has_docs(number - 1));
    bare.map(|(number, _)| (number, "say what it is: shapes, units, the paper's equation".to_owned())).collect()
}

fn short(source: &Source) -> Vec<Fault> {
    let lines = source.text.lines().count();
    if lines <= LONGEST {
        Vec::new()
    } else {
        vec![(lines, format!("{lines} lines; split what has more than {LONGEST}"))]
    }
}

fn lines_with_words<'a>(lines: impl Iterator<Item = (usize, &'a str)>, words: &[&str], say: &str) -> Vec<Fault> {
    lines
        .filter(|(_, line)| words.iter().any(|word| has_word(line, word)))
        .map(|(number, _)| (number, say.to_owned()))
        .collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `word` stands in `line` and is not part of a longer word.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let behind = line[at + word.len()..].chars().next();
        let open = word.ends_with(|c: char| !is_word(c));
        !before.is_some_and(is_word) && (open || !behind.is_some_and(is_word))
    })
}

/// The words that directly follow `prefix` wherever it stands on its own.
fn after<'a>(line: &'a str, prefix: &str) -> Vec<&'a str> {
    line.match_indices(prefix)
        .filter(|(at, _)| !line[..*at].chars().next_back().is_some_and(|c| is_word(c) || c == '$'))
        .map(|(at, _)| {
            let rest = &line[at + prefix.len()..];
            &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
        })
        .collect()
}

/// The words behind chains of `super::` long enough to leave a room from `depth` modules deep.
fn climbers(line: &str, depth: usize) -> Vec<&str> {
    let chain = "super::".repeat(depth.max(1));
    after(line, &chain)
}

fn read_sources(folder: &Path, root: &Path, sources: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).expect("the source folder is readable");
    for entry in entries {
        let path = entry.expect("the source folder is readable").path();
        if path.is_dir() {
            read_sources(&path, root, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("source files are UTF-8");
            let inner = path.strip_prefix(root).expect("files lie below the root they were found from");
            let name = inner.to_string_lossy().replace('\\', "/");
            sources.push(Source::new(&name, &text));
        }
    }
}

fn the_sources() -> Vec<Source> {
    sources_of("src")
}

fn sources_of(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    read_sources(&root.join(folder), root, &mut sources);
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

#[test]
fn the_house_is_tidy() {
    let sources = the_sources();
    assert!(sources.len() > 20, "only {} files were read", sources.len());
    let mut report = String::new();
    for source in &sources {
        for (rule, find) in RULES {
            for (line, say) in find(source) {
                let _ = writeln!(report, "{}:{line}: {say} ({rule})", source.path);
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn no_function_of_the_tests_is_long() {
    let mut tests = sources_of("tests");
    tests.retain(|source| !source.path.contains("/target/"));
    assert!(tests.len() > 100, "only {} files were read", tests.len());
    let mut faults =
        tests.iter().flat_map(|source| lengths::functions(source).into_iter().map(move |fault| (source, fault)));
    let first = faults.next().map(|(source, (line, say))| format!("{}:{line}: {say}", source.path));
    assert_eq!((first, faults.count()), (None, 0), "the first one, and how many more");
}

/// The lists above name only what exists and is needed.
#[test]
fn the_lists_hold_nothing_that_is_gone() {
    let sources = the_sources();
    let exists = |path: &str| sources.iter().any(|source| source.path.starts_with(path));
    let paths = THREADS.iter().map(|(path, _)| *path).chain(COLOURS.iter().copied());
    let circled = CIRCLES.iter().flat_map(|(files, _)| files.iter().copied());
    let mut report: Vec<String> =
        paths.chain(circled).filter(|path| !exists(path)).map(|path| format!("{path} does not exist")).collect();
    let rooms: BTreeSet<&str> = sources.iter().map(Source::room).collect();
    let named = FLOORS.iter().map(|(room, _)| *room).chain(TIMELESS.iter().copied());
    report.extend(named.filter(|room| !rooms.contains(room)).map(|room| format!("there is no room `{room}`")));
    for (path, why) in THREADS {
        let starts =
            |source: &&Source| source.path.starts_with(path) && source.lines().any(|(_, line)| threading(line));
        if !sources.iter().any(|source| starts(&source)) {
            report.push(format!("nothing below {path} starts threads ({why})"));
        }
    }
    for (name, room) in CRATES.iter().flat_map(|(name, rooms, _)| rooms.iter().map(move |room| (*name, *room))) {
        if !sources.iter().any(|source| source.is_in(room) && names_crate(source, name).next().is_some()) {
            report.push(format!("`{room}` does not name `{name}`"));
        }
    }
    assert!(report.is_empty(), "\n{}", report.join("\n"));
}

/// A folder is read at a glance.
#[test]
fn no_folder_is_crowded() {
    let sources = the_sources();
    let folder =
        |source: &Source| source.path.rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned());
    let folders: BTreeSet<String> = sources.iter().map(folder).collect();
    for one in &folders {
        let count = sources.iter().filter(|source| folder(source) == *one).count();
        assert!(count <= MOST_FILES, "{one} has {count} files; make rooms of what has more than {MOST_FILES}");
    }
}

/// Files of a member import each other in one direction.
#[test]
fn no_member_has_a_circle_of_files() {
    let sources = the_sources();
    let graph = circles::graph(&sources);
    let found = circles::circles(&graph);
    let mut report = String::new();
    let known =
        |circle: &BTreeSet<&str>| CIRCLES.iter().any(|(files, _)| circle.iter().all(|file| files.contains(file)));
    for circle in found.iter().filter(|circle| !known(circle)) {
        report.push_str("\nthese files import each other in a circle:\n");
        for file in circle {
            let next: Vec<&str> = graph[file].intersection(circle).copied().collect();
            let _ = writeln!(report, "    {file} -> {}", next.join(", "));
        }
    }
    for (files, why) in CIRCLES {
        if !found.iter().any(|circle| circle.iter().all(|file| files.contains(file))) {
            let _ = writeln!(report, "\nthe circle of {} is gone; take it from the list ({why})", files.join(", "));
        }
    }
    assert!(report.is_empty(), "{report}");
}

/// Members whose front pages have a map; others are a folder that is read at a glance.
const MAPPED: [&str; 3] = ["engine", "explorer", "corpus"];

/// The map on the front page shows every room, with its floor where it has one.
#[test]
fn every_front_page_shows_its_rooms() {
    let sources = the_sources();
    let mut report = String::new();
    for front in sources.iter().filter(|source| MAPPED.contains(&source.member()) && source.path.ends_with("/lib.rs")) {
        let own = format!("src/{}/", front.member());
        let inner = sources.iter().filter_map(|source| source.path.strip_prefix(&own));
        let mut rooms: Vec<&str> = inner.map(|path| path.split('/').next().unwrap_or(path)).collect();
        rooms.dedup();
        for room in rooms.into_iter().filter(|room| *room != "lib.rs") {
            let name = room.trim_end_matches(".rs");
            let floor = HOUSES.contains(&front.member()).then(|| floor_of(name).unwrap_or_default().to_string());
            let drawn = front.text.lines().any(|line| {
                let mut words = line.trim_start_matches("//!").split_whitespace();
                let first = words.next().map(|word| word.trim_end_matches('/').trim_end_matches(".rs"));
                first == Some(name) && floor.as_deref().is_none_or(|floor| words.next() == Some(floor))
            });
            if !drawn {
                let _ = writeln!(report, "the map in {} does not show `{name}` {floor:?}", front.path);
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// A function of so many lines in an implementation, an array in its signature.
fn function_of(lines: usize) -> String {
    format!("impl A {{\n    fn f(a: [f32; 2]) {{\n{}    }}\n}}\n", "        g();\n".repeat(lines - 2))
}

fn struct_of(fields: usize) -> String {
    format!("/// x\npub struct A<T: B> {{\n{}}}\n", "    /// x\n    pub b: std::map::Map<u8, [T; 2]>,\n".repeat(fields))
}

/// Each rule finds what is planted for it, in the line where it stands.
#[test]
fn every_rule_finds_its_planted_violation() {
    let long = format!("//! x\n{}", function_of(lengths::LONGEST_FUNCTION + 1));
    let wide = format!("//! x\n{}", struct_of(lengths::MOST_FIELDS + 1));
    let planted: &[(&str, &str, &str, usize)] = &[
        ("floors", "src/engine/text/a.rs", "//! x\nuse crate::models::Model;\n", 2),
        ("floors", "src/engine/text/a.rs", "//! x\nuse crate::nn::gru::Gru;\n", 2),
        ("floors", "src/engine/decoding/beam.rs", "//! x\nfn f() {\n    crate::analysis::bleu::score();\n}\n", 3),
        ("floors", "src/engine/error.rs", "//! x\nuse crate::ticket::CancellationToken;\n", 2),
        ("floors", "src/explorer/pages/a.rs", "//! x\nuse crate::ui::app;\n", 2),
        ("floors", "src/engine/text/mod.rs", "//! x\nuse super::models::Model;\n", 2),
        ("floors", "src/engine/models/fused/mod.rs", "//! x\nuse super::super::analysis::bleu;\n", 2),
        ("floors", "src/engine/cellar/mod.rs", "//! x\n", 1),
        ("crates", "src/explorer/session/mod.rs", "//! x\nuse candle_core::Tensor;\n", 2),
        ("crates", "src/explorer/jobs/mod.rs", "//! x\nfn f(ui: &mut egui::Ui) {}\n", 2),
        ("crates", "src/engine/models/a.rs", "//! x\nuse tokenizers::Tokenizer;\n", 2),
        ("pages", "src/explorer/pages/map/mod.rs", "//! x\nuse crate::pages::corpus::columns::A;\n", 2),
        ("pages", "src/explorer/pages/map/view/a.rs", "//! x\nuse crate::pages::steps::view::stage;\n", 2),
        ("painting", "src/explorer/pages/map/view/a.rs", "//! x\nlet a = std::fs::read(path);\n", 2),
        ("threads", "src/engine/decoding/beam.rs", "//! x\nfn f() { std::thread::spawn(|| ()); }\n", 2),
        ("threads", "src/explorer/session/mod.rs", "//! x\nuse rayon::prelude::*;\n", 2),
        ("threads", "src/explorer/session/mod.rs", "//! x\nuse std::{\n    thread::{self, spawn},\n};\n", 3),
        ("floors", "src/engine/text/a.rs", "//! x\nuse super::super::{models::Model};\n", 2),
        ("crates", "src/explorer/jobs/mod.rs", "//! x\nuse {std::fs, egui};\n", 2),
        ("timeless", "src/engine/text/a.rs", "//! x\nuse std::{env::{var}, fs};\n", 2),
        ("colours", "src/explorer/ui/views/a.rs", "//! x\nlet c = Color32::from_rgb(1, 2, 3);\n", 2),
        ("colours", "src/explorer/ui/views/a.rs", "//! x\nlet c = egui::Color32::WHITE;\n", 2),
        ("colours", "src/figure/a.rs", "//! x\nlet c = Rgba::from_hex(0xFF_00_00);\n", 2),
        ("timeless", "src/engine/decoding/beam.rs", "//! x\nlet t = std::time::Instant::now();\n", 2),
        ("timeless", "src/engine/nn/init.rs", "//! x\nlet mut r = rand::rng();\n", 2),
        ("unsafe", "src/engine/models/checkpoint.rs", "//! x\nlet m = unsafe { map(file) };\n", 2),
        ("prints", "src/training/mod.rs", "//! x\neprintln!(\"loss\");\n", 2),
        ("prints", "src/cli/mod.rs", "//! x\ndbg!(1);\n", 2),
        ("unfinished", "src/cli/mod.rs", "//! x\n\n    todo!()\n", 3),
        ("unwraps", "src/engine/text/a.rs", "//! x\nlet a = b.unwrap();\n", 2),
        ("documented", "src/engine/text/a.rs", "use std::fs;\n", 1),
        ("described", "src/engine/text/a.rs", "//! x\npub struct A {\n    pub b: u8,\n}\n", 2),
        ("short", "src/engine/text/a.rs", &"//! x\n".repeat(LONGEST + 1), LONGEST + 1),
        ("functions", "src/engine/text/a.rs", &long, 3),
        ("fields", "src/engine/text/a.rs", &wide, 3),
    ];
    for (rule, path, text, line) in planted {
        let (_, find) = RULES.iter().find(|(name, _)| name == rule).expect("planted for a rule that exists");
        let found = find(&Source::new(path, text));
        assert!(found.iter().any(|(at, _)| at == line), "{rule} missed {path}: {text:.80} (found {found:?})");
    }
    for (rule, _) in RULES {
        assert!(planted.iter().any(|(name, ..)| name == rule), "nothing is planted for `{rule}`");
    }
}

/// What no rule may take for a violation.
#[test]
fn no_rule_cries_wolf() {
    let innocent: &[(&str, &str)] = &[
        ("src/explorer/jobs/mod.rs", "use engine::decoding::SearchOptions;\nuse crate::jobs::live::protocol::Event;\n"),
        (
            "src/decoding/beam.rs",
            "/// See [`crate::ui::App`]; `unsafe`, todo!() and println! are words here.\nfn f() {}\n",
        ),
        ("src/engine/text/a.rs", "const A: &str = \"use crate::ui::App; x.unwrap() \\\" println!()\";\n"),
        (
            "src/text/a.rs",
            "const A: &str = r#\"unsafe \" println!()\"#;\nfn f<'a>(c: char) -> bool { c == '\"' || c == '\\'' }\n",
        ),
        (
            "src/engine/text/a.rs",
            "/* unsafe /* nested */ todo!() */\n#[cfg(test)]\nmod tests { fn f() { a.unwrap(); } }\n",
        ),
        ("src/explorer/ui/views/a.rs", "let c = Color32::TRANSPARENT;\nlet d: Color32 = theme.accent();\n"),
        ("src/explorer/ui/views/a.rs", "painter.image(texture, rect, UV, Color32::WHITE);\n"),
        ("src/explorer/widgets/theme.rs", "const WHITE: Color32 = Color32::from_rgb(255, 255, 255);\n"),
        ("src/explorer/ui/views/text.rs", "use super::text::Galley;\n"),
        ("src/training/data.rs", "let tokenizers = (source, target);\nlet rfd = tokenizers.0;\n"),
        ("src/engine/nn/fused/gemm.rs", "unsafe { kernel(a, b) };\n"),
        ("src/engine/nn/gru.rs", "#![allow(unsafe_code)]\nlet egui_like = supercrate::ui::x;\n"),
        ("src/cli/bench.rs", "println!(\"{}\", std::time::Instant::now().elapsed().as_millis());\n"),
    ];
    let (long, wide) = (function_of(lengths::LONGEST_FUNCTION), struct_of(lengths::MOST_FIELDS));
    let at_the_limit = [("src/engine/text/a.rs", long.as_str()), ("src/engine/text/b.rs", wide.as_str())];
    for (path, text) in innocent.iter().copied().chain(at_the_limit) {
        let source = Source::new(path, &format!("//! x\n{text}"));
        for (rule, find) in RULES {
            let found = find(&source);
            assert!(found.is_empty(), "{rule} cried wolf over {path}: {text} {found:?}");
        }
    }
}

#[test]
fn the_examples_are_many_and_each_says_what_it_shows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/examples.toml");
    let text = fs::read_to_string(path).expect("the examples are bundled");
    let table: toml::Table = text.parse().expect("the examples are TOML");
    let groups = table["group"].as_array().expect("the examples are groups");
    let mut seen = Vec::new();
    for group in groups {
        let name = group["name"].as_str().expect("a group has a name");
        let shows = group["shows"].as_str().expect("a group says what it shows");
        assert!(shows.ends_with('.'), "what {name} shows is not a sentence");
        for sentence in group["sentences"].as_array().expect("a group has sentences") {
            let sentence = sentence.as_str().expect("a sentence is text");
            assert!(sentence.trim() == sentence && !sentence.contains('\n'), "{sentence:?} is not one clean line");
            assert!(!seen.contains(&sentence), "{sentence:?} is there twice");
            assert!((3..=45).contains(&sentence.split(' ').count()), "{sentence:?} is too short or too long");
            seen.push(sentence);
        }
    }
    assert!(seen.len() >= 40 && groups.len() >= 6, "{} sentences in {} groups", seen.len(), groups.len());
}

#[test]
fn the_icon_is_a_square_png() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/icon.png");
    let bytes = fs::read(path).expect("the icon is bundled");
    assert_eq!(bytes.get(..8), Some(b"\x89PNG\r\n\x1a\n".as_slice()));
    let side = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    assert_eq!((side(16), side(20)), (256, 256));
}

/// A profile of a package that is no longer there optimises nothing, and cargo does not say so.
#[test]
fn packages_with_a_profile_of_their_own_are_in_the_lock_file() {
    let read = |name: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect(name);
    let (manifest, lock) = (read("Cargo.toml"), read("Cargo.lock"));
    let sections =
        manifest.split("\n[").filter(|section| section.starts_with("profile.") && section.contains(".package]"));
    let names = sections.flat_map(str::lines).filter_map(|line| line.split_once(" = {")).map(|(name, _)| name);
    let missing: Vec<&str> =
        names.filter(|name| *name != "\"*\"" && !lock.contains(&format!("\nname = \"{name}\"\n"))).collect();
    assert!(missing.is_empty(), "Cargo.toml has profiles of packages that Cargo.lock does not name: {missing:?}");
}

/// The public types of a file, with the lines that name them.
fn public_types(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let kinds = ["pub struct ", "pub enum ", "pub trait "];
    source.library_lines().filter_map(move |(number, line)| {
        let rest = kinds.iter().find_map(|kind| line.trim_start().strip_prefix(kind))?;
        Some((number, &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]))
    })
}

#[test]
fn a_public_type_has_a_name_of_its_own() {
    let sources = the_sources();
    let mut seen = std::collections::BTreeMap::new();
    let mut report = String::new();
    for source in &sources {
        for (number, name) in public_types(source) {
            let here = format!("{}:{number}", source.path);
            if let Some(first) = seen.insert((source.member(), name), here.clone()) {
                let _ = writeln!(report, "{here}: `{name}` is the name of another public type, at {first}");
            }
        }
    }
    assert!(seen.len() > 500, "only {} types were found", seen.len());
    assert!(report.is_empty(), "\n{report}");
}
