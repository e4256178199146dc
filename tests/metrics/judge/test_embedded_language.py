import asyncio

import pytest
from proctor.metrics import NotApplicable
from proctor.metrics.judge.call import Block
from proctor.metrics.judge.calls import Label
from proctor.metrics.judge.embedded.judge import same_language
from proctor.metrics.languages import languages
from tables import in_one_test

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


@in_one_test(
    ("question", "answer", "label"),
    [
        (ENGLISH, "Hello there", "same"),
        (ENGLISH, "Innerhalb von 14 Tagen.", "different"),
        (ENGLISH, "退款需要十四天。", "different"),
        ("退款需要多长时间?", "十四天。", "same"),
        ("退款需要多长时间?", "返金には14日かかります。", "different"),
        ("धन वापसी में कितना समय लगता है?", "चौदह दिन।", "same"),
        ("धन वापसी में कितना समय लगता है?", "It takes two weeks.", "different"),
        ("환불은 얼마나 걸리나요?", "14일 걸립니다.", "same"),
        ("如何提交更改?", "请使用 git commit 命令提交更改。", "same"),
        (ENGLISH, "The word Возврат on the form means refund.", "same"),
        # one word
        ("Est-ce que vous livrez le samedi ?", "Oui.", "same"),
        ("Est-ce que vous livrez le samedi ?", "Yes.", "different"),
        ("Do you deliver on Saturdays?", "Oui.", "different"),
        ("Liefern Sie samstags?", "Ja.", "same"),
        ("¿Es posible?", "No.", "same"),
        ("Is it possible?", "No.", "same"),
        ("Hi", "Hello! How can I help you today?", "same"),
        ("Bonjour", "Hello! How can I help you?", "different"),
        # a language that is asked for, and a text that is put
        ("Translate to Spanish: Good morning, friend", "Buenos días, amigo", "same"),
        ("Translate to Spanish: Hola amigo", "Hola amigo", "same"),
        ("Wie sagt man auf Englisch 'Guten Morgen'?", "Good morning", "same"),
        ("Réponds en anglais : quelle est la capitale de l'Italie ?", "The capital of Italy is Rome.", "same"),
        ("What time do most shops in Germany open?", "Die meisten Läden öffnen um neun Uhr.", "different"),
        ("Fasse zusammen: The dog barks loudly all night long.", "Der Hund bellt die ganze Nacht.", "same"),
        ("Wann öffnen Sie: morgens oder mittags?", "We open at nine in the morning.", "different"),
    ],
)
def test_short_texts_and_other_scripts_are_told_apart(question, answer, label):
    assert judged(question, answer).label == label


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("谁创办了这家公司?", "Steve Jobs"),  # a name, in any language
        (ENGLISH, "Albert Einstein"),
        ("Wie heißt der Film?", "The Lord of the Rings"),
        ("Welche Meldung kommt?", '"Access denied: you have no right to open this file."'),
        (ENGLISH, "14 `refund_period_in_days = fourteen`"),
    ],
)
def test_texts_that_are_in_no_language_are_not_judged(question, answer):
    with pytest.raises(NotApplicable) as refused:
        judged(question, answer)
    assert refused.value.reason == "judge_cannot_grade"
    assert refused.value.details["call"] == "language_mismatch"
