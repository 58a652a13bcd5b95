//! What the bundled lessons say of the bundled models, page by page, of the sentence, the beam and the given translation
//! that the page has.

use std::path::{Path, PathBuf};
use std::{collections::HashMap, ops::Range};

use interlinear::decoding::ablate::{AlphaChange, ablate};
use interlinear::decoding::{Ensemble, Hypothesis, SearchOptions};
use interlinear::models::disk::{CONFIG_FILE, SOURCE_FILE, TARGET_FILE, WEIGHTS_FILE};
use interlinear::models::{Kernels, Model, Stepper};
use interlinear::text::sentence::{EOS, Sentence, UNK};
use interlinear::text::words::{translated, vocabulary_words};
use interlinear::{analysis::alignment::Alignment, analysis::words::merge_alpha, evaluation::ask::AskedSystem};
use interlinear::{evaluation::wording::text, nn::device::Device, session::lessons::things::LessonAction, text::line};

use super::{folder, script};
use crate::folder::Folder;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece {
    Whole,
    Unknown,
    Cut,
}

#[derive(Clone, Copy, Debug)]
enum Fact {
    Is(&'static str),
    Has(&'static str),
    Lacks(&'static str),
    Alpha(&'static str, &'static str, f32, f32),
    Greatest(&'static str, &'static str, bool),
    BetterThanGreedy,
    Reads(&'static str, Piece),
    Uniform(&'static str, bool),
}

use Fact::{Alpha, BetterThanGreedy, Greatest, Has, Is, Lacks, Reads, Uniform};

use crate::forever;

#[rustfmt::skip]
const FACTS: &[(&str, usize, &str, Fact)] = &[
    ("alignment", 0, "rnnsearch-en-fr", Is("La femme acheta des chaussures rouges.")),
    ("alignment", 0, "rnnsearch-en-fr", Greatest("woman", "femme", true)),
    ("alignment", 0, "rnnsearch-en-fr", Greatest("shoes", "chaussures", true)),
    ("alignment", 0, "rnnsearch-en-fr", Greatest("red", "rouges", true)),
    ("alignment", 2, "rnnsearch-en-fr", Alpha("red", "rouges", 0.85, 1.0)),
    ("alignment", 3, "rnnsearch-en-fr", Alpha("shoes", "des", 0.2, 1.0)),
    ("alignment", 3, "rnnsearch-en-fr", Alpha("bought", "des", 0.2, 1.0)),
    ("alignment", 3, "rnnsearch-en-fr", Alpha("shoes", "des", 0.0, 0.8)),
    ("annotation", 0, "rnnsearch-en-fr", Is("Je connais ton frère et je sais où il habite.")),
    ("annotation", 0, "rnnsearch-en-fr", Alpha("know", "connais", 0.895, 0.905)),
    ("annotation", 5, "rnnsearch-en-fr", Is("Elle porte des lunettes et il y a deux verres sur la table.")),
    ("attention-fails", 0, "rnnsearch-en-fr", Is("J'ai faim. Je veux manger.")),
    ("attention-fails", 2, "rnnsearch-en-fr", Is("Il boit du vin et de la bière et de la bière et du lait.")),
    ("attention-fails", 2, "rnnsearch-en-fr", Alpha("water", "bière", 0.34, 0.40)),
    ("attention-fails", 2, "rnnsearch-en-fr", Alpha("beer", "bière", 0.25, 0.30)),
    ("attention-fails", 3, "rnnsearch-en-fr", Alpha("water", "la", 0.36, 0.44)),
    ("attention-fails", 3, "rnnsearch-en-fr", Alpha("beer", "la", 0.395, 0.405)),
    ("attention-fails", 6, "rnnsearch-guided-en-fr", Is("J'ai faim. Je veux manger. Est-ce qu'il y a du pain ?")),
    ("attention-fails", 7, "luong-global-en-fr", Has("trois sœurs")),
    ("attention-fails", 7, "luong-global-en-fr", Alpha(",", "trois", 0.95, 1.0)),
    ("bahdanau-luong", 0, "rnnsearch-en-fr", Is("Ma sœur a un petit chien blanc.")),
    ("bahdanau-luong", 0, "luong-global-en-fr", Is("Ma sœur a un petit chien blanc.")),
    ("bahdanau-luong", 0, "rnnsearch-en-fr", Alpha("white", "blanc", 0.9, 1.0)),
    ("bahdanau-luong", 0, "luong-global-en-fr", Alpha("white", "blanc", 0.9, 1.0)),
    ("bahdanau-luong", 0, "luong-global-en-fr", Alpha("</s>", "Ma", 0.905, 0.915)),
    ("beam-greedy", 1, "luong-global-en-fr", Has("laissé")),
    ("beam-greedy", 1, "luong-global-en-fr", Lacks("part")),
    ("beam-greedy", 3, "luong-global-en-fr", Has("part")),
    ("beam-greedy", 3, "luong-global-en-fr", BetterThanGreedy),
    ("bottleneck", 0, "rnnencdec-en-fr", Is("La femme acheta des chaussures rouges.")),
    ("bottleneck", 3, "rnnencdec-en-fr", Has("parapluie rouge")),
    ("bottleneck", 4, "rnnsearch-en-fr", Has("parapluie vert")),
    ("bottleneck", 4, "rnnsearch-en-fr", Alpha("green", "vert", 0.5, 1.0)),
    ("bottleneck", 5, "rnnencdec-en-fr", Lacks("femme")),
    ("bottleneck", 5, "rnnsearch-en-fr", Has("ma femme dormait")),
    ("copies", 0, "rnnsearch-small-0200", Alpha("red", "rouge", 0.0, 0.1)),
    ("copies", 0, "rnnsearch-small-0200", Greatest(".", "vin", true)),
    ("copies", 1, "rnnsearch-small-0500", Greatest("wine", "vin", true)),
    ("copies", 1, "rnnsearch-small-0500", Alpha("red", "rouge", 0.0, 0.1)),
    ("copies", 2, "rnnsearch-small-2000", Greatest("wine", "vin", true)),
    ("copies", 2, "rnnsearch-small-2000", Alpha("white", "blanc", 0.5, 1.0)),
    ("copies", 2, "rnnsearch-small-2000", Alpha("red", "rouge", 0.0, 0.5)),
    ("copies", 3, "rnnsearch-small-9000", Is("J'aime le vin rouge et le vin blanc.")),
    ("copies", 3, "rnnsearch-small-9000", Alpha("red", "rouge", 0.6, 1.0)),
    ("copies", 3, "rnnsearch-small-9000", Alpha("white", "blanc", 0.6, 1.0)),
    ("copies", 3, "rnnsearch-small-9000", Greatest("wine", "vin", true)),
    ("copies", 4, "rnnsearch-small-0200", Has("[UNK]")),
    ("explanation", 0, "rnnsearch-en-fr", Alpha("white", "blanche", 0.6, 1.0)),
    ("explanation", 0, "rnnsearch-en-fr", Uniform("blanche", true)),
    ("explanation", 2, "rnnsearch-en-fr", Is("Je ne fume pas.")),
    ("explanation", 2, "rnnsearch-en-fr", Greatest("smoke", "pas", true)),
    ("explanation", 2, "rnnsearch-en-fr", Uniform("pas", false)),
    ("explanation", 4, "luong-global-en-fr", Alpha("</s>", "La", 0.5, 1.0)),
    ("explanation", 4, "luong-global-en-fr", Alpha("The", "La", 0.0, 0.3)),
    ("global-local", 2, "luong-local-p-en-fr", Has("maison blanche")),
    ("global-local", 2, "luong-local-p-en-fr", Greatest("white", "blanche", true)),
    ("learning", 0, "rnnsearch-en-fr", Alpha("cat", "chat", 0.6, 1.0)),
    ("learning", 0, "rnnsearch-en-fr", Alpha("black", "noir", 0.6, 1.0)),
    ("learning", 0, "rnnsearch-en-fr", Alpha("chair", "chaise", 0.6, 1.0)),
    ("learning", 1, "rnnsearch-en-fr", Alpha("chair", "chaise", 0.6, 1.0)),
    ("learning", 3, "rnnsearch-en-fr", Is("Je ne fume pas.")),
    ("learning", 3, "rnnsearch-en-fr", Greatest("not", "pas", false)),
    ("learning", 3, "rnnsearch-en-fr", Alpha("not", "pas", 0.0, 0.3)),
    ("learning", 4, "rnnsearch-guided-en-fr", Alpha("not", "pas", 0.6, 1.0)),
    ("learning", 4, "rnnsearch-guided-en-fr", Alpha("I", "Je", 0.8, 1.0)),
    ("query-key-value", 0, "rnnsearch-en-fr", Has("maison blanche")),
    ("query-key-value", 0, "luong-global-en-fr", Has("maison blanche")),
    ("query-key-value", 0, "rnnsearch-en-fr", Alpha("white", "blanche", 0.5, 1.0)),
    ("query-key-value", 0, "luong-global-en-fr", Alpha("white", "blanche", 0.5, 1.0)),
    ("soft-hard", 0, "rnnsearch-en-fr", Is("Le chat noir dort sur la vieille chaise.")),
    ("soft-hard", 0, "rnnsearch-en-fr", Alpha("black", "noir", 0.7, 1.0)),
    ("soft-hard", 1, "rnnsearch-en-fr", Alpha("old", "la", 0.1, 1.0)),
    ("soft-hard", 1, "rnnsearch-en-fr", Alpha("the", "la", 0.1, 1.0)),
    ("soft-hard", 1, "rnnsearch-en-fr", Alpha("chair", "la", 0.1, 1.0)),
    ("transformer", 0, "rnnsearch-en-fr", Is("Ma sœur a un petit chien blanc.")),
    ("transformer", 0, "transformer-en-fr", Is("Ma sœur a un petit chien blanc.")),
    ("transformer", 0, "rnnsearch-en-fr", Alpha("white", "blanc", 0.925, 0.935)),
    ("transformer", 0, "transformer-en-fr", Alpha("white", "blanc", 0.99, 1.0)),
    ("unknown-words", 0, "rnnsearch-en-fr", Reads("axolotl", Piece::Unknown)),
    ("unknown-words", 0, "rnnsearch-en-fr", Is("Le [UNK] est un animal étrange.")),
    ("unknown-words", 1, "rnnsearch-en-fr", Greatest("axolotl", "[UNK]", true)),
    ("unknown-words", 1, "rnnsearch-en-fr", Alpha("axolotl", "[UNK]", 0.7, 1.0)),
    ("unknown-words", 3, "rnnsearch-en-fr", Reads("glorbit", Piece::Unknown)),
    ("unknown-words", 3, "rnnsearch-en-fr", Is("Le [UNK] est un animal étrange.")),
    ("unknown-words", 4, "rnnsearch-guided-en-fr", Reads("axolotl", Piece::Cut)),
    ("unknown-words", 4, "rnnsearch-guided-en-fr", Reads("animal", Piece::Whole)),
    ("unknown-words", 4, "rnnsearch-guided-en-fr", Lacks("[UNK]")),
    ("unknown-words", 4, "rnnsearch-guided-en-fr", Lacks("axolotl")),
    ("verb-last", 0, "rnnsearch-guided-en-fr", Is("Elle a acheté une voiture rouge.")),
    ("verb-last", 0, "rnnsearch-guided-en-de", Is("Sie hat ein rotes Auto gekauft.")),
    ("verb-last", 0, "rnnsearch-guided-en-fr", Alpha("bought", "acheté", 0.9, 1.0)),
    ("verb-last", 0, "rnnsearch-guided-en-fr", Alpha("red", "rouge", 0.9, 1.0)),
    ("verb-last", 0, "rnnsearch-guided-en-de", Alpha("has", "hat", 0.5, 1.0)),
    ("verb-last", 0, "rnnsearch-guided-en-de", Alpha("bought", "gekauft", 0.6, 1.0)),
    ("verb-last", 0, "rnnsearch-guided-en-de", Greatest("red", "rotes", true)),
    ("verb-last", 1, "rnnsearch-guided-en-de", Is("Er muss seinem Onkel einen langen Brief schreiben.")),
    ("verb-last", 1, "rnnsearch-guided-en-de", Alpha("must", "muss", 0.8, 1.0)),
    ("verb-last", 1, "rnnsearch-guided-en-de", Alpha("write", "schreiben", 0.8, 1.0)),
    ("verb-last", 1, "rnnsearch-guided-en-de", Alpha("uncle", "Onkel", 0.6, 1.0)),
    ("verb-last", 2, "rnnsearch-guided-en-de", Is("Ich weiß, dass er ein Haus gekauft hat.")),
    ("verb-last", 2, "rnnsearch-guided-en-de", Alpha("bought", "gekauft", 0.8, 1.0)),
    ("verb-last", 2, "rnnsearch-guided-en-de", Alpha("has", "hat", 0.2, 1.0)),
    ("verb-last", 2, "rnnsearch-guided-en-de", Alpha("has", "hat", 0.0, 0.6)),
    ("verb-last", 2, "rnnsearch-guided-en-de", Alpha(".", "hat", 0.2, 1.0)),
    ("verb-last", 2, "rnnsearch-guided-en-de", Uniform("hat", false)),
    ("verb-last", 3, "rnnsearch-guided-en-de", Is("Ich stehe jeden Morgen um sieben Uhr auf.")),
    ("verb-last", 3, "rnnsearch-guided-en-de", Alpha("get", "stehe", 0.6, 1.0)),
    ("verb-last", 3, "rnnsearch-guided-en-de", Greatest(".", "auf", true)),
    ("verb-last", 3, "rnnsearch-guided-en-de", Alpha("up", "auf", 0.0, 0.3)),
    ("verb-last", 3, "rnnsearch-guided-en-de", Uniform("auf", false)),
    ("verb-last", 3, "rnnsearch-guided-en-de", Uniform("stehe", true)),
    ("verb-last", 4, "rnnsearch-guided-en-de", Is("Sie sagt, dass ihr Bruder in einem Krankenhaus arbeitet.")),
    ("verb-last", 4, "rnnsearch-guided-en-de", Alpha("works", "arbeitet", 0.8, 1.0)),
    ("verb-last", 4, "rnnsearch-guided-en-de", Alpha("hospital", "Krankenhaus", 0.8, 1.0)),
    ("verb-last", 4, "rnnsearch-guided-en-de", Greatest("brother", "ihr", true)),
    ("verb-last", 5, "rnnencdec-en-de", Is("Sie sagt, sie arbeitet im Krankenhaus.")),
    ("verb-last", 5, "rnnencdec-en-de", Lacks("Bruder")),
];

struct Asked {
    system: Ensemble,
    stepper: Box<dyn Stepper>,
}

impl Asked {
    fn load(place: PathBuf) -> Self {
        let system = Ensemble::load(&place.into(), &Device::cpu()).expect("it loads");
        let stepper = system.stepper(Kernels::Fused, 2).expect("a stepper");
        Self { system, stepper }
    }

    fn said(&mut self, source: &Sentence, beam: usize, given: Option<&str>) -> Hypothesis {
        let (search, ticket) = (SearchOptions { beam, ..SearchOptions::default() }, forever());
        let system = (&self.system).into();
        let asked = AskedSystem { system, search: &search, batch: 1, reading: None, ticket: &ticket };
        let found = match given {
            None => asked.translate(&mut *self.stepper, &[&source.ids], &[]),
            Some(given) => {
                let target = line::read(&self.system.lead().target, given, false).expect("it is read");
                asked.force(&mut *self.stepper, &[(&source.ids, &target.ids)])
            }
        };
        found.expect("it translates").remove(0)
    }

    fn row(&self, source: &Sentence, said: &Hypothesis, [from, to]: [&str; 2]) -> (Vec<f32>, usize) {
        let lead = self.system.lead();
        let x = vocabulary_words(&lead.source, source, false);
        let (y, words) = translated(&lead.target, &said.tokens);
        let is_source = |word: &Range<usize>| {
            let span = source.spans[word.start].start..source.spans[word.end.max(1) - 1].end;
            let text = &source.text[span];
            text == from || text.is_empty() && from == EOS
        };
        let i = words.iter().position(|word| word == to).unwrap_or_else(|| panic!("no word {to}"));
        let j = x.iter().position(is_source).unwrap_or_else(|| panic!("no source word {from}"));
        let alpha = Alignment::from_rows(said.alpha.as_ref().expect("it aligns"));
        (merge_alpha(&alpha, &x, &y).row(i).to_vec(), j)
    }

    fn reads(&self, word: &str) -> Piece {
        let source = &self.system.lead().source;
        let (ids, unk) = (source.encode_with(word, None).ids, source.id(UNK));
        match ids.as_slice() {
            ids if ids.iter().any(|id| Some(*id) == unk) => Piece::Unknown,
            [_] => Piece::Whole,
            _ => Piece::Cut,
        }
    }

    fn changes(&mut self, source: &Sentence, said: &Hypothesis, word: &str) -> bool {
        let (y, words) = translated(&self.system.lead().target, &said.tokens);
        let at = words.iter().position(|other| other == word).unwrap_or_else(|| panic!("no word {word}"));
        let best = |log_p: &[f32]| log_p.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(id, _)| id);
        let mut changes = None;
        let pair = (source.ids.as_slice(), said.tokens.as_slice());
        ablate(&mut *self.stepper, pair, &[], &forever(), &mut |answer| {
            if answer.i == y[at].start && answer.change == AlphaChange::Uniform {
                changes = Some(best(answer.log_p) != best(answer.own));
            }
        })
        .expect("it is asked");
        changes.expect("the step was taken")
    }
}

#[test]
fn bundled_lessons_say_what_the_bundled_models_do() {
    check(&folder);
}

/// Also with the copies that packages and the site have.
#[test]
fn bundled_lessons_say_what_the_copies_in_packages_do() {
    let copies = Folder::new();
    let bits = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/packaging/bits.sh");
    check(&|name| {
        let said =
            std::process::Command::new("sh").args(["-c", ". \"$0\"; bits_of \"$1\""]).arg(&bits).arg(name).output();
        let bits = String::from_utf8(said.expect("a shell").stdout).expect("text");
        let (from, to) = (folder(name), copies.join(name));
        std::fs::create_dir(&to).expect("made");
        for file in [CONFIG_FILE, SOURCE_FILE, TARGET_FILE] {
            std::fs::copy(from.join(file), to.join(file)).expect("copied");
        }
        let whole = Model::load(&from, &Device::cpu()).expect("it loads");
        whole.weights.save_in_8_bits(&to.join(WEIGHTS_FILE), bits.trim().parse().expect("a number")).expect("written");
        to
    });
}

fn check(place: &dyn Fn(&str) -> PathBuf) {
    let mut models: HashMap<&str, Asked> = HashMap::new();
    let mut untrue = Vec::new();
    for &(key, page, model, fact) in FACTS {
        let (mut sentence, mut beam, mut given) = (String::new(), 5, None);
        for thing in script(key).things_before(page + 1) {
            match thing {
                LessonAction::Sentence(text) => sentence = text,
                LessonAction::Beam(wanted) => beam = wanted,
                LessonAction::Given(text) => given = text,
                _ => {}
            }
        }
        let asked = models.entry(model).or_insert_with(|| Asked::load(place(model)));
        let source = asked.system.lead().source.encode(&sentence);
        let said = asked.said(&source, beam, given.as_deref());
        let says = text(asked.system.lead(), &said, &source, None, false);
        let alpha = match fact {
            Alpha(from, to, ..) => {
                let (row, j) = asked.row(&source, &said, [from, to]);
                format!(" ({})", row[j])
            }
            _ => String::new(),
        };
        let is_so = match fact {
            Is(wanted) => says == wanted,
            Has(part) => says.contains(part),
            Lacks(part) => !says.contains(part),
            Alpha(from, to, least, most) => {
                let (row, j) = asked.row(&source, &said, [from, to]);
                (least..=most).contains(&row[j])
            }
            Greatest(from, to, is) => {
                let (row, j) = asked.row(&source, &said, [from, to]);
                row.iter().all(|alpha| *alpha <= row[j]) == is
            }
            BetterThanGreedy => said.log_p > asked.said(&source, 1, None).log_p,
            Reads(word, piece) => asked.reads(word) == piece,
            Uniform(word, is) => asked.changes(&source, &said, word) == is,
        };
        if !is_so {
            untrue.push(format!("{key}, page {page}: {fact:?} is not so of {model}, which says: {says}{alpha}"));
        }
    }
    assert!(untrue.is_empty(), "{}", untrue.join("\n"));
}
