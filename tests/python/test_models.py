"""Models give the reference numbers, take strings, lists and iterators, and refuse the rest with a sentence."""

from __future__ import annotations

import _thread
import gc
import shutil
import subprocess
import sys
import threading
import time

import interlinear as il
import numpy as np
import pytest
from conftest import REFERENCE, ROOT, expected, line, references


def close(found, wanted):
    """Within 1e-4; null is NaN."""
    wanted = np.array(wanted, dtype=np.float64)
    np.testing.assert_allclose(np.asarray(found, dtype=np.float64), wanted, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", references())
def test_beams_are_the_reference_ones(name):
    model = il.load(REFERENCE / name)
    for beam in (1, 4):
        records = [record for record in expected(name, "beam") if record["beam"] == beam]
        sources = [line(record["source"]) for record in records]
        found = model.translate(sources, beam=beam, max_length=15, pretokenized=True, beam_alpha=True)
        assert len(found) == len(records) > 0
        for t, record in zip(found, records):
            assert t.source_tokens == record["source"]
            assert len(t.beam) == len(record["hypotheses"])
            for one, wanted in zip(t.beam, record["hypotheses"]):
                assert one.tokens == wanted["tokens"]
                assert one.finished == wanted["finished"]
                close(one.log_p, wanted["log_p"])
                assert (one.alpha is None) == (wanted["alpha"] is None)
                if wanted["alpha"] is not None:
                    close(one.alpha, wanted["alpha"])


@pytest.mark.parametrize("name", references())
def test_scores_are_the_reference_ones(name):
    model = il.load(REFERENCE / name)
    records = expected(name, "score")
    pairs = [(line(record["source"]), line(record["target"])) for record in records]
    found = model.score([x for x, _ in pairs], [y for _, y in pairs], pretokenized=True)
    assert len(found) == len(records) > 0
    for t, record in zip(found, records):
        assert (t.source_tokens, t.tokens) == (record["source"], record["target"])
        close(t.log_p, record["log_p"])
        close(t.token_log_p, record["token_log_p"])
        for key in ("alpha", "energies"):
            assert (getattr(t, key) is None) == (record[key] is None)
            if record[key] is not None:
                close(getattr(t, key), record[key])


def test_numbers_are_arrays_that_are_filled_once(tiny):
    t = tiny.translate("s1 s2 s3", pretokenized=True)
    assert t.alpha.dtype == np.float32 and t.alpha.shape == (len(t.tokens), len(t.source_tokens))
    assert t.alpha is t.alpha and t.energies is t.energies
    assert t.alpha.flags.c_contiguous and t.alpha.flags.writeable
    np.testing.assert_allclose(t.alpha.sum(axis=1), 1, atol=1e-5)
    assert t.token_log_p.sum() == pytest.approx(t.log_p, abs=1e-4)
    # The array outlives what it came from.
    alpha, shape = t.alpha, t.alpha.shape
    del t
    gc.collect()
    assert alpha.shape == shape and np.isfinite(alpha).all()


def test_only_the_best_keeps_alpha_unless_all_are_wanted():
    model = il.load(REFERENCE / "luong-global-concat", threads=1)
    t = model.translate("s1 s2 s3", beam=4, pretokenized=True)
    assert t.beam[0].alpha is not None and [one.alpha is None for one in t.beam[1:]] == [True] * 3
    t = model.translate("s1 s2 s3", beam=4, pretokenized=True, beam_alpha=True)
    assert all(one.alpha is not None for one in t.beam)
    assert [one.log_p for one in t.beam] == sorted((one.log_p for one in t.beam), reverse=True)


def test_strings_lists_and_iterators(tiny):
    sentences = [f"s{n % 9 + 1} s{n % 5 + 1} s{n % 7 + 1}" for n in range(70)]
    all_at_once = tiny.translate(sentences, pretokenized=True, batch=4)
    assert isinstance(all_at_once, list)
    one = tiny.translate(sentences[3], pretokenized=True)
    assert one.tokens == all_at_once[3].tokens and str(one) == one.text and one.text in repr(one)

    taken = []

    def endless():
        while True:
            for sentence in sentences:
                taken.append(sentence)
                yield sentence

    streamed = tiny.translate(endless(), pretokenized=True, batch=2)
    first = [next(streamed) for _ in range(40)]
    assert [t.tokens for t in first] == [t.tokens for t in all_at_once[:40]]
    assert len(taken) <= 64, "an iterator is not read far ahead"
    scored = tiny.score(iter(sentences), (t.text for t in all_at_once), pretokenized=True)
    assert next(scored).tokens[:-1] == all_at_once[0].text.split()
    assert tiny.translate([], pretokenized=True) == [] == tiny.score([], [])


def test_every_look_at_the_beam_gives_the_same_arrays():
    model = il.load(REFERENCE / "luong-global-concat", threads=1)
    t = model.translate("s1 s2 s3", beam=4, pretokenized=True, beam_alpha=True)
    assert len(t.beam) == 4
    assert t.beam[0].alpha is t.alpha and t.beam[0].energies is t.energies
    assert t.beam[1].alpha is t.beam[1].alpha and t.beam[1].alpha is not t.alpha
    assert t.beam[2].beam[1].alpha is t.beam[1].alpha


def test_iterators_have_a_bar_and_number_sentences_from_their_beginning(tiny, capsys):
    long = " ".join(["s1"] * 1001)
    sentences = ["s1 s2"] * 70
    assert len(list(tiny.translate(iter(sentences), batch=2, pretokenized=True, progress=True))) == 70
    assert "translating" in capsys.readouterr().err
    assert len(list(tiny.score(iter(sentences), sentences, batch=2, pretokenized=True, progress=True))) == 70
    assert "scoring" in capsys.readouterr().err
    assert len(list(tiny.translate(iter(sentences), batch=2, pretokenized=True))) == 70
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError, match="sentence 71: has 1001 words"):
        list(tiny.translate(iter([*sentences, long]), batch=2, pretokenized=True))
    with pytest.raises(ValueError, match="target 71: has 1001 words"):
        list(tiny.score(iter([*sentences, "s1"]), [*sentences, long], batch=2, pretokenized=True))
    with pytest.raises(ValueError, match="source 71: has 1001 words"):
        list(tiny.score(iter([*sentences, long]), [*sentences, "t1"], batch=2, pretokenized=True))
    with pytest.raises(TypeError, match="sentence 71 is int, not str"):
        list(tiny.translate(iter([*sentences, 7]), batch=2))
    last = list(tiny.translate(iter([*sentences, long]), batch=2, pretokenized=True, errors="empty"))[-1]
    assert last.error.startswith("sentence 71: has 1001 words")


def test_progress_is_heard_and_tqdm_is_used(tiny, capsys):
    heard = []
    sentences = ["s1 s2"] * 40
    tiny.translate(sentences, pretokenized=True, progress=True)
    assert "translating" in capsys.readouterr().err
    tiny.translate(sentences, pretokenized=True, progress=False)
    assert capsys.readouterr().err == ""
    asked = dict(beam=2, max_length=None, length_normalization=0.0, coverage=0.0, forbid_unk=False, allow_unk=False, batch=4)
    asked.update(pretokenized=True, replace_unk=False, beam_alpha=False, keeps_going=False, before=0)
    tiny._native.translate(sentences, asked, lambda *done: heard.append(done))
    assert heard[-1][0] == 40 and heard[-1][1] >= 40 and heard == sorted(heard)


def test_the_lock_of_python_is_released_and_ctrl_c_stops_work(tiny):
    sentences = ["s1 s2 s3 s4 s5 s6 s7 s8"] * 200_000
    counted = []

    def count():
        while not counted or counted[-1] < 20:
            counted.append(len(counted))
            time.sleep(0.005)
        _thread.interrupt_main()

    thread = threading.Thread(target=count)
    began = time.monotonic()
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        tiny.translate(sentences, pretokenized=True, progress=False)
    thread.join()
    assert counted[-1] == 20, "another thread ran meanwhile"
    assert time.monotonic() - began < 60, "the rest was not translated"
    assert tiny.translate("s1", pretokenized=True).tokens, "the model still works"


def test_what_a_caller_raises_meanwhile_ends_the_work(tiny):
    asked = dict(beam=2, max_length=None, length_normalization=0.0, coverage=0.0, forbid_unk=False, allow_unk=False, batch=4)
    asked.update(pretokenized=True, replace_unk=False, beam_alpha=False, keeps_going=False, before=0)

    def hear(sentences, words):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        tiny._native.translate(["s1 s2"] * 100_000, asked, hear)


@pytest.mark.parametrize(
    "options, sentence",
    [
        (dict(beam=0), "beam is 0; give a whole number from 1 to 1000"),
        (dict(beam=2.5), "beam is 2.5"),
        (dict(batch=-1), "batch is -1"),
        (dict(length_normalization=-1), "length_normalization is -1"),
        (dict(coverage=float("nan")), "coverage is nan"),
        (dict(errors="ignore"), 'choose "raise" or "empty"'),
        (dict(max_length=True), "max_length is True"),
    ],
)
def test_options_that_make_no_sense_are_refused(tiny, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        tiny.translate("s1", **options)


def test_what_cannot_be_read_is_named(tiny):
    long = " ".join(["s1"] * 1001)
    with pytest.raises(ValueError, match="sentence 2: has 1001 words"):
        tiny.translate(["s1", long], pretokenized=True)
    good, bad, empty = tiny.translate(["s1", long, ""], pretokenized=True, errors="empty")
    assert good.tokens and good.error is None
    assert bad.error.startswith("sentence 2: has 1001 words") and bad.text == "" and bad.beam == []
    assert empty.error is None and empty.tokens == [] and empty.alpha is None and np.isnan(empty.log_p)
    assert bad._repr_svg_() is None and bad.links() == []
    with pytest.raises(TypeError, match="sentence 2 is int, not str"):
        tiny.translate(["s1", 7])
    with pytest.raises(ValueError, match="2 sources and 1 targets"):
        tiny.score(["a", "b"], ["c"])
    with pytest.raises(ValueError, match="one side ends after 1 sentences"):
        list(tiny.score(iter(["a", "b"]), iter(["c"])))
    with pytest.raises(TypeError, match="two strings"):
        tiny.score("a", ["b"])
    with pytest.raises(ValueError, match="no reading sideways"):
        tiny.score("a", "b", reading="sideways")


def test_models_are_found_as_the_program_finds_them(tmp_path, monkeypatch):
    assert "rnnsearch-en-fr" in [folder.name for folder in il.models()]
    monkeypatch.setenv("INTERLINEAR_MODELS", str(REFERENCE))
    model = il.load("luong-none")
    assert model.folder == REFERENCE / "luong-none" and not model.aligns and model.parameters > 0
    assert model.architecture == "luong" and "luong" in repr(model)
    with pytest.raises(FileNotFoundError) as told:
        il.load("nobody-has-this")
    for part in ("nobody-has-this", "INTERLINEAR_MODELS", "there are", "Looked in", str(REFERENCE)):
        assert part in str(told.value)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        il.load(tmp_path / "nowhere")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text("{")
    with pytest.raises((ValueError, OSError), match="config.json"):
        il.load(broken)
    with pytest.raises(ValueError, match="device"):
        il.load("luong-none", device="abacus")


def test_several_models_are_one(tiny):
    folder = REFERENCE / "rnnsearch"
    both = il.load(folder, folder)
    alone = tiny.translate("s1 s2 s3", pretokenized=True)
    together = both.translate("s1 s2 s3", pretokenized=True)
    assert together.tokens == alone.tokens and together.log_p == pytest.approx(alone.log_p, abs=1e-4)
    assert " + " in both.name
    with pytest.raises(ValueError, match="no alignment head"):
        both.head("s1", "t1")


def test_a_model_without_attention_has_none():
    model = il.load(REFERENCE / "rnnencdec")
    t = model.translate("s1 s2", pretokenized=True)
    assert t.alpha is None and t.energies is None and t.words[2] is None
    with pytest.raises(ValueError, match="no alignment here"):
        t.links()
    with pytest.raises(ValueError, match="alignment"):
        t.figure(kind="heatmap")
    assert "<svg" in t._repr_svg_(), "its beam"
    with pytest.raises(ValueError, match="coverage"):
        model.translate("s1", coverage=0.2)


def test_models_of_other_toolkits_load():
    model = il.load(ROOT / "tests" / "fixtures" / "origins" / "mt-trained")
    t = model.translate("a b c")
    assert t.alpha.shape == (len(t.tokens), len(t.source_tokens))
    source, target, alpha = t.words
    assert alpha.shape == (len(target), len(source)) and len(source) <= len(t.source_tokens)


def test_a_model_without_a_head_says_how_one_is_learned(tiny):
    with pytest.raises(ValueError, match="no alignment head.*train --head"):
        tiny.head("s1 s2", "t1 t2")


def test_a_head_is_read_as_the_program_reads_it(tmp_path):
    folder = tmp_path / "headed"
    shutil.copytree(REFERENCE / "rnnsearch", folder)
    pairs = [[(n * k + k) % 9 + 1 for k in range(2, 6)] for n in range(60)]
    files = {
        "source": "".join(" ".join(f"s{word}" for word in words) + "\n" for words in pairs),
        "target": "".join(" ".join(f"t{word}" for word in reversed(words)) + "\n" for words in pairs),
        "links": "0-3 1-2 2-1 3-0\n" * len(pairs),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    options = [part for name in files for part in (f"--{name}", str(tmp_path / name))]
    program = [sys.executable, "-m", "interlinear"]
    train = [*program, "train", "--head", str(folder), *options, "--passes", "20", "--threads", "1"]
    subprocess.run(train, check=True, capture_output=True)
    model = il.load(folder, threads=1)
    x, y = files["source"].splitlines(), files["target"].splitlines()
    heads = model.head(x, y, pretokenized=True)
    assert heads[0].reading == "head" and model.score(x[0], y[0]).reading == "predicted"
    align = [*program, "align", "--model", str(folder), "--reading", "head", "--pretokenized", "--threads", "1"]
    told = subprocess.run([*align, *options[:4]], check=True, capture_output=True, text=True).stdout.splitlines()
    assert [sorted(t.links()) for t in heads] == [sorted(il.pharaoh(line)[0]) for line in told]
    # The row of a token comes with the step that reads it, so the last, `</s>`, has none.
    np.testing.assert_allclose(heads[0].alpha.sum(axis=1), [1, 1, 1, 1, 0], atol=1e-3)
    assert not np.allclose(heads[0].alpha, model.score(x[0], y[0], pretokenized=True).alpha, atol=1e-3)


@pytest.mark.parametrize(
    "use, kind, sentence",
    [
        (lambda m: m.translate(None), TypeError, "give a str, a list or an iterator for text, not NoneType"),
        (lambda m: m.translate(3), TypeError, "for text, not int"),
        (lambda m: m.translate(b"The house"), TypeError, "for text, not one bytes"),
        (lambda m: m.translate({"a": "b"}), TypeError, "for text, not dict"),
        (lambda m: m.translate(["a", b"b"]), TypeError, "sentence 2 is bytes, not str"),
        (lambda m: m.translate("a \ud800"), ValueError, "sentence 1 has a lone surrogate .* at character 3"),
        (lambda m: list(m.translate(iter(["a", "\udcff"]))), ValueError, "sentence 2 has a lone surrogate"),
        (lambda m: m.score(None, None), TypeError, "give a list for sources, not NoneType"),
        (lambda m: m.score("a", "\ud800"), ValueError, "target 1 has a lone surrogate"),
        (lambda m: m.score(["a"], [b"b"]), TypeError, "target 1 is bytes, not str"),
        (lambda m: m.score(b"a", "b"), TypeError, "give two strings"),
        (lambda m: m.head({}, {}), TypeError, "for sources, not dict"),
        (lambda m: il.align(None, ["a"]), TypeError, "for sources, not NoneType"),
        (lambda m: il.aer(None, []), TypeError, "for links, not NoneType"),
        (lambda m: il.pharaoh(b"0-0"), TypeError, "is bytes, not str"),
        (lambda m: il.show(None, "a", [[1.0]]), TypeError, "not NoneType"),
        (lambda m: il.show("\ud800", "a", [[1.0]]), ValueError, "lone surrogate"),
        (lambda m: il.words(["\ud800"], ["a"], [[1.0]]), ValueError, "lone surrogate"),
        (lambda m: il.load(""), ValueError, "the name of the model is empty"),
        (lambda m: il.load(None), TypeError, "name or path, not from NoneType"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(tiny, use, kind, sentence):
    with pytest.raises(kind, match=sentence):
        use(tiny)


def test_lines_in_one_string_are_one_sentence_with_a_warning(tiny):
    with pytest.warns(UserWarning, match="several lines and is one sentence"):
        t = tiny.translate("s1 s2\ns3", pretokenized=True)
    assert t.tokens == tiny.translate("s1 s2 s3\n", pretokenized=True).tokens
