"""Every command that the documentation shows is run, and prints what is shown."""

import csv
import io
import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from judge_server import JudgeServer
from proctor.harness.cli.main import COMMANDS
from shown import PAGES, ROOT, STORIES, Shell, blocks, differences, session
from typed import proctor

SESSIONS = [(page, block) for page in PAGES for block in blocks(page)]
# The pages that share the sample's folder are one; each of the others has its own.
TOGETHER = {"the sample's": [page for page in PAGES if page.name not in STORIES]}
TOGETHER |= {page.name: [page] for page in PAGES if page.name in STORIES}


@pytest.mark.weights
@pytest.mark.parametrize("pages", TOGETHER.values(), ids=TOGETHER)
def test_sessions_print_what_is_shown(pages, tmp_path):
    """Where this fails after a change that was meant: ``python tests/support/shown.py``."""
    shell, found = Shell(tmp_path), []
    for page in pages:
        for block, outputs in zip(blocks(page), shell.printed(page), strict=True):
            for each, output in zip(session(block), outputs, strict=True):
                found += [f"{page}: $ {each.command}: {what}" for what in differences(each.lines, output)]
    assert not found


def test_a_session_that_prints_something_else_is_noticed():
    printed = "a 0.50 of 7\nb\nc, in 3.1 s\n"
    assert not list(differences(["a 0.51 of 7", "...", "c, in 8 s"], printed))
    for shown in (
        ["a 0.53 of 7", "..."],
        ["a 0.50 of 8", "..."],
        ["b", "c, in 3 s"],
        ["...", "c"],
        ["a 0.50 of 7", "b"],
    ):
        assert list(differences(shown, printed)), shown


def commands() -> list[str]:
    """The commands of all pages outside of sessions, in blocks and in the text, and the examples of the help."""
    found = [each.example for each in COMMANDS.values()]
    for page in PAGES:
        text = page.read_text("utf-8")
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            found += re.findall(r"(?:^|&& )(?:\.venv/bin/)?(proctor .*?) *(?:#.*)?$", block, re.MULTILINE)
        found += re.findall(r"`(proctor [^`]*)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    return [each for each in dict.fromkeys(found) if each not in OPEN and each not in IN_SESSIONS]


IN_SESSIONS = {typed.command for _, block in SESSIONS for typed in session(block)}
# What has a name left open, or is a command with no operand in a sentence about it.
OPEN = {
    "proctor score",
    "proctor --install-completion",  # it would write into the home folder; test_command_line.py has a home for it
    "proctor COMMAND --help", "proctor import", "proctor export", "proctor metrics NAME", "proctor report BASE HEAD",
    "proctor ask", "proctor gate", "proctor perturb questions.yaml", "proctor plan", "proctor questions",
    "proctor report --markdown", "proctor run --fresh",
}  # fmt: skip
# tests/harness/server and tests/knowledge/formats/test_otel.py run them
SERVERS = ("proctor view", "proctor explore", "proctor import otlp")
# What ends with another exit code than 0 here, and why.
EXIT_CODES = {
    "proctor judge-check": 1,  # the embedded judge does not pass, as the page says
    "proctor models fetch": 1,  # no network
    "proctor score recorded.jsonl --metrics toxicity_labels": 2,  # no such folder
    "proctor gate": 0,
    "proctor knowledge --show": 2,  # no analysis was made in this folder; test_knowledge shows one
}
BOTS = "bots:\n  dense: {type: rag}\n  hybrid: {type: rag, retriever: hybrid}\n"
# Files of other tools, by what they are called in the documentation.
THEIRS = {
    "promptfooconfig.yaml": "promptfoo/echo_config.yaml",
    "results.json": "promptfoo/echo_config_output.json",
    "logs/x.eval": "inspect/help_centre.eval",
    "samples.csv": "inspect/samples.csv",
    "results.csv": "ragas-0.4.3-result.csv",
}
RECORDED = [
    {
        "id": name,
        "question": f"What is {name}?",
        "expected_answer": f"It is {name}.",
        "answer": f"It is {name}, please.",
    }
    for name in ("one", "two", "three")
]


def fenced(page: str, language: str) -> str:
    """The first block of a language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.S | re.M)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which a user has worked for a while: a suite, two runs, recorded answers, drafts and labels."""
    place = tmp_path_factory.mktemp("user")
    assert proctor("init", "my-suite", folder=place).returncode == 0
    text = (place / "my-suite" / "questions.yaml").read_text("utf-8")
    asked = re.split(r"^(?=- id: )", text, flags=re.MULTILINE)[1:]
    chats = [each for each in asked if "turns:" in each and each.count("ask:") == each.count("expected_answer:")]
    (place / "my-suite" / "questions.yaml").write_text("".join([*asked[:4], *chats[:1]]), "utf-8")
    shutil.copy(place / "my-suite" / "questions.yaml", place)
    suite = (place / "my-suite" / "suite.yaml").read_text("utf-8")
    (place / "my-suite" / "suite.yaml").write_text(
        suite.replace("bots:\n", BOTS)
        + "gate: {baseline: baseline.json}\nperturb: {kinds: [keyboard_typo], questions: 3}\n"
    )
    lines = "".join(json.dumps(each) + "\n" for each in RECORDED)
    for name in ("recorded.jsonl", "answers.jsonl"):
        (place / name).write_text(lines)
    (place / "helpful.md").write_text("scale: 1 to 5\n\nIs the answer helpful?\n")
    ragas = (
        {
            "user_input": each["question"],
            "response": each["answer"],
            "reference": each["expected_answer"],
            "faithfulness": 0.5,
        }
        for each in RECORDED
    )
    (place / "results.jsonl").write_text("".join(json.dumps(each) + "\n" for each in ragas))
    others = ROOT / "tests" / "golden" / "formats"
    for name, file in THEIRS.items():
        (place / name).parent.mkdir(exist_ok=True)
        shutil.copy(others / file, place / name)
    (place / "own.py").write_text(fenced("metrics/README.md", "python"))
    for name, language in (("my_bot.py", "python"), ("questions.csv", "csv"), ("suite.yaml", "yaml")):
        (place / name).write_text(fenced("README.md", language))
    for limit in ("3", "4"):
        assert proctor("run", "my-suite/suite.yaml", "--limit", limit, folder=place).returncode == 0
        for out in ("my-suite/baseline.json", "baseline.json"):
            if not (place / out).exists():
                assert proctor("baseline", "--out", out, folder=place).returncode == 0
    return place


def prepared(command: str, folder: Path, server: JudgeServer) -> list[str]:
    """What is typed, with this day's runs and this server, once its files are there."""
    if command.startswith("proctor init") or command.endswith("--into my-suite"):
        shutil.rmtree(folder / "my-suite")
    if command != "proctor run suite.yaml":
        command = command.replace(" suite.yaml", " my-suite/suite.yaml")
    if "review nuggets" in command:
        proctor("questions", "draft", "my-suite/suite.yaml", "--nuggets", "--out", "nuggets.jsonl", folder=folder)
    elif "review" in command:
        proctor("questions", "draft", "my-suite/suite.yaml", "--out", "drafts.jsonl", folder=folder)
    if "--against" in command:
        proctor("score", "results.jsonl", "--metrics", "rouge_l", folder=folder)
    elif command.startswith("proctor calibrate"):
        filled_labels(folder)
        proctor("calibrate", "--labels", "labels.csv", folder=folder)
    command = re.sub(r"\b202\d{5}\b", "latest", command)
    return shlex.split(command.replace("http://127.0.0.1:8000/v1", server.url))[1:]


def filled_labels(folder: Path) -> None:
    """Labels as a person leaves them."""
    file = folder / "labels.csv"
    file.unlink(missing_ok=True)
    proctor("label", "latest", "--metric", "faithfulness", folder=folder)
    with file.open(newline="", encoding="utf-8-sig") as opened:
        rows = list(csv.DictReader(opened))
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, rows[0])
        writer.writeheader()
        writer.writerows({**row, "verdict": "yes"} for row in rows)
    wanted = ("row", "metric", "bot", "question_id", "repeat", "drawn")
    exported = [{name: row[name] for name in wanted} | {"verdict": "yes", "rater": "ada"} for row in rows]
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in exported), "utf-8")


@pytest.mark.weights
@pytest.mark.parametrize("command", commands())
def test_a_command_that_is_shown_works(command, folder, tmp_path, monkeypatch):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    if command.startswith(SERVERS):
        command = f"{command} --help"
    if command.startswith("proctor knowledge"):
        command = f"{command} --dry-run"  # sessions run it in full
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    with JudgeServer(models=None) as server:
        keys = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "a key", "PROCTOR_JUDGE_SELF_TEST": "off"}
        done = proctor(*prepared(command, tmp_path, server), folder=tmp_path, env={**os.environ, **keys})
    wanted = next((code for start, code in EXIT_CODES.items() if command.startswith(start)), 0)
    assert done.returncode == wanted, done.stdout[-500:] + done.stderr
    assert "Traceback" not in done.stderr
