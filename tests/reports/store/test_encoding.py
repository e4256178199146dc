"""What a bot hands over is made fit to be kept, or refused with a sentence."""

import orjson
import pytest
from proctor.bots.bot import Context, Reply, Usage
from proctor.reports.store.encoding import clean_reply, to_json
from tables import in_one_test

HALF = "\ud83d"


def test_a_clean_reply_is_left_as_it_is():
    reply = Reply("an answer", (Context("text", "document", 1, 5, 0.5),), Usage(1, 2, 0.1), "thoughts", abstained=True)
    assert clean_reply(reply) is reply


def test_half_a_pair_is_replaced_wherever_it_stands_and_the_rest_stays():
    reply = Reply(
        f"a{HALF}", (Context(f"c{HALF}", f"d{HALF}", 1, 3, 0.5), Context("whole", "e", 4, 9, 0.4)), queue_ms=3
    )
    made = clean_reply(reply)
    assert made.answer == "a\ufffd"
    assert made.contexts == (Context("c\ufffd", "d\ufffd", 1, 3, 0.5), Context("whole", "e", 4, 9, 0.4))
    assert made.queue_ms == 3


ODD = {
    "a int as its answer": Reply(5),
    "a dict as its reasoning": Reply("x", reasoning={}),
    "a str as abstained": Reply("x", abstained="yes"),
    "a str as tokens_in": Reply("x", usage=Usage(tokens_in="12")),
    "a bytes as the text of a context": Reply("x", contexts=(Context(b"raw"),)),
    "a str as the place or score of a context": Reply("x", contexts=(Context("c", score="high"),)),
}


@pytest.mark.parametrize("sentence", ODD)
def test_what_no_column_can_hold_is_refused_with_its_name(sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        clean_reply(ODD[sentence])


@in_one_test(
    ("value", "kept"),
    [
        (10**400, str(10**400)), (-(10**400), str(-(10**400))), (10**300, 1e300), (2**70, float(2**70)), (True, True),
        ([2**64, float("nan"), float("inf")], [float(2**64), None, None]), (f"a{HALF}\U0001f600", "a\ufffd\U0001f600"),
        ({HALF: {"deep": [HALF]}}, {"\ufffd": {"deep": ["\ufffd"]}}),
    ],
)  # fmt: skip
def test_json_of_a_bot_can_be_read_again_whatever_numbers_and_texts_it_holds(value, kept):
    assert orjson.loads(to_json({"odd": 2**64, "value": value})) == {"odd": float(2**64), "value": kept}
