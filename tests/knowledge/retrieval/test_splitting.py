"""Every splitter gives passages that are pieces of their document, no longer than asked, and loses no word."""

import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proctor import InputError
from proctor.knowledge.documents.document import Document
from proctor.knowledge.retrieval.splitting import Splitter, Splitting, cut, sentence_spans
from tables import in_one_test

MARKDOWN = """# Bikes

We sell bikes. They are good.

## Returns

Send it back within 14 days. Pack it well.

```
# no heading
```

## Repairs

Ask Dr. Roe. She repairs bikes at 9 a.m. on Mondays.
"""
TEXTS = st.text(st.sampled_from("ab. \n#?!`-\U0001f6b2\u00e9\ud800\u3002"), max_size=300)


@pytest.mark.parametrize("splitter", get_args(Splitter))
@given(text=TEXTS, size=st.integers(20, 60), overlap=st.integers(0, 19))
def test_passages_are_pieces_of_the_text_that_hold_all_of_it(splitter, text, size, overlap):
    passages = Splitting(splitter, size, overlap).cut(Document("a.md", text))
    held = set()
    for passage in passages:
        assert text[passage.start : passage.end] == passage.text
        assert 0 < len(passage.text) <= size
        assert passage.text == passage.text.strip()
        held.update(range(passage.start, passage.end))
    assert [place for place, character in enumerate(text) if not character.isspace() and place not in held] == []
    starts = [passage.start for passage in passages]
    assert starts == sorted(set(starts))


def test_recursive_is_what_it_always_was():
    document = Document("a.md", MARKDOWN)
    assert Splitting("recursive", 60, 10).cut(document) == cut(document, 60, 10)
    assert Splitting().key == "recursive 600 80"


def test_markdown_begins_passages_at_headings():
    passages = Splitting("markdown", 80, 0).cut(Document("a.md", MARKDOWN))
    assert [passage.text.splitlines()[0] for passage in passages] == ["# Bikes", "## Returns", "## Repairs"]


def test_sentences_are_kept_whole_and_repeated_as_far_as_the_overlap_reaches():
    text = "One is short. Two is short. Three is short. Four is short."
    passages = Splitting("sentences", 30, 15).cut(Document("a.md", text))
    assert [passage.text for passage in passages] == [
        "One is short. Two is short.", "Two is short. Three is short.", "Three is short. Four is short."
    ]  # fmt: skip
    assert [passage.text for passage in Splitting("sentences", 30, 0).cut(Document("a.md", text))] == [
        "One is short. Two is short.", "Three is short. Four is short."
    ]  # fmt: skip


def test_a_sentence_longer_than_a_passage_is_cut_like_any_text():
    text = f"Short one. {'word ' * 20}end. Last one."
    passages = Splitting("sentences", 40, 0).cut(Document("a.md", text))
    assert passages[0].text == "Short one."
    assert passages[-1].text == "Last one."
    assert all(len(passage.text) <= 40 for passage in passages) and len(passages) > 4


def test_the_spans_of_sentences_are_found_though_they_repeat():
    text = "Never. Never. Ask Dr. Roe.\nNever."
    assert [text[start:end] for start, end in sentence_spans(text)] == ["Never.", "Never.", "Ask Dr. Roe.", "Never."]
    assert sentence_spans(text)[-1] == (27, 33)


def test_fixed_passages_are_all_as_long_as_they_may_be():
    passages = Splitting("fixed", 20, 5).cut(Document("a.md", "abcdefghij" * 5))
    assert [(passage.start, passage.end) for passage in passages] == [(0, 20), (15, 35), (30, 50)]


@in_one_test("splitter", get_args(Splitter))
@in_one_test(("size", "overlap"), [(19, 0), (40, 40), (40, -1)])
def test_sizes_that_make_no_sense_are_refused(splitter, size, overlap):
    with pytest.raises(InputError, match="chunk_size"):
        Splitting(splitter, size, overlap).cut(Document("a.md", "text"))


def test_long_lines_are_cut_at_sentences_and_open_quotes_take_no_time_that_grows_with_the_square() -> None:
    line = "The dog of Dr. Roe runs home today. " * 2_000
    spans = sentence_spans(line)
    assert len(spans) == 2_000
    assert {line[start:end] for start, end in spans} == {"The dog of Dr. Roe runs home today."}
    started = time.process_time()
    quoted = "“" * 200_000
    assert "".join(quoted[start:end] for start, end in sentence_spans(quoted)) == quoted
    assert time.process_time() - started < 5  # at once it takes 12 seconds
    assert sentence_spans("。" * 30_000)[-1][1] == 30_000
