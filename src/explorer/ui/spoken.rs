//! What a screen reader is to hear where it is given no tree of the window, as in a browser.

use egui::output::OutputEvent;
use egui::{Context, FullOutput, Plugin};

use crate::app::{document::Document, document::column::Column};

/// Announces focus, selection, changes and finished translations to a screen reader.
pub struct Announcer {
    notify: Box<dyn Fn(&str) + Send + Sync>,
    translations: String,
}

impl Announcer {
    pub fn install(ctx: &Context, notify: impl Fn(&str) + Send + Sync + 'static) {
        ctx.add_plugin(Self { notify: Box::new(notify), translations: String::new() });
    }

    pub fn translated(ctx: &Context, document: &Document) {
        let notify = |announcer: &mut Self| {
            let whole = |column: &Column| !column.stale && !column.decoding;
            let columns = document.columns.iter().filter(|column| column.shown().is_some());
            if !columns.clone().all(whole) {
                return;
            }
            let said = columns.filter_map(|column| Some(format!("{}: {}", column.name(), column.shown()?.text)));
            let said = said.collect::<Vec<_>>().join(". ");
            if said != announcer.translations {
                (announcer.notify)(&said);
                announcer.translations = said;
            }
        };
        ctx.with_plugin(notify);
    }
}

impl Plugin for Announcer {
    fn debug_name(&self) -> &'static str {
        "spoken"
    }

    fn output_hook(&mut self, _ctx: &Context, output: &mut FullOutput) {
        let last = output.platform_output.events.iter().rev().find(|event| !is_typing(event));
        if let Some(event) = last {
            (self.notify)(&event.widget_info().description());
        }
    }
}

fn is_typing(event: &OutputEvent) -> bool {
    let is_change = matches!(event, OutputEvent::ValueChanged(_) | OutputEvent::TextSelectionChanged(_));
    is_change && event.widget_info().current_text_value.is_some()
}
