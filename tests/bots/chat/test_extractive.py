"""ExtractiveChat: what it says, from where, what it follows of a prompt, and how fast it is."""

import asyncio
import hashlib
import re
from dataclasses import dataclass

import numpy as np
import pytest
from proctor.bots.bot import Context
from proctor.bots.chat.extractive import (
    CLOSING,
    MOST_SENTENCES_KEPT,
    OPENING,
    ExtractiveChat,
    Sayable,
    sayable_sentences,
    without_marks,
)
from proctor.bots.chat.model import ChatRequest
from tables import in_one_test

DIMENSIONS = 256


@dataclass
class Vectors:
    vectors: np.ndarray
    truncated: np.ndarray


class WordEmbedder:
    """Vectors from words, each hashed to a direction of its own; counts what it is asked for."""

    model_id = "words@1"

    def __init__(self):
        self.kept = []
        self.fresh = []

    async def embed(self, texts):
        self.kept += texts
        return self._vectors(texts)

    async def load(self):
        pass

    async def embed_fresh(self, texts):
        self.fresh += texts
        return self._vectors(texts)

    def _vectors(self, texts):
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()) or [""]:
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
                vectors[row] += np.random.default_rng(seed).normal(size=DIMENSIONS)
            vectors[row] /= np.linalg.norm(vectors[row])
        return Vectors(vectors, np.zeros(len(texts), bool))


class OneWayEmbedder(WordEmbedder):
    """Every text points the same way; quick for many texts."""

    def _vectors(self, texts):
        return Vectors(np.ones((len(texts), 1), np.float32), np.zeros(len(texts), bool))


def request(question, *texts, instructions="", prompt="", scores=None):
    contexts = tuple(Context(text, score=scores[place] if scores else None) for place, text in enumerate(texts))
    return ChatRequest(prompt, instructions=instructions, question=question, contexts=contexts)


def answer(question, *texts, chat=None, **options):
    return asyncio.run((chat or ExtractiveChat(WordEmbedder())).complete(request(question, *texts, **options)))


HOURS = "The shop in Cork opens at nine. Parking is free on Sundays. Dogs are welcome everywhere."
FEES = "Delivery to Kerry costs 29 euros. Collection costs nothing. The battery lasts two years."


def test_says_the_best_sentence_and_takes_it_from_the_contexts():
    completion = answer("When does the shop in Cork open?", HOURS, FEES, instructions="Answer in one sentence.")
    assert completion.text == "The shop in Cork opens at nine."
    assert completion.abstained is False
    assert 0.36 < completion.trace["best_score"] <= 1


def test_never_repeats_the_question_or_the_instructions():
    completion = answer(
        "What does delivery to Kerry cost?",
        FEES,
        instructions="What does delivery to Kerry cost? Say it in one sentence.",
        prompt="Delivery to Kerry costs a fortune.",
    )
    assert completion.text == "Delivery to Kerry costs 29 euros."


def test_sentences_are_said_in_the_order_of_the_text():
    text = "The red lamp is bright. Lunch is at noon. The big red lamp is bright."
    said = answer("Which big red lamp is bright?", text).text
    assert said == "The red lamp is bright. The big red lamp is bright."


def test_overlapping_passages_are_not_said_twice():
    passages = ("Intro here. Delivery to Kerry costs 29 euros.", "Delivery to Kerry costs 29 euros. More follows.")
    said = answer("What does delivery to Kerry cost?", *passages, instructions="Use up to three sentences.").text
    assert said.count("29 euros") == 1


def test_the_better_ranked_passage_wins_a_tie():
    passages = ("Delivery costs 1 euro.", "Delivery costs 2 euro.")
    said = [
        answer("What does delivery cost?", *order, instructions="one sentence", scores=(0.9, 0.8)).text
        for order in (passages, passages[::-1])
    ]
    assert said == ["Delivery costs 1 euro.", "Delivery costs 2 euro."]


def test_a_fragment_at_the_edge_of_a_passage_loses_against_the_whole_sentence():
    passages = ("to Kerry delivery costs 29 euros and", "For delivery to Kerry the costs are 29 euros.")
    said = answer("What are the costs of delivery to Kerry?", *passages, instructions="one sentence").text
    assert said == passages[1]


def test_a_heading_lends_its_words_to_what_stands_under_it():
    text = "## Opening hours\n\nWe are there from nine to five.\n\n## Parking\n\nWe are there for you and your car.\n"
    for texts in ([text], [FEES, text]):
        assert answer("What are your opening hours?", *texts, instructions="one sentence").text == (
            "We are there from nine to five."
        )


def test_a_question_in_the_text_is_answered_and_not_repeated():
    text = "How do I reset my password? Use the link on the sign-in page. How do I pay? By card."
    assert answer("How do I reset my password?", text, instructions="one sentence").text == (
        "Use the link on the sign-in page."
    )


def test_the_refusal_of_the_prompt_is_said_when_nothing_fits():
    prompt = 'Use the documents. If they do not contain the answer, say: "Ask our team."'
    abstained = answer("Who won the world cup in curling?", HOURS, FEES, instructions=prompt)
    assert (abstained.text, abstained.abstained) == ("Ask our team.", True)
    answered = answer("When does the shop in Cork open?", HOURS, FEES, instructions=prompt)
    assert answered.abstained is False
    forced = answer("Who won the world cup in curling?", HOURS, FEES, instructions="Use the documents.")
    assert forced.abstained is False
    assert forced.text


@pytest.mark.parametrize("texts", [(), ("",), ("   \n\n",), ("# Only a heading\n",), ("---", "...")])
def test_without_anything_to_say_it_declines(texts):
    silent = answer("When?", *texts)
    assert (silent.text, silent.abstained) == ("", True)
    polite = answer("When?", *texts, instructions='If you do not know, answer "No idea."')
    assert (polite.text, polite.abstained) == ("No idea.", True)


def test_politeness_frames_the_answer():
    said = answer("When does the shop in Cork open?", HOURS, instructions="Be polite. One sentence.").text
    assert said == f"{OPENING} The shop in Cork opens at nine. {CLOSING}"


def test_odd_questions_are_answered():
    for question in ("", "?!", "what is it", "\ud800", "何時に開きますか"):
        assert answer(question, HOURS).text


async def test_the_same_request_gives_the_same_answer_whatever_came_before():
    chat = ExtractiveChat(WordEmbedder())
    asked = request("What does delivery cost?", HOURS, FEES)
    first = await chat.complete(asked)
    await chat.prepare(["Something else. " * 5, HOURS + " And more."])
    await chat.complete(request("When?", "Delivery to Mars costs a lot."))
    assert await chat.complete(asked) == first
    assert await ExtractiveChat(WordEmbedder()).complete(asked) == first


async def test_prepared_texts_are_embedded_once_and_questions_are_not_kept():
    embedder = WordEmbedder()
    chat = ExtractiveChat(embedder)
    await chat.prepare([HOURS, FEES])
    assert sorted(embedder.kept) == sorted(re.split(r"(?<=\.) ", HOURS) + re.split(r"(?<=\.) ", FEES))
    embedder.kept.clear()
    await chat.complete(request("When?", HOURS, FEES))
    assert embedder.kept == []
    assert embedder.fresh == ["When?"]


async def test_what_is_kept_is_bounded():
    embedder = OneWayEmbedder()
    chat = ExtractiveChat(embedder)
    half = MOST_SENTENCES_KEPT // 2 + 1
    first, second = (" ".join(f"Fact {letter}{number} holds." for number in range(half)) for letter in "ab")
    await chat.prepare([first])
    await chat.prepare([second])
    embedder.kept.clear()
    await chat.prepare([second])
    assert embedder.kept == []
    await chat.prepare([first])
    assert len(embedder.kept) == half


def test_settings_name_the_embedder_and_the_rules():
    chat = ExtractiveChat(WordEmbedder())
    assert chat.settings["model"] == chat.name == "extractive"
    assert chat.settings["embedder"] == "words@1"
    assert re.fullmatch("[0-9a-f]{64}", chat.settings["rules"])
    assert (chat.embedded, chat.context_tokens) == (True, None)


# Sentences of a passage as they can be said: Markdown, lists, tables, headings, fragments


@in_one_test(
    ("text", "said"),
    [
        ("One. Two!", ["One.", "Two!"]),
        ("# Title\n\nFirst line\nwraps here. Next.", ["First line wraps here.", "Next."]),
        ("Title\n=====\nBody.", ["Body."]),
        ("Plain title\n\nBody.", ["Body."]),
        ("We take:\n- Visa\n- PayPal.\n\nAfter.", ["We take: Visa; PayPal.", "After."]),
        ("Do this:\n1. Open it\n2) Close it", ["Do this: Open it; Close it."]),
        ("- Alone\n- Together.", ["Alone.", "Together."]),
        ("- wraps\n  over lines", ["wraps over lines."]),
        ("Note:\n\nIt is late.", ["Note: It is late."]),
        ("Trailing lead:", ["Trailing lead:"]),
        ("How? Like this.", ["Like this."]),
        ("| Bike | Price |\n|---|---|\n| City | 29 |\n| Cargo | 69 |", ["City: Price 29.", "Cargo: Price 69."]),
        ("| City | 29 | 45 |\n| Cargo | 69 | |", ["City: 29, 45.", "Cargo: 69."]),
        ("```\ncode here.\n```", ["code here."]),
        ("> Quoted *text*.", ["Quoted text."]),
        ("***\nAfter the rule.", ["After the rule."]),
        ("Dr. Roe paid 4.90 euros. Fine.", ["Dr. Roe paid 4.90 euros.", "Fine."]),
        ("", []),
    ],
)
def test_what_can_be_said_of_a_text(text, said):
    assert [each.text.rstrip(",") for each in sayable_sentences(text)] == said


def test_a_long_list_is_said_item_by_item():
    items = [f"item number {number} with a good many words in it" for number in range(40)]
    found = sayable_sentences("You get:\n" + "\n".join(f"- {item}" for item in items))
    assert [each.text for each in found] == [f"You get: {item}." for item in items]


@in_one_test("mark", ["[", "*", "_a", "`", "<", "<!--", "![", "[a](", "~~", "|", "\\*"])
def test_a_text_full_of_marks_is_read_to_its_end(mark):
    assert all(each.text.strip() for each in sayable_sentences(mark * 20_000))


def test_topics_and_fragments_are_marked():
    assert sayable_sentences("of the last one. ## no heading\n\n## Hours\nAt nine. Is it? And the end of") == [
        Sayable("of the last one.", whole=False),
        Sayable("## no heading", whole=False),
        Sayable("At nine.", "Hours"),
        Sayable("And the end of", "Is it?", whole=False),
    ]


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ('see [our **page**](https://a.b/c_(d) "t") now', "see our page now"),
        ("![alt](x.png) *one* __two__ `three` ~~four~~", "alt one two three four"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("a<br>b <b>c</b> <https://x.y>", "a b c https://x.y"),
        ("5 < 6 and 7 > 3", "5 < 6 and 7 > 3"),
        (r"\*not bold\*", "*not bold*"),
    ],
)
def test_marks_are_taken_off(line, read):
    assert without_marks(line) == read
