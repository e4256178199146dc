"""How tests open a question on the page of ``detail_rows``, and go about in it."""

from pathlib import Path
from urllib.parse import urlencode

from browser import Shown

RIGHT = 'article[aria-label="Evidence of right"]'
TOOL = "[...document.querySelectorAll('.detail-tools button')].find((each) => each.textContent === '{}').click()"


def opened(page: Shown, file: Path, key: str = "how", metric: str = "faithfulness", width: int = 1400) -> None:
    fragment = urlencode({"bot": "right", "metric": metric, "open": key})
    page.open(f"{file.as_uri()}#answers?{fragment}", width)
    page.wait(
        "return document.querySelector('.detail .evidence') && !document.querySelector('.question-detail[aria-busy]')"
    )


def choose(page: Shown, metric: str) -> str:
    """Bring a metric forward; the evidence of the right bot."""
    page.run(
        "const named = (all, words) => [...document.querySelectorAll(all)].find((one) => one.textContent.match(words));"
        "named('button.show-more', /all/)?.click(); named('.scores .score-metric', `^${arguments[0]}$`).click()",
        metric,
    )
    return page.text(f"{RIGHT} .evidence")


def follow(page: Shown, place: int) -> None:
    """Click a claim of the right bot, and wait until the focus is at its evidence."""
    page.run("document.querySelectorAll('button.claim-text')[arguments[0]].click()", place)
    page.wait(
        "return !document.activeElement.matches('.claim-text, body') && document.querySelector('.detail mark.nearest')"
    )
