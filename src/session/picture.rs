//! Floor 8: the heatmap of a column as a figure of its own, with all that someone needs to make it again. Pure.

use crate::analysis::reading::Reading;
use crate::figure::heatmap::layout::{Gaze, Metrics, Slant};
use crate::figure::heatmap::{Heatmap, Marks};
use crate::figure::label::{Label, Tone, source_text, target_text};
use crate::figure::mark::{Cells, Numbers, Scale};
use crate::figure::measure::SansSerif;
use crate::figure::palette::{COLOUR_MAPS, ColourMap, LIGHT};
use crate::figure::provenance::Provenance;
use crate::figure::svg;
use crate::session::column::Column;
use crate::session::settings::{Settings, Shown, Theme};
use crate::session::table::{AlignmentTable, Matrix};

/// The shown heatmap on white, as SVG; `None` where there is no alignment.
pub fn svg(column: &Column, settings: &Settings) -> Option<String> {
    let table = column.table.as_deref()?;
    let (matrix, scale) = match settings.shown {
        Shown::Alpha => (table.alpha.as_ref()?, Scale::Unit),
        Shown::Energies => (table.energies.as_ref()?, Scale::Range),
    };
    let source = table
        .source
        .iter()
        .map(|word| Label { text: source_text(&word.text, word.is_unk), tone: Tone::of(word.is_unk, word.is_eos) });
    let target = table.target.iter().map(|word| Label {
        text: target_text(&word.text, word.is_unk, word.replaced.as_deref(), settings.unk_replacement),
        tone: Tone::of(word.is_unk, word.is_eos),
    });
    let (source, target): (Vec<_>, Vec<_>) = (source.collect(), target.collect());
    let Matrix { rows, columns, values } = matrix;
    // without a choice the colours are those of the paper, on every system
    let palette = settings.palette_on(settings.theme != Theme::Light);
    let map = COLOUR_MAPS.iter().find(|map| map.name.eq_ignore_ascii_case(palette));
    let numbers = Numbers { rows: *rows, columns: *columns, values };
    let window = column.facts.as_ref().and_then(|facts| facts.window);
    let heatmap = Heatmap {
        source: &source,
        target: &target,
        cells: Cells { numbers, map: map.unwrap_or_else(|| ColourMap::at(0)), scale, revision: table.revision },
        gaze: table.p_t.as_deref().zip(window).map(|(p_t, window)| Gaze { p_t, window }),
        links: table.links.as_ref(),
        marks: Marks::default(),
        // chosen by the figure itself
        metrics: Metrics { cell: 0.0, left: 0.0, top: 0.0, right: 0.0, slant: Slant { angle: 0.0, stride: 1 } },
        text_height: 0.0,
        palette: &LIGHT,
    };
    let corner = table.reading.map(Reading::row_text);
    Some(svg::svg(&heatmap.whole(corner, &SansSerif, provenance(column, table, settings))))
}

fn provenance(column: &Column, table: &AlignmentTable, settings: &Settings) -> Provenance {
    let mut facts = Vec::new();
    let mut fact = |name: &str, value: &str| facts.push((name.to_owned(), value.to_owned()));
    fact("program", concat!("interlinear ", env!("CARGO_PKG_VERSION")));
    fact("model", &column.name());
    if let Some(of) = &column.facts {
        if !of.digest.is_empty() {
            fact("weights", &of.digest);
        }
        fact("languages", &format!("{} to {}", of.source_language, of.target_language));
        if let Some(reading) = &of.guided {
            fact("guided", &format!("rows by {reading}: {GUIDED}"));
        }
    }
    fact("source", &column.source.text);
    fact("translation", &table.text);
    fact("log p", &table.log_p.to_string());
    fact("hypothesis", &(table.hypothesis + 1).to_string());
    fact("numbers", if settings.shown == Shown::Alpha { "alpha" } else { "energies" });
    if let Some(reading) = table.reading {
        fact("reading", reading.name());
    }
    if let Some(units) = table.units {
        fact("units", units.name());
    }
    if let Some(agreement) = &table.agreement {
        fact("links", "of the statistical aligner that comes with the program");
        fact("greatest alpha", &agreement.text());
    }
    Provenance { title: format!("Alignment of {}", column.name()), facts }
}

/// What a guided model is.
pub const GUIDED: &str = "its attention was trained on word links of a statistical aligner";
