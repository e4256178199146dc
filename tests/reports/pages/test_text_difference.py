"""Texts compared line by line, and within changed lines word by word."""

import random
from itertools import pairwise

from proctor.reports.pages.pair_page import DifferenceLine, line_difference, stretches


def operands(lines: list[DifferenceLine]) -> tuple[list[str], list[str]]:
    return (
        [line.text for line in lines if line.kind != "come"],
        [line.text for line in lines if line.kind != "gone"],
    )


def changed_words(line: DifferenceLine) -> list[str]:
    return [piece.text for piece in line.pieces if piece.changed]


def test_both_texts_can_be_read_from_their_difference() -> None:
    draw = random.Random(3)
    words = ["Answer", "only", "from", "the", "documents", "", "  - rule:", "→", "{context}"]
    texts = ["\n".join(" ".join(draw.choices(words, k=4)) for _ in range(draw.randrange(12))) for _ in range(200)]
    for baseline, candidate in pairwise(texts):
        lines = line_difference(baseline, candidate)
        assert operands(lines) == (baseline.splitlines(), candidate.splitlines())
        assert [line.baseline_number for line in lines if line.baseline_number] == list(
            range(1, len(baseline.splitlines()) + 1)
        )
        assert [line.candidate_number for line in lines if line.candidate_number] == list(
            range(1, len(candidate.splitlines()) + 1)
        )


def test_words_that_changed_are_told_in_a_line_that_is_nearly_the_same() -> None:
    gone, come = line_difference("Answer in at most two sentences.", "Answer in one short sentence.")
    assert (changed_words(gone), changed_words(come)) == (["at most two sentences"], ["one short sentence"])


def test_lines_are_compared_with_their_fellows_and_not_with_others() -> None:
    old = "Answer only from the documents, in two sentences.\nGive amounts exactly as they are written."
    new = "Answer only from the documents, in one sentence.\nAsk somebody else."
    lines = line_difference(old, new)
    assert [changed_words(line) for line in lines] == [["two sentences"], [], ["one sentence"], []]


def test_unchanged_lines_far_from_a_change_are_set_apart() -> None:
    text = "\n".join(map(str, range(40)))
    found = stretches(text, text.replace("\n20\n", "\ntwenty\n"), around=2)
    assert [(each.is_far, len(each.lines)) for each in found] == [(True, 18), (False, 6), (True, 17)]
    assert [(each.is_far, len(each.lines)) for each in stretches(text, text)] == [(True, 40)]


def test_a_very_long_text_is_compared_without_its_words() -> None:
    old = "\n".join(f"line {number} of many" for number in range(3000))
    lines = line_difference(old, old.replace("many", "few"))
    assert len(lines) == 6000
    assert not any(changed_words(line) for line in lines if line.kind == "same")
