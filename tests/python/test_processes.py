"""Other processes: forked and spawned ones have models of their own or their parent's, and translations travel."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import threading

import interlinear as il
import numpy as np
import pytest
from conftest import REFERENCE

SENTENCES = ["s1 s2 s3", "s4 s5", "s9 s8 s7 s6"]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
#: What children of a fork find here.
PARENTS = {}


def translated(model):
    return [(t.text, t.log_p) for t in model.translate(SENTENCES, pretokenized=True)]


def with_own_model(_):
    return translated(il.load(REFERENCE / "rnnsearch"))


def with_parents_model(_):
    return translated(PARENTS["model"])


def from_pool_in_pool(_):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.map_async(with_own_model, [0]).get(timeout=60)[0]


def links_and_figures(_):
    aligner = il.Aligner.bundled("en-fr")
    figure = il.show(["a"], ["b"], [[1.0]]).svg()
    return aligner.align(["the house"], ["la maison"]), len(figure)


def a_translation(_):
    return il.load(REFERENCE / "rnnsearch").translate(SENTENCES[0], pretokenized=True)


def refusals(_):
    told = []
    for use in (lambda: len(PARENTS["workspace"]), lambda: translated(PARENTS["busy"])):
        with pytest.raises(RuntimeError) as why:
            use()
        told.append(str(why.value))
    return told, repr(PARENTS["workspace"])


def in_a_child(work, how="fork", of=2):
    """The work of some children; a hang is an error."""
    with multiprocessing.get_context(how).Pool(of) as pool:
        return pool.map_async(work, range(2 * of)).get(timeout=120)


@forks
@pytest.mark.parametrize("work", [with_own_model, with_parents_model])
def test_a_forked_child_translates(tiny, work):
    wanted = translated(tiny)
    PARENTS["model"] = tiny
    assert in_a_child(work) == [wanted] * 4
    assert translated(tiny) == wanted, "the parent goes on"


@forks
def test_a_child_of_a_forked_child_translates(tiny):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.close()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        good = False
        try:
            own = with_own_model(0)
            good = from_pool_in_pool(0) == own
        finally:
            os.write(writer, b"1" if good else b"0")
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1) == b"1" and translated(tiny)


@forks
def test_a_forked_child_aligns_and_draws(tiny):
    translated(tiny)
    assert in_a_child(links_and_figures) == [links_and_figures(0)] * 4


@forks
def test_what_a_forked_child_cannot_use_is_refused_at_once(tmp_path):
    busy = il.load(REFERENCE / "rnnsearch", threads=1)
    PARENTS["workspace"] = il.Workspace(tmp_path / "w.ilw")
    PARENTS["busy"] = busy
    begun, stop = threading.Event(), threading.Event()

    def endless():
        while not stop.is_set():
            yield "s1 s2"
            begun.set()

    def work():
        for _ in busy.translate(endless(), pretokenized=True, batch=4000):
            pass

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    try:
        while True:
            # The other thread reads sentences now and then, while it does not use the model.
            told = in_a_child(_refusals_or_none, of=1)[0]
            if told is not None:
                break
    finally:
        stop.set()
        thread.join()
    assert "open it again" in told[0][0] and "load it again" in told[0][1] and "closed" in told[1]
    assert len(PARENTS["workspace"]) == 0 and translated(busy)


def _refusals_or_none(_):
    try:
        return refusals(0)
    except BaseException:
        return None


@pytest.mark.parametrize("how", multiprocessing.get_all_start_methods())
def test_a_worker_returns_a_translation(tiny, how):
    told = in_a_child(a_translation, how, 1)[0]
    t = tiny.translate(SENTENCES[0], pretokenized=True)
    assert told.text == t.text and told.log_p == pytest.approx(t.log_p, abs=1e-5)
    np.testing.assert_allclose(told.alpha, t.alpha, atol=1e-5)


@pytest.mark.parametrize("name", ["rnnsearch", "rnnencdec"])
def test_copies_have_all_texts_and_numbers(name, tmp_path):
    model = il.load(REFERENCE / name, threads=1)
    for t in (
        model.translate("s1 s2 s3", pretokenized=True, beam=3, beam_alpha=True),
        model.score("s1 s2 s3", "t1 t2", pretokenized=True),
        model.translate(""),
    ):
        for made in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t), copy.copy(t), pickle.loads(pickle.dumps(copy.copy(t)))):
            assert repr(made) == repr(t) and str(made) == str(t) and made.to_dict() == t.to_dict()
            assert len(made.beam) == len(t.beam)
            for one, other in zip([made, *made.beam], [t, *t.beam]):
                for key in ("tokens", "log_p", "rank", "finished", "token_log_p", "alpha", "energies", "p_t", "reading", "error"):
                    np.testing.assert_array_equal(getattr(one, key), getattr(other, key), err_msg=key)
                if other.alpha is not None:
                    for words in ("spaces", "tokens"):
                        for threshold in (None, 0.0, 0.1, 0.3, 0.9):
                            assert one.links(threshold, words) == other.links(threshold, words)
            if t.tokens:
                assert made.figure().svg().count("<path") == t.figure().svg().count("<path")
                with pytest.raises(ValueError, match="translate again"):
                    made.figure(kind="tree")
    if model.aligns:
        t = model.translate("s1 s2 s3", pretokenized=True)
        assert copy.deepcopy(t).alpha is not t.alpha
        workspace = il.Workspace(tmp_path / "w.ilw")
        workspace.add_system("copy", [copy.copy(t)])
        assert workspace.table()["copy"] == [t.text]


def test_a_translation_is_a_dict_for_json(tiny):
    t, empty = tiny.translate(["s1 s2", ""], pretokenized=True)
    made = json.loads(json.dumps(t.to_dict()))
    assert made["text"] == t.text and made["tokens"] == t.tokens and len(made["alpha"]) == len(t.tokens)
    assert empty.to_dict()["log_p"] is None and empty.to_dict()["alpha"] is None
    assert t.attention is t.alpha
