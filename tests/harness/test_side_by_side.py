"""Side by side: a judge behind a server compares the answers of two bots, and what is read of it."""

import asyncio
import contextlib
import csv
import io
import json
import sqlite3
from collections import Counter

import proctor
import pytest
from judge_server import JudgeServer
from judged_runs import KEY, run_into
from pair_judge import pair_server
from proctor.harness.run.estimate import cost_estimate
from proctor.harness.run.recorded_run import recorded_evaluation
from proctor.harness.run.run_config import RunConfig
from typed import proctor as typed

QUESTIONS = 24


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def answers(number):
    """Of 24 questions rag wins 12, loses 3, 3 turn with the order, 2 are ties by the judge, and 4 are equal."""
    if number < 12:
        return f"WRONG about {number}", f"RIGHT about {number} and more"
    if number < 15:
        return f"RIGHT about {number}", f"WRONG about {number}"
    if number < 18:
        return f"FIRST {number} here", f"FIRST {number} there"
    if number < 20:
        return f"maybe {number}", f"perhaps {number}"
    return f"It is  {number}.", f"it is {number}"


@pytest.fixture
def folder(tmp_path):
    """Answers of two bots on record, scored without a judge."""
    with (tmp_path / "recorded.jsonl").open("w") as file:
        for number in range(QUESTIONS):
            for bot, answer in zip(("faq", "rag"), answers(number), strict=True):
                line = {
                    "id": f"q{number}", "question": f"What about {number}?", "expected_answer": f"About {number}",
                    "answer": answer, "bot": bot, "contexts": ["a passage"], "constraints": [str(number)],
                }  # fmt: skip
                file.write(json.dumps(line) + "\n")
    options = RunConfig(metrics=["exact_match"])
    run_into(recorded_evaluation(tmp_path / "recorded.jsonl", options, {}), tmp_path / "proctor.db")
    return tmp_path


@contextlib.contextmanager
def rows_of(folder, sql):
    with contextlib.closing(sqlite3.connect(folder / "proctor.db")) as database:
        yield database.execute(sql).fetchall()


def side(folder, *options, url=""):
    judge = ("--judge", "openai:test-model", "--judge-url", url)
    return typed("compare", "faq", "rag", "--side-by-side", *judge, *options, folder=folder)


def test_a_judge_compares_both_orders_once_and_equal_answers_cost_nothing(folder):
    with pair_server() as server:
        dry = side(folder, "--dry-run", url=server.url)
        assert not server.calls
        assert (
            "24 pairs: 4 settled without a call; 20 put to openai:test-model: at most 40 calls, 8 saved." in dry.stderr
        )
        done = side(folder, url=server.url)
        assert done.returncode == 0, done.stderr
        assert len(server.calls) == 40
        text = " ".join(done.stdout.split())
        assert "rag is better on 12 of 24 questions, worse on 3, ties 9: win rate .69 [" in text
        assert "], better." in text
        assert (
            "3 verdicts turned with the order and count as ties: the judge is consistent on 85% of the pairs." in text
        )
        assert "20 judged by openai:test-model; 4 settled without a call, as the answers are equal." in text
        shown = "".join(call.prompt for call in server.calls)
        assert "rag" not in shown
        assert "faq" not in shown
        assert "About 3" in shown  # the expected answer

        again = side(folder, "--json", url=server.url)
        assert len(server.calls) == 40, "stored verdicts are not asked for again"
        assert "20 judged before; 0 put to" in again.stderr
        found = json.loads(again.stdout)["comparisons"][0]["side_by_side"]
        assert (found["wins"], found["losses"], found["ties"], found["position_dependent"]) == (12, 3, 9, 3)
        turned = next(pair for pair in found["pairs"] if pair["question"] == "q15")
        assert (turned["better"], sorted(turned["orders"])) == ("tie", ["baseline", "candidate"])

    plain = typed("compare", "faq", "rag", "--markdown", "-", folder=folder)
    assert "### Side by side" in plain.stdout, "what is stored is shown without a judge"
    assert "rag is better on 12 of 24 questions" in plain.stdout
    turned_round = typed("compare", "rag", "faq", folder=folder)
    assert "faq is better on 3 of 24 questions, worse on 12, ties 9" in " ".join(turned_round.stdout.split())


def test_python_names_the_judge_and_calls_are_stored_like_all_others(folder):
    with pair_server() as server:
        with pytest.raises(proctor.InputError, match="add preference=True"):
            proctor.compare("faq", "rag", db=folder / "proctor.db", judge="openai:test-model")
        models = {"judge": "openai:test-model", "judge_url": server.url}
        found = proctor.compare("faq", "rag", db=folder / "proctor.db", preference=True, **models)
        assert len(server.calls) == 40
    (comparison,) = found.compared.comparisons
    assert (comparison.preference.won, comparison.preference.lost, comparison.preference.tied) == (12, 3, 9)
    assert comparison.preference.rate.mean == pytest.approx((12 + 9 / 2) / 24)
    with rows_of(folder, "SELECT call, tokens_in IS NOT NULL, reply FROM judge_calls") as calls:
        assert len(calls) == 40
        assert {(call, counted) for call, counted, _ in calls} == {("compare_pair", 1)}
        assert all("better" in reply for _, _, reply in calls)


def test_async_code_has_the_same_comparison_and_its_loop_goes_on(folder):
    ticks = []

    async def tick():
        while True:
            ticks.append(1)
            await asyncio.sleep(0.01)

    async def both(url):
        beside = asyncio.create_task(tick())
        models = {"judge": "openai:test-model", "judge_url": url, "preference": True}
        found = await proctor.acompare("faq", "rag", db=folder / "proctor.db", **models)
        (run,) = proctor.open(folder / "proctor.db").runs()
        again = await run.acompare("faq", "rag", **models)
        beside.cancel()
        return found, again

    with pair_server() as server:
        found, again = asyncio.run(both(server.url))
        assert len(server.calls) == 40
    assert len(ticks) > 2
    for each in (found, again):
        (comparison,) = each.compared.comparisons
        assert (comparison.preference.won, comparison.preference.lost, comparison.preference.tied) == (12, 3, 9)


def decided_by_constraints(folder):
    """The same answers, of which only rag's meet the constraints on 12 questions, and only faq's on 3."""
    lines = [json.loads(line) for line in (folder / "recorded.jsonl").read_text().splitlines()]
    for line in lines:
        number = int(line["id"][1:])
        line["constraints"] = ["RIGHT"] if number < 15 else ["anything else"]
    (folder / "recorded.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = RunConfig(metrics=["exact_match"])
    run_into(recorded_evaluation(folder / "recorded.jsonl", options, {}), folder / "proctor.db")


def test_a_bot_that_gave_no_answer_loses_without_a_call(tmp_path):
    with (tmp_path / "recorded.jsonl").open("w") as file:
        for number, said in enumerate([(None, "a"), ("b", None), ("c", "c")]):
            for bot, answer in zip(("faq", "rag"), said, strict=True):
                line = {"id": f"q{number}", "question": f"{number}?", "bot": bot, "answer": answer}
                file.write(json.dumps(line) + "\n")
    run_into(
        recorded_evaluation(tmp_path / "recorded.jsonl", RunConfig(metrics=["answer_length"]), {}),
        tmp_path / "proctor.db",
    )
    with pair_server() as server:
        done = side(tmp_path, "--json", url=server.url)
        assert done.returncode == 0, done.stderr
        assert not server.calls
    pairs = json.loads(done.stdout)["comparisons"][0]["side_by_side"]["pairs"]
    assert [(pair["question"], pair["better"], pair["settled"]) for pair in pairs] == [
        ("q0", "candidate", "failed"), ("q1", "baseline", "failed"), ("q2", "tie", "equal"),
    ]  # fmt: skip


def test_constraints_that_one_answer_alone_meets_decide_without_a_call(folder):
    decided_by_constraints(folder)
    with pair_server() as server:
        dry = side(folder, "--constraints-decide", "--dry-run", url=server.url)
        assert (
            "24 pairs: 19 settled without a call; 5 put to openai:test-model: at most 10 calls, 38 saved" in dry.stderr
        )
        done = side(folder, "--constraints-decide", "--json", url=server.url)
        assert len(server.calls) == 10
        found = json.loads(done.stdout)["comparisons"][0]["side_by_side"]
        assert (found["wins"], found["losses"], found["ties"]) == (12, 3, 9), "as the judge would say"
        settled = Counter(pair["settled"] for pair in found["pairs"])
        assert settled == {"constraints": 15, "judge": 5, "equal": 4}
        reasons = {pair["reason"] for pair in found["pairs"] if pair["settled"] == "constraints"}
        assert reasons == {"only this answer meets the constraints"}
        # Without the option the constraints decide nothing: the judge is asked for what they had decided.
        side(folder, url=server.url)
        assert len(server.calls) == 40


def test_constraints_decide_pairs_of_a_tournament_and_of_the_metric_too(folder):
    decided_by_constraints(folder)
    with pair_server() as server:
        judge = ("--judge", "openai:test-model", "--judge-url", server.url)
        done = typed("compare", "latest", "--side-by-side", "--constraints-decide", *judge, folder=folder)
        assert done.returncode == 0, done.stderr
        assert len(server.calls) == 10
        entries = ["exact_match", {"preference": {"against": "faq", "constraints_decide": True}}]
        wanted = RunConfig(metrics=entries, judge="openai:test-model", judge_url=server.url)
        evaluation = recorded_evaluation(folder / "recorded.jsonl", wanted, {"OPENAI_API_KEY": KEY})
        outcome = run_into(evaluation, folder / "proctor.db")
        assert len(server.calls) == 10, "the judge's verdicts are cached, and the constraints decide the others"
    assert outcome.summary.bots[1].metrics["preference"].mean == pytest.approx((12 + 9 / 2) / 24)


def test_a_budget_draws_pairs_and_predicts_the_others(folder):
    with pair_server() as server:
        done = side(folder, "--budget", "12", "--json", url=server.url)
        assert len(server.calls) == 12
        assert "14 pairs left out to keep to the budget" in done.stderr
        found = json.loads(done.stdout)["comparisons"][0]["side_by_side"]
        assert found["without_verdict"] == 14
        assert (found["is_sample"], found["predictor"]) == (True, "exact_match")
        judged = [pair["better"] for pair in found["pairs"] if pair["settled"] == "judge"]
        mean = sum({"candidate": 1, "tie": 0.5, "baseline": 0}[better] for better in judged) / 6
        # exact_match is the same on every question, so it predicts nothing; 4 of 24 pairs are ties without a call.
        assert found["win_rate"]["value"] == pytest.approx((4 * 0.5 + 20 * mean) / 24)
        assert found["win_rate"]["interval"][0] < found["win_rate"]["value"]


def test_a_judge_that_says_nothing_readable_stops_with_a_sentence(folder):
    with JudgeServer(lambda _: "I like both.") as server:
        done = side(folder, url=server.url)
    assert done.returncode == 2
    assert "judged no pair" in done.stderr


def test_options_of_the_judge_want_side_by_side(folder):
    done = typed("compare", "faq", "rag", "--budget", "10", folder=folder)
    assert done.returncode == 2
    assert "add --side-by-side" in done.stderr


def preferred(folder, url, **options):
    """The run of the answers on record with ``preference`` against faq."""
    wanted = RunConfig(
        metrics=["exact_match", {"preference": {"against": "faq"}}], judge="openai:test-model", judge_url=url, **options
    )
    evaluation = recorded_evaluation(folder / "recorded.jsonl", wanted, {"OPENAI_API_KEY": KEY})
    return run_into(evaluation, folder / "proctor.db")


def test_preference_is_a_metric_of_a_run_and_its_verdicts_are_shown_side_by_side(folder):
    with pair_server() as server:
        outcome = preferred(folder, server.url)
        assert len(server.calls) == 40
        faq, rag = (bot.metrics["preference"] for bot in outcome.summary.bots)
        assert rag.mean == pytest.approx((12 + 9 / 2) / 24)
        assert (faq.mean, dict(faq.reasons)) == (None, {"baseline_missing": 24})
        preferred(folder, server.url)
        assert len(server.calls) == 40, "nothing is scored twice"
    shown = typed("compare", "faq", "rag", folder=folder)
    assert "rag is better on 12 of 24 questions, worse on 3, ties 9" in " ".join(shown.stdout.split())


def test_another_answer_of_the_reference_bot_is_another_score(folder):
    with pair_server() as server:
        preferred(folder, server.url)
        lines = [json.loads(line) for line in (folder / "recorded.jsonl").read_text().splitlines()]
        for line in lines:
            if line["bot"] == "faq":
                line["answer"] = line["answer"].replace("WRONG", "RIGHT")
        (folder / "recorded.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        outcome = preferred(folder, server.url)
        assert len(server.calls) == 64, "only the 12 changed pairs are judged"
    (rag,) = (bot.metrics["preference"] for bot in outcome.summary.bots if bot.name == "rag")
    assert rag.mean == pytest.approx((12 / 2 + 9 / 2) / 24)


def test_a_reference_bot_that_is_not_there_gets_a_sentence(folder):
    wanted = RunConfig(metrics=[{"preference": {"against": "faqq"}}])
    with pytest.raises(proctor.InputError, match=r"no bot 'faqq' to compare with.*Did you mean 'faq'"):
        recorded_evaluation(folder / "recorded.jsonl", wanted, {})


@pytest.fixture
def three(tmp_path):
    """Three bots: ``good`` is right on 20 of 24 questions, ``fair`` on 12, ``poor`` on 4."""
    with (tmp_path / "recorded.jsonl").open("w") as file:
        for number in range(QUESTIONS):
            for bot, limit in (("poor", 4), ("good", 20), ("fair", 12)):
                word = "RIGHT" if (number * 7) % QUESTIONS < limit else "WRONG"
                line = {"id": f"q{number}", "question": f"What about {number}?", "bot": bot}
                file.write(json.dumps({**line, "answer": f"{word} as {bot} of {number}"}) + "\n")
    wanted = RunConfig(metrics=["answer_length"])
    run_into(recorded_evaluation(tmp_path / "recorded.jsonl", wanted, {}), tmp_path / "proctor.db")
    return tmp_path


def each_with_each(folder, *options, url):
    judge = ("--judge", "openai:test-model", "--judge-url", url)
    return typed("compare", "latest", "--side-by-side", *judge, *options, folder=folder)


def test_three_bots_have_strengths_in_the_right_order(three):
    with pair_server() as server:
        done = each_with_each(three, "--json", url=server.url)
        assert done.returncode == 0, done.stderr
        assert len(server.calls) == 3 * QUESTIONS * 2
        found = json.loads(done.stdout)
        assert [one["bot"] for one in found["bots"]] == ["good", "fair", "poor"]
        assert found["cycles"] == []
        duel = next(each for each in found["duels"] if {each["baseline"], each["candidate"]} == {"poor", "good"})
        assert duel["win_rate"]["value"] == pytest.approx((16 + 8 / 2) / 24)
        shown = each_with_each(three, url=server.url)
        assert len(server.calls) == 3 * QUESTIONS * 2
    assert "good is the strongest of 3 bots." in shown.stdout


def test_a_budget_is_spent_where_it_decides_most(three):
    with pair_server() as server:
        done = each_with_each(three, "--json", "--budget", "60", url=server.url)
        assert len(server.calls) == 60
    judged = {
        frozenset((each["baseline"], each["candidate"])): each["with_verdict"]
        for each in json.loads(done.stdout)["duels"]
    }
    assert sum(judged.values()) == 30
    assert min(judged.values()) >= 4, "every two bots are compared"
    assert max(judged, key=judged.__getitem__) == {"good", "fair"}, "the closest duel"


def test_people_vote_blind_and_the_judge_is_compared_with_them_and_corrected(folder):
    done = typed("label", "--pairs", "faq,rag", "--n", "16", "--out", "votes.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    text = (folder / "votes.csv").read_text("utf-8-sig")
    assert "16 of 20 pairs" in " ".join(done.stdout.split()), "equal answers are not voted on"
    assert "rag" not in text
    assert "faq" not in text
    rows = list(csv.DictReader(io.StringIO(text)))
    first = [row["answer_1"].split()[0] for row in rows if {"RIGHT", "WRONG"} & {row["answer_1"].split()[0]}]
    assert {"RIGHT", "WRONG"} == set(first), "either may be shown first"
    for row in rows:
        row["vote"] = "1" if "RIGHT" in row["answer_1"] else "2" if "RIGHT" in row["answer_2"] else "tie"
    rows[-1]["vote"] = ""
    with (folder / "votes.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    kept = typed("calibrate", "--labels", "votes.csv", folder=folder)
    assert kept.returncode == 0, kept.stderr
    assert "15 votes stored; 1 line is blank" in " ".join(kept.stdout.split())
    with pair_server() as server:
        found = json.loads(side(folder, "--json", url=server.url).stdout)["comparisons"][0]["side_by_side"]
    assert (found["agreement_with_people"]["value"], found["agreement_with_people"]["count"]) == (1.0, 15)
    assert found["corrected"]["interval"][0] < found["win_rate"]["value"] < found["corrected"]["interval"][1]


def test_a_vote_that_can_not_be_read_is_a_sentence_with_its_line(folder):
    other = typed("label", "1999", "--pairs", "faq,rag", "--out", "votes.csv", folder=folder)
    assert (other.returncode, "1999" in other.stderr) == (2, True), "both bots are those of the run that is named"
    named = typed("label", "1999", "--pairs", "latest:faq,latest:rag", "--out", "votes.csv", folder=folder)
    assert named.returncode == 0, named.stderr
    text = (folder / "votes.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 20
    rows[0]["vote"] = "left"
    with (folder / "votes.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    done = typed("calibrate", "--labels", "votes.csv", folder=folder)
    assert done.returncode == 2
    assert "votes.csv:2: vote 'left'; 1, 2 or tie is wanted." in " ".join(done.stderr.split())


def test_judging_stops_early_when_it_is_certain_who_is_better(tmp_path):
    """Of 120 questions the candidate wins all but a few; a fraction of the calls is enough."""
    with (tmp_path / "recorded.jsonl").open("w") as file:
        for number in range(120):
            for bot in ("faq", "rag"):
                word = "RIGHT" if (bot == "rag") == (number % 12 > 0) else "WRONG"
                line = {"id": f"q{number}", "question": f"What about {number}?", "bot": bot}
                file.write(json.dumps({**line, "answer": f"{word} as {bot} of {number}"}) + "\n")
    wanted = RunConfig(metrics=["answer_length"])
    run_into(recorded_evaluation(tmp_path / "recorded.jsonl", wanted, {}), tmp_path / "proctor.db")
    with pair_server() as server:
        done = side(tmp_path, "--stop-early", "--json", url=server.url)
        assert done.returncode == 0, done.stderr
        assert len(server.calls) < 120, "half of all 240 at most"
        found = json.loads(done.stdout)["comparisons"][0]["side_by_side"]
        assert found["stopped_early"]
        assert found["left_out"] == 120 - len(server.calls) / 2
        assert found["verdict"] == "better"
        assert found["win_rate"]["interval"][0] > 0.5
        refused = side(tmp_path, "--stop-early", "--budget", "10", url=server.url)
    assert "goes without --budget" in refused.stderr


def test_the_comparison_page_has_the_verdicts_with_the_reasons(folder):
    with pair_server() as server:
        side(folder, url=server.url)
    done = typed("report", "faq", "rag", "--html", "page.html", folder=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "page.html").read_text()
    assert "rag is better on 12 of 24 questions, worse on 3, ties 9" in page
    assert "it comes first" in page, "the reason of a verdict that turned"
    assert 'id="side-by-side"' in page


def test_a_dry_run_foresees_the_calls_of_preference(folder):
    wanted = RunConfig(metrics=[{"preference": {"against": "faq"}}], judge="openai:test-model", judge_url="http://x/v1")
    evaluation = recorded_evaluation(folder / "recorded.jsonl", wanted, {"OPENAI_API_KEY": KEY})
    made = cost_estimate(evaluation, folder / "proctor.db")
    assert {name: round(amount.requests) for name, amount in made.calls.items()} == {"compare_pair": 40}
