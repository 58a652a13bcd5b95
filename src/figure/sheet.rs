//! Whole figures of a translation: the kinds that there are, from the same words and numbers.

use std::sync::LazyLock;

use crate::geometry::{Area, point, size};
use crate::heatmap::layout::{Gaze, Metrics};
use crate::heatmap::{Heatmap, HeatmapMarks};
use crate::mark::{Cells, Mark, Scale};
use crate::measure::{SansSerif, TextMeasure as _};
use crate::palette::{ColourMap, Palette};
use crate::sizes::{SPACE_1, TEXT_BODY};
use crate::tree::{DrawnNode, TreeFigure};
use crate::{Figure, MARGIN, legend, links};
use crate::{
    beam::BeamRow, heatmap::outlines::Outlined, inspected::Inspected, label::Label, links::Weight,
    provenance::Provenance,
};
use crate::{links::LinksFigure, mark::Rectangle};
use engine::{analysis::alignment::Alignment, text::links::Links};

const RISE: f32 = 130.0;
const LINE: f32 = 24.0;
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
    pub outlined: Outlined,
    pub gaze: Option<Gaze<'a>>,
    /// Which word a row belongs to, where there is a choice.
    pub corner: Option<&'a str>,
    pub beam: Vec<BeamRow<'a>>,
    /// The search, in the order of [`TreeFigure`]; empty where it was not kept.
    pub tree: Vec<DrawnNode<'a>>,
    /// The target word that is looked at closely.
    pub word: Option<Inspected<'a>>,
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
    pub caption: Option<String>,
    /// Links with less alpha are left out.
    pub threshold: f32,
    /// How alpha is seen in links.
    pub weight: Weight,
}

impl Default for FigureStyle {
    fn default() -> Self {
        let map = ColourMap::usual(false);
        Self { is_dark: false, map, has_legend: false, caption: None, threshold: 0.1, weight: Weight::default() }
    }
}

/// One line of [`KINDS`].
#[derive(Clone, Copy, Debug)]
pub struct FigureKind {
    pub name: &'static str,
    pub about: &'static str,
    /// What it cannot be drawn without.
    pub needs: FigureNeeds,
    draw: for<'a> fn(&'a PictureSheet<'a>, &FigureStyle) -> Figure<'a>,
    legend: for<'a> fn(&'a [PictureSheet<'a>], &FigureStyle) -> Figure<'a>,
}

/// What a figure cannot be drawn without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureNeeds {
    Nothing,
    Alignment,
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
        legend: heatmap_legend,
    },
    FigureKind {
        name: id!("links"),
        about: id!("alpha as curves between the source above and the target below"),
        needs: FigureNeeds::Alignment,
        draw: links,
        legend: links_legend,
    },
    FigureKind {
        name: id!("beam"),
        about: id!("the hypotheses with their log p, doubtful words coloured"),
        needs: FigureNeeds::Nothing,
        draw: beam,
        legend: doubt_legend,
    },
    FigureKind {
        name: id!("tree"),
        about: id!("the whole search, a node for each word, with what fell out of the beam"),
        needs: FigureNeeds::Search,
        draw: tree,
        legend: doubt_legend,
    },
    FigureKind {
        name: id!("bars"),
        about: id!("one target word: the next-word candidates, and alpha over the source words"),
        needs: FigureNeeds::Word,
        draw: bars,
        legend: |_, _| Figure::default(),
    },
];

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static FigureKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

impl FigureKind {
    /// The figure on its ground, with what `look` asks for; `None` where something is missing that it needs.
    pub fn draw<'a>(&self, sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Option<Figure<'a>> {
        Some(self.drawn(sheet, look)?.finished(look))
    }

    /// The same of several beside each other, in rows of so many: their captions begin at one height, and one legend stands below
    /// all of them.
    pub fn panels<'a>(
        &self, sheets: &'a [PictureSheet<'a>], looks: &[&FigureStyle], columns: usize,
    ) -> Option<Figure<'a>> {
        let first = *looks.first()?;
        let bare = FigureStyle { has_legend: false, ..first.clone() };
        let all: Option<Vec<_>> = sheets.iter().map(|sheet| self.drawn(sheet, &bare)).collect();
        let mut all = all?;
        level(&mut all, columns);
        let all = all.into_iter().zip(looks).map(|(figure, look)| figure.finished(look)).collect();
        let palette = Palette::of(first.is_dark);
        let figure = together(all, columns, palette);
        let legend = (self.legend)(sheets, first);
        let has_legend = first.has_legend && !legend.marks.is_empty();
        Some(if has_legend { figure.below(legend, MARGIN).grounded(palette) } else { figure })
    }

    fn drawn<'a>(&self, sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Option<Figure<'a>> {
        let has_cells = sheet.cells.is_some() && self.name == KINDS[0].name;
        let is_there = match self.needs {
            FigureNeeds::Nothing => true,
            FigureNeeds::Alignment => sheet.alpha.is_some() || has_cells,
            FigureNeeds::Search => !sheet.tree.is_empty(),
            FigureNeeds::Word => sheet.word.as_ref().is_some_and(Inspected::has_bars),
        };
        let figure = is_there.then(|| (self.draw)(sheet, look))?;
        Some(Figure { provenance: sheet.provenance.clone(), ..figure })
    }
}

impl Figure<'_> {
    fn finished(self, look: &FigureStyle) -> Self {
        let palette = Palette::of(look.is_dark);
        match &look.caption {
            Some(caption) => self.captioned(caption, &SansSerif, palette).grounded(palette),
            None => self.grounded(palette),
        }
    }
}

static NOTHING: LazyLock<Alignment> = LazyLock::new(Alignment::default);

fn heatmap_of<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Heatmap<'a> {
    let PictureSheet { ref source, ref target, name, gaze, links, outlined, .. } = *sheet;
    let (numbers, scale) = sheet.cells.unwrap_or((sheet.alpha.unwrap_or(&NOTHING), Scale::Unit));
    let cells = Cells { numbers, map: look.map, scale, revision: 0 };
    let (marks, metrics, palette) = (HeatmapMarks::default(), Metrics::default(), Palette::of(look.is_dark));
    Heatmap { source, target, cells, name, gaze, links, outlined, marks, metrics, text_height: 0.0, palette }
}

fn heatmap<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    heatmap_of(sheet, look).sheet(sheet.corner, look.has_legend, &SansSerif)
}

/// Of several the marks of p_t and the outlines are explained where one has them.
fn heatmap_legend<'a>(sheets: &'a [PictureSheet<'a>], look: &FigureStyle) -> Figure<'a> {
    let Some(shown) = sheets.iter().find(|sheet| sheet.gaze.is_some()).or(sheets.first()) else {
        return Figure::default();
    };
    let linked = sheets.iter().rfind(|sheet| sheet.links.is_some()).unwrap_or(shown);
    Heatmap { links: linked.links, outlined: linked.outlined, ..heatmap_of(shown, look) }.legend(&SansSerif)
}

fn links_of<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> links::LinksFigure<'a> {
    let (PictureSheet { source, target, .. }, &FigureStyle { threshold, weight, .. }) = (sheet, look);
    let (alpha, palette) = (sheet.alpha.unwrap_or(&NOTHING), Palette::of(look.is_dark));
    links::LinksFigure { source, target, alpha, threshold, weight, marked: None, palette }
}

fn links<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    let figure = links_of(sheet, look).whole(size(0.0, RISE), sheet.links, &SansSerif);
    explained(figure, look, || links_legend(std::slice::from_ref(sheet), look))
}

fn links_legend<'a>(sheets: &'a [PictureSheet<'a>], look: &FigureStyle) -> Figure<'a> {
    let Some(sheet) = sheets.first() else { return Figure::default() };
    let links = links_of(sheet, look);
    let size = size(legend::WITH_WORDS, legend::SIZE.y);
    let place = Area::from_min_size(point(0.0, 0.0), size);
    let marks = legend::of_links(
        &place,
        links.threshold,
        |alpha| LinksFigure { marked: None, ..links }.stroke(0, 0, alpha),
        links.palette,
    );
    Figure { size, marks, ..Figure::default() }
}

fn beam<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    let palette = Palette::of(look.is_dark);
    let width =
        |row: &BeamRow<'_>| row.words.iter().map(|(word, _)| SansSerif.width(word, TEXT_BODY) + SPACE_1).sum::<f32>();
    let width = BEFORE_WORDS + sheet.beam.iter().map(width).fold(0.0, f32::max);
    let row = |(n, row): (usize, &BeamRow<'a>)| {
        let area = Area::from_min_size(point(0.0, n as f32 * LINE), size(width, LINE));
        row.clone().marks(&area, palette)
    };
    let marks: Vec<Mark<'a>> = sheet.beam.iter().enumerate().flat_map(row).collect();
    let size = size(width, LINE * sheet.beam.len().max(1) as f32);
    explained(Figure { size, marks, ..Figure::default() }, look, || doubt_legend(&[], look))
}

fn tree<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    let tree = TreeFigure { nodes: &sheet.tree, selected: None, scale: 1.0, palette: Palette::of(look.is_dark) };
    explained(tree.whole(&SansSerif), look, || doubt_legend(&[], look))
}

fn doubt_legend<'a>(_: &'a [PictureSheet<'a>], look: &FigureStyle) -> Figure<'a> {
    let size = size(legend::WITH_WORDS, legend::SIZE.y);
    let marks = legend::of_doubt(&Area::from_min_size(point(0.0, 0.0), size), Palette::of(look.is_dark));
    Figure { size, marks, ..Figure::default() }
}

fn bars<'a>(sheet: &'a PictureSheet<'a>, look: &FigureStyle) -> Figure<'a> {
    let palette = Palette::of(look.is_dark);
    sheet.word.as_ref().map_or_else(Figure::default, |word| word.whole(&sheet.source, &SansSerif, palette))
}

fn explained<'a>(figure: Figure<'a>, look: &FigureStyle, legend: impl FnOnce() -> Figure<'a>) -> Figure<'a> {
    if look.has_legend { figure.below(legend(), 0.0) } else { figure }
}

/// Makes the figures of a row equally high, so that what is put below them begins at one height.
pub fn level(figures: &mut [Figure<'_>], columns: usize) {
    for row in figures.chunks_mut(columns.max(1)) {
        let height = row.iter().map(|figure| figure.size.y).fold(0.0, f32::max);
        for figure in row {
            figure.size.y = height;
        }
    }
}

/// Figures in rows of so many, each column as wide as its widest figure and each row as high as its highest.
pub fn together<'a>(figures: Vec<Figure<'a>>, columns: usize, palette: &Palette) -> Figure<'a> {
    let columns = columns.clamp(1, figures.len().max(1));
    let widest =
        |column: usize| figures.iter().skip(column).step_by(columns).map(|figure| figure.size.x).fold(0.0, f32::max);
    let widths: Vec<f32> = (0..columns).map(widest).collect();
    let heights: Vec<f32> =
        figures.chunks(columns).map(|row| row.iter().map(|figure| figure.size.y).fold(0.0, f32::max)).collect();
    let whole = size(widths.iter().sum(), heights.iter().sum());
    let mut provenance = Provenance::default();
    let mut marks =
        vec![Mark::Rect(Rectangle::filled(Area::from_min_size(point(0.0, 0.0), whole), 0.0, palette.panel))];
    let mut titles = Vec::new();
    for (n, figure) in figures.into_iter().enumerate() {
        let (column, row) = (n % columns, n / columns);
        let by = size(widths[..column].iter().sum(), heights[..row].iter().sum());
        let from = marks.len();
        marks.extend(figure.marks);
        marks[from..].iter_mut().for_each(|mark| mark.shift(by));
        titles.push(figure.provenance.title);
        for fact in figure.provenance.facts {
            if !provenance.facts.contains(&fact) {
                provenance.facts.push(fact);
            }
        }
    }
    provenance.title = titles.join("; ");
    Figure { size: whole, marks, provenance }
}
