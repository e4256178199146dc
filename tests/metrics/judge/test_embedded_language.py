import asyncio

import pytest
from proctor.metrics import NotApplicable
from proctor.metrics.judge.call import Block
from proctor.metrics.judge.calls import Label
from proctor.metrics.judge.embedded.language import languages, same_language

ENGLISH = "How long does it take until I get my money back?"


def judged(question: str, answer: str):
    texts = (Block("question", question), Block("answer", answer))
    return asyncio.run(same_language(Label("language_mismatch", ("same", "different"), texts)))


@pytest.mark.parametrize(
    ("answer", "label", "said"),
    [
        ("Refunds are paid out within fourteen days of the return.", "same", "en, en"),
        ("Rückerstattungen werden innerhalb von vierzehn Tagen ausgezahlt.", "different", "en, de"),
        ("Возврат денег занимает четырнадцать дней.", "different", "en, ru"),
    ],
)
def test_languages_are_told_apart(answer, label, said):
    word = judged(ENGLISH, answer)
    assert (word.label, word.reply) == (label, said)


def test_dialects_are_one_language():
    assert languages("Eg veit ikkje kor lenge det tek før pengane kjem tilbake.")["no"] > 0.9


@pytest.mark.parametrize("answer", ["Hello there", "14 days. `refund_period_in_days = fourteen`"])
def test_short_texts_are_not_judged(answer):
    with pytest.raises(NotApplicable) as refused:
        judged(ENGLISH, answer)
    assert refused.value.reason == "judge_cannot_grade"
    assert refused.value.details["call"] == "language_mismatch"


def test_a_text_in_doubt_is_not_judged():
    with pytest.raises(NotApplicable, match="judge_cannot_grade"):
        judged(
            "Jeg ved ikke hvor min bog er", "Det er en god dag for en lang tur i skoven"
        )  # Danish, and Danish or Norwegian
