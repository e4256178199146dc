"""An analysis with something in every part of it, as tests of pages, tables and the database want one."""

from proctor.reports.analysis.findings import (
    AblatedAnswer,
    Ablations,
    AnalysedQuestion,
    BotChange,
    Configuration,
    ConfigurationResult,
    Coverage,
    DatasetQuality,
    DocumentAttribution,
    DocumentChanges,
    DocumentSummary,
    Edit,
    Excerpt,
    Finding,
    Gaps,
    Grid,
    KnowledgeAnalysis,
    QuestionQuality,
    Recommendation,
    Subset,
    Topic,
)
from proctor.reports.compare.scores import Estimate
from proctor.reports.statistics.paired import Difference

HOSTILE = "<script>alert(1)</script>\u202e &amp; 'q' \"d\" \x1b[31m"  # markup, a direction mark, a terminal's colours
KEYS = ("how", "when", "who", "why")


def estimate(mean: float, apart: float = 0.05, count: int = 4) -> Estimate:
    """A mean with an interval around it."""
    return Estimate(mean, max(0.0, mean - apart), min(1.0, mean + apart), count, count)


def difference(mean: float, apart: float = 0.05) -> Difference:
    """A difference with an interval around it."""
    return Difference(mean, mean - apart, mean + apart, apart / 2, 4, 4, 2, 1, 1, 0.4, 0.03, "sign-flip", False, 0.04)


def grid(results: int = 3) -> Grid:
    """So many settings; the last is recommended, the first present."""
    settings = []
    for place in range(results):
        configuration = Configuration(
            ("recursive", "sentences")[place % 2], 400 + 100 * place, 80, ("dense", "bm25", "hybrid")[place % 3], 4,
            embedder="" if place % 3 == 1 else "all-MiniLM-L6-v2",
        )  # fmt: skip
        metrics = {
            "evidence_recall": estimate(0.6 + 0.3 * place / results),
            "ndcg": estimate(0.5),
            "prompt_tokens": Estimate(500.0 + 40 * place, 480.0, 620.0, 4, 4),
        }
        settings.append(
            ConfigurationResult(
                configuration,
                passages=120 - place,
                metrics=metrics,
                by_question={"evidence_recall": (1.0, 0.0, None, 1.0), "ndcg": (1.0, 0.0, None, 0.5)},
                bots=("rag",) if place == 0 else (),
                differences={} if place == 0 else {"evidence_recall": difference(min(0.1 * place, 0.3))},
                retrieve_ms=(1.2 + place, 3.4 + place),
                answers={"answer_similarity": estimate(0.7 + 0.01 * place)} if place in (0, results - 1) else {},
                answer_differences={"answer_similarity": difference(0.01 * place)} if place == results - 1 else {},
            )
        )
    recommendation = Recommendation(
        results - 1, 2, 2, estimate(0.9), difference(0.2), True, "better",
        "On the 2 questions that it was not chosen on it finds 0.2 more.",
    )  # fmt: skip
    return Grid("evidence_recall", KEYS, 3, 0, tuple(settings), recommendation, 520.0, 240, "rag", ("Few questions.",))


def findings() -> tuple[Finding, ...]:
    """One of each part, with a hostile name among them."""
    return (
        Finding(
            "stale_gold", "high", "The evidence of how is no longer in a.md.", "Quote the passage that is there now.",
            (Excerpt("a.md", 10, 30, "as it stands now"),), ("how",), 0.8, {"quote": "as it stood"},
        ),
        Finding("unsupported", "medium", f"No document supports {HOSTILE}.", "Write one.", (), ("why",)),
    )  # fmt: skip


def full_analysis(run: str = "", name: str = "20261121-093000-1f2e") -> KnowledgeAnalysis:
    """An analysis in which nothing is left out; ``run`` is the run whose answers it looked at."""
    inside = Finding(
        "contradiction", "high", "a.md says 10 euros and b.md says 12 euros.", "Correct one of them.",
        (Excerpt("a.md", 0, 9, "10 euros."), Excerpt("b.md", 4, 13, "12 euros.")), ("how", "when"), 0.9,
        {"differs": ["10", "12"]},
    )  # fmt: skip
    return KnowledgeAnalysis(
        analysis=name,
        suite="help-centre",
        run=run,
        started_at="2026-11-21T09:30:00+00:00",
        finished_at="2026-11-21T09:31:00+00:00",
        manifest={"proctor": "0.1.0", "seed": 0},
        metric="answer_similarity",
        threshold=0.75,
        bots=("rag", "full_context"),
        questions=(
            AnalysedQuestion("how", "How much is it?", "evidence", "a.md", True, ("price",)),
            AnalysedQuestion("when", "When does it open?", "support", "b.md", None),
            AnalysedQuestion("who", f"Who is {HOSTILE}?", "stale"),
            AnalysedQuestion("why", "Why is it closed?", "unsupported", answerable=False),
        ),
        grid=grid(),
        documents=(
            DocumentSummary(
                "a.md", "Prices", 1234, "en", 4, ("how",), ("how",), (Excerpt("a.md", 0, 40, "The price is."),),
                9, 6, (Excerpt("a.md", 600, 900, "Never used."),), 4321, 5, 9, 3, 1,
            ),
            DocumentSummary(f"b {HOSTILE}.md", "", 55, "", 1, ("when",), (), (), 3, 2, (), 120, 0, 3, 0, 2),
            DocumentSummary("never.md", "Never", 900, "de", 3),
        ),
        coverage=(
            Coverage("how", "a.md", True, ("rag", "full_context"), ("rag",)),
            Coverage("how", f"b {HOSTILE}.md", False, ("rag",), ("rag",)),
            Coverage("when", f"b {HOSTILE}.md", True, (), ()),
        ),
        gaps=Gaps(findings(), (Topic("opening hours", ("when", "why"), ("b.md",), 1, 0.5),)),
        attribution=Ablations(
            "answer_similarity", 0.75,
            (
                AblatedAnswer(
                    "rag", "how", 0.2, f"12 euros {HOSTILE}", {"a.md": 0.1, f"b {HOSTILE}.md": 0.9}, 0.95,
                    {"a.md": 0.3, f"b {HOSTILE}.md": -0.4}, "document", (f"b {HOSTILE}.md",), "10 euros",
                ),
                AblatedAnswer("full_context", "why", 0.4, "It is open.", {}, None, {}, "unknown"),
            ),
            (
                DocumentAttribution(f"b {HOSTILE}.md", (("rag", "how"),), (), -0.4, 2),
                DocumentAttribution("a.md", (), (("rag", "when"),), 0.3, 3),
            ),
            ("rag", "full_context"), 12, 3, 500, 1, ("faq takes no documents.",),
        ),
        document_quality=(inside,),
        dataset_quality=DatasetQuality(
            (Finding("duplicate_question", "low", "how and when ask the same.", "Drop one.", (), ("how", "when")),),
            (QuestionQuality("how", 2, 0.5, 0.7, None, True), QuestionQuality("when", 2, 0.0, 0.0, None, False)),
            Subset(("how",), 4, 1.0, 0.02, 0.05, 0.9),
            "answer_similarity",
            ("Two bots tell little of a question.",),
        ),
        document_changes=DocumentChanges(
            "old/", "20261121-092900-aaaa", "answer_similarity",
            (
                Edit("a.md", "edited", "", (("rag", "how"),), (("full_context", "when"),)),
                Edit("c.md", "renamed", "d.md"),
            ),
            (
                BotChange("rag", difference(0.1), ("how",), ()),
                BotChange("full_context", difference(-0.05), (), ("when",)),
            ),
            (("rag", "who"),), 2, ("faq takes no documents.",),
        ),
        warnings=("A warning.",),
    )  # fmt: skip
