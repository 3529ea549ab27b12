"""All short strings over an alphabet with one member of each class that the patterns tell apart."""

import itertools

import numpy
import pytest
import reference
from compare import FULL, SEPARATOR, check, check_joined, in_processes, reference_batch

# Upper, lower (they begin a contraction), title, modifier, other letter, mark, decimal digit, letter
# number, other number, space, no-break space, newline, carriage return, apostrophe, slash, punctuation,
# symbol, emoji, zero byte.
ALPHABET = "Ssǅʰא\u0301" + "1Ⅷ½" + " \u00A0\n\r" + "'/.+🚀\0"
LONGEST = 6 if FULL else 4
SUFFIX = 3

_suffixes = ["".join(letters) for letters in itertools.product(ALPHABET, repeat=SUFFIX)]


def all_with(name, prefixes):
    """Every string that begins with one of the prefixes and goes on for SUFFIX characters."""
    texts = tokens = 0
    for prefix in prefixes:
        counts = check_joined(name, prefix + (SEPARATOR + prefix).join(_suffixes))
        texts, tokens = texts + counts[0], tokens + counts[1]
    return texts, tokens


def test_the_alphabet_has_a_member_of_each_class():
    assert len(set(ALPHABET)) == len(ALPHABET) == 19


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_PATTERN)
def test_the_reference_has_the_same_ids_between_separators(name):
    texts = ["", *ALPHABET, *map("".join, itertools.product(ALPHABET, repeat=2)), *_suffixes]
    texts += [text + end for text in _suffixes[::7] for end in ("<", "<|", "<|separator|", "|>", ">", "  ", "\n")]
    ids, counts = reference_batch(name, SEPARATOR.join(texts), len(texts))
    single = reference.encoding(name)._core_bpe.encode_ordinary
    for text, there in zip(texts, numpy.split(ids, numpy.cumsum(counts)[:-1])):
        assert single(text) == there.tolist(), repr(text)


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_PATTERN)
def test_all_strings(name, compared):
    short = ["".join(letters) for length in range(SUFFIX) for letters in itertools.product(ALPHABET, repeat=length)]
    prefixes = ["".join(letters) for length in range(LONGEST - SUFFIX + 1)
                for letters in itertools.product(ALPHABET, repeat=length)]
    counts = check(name, short)
    more = in_processes(all_with, [(name, prefixes[i:i + 19]) for i in range(0, len(prefixes), 19)])
    compared(f"{name}: all strings up to length {LONGEST} over {len(ALPHABET)} characters",
             (counts[0] + more[0], counts[1] + more[1]))
