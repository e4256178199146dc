"""What the page of a large run takes: bytes, seconds, peak memory; in Chromium first paint, search, scrolls, groups.

    python tests/benchmarks/bench_page.py [QUESTIONS] [BOTS] [METRICS] [--keep FOLDER]

Writes a run of 2,000 questions, 5 bots and 30 metrics (unless told otherwise) by the real writer. It has 300 documents
in which words follow one another as in the topics of Python's own help (9,000 different ones), and which gzip makes
2.8 times as small, as it does real prose; passages of 600 characters out of them, and answers of 40 to 80 words out of
these passages; claims with verdicts, sentences and a judge's reasons as details of six metrics; a judge's call for each
row; ten of the metrics are 0 or 1, as the rates of boolean evaluators are. Then writes the page in
a process of its own. Beside it stands what `proctor report --json` takes.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from proctor.bots.bot import Context, Identity, Reply, Usage
from proctor.bots.chat.model import Completion
from proctor.knowledge.questions.question import Evidence, Question
from proctor.metrics.judge.rendering import JudgeRequest
from proctor.metrics.score import Score, Status
from proctor.reports.report import keep_findings
from proctor.reports.store.database import Store
from proctor.reports.store.judge_calls import CachedCall, CallRecord, call_key
from proctor.reports.store.run import Row, RunHeader, RunMetric, ask_key
from proctor.reports.store.run_results import RunResults
from proctor.reports.store.writer import RowWriter

DOCUMENTS = 300
CLAIMED = ("faithfulness", "answer_correctness", "context_recall", "groundedness", "judge_relevance", "judge_safety")
JUDGE = "openai:judge {}"
EMBEDDER = "sentence-transformers/all-MiniLM-L6-v2@c9745ed1d9f2 (packaged, onnx fp32)"


class Words:
    """Text in which each word follows another as it does in the topics of Python's help."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        words = [word for _, text in sorted(topics.items()) for word in text.split()]
        self.after: dict[str, list[str]] = {}
        for one, other in itertools.pairwise(words):
            self.after.setdefault(one, []).append(other)
        self.first = words

    def text(self, count: int) -> str:
        made = [self.random.choice(self.first)]
        while len(made) < count:
            made.append(self.random.choice(self.after.get(made[-1]) or self.first))
        return " ".join(made)


def details_of(name: str, claims: list[str], expected: list[str], words: Words) -> dict[str, object]:
    """As the metrics on claims and sentences, and the judge's grades, have them."""
    if name.startswith("judge_"):
        return {"reason": words.text(14), "judge": JUDGE}
    if name == "groundedness":
        near = [words.random.random() for _ in claims]
        sentences = [
            {"sentence": each, "similarity": one, "context": 0} for each, one in zip(claims, near, strict=True)
        ]
        return {"model": EMBEDDER, "truncated": False, "least_grounded": claims[0], "sentences": sentences}
    if name == "context_recall":
        return {"sentences": [verdict("sentence", each, words) for each in expected], "judge": JUDGE}
    said = [verdict("claim", each, words) for each in claims]
    if name == "faithfulness":
        return {"claims": said, "any_chunk": 2 / 3, "judge": JUDGE}
    parts = {"TP": [each for each in said if each["supported"]], "FP": [each for each in said if not each["supported"]]}
    return {**parts, "FN": [verdict("claim", expected[0], words)], "factual_f1": 2 / 3, "judge": JUDGE}


def verdict(kind: str, text: str, words: Words) -> dict[str, object]:
    """What a judge says of a claim."""
    holds = words.random.random() < 0.75
    more: dict[str, object] = {"chunks": [1, 3]} if holds else {"why": words.text(8)}
    return {kind: text, "supported": holds, **more}


def write_run(path: Path, questions: int, bots: int, metrics: int) -> None:
    """Write the run as the engine would."""
    words = Words(7)
    documents = {f"page-{number}.md": words.text(900) for number in range(DOCUMENTS)}
    names = [*CLAIMED, *(f"measure_{number:02}" for number in range(metrics - len(CLAIMED)))]
    columns = [RunMetric(name, "v1", "higher", 0.0, 1.0, 0.75) for name in names]
    identities = [(f"bot-{number}", Identity("rag", {"n": number}, "openai:chat")) for number in range(bots)]
    store = Store.open(path)
    run_results = RunResults(store)
    run = run_results.begin(RunHeader("bench", identities, columns, {}))
    writer = RowWriter(path, run.id, run.metric_ids)
    for place in range(questions):
        question, passages = asked(place, words, documents)
        for bot in run.bot_ids:
            put(writer, Row(question, run.bot_ids[bot], 0, ask_key(question), asked_at="2026-01-01", position=place),
                names, passages, words)  # fmt: skip
        while writer.crowded:
            time.sleep(0.01)
    writer.close()
    run_results.end(run, "finished", {})
    keep_findings(store, run.id)
    store.close()


def asked(place: int, words: Words, documents: dict[str, str]) -> tuple[Question, list[Context]]:
    """A question with its gold evidence, and the passages that retrievers may find for it."""
    pick = words.random
    name = f"page-{place % len(documents)}.md"
    pages = [name, *(f"page-{pick.randrange(len(documents))}.md" for _ in range(5))]
    places = [(page, 600 * pick.randrange(6)) for page in pages]
    passages = [Context(documents[page][start : start + 600], page, start, start + 600, 0.8) for page, start in places]
    begin = places[0][1] + 100
    evidence = ((Evidence(name, documents[name][begin : begin + 90], begin, begin + 90),),)
    expected = (f"{words.text(12)}. {words.text(12)}.",)
    key, tags = f"question-{place:05}", (f"tag {place % 9}",)
    return Question(key, words.text(12) + "?", expected, (), evidence, tags, name), passages


def put(writer: RowWriter, row: Row, names: list[str], passages: list[Context], words: Words) -> None:
    """An answer with its contexts, scores and the judge's call."""
    pick = words.random
    found = tuple(pick.sample(passages, 4))
    claims = [stretch(pick.choice(found).text.split(), pick) for _ in range(3)]
    row.reply = Reply(". ".join(claims) + ".", found, Usage(900, 80, 0.0004))
    row.latency_ms = pick.lognormvariate(6.5, 0.4)
    scores = [score(name, claims, row.question.expected[0].split(". "), words) for name in names]
    prompt = "\n".join([*(each.text for each in found), *claims])
    request = JudgeRequest("check_answer", "Say of each claim whether the passages support it.", prompt)
    said = json.dumps([{"claim": claim, "supported": True} for claim in claims])
    key = call_key(JUDGE, request, 0.0)
    call = CallRecord(key, JUDGE, request, "2026-01-01", CachedCall(said, "stop"), Completion(said))
    writer.row(row)
    writer.judge_call(call)
    writer.scores(row, scores)
    writer.judge_notes(row, [call.stored])


def stretch(words: list[str], pick: random.Random) -> str:
    """A claim in the words of a passage."""
    count = pick.randrange(13, 27)
    start = pick.randrange(1, len(words) - count)
    return " ".join(words[start : start + count])


def score(name: str, claims: list[str], expected: list[str], words: Words) -> Score:
    value = words.random.betavariate(4, 1.5)
    if name.startswith("measure_0"):
        value = round(value)
    if words.random.random() < 0.02:
        return Score(name, None, Status.NOT_APPLICABLE, "no_claims")
    details = details_of(name, claims, expected, words) if name in CLAIMED else {}
    return Score(name, value, Status.OK, details=details)


def measured(folder: Path, *arguments: str) -> tuple[float, float]:
    """Seconds and peak megabytes of one call of the program."""
    code = "from proctor.harness.cli.main import main; main()"
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(process.stderr.read().decode() if process.stderr else "it failed")
    return time.perf_counter() - start, used.ru_maxrss / 1024


# From what a reader does to the frame after the one in which its work was done.
TIMED = """
const [action, argument, done] = [arguments[0], arguments[1], arguments[arguments.length - 1]];
const field = (name, value) => {
  const box = document.querySelector(`#answers [name=${name}]`);
  box.value = value;
  box.dispatchEvent(new Event(name === 'q' ? 'input' : 'change', {bubbles: true}));
};
const begin = performance.now();
if (action === 'scroll') scrollTo(0, argument * document.documentElement.scrollHeight);
else field(action, argument);
const worked = performance.now() - begin;
requestAnimationFrame(() => requestAnimationFrame(() => done([worked, performance.now() - begin])));
"""
# Of what a reader does: the field or the scroll bar, the values in turn, and the most milliseconds that it should take.
ACTIONS = (
    ("search, a keystroke", "q", ["delivery"[: 1 + number % 8] for number in range(24)], 50),
    ("scroll to any place", "scroll", [number * 0.37 % 1 for number in range(24)], 50),
    ("another metric", "metric", [CLAIMED[number % len(CLAIMED)] for number in range(6)], 200),
    ("group by tag", "group", ["tag", "none"] * 3, 500),
    ("group by document", "group", ["document", "none"] * 3, 500),
)
FIRST_PAINT = 300  # milliseconds
DRAWN = "return Boolean(document.querySelector('.question-line')) && !document.querySelector('#answers [aria-busy]')"


def shown(page: Path, folder: Path) -> Iterator[str]:
    """What the page takes in the browser; nothing where there is none."""
    from browser import Shown, chromium

    with chromium(folder / "profile") as driver:
        driver.set_script_timeout(120)
        paints = []
        for _ in range(5):
            Shown(driver).open(page)
            paints.append(Shown(driver).run(
                "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"))  # fmt: skip
        every = ", ".join(f"{each:.0f}" for each in paints)
        yield f"{'first contentful paint':<28}{sorted(paints)[2]:>7.0f} ms median of {every}; goal {FIRST_PAINT}"
        began = time.perf_counter()
        driver.get("about:blank")
        driver.get(f"{page.absolute().as_uri()}#answers")
        Shown(driver).wait(DRAWN, 60)
        yield f"{'the matrix, from the start':<28}{1000 * (time.perf_counter() - began):>7.0f} ms"
        driver.execute_async_script(TIMED, "q", "prepares the search")
        Shown(driver).wait("return document.querySelector('#question-count').textContent.startsWith('0 of')", 60)
        driver.execute_async_script(TIMED, "q", "")
        for title, action, arguments, goal in ACTIONS:
            times = [driver.execute_async_script(TIMED, action, each) for each in arguments]
            driver.execute_async_script(TIMED, "q", "")
            own, whole = (sorted(each[place] for each in times) for place in (0, 1))
            yield (
                f"{title:<28}{whole[len(whole) // 2]:>7.1f} ms median, {whole[-1]:.1f} worst to the next frame;"
                f" its work {own[len(own) // 2]:.1f} median, {own[-1]:.1f} worst; goal {goal}"
            )
        count = len(Shown(driver).run("return [...document.querySelectorAll('.question-line')].map(() => 1)"))
        yield f"{'lines drawn at the end':<28}{count:>7}"


def main() -> None:
    arguments = [int(each) for each in sys.argv[1:] if each.isdigit()]
    questions, bots, metrics = [*arguments, *(2000, 5, 30)[len(arguments) :]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(sys.argv[sys.argv.index("--keep") + 1]) if "--keep" in sys.argv else Path(name)
        if not (folder / "proctor.db").exists():
            write_run(folder / "proctor.db", questions, bots, metrics)
        print(f"{bots} bots x {questions:,} questions x {metrics} metrics   seconds  peak MB  file MB")
        for title, file, option in (("the page", "page.html", "--html"), ("--json, to compare", "run.json", "--json")):
            seconds, memory = measured(folder, "report", option, file)
            print(f"{title:<42}{seconds:>9.1f}{memory:>9.0f}{(folder / file).stat().st_size / 1e6:>9.2f}")
        for line in shown(folder / "page.html", Path(name)):
            print(line)


if __name__ == "__main__":
    main()
