"""Question writing: what is written reads back as the same questions, whatever stands in them."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from proctor import InputError
from proctor.knowledge.questions.question import PERTURBS, Evidence, Question
from proctor.knowledge.questions.question_files import QuestionList, extra_keys, open_questions, question_pieces

SUFFIXES = (".jsonl", ".json", ".yaml", ".csv", ".tsv")
plain = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)
texts = plain.filter(lambda text: not text.isspace())
names = st.text("abcdefgh-é ", min_size=1, max_size=8).map(str.strip).filter(bool)
spans = st.tuples(st.integers(0, 50), st.integers(1, 50)).map(lambda pair: (pair[0], pair[0] + pair[1]))
evidence = st.one_of(
    st.builds(Evidence, names, texts), st.builds(lambda name, span: Evidence(name, "", *span), names, spans)
)
marks = st.fixed_dictionaries(
    {"id": texts, "kind": names, "intensity": st.sampled_from([0.0, 0.05, 1.0]), "variant": st.integers(0, 9)}
)


@st.composite
def questions(draw) -> Question:
    return Question(
        id=draw(st.uuids()).hex,
        text=draw(texts),
        expected=tuple(draw(st.lists(texts, max_size=3))),
        constraints=tuple(
            draw(st.lists(st.one_of(texts, st.lists(texts, min_size=1, max_size=2).map(tuple)), max_size=2))
        ),
        evidence=tuple(draw(st.lists(st.lists(evidence, min_size=1, max_size=2).map(tuple), max_size=2))),
        tags=tuple(draw(st.lists(names, max_size=3, unique=True))),
        source_document=draw(st.one_of(st.just(""), texts)),
        answerable=draw(st.sampled_from([None, True, False])),
        extra=draw(st.one_of(st.just({}), st.fixed_dictionaries({PERTURBS: marks}))),
    )


def written(folder: Path, made: list[Question], suffix: str) -> Path:
    path = folder / f"made{suffix}"
    path.write_bytes(b"".join(question_pieces(path, "--out")(made, extra_keys(made))))
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=st.lists(questions(), min_size=1, max_size=3))
def test_what_is_written_reads_back_the_same(suffix: str, made: list[Question], tmp_path: Path) -> None:
    assert list(open_questions(written(tmp_path, made, suffix))) == made


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "text",
    ["two\nlines", "a\r\nb", "tab\there", "=1+1", "yes", "1.50", "2026-01-01",
     '"quoted"', "- dash", "a, b; c", "x\u2028y", "🎉 é", "#", "|"],
)  # fmt: skip
def test_awkward_texts_read_back_the_same(text: str, suffix: str, tmp_path: Path) -> None:
    made = [
        Question("q1", f"Why {text}?", (text, f"[{text}]"), (text, (text, "or")), tags=("a,b",), source_document=text)
    ]
    assert list(open_questions(written(tmp_path, made, suffix))) == made


def test_an_answer_with_a_bar_is_one_answer_in_a_table(tmp_path: Path) -> None:
    made = [Question("q1", "Which?", ("this|that",)), Question("q2", "Which?", ("[sic]",))]
    assert list(open_questions(written(tmp_path, made, ".csv"))) == made


def test_keys_of_the_source_stay_in_a_table(tmp_path: Path) -> None:
    made = [Question("q1", "Why?", extra={"row": "7"}), Question("q2", "How?", extra={"row": "", "note": "x"})]
    back = list(open_questions(written(tmp_path, made, ".csv")))
    assert [question.extra for question in back] == [{"row": "7", "note": ""}, {"row": "", "note": "x"}]


def test_a_tag_that_a_table_can_not_hold_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'q1' has a tag with"):
        written(tmp_path, [Question("q1", "Why?", tags=("a|b",))], ".csv")


def test_a_key_that_would_read_as_another_thing_is_not_written(tmp_path: Path) -> None:
    made = [Question("q1", "Why?", extra={"Expected": "resurrected", "tag": "x", "note": "kept"})]
    (back,) = open_questions(written(tmp_path, made, ".jsonl"))
    assert (back.expected, back.tags, back.extra) == ((), (), {"note": "kept"})


@pytest.mark.parametrize("name", ["made.txt", "made", "made.jsonl.gz"])
def test_a_name_that_says_nothing_of_its_kind_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"--out: {name} should end in one of .jsonl, .yaml"):
        question_pieces(Path(name), "--out")


def test_variants_that_are_alike_are_no_mistake_of_a_file(tmp_path: Path) -> None:
    alike = [Question(f"q{number}", "Why?", extra={PERTURBS: {"id": "q"}}) for number in range(2)]
    assert open_questions(written(tmp_path, alike, ".jsonl")).warnings == ()
    repeated = [Question("q1", "Why?"), Question("q2", "Why?"), *alike[:1]]
    assert "asked more than once" in open_questions(written(tmp_path, repeated, ".json")).warnings[0]


def test_a_mark_that_was_written_by_hand_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "hand.csv"
    path.write_text("id,question,perturbs,evidence\na,Why?,,\nb,How?,a,\nc,So?,{broken,\n")
    assert [question.extra for question in open_questions(path)] == [{}, {PERTURBS: "a"}, {PERTURBS: "{broken"}]


def test_a_list_in_memory_knows_what_a_file_would() -> None:
    made = [Question("q1", "Why?", ("so",), answerable=False), Question("q2", "How?", (), ("x",), ((Evidence("a"),),))]
    listed = QuestionList(Path("a.csv"), made, ["careful"])
    assert (listed.count, len(listed), list(listed), list(listed)) == (2, 2, made, made)
    assert (listed.has["expected"], listed.has["constraints"], listed.has["evidence"], listed.has["answerable"]) == (
        1,
        1,
        1,
        1,
    )
    assert listed.warnings == ("careful",)
    assert listed.fingerprint == QuestionList(Path("b.csv"), made).fingerprint
    assert listed.fingerprint != QuestionList(Path("a.csv"), made[:1]).fingerprint
