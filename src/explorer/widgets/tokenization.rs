//! A choice of how BLEU cuts text into words.

use egui::{ComboBox, Ui};

use engine::analysis::mteval::{TOKENIZATIONS, Tokenization};
use engine::lang;

/// Returns the new choice. `usual` explains `None`, if that is offered.
pub fn tokenizers_ui(
    ui: &mut Ui, chosen: Option<Tokenization>, usual: Option<&'static str>,
) -> Option<Option<Tokenization>> {
    let label = ui.label(tr!("Words for BLEU"));
    let name = |one: Option<Tokenization>| one.map_or(tr!("as usual"), Tokenization::name);
    let mut clicked = None;
    let combo = ComboBox::from_id_salt("tokenization").selected_text(name(chosen)).show_ui(ui, |ui| {
        let all = usual.map(|note| (None, note)).into_iter();
        for (one, note) in all.chain(TOKENIZATIONS.iter().map(|(one, note)| (Some(*one), *note))) {
            let item = ui.selectable_label(one == chosen, name(one));
            if item.on_hover_text(tr!("Cut {note}", note = lang::text(note))).clicked() && one != chosen {
                clicked = Some(one);
            }
        }
    });
    combo.response.labelled_by(label.id).on_hover_text(tr!("How BLEU cuts text into words, by sacreBLEU's name"));
    clicked
}
