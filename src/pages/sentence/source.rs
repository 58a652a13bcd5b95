//! Floor 11: the source text: typing, replacing, undo, and the sentences kept of it.

use crate::app::command::SourceCommand;
use crate::app::document::history::begins_anew;
use crate::app::state::AppState;

pub(super) fn edit(app: &mut AppState, command: SourceCommand) {
    match command {
        SourceCommand::Edit(text) => edit_source(app, text),
        SourceCommand::Replace(text) => app.replace_source(text, None),
        SourceCommand::Undo => {
            if let Some(before) = app.document.history.undo(app.document.scene.clone()) {
                app.set_back(before);
            }
        }
        SourceCommand::UndoSentence => {
            if let Some(before) = app.document.history.undo_sentence(app.document.scene.clone()) {
                app.set_back(before);
            }
        }
        SourceCommand::Redo => {
            if let Some(after) = app.document.history.redo(app.document.scene.clone()) {
                app.set_back(after);
            }
        }
        SourceCommand::Give(text) => app.give(text),
        SourceCommand::Stop => {
            // What the work under way still tells is old; models that are being read are still wanted.
            app.request_to_rest();
            app.mark_differences();
        }
    }
}

fn edit_source(app: &mut AppState, text: String) {
    let text = app.cut(text);
    if text == app.document.scene.source {
        return;
    }
    app.document.history.typed(app.document.scene.clone(), &text);
    app.document.typed = true;
    let goes_on = !text.trim().is_empty() && !begins_anew(&app.document.scene.source, &text);
    app.document.typed_on &= goes_on;
    app.leave_words(goes_on.then_some(&text));
    app.set_source(text, None);
}
