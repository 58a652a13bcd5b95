//! What a word is in a workspace: a rule for each side ([`engine::text::cut`]), chosen when the side gets its first texts and
//! kept, for marks, links by hand and parts of speech name words by their numbers.

use std::collections::HashSet;

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::store::file::{Workspace, change, one};
use engine::aligner::learned::Directions;
use engine::aligner::words::LineAligner;
use engine::error::{Error, Result};
use engine::text::cut::{WordExchange, WordRule};
use engine::text::language::guess;
use engine::text::links::{Link, Links};
use engine::text::words::WordPlaces;

/// Texts that a language is guessed from, and how many at once.
const GUESSED: (usize, usize) = (200, 8);

/// The rules of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideRules {
    pub source: WordRule,
    pub target: WordRule,
}

impl Default for SideRules {
    fn default() -> Self {
        Self { source: WordRule::Tokens, target: WordRule::Tokens }
    }
}

/// What is known of the words of texts that come in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownWords {
    /// The words are what stands between spaces.
    pub pretokenized: bool,
    /// BCP 47 tags of source and target, where they are known; without them they are guessed.
    pub languages: [Option<String>; 2],
    /// The rules that a file names.
    pub rules: Option<SideRules>,
}

impl SideRules {
    /// Words between spaces, as Pharaoh links count them.
    pub const SPACES: Self = Self { source: WordRule::Spaces, target: WordRule::Spaces };

    /// What links of lines count in a corpus: what stands between spaces, unless they are said to count its own words.
    pub fn of_lines(link_tokens: bool, own: Self) -> Self {
        if link_tokens || own.are_given() { own } else { Self::SPACES }
    }

    /// Whether the texts were cut when they came in.
    pub fn are_given(self) -> bool {
        self.source == WordRule::Given
    }

    /// The links of the statistical aligner between the words of two texts.
    pub fn aligned(self, aligner: &mut LineAligner, source: &str, target: &str) -> Directions {
        let ([from, to], (_, _, links)) = (aligner.rules(), aligner.words(source, target));
        let own = Self { source: from, target: to };
        let told = |links: Vec<Link>| self.retold_links(&links, own, (source, target));
        let Directions { forward, reverse, likely } = links;
        Directions { forward: told(forward), reverse: told(reverse), likely: told(likely) }
    }

    /// Links of words that other rules cut in the same two texts, as links of the words of these. A side that counts alike stays, also
    /// where its text is not known.
    pub fn retold(self, links: &Links, other: Self, texts: (&str, &str)) -> Links {
        let told = |links: &[Link]| self.retold_links(links, other, texts);
        Links::new(told(links.sure()), told(links.possible()))
    }

    /// As [`SideRules::retold`], of links without kinds, in their order.
    pub fn retold_links(self, links: &[Link], other: Self, (source, target): (&str, &str)) -> Vec<Link> {
        let side = |text, from, to| (from != to).then(|| counterparts(text, from, to));
        let sources = side(source, other.source, self.source);
        spread(links, sources.as_deref(), side(target, other.target, self.target).as_deref())
    }
}

/// For each word that a rule cuts in a text, the words of another rule that it stands for.
pub(crate) fn counterparts(text: &str, from: WordRule, to: WordRule) -> Vec<Vec<usize>> {
    let own = from.words(text);
    match (from, to) {
        _ if from == to => (0..own.len()).map(|word| vec![word]).collect(),
        (WordRule::Spaces, to) if to.are_tokens() => {
            let exchange = WordExchange::of(text, to);
            let mut all = vec![Vec::new(); exchange.spaced];
            let places = exchange.places.iter().enumerate();
            places.for_each(|(word, place)| place.iter().for_each(|place| all[*place].push(word)));
            all
        }
        (from, WordRule::Spaces) if from.are_tokens() => {
            WordExchange::of(text, from).places.into_iter().map(|place| place.into_iter().collect()).collect()
        }
        _ => {
            let places = WordPlaces::of_parts(&own, text, to).map(|found| found.places).unwrap_or_default();
            places.into_iter().map(Iterator::collect).collect()
        }
    }
}

/// Links as those of all that their words stand for, of none that stands for nothing; `None`: the words of a side stay.
pub(crate) fn spread(links: &[Link], sources: Option<&[Vec<usize>]>, targets: Option<&[Vec<usize>]>) -> Vec<Link> {
    let of = |side: Option<&[Vec<usize>]>, word: usize| {
        side.map_or_else(|| vec![word], |side| side.get(word).cloned().unwrap_or_default())
    };
    let pairs = |link: &Link| {
        let targets = of(targets, link.target);
        let pair = move |source| targets.clone().into_iter().map(move |target| Link { source, target });
        of(sources, link.source).into_iter().flat_map(pair)
    };
    let mut seen = HashSet::new();
    links.iter().flat_map(pairs).filter(|link| seen.insert(*link)).collect()
}

/// The rule of most of the first texts, by the languages that some neighbours together seem to be in.
fn guessed<'a>(texts: impl Iterator<Item = &'a str>) -> WordRule {
    let texts: Vec<&str> = texts.take(GUESSED.0).collect();
    let languages = texts.chunks(GUESSED.1).filter_map(|texts| guess(&texts.join(" ")));
    let sides = languages.map(|language| if WordRule::of(language, false) == WordRule::Eliding { 1 } else { -1 });
    if sides.sum::<i32>() > 0 { WordRule::Eliding } else { WordRule::Tokens }
}

/// As the file keeps them: a side without texts has none yet.
type Kept = [Option<WordRule>; 2];

/// The rules of a damaged file.
const DAMAGED: Kept = [Some(WordRule::Spaces); 2];

/// What is kept.
fn kept(all: &Connection) -> rusqlite::Result<Kept> {
    let sql = "SELECT document FROM setting WHERE name = 'words'";
    let document = one(all, sql, [], |row| row.get::<_, String>(0))?;
    Ok(document.map_or([None; 2], |document| serde_json::from_str(&document).unwrap_or(DAMAGED)))
}

impl Workspace {
    /// What a word is in it. Of a damaged file: what stands between spaces.
    pub fn rules(&self) -> SideRules {
        let [source, target] = self.rules.get().unwrap_or_else(|| {
            let kept = self.ask(kept).unwrap_or(DAMAGED);
            let rules = kept.map(Option::unwrap_or_default);
            self.rules.set(kept.iter().all(Option::is_some).then_some(rules));
            rules
        });
        SideRules { source, target }
    }

    /// Chooses what a word is on a side that has its first texts: by what is known, else by the languages that the texts seem to be in.
    ///
    /// # Errors
    /// A sentence about the file; it is to have words between spaces, and cuts its texts already.
    pub fn settle_words<'a>(
        &mut self,
        known: &KnownWords,
        sources: impl Iterator<Item = &'a str>,
        targets: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        self.rules();
        if self.rules.get().is_some_and(|rules| !known.pretokenized || rules[0] == WordRule::Given) {
            return Ok(());
        }
        let before = self.ask(kept)?;
        if known.pretokenized && before.iter().any(|rule| rule.is_some_and(|rule| rule != WordRule::Given)) {
            let message = "cuts its texts into words itself, since its first sentences came; begin a new corpus for texts that are cut";
            return Err(Error::file(self.path(), message));
        }
        let given = before.contains(&Some(WordRule::Given)) || known.pretokenized;
        let mut now = before;
        let (mut sources, mut targets) = (sources.peekable(), targets.peekable());
        let tag = |side: usize| known.languages[side].as_deref().filter(|tag| *tag != "und");
        let named = |side: usize| {
            let rule = known.rules.map(|rules| if side == 0 { rules.source } else { rules.target });
            let of_tag = || tag(side).map(|tag| WordRule::of(tag, false));
            if given { Some(WordRule::Given) } else { rule.or_else(of_tag) }
        };
        if now[0].is_none() && sources.peek().is_some() {
            now[0] = Some(named(0).unwrap_or_else(|| guessed(sources)));
        }
        if now[1].is_none() && targets.peek().is_some() {
            now[1] = Some(named(1).unwrap_or_else(|| guessed(targets)));
        }
        if now != before {
            self.keep_rules(now)?;
        }
        Ok(())
    }

    fn keep_rules(&mut self, rules: Kept) -> Result<()> {
        let document = serde_json::to_string(&rules).unwrap_or_default();
        // Of two windows the first decides; a side that it left open is still to be chosen.
        let sql = "INSERT OR REPLACE INTO setting(name, document) SELECT 'words', ?1
            WHERE NOT EXISTS (SELECT 1 FROM setting WHERE name = 'words' AND document NOT LIKE '%null%')";
        self.at_once(|all| change(all, sql, params![document]).map(drop))?;
        self.rules.set(None);
        Ok(())
    }
}
