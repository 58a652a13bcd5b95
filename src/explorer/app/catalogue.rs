//! What each model that comes with the program is for, and how well it translates: one line a model. A leaf.

/// A bundled model, for a reader who chooses one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Purpose {
    /// The name of its folder.
    pub folder: &'static str,
    pub text: &'static str,
    /// sacreBLEU (13a, cased, beam 5) on Tatoeba's test, as its card says; `None`: not worth translating with.
    pub bleu: Option<f32>,
}

const fn model(folder: &'static str, text: &'static str, bleu: Option<f32>) -> Purpose {
    Purpose { folder, text, bleu }
}

const NO_ATTENTION: &str = id!("No attention: one vector for the whole sentence");
const GUIDED: &str = id!("The best translations; learned its alignment from word links");
const LOCAL: &str = id!("Looks only at a window around a predicted place");
const COPY: &str = id!("One of four copies of a training, for the lesson about them");

pub const CATALOGUE: &[Purpose] = &[
    model("rnnencdec-en-fr", NO_ATTENTION, Some(41.4)),
    model("rnnsearch-en-fr", id!("Attention that found its alignment without help"), Some(48.2)),
    model("rnnsearch-guided-en-fr", GUIDED, Some(51.8)),
    model("luong-global-en-fr", id!("Attention after the new state; looks at all words"), Some(44.8)),
    model("luong-local-p-en-fr", LOCAL, Some(44.3)),
    model("transformer-en-fr", id!("Many heads look at once; nothing is read word after word"), Some(48.4)),
    model("rnnsearch-small-0200", COPY, None),
    model("rnnsearch-small-0500", COPY, None),
    model("rnnsearch-small-2000", COPY, None),
    model("rnnsearch-small-9000", COPY, None),
    model("rnnencdec-en-de", NO_ATTENTION, Some(35.5)),
    model("luong-local-p-en-de", LOCAL, Some(38.0)),
    model("rnnsearch-guided-en-de", GUIDED, Some(42.0)),
    model("rnnsearch-guided-fr-en", GUIDED, Some(48.7)),
];

pub fn purpose(folder: &str) -> Option<&'static Purpose> {
    CATALOGUE.iter().find(|model| model.folder == folder)
}
