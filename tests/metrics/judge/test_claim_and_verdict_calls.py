"""The calls J1 to J5: what the judge is shown, what is read of its replies, and how several are combined."""

import json

import jsonschema
import pytest
from proctor.metrics.judge.calls import (
    AnswerClaims,
    CheckAnswer,
    CheckExpected,
    CompareClaims,
    ContextText,
    Entities,
    ExpectedClaims,
    ReverseQuestions,
)
from proctor.metrics.judge.rendering import render
from proctor.metrics.judge.verdicts import (
    Agreement,
    AnswerSupport,
    ExpectedSupport,
    ReverseQuestion,
    Verdict,
    combined_verdict,
    majority,
    share,
    tie,
)

YES, NO = Verdict(True), Verdict(False)
SENTENCES = (ContextText(1, "Ships fly."), ContextText(1, "Not all."), ContextText(3, "Cats swim."))
CHECK = CheckAnswer("Q?", ("Ships fly. Not all.", "Dogs.", "Cats swim."), ("Ships fly.", "Dogs sing."), SENTENCES)
EXPECTED = CheckExpected(
    "Q?", "Ships fly. Cats swim.", ("one", "two"), ("E.",), ("Ships fly.", "Cats swim."), True, SENTENCES[:1]
)
COMPARE = CompareClaims("E", "A", ("a", "b"), ("e",))
ALL = (
    AnswerClaims("Q?", "A"),
    ExpectedClaims("Q?", "E"),
    ReverseQuestions("A"),
    Entities("T"),
    CHECK,
    EXPECTED,
    COMPARE,
)


def shown(call):
    return {block.label: block.text for block in call.shown()}


def reply(**lists):
    return json.dumps(lists)


def entry(identity, **fields):
    return {"id": identity, **fields}


def test_chunks_stand_each_on_one_line():
    call = CheckAnswer("Q?", ("one\n\ntwo", "three"), ("x",))
    assert shown(call) == {"question": "Q?", "chunks": "[c1] one \\n two\n[c2] three", "claims": "[a1] x"}


def test_sentences_asked_about_stand_below_their_chunks_instead_of_the_text():
    assert shown(CHECK)["chunks"].split("\n") == [
        "[c1]",
        "[s1] Ships fly.",
        "[s2] Not all.",
        "[c2] Dogs.",
        "[c3]",
        "[s3] Cats swim.",
    ]


def test_numbered_expected_sentences_stand_for_the_expected_answer():
    assert shown(EXPECTED)["expected"] == "[x1] Ships fly.\n[x2] Cats swim."
    assert shown(CheckExpected("Q?", "E.", ("c",), usefulness=True))["expected"] == "E."


def test_who_verifies_against_the_contexts_does_not_see_the_other_answer():
    assert set(shown(CHECK)) == {"question", "chunks", "claims"}
    assert set(shown(EXPECTED)) == {"question", "expected", "chunks", "claims"}
    assert set(shown(ReverseQuestions("A"))) == {"answer"}


def test_parts_that_are_empty_are_not_asked_about():
    assert CHECK.parts == {"claims", "sentences"}
    assert EXPECTED.parts == {"claims", "expected_sentences", "usefulness", "sentences"}
    only = CheckExpected("Q?", "E", ("c",), usefulness=True)
    assert only.parts == {"usefulness"}
    assert set(only.schema()["properties"]) == {"usefulness"}
    assert only.read(reply(usefulness=[entry("c1", useful=True)])).answer == ExpectedSupport(useful=(YES,))
    assert CompareClaims("E", "A", (), ("e",)).parts == {"expected_claims"}


@pytest.mark.parametrize("call", ALL, ids=lambda call: call.name)
def test_schemas_are_strict(call):
    schema = call.schema()
    jsonschema.Draft202012Validator.check_schema(schema)

    def objects(part):
        if part["type"] == "object":
            yield part
            for inner in part["properties"].values():
                yield from objects(inner)
        elif part["type"] == "array":
            yield from objects(part["items"])

    for part in objects(schema):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])


def test_a_schema_does_not_change_with_the_number_of_items():
    # Servers compile a schema on first sight; one for each number of claims would cost that again and again.
    assert COMPARE.schema() == CompareClaims("E", "A", ("a",), ("e", "f", "g")).schema()


def test_verdicts_are_read():
    read = CHECK.read(
        reply(
            claims=[
                entry("a2", why=" not\n said ", supported=False, chunks=["c2"]),
                entry("a1", why="", supported="Yes", chunks=["c3", "[C1]", 2, "c3", "c9", "x"]),
            ],
            sentences=[entry("s1", needed=1), entry("s2", needed=0), entry("s3", needed="NO")],
        )
    )
    assert read.problem == ""
    assert read.answer == AnswerSupport((Verdict(True, (1, 2, 3)), Verdict(False, (), "not said")), (YES, NO, NO))


def test_what_is_missing_is_none_and_told():
    read = CHECK.read(reply(claims=[entry("a1", supported=True)], sentences=[entry("s2", needed=True)]))
    assert read.answer == AnswerSupport((None, None), (None, YES, None))
    assert '"chunks" must be a list' in read.problem
    assert '"claims" misses a2' in read.problem
    assert '"sentences" misses s1, s3' in read.problem
    assert CHECK.missing(read.answer) == ("claims a1", "claims a2", "sentences s1", "sentences s3")


def test_a_reply_without_any_verdict_is_no_answer():
    for nothing in ("", "no", "{}", reply(claims=[], sentences=[]), reply(claims=[entry("a7", supported=True)])):
        read = CHECK.read(nothing)
        assert read.answer is None
        assert read.problem


def test_a_second_reply_completes_the_first_but_does_not_change_it():
    first = AnswerSupport((YES, None), (None, NO, None))
    second = AnswerSupport((NO, NO), (YES, YES, None))
    both = CHECK.completed(first, second)
    assert both == AnswerSupport((YES, NO), (YES, NO, None))
    assert CHECK.missing(both) == ("sentences s3",)


def test_all_lists_of_the_expected_answer_are_read():
    read = EXPECTED.read(
        reply(
            claims=[entry("e1", why="", supported=True, chunks=["c1"])],
            expected_sentences=[
                entry("x1", why="", supported=True, chunks=[]),
                entry("x2", why="w", supported=False, chunks=[]),
            ],
            usefulness=[entry("c1", why="", useful=True), entry("c2", why="other", useful=False)],
            sentences=[entry("s1", supports=True)],
        )
    )
    assert read.problem == ""
    assert read.answer == ExpectedSupport(
        (Verdict(True, (1,)),), (YES, Verdict(False, (), "w")), (YES, Verdict(False, (), "other")), (YES,)
    )


def test_both_sides_of_a_comparison_are_read():
    read = COMPARE.read(
        reply(
            answer_claims=[entry("a1", supported=True), entry("a2", supported=False)],
            expected_claims=[entry("e1", covered=True)],
        )
    )
    assert read.answer == Agreement((YES, NO), (YES,))


def test_the_reminder_names_the_ids():
    assert "(claims: a1 to a2; sentences: s1 to s3)" in CHECK.reminder()
    assert "; expected_claims: e1)" in COMPARE.reminder()


def test_claims_and_entities_are_read():
    assert AnswerClaims("Q", "A").read('{"claims": ["One.", "Two.", "one."]}').answer == ("One.", "Two.")
    assert ExpectedClaims("Q", "E").read('{"claims": []}').answer == ()
    assert Entities("T").read('{"entities": ["Ulm", " 1879 "]}').answer == ("Ulm", "1879")
    for wrong in ('{"claims": "One."}', '{"claims": [1]}', '{"statements": []}', "One."):
        read = AnswerClaims("Q", "A").read(wrong)
        assert read.answer is None
        assert read.problem


def test_both_answers_are_taken_apart_by_one_prompt():
    assert ExpectedClaims("Q", "same").shown() == AnswerClaims("Q", "same").shown()
    assert render(ExpectedClaims("Q", "same")).system == render(AnswerClaims("Q", "other")).system


def questions(*pairs):
    return json.dumps({"questions": [{"question": text, "noncommittal": noncommittal} for text, noncommittal in pairs]})


def test_reverse_questions_are_read():
    call = ReverseQuestions("A", count=2)
    assert call.read(questions(("One?", False), (" Two? ", "yes"), ("Three?", False))).answer == (
        ReverseQuestion("One?"),
        ReverseQuestion("Two?", True),
    )
    assert "3" in ReverseQuestions("A").reminder()


def test_questions_that_are_missing_are_asked_for_again():
    call = ReverseQuestions("A")
    first = call.read(questions(("One?", False), ("", False), ("Two?", "perhaps")))
    assert first.answer == (ReverseQuestion("One?"),)
    assert "1 could be read" in first.problem
    assert call.missing(first.answer) == ("question 2", "question 3")
    second = call.read(questions(("One?", False), ("Two?", False), ("Three?", False)))
    both = call.completed(first.answer, second.answer)
    assert [question.text for question in both] == ["One?", "Two?", "Three?"]
    assert call.missing(both) == ()
    assert call.read(questions()).answer is None


def test_majority_tie_and_share():
    assert majority([True, False, True]) is True
    assert majority([True, False]) is None
    assert majority([True, False, None]) is None
    assert majority([True, None]) is True  # half of them readable
    assert majority([True, None, None]) is None
    assert majority([]) is None
    assert majority(["a", "b", "c", "c"]) == "c"
    assert tie(["a", "b"])
    assert tie(["a", "a", "b", "b", "c"])
    assert not tie(["a", None])
    assert not tie([])
    assert share([True, None, False, True], True) == pytest.approx(2 / 3)
    assert share([None], True) == 0


def test_a_verdict_of_several_has_the_chunks_and_reason_of_the_majority():
    said = [Verdict(True, (1, 2)), Verdict(False, (), "missing"), Verdict(True, (2, 3), "clear")]
    assert combined_verdict(said) == Verdict(True, (2,), "clear", pytest.approx(2 / 3))
    assert combined_verdict([*said, Verdict(False)]) is None
    assert combined_verdict([YES, None, None]) is None


def test_verdicts_are_combined_item_by_item():
    answers = [Agreement((YES, NO), (YES,)), Agreement((YES, None), (NO,)), None, Agreement((NO, NO), (NO,))]
    both = COMPARE.combine(answers, mean=True)
    assert [verdict.holds for verdict in both.answer_claims] == [True, False]
    assert both.answer_claims[1].agreement == 1.0
    assert both.answer_claims[0].agreement == pytest.approx(2 / 3)
    assert both.expected_claims[0].holds is False
    assert not COMPARE.tied(answers)
    assert COMPARE.tied(answers[:2])
    assert COMPARE.combine(answers[:2], mean=False).expected_claims == (None,)


def test_what_a_judge_writes_itself_cannot_be_combined():
    with pytest.raises(TypeError, match="answer_claims"):
        AnswerClaims("Q", "A").combine([("a",), ("b",)], mean=False)
    assert not any(call.is_verdict for call in ALL[:4])
    assert all(call.is_verdict for call in ALL[4:])
