"""Sets of code points by name: the library's tables and the reference's regex engine, member by member.

With every byte a token, the ids that the reference gives for a text are the bytes of what its pattern
matched (it drops the rest without a word): so a pattern of one class shows which code points are in it.
"""
import itertools
import os
import pathlib
import re
import subprocess

import pytest

tiktoken = pytest.importorskip("tiktoken", reason="the reference package tiktoken is not installed")

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TIK_BUILD", SOURCE / "build"))
BYTES = {bytes([value]): value for value in range(256)}
ALL = [*range(0xD800), *range(0xE000, 0x110000)]


def ask(questions):
    """One answer of tests/c/unicode_sets for each question: a list of (first, last), or None if refused."""
    program = BUILD / "tests/c/unicode_sets"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    run = subprocess.run([program], input="".join(f"{question}\n" for question in questions), text=True,
                         capture_output=True, check=True)
    lines = run.stdout.split("\n")[:-1]
    assert len(lines) == len(questions)
    return [None if line == "refused" else
            [tuple(int(end, 16) for end in item.split("-")) for item in line.split()] for line in lines]


def members(ranges):
    return [point for first, last in ranges for point in range(first, last + 1)]


def matched(pattern, text):
    """The code points of `text` that the reference's engine finds in the class."""
    encoding = tiktoken.Encoding("classes", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
    return [ord(character) for character in bytes(encoding.encode_ordinary(text)).decode()]


@pytest.fixture(scope="module")
def names():
    """Every name that the tables know, normalized, by the set it stands for."""
    by_set = {}
    table = (SOURCE / "src/unicode/table_property.c").read_text(encoding="utf-8")
    for name, number in re.findall(r'\{"([^"]+)", (\d+)\}', table):
        if not name.startswith("perl="):
            by_set.setdefault(int(number), []).append(name)
    assert sum(map(len, by_set.values())) > 1400
    return by_set


@pytest.mark.parametrize("letter", "dsw")
def test_perl_class(letter):
    (ranges,) = ask([f"perl {letter}"])
    assert members(ranges) == matched("\\" + letter, "".join(map(chr, ALL)))


def test_every_set_in_full(names):
    """Each distinct set under one of its names, over all of Unicode."""
    text = "".join(map(chr, ALL))
    firsts = [found[0] for found in names.values()]
    for name, ranges in zip(firsts, ask([f"property {name}" for name in firsts])):
        assert members(ranges) == matched(rf"\p{{{name}}}", text), name


def test_every_name(names):
    """All other names, over a text that tells any two sets apart: the ends of each range, and what is around."""
    every = list(itertools.chain.from_iterable(names.values()))
    answers = ask([f"property {name}" for name in every])
    ends = {point for ranges in answers for first, last in ranges for point in (first - 1, first, last, last + 1)}
    text = [point for point in sorted(ends) if 0 <= point < 0x110000 and not 0xD800 <= point < 0xE000]
    sets = {number: set(members(answers[every.index(found[0])])) for number, found in names.items()}
    for number, found in names.items():
        expected = [point for point in text if point in sets[number]]
        for name in found[1:]:
            assert matched(rf"\p{{{name}}}", "".join(map(chr, text))) == expected, name


@pytest.mark.parametrize("name", ["Script_Extensions=Greek", "SCX:grek", "Is Greek", "isgreek", "gc!=L", "scx!=Han",
                                  "General Category = Lu", "lC", "CF", "Sc", "AGE=V3_0", "age=3.0", "Gre\u00e9ek",
                                  "White-Space"])
def test_spelling(name):
    (ranges,) = ask([f"property {name}"])
    assert members(ranges) == matched(rf"\p{{{name}}}", "".join(map(chr, ALL)))


# Not Cs and ^L, which the reference rewrites before it looks for a set; tests of patterns have them.
@pytest.mark.parametrize("name", ["Klingon", "L&", "Surrogate", "gc=Cs", "isc", "InCB", "InCB=Linker", "blk=ASCII",
                                  "Block=Basic_Latin", "Alphabetic=Yes", "gc=", "=L", "gc=L=", "scx=Zzzz", "Zzzz",
                                  "gcb=Other", "lb=AL", "Name", "perl=w", "x" * 100])
def test_refused(name):
    assert ask([f"property {name}"]) == [None]
    with pytest.raises(ValueError):
        matched(rf"\p{{{name}}}", "a")


@pytest.mark.parametrize("name", ["L", "Lu", "Ll", "Lt", "Greek", "N", "M", "ASCII", "Emoji"])
def test_folded_set(name):
    (ranges,) = ask([f"fold {name}"])
    assert members(ranges) == matched(rf"(?i:\p{{{name}}})", "".join(map(chr, ALL)))


def test_every_folded_character():
    """For each code point that has equals, which of all those it is equal to."""
    answers = ask([f"equal {point:X}" for point in ALL])
    equal = {point: members(ranges) for point, ranges in zip(ALL, answers) if ranges}
    assert len(equal) == 2938
    text = "".join(map(chr, equal))
    for point, others in equal.items():
        assert matched(f"(?i:{chr(point)})", text) == sorted([point, *others]), f"U+{point:04X}"


def test_no_other_character_folds():
    """A class of all code points without equals is the same with (?i)."""
    answers = ask([f"equal {point:X}" for point in ALL])
    alone = [point for point, ranges in zip(ALL, answers) if not ranges]
    pattern, start = "", 0
    for i, point in enumerate(alone):
        if i + 1 == len(alone) or alone[i + 1] != point + 1:
            pattern += rf"\x{{{alone[start]:X}}}-\x{{{point:X}}}"
            start = i + 1
    assert matched(f"(?i:[{pattern}])", "".join(map(chr, ALL))) == alone
