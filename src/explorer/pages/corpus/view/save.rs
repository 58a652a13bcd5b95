//! What of a corpus is saved, in which form, and where.

use egui::Ui;

use crate::pages::shell::dialogs::{Question, Wants};
use crate::pages::{corpus::CorpusPage, corpus::command::CorpusCommand, shell::local::Window};
use crate::widgets::labels;
use corpus::export::out::{AttentionFormat, ExportFormat, LinkRule};
use engine::analysis::symmetrize::SYMMETRIZATIONS;
use engine::lang;

pub(super) fn saving(kind: ExportFormat) -> Question {
    let (title, note) = (tr!("Save the sentences shown"), tr!("All sentences that are shown, in their order."));
    let rows = |name| Question::new(title, tr!("Save"), Wants::NewFile(name), note);
    match kind {
        ExportFormat::Tsv => rows("sentences.tsv"),
        ExportFormat::Jsonl => rows("sentences.jsonl"),
        ExportFormat::Pharaoh(..) => rows("alignment.txt"),
        ExportFormat::Gold | ExportFormat::OutputGold(_) => rows("gold.txt"),
        ExportFormat::Judgements => rows("judgements.jsonl"),
        ExportFormat::JudgementTable => rows("judgements.tsv"),
        ExportFormat::Mqm => rows("mqm.tsv"),
        ExportFormat::Suggestions => rows("suggestions.tsv"),
        ExportFormat::Pearmut => rows("annotations.jsonl"),
        ExportFormat::Tasks => Question::new(
            tr!("Save the tasks"),
            tr!("Save"),
            Wants::NewFile("tasks.tsv"),
            tr!("Those of all annotators."),
        ),
        ExportFormat::Report => rows("report.html"),
        ExportFormat::Arrays => {
            let note = tr!(
                "Arrays named by sentence and system: 12.1.alpha, 12.1.source and 12.1.target. numpy.load opens it."
            );
            Question { note, ..rows("alignments.npz") }
        }
        ExportFormat::Matrices => {
            let note = tr!("A table for each sentence that is shown and each system that has an alignment of it.");
            Question::new(tr!("Save alignments into a folder"), tr!("Save"), Wants::Folder, note)
        }
        ExportFormat::Figures(..) => {
            let note = tr!("A file for each sentence that is shown and has an alignment.");
            Question::new(tr!("Save figures into a folder"), tr!("Save"), Wants::Folder, note)
        }
    }
}

pub(super) fn save_ui(ui: &mut Ui, page: &CorpusPage, window: &mut Window<'_>) {
    ui.menu_button(tr!("Save"), |ui| {
        let count = page.rows.len();
        labels::caption(ui, tr!("The {n} sentence shown" | "The {n} sentences shown" % count));
        let mut kinds = vec![
            (tr!("Table as TSV..."), ExportFormat::Tsv),
            (tr!("Everything as JSON lines..."), ExportFormat::Jsonl),
            (tr!("Alignments as arrays (.npz)..."), ExportFormat::Arrays),
            (tr!("Alignments as TSV, into a folder..."), ExportFormat::Matrices),
            (tr!("Report as HTML..."), ExportFormat::Report),
            (tr!("Judgements as JSON lines..."), ExportFormat::Judgements),
            (tr!("Judgements as TSV..."), ExportFormat::JudgementTable),
            (tr!("Marks as MQM of the WMT (TSV)..."), ExportFormat::Mqm),
            (tr!("Ratings and marks as ESA of Pearmut..."), ExportFormat::Pearmut),
            (tr!("Links by hand..."), ExportFormat::Gold),
        ];
        kinds.extend(
            page.linked.map(|system| (tr!("Links by hand of the output..."), ExportFormat::OutputGold(system))),
        );
        let names: Vec<String> = page.corpus.systems.iter().map(|column| column.system.name.clone()).collect();
        let mut ask = |ui: &mut Ui, text: &str, kind: ExportFormat| {
            let button = ui.button(text);
            if button.clicked() {
                window.ask(saving(kind).then(move |path| CorpusCommand::Save(kind, path)));
                ui.close();
            }
            button
        };
        for (text, kind) in kinds.drain(..) {
            ask(ui, text, kind);
        }
        for (at, name) in names.iter().enumerate() {
            ui.menu_button(tr!("Of {name}", name), |ui| {
                ask(ui, tr!("Links of greatest alpha..."), ExportFormat::Pharaoh(at, LinkRule::Greatest));
                ask(ui, tr!("Links with alpha of at least 0.2..."), ExportFormat::Pharaoh(at, LinkRule::Above(20)));
                ui.menu_button(tr!("Links of rows and columns"), |ui| {
                    for (n, rule) in SYMMETRIZATIONS.iter().enumerate() {
                        let kind = ExportFormat::Pharaoh(at, LinkRule::Symmetrised(n));
                        ask(ui, &format!("{}...", lang::text(rule.name)), kind).on_hover_text(lang::text(rule.about));
                    }
                });
                ask(ui, tr!("Heatmaps as SVG, into a folder..."), ExportFormat::Figures(at, AttentionFormat::Svg));
                ask(ui, tr!("Heatmaps as PDF, into a folder..."), ExportFormat::Figures(at, AttentionFormat::Pdf));
                ask(ui, tr!("Heatmaps as PNG, into a folder..."), ExportFormat::Figures(at, AttentionFormat::Png));
            });
        }
    });
}
