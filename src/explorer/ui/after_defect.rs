//! The question after a crash: continue or start anew. It comes first, so that a state that crashes is not reopened.

use egui::{CentralPanel, Context, Ui};

use crate::session::defect::Defect;
use crate::widgets::{labels, theme};

/// Makes the application; true: without the saved state.
pub type Begin = Box<dyn FnOnce(bool, &Context) -> Box<dyn eframe::App>>;

/// Asks about a defect of the last run, then starts the application.
pub struct AfterDefect {
    defect: Defect,
    begin: Option<Begin>,
    app: Option<Box<dyn eframe::App>>,
}

impl AfterDefect {
    pub fn new(defect: Defect, ctx: &Context, begin: Begin) -> Self {
        theme::install(ctx);
        Self { defect, begin: Some(begin), app: None }
    }
}

fn question_ui(ui: &mut Ui, defect: &Defect) -> Option<bool> {
    let mut answer = None;
    CentralPanel::default().show(ui, |ui| {
        ui.add_space(theme::SPACE_5);
        ui.heading(tr!("A defect ended Interlinear the last time"));
        ui.add_space(theme::SPACE_2);
        ui.label(tr!(
            "It was at {}. Please report it with the file {}, which holds nothing that you typed or opened.",
            defect.place,
            defect.path.display()
        ));
        ui.add_space(theme::SPACE_4);
        ui.horizontal(|ui| {
            let go_on = ui.button(tr!("Go on where it ended"));
            if ui.memory(|memory| memory.focused().is_none()) {
                go_on.request_focus();
            }
            if go_on.clicked() {
                answer = Some(false);
            }
            if ui.button(tr!("Begin anew")).clicked() {
                answer = Some(true);
            }
        });
        labels::note(
            ui,
            tr!(
                "Begun anew, the state of before is set aside under another name. Should the window end again, do that."
            ),
        );
    });
    answer
}

impl eframe::App for AfterDefect {
    fn raw_input_hook(&mut self, ctx: &Context, input: &mut egui::RawInput) {
        if let Some(app) = &mut self.app {
            app.raw_input_hook(ctx, input);
        }
    }

    fn logic(&mut self, ctx: &Context, frame: &mut eframe::Frame) {
        if let Some(app) = &mut self.app {
            app.logic(ctx, frame);
        }
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        if let Some(app) = &mut self.app {
            return app.ui(ui, frame);
        }
        let Some(is_anew) = question_ui(ui, &self.defect) else { return };
        self.app = self.begin.take().map(|begin| begin(is_anew, ui.ctx()));
        ui.ctx().request_repaint();
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
