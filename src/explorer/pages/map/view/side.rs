//! Beside the map: typed phrases, the search, the selected point and what lies nearest to it.

use egui::accesskit::Role;
use egui::{Button, Id, Key, Label, RichText, ScrollArea, Sense, TextEdit, Ui, WidgetInfo, vec2};

use crate::pages::map as maps;
use crate::pages::map::{MapTable, PointChoice};
use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::{map::MapPage, map::command::MapCommand, map::view::plane::paint, shell::local::Window};
use crate::widgets::{bidi, labels, rows, theme};
use engine::lang;

const NEIGHBOURS: Question = Question::new(
    id!("Save the neighbours as TSV"),
    id!("Save"),
    Wants::NewFile("neighbours.tsv"),
    id!("A row for each neighbour with its cosine."),
);

const LISTED: usize = 100;
const ROW: f32 = 27.0;

pub fn side_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    if maps.choice == PointChoice::Typed {
        typed_ui(ui, maps, window);
        ui.add_space(theme::SPACE_2);
    }
    search_ui(ui, maps, window);
    ui.add_space(theme::SPACE_2);
    if maps.selected.is_some() {
        selected_ui(ui, maps, window);
    } else if !maps.matches.is_empty() {
        matches_ui(ui, maps, window);
    } else {
        let note = tr!("Click a point, or search for a word, to see what lies nearest to it by cosine");
        labels::note(ui, note);
    }
}

fn typed_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let label = ui.label(tr!("Phrases, one a line"));
    let mut text = maps.typed.clone();
    ScrollArea::vertical().id_salt("typed_phrases").max_height(150.0).show(ui, |ui| {
        let field = TextEdit::multiline(&mut text)
            .id(Id::unique("map_typed"))
            .desired_rows(6)
            .desired_width(f32::INFINITY)
            .hint_text(tr!("type or paste phrases, then make the map"));
        window.push_if(ui.add(field).labelled_by(label.id).changed(), MapCommand::SetTyped(text));
    });
}

fn search_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let mut text = maps.search.clone();
    let field = TextEdit::singleline(&mut text)
        .id(Id::unique("map_search"))
        .hint_text(tr!("Search the map"))
        .desired_width(f32::INFINITY);
    let response = ui.add(field).accessible_name(tr!("Search the map"));
    if response.changed() {
        window.push(MapCommand::Search(text.clone()));
    }
    if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)) {
        window.push(MapCommand::MoveMatch(1));
        response.request_focus();
    }
    if text.trim().is_empty() {
        return;
    }
    let count = maps.matches.len();
    let drawn = maps.matches.iter().filter(|found| maps.is_drawn(**found)).count();
    let at = maps.selected.and_then(|at| maps.matches.iter().position(|found| *found == at));
    ui.horizontal(|ui| {
        let note = match (count, at) {
            (0, _) => tr!("Found nowhere").to_owned(),
            (1, _) if drawn == 0 => tr!("Found once, not drawn on the map").to_owned(),
            (1, _) => tr!("Found once").to_owned(),
            (count, None) if drawn < count => {
                tr!(
                    "Found {n} time, {drawn} drawn on the map" | "Found {n} times, {drawn} drawn on the map" % count,
                    drawn
                )
            }
            (count, None) => tr!("Found {n} time" | "Found {n} times" % count),
            (count, Some(at)) => tr!("{} of {count}", at + 1, count),
        };
        labels::note(ui, &note);
        if count > 1 {
            for (text, name, by) in [("<", tr!("Match before"), -1), (">", tr!("Next match"), 1)] {
                let button = labels::small_button(ui, text).on_hover_text(name).accessible_name(name);
                window.push_on(&button, MapCommand::MoveMatch(by));
            }
        }
    });
}

fn matches_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    ScrollArea::vertical().id_salt("map_matches").auto_shrink(false).show(ui, |ui| {
        for &at in maps.matches.iter().take(LISTED) {
            row_ui(ui, maps, window, at, None);
        }
        if maps.matches.len() > LISTED {
            labels::note(ui, tr!("and {} more", maps.matches.len() - LISTED));
        }
    });
}

fn selected_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>) {
    let (Some(at), Some(chart)) = (maps.selected, &maps.chart) else { return };
    let Some(point) = chart.points.get(at) else { return };
    let title = RichText::new(bidi::visual(&point.text)).size(theme::TEXT_TITLE);
    ui.add(Label::new(title).wrap());
    let mut facts = paint::facts(chart, at);
    if !maps.is_drawn(at) {
        facts.push_str(tr!(", not on this map"));
    }
    labels::note(ui, &facts);
    ui.add_space(theme::SPACE_1);
    ui.horizontal(|ui| {
        ui.label(RichText::new(tr!("Nearest by cosine")).color(theme::tokens(ui).weak));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let button = ui.button(tr!("Save...")).on_hover_text(tr!("Save these neighbours as TSV"));
            window.ask_on(&button, NEIGHBOURS, |path| MapCommand::Save(MapTable::Neighbours, path));
            if ui.button(tr!("Copy")).on_hover_text(tr!("Copy these neighbours as TSV")).clicked()
                && let Some(text) = maps.tsv(MapTable::Neighbours)
            {
                window.local.shared.copied = Some(text);
            }
        });
    });
    if maps.neighbours.is_empty() {
        labels::note(ui, tr!("Nothing has a direction that could be compared"));
    }
    ScrollArea::vertical().id_salt("map_neighbours").auto_shrink(false).show(ui, |ui| {
        for near in &maps.neighbours {
            row_ui(ui, maps, window, near.index, Some(near.cosine));
        }
    });
}

fn row_ui(ui: &mut Ui, maps: &MapPage, window: &mut Window<'_>, at: usize, cosine: Option<f32>) {
    let Some((chart, point)) = maps.chart.as_ref().zip(maps.point(at)) else { return };
    let t = theme::tokens(ui);
    let is_drawn = maps.is_drawn(at);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let name = match cosine {
        Some(cosine) => tr!("Neighbour {} cosine {cosine}", point.text, cosine = format_args!("{cosine:.3}")),
        None => tr!("Match {}", point.text),
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    let is_chosen = maps.selected == Some(at);
    let fill = rows::ground(ui, &response, is_chosen, response.has_focus().then_some(t.raised));
    ui.painter().rect_filled(rect, theme::RADIUS_SMALL, fill);
    let mut left = rect.left() + theme::SPACE_1;
    let middle = rect.center().y - 2.0;
    if let Some(cosine) = cosine {
        let bar = egui::Rect::from_min_size(
            egui::pos2(left, rect.bottom() - 3.0),
            vec2((rect.width() - 2.0 * theme::SPACE_1) * cosine.clamp(0.0, 1.0), 2.0),
        );
        ui.painter().rect_filled(bar, 1.0, t.accent.gamma_multiply(0.6));
        let number = format!("{cosine:.3}");
        ui.painter().text(egui::pos2(left, middle), egui::Align2::LEFT_CENTER, number, theme::small(), t.weak);
        left += 46.0;
    }
    let colour = if is_drawn { t.text } else { t.weak };
    let galley = labels::galley(ui.painter(), &point.text, &theme::body(), colour, (rect.right() - left).max(1.0));
    ui.painter().galley(egui::pos2(left, middle - galley.size().y / 2.0), galley, colour);
    let note = if is_drawn {
        paint::facts(chart, at)
    } else {
        tr!(
            "{}, not on this map, which has the first {n} word"
                | "{}, not on this map, which has the first {n} words" % chart.layout.places.len(),
            paint::facts(chart, at)
        )
    };
    window.push_on(&response.on_hover_text(note), MapCommand::Select(Some(at)));
}

pub fn caption(chart: &maps::VectorMap) -> String {
    let count = chart.layout.places.len();
    let things = match chart.kind {
        maps::PointKind::SourceWords => tr!("{n} source word" | "{n} source words" % count),
        maps::PointKind::TargetWords => tr!("{n} target word" | "{n} target words" % count),
        maps::PointKind::Phrases => tr!("{n} phrase" | "{n} phrases" % count),
        maps::PointKind::Annotations => tr!("{n} word in their sentence" | "{n} words in their sentence" % count),
    };
    let how = match (chart.layout.explained, chart.layout.perplexity) {
        (Some([x, y]), _) => tr!(
            "PCA, x {} % and y {} % of the variance",
            format_args!("{:.1}", 100.0 * x),
            format_args!("{:.1}", 100.0 * y)
        ),
        (None, Some(perplexity)) => tr!("t-SNE, perplexity {perplexity}", perplexity = format_args!("{perplexity:.0}")),
        (None, None) => String::new(),
    };
    tr!("{things} of {}, {}, {how}", chart.model, lang::text(&chart.vector), things, how)
}

pub fn small(ui: &mut Ui, text: &str, name: &str, note: &str) -> bool {
    ui.add(Button::new(text)).on_hover_text(note).accessible_name(name).clicked()
}
