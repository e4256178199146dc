"""Span detectors: a token classifier as LettuceDetect trains it, and which characters of an answer it marks."""

import asyncio
from dataclasses import dataclass

import numpy as np
import pytest
import tiny_grounding
from proctor import InputError
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.loading import Place
from proctor.knowledge.models.pool import LocalModels
from proctor.knowledge.models.span_detector import Grounded, LoadedSpanDetector
from proctor.metrics.tools import SpanDetector

WINDOW = 256
PROMPT = "Summarize the following text:\npassage 1: the refund period is 14 days\noutput:"
ANSWERS = [
    "the refund period is 14 days, and two cats sleep",
    "  Füße 😀👩‍👩‍👧 naïve\r\n\r\nte\u0301 x 漢字 ",
    "x",
    " ",
    "two cats sleep " * 120,
    "",
]
ITEMS = [(PROMPT, answer) for answer in ANSWERS[:4]] + [("the whole day " * 120, ANSWERS[0]), (PROMPT, ANSWERS[4])]


@dataclass(frozen=True)
class Answered:
    contexts: tuple[str, ...]
    question: str
    answer: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_grounding.span_detector_folder(tmp_path_factory.mktemp("models") / "spans")


def opened(folder):
    return LoadedSpanDetector(Place("tiny", folder, "lettucedetect model", "cpu"))


def upstream(folder, prompt, answer):
    """The spans by transformers alone: one pair, no padding, runs of tokens with the second label."""
    import torch
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    how = {"max_length": WINDOW, "return_offsets_mapping": True, "return_tensors": "pt"}
    encoded = tokenizer(prompt, answer, truncation="only_first", **how)
    offsets = encoded.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        logits = AutoModelForTokenClassification.from_pretrained(folder).eval()(**encoded).logits[0]
    own = tokenizer(answer, add_special_tokens=False)["input_ids"]
    first = len(offsets) - len(own) - 1
    runs, running = [], False
    for place in range(first, first + len(own)):
        flagged = bool(logits[place].argmax() == 1)
        sure = float(torch.softmax(logits[place], -1)[1])
        if flagged and running:
            runs[-1] = [runs[-1][0], offsets[place][1], max(runs[-1][2], sure)]
        elif flagged:
            runs.append([*offsets[place], sure])
        running = flagged
    return runs


def covered(spans):
    return {place for start, end, _ in spans for place in range(int(start), int(end))}


def spans_of(said):
    return said.values[1:].reshape(-1, 3).tolist()


def test_spans_are_those_of_upstream(folder):
    found = opened(folder).run(ITEMS[:5])
    for (prompt, answer), one in zip(ITEMS, found, strict=False):
        wanted = upstream(folder, prompt, answer)
        assert covered(spans_of(one)) == covered(wanted)
        assert one.values[0] == len(answer)
    wanted = upstream(folder, *ITEMS[0])
    assert len(wanted) > 1  # so that there is something to see
    np.testing.assert_allclose(spans_of(found[0]), wanted, atol=1e-5)
    assert [one.truncated for one in found] == [False, False, False, False, True]


def test_spans_lie_within_the_answer_and_overlap_nowhere(folder):
    for answer in ANSWERS:
        (one,) = opened(folder).run([(PROMPT, answer)])
        ends = [0]
        for start, end, sure in spans_of(one):
            assert ends[-1] <= start < end <= len(answer)
            assert 0.5 < sure <= 1
            ends.append(end)


def test_each_character_is_marked_by_its_own_tokens(tmp_path):
    """With every token marked all characters are: none is lost at line breaks, spaces or characters of many bytes."""
    import torch

    folder = tiny_grounding.span_detector_folder(tmp_path)
    for marked in (True, False):
        model = opened(folder)
        with torch.no_grad():
            model._model.classifier.weight.zero_()
            model._model.classifier.bias.copy_(torch.tensor([0.0, 2.0 if marked else -2.0]))
        for answer in ("Füße 😀 漢字\r\nline two  ", "👩‍👩‍👧"):
            (one,) = model.run([(PROMPT, answer)])
            wanted = [[0, len(answer), pytest.approx(1 / (1 + np.exp(-2.0)))]] if marked else []
            assert spans_of(one) == wanted


def test_the_answer_survives_passages_that_are_too_long(folder):
    long = "the whole day " * 120
    (one,) = opened(folder).run([(long, ANSWERS[0])])
    assert (one.values[0], one.truncated) == (len(ANSWERS[0]), True)
    (other,) = opened(folder).run([(long + " two cats sleep", ANSWERS[0])])
    np.testing.assert_array_equal(one.values, other.values)  # what was added at the end is not read


def test_of_an_answer_that_is_too_long_the_beginning_is_read(folder):
    (one,) = opened(folder).run([(PROMPT, ANSWERS[4])])
    assert one.truncated
    assert 50 < one.values[0] < len(ANSWERS[4])
    assert all(end <= one.values[0] for _, end, _ in spans_of(one))


def test_an_empty_answer_has_no_spans(folder):
    (one,) = opened(folder).run([(PROMPT, "")])
    assert one.values.tolist() == [0]


def test_passages_and_question_are_put_as_in_training(folder):
    """The one place where the format stands is held against the words that upstream's models were trained with."""
    asked = Answered(("the {refund} period", "two $cats"), "How long?", ANSWERS[0])
    trained = (
        "Briefly answer the following question:\nHow long?\n"
        "Bear in mind that your response should be strictly based on the following 2 passages:\n"
        "passage 1: the {refund} period\npassage 2: two $cats\n"
        "In case the passages do not contain the necessary information to answer the question, please reply with: "
        '"Unable to answer based on given passages."\noutput:'
    )
    summed = "Summarize the following text:\npassage 1: the {refund} period\npassage 2: two $cats\noutput:"
    with_question, without = marked(folder, asked, Answered(asked.contexts, " ", asked.answer))
    for found, prompt in ((with_question, trained), (without, summed)):
        (wanted,) = opened(folder).run([(prompt, asked.answer)])
        spans = [[one.start, one.end, one.confidence] for one in found.spans]
        np.testing.assert_allclose(spans, spans_of(wanted), atol=1e-5)
        assert found.read == len(asked.answer)
        assert found.truncated == wanted.truncated
    assert with_question.spans != without.spans


def marked(folder, *answers):
    models = LocalModels({"lettucedetect": ModelChoice(str(folder), device="cpu")})
    detector: SpanDetector = models.tool("lettucedetect")
    try:
        return asyncio.run(detector.mark(answers))
    finally:
        models.close()


def test_half_characters_keep_the_others_in_their_places(folder):
    """Two halves of an emoji are two characters to Python; joined, they would move all that follows."""
    answer = "two \ud83d\ude00 cats sleep \ud83d the whole day"
    whole = answer.replace("\ud83d", "\ufffd").replace("\ude00", "\ufffd")
    (found,) = marked(folder, Grounded(("the refund",), "", answer))
    (wanted,) = marked(folder, Grounded(("the refund",), "", whole))
    assert found == wanted
    assert found.read == len(answer)


def test_a_model_with_other_labels_is_refused(tmp_path):
    with pytest.raises(InputError, match="has 3 labels for a token: two were wanted"):
        opened(tiny_grounding.span_detector_folder(tmp_path, num_labels=3))
