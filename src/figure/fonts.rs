//! The letters of figures in files: a font that comes with the program, and those of the system for the scripts
//! that it lacks.

use std::sync::{Arc, OnceLock};

use resvg::usvg::fontdb::{Database, FaceInfo, ID, Source, Stretch, Style, Weight};
use resvg::usvg::{FontResolver, Options, Tree};
use skrifa::{FontRef, MetadataProvider as _};

use crate::Figure;
use crate::mark::Mark;
use engine::error::{Error, Result};

const BUNDLED: &[u8] = include_bytes!("../../assets/fonts/LiberationSans-Regular.ttf");
pub const FAMILY: &str = "Liberation Sans";

/// Fonts that figures are written with.
#[derive(Debug)]
pub struct Fonts {
    bundled: Arc<Database>,
    all: OnceLock<Arc<Database>>,
}

impl Default for Fonts {
    fn default() -> Self {
        let mut bundled = Database::new();
        bundled.load_font_source(Source::Binary(Arc::new(BUNDLED)));
        Self { bundled: Arc::new(bundled), all: OnceLock::new() }
    }
}

impl Fonts {
    /// The SVG of a figure as shapes and placed letters.
    pub fn tree(&self, figure: &Figure<'_>, svg: &str) -> Result<Tree> {
        let fontdb = if covers(figure) { &self.bundled } else { self.all() };
        let select_fallback = Box::new(|letter: char, tried: &[ID], fonts: &mut Arc<Database>| {
            let plain = |face: &&FaceInfo| !tried.contains(&face.id) && has(fonts, face.id, letter);
            fonts.faces().filter(plain).min_by_key(|face| oddness(face)).map(|face| face.id)
        });
        let options = Options {
            font_family: FAMILY.to_owned(),
            fontdb: Arc::clone(fontdb),
            font_resolver: FontResolver { select_fallback, ..FontResolver::default() },
            ..Options::default()
        };
        Tree::from_str(svg, &options).map_err(|error| Error::Internal(format!("a figure could not be read: {error}")))
    }

    fn all(&self) -> &Arc<Database> {
        self.all.get_or_init(|| {
            let mut all = Database::clone(&self.bundled);
            all.load_system_fonts();
            Arc::new(all)
        })
    }
}

fn oddness(face: &FaceInfo) -> (bool, bool, u16) {
    (face.style != Style::Normal, face.stretch != Stretch::Normal, face.weight.0.abs_diff(Weight::NORMAL.0))
}

fn has(fonts: &Database, face: ID, letter: char) -> bool {
    let found = fonts.with_face_data(face, |data, index| {
        FontRef::from_index(data, index).is_ok_and(|font| font.charmap().map(letter).is_some())
    });
    found.unwrap_or(false)
}

fn covers(figure: &Figure<'_>) -> bool {
    let Ok(font) = FontRef::new(BUNDLED) else { return false };
    let letters = font.charmap();
    let known = |text: &str| text.chars().all(|letter| letter.is_control() || letters.map(letter).is_some());
    figure.marks.iter().all(|mark| match mark {
        Mark::Text(text) => known(&text.text),
        Mark::Words(words) => words.words.iter().all(|(word, _)| known(word)),
        Mark::Rect(_) | Mark::Lines(_) | Mark::Curve(_) | Mark::Polygon(_) | Mark::Dots(_) | Mark::Image(_) => true,
    })
}
