//! Reads `use` declarations: groups, several lines, `self` and aliases; and which file a path names.

use std::{collections::BTreeMap, ops::Range};

/// One path of a `use` declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The line in which its last word stands.
    pub line: usize,
    /// `crate::room::file::Name`, groups opened; a closing `::self` is dropped.
    pub path: String,
    /// Whether it is a `pub use`.
    pub public: bool,
}

/// Every path that the `use` declarations of this code name. Comments and literals must be blank.
pub fn imports(code: &str) -> Vec<Import> {
    let mut found = Vec::new();
    for (declaration, public) in declarations(code) {
        let line = 1 + code[..declaration.start].matches('\n').count();
        let tree = code[declaration].trim_start_matches("use ");
        open(tree, "", line, &mut |path, line| found.push(Import { line, path, public }));
    }
    found
}

/// The code with its `use` declarations blanked out.
pub fn without_imports(code: &str) -> String {
    let mut rest = code.to_owned();
    for (declaration, _) in declarations(code) {
        let blank = code[declaration.clone()].replace(|c: char| c != '\n' && c.is_ascii(), " ");
        rest.replace_range(declaration, &blank);
    }
    rest
}

/// Where the declarations stand, from `use` to before `;`, and whether they are `pub`.
fn declarations(code: &str) -> Vec<(Range<usize>, bool)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = &code[..at];
        let begins = before.trim_end();
        let apart = before.is_empty() || before.ends_with(char::is_whitespace);
        let public = begins.ends_with("pub") || begins.ends_with(')') && begins.contains("pub(");
        let declares = begins.is_empty() || public || begins.ends_with([';', '}', '{', ']']);
        if let Some(end) = code[at..].find(';').filter(|_| declares && apart) {
            found.push((at..at + end, public));
        }
    }
    found
}

/// Opens the groups of one declaration, `a::{b, c::{d}}`.
fn open(tree: &str, prefix: &str, mut line: usize, add: &mut dyn FnMut(String, usize)) {
    for piece in pieces(tree) {
        let (blank, inner) = (piece.len() - piece.trim_start().len(), piece.trim());
        let here = line + piece[..blank].matches('\n').count();
        line += piece.matches('\n').count();
        if let Some((head, group)) = inner.split_once('{') {
            let group = group.strip_suffix('}').unwrap_or(group);
            let from = here + head.matches('\n').count();
            open(group, &format!("{prefix}{}", head.trim()), from, add);
        } else if !inner.is_empty() {
            let name = inner.split(" as ").next().unwrap_or(inner).trim();
            let path = format!("{prefix}{name}");
            let path = path.strip_suffix("::self").unwrap_or(&path).to_owned();
            add(path, here);
        }
    }
}

/// Splits at the commas that stand in no group.
fn pieces(tree: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0_usize, 0, Vec::new());
    for (at, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&tree[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&tree[from..]);
    found
}

/// The code line by line, with each path of a `use` declaration as a line `use path;` of its own, so that no group
/// hides a name from a rule.
pub fn opened(code: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> =
        code.lines().enumerate().map(|(index, line)| (index + 1, line.to_owned())).collect();
    lines.extend(imports(code).into_iter().map(|import| (import.line, format!("use {};", import.path))));
    lines.sort_by_key(|(line, _)| *line);
    lines
}

/// Files by their module path: `engine::nn::gru` -> `src/engine/nn/gru.rs`.
pub struct Modules<'a> {
    files: BTreeMap<String, &'a str>,
    /// What a module offers under its own path though it lives elsewhere.
    offered: BTreeMap<String, String>,
}

impl<'a> Modules<'a> {
    /// Of these files and their code.
    pub fn new(sources: &[(&'a str, &'a str)]) -> Self {
        let mut modules = Self { files: BTreeMap::new(), offered: BTreeMap::new() };
        for (path, code) in sources {
            let module = module_of(path);
            for import in imports(code).into_iter().filter(|import| import.public) {
                let (target, name) = (absolute(&import.path, &module), import.path.rsplit("::").next());
                if let (Some(target), Some(name)) = (target, name) {
                    modules.offered.insert(format!("{module}::{name}"), target);
                }
            }
            modules.files.insert(module, path);
        }
        modules
    }

    /// The file that a path from `from` names: where a name is only passed on by `pub use`, the file it comes from.
    pub fn file(&self, path: &str, from: &str) -> Option<&'a str> {
        let mut path = absolute(path, &module_of(from))?;
        // as many steps as a chain of `pub use` could have
        for _ in 0..8 {
            let Some((end, target)) = prefixes(&path).find_map(|p| Some((p.len(), self.offered.get(p)?))) else {
                break;
            };
            path = format!("{target}{}", &path[end..]);
        }
        prefixes(&path).find_map(|prefix| self.files.get(prefix).copied())
    }
}

/// `a::b::c`, `a::b`, `a`.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once("::").map(|(head, _)| head))
}

/// `src/engine/nn/gru.rs` -> `engine::nn::gru`, `src/engine/nn/mod.rs` -> `engine::nn`, `src/engine/lib.rs` -> `engine`.
fn module_of(path: &str) -> String {
    let inner = path.strip_prefix("src/").unwrap_or(path);
    let inner = inner.strip_suffix(".rs").unwrap_or(inner);
    let inner = inner.strip_suffix("/mod").or_else(|| inner.strip_suffix("/lib")).unwrap_or(inner);
    inner.replace('/', "::")
}

/// A path from `src`; `None` for paths into other crates.
fn absolute(path: &str, module: &str) -> Option<String> {
    let mut base = module;
    let mut rest = path;
    if let Some(inner) = rest.strip_prefix("crate::") {
        return Some(format!("{}::{inner}", module.split("::").next().unwrap_or(module)));
    }
    let relative = rest.starts_with("self::") || rest.starts_with("super::");
    rest = rest.strip_prefix("self::").unwrap_or(rest);
    while let Some(above) = rest.strip_prefix("super::") {
        (base, rest) = (base.rsplit_once("::")?.0, above);
    }
    relative.then(|| format!("{base}::{rest}"))
}

#[test]
fn groups_are_opened_line_by_line() {
    let code = "use a::b;\npub use crate::x::{\n    y::{Z, self as w},\n    V as _,\n};\nfn f() { reuse (); }\n";
    let found: Vec<(usize, String, bool)> =
        imports(code).into_iter().map(|import| (import.line, import.path, import.public)).collect();
    let expected =
        [(1, "a::b", false), (3, "crate::x::y::Z", true), (3, "crate::x::y", true), (4, "crate::x::V", true)];
    assert_eq!(found, expected.map(|(line, path, public)| (line, path.to_owned(), public)));
}

#[test]
fn a_path_leads_to_its_file_and_through_what_is_passed_on() {
    let sources = [
        ("src/m/a/mod.rs", "pub use self::b::Kept;\npub use crate::a::c::*;\nuse crate::a::c::Own;\n"),
        ("src/m/a/b.rs", "use super::c;\n"),
        ("src/m/a/c.rs", ""),
    ];
    let modules = Modules::new(&sources);
    for (path, from, file) in [
        ("crate::a::Kept", "src/m/x.rs", Some("src/m/a/b.rs")),
        ("crate::a::Own", "src/m/x.rs", Some("src/m/a/mod.rs")),
        ("crate::a::b::f", "src/m/x.rs", Some("src/m/a/b.rs")),
        ("super::c", "src/m/a/b.rs", Some("src/m/a/c.rs")),
        ("self::b::Kept", "src/m/a/mod.rs", Some("src/m/a/b.rs")),
        ("std::fs", "src/m/a/b.rs", None),
    ] {
        assert_eq!(modules.file(path, from), file, "{path} from {from}");
    }
}
