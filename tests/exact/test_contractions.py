"""Every contraction in every case, with the long s and the Kelvin sign, in every neighbourhood."""

import itertools

import pytest
import reference
from compare import check

ENDINGS = ["s", "t", "re", "ve", "m", "ll", "d"]
# What folds to a letter of an ending (U+017F to s), and what others take for it (U+212A folds to k).
ALIKE = {"s": "sSſ", "k": "kKK"}
NEAR_MISSES = ["k", "K", "r", "v", "l", "re\u0301", "l l", "lL\u0301", "ſſ", "st", "RT", "em", "ß", "ẞ", "rv", "vl"]
BEFORE = ["", "a", "A", "aA", "Aa", "AA", "ǅ", "ʰ", "א", "\u0301", "a\u0301", "1", "½", " ", " a", "  ", "\n", "\r\n", ".", "x.",
          "'", "a'", "'s", "n't", "\u00A0", "🚀", "/", "\0", "字"]
AFTER = ["", "a", "A", "s", "S", "ǅ", "א", "\u0301", "1", " ", "\n", "\r", ".", "'", "'s", "'S", "'re", "/", "🚀", "\0"]
APOSTROPHES = ["'", "\u2019", "\u02BC", "\uFF07", "''"]


def spellings():
    for ending in ENDINGS:
        for letters in itertools.product(*(ALIKE.get(letter, letter + letter.upper()) for letter in ending)):
            yield "".join(letters)
    yield from NEAR_MISSES


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_VOCABULARY)
def test_every_contraction(name, compared):
    texts = [before + apostrophe + spelling + after for before in BEFORE for apostrophe in APOSTROPHES
             for spelling in spellings() for after in AFTER]
    compared(f"{name}: contractions", check(name, texts))
