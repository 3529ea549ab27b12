"""All short strings over an alphabet with one member of each class that the patterns tell apart."""

import itertools

import numpy
import pytest
import reference
from compare import FULL, check, in_processes

# Upper, lower (they begin a contraction), title, modifier, other letter, mark, decimal digit, letter
# number, other number, space, no-break space, newline, carriage return, apostrophe, slash, punctuation,
# symbol, emoji, zero byte.
ALPHABET = "Ssǅʰא\u0301" + "1Ⅷ½" + " \u00A0\n\r" + "'/.+🚀\0"
LONGEST = 6 if FULL else 4
SUFFIX = 3

_suffixes = ["".join(letters) for letters in itertools.product(ALPHABET, repeat=SUFFIX)]
_suffix_bytes = [suffix.encode("utf-8") for suffix in _suffixes]
_suffix_lengths = numpy.fromiter(map(len, _suffix_bytes), dtype=numpy.uintp)


def all_with(name, prefixes):
    """Every string that begins with one of the prefixes and goes on for SUFFIX characters."""
    texts = tokens = 0
    for prefix in prefixes:
        data = prefix.encode("utf-8")
        counts = check(name, [prefix + suffix for suffix in _suffixes], data + data.join(_suffix_bytes),
                       _suffix_lengths + len(data))
        texts, tokens = texts + counts[0], tokens + counts[1]
    return texts, tokens


def test_the_alphabet_has_a_member_of_each_class():
    assert len(set(ALPHABET)) == len(ALPHABET) == 19


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_PATTERN)
def test_all_strings(name, compared):
    short = ["".join(letters) for length in range(SUFFIX) for letters in itertools.product(ALPHABET, repeat=length)]
    prefixes = ["".join(letters) for length in range(LONGEST - SUFFIX + 1)
                for letters in itertools.product(ALPHABET, repeat=length)]
    counts = check(name, short)
    more = in_processes(all_with, [(name, prefixes[i:i + 19]) for i in range(0, len(prefixes), 19)])
    compared(f"{name}: all strings up to length {LONGEST} over {len(ALPHABET)} characters",
             (counts[0] + more[0], counts[1] + more[1]))
