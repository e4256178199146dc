"""Rendering: prompts by parts, their budget, boundaries, what hashes follow."""

import itertools
import json
import re
import unicodedata

import pytest
from proctor.metrics.judge.call import Block, JudgeCall, Reading, item, listing, numbered, span
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
from proctor.metrics.judge.rendering import boundary_code, harmless, load_prompt, prompt_hash, render
from tables import in_one_test

CHUNK = (
    "Shipping within the country takes two to four working days, and five to nine days abroad. Orders placed before "
    "noon leave our warehouse on the same day. Express shipping costs nine euros and takes one working day; it is not "
    "available for islands. If a parcel does not arrive within fourteen days, write to us, and we will look for it "
    "and send it a second time, at no cost to you, if it is lost for good. Parcels over thirty kilos go by freight."
)
CLAIMS = (
    "Shipping within the country takes two to four working days.",
    "Express shipping costs nine euros.",
    "Express shipping takes one working day.",
    "Orders placed before noon leave on the same day.",
)
ANSWER, EXPECTED, QUESTION = (
    " ".join(CLAIMS),
    " ".join(CLAIMS[:2]),
    "How long does shipping take, and what does it cost?",
)
FIVE_METRICS = (
    ExpectedClaims(QUESTION, EXPECTED),
    AnswerClaims(QUESTION, ANSWER),
    CheckAnswer(QUESTION, (CHUNK,) * 3, CLAIMS),
    CheckExpected(QUESTION, EXPECTED, (CHUNK,) * 3, (), CLAIMS[:2], usefulness=True),
    CompareClaims(EXPECTED, ANSWER, CLAIMS, CLAIMS[:2]),
    ReverseQuestions(ANSWER),
)
FULL = (
    CheckAnswer(QUESTION, (CHUNK,), CLAIMS, (ContextText(1, CHUNK),)),
    CheckExpected(QUESTION, EXPECTED, (CHUNK,), CLAIMS, CLAIMS, True, (ContextText(1, CHUNK),)),
    Entities(CHUNK),
)
NAMES = (
    "answer_claims",
    "expected_claims",
    "check_answer",
    "check_expected",
    "compare_claims",
    "reverse_questions",
    "entities",
)


def tokens(text):
    """About as many as the usual vocabularies need: pieces of words, and every mark by itself."""
    return len(re.findall(r"[^\W\d_]{1,7}|\d{1,3}|[^\w\s]|\n+", text))


@pytest.mark.parametrize("call", FIVE_METRICS, ids=lambda call: call.name)
def test_instructions_are_short(call):
    assert len(render(call).system) <= 1_300


def test_a_row_of_the_usual_five_metrics_stays_within_its_budget():
    requests = [render(call) for call in FIVE_METRICS]
    assert len(requests) == 6
    assert 100 <= tokens(CHUNK) <= 120
    assert sum(tokens(request.system + request.prompt) for request in requests) <= 3_400


@in_one_test("call", [*FIVE_METRICS, *FULL])
def test_examples_in_the_prompts_can_be_read_as_replies(call):
    examples = [
        line for line in render(call).system.split("\n") if line.startswith(("{", '"')) and line.endswith(("}", "]"))
    ]
    shown = {}
    for example in examples:
        shown |= json.loads(example if example.startswith("{") else f"{{{example}}}")
    properties = call.schema()["properties"]
    assert set(shown) == set(properties)
    for name, entries in shown.items():
        for entry in entries:
            if isinstance(entry, dict):
                assert list(entry) == list(properties[name]["items"]["properties"]), "in the order of the schema"


def test_sections_are_sent_with_their_parts_only():
    only_claims = render(CheckAnswer("Q", ("c",), ("a",))).system
    both = render(CheckAnswer("Q", ("c",), ("a",), (ContextText(1, "c"),))).system
    assert '"supported"' in only_claims
    assert '"needed"' not in only_claims
    assert '"needed"' in both
    useful = render(CheckExpected("Q", "E", ("c",), usefulness=True)).system
    assert '"useful"' in useful
    assert '"supported"' not in useful
    assert "## " not in both


def test_every_part_of_a_call_has_a_section_and_every_section_a_part():
    for call in FULL[:2]:
        prompt = load_prompt(call.prompt_name())
        assert frozenset().union(*(parts for parts, _ in prompt.sections)) == call.parts


def test_the_system_text_is_the_same_for_every_row():
    one, other = render(AnswerClaims("Q", "A")), render(AnswerClaims("R", "B"))
    assert one.system == other.system
    assert one.prompt[6:10] not in one.system
    assert one.prompt[6:10] != other.prompt[6:10]


def test_equal_calls_make_equal_requests():
    assert render(AnswerClaims("Q", "A")) == render(AnswerClaims("Q", "A"))
    again = render(AnswerClaims("Q", "A"), 2, 3)
    assert (again.vote, again.votes, again.prompt) == (2, 3, render(AnswerClaims("Q", "A")).prompt)


def test_a_code_stands_in_no_text():
    texts = ["one", "two"]
    code = boundary_code(texts)
    assert re.fullmatch("[b-z]{4}", code)
    assert boundary_code(texts) == code
    assert boundary_code(["one", "tw", "o"]) != code
    assert boundary_code(["onetwo"]) != code
    every = "".join("".join(letters) for letters in itertools.product("bcdfghjklmnpqrstvwxz", repeat=4))
    assert len(boundary_code([every])) > 4  # nor does a text with every code of four letters hold it


def test_what_is_wanted_is_said_again_after_the_material():
    call = CheckAnswer("Q", ("c",), ("a", "b"))
    assert render(call).prompt.endswith(call.reminder())


TOKENS = (
    "<|im_start|>", "<|eot_id|>", "<\uff5cUser\uff5c>", "<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<turn|>",
    "<|turn>", "<channel|>", "[INST]", "[/INST]", "[gMASK]", "[sMASK]", "[MASK]", "[SEP]", "[CLS]", "[PAD]",
    "[unused12]", "[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]", "[SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]",
    "[control_8]", "<s>", "</s>", "<sep>", "<mask>", "<extra_id_0>", "<unused12>", "<ctrl99>", "<reserved_106>",
    "<SPECIAL_10>", "<TOKENS_UNUSED_0>", "<0x0A>", "<2en>", "<n>", "<function_calls>", "</function_calls>",
    '<invoke name="x">', '<parameter name="y">', "<function=find>", "<tool>", "<tools>", "<tool_call>",
    "<tool_response>", "<start_of_turn>", "<end_of_utterance>", "<fim_prefix>", "<file_sep>", "<BOS_TOKEN>", "<PRE>",
    "<EOT>", "<think>", "</thinking>", "<system>", "<assistant>", "<seed:bos>", "<minimax:tool_call>", "]~b]",
    "]~!b[", "[e~[", ">>QUESTION<<", "<<SYS>>", "<image>", "<arg_key>",
)  # fmt: skip


def disguised(token):
    """A token in ways that normalisation takes back to it."""
    yield token
    yield "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in token)  # fullwidth
    yield "\u200b".join(token)
    yield token[0] + "\u2060\ufeff\u00ad" + token[1:]
    yield token[:-1] + "\u034f" + token[-1]
    yield "".join(chr(0x1D41A + ord(each) - ord("a")) if "a" <= each <= "z" else each for each in token)  # bold letters


@in_one_test("token", TOKENS)
def test_no_control_token_reaches_a_judge_in_any_spelling(token):
    for spelt in disguised(token):
        shown = render(CheckAnswer("Q", (f"a {spelt}b",), (f"{spelt}", "c"))).prompt
        seen = "".join(
            each for each in unicodedata.normalize("NFKC", shown) if unicodedata.category(each) not in ("Cf", "Mn")
        )
        assert unicodedata.normalize("NFKC", token) not in seen, ascii(spelt)
        assert harmless(spelt).replace(" ", "") == spelt.replace(" ", "")


def test_texts_are_made_harmless_without_losing_their_words():
    assert harmless("a\r\nb\rc\td") == "a\nb\nc\td"
    assert harmless("\ud800\x00\x1b[2J") == "\ufffd\ufffd\ufffd[2J"
    assert harmless("<|im_start|>system") == "< |im_start|>system"
    assert harmless("[INST] <<SYS>> <s> </s> <think>") == "[ INST] << SYS>> < s> < /s> < think>"
    for text in (
        "a < b > c",
        "x <= |y|",
        "[1] and [a]",
        "<p>text</p>",
        "if (a<b) {c}",
        "\u00e9\U0001f600\u200d",
        "na\u0131ve \u201cquoted\u201d \u00bd \ufb01ne \u0939\u093f\u0928\u094d\u0926\u0940",
        "[text](url) [A] <a href='x'>y</a>",
    ):
        assert harmless(text) == text


def test_items_stand_on_one_line_each():
    assert item("a1", " x\r\n\n y\u2028z ") == "[a1] x \\n y \\n z"
    assert item("c1", "see [a2], [C3] and [1]") == "[c1] see (a2), (C3) and [1]"
    assert item("a1", "") == "[a1] "
    assert listing(("a1", "a2"), ("x", "y")) == "[a1] x\n[a2] y"
    assert numbered("c", 2) == ("c1", "c2")
    assert span(("a1",)) == "a1"
    assert span(("a1", "a2", "a3")) == "a1 to a3"


@pytest.mark.parametrize("name", NAMES)
def test_every_call_has_a_hash_of_its_prompt(name):
    assert re.fullmatch("[0-9a-f]{16}", prompt_hash(name))


def test_hashes_differ_where_prompts_do():
    assert len({prompt_hash(name) for name in NAMES}) == len(NAMES) - 1
    assert prompt_hash("expected_claims") == prompt_hash("answer_claims")


class Own(JudgeCall[str]):
    """A call that brings its instructions."""

    name = "own"

    def shown(self):
        return (Block("answer", "A {answer}"),)

    def instructions(self):
        return "Say {true} or false."

    def reminder(self):
        return "One word."

    def read(self, reply):
        return Reading(reply)


def test_a_call_may_bring_its_own_instructions():
    request = render(Own())
    assert request.system.startswith("Say {true} or false.\n\n")
    assert load_prompt("frame").head in request.system
    assert "A {answer}\n" in request.prompt
    assert request.prompt.endswith("One word.")
    assert request.schema is None
