//! Plain text in any packing and encoding, TMX and XLIFF.

use std::io::Write as _;

use interlinear::import::{ImportOptions, Role};

use super::{Planted, read, role};

#[test]
fn lines_keep_their_numbers_and_blank_ones_are_told() {
    let read = read("a.txt", "one\r\n\r\n three \n");
    assert_eq!(read.sources(), ["one", "", " three "]);
    assert_eq!(read.sentences(), [1, 2, 3]);
    assert_eq!(read.warnings, ["a.txt, line 2: is blank"]);
    assert_eq!(read.facts.sentences(), ["Plain text, UTF-8.", "Read as the source, a sentence a line."]);
}

#[test]
fn a_text_takes_its_role() {
    let planted = Planted::new("a.txt", b"le chat\n");
    assert_eq!(planted.read(&role(Role::Reference)).references(), ["le chat"]);
    let read = planted.read(&role(Role::Output("mine".into())));
    assert_eq!((read.outputs(), read.records[0].outputs[0].system.as_deref()), (vec!["le chat"], Some("mine")));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn utf16(text: &str, big: bool) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(|unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

const TEXT: &str = "Où est l'hôtel ?\nÀ gauche, près de l'église.\nMerci, à bientôt !\n";

#[test]
fn packings_and_encodings_are_known_and_stated() {
    let latin: Vec<u8> = TEXT.chars().map(|c| c as u8).collect();
    for (name, bytes, encoding, packed) in [
        ("a.txt", TEXT.as_bytes().to_vec(), "UTF-8", None),
        ("b.txt", format!("\u{feff}{TEXT}").into_bytes(), "UTF-8", None),
        ("a.txt.gz", gzip(TEXT.as_bytes()), "UTF-8", Some("gzip")),
        ("a.zst", zstd::encode_all(TEXT.as_bytes(), 1).unwrap(), "UTF-8", Some("zstandard")),
        ("le.txt", utf16(TEXT, false), "UTF-16LE", None),
        ("be.txt", utf16(TEXT, true), "UTF-16BE", None),
        ("be.txt.gz", gzip(&utf16(TEXT, true)), "UTF-16BE", Some("gzip")),
        ("latin.txt", latin.clone(), "windows-1252", None),
        ("latin.zst", zstd::encode_all(latin.as_slice(), 1).unwrap(), "windows-1252", Some("zstandard")),
    ] {
        let read = Planted::new(name, &bytes).read(&ImportOptions::default());
        assert_eq!(read.sources(), TEXT.lines().collect::<Vec<_>>(), "{name}");
        assert_eq!((read.facts.encoding, read.facts.packed), (encoding, packed), "{name}");
        let is_told = read.facts.notes.iter().any(|note| note.contains("is not UTF-8"));
        assert_eq!((is_told, read.count), (encoding == "windows-1252", 0), "{name}");
    }
}

#[test]
fn an_encoding_can_be_overruled() {
    let planted = Planted::new("a.txt", b"caf\xe9\n");
    let read = planted.read(&ImportOptions { encoding: Some("iso-8859-5".into()), ..ImportOptions::default() });
    assert_eq!((read.sources(), read.facts.encoding), (vec!["cafщ"], "ISO-8859-5"));
}

#[test]
fn odd_bytes_are_told_with_their_lines() {
    let read = Planted::new("a.txt", b"d\xc3\xa9j\xc3\xa0 vu\nbad \xff byte\nbell \x07 here\n")
        .read(&ImportOptions::default());
    assert_eq!(read.sources(), ["déjà vu", "bad \u{fffd} byte", "bell \u{7} here"]);
    let expect = [
        "a.txt, line 2: has bytes that are not UTF-8; each is shown as U+FFFD",
        "a.txt, line 3: has a control character (U+0007)",
    ];
    assert_eq!(read.warnings, expect);
    assert_eq!(read.facts.notes[0], "UTF-8, but 1 places are not; each is shown as U+FFFD.");
}

#[test]
fn a_cut_file_gives_what_came_before() {
    let text: String = (0..20_000).map(|n| format!("sentence {}\n", n * 7919 % 65_537)).collect();
    let packed = gzip(text.as_bytes());
    let read = Planted::new("a.gz", &packed[..packed.len() / 2]).read(&ImportOptions::default());
    assert!(read.records.len() > 1000 && read.sources()[1] == "sentence 7919");
    let error = read.error.unwrap();
    assert!(error.starts_with("a.gz, line ") && error.contains("truncated"), "{error}");
}

#[test]
fn many_warnings_are_counted_and_few_are_kept() {
    let lines = read("a.txt", &"Rain fell on the quiet harbour, and nobody went out to sea.\u{1}\n".repeat(250));
    assert_eq!((lines.warnings.len(), lines.count), (100, 250));
    let blank = read("a.txt", &"\n".repeat(250));
    assert_eq!(
        (blank.warnings.as_slice(), blank.count),
        (&["a.txt, line 1: is blank, as are 249 other lines".to_owned()][..], 250)
    );
}

const TMX: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-GB" datatype="plaintext"/>
<body>
  <tu tuid="u1"><prop type="domain">pets</prop>
    <tuv xml:lang="en-GB"><seg>The <bpt i="1">&lt;b&gt;</bpt>cat<ept i="1">&lt;/b&gt;</ept> &amp; I</seg></tuv>
    <tuv xml:lang="fr"><seg>Le chat
      et moi</seg></tuv>
    <tuv xml:lang="de"><seg>Die Katze und ich</seg></tuv>
  </tu>
  <tu><tuv xml:lang="en-gb"><seg>Good &#8212; day <![CDATA[<now>]]></seg></tuv></tu>
</body></tmx>"#;

#[test]
fn a_translation_memory_gives_units() {
    let read = read("a.tmx", TMX);
    assert_eq!(read.sources(), ["The cat & I", "Good \u{2014} day <now>"]);
    assert_eq!(read.references(), ["Le chat et moi"]);
    assert_eq!(read.records[0].id.as_deref(), Some("u1"));
    let extra = [("domain".to_owned(), "pets".to_owned()), ("de".to_owned(), "Die Katze und ich".to_owned())];
    assert_eq!(read.records[0].extra, extra);
    assert_eq!(read.facts.languages, Some(("en-GB".into(), "fr".into())));
    assert_eq!(read.facts.notes, ["Other languages are left out: de."]);
    assert_eq!((read.records[0].line, read.records[1].line), (5, 11));
    assert_eq!(read.warnings, ["a.tmx, line 11: begins a unit without fr"]);
}

#[test]
fn a_translation_memory_is_read_between_the_languages_asked_for() {
    let languages = (Some("fr".to_owned()), Some("de".to_owned()));
    let options = ImportOptions { languages, role: Some(Role::Output("memory".into())), ..ImportOptions::default() };
    let read = Planted::new("a.tmx", TMX.as_bytes()).read(&options);
    assert_eq!((read.sources(), read.outputs()), (vec!["Le chat et moi"], vec!["Die Katze und ich"]));
}

#[test]
fn broken_xml_gives_what_came_before() {
    let read = read("a.tmx", &TMX.replace("</body>", "</tbody>"));
    let error = read.error.unwrap_or_default();
    assert!(error.starts_with("a.tmx, line 12: is no well-formed XML from here on"), "{error}");
    assert_eq!(read.records.len(), 2);
    let cut = TMX.find("<tuv xml:lang=\"de\"").unwrap();
    let said = super::refusal("a.tmx", &TMX.as_bytes()[..cut], &ImportOptions::default());
    assert!(said.starts_with("a.tmx, line 9: is the last, within a translation unit"), "{said}");
}

#[test]
fn xml_is_read_in_the_encoding_that_it_declares() {
    let text = "<?xml version='1.0' encoding='iso-8859-1'?><xliff version='1.2'><file source-language='fr' target-language='en'>\
                <body><trans-unit id='1'><source>\u{e9}t\u{e9}</source></trans-unit></body></file></xliff>";
    let bytes: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let read = Planted::new("a.xlf", &bytes).read(&ImportOptions::default());
    assert_eq!((read.sources(), read.facts.encoding), (vec!["été"], "windows-1252"));
}

#[test]
fn xliff_1_gives_units_without_suggestions_and_codes() {
    let read = read(
        "a.xlf",
        r#"<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en" target-language="fr" original="x"><body>
<group><trans-unit id="a">
  <source>A <g id="1">red</g> <ph id="2">%d</ph>house</source>
  <seg-source><mrk mtype="seg">no</mrk></seg-source>
  <target state="final">Une maison rouge</target>
  <alt-trans><source>x</source><target>y</target></alt-trans>
</trans-unit></group>
<trans-unit id="b"><source>Later</source><target/></trans-unit>
<trans-unit id="c"><target>Rien</target></trans-unit>
</body></file></xliff>"#,
    );
    assert_eq!((read.sources(), read.references()), (vec!["A red house", "Later"], vec!["Une maison rouge", "Rien"]));
    assert_eq!(read.facts.languages, Some(("en".into(), "fr".into())));
    assert_eq!(read.records[0].extra, [("state".to_owned(), "final".to_owned())]);
    assert_eq!(read.warnings, ["a.xlf, line 10: begins a unit without a source"]);
}

#[test]
fn xliff_2_gives_segments() {
    let read = read(
        "a.xlf",
        r#"<xliff version="2.0" srcLang="en" trgLang="de" xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f">
<unit id="u"><originalData><data id="d">x</data></originalData>
<mtc:matches xmlns:mtc="m"><mtc:match><source>no</source><target>nein</target></mtc:match></mtc:matches>
<segment id="1"><source>First <pc id="p">part</pc><cp hex="0041"/>.</source><target>Erster Teil.</target></segment>
<ignorable><source> </source></ignorable>
<segment><source>Second.</source></segment></unit></file></xliff>"#,
    );
    assert_eq!((read.sources(), read.references()), (vec!["First partA.", "Second."], vec!["Erster Teil."]));
    let ids: Vec<_> = read.records.iter().map(|record| record.id.as_deref()).collect();
    assert_eq!(ids, [Some("u/1"), Some("u")]);
    assert_eq!(read.facts.sentences()[1..], ["Translated from en to de.", "XLIFF 2.0."]);
}
