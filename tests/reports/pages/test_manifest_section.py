"""The manifest of a page: all that holds a run again, in words, with no secret, and texts that stay texts."""

import contextlib
import hashlib
import shlex
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import Shown
from page_runs import page_book, report_of
from proctor.bots import Identity
from proctor.harness.suite.suite_file import sample_suite
from proctor.reports.pages.manifest import LONGEST_PROMPT, manifest_section, repeat_command, settings_text
from proctor.reports.pages.page import Page, Section, page_bytes
from proctor.reports.report import Report
from ruamel.yaml import YAML

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\x00\x1b[31m\u202e{{ 7*7 }}\"'"
MANIFEST = {
    "proctor": "0.1.0",
    "python": "3.11.7",
    "packages": {"torch": "2.13.0+cpu", "numpy": "2.4.6"},
    "machine": {"system": "Linux", "release": "6.1", "processor": "x86_64", "cores": 2},
    "command": ["proctor", "run", "my suites/suite.yaml", "--db", "runs.db"],
    "settings": {
        "suite": {
            "name": "help", "questions": "q.csv", "models": {"small": {"model": "openai:x", "api_key_env": "MY_KEY"}},
            "bots": {"http": {"type": "http", "headers": {"Authorization": "Bearer $HTTP_KEY", "token": "geheim"}}},
        },
        "suite_file": "suite.yaml", "suite_hash": "ab" * 32, "questions": {"count": 1_097, "hash": "cd" * 32},
        "bots": ["http"], "limit": None, "repeat": 2, "concurrency": 16, "latency_run": False, "seed": 42,
        "embedder": "mini@1", "metrics_left_out": {"bleu": "no expected answers"},
        "documents": {"count": 1_200, "hash": "ef" * 32, "each": {"a.md": "01" * 32, "b/c.md": "23" * 32}},
        "judge": {"name": "openai:judge", "embedded": False, "metrics": ["faithfulness"], "votes": 3,
                  "models": [{"name": "openai:judge", "settings": {"temperature": 0, "api_key": "geheim"}}]},
        "local_models": {},
    },
    "warnings": ["the knowledge has two files of one name"],
}  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Iterator[Report]:
    """A report of a run; tests give it manifests of their own."""
    with contextlib.closing(page_book(tmp_path_factory.mktemp("manifest") / "proctor.db").store()) as store:
        yield report_of(store)


class Read(HTMLParser):
    """The texts of a section, its ids, and every tag and attribute."""

    def __init__(self, section: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(section)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.ids += [value or "" for name, value in attributes if name == "id"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def section(found: Report, **changes: object) -> str:
    return str(manifest_section(replace(found, manifest=MANIFEST | changes)))


def test_everything_that_decides_a_run_is_in_it(found):
    text = Read(section(found)).text
    for words in (
        "proctor run 'my suites/suite.yaml' --db runs.db", "pip install torch==2.13.0 numpy==2.4.6", "Seed 42",
        "0.1.0, Python 3.11.7", "Linux 6.1 x86_64, 2 cores", "suite.yaml " + "ab" * 32, "1,097 questions " + "cd" * 32,
        "Repeats 2", "MY_KEY, HTTP_KEY", "1,200 documents, combined hash " + "ef" * 32, "a.md " + "01" * 32,
        "And 1,198 more documents.", "openai:judge", "3 votes a verdict", "temperature: 0", "mini@1",
        "bleu : no expected answers", "the knowledge has two files of one name", found.run.summary.run,
        "torch 2.13.0+cpu", "Answers that the database has are reused",
    ):  # fmt: skip
        assert words in text, words
    for bot in found.bots.values():
        assert all(" ".join(prompt.split()) in text for prompt in bot.prompts.values())
        assert all(part in text for part in bot.parts.values())
        assert all(model in text for model in bot.models.values())
    for column in found.run.summary.metrics:
        assert column.name in text and column.version in text


def test_the_sample_suite_is_told_as_such(found):
    sample = hashlib.sha256(sample_suite().read_bytes()).hexdigest()
    for name, is_sample in ((sample, True), ("ab" * 32, False)):
        text = Read(section(found, settings=MANIFEST["settings"] | {"suite_hash": name})).text
        assert ("suite.yaml, the sample that comes with Proctor" in text) is is_sample


def test_no_secret_is_in_it(found):
    command = [
        "proctor",
        "run",
        "--judge-url=http://me:geheim@host/v1?api_key=geheim",
        "--judge-url",
        "http://u:geheim@h/",
    ]
    text = section(found, command=command)
    assert "geheim" not in text
    assert "*** replaces a secret" in text
    bot = Identity("http", {"headers": {"Authorization": "Bearer geheim"}})
    assert "geheim" not in manifest_section(replace(found, bots={"b": bot}, manifest=MANIFEST))


def test_two_manifests_of_a_page_share_no_id(found):
    first, second = (Read(str(manifest_section(found, prefix))).ids for prefix in ("base-", "head-"))
    assert first and len(first) == len(second)
    assert not set(first) & set(second)
    assert len(set(first)) == len(first)


def test_texts_of_others_stay_texts(found):
    def hostile(value: object) -> object:
        match value:
            case dict():
                return {f"{name}{HOSTILE}" if name in ("a.md", "bleu", "torch") else name: hostile(each)
                        for name, each in value.items()}  # fmt: skip
            case list():
                return [hostile(each) for each in value]
            case str():
                return value + HOSTILE
        return value

    plain = Read(section(found))
    mapping = {HOSTILE: HOSTILE}
    bots = {HOSTILE: Identity(HOSTILE, mapping, HOSTILE, parts=mapping, prompts=mapping, models=mapping)}
    made = hostile(MANIFEST) | {"command": ["proctor", "run", HOSTILE]}
    read = Read(str(manifest_section(replace(found, manifest=made, bots=bots))))
    assert read.tags <= plain.tags
    assert read.attributes <= plain.attributes
    assert "{{ 7*7 }}" in read.text and "<script>alert(1)" in read.text
    assert not set(read.text) & set("\x00\x1b\u202e")


def test_old_and_foreign_manifests_are_told_as_far_as_they_go(found):
    for manifest in ({}, {"proctor": 1, "settings": [], "packages": None, "command": "x"}, {"settings": {"judge": {}}}):
        text = Read(str(manifest_section(replace(found, manifest=manifest)))).text
        assert "The manifest does not record the command of this run." in text
    assert "Python of an unknown version" in text


def test_a_very_long_prompt_is_cut_and_says_so(found):
    bot = Identity("rag", prompts={"prompt": "x" * 3_000_000})
    text = str(manifest_section(replace(found, bots={"b": bot})))
    assert len(text) < LONGEST_PROMPT + 100_000
    assert "3,000,000 characters; the database has them all" in text


@pytest.mark.parametrize(
    ("command", "typed", "shown"),
    [
        (["proctor", "run"], True, "proctor run"),
        (["proctor", "score", "a b.jsonl"], True, "proctor score 'a b.jsonl'"),
        (["anything", "gate", "-b", "x; rm -rf /"], True, "proctor gate -b 'x; rm -rf /'"),
        (["proctor", "-q", "tests"], False, "proctor run suite.yaml --repeat 2"),
        ("proctor run", False, "proctor run suite.yaml --repeat 2"),
        (None, False, "proctor run suite.yaml --repeat 2"),
    ],
)
def test_the_command_is_what_was_typed_or_does_the_same(command, typed, shown):
    again = repeat_command(MANIFEST | {"command": command}, "help")
    assert (again.is_typed, again.command) == (typed, shown)
    assert shlex.split(again.command)[0] == "proctor"


def test_a_command_is_put_together_with_all_that_the_suite_does_not_say():
    settings = MANIFEST["settings"] | {
        "limit": 5,
        "concurrency": 3,
        "latency_run": True,
        "bots": ["a", "b"],
        "repeat": 1,
    }
    again = repeat_command({"settings": settings}, "help")
    assert again.command == "proctor run suite.yaml --bots a,b --limit 5 --concurrency 3 --latency-run"
    assert repeat_command({"settings": {"recorded": "r.jsonl"}}, "r").command == "proctor score r.jsonl"


def test_packages_of_odd_names_are_not_installed():
    odd = {"--index-url": "http://evil", "x y": "1", "ok": "1.0", "evil": "1; rm"}
    assert repeat_command({"packages": odd}, "").packages == "pip install ok==1.0"


def test_runs_that_stand_for_others_say_so():
    notes = " ".join(repeat_command(MANIFEST, "help (perturbed)").notes)
    assert "then the perturbed questions" in notes
    assert "explains the difference" in " ".join(repeat_command(MANIFEST, "help (attribution)").notes)
    assert "--fresh" not in " ".join(repeat_command({"command": ["proctor", "run", "--fresh"]}, "help").notes)


@pytest.mark.parametrize(
    "settings",
    [
        MANIFEST["settings"],
        {"a": [], "b": {}, "c": None, "d": True, "e": 0.5, "f": [[1, 2], [{"x": 1}]], "g": "", "h": "yes", "i": "1"},
        {"text": "two\nlines\n", "open": "two\nlines", "tab": "a\tb\n", "colon": "a: b", "hash": "a #b", "dash": "- a"},
        {"quote": "\"'", "space": " a ", "emoji": "\U0001f6b2", "yes": "y", "null": "null", "date": "2026-01-01"},
        {
            "blank": "a\n\n\nb\n",
            "end": "a\n\n",
            "lead": "\na",
            "indented": "  a\nb",
            "star": "*a",
            "at": "@b",
            "pipe": "|",
        },
    ],
)
def test_settings_are_lines_that_say_the_same_as_yaml(settings):
    assert YAML(typ="safe").load(settings_text(settings)) == settings


def test_the_command_is_copied_or_selected(found, page: Shown, tmp_path: Path):
    written = tmp_path / "page.html"
    shown = Page("x", "y", (Section("Manifest", manifest_section(replace(found, manifest=MANIFEST))),),
                 (), ("manifest",))  # fmt: skip
    written.write_bytes(b"".join(page_bytes(shown)))
    page.open(written)
    button = "[data-copy=manifest-command]"
    page.run(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.got = text; }}})"
    )
    page.click(button)
    page.wait(f"return document.querySelector('{button}').textContent === 'Copied'")
    assert page.run("return window.got") == "proctor run 'my suites/suite.yaml' --db runs.db"
    page.open(written)
    page.run("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.click(button)
    page.wait(f"return document.querySelector('{button}').textContent.startsWith('Selected')")
    assert page.run("return String(getSelection())") == "proctor run 'my suites/suite.yaml' --db runs.db"
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
