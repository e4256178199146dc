"""Hostile texts in every field of an opened question stand there as texts: nothing runs, nothing leaves its place."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from browser import Shown
from detail_runs import measure, passage, valued, written
from proctor.bots.bot import Reply
from proctor.knowledge.questions.question import Evidence, Question
from proctor.metrics.score import Score, Status
from proctor.reports.store.run import RowStatus

ATTACKS = (
    "<script>document.title = 'run'</script>",
    "</script><script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title = 'run'\">",
    "<svg onload=\"document.title = 'run'\"><style>*{display:none}</style></svg>",
    "<style>body{display:none}</style><!-- ]]> -->",
    "{{7*7}} javascript:document.title='run' =HYPERLINK(\"http://evil.example\")",
    "\u202egnp.exe\u2066\u0000\u001b[31m\u0007\ud7ff",
)
ALL = "\n".join(ATTACKS)


def attack(name: str) -> str:
    """All attacks in one text that tells where it stood."""
    return f"{name} {ALL}"


def details() -> dict[str, object]:
    """Details of all known forms, and of none."""
    item = {
        "claim": attack("claim"),
        "supported": False,
        "chunks": [1],
        "why": attack("why"),
        "source": attack("source"),
    }
    return {
        "claims": [item], "sentences": [{"sentence": attack("sentence"), "similarity": 0.5, "context": 0}],
        "chunks": [{"chunk": 1, "useful": True, "why": attack("useful"), "sentence": attack("nearest")}],
        "reason": attack("reason"), "message": attack("message"), "judge": attack("judge"), "votes": [attack("vote")],
        "answer": [{"detector": attack("detector"), "excerpt": attack("excerpt"), "label": attack("label"),
                    "missing": [attack("missing")], "span": [0, 5], attack("finding key"): attack("finding")}],
        "contexts": attack("contexts"), "found": [attack("found")], "ranks": [None],
        attack("key"): {attack("inner key"): [attack("inner"), {"deep": [attack("deepest")]}]},
        "__proto__": attack("prototype"), "constructor": attack("constructor"), "hasOwnProperty": 1,
    }  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with attacks in all that others may write."""
    folder = tmp_path_factory.mktemp("hostile")
    bot, metric = f"bot {ATTACKS[0]}", f"metric.{ATTACKS[2]}"
    with written(folder / "proctor.db", (bot, "other"), (measure(metric), measure("constructor"))) as book:
        question = Question(
            "key", attack("question"), (attack("expected"),), (attack("constraint"), (attack("either"), "or")),
            ((Evidence(attack("file"), attack("quote")),),), (attack("tag"),), attack("document"), True,
            {"perturbs": attack("perturbs"), attack("extra"): attack("field")},
        )  # fmt: skip
        contexts = (passage(attack("context"), attack("file"), 0), passage("x" * 1_000_000, "one line"))
        reply = Reply(attack("answer"), contexts, reasoning=attack("thought"), trace={attack("step"): attack("trace")})
        scores = (valued(metric, 0.1, details()), Score("constructor", None, Status.ERROR, attack("code")))
        row = book.ask(bot, question, reply, scores)
        texts = {"reasoning": attack("judge thought"), "problem": attack("problem"), "instructions": attack("prompt")}
        book.judged(row, attack("judge"), attack("request"), attack("reply"), **texts)
        book.ask("other", question, None, status=RowStatus.RAISED, error=attack("error"))
        return book.page(folder / "page.html")


def opened(page: Shown, file: Path) -> None:
    """Open the question and everything in it."""
    bot, metric = f"bot {ATTACKS[0]}", f"metric.{ATTACKS[2]}"
    page.open(f"{file.as_uri()}#answers?{urlencode({'bot': bot, 'metric': metric, 'open': 'key'})}")
    page.wait("return document.querySelector('.detail .evidence')")
    page.wait(
        "document.querySelectorAll('.detail details:not([open])').forEach((each) => (each.open = true));"
        "return !document.querySelector('.detail details:not([open])') && !document.querySelector('.folded-body:empty')"
        " && !/Loading/.test(document.querySelector('.detail').textContent)"
    )


def test_hostile_texts_are_texts(page: Shown, file: Path) -> None:
    opened(page, file)
    title = page.run("return document.title")
    text = page.run("return document.querySelector('.detail').textContent")
    for field in (
        "question", "expected", "constraint", "either", "quote", "file", "tag", "document", "perturbs",
        "extra", "field", "answer", "error", "thought", "trace", "context", "claim", "why", "sentence",
        "useful", "reason", "message", "judge", "vote", "detector", "excerpt", "label",
        "missing", "finding", "found", "key", "inner", "constructor",
        "request", "reply", "judge thought", "problem", "prompt",
    ):  # fmt: skip
        assert f"{field} {ATTACKS[0]}" in text, field
    assert title == "run"
    assert "\u202e" not in text
    assert "\u0000" not in text
    assert "⟨U+202E⟩" in text
    assert (
        page.run(
            "return document.querySelectorAll('.detail :is(script, style, img, svg, iframe, a[href^=java])').length"
        )
        == 0
    )
    assert page.run("return getComputedStyle(document.body).display") == "block"
    assert page.run("return document.documentElement.scrollWidth") <= 1400


def test_hostile_claims_can_be_followed_and_hostile_metrics_chosen(page: Shown, file: Path) -> None:
    opened(page, file)
    for place in range(page.run("return document.querySelectorAll('button.claim-text').length")):
        page.run("document.querySelectorAll('button.claim-text')[arguments[0]].click()", place)
        page.wait("return document.activeElement.matches('.context, .answer, .expected-answers')")
    page.run("[...document.querySelectorAll('.scores .score-metric')].at(-1).click()")
    assert "code <script>" in page.text(".detail .evidence")
    page.run("document.querySelector('.detail-tools button:not([aria-pressed])').click()")
    page.run("document.querySelector('.detail-tools button[aria-pressed]').click()")
    assert page.run("return document.title") == "run"


def test_a_text_of_a_million_characters_is_drawn_by_its_beginning(page: Shown, file: Path) -> None:
    opened(page, file)
    started = page.run("return performance.now()")
    page.run("document.querySelectorAll('.context-head')[1].click()")
    assert page.run("return document.querySelectorAll('.context-text')[1].innerText.length") < 10_000
    assert page.run("return performance.now()") - started < 2_000
