//! A small test set of our own, to try the page Corpus with. Its files are those of `assets/first-set`.

const SOURCE: &str = include_str!("../../../assets/first-set/first.en");
const FRENCH: [&str; 2] =
    [include_str!("../../../assets/first-set/first.fr"), include_str!("../../../assets/first-set/first.links")];
const GERMAN: [&str; 2] =
    [include_str!("../../../assets/first-set/first.de"), include_str!("../../../assets/first-set/first.de.links")];

/// English sentences, their translations, German ones where that is asked for and else French ones, and the links
/// between both, line by line.
pub fn lines(is_german: bool) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let [reference, links] = if is_german { GERMAN } else { FRENCH };
    let rest = reference.lines().zip(links.lines());
    SOURCE.lines().zip(rest).map(|(source, (reference, links))| (source, reference, links))
}
