"""The prompt of an answer on the page: word for word what a server was sent, or what was looked up instead."""

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from urllib.parse import urlencode

from browser import Shown
from openai_server import OpenAIServer
from suites import lines, write_suite
from typed import proctor

TEXTS = (
    "return [...document.querySelectorAll('.detail .folded[open] .messages > .said bdi')]"
    ".map((each) => each.textContent)"
)
BEFORE = ["Do you sell helmets?", "Yes.", "In red, too?", "No."]
QUESTION = {"id": "q", "question": "How much is it?", "history": BEFORE}
BOTS = {
    "condense": {"type": "rag", "model": "m", "history": "condense", "top_k": 2, "chunk_size": 40, "chunk_overlap": 0},
    "concatenate": {"type": "full_context", "model": "m", "history": "concatenate", "history_tokens": 4},
    "faq": {"type": "faq", "entries": "faq.csv"},
    "mine": {"type": "python", "target": "bot.py:answer"},
}


def run_of(folder: Path, **suite: object) -> list[list[dict[str, str]]]:
    """Run the four bots on one question after a conversation; the messages of each request that the server got."""
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("# Prices {question}\n\nHelmets cost 40 euros.\n\nBells cost 5 euros.\n")
    (folder / "faq.csv").write_text("question,answer\nWhat does a helmet cost?,40 euros.\n")
    with OpenAIServer(lambda _: "What does a helmet cost?") as server:
        models = {"m": {"model": "openai:test-model", "base_url": server.url, "api_key_env": "MODEL_KEY"}}
        write_suite(folder, "def answer(question, history):\n    return 'no'\n", [QUESTION], bots=BOTS, models=models,
                    knowledge="docs", **suite)  # fmt: skip
        done = proctor("run", "suite.yaml", folder=folder, env={**os.environ, "MODEL_KEY": "k"})
        assert done.returncode == 0, done.stdout
        return [call.body["messages"] for call in server.calls]


def opened(page: Shown, folder: Path, bot: str, title: str) -> list[str]:
    """The texts of the messages in the part of that title, for one bot."""
    page.open(f"{(folder / 'page.html').as_uri()}#answers?{urlencode({'bot': bot, 'open': 'q'})}")
    page.wait("return document.querySelector('.detail .folded')")
    side = f"[...document.querySelectorAll('.bot-side')].filter((each) => each.ariaLabel === 'Evidence of {bot}')[0]"
    named = f"[...{side}.querySelectorAll('.folded')].find((each) => each.firstChild.textContent === '{title}')"
    page.run(f"{named}.open = true")
    page.wait("return document.querySelector('.detail .folded[open] .messages')")
    page.run("document.querySelectorAll('.folded[open] .folded').forEach((each) => each.open = true)")
    page.wait("return !document.querySelector('.detail .folded[open]')?.textContent.includes('Reading\u2026')")
    return page.run(TEXTS)


def test_the_prompt_on_the_page_is_what_the_server_got(page: Shown, tmp_path: Path) -> None:
    sent = run_of(tmp_path)
    assert proctor("report", "--html", "page.html", folder=tmp_path).returncode == 0
    by_count = {len(each): [one["content"] for one in each] for each in sent}
    (concatenated,) = [texts for count, texts in by_count.items() if count > 1]
    condensing, answering = sorted(
        (each[0]["content"] for each in sent if len(each) == 1), key=lambda text: "[1]" in text
    )
    assert "[1] Prices {question} (a.md)" in answering
    assert len(concatenated) == 3  # two messages of four were cut
    assert opened(page, tmp_path, "condense", "Prompt as sent") == [condensing, answering]
    assert opened(page, tmp_path, "concatenate", "Prompt as sent") == concatenated
    assert opened(page, tmp_path, "faq", "What was looked up") == ["Do you sell helmets? In red, too? How much is it?"]
    assert opened(page, tmp_path, "mine", "What the bot was given") == [*BEFORE, "How much is it?"]
    ((manifest,),) = lines(tmp_path / "proctor.db", "SELECT manifest FROM runs")
    assert json.loads(manifest)["settings"]["documents"]["titles"] == {"a.md": "Prices {question}"}

    # What can't be checked, as in a database of an earlier version, is called rendered.
    with contextlib.closing(sqlite3.connect(tmp_path / "proctor.db")) as database:
        database.execute("UPDATE replies SET request_hash = NULL")
        database.commit()
    assert proctor("report", "--html", "page.html", folder=tmp_path).returncode == 0
    assert opened(page, tmp_path, "condense", "Prompt, rendered") == [condensing, answering]
    assert "The request itself was not stored." in page.text(".detail .folded[open]")
