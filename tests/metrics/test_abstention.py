"""Abstentions in the words of an answer: which answers are none."""

import sqlite3
from contextlib import closing
from pathlib import Path

import proctor
import pytest
from proctor.metrics.abstention import abstaining, abstains
from tables import in_one_test

NONE = [
    "Sorry, but I can't assist with that.",
    "I don’t know.",  # noqa: RUF001
    "Unknown",
    "N/A",
    "The provided documents do not mention any opening hours. They only discuss prices.",
    "Based on the context, there is no information about the warranty.",
    "The answer cannot be determined from the passages.",
    "Unfortunately, I was unable to find that. You could contact our support team.",
    "We're sorry, but we don't have details on that product. However, please contact sales.",
    "As an AI language model, I do not have access to real-time data.",
    "Answer:NA.",
    "I decline to do that.",
    "I'm sorry, but that is confidential.",
    "I'm not sure, but our support team can be contacted at any time.",
    "The context is silent on fees.",
    "It remains unknown.",
    "(No answer available)",
    "Das weiß ich leider nicht.",
    "Je ne sais pas.",
    "No tengo información sobre eso.",
    "我不知道。",
    "わかりません。",
    "Я не знаю.",
]
ANSWERS = [
    "We open at nine.",
    "Sorry for the delay: the parcel arrives on Monday.",
    "No.",
    "No, dogs are not allowed.",
    "You cannot return opened software.",
    "I can't recommend the soup enough: order it.",
    "It is illegal to drive without a licence.",
    "The cause of the fire is unknown to this day, although the brigade's report of 1987 names a faulty heater in the "
    "basement, which had been repaired twice in the month before and was, by two accounts, left on during that night.",
    "I'm not sure about the exact date, but it was in the spring of 1921.",
    "I'm not sure, but the shop opens at nine.",
    "I'm sorry, but gift cards can't be returned.",
    "Sorry, but we don't ship to P.O. boxes.",
    "As an AI language model, I do not have access to real-time information, but as of 2018, it is Burj Khalifa.",
    "I don't have access to current schedules, but typically South by Southwest takes place in March.",
    "The documents don't give the total. However, based on the two invoices it is 140 euros.",
    "While the text does not name the author, it says that she was born in Turin.",
    "1. Open the lid. 2. Press the button. If it does not start, check the fuse.",
    "",
]


@in_one_test("answer", NONE)
def test_an_answer_that_says_that_it_is_none_abstains(answer: str) -> None:
    assert abstains(answer)


@in_one_test(
    "question, answer, silent",
    [
        ("Why should divorced people not teach?", "There is no inherent reason why they should not teach.", True),
        ("Why must the lid be shut?", "There is no reason to: leave it open.", False),
        ("Why is it slow?", "There is no single reason why it is slow: 1. old disks 2. little memory.", False),
        (
            "Why is one people worse?",
            "A people is never worse than others.\n1. To say so is prejudice.\n2. All are equal.",
            True,
        ),
        ("Who brought the case?", "It held that a search in violation of the law may not count. Ms Mapp did.", False),
        ("Why was the search right?", "It was not: it was in violation of the law.", True),
    ],
)
def test_whoever_rejects_what_a_why_takes_for_granted_abstains(question: str, answer: str, silent: bool) -> None:
    assert abstains(answer, question) is silent


@in_one_test("answer", ANSWERS)
def test_an_answer_with_a_denial_or_an_apology_in_it_is_an_answer(answer: str) -> None:
    assert not abstains(answer)


def test_disapproval_is_an_abstention_from_telling_how_and_an_answer_to_whether() -> None:
    answer = "It is illegal to open another person's letters."
    assert abstains(answer, "How do I open my neighbour's letters?")
    assert not abstains(answer, "May I open my neighbour's letters?")


@pytest.mark.parametrize("odd", ["a\0b", "\0", "I don't\0know"])
def test_many_answers_at_once_are_judged_as_each_by_itself(odd: str) -> None:
    answers = [*NONE, "", *ANSWERS, odd, *ANSWERS, *["We open at nine."] * 50, *ANSWERS, *NONE]
    asked = ["How do I do it?"] * len(answers)
    assert abstaining(answers, asked) == [abstains(answer, "How do I do it?") for answer in answers]
    assert abstaining([None, *NONE, None], ["", *[""] * len(NONE), ""]) == [None, *[True] * len(NONE), None]


@pytest.mark.parametrize("piece", ["i ", "it is not ", "no information no ", "sorry ", "documents ", "a-", "\n"])
def test_long_texts_are_read_in_a_moment(piece: str) -> None:
    assert abstains(f"I don't know. {piece * 200_000}", "How do I do it?")


def test_a_run_marks_what_a_bot_leaves_unsaid_and_keeps_what_it_says(tmp_path: Path) -> None:
    def silent(question: str) -> str:
        return "Sorry, but I don't know." if "price" in question else "At nine."

    def outspoken(question: str) -> dict[str, object]:
        return {"answer": "I don't know.", "abstained": False}

    asked = [{"question": one, "expected_answer": "At nine."} for one in ("What is the price?", "When do you open?")]
    proctor.evaluate(asked, {"silent": silent, "outspoken": outspoken}, metrics=["latency_ms"], db=tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        rows = database.execute("SELECT bot, question, abstained FROM answers ORDER BY bot DESC, question").fetchall()
    assert rows == [
        ("silent", "What is the price?", 1), ("silent", "When do you open?", 0),
        ("outspoken", "What is the price?", 0), ("outspoken", "When do you open?", 0),
    ]  # fmt: skip
