"""Data in a page: as text that ends no script, and bytes again in the browser."""

import base64
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from browser import Shown
from markupsafe import Markup
from proctor.reports.pages.page import AHEAD, Page, Section, in_base_85, packed, packed_ahead, page_bytes
from tables import in_one_test

DIGITS = bytes(range(0x28, 0x7D)).replace(b"<", b"}")
STANDARD = bytes(range(0x21, 0x76))  # of Ascii85, whose arithmetic is the same


@in_one_test("length", [0, 1, 2, 3, 4, 5, 6, 7, 8, 1000, 1001])
def test_it_is_ascii85_with_other_digits(length: int) -> None:
    data = random.Random(length).randbytes(length)
    standard = base64.a85encode(data).replace(b"z", b"!!!!!")
    assert in_base_85(data) == standard.translate(bytes.maketrans(STANDARD, DIGITS))


def test_zeros_are_digits_like_any_other() -> None:
    assert in_base_85(bytes(8)) == b"(" * 10


def test_nothing_in_it_can_end_a_script_or_begin_a_comment() -> None:
    text = packed(b"</script><!--" * 10_000)
    assert b"<" not in text
    assert set(in_base_85(random.Random(3).randbytes(100_000))) == set(DIGITS)


def test_blocks_come_in_their_order_and_few_of_them_wait() -> None:
    made: list[str] = []

    def blocks() -> Iterator[tuple[str, bytes]]:
        for number in range(60):
            made.append(f"block-{number}")
            yield made[-1], b"%d" % number * (1 if number % 2 else 300_000)  # one that takes long, one that does not

    found = []
    for name, text in packed_ahead(blocks()):
        found.append((name, text))
        assert len(made) - len(found) <= AHEAD
    assert found == [(name, packed(data)) for name, data in blocks()]


def test_a_block_that_fails_is_told_and_nothing_goes_on() -> None:
    def blocks() -> Iterator[tuple[str, bytes]]:
        yield "first", b"1"
        raise ValueError("the disk is gone")

    with pytest.raises(ValueError, match="the disk is gone"):
        list(packed_ahead(blocks()))
    assert not [thread for thread in threading.enumerate() if "ThreadPoolExecutor" in thread.name]


def test_the_browser_reads_what_was_packed(page: Shown, tmp_path: Path) -> None:
    texts = [
        "",
        "a",
        "</script>\0\u2028",
        "\U0001f6b2",
        *(random.Random(size).randbytes(size).hex() for size in range(40)),
    ]
    blocks = [(f"text-{number}", orjson.dumps(text)) for number, text in enumerate(texts)]
    probe = tmp_path / "probe.html"
    section = Section("Only", Markup("<p>only</p>"))
    probe.write_bytes(b"".join(page_bytes(Page("t", "s", (section,)), blocks)))
    page.open(probe)
    names = [name for name, _ in blocks]
    assert {len(packed(data)) % 5 for _, data in blocks} >= {0, 2, 3, 4}
    assert page.driver.execute_async_script(READ, names) == texts


# The names of a page's script are its own, so the function is taken out of its file.
DECODED = (Path(__file__).parents[3] / "reports" / "pages" / "scripts" / "page" / "source.js").read_text("utf-8")
DECODED = DECODED[DECODED.index("function decoded(") :]
READ = f"""{DECODED}
const [names, done] = arguments;
const read = async (name) => {{
  const bytes = decoded(document.getElementById(`block-${{name}}`).textContent);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}};
Promise.all(names.map(read)).then(done, (error) => done(String(error)));
"""
