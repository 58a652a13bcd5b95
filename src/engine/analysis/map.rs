//! Vectors laid out in the plane, by PCA or by t-SNE (Cho et al. 2014, figures 4 and 5).

use serde::{Deserialize, Serialize};

use crate::analysis::{pca::Pca, tsne, tsne::TsneOptions};
use crate::error::{Error, Result};
use crate::ticket::CancellationToken;

/// Dimensions that t-SNE gets at most: the first principal components, as van der Maaten and Hinton advise.
const REDUCED: usize = 50;

/// How to lay out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Method {
    /// The first two principal components.
    #[default]
    Pca,
    /// Barnes-Hut t-SNE of the first [`REDUCED`] principal components.
    Tsne,
}

/// One line of [`METHODS`].
#[derive(Clone, Copy, Debug)]
pub struct MethodEntry {
    pub method: Method,
    pub name: &'static str,
    pub title: &'static str,
    pub about: &'static str,
}

/// Every way to lay out, in the order of [`Method`].
pub const METHODS: &[MethodEntry] = &[
    MethodEntry {
        method: Method::Pca,
        name: "pca",
        title: "PCA",
        about: id!("The two directions in which the vectors differ most; distances are those seen along them."),
    },
    MethodEntry {
        method: Method::Tsne,
        name: "tsne",
        title: "t-SNE",
        about: id!("Keeps neighbours together (Barnes-Hut t-SNE); distances between far groups say little."),
    },
];

impl Method {
    pub fn from_name(name: &str) -> Option<Self> {
        METHODS.iter().find(|entry| entry.name == name).map(|entry| entry.method)
    }

    pub fn entry(self) -> &'static MethodEntry {
        &METHODS[self as usize]
    }
}

/// Where the vectors lie.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapLayout {
    pub places: Vec<[f32; 2]>,
    /// The shares of variance along both axes, for PCA.
    pub explained: Option<[f32; 2]>,
    /// The perplexity used, for t-SNE.
    pub perplexity: Option<f32>,
}

/// How far it is, from 0 to 1, and the places so far (empty while there are none).
type OnProgress<'a> = dyn FnMut(f32, &[f32]) + 'a;

/// Lays out `rows` of `dimension` numbers each.
pub fn layout(
    rows: &[f32], dimension: usize, method: Method, options: &TsneOptions, ticket: &CancellationToken,
    on_progress: &mut OnProgress<'_>,
) -> Result<MapLayout> {
    let count = rows.len() / dimension.max(1);
    if count < 2 || dimension == 0 {
        return Err(Error::Input("a map needs at least 2 points; choose more words or lines".into()));
    }
    on_progress(0.0, &[]);
    match method {
        Method::Pca => {
            let pca = Pca::fit(rows, dimension, 2, ticket)?;
            let places = pca.project(rows);
            let places = match pca.axes.len() {
                1 => places.iter().map(|x| [*x, 0.0]).collect(),
                _ => places.as_chunks::<2>().0.to_vec(),
            };
            Ok(MapLayout { places, explained: Some([pca.explained(0), pca.explained(1)]), perplexity: None })
        }
        Method::Tsne => {
            let kept = REDUCED.min(dimension);
            let reduced = Pca::fit(rows, dimension, kept, ticket)?.project(rows);
            let places = tsne::embed(&reduced, kept, options, ticket, &mut |progress| {
                on_progress(progress.done as f32 / progress.total.max(1) as f32, progress.points);
            })?;
            let perplexity = Some(tsne::lowered(options.perplexity, count));
            Ok(MapLayout { places, explained: None, perplexity })
        }
    }
}
