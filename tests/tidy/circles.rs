//! Circles of files that import each other: in a circle no file can be read, tested or changed by itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Source, imports::Modules};

/// Who names whom, by paths within one member.
pub type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Files and the files of the same member that they import; a file that declares a module names it wherever its path begins
/// with that. What is only passed on by `pub use` is no import. Tests do not count.
pub fn graph(sources: &[Source]) -> Graph<'_> {
    let pairs: Vec<(&str, &str)> = sources.iter().map(|source| (source.path.as_str(), source.library())).collect();
    let modules = Modules::new(&pairs);
    let members: BTreeMap<&str, &str> = sources.iter().map(|source| (source.path.as_str(), source.member())).collect();
    let mut graph = Graph::new();
    for source in sources {
        let named = source.paths().into_iter().filter_map(|path| modules.file(&path, &source.path));
        let own = named.filter(|file| *file != source.path && members.get(file) == Some(&source.member()));
        graph.insert(source.path.as_str(), own.collect());
    }
    graph
}

/// Tarjan's algorithm: the sets of two or more files each of which leads to all others.
pub fn circles<'a>(graph: &Graph<'a>) -> Vec<BTreeSet<&'a str>> {
    let mut search = Search { graph, ..Search::empty(graph) };
    for file in graph.keys() {
        if !search.index.contains_key(file) {
            search.visit(file);
        }
    }
    search.found
}

struct Search<'g, 'a> {
    graph: &'g Graph<'a>,
    /// The number of each visited file, in the order of visits.
    index: BTreeMap<&'a str, usize>,
    /// The lowest number that each file leads to.
    low: BTreeMap<&'a str, usize>,
    stack: Vec<&'a str>,
    found: Vec<BTreeSet<&'a str>>,
}

impl<'g, 'a> Search<'g, 'a> {
    fn empty(graph: &'g Graph<'a>) -> Self {
        Self { graph, index: BTreeMap::new(), low: BTreeMap::new(), stack: Vec::new(), found: Vec::new() }
    }

    fn visit(&mut self, file: &'a str) -> usize {
        let number = self.index.len();
        self.index.insert(file, number);
        self.stack.push(file);
        let mut low = number;
        for next in self.graph.get(file).into_iter().flatten() {
            match self.index.get(next) {
                None => low = low.min(self.visit(next)),
                Some(seen) if self.stack.contains(next) => low = low.min(*seen),
                Some(_) => {}
            }
        }
        self.low.insert(file, low);
        if low == number {
            let from = self.stack.iter().rposition(|open| *open == file).unwrap_or(0);
            let circle: BTreeSet<&str> = self.stack.split_off(from).into_iter().collect();
            if circle.len() > 1 {
                self.found.push(circle);
            }
        }
        low
    }
}

#[test]
fn a_circle_is_found_through_groups_super_and_what_is_passed_on() {
    let sources = [
        Source::new("src/m/a/mod.rs", "//! x\nmod b;\nmod c;\npub use self::b::B;\nconst T: fn() = e::run;\n"),
        Source::new("src/m/a/b.rs", "//! x\nuse super::{\n    c::C,\n    d,\n};\n"),
        Source::new("src/m/a/c.rs", "//! x\nfn f(b: crate::a::B) {}\n"),
        Source::new("src/m/a/d.rs", "//! x\nuse n::other::E;\n#[cfg(test)]\nmod tests { use crate::a::b::B; }\n"),
        Source::new("src/n/other.rs", "//! x\nuse m::a::d;\n"),
    ];
    let graph = graph(&sources);
    let found = circles(&graph);
    assert_eq!(found, [BTreeSet::from(["src/m/a/b.rs", "src/m/a/c.rs"])], "{graph:?}");
}
