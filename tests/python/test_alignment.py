"""The statistical aligner and the alignment error rate."""

from __future__ import annotations

import math

import interlinear as il
import pytest

WORDS = {
    "the": "la",
    "a": "une",
    "red": "rouge",
    "house": "maison",
    "small": "petite",
    "old": "vieille",
    "table": "table",
}


def pairs():
    """Sentences whose words stand crosswise, so that only what is learned can link them."""
    adjectives, nouns = ["red", "small", "old"], ["house", "table"]
    kinds = [(x, a, n) for x in ("the", "a") for a in adjectives for n in nouns for _ in range(6)]
    return [" ".join(kind) for kind in kinds], [f"{WORDS[x]} {WORDS[n]} {WORDS[a]}" for x, a, n in kinds]


def test_links_are_learned_and_the_same_again():
    x, y = pairs()
    links = il.align(x, y, languages="en-fr")
    assert len(links) == len(x) and links == il.align(x, y, languages=("en", "fr"), threads=2)
    right = [sorted(one) == [(0, 0), (1, 2), (2, 1)] for one in links]
    assert sum(right) > len(right) * 0.8, links[:3]
    gold = ["0-0 1-2 2-1"] * len(x)
    assert il.aer(links, gold).aer < 0.1
    forward, union = il.align(x, y, symmetrize="forward"), il.align(x, y, symmetrize="union")
    assert all(set(some) <= set(more) for some, more in zip(forward, union))


def test_an_aligner_is_kept(tmp_path):
    x, y = pairs()
    aligner = il.Aligner(x, y, languages="en-fr")
    aligner.save(tmp_path / "kept.aligner")
    again = il.Aligner.load(tmp_path / "kept.aligner")
    assert again.align(x, y) == aligner.align(x, y) == il.align(x, y, languages="en-fr")
    bundled = il.Aligner.bundled("en-fr").align(["The red house is small ."], ["La maison rouge est petite ."])
    assert (2, 1) in bundled[0] and (1, 2) in bundled[0]


def test_the_error_rate_is_that_of_och_and_ney():
    # A = 3 links, S = 2, P adds one: |A and S| = 1, |A and P| = 2.
    found = il.aer([[(0, 0), (1, 1), (2, 2)]], ["0-0 1?1 2-3"])
    assert (found.found, found.sure, found.found_sure, found.found_possible) == (3, 2, 1, 2)
    assert found.aer == pytest.approx(1 - (1 + 2) / (3 + 2)) == float(found)
    assert found.precision == pytest.approx(2 / 3) and found.recall == pytest.approx(1 / 2)
    assert il.aer(["0-0 1-1 2-2"], [([(0, 0), (2, 3)], [(1, 1)])]) == found
    assert il.aer(["0-0"], ["0-0"]).aer == 0.0 and math.isnan(il.aer([], []).aer)
    assert il.pharaoh("0-0 3?1") == ([(0, 0)], [(3, 1)])


def test_links_of_a_translation_count_words(tiny):
    t = tiny.score("s1 s2 s3", "t1 t2", pretokenized=True)
    assert [target for _, target in t.links()] == [0, 1] and all(0 <= source < 3 for source, _ in t.links())
    for source, target in t.links():
        assert t.alpha[target, source] == t.alpha[target, :3].max()
    assert len(t.links(threshold=0.01)) == 6 and t.links(threshold=1.0) == []


@pytest.mark.parametrize(
    "call, error, sentence",
    [
        (lambda: il.align(["a"], []), ValueError, "1 sources and 0 targets"),
        (lambda: il.align([""], [""]), ValueError, "nothing to learn from"),
        (lambda: il.align("a b", ["x", "y", "z"]), TypeError, "give a list for sources, not one str"),
        (lambda: il.align(["x", "y", "z"], "a b"), TypeError, "give a list for targets, not one str"),
        (lambda: il.Aligner.bundled("en-fr").align("a", "b"), TypeError, "give a list for sources"),
        (lambda: il.aer("0-0", ["0-0"]), TypeError, "give a list for links"),
        (lambda: il.aer(["0-0"], "0-0"), TypeError, "give a list for gold"),
        (lambda: il.align(["a"], ["b"], symmetrize="both"), ValueError, "there is no both; choose forward"),
        (lambda: il.align(["a"], ["b"], languages="english"), ValueError, 'such as "en-fr"'),
        (lambda: il.Aligner.bundled("xx-yy"), ValueError, "no aligner comes along for xx and yy"),
        (lambda: il.Aligner.load("nowhere.aligner"), FileNotFoundError, "nowhere.aligner"),
        (lambda: il.aer([[(0, 0)]], []), ValueError, "links of 1 sentence pairs and gold of 0"),
        (lambda: il.aer(["0:0"], ["0-0"]), ValueError, "0:0"),
        (lambda: il.aer([[(0,)]], ["0-0"]), ValueError, "are no links"),
        (lambda: il.aer([[(0, -1)]], ["0-0"]), ValueError, "from 0"),
    ],
)
def test_what_makes_no_sense_is_refused(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
