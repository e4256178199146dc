"""What a person reads who compares two bots or two runs."""

import csv
import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from proctor.bots.bot import Reply
from small_runs import FakeBot, numbered, run_into
from suites import write_suite
from typed import proctor

METRICS = ("exact_match", "keyword_recall", "answer_length")
QUESTIONS = numbered(range(40))


def right_below(limit: int):
    """A bot's answers: right for numbers below the limit."""
    return lambda question: number if int(number := question.split()[-1]) < limit else "no idea at all"


@pytest.fixture(scope="module")
def evaluations(tmp_path_factory) -> Path:
    """Two runs of three bots: one stays as it is, one gets better, one worse."""
    folder = tmp_path_factory.mktemp("compared")
    steady = FakeBot("steady", right_below(20))
    run_into(
        folder / "proctor.db",
        [steady, FakeBot("up", right_below(5)), FakeBot("down", right_below(35))],
        QUESTIONS,
        METRICS,
    )
    later = [steady, FakeBot("up", right_below(30), "2"), FakeBot("down", right_below(10), "2")]
    run_into(folder / "proctor.db", later, QUESTIONS, METRICS)
    return folder


def test_two_bots_of_a_run_fit_a_terminal(evaluations):
    done = proctor("compare", "down", "up", folder=evaluations)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "small: down against up"
    assert all(len(line) <= 80 for line in lines[: lines.index("Next:")])
    assert "up is better on 2 of 2 metrics." in lines
    (line,) = (line for line in lines if line.startswith("  exact_match"))
    assert line.split()[:4] == ["exact_match", "↑", "0.25", "0.75"]
    assert "+0.50 [" in line
    assert "<.001*" in line
    assert line.endswith("20/20/0")
    assert "Where up gained most, by exact_match" in lines
    assert any("0.00 → 1.00" in line for line in lines)
    assert "    down: no idea at all" in [line.rstrip() for line in lines]


def test_of_bots_that_say_the_same_no_p_value_is_told_to_be_corrected(tmp_path):
    twins = [FakeBot("left", right_below(20)), FakeBot("right", right_below(20))]
    run_into(tmp_path / "proctor.db", twins, QUESTIONS, METRICS)
    done = proctor("compare", "left", "right", folder=tmp_path)
    assert "the same on every question" in done.stdout
    assert "difference: right - left" in done.stdout
    assert "corrected" not in done.stdout


def test_two_runs_are_compared_bot_by_bot(evaluations):
    done = proctor("compare", "previous", "latest", folder=evaluations)
    assert done.returncode == 0, done.stderr
    assert "small: up in two runs" in done.stdout
    assert "candidate is better on 2 of 2 metrics." in done.stdout
    assert "small: down in two runs" in done.stdout
    assert "candidate is worse on 2 of 2 metrics." in done.stdout
    assert "changed: code changed" in done.stdout
    assert "steady: the same cached answers in runs" in done.stdout
    assert "small: steady" not in done.stdout


def test_only_one_bot_of_two_runs(evaluations):
    done = proctor("compare", "previous", "latest", "--bot", "up", "--flips", "0", folder=evaluations)
    assert "small: down" not in done.stdout
    assert "gained most" not in done.stdout


def test_machines_get_one_object_with_everything(evaluations):
    done = proctor("compare", "previous", "latest", "--json", folder=evaluations)
    found = {each["candidate"]["bot"]: each for each in json.loads(done.stdout)["comparisons"]}
    assert found["steady"]["same_answers"] is True
    up = found["up"]["metrics"]["exact_match"]
    assert up["verdict"] == "better"
    assert up["difference"] == pytest.approx(25 / 40)
    assert up["test"] == "McNemar, mid-p"
    assert up["p"] == pytest.approx(0.5**25)
    assert up["p_holm"] >= up["p_bh"] >= up["p"]
    assert len(found["up"]["rows"]["exact_match"]["gains"]) == 3
    assert found["down"]["metrics"]["exact_match"]["verdict"] == "worse"
    assert found["down"]["rows"]["exact_match"]["losses"][0]["candidate_answer"] == "no idea at all"


def test_the_same_seed_gives_the_same_figures(evaluations):
    first, second = (
        proctor("compare", "up", "down", "--json", "--seed", "3", folder=evaluations).stdout for _ in range(2)
    )
    assert first == second


def test_a_page_is_written_or_printed(evaluations, tmp_path):
    page = tmp_path / "page.md"
    done = proctor("compare", "up", "down", "--markdown", page, folder=evaluations)
    assert f"Wrote {page}" in done.stderr
    assert "small: up against down" in done.stdout
    printed = proctor("compare", "up", "down", "--markdown", "-", folder=evaluations).stdout
    assert printed == page.read_text()
    assert printed.startswith("## small: `up` against `down`")


def test_only_a_metric_and_another_correction(evaluations):
    done = proctor("compare", "up", "down", "-m", "exact_match", "--correct", "bh", folder=evaluations)
    assert "p BH" in done.stdout
    assert "keyword_recall" not in done.stdout


def test_a_database_file_means_its_latest_run(evaluations, tmp_path):
    done = proctor("compare", f"{evaluations / 'proctor.db'}:previous", evaluations / "proctor.db", folder=tmp_path)
    assert "small: up in two runs" in done.stdout
    assert not (tmp_path / "proctor.db").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "such as: proctor compare steady up"),
        (["up"], "Only one side was given, up. Name both, such as: proctor compare up steady"),
        (["up", "dwn"], "Did you mean down?"),
        (["latest", "latest"], "Both sides are the same, all bots of run"),
        (["up", "down", "-m", "exact_mach"], "Did you mean exact_match?"),
        (["up", "down", "--markdown", "proctor.db"], "--markdown"),
    ],
)
def test_wrong_input_is_a_sentence_and_exit_code_two(evaluations, arguments, words):
    done = proctor("compare", *arguments, folder=evaluations)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_nothing_comparable_is_exit_code_two_and_says_which_part(tmp_path):
    bot = FakeBot("mine", str)
    run_into(tmp_path / "proctor.db", [bot], numbered(range(3)))
    run_into(tmp_path / "proctor.db", [bot], numbered(range(5, 8)))
    done = proctor("compare", "previous", "latest", folder=tmp_path)
    assert done.returncode == 2
    assert "no question stands on both sides" in done.stderr


def test_no_database_and_an_empty_one(tmp_path):
    assert "such as: proctor compare previous latest" in proctor("compare", folder=tmp_path).stderr
    assert "proctor run" in proctor("compare", "a", "b", folder=tmp_path).stderr
    (tmp_path / "proctor.db").touch()
    done = proctor("compare", "a", "b", folder=tmp_path)
    assert done.returncode == 2
    assert "has no run yet" in done.stderr
    assert (tmp_path / "proctor.db").stat().st_size == 0


def test_one_question_and_hostile_names_break_nothing(tmp_path):
    answer = "\x1b[31mred\x1b[0m [bold]no markup[/bold]"
    bots = [FakeBot("[red]a\x1b[0m", lambda _: Reply(answer)), FakeBot("b" * 60, str)]
    run_into(tmp_path / "proctor.db", bots, numbered(range(1)), METRICS)
    done = proctor("compare", "[red]a\x1b[0m", "b" * 60, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "[red]a" in done.stdout
    assert "not estimable" in done.stdout


def test_with_repeats_the_sources_of_noise_are_told_apart(tmp_path):
    said = iter(range(10**6))

    def wavering(question: str) -> str:
        return question.split()[-1] if next(said) % 3 else "no idea"

    bots = [FakeBot("calm", right_below(20)), FakeBot("wavering", wavering)]
    run_into(tmp_path / "proctor.db", bots, QUESTIONS, METRICS, repeats=3)
    done = proctor("compare", "calm", "wavering", folder=tmp_path)
    assert "asked 3 times" in done.stdout
    assert "noise from" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("exact_match") and "%" in line)
    questions, bot, judge, twice_questions, twice_repeats = line.split()[1:]
    assert judge == "0%"
    assert int(questions[:-1]) + int(bot[:-1]) == pytest.approx(100, abs=1)
    assert int(bot[:-1]) > 10
    assert twice_questions == "-29%"
    assert int(twice_repeats[:-1]) < 0


def test_names_stay_what_they_are(tmp_path):
    """A console of rich makes a picture of ``:b:``, in names of others too."""
    for version in "12":
        bots = [FakeBot("a:b:", right_below(20)), FakeBot("c", right_below(10), version)]
        run_into(tmp_path / "proctor.db", bots, QUESTIONS, METRICS)
    done = proctor("compare", "previous", "latest", folder=tmp_path)
    assert "a:b:: the same cached answers" in done.stdout, done.stderr
    assert "proctor compare a:b: c " in proctor("compare", "a:b:", "c", folder=tmp_path).stdout


def test_json_and_a_page_do_not_share_stdout(evaluations):
    done = proctor("compare", "down", "up", "--json", "--markdown", "-", folder=evaluations)
    assert (done.returncode, done.stdout) == (2, "")
    assert "both want stdout" in done.stderr


def test_what_to_type_next_can_be_typed(tmp_path):
    """The plan is for the pair that was compared, from whatever file it came."""
    bots = [
        FakeBot("steady", right_below(20)),
        FakeBot("up", right_below(22)),
        FakeBot("down", right_below(9)),
    ]
    run_into(tmp_path / "proctor.db", bots, QUESTIONS, METRICS)
    assert proctor("baseline", "-o", "base.json", folder=tmp_path).returncode == 0
    for operands in (("base.json:steady", "base.json:up"), ("steady", "base.json:up"), ("steady", "up")):
        shown = proctor("compare", *operands, "-m", "keyword_recall", folder=tmp_path).stdout
        (line,) = (line for line in shown.splitlines() if line.startswith("  proctor plan"))
        planned = proctor(*shlex.split(line)[1:], folder=tmp_path)
        assert planned.returncode == 0, planned.stderr
        assert "to show" in planned.stdout
        assert "up" in planned.stdout


def test_a_tag_that_no_question_has_is_told(evaluations):
    """Each question would silently count as its own, and intervals come out narrower than was asked for."""
    said = " ".join(proctor("compare", "down", "up", "--cluster", "tag:topic-", folder=evaluations).stdout.split())
    assert "40 of 40 questions have no tag that begins with topic-: each of them is taken as its own" in said
    assert "no tag" not in proctor("compare", "down", "up", folder=evaluations).stdout


def test_clusters_are_called_what_they_are(tmp_path):
    """Under ``--cluster tag`` the questions come from tags, in every sentence; no document is spoken of."""
    questions = [replace(each, tags=(f"t{place % 3}",)) for place, each in enumerate(QUESTIONS)]
    run_into(tmp_path / "proctor.db", [FakeBot("a", right_below(5)), FakeBot("b", right_below(30))], questions, METRICS)
    shown = " ".join(proctor("compare", "a", "b", "--cluster", "tag", folder=tmp_path).stdout.split())
    assert shown.count("the questions come from 3 tags only: an interval takes 5") >= 2  # of a metric, and of latency
    assert "document" not in shown


def test_questions_of_no_document_are_no_documents_wherever_clusters_are_counted(tmp_path):
    asks = [
        {"id": f"q{n}", "question": f"What is {n}", "expected_answer": f"{n % 2}", "source_document": document}
        for n, document in enumerate([*["A.md", "B.md", "C.md"] * 2, "", "", ""])
    ]
    bots = {name: {"type": "python", "target": f"bot.py:{name}"} for name in ("answer", "other")}
    bot = "def answer(question):\n    return '1'\n\n\ndef other(question):\n    return '0'\n"
    write_suite(tmp_path, bot, asks, bots=bots, metrics=["exact_match"])
    run = proctor("run", "suite.yaml", folder=tmp_path)
    compared = proctor("compare", "answer", "other", folder=tmp_path).stdout
    ranked = proctor("rank", folder=tmp_path).stdout
    assert "9 questions from 3 source documents and 3 questions of none" in " ".join(compared.split())
    assert "9 questions of 6 clusters" in ranked
    for text in (run.stdout, compared, ranked):
        assert "6 documents" not in text and "6 source documents" not in text


def test_csv_has_one_header_and_plain_figures(evaluations, tmp_path):
    """As a spreadsheet and pandas read it: no title, no figure with its interval in one cell."""
    made = json.loads(proctor("compare", "down", "up", "--json", folder=evaluations).stdout)
    lines = list(csv.DictReader(proctor("compare", "down", "up", "--csv", folder=evaluations).stdout.splitlines()))
    (pair,) = made["comparisons"]
    found = {line["metric"]: (float(line["difference"]), float(line["ci_low"]), line["verdict"]) for line in lines}
    wanted = {name: (one["difference"], one["interval"][0], one["verdict"]) for name, one in pair["metrics"].items()}
    assert found == wanted
    runs = csv.DictReader(proctor("compare", "previous", "latest", "--csv", folder=evaluations).stdout.splitlines())
    verdicts = {line["candidate"]: line["verdict"] for line in runs if line["metric"] == "exact_match"}
    assert verdicts == {"steady": "the same", "up": "better", "down": "worse"}
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        "".join(f'{{"question": "{n}?", "answer": "{n}", "expected_answer": "{n // 2}"}}\n' for n in range(4))
    )
    done = proctor("score", rows, "-m", "exact_match", "--csv", folder=tmp_path)
    (line,) = [line for line in csv.DictReader(done.stdout.splitlines()) if line["metric"] == "exact_match"]
    assert (line["mean"], line["n_ok"], line["better"]) == ("0.25", "4", "higher")
