//! The statistical aligner, for the commands whose links may come from it: learned from the text at hand and
//! further corpora, or before.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::{args::PairArgs, output, progress::ProgressLine};
use engine::aligner::corpus::{CorpusBuilder, RARE};
use engine::aligner::learn::{LearningProgress as Learning, learn, pairs_of_all_passes};
use engine::aligner::learned::{Directions, Learned};
use engine::aligner::words::{Cutter, LineAligner};
use engine::error::{Error, Result};
use engine::text::language::of_file as language_of;
use engine::text::reader::{MOST_LINES, MOST_TEXT};
use engine::{aligner::settings::AlignerSettings, text::parallel::ParallelReader, ticket::CancellationToken};

/// As typed.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct StatisticalArgs {
    /// Take the links of a statistical aligner, which learns from parallel text alone: --source and --target, and what
    /// --corpus-source and --corpus-target name
    #[arg(long, help_heading = HEADING)]
    statistical: bool,
    /// More text to learn from, packed or not; may be given several times
    #[arg(long, value_name = "FILE", requires = "statistical", help_heading = HEADING)]
    corpus_source: Vec<PathBuf>,
    /// Its translations, line by line, once for each --corpus-source
    #[arg(long, value_name = "FILE", requires = "statistical", help_heading = HEADING)]
    corpus_target: Vec<PathBuf>,
    /// Use an aligner that `align --statistical --save` wrote, and learn nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["corpus_source", "corpus_target"], help_heading = HEADING)]
    pub(crate) learned: Option<PathBuf>,
    /// Language whose rules split the source text into words, such as `fr`; by default from the file's name (`text.fr`)
    #[arg(long, value_name = "TAG", help_heading = HEADING)]
    source_language: Option<String>,
    /// The same for the target text
    #[arg(long, value_name = "TAG", help_heading = HEADING)]
    target_language: Option<String>,
}

const HEADING: &str = "Statistical aligner";

/// Called with the words of each pair and their links.
pub type EachAligned<'a> = dyn FnMut(&[Box<str>], &[Box<str>], Directions) + 'a;

/// The text that is to be aligned.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    pub files: (&'a Path, &'a Path),
    pub pairs: &'a [(&'a str, &'a str)],
    /// The words are split by spaces already.
    pub pretokenized: bool,
}

impl StatisticalArgs {
    /// Whether links come from here.
    pub fn asked(&self) -> bool {
        self.statistical || self.learned.is_some()
    }

    /// Reads what was learned, or learns from the text and the corpora.
    pub fn aligner(&self, text: Text<'_>, threads: usize) -> Result<LineAligner> {
        if let Some(path) = &self.learned {
            let learned = Learned::open(path)?;
            let (source, target) = self.cutters(text, Some(&learned.languages));
            return Ok(LineAligner::new(learned, source, target));
        }
        let (mut source, mut target) = self.cutters(text, None);
        let mut reading = CorpusBuilder::default();
        let mut bytes = 0;
        for (x, y) in text.pairs {
            bytes += (x.len() + y.len()) as u64;
            reading.push(&source.cut(x).words, &target.cut(y).words);
        }
        let room = Room { pairs: MOST_LINES, bytes: MOST_TEXT - bytes.min(MOST_TEXT) };
        gather(&mut reading, &self.corpora()?, (&mut source, &mut target), &room)?;
        if reading.left_out > 0 {
            output::notify(&format!("{} pairs with an empty or very long side teach nothing", reading.left_out));
        }
        let mut learned = learn_from(reading, threads)?;
        if !text.pretokenized {
            learned.languages = self.languages(text, None);
        }
        Ok(LineAligner::new(learned, source, target))
    }

    /// Learns from a pair of files alone or with the corpora, and hands on the words of each pair of lines as the aligner
    /// cuts them, with the links of both directions.
    pub fn align(&self, pairs: &PairArgs, threads: usize, each: &mut EachAligned<'_>) -> Result<()> {
        let lines = pairs.read()?;
        let lines: Vec<(&str, &str)> = lines.iter().map(|(x, y)| (x.as_str(), y.as_str())).collect();
        let files = (pairs.source.as_path(), pairs.target.as_path());
        let text = Text { files, pairs: &lines, pretokenized: pairs.pretokenized };
        let mut aligner = self.aligner(text, threads)?;
        for (source, target) in lines {
            let (x, y, links) = aligner.words(source, target);
            each(&x.words, &y.words, links);
        }
        Ok(())
    }

    fn corpora(&self) -> Result<Vec<(PathBuf, PathBuf)>> {
        let (sources, targets) = (self.corpus_source.len(), self.corpus_target.len());
        if sources != targets {
            let counts = format!("--corpus-source is there {sources} times and --corpus-target {targets} times");
            return Err(Error::Input(format!("{counts}; give both for each corpus")));
        }
        Ok(self.corpus_source.iter().cloned().zip(self.corpus_target.iter().cloned()).collect())
    }

    fn cutters(&self, text: Text<'_>, known: Option<&(String, String)>) -> (Cutter, Cutter) {
        let (source, target) = self.languages(text, known);
        (Cutter::new(&source, text.pretokenized), Cutter::new(&target, text.pretokenized))
    }

    /// The language given, else the one that was learned with, else the one in the names of the files.
    pub fn languages(&self, text: Text<'_>, known: Option<&(String, String)>) -> (String, String) {
        let pick = |asked: &Option<String>, known: Option<&String>, file: &Path| {
            let known = known.filter(|known| !known.is_empty()).cloned();
            asked.clone().or(known).unwrap_or_else(|| language_of(file))
        };
        (
            pick(&self.source_language, known.map(|known| &known.0), text.files.0),
            pick(&self.target_language, known.map(|known| &known.1), text.files.1),
        )
    }
}

/// Learns from pairs of files, whose lines are cut so.
pub fn learn_text(
    files: &[(PathBuf, PathBuf)], (mut source, mut target): (Cutter, Cutter), threads: usize,
) -> Result<LineAligner> {
    let mut reading = CorpusBuilder::default();
    gather(&mut reading, files, (&mut source, &mut target), &Room { pairs: MOST_LINES, bytes: MOST_TEXT })?;
    Ok(LineAligner::new(learn_from(reading, threads)?, source, target))
}

/// The most pairs in all and the most bytes of further text that are held in memory.
struct Room {
    pairs: usize,
    bytes: u64,
}

fn gather(
    reading: &mut CorpusBuilder, corpora: &[(PathBuf, PathBuf)], (source, target): (&mut Cutter, &mut Cutter),
    room: &Room,
) -> Result<()> {
    let mut bar = ProgressLine::new("reading", None, false);
    let mut corpora = ParallelReader::new(corpora).learned_from();
    let mut bytes = 0;
    while let Some((x, y)) = corpora.next().transpose()? {
        let kept = reading.len();
        let (cut_x, cut_y) = (source.cut(&x), target.cut(&y));
        bar.add(1, cut_x.words.len() + cut_y.words.len(), 0);
        reading.push(&cut_x.words, &cut_y.words);
        if reading.len() > kept {
            bytes += (x.len() + y.len()) as u64;
        }
        if reading.len() > room.pairs || bytes > room.bytes {
            let (path, line) = corpora.source().map_or((Path::new(""), 0), |source| (source.path(), source.line()));
            let most = format!("more than {} pairs or 2 GiB, too much to be held in memory", room.pairs);
            let message = format!("is where the text that is learned from has {most}; give fewer or shorter corpora");
            return Err(Error::line(path, line, message));
        }
    }
    bar.finish();
    Ok(())
}

fn learn_from(reading: CorpusBuilder, threads: usize) -> Result<Learned> {
    let (settings, pairs) = (AlignerSettings::default(), reading.len());
    let mut bar = ProgressLine::new("learning to align", Some(pairs_of_all_passes(pairs, &settings) as u64), false);
    let mut reported = 0;
    let learned = learn(reading.finish(RARE), &settings, threads, &CancellationToken::forever(), &mut |progress| {
        if let Learning::Pairs(done) = progress {
            bar.add(done.saturating_sub(reported), 0, done as u64);
            reported = reported.max(done);
        }
    });
    bar.finish();
    learned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_says_its_language() {
        for (name, language) in
            [("a/train.00.fr.zst", "fr"), ("text.EN", "en"), ("news.de.txt", "de"), ("fr", "und"), ("-", "und")]
        {
            assert_eq!(language_of(Path::new(name)), language);
        }
    }

    #[test]
    fn further_corpora_were_read_into_memory_without_a_limit() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a temporary folder");
            path
        };
        let corpora = [(file("a", "a b\n\na b\na b\n"), file("x", "x y\n\nx y\nx y\n"))];
        let cutter = || Cutter::new("und", true);
        let gathered = |corpora: &[(PathBuf, PathBuf)], pairs: usize, bytes: u64| {
            let mut reading = CorpusBuilder::default();
            gather(&mut reading, corpora, (&mut cutter(), &mut cutter()), &Room { pairs, bytes })
                .map(|()| reading.len())
                .map_err(|error| error.to_string())
        };
        assert_eq!(gathered(&corpora, 3, 18), Ok(3));
        let twice = [corpora[0].clone(), corpora[0].clone()];
        for (corpora, pairs, bytes, line) in [(&corpora[..], 2, 99, 4), (&corpora, 3, 17, 4), (&twice, 4, 99, 3)] {
            let reported = gathered(corpora, pairs, bytes).expect_err("too much");
            let expected =
                format!("a, line {line}: is where the text that is learned from has more than {pairs} pairs");
            assert!(reported.contains(&expected), "{reported}");
        }
    }
}
