//! Interlinear text: what stands under each word, in every format, and files that do not fit together.

use std::{fs, path::Path};

use interlinear::figure::interlinear::conllu::read_conllu;
use interlinear::figure::interlinear::{GLOSS_FORMATS, GlossedSentence};

use crate::cli::{Outcome, reference, reference_word, run_in, run_line};
use crate::folder::{Files as _, Folder};

fn folder() -> Folder {
    Folder::with([
        ("s.en", "She gave it up .\n50 % of_it & more\n"),
        ("glosses", "3SG give.PST 3SG.N PRT _\n_ _ _ _ _\n"),
        ("t.fr", "Elle l' a quitté .\nla moitié et plus\n"),
        ("t.de", "Sie gab es auf .\ndie Hälfte und mehr\n"),
        ("fr.links", "0-0 1-2 1-3 2-1 3?3 4-4\n0-0 0-1 1-1 3-2 4-3\n"),
        ("de.links", "0-0 1-1 2-2 3-3 4-4\n0-0 0-1 3-2 4-3\n"),
        ("short.links", "0-0\n"),
        ("odd", "a b\nc\n"),
        ("one", "a\n"),
    ])
}

fn gloss(folder: &Path, arguments: &str) -> Outcome {
    run_line(folder, &format!("gloss {arguments}"))
}

const FRENCH: &str = "--source s.en --tier glosses --target t.fr --links fr.links --name RNNsearch";

#[test]
fn a_sentence_stands_in_columns_with_what_it_is_linked_to() {
    let folder = folder();
    let text = gloss(&folder, FRENCH).good().stdout;
    let first = [
        "(1)  She   gave      it     up      .",
        "     3SG   give.PST  3SG.N  PRT     -",
        "     Elle  a.quitté  l'     quitté  .",
        "     ‘Elle l' a quitté .’ (RNNsearch)",
        "",
    ];
    assert_eq!(text.lines().take(5).collect::<Vec<_>>(), first);
    let both = gloss(&folder, &format!("{FRENCH} --target t.de --links de.links")).stdout;
    assert!(
        both.lines().any(|line| line == "     Sie   gab       es     auf     .") && both.contains("auf .’ (t.de)"),
        "{both}"
    );
}

#[test]
fn latex_has_a_line_for_each_row_and_no_letter_that_it_reads_as_its_own() {
    let folder = folder();
    let gb4e = gloss(&folder, &format!("{FRENCH} --format gb4e")).stdout;
    let first = [
        r"\begin{exe}",
        r"\ex \glll She gave it up .\\",
        r"3SG give.PST 3SG.N PRT {}\\",
        r"Elle a.quitté l' quitté .\\",
        r"\glt `Elle l' a quitté .' (RNNsearch)",
        r"\end{exe}",
    ];
    assert_eq!(gb4e.lines().take(6).collect::<Vec<_>>(), first);
    for line in [r"\ex \glll 50 \% of\_it \& more\\", r"{} {} {} {} {}\\"] {
        assert!(gb4e.lines().any(|found| found == line), "{line} is not in {gb4e}");
    }
    let expex = gloss(&folder, &format!("{FRENCH} --format expex")).stdout;
    let first = [r"\ex", r"\begingl", r"\gla She gave it up .//", r"\glb 3SG give.PST 3SG.N PRT {}//"];
    assert_eq!(expex.lines().take(4).collect::<Vec<_>>(), first);
    let tikz = gloss(&folder, &format!("{FRENCH} --format tikz")).stdout;
    for line in [
        r"\node[word] (s0) at (0,0) {She\\3SG\strut};",
        r"\node[word] (s1) at ([xshift=.6em]s0.base east) {gave\\give.PST\strut};",
        r"\node[word] (t0x0) at (0,-2.05) {Elle};",
        r"\draw (s1.south) -- (t0x2.north);",
        r"\draw[dashed] (s3.south) -- (t0x3.north);",
    ] {
        assert!(tikz.lines().any(|found| found == line), "{line} is not in {tikz}");
    }
    assert_eq!(tikz.matches(r"\begin{tikzpicture}").count(), 2);
    let html = gloss(&folder, &format!("{FRENCH} --format html")).stdout;
    assert!(
        html.starts_with("<!DOCTYPE html>") && html.contains("<span>&amp;</span><span></span><span>et</span>"),
        "{html}"
    );
}

#[test]
fn conllu_is_written_and_read_again() {
    let folder = folder();
    let text = "# text = Ils vont au parc\n1\tIls\til\tPRON\t_\tNumber=Plur\t2\tnsubj\t_\t_\n2\tvont\taller\tVERB\t_\t_\t0\troot\t_\t_\n\
                3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_\n3\tà\tà\tADP\t_\t_\t5\tcase\t_\t_\n4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_\n\
                5\tparc\tparc\tNOUN\t_\t_\t2\tobl\t_\t_\n";
    folder.put_all([("a.conllu", text), ("a.de", "Sie gehen in den Park\n"), ("a.links", "0-0 1-1 2-2 3-3 4-4\n")]);
    let arguments = "--conllu a.conllu --target a.de --links a.links --name German --format conllu";
    let found = gloss(&folder, arguments).good().stdout;
    assert!(found.contains("1\tIls\til\tPRON\t_\tNumber=Plur\t2\tnsubj\t_\tGerman=Sie\n"), "{found}");
    assert!(found.contains("# text_German = Sie gehen in den Park\n"), "{found}");
    let (first, again) = (read_conllu(text).expect("sound"), read_conllu(&found).expect("sound"));
    let names = |at: &GlossedSentence| -> Vec<String> { at.tiers.iter().map(|tier| tier.name.clone()).collect() };
    assert_eq!(names(&first[0]), ["lemma", "pos", "morphology", "head", "relation"]);
    assert_eq!((&first[0].words, &first[0].tiers[..]), (&again[0].words, &again[0].tiers[..5]));
    assert_eq!((again[0].texts[0].words.len(), &again[0].tiers[5].cells[0][..]), (5, "Sie"), "its links are a line");
    assert_eq!(first[0].rows().len(), 3, "heads and relations are for programs");
    let shown = gloss(&folder, "--conllu a.conllu --rows relation,lemma").stdout;
    let lines: Vec<Vec<&str>> = shown.lines().take(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1..], [["nsubj", "root", "case", "det", "obl"], ["il", "aller", "à", "le", "parc"]]);
    let misc = "# text_en = a cat\n1\tkissa\tkissa\tNOUN\t_\t_\t0\troot\t_\tGloss=cat|SpaceAfter=No|Translit=kis sa\n";
    let read = &read_conllu(misc).expect("sound")[0];
    assert_eq!(
        (&names(read)[4..], read.texts[0].name.as_str()),
        (&["Gloss".to_owned(), "Translit".to_owned()][..], "en")
    );
    for (line, wrong) in [("1\tIls\n", "2 columns"), ("2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", "word 1 is due")] {
        folder.put("wrong.conllu", line);
        gloss(&folder, "--conllu wrong.conllu").refused("wrong.conllu, line 1").refused(wrong);
    }
}

#[test]
fn links_lead_from_text_to_text() {
    let folder = folder();
    folder.put("frde.links", "0-0 1-2 2?1 3-1 4-4\n0-0 1-1 2-2 3-3\n");
    let arguments = "--source s.en --target t.fr --links fr.links --target t.de --links frde.links --in-a-row";
    let text = gloss(&folder, arguments).good().stdout;
    let rows: Vec<Vec<&str>> = text.lines().take(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[2], ["Sie", "gab", "es", "gab", "."], "{text}");
    let tikz = gloss(&folder, &format!("{arguments} --format tikz")).stdout;
    for line in [r"\draw (s2.south) -- (t0x1.north);", r"\draw[dashed] (t0x2.south) -- (t1x1.north);"] {
        assert!(tikz.lines().any(|found| found == line), "{line} is not in {tikz}");
    }
    assert!(!tikz.contains("(s0.south) -- (t1x"), "{tikz}");
}

#[test]
fn glosses_by_the_leipzig_rules_fit_their_words_and_have_small_capitals() {
    let folder = folder();
    folder.put_all([
        ("w", "taloissani näen hänet\n"),
        ("morphemes", "talo-i-ssa=ni näe-n häne-t\n"),
        ("gloss", "house-PL-INE=1SG.POSS see-1SG.PRS 3SG-ACC\n"),
        ("short", "house-PL-INE=1SG.POSS see 3SG-ACC\n"),
    ]);
    let tiers = "--source w --tier morphemes --leipzig --tier";
    let text = gloss(&folder, &format!("{tiers} gloss")).good().stdout;
    let last = text.lines().last();
    assert_eq!(
        last,
        Some("1 first person, 3 third person, ACC accusative, PL plural, POSS possessive, PRS present, SG singular")
    );
    let latex = gloss(&folder, &format!("{tiers} gloss --format langsci")).stdout;
    let first = [
        r"\ea",
        r"\glll taloissani näen hänet\\",
        r"talo-i-ssa=ni näe-n häne-t\\",
        r"house-\textsc{pl}-\textsc{ine}=1\textsc{sg}.\textsc{poss} see-1\textsc{sg}.\textsc{prs} 3\textsc{sg}-\textsc{acc}\\",
        r"\z",
    ];
    assert_eq!(latex.lines().take(5).collect::<Vec<_>>(), first);
    assert!(latex.contains(r"\noindent \textsc{1} first person"), "{latex}");
    let html = gloss(&folder, &format!("{tiers} gloss --format html")).stdout;
    assert!(html.contains("<span>see-1<small>sg</small>.<small>prs</small></span>"), "{html}");
    gloss(&folder, &format!("{tiers} short")).refused("short, line 1: glosses word 2, `näe-n`, as `see`");
}

#[test]
fn models_are_lines_of_their_own() {
    let folder = folder();
    folder.put("x", "s9 s31 s17\n\ns4 s5\n");
    let model = &*reference_word("rnnsearch");
    for (format, name) in [("text", "y"), ("pharaoh", "links")] {
        let outcome = run_in(&folder, &["translate", "--model", model, "--format", format, "x"]).good();
        folder.put(name, outcome.stdout);
    }
    let own = gloss(&folder, &format!("--source x --model {model} --format tikz")).good().stdout;
    let files = gloss(&folder, "--source x --target y --links links --format tikz").stdout;
    assert_eq!(own, files);
    let blind = reference("rnnencdec");
    gloss(&folder, &format!("--source x --model {}", blind.to_str().expect("a plain path")))
        .refused("has no alignment");
}

#[test]
fn files_that_do_not_fit_together_are_named() {
    let folder = folder();
    for (arguments, wanted) in [
        ("--source s.en --rows glosses", "--rows: there is no line `glosses`; there are "),
        ("--source s.en --leipzig", "--tier"),
        ("--source s.en --target t.fr", "1 files of --target, 0 of --links"),
        ("--source s.en --target one --links fr.links", "one: has 1 lines, and s.en has 2 sentences"),
        ("--source s.en --tier odd", "odd, line 1: has 2 glosses for 5 words"),
        ("--source s.en --target t.fr --links short.links", "short.links"),
        ("--source none.en", "none.en: does not exist"),
        ("--tier odd", "--source"),
    ] {
        gloss(&folder, arguments).refused(wanted);
    }
    assert!(GLOSS_FORMATS.iter().all(|format| gloss(&folder, &format!("{FRENCH} --format {}", format.name)).code == 0));
}

fn places(svg: &str) -> Vec<(String, f32, f32)> {
    let document = roxmltree::Document::parse(svg).expect("XML");
    let place = |node: roxmltree::Node<'_, '_>| {
        let at = node.attribute("transform")?.strip_prefix("translate(")?.trim_end_matches(')').split_once(' ')?;
        Some((node.text()?.to_owned(), at.0.parse().ok()?, at.1.parse().ok()?))
    };
    document.descendants().filter(|node| node.tag_name().name() == "text").filter_map(place).collect()
}

#[test]
fn interlinear_text_is_a_figure_of_columns_that_goes_on_in_further_lines() {
    let folder = folder();
    let draw = |more: &str| gloss(&folder, &format!("{FRENCH} --leipzig --format svg {more}")).good().stdout;
    let wide = places(&draw(""));
    let of = |all: &[(String, f32, f32)], word: &str| {
        let found = all.iter().find(|(text, ..)| text == word).unwrap_or_else(|| panic!("no {word} in {all:?}"));
        (found.1, found.2)
    };
    for column in [["She", "3", "Elle"], ["gave", "give", "a.quitté"], ["up", "PRT", "quitté"]] {
        let at = column.map(|word| of(&wide, word));
        assert!(at.iter().all(|(x, _)| (x - at[0].0).abs() < 1e-3), "{column:?}: {at:?}");
        assert!(at[0].1 < at[1].1 && at[1].1 < at[2].1, "{column:?}: {at:?}");
    }
    assert_eq!(of(&wide, "She").1, of(&wide, "up").1);
    assert!(wide.iter().any(|(text, ..)| text == "\u{2018}Elle l' a quitté .\u{2019} (RNNsearch)"), "{wide:?}");
    assert!(wide.iter().any(|(text, ..)| text.contains("PST past")), "{wide:?}");
    let svg = draw("--width 45");
    let narrow = places(&svg);
    assert!(of(&narrow, "She").1 < of(&narrow, "up").1 && svg.contains("width=\"45mm\""), "{narrow:?}");
    assert!(svg.contains("font-size=\"10\"") && svg.contains("font-size=\"8\""), "10 points, small capitals");
    for (name, begin) in [("a.pdf", &b"%PDF"[..]), ("a.png", b"\x89PNG"), ("a.svg", b"<?xml")] {
        let Outcome { code, stderr: told, .. } = gloss(&folder, &format!("{FRENCH} --output {name}"));
        assert!(code == 0 && fs::read(folder.join(name)).expect("written").starts_with(begin), "{told}");
    }
}

#[test]
fn a_figure_of_interlinear_text_runs_as_its_script_does() {
    let folder = folder();
    let zh = "这是一个关于一座老房子和住在里面的人们的很长很长的故事。".repeat(3);
    folder.put_all([
        ("s.ar", "البيت الصغير أحمر\n"),
        ("g.ar", "house small red\n"),
        ("s.zh", "房子 很 小\n"),
        ("t.zh", &zh),
    ]);
    let Outcome { stdout: svg, stderr: told, .. } = gloss(&folder, "--source s.ar --tier g.ar --format svg --width 80");
    let found = places(&svg);
    let x = |word: &str| found.iter().find(|(text, ..)| text == word).unwrap_or_else(|| panic!("{told} {found:?}")).1;
    assert!(x("house") > x("small") && x("small") > x("red"), "{found:?}");
    assert!(svg.matches("text-anchor=\"end\"").count() == 3, "{svg}");
    folder.put("zh.links", "\n");
    let Outcome { stdout: svg, stderr: told, .. } =
        gloss(&folder, "--source s.zh --target t.zh --links zh.links --format svg --width 80");
    let found = places(&svg);
    assert_eq!(found[1].0, "房子", "{told}");
    let lines: Vec<&str> =
        found.iter().map(|(text, ..)| text.as_str()).filter(|text| text.chars().count() > 5).collect();
    assert!(lines.len() > 3 && lines.iter().all(|line| line.chars().count() <= 28), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with('。')), "{lines:?}");
}
