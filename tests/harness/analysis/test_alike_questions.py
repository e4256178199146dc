import pytest
from bare_questions import embedder
from proctor.harness.analysis.duplicate_questions import asked, find_alike
from tables import in_one_test


def pairs(*texts: str) -> list[tuple[int, int]]:
    return [(one.first, one.second) for one in find_alike(texts, embedder())]


def test_the_same_words_are_found_whatever_their_case_and_punctuation():
    (found,) = find_alike(["How do I reset my PIN?", "Where is the shop?", "how do i reset  my pin"], embedder())
    assert (found.first, found.second, found.equal, found.exact) == (0, 2, True, True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("How can I reset my PIN?", "How do I reset my PIN?"),
        ("Who is at risk for COVID-19?", "Who is most vulnerable to COVID-19?"),
        ("What is the minimum age for opening an account?", "How old must I be to open an account?"),
    ],
)
def test_other_words_for_the_same_are_found(first, second):
    (found,) = find_alike([first, second], embedder())
    assert not found.equal
    assert 0.88 <= found.cosine < 1


@in_one_test(
    ("first", "second"),
    [
        ("What does a tandem cost per day?", "What does a trailer cost per day?"),  # another thing
        ("How much is the fine after 3 days?", "How much is the fine after 5 days?"),  # another number
        ("When does the shop in Galway open?", "When does the shop in Dublin open?"),  # another name
        ("Can I return a used bike?", "Can I not return a used bike?"),  # denied
        ("When was the bridge built?", "Why was the bridge built?"),  # another sort of question
        ("How long is the cycle tour?", "How old is the cycle tour?"),  # another measure
        ("Is the minimum rent included?", "Is the maximum rent included?"),  # the opposite
        ("What is the weather in spring?", "Which helmet is safest?"),
    ],
)
def test_questions_that_differ_in_what_matters_are_two(first, second):
    assert pairs(first, second) == []


def test_the_same_words_in_another_order_are_near_but_not_exactly_the_same():
    (found,) = find_alike(
        ["How do I move money from savings to checking?", "How do I move money from checking to savings?"], embedder()
    )
    assert not found.exact


def test_each_of_many_equal_texts_is_paired_with_the_next_at_least():
    found = find_alike(["Is it open?"] * 200, embedder())
    assert {one.second for one in found} == set(range(1, 200))
    assert len(found) <= 200 * 50


def test_a_split_pairs_the_two_parts_alone():
    texts = ["Is it open?", "is it OPEN", "Is it open", "Where is it?"]
    assert [(one.first, one.second) for one in find_alike(texts, embedder(), split=2)] == [(0, 2), (1, 2)]


@pytest.mark.parametrize("texts", [[], ["Only one?"], ["", ""], ["?!", "…"], ["\ud800 what", "a" * 100_000]])
def test_odd_sets_are_no_trouble(texts):
    assert all(0 <= one.first < one.second < len(texts) for one in find_alike(texts, embedder()))


def test_a_text_of_signs_is_itself():
    assert asked("?!") != asked("...")
