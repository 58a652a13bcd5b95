"""Workspaces: what Python puts in, the table and the report, and that the program reads the same file."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys

import interlinear as il
import numpy as np
import pytest

SOURCES = ["the red house", "the table is old", "he <sings> & waits"]
REFERENCES = ["la maison rouge", "la table est vieille", "il chante et attend"]


@pytest.fixture
def workspace(tmp_path):
    made = il.Workspace(tmp_path / "study.ilw")
    made.add_sentences(SOURCES, REFERENCES)
    return made


def uniform(source, target, end=False):
    rows, columns = len(target.split()) + end, len(source.split()) + end
    return np.full((rows, columns), 1 / columns)


def program(*arguments):
    done = subprocess.run([sys.executable, "-m", "interlinear", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_outputs_and_attention_go_in_and_the_program_reads_them(workspace):
    outputs = ["la maison rouge", "la table est vieille", "il chante"]
    weights = [uniform(x, y) for x, y in zip(SOURCES, outputs)]
    weights[1], weights[2] = uniform(SOURCES[1], outputs[1], end=True), None
    workspace.add_system("mine", outputs, attention=weights, log_p=[-1.5, None, -3.0], languages="en-fr")
    assert len(workspace) == 3 and workspace.systems == ["mine"] and workspace.sources == SOURCES
    lines = program("analyse", "--workspace", workspace.path, "--format", "jsonl").splitlines()
    said = [json.loads(one)["systems"]["mine"] for one in lines]
    assert [one["text"] for one in said] == outputs
    assert said[0]["log_p"] == -1.5 and said[1]["log_p"] is None
    np.testing.assert_allclose(said[0]["alpha"], weights[0], atol=1e-3)
    assert said[1]["target"][-1] == said[1]["source"][-1] == "</s>" and said[2]["alpha"] is None


def test_the_table_has_texts_and_measures(workspace):
    workspace.add_system("exact", REFERENCES)
    workspace.add_system("poor", ["la maison bleue", "", "il attend"])
    table = workspace.table()
    assert table.columns[:5] == ["number", "source", "reference", "exact", "poor"] and len(table) == 3
    assert table["source"] == SOURCES and list(table["number"]) == [1, 2, 3]
    whole = table.to_dict()
    assert whole["bleu.1"] == pytest.approx([100.0] * 3, abs=1e-3)
    assert all(a > b for a, b in zip(whole["bleu.1"], whole["bleu.2"]))
    assert None in [value for values in whole.values() for value in values], "no number is made up"
    rows = list(workspace.table(sort="bleu.2", columns=["bleu.2", "bleu.1-2"], limit=2))
    assert len(rows) == 2 and rows[0]["bleu.2"] <= rows[1]["bleu.2"]
    assert list(rows[0]) == ["number", "source", "reference", "exact", "poor", "bleu.2", "bleu.1-2"]
    assert [row["number"] for row in workspace.table("words=4")] == [2], "`<`, `>` and `&` are words"
    assert "&lt;sings&gt; &amp;" in table._repr_html_() and "Table of 3 rows" in repr(table)


def test_a_table_is_a_data_frame(workspace):
    pandas = pytest.importorskip("pandas")
    workspace.add_system("number", REFERENCES)
    frame = workspace.table().to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 3
    assert frame["number"].tolist() == [1, 2, 3] and frame["number (2)"].tolist() == REFERENCES
    assert frame["bleu.1"].mean() == pytest.approx(100, abs=1e-3)


def test_translations_bring_their_sentences_and_their_alignment(tiny, tmp_path):
    sources = ["s1 s2 s3", "s4"]
    translations = tiny.translate(sources)
    workspace = il.Workspace(tmp_path / "run.ilw")
    workspace.add_system("tiny", translations)
    workspace.run(tiny, "again", beam=5)
    assert workspace.sources == sources and workspace.systems == ["tiny", "again"]
    table = workspace.table()
    assert table["tiny"] == table["again"] == [t.text for t in translations]
    said = json.loads(program("analyse", "--workspace", workspace.path, "--format", "jsonl").splitlines()[0])
    np.testing.assert_allclose(said["systems"]["tiny"]["alpha"], translations[0].words[2], atol=1e-3)
    assert said["systems"]["tiny"]["log_p"] == pytest.approx(translations[0].log_p)
    workspace.remove_system("again")
    assert workspace.systems == ["tiny"]


def test_the_report_is_one_page(workspace, tmp_path):
    workspace.add_system("mine", REFERENCES, attention=[uniform(x, y) for x, y in zip(SOURCES, REFERENCES)])
    page = workspace.report(tmp_path / "r.html", pictures=1).read_text(encoding="utf-8")
    assert page.count("<svg") >= 1 and "maison" in page and "&lt;sings&gt;" in page
    some = workspace.report(tmp_path / "s.html", "words=4").read_text(encoding="utf-8")
    assert "vieille" in some and "maison" not in some


def test_the_same_name_says_something_else_from_now_on(workspace):
    workspace.add_system("mine", ["a", "b", "c"])
    workspace.add_system("mine", REFERENCES)
    assert workspace.systems == ["mine"] and workspace.table()["mine"] == REFERENCES
    again = il.Workspace(workspace.path)
    assert again.table()["mine"] == REFERENCES and "3 sentences" in repr(again)


def test_links_and_further_references(tmp_path):
    workspace = il.Workspace(tmp_path / "w.ilw")
    workspace.add_sentences(["a b"], [["x y", "y x"]])
    workspace.add_system("linked", ["x y"], links=["0-1 1-0"])
    assert workspace.table().columns[:5] == ["number", "source", "reference", "reference_2", "linked"]
    assert program("analyse", "--workspace", workspace.path, "--format", "links") == "0-1 1-0\n"


def test_an_aligner_of_the_corpus_that_is_gone_is_warned_of(tmp_path):
    path, look = tmp_path / "own.ilw", json.dumps({"aligner": str(tmp_path / "gone.aligner")})
    il.Workspace(path).add_sentences(SOURCES, REFERENCES)
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE IF NOT EXISTS look(id INTEGER PRIMARY KEY, document TEXT NOT NULL)")
    base.execute("INSERT OR REPLACE INTO look VALUES (1, ?)", [look])
    base.commit()
    base.close()
    own = il.Workspace(path)
    for call in (lambda: own.add_system("m", REFERENCES, languages="en-fr"), own.table):
        with pytest.warns(UserWarning, match="gone.aligner: does not exist") as told:
            call()
        assert len(told) == 1


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda w: w.add_system("m", ["a"]), "m has 1 outputs, and there are 3 sentences"),
        (lambda w: w.add_system("m", ["a"] * 3, attention=[None]), "attention has 1 entries, and there are 3 outputs"),
        (lambda w: w.add_system("m", ["a b"] * 3, attention=[[[1.0]]] * 3), "sentence 1: the source has 3 words"),
        (
            lambda w: w.add_system("m", ["a"] * 3, attention=[[[0.5, 0.5]]] * 3, source_tokens=[["the"]] * 3),
            "attention of sentence 1 is 1 by 2, and there are 1 target words",
        ),
        (lambda w: w.add_system("m", ["a"] * 3, links=["x"] * 3), "sentence 1: `x` is no line of links"),
        (lambda w: w.add_system("m", ["a"] * 3, log_p=[-1, "x", None]), "sentence 2: log_p is 'x'; give a number"),
        (lambda w: w.add_system("m", ["a"] * 3, log_p=[[], -1, None]), r"sentence 1: log_p is \[\]; give a number"),
        (lambda w: w.add_system("m", ["a"], sources=["other"]), "are not the sentences of the workspace"),
        (lambda w: w.table("blau<3"), "blau"),
        (lambda w: w.table(sort="nothing"), "there is no column `nothing`"),
        (lambda w: w.table(columns=["bleu.9"]), "system 9"),
        (lambda w: w.remove_system("m"), "there is no system m"),
        (lambda w: w.add_sentences(["a"], []), "1 sources and references of 0"),
    ],
)
def test_what_does_not_fit_is_refused(workspace, call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(workspace)
    assert workspace.systems == [] and len(workspace) == 3


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda w: w.add_sentences("abc"), "give a list for sources, not one str"),
        (lambda w: w.add_sentences(["a", "b", "c"], "xyz"), "give a list for references, not one str"),
        (lambda w: w.add_system("m", "abc"), "give a list for outputs, not one str"),
        (lambda w: w.add_system("m", ["a"] * 3, sources="abc"), "give a list for sources, not one str"),
        (lambda w: w.add_system("m", ["a"] * 3, links="0-0"), "give a list for links, not one str"),
        (
            lambda w: w.add_system("m", ["a"] * 3, attention=[[[1.0]]] * 3, source_tokens=["a", "b", "c"]),
            "sentence 1: give a list for the tokens of the source, not one str",
        ),
        (lambda w: w.table(columns="bleu.1"), "give a list for columns, not one str"),
    ],
)
def test_a_text_is_not_taken_letter_by_letter(workspace, call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call(workspace)
    assert workspace.systems == [] and len(workspace) == 3


def test_what_is_no_workspace_is_refused(tmp_path):
    text = tmp_path / "text.ilw"
    text.write_text("not a workspace, but long enough to look like a file of something else\n" * 20)
    with pytest.raises(OSError, match="text.ilw"):
        il.Workspace(text)
    with pytest.raises(ValueError, match="has no sentences"):
        il.Workspace(tmp_path / "new.ilw").add_system("m", [])


def test_a_workspace_closes(tmp_path):
    with il.Workspace(tmp_path / "w.ilw") as workspace:
        workspace.add_sentences(["a"])
    assert workspace.path == tmp_path / "w.ilw" and "closed" in repr(workspace)
    with pytest.raises(ValueError, match="the workspace is closed"):
        workspace.add_sentences(["b"])
    workspace.close()
    assert len(il.Workspace(workspace.path)) == 1
