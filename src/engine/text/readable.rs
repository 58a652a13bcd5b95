//! The tokens of other toolkits as text: pieces of words put together, escapes of the Moses tokeniser undone.
//! Tokens stay as they are; only the text beside them is made readable. Imports its room.

use std::borrow::Cow;

use crate::text::{cut::WordRule, pieces::PieceMarks, sentence::EOS, words::WordPlaces};

/// The tokens of a line that is cut already.
pub fn tokens(line: &str) -> Vec<String> {
    line.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Tokens as people read them: pieces joined (`un@@ believ@@ able`, `▁un believ able`, `un ##believ ##able`, `un believ
/// able</w>`), `</s>` left out, escapes undone.
pub fn readable<T: AsRef<str>>(tokens: &[T]) -> String {
    let tokens: Vec<&str> = tokens.iter().map(AsRef::as_ref).filter(|token| *token != EOS).collect();
    let any = |test: fn(&str) -> bool| tokens.iter().any(|token| test(token));
    let text = if any(|token| token.starts_with('▁')) {
        tokens.concat().replace('▁', " ").trim_start().to_owned()
    } else if any(|token| token.len() > 4 && token.ends_with("</w>")) {
        tokens.concat().replace("</w>", " ").trim_end().to_owned()
    } else {
        let spaced = tokens.join(" ").replace("@@ ", "");
        if any(|token| token.len() > 2 && token.starts_with("##")) { spaced.replace(" ##", "") } else { spaced }
    };
    unescaped(&text.replace(" @-@ ", "-")).into_owned()
}

/// The words of a text that is [`readable`] that its tokens, without `</s>`, cover. `None` where they make up another
/// text.
pub fn places<T: AsRef<str>>(tokens: &[T], text: &str, rule: WordRule) -> Option<WordPlaces> {
    let marks = PieceMarks::seen(tokens);
    let bare = |token: &T| match token.as_ref() {
        "@-@" => "-".to_owned(),
        token => unescaped(marks.bare(token)).into_owned(),
    };
    WordPlaces::of_parts(tokens, text, rule)
        .or_else(|| WordPlaces::of_parts(&tokens.iter().map(bare).collect::<Vec<_>>(), text, rule))
}

/// What Moses escapes, since its files give it a meaning, also under the older names; `&amp;` last, so that nothing is
/// undone twice.
const ESCAPES: &[(&str, &str)] = &[
    ("&apos;", "'"),
    ("&quot;", "\""),
    ("&#124;", "|"),
    ("&bar;", "|"),
    ("&#91;", "["),
    ("&bra;", "["),
    ("&#93;", "]"),
    ("&ket;", "]"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
];

/// Text as people write it, where Moses escaped it.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(ESCAPES.iter().fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain)))
}
