//! Floor 13: what a screen reader is to hear where it is given no tree of the window, as in a browser.

use egui::output::OutputEvent;
use egui::{Context, FullOutput, Plugin};

/// Tells what gets the focus, is chosen or changed, as it happens.
pub struct Announcer {
    tell: Box<dyn Fn(&str) + Send + Sync>,
}

impl Announcer {
    /// Has a window told to `tell`.
    pub fn install(ctx: &Context, tell: impl Fn(&str) + Send + Sync + 'static) {
        ctx.add_plugin(Self { tell: Box::new(tell) });
    }
}

impl Plugin for Announcer {
    fn debug_name(&self) -> &'static str {
        "spoken"
    }

    fn output_hook(&mut self, _ctx: &Context, output: &mut FullOutput) {
        let told = output.platform_output.events.iter().rev().find(|event| !is_typing(event));
        if let Some(event) = told {
            (self.tell)(&event.widget_info().description());
        }
    }
}

/// Who types hears the letters already.
fn is_typing(event: &OutputEvent) -> bool {
    let is_change = matches!(event, OutputEvent::ValueChanged(_) | OutputEvent::TextSelectionChanged(_));
    is_change && event.widget_info().current_text_value.is_some()
}
