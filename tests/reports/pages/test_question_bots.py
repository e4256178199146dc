"""The opened question with more bots than have room, and in a file that had to leave its details out."""

from pathlib import Path
from urllib.parse import urlencode

from browser import Shown
from detail_runs import measure, valued, written
from proctor.bots.bot import Reply
from proctor.knowledge.questions.question import Question
from proctor.reports.store.run import RowStatus

BOTS = ("ant", "bee", "cow", "doe", "elk", "fox")


def shown_bots(page: Shown) -> list[str]:
    return page.texts(".answers .bot-side h4")


def opened(page: Shown, folder: Path, width: int) -> None:
    with written(folder / "proctor.db", BOTS, (measure("faithfulness"),)) as book:
        for bot in BOTS:
            book.ask(bot, Question("how", "How?", ("so",)), Reply(f"as {bot}"), (valued("faithfulness", 1.0, {}),))
        file = book.page(folder / "page.html")
    fragment = urlencode({"bot": "elk", "metric": "faithfulness", "open": "how"})
    page.open(f"{file.as_uri()}#answers?{fragment}", width)
    page.wait("return document.querySelector('.answers .bot-side')")


def test_a_phone_shows_the_bot_that_was_asked_for_and_offers_the_others(page: Shown, tmp_path: Path) -> None:
    opened(page, tmp_path, 390)
    assert shown_bots(page) == ["ant", "elk"]
    assert page.texts(".bot-choice button[aria-pressed=true]") == ["ant", "elk"]
    page.run("document.querySelectorAll('.bot-choice button')[2].click()")
    page.wait("return document.querySelectorAll('.answers .bot-side').length === 3")
    assert shown_bots(page) == ["ant", "cow", "elk"]
    assert page.run("return document.activeElement.textContent") == "cow"
    assert page.run("return document.documentElement.scrollWidth") <= 390


def test_a_wide_window_shows_as_many_bots_as_have_room(page: Shown, tmp_path: Path) -> None:
    opened(page, tmp_path, 1400)
    assert shown_bots(page) == ["ant", "bee", "cow", "elk"]
    for place in (0, 1, 2, 4):
        page.run("document.querySelectorAll('.bot-choice button')[arguments[0]].click()", place)
    page.wait("return document.querySelectorAll('.answers .bot-side').length === 1")
    assert shown_bots(page) == ["elk"]  # the last one stays


def test_names_of_twelve_bots_stand_whole_above_what_goes_wrong(page: Shown, tmp_path: Path) -> None:
    bots = [f"bot_with_a_long_name_{number}" for number in range(12)]
    with written(tmp_path / "proctor.db", bots, (measure("exact_match"),)) as book:
        for bot in bots:
            book.ask(bot, Question("how", "How?", ("so",)), None, status=RowStatus.RAISED, error="ValueError: no")
        file = book.page(tmp_path / "page.html")
    page.open(file)
    assert page.texts(".causes thead bdi") == bots
    names = "[...document.querySelectorAll('.causes thead bdi')]"
    assert page.run(f"return {names}.filter((name) => name.scrollHeight > name.clientHeight + 1).length") == 0


def test_says_so_when_the_file_has_no_details_of_a_question(page: Shown, tmp_path: Path) -> None:
    opened(page, tmp_path, 1400)
    file = tmp_path / "page.html"
    text = file.read_text("utf-8")
    start = text.index('<script type="application/gzip" id="block-details-0-0">')
    file.write_text(text[:start] + text[text.index("</script>", start) + len("</script>") :], "utf-8")
    page.open(f"{file.as_uri()}?again#answers?open=how")
    page.wait("return document.querySelector('.detail')")
    assert "leaves out the details" in page.text(".detail")
    assert "proctor view" in page.text(".detail")
