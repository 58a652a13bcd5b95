"""Figures: of translations and of anybody's attention, in every format."""

from __future__ import annotations

import xml.etree.ElementTree as xml

import interlinear as il
import numpy as np
import pytest
from conftest import REFERENCE

ALPHA = [[0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.2, 0.7, 0.1]]
SOURCE, TARGET = ["the", "red", "house"], ["la", "maison", "rouge"]


def texts(svg):
    return [node.text for node in xml.fromstring(svg).iter() if node.tag.endswith("}text") and node.text]


def test_a_translation_shows_itself_and_is_saved(tiny, tmp_path):
    t = tiny.translate("s1 s2 s3", pretokenized=True)
    svg = t._repr_svg_()
    assert set(["s1", "s2", "s3"]) <= set(texts(svg))
    for name, magic in (("a.svg", b"<"), ("a.pdf", b"%PDF"), ("a.png", b"\x89PNG")):
        path = t.save(tmp_path / name, caption="A caption", legend=True, width=80)
        assert path.read_bytes().startswith(magic) and path.stat().st_size > 1000
    pdf = t.figure().pdf()
    assert pdf.startswith(b"%PDF") and t.figure().png().startswith(b"\x89PNG")
    assert "A caption" in texts(t.figure(caption="A caption").svg())
    with pytest.raises(ValueError, match="a.gif: is no kind of figure"):
        t.save(tmp_path / "a.gif")
    with pytest.raises(OSError, match="nowhere"):
        t.save(tmp_path / "nowhere" / "a.svg")
    with pytest.raises(TypeError):
        t.save(tmp_path / "a.svg", colour="red")
    for kind in ("heatmap", "links", "beam", "tree", "bars"):
        xml.fromstring(t.figure(kind=kind).svg())
    assert t.figure(words=False).svg() != ""


@pytest.mark.parametrize(
    "style, sentence",
    [
        (dict(kind="pie"), "there is no kind pie; choose heatmap, links, beam, tree, bars"),
        (dict(palette="rainbow"), "there is no palette rainbow; choose gray"),
        (dict(width=1), "width is 1"),
        (dict(dpi=1e9), "dpi is"),
        (dict(threshold="much"), "threshold is 'much'"),
    ],
)
def test_a_style_that_does_not_exist_is_refused(tiny, style, sentence):
    with pytest.raises(ValueError, match=sentence):
        tiny.translate("s1", pretokenized=True).figure(**style)


class Tensor:
    """What a tensor of torch does before it becomes an array."""

    def __init__(self, numbers, is_bare=False):
        self.numbers, self.is_bare = numbers, is_bare

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.numbers, True)

    def __array__(self, dtype=None, copy=None):
        assert self.is_bare, "it lies on a graphics card"
        return np.array(self.numbers, dtype=dtype)


@pytest.mark.parametrize("alpha", [ALPHA, np.array(ALPHA), np.array(ALPHA, dtype=np.float16).T.copy().T, Tensor(ALPHA)])
def test_anybodys_attention(alpha):
    figure = il.show(SOURCE, TARGET, alpha, title="Mine")
    assert set(SOURCE + TARGET) <= set(texts(figure.svg())) and "Mine" in figure.svg()
    assert figure._repr_svg_() == figure.svg()
    assert figure._native.words == (SOURCE, TARGET)
    np.testing.assert_allclose(figure._native.weights, ALPHA, atol=1e-3)


def test_rows_are_target_words():
    wide = il.show("a b c", "x", [[1, 0, 0]]).svg()
    tall = il.show("a", "x y z", [[1], [0], [0]]).svg()
    size = lambda svg: [float(xml.fromstring(svg).get(side).rstrip("pt")) for side in ("width", "height")]
    assert size(wide)[0] > size(tall)[0] and size(wide)[1] < size(tall)[1]
    assert "</s>" in texts(il.show("a b", "x", [[0.5, 0.5, 0], [0, 0, 1]]).svg())


@pytest.mark.parametrize(
    "source, target, alpha, sentence",
    [
        (SOURCE, TARGET, [[1, 0], [0, 1]], "2 by 2, and there are 3 target words .rows. and 3 source words"),
        ("a b", "x", [[0.1] * 5], "the source has 2 words and the weights are for 5"),
        (SOURCE, TARGET, [1, 2, 3], "the weights are 3; give a matrix"),
        (SOURCE, TARGET, np.zeros((8, 3, 3)), r"8 by 3 by 3.*mean"),
        (SOURCE, TARGET, "many", "no matrix of numbers"),
        (["a"], ["x"], [[float("nan")]], "NaN"),
    ],
)
def test_attention_that_does_not_fit_is_refused(source, target, alpha, sentence):
    with pytest.raises(ValueError, match=sentence):
        il.show(source, target, alpha)


def test_pieces_become_words():
    source, target = ["▁the", "▁un", "believ", "able", "</s>"], ["▁in", "croyable", "</s>"]
    alpha = np.array([[0.2, 0.3, 0.1, 0.4, 0], [0, 0.5, 0.25, 0.25, 0], [0, 0, 0, 0, 1]])
    x, y, words = il.words(source, target, alpha)
    assert x == ["the", "unbelievable", "</s>"] and y == ["incroyable", "</s>"]
    np.testing.assert_allclose(words, [[0.1, 0.9, 0], [0, 0, 1]], atol=1e-6)
    x, y, words = il.words(["un", "##believ", "##able"], ["un@@", "glaub@@", "lich"], np.full((3, 3), 1 / 3))
    assert x == ["unbelievable"] or y == ["unglaublich"], "one kind of marks in a text"


def test_a_text_is_no_list_of_pieces():
    with pytest.raises(TypeError, match="give a list for source, not one str"):
        il.words("ab", ["x"], [[0.5, 0.5]])
    with pytest.raises(TypeError, match="give a list for target, not one str"):
        il.words(["a", "b"], "x", [[0.5, 0.5]])


def test_nothing_has_no_words():
    figure = il.show([], [], np.zeros((0, 0)))
    xml.fromstring(figure.svg())


def test_the_search_and_one_word_are_drawn(tiny):
    model = il.load(REFERENCE / "luong-global-concat", threads=1)
    t = model.translate("s1 s2 s3", pretokenized=True, beam=4)
    tree, pruned = t.figure(kind="tree").svg(), t.figure(kind="tree", pruned=True).svg()
    assert set(t.text.split()) <= set(texts(tree)) and len(texts(pruned)) > len(texts(tree))
    last = len(t.words[1]) - 1
    assert texts(t.figure(kind="bars", word=last).svg())[0] == t.words[1][last]
    assert texts(t.beam[1].figure(kind="bars", word=0).svg())[0] == t.beam[1].words[1][0]
    with pytest.raises(ValueError, match=f"word is {last + 1}; give a whole number from 0 to {last}"):
        t.figure(kind="bars", word=last + 1)
    given = tiny.score("s1 s2", "t1 t2", pretokenized=True)
    assert texts(given.figure(kind="bars", word=1).svg())[0] == "t2"
    with pytest.raises(ValueError, match="no search to draw"):
        given.figure(kind="tree")
    with pytest.raises(ValueError, match="no search to draw"):
        il.show(SOURCE, TARGET, ALPHA, kind="tree")
