"""Whether two texts are in one language, from the frequencies of their letters; no language model takes part."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from ...languages import letters, main_script, of_script, prose
from ..call import cannot_grade
from ..calls import Label
from ..verdicts import Word

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_LONGEST: Final = 2_000  # characters that are looked at
# Chance of drawing one language from what two texts may be in, from which they count as of one; chosen on one half of
# xquad_lang and language_id, cut to four words and more. In short texts there is little to see, and most answers are
# in the language of their question: there it takes more to call them different.
_SAME: Final = 0.1
_SAME_SHORT: Final = 0.02
_SHORT: Final = 20  # letters
_NAMES: Final = 3  # words with capitals that may be a name, which stands in any language
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
# Languages with much on the web; the others count for a tenth, and the rare ones for a hundredth.
_COMMON: Final = frozenset({
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu", "id",
    "is", "it", "ja", "ko", "lt", "lv", "ms", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "ta", "th",
    "tl", "tr", "uk", "ur", "vi", "zh",
})  # fmt: skip
_LESS_COMMON: Final = 0.1
_RARITY: Final = 0.01
# Scripts whose letters alone name the language.
_BY_SCRIPT: Final = {"JAPANESE": "ja", "KOREAN": "ko", "CHINESE": "zh", "CJK": "zh", "THAI": "th", "GREEK": "el"}
_LOADING: Final = threading.Lock()


async def same_language(call: Label) -> Word:
    """Whether the two texts of a call are in one language; what it takes them for is said beside.

    Texts in two scripts are in two languages; else the identifier says how likely each is in which.

    Raises:
        NotApplicable: a text has no letters, or may be nothing but a name.
    """
    texts = [prose(block.text)[:_LONGEST] for block in call.texts]
    scripts = [main_script(text) for text in texts]
    if not all(scripts):
        raise cannot_grade(call, "A text without letters is in no language.")
    first, second = await asyncio.to_thread(_languages_of, *texts)
    found = ", ".join(max(shares, key=lambda language: shares[language]) for shares in (first, second))
    chance = sum(share * second.get(language, 0.0) for language, share in first.items())
    is_short = any(sum(1 for _ in letters(text)) < _SHORT for text in texts)
    if chance >= (_SAME_SHORT if is_short else _SAME):
        return Word("same", found)
    if any(_may_be_a_name(text) for text in texts):
        raise cannot_grade(call, "A few words with capitals may be a name, which stands in any language.")
    return Word("different", found)


def _may_be_a_name(text: str) -> bool:
    words = text.split()
    return len(words) <= _NAMES and all(word[:1].isupper() or not word[:1].isalpha() for word in words)


def _languages_of(first: str, second: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    return languages(first), languages(second)


@lru_cache(maxsize=4_096)
def languages(text: str) -> Mapping[str, float]:
    """How likely a text is in each language, by ISO 639 code; dialects count as their language, rare ones less.

    Words in another script than most of the text are quoted and not looked at.
    """
    script = main_script(text)
    if script in _BY_SCRIPT:
        return {_BY_SCRIPT[script]: 1.0}
    shares: defaultdict[str, float] = defaultdict(float)
    with _LOADING:
        identifier = _identifier()
    for code, share in identifier.rank(of_script(text, script) or text):
        shares[_ONE_LANGUAGE.get(code, code)] += float(share) * _weight(code)
    whole = sum(shares.values())
    return {language: share / whole for language, share in shares.items()}


def _weight(code: str) -> float:
    if code in _RARE:
        return _RARITY
    return 1.0 if _ONE_LANGUAGE.get(code, code) in _COMMON else _LESS_COMMON


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
