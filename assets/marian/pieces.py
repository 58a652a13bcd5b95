"""Pieces and their links: `learn DIR`, `words DIR NAME`, `project DIR NAME` (see prepare.sh)."""
import collections
import itertools
import re
import sys
import unicodedata

import sentencepiece as spm

VOCABULARY = 8_000
TRAINED_ON = ("tatoeba", "multi30k", "news", "europarl")
WORDS = {
    "en": re.compile(r"['’]\w+|\w+|[^\w\s]"),
    "fr": re.compile(r"aujourd['’]hui|\w+['’](?=\w)|\w+|[^\w\s]", re.IGNORECASE),
}

# No piece crosses a border of these: `l'` `homme`, `can` `'t`, `est-ce`, `pas` `.`
UNITS = {side: re.compile(words.pattern.replace(r"|\w+|", r"|[\w-]+|"), re.IGNORECASE) for side, words in WORDS.items()}


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def rules(path):
    """Letters and their accents become one, every kind of space a plain one, curly apostrophes and double quotes straight."""
    found = {(ord(c),): "'" for c in "’ʼ"} | {(ord(c),): '"' for c in "“”„"} | {(0x2026,): "..."}
    found |= {(code,): " " for code in [0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000, 0x09]}
    for code in range(0xC0, 0x180):
        parts = unicodedata.normalize("NFD", chr(code))
        if len(parts) > 1:
            found[tuple(map(ord, parts))] = chr(code)
    with open(path, "w", encoding="utf-8") as file:
        for key, value in sorted(found.items()):
            file.write(" ".join(f"{code:X}" for code in key) + "\t" + " ".join(f"{ord(c):X}" for c in value) + "\n")


def learn(folder):
    """From units with their counts, so that no piece crosses a border of them; a space is the mark of a word's beginning."""
    counts = collections.Counter()
    for name, side in itertools.product(TRAINED_ON, ("en", "fr")):
        for word in itertools.chain.from_iterable(map(str.split, lines(f"{folder}/{name}.{side}"))):
            for at, unit in enumerate(UNITS[side].findall(word)):
                counts[unit if at else " " + unit] += 1 if name == "europarl" else 3
    with open(f"{folder}/units.tsv", "w", encoding="utf-8") as file:
        for unit, count in counts.most_common():
            file.write(f"{unit}\t{count}\n{unit},\t1\n")  # the trainer takes a piece only if it is in two different units
    rules(f"{folder}/rules.tsv")
    spm.SentencePieceTrainer.train(
        input=f"{folder}/units.tsv", input_format="tsv", model_prefix=f"{folder}/vocab.enfr", vocab_size=VOCABULARY,
        model_type="unigram", normalization_rule_tsv=f"{folder}/rules.tsv", split_by_unicode_script=False,
        add_dummy_prefix=False, remove_extra_whitespaces=False, character_coverage=0.9999, num_threads=1,
        bos_id=-1, eos_id=0, unk_id=1, pad_id=-1, minloglevel=1,
    )
    with open(f"{folder}/vocab.enfr.model", "rb") as file:
        model = file.read()
    off, on = b"\x18\x00\x20\x00", b"\x18\x01\x20\x01"  # add_dummy_prefix and remove_extra_whitespaces of normalizer_spec
    assert model.count(off) == 1
    with open(f"{folder}/vocab.enfr.spm", "wb") as file:
        file.write(model.replace(off, on))


def is_good(source, target):
    """Whether a distilled line may be taken: not empty, no unknown word, nothing said over and over, no odd length."""
    words = target.split()
    trigrams = list(zip(words, words[1:], words[2:]))
    if not words or "[UNK]" in target or "<unk>" in target or "⁇" in target:
        return False
    if any(a == b == c for a, b, c in trigrams) or len(trigrams) - len(set(trigrams)) > 1:
        return False
    return len(words) <= 2 * len(source.split()) + 4


def words(folder, name):
    """The originals and the distilled pairs, normalised as the pieces are, and their words for the aligner."""
    model = spm.SentencePieceProcessor(model_file=f"{folder}/vocab.enfr.spm")
    pairs = list(zip(lines(f"{folder}/{name}.en"), lines(f"{folder}/{name}.fr"), strict=True))
    made = list(zip(lines(f"{folder}/{name}.distinct"), lines(f"{folder}/{name}.distilled"), strict=True))
    good = [pair for pair in made if is_good(*pair)]
    print(f"{name}: {len(pairs)} originals, {len(good)} distilled of {len(made)}", file=sys.stderr)
    for at, side in enumerate(("en", "fr")):
        texts = [model.normalize(pair[at]).replace("▁", " ").strip() for pair in pairs + good]
        with open(f"{folder}/{name}.all.{side}", "w", encoding="utf-8") as file:
            file.writelines(text + "\n" for text in texts)
        with open(f"{folder}/{name}.words.{side}", "w", encoding="utf-8") as file:
            file.writelines(" ".join(WORDS[side].findall(text)) + "\n" for text in texts)


def cover(model, text, side):
    """For each word the pieces that have a letter of it."""
    owner = {}
    for at, word in enumerate(WORDS[side].finditer(text)):
        owner.update(dict.fromkeys(range(*word.span()), at))
    found, place = {}, -1
    for number, piece in enumerate(model.encode(text, out_type=str)):
        for letter in piece:
            if place in owner and letter != "▁":
                found.setdefault(owner[place], set()).add(number)
            place += 1
    assert place == len(text), text
    return found


def project(folder, name):
    model = spm.SentencePieceProcessor(model_file=f"{folder}/vocab.enfr.spm")
    sides = [lines(f"{folder}/{name}.{end}") for end in ("all.en", "all.fr", "words.links")]
    with open(f"{folder}/{name}.all.align", "w", encoding="utf-8") as file:
        for source, target, links in zip(*sides, strict=True):
            ours, theirs = cover(model, source, "en"), cover(model, target, "fr")
            pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
            made = {(i, j) for a, b in pairs for i in ours.get(a, ()) for j in theirs.get(b, ())}
            file.write(" ".join(f"{i}-{j}" for i, j in sorted(made)) + "\n")


if __name__ == "__main__":
    {"learn": learn, "words": words, "project": project}[sys.argv[1]](*sys.argv[2:])
