"""Drafts in files of questions: left out, counted apart, kept by every kind of file, and changed in place."""

import json

import pytest
from proctor import InputError
from proctor.knowledge.questions.editing import raw_rows, with_questions, with_row
from proctor.knowledge.questions.question import DRAFT, Evidence, Question
from proctor.knowledge.questions.question_files import extra_keys, open_questions, question_pieces

KINDS = ["jsonl", "json", "yaml", "csv", "tsv"]
QUESTIONS = (
    Question("a", "Where is Ulm?", expected=("In | Germany",), source_document="d.md"),
    Question(
        "b", 'What "costs"\n2 €, 中?', ("x",), evidence=((Evidence("d.md", "q: #1\nq", 3, 9),),), tags=("t",),
        answerable=True, extra={DRAFT: True, "passage": "so\n⟦q⟧\n"},
    ),
    Question("c", "Who?", extra={DRAFT: "rejected"}),
    Question("e", "When?", extra={DRAFT: "moved"}),
    Question("f", "Where is Bonn?", ("here", "there")),
)  # fmt: skip


def written(folder, kind, questions=QUESTIONS):
    path = folder / f"q.{kind}"
    path.write_bytes(b"".join(question_pieces(path, "--out")(questions, extra_keys(questions))))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_keeps_the_mark_and_leaves_drafts_out(tmp_path, kind):
    path = written(tmp_path, kind)
    found = open_questions(path)
    assert [question.id for question in found] == ["a", "f"]
    assert (len(found), found.has["expected"], found.has["evidence"], found.has["answerable"]) == (2, 2, 0, 0)
    assert found.warnings == (f"1 draft in {path} is left out; 'proctor questions review {path}' shows them.",)
    everything = open_questions(path, drafts=True)
    marks = [question.extra.get(DRAFT) for question in everything]
    assert marks == [None, True, "rejected", "moved", None]
    assert list(everything)[1].evidence == QUESTIONS[1].evidence
    assert list(everything)[1].text == QUESTIONS[1].text
    assert everything.first(2).count == 2 and everything.warnings == ()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_counted_does_not_change_with_the_drafts(tmp_path, kind):
    path = written(tmp_path, kind)
    before = open_questions(path)
    path.write_bytes(with_questions(path, [Question("g", "Another one?", ("y",), extra={DRAFT: True})]))
    after = open_questions(path)
    assert (after.count, after.fingerprint) == (before.count, before.fingerprint)
    assert after.warnings[0].startswith("2 drafts in ")
    path.write_bytes(with_questions(path, [Question("h", "Asked now?", ("y",))]))
    assert open_questions(path).fingerprint != before.fingerprint
    assert [question.id for question in open_questions(path, 2)] == ["a", "f"]


def test_a_limit_counts_questions_and_no_drafts(tmp_path):
    path = tmp_path / "q.jsonl"
    rows = [{"question": f"Q{n}?", "draft": n % 2 == 0} for n in range(10)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [question.text for question in open_questions(path, 3)] == ["Q1?", "Q3?", "Q5?"]
    assert [question.text for question in open_questions(path).first(2)] == ["Q1?", "Q3?"]


def test_a_file_of_drafts_only_says_so(tmp_path):
    path = written(tmp_path, "jsonl", QUESTIONS[1:2])
    with pytest.raises(InputError, match=r"holds no questions yet, only 1 draft; 'proctor questions review .*' shows"):
        open_questions(path)
    path = written(tmp_path, "csv", QUESTIONS[2:4])
    with pytest.raises(InputError, match="holds no questions, only drafts that were decided on"):
        open_questions(path)


@pytest.mark.parametrize("value", ["maybe", 3, [], "accepted"])
def test_a_mark_that_means_nothing_is_refused(tmp_path, value):
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "Q?", "draft": value}))
    with pytest.raises(InputError, match="`draft` must be true, false, rejected or moved"):
        open_questions(path)


def test_no_mark_and_false_say_the_same_and_the_fingerprint_of_a_file_without_drafts_is_that_of_its_bytes(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("question,draft\nQ1?,\nQ2?,false\nQ3?,No\n")
    found = open_questions(path)
    assert found.count == 3 and found.warnings == ()
    assert all(DRAFT not in question.extra for question in found)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_changed_and_all_others_stay(tmp_path, kind):
    path = written(tmp_path, kind)
    before = list(open_questions(path, drafts=True))
    line = raw_rows(path)[1][0]
    path.write_bytes(with_row(path, line, {DRAFT: None, "passage": None, "question": 'New, "one":\nof # two 中?'}))
    after = list(open_questions(path, drafts=True))
    assert after[1].text == 'New, "one":\nof # two 中?'
    assert DRAFT not in after[1].extra and not after[1].extra.get("passage")
    assert after[1].evidence == before[1].evidence
    assert [each for place, each in enumerate(after) if place != 1] == [
        each for place, each in enumerate(before) if place != 1
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_several_lines_stay_whole_when_something_beside_them_changes(tmp_path, kind):
    rows = [Question("a", "One?", extra={DRAFT: True, "passage": "x\r\ny\n\nz\n", "more": "1\r2"})]
    path = written(tmp_path, kind, [*rows, Question("b", "Two?")])
    path.write_bytes(with_row(path, raw_rows(path)[0][0], {DRAFT: "rejected"}))
    found = list(open_questions(path, drafts=True))
    assert (found[0].extra[DRAFT], found[0].extra["passage"].split()) == ("rejected", ["x", "y", "z"])
    assert [question.id for question in found] == ["a", "b"]


YAML = """\
# The questions of the shop
questions:   # all of them
  - id: one          # keep it
    question: >-
      How long is
      the warranty?
    expected_answer: 4.50

  # a draft
  - draft: true   # to be decided on
    id: two
    question: 'What''s up?'
    tags: [a, b]   # two
    passage: |
      some text

  - {id: three, question: Flow?, draft: yes}
# the end
name: x
"""


def test_yaml_keeps_its_comments_order_and_style(tmp_path):
    path = tmp_path / "q.yaml"
    path.write_text(YAML)
    lines = [line for line, _ in raw_rows(path)]
    path.write_bytes(with_row(path, lines[1], {"draft": "rejected"}))
    assert path.read_text() == YAML.replace("draft: true ", 'draft: "rejected" ')
    path.write_bytes(with_row(path, lines[2], {"draft": "moved"}))
    assert path.read_text().count('draft: "moved"}') == 1
    path.write_bytes(with_row(path, lines[1], {"draft": None, "passage": None, "expected_answer": "so: it # is"}))
    text = path.read_text()
    assert "- draft: false   # to be decided on" in text and "passage" not in text
    assert '    tags: [a, b]   # two\n    expected_answer: "so: it # is"\n' in text
    path.write_bytes(with_questions(path, [Question("four", "Last?"), Question("five", "Really?")]))
    text = path.read_text()
    assert text.endswith(
        "  - id: four\n    question: Last?\n\n  - id: five\n    question: Really?\n# the end\nname: x\n"
    )
    assert text.startswith(YAML[: YAML.index("  # a draft")])
    assert [question.id for question in open_questions(path)] == ["one", "two", "four", "five"]


def test_tables_keep_what_was_written_and_get_the_columns_that_they_miss(tmp_path):
    path = tmp_path / "q.csv"
    path.write_bytes(b'\xef\xbb\xbfText;Expected;Note\r\n"Where; is\r\nUlm?";here;\r\n\r\nWho?;me;x\r\n')
    path.write_bytes(with_row(path, 5, {"Expected": 'a"b'}))
    assert path.read_bytes() == (
        b'\xef\xbb\xbfText;Expected;Note\r\n"Where; is\r\nUlm?";here;\r\n\r\nWho?;"a""b";x\r\n'
    )
    new = Question("n", "Why?", ("so",), evidence=((Evidence("d", "q", 0, 1),),), tags=("drafted",))
    path.write_bytes(with_questions(path, [new]))
    last = list(open_questions(path))[-1]
    assert (last.id, last.text, last.expected, last.evidence) == (new.id, new.text, new.expected, new.evidence)
    assert [question.text for question in open_questions(path)][:2] == ["Where; is\r\nUlm?", "Who?"]


def test_json_keeps_its_layout(tmp_path):
    path = tmp_path / "q.json"
    path.write_text(
        '{"name": "x", "questions": [\n  {"question": "A?", "n": 4.50},\n  {\n    "question": "B?"\n  }\n], "z": 1}\n'
    )
    path.write_bytes(with_row(path, raw_rows(path)[1][0], {"question": "C?"}))
    path.write_bytes(with_questions(path, [Question("d", "D?")]))
    assert path.read_text() == (
        '{"name": "x", "questions": [\n  {"question": "A?", "n": 4.50},\n  {\n    "question": "C?"\n  },\n  {\n'
        '    "id": "d",\n    "question": "D?"\n  }\n], "z": 1}\n'
    )


@pytest.mark.parametrize("kind", ["jsonl", "json"])
def test_half_characters_are_kept_as_escapes(tmp_path, kind):
    path = tmp_path / f"q.{kind}"
    row = '{"id": "a", "question": "A?", "tags": ["\\ud800x"], "draft": true}'
    path.write_text(f"{row}\n" if kind == "jsonl" else f"[\n{row}\n]\n")
    path.write_bytes(with_row(path, raw_rows(path)[0][0], {"draft": None}))
    (found,) = open_questions(path)
    assert found.tags == ("\ufffdx",)
    if kind == "json":
        assert "\\ud800x" in path.read_text()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("kind", KINDS)
def test_files_with_a_mark_and_windows_line_ends_lose_nothing(tmp_path, kind, mark):
    path = written(tmp_path, kind)
    content = path.read_bytes().replace(b"\n", b"\r\n") if kind not in ("csv", "tsv") else path.read_bytes()
    path.write_bytes(mark + content.rstrip(b"\r\n"))
    before = list(open_questions(path, drafts=True))
    path.write_bytes(with_questions(path, [Question("g", "Another one?", ("y",), extra={DRAFT: True})]))
    path.write_bytes(with_row(path, raw_rows(path)[-1][0], {DRAFT: "moved"}))
    after = list(open_questions(path, drafts=True))
    assert [(each.id, each.text, each.extra) for each in after[:-1]] == [
        (each.id, each.text, each.extra) for each in before
    ]
    assert (after[-1].text, after[-1].extra[DRAFT]) == ("Another one?", "moved")
    assert path.read_bytes().startswith(mark)


def test_what_can_not_be_changed_is_said(tmp_path):
    import gzip

    path = tmp_path / "q.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"question": "Q?"}\n'))
    with pytest.raises(InputError, match="is compressed"):
        with_row(path, 1, {"question": "R?"})
    path = tmp_path / "q.yaml"
    path.write_text("- &one {question: A?, draft: true}\n- *one\n")
    with pytest.raises(InputError, match="change it by hand"):
        with_row(path, 1, {"draft": None})
    with pytest.raises(InputError, match="no row begins here any more"):
        with_row(path, 7, {"draft": None})
