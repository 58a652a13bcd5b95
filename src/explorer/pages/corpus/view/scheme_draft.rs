//! The scheme of errors of a workspace while it is edited.

use std::sync::Arc;

use corpus::judgements::scheme::{ErrorScheme, Renamed, Severity, WeightException};

/// A name as it is edited, and what it was.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Its name in the workspace.
    pub was: Option<String>,
    pub name: String,
    pub weight: f64,
}

/// A scheme as it is edited.
#[derive(Clone, Debug)]
pub struct SchemeDraft {
    /// That of the workspace.
    pub of: Arc<ErrorScheme>,
    pub kinds: Vec<Named>,
    pub severities: Vec<Named>,
    /// Weights that are not those of the severities; they are kept.
    pub exceptions: Vec<WeightException>,
}

impl SchemeDraft {
    pub fn new(of: Arc<ErrorScheme>) -> Self {
        let named = |name: &String, weight| Named { was: Some(name.clone()), name: name.clone(), weight };
        let kinds = of.categories.iter().map(|name| named(name, 0.0)).collect();
        let severities = of.severities.iter().map(|severity| named(&severity.name, severity.weight)).collect();
        let exceptions = of.exceptions.clone();
        Self { of, kinds, severities, exceptions }
    }

    /// What it comes to, and which names are new.
    pub fn scheme(&self) -> (ErrorScheme, Renamed) {
        let clean = |named: &Named| named.name.trim().to_owned();
        let severity = |named: &Named| Severity { name: clean(named), weight: named.weight };
        let scheme = ErrorScheme {
            categories: self.kinds.iter().map(clean).collect(),
            severities: self.severities.iter().map(severity).collect(),
            exceptions: self.exceptions.clone(),
        };
        let renamed = |list: &[Named]| {
            let all = list.iter().filter_map(|named| Some((named.was.clone()?, clean(named))));
            all.filter(|(was, is)| was != is).collect()
        };
        (scheme, Renamed { kinds: renamed(&self.kinds), severities: renamed(&self.severities) })
    }
}
