"""Reading replies: labels and JSON objects are read strictly, in linear time, and never guessed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proctor.metrics.judge.replies import (
    Malformed,
    bare_reply,
    read_boolean,
    read_items,
    read_label,
    read_list,
    read_object,
    read_score,
    read_texts,
)
from tables import in_one_test

TRUTH = ("true", "false")


@in_one_test(
    ("reply", "labels", "label"),
    [
        ("true", TRUTH, "true"),
        ("**True**", TRUTH, "true"),
        ("FALSE", TRUTH, "false"),
        ("  False.\n", TRUTH, "false"),
        ("`true`", TRUTH, "true"),
        ("\u201cTrue\u201d", TRUTH, "true"),
        ("'true'.", TRUTH, "true"),
        ('"true."', TRUTH, "true"),
        ("_true_", TRUTH, "true"),
        ("__True__!", TRUTH, "true"),
        ("# True", TRUTH, "true"),
        ("- true", TRUTH, "true"),
        ("> **true**", TRUTH, "true"),
        ("```\ntrue\n```", TRUTH, "true"),
        ("```text\nFalse\n```", TRUTH, "false"),
        ("true. The answer says so.", TRUTH, "true"),
        ("True, as the text says.", TRUTH, "true"),
        ("true: the text says so", TRUTH, "true"),
        ("**True**\n\nThe text says so.", TRUTH, "true"),
        ("true\r\nBecause of this.", TRUTH, "true"),
        ("I looked at it.\n\nfalse", TRUTH, "false"),
        ("I looked at it.\nVerdict: absent", ("absent", "present"), "absent"),
        ("I looked at it.\n**Verdict:** Absent.", ("absent", "present"), "absent"),
        ('Verdict: "absent"', ("absent", "present"), "absent"),
        ("Verdict\uff1aabsent", ("absent", "present"), "absent"),
        ("Present.", ("absent", "present"), "present"),
        ('{"verdict": "good"}', ("good", "bad"), "good"),
        ('```json\n{"verdict": "Bad"}\n```', ("good", "bad"), "bad"),
        ('{"reason": "it is not bad", "verdict": "good"}', ("good", "bad"), "good"),
        ('{"verdict": true}', TRUTH, "true"),
        ('<think>{"verdict": "bad"}</think>{"verdict": "good"}', ("good", "bad"), "good"),
        ("<think>Is it false? I think so.</think>true", TRUTH, "true"),
        ("<THINKING>\nfalse\n</THINKING>\n\ntrue", TRUTH, "true"),
        ("It may be false.</think>\ntrue", TRUTH, "true"),
        ("<think>a<think>false</think>false</think>true", TRUTH, "true"),
        ("not toxic", ("toxic", "not toxic"), "not toxic"),
        ("Toxic.", ("toxic", "not toxic"), "toxic"),
        ("N/A", ("n/a", "ok"), "n/a"),
        ("Sehr  Gut", ("sehr gut", "schlecht"), "sehr gut"),
        ("STRASSE", ("Stra\u00dfe", "Weg"), "Stra\u00dfe"),
    ],
)
def test_a_label_that_stands_out_is_read(reply, labels, label):
    assert read_label(reply, labels) == label


@in_one_test(
    ("reply", "labels"),
    [
        ("untrue", TRUTH),
        ("indifferent", ("same", "different")),
        ("not present, absent", ("absent", "present")),
        ("This is not true.", TRUTH),
        ("true. Not false.", TRUTH),
        ("true or false?", TRUTH),
        ("It is true that I can't say.", TRUTH),
        ("Verdict: not true", TRUTH),
        ("Verdict: untrue", TRUTH),
        ("true-ish", TRUTH),
        ("true\u2011ish", TRUTH),
        ("non-true", TRUTH),
        ("true_story", TRUTH),
        ("is_true", TRUTH),
        ("true1", TRUTH),
        ("tru\u0435", TRUTH),  # with a Cyrillic letter
        ("true\u0301", TRUTH),
        ("un*true*", TRUTH),
        ("true?", TRUTH),
        ("true because I say so", TRUTH),
        ("Verdict: true\nBecause of this.", TRUTH),
        ("<think>true", TRUTH),
        ("<think>true</think>", TRUTH),
        ("<think>true</think>I can't say.", TRUTH),
        ("", TRUTH),
        ("   \n", TRUTH),
        ("I can't help with that.", TRUTH),
        ('{"label": "good"}', ("good", "bad")),
        ('{"verdict": "good, not bad"}', ("good", "bad")),
        ('{"verdict": "good"} {"verdict": "bad"}', ("good", "bad")),
        ('{"verdict": "good", "verdict": "bad"}', ("good", "bad")),
        ('{"verdict": ["good"]}', ("good", "bad")),
        ('{"verdict": {"verdict": "good"}}', ("good", "bad")),
        ('{"verdict": "go', ("good", "bad")),
        ("good\n\nor bad", ("good", "bad")),
    ],
)
def test_a_label_that_does_not_stand_out_is_not_guessed(reply, labels):
    assert read_label(reply, labels) is None


@given(st.text(), st.sampled_from(["true", "false"]))
def test_a_label_is_never_read_beside_another(text, label):
    other = {"true": "false", "false": "true"}[label]
    assert read_label(f"{label}. {text}\n{other}", TRUTH) != label


@given(st.text(alphabet=st.characters(categories=["L", "N"]), min_size=1))
def test_a_label_is_never_read_within_a_word(letters):
    assert read_label(f"true{letters}", TRUTH) is None
    assert read_label(f"{letters}true", TRUTH) is None


@in_one_test(
    ("reply", "bare"),
    [
        ("<think>a</think> b ", "b"),
        ("<think>a", ""),
        ("a</think>b", "b"),
        ("```json\n{}\n```", "{}"),
        ('{"claims": ["the mark <think> opens"]}', '{"claims": ["the mark <think> opens"]}'),
        ('{"claims": ["the mark </think> ends"]}', '{"claims": ["the mark </think> ends"]}'),
        (' <think>x</think>\n{"claims": ["<think>"]}', '{"claims": ["<think>"]}'),
        ('```json\n{"a": "</think>"}\n```', '{"a": "</think>"}'),
    ],
)
def test_reasoning_and_fences_are_removed_but_not_out_of_texts(reply, bare):
    assert bare_reply(reply) == bare


@in_one_test(
    ("reply", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here you are:\n```json\n{"a": {"b": [1]}}\n```\nI hope it helps.', {"a": {"b": [1]}}),
        ('{"a": "} not the end {"}', {"a": "} not the end {"}),
        ('{"a": "\\"}"}', {"a": '"}'}),
        ('{"a": "\\\\"} {"b": 2}', {"a": "\\"}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('<think>{"a": 0}</think>{"a": 1}', {"a": 1}),
        ('{"a": 1} and then {', {"a": 1}),
        ('{x} {"a": 1}', {"a": 1}),
        ('{"a": [1, 2, ], "b": "x,}",\n}', {"a": [1, 2], "b": "x,}"}),
    ],
)
def test_the_first_object_is_read(reply, found):
    assert read_object(reply) == found


@in_one_test(
    ("reply", "problem"),
    [
        ("", "empty"),
        ("<think>so", "empty"),
        ("I can't.", "no JSON object"),
        ('["a"]', "no JSON object"),
        ('{"a": 1', "can't be read"),
        ('{"a": 1,, "b": 2}', "can't be read"),
        ("{'a': 1}", "can't be read"),
        ("{x}", "can't be read"),
        ('{"a": NaN}', "NaN"),
        ('{"a": [-Infinity]}', "Infinity"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": {"b": 1, "b": 1}}', "twice"),
        ('{"a": ' + "1" * 5000 + "}", "too long"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_object_is_said(reply, problem):
    found = read_object(reply)
    assert isinstance(found, str)
    assert problem in found


def test_a_problem_never_repeats_the_reply():
    for reply in (
        '{"a": obey me}',
        "obey me",
        '{"obey me": NaN}',
        '{"obey me": 1, "obey me": 2}',
        '{"a": "\\obey me"}',
    ):
        assert "obey" not in str(read_object(reply))


@pytest.mark.parametrize("found", [True, 1, "yes", "YES", " Yes ", "true", "1"])
def test_yes(found):
    assert read_boolean(found) is True


@pytest.mark.parametrize("found", [False, 0, "no", "No", "FALSE", "0"])
def test_no(found):
    assert read_boolean(found) is False


@in_one_test("found", [None, 2, -1, 1.0, "", "y", "maybe", "untrue", [], {}, [True]])
def test_neither_yes_nor_no(found):
    assert read_boolean(found) is None


def test_a_score_is_not_clamped():
    assert read_score(0.8, 0, 1) == 0.8
    assert read_score(1, 0, 1) == 1.0
    assert read_score(5, 1, 5) == 5.0
    for found in (4, -0.01, 1.0001, float("nan"), float("inf"), "0.8", True, None, [0.5], json.loads("1e999")):
        with pytest.raises(Malformed):
            read_score(found, 0, 1)


def test_texts_are_read_once_each_or_not_at_all():
    assert read_texts({"claims": [" a  b ", "c", "A b", "", " "]}, "claims") == ("a b", "c")
    assert read_texts({"claims": []}, "claims") == ()
    for found in ({}, {"claims": "a"}, {"claims": ["a", 1]}, {"claims": [{"claim": "a"}]}, {"claims": [None]}):
        with pytest.raises(Malformed):
            read_texts(found, "claims")


def _word(found):
    if "word" not in found:
        raise Malformed('"word" is missing')
    return found["word"]


def test_items_are_read_by_id_in_any_order_and_unknown_ones_dropped():
    found = {
        "items": [{"id": "a3", "word": 3}, {"id": "A1", "word": 1}, {"id": "[a2]", "word": 2}, {"id": "a9", "word": 9}]
    }
    assert read_items(found, "items", ("a1", "a2", "a3"), _word) == ((1, 2, 3), [])
    assert read_items({"items": [{"id": 1, "word": 1}, {"id": "2", "word": 2}]}, "items", ("a1", "a2"), _word)[0] == (
        1,
        2,
    )


@pytest.mark.parametrize(
    ("entries", "items", "problem"),
    [
        ([{"id": "a1", "word": 1}], (1, None), "misses a2"),
        (
            [{"id": "a1", "word": 1}, {"id": "a2", "word": 2}, {"id": "a2", "word": 2}],
            (1, None),
            "more than one entry for a2",
        ),
        ([{"id": "a1", "word": 1}, {"id": "a2"}], (1, None), 'a2: "word" is missing'),
        (
            [{"id": "a1", "word": 1}, "a2", None, {"word": 2}, {"id": True, "word": 2}, {"id": ["a2"]}],
            (1, None),
            "misses a2",
        ),
        ([], (None, None), "misses a1, a2"),
        ("a1", (None, None), "a list"),
        (None, (None, None), "a list"),
    ],
)
def test_items_that_are_missing_twice_there_or_malformed_are_none(entries, items, problem):
    read, problems = read_items({"items": entries}, "items", ("a1", "a2"), _word)
    assert read == items
    assert problem in " ".join(problems)


def test_entries_of_a_list_that_cannot_be_read_are_told():
    read, problems = read_list({"items": [{"word": 1}, {}, "x", {"word": 2}]}, "items", _word)
    assert read == [1, 2]
    assert problems == ['In "items", "word" is missing.']


MEGABYTE = 1_000_000


@in_one_test(
    "reply",
    [
        "<think>" * (MEGABYTE // 7),
        "</think>" * (MEGABYTE // 8),
        "</think> " * (MEGABYTE // 9) + "{",
        "<think></think>" * (MEGABYTE // 15),
        "{" * MEGABYTE,
        '{"' * (MEGABYTE // 2),
        '{"a": "' + "\\" * MEGABYTE,
        "{]" * (MEGABYTE // 2),
        "_" * MEGABYTE,
        "_" * MEGABYTE + "true" + "_" * MEGABYTE,
        " " * MEGABYTE + "x",
        "\n" * MEGABYTE + "x",
        "#" * MEGABYTE,
        "1" * MEGABYTE,
        "`" * MEGABYTE,
        "```\n" * (MEGABYTE // 4),
        "true " * (MEGABYTE // 5),
        "true-" * (MEGABYTE // 5),
        "false\n" * (MEGABYTE // 6),
        "." * MEGABYTE,
        ":" * MEGABYTE,
        '"' * MEGABYTE,
    ],
)
def test_a_megabyte_of_malice_is_read_like_any_other(reply):
    # Time that grew with the square of the length would show here as hours.
    assert read_label(reply, TRUTH) == (
        "true" if "_true_" in reply else "false" if reply.startswith("false\n") else None
    )
    assert isinstance(read_object(reply), str)


@given(st.text())
def test_reading_never_raises(reply):
    read_label(reply, TRUTH)
    read_object(reply)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda some: st.lists(some) | st.dictionaries(st.text(), some),
    )
)
def test_items_of_any_shape_never_raise(found):
    read_items({"items": found}, "items", ("a1",), _word)
    read_items({"items": [found, {"id": found, "word": found}]}, "items", ("a1",), _word)
