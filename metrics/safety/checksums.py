"""Checksums of numbers that people and things are known by; each takes plain characters without separators."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

_DOUBLED: Final = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)  # digit sums of twice the digit
# Verhoeff's dihedral group of ten, and the permutation that he applies to each place.
_GROUP: Final = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_PERMUTED: Final = (
    "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip
# By place, state and digit: the next state.
_VERHOEFF: Final = [
    [{str(digit): int(row[int(permuted[digit])]) for digit in range(10)} for row in _GROUP] for permuted in _PERMUTED
]
_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH32_GENERATORS: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_BECH32_RESULTS: Final = (1, 0x2BC830A3)  # of Bech32 and of Bech32m


def digits_of(text: str) -> str:
    """The ASCII digits of a text."""
    return "".join([character for character in text if "0" <= character <= "9"])


def letters_and_digits_of(text: str) -> str:
    """The letters and digits of a text, in capitals."""
    return "".join([character for character in text if character.isalnum()]).upper()


def luhn(digits: str) -> bool:
    """Whether the last digit is the one that Luhn's formula (ISO/IEC 7812-1) asks for.

    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    values = digits.encode()
    plain = values[-1::-2]
    return (sum(plain) - 48 * len(plain) + sum([_DOUBLED[value - 48] for value in values[-2::-2]])) % 10 == 0


def verhoeff(digits: str) -> bool:
    """Whether the last digit is Verhoeff's check digit.

    >>> verhoeff("2363"), verhoeff("2364")
    (True, False)
    """
    state = 0
    for place, digit in enumerate(reversed(digits)):
        state = _VERHOEFF[place % 8][state][digit]
    return state == 0


def mod_97(text: str) -> bool:
    """Whether letters and digits, the first four moved to the end, leave 1 on division by 97 (ISO 7064, IBAN).

    >>> mod_97("GB82WEST12345698765432")
    True
    """
    return int("".join([str(int(character, 36)) for character in text[4:] + text[:4]])) % 97 == 1


def mod_11_10(digits: str) -> bool:
    """Whether the last digit is the check digit of ISO 7064, MOD 11,10."""
    product = 10
    for digit in digits[:-1]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def weighted(digits: str, weights: Sequence[int]) -> int:
    """The sum of digits times weights, as many as there are weights."""
    return sum([int(digit) * weight for digit, weight in zip(digits, weights, strict=False)])


def machine_readable(text: str) -> bool:
    """Whether the last digit is the check digit of travel documents (ICAO 9303: weights 7, 3, 1, letters from 10)."""
    total = sum([int(character, 36) * (7, 3, 1)[place % 3] for place, character in enumerate(text[:-1])])
    return text[-1] == str(total % 10)


def base58check(text: str) -> bool:
    """Whether the last four bytes are the double SHA-256 of the others (Bitcoin addresses)."""
    number = 0
    for character in text:
        place = _BASE58.find(character)
        if place < 0:
            return False
        number = number * 58 + place
    zeros = len(text) - len(text.lstrip("1"))
    data = bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8)
    return len(data) == 25 and sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:]


def bech32(text: str) -> bool:
    """Whether the last six characters are the checksum of Bech32 or Bech32m (BIP 173 and BIP 350)."""
    lowered = text.lower()
    if text not in (lowered, text.upper()) or len(text) > 90:
        return False
    prefix, _, rest = lowered.rpartition("1")
    values = [_BECH32.find(character) for character in rest]
    if not prefix or len(values) < 6 or -1 in values:
        return False
    expanded = [ord(one) >> 5 for one in prefix] + [0] + [ord(one) & 31 for one in prefix]
    return _bech32_remainder(expanded + values) in _BECH32_RESULTS


def _bech32_remainder(values: Sequence[int]) -> int:
    remainder = 1
    for value in values:
        top = remainder >> 25
        remainder = (remainder & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(_BECH32_GENERATORS):
            remainder ^= generator if top >> place & 1 else 0
    return remainder
