//! Every reader of files that a stranger may have made. A new reader is one line of [`READERS`], one function, and a
//! folder of small files in `tests/corpus`.
//!
//! `tests/readers` runs them on damaged copies of these files; `tests/fuzz/run` lets libFuzzer look for inputs that reach
//! further.

use std::path::Path;

use interlinear::aligner::{learned::Learned, pair::PairPosteriors};
use interlinear::error::{Error, Result};
use interlinear::import::{self, FORMATS, ImportOptions, Record};
use interlinear::models::origins::marian::{self, MarianTensors};
use interlinear::models::{checkpoint::Weights, config::Config, origins::ORIGINS, origins::marian_bin::MarianBin};
use interlinear::models::{origins::marian_npz, origins::marian_options::MarianOptions, shapes};
use interlinear::session::{
    driver::OpenWith, lessons::handout::solutions, lessons::script, persist::load_or_set_aside,
};
use interlinear::text::lines::{Needle, TextFile};
use interlinear::text::links::read::{self as links, LinkLayout};
use interlinear::text::reader::{LineReader, read_file};
use interlinear::text::{foreign::vocabulary::Vocabulary, links::Link, phrases::PhraseTable, tokenizer::Tokenizer};
use interlinear::training::{curves::Curves, settings::TrainingSettings, state::Checkpoint};
use interlinear::{
    corpus::store::corpus::CorpusTable, corpus::store::file::Workspace, interventions::InterventionFile,
};
use interlinear::{session::state::Session, text::dictionary::Dictionary, text::foreign::sentencepiece::SentencePiece};

pub struct Reader {
    pub name: &'static str,
    pub read: fn(&Path) -> Result<()>,
}

pub const READERS: &[Reader] = &[
    Reader { name: "config", read: config },
    Reader { name: "weights", read: weights },
    Reader { name: "tokenizer", read: tokenizer },
    Reader { name: "lines", read: lines },
    Reader { name: "packed", read: lines },
    Reader { name: "links", read: alignments },
    Reader { name: "import", read: imported },
    Reader { name: "phrases", read: phrases },
    Reader { name: "dictionary", read: dictionary },
    Reader { name: "state", read: state },
    Reader { name: "training", read: training },
    Reader { name: "checkpoint", read: checkpoint },
    Reader { name: "log", read: log },
    Reader { name: "workspace", read: workspace },
    Reader { name: "tmx", read: |path| import_as(path, Some("tmx")) },
    Reader { name: "xliff", read: |path| import_as(path, Some("xliff")) },
    Reader { name: "npy", read: |path| import_as(path, Some("neural-monkey")) },
    Reader { name: "npz", read: npz },
    Reader { name: "marian-bin", read: marian_bin },
    Reader { name: "opennmt", read: |path| opened(path, "input.pt", "OpenNMT-py checkpoint") },
    Reader { name: "joey", read: |path| joey(path, "best.ckpt") },
    Reader { name: "joey-settings", read: |path| joey(path, "config.yaml") },
    Reader { name: "aligner", read: aligner },
    Reader { name: "lesson", read: lesson },
    Reader { name: "interventions", read: interventions },
    Reader { name: "sentencepiece", read: sentencepiece },
    Reader { name: "vocabulary", read: vocabulary },
    Reader { name: "codes", read: codes },
];

const SIZES: &str = include_str!("../corpus/config/sound-small.json");
const PARAMETERS: usize = 4;
const MOST_LESSON: u64 = 1 << 20;
const LENGTHS: &[(usize, usize)] = &[(3, 4), (2, 2), (5, 1)];

fn config(path: &Path) -> Result<()> {
    let config = Config::load(path)?;
    let again = Config::from_json(path, &config.to_json())?;
    assert_eq!(config, again, "what is written is what was read");
    Ok(())
}

fn weights(path: &Path) -> Result<()> {
    let config = Config::from_json(Path::new("config.json"), SIZES)?;
    let weights = Weights::load(path, &shapes(&config))?;
    let finite = weights.iter().all(|(_, array)| array.data.iter().all(|number| number.is_finite()));
    assert!(finite, "a number that is not finite was taken in");
    Ok(())
}

fn tokenizer(path: &Path) -> Result<()> {
    try_out(&Tokenizer::from_file(path)?);
    Ok(())
}

fn try_out(tokenizer: &Tokenizer) {
    for text in ["", "A cat sat, didn't it?\u{301} ", "\u{202e}één 猫\u{0}\t"] {
        let _ = interlinear::text::line::read(tokenizer, text, false);
        let _ = interlinear::text::line::read(tokenizer, text, true);
    }
    let _ = tokenizer.encode_words(&["cat", "", "[UNK]", "</s>"]);
}

fn sentencepiece(path: &Path) -> Result<()> {
    let model = SentencePiece::read(path)?;
    let words = words_beside(path, "</s>\n<unk>\n\u{2581}the\n>>fra<<\n")?;
    try_out(&Tokenizer::from_json(path, &model.tokenizer(Some(&words), true)?)?);
    try_out(&Tokenizer::from_json(path, &model.tokenizer(None, false)?)?);
    Ok(())
}

fn words_beside(path: &Path, words: &str) -> Result<Vocabulary> {
    let beside = path.with_extension("txt");
    std::fs::write(&beside, words).map_err(|error| Error::io(&beside, &error))?;
    Vocabulary::read(&beside, None)
}

fn vocabulary(path: &Path) -> Result<()> {
    let bytes = read_file(path, 1 << 20)?;
    let kind = match bytes.first() {
        Some(b'{' | b'[') => "json",
        _ if bytes.contains(&b':') || bytes.starts_with(b"- ") => "yml",
        _ => "txt",
    };
    let named = path.with_extension(kind);
    std::fs::copy(path, &named).map_err(|error| Error::io(&named, &error))?;
    let words = Vocabulary::read(&named, None)?;
    try_out(&Tokenizer::from_json(path, &words.words_tokenizer(None)?)?);
    Ok(())
}

fn codes(path: &Path) -> Result<()> {
    let words = words_beside(path, "</s>\n<unk>\nthe\nth@@\ne\n")?;
    try_out(&Tokenizer::from_json(path, &words.words_tokenizer(Some(path))?)?);
    Ok(())
}

fn lines(path: &Path) -> Result<()> {
    let count = LineReader::open(path)?.try_fold(0, |count, line| line.map(|_| count + 1))?;
    let file = TextFile::open(path)?;
    assert_eq!(file.len(), count, "both readers count the same lines");
    for number in [0, count / 2, count.saturating_sub(1), count, usize::MAX] {
        let _ = file.line(number);
    }
    let (found, _) = file.search(&Needle::new("A"), 0, usize::MAX);
    assert!(found.iter().all(|line| *line < count), "a line was found that is not there");
    Ok(())
}

fn alignments(path: &Path) -> Result<()> {
    let gold = links::read(path, LENGTHS, &LinkLayout::default())?;
    for (links, (source, target)) in gold.pairs.iter().zip(LENGTHS) {
        let inside = links.all().iter().all(|(link, _)| link.source < *source && link.target < *target);
        assert!(inside, "a link lies outside its sentence");
    }
    Ok(())
}

fn imported(path: &Path) -> Result<()> {
    let size = std::fs::metadata(path).map_or(0, |facts| facts.len() as usize);
    let _ = import_as(path, Some(FORMATS[size % FORMATS.len()].name));
    import_as(path, None)
}

fn import_as(path: &Path, format: Option<&str>) -> Result<()> {
    let mut import =
        import::open(path, &ImportOptions { format: format.map(str::to_owned), ..ImportOptions::default() })?;
    loop {
        let window = import.window(100)?;
        if window.is_empty() {
            break;
        }
        let (records, warnings) = window.read();
        import.warnings.absorb(warnings);
        records.iter().for_each(assert_sound);
    }
    import.warnings.kept.first().map_or(Ok(()), |warning| Err(Error::Input(warning.sentence.clone())))
}

fn assert_sound(record: &Record) {
    assert!(record.sentence > 0 && record.line > 0, "sentences and lines are counted from 1");
}

fn phrases(path: &Path) -> Result<()> {
    let mut table = PhraseTable::open(path)?;
    table.try_for_each(|line| line.map(drop))
}

fn dictionary(path: &Path) -> Result<()> {
    let dictionary = Dictionary::open(path)?;
    let _ = (dictionary.translate("Cat"), dictionary.translate(""), dictionary.translate("ǅ"));
    Ok(())
}

fn state(path: &Path) -> Result<()> {
    let found = load_or_set_aside(path);
    let session = Session::start(found.state, &OpenWith::default());
    drop(session);
    found.trouble.map_or(Ok(()), |trouble| Err(Error::Input(trouble)))
}

fn training(path: &Path) -> Result<()> {
    TrainingSettings::load(path).map(drop)
}

fn checkpoint(path: &Path) -> Result<()> {
    let checkpoint = Checkpoint::load(path, PARAMETERS)?;
    assert_eq!(checkpoint.weights.len(), PARAMETERS, "as many weights as the model has");
    Ok(())
}

fn workspace(path: &Path) -> Result<()> {
    let mut workspace = Workspace::open_existing(path)?;
    let _ = (workspace.look(), workspace.fold());
    let corpus = CorpusTable::read(&workspace)?;
    corpus.read_texts();
    let rows: Vec<u32> = (0..corpus.len().min(100) as u32).collect();
    corpus.read_for(&rows);
    let texts = [Some(&corpus.sources), corpus.systems.first().map(|column| &column.texts)];
    let far = texts.into_iter().flatten().find_map(|texts| texts.get(corpus.len()));
    assert_eq!(far, None, "there is a text behind the last sentence");
    let mut damages = corpus.damages.clone();
    for at in rows.iter().map(|at| *at as usize) {
        let _ = (workspace.sentence(at), workspace.gold(at), workspace.judgements_of(at));
        for column in &corpus.systems {
            let output = workspace.output(column.system.id, at);
            damages.extend(output.err().map(|error| error.to_string()));
        }
    }
    damages.extend(corpus.take_damages());
    damages.into_iter().next().map_or(Ok(()), |damage| Err(Error::Input(damage)))
}

fn aligner(path: &Path) -> Result<()> {
    let learned = Learned::open(path)?;
    let (source, target) = (["old", "mill", "zorglub"], ["moulin", "vieux"]);
    let links = learned.directions_in(&mut PairPosteriors::default(), &source, &target);
    let is_within = |link: &Link| link.source < source.len() && link.target < target.len();
    assert!(links.forward.iter().chain(&links.reverse).all(is_within), "a link lies outside its sentence");
    Ok(())
}

fn lesson(path: &Path) -> Result<()> {
    let text = read_file(path, MOST_LESSON)?;
    let text = String::from_utf8(text).map_err(|_| Error::file(path, "is not UTF-8"))?;
    let script = script::read(&text).map_err(|fault| Error::Input(fault.to_string()))?;
    let _ = solutions(&script, &[]);
    Ok(())
}

fn interventions(path: &Path) -> Result<()> {
    let mut file = InterventionFile::open(path)?;
    for _ in 0..3 {
        file.next_sentence()?;
    }
    file.finish()
}

fn npz(path: &Path) -> Result<()> {
    let (mut archive, options) = marian_npz::open(path)?;
    converted(path, &mut archive, &options)
}

fn opened(path: &Path, name: &str, origin: &str) -> Result<()> {
    let named = path.with_file_name(name);
    std::fs::copy(path, &named).map_err(|error| Error::io(&named, &error))?;
    read_as(&named, origin)
}

fn read_as(path: &Path, origin: &str) -> Result<()> {
    let origin = ORIGINS.iter().find(|entry| entry.name == origin).expect("an origin");
    let foreign = (origin.read)(path)?;
    foreign.check()?;
    try_out(&Tokenizer::from_json(path, &foreign.source)?);
    Ok(())
}

fn joey(path: &Path, name: &str) -> Result<()> {
    let others: [(&str, &[u8]); 4] = [
        ("best.ckpt", include_bytes!("../fixtures/origins/joey-gru/best.ckpt")),
        ("config.yaml", include_bytes!("../fixtures/origins/joey-gru/config.yaml")),
        ("src_vocab.txt", include_bytes!("../fixtures/origins/joey-gru/src_vocab.txt")),
        ("trg_vocab.txt", include_bytes!("../fixtures/origins/joey-gru/trg_vocab.txt")),
    ];
    for (other, bytes) in others {
        let to = path.with_file_name(other);
        let done = if other == name { std::fs::copy(path, &to).map(drop) } else { std::fs::write(&to, bytes) };
        done.map_err(|error| Error::io(&to, &error))?;
    }
    read_as(&path.with_file_name("best.ckpt"), "Joey NMT checkpoint")
}

fn marian_bin(path: &Path) -> Result<()> {
    let mut file = MarianBin::open(path)?;
    let options = file.options()?;
    converted(path, &mut file, &options)
}

fn converted(path: &Path, tensors: &mut dyn MarianTensors, options: &MarianOptions) -> Result<()> {
    let names = tensors.names();
    names.iter().try_for_each(|name| tensors.array(name).map(drop))?;
    let sizes = marian::sizes(options, tensors, true)?;
    let (config, weights) = marian::convert(path, tensors, options, sizes)?;
    let finite = weights.iter().all(|(_, array)| array.data.iter().all(|number| number.is_finite()));
    assert!(finite && weights.names().count() == shapes(&config).len(), "as many tensors as the model has");
    Ok(())
}

fn log(path: &Path) -> Result<()> {
    Curves::load(path).map(drop)
}
