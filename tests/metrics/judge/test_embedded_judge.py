"""What the embedded judge answers to each call, and what it says that it can't grade."""

import asyncio
import re

import numpy as np
import proctor
import pytest
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.models.embedding import EmbedderSettings, open_encoder
from proctor.metrics.conversation import JudgeConversation
from proctor.metrics.facts import Conversation, Turn
from proctor.metrics.judge.call import Block
from proctor.metrics.judge.calls import (
    AnswerClaims,
    CheckAnswer,
    CheckExpected,
    CompareClaims,
    ContextText,
    Entities,
    ExpectedClaims,
    Label,
    ReverseQuestions,
    Review,
    SafetyVerdicts,
)
from proctor.metrics.judge.embedded.judge import EmbeddedJudge
from proctor.metrics.score import NotApplicable, Reason
from stub_embedder import StubEmbedder

CHUNKS = (
    "Orders can be returned within 30 days of delivery. The refund is paid to the original card.",
    "Gift cards can't be returned. Anna Keller founded the shop in Basel in 1998.",
)
SENTENCES = (
    ContextText(1, "Orders can be returned within 30 days of delivery."),
    ContextText(2, "Anna Keller founded the shop in Basel in 1998."),
)
QUESTION = "When can an order be returned?"


@pytest.fixture(scope="module")
def judge():
    settings = EmbedderSettings()
    embedder = BatchingEmbedder(lambda: open_encoder(settings), settings.model_id)
    yield EmbeddedJudge(embedder)
    embedder.close()


def ask(judge, call):
    return asyncio.run(judge.ask(call))


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Refunds take 14 days. Cards are refunded first.", ("Refunds take 14 days.", "Cards are refunded first.")),
        ("Thank you! Refunds take 14 days. Anything else?", ("Refunds take 14 days.",)),
        ("Great question. Feel free to ask for more. I hope this helps!", ()),
        ("I'm sorry, but I don't know that.", ()),
        ("The documents do not mention a fee.", ()),
        ("I don't know. Please ask our support team.", ()),
        ("I can't tell you that. Instead, you could contact the shop by e-mail.", ()),
        ("Please ask our support team.", ("Please ask our support team.",)),
        ("Hello! How can I help you today?", ()),
        ("Sure, here you are: 30 days.", ("Sure, here you are: 30 days.",)),
        ("I am not sure, but the shop opened in 1999.", ("the shop opened in 1999.",)),
        ("I don't know exactly, but I do know that it is closed.", ("it is closed.",)),
        ("I'm sorry, I can't say for certain, but the fee is 5 francs.", ("the fee is 5 francs.",)),
        ("I don't know, but please ask our support team.", ()),
        ("I've never been there, but I know that it lies in Spain.", ("it lies in Spain.",)),
        ("i haven ' t seen the film , but i know it was made in 1999 .", ("it was made in 1999.",)),
        ("I used your card, but the order failed.", ("I used your card, but the order failed.",)),
        ("Based on the provided context, refunds take 14 days.", ("refunds take 14 days.",)),
        ("According to the documents you provided, it is closed.", ("it is closed.",)),
        ("The context clearly states that refunds take 14 days.", ("refunds take 14 days.",)),
        ("Refunds take 14 days, as stated in the documentation.", ("Refunds take 14 days.",)),
        ("Refunds take 14 days (according to the text).", ("Refunds take 14 days.",)),
        ("From 2010 on it was open.", ("From 2010 on it was open.",)),
        ("According to the census of 2010, he left.", ("According to the census of 2010, he left.",)),
        ("The documents are in the cellar.", ("The documents are in the cellar.",)),
        ("Based on the context, I don't know.", ()),
        ("I'm sorry, but gift cards can't be returned.", ("gift cards can't be returned.",)),
        ("I'm sorry, but that is nothing that I can do.", ()),
        ("**30 days**. Please note that `gift cards` are excluded.", ("30 days.", "gift cards are excluded.")),
        ("It covers:\n- **Motor**: 2 years\n- Battery: 2 years", ("Motor: 2 years", "Battery: 2 years")),
        (
            "Yes! Shipping is free. Unfortunately, returns cost 5 francs.",
            ("Shipping is free.", "returns cost 5 francs."),
        ),
        ("I love pizza! That sounds great. I think this is a lovely place.", ()),
        ("I see. I didn't know that! It opens at nine.", ("It opens at nine.",)),
        ("that ' s awesome ! it ' s 1 , 200 m high .", ("it's 1,200 m high.",)),
        ("That's right. The fee is 5 francs.", ("The fee is 5 francs.",)),
        ("That's right.", ("That's right.",)),
        ("It is! It opens at nine.", ("It opens at nine.",)),
        ("It's hard to believe that it opened in 1963!", ("it opened in 1963!",)),
        ("Green is my favorite color. It is a mixture of two.", ("It is a mixture of two.",)),
        ("Sorry for the late reply. It opens at nine.", ("It opens at nine.",)),
        ("Unfortunately, I don't have specific information about parking. It opens at nine.", ("It opens at nine.",)),
        ("While the documents do not give a fee, they state that it opens at nine.", ("it opens at nine.",)),
        ("I have refunded your order.", ("I have refunded your order.",)),
        ("1. Open it.\n\n2.\n\n3. Close the door.", ("Open it.", "Close the door.")),
        (
            "It is a good source of iron. It was good for 12 years.",
            ("It is a good source of iron.", "It was good for 12 years."),
        ),
        ("Paris", ("Paris",)),
        ("Yes.", ("Yes.",)),
        ("42", ("42",)),
        ("...", ()),
        ("", ()),
    ],
)
def test_claims_are_the_sentences_that_claim_something(judge, text, claims):
    assert ask(judge, AnswerClaims(QUESTION, text)) == claims
    assert ask(judge, ExpectedClaims(QUESTION, text)) == claims


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("In 1879 Albert Einstein was born in Ulm.", ("Albert Einstein", "Ulm", "1879")),
        ("Refunds take 14 days.", ("14",)),
        ("Refunds by Swiss Post are slow. Swiss Post pays $1,000.", ("Swiss Post", "1000")),
        ("Rome", ("Rome",)),
        ("The University of Oxford opened on Monday.", ("University of Oxford", "monday")),
        ("nothing here", ()),
        ("", ()),
    ],
)
def test_entities_are_names_numbers_and_dates(judge, text, entities):
    assert ask(judge, Entities(text)) == entities


def test_an_answer_is_checked_against_the_chunks(judge):
    claims = ("Orders can be returned within 30 days.", "Anna Keller founded the shop in 1989.")
    found = ask(judge, CheckAnswer(QUESTION, CHUNKS, claims))
    assert [verdict.holds for verdict in found.claims] == [True, False]
    assert [verdict.chunks for verdict in found.claims] == [(1,), ()]
    assert found.claims[1].why == "contradicted: 1989 (1998)"
    assert found.needed == ()


def test_a_yes_is_checked_with_its_question(judge):
    for question, holds in (("Can orders be returned within 30 days?", True), ("Do penguins live in Basel?", False)):
        found = ask(judge, CheckAnswer(question, CHUNKS, ("Yes.",)))
        assert found.claims[0].holds is holds


def test_sentences_near_the_question_are_needed(judge):
    found = ask(judge, CheckAnswer(QUESTION, CHUNKS, (), SENTENCES))
    assert [verdict.holds for verdict in found.needed] == [True, False]
    assert re.fullmatch(r"nearness 0\.\d\d, wanted 0\.45", found.needed[1].why)
    assert found.claims == ()


def test_an_expected_answer_is_checked_against_the_chunks(judge):
    said, unsaid = "Orders can be returned within 30 days.", "Shipping is free."
    call = CheckExpected(QUESTION, f"{said} {unsaid}", CHUNKS, (unsaid, said), (said, unsaid), True, SENTENCES)
    found = ask(judge, call)
    assert [verdict.holds for verdict in found.claims] == [False, True]
    assert [verdict.holds for verdict in found.sentences] == [True, False]
    assert [verdict.holds for verdict in found.useful] == [True, False]
    assert [verdict.holds for verdict in found.supporting] == [True, False]


def test_parts_that_were_not_asked_for_are_empty(judge):
    found = ask(judge, CheckExpected(QUESTION, "Within 30 days of delivery.", CHUNKS, usefulness=True))
    assert [verdict.holds for verdict in found.useful] == [True, False]
    assert (found.claims, found.sentences, found.supporting) == ((), (), ())


def test_usefulness_for_an_empty_expected_answer_is_none(judge):
    found = ask(judge, CheckExpected(QUESTION, "", CHUNKS, usefulness=True))
    assert [verdict.holds for verdict in found.useful] == [False, False]


def test_answers_are_compared(judge):
    expected, answer = "It was founded in 1998.", "It was founded in 1989."
    found = ask(judge, CompareClaims(expected, answer, (answer,), (expected,), "When was it founded?"))
    (said,), (covered,) = found.answer_claims, found.expected_claims
    assert (said.holds, said.contradicted, said.evidence) == (False, True, expected)
    assert (covered.holds, covered.contradicted, covered.evidence) == (False, True, answer)
    assert max(said.probability, covered.probability) < 0.5


@pytest.mark.parametrize(
    "call",
    [
        ReverseQuestions("Orders can be returned."),
        Review(QUESTION, "Within 30 days."),
        SafetyVerdicts(QUESTION, "Within 30 days.", ("harmful",)),
        Label("sexism", ("false", "true"), (Block("answer", "Within 30 days."),)),
    ],
    ids=lambda call: call.name,
)
def test_what_it_has_no_means_for_it_says(judge, call):
    with pytest.raises(NotApplicable) as raised:
        ask(judge, call)
    assert raised.value.reason == Reason.JUDGE_CANNOT_GRADE
    assert "embedded judge" in raised.value.details["message"]


def test_its_id_names_the_models_and_the_code():
    plain = EmbeddedJudge(StubEmbedder())
    assert re.fullmatch(r"embedded \(stub, no support model, no entailment model, code [0-9a-f]{12}\)", plain.model_id)
    assert EmbeddedJudge(StubEmbedder(), Notify()).model_id != plain.model_id
    assert plain.embedded


class Notify:
    """An entailment model that says that nothing is entailed."""

    model_id = "told"

    async def probabilities(self, pairs):
        return np.array([[0, 1, 0]] * len(pairs), dtype=np.float32)


def test_the_entailment_model_takes_part():
    call = CheckAnswer(QUESTION, CHUNKS, ("Orders can be returned within 30 days.",))
    assert ask(EmbeddedJudge(StubEmbedder()), call).claims[0].holds
    assert not ask(EmbeddedJudge(StubEmbedder(), Notify()), call).claims[0].holds


class ToldSupport:
    """A support model that says what it was told of a claim, and remembers what it read beside it."""

    model_id = "told"

    def __init__(self, said):
        self.said, self.read = said, {}

    async def supports(self, pairs):
        self.read |= {claim: text for _, claim, text in pairs}
        return np.array([self.said[claim] for _, claim, _ in pairs], np.float32)


def test_the_support_model_gives_each_claim_a_probability_and_tells_contradicted_from_absent():
    claims = ("Orders can be returned within 90 days of delivery.", "Gift cards can't be returned.", "Shops are warm.")
    support = ToldSupport({claims[0]: (0.05, 0.9, 0.05), claims[1]: (0.97, 0.01, 0.02), claims[2]: (0.02, 0.03, 0.95)})
    judge = EmbeddedJudge(StubEmbedder(), model=support)
    said = ask(judge, CheckAnswer(QUESTION, CHUNKS, claims)).claims
    assert [one.holds for one in said] == [False, True, False]
    assert [one.contradicted for one in said] == [True, False, False]
    assert said[1].probability > 0.9 > 0.4 > said[0].probability
    assert said[0].evidence == "Orders can be returned within 30 days of delivery."
    assert support.read[claims[2]] in ("\n".join(CHUNKS), *CHUNKS)
    assert judge.model_id != EmbeddedJudge(StubEmbedder()).model_id


def test_a_claim_is_contradicted_where_that_is_likelier_than_support_is_of_answers():
    """What is supported is often read as contradicted when it is worded otherwise, and most claims are supported."""
    claims = ("Orders may go back for 90 days.", "Bring the parcel to a shop.", "Return the order for store credit.")
    told = dict(zip(claims, ((0.3, 0.6, 0.1), (0.15, 0.7, 0.15), (0.03, 0.7, 0.27)), strict=True))
    said = ask(EmbeddedJudge(StubEmbedder(), model=ToldSupport(told)), CheckAnswer(QUESTION, CHUNKS, claims)).claims
    assert [(one.holds, one.contradicted) for one in said] == [(False, False), (False, False), (False, True)]


def test_completeness_is_the_mean_probability_of_the_expected_sentences():
    wanted = ("It takes 30 days.", "The carrier collects it.", "I don't know what it costs.")
    support = ToldSupport({wanted[0]: (0.97, 0.01, 0.02), wanted[1]: (0.02, 0.03, 0.95)})
    judge = EmbeddedJudge(StubEmbedder(), model=support)

    def complete(answer, expected):
        turn = Turn(1, QUESTION, answer, (expected,))
        return ask(judge, JudgeConversation(Conversation((turn,)), ("complete",))).complete[0]

    both = complete("You have 30 days.", " ".join(wanted[:2]))
    halves = [complete("You have 30 days.", one) for one in wanted[:2]]
    assert not both.holds
    assert both.probability == pytest.approx((halves[0].probability + halves[1].probability) / 2)
    assert halves[0].probability > 0.8 > 0.3 > halves[1].probability
    assert complete("Sorry, I do not know that.", wanted[2]).probability == 1  # nothing else was wanted
    assert "I don't know what it costs." not in support.read


def test_without_a_support_model_there_are_verdicts_and_no_probabilities():
    call = CheckAnswer(QUESTION, CHUNKS, ("Gift cards can't be returned.",))
    said = ask(EmbeddedJudge(StubEmbedder()), call).claims[0]
    assert (said.holds, said.probability, said.contradicted, said.evidence) == (True, None, False, "")


@pytest.mark.weights
def test_one_contradicted_claim_among_many_fails_an_answer_whose_mean_passes(tmp_path):
    said = [
        "Orders go by post.",
        "Returns are free.",
        "The shop is in Basel.",
        "Lunch is at noon.",
        "Rain falls once a day.",
    ]
    rows = [
        {"id": name, "question": "", "answer": " ".join([*said[:4], last]), "contexts": [" ".join(said)]}
        for name, last in (("right", said[4]), ("wrong", "Rain falls three times a day."))
    ]
    run = proctor.score(rows, metrics=["faithfulness", "faithful"], db=tmp_path / "x.db", progress=False)
    found = {row.question_id: row.scores for row in run.rows()}
    assert {name: scores["faithful"].value for name, scores in found.items()} == {"right": 1, "wrong": 0}
    assert all(scores["faithfulness"].passed for scores in found.values())
    claims = found["wrong"]["faithful"].details["claims"]
    (claim,) = (one for one in claims if not one["supported"])
    assert (claim["contradicted"], claim["evidence"]) == (True, "Rain falls once a day.")
    assert claim["probability"] < 0.1
