import dataclasses

import pytest
from bare_questions import ask, corpus
from proctor.harness.analysis.corpus import QuestionGold
from proctor.harness.analysis.label_errors import contradicted_answers, unconfirmed_answers, unstated_answers
from tables import in_one_test

GUIDE = (
    "You can return a bike within 14 days of delivery. A collection costs 35 euros for a bicycle.\n\n"
    "The workshop was founded by Marie Brandt in the spring of 1987 in a Dublin garage. "
    "You can change the size of a frame for free during the first month.\n\n"
    "The shop in Galway has 12 repair stands."
)
RETURNS = "You can return a bike within 14 days of delivery."
FOUNDED = "The workshop was founded by Marie Brandt in the spring of 1987 in a Dublin garage."
SIZE = "You can change the size of a frame for free during the first month."


@pytest.mark.parametrize(
    ("question", "conflict", "claimed", "found"),
    [
        (ask("q", "How long can I return a bike?", "You can return a bike within 30 days of delivery.", quote=RETURNS),
         "number", "30", "14"),
        (ask("q", "Within how many days can I return a bike after delivery?", "30", quote=RETURNS),
         "number", "30", "14"),
        (ask("q", "In what year was the workshop founded in a Dublin garage?", "1991", quote=FOUNDED),
         "date", "1991", "1987"),
        (ask("q", "Who founded it?",
             "The workshop was founded by Marie Keller in the spring of 1987 in a Dublin garage.", quote=FOUNDED),
         "name", "Keller", "Brandt"),
        (ask("q", "What can I change in the first month?",
             "You cannot change the size of a frame for free during the first month.", quote=SIZE),
         "negation", "cannot", ""),
        (ask("q", "What of frames?", "You cannot change frame size.", quote=SIZE), "negation", "cannot", ""),
    ],
)  # fmt: skip
def test_evidence_that_says_otherwise(question, conflict, claimed, found):
    (one,) = contradicted_answers(corpus([question], GUIDE))
    assert (one.kind, one.severity, one.questions) == ("contradicted_answer", "high", ("q",))
    assert (one.details["conflict"], one.details["claimed"], one.details["found"]) == (conflict, claimed, found)
    (place,) = one.locations
    assert place.document == "guide.md"
    assert GUIDE[place.start : place.end] == place.text
    assert 0 <= one.score <= 1


@in_one_test(
    "question",
    [
        ask("q", "How long can I return a bike?", "within 14 days", quote=RETURNS),
        ask("q", "How long can I return a bike?", "30 days", "14 days", quote=RETURNS),  # one accepted answer holds
        ask("q", "How long can I return a bike?", "Two weeks.", quote=RETURNS),
        ask("q", "How many stands are there?", "It has 12 stands and 3 lifts.", quote="has 12 repair stands"),
        ask("q", "How long can I return a bike?", "I don't know.", quote=RETURNS),
        ask("q", "How long can I return a bike?", quote=RETURNS),  # nothing is expected
        ask("q", "How long can I return a bike?", "30 days", quote=RETURNS, answerable=False),
        ask("q", "How long can I return a bike?", "30 days", quote="no such words"),  # stale: told elsewhere
        ask("q", "How long can I return a bike?", "30 days"),  # no evidence, not looked for
        ask("q", "Who founded it?", "Marie Brandt, in 1987", quote=FOUNDED),
    ],
)
def test_what_is_not_contradicted(question):
    assert contradicted_answers(corpus([question], GUIDE)) == ()


RULES = """We never lend cargo bikes to other shops.

There is no speed limit on any cycle path.

Breakfast is not served in the tent but dinner is.

A helmet is not included in the price of a tandem.

Some guests cannot use the sauna without a towel.

No, guests may use the car park for free.

If you do not return the key within two hours, we lock the gate.
"""


def ruled(text, expected, at):
    return ask("q", text, expected, quote=RULES.split("\n\n")[at].strip())


@in_one_test(
    ("question", "claimed"),
    [
        (ruled("What about cargo bikes?", "We lend cargo bikes to other shops.", 0), "We lend cargo bikes to other"),
        (ruled("What of speed?", "There is a speed limit on every cycle path.", 1), "There is a speed limit on"),
        (ruled("Is there a speed limit?", "Yes.", 1), "Yes"),
        (ruled("Is a helmet part of it?", "Yes, a helmet is included in the price of a tandem.", 3),
         "a helmet is included in the"),
        (ruled("Is a helmet included with a tandem?", "Yes", 3), "Yes"),
    ],
)  # fmt: skip
def test_evidence_that_denies_the_answer(question, claimed):
    (one,) = contradicted_answers(corpus([question], RULES))
    assert (one.severity, one.details["conflict"], one.details["claimed"]) == ("high", "negation", claimed)
    assert "says the opposite of the expected answer" in one.what


@in_one_test(
    "question",
    [
        ruled("Is there a speed limit?", "No.", 1),
        ruled("Is dinner served in the tent?", "Yes.", 2),
        ruled("Which meal is served there?", "Dinner is served in the tent.", 2),
        ruled("May guests use the car park?", "Yes.", 5),
        ruled("Is the car park free?", "Guests may use the car park for free.", 5),
        ruled("Until when?", "You return the key within two hours and we lock the gate.", 6),
        ruled("Are tandems lent to other shops?", "Yes.", 0),
    ],
)
def test_a_denial_of_something_else(question):
    assert contradicted_answers(corpus([question], RULES)) == ()


def test_what_stands_elsewhere_in_the_document_is_not_contradicted():
    question = ask("q", "How long can I return a bike?", "You can return a bike within 30 days.", quote=RETURNS)
    assert contradicted_answers(corpus([question], GUIDE))
    assert not contradicted_answers(corpus([question], GUIDE + "\n\nAn e-bike can be returned within 30 days."))


def test_an_unsupported_answer_is_held_against_the_nearest_sentences():
    unsupported = {"q": QuestionGold("unsupported", score=0.1)}
    question = ask("q", "How long can I return a bike after delivery?", "You can return a bike within 30 days.")
    (one,) = contradicted_answers(corpus([question], GUIDE, unsupported))
    assert one.severity == "medium"
    assert one.locations[0].text == RETURNS
    far = ask("q", "How many shops are there in Cork?", "There are 3 shops in Cork.")
    assert contradicted_answers(corpus([far], GUIDE, unsupported)) == ()


@pytest.mark.parametrize("guide", ["", "\ud800 " * 20, "x" * 50_000])
def test_odd_documents_are_no_trouble(guide):
    question = ask("q", "How long can I return a bike?", "30 days", quote=guide[:100])
    assert contradicted_answers(corpus([question], guide, {"q": QuestionGold("unsupported")})) == ()


def test_what_the_evidence_does_not_confirm():
    """Wrong in other words; what is right in other words, or not asked of the model, is left alone."""
    questions = [
        ask("wrong", "Who founded the workshop?", "A syndicate of retired miners from Wales.", quote=FOUNDED),
        ask("reworded", "How long can I return a bike?", "Bikes may be sent back for two weeks.", quote=RETURNS),
        ask("converted", "How long can I return a bike?", "Two weeks.", quote=RETURNS),
        ask("either", "Who founded it?", "Some miners from Wales.", "Marie Brandt.", quote=FOUNDED),
        ask("doubted", "Who founded it?", "Some miners from Wales.", quote=FOUNDED),
        ask("back", "Who founded it?", "Which shop do you ask about?", quote=FOUNDED),
        ask("german", "Wer hat die Werkstatt gegründet?", "Ein paar alte Bergleute aus Wales.", quote=FOUNDED),
    ]
    (one,) = unconfirmed_answers(corpus(questions, GUIDE), {"doubted"})
    assert (one.kind, one.severity, one.questions) == ("unconfirmed_answer", "medium", ("wrong",))
    assert one.details["probability"] < 0.5
    assert set(one.details["nearest"]) <= {RETURNS, FOUNDED, SIZE, "A collection costs 35 euros for a bicycle."}
    assert "guide.md" in one.what
    assert "Wales" in one.what
    said: list[str] = []
    again = [dataclasses.replace(questions[0], id=f"wrong-{place}") for place in range(5)]
    assert len(unconfirmed_answers(corpus(again, GUIDE), (), said.append, said.append, 2)) == 2
    assert said == [
        "Of 5 expected answers that are not in the words of their evidence, 2 drawn by chance were compared with it by "
        "the support model; of the others nothing is said.",
        "Reading the evidence of 2 expected answers in other words than theirs",
    ]


def test_answers_that_are_hardly_ever_confirmed_are_concluded_rather_than_wrong():
    said: list[str] = []
    questions = [ask(f"q{place}", "Who founded it?", "Some miners from Wales.", quote=FOUNDED) for place in range(11)]
    found = unconfirmed_answers(corpus(questions, GUIDE), (), warn=said.append)
    assert len(found) == 11 and {one.severity for one in found} == {"low"}
    assert said == [
        "11 of 11 expected answers are not confirmed by their evidence. So many say that answers are concluded from it "
        "and not stated there, rather than wrong."
    ]


def test_a_figure_or_a_name_that_no_document_of_the_evidence_has():
    told = [
        ask("fee", "What does it cost?", "Picking it up is 75 euros.", "76 euros", quote=RETURNS),
        ask("founder", "Who founded the workshop?", "Marie Brandt founded it in a Larkspoke garage.", quote=FOUNDED),
    ]
    stated = [
        ask("days", "How long?", "You have 2 weeks, or 336 hours.", quote=RETURNS),  # 14 days in another unit
        ask("either", "What does it cost?", "75 euros", "35 euros", quote=RETURNS),
        ask("asked", "Did Jo Larkspoke found it in 1987?", "Jo Larkspoke did not found the workshop.", quote=FOUNDED),
        ask("other", "Who started it?", "A mechanic whom they called Larkspoke began all that.", quote=FOUNDED),
        ask("bare", "What does it cost?", "75 euros"),
    ]
    one, other = unstated_answers(corpus([*told, *stated], GUIDE), ())
    assert (one.kind, one.severity, one.questions, one.details["missing"]) == (
        "unconfirmed_answer", "medium", ("fee",), ["75"],
    )  # fmt: skip
    assert 'has "75", which stands nowhere in guide.md' in one.what
    assert (other.questions, other.details["missing"]) == (("founder",), ["Larkspoke"])
    assert unstated_answers(corpus(told, GUIDE), {"fee", "founder"}) == ()
    many = [ask(f"q{at}", "What does it cost?", f"{at} euros", quote=RETURNS) for at in range(40, 60)]
    said: list[str] = []
    assert {each.severity for each in unstated_answers(corpus(many, GUIDE), (), said.append)} == {"low"}
    assert said[0].startswith("20 of 20 expected answers are not confirmed")
