//! Models of the years of recurrent translation, by the dl4mt tutorial: small random ones against their
//! equations written down apart in numpy (`tests/fixtures/old/make.py`), and what of them is refused.

use std::path::{Path, PathBuf};

use interlinear::decoding::{SearchOptions, Specials, decode, force};
use interlinear::models::config::Config;
use interlinear::models::origins::python;
use interlinear::models::{Kernels, Model};
use interlinear::nn::device::Device;
use interlinear::ticket::CancellationToken;

use crate::rnns::{check_rows, rows, text};

/// The fixtures.
pub const KINDS: [&str; 2] = ["dl4mt-session1", "dl4mt-session3"];

/// That of a fixture.
pub fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/old").join(kind)
}

fn load(folder: &Path) -> Model {
    Model::load(folder, &Device::cpu()).unwrap_or_else(|error| panic!("{error}"))
}

fn ids(text: &str) -> Vec<u32> {
    text.split(' ').map(|id| id.parse().expect("an id")).collect()
}

fn check_alpha(found: Option<&[Vec<f32>]>, expected: &str, what: &str) {
    match found {
        Some(found) => check_rows(found, &rows(expected), what),
        None => assert_eq!(expected, "-", "{what}"),
    }
}

#[test]
fn models_score_and_search_as_their_equations() {
    for kind in KINDS {
        let model = load(&folder(kind));
        assert_eq!(model.specials(), (0, 1));
        assert_eq!(model.source.encode("the cat barks").ids, [2, 4, 1, 0], "{kind}");
        assert_eq!(model.target.encode("chien l'été").ids, [7, 8, 0], "{kind}");
        assert_eq!(model.config.aligns(), !kind.ends_with('1'), "{kind}");
        let mut stepper = model.stepper(Kernels::Fused, 1).expect("a stepper");
        let forever = CancellationToken::forever();
        let lines = text(folder(kind).join("score"));
        let lines: Vec<Vec<&str>> = lines.lines().map(|line| line.split(" ||| ").collect()).collect();
        let pairs: Vec<(Vec<u32>, Vec<u32>)> = lines.iter().map(|line| (ids(line[1]), ids(line[2]))).collect();
        let given: Vec<(&[u32], &[u32])> = pairs.iter().map(|(x, y)| (&x[..], &y[..])).collect();
        let forced = force(&mut *stepper, &given, &forever).expect("it scores");
        for (n, (forced, line)) in forced.iter().zip(&lines).enumerate() {
            let (what, score) = (format!("{kind}, sentence {n}"), line[0].parse::<f32>().expect("a number"));
            assert!((forced.log_p - score).abs() < 1e-4, "{what}: {} is not {score}", forced.log_p);
            check_alpha(forced.alpha.as_deref(), line[3], &what);
        }
        let best = text(folder(kind).join("nbest"));
        for (n, (source, _)) in pairs.iter().enumerate() {
            let options = SearchOptions {
                beam: 3,
                forbid_unk: true,
                max_length: Some(3 * source.len()),
                ..SearchOptions::default()
            };
            let (eos, unk) = model.specials();
            let found = decode(
                &mut *stepper,
                Specials { eos, unk, bars_unk: false },
                &[source],
                &options,
                &forever,
                &mut |_, _| {},
            );
            let found = found.expect("it decodes").remove(0).hypotheses.into_iter();
            let found: Vec<_> = found.filter(|hypothesis| hypothesis.tokens.last() == Some(&eos)).collect();
            let lines: Vec<Vec<&str>> = best
                .lines()
                .filter(|line| line.starts_with(&format!("{n} ")))
                .map(|line| line.split(" ||| ").collect())
                .collect();
            assert_eq!(found.len(), lines.len(), "{kind} {n}: {found:?}");
            for (found, line) in found.iter().zip(&lines) {
                let (what, score) = (format!("{kind} {n}: {}", line[2]), line[1].parse::<f32>().expect("a number"));
                assert_eq!(found.tokens, ids(line[2]), "{what}");
                assert!((found.log_p - score).abs() < 1e-4, "{what}: {} is not {score}", found.log_p);
                check_alpha(found.alpha.as_deref(), line[3], &what);
            }
        }
    }
}

#[test]
fn their_configuration_is_kept_and_their_card_says_what_aligns() {
    for kind in KINDS {
        let model = load(&folder(kind));
        let path = Path::new("config.json");
        assert_eq!(Config::from_json(path, &model.config.to_json()).expect("reads"), model.config);
        let alignment = if model.config.aligns() { "the attention of" } else { "none" };
        assert!(model.card().contains(&format!("| alignment | {alignment}")), "{}", model.card());
    }
}

/// A copy in which some bytes of a file are others.
fn changed(kind: &str, file: &str, from: &str, to: &[u8]) -> String {
    let copy = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(folder(kind)).expect("a fixture") {
        let entry = entry.expect("a file");
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).expect("copied");
    }
    let path = copy.path().join(file);
    if from.is_empty() {
        std::fs::write(&path, to).expect("written");
    } else {
        let bytes = std::fs::read(&path).expect("bytes");
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes());
        let at = at.unwrap_or_else(|| panic!("{file} has no {from}"));
        std::fs::write(&path, [&bytes[..at], to, &bytes[at + from.len()..]].concat()).expect("written");
    }
    Model::load(copy.path(), &Device::cpu()).map(|model| model.config.name).expect_err(file).to_string()
}

/// Values as Python 2 writes them, in each protocol.
#[test]
fn pickles_of_python_2_become_plain_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("some.pkl");
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        python::settings(&path).map_or_else(|error| error.to_string(), |map| map["a"].to_string())
    };
    let of_list = |value: &[u8]| read(&[b"(dp0\nS'a'\np1\n", value, b"s."].concat());
    let scalar = |kind: &str, order: &str, bytes: &str| {
        let head = "cnumpy.core.multiarray\nscalar\np2\n(cnumpy\ndtype\np3\n";
        of_list(
            format!("{head}(S'{kind}'\nI0\nI1\ntRp4\n(I3\nS'{order}'\nNNNI-1\nI-1\nI0\ntbS'{bytes}'\ntRp5\n")
                .as_bytes(),
        )
    };
    for (found, expected) in [
        (of_list(b"I-12\n"), "-12"),
        (of_list(b"I01\n"), "true"),
        (of_list(b"I00\r\n"), "false"),
        (of_list(b"L1234567890123L\n"), "1234567890123"),
        (of_list(b"F0.5\n"), "0.5"),
        (of_list(b"N"), "null"),
        (of_list(b"S'l\\xc3\\xa9\\t\\'\\\\'\np2\n"), "\"l\u{e9}\\t'\\\\\""),
        (of_list(b"S\"it's\"\np2\n"), "\"it's\""),
        (of_list(b"V\xe9\\u4e2d\\x\np2\n"), "\"\u{e9}\u{4e2d}\\\\x\""),
        (of_list(b"(lp2\nI1\naS'b'\np3\nag3\na"), "[1,\"b\",\"b\"]"),
        (of_list(b"(I1\nI2\nl"), "[1,2]"),
        (read(b"\x80\x02}q\x00(U\x01aK\x07u."), "7"),
        (read(b"\x80\x02}q\x00U\x01aG?\xe0\x00\x00\x00\x00\x00\x00s."), "0.5"),
        (read(b"}(U\x01a\x88u."), "true"),
        (read(b"}(T\x01\x00\x00\x00aJ\xff\xff\xff\xffu."), "-1"),
        (scalar("i8", "<", "\\x05\\x00\\x00\\x00\\x00\\x00\\x00\\x00"), "5"),
        (scalar("f4", "<", "\\x00\\x00\\x00?"), "0.5"),
        (scalar("b1", "|", "\\x01"), "true"),
    ] {
        assert_eq!(found, expected);
    }
    for (told, expected) in [
        (scalar("i8", ">", "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x05"), "with the greatest byte first"),
        (scalar("i8", "<", "\\x05"), "is damaged"),
        (of_list(b"S'open\n"), "is damaged"),
        (of_list(b"S'\\q'\n"), "is damaged"),
        (of_list(b"I1"), "is damaged"),
        (of_list(b"(i__main__\nThing\n"), "has a step 0x69"),
        (of_list(b"c__builtin__\neval\n"), "asks for `__builtin__.eval`"),
    ] {
        assert!(told.contains(expected) && told.contains("some.pkl"), "{told}");
    }
}

#[test]
fn checkpoints_of_other_toolkits_are_refused_by_the_toolkit() {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, bytes, told) in [
        (
            "model_step_9.pt",
            &b"PK\x03\x04..encoder.embeddings.make_embedding.emb_luts.0.weight"[..],
            "is a damaged zip",
        ),
        ("checkpoint_best.pt", b"PK\x03\x04..extra_state..optimizer_history..", "fairseq"),
        ("best.ckpt", b"PK\x03\x04..best_ckpt_score..model_state", "Joey NMT"),
        ("final.T7", b"\x04\x00..onmt.Encoder..", "OpenNMT-lua"),
        ("other.pt", b"PK\x03\x04..weights", "other.pt"),
    ] {
        let path = folder.path().join(file);
        std::fs::write(&path, bytes).expect("written");
        let named = Model::load(&path, &Device::cpu()).expect_err(file).to_string();
        let inside = Model::load(folder.path(), &Device::cpu()).expect_err(file).to_string();
        std::fs::remove_file(&path).expect("removed");
        assert!(named.contains(told) && named.contains(file), "{named}");
        let is_known = !["other.pt", "model_step_9.pt"].contains(&file);
        assert_eq!([&named, &inside].map(|error| error.contains("is a checkpoint of")), [is_known; 2], "{inside}");
    }
}

#[test]
fn what_is_not_known_is_refused_by_its_name() {
    let options = "model.npz.pkl";
    let run = "is a pickle that asks for `os.system`, which is neither a tensor nor a plain value; nothing of";
    for (kind, file, from, to, told) in [
        ("dl4mt-session1", options, "", &b"cos\nsystem\n(S'true'\ntR."[..], run),
        ("dl4mt-session1", options, "", b"(dp0\nS'dim'\np1\nI6\ns", "is a pickle that is damaged"),
        ("dl4mt-session1", options, "", b"\x80\x02]q\x00.", "is a pickle that is no dictionary by texts"),
        ("dl4mt-session1", "train.en.pkl", "I3\n", b"I2\n", "gives `old` the id 2 that `the` has"),
        ("dl4mt-session1", "train.en.pkl", "", b"(lp0\nI1\na.", "is no dictionary of words"),
        ("dl4mt-session1", "train.en.pkl", "", b"cos\nsystem\n.", run),
        ("dl4mt-session1", options, "gru_cond_simple", b"lstm", "key `decoder` is lstm, which is not implemented"),
        ("dl4mt-session1", options, "gru_cond_simple", b"gru_cond", "is missing"),
        ("dl4mt-session1", options, "I7\n", b"I9\n", "has the shape"),
        ("dl4mt-session3", options, "/data/train.fr.pkl", b"../../elsewhere.pk", "elsewhere.pk"),
    ] {
        let error = changed(kind, file, from, to);
        assert!(error.contains(told), "{kind}, {file}, {from}: {error}");
    }
}
