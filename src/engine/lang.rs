//! The language of the window. Texts in the code are English and are themselves the ids under which the
//! catalogues in `assets/lang` have their translations, as gettext does it. Imports nothing of ours.
//!
//! `tr!("Copy link")` is a text in the language of the thread, `tr!("{} of {name}", a, name)` one with values, and
//! `tr!("{n} word" | "{n} words" % count)` one that depends on a count. `id!("Copy link")` marks a text of a table, which
//! [`text`] translates where it is shown. `tests/core/translations.rs` finds both in the sources and compares the catalogues.

use std::fmt::{Display, Formatter, Write as _};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{cell::RefCell, collections::HashMap};

/// A text in the language of the thread; with values it is a `String`.
#[macro_export]
macro_rules! tr {
    ($id:literal) => { $crate::lang::text($id) };
    ($one:literal | $many:literal % $n:expr $(, $($rest:tt)*)?) => {{
        let n = $crate::lang::Count::of($n);
        $crate::lang::fill($crate::lang::counted($one, $many, n), $crate::values!([] $($($rest)*,)? n))
    }};
    ($id:literal, $($rest:tt)+) => { $crate::lang::fill($crate::lang::text($id), $crate::values!([] $($rest)+)) };
}

/// The values of a text, each with the name by which the text may call it.
#[macro_export]
macro_rules! values {
    ([$($done:tt)*]) => { &[$($done)*] };
    ([$($done:tt)*] , $($rest:tt)*) => { $crate::values!([$($done)*] $($rest)*) };
    ([$($done:tt)*] $name:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::values!([$($done)* (stringify!($name), &$value as &dyn std::fmt::Display),] $($($rest)*)?)
    };
    ([$($done:tt)*] $name:ident $(, $($rest:tt)*)?) => {
        $crate::values!([$($done)* (stringify!($name), &$name as &dyn std::fmt::Display),] $($($rest)*)?)
    };
    ([$($done:tt)*] $value:expr $(, $($rest:tt)*)?) => {
        $crate::values!([$($done)* ("", &$value as &dyn std::fmt::Display),] $($($rest)*)?)
    };
}

/// A text of a table, as it stands: [`text`] translates it.
#[macro_export]
macro_rules! id {
    ($id:literal) => {
        $id
    };
}

/// A language of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// That of the ids.
    #[default]
    English,
    French,
    German,
    Spanish,
    Chinese,
    /// English with each text longer by two fifths, and a mark at its end: for tests.
    Longer,
}

/// Those that are offered.
pub const LANGUAGES: [Language; 5] =
    [Language::English, Language::French, Language::German, Language::Spanish, Language::Chinese];

/// How many there are, with that of the tests.
pub const COUNT: usize = LANGUAGES.len() + 1;

/// At the end of each text of [`Language::Longer`].
pub const MARK: char = '\u{bb}';

thread_local! {
    static SPOKEN: RefCell<Spoken> = RefCell::default();
    static LONGER: RefCell<HashMap<String, &'static str>> = RefCell::default();
}

/// A language that threads speak together: when one of them changes it, all speak the other one.
pub type Spoken = Arc<Mutex<Language>>;

/// Translations by id; those of a text with a count have a form for each kind of count.
pub type Catalogue = HashMap<String, Vec<String>>;

/// Of the window and of the lessons, by language.
static READ: [[OnceLock<Catalogue>; 5]; 2] = [const { [const { OnceLock::new() }; 5] }; 2];

/// Which of the two catalogues of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogueOf {
    /// The texts of the window.
    Window,
    /// The texts of the lessons.
    Lessons,
}

impl Language {
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::French => "fr",
            Self::German => "de",
            Self::Spanish => "es",
            Self::Chinese => "zh",
            Self::Longer => "x-longer",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::French => "français",
            Self::German => "Deutsch",
            Self::Spanish => "español",
            Self::Chinese => "\u{4e2d}\u{6587}",
            Self::Longer => "English, longer",
        }
    }

    pub fn from_code(code: &str) -> Option<Self> {
        let main = code.split(['-', '_', '.']).next().unwrap_or(code);
        LANGUAGES.into_iter().find(|language| main.eq_ignore_ascii_case(language.code()))
    }

    /// The first of these codes that is offered, else English.
    pub fn first_of<C: AsRef<str>>(codes: impl IntoIterator<Item = C>) -> Self {
        codes.into_iter().find_map(|code| Self::from_code(code.as_ref())).unwrap_or_default()
    }

    /// Whether the lessons are translated.
    pub fn has_lessons(self) -> bool {
        self != Self::English
    }

    /// What stands between thousands: no comma where it would be read as a decimal point.
    fn between_thousands(self) -> char {
        if matches!(self, Self::French | Self::German | Self::Spanish) { '\u{a0}' } else { ',' }
    }

    fn form(self, count: u64) -> usize {
        match self {
            Self::Chinese => 0,
            Self::French => usize::from(count > 1),
            _ => usize::from(count != 1),
        }
    }

    fn catalogue(self, of: CatalogueOf) -> Option<&'static Catalogue> {
        let cell = READ[of as usize].get(self as usize)?;
        #[cfg(not(target_family = "wasm"))]
        {
            Some(cell.get_or_init(|| embedded::of(self, of).map(read).unwrap_or_default()))
        }
        #[cfg(target_family = "wasm")]
        cell.get()
    }
}

#[derive(Clone, Copy)]
enum Part {
    Id,
    Form,
    Other,
}

/// The forms of each id of a file in gettext's form; what is not understood is passed over.
pub fn read(po: &str) -> Catalogue {
    let mut all = Catalogue::new();
    let (mut id, mut forms, mut part) = (String::new(), Vec::<String>::new(), Part::Other);
    for line in po.lines().map(str::trim).filter(|line| !line.starts_with('#')).chain(["msgid \"\""]) {
        let Some((key, text)) = line.find('"').map(|at| line.split_at(at)) else { continue };
        part = match key.trim() {
            "" => part,
            "msgid" => {
                let (id, forms) = (std::mem::take(&mut id), std::mem::take(&mut forms));
                if !id.is_empty() && !forms.is_empty() && forms.iter().all(|form| !form.is_empty()) {
                    all.insert(id, forms);
                }
                Part::Id
            }
            key if key.starts_with("msgstr") => {
                forms.push(String::new());
                Part::Form
            }
            _ => Part::Other,
        };
        match part {
            Part::Id => id.push_str(&unquoted(text)),
            Part::Form => forms.last_mut().into_iter().for_each(|form| form.push_str(&unquoted(text))),
            Part::Other => {}
        }
    }
    all
}

fn unquoted(text: &str) -> String {
    let mut letters = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or("").chars();
    let mut said = String::new();
    while let Some(letter) = letters.next() {
        said.extend(match letter {
            '\\' => letters.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            other => Some(other),
        });
    }
    said
}

/// Takes a catalogue that was read elsewhere, as a browser does; the first one stays.
pub fn bring(language: Language, of: CatalogueOf, po: &str) {
    if let Some(cell) = READ[of as usize].get(language as usize) {
        cell.get_or_init(|| read(po));
    }
}

/// Whether all that is shown can be in this language, and not only what no catalogue has.
pub fn is_there(language: Language) -> bool {
    matches!(language, Language::English | Language::Longer) || language.catalogue(CatalogueOf::Window).is_some()
}

/// The language that this thread speaks from now on, and those that it has started.
pub fn speak(language: Language) {
    SPOKEN.with_borrow(|spoken| *spoken.lock().unwrap_or_else(PoisonError::into_inner) = language);
}

pub fn spoken() -> Language {
    SPOKEN.with_borrow(|spoken| *spoken.lock().unwrap_or_else(PoisonError::into_inner))
}

/// What this thread shares with those that it starts.
pub fn shared() -> Spoken {
    SPOKEN.with_borrow(Arc::clone)
}

/// Speaks from now on what another thread speaks.
pub fn speak_as(spoken: Spoken) {
    SPOKEN.set(spoken);
}

/// What is made in English whatever the window speaks: files, and what goes to other programs.
pub fn in_english<T>(make: impl FnOnce() -> T) -> T {
    let before = SPOKEN.take();
    let made = make();
    SPOKEN.set(before);
    made
}

fn found(of: CatalogueOf, id: &str) -> Option<&'static Vec<String>> {
    match spoken() {
        Language::English | Language::Longer => None,
        language => language.catalogue(of)?.get(id),
    }
}

/// A text in the language of the thread; in English where it has none.
pub fn text(id: &str) -> &str {
    translated(CatalogueOf::Window, id, id)
}

/// A text of a lesson, whatever stands around it.
pub fn of_lesson(words: &str) -> &str {
    translated(CatalogueOf::Lessons, words.trim(), words)
}

fn translated<'a>(of: CatalogueOf, id: &str, english: &'a str) -> &'a str {
    if spoken() == Language::Longer {
        return longer(english);
    }
    found(of, id).and_then(|forms| forms.first()).map_or(english, String::as_str)
}

/// The form of a text that stands with a count.
pub fn counted(one: &'static str, many: &'static str, count: Count) -> &'static str {
    let english = if count.0 == 1 { one } else { many };
    if spoken() == Language::Longer {
        return longer(english);
    }
    let forms = found(CatalogueOf::Window, one);
    forms.and_then(|forms| forms.get(spoken().form(count.0)).or(forms.last())).map_or(english, String::as_str)
}

/// A number of things, with thousands set apart.
#[derive(Clone, Copy, Debug)]
pub struct Count(u64);

impl Count {
    /// Of so many; more than can be counted are as many as can.
    pub fn of(count: impl TryInto<u64>) -> Self {
        Self(count.try_into().unwrap_or(u64::MAX))
    }
}

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let digits = self.0.to_string();
        for (n, digit) in digits.chars().enumerate() {
            if n > 0 && (digits.len() - n).is_multiple_of(3) {
                f.write_char(spoken().between_thousands())?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}

/// Puts values into a text: `{}` the next one, `{1}` by place from 0, `{name}` by name; `{{` and `}}` are braces.
pub fn fill(text: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut filled = String::with_capacity(2 * text.len());
    let (mut rest, mut next) = (text, 0);
    while let Some(at) = rest.find(['{', '}']) {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            filled.push_str(&rest[..1]);
            rest = &rest[2..];
            continue;
        }
        let Some(end) = rest.find('}').map(|end| end + 1) else { break };
        let name = rest[..end].trim_matches(['{', '}']);
        let place = if name.is_empty() { Some(next) } else { name.parse().ok() };
        next += usize::from(name.is_empty());
        let place = place.or_else(|| values.iter().position(|(own, _)| *own == name));
        match place.and_then(|place| values.get(place)) {
            Some((_, value)) => {
                let _ = write!(filled, "{value}");
            }
            None => filled.push_str(&rest[..end]),
        }
        rest = &rest[end..];
    }
    filled.push_str(rest);
    filled
}

fn longer(id: &str) -> &'static str {
    if let Some(made) = LONGER.with_borrow(|made| made.get(id).copied()) {
        return made;
    }
    let mut depth = 0;
    let plain = id.chars().filter(|letter| {
        depth += i32::from(*letter == '{') - i32::from(*letter == '}');
        depth == 0 && !"{}\n|`*".contains(*letter)
    });
    let plain: Vec<char> = plain.collect();
    let more = (2 * id.chars().count()).div_ceil(5);
    let added: String = plain.iter().cycle().take(if plain.is_empty() { 0 } else { more.saturating_sub(1) }).collect();
    let made: &'static str = Box::leak(format!("{id}{added}{MARK}").into_boxed_str());
    LONGER.with_borrow_mut(|all| all.insert(id.to_owned(), made));
    made
}

/// The catalogues, where they come with the program; a browser fetches the one it needs.
#[cfg(not(target_family = "wasm"))]
mod embedded {
    use super::{CatalogueOf, Language};

    pub(super) fn of(language: Language, of: CatalogueOf) -> Option<&'static str> {
        use CatalogueOf::{Lessons, Window};
        Some(match (language, of) {
            (Language::French, Window) => include_str!("../../assets/lang/fr.po"),
            (Language::French, Lessons) => include_str!("../../assets/lang/lessons.fr.po"),
            (Language::German, Window) => include_str!("../../assets/lang/de.po"),
            (Language::German, Lessons) => include_str!("../../assets/lang/lessons.de.po"),
            (Language::Spanish, Window) => include_str!("../../assets/lang/es.po"),
            (Language::Spanish, Lessons) => include_str!("../../assets/lang/lessons.es.po"),
            (Language::Chinese, Window) => include_str!("../../assets/lang/zh.po"),
            (Language::Chinese, Lessons) => include_str!("../../assets/lang/lessons.zh.po"),
            _ => return None,
        })
    }
}
