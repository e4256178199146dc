import re
import unicodedata

import pytest
import re2
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from proctor import InputError
from proctor.metrics.constraints import SafePattern, safe_pattern, with_python_classes
from proctor.metrics.score import TimedOut
from tables import in_one_test

ATOMS = [
    "a", "b", "1", "é", " ", r"\n", ".", r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\b", r"\B", "^", "$", r"\A", r"\Z",
    "[ab]", "[^a]", "[a-z0-9]", r"[\w-]", r"[^\s]", "(?=a)", "(?!b)", "(?<=1)", "(?<!a)", r"\.", r"\{", "{", "}",
    "(?i:A)", "(?s:.)", r"\x0b", r"\u00e9", "²", "\u0301", "\u212a",
]  # fmt: skip
REPEATS = ["", "", "", "*", "+", "?", "{2}", "{,1}", "{1,}", "{1,2}", "*?", "+?"]
PATTERNS = st.recursive(
    st.tuples(st.sampled_from(ATOMS), st.sampled_from(REPEATS)).map("".join),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda some: f"(?:{'|'.join(some)})"),
        inner.map(lambda one: f"({one})"),
        inner.map(lambda one: f"(?:{one})?"),
    ),
    max_leaves=5,
)
TEXTS = st.text(alphabet="ab1é \n\t\x0b\x1c.{}Kk\u212aA_²\u0301\u0e33\ud800", max_size=6)


@settings(max_examples=600)
@given(PATTERNS, st.sampled_from(["", "", "(?i)", "(?m)", "(?s)", "(?a)"]), TEXTS)
@example("a$", "", "a\n")
@example(r"\s", "", "\x1c")
@example(r"x{,1}b", "", "b")
@example(r"\B", "", "")
@example(r"\w\b", "", "é ")
@example("k", "(?i)", "\u212a")
@example("a{e<=1}", "", "a{e<=1}")
@example("a{e<=1}", "", "b")
@example("$", "", "\ud800\n")
@example("a", "", "\ud800a")
def test_a_pattern_is_found_where_python_finds_it(pattern: str, flags: str, text: str) -> None:
    try:
        wanted = re.search(flags + pattern, text) is not None
    except re.error:
        with pytest.raises(InputError):
            SafePattern(flags + pattern)
        return
    assert SafePattern(flags + pattern).is_in(text) == wanted


@in_one_test(
    ("pattern", "text", "wanted"),
    [
        (r"(?P<first>a)(?P=first)", "baab", True),
        (r"(a)\1", "ab", False),
        (r"(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)(l)\12", "abcdefghijkll", True),
        (r"(?<!\d)14 days", "in 14 days", True),
        (r"(?<!\d)14 days", "in 114 days", False),
        (r"^Revenue.*[Mm]illion$", "Revenue of 3 million", True),
        (r"(?x) a  b # comment", "ab", True),
        (r"a++b", "aab", True),
    ],
)
def test_python_syntax_beyond_re2(pattern: str, text: str, wanted: bool) -> None:
    assert SafePattern(pattern).is_in(text) is wanted


@in_one_test("pattern", ["(", "a{2,1}", "*a", r"(?<=a+)b", r"\p{L}", "[z-a]", r"(?P<1>a)", "a" * 3 + "("])
def test_an_invalid_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(InputError, match=r"The regular expression '.*' is invalid: "):
        SafePattern(pattern)


@pytest.mark.parametrize("pattern", ["[[:alpha:]]", "[[]a]", "[a--b]", "[a&&b]"])
def test_an_ambiguous_pattern_is_refused_with_advice(pattern: str) -> None:
    with pytest.raises(InputError, match=r"is ambiguous .*put a backslash"):
        SafePattern(pattern)


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*a){12}$", r"a*a*a*a*a*b$", r"(\w+\s?)+$"])
def test_nested_repeats_come_to_an_end(pattern: str) -> None:
    for letter in "aé":
        assert not SafePattern(pattern.replace("a", letter)).is_in(letter * 1_000_000 + "!")


@pytest.mark.parametrize(
    ("pattern", "text"), [(r"(?=(a+)+$)a", "a" * 5_000 + "b"), (r"(\w+\s?)+\b$", "é" * 5_000 + "!")]
)
def test_what_can_not_be_linear_is_given_up(pattern: str, text: str) -> None:
    with pytest.raises(TimedOut, match=r"was searched for 0\.1 s in 5,001 characters and given up"):
        SafePattern(pattern, timeout=0.1).is_in(text)


def test_compiled_patterns_are_kept() -> None:
    assert safe_pattern("kept") is safe_pattern("kept")


@in_one_test(
    ("pattern", "written"),
    [
        (r"[\W]", None),
        (r"[a\S]", None),
        (r"(?a)\w", None),
        (r"(?x) \w # [", None),
        (r"[]\d]\d", r"[]\p{Nd}]\p{Nd}"),
        (r"[^]\D]", r"[^]\P{Nd}]"),
        (r"\\w[[\]\w]", r"\\w[[\]\p{L}\p{N}_]"),
        (r"[\b]", r"[\b]"),
    ],
)
def test_classes_are_written_out_where_they_can_be(pattern: str, written: str | None) -> None:
    assert with_python_classes(pattern) == written


@pytest.mark.parametrize("letter", "wdsWDS")
def test_written_out_classes_hold_the_characters_that_python_means(letter: str) -> None:
    characters = [chr(code) for code in range(0x3000) if unicodedata.category(chr(code)) != "Cn"]
    written = with_python_classes(f"\\{letter}") or ""
    python, timed, linear = re.compile(f"\\{letter}"), regex.compile(written), re2.compile(written)
    wanted = [one for one in characters if python.match(one)]
    assert wanted
    assert [one for one in characters if timed.match(one)] == wanted
    assert [one for one in characters if linear.match(one)] == wanted
