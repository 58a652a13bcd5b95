//! A query as text, and what it means. Imports `text`.

use std::{collections::HashSet, iter::Peekable, str::CharIndices};

use regex::Regex;
use unicode_normalization::is_nfc;

use crate::text::unspaced::runs_of;
use crate::text::words::{composed, composed_rule, folded};

/// What one word must be.
#[derive(Clone, Debug)]
pub enum Token {
    Any,
    /// One of these, as [`folded`] has them.
    Words(HashSet<String>),
    /// A word that this matches whole.
    Matches(Regex),
}

impl Token {
    /// Whether a word is one.
    pub fn is(&self, word: &str) -> bool {
        match self {
            Self::Any => true,
            // Most words are folded already, and looking them up costs no copy.
            Self::Words(words) if words.contains(word) => true,
            Self::Words(words) => {
                let may_fold = |c: char| c.is_uppercase() || c == '\u{2019}';
                (word.contains(may_fold) || !is_nfc(word)) && words.contains(&folded(word))
            }
            Self::Matches(regex) => regex.is_match(&composed(word)),
        }
    }

    /// How many words, from the first on, are one: of words and lists several, where a word of them was cut; all such
    /// numbers.
    pub fn runs(&self, words: &[String]) -> impl Iterator<Item = usize> {
        let may_be_cut = matches!(self, Self::Words(_));
        runs_of(&words[..if may_be_cut { words.len() } else { words.len().min(1) }], |word| self.is(word))
    }
}

/// A word of a sequence.
#[derive(Clone, Debug)]
pub struct QueryItem {
    pub token: Token,
    pub linked: Option<Token>,
    /// What none of the output words that it is linked to may be.
    pub unlinked: Option<Token>,
    /// How many words may stand between the item before it and this one.
    pub gap: usize,
}

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct ConcordanceQuery {
    pub source: Vec<QueryItem>,
    pub output: Vec<QueryItem>,
    /// Whether links of two source items must cross.
    pub crossing: bool,
}

/// What is wrong with a query, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct QueryError {
    /// The character, from 1.
    pub column: usize,
    /// Continues "column n: ".
    pub message: String,
}

/// Finds the words of a list by its name; why there is none, as a sentence.
pub type WordLists<'a> = dyn FnMut(&str) -> Result<HashSet<String>, String> + 'a;

const MOST_ITEMS: usize = 16;

impl ConcordanceQuery {
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Self::parse_with(text, &mut |name| Err(format!("`@{name}` is a list in a file, and no files are read here")))
    }

    /// Reads a query whose lists may lie in files.
    pub fn parse_with(text: &str, lists: &mut WordLists<'_>) -> Result<Self, QueryError> {
        let mut parser = Parser { text, marks: marks(text, lists)?.into_iter().peekable() };
        let query = parser.query()?;
        match parser.marks.next() {
            None => Ok(query),
            Some((at, _)) => {
                Err(parser.error(at, "is behind the end; a query is `source words | output words crossing`"))
            }
        }
    }
}

#[derive(Debug)]
enum Mark {
    Token(Token),
    Gap(usize),
    Arrow { is_negated: bool },
    Bar,
    Crossing,
}

fn marks(text: &str, lists: &mut WordLists<'_>) -> Result<Vec<(usize, Mark)>, QueryError> {
    let mut marks = Vec::new();
    let mut lexer = Lexer { text, chars: text.char_indices().peekable() };
    while let Some(&(at, letter)) = lexer.chars.peek() {
        if letter.is_whitespace() {
            lexer.chars.next();
            continue;
        }
        marks.push((at, lexer.mark(at, letter, lists)?));
    }
    Ok(marks)
}

struct Lexer<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

fn error(text: &str, at: usize, message: impl Into<String>) -> QueryError {
    QueryError { column: text[..at].chars().count() + 1, message: message.into() }
}

impl Lexer<'_> {
    fn mark(&mut self, at: usize, letter: char, lists: &mut WordLists<'_>) -> Result<Mark, QueryError> {
        match letter {
            '|' => {
                self.chars.next();
                Ok(Mark::Bar)
            }
            '{' => self.list(at, lists).map(|words| Mark::Token(Token::Words(words))),
            '/' => self.regex(at).map(|regex| Mark::Token(Token::Matches(regex))),
            '"' => self.quoted(at).map(|word| Mark::Token(one_of(&word))),
            '}' => Err(error(self.text, at, "`}` closes no list; write it as `\"}\"`")),
            _ if self.text[at..].starts_with("->") => {
                self.chars.nth(1);
                Ok(Mark::Arrow { is_negated: false })
            }
            _ if self.text[at..].starts_with("-/>") => {
                self.chars.nth(2);
                Ok(Mark::Arrow { is_negated: true })
            }
            _ if self.text[at..].starts_with("..") => {
                self.chars.nth(1);
                self.gap(at)
            }
            _ => Ok(word_mark(&self.bare(false))),
        }
    }

    fn gap(&mut self, at: usize) -> Result<Mark, QueryError> {
        let mut digits = String::new();
        while let Some((_, digit)) = self.chars.next_if(|(_, letter)| letter.is_ascii_digit()) {
            digits.push(digit);
        }
        if digits.is_empty() {
            return Ok(Mark::Gap(usize::MAX));
        }
        let most = digits.parse().map_err(|_| error(self.text, at, format!("`..{digits}` is too far")))?;
        Ok(Mark::Gap(most))
    }

    fn bare(&mut self, in_list: bool) -> String {
        let mut word = String::new();
        while let Some(&(at, letter)) = self.chars.peek() {
            let rest = &self.text[at..];
            let is_arrow = ["->", "-/>"].iter().any(|arrow| rest.starts_with(arrow));
            let ends = letter.is_whitespace() || matches!(letter, '{' | '}' | '|' | '"') || is_arrow;
            if ends || (in_list && letter == ',') || (!in_list && !word.is_empty() && rest.starts_with("..")) {
                break;
            }
            word.push(letter);
            self.chars.next();
        }
        word
    }

    fn quoted(&mut self, at: usize) -> Result<String, QueryError> {
        self.until('"', at, "the quotation mark is not closed; put another behind the word")
    }

    fn regex(&mut self, at: usize) -> Result<Regex, QueryError> {
        let pattern = self.until('/', at, "the regular expression has no `/` at its end; `\\/` is a slash within")?;
        Regex::new(&format!("^(?:{})$", composed_rule(&pattern))).map_err(|fault| {
            // The last line of the library's message says what is wrong, those before it show where.
            let why = fault.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            error(self.text, at, format!("`/{pattern}/` is no regular expression ({why})"))
        })
    }

    fn until(&mut self, close: char, at: usize, missing: &str) -> Result<String, QueryError> {
        self.chars.next();
        let mut inner = String::new();
        while let Some((_, letter)) = self.chars.next() {
            if letter == close {
                return Ok(inner);
            }
            if letter == '\\' && self.chars.next_if(|(_, next)| *next == close).is_some() {
                inner.push(close);
            } else {
                inner.push(letter);
            }
        }
        Err(error(self.text, at, missing))
    }

    /// `{a, b}`; `{@file}` has the words of a file.
    fn list(&mut self, at: usize, lists: &mut WordLists<'_>) -> Result<HashSet<String>, QueryError> {
        self.chars.next();
        let mut words = HashSet::new();
        loop {
            while self.chars.next_if(|(_, letter)| letter.is_whitespace() || *letter == ',').is_some() {}
            match self.chars.peek().copied() {
                None => return Err(error(self.text, at, "the list has no `}` at its end")),
                Some((_, '}')) => break,
                Some((place, '"')) => {
                    words.insert(folded(&self.quoted(place)?));
                }
                Some((place, '@')) => words.extend(self.file(place, lists)?),
                Some((place, _)) => {
                    let word = self.bare(true);
                    if word.is_empty() {
                        return Err(error(self.text, place, "is no word of a list; write it in quotation marks"));
                    }
                    words.insert(folded(&word));
                }
            }
        }
        self.chars.next();
        if words.is_empty() {
            return Err(error(self.text, at, "the list is empty; write words with commas between"));
        }
        Ok(words)
    }
}

impl Lexer<'_> {
    /// `@file` or `@"a file"`
    fn file(&mut self, at: usize, lists: &mut WordLists<'_>) -> Result<HashSet<String>, QueryError> {
        self.chars.next();
        let name = match self.chars.peek() {
            Some((place, '"')) => {
                let place = *place;
                self.quoted(place)?
            }
            _ => self.bare(true),
        };
        if name.is_empty() {
            return Err(error(self.text, at, "`@` leads to a file of words, as in `{@colours.txt}`"));
        }
        lists(&name).map_err(|why| error(self.text, at, why))
    }
}

fn one_of(word: &str) -> Token {
    Token::Words(HashSet::from([folded(word)]))
}

fn word_mark(word: &str) -> Mark {
    match word {
        "_" => Mark::Token(Token::Any),
        "crossing" => Mark::Crossing,
        _ => Mark::Token(one_of(word)),
    }
}

struct Parser<'a> {
    text: &'a str,
    marks: Peekable<std::vec::IntoIter<(usize, Mark)>>,
}

impl Parser<'_> {
    fn error(&self, at: usize, message: &str) -> QueryError {
        error(self.text, at, message)
    }

    fn end(&self) -> usize {
        self.text.len()
    }

    fn query(&mut self) -> Result<ConcordanceQuery, QueryError> {
        let source = self.sequence(true)?;
        let has_bar = self.marks.next_if(|(_, mark)| matches!(mark, Mark::Bar)).is_some();
        let output = if has_bar { self.sequence(false)? } else { Vec::new() };
        if has_bar && output.is_empty() {
            return Err(self.error(self.end(), "there is nothing behind `|`; write output words, or take it away"));
        }
        let crossing = self.marks.next_if(|(_, mark)| matches!(mark, Mark::Crossing)).map(|(at, _)| at);
        match crossing {
            Some(at) if source.len() < 2 => {
                Err(self.error(at, "`crossing` needs two source words whose links may cross"))
            }
            None if source.is_empty() && output.is_empty() => {
                let at = self.marks.peek().map_or(0, |(at, _)| *at);
                Err(self.error(at, "there is no word to look for"))
            }
            _ => Ok(ConcordanceQuery { source, output, crossing: crossing.is_some() }),
        }
    }

    fn sequence(&mut self, is_source: bool) -> Result<Vec<QueryItem>, QueryError> {
        let mut items: Vec<QueryItem> = Vec::new();
        loop {
            let gap = self.marks.next_if(|(_, mark)| matches!(mark, Mark::Gap(_)));
            let token = self.marks.next_if(|(_, mark)| matches!(mark, Mark::Token(_)));
            let gap = match (gap, &token) {
                (Some((at, _)), _) if items.is_empty() => {
                    return Err(self.error(at, "a distance stands between two words; there is none before it"));
                }
                (Some((at, _)), None) => {
                    return Err(self.error(at, "a distance stands between two words; there is none behind it"));
                }
                (Some((_, Mark::Gap(most))), _) => most,
                _ => 0,
            };
            match token {
                Some((at, Mark::Token(token))) => {
                    if items.len() == MOST_ITEMS {
                        return Err(self.error(at, "is one word too many; a query has at most 16 on each side"));
                    }
                    let mut item = QueryItem { token, linked: None, unlinked: None, gap };
                    self.arrows(is_source, &mut item)?;
                    items.push(item);
                }
                _ => return self.stray(items),
            }
        }
    }

    /// `-> token`, `-/> token`, each once
    fn arrows(&mut self, is_source: bool, item: &mut QueryItem) -> Result<(), QueryError> {
        while let Some((at, Mark::Arrow { is_negated })) =
            self.marks.next_if(|(_, mark)| matches!(mark, Mark::Arrow { .. }))
        {
            let arrow = if is_negated { "-/>" } else { "->" };
            if !is_source {
                let why = format!("`{arrow}` leads from a source word to an output word; write it before `|`");
                return Err(self.error(at, &why));
            }
            let why = format!("`{arrow}` leads to a word; `_` is any word");
            let token = match self.marks.next() {
                Some((_, Mark::Token(token))) => token,
                Some((next, _)) => return Err(self.error(next, &why)),
                None => return Err(self.error(self.end(), &why)),
            };
            let place = if is_negated { &mut item.unlinked } else { &mut item.linked };
            if place.replace(token).is_some() {
                let why =
                    format!("`{arrow}` stands twice behind one word; write the words as a list, {arrow} {{a, b}}");
                return Err(self.error(at, &why));
            }
        }
        Ok(())
    }

    fn stray(&mut self, items: Vec<QueryItem>) -> Result<Vec<QueryItem>, QueryError> {
        match self.marks.peek() {
            Some(&(at, Mark::Arrow { .. })) => {
                Err(self.error(at, "an arrow leads from a source word; there is none before it"))
            }
            _ => Ok(items),
        }
    }
}
