//! A column's shown alignment as text, in the formats that others read. Pure.
//!
//! Where a row may be read by two words (Luong et al. 2015, footnote 14) the rows are those of the shown reading, and
//! where a vocabulary has pieces of words, TSV has what is shown of both; its first cell names what it has. JSON always
//! has the model's own tokens, with `words` saying which make up a word, as the command line writes them. Links are
//! always of words. Pharaoh has no place for names; [`note`] says them to the user.

use std::{ops::Range, sync::Arc};

use serde_json::{Value, json};

use crate::app::document::table::{AlignmentTable, GIVEN, LEFT_OUT, MeasuredTable, TargetWord};
use crate::app::document::{hand, table, tree};
use crate::app::files::drawing::{Branches, Drawing};
use crate::app::files::line::{HypothesisLine, LinksLine, SetLine, TranslationLine, ends};
use crate::app::files::picture::{FigureRequest, GUIDED, PictureRequest, measure};
use crate::app::settings::{Settings, Shown};
use crate::app::{
    document::column::Column, document::compare::Moved, document::sentence_state::SearchSettings,
    document::tree::SearchTree, state::AppState,
};
use crate::jobs::live::protocol::{ColumnId, HypothesisView};
use engine::aligner::sides::SideRules;
use engine::analysis::measures::{MEASURES, MeasuredWords, Tested};
use engine::analysis::{hard, row_convention::RowConvention, words::over_words};
use engine::error::{Error, Result};
use engine::text::{commands, links::Link, tsv, tsv::TsvCell};
use engine::{interventions::Interventions, lang};
use figure::sheet::{FigureKind, FigureNeeds, FigureStyle, kind};
use figure::{heatmap::outlines::Outlined, palette::ColourMap, provenance::Provenance, tree::DrawnNode};

/// What files the shown alignment can be written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignmentFormat {
    Tsv,
    /// The JSON line of `interlinear translate`.
    Json,
    /// `i-j` pairs, source-target, from 0.
    Pharaoh,
}

/// The shown alignment in a format; `None` where there is nothing to write (see [`why_not`]).
pub fn text(column: &Column, settings: &Settings, format: AlignmentFormat) -> Option<String> {
    let table = column.table.as_deref()?;
    match format {
        AlignmentFormat::Tsv => Some(shown_tsv(table, settings.shown, 0..table.target.len())),
        AlignmentFormat::Json => Some(json_line(column)),
        AlignmentFormat::Pharaoh => pharaoh(column, settings),
    }
}

/// Whether a kind of figure can be drawn of what a column shows, with this target word selected; otherwise why not.
pub fn can_draw(
    column: &Column, kind: &FigureKind, shown: Shown, word: Option<usize>,
) -> std::result::Result<(), &'static str> {
    let table = column.table.as_deref();
    let has_cells = kind.name == "heatmap" && table.is_some_and(|table| table.numbers(shown).is_some());
    let is_there = match kind.needs {
        FigureNeeds::Nothing => true,
        FigureNeeds::Alignment => has_cells || table.is_some_and(|table| table.alpha.is_some()),
        FigureNeeds::Search => !column.result.nodes.is_empty(),
        FigureNeeds::Word => table.zip(word).is_some_and(|(table, i)| {
            table.target.get(i).is_some_and(|word| table.alpha.is_some() || !word.candidates.is_empty())
        }),
    };
    if is_there { Ok(()) } else { Err(kind.needs.lacking()) }
}

fn origin(column: &Column, table: &AlignmentTable, kind: &str) -> Vec<(&'static str, String)> {
    let facts = column.facts.as_ref();
    let mut known = vec![("kind", kind.to_owned()), ("model", column.model())];
    if let Some(variant_label) = &table.variant {
        known.push(("variant", variant_label.text()));
        known.push(("of the sentence", variant_label.original.clone()));
    }
    known.extend(comparison(column).map(|text| ("beside the original", text)));
    let digest = facts.map(|facts| facts.digest.clone()).filter(|digest| !digest.is_empty());
    known.extend(digest.map(|digest| ("digest", format!("sha256:{digest}"))));
    let guided = facts.and_then(|facts| facts.guided.as_ref());
    known.extend(guided.map(|reading| ("guided", format!("rows by {reading}: {GUIDED}"))));
    known
}

/// What a column shows as a figure, bars of this target word; `None` where nothing is translated.
pub fn picture(
    column: &Column, search: &SearchSettings, settings: &Settings, drawing: &Drawing, word: Option<usize>,
) -> Option<PictureRequest> {
    let kind = drawing.kind;
    // the beam and the tree are always the model's own
    let of_search = matches!(kind, "beam" | "tree");
    let own = column.both().0.filter(|_| of_search);
    let table = Arc::clone(own.or(column.table.as_ref())?);
    let facts = column.facts.as_ref();
    // links and the beam are always of alpha, and so is a heatmap without the numbers that are asked for
    let has_numbers = kind == "heatmap" && table.numbers(settings.shown).is_some();
    let (replaces, shown) = (settings.unk_replacement, if has_numbers { settings.shown } else { Shown::Alpha });
    let measured = table.measured(shown).map(|measured| measured_text(&table, measured));
    let mut known = origin(column, &table, kind);
    known.push(("numbers", numbers_name(shown).to_owned()));
    known.extend(measured.clone().map(|measured| ("measure", measured)));
    known.extend(table.units.map(|units| ("units", units.name().to_owned())));
    let outlined = settings.outlined(facts);
    if outlined != Outlined::Aligner && table.links.is_some() {
        known.push(("links", outlined.legend().map(|(text, _)| text).join(", ")));
    }
    if let Some(agreement) = &table.agreement {
        known.push(("links", "of the statistical aligner that comes with the program".to_owned()));
        known.push(("greatest alpha", agreement.text()));
    }
    known.push(("search", how(search, &table)));
    known.extend(table.reading.map(|reading| ("reading", reading.name().to_owned())));
    let set = set_by_hand(column, table.is_given);
    known.extend(set.clone().map(|set| ("interventions", set)));
    if let Some((held, free)) = table.log_p_parts {
        known.push(("log p of words held or forced", held.to_string()));
        known.push(("log p of free words", free.to_string()));
    }
    let word = word.filter(|_| kind == "bars");
    known.extend(word.map(|i| ("word", (i + 1).to_string())));
    known.push(("sentence", column.source.text.clone()));
    known.push(("translation", table.text.clone()));
    known.push(("log p", table.log_p.to_string()));
    known.push(("program", format!("Interlinear {}", env!("CARGO_PKG_VERSION"))));
    Some(PictureRequest {
        hypotheses: column.hypotheses.clone(),
        tree: if kind == "tree" { searched(column, settings, drawing) } else { Vec::new() },
        word,
        window: facts.and_then(|facts| facts.window),
        replaces,
        shown,
        outlined,
        is_normalised: search.length_normalization > 0.0,
        title: format!(
            "{}: {kind}{}{}",
            named(column, &table),
            measure(shown).map_or_else(String::new, |measure| format!(" of {}", measure.title)),
            if table.is_given { format!(" of {GIVEN}") } else { String::new() }
        ),
        facts: known.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        kind,
        look: FigureStyle {
            is_dark: drawing.is_dark,
            map: match measure(shown) {
                Some(_) => ColourMap::of_measures(drawing.is_dark),
                None => drawing.map.unwrap_or_else(|| ColourMap::on(settings.palette_on(drawing.is_dark))),
            },
            has_legend: drawing.has_legend,
            // what is not the model's says so in any case
            caption: {
                let is_said = drawing.has_caption || table.is_given || table.variant.is_some() || measured.is_some();
                let caption = is_said.then(|| caption(column, search, &table));
                captioned(captioned(caption, measured), set)
            },
            threshold: drawing.threshold,
            weight: drawing.weight,
        },
        page: drawing.page,
        table,
    })
}

pub fn provenance(app: &AppState, column: &Column) -> Option<Provenance> {
    let search = app.document.state.search_of(column.variant);
    let drawing = Drawing::new("heatmap", false);
    let PictureRequest { title, facts, .. } = picture(column, &search, &app.view.settings, &drawing, None)?;
    Some(Provenance { title, facts })
}

/// A figure of one column, or of all that have it side by side; `None` if nothing is translated.
pub fn figure(app: &AppState, id: ColumnId, drawing: &Drawing) -> Option<FigureRequest> {
    let (document, selection) = (&app.document, app.view.selection);
    let shown = app.view.settings.shown;
    let word = |column: &Column| selection.target.filter(|_| selection.column == Some(column.id));
    let kind = kind(drawing.kind)?;
    let can = |column: &&Column| can_draw(column, kind, shown, word(column)).is_ok();
    let asked = document.columns.iter().filter(|_| drawing.of_all);
    let (mut columns, others): (Vec<&Column>, Vec<&Column>) = asked.partition(can);
    let left_out = others.iter().map(|column| {
        let why = can_draw(column, kind, shown, word(column)).err().unwrap_or_default();
        format!("Without {}. {why}.", column.name())
    });
    let left_out = (!columns.is_empty() && !others.is_empty()).then(|| left_out.collect::<Vec<_>>().join(" "));
    if columns.is_empty() {
        columns.push(document.column(id)?);
    }
    let drawing = Drawing { has_caption: drawing.has_caption || columns.len() > 1, ..*drawing };
    let gold = app.gold().filter(|_| drawing.of_gold);
    let panel = |column: &Column| {
        let search = document.state.search_of(column.variant);
        let settings = Settings { unk_replacement: app.replaces(column), ..app.view.settings.clone() };
        let mut picture = picture(column, &search, &settings, &drawing, word(column))?;
        let shown = if picture.table.is_given { column.read() } else { column.shown() };
        let links =
            gold.as_ref().zip(shown).and_then(|(gold, shown)| gold.shown(&column.source, shown, settings.pieces));
        if let Some(links) = links {
            picture.outline_gold(links);
        }
        Some(picture)
    };
    let panels = columns.into_iter().map(panel).collect::<Option<Vec<_>>>()?;
    Some(FigureRequest::of(panels, drawing.in_a_row, left_out))
}

fn searched(column: &Column, settings: &Settings, drawing: &Drawing) -> Vec<DrawnNode<'static>> {
    let Some(tree) = SearchTree::of(column) else { return Vec::new() };
    let Branches { pruned, steps } = drawing.branches;
    let steps = steps.unwrap_or(tree.steps);
    tree.shown(&tree::ShownTree { steps, pruned, pieces: settings.pieces, ..tree::ShownTree::default() }).nodes
}

fn named(column: &Column, table: &AlignmentTable) -> String {
    let model = column.model();
    table
        .variant
        .as_ref()
        .map_or_else(|| model.clone(), |variant_label| format!("{model}, variant: {}", variant_label.text()))
}

fn comparison(column: &Column) -> Option<String> {
    let (comparison, table) = (column.difference.comparison.as_ref()?, column.table.as_ref()?);
    Some(comparison.text(table))
}

fn how(search: &SearchSettings, table: &AlignmentTable) -> String {
    if table.is_given {
        return GIVEN.to_owned();
    }
    format!("beam {}, hypothesis {}", search.beam, table.hypothesis + 1)
}

fn numbers_name(shown: Shown) -> &'static str {
    match (shown, measure(shown)) {
        (_, Some(measure)) => measure.name,
        (Shown::Energies, None) => "energies",
        (Shown::Alpha | Shown::Measure(_), None) => "alpha",
    }
}

fn measured_text(table: &AlignmentTable, measured: &MeasuredTable) -> String {
    let Some(measure) = MEASURES.get(measured.measure) else { return String::new() };
    let about = format!("Not alpha but {} ({}): {}", measure.title, measure.unit, measure.about);
    let more = table.measured_text(measured);
    if more.is_empty() { about } else { format!("{about}. {more}") }
}

/// A caption, and behind it always what a person has set.
fn captioned(caption: Option<String>, set: Option<String>) -> Option<String> {
    match (caption, set) {
        (Some(caption), Some(set)) => Some(format!("{caption}. {set}")),
        (caption, set) => caption.or(set),
    }
}

fn caption(column: &Column, search: &SearchSettings, table: &AlignmentTable) -> String {
    let how = how(search, table);
    // a variant by its beam has said it
    let beam = format!("beam {}", search.beam);
    let is_said = table.variant.as_ref().is_some_and(|variant_label| variant_label.differs.contains(&beam));
    let how = how.strip_prefix(&format!("{beam}, ")).filter(|_| is_said).unwrap_or(&how);
    let rows = table.reading.filter(|reading| *reading != RowConvention::default());
    let rows = rows.map_or_else(String::new, |reading| format!(", reading {}", reading.name()));
    format!("{}, {how}{rows}, log p {:.2}", named(column, table), table.log_p)
}

/// Interventions in a column's own translations; `None` without any, and for a given translation.
fn set_by_hand(column: &Column, is_given: bool) -> Option<String> {
    let is_touched = !is_given && column.shown().is_some_and(|shown| !shown.touched.is_untouched());
    is_touched.then(|| hand::sentence(&column.set, &column.source.text, &column.numbers())).flatten()
}

pub fn why_not(column: Option<&Column>, format: AlignmentFormat) -> &'static str {
    let left_out = column.and_then(|column| column.table.as_deref()).is_some_and(|table| table.left_out);
    match format {
        AlignmentFormat::Pharaoh if left_out => lang::text(LEFT_OUT),
        AlignmentFormat::Pharaoh => {
            tr!("There is no alignment to save, because this model has none or nothing is translated yet")
        }
        AlignmentFormat::Tsv | AlignmentFormat::Json => {
            tr!("There is nothing to save yet, because nothing is translated in this column")
        }
    }
}

/// What the user should know about the file, where the file itself cannot say it.
pub fn note(column: &Column, format: AlignmentFormat) -> Option<String> {
    let table = column.table.as_ref().filter(|_| format == AlignmentFormat::Pharaoh)?;
    let given = table.is_given.then(|| tr!("The links are those of {whose}.", whose = lang::text(GIVEN)));
    let reading = table.reading.map(|reading| {
        tr!("The links are those of the reading \"{}\". {}", reading.name(), lang::text(reading.about()))
    });
    let is_given = column.table.as_ref().is_some_and(|table| table.is_given);
    let set = set_by_hand(column, is_given)
        .map(|set| tr!("The links are those of a changed translation, which the file does not say. {set}", set));
    let variant = table.variant.as_ref().map(|variant_label| {
        tr!("The links are those of a variant ({}), which the file does not say.", variant_label.text())
    });
    let notes: Vec<String> = variant.into_iter().chain(given).chain(reading).chain(set).collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// The heatmap's numbers of these target words with source words along the top; without alignment words and log p.
/// With interventions two more columns give who chose a word and its row, and the headers mark masked words.
pub fn shown_tsv(table: &AlignmentTable, shown: Shown, rows: Range<usize>) -> String {
    let measured = table.measured(shown).and_then(|found| Some((&found.matrix, MEASURES.get(found.measure)?)));
    let what = measured.map(|(_, measure)| format!("{}, {}", measure.name, measure.unit));
    let variant = table.variant.as_ref().map(|variant_label| format!("variant: {}", variant_label.text()));
    let (what, variant, given) = (what.as_deref(), variant.as_deref(), table.is_given.then_some(GIVEN));
    let (reading, units) = (table.reading.map(RowConvention::name), table.units.map(table::Units::name));
    let named = if what.is_some() { [what, given, units, variant] } else { [variant, given, reading, units] };
    let named: Vec<&str> = named.into_iter().flatten().collect();
    let first = if named.is_empty() { "target".to_owned() } else { format!("target ({})", named.join(", ")) };
    let numbers = measured.map(|(matrix, _)| matrix).or(table.alpha.as_ref());
    let is_set = measured.is_none();
    let columns = if numbers.is_some() { &table.source[..] } else { &[] };
    let heads = columns.iter().map(|word| {
        let mark = if is_set && word.is_masked { " (masked)" } else { "" };
        TsvCell::from(&format!("{}{mark}", word.text))
    });
    let fixed = [TsvCell::from(&first), TsvCell::from("log_p")].into_iter();
    let head = fixed.chain(set_heads(table).filter(|_| is_set)).chain(heads).collect();
    let body = table.target.iter().enumerate().filter(|(i, _)| rows.contains(i)).map(|(i, word)| {
        let before = [TsvCell::from(&word.text), TsvCell::plain(&word.log_p)].into_iter();
        let row = numbers.map_or(&[][..], |numbers| numbers.row(i));
        before.chain(set_cells(table, word).filter(|_| is_set)).chain(row.iter().map(TsvCell::plain)).collect()
    });
    tsv::rows(std::iter::once(head).chain(body))
}

fn set_heads(table: &AlignmentTable) -> impl Iterator<Item = TsvCell> {
    ["word", "row"].into_iter().filter(|_| is_touched(table)).map(TsvCell::plain)
}

fn set_cells(table: &AlignmentTable, word: &TargetWord) -> impl Iterator<Item = TsvCell> {
    let (said, row) = (word.said.name().unwrap_or("free"), if word.is_pinned { "set" } else { "model" });
    [said, row].into_iter().filter(|_| is_touched(table)).map(TsvCell::plain)
}

fn is_touched(table: &AlignmentTable) -> bool {
    table.touched.as_ref().is_some_and(|touched| !touched.is_untouched())
}

/// The numbers of source word j for each target word: alpha, or what was measured in its place; empty without them.
pub fn source_tsv(table: &AlignmentTable, shown: Shown, j: usize) -> String {
    let measured = table.measured(shown);
    let matrix = measured.map(|measured| &measured.matrix).or(table.alpha.as_ref());
    let (Some(alpha), Some(source)) = (matrix, table.source.get(j)) else { return String::new() };
    let measure = measured.and_then(|measured| MEASURES.get(measured.measure));
    let first = measure.map_or_else(|| "target".to_owned(), |of| format!("target ({}, {})", of.name, of.unit));
    let head =
        [TsvCell::from(&first)].into_iter().chain(set_heads(table)).chain([TsvCell::from(&source.text)]).collect();
    let body = table.target.iter().enumerate().map(|(i, word)| {
        let number = alpha.get(i, j).unwrap_or_default();
        [TsvCell::from(&word.text)].into_iter().chain(set_cells(table, word)).chain([TsvCell::plain(&number)]).collect()
    });
    tsv::rows(std::iter::once(head).chain(body))
}

/// The beam, best first, with log p, what it was ranked by, and log p per word and per token.
pub fn beam_tsv(column: &Column) -> String {
    let is_set = column.hypotheses.iter().any(|one| one.touched.has_words());
    let parts = if is_set { &["log_p_set", "log_p_free"][..] } else { &[] };
    let head = ["rank", "log_p", "ranked_by", "log_p_per_word", "log_p_per_token"].into_iter();
    let head = head.chain(parts.iter().copied()).chain(["translation"]);
    let head = head.map(TsvCell::plain).collect();
    let body = column.hypotheses.iter().enumerate().map(|(n, one)| {
        let (set, free) = one.touched.parts(&one.found.token_log_p);
        let parts = [set, free].into_iter().filter(|_| is_set).map(|log_p| TsvCell::plain(&log_p));
        let numbers = [one.found.log_p, one.found.rank].into_iter().chain(one.mean_log_p());
        let before = std::iter::once(TsvCell::plain(&(n + 1))).chain(numbers.map(|number| TsvCell::plain(&number)));
        before.chain(parts).chain([TsvCell::from(&one.text)]).collect()
    });
    tsv::rows(std::iter::once(head).chain(body))
}

/// The JSON line of `interlinear translate`, all hypotheses, best first; the shown one has the links that are shown.
pub fn json_line(column: &Column) -> String {
    let facts = column.facts.as_ref();
    // alpha is alpha whatever is shown: what an alignment head says stands beside it
    let shown = column.table.as_ref().and_then(|table| table.reading);
    let own = facts.filter(|facts| facts.input_delay.is_some()).map(|facts| facts.reading);
    let reading = if shown == Some(RowConvention::Head) { own } else { shown };
    let read = reading.zip(facts.and_then(|facts| facts.input_delay)).unwrap_or_default();
    let mut hypotheses: Vec<HypothesisLine<'_>> = column.hypotheses.iter().map(|one| hypothesis(one, read)).collect();
    if let (Some(links), Some(shown)) = (&column.links, hypotheses.get_mut(column.hypothesis)) {
        shown.links = Some(LinksLine::of_aligner(links));
    }
    let pieces = column.hypotheses.first().and_then(|one| one.pieces.as_ref());
    let line = TranslationLine {
        source: &column.source.tokens,
        words: pieces.map(|pieces| ends(&pieces.source)),
        interventions: column.shown().map(|shown| &shown.touched.form).filter(|set| !set.is_empty()),
        reading: reading.filter(|reading| *reading != RowConvention::default()).map(RowConvention::name),
        hypotheses,
        given: column.read().map(|given| HypothesisLine { of: Some(GIVEN), ..hypothesis(given, read) }),
        measured: measured_json(column),
        variant: column.table.as_deref().and_then(|table| variant_json(column, table)),
        guided: facts.and_then(|facts| facts.guided.as_deref()),
        ..TranslationLine::default()
    };
    commands::json(&line).unwrap_or_default() + "\n"
}

/// Differences and moved words of a variant, in shown words, which are not the line's tokens in a given translation.
fn variant_json(column: &Column, table: &AlignmentTable) -> Option<Value> {
    let variant_label = table.variant.as_ref()?;
    let mut value = json!({ "differs": variant_label.differs, "of": variant_label.original });
    if let Some(comparison) = column.difference.comparison.as_ref().filter(|_| !table.is_given) {
        let target = |i: usize| table.target.get(i).map(|word| word.text.as_str());
        let source = |j: usize| table.source.get(j).map(|word| word.text.as_str());
        let moved =
            |one: &Moved| json!({ "word": target(one.i), "before": source(one.before), "now": source(one.now) });
        value["moved"] = comparison.moved.iter().map(moved).collect();
        value["divergence"] = comparison.divergence.into();
    }
    Some(value)
}

fn measured_json(column: &Column) -> Vec<Value> {
    let Some(shown) = column.shown().filter(|_| !column.set.changes_alpha()) else { return Vec::new() };
    let all = column.tested_for(shown).flat_map(|tested| tested.measured.iter().map(move |one| (tested, one)));
    let value = |(tested, one): (&Arc<Tested>, &MeasuredWords)| {
        let measure = MEASURES.get(one.measure)?;
        let mean = |name| tested.means.as_ref().filter(|_| measure.is_tested()).and_then(|means| means.named(name));
        Some(json!({
            "measure": measure.name,
            "about": measure.about,
            "rows": one.rows,
            "kendall": one.kendall,
            "js_uniform": mean("js_uniform"),
            "js_permuted": mean("js_permuted"),
        }))
    };
    all.filter_map(value).collect()
}

/// A word that has no row under this reading has zeros and no position.
fn hypothesis(shown: &HypothesisView, (reading, delay): (RowConvention, usize)) -> HypothesisLine<'_> {
    let count = shown.tokens.len();
    // without the rows behind `</s>`
    let of_tokens = |alpha: &[Vec<f32>]| {
        let mut alpha = reading.assign_after(delay, alpha).into_owned();
        alpha.truncate(count);
        alpha
    };
    let position = |p_t: &[f32], i| reading.row_after(delay, i, p_t.len()).map_or(f32::NAN, |t| p_t[t]);
    let touched = &shown.touched;
    HypothesisLine {
        tokens: shown.tokens.iter().map(String::as_str).collect(),
        words: shown.pieces.as_ref().map(|pieces| ends(&pieces.target)),
        text: shown.text.as_str().into(),
        log_p: shown.found.log_p,
        token_log_p: &shown.found.token_log_p,
        alpha: shown.found.alpha.as_deref().map(|alpha| of_tokens(alpha).into()),
        p_t: shown.found.p_t.as_deref().map(|p_t| (0..count.min(p_t.len())).map(|i| position(p_t, i)).collect()),
        head: shown.found.head.as_deref().map(Into::into),
        finished: shown.found.finished,
        set: (!touched.is_untouched()).then(|| SetLine::of(touched, &shown.found.token_log_p)),
        ..HypothesisLine::default()
    }
}

/// `i-j` pairs source-target from 0 between the words that spaces separate: of each target word with a row its argmax.
fn pharaoh(column: &Column, settings: &Settings) -> Option<String> {
    Some(hard::pharaoh(&links(column, settings)?) + "\n")
}

fn links(column: &Column, settings: &Settings) -> Option<Vec<Link>> {
    let is_given = column.table.as_deref()?.is_given;
    let shown = if is_given { column.read()? } else { column.shown()? };
    let (source, target) = table::sides(&column.source, shown)?;
    let reading = settings.reading_of(column.facts.as_ref()).unwrap_or_default();
    let links = reading.0.links(&over_words(table::rows_by(shown, reading)?, &source, &target));
    let rules = SideRules { source: shown.rules[0], target: shown.rules[1] };
    Some(SideRules::SPACES.respread_links(&links, rules, (&column.source.text, &shown.text)))
}

/// A sentence with what is set in a column as one line of JSON, which `interlinear translate --interventions` reads.
/// Error: nothing is translated, or words are still being chosen.
pub fn set_json(column: &Column, set: &Interventions) -> Result<String> {
    let waits = column.decoding || column.stale || *column.set != *set;
    let Some(best) = column.hypotheses.first().filter(|_| !waits) else {
        let message = tr!("The words of this column are still being chosen; save it when they stand");
        return Err(Error::Input(message.to_owned()));
    };
    let source = Some(column.source.text.clone());
    let model = column.facts.as_ref().map(|facts| facts.name.clone());
    let form = Interventions { source, model, ..best.touched.form.clone() };
    Ok(form.to_json()? + "\n")
}
