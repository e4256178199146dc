"""Whether two texts are in one language, from the frequencies of their letters; no language model takes part."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from ...languages import letters, prose
from ..call import cannot_grade
from ..calls import Label
from ..verdicts import Word

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_LEAST_LETTERS: Final = 20  # of shorter texts the identifier is sure and wrong: "hello there" is Southern Sotho to it
_LONGEST: Final = 2_000  # characters that are looked at
# How likely one language must be, and how likely at most for two; chosen on the sentences of language_id. What is one
# language is told less easily than what is two, and an error of this kind would fail a good answer.
_SAME: Final = 0.7
_DIFFERENT: Final = 0.05
# Codes that name one language, its dialects, or languages that letters alone can't tell apart.
_ONE_LANGUAGE: Final = {
    "nb": "no", "nn": "no", "wuu": "zh", "yue": "zh", "ary": "ar", "arz": "ar", "bs": "sr", "hr": "sr",
}  # fmt: skip
# Languages of which there is little on the web; the identifier sees them in short texts of others.
_RARE: Final = frozenset({
    "ace", "ary", "bcl", "crh", "dz", "eo", "ext", "fuv", "ga", "gcf", "gcr", "gd", "gom", "grc", "gu", "gug", "guw",
    "ha", "hbo", "ht", "ig", "kab", "kik", "ku", "la", "lb", "lg", "lij", "ln", "ltg", "mg", "mi", "nso", "oc", "om",
    "pa", "pcm", "qu", "rw", "sa", "sdh", "se", "sn", "so", "st", "tg", "tk", "tn", "ug", "uz", "uzs", "vec", "vo",
    "wa", "xh", "yo", "zxx",
})  # fmt: skip
_RARITY: Final = 0.1
_LOADING: Final = threading.Lock()


async def same_language(call: Label) -> Word:
    """Whether the two texts of a call are in one language; what it takes them for is said beside.

    Raises:
        NotApplicable: a text is too short, or the identifier is in doubt.
    """
    texts = [prose(block.text)[:_LONGEST] for block in call.texts]
    if any(sum(1 for _ in letters(text)) < _LEAST_LETTERS for text in texts):
        raise cannot_grade(call, f"Without a language model, fewer than {_LEAST_LETTERS} letters tell no language.")
    first, second = await asyncio.to_thread(_languages_of, *texts)
    same = sum(share * second.get(language, 0.0) for language, share in first.items())
    if _DIFFERENT < same < _SAME:
        raise cannot_grade(call, "Without a language model, the languages of these texts can't be told for sure.")
    found = ", ".join(max(shares, key=lambda language: shares[language]) for shares in (first, second))
    return Word("same" if same >= _SAME else "different", found)


def _languages_of(first: str, second: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    return languages(first), languages(second)


@lru_cache(maxsize=4_096)
def languages(text: str) -> Mapping[str, float]:
    """How likely a text is in each language, by ISO 639 code; dialects count as their language, rare ones less."""
    shares: defaultdict[str, float] = defaultdict(float)
    with _LOADING:
        identifier = _identifier()
    for code, share in identifier.rank(text):
        shares[_ONE_LANGUAGE.get(code, code)] += float(share) * (_RARITY if code in _RARE else 1)
    whole = sum(shares.values())
    return {language: share / whole for language, share in shares.items()}


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
