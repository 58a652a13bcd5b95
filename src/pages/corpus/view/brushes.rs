//! Floor 11: page Corpus, what is brushed, above the table: small histograms, or axes beside each other.

use egui::accesskit::Role;
use egui::{Align2, Rect, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::corpus::measures::distribution::Histogram;
use crate::corpus::store::ranges::{range_of, text};
use crate::pages::corpus::CorpusPage;
use crate::pages::corpus::view::brush::{BrushAxis, answer, asked, cursor, paint, told};
use crate::pages::corpus::view::filter::spoken;
use crate::pages::corpus::view::memory::CorpusMemory;
use crate::pages::corpus::view::parallel;
use crate::pages::window::local::Window;
use crate::widgets::theme;

/// Height of a histogram with its name and its numbers, and its least width, points.
const SIZE: (f32, f32) = (92.0, 132.0);
/// Height of a line of small text, points.
const LINE: f32 = 15.0;

/// What is brushed; nothing where no column is chosen.
pub fn brushes_ui(ui: &mut Ui, workbench: &CorpusPage, window: &mut Window<'_>) {
    let Some(picture) = workbench.whole.picture.clone() else { return };
    if workbench.columns.look.brushed.is_empty() {
        return;
    }
    if !picture.without.is_empty() {
        let names: Vec<String> = picture.without.iter().map(|column| column.title(&workbench.corpus)).collect();
        let text = tr!("No sentence has a number of {}", names.join(", "));
        ui.add(egui::Label::new(egui::RichText::new(text).size(theme::TEXT_SMALL).weak()).truncate());
    }
    if picture.histograms.is_empty() {
        return;
    }
    if workbench.columns.look.parallel {
        parallel::parallel_ui(ui, workbench, window, &picture);
    } else {
        ScrollArea::horizontal().id_salt("corpus_histograms").show(ui, |ui| {
            let count = picture.histograms.len() as f32;
            let gap = theme::SPACE_2;
            let width = ((ui.available_width() - gap * (count - 1.0)) / count).clamp(SIZE.1, 2.0 * SIZE.1);
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = gap;
                for histogram in &picture.histograms {
                    histogram_ui(ui, workbench, window, histogram, width);
                }
            });
        });
    }
    ui.add_space(theme::SPACE_1);
}

fn histogram_ui(ui: &mut Ui, workbench: &CorpusPage, window: &mut Window<'_>, histogram: &Histogram, width: f32) {
    let t = theme::tokens(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, SIZE.0), Sense::click_and_drag());
    let column = histogram.column;
    let range = range_of(&workbench.filter, column, &workbench.corpus);
    let name = tr!("Histogram of {}, {}", spoken(column, &workbench.corpus), told(column, &workbench.corpus, range));
    response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, &name));
    let plot = Rect::from_min_max(pos2(rect.left(), rect.top() + LINE), pos2(rect.right(), rect.bottom() - LINE));
    let axis = BrushAxis { rect: plot, is_vertical: false, histogram, corpus: &workbench.corpus };
    let change = asked(ui, &axis, &response, range, &mut window.local.of::<CorpusMemory>().grab);
    cursor(&axis, &response, range);
    ui.painter().rect_filled(plot, 0.0, t.sunken);
    paint(ui, &axis, &response, range);
    bars(ui, plot, histogram);
    let most = histogram.all.iter().copied().max().unwrap_or(0) as usize;
    ui.painter().text(
        plot.right_top(),
        Align2::RIGHT_TOP,
        tr!("{n} sentence" | "{n} sentences" % most),
        theme::small(),
        t.weak,
    );
    if let Some(value) =
        workbench.selected.map(|at| column.value(&workbench.corpus, at)).filter(|value| value.is_finite())
    {
        let x = axis.place(value);
        ui.painter().vline(x, plot.y_range(), Stroke::new(2.0, t.set));
    }
    let title = column.title(&workbench.corpus);
    let small = theme::small();
    ui.painter().text(rect.left_top(), Align2::LEFT_TOP, title, small.clone(), t.text);
    if let Some((low, high)) = range {
        let end =
            |number: f32| if number.is_finite() { text(column, &workbench.corpus, number) } else { String::new() };
        let said = format!("{}..{}", end(low), end(high));
        ui.painter().text(rect.right_top(), Align2::RIGHT_TOP, said, small.clone(), t.accent);
    }
    let (low, high) = (text(column, &workbench.corpus, histogram.low), text(column, &workbench.corpus, histogram.high));
    ui.painter().text(rect.left_bottom(), Align2::LEFT_BOTTOM, low, small.clone(), t.weak);
    ui.painter().text(rect.right_bottom(), Align2::RIGHT_BOTTOM, high, small, t.weak);
    let about = about(histogram, &column.about(&workbench.corpus));
    answer(window, response, column, &about, change);
}

fn about(histogram: &Histogram, about: &str) -> String {
    let missing = histogram.missing;
    if missing == 0 { about.to_owned() } else { tr!("{about}. {missing} sentences have no number", about, missing) }
}

/// All sentences faint, those that are shown strong; what is there at all can be seen.
fn bars(ui: &Ui, plot: Rect, histogram: &Histogram) {
    let t = theme::tokens(ui);
    let most = histogram.all.iter().copied().max().unwrap_or(0).max(1) as f32;
    let step = plot.width() / histogram.all.len().max(1) as f32;
    let height = |count: u32| if count == 0 { 0.0 } else { (count as f32 / most * plot.height()).max(1.0) };
    for (n, (all, shown)) in histogram.all.iter().zip(&histogram.shown).enumerate() {
        let left = plot.left() + n as f32 * step;
        let right = (left + step - 0.5).max(left + 0.5);
        for (count, colour) in [(*all, t.weak.gamma_multiply(0.35)), (*shown, t.accent)] {
            let bar = Rect::from_min_max(pos2(left, plot.bottom() - height(count)), pos2(right, plot.bottom()));
            ui.painter().rect_filled(bar, 0.0, colour);
        }
    }
}
