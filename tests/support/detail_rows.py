"""Rows of which every part of an opened question is made: evidence of all forms, failures, repeats, huge texts."""

from pathlib import Path

from detail_runs import measure, passage, valued, written
from proctor.bots.bot import Reply, ToolCall, Usage
from proctor.knowledge.questions.question import Evidence, Question
from proctor.metrics.score import Score, Status
from proctor.reports.store.run import RowStatus

NAMES = (
    "faithfulness", "answer_correctness", "groundedness", "context_precision", "hit_rate", "lettucedetect",
    "judge_relevance", "leak.passes", "leak.failures", "own", "rouge_l", "claim_precision",
)  # fmt: skip
METRICS = tuple(measure(name) for name in NAMES)
EMOJI = "\U0001f642"
ARABIC = "السفر مجاني للأطفال دون سن الخامسة."
DELIVERY = "Delivery takes two days on weekdays."
FIRST = f"{EMOJI}{EMOJI} Opening text here. {DELIVERY} Nothing else matters."
SECOND = f"مرحبا بكم. {ARABIC} نفتح عند التاسعة."
QUOTE = "takes two days"
ANSWER = f"It takes two days {EMOJI}.\nCats fly to the moon. Mail me at {EMOJI} a@b.example today."
AT = FIRST.index(QUOTE)
QUESTION = Question(
    "how", "How long does it take?", ("Two days. On weekdays only.", "Forty-eight hours."), ("days", ("two", "2")),
    ((Evidence("a.md", QUOTE, 100 + AT, 100 + AT + len(QUOTE)),), (Evidence("z.md", "never found", 5, 16),)),
    ("post", "slow"), "a.md", True, extra={"perturbs": "why", "ticket": 4711},
)  # fmt: skip


def claim(text: str, supported: bool, *chunks: int, **more: object) -> dict[str, object]:
    return {"claim": text, "supported": supported, **({"chunks": list(chunks)} if chunks else {}), **more}


SCORES = (
    valued("faithfulness", 0.5, {
        "claims": [
            claim("Delivery takes two days", True, 1), claim("السفر مجاني للأطفال", True, 2),
            claim("Cats fly to the moon", False, why="cats were not mentioned, weekdays were", agreement=2 / 3,
                  probability=0.0312, contradicted=True, evidence="Cats stay at home."),
        ],
        "any_chunk": 0.25, "judge": "large",
    }),
    valued("answer_correctness", 0.3, {
        "TP": [], "FP": [claim("Only weekdays count", False)], "FN": [{"claim": "Cats can fly", "covered": False}],
    }),
    valued("groundedness", 0.2, {"sentences": [
        {"sentence": "It takes two days", "similarity": 0.9, "context": 0},
        {"sentence": "Cats fly to the moon.", "similarity": 0.2, "context": 1},
    ], "least_grounded": "Cats fly to the moon."}),
    valued("context_precision", 0.5, {"chunks": [
        {"chunk": 1, "useful": False, "why": "off topic"}, {"chunk": 2, "useful": True},
    ]}),
    valued("hit_rate", 1.0, {"ranks": [1, None], "retrieved": 2}),
    valued("lettucedetect", 0.9, {"spans": [
        {"text": "Cats fly", "start": ANSWER.index("Cats"), "end": ANSWER.index("Cats") + 8, "confidence": 0.9},
    ]}),
    valued("judge_relevance", 0.6, {"reason": "Half of it.", "samples": [0.5, 0.7], "agreement": 0.5}),
    valued("leak.passes", 0.0, {
        "answer": [{"detector": "email", "span": [ANSWER.index("a@b"), ANSWER.index("a@b") + 11], "excerpt": "a@…"}],
        "contexts": [{"context": 1, "detector": "name", "span": [0, 3], "excerpt": "x"}],
    }),
    valued("leak.failures", 1.0, {}),
    valued("own", 0.5, {
        "deep": {"list": [1, [2, {"three": None}]], "yes": True}, "text": "any thing", "claims": "not a list",
    }),
    Score("rouge_l", None, Status.ERROR, "metric_raised", {"exception": "ValueError", "message": "no such thing"}),
    Score("claim_precision", None, Status.NOT_APPLICABLE, "no_claims"),
)  # fmt: skip


def detail_page(folder: Path) -> Path:
    """The page of one run of the bots ``left`` and ``right``."""
    with written(folder / "proctor.db", ("left", "right"), METRICS) as book:
        contexts = (passage(FIRST, start=100), passage(SECOND, "b.md"))
        trace = {"steps": [{"tool": "search"}]}
        calls = (ToolCall("<b>look</b>", {"order": "1182"}, "packed"), ToolCall("swap", None, error="no JSON"))
        reply = Reply(
            ANSWER, contexts, Usage(120, 30, 0.004), "first I looked", None, 12.0, (100.0, 700.0), trace, calls
        )
        row = book.ask("right", QUESTION, reply, SCORES, latency_ms=700.0, in_flight=3)
        book.judged(row, "large", "<answer>raw request</answer>", '{"grade": 0.6}', reasoning="I weighed it")
        left = Score("faithfulness", None, Status.NOT_APPLICABLE, "contexts_missing")
        book.ask("left", QUESTION, Reply("Two days.\n  Or so."), (left,))
        other = Question("late", "Are you there?", ("yes",))
        book.ask("left", other, None, status=RowStatus.TIMED_OUT, error="no answer within 30 s", latency_ms=30_000.0)
        book.ask("right", other, Reply("I can't say.", (), abstained=True))
        for repeat in (0, 1):
            book.ask("right", Question("twice", "Again?", ()), Reply(f"answer {repeat}", ()), repeat=repeat)
        many = tuple(passage(f"Passage number {number}. It ends.", "m.md", 100 * number) for number in range(300))
        claims = [claim(f"claim number {number}", True, 250) for number in range(600)]
        said = valued("faithfulness", 1.0, {"claims": [claim("Passage number 249", True, 250), *claims]})
        book.ask("right", Question("many", "Much?", ()), Reply("line\n" * 150_000, many), (said,))
        return book.page(folder / "page.html")
