"""What surrounded two runs, and what of it is told as changed."""

from proctor.bots import Identity
from proctor.reports.compare.operands import Operand
from proctor.reports.pages.pair_changes import BotPair, PairedRuns
from proctor.reports.pages.pair_page import (
    ValueLine,
    bot_origins,
    is_unchanged,
    joined_origins,
    run_origins,
    text_difference,
)
from two_operands import made, side_of


def paired(baseline: Operand, candidate: Operand) -> PairedRuns:
    return PairedRuns(
        baseline, candidate, (None, None), (BotPair(("rag", "rag"), (), None, "No question is the same."),)
    )


def origins(baseline: dict[str, object], candidate: dict[str, object], **changes: object) -> dict[str, list[ValueLine]]:
    operands = [
        side_of(made("rag", {"recall": [1.0]}), manifest=manifest, **changes) for manifest in (baseline, candidate)
    ]
    return dict(run_origins(paired(*operands)))


def test_documents_are_told_one_by_one() -> None:
    baseline, candidate = ({"settings": {"documents": {"count": 3, "each": each}}} for each in (
        {"same.md": "aa" * 32, "edited.md": "bb" * 32, "gone.md": "cc" * 32},
        {"same.md": "aa" * 32, "edited.md": "dd" * 32, "new.md": "ee" * 32},
    ))  # fmt: skip
    assert origins(baseline, candidate) == {
        "Documents": [
            ValueLine("edited.md", "bbbbbbbbbbbb…", "dddddddddddd…"),
            ValueLine("gone.md", "cccccccccccc…", None),
            ValueLine("new.md", None, "eeeeeeeeeeee…"),
        ]
    }


def test_judge_software_machine_and_the_way_of_running_have_headings_of_their_own() -> None:
    baseline: dict[str, object] = {
        "proctor": "1.0", "packages": {"numpy": "2.0", "torch": "2.1"}, "machine": {"cores": 2},
        "command": ["proctor", "run"], "settings": {"judge": {"name": "embedded"}, "concurrency": 8, "seed": 0},
    }  # fmt: skip
    candidate: dict[str, object] = {
        "proctor": "1.1", "packages": {"numpy": "2.1", "torch": "2.1"}, "machine": {"cores": 2},
        "command": ["proctor", "run"], "settings": {"judge": {"name": "large"}, "concurrency": 1, "seed": 0},
    }  # fmt: skip
    assert origins(baseline, candidate) == {
        "Judge": [ValueLine("name", "embedded", "large")],
        "How it was run": [ValueLine("concurrency", "8", "1")],
        "Software": [ValueLine("proctor", "1.0", "1.1"), ValueLine("numpy", "2.0", "2.1")],
    }


def test_what_a_baseline_file_does_not_hold_is_no_difference() -> None:
    baseline = side_of(made("rag", {"recall": [1.0]}), manifest={"settings": {"seed": 0}}, is_baseline=True)
    candidate = side_of(
        made("rag", {"recall": [1.0]}), manifest={"settings": {"seed": 1, "limit": 5}, "python": "3.11"}
    )
    assert dict(run_origins(paired(baseline, candidate))) == {"How it was run": [ValueLine("seed", "0", "1")]}


def test_metrics_that_only_one_side_measured_are_told() -> None:
    baseline, candidate = (
        side_of(made("rag", {"recall": [1.0]})),
        side_of(made("rag", {"recall": [1.0], "words": [3.0]})),
    )
    assert dict(run_origins(paired(baseline, candidate))) == {"Metrics": [ValueLine("words", None, "version v1")]}


def test_a_bot_is_the_same_only_where_that_is_known() -> None:
    state = Identity("rag", {"top_k": 4}, "small", prompts={"prompt": "Answer."})
    known = side_of(made("rag", {"recall": [1.0]}), states={"rag": state})
    unknown = side_of(made("rag", {"recall": [1.0]}))
    assert [each.is_same for each in bot_origins(paired(known, known))] == [True]
    assert [(each.is_same, each.is_known) for each in bot_origins(paired(known, unknown))] == [(False, False)]
    assert not is_unchanged(paired(known, known)), "no question was compared"


def test_bots_with_one_and_the_same_change_stand_together() -> None:
    sides = [
        side_of(made("rag", {"recall": [1.0]}), states={
            bot: Identity("rag", {"top_k": 4}, "small", prompts={"prompt": prompt if bot != "faq" else "Look."})
            for bot in ("rag", "faq", "late")
        })
        for prompt in ("Two sentences.", "One sentence.")
    ]  # fmt: skip
    pairs = tuple(BotPair((bot, bot), (), None, "") for bot in ("rag", "faq", "late"))
    found = joined_origins(bot_origins(PairedRuns(*sides, (None, None), pairs)))
    assert [(each.title, len(each.texts)) for each in found] == [("rag, late", 1), ("faq", 0)]


def test_a_prompt_that_came_and_one_that_is_too_long() -> None:
    come = text_difference("system", None, "Be brief.")
    assert (come.baseline, come.candidate) == (None, "Be brief.")
    assert [line.kind for stretch in come.stretches for line in stretch.lines] == ["come"]
    long = text_difference("system", "x" * 60_000, "x" * 60_000 + "y")
    assert long.is_cut
    assert len(long.candidate or "") == 50_000


def test_line_ends_alone_are_told_as_such() -> None:
    assert text_difference("prompt", "one\ntwo\n", "one\r\ntwo\r\n").only_ends
    assert not text_difference("prompt", "one", "two").only_ends
