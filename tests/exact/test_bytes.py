"""Raw bytes: every pair of bytes, every three bytes that are UTF-8, and broken ends of texts."""

import itertools
import random

import pytest
import reference
from compare import FULL, check_raw, in_processes

ONE = [bytes([byte]) for byte in range(128)]
TWO = [chr(c).encode("utf-8") for c in range(0x80, 0x800)]
THREE = [chr(c).encode("utf-8") for c in range(0x800, 0x10000) if not 0xD800 <= c <= 0xDFFF]
RANDOM_TEXTS = 200_000 if FULL else 20_000


def beginning_with(name, first):
    """Every three bytes that are UTF-8 and begin with the ASCII character or the characters of two bytes `first`."""
    if len(first) == 1:
        texts = [first + one + other for one, other in itertools.product(ONE, ONE)]
        texts += [first + two for two in TWO]
    else:
        texts = [first + one for one in ONE]
    return check_raw(name, texts)


def broken(name, seed, texts):
    """Texts with bytes cut off, changed or put in anywhere."""
    rng = random.Random(seed)
    made = []
    for _ in range(texts):
        text = "".join(rng.choice("aA sS'\n\r\t 1².é字🚀א\u0301/\u00A0") for _ in range(rng.randrange(1, 12)))
        data = bytearray(text.encode("utf-8"))
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(data) + 1)
            kind = rng.randrange(3)
            if kind == 0:
                data.insert(place, rng.choice([rng.randrange(256), rng.randrange(0x80, 0x100)]))
            elif kind == 1:
                del data[max(0, place - 1):place]
            else:
                del data[place:]
        made.append(bytes(data))
    return check_raw(name, made)


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_PATTERN)
def test_every_pair_of_bytes(name, compared):
    compared(f"{name}: every byte and every pair of bytes",
             check_raw(name, [b""] + [bytes([b]) for b in range(256)] +
                       [bytes(pair) for pair in itertools.product(range(256), repeat=2)]))


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_PATTERN)
def test_every_three_bytes_that_are_utf8(name, compared):
    firsts = ONE + TWO if FULL else ONE[::8] + TWO[::40]
    counts = in_processes(beginning_with, [(name, first) for first in firsts])
    more = check_raw(name, THREE)
    compared(f"{name}: {'every' if FULL else 'some'} three bytes that are UTF-8",
             (counts[0] + more[0], counts[1] + more[1]))


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_PATTERN)
def test_broken_texts(name, compared):
    compared(f"{name}: texts with broken characters",
             in_processes(broken, [(name, seed, RANDOM_TEXTS // 20) for seed in range(20)]))
