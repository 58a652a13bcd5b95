//! Floor 11: what one group of a class guessed, and how a line of a file says it. A leaf.

use std::collections::BTreeSet;

use crate::pages::steps::command::Guessed;
use crate::text::links::Link;
use crate::text::links::read::links_of;

/// What one group guessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupGuess {
    /// The source words at which the step looks, from 0.
    pub words: BTreeSet<usize>,
    /// The word that the step says.
    pub word: Option<String>,
    /// The links of the whole alignment.
    pub links: BTreeSet<Link>,
}

impl GroupGuess {
    /// A line of a file: source words or their places from 1, a word, or links in Pharaoh's notation from 0. What stands
    /// before a tab, such as the name of the group, does not count.
    ///
    /// # Errors
    /// What is wrong with the line, without its number.
    pub fn read(of: Guessed, line: &str, source: &[&str], rows: usize) -> Result<Self, String> {
        let answer = line.rsplit('\t').next().unwrap_or_default().trim();
        let mut guess = Self::default();
        match of {
            Guessed::Row => {
                let named = answer.split(|letter: char| letter.is_whitespace() || letter == ',');
                for name in named.filter(|name| !name.is_empty()) {
                    guess.words.insert(place(name, source)?);
                }
            }
            Guessed::Word => guess.word = Some(answer.to_owned()),
            Guessed::Whole => {
                let links = links_of(answer).ok_or_else(|| {
                    tr!("`{answer}` is not links such as `0-0 1-2`, source and target word, counted from 0", answer)
                })?;
                for (link, _) in links.all() {
                    if link.source >= source.len() || link.target >= rows {
                        return Err(tr!(
                            "the link {}-{} leads out of the sentences, which have {} and {rows} words",
                            link.source,
                            link.target,
                            source.len(),
                            rows
                        ));
                    }
                    guess.links.insert(link);
                }
            }
        }
        Ok(guess)
    }
}

/// The source word that is named, or counted from 1.
fn place(name: &str, source: &[&str]) -> Result<usize, String> {
    let small = name.to_lowercase();
    let named = source.iter().position(|word| word.to_lowercase() == small);
    let counted = || name.parse::<usize>().ok()?.checked_sub(1).filter(|at| *at < source.len());
    named
        .or_else(counted)
        .ok_or_else(|| tr!("`{name}` is no source word; write words of the sentence, or their places from 1", name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: [&str; 4] = ["The", "red", "house", "</s>"];

    fn link(source: usize, target: usize) -> Link {
        Link { source, target }
    }

    #[test]
    fn a_line_is_the_answer_of_a_group() {
        let row = |line| {
            GroupGuess::read(Guessed::Row, line, &SOURCE, 3).map(|guess| guess.words.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(row("house"), Ok(vec![2]));
        assert_eq!(row("group 7\tHOUSE, red"), Ok(vec![1, 2]));
        assert_eq!(row("1 3"), Ok(vec![0, 2]));
        assert!(row("horse").unwrap_err().contains("`horse` is no source word"));
        assert!(row("5").is_err() && row("0").is_err());
        let whole = |line| GroupGuess::read(Guessed::Whole, line, &SOURCE, 3).map(|guess| guess.links);
        assert_eq!(whole("0-0 2-1"), Ok([link(0, 0), link(2, 1)].into()));
        assert!(whole("0-3").unwrap_err().contains("leads out of the sentences, which have 4 and 3 words"));
        assert!(whole("maison").unwrap_err().contains("is not links"));
        let word = GroupGuess::read(Guessed::Word, "A\t maison ", &SOURCE, 3);
        assert_eq!(word.map(|guess| guess.word), Ok(Some("maison".to_owned())));
    }
}
