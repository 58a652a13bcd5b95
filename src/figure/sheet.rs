//! Floor 6: whole figures of a translation: the kinds that there are, from the same words and numbers.
//!
//! A new kind is one line of [`KINDS`].

use std::sync::LazyLock;

use crate::analysis::alignment::Alignment;
use crate::figure::beam::BeamRow;
use crate::figure::geometry::{Area, point, size};
use crate::figure::heatmap::layout::{Gaze, Metrics};
use crate::figure::heatmap::outlines::Outlined;
use crate::figure::heatmap::{Heatmap, HeatmapMarks};
use crate::figure::inspected::Inspected;
use crate::figure::label::Label;
use crate::figure::links::Weight;
use crate::figure::mark::{Cells, Mark, Scale};
use crate::figure::measure::{SansSerif, TextMeasure as _};
use crate::figure::palette::{ColourMap, Palette};
use crate::figure::provenance::Provenance;
use crate::figure::sizes::{SPACE_1, SPACE_2, TEXT_BODY};
use crate::figure::tree::{DrawnNode, TreeFigure};
use crate::figure::{Figure, legend, links};
use crate::text::links::Links;

/// Height of the links between the two lines, points.
const RISE: f32 = 130.0;
/// Height of a line of the beam, points.
const LINE: f32 = 24.0;
/// Room to the left of the words of a hypothesis, points.
const BEFORE_WORDS: f32 = 150.0;

/// What figures of a translation are made of.
#[derive(Clone, Debug, Default)]
pub struct PictureSheet<'a> {
    pub source: Vec<Label<'a>>,
    pub target: Vec<Label<'a>>,
    /// alpha_ij; `None` where there is none.
    pub alpha: Option<&'a Alignment>,
    /// What a heatmap shows in place of alpha, and its scale; `None`: alpha.
    pub cells: Option<(&'a Alignment, Scale)>,
    /// What `cells` are, where they are neither alpha nor energies; empty otherwise.
    pub name: &'a str,
    /// The links of an aligner, outlined in a heatmap and drawn over a picture of links.
    pub links: Option<&'a Links>,
    /// Whose links those are.
    pub outlined: Outlined,
    pub gaze: Option<Gaze<'a>>,
    /// Which word a row belongs to, where there is a choice.
    pub corner: Option<&'a str>,
    /// The hypotheses, best first.
    pub beam: Vec<BeamRow<'a>>,
    /// The search, in the order of [`TreeFigure`]; empty where it was not kept.
    pub tree: Vec<DrawnNode<'a>>,
    /// The target word that is looked at closely.
    pub word: Option<Inspected<'a>>,
    /// Where all this comes from.
    pub provenance: Provenance,
}

/// How a figure looks.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureStyle {
    /// It is for a dark ground.
    pub is_dark: bool,
    /// The colours of alpha in a heatmap.
    pub map: &'static ColourMap,
    /// It says what its colours and widths mean.
    pub has_legend: bool,
    /// Below it.
    pub caption: Option<String>,
    /// Links with less alpha are left out.
    pub threshold: f32,
    /// How alpha is seen in links.
    pub weight: Weight,
}

impl Default for FigureStyle {
    fn default() -> Self {
        let map = ColourMap::at(0);
        Self { is_dark: false, map, has_legend: false, caption: None, threshold: 0.1, weight: Weight::default() }
    }
}

/// One line of [`KINDS`].
#[derive(Clone, Copy, Debug)]
pub struct FigureKind {
    /// On the command line.
    pub name: &'static str,
    pub about: &'static str,
    /// What it cannot be drawn without.
    pub needs: FigureNeeds,
    draw: for<'a> fn(&'a PictureSheet<'a>, &FigureStyle) -> Figure<'a>,
}

/// What a figure cannot be drawn without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureNeeds {
    /// There are always hypotheses.
    Nothing,
    /// alpha.
    Alignment,
    /// The whole search.
    Search,
    /// A target word with what else was weighed there, or alpha.
    Word,
}

impl FigureNeeds {
    /// Why there is nothing to draw, in a sentence.
    pub fn lacking(self) -> &'static str {
        match self {
            Self::Nothing => id!("There is nothing to draw"),
            Self::Alignment => {
                id!("There is no alignment to draw, because this model has none or it was too large to keep")
            }
            Self::Search => {
                id!("There is no search to draw, because the translation was given or the search was too large to keep")
            }
            Self::Word => {
                id!(
                    "There are no bars to draw: no word is selected, or nothing was searched and the model has no alignment"
                )
            }
        }
    }
}

/// Every kind of figure of a translation.
pub const KINDS: &[FigureKind] = &[
    FigureKind {
        name: id!("heatmap"),
        about: id!("alpha as cells, source words along the top, target words down the side"),
        needs: FigureNeeds::Alignment,
        draw: heatmap,
    },
    FigureKind {
        name: id!("links"),
        about: id!("alpha as curves between the source above and the target below"),
        needs: FigureNeeds::Alignment,
        draw: links,
    },
    FigureKind {
        name: id!("beam"),
        about: id!("the hypotheses with their log p, doubtful words coloured"),
        needs: FigureNeeds::Nothing,
        draw: beam,
    },
    FigureKind {
        name: id!("tree"),
        about: id!("the whole search, a node for each word, with what fell out of the beam"),
        needs: FigureNeeds::Search,
        draw: tree,
    },
    FigureKind {
        name: id!("bars"),
        about: id!("one target word: the next-word candidates, and alpha over the source words"),
        needs: FigureNeeds::Word,
        draw: bars,
    },
];

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static FigureKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

impl FigureKind {
    /// The figure on its ground, with what `look` asks for; `None` where something is missing that it needs.
    pub fn draw<'a>(&self, sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Option<Figure<'a>> {
        let has_cells = sheet.cells.is_some() && self.name == KINDS[0].name;
        let is_there = match self.needs {
            FigureNeeds::Nothing => true,
            FigureNeeds::Alignment => sheet.alpha.is_some() || has_cells,
            FigureNeeds::Search => !sheet.tree.is_empty(),
            FigureNeeds::Word => sheet.word.as_ref().is_some_and(Inspected::has_bars),
        };
        if !is_there {
            return None;
        }
        let palette = Palette::of(look.is_dark);
        let mut figure = (self.draw)(sheet, look);
        figure.provenance = sheet.provenance.clone();
        if let Some(caption) = &look.caption {
            figure = figure.captioned(caption, &SansSerif, palette);
        }
        Some(figure.grounded(palette))
    }
}

/// The numbers of a figure that has none.
static NOTHING: LazyLock<Alignment> = LazyLock::new(Alignment::default);

fn heatmap<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    let (numbers, scale) = sheet.cells.unwrap_or((sheet.alpha.unwrap_or(&NOTHING), Scale::Unit));
    let heatmap = Heatmap {
        source: &sheet.source,
        target: &sheet.target,
        cells: Cells { numbers, map: look.map, scale, revision: 0 },
        name: sheet.name,
        gaze: sheet.gaze,
        links: sheet.links,
        outlined: sheet.outlined,
        marks: HeatmapMarks::default(),
        metrics: Metrics::default(),
        text_height: 0.0,
        palette: Palette::of(look.is_dark),
    };
    heatmap.sheet(sheet.corner, look.has_legend, &SansSerif)
}

fn links<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    let palette = Palette::of(look.is_dark);
    let links = links::LinksFigure {
        source: &sheet.source,
        target: &sheet.target,
        alpha: sheet.alpha.unwrap_or(&NOTHING),
        threshold: look.threshold,
        weight: look.weight,
        marked: None,
        palette,
    };
    let figure = links.whole(size(0.0, RISE), sheet.links, &SansSerif);
    if !look.has_legend {
        return figure;
    }
    with_legend(figure, |place| legend::of_links(&place, links.threshold, |alpha| links.stroke_of(alpha), palette))
}

fn beam<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    let palette = Palette::of(look.is_dark);
    let width =
        |row: &BeamRow<'_>| row.words.iter().map(|(word, _)| SansSerif.width(word, TEXT_BODY) + SPACE_1).sum::<f32>();
    let width = BEFORE_WORDS + sheet.beam.iter().map(width).fold(0.0, f32::max);
    let row = |(n, row): (usize, &BeamRow<'a>)| {
        let area = Area::at(point(0.0, n as f32 * LINE), size(width, LINE));
        row.clone().marks(&area, palette)
    };
    let marks: Vec<Mark<'a>> = sheet.beam.iter().enumerate().flat_map(row).collect();
    let size = size(width, LINE * sheet.beam.len().max(1) as f32);
    let figure = Figure { size, marks, ..Figure::default() };
    if look.has_legend { with_legend(figure, |place| legend::of_doubt(&place, palette)) } else { figure }
}

fn tree<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    let palette = Palette::of(look.is_dark);
    let tree = TreeFigure { nodes: &sheet.tree, selected: None, scale: 1.0, palette };
    let figure = tree.whole(&SansSerif);
    if look.has_legend { with_legend(figure, |place| legend::of_doubt(&place, palette)) } else { figure }
}

/// They say themselves what they are.
fn bars<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    let palette = Palette::of(look.is_dark);
    sheet.word.as_ref().map_or_else(Figure::default, |word| word.whole(&sheet.source, &SansSerif, palette))
}

/// The figure with a legend below.
fn with_legend<'a>(mut figure: Figure<'a>, legend: impl FnOnce(Area) -> Vec<Mark<'a>>) -> Figure<'a> {
    let top = figure.size.y + SPACE_2;
    figure.marks.extend(legend(Area::at(point(0.0, top), size(figure.size.x, legend::SIZE.y))));
    figure.size = size(figure.size.x.max(legend::WITH_WORDS), top + legend::SIZE.y + SPACE_1);
    figure
}
