//! What a file may be: the one table that window, command line and every command ask. A row says how a kind of file
//! is known, who reads it, whether the program writes it as well, and which public files or toolkit showed that it is
//! read rightly.
//!
//! Plain text is what is left over. What looks like text and is none has its own row, which says what to do with it.

use std::path::Path;

use crate::format::{FileSample, FormatEntry};
use crate::formats::{
    blocks, corpus, jsonl, links, marian, nbest, npy, snum, subtitles, table, text, tmx, wordalign, xliff,
};
use crate::input::ImportInput;
use crate::options::{ImportOptions, Role};
use crate::recognise;
use engine::error::{Error, Result};
use engine::text::reader::require_file;

use crate::format::CorpusKind::{Comet, Conllu, Judgements, Mqm, Pearmut, Scores};
use crate::format::FormatReading::{OfCorpus, Refused, Sentences};

/// A row for each kind: name, label, recogniser, reading; whether it is written as well; what proved the reader.
macro_rules! formats {
    ($($name:literal $label:literal $sniff:path, $reading:expr, $both:literal, $proof:literal;)*) => {
        &[$(FormatEntry {
            name: $name, label: $label, sniff: $sniff, reading: $reading, is_written: $both, proof: $proof,
        }),*]
    };
}

/// Every kind; of equally likely ones the first is taken.
pub const FORMATS: &[FormatEntry] = formats! {
    "text" "Plain text" text::sniff, Sentences(text::open), true, "marian-nmt/marian-regression-tests, texts of its decoders";
    "tsv" "Table with tabs (TSV)" table::sniff_tsv, Sentences(table::open_tsv), true, "pairs of Tatoeba and Anki, one a line";
    "csv" "Table with commas (CSV)" table::sniff_csv, Sentences(table::open_csv), false, "tables of Excel and of Unbabel/COMET";
    "tmx" "Translation memory (TMX)" tmx::sniff, Sentences(tmx::open), false, "omegat-org/omegat, 65 files; heartsome/tmxeditor8";
    "xliff" "XLIFF 1.2 or 2.0" xliff::sniff, Sentences(xliff::open), false, "omegat-org/omegat, 18 files; translate/translate, 4";
    "translate" "JSON lines of translate" jsonl::sniff_translate, Sentences(jsonl::open), true, "this program";
    "corpus" "JSON lines of a corpus" corpus::sniff, Sentences(corpus::open), true, "this program";
    "score" "JSON lines of score" jsonl::sniff_score, Sentences(jsonl::open), true, "this program";
    "pharaoh" "Links, Pharaoh" links::sniff_pharaoh, Sentences(links::open_pharaoh), true, "neulab/compare-mt example; neulab/awesome-align";
    "talp" "Links, talp" links::sniff_talp, Sentences(links::open_talp), false, "lilt/alignment-scripts results, 36 files";
    "naacl" "Links, HLT-NAACL 2003" links::sniff_naacl, Sentences(links::open_naacl), true, "test.wa.nullalign of WPT 2003";
    "naacl-text" "Text of HLT-NAACL 2003" snum::sniff, Sentences(snum::open), false, "the test texts of WPT 2003";
    "wordalign" "Links and texts as XML" wordalign::sniff, Sentences(wordalign::open), false, "the Czech-English alignments of UFAL";
    "opennmt" "Attention of OpenNMT (lua)" blocks::sniff_opennmt, Sentences(blocks::open), false, "M4t1ss/SoftAlignments test_data/opennmt";
    "nematus" "Attention of Nematus" blocks::sniff_nematus, Sentences(blocks::open), false, "M4t1ss/SoftAlignments test_data/nematus";
    "sockeye" "Attention of Sockeye 1" blocks::sniff_sockeye, Sentences(blocks::open_sockeye), false, "M4t1ss/SoftAlignments test_data/marian2/one.txt";
    "marian-soft" "Output of Marian with weights" marian::sniff_soft, Sentences(marian::open_soft), false, "marian-regression-tests, soft.expected";
    "marian-hard" "Output of Marian with links" marian::sniff_hard, Sentences(marian::open_hard), false, "marian-regression-tests, align.expected";
    "nbest" "N-best lists (Moses)" nbest::sniff, Sentences(nbest::open), true, "marian-regression-tests, six lists; moses-smt";
    "neural-monkey" "Attention of Neural Monkey (.npy)" npy::sniff, Sentences(npy::open), false, "M4t1ss/SoftAlignments, 200 matrices";
    "subtitles" "Subtitles (SRT, WebVTT)" subtitles::sniff, Sentences(subtitles::open), false, "SubtitleEdit/subtitleedit UnitTests/Files; glut23/webvtt-py tests";
    "judgements" "Judgements of this program" recognise::judgements, OfCorpus(Judgements), true, "this program";
    "mqm" "Errors marked by raters (MQM)" recognise::mqm, OfCorpus(Mqm), true, "google/wmt-mqm-human-evaluation, TED and newstest2020";
    "pearmut" "Ratings and marks of Pearmut" recognise::pearmut, OfCorpus(Pearmut), true, "zouharvi/pearmut examples/annotated_cache";
    "comet" "Scores and marks of COMET (JSON)" recognise::comet, OfCorpus(Comet), false, "Unbabel/COMET, comet-score --to_json";
    "conllu" "Words with parts of speech (CoNLL-U)" recognise::conllu, OfCorpus(Conllu), true, "UniversalDependencies/UD_French-PUD, UD_English-PUD";
    "phrase-table" "Phrase table (Moses)" recognise::phrase_table, Refused("holds phrase pairs and no sentences; give it to `interlinear score --phrase-table`"), true, "tables of Moses";
    "comet-log" "Scores as comet-score prints them" recognise::comet_log, OfCorpus(Scores), false, "Unbabel/COMET, comet-score";
    "wmt-scores" "Scores of the WMT's metrics tasks" recognise::wmt_scores, OfCorpus(Scores), false, "google/wmt-mqm-human-evaluation, avg_seg_scores.tsv";
    "markup" "Marked-up text" recognise::markup, Refused("is text between tags (XML, SGML or HTML), and tags are no sentences; keep the sentences alone, one a line, or give a web page to `interlinear documents`"), false, "AppraiseDev/Appraise, WMT's XML; .sgm of the WMT; XCES of OPUS";
    "other-texts" "Subtitles or messages of other kinds" recognise::other_texts, Refused("has subtitles (.ass, .sbv) or messages (.po) of a kind that is not read; convert it to .srt, TMX or a table with tabs"), false, "SubtitleEdit/subtitleedit UnitTests/Files";
    "sides" "Two texts a line (fast_align)" recognise::sides, Refused("has two texts in each line, with ` ||| ` between; put a tab between them"), false, "clab/fast_align";
    "scheme" "Scheme of errors" recognise::scheme, Refused("is a scheme of errors, as `analyse --format scheme` writes it; give it to `analyse --scheme FILE`"), true, "this program";
    "giza" "Alignments of GIZA++ (A3.final)" recognise::giza, Refused("is an A3.final file of GIZA++; turn both directions into links with Moses' symal, and import its lines such as `0-0 1-2`"), false, "moses-smt/giza-pp";
    "softalignments-js" "Data of SoftAlignments (JavaScript)" recognise::softalignments, Refused("is data that SoftAlignments made for its web pages; import the file of the toolkit from which it made them"), false, "M4t1ss/SoftAlignments web/data";
    "matrix" "Numbers" recognise::matrix, Refused("holds rows of numbers and no sentences; give scores, a line for each sentence, to `analyse --scores NAME.SYSTEM=FILE`, and save weights of an alignment in a format that has the words, such as Nematus' or Marian's, or as .npy"), false, "matrices as numpy and PyTorch print them";
    "spaced" "Table with spaces" recognise::spaced, Refused("is called a table, but its cells are parted by spaces; save it with tabs between them"), false, "google/wmt-mqm-human-evaluation, avg_seg_scores.tsv";
    "json" "JSON" recognise::json, Refused("is JSON of a kind that is not known here; save its sentences as plain text or TSV"), false, "AppraiseDev/Appraise Examples/*.json";
};

/// The kinds that a file may be of, the likeliest first, each with how likely it is, from 1 to 100.
pub fn guess(path: &Path) -> Result<Vec<(&'static FormatEntry, u8)>> {
    Ok(guesses(&ImportInput::open(path, None)?))
}

fn guesses(input: &ImportInput) -> Vec<(&'static FormatEntry, u8)> {
    let (name, head) = (input.name(), input.head());
    let sample = FileSample { name: &name, bytes: &input.sample, head: &head };
    let likely = FORMATS.iter().map(|entry| (entry, (entry.sniff)(&sample)));
    let mut likely: Vec<_> = likely.filter(|(_, score)| *score > 0).collect();
    likely.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    likely
}

/// The kind of a file, as [`decide`] finds it.
pub fn kind_of(path: &Path, options: &ImportOptions) -> Result<&'static FormatEntry> {
    if require_file(path)?.len() == 0 {
        return Err(Error::file(path, "is empty; choose a file with at least one line"));
    }
    decide(&ImportInput::open(path, options.encoding.as_deref())?, options)
}

/// The kind of a file: from the options, else the likeliest that fits its role and columns.
pub fn decide(input: &ImportInput, options: &ImportOptions) -> Result<&'static FormatEntry> {
    if let Some(name) = &options.format {
        return FORMATS.iter().find(|entry| entry.name == name).ok_or_else(|| unknown_format(name));
    }
    // A text may consist of links and scores, and a table whose columns are given is one.
    let is_text = options.is_role_sure && matches!(options.role, Some(Role::Source | Role::Reference));
    let fits = |entry: &&FormatEntry| match entry.reading {
        OfCorpus(_) => options.columns.is_empty(),
        _ => !(is_text && entry.is_links()),
    };
    let none = || Error::Internal("a file is of no kind, and text is any".to_owned());
    guesses(input).into_iter().map(|(entry, _)| entry).find(fits).ok_or_else(none)
}

fn unknown_format(name: &str) -> Error {
    let names: Vec<&str> = FORMATS.iter().map(|entry| entry.name).collect();
    Error::Input(format!("`{name}` is no format of files; choose one of {}", names.join(", ")))
}
