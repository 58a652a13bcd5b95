//! A figure as PDF of one page: shapes as shapes, letters as text with the parts of their fonts that are used.

use std::{collections::HashMap, ops::Range};

use krilla::geom::{Path, PathBuilder, Point, Transform};
use krilla::paint::{Fill, Stroke};
use krilla::text::{Font, GlyphId, KrillaGlyph};
use krilla::{Document, color::rgb, metadata::Metadata, num::NormalizedF32, page::PageSettings, surface::Surface};
use resvg::tiny_skia::{Path as Outline, PathSegment, Transform as Turn};
use resvg::usvg;
use resvg::usvg::fontdb::{Database, ID};
use resvg::usvg::{Node, Paint};

use crate::geometry::{Area, size};
use crate::mark::{Image, Mark, Rectangle};
use crate::{Figure, fonts::Fonts, page::FigurePage, svg::svg};
use engine::error::{Error, Result};

const ASIDE: f32 = 1e-3;

/// The whole file. The same figure gives the same bytes.
pub fn pdf(figure: &Figure<'_>, page: &FigurePage, fonts: &Fonts) -> Result<Vec<u8>> {
    let refused = |what: String| Error::Internal(format!("a PDF could not be written: {what}"));
    let tree = fonts.tree(figure, &svg(&without_seams(figure)))?;
    let scale = page.scale(figure.size);
    let (width, height) = (figure.size.x * scale, figure.size.y * scale);
    let settings =
        PageSettings::from_wh(width, height).ok_or_else(|| refused(format!("{width} by {height} points")))?;
    let mut document = Document::new();
    let mut sheet = document.start_page_with(settings);
    let mut surface = sheet.surface();
    surface.push_transform(&Transform::from_scale(scale, scale));
    Painter { surface: &mut surface, fonts: tree.fontdb(), known: HashMap::new() }.group(tree.root());
    surface.pop();
    surface.finish();
    sheet.finish();
    document.set_metadata(metadata(figure));
    document.finish().map_err(|error| refused(format!("{error:?}")))
}

fn metadata(figure: &Figure<'_>) -> Metadata {
    let of = &figure.provenance;
    let facts: Vec<String> = of.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let program = format!("Interlinear {}", env!("CARGO_PKG_VERSION"));
    Metadata::new().title(of.title.clone()).description(facts.join("\n")).keywords(facts).creator(program)
}

fn without_seams<'a>(figure: &Figure<'a>) -> Figure<'a> {
    let marks = figure.marks.iter().flat_map(|mark| match mark {
        Mark::Image(image) => cells(image),
        Mark::Text(_) | Mark::Words(_) | Mark::Rect(_) | Mark::Lines(_) => vec![mark.clone()],
        Mark::Curve(_) | Mark::Polygon(_) | Mark::Dots(_) => vec![mark.clone()],
    });
    Figure { size: figure.size, marks: marks.collect(), provenance: figure.provenance.clone() }
}

fn cells<'a>(image: &Image<'_>) -> Vec<Mark<'a>> {
    let numbers = image.cells.numbers;
    let (x, y) = (image.area.width() / numbers.columns() as f32, image.area.height() / numbers.rows() as f32);
    let runs = image.runs().into_iter().map(|run| {
        let Range { start, end } = run.columns;
        let (right, below) = ((end + 1).min(numbers.columns()), (run.row + 2).min(numbers.rows()));
        let at = image.area.min + size(start as f32 * x, run.row as f32 * y);
        let area = Area::from_min_max(at, image.area.min + size(right as f32 * x, below as f32 * y));
        Mark::Rect(Rectangle::filled(area, 0.0, run.colour))
    });
    runs.collect()
}

struct Painter<'a, 's> {
    surface: &'a mut Surface<'s>,
    fonts: &'a Database,
    known: HashMap<ID, Option<Font>>,
}

impl Painter<'_, '_> {
    fn group(&mut self, group: &usvg::Group) {
        self.surface.push_transform(&turn(group.transform()));
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group),
                Node::Path(path) => self.path(path),
                Node::Text(text) => text.layouted().iter().for_each(|span| self.span(span)),
                // No mark becomes one.
                Node::Image(_) => {}
            }
        }
        self.surface.pop();
    }

    fn path(&mut self, path: &usvg::Path) {
        let (fill, stroke) = (path.fill().and_then(fill), path.stroke().and_then(stroke));
        let Some(outline) = outline(path.data()).filter(|_| fill.is_some() || stroke.is_some()) else { return };
        self.surface.set_fill(fill);
        self.surface.set_stroke(stroke);
        self.surface.draw_path(&outline);
    }

    fn span(&mut self, span: &usvg::layout::Span) {
        if let Some(line) = &span.underline {
            self.path(line);
        }
        let Some(fill) = span.fill.as_ref().and_then(fill) else { return };
        let size = span.font_size.get();
        let mut run: Option<Run> = None;
        for glyph in &span.positioned_glyphs {
            let Some(font) = self.font(glyph.font) else { continue };
            // The transform of the letter without its size, which the text has.
            let share = font.units_per_em() / size;
            let base = glyph.transform().pre_concat(Turn::from_scale(share, share));
            if let Some(run) = &mut run
                && let Some(along) = run.along(glyph.font, base, size)
            {
                run.push(glyph, along);
                continue;
            }
            let fresh = Run { id: glyph.font, font, base, text: String::new(), glyphs: Vec::new() };
            let ended = run.replace(fresh);
            self.run(ended, &fill, size);
            if let Some(run) = &mut run {
                run.push(glyph, 0.0);
            }
        }
        self.run(run, &fill, size);
    }

    fn run(&mut self, run: Option<Run>, fill: &Fill, size: f32) {
        let Some(run) = run else { return };
        self.surface.push_transform(&turn(run.base));
        self.surface.set_fill(Some(fill.clone()));
        self.surface.set_stroke(None);
        let glyphs: Vec<KrillaGlyph> = (0..run.glyphs.len()).map(|n| run.glyph(n)).collect();
        self.surface.draw_glyphs(Point::from_xy(0.0, 0.0), &glyphs, run.font, &run.text, size, false);
        self.surface.pop();
    }

    fn font(&mut self, id: ID) -> Option<Font> {
        let fonts = self.fonts;
        let read = || fonts.with_face_data(id, |data, index| Font::new(data.to_vec().into(), index)).flatten();
        self.known.entry(id).or_insert_with(read).clone()
    }
}

type Placed = (u32, f32, Range<usize>);

struct Run {
    id: ID,
    font: Font,
    base: Turn,
    text: String,
    glyphs: Vec<Placed>,
}

impl Run {
    /// How far along the line the next letter stands; `None` where it does not stand on it.
    fn along(&self, id: ID, base: Turn, size: f32) -> Option<f32> {
        let mut at = resvg::tiny_skia::Point::from_xy(base.tx, base.ty);
        self.base.invert()?.map_point(&mut at);
        let (x, y) = (at.x / size, at.y / size);
        let linear = |of: Turn| [of.sx, of.kx, of.ky, of.sy];
        let is_turned = linear(self.base).iter().zip(linear(base)).any(|(a, b)| (a - b).abs() > ASIDE);
        let last = self.glyphs.last().map_or(0.0, |(_, x, _)| *x);
        (id == self.id && !is_turned && y.abs() < ASIDE && x >= last).then_some(x)
    }

    fn push(&mut self, glyph: &usvg::layout::PositionedGlyph, along: f32) {
        let start = self.text.len();
        self.text.push_str(&glyph.text);
        self.glyphs.push((glyph.id.0, along, start..self.text.len()));
    }

    fn glyph(&self, n: usize) -> KrillaGlyph {
        let (id, x, text) = &self.glyphs[n];
        let advance = self.glyphs.get(n + 1).map_or(0.0, |(_, next, _)| next - x);
        KrillaGlyph::new(GlyphId::new(*id), advance, 0.0, 0.0, 0.0, text.clone(), None)
    }
}

fn turn(of: Turn) -> Transform {
    Transform::from_row(of.sx, of.ky, of.kx, of.sy, of.tx, of.ty)
}

fn outline(of: &Outline) -> Option<Path> {
    let mut path = PathBuilder::new();
    for segment in of.segments() {
        match segment {
            PathSegment::MoveTo(to) => path.move_to(to.x, to.y),
            PathSegment::LineTo(to) => path.line_to(to.x, to.y),
            PathSegment::QuadTo(a, to) => path.quad_to(a.x, a.y, to.x, to.y),
            PathSegment::CubicTo(a, b, to) => path.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y),
            PathSegment::Close => path.close(),
        }
    }
    path.finish()
}

fn colour(paint: &Paint) -> Option<krilla::paint::Paint> {
    match paint {
        Paint::Color(colour) => Some(rgb::Color::new(colour.red, colour.green, colour.blue).into()),
        Paint::LinearGradient(_) | Paint::RadialGradient(_) | Paint::Pattern(_) => None,
    }
}

fn cover(of: usvg::Opacity) -> NormalizedF32 {
    NormalizedF32::new(of.get()).unwrap_or(NormalizedF32::ONE)
}

fn fill(of: &usvg::Fill) -> Option<Fill> {
    Some(Fill { paint: colour(of.paint())?, opacity: cover(of.opacity()), ..Fill::default() })
}

fn stroke(of: &usvg::Stroke) -> Option<Stroke> {
    let (paint, opacity) = (colour(of.paint())?, cover(of.opacity()));
    Some(Stroke { paint, opacity, width: of.width().get(), ..Stroke::default() })
}
