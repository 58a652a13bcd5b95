//! A figure as SVG. The text of the file is written here; viewers bring a sans-serif font.
//!
//! Cells become rectangles, neighbours of one colour in a row one of them: viewers smooth images, which would blur the
//! numbers, and rectangles stay sharp on every page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::geometry::{Area, Point};
use crate::mark::{Across, CellRun, Cells, Dots, Down, Image, LinesMark, Mark, Polygon, Rectangle, Stroke, TextMark};
use crate::measure::{SansSerif, TextMeasure as _, broken, laid_out};
use crate::{Figure, page::FigurePage, palette::Rgba};

const BASE: f32 = 0.35;

/// The whole file, a unit a point.
pub fn svg(figure: &Figure<'_>) -> String {
    written(figure, (&number(figure.size.x), &number(figure.size.y)), image)
}

/// The same for a page of many figures: cells of one colour are lines of one path, as thick as a cell is high, which takes a
/// fifth of the room, and the line that only a file of its own has is left out.
pub fn inline(figure: &Figure<'_>) -> String {
    bare(&written(figure, (&number(figure.size.x), &number(figure.size.y)), image_by_colours)).to_owned()
}

/// The whole file in the size of a page.
pub fn sized(figure: &Figure<'_>, page: &FigurePage) -> String {
    let scale = page.scale(figure.size);
    let unit = if page.width_mm.is_some() { "mm" } else { "pt" };
    let in_unit = if page.width_mm.is_some() { 25.4 / 72.0 } else { 1.0 };
    let side = |points: f32| number(points * scale * in_unit) + unit;
    written(figure, (&side(figure.size.x), &side(figure.size.y)), image)
}

type ImageWriter = fn(&mut String, &Image<'_>);

fn written(figure: &Figure<'_>, (across, down): (&str, &str), image: ImageWriter) -> String {
    let (width, height) = (number(figure.size.x), number(figure.size.y));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{across}\" height=\"{down}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"'Liberation Sans', Helvetica, Arial, sans-serif\">"
    );
    provenance(&mut out, figure);
    for mark in &figure.marks {
        write(&mut out, mark, image);
    }
    out.push_str("</svg>\n");
    out
}

fn provenance(out: &mut String, figure: &Figure<'_>) {
    let of = &figure.provenance;
    let _ = writeln!(out, "<title>{}</title>", escaped(&of.title));
    out.push_str("<metadata>\n");
    for (key, value) in &of.facts {
        let (key, value) = (escaped(key), escaped(value));
        let _ = writeln!(out, "<fact xmlns=\"urn:interlinear:provenance\" name=\"{key}\">{value}</fact>");
    }
    out.push_str("</metadata>\n");
}

fn write(out: &mut String, mark: &Mark<'_>, image: ImageWriter) {
    match mark {
        Mark::Text(of) => text(out, of),
        Mark::Words(of) => laid_out(&SansSerif, of).iter().for_each(|mark| write(out, mark, image)),
        Mark::Rect(of) => rectangle(out, of),
        Mark::Lines(of) => lines(out, of),
        Mark::Curve(of) => {
            let [from, a, b, to] = of.points.map(place);
            let _ = writeln!(out, "<path d=\"M {from} C {a} {b} {to}\" fill=\"none\"{}/>", stroke(of.stroke));
        }
        Mark::Polygon(of) => polygon(out, of),
        Mark::Dots(of) => dots(out, of),
        Mark::Image(of) => image(out, of),
    }
}

fn dots(out: &mut String, of: &Dots) {
    if of.dots.is_empty() {
        return;
    }
    let border = if of.border.width > 0.0 { stroke(of.border) } else { String::new() };
    let _ = writeln!(out, "<g{border}>");
    let (radius, side) = (number(of.radius), number(2.0 * of.radius));
    for &(at, colour) in &of.dots {
        let fill = fill(colour);
        let _ = if of.is_square {
            let (x, y) = (number(at.x - of.radius), number(at.y - of.radius));
            writeln!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"{fill}/>")
        } else {
            writeln!(out, "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\"{fill}/>", number(at.x), number(at.y))
        };
    }
    out.push_str("</g>\n");
}

fn text(out: &mut String, of: &TextMark<'_>) {
    let height = SansSerif.height(of.size);
    let lines = broken(&SansSerif, &of.text, of.size, of.room, of.lines);
    let (anchor, down) = of.anchor;
    let first = match down {
        Down::Top => 0.5 * height,
        Down::Middle => 0.5 * height * (1.0 - lines.len() as f32),
        Down::Bottom => height * (0.5 - lines.len() as f32),
    };
    let anchor = match anchor {
        Across::Left => "start",
        Across::Centre => "middle",
        Across::Right => "end",
    };
    let mut turn = format!("translate({})", place(of.at));
    if of.angle != 0.0 {
        // y grows downwards, so what rises is turned the other way.
        let _ = write!(turn, " rotate({})", number(-of.angle.to_degrees()));
    }
    let underline = if of.is_underlined { " text-decoration=\"underline\"" } else { "" };
    for (n, line) in lines.iter().enumerate() {
        let y = number(first + n as f32 * height + BASE * of.size);
        let (size, fill) = (number(of.size), fill(of.colour));
        let _ = writeln!(
            out,
            "<text transform=\"{turn}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\"{underline}{fill}>{}</text>",
            escaped(line)
        );
    }
}

fn rectangle(out: &mut String, of: &Rectangle) {
    let (area, radius) = of.path();
    let border = if of.has_border() { stroke(of.border) } else { String::new() };
    let radius = if radius > 0.0 { format!(" rx=\"{}\"", number(radius)) } else { String::new() };
    let _ = writeln!(out, "<rect {}{radius}{}{border}/>", sides(&area), fill(of.fill));
}

fn lines(out: &mut String, of: &LinesMark) {
    if of.ends.is_empty() {
        return;
    }
    let path: Vec<String> = of.ends.iter().map(|[from, to]| format!("M {} L {}", place(*from), place(*to))).collect();
    let crisp = if of.is_crisp { " shape-rendering=\"crispEdges\"" } else { "" };
    let _ = writeln!(out, "<path d=\"{}\" fill=\"none\"{}{crisp}/>", path.join(" "), stroke(of.stroke));
}

fn polygon(out: &mut String, of: &Polygon) {
    let corners: Vec<String> = of.corners.iter().map(|corner| place(*corner)).collect();
    let _ = writeln!(out, "<polygon points=\"{}\"{}{}/>", corners.join(" "), fill(of.fill), stroke(of.stroke));
}

fn image(out: &mut String, of: &Image<'_>) {
    let cells = |out: &mut String| {
        for CellRun { row, columns, colour } in of.runs() {
            let (from, width, fill) = (columns.start, columns.len(), fill(colour));
            let _ = writeln!(out, "<rect x=\"{from}\" y=\"{row}\" width=\"{width}\" height=\"1\"{fill}/>");
        }
    };
    grouped(out, of, cells);
}

fn image_by_colours(out: &mut String, of: &Image<'_>) {
    let mut paths: BTreeMap<String, String> = BTreeMap::new();
    for CellRun { row, columns, colour } in of.runs() {
        let (from, width) = (columns.start, columns.len());
        let _ = write!(paths.entry(paint("stroke", colour)).or_default(), "M{from} {row}h{width}");
    }
    grouped(out, of, |out| {
        out.push_str("<g transform=\"translate(0 0.5)\" fill=\"none\">\n");
        for (stroke, path) in paths {
            let _ = writeln!(out, "<path d=\"{path}\"{stroke}/>");
        }
        out.push_str("</g>\n");
    });
}

fn grouped(out: &mut String, of: &Image<'_>, cells: impl FnOnce(&mut String)) {
    let Cells { numbers, .. } = of.cells;
    if numbers.rows() == 0 || numbers.columns() == 0 {
        return;
    }
    let (x, y) = (of.area.width() / numbers.columns() as f32, of.area.height() / numbers.rows() as f32);
    let turn = format!("translate({}) scale({} {})", place(of.area.min), number(x), number(y));
    let _ = writeln!(out, "<g transform=\"{turn}\" shape-rendering=\"crispEdges\">");
    cells(out);
    out.push_str("</g>\n");
}

fn sides(area: &Area) -> String {
    let (x, y) = (number(area.left()), number(area.top()));
    let (width, height) = (number(area.width().max(0.0)), number(area.height().max(0.0)));
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

fn fill(colour: Rgba) -> String {
    paint("fill", colour)
}

fn stroke(of: Stroke) -> String {
    format!("{} stroke-width=\"{}\"", paint("stroke", of.colour), number(of.width))
}

fn paint(what: &str, colour: Rgba) -> String {
    let [r, g, b, cover] = colour.channels();
    match cover {
        0 => format!(" {what}=\"none\""),
        255 => format!(" {what}=\"#{r:02x}{g:02x}{b:02x}\""),
        _ => {
            format!(" {what}=\"#{r:02x}{g:02x}{b:02x}\" {what}-opacity=\"{}\"", number(f32::from(cover) / 255.0))
        }
    }
}

fn place(at: Point) -> String {
    format!("{} {}", number(at.x), number(at.y))
}

/// A number with at most three digits behind the point; SVG knows no NaN.
fn number(value: f32) -> String {
    let value = if value.is_finite() { value } else { 0.0 };
    let digits = format!("{value:.3}");
    match digits.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// An SVG without the line that only a file of its own has, to stand in a page of HTML.
pub fn bare(svg: &str) -> &str {
    svg.find("<svg").map_or(svg, |at| &svg[at..])
}

/// Text as XML takes it. Letters that it may not hold at all are replaced.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}
