//! The application for eframe. A frame handles events and keys, paints, and applies commands; it never blocks.

use std::time::Duration;

use egui::{UserAttentionType, ViewportCommand};
use qrcode::{Color, EcLevel, QrCode};

use crate::app::{command::WindowCommand, layout::Layout, open_with::Installed, page::SENTENCE, settings::Theme};
use crate::pages::sentence::command::{InterveneCommand, SelectCommand, SentenceCommand};
use crate::pages::shell::local::{Local, Panel, Sheet, Window};
use crate::pages::training::view as training;
use crate::pages::{
    command::Command, lesson::LessonCommand, sentence::view::memory::SentenceMemory, shell::act::Act, shell::source,
    steps::STEPS,
};
use crate::session::{driver::Driver, state::Session};
use crate::ui::{act, spoken::Announcer, views, views::presentation};
use crate::{jobs::live::protocol::ColumnId, widgets, widgets::theme};
use engine::{clock::Instant, lang, lang::Language};

/// The largest side of a texture, pixels: letters take at most 16 MB, and no picture is larger.
const MOST_SIDE: usize = 2048;
/// Longest time a frame spends on events; the rest waits for the next frame.
const PUMP_BUDGET: Duration = Duration::from_millis(4);

/// Where the window's session lives: the [`Driver`], or a stand-in under test.
pub trait SessionHost {
    fn session(&self) -> &Session;
    fn send(&mut self, command: Command);
    /// Handles events; true if anything changed.
    fn pump(&mut self, budget: Duration) -> bool;
}

impl SessionHost for Driver {
    fn session(&self) -> &Session {
        Self::session(self)
    }

    fn send(&mut self, command: Command) {
        Self::send(self, command);
    }

    fn pump(&mut self, budget: Duration) -> bool {
        Self::pump(self, budget)
    }
}

/// The window.
pub struct App {
    desk: Box<dyn SessionHost>,
    layout: Layout,
    pub local: Local,
    commands: Vec<Command>,
    pub frame_time: Option<Duration>,
    began: Option<Instant>,
    theme: Option<Theme>,
    moves: Option<bool>,
    seen_calls: u64,
    /// Whether the first window has been made to fit the screen, or the user has begun.
    is_placed: bool,
    system: Language,
    spoken: Language,
    /// Fetches a catalogue that is not loaded yet.
    fetch: Option<Box<dyn Fn(Language)>>,
    /// Keeps the state and its link where there are no files.
    keep: Option<Keep>,
    /// What was kept last, and when, in seconds.
    kept: (u64, f64),
    copies: bool,
}

/// Takes a link to what is shown, and the text of the whole state.
pub type Keep = Box<dyn Fn(&str, &str)>;

/// Browsers refuse a new address more often than some three times a second.
const KEEP_EVERY: f64 = 1.0;

impl App {
    pub fn new(desk: Box<dyn SessionHost>, ctx: &egui::Context) -> Self {
        theme::install(ctx);
        // The session keeps the zoom; egui's own keys would go past it.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        // the sentence has the keyboard at first, so that typing begins another; page Steps has keys of its own
        let focus = (desk.session().app().view.page != STEPS).then_some(Panel::Source);
        let mut local = Local::default();
        local.shared.focus = focus;
        // a size that was kept is the user's
        let is_placed = desk.session().app().view.layout.window.is_some();
        if focus.is_some() {
            source::begin(ctx, desk.session().app().document.source());
        }
        Self {
            desk,
            layout: Layout::default(),
            local,
            commands: Vec::new(),
            frame_time: None,
            began: None,
            theme: None,
            moves: None,
            seen_calls: 0,
            is_placed,
            system: Language::default(),
            spoken: Language::default(),
            fetch: None,
            keep: None,
            kept: (0, 0.0),
            copies: true,
        }
    }

    pub fn with_bundled(mut self, bundled: Vec<Installed>, home: Option<std::path::PathBuf>) -> Self {
        (self.local.bundled, self.local.home) = (bundled, home);
        self
    }

    pub fn in_language(mut self, system: Language) -> Self {
        self.system = system;
        self
    }

    pub fn with_catalogues(mut self, fetch: Box<dyn Fn(Language)>) -> Self {
        self.fetch = Some(fetch);
        self
    }

    /// Keeps the state whenever it has changed, at most once a second.
    pub fn keeping(mut self, keep: Keep) -> Self {
        self.keep = Some(keep);
        self
    }

    /// Where nothing may be put on the clipboard, what is copied is shown in a field.
    pub fn copying(mut self, copies: bool) -> Self {
        self.copies = copies;
        self
    }

    fn copy(&mut self, ctx: &egui::Context, text: String) -> bool {
        if self.copies {
            ctx.copy_text(text);
        } else {
            self.local.shared.sheet = Sheet::Copy(text);
        }
        self.copies
    }

    fn keep(&mut self, ctx: &egui::Context) {
        let Some(keep) = &self.keep else { return };
        let (mark, now) = (self.mark(), ctx.input(|input| input.time));
        if self.kept.0 == mark {
            return;
        }
        let wait = self.kept.1 + KEEP_EVERY - now;
        if self.kept.0 > 0 && wait > 0.0 {
            return ctx.request_repaint_after_secs(wait as f32);
        }
        self.kept = (mark, now);
        let session = self.desk.session();
        if let (Ok(link), Ok(state)) = (session.link(), serde_json::to_string(&session.saved())) {
            keep(&link, &state);
        }
    }

    /// Another number for all that a link tells apart; never 0.
    fn mark(&self) -> u64 {
        let session = self.desk.session();
        let lesson = session.lessons().open().map_or(0, |open| 1 + open.page as u64);
        (session.app().revision + 1) * 1000 + lesson
    }

    fn speak(&mut self) {
        let wanted = self.desk.session().app().view.settings.language.unwrap_or(self.system);
        let is_there = lang::is_there(wanted);
        if let Some(fetch) = self.fetch.as_ref().filter(|_| !is_there) {
            fetch(wanted);
        }
        let spoken = if is_there { wanted } else { Language::English };
        lang::speak(spoken);
        if std::mem::replace(&mut self.spoken, spoken) != spoken {
            self.send(LessonCommand::Translate);
        }
    }

    pub fn trees(&mut self) -> impl Iterator<Item = &mut crate::pages::sentence::view::memory::TreeMemory> {
        self.local.of::<SentenceMemory>().trees.values_mut()
    }

    pub fn session(&self) -> &Session {
        self.desk.session()
    }

    pub fn send(&mut self, command: impl Into<Command>) {
        self.desk.send(command.into());
    }

    fn perform(&mut self, acts: Vec<Act>) {
        let (session, lights) = (self.desk.session(), self.desk.session().lessons().lights());
        let page = session.pages.get(session.app().view.page);
        let (commands, layout, local) = (&mut self.commands, &mut self.layout, &mut self.local);
        let mut window = Window { app: session.app(), lights: &lights, commands, layout, local };
        for act in acts {
            act::perform(act, &mut window, page);
        }
    }

    fn read_input(&mut self, ctx: &egui::Context) {
        let lights = self.desk.session().lessons().lights();
        let page = self.desk.session().app().view.page;
        let acts = act::pressed(ctx, source::editor_id(), page, lights.is_open());
        self.perform(acts);
        if self.local.full_screen.take().is_some() {
            let fills = ctx.input(|input| input.viewport().fullscreen.unwrap_or(false));
            ctx.send_viewport_cmd(ViewportCommand::Fullscreen(!fills));
        }
        copy(ctx, &mut self.local);
        if ctx.input(|input| input.pointer.primary_clicked() && !input.modifiers.shift) {
            self.local.shared.picked = None;
        }
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        #[cfg(not(target_family = "wasm"))]
        self.commands.extend(dropped.iter().map(|file| WindowCommand::Drop(file.path().to_path_buf()).into()));
        #[cfg(target_family = "wasm")]
        if !dropped.is_empty() {
            self.local.dialogs.dropped(dropped, crate::pages::shell::dialogs::TEXT.then(WindowCommand::Drop));
        }
        let answered = self.local.dialogs.poll(ctx);
        if let Some((asked, None)) = answered {
            // These ask for a path themselves.
            if !matches!(self.local.shared.sheet, Sheet::Training | Sheet::Figure { .. } | Sheet::Head(_)) {
                self.local.shared.sheet = Sheet::Ask(asked);
            }
        } else if let Some((asked, Some(path))) = answered {
            if matches!(self.local.shared.sheet, Sheet::Ask(_) | Sheet::Figure { .. }) {
                self.local.shared.sheet = Sheet::None;
            }
            if asked.question == training::CONFIGURATION {
                self.local.training_path = path.display().to_string();
            }
            self.commands.push(asked.answered(path));
        }
    }

    fn apply_settings(&mut self, ctx: &egui::Context) {
        let settings = &self.desk.session().app().view.settings;
        if self.theme != Some(settings.theme) {
            self.theme = Some(settings.theme);
            ctx.set_theme(match settings.theme {
                Theme::System => egui::ThemePreference::System,
                Theme::Light => egui::ThemePreference::Light,
                Theme::Dark => egui::ThemePreference::Dark,
            });
        }
        self.local.theme = Some(ctx.theme());
        let moves = self.layout.motion;
        if self.moves != Some(moves) {
            self.moves = Some(moves);
            theme::set_motion(ctx, moves);
        }
        let larger = if self.local.presents { presentation::LARGER } else { 1.0 };
        ctx.set_zoom_factor(settings.zoom * larger);
    }

    /// Another start of the program has sent its arguments here, and the window may be minimised or behind others.
    fn come_forward(&mut self, ctx: &egui::Context) {
        let calls = self.desk.session().app().view.calls;
        if std::mem::replace(&mut self.seen_calls, calls) != calls {
            ctx.send_viewport_cmd(ViewportCommand::Minimized(false));
            ctx.send_viewport_cmd(ViewportCommand::Focus);
            ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(UserAttentionType::Informational));
        }
    }

    /// A first window that is larger than the screen, its frame included, is maximised. The frame comes some time after the
    /// window, so this looks until the user does something.
    fn fit_screen(&mut self, ctx: &egui::Context) {
        if self.is_placed {
            return;
        }
        let (is_large, is_used) = ctx.input(|input| {
            let sizes = input.viewport().outer_rect.zip(input.viewport().monitor_size);
            let is_large = sizes.is_some_and(|(outer, screen)| (outer.size() - screen).max_elem() > 1.0);
            (is_large, input.pointer.any_down() || !input.keys_down.is_empty())
        });
        self.is_placed = is_large || is_used;
        if is_large {
            ctx.send_viewport_cmd(ViewportCommand::Maximized(true));
        }
    }

    /// The window's size is kept in points at zoom 1, as the next start asks for it.
    fn keep_size(&mut self, ctx: &egui::Context) {
        let Some(size) = ctx.input(|input| input.viewport().inner_rect).map(|rect| rect.size() * ctx.zoom_factor())
        else {
            return;
        };
        let is_same = |[width, height]: [f32; 2]| (width - size.x).abs() <= 1.0 && (height - size.y).abs() <= 1.0;
        if !self.layout.window.is_some_and(is_same) && !ctx.input(|input| input.pointer.any_down()) {
            self.layout.window = Some(size.into());
        }
    }

    fn finish(&mut self, ctx: &egui::Context) {
        let session = self.desk.session();
        // What is remembered of a column goes with it.
        let is_there = |id: &ColumnId| session.app().document.columns.iter().any(|column| column.id == *id);
        self.local.of::<SentenceMemory>().trees.retain(|id, _| is_there(id));
        self.local.of::<SentenceMemory>().output_heights.retain(|id, _| is_there(id));
        self.local.shared.textures.retain(|id, _| is_there(id));
        if session.app().view.hover != self.local.shared.hover {
            self.commands.push(SelectCommand::Hover(self.local.shared.hover).into());
        }
        if std::mem::take(&mut self.local.shared.copies_link)
            && let Ok(link) = session.link()
            && self.copy(ctx, link)
        {
            self.commands.push(WindowCommand::LinkCopied.into());
        }
        if let Some(text) = self.local.shared.copied.take() {
            self.copy(ctx, text);
        }
        let session = self.desk.session();
        if let Some((number, pixels)) =
            session.app().view.painted().filter(|(number, _)| Some(*number) != self.local.seen_painted)
        {
            self.local.seen_painted = Some(number);
            let size = [pixels.width as usize, pixels.height as usize];
            ctx.copy_image(egui::ColorImage::from_rgba_unmultiplied(size, &pixels.rgba));
        }
        let layout = (session.app().view.layout != self.layout).then(|| Box::new(self.layout.clone()));
        if self.commands.is_empty() && layout.is_none() {
            return;
        }
        if !self.commands.iter().all(keeps_mark) {
            self.local.of::<SentenceMemory>().key_mark = None;
        }
        // first: lessons that begin lay the window out themselves
        let layout = layout.map(|layout| WindowCommand::SetLayout(layout).into());
        for command in layout.into_iter().chain(std::mem::take(&mut self.commands)) {
            self.desk.send(command);
        }
        // What the commands changed is on the screen only after another frame.
        ctx.request_repaint();
    }

    /// Gives the keyboard back when a sheet closes: to what had it before, or to the sentence if the mouse opened the sheet.
    fn give_back(&mut self, ctx: &egui::Context, focused: Option<egui::Id>) {
        let is_open = self.local.shared.sheet != Sheet::None;
        let (was_open, before) = &mut self.local.shared.before_sheet;
        if is_open && !*was_open {
            let by_mouse = ctx.input(|input| input.pointer.any_released());
            *before = focused.or_else(|| by_mouse.then(source::editor_id));
        } else if !is_open && *was_open {
            let is_there = |id: &egui::Id| ctx.read_response(*id).is_some();
            let own = before.take().and_then(|id| [id, source::editor_id()].into_iter().find(is_there));
            own.into_iter().for_each(|id| ctx.memory_mut(|memory| memory.request_focus(id)));
        }
        *was_open = is_open;
    }

    fn make_code(&mut self) {
        let (session, revision) = (self.desk.session(), self.mark());
        let is_asked = self.local.presents || matches!(self.local.shared.sheet, Sheet::Copy(_));
        if !is_asked || session.app().view.settings.site.is_none() || self.local.code.0 == revision {
            return;
        }
        // a text that is too long for a code has none
        let code = session.link().ok().and_then(|link| QrCode::with_error_correction_level(link, EcLevel::L).ok());
        self.local.code = (revision, 0, Vec::new());
        if let Some(code) = code {
            let dark = code.to_colors().into_iter().map(|colour| colour == Color::Dark).collect();
            self.local.code = (revision, code.width(), dark);
        }
    }

    fn note_frame(&mut self) {
        self.frame_time = self.began.take().map(|began| began.elapsed()).or(self.frame_time);
    }

    /// The first half of a frame: handles events. Public for measuring without a window.
    pub fn begin(&mut self) {
        self.began = Some(Instant::now());
        self.speak();
        self.desk.pump(PUMP_BUDGET);
    }

    /// The second half of a frame: reads the input, paints, applies commands.
    pub fn paint(&mut self, ui: &mut egui::Ui) {
        let ctx = ui.ctx().clone();
        let focused = ctx.memory(egui::Memory::focused);
        self.speak();
        self.layout.clone_from(&self.desk.session().app().view.layout);
        self.apply_settings(&ctx);
        self.come_forward(&ctx);
        self.read_input(&ctx);
        self.fit_screen(&ctx);
        self.keep_size(&ctx);
        if ctx.input(|input| input.pointer.delta() != egui::Vec2::ZERO) {
            self.local.of::<SentenceMemory>().key_mark = None;
        }
        // a mark outlives neither its column nor, below, any act that changes what is marked
        let document = &self.desk.session().app().document;
        let mark = &mut self.local.of::<SentenceMemory>().key_mark;
        *mark = mark.filter(|mark| document.column(mark.column).is_some());
        self.local.shared.hover = *mark;
        self.make_code();
        let (session, lights) = (self.desk.session(), self.desk.session().lessons().lights());
        let (commands, layout, local) = (&mut self.commands, &mut self.layout, &mut self.local);
        let mut window = Window { app: session.app(), lights: &lights, commands, layout, local };
        views::show(ui, &mut window, session);
        let acts = std::mem::take(&mut self.local.acts);
        if !acts.is_empty() {
            self.perform(acts);
            ctx.request_repaint();
        }
        self.give_back(&ctx, focused);
        widgets::focus_ring(&ctx);
        // the source is always there, so F6 ends at the latest with it
        if self.desk.session().app().view.page == SENTENCE
            && !self.local.presents
            && !self.layout.class
            && self.local.shared.cycle_on()
        {
            ctx.request_repaint();
        }
        self.finish(&ctx);
        self.keep(&ctx);
        Announcer::translated(&ctx, &self.desk.session().app().document);
        self.note_frame();
    }
}

fn copy(ctx: &egui::Context, local: &mut Local) {
    let Some(picked) = local.shared.picked.as_ref().filter(|_| !ctx.text_edit_focused()) else { return };
    if ctx.input(|input| input.events.iter().any(|event| matches!(event, egui::Event::Copy))) {
        local.shared.copied = Some(picked.part.clone());
    }
}

fn keeps_mark(command: &Command) -> bool {
    matches!(
        command,
        Command::Sentence(
            SentenceCommand::Intervene(InterveneCommand::Weight { .. })
                | SentenceCommand::Select(
                    SelectCommand::MoveTarget(_) | SelectCommand::Target { .. } | SelectCommand::Hover(_)
                )
        )
    )
}

impl eframe::App for App {
    /// egui would use a texture of the card's limit for letters: a gigabyte, twice. This limit recycles it.
    fn raw_input_hook(&mut self, _ctx: &egui::Context, input: &mut egui::RawInput) {
        input.max_texture_side = Some(input.max_texture_side.map_or(MOST_SIDE, |side| side.min(MOST_SIDE)));
    }

    fn logic(&mut self, _ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.begin();
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.paint(ui);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
