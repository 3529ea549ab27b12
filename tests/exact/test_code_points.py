"""Every code point in every context that the patterns could tell apart."""

import pytest
import reference
from compare import FULL, check, in_processes

CONTEXTS = [
    "{}", "a{}a", "A{}A", "A{}a", "a{}A", " {}", "{} ", "  {}", "{}  x", "\n{}", "{}\n", "\r\n{}", "1{}1", "'{}", "{}'s",
    "x'{}", ".{}", "{}{}", "{}/", "a  {}", ".{}\r\n/", "'s{}", "12{}", " A{}'S", "\u00A0{}\u0301",
]
CODE_POINTS = [*range(0xD800), *range(0xE000, 0x110000)]
STEP = 1 << 14


def alone(name, first):
    """Each context a text of its own."""
    texts = tokens = 0
    for context in CONTEXTS:
        before, _, after = context.partition("{}")
        many = [before + chr(c) + after.replace("{}", chr(c)) for c in CODE_POINTS[first:first + STEP]]
        counts = check(name, many)
        texts, tokens = texts + counts[0], tokens + counts[1]
    return texts, tokens


def together(name, first):
    """Five contexts in one text, so that what follows a piece is another."""
    return check(name, ["{}a{}A {}1{}\n  {}'s".replace("{}", chr(c)) for c in CODE_POINTS[first:first + STEP]])


def test_there_are_1112064_code_points():
    assert len(CODE_POINTS) == 1_112_064


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_PATTERN)
def test_contexts_in_one_text(name, compared):
    compared(f"{name}: every code point, 5 contexts in one text",
             in_processes(together, [(name, first) for first in range(0, len(CODE_POINTS), STEP)]))


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_PATTERN)
def test_every_context_alone(name, compared):
    points = range(0, len(CODE_POINTS), STEP) if FULL else [0]
    compared(f"{name}: {'every code point' if FULL else f'the first {STEP} code points'} in {len(CONTEXTS)} contexts",
             in_processes(alone, [(name, first) for first in points]))
