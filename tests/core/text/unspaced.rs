//! Words of scripts that set no spaces: where they end, that nothing is lost, and whose words are kept.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use interlinear::aligner::words::Cutter;
use interlinear::text::words::{SideWords, WordPlaces, vocabulary_words, words};
use interlinear::text::{
    cut::WordRule, join::join, pieces::PieceMarks, tokenizer::CorpusEncoder, unspaced::cut, vocab,
};

use super::tokenizer;

const LINES: &[(&str, &str)] = &[
    ("红色的书。", "红色|的|书|。"),
    ("我用 Python 写程序，好吗？", "我|用|Python|写|程序|，|好|吗|？"),
    ("买了iPhone15吗？", "买|了|iPhone15|吗|？"),
    ("3月5日（星期三）", "3|月|5|日|（|星期三|）"),
    ("他说\u{201c}好\u{201d}。——真的", "他|说|\u{201c}|好|\u{201d}|。|——|真的"),
    ("今天\u{3000}下雨", "今天|下雨"),
    ("彼は昨日、新しい本を買った。", "彼|は|昨日|、|新しい|本|を|買|った|。"),
    ("コーヒーを飲む", "コーヒー|を|飲む"),
    ("ｺｰﾋｰを", "ｺｰﾋｰ|を"),
    ("ฉันกินข้าว แล้วไปโรงเรียน", "ฉัน|กิน|ข้าว|แล้ว|ไป|โรง|เรียน"),
    ("เขาอายุ20ปี", "เขา|อายุ|20|ปี"),
    // What is cut already keeps its words, also those that no dictionary knows; verses are not cut.
    ("红色 的 书 。", "红色|的|书|。"),
    ("很好 的书", "很好|的|书"),
    ("很好， 我去。", "很好|，|我去|。"),
    ("弗拉基米尔 · 普京 访问 中国", "弗拉基米尔|·|普京|访问|中国"),
    ("ฉัน กินข้าว แล้ว ไป โรงเรียน", "ฉัน|กินข้าว|แล้ว|ไป|โรงเรียน"),
    ("床前明月光 疑是地上霜", "床|前|明月|光|疑|是|地上|霜"),
    // Other scripts stay between their spaces.
    ("a l' heure\u{a0}dite", "a|l'|heure\u{a0}dite"),
    ("cafe\u{301} — 한국어는 띄어 씁니다", "cafe\u{301}|—|한국어는|띄어|씁니다"),
    ("👩‍👩‍👧 👍🏽", "👩‍👩‍👧|👍🏽"),
    ("👩‍👩‍👧书👍🏽", "👩‍👩‍👧|书|👍🏽"),
    ("か\u{3099}く", "か\u{3099}|く"),
    ("the 猫, mill", "the|猫,|mill"),
    ("COVID-19疫苗", "COVID-19|疫苗"),
    ("", ""),
    (" \u{3000} ", "\u{3000}"),
];

#[test]
fn words_of_scripts_without_spaces_are_found() {
    for (line, expected) in LINES {
        assert_eq!(words(line).collect::<Vec<_>>().join("|"), *expected, "{line}");
    }
}

const LETTERS: &[char] = &[
    '我', '爱', '的', '。', '，', '々', '本', 'か', 'カ', '\u{3099}', 'ー', 'ｶ', 'ﾞ', 'ไ', 'ป', '\u{e48}', 'ๆ', 'ក',
    '\u{17d2}', 'မ', '\u{1039}', 'ລ', 'a', 'é', '\u{301}', '1', '-', '\'', ' ', ' ', '\t', '\u{3000}', '\u{a0}',
    '\u{200b}', '\u{200d}', '\u{feff}', '👩', '\u{fe0f}', '\u{1f3fd}', '🇫', '🇷', 'ا', 'ש', '한', '\u{20000}',
    '\u{10ffff}', '\0',
];

#[test]
fn words_of_any_text_are_pieces_of_it_that_cover_all_that_is_seen() {
    let mut rng = ChaCha8Rng::seed_from_u64(27);
    let mut draw = |below: usize| (rng.next_u32() as usize) % below;
    let tokenizer = tokenizer("zh", &["我", "爱", "。"]);
    for _ in 0..3000 {
        let text: String = (0..draw(24)).map(|_| LETTERS[draw(LETTERS.len())]).collect();
        let mut end = 0;
        for word in words(&text) {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            assert!(start >= end && !word.is_empty(), "{text:?}");
            assert!(text[end..start].chars().all(char::is_whitespace), "{text:?} loses {:?}", &text[end..start]);
            end = start + word.len();
        }
        assert!(text[end..].chars().all(char::is_whitespace), "{text:?} loses its end");
        // a model's words cover those of the text
        let sentence = tokenizer.encode(&text);
        let spans = &sentence.spans;
        assert!(spans.iter().all(|span| text.get(span.clone()).is_some()), "{text:?} {spans:?}");
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{text:?} {spans:?}");
        let places = WordPlaces::of_sentence(&sentence, &text, WordRule::Spaces).expect("it is the same text");
        assert_eq!(places.words, words(&text).count());
    }
}

#[test]
fn a_vocabulary_has_the_words_of_the_text_and_puts_them_together_again() {
    let lines = ["我们去公园散步。", "我们喜欢散步。", "公园很大。"];
    let counts = vocab::count("zh", lines.iter().map(|line| Ok((*line).to_owned()))).expect("they are counted");
    assert_eq!((counts.get("我们"), counts.get("公园"), counts.get("散步")), (Some(&2), Some(&2), Some(&2)));
    let tokenizer = vocab::build("zh", counts, 100).expect("a vocabulary");
    for line in lines {
        let sentence = tokenizer.encode(line);
        assert!(sentence.ids.iter().all(|id| tokenizer.token(*id) != Some("[UNK]")), "{:?}", sentence.tokens);
        assert_eq!(join("zh", &sentence.tokens), line);
        let mut ids = Vec::new();
        CorpusEncoder::new(&tokenizer).extend(line, &mut ids);
        assert_eq!(ids, sentence.ids[..sentence.len() - 1], "a corpus is read as a line is typed");
    }
    assert_eq!(join("zh", &["我", "用", "Python", "写"]), "我用Python写");
    assert_eq!(join("th", &["เขา", "ใช้", "Python"]), "เขาใช้ Python");
    assert_eq!(join("fr", &["le", "mot", "書", "est"]), "le mot 書 est");
}

#[test]
fn pieces_of_a_sentence_without_spaces_make_up_its_words() {
    let marks = PieceMarks::Starts("\u{2581}".to_owned());
    for (pieces, expected) in [
        (&["\u{2581}我们", "去", "公", "园", "。"][..], &["我们", "去", "公园", "。"][..]),
        // a piece that goes beyond a word keeps both together
        (&["\u{2581}", "我们去", "公园"], &["我们去", "公园"]),
        (&["\u{2581}Das", "\u{2581}Hau", "s"], &["Das", "Haus"]),
        (&["\u{2581}我", "们", "</s>"], &["我们", "</s>"]),
        // bytes of one letter
        (&["\u{2581}去", "<0xE5>", "<0x85>", "<0xAC>", "园"], &["去", "公园"]),
    ] {
        let found: Vec<String> =
            marks.words(pieces, WordRule::Tokens).into_iter().map(|word| marks.word(&pieces[word])).collect();
        assert_eq!(found, expected);
    }
}

/// A word that stood alone was cut by the dictionary, so that codes never saw it.
#[test]
fn words_that_are_cut_already_are_cut_by_their_codes_alone() {
    let counts = [("中国人民", 50), ("银行", 40)].map(|(word, count)| (word.to_owned(), count)).into();
    let tokenizer = vocab::bpe::build_bpe("zh", counts, 40).expect("pieces");
    let line = "中国人民 银行";
    let sentence = tokenizer.encode_words(&["中国人民", "银行"]);
    assert_eq!(sentence.tokens[..sentence.words()], ["中国人民", "银行"]);
    let side = SideWords::of_sentence(&tokenizer, &sentence, line, true).expect("the same text");
    assert_eq!((side.places.words, &side.places.places[..2]), (2, &[0..1, 1..2][..]));
}

#[test]
fn a_model_of_pieces_reads_words_of_the_text() {
    let counts = [("公园", 2), ("公", 9), ("园", 9), ("我", 9), ("们", 9), ("去", 9)];
    let counts = counts.map(|(word, count)| (word.to_owned(), count)).into();
    let tokenizer = vocab::bpe::build_bpe("zh", counts, 20).expect("pieces");
    let line = "我们去公园";
    let sentence = tokenizer.encode(line);
    let said = |words: Vec<std::ops::Range<usize>>| -> Vec<String> {
        words
            .into_iter()
            .map(|word| sentence.spans[word.start].start..sentence.spans[word.end - 1].end)
            .map(|span| line[span].to_owned())
            .collect()
    };
    assert_eq!(said(vocabulary_words(&tokenizer, &sentence, false)), ["我们", "去", "公园", ""]);
    let side = SideWords::of_sentence(&tokenizer, &sentence, line, false).expect("the same text");
    assert_eq!(side.places.words, 3);
}

#[test]
fn an_aligner_sees_the_words_and_keeps_those_that_were_cut() {
    let mut cutter = Cutter::new("zh", false);
    let cut_line = cutter.cut("我们去公园。");
    assert_eq!(cut_line.words.iter().map(AsRef::as_ref).collect::<Vec<&str>>(), ["我们", "去", "公园", "。"]);
    assert_eq!(cut_line.exchange.places, [0, 1, 2, 3].map(Some));
    let mut given = Cutter::new("zh", true);
    assert_eq!(given.cut("我们去 公园。").words.len(), 2);
    assert_eq!(cut("It is 5 o'clock — \u{201c}déjà\u{201d}…"), None);
}
