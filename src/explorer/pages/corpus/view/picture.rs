//! Page Corpus, the alignment of a system for the chosen sentence, with links by hand as outlines.

use egui::{ComboBox, Id, RichText, Ui, UiBuilder, vec2};

use crate::pages::{corpus::CorpusPage, corpus::view::memory::CorpusMemory, shell::local::Window};
use crate::widgets::heatmap::{HeatmapMarks, HeatmapWidget, Outlined};
use crate::widgets::{labels, theme};
use crate::{app::settings::Shown, widgets::marks::Letters};
use figure::heatmap::layout::{Metrics, Needs, Zoom};
use figure::{heatmap::widest_word, label::widest, mark::Scale, palette::ColourMap};

/// Height of the picture, points, at most, and of a row.
const HEIGHT: (f32, f32) = (360.0, 22.0);
const HEAD: f32 = 90.0;

/// Paints it; nothing where no system has an alignment.
pub fn picture_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    let with: Vec<usize> = (0..page.tables.len()).filter(|at| page.tables[*at].is_some()).collect();
    let Some(first) = with.first() else { return };
    let chosen = if with.contains(&window.local.of::<CorpusMemory>().picture.system) {
        window.local.of::<CorpusMemory>().picture.system
    } else {
        *first
    };
    let Some(table) = page.tables.get(chosen).cloned().flatten() else { return };
    let Some(matrix) = table.alpha.as_ref().filter(|matrix| matrix.columns() > 0) else { return };
    let name = |at: usize| page.corpus.systems.get(at).map_or("", |column| column.system.name.as_str());
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(RichText::new(tr!("Alignment of")).color(theme::tokens(ui).weak));
        let combo = ComboBox::from_id_salt("aligned").truncate().selected_text(name(chosen)).show_ui(ui, |ui| {
            for at in &with {
                ui.selectable_value(&mut window.local.of::<CorpusMemory>().picture.system, *at, name(*at));
            }
        });
        combo.response.labelled_by(label.id);
        // Also before the first link, which would otherwise move the words to click.
        labels::caption(ui, tr!("outlines are links by hand"));
    });
    let needs = Needs {
        rows: matrix.rows(),
        columns: matrix.columns(),
        source_width: widest(&Letters(ui), table.source.iter().map(labels::source)),
        target_width: widest(&Letters(ui), table.target.iter().map(|word| labels::target(word, false))),
        corner_width: table
            .reading
            .map_or(0.0, |reading| widest_word(&Letters(ui), engine::lang::text(reading.row_text()))),
        text_height: ui.text_style_height(&egui::TextStyle::Small),
        pixels_per_point: ui.pixels_per_point(),
    };
    let height = (HEAD + HEIGHT.1 * matrix.rows() as f32).min(HEIGHT.0);
    let (_, room) = ui.allocate_space(vec2(ui.available_width(), height));
    let settings = &window.app.view.settings;
    let title = tr!("Alignment of {}", name(chosen));
    let heatmap = HeatmapWidget {
        id: Id::unique("corpus_heatmap"),
        name: &title,
        table: &table,
        matrix,
        shown: Shown::Alpha,
        scale: Scale::Unit,
        map: ColourMap::at(theme::map_at(settings.palette_on(ui.visuals().dark_mode))),
        metrics: Metrics::choose(&needs, room.size(), Zoom::Auto),
        marks: HeatmapMarks { row: None, column: None, selected: None },
        gaze: None,
        draws_gaze: false,
        outlined: Outlined::ByHand,
        can_drag: false,
        before: Vec::new(),
        replace: false,
        scroll_x: window.local.of::<CorpusMemory>().picture.scroll,
        locate: None,
        reveal: None,
    };
    let mut texture = std::mem::take(&mut window.local.of::<CorpusMemory>().picture.texture);
    let mut answer = None;
    ui.scope_builder(UiBuilder::new().max_rect(room), |ui| answer = Some(heatmap.show(ui, &mut texture, false)));
    window.local.of::<CorpusMemory>().picture.texture = texture;
    window.local.of::<CorpusMemory>().picture.scroll = answer.map_or(0.0, |answer| answer.scroll_x);
}
