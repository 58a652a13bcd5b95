//! What a word is in a workspace: a rule for each side ([`engine::text::cut`]), chosen when the side gets its first
//! texts and kept, for marks, gold links and parts of speech name words by their numbers.

use rusqlite::{Connection, params};

use crate::store::file::{Workspace, change, one};
use engine::error::{Error, Result};
use engine::text::{cut::WordRule, language::guess};

pub use engine::aligner::sides::{SideRules, counterparts, spread};

const GUESSED: (usize, usize) = (200, 8);

/// What is known of the words of texts that come in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownWords {
    /// The words are what stands between spaces.
    pub pretokenized: bool,
    /// BCP 47 tags of source and target, where they are known; without them they are guessed.
    pub languages: [Option<String>; 2],
    pub rules: Option<SideRules>,
}

fn guessed<'a>(texts: impl Iterator<Item = &'a str>) -> WordRule {
    let texts: Vec<&str> = texts.take(GUESSED.0).collect();
    let languages = texts.chunks(GUESSED.1).filter_map(|texts| guess(&texts.join(" ")));
    let sides = languages.map(|language| if WordRule::of(language, false) == WordRule::Eliding { 1 } else { -1 });
    if sides.sum::<i32>() > 0 { WordRule::Eliding } else { WordRule::Tokens }
}

/// As the file keeps them: a side without texts has none yet.
type Kept = [Option<WordRule>; 2];

const DAMAGED: Kept = [Some(WordRule::Spaces); 2];

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

    /// Chooses the word rule of a side that gets its first texts: by `known`, else by the guessed language.
    pub fn settle_words<'a>(
        &mut self, known: &KnownWords, sources: impl Iterator<Item = &'a str>, targets: impl Iterator<Item = &'a str>,
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
