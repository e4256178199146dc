"""Claims made by rule from clean passages: minimal edits that break them, rewordings that keep them, and mirrors.

Rows are of train_pool's passages, never of an evaluation set. An edited name may be wrong or only not there, so those
rows are ``not_supported``: known not to be supported, unknown which kind.
"""

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WORDS = json.loads(Path(__file__).with_name("edit_words.json").read_text(encoding="utf-8"))
OPPOSITES = [pair.split("/") for line in WORDS["opposites"] for pair in line.split()]
FLIP = {one: other for pair in OPPOSITES for one, other in (pair, pair[::-1])}
SAME = [pair.replace("-", " ").split("/") for line in WORDS["same"] for pair in line.split()]
ROLES = "|".join(WORDS["roles"])
NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
MONTHS = [
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
]
HEDGES = [
    ("may", "will"),
    ("might", "will"),
    ("could", "will"),
    ("some", "all"),
    ("often", "always"),
    ("usually", "always"),
    ("many", "all"),
    ("most", "all"),
    ("reported to", "proved to"),
    ("planned to", "went on to"),
    ("suggests", "proves"),
    ("is believed to be", "is"),
    ("possibly", "certainly"),
    ("probably", "certainly"),
]
BE = r"\b(is|was|were|are|has|had|can|could|will|would|did|does|do|have)\b"
NAME = re.compile(
    r"(?<![.!?:] )(?<!^)\b(?!(?:The|In|On|It|He|She|They|This|That|A|An|At|For|As|His|Her|If|When|While|But|And|I)\b)"
    r"[A-Z][a-z]+(?:[ -][A-Z][a-z]+){0,3}\b"
)
BOUND = re.compile(
    r"\b(more than|at least|over|under|less than|up to|about|around|approximately|nearly|almost"
    r"|by|since|between|from|to|until)\s+[\d,.]+$",
    re.I,
)
YEAR = re.compile(r"(?<![\d,.])(1[5-9]\d\d|20[0-2]\d)(?![\d,]|\.\d)")
FIGURE = re.compile(r"(?<![\d,.:/-])\d{1,3}(?:,\d{3})*(?:\.\d+)?(?![\d,:/-])")
OPENERS = [
    "",
    "",
    "",
    "",
    "",
    "Yes, ",
    "Well, ",
    "I think ",
    "According to the text, ",
    "Did you know that ",
    "I believe ",
    "It says that ",
    "Sure! ",
]


@dataclass(frozen=True)
class Edit:
    """A changed text, what of the first text became what, and what kind of change it is."""

    text: str
    old: str
    new: str
    kind: str
    label: str = "contradicted"


def _put(text: str, start: int, end: int, new: str, kind: str, label: str = "contradicted") -> Edit:
    old = text[start:end]
    if old[:1].isupper() and new[:1].islower():
        new = new[0].upper() + new[1:]
    return Edit(text[:start] + new + text[end:], old, new, kind, label)


def number(text: str, passage: str, rng: random.Random) -> Edit | None:
    found = [
        m
        for m in FIGURE.finditer(text)
        if not YEAR.fullmatch(m[0]) and not BOUND.search(text[: m.end()]) and len(m[0]) > 0
    ]
    if not found:
        return None
    m = rng.choice(found)
    others = [
        x
        for x in FIGURE.findall(passage)
        if len(x) == len(m[0]) and x != m[0] and x not in text and not YEAR.fullmatch(x)
    ]
    if others and rng.random() < 0.6:
        new = rng.choice(others)
    else:
        value = float(m[0].replace(",", ""))
        changed = value * rng.choice([0.3, 0.5, 0.6, 1.3, 1.5, 2, 3]) if value > 4 else value + rng.choice([1, 2, 3])
        new = (
            f"{changed:,.{len(m[0].split('.')[1])}f}"
            if "." in m[0]
            else f"{round(changed):,}"
            if "," in m[0]
            else str(round(changed))
        )
    return None if new == m[0] else _put(text, m.start(), m.end(), new, "number")


def word_number(text: str, passage: str, rng: random.Random) -> Edit | None:
    found = list(re.finditer(r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", text))
    if not found:
        return None
    m = rng.choice(found)
    return _put(text, m.start(), m.end(), rng.choice([n for n in NUMBERS[2:] if n != m[0]]), "number")


def date(text: str, passage: str, rng: random.Random) -> Edit | None:
    years = [m for m in YEAR.finditer(text) if not BOUND.search(text[: m.end()])]
    months = list(re.finditer(r"\b(" + "|".join(MONTHS) + r")(?= \d)|(?<=\d )\b(" + "|".join(MONTHS) + r")\b", text))
    if not years and not months:
        return None
    m = rng.choice(years + months)
    if m[0] in MONTHS:
        return _put(text, m.start(), m.end(), rng.choice([x for x in MONTHS if x != m[0]]), "date")
    others = [x for x in YEAR.findall(passage) if x != m[0] and x not in text]
    new = (
        rng.choice(others)
        if others and rng.random() < 0.6
        else str(int(m[0]) + rng.choice([-1, 1]) * rng.choice([1, 2, 3, 5, 10, 20]))
    )
    return _put(text, m.start(), m.end(), new, "date")


def entity(text: str, passage: str, rng: random.Random) -> Edit | None:
    found = [m for m in NAME.finditer(text) if m[0] not in MONTHS]
    if not found:
        return None
    m = rng.choice(found)
    pool = {
        x
        for x in NAME.findall(passage)
        if x not in text and m[0] not in x and x not in MONTHS and len(x.split()) == len(m[0].split())
    }
    return _put(text, m.start(), m.end(), rng.choice(sorted(pool)), "entity", "not_supported") if pool else None


def negation(text: str, passage: str, rng: random.Random) -> Edit | None:
    m = re.search(r"\b(not|never) ", text) or re.search(r"n't\b", text)
    if m:
        return _put(text, m.start(), m.end(), "", "negation removed")
    found = list(re.finditer(BE, text))
    if not found or re.search(r"\b(no|none|without|only|few|hardly)\b", text):
        return None
    m = found[0]
    if m[0] in ("has", "had", "have", "do", "does", "did") and not re.match(r" (been|\w+ed)\b", text[m.end() :]):
        return None
    return _put(text, m.end(), m.end(), rng.choice([" not", " not", " never"]), "negation")


def opposite(text: str, passage: str, rng: random.Random) -> Edit | None:
    found = [m for m in re.finditer(r"\w+", text) if m[0].lower() in FLIP and not (m[0][0].isupper() and m.start() > 0)]
    if not found:
        return None
    m = rng.choice(found)
    return _put(text, m.start(), m.end(), FLIP[m[0].lower()], "opposite")


def role(text: str, passage: str, rng: random.Random) -> Edit | None:
    m = re.search(r"^(.{0,40}?)((?:[A-Z]\w+ ?){1,4})( (?:" + ROLES + r") )((?:the )?(?:[A-Z]\w+ ?){1,4})\b", text)
    if m:
        return Edit(
            text[: m.start(2)]
            + m[4].strip()
            + m[3]
            + m[2].strip()
            + (" " if m[4].endswith(" ") else "")
            + text[m.end(4) :],
            m[0],
            "",
            "role",
        )
    names = [x for x in NAME.finditer(text) if x[0] not in MONTHS]
    if len(names) < 2:
        return None
    a, b = sorted(rng.sample(names, 2), key=lambda x: x.start())
    if a[0] == b[0] or re.fullmatch(r"( and |, |, and | or )", text[a.end() : b.start()]):
        return None
    return Edit(
        text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :],
        a[0],
        b[0],
        "swapped names",
        "not_supported",
    )


def hedge(text: str, passage: str, rng: random.Random) -> Edit | None:
    for old, new in rng.sample(HEDGES, len(HEDGES)):
        m = re.search(rf"\b{old}\b", text)
        if m:
            return _put(text, m.start(), m.end(), new, "hedge", "absent")
    return None


def only(text: str, passage: str, rng: random.Random) -> Edit | None:
    m = re.search(r"\b(is|was|are|were) (a|an|one of the)\b", text)
    return (
        _put(text, m.start(2), m.end(2), rng.choice(["the only", "the first", "the largest"]), "only", "absent")
        if m and "only" not in text
        else None
    )


BREAKING = {number: 3, word_number: 1, date: 3, entity: 5, negation: 1.5, opposite: 3, role: 2, hedge: 1, only: 0.5}


def perturb(text: str, rng: random.Random) -> str:
    """The same said in another way: one to three harmless changes."""
    done = 0
    for change in rng.sample(KEEPING, len(KEEPING)):
        new = change(text, rng)
        if new and new != text and len(new.split()) >= 5:
            text, done = new, done + 1
        if done >= rng.choice([1, 2, 3]):
            break
    return text


def _synonym(text: str, rng: random.Random) -> str | None:
    for a, b in rng.sample(SAME, len(SAME)):
        if re.search(rf"\b{a}\b", text):
            return re.sub(rf"\b{a}\b", b, text, count=1)
    return None


def _in_words(text: str, rng: random.Random) -> str | None:
    m = re.search(r"(?<![\d,.$€£:/-])\b([2-9]|1[0-2])\b(?![\d,.:%/-])", text)
    if m and not re.search(r"(" + "|".join(MONTHS) + r")", text):
        return text[: m.start()] + NUMBERS[int(m[0])] + text[m.end() :]
    m = re.search(r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", text)
    return text[: m.start()] + str(NUMBERS.index(m[0])) + text[m.end() :] if m else None


def _date_order(text: str, rng: random.Random) -> str | None:
    months = "|".join(MONTHS)
    new = re.sub(rf"\b({months}) (\d{{1,2}}), (\d{{4}})", r"\2 \1 \3", text)
    return new if new != text else re.sub(rf"\b(\d{{1,2}}) ({months}) (\d{{4}})", r"\2 \1, \3", text)


def _no_brackets(text: str, rng: random.Random) -> str | None:
    return re.sub(r" \([^()]*\)", "", text)


def _no_tail(text: str, rng: random.Random) -> str | None:
    m = re.search(r", (which|who|where|including|such as|with|after|while|although) [^,]+\.$", text)
    return (
        text[: m.start()] + "."
        if m and not re.search(r"\b(not|never|no|few|only)\b", text[: m.start()]) and m.start() > 30
        else None
    )


def _front(text: str, rng: random.Random) -> str | None:
    m = re.match(r"^((?:In|On|During|After|Before|At|By) [^,]{3,40}), (\w[^.]{15,})\.$", text)
    if m:
        return f"{m[2][0].upper()}{m[2][1:]} {m[1][0].lower()}{m[1][1:]}."
    m = re.match(r"^([^,]{15,}) (in (?:" + "|".join(MONTHS) + r"|\d{4})(?: \d{4})?)\.$", text)
    return f"{m[2][0].upper()}{m[2][1:]}, {m[1]}." if m else None


def _passive(text: str, rng: random.Random) -> str | None:
    m = re.match(
        r"^((?:[A-Z]\w+ ?){1,4}) (defeated|founded|acquired|replaced|directed|influenced"
        r"|discovered|created|produced|succeeded|attacked|invaded) "
        r"((?:the )?(?:[A-Z]\w+ ?){1,4})( in [^,.]+)?\.$",
        text,
    )
    return f"{m[3].strip()} was {m[2]} by {m[1].strip()}{m[4] or ''}." if m else None


def _adverb(text: str, rng: random.Random) -> str | None:
    return re.sub(
        r" (also|really|very|eventually|generally|typically|widely|famously|officially|currently),? ",
        " ",
        text,
        count=1,
    )


def _short(text: str, rng: random.Random) -> str | None:
    for old, new in (
        ("United States", "US"),
        ("United Kingdom", "UK"),
        (" percent", "%"),
        (" per cent", "%"),
        (" million", "m"),
        ("did not", "didn't"),
        ("was not", "wasn't"),
        ("is not", "isn't"),
        ("World War II", "the Second World War"),
        ("New York City", "New York"),
    ):
        if old in text:
            return text.replace(old, new, 1)
    return None


KEEPING = [_synonym, _in_words, _date_order, _no_brackets, _no_tail, _front, _passive, _adverb, _short]
CUT = re.compile(r"(?<=[a-z0-9)\"'\]][.!?]) +(?=[A-Z\"'(])|\n+")


def clean(sentence: str) -> bool:
    words = sentence.split()
    return (
        8 <= len(words) <= 36
        and sentence[-1:] == "."
        and sentence[:1].isupper()
        and sentence.count('"') % 2 == 0
        and sentence.count("(") == sentence.count(")")
    )


def rows_of(passage: str, rng: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """(passage, claim, label, made_by) of one passage: every claim with both a holding and a broken row."""
    lines = [line.strip() for line in CUT.split(passage) if line.strip()]
    good = [place for place, line in enumerate(lines) if clean(line)]
    for place in rng.sample(good, min(2, len(good))):
        made = _broken(lines[place], passage, rng)
        if made is None:
            continue
        around = lines[max(0, place - rng.randint(0, 5)) : place + rng.randint(1, 6)] if len(lines) > 1 else lines
        yield from _pair_of(lines[place], around, made, rng)
        if rng.random() < 0.35:
            yield from _left_out(lines[place], lines, rng)


def _broken(sentence: str, passage: str, rng: random.Random) -> Edit | None:
    for _ in range(6):
        change = rng.choices(list(BREAKING), list(BREAKING.values()))[0]
        made = change(sentence, passage, rng)
        if made:
            return made if made.text != sentence else None
    return None


def _pair_of(sentence: str, around: list[str], made: Edit, rng: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """A row that does not hold and one that does; in half of them the passage is edited and not the claim."""
    text = " ".join(around)
    mirrored = " ".join(made.text if line == sentence else line for line in around)
    if made.kind in ("number", "date", "entity") and made.old:  # everywhere, or the passage says both
        mirrored = re.sub(rf"(?<!\w){re.escape(made.old)}(?!\w)", lambda _: made.new, mirrored)
    opener = rng.choice(OPENERS)
    kept = opener + perturb(sentence, rng)
    broken = opener + (perturb(made.text, rng) if rng.random() < 0.5 else made.text)
    if made.label == "absent":  # a claim that says too much; the other way round it is supported
        yield text, broken, "absent", made.kind
        if made.kind == "hedge":
            yield mirrored, kept, "supported", "hedge, mirrored"
        else:
            yield text, kept, "supported", "perturbed"
    elif rng.random() < 0.5:
        yield text, broken, made.label, made.kind
        yield text, kept, "supported", "perturbed"
    else:
        yield mirrored, kept, made.label, f"{made.kind}, mirrored"
        if rng.random() < 0.6:
            yield mirrored, broken, "supported", "perturbed, mirrored"
        else:
            yield text, kept, "supported", "perturbed"


def _left_out(sentence: str, lines: list[str], rng: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """The claim beside sentences of the same passage that share few of its words."""
    content = set(re.findall(r"\w{4,}", sentence.lower()))
    far = [
        line
        for line in lines
        if line != sentence and len(content & set(re.findall(r"\w{4,}", line.lower()))) <= len(content) * 0.25
    ]
    if len(far) >= 2:
        start = rng.randrange(len(far))
        yield " ".join(far[start : start + rng.randint(2, 6)]), perturb(sentence, rng), "absent", "sentence left out"
