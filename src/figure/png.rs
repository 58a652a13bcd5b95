//! A figure as PNG: its SVG painted with pixels, the facts as text in the file.

use resvg::tiny_skia::{Pixmap, Transform};

use crate::{Figure, fonts::Fonts, page::FigurePage, svg::svg};
use engine::error::{Error, Result};

const INCHES: f64 = 1000.0 / 25.4;

pub fn png(figure: &Figure<'_>, page: &FigurePage, fonts: &Fonts) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    write(figure, page, &pixels(figure, page, fonts)?, &mut file)
        .map_err(|error| Error::Internal(format!("a picture could not be written: {error}")))?;
    Ok(file)
}

/// Rows of pixels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pixels {
    pub width: u32,
    pub height: u32,
    /// Red, green, blue and cover of each.
    pub rgba: Vec<u8>,
}

/// The pixels of a file; `None` where it is none.
pub fn read(file: &[u8]) -> Option<Pixels> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().ok()?;
    let mut rgba = vec![0; reader.output_buffer_size()?];
    let png::OutputInfo { width, height, color_type, .. } = reader.next_frame(&mut rgba).ok()?;
    if color_type == png::ColorType::GrayscaleAlpha {
        rgba = rgba.chunks_exact(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect();
    }
    Some(Pixels { width, height, rgba })
}

pub fn pixels(figure: &Figure<'_>, page: &FigurePage, fonts: &Fonts) -> Result<Pixels> {
    let (width, height) = page.pixels(figure.size)?;
    let none = || Error::Internal(format!("a picture of {width} by {height} pixels"));
    let mut pixmap = Pixmap::new(width, height).ok_or_else(none)?;
    let tree = fonts.tree(figure, &svg(figure))?;
    // To whole pixels exactly: the sizes were rounded.
    let scale = (width as f32 / tree.size().width(), height as f32 / tree.size().height());
    resvg::render(&tree, Transform::from_scale(scale.0, scale.1), &mut pixmap.as_mut());
    let rgba = pixmap.pixels().iter().flat_map(|pixel| {
        let colour = pixel.demultiply();
        [colour.red(), colour.green(), colour.blue(), colour.alpha()]
    });
    Ok(Pixels { width, height, rgba: rgba.collect() })
}

fn write(
    figure: &Figure<'_>, page: &FigurePage, Pixels { width, height, rgba }: &Pixels, file: &mut Vec<u8>,
) -> std::result::Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(file, *width, *height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let per_metre = (f64::from(page.dpi) * INCHES).round() as u32;
    let unit = png::Unit::Meter;
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: per_metre, yppu: per_metre, unit }));
    encoder.add_itxt_chunk("Title".to_owned(), figure.provenance.title.clone())?;
    for (name, value) in &figure.provenance.facts {
        encoder.add_itxt_chunk(keyword(name), value.clone())?;
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgba)?;
    writer.finish()
}

fn keyword(name: &str) -> String {
    let letters = name.chars().filter(|letter| (' '..='~').contains(letter));
    letters.take(79).collect::<String>().trim().to_owned()
}
