//! The files that figures become: painted alike, with their words and where they come from.

use std::{collections::BTreeMap, io::Read as _, sync::Arc, sync::LazyLock};

use interlinear::analysis::alignment::Alignment;
use interlinear::figure::formats::{FORMATS, format, format_of};
use interlinear::figure::measure::{SansSerif, TextMeasure as _};
use interlinear::figure::palette::{COLOUR_MAPS, ColourMap};
use interlinear::figure::sheet::{FigureNeeds, FigureStyle, KINDS, PictureSheet, kind};
use interlinear::figure::tree::{DrawnNode, NodeState};
use interlinear::figure::{Figure, svg};
use interlinear::figure::{beam::BeamRow, fonts::Fonts, geometry::size, heatmap::layout::Gaze};
use interlinear::figure::{
    heatmap::outlines::Outlined, inspected::Inspected, page::FigurePage, provenance::Provenance,
};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;
use skrifa::MetadataProvider as _;

use crate::figure::labels;

const SOURCE: [&str; 4] = ["The", "red", "caf\u{e9}", "</s>"];
const TARGET: [&str; 3] = ["Le", "caf\u{e9}", "</s>"];
const ALPHA: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.75, 0.0, 0.0, 0.0, 0.5, 0.5];
static CELLS: LazyLock<Alignment> = LazyLock::new(|| Alignment::new(ALPHA.to_vec(), 4).expect("whole rows"));

fn sheet() -> PictureSheet<'static> {
    let words = vec![("Le".into(), -0.1), ("caf\u{e9}".into(), -3.0), ("</s>".into(), 0.0)];
    let facts = [("model", "tiny \u{e9}"), ("digest", "sha256:00ff"), ("sentence", "The red caf\u{e9} (open)")];
    PictureSheet {
        outlined: Outlined::default(),
        source: labels(&SOURCE),
        target: labels(&TARGET),
        alpha: Some(&CELLS),
        cells: None,
        name: "",
        links: None,
        gaze: Some(Gaze { p_t: &[0.5, 2.0, f32::NAN], window: 1 }),
        corner: Some("word read"),
        beam: vec![BeamRow { place: 1, log_p: -3.1, words, ..BeamRow::default() }],
        tree: searched(),
        word: Some(Inspected {
            text: "caf\u{e9}".into(),
            caption: Inspected::caption(1, 3, -3.0).into(),
            heading: Inspected::heading(None).into(),
            candidates: vec![("bar".into(), 0.6, false), ("caf\u{e9}".into(), 0.05, true)],
            alpha: Some(ALPHA[4..8].into()),
        }),
        provenance: Provenance {
            title: "tiny: alpha".to_owned(),
            facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        },
    }
}

fn searched() -> Vec<DrawnNode<'static>> {
    let node = |text: &'static str, step, parent, state| DrawnNode {
        text: text.into(),
        step,
        parent,
        state,
        log_p: -0.4,
        is_best: state == NodeState::Inner || text == "</s>",
        ..DrawnNode::default()
    };
    let mut nodes = vec![
        node("Le", 0, None, NodeState::Inner),
        node("caf\u{e9}", 1, Some(0), NodeState::Inner),
        node("</s>", 2, Some(1), NodeState::Finished),
    ];
    nodes
        .extend(["bar", "rouge", "bleu", "vert", "noir", "gris"].map(|text| node(text, 2, Some(1), NodeState::Pruned)));
    nodes.push(DrawnNode { hidden: 3, ..node("th\u{e9}", 1, Some(0), NodeState::Cut) });
    nodes
}

fn look() -> FigureStyle {
    FigureStyle { has_legend: true, caption: Some("What a caption says of it.".to_owned()), ..FigureStyle::default() }
}

fn figures(each: &mut dyn FnMut(&str, &Figure<'_>)) {
    let sheet = sheet();
    for kind in KINDS {
        for (is_dark, has_legend, map) in [(false, true, 0), (true, false, 2)] {
            let look = FigureStyle { is_dark, has_legend, map: ColourMap::at(map), ..look() };
            let figure = kind.draw(&sheet, &look).expect("there is all that it needs");
            each(&format!("{}, dark {is_dark}", kind.name), &figure);
        }
    }
}

fn painted(svg: &str, (width, height): (u32, u32)) -> Pixmap {
    let mut fonts = usvg::fontdb::Database::new();
    let font = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/fonts/LiberationSans-Regular.ttf");
    fonts.load_font_file(font).expect("it comes with the program");
    let options = usvg::Options { fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).expect("an SVG");
    let (x, y) = (width as f32 / tree.size().width(), height as f32 / tree.size().height());
    let mut pixmap = Pixmap::new(width, height).expect("a size");
    resvg::render(&tree, Transform::from_scale(x, y), &mut pixmap.as_mut());
    pixmap
}

fn decoded(file: &[u8]) -> (Vec<u8>, (u32, u32), u32, BTreeMap<String, String>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut pixels).expect("pixels");
    reader.finish().expect("whole");
    let info = reader.info();
    let texts = info.utf8_text.iter().map(|text| (text.keyword.clone(), text.get_text().expect("text")));
    let dots = info.pixel_dims.map_or(0, |dims| dims.xppu);
    (pixels, (info.width, info.height), dots, texts.collect())
}

#[test]
fn a_png_is_what_its_svg_looks_like() {
    let (fonts, page) = (Fonts::default(), FigurePage { width_mm: Some(60.0), dpi: 110.0 });
    figures(&mut |what, figure| {
        let file = (format("png").expect("a format").write)(figure, &page, &fonts).expect("painted");
        let (pixels, sides, dots, texts) = decoded(&file);
        // 60 mm at 110 pixels in 25.4 mm
        assert_eq!((sides.0, dots), (260, 4331), "{what}");
        assert_eq!(texts["sentence"], "The red caf\u{e9} (open)", "{what}");
        assert_eq!((texts["Title"].as_str(), texts["digest"].as_str()), ("tiny: alpha", "sha256:00ff"), "{what}");
        let svg = svg::sized(figure, &page);
        assert!(svg.contains("width=\"60mm\""), "{what}");
        let other = painted(&svg, sides);
        let differ = pixels
            .chunks(4)
            .zip(other.data().chunks(4))
            .filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 24));
        let (differ, all) = (differ.count(), pixels.len() / 4);
        assert!(differ * 500 < all, "{what}: {differ} of {all} pixels differ");
        assert!(pixels.chunks(4).all(|pixel| pixel[3] == 255), "{what}: the ground covers all");
    });
}

#[test]
fn a_figure_in_a_page_looks_as_in_a_file_of_its_own() {
    figures(&mut |what, figure| {
        let sides = (figure.size.x.ceil() as u32 * 2, figure.size.y.ceil() as u32 * 2);
        let (page, file) = (painted(&svg::inline(figure), sides), painted(&svg::svg(figure), sides));
        let pairs = page.data().chunks(4).zip(file.data().chunks(4));
        let differ = pairs.filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 24)).count();
        assert!(differ * 500 < page.data().len() / 4, "{what}: {differ} pixels differ");
    });
}

#[test]
fn the_cells_of_a_picture_have_the_colours_of_their_numbers() {
    let sheet = PictureSheet { gaze: None, ..sheet() };
    let page = FigurePage { width_mm: None, dpi: 144.0 };
    for map in COLOUR_MAPS {
        let look = FigureStyle { map, ..FigureStyle::default() };
        let figure = kind("heatmap").and_then(|kind| kind.draw(&sheet, &look)).expect("an alignment");
        let image = figure.marks.iter().find_map(|mark| match mark {
            interlinear::figure::mark::Mark::Image(image) => Some(image.area),
            _ => None,
        });
        let area = image.expect("cells");
        let file = (format("png").expect("a format").write)(&figure, &page, &Fonts::default()).expect("painted");
        let (pixels, (width, _), _, _) = decoded(&file);
        for (n, value) in ALPHA.iter().enumerate() {
            let (i, j) = (n / 4, n % 4);
            // two pixels a point
            let x = 2.0 * (area.left() + (j as f32 + 0.5) * area.width() / 4.0);
            let y = 2.0 * (area.top() + (i as f32 + 0.5) * area.height() / 3.0);
            let at = 4 * (y as usize * width as usize + x as usize);
            assert_eq!(pixels[at..at + 4], map.colour(*value).channels(), "{}: {i}, {j}", map.name);
        }
    }
}

fn streams(file: &[u8]) -> Vec<Vec<u8>> {
    let find = |from: usize, what: &[u8]| file[from..].windows(what.len()).position(|window| window == what);
    let (mut from, mut found) = (0, Vec::new());
    while let Some(start) = find(from, b"stream\n").map(|at| from + at + 7) {
        let end = start + find(start, b"endstream").expect("an end");
        let mut unpacked = Vec::new();
        if flate2::read::ZlibDecoder::new(&file[start..end]).read_to_end(&mut unpacked).is_err() || unpacked.is_empty()
        {
            unpacked = file[start..end].to_vec();
        }
        found.push(unpacked);
        from = end + 9;
    }
    found
}

fn hexadecimals(text: &str) -> impl Iterator<Item = &str> {
    text.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(digits, _)| digits)
}

fn said(file: &[u8]) -> Vec<String> {
    let streams: Vec<String> =
        streams(file).iter().map(|stream| stream.iter().map(|byte| *byte as char).collect()).collect();
    let map = streams.iter().find(|stream| stream.contains("beginbfchar")).expect("letters of the glyphs");
    let mut letters = BTreeMap::new();
    for block in map.split("beginbfchar").skip(1) {
        let block = block.split("endbfchar").next().unwrap_or_default();
        let found: Vec<&str> = hexadecimals(block).collect();
        letters.extend(found.chunks_exact(2).map(|pair| (pair[0].to_lowercase(), letter(pair[1]))));
    }
    let page = streams.iter().find(|stream| stream.contains("\nBT 0 Tr")).expect("text");
    let shown = page.split("\nBT ").skip(1).filter_map(|text| text.split_once("\nET")).map(|(text, _)| text);
    let glyphs = |text: &str| -> Vec<String> {
        let digits = if text.contains('(') { literals(text) } else { hexadecimals(text).collect() };
        digits.as_bytes().chunks(4).map(|glyph| String::from_utf8_lossy(glyph).to_lowercase()).collect()
    };
    shown.map(|text| glyphs(text).iter().filter_map(|glyph| letters.get(glyph)).cloned().collect()).collect()
}

fn literals(text: &str) -> String {
    let (mut inside, mut digits, mut bytes) = (false, String::new(), text.chars());
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            '(' if !inside => {
                inside = true;
                continue;
            }
            ')' if inside => {
                inside = false;
                continue;
            }
            '\\' if inside => match bytes.next().unwrap_or_default() {
                'n' => 0x0a,
                'r' => 0x0d,
                't' => 0x09,
                'b' => 0x08,
                'f' => 0x0c,
                octal @ '0'..='7' => {
                    let rest: String = bytes.by_ref().take(2).collect();
                    u32::from_str_radix(&format!("{octal}{rest}"), 8).expect("three octal digits")
                }
                other => other as u32,
            },
            _ if inside => byte as u32,
            _ => continue,
        };
        digits += &format!("{byte:02x}");
    }
    digits
}

fn letter(digits: &str) -> String {
    let units: Vec<u16> = digits
        .as_bytes()
        .chunks(4)
        .filter_map(|unit| u16::from_str_radix(std::str::from_utf8(unit).ok()?, 16).ok())
        .collect();
    String::from_utf16_lossy(&units)
}

#[test]
fn a_pdf_says_its_words_and_holds_its_font() {
    let (fonts, page) = (Fonts::default(), FigurePage { width_mm: Some(90.0), dpi: 300.0 });
    figures(&mut |what, figure| {
        let pdf = |figure| (format("pdf").expect("a format").write)(figure, &page, &fonts).expect("written");
        let file = pdf(figure);
        assert_eq!(file, pdf(figure), "{what}: the same bytes each time");
        let plain: String = file.iter().map(|byte| *byte as char).collect();
        assert!(plain.starts_with("%PDF-") && plain.contains("/FontFile2"), "{what}");
        let said = said(&file);
        let drawn: Vec<String> = roxmltree::Document::parse(&svg::svg(figure))
            .expect("XML")
            .descendants()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")))
            .filter_map(|node| node.text().map(str::to_owned))
            .collect();
        assert!(drawn.iter().any(|word| word == "caf\u{e9}"), "{what}: {drawn:?}");
        assert_eq!(said, drawn, "{what}: every text is one piece of the page");
        let boxes = plain.split("/MediaBox").nth(1).and_then(|rest| rest.split(['[', ']']).nth(1)).expect("a page");
        let sides: Vec<f32> = boxes.split_whitespace().filter_map(|side| side.parse().ok()).collect();
        let height = 255.118 * figure.size.y / figure.size.x;
        assert!((sides[2] - 255.118).abs() < 0.01 && (sides[3] - height).abs() < 0.05, "{what}: {sides:?}");
        let all = streams(&file).iter().map(|stream| String::from_utf8_lossy(stream).into_owned()).collect::<String>();
        assert!(all.contains("sha256:00ff") && all.contains("sentence: The red caf\u{e9} (open)"), "{what}: the facts");
    });
}

#[test]
fn what_cannot_be_written_gets_a_sentence() {
    for name in ["a.svg", "b.PDF", "folder/c.png"] {
        assert!(format_of(name.as_ref()).is_ok(), "{name}");
    }
    for name in ["a", "a.jpg", ".svg", "svg"] {
        let refused = format_of(name.as_ref()).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.ends_with("end the name with .svg, .pdf or .png"), "{name}: {refused}");
    }
    let page = FigurePage { width_mm: Some(5000.0), dpi: 2400.0 };
    let refused = page.pixels(size(100.0, 50.0)).expect_err("a gigabyte");
    assert!(refused.is_users() && refused.to_string().contains("472441 by 236220 pixels"), "{refused}");
    let without = PictureSheet { alpha: None, ..sheet() };
    for kind in KINDS {
        assert_eq!(kind.draw(&without, &look()).is_none(), kind.needs == FigureNeeds::Alignment, "{}", kind.name);
    }
    let bare = PictureSheet { tree: Vec::new(), word: None, ..without };
    for kind in KINDS {
        assert_eq!(kind.draw(&bare, &look()).is_none(), kind.needs != FigureNeeds::Nothing, "{}", kind.name);
    }
}

#[test]
fn nothing_and_much_are_figures_too() {
    let words: Vec<String> = (0..60).map(|n| format!("word{n}")).collect();
    let many: Vec<&str> = words.iter().map(String::as_str).collect();
    let (values, nothing) = (Alignment::default().resized(60, 60, 1.0 / 60.0), Alignment::default());
    let large =
        PictureSheet { source: labels(&many), target: labels(&many), alpha: Some(&values), ..PictureSheet::default() };
    let node =
        |step: usize| DrawnNode { text: "word".into(), step, parent: step.checked_sub(1), ..DrawnNode::default() };
    let word = Inspected { alpha: large.alpha.map(|alpha| alpha.row(0).into()), ..Inspected::default() };
    let large = PictureSheet { tree: (0..60).map(node).collect(), word: Some(word), ..large };
    let word = Inspected { alpha: Some(Vec::new().into()), ..Inspected::default() };
    let none = PictureSheet {
        alpha: Some(&nothing),
        tree: vec![DrawnNode::default()],
        word: Some(word),
        ..PictureSheet::default()
    };
    let page = FigurePage { width_mm: None, dpi: 72.0 };
    for (what, sheet) in [("nothing", none), ("much", large)] {
        for kind in KINDS {
            let figure = kind.draw(&sheet, &look()).expect("an alignment");
            assert!(figure.size.x > 0.0 && figure.size.y > 0.0, "{what}, {}", kind.name);
            for format in FORMATS {
                let file = (format.write)(&figure, &page, &Fonts::default());
                assert!(file.is_ok_and(|file| file.len() > 100), "{what}, {}, {}", kind.name, format.name);
            }
        }
    }
}

#[test]
fn letters_with_marks_are_as_wide_as_in_the_font() {
    let font = include_bytes!("../../../assets/fonts/LiberationSans-Regular.ttf");
    let font = skrifa::FontRef::new(font).expect("a font");
    let widths = font.glyph_metrics(skrifa::instance::Size::new(1000.0), skrifa::instance::LocationRef::default());
    for letter in "Aazm .\u{e9}\u{c9}\u{ee}\u{e7}\u{fc}\u{c4}\u{f1}\u{158}".chars() {
        let glyph = font.charmap().map(letter).expect("it has it");
        let (width, guess) =
            (widths.advance_width(glyph).expect("a width"), SansSerif.width(&letter.to_string(), 1000.0));
        assert!((width - guess).abs() < 1.0, "{letter}: {width} {guess}");
    }
}
