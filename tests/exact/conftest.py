"""The comparison with the reference: a visible skip of it all where the package can't be had.

TIK_BUILD says which build, TIK_EXACT=full runs the whole comparison, TIK_EXACT_PROCESSES on how many
processes. TIK_SPLIT and TIK_ISA choose libtik's engine.
"""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "reference"))

COMPARED = []


def pytest_ignore_collect(collection_path):
    try:
        import numpy  # noqa: F401
        import tiktoken  # noqa: F401
    except ImportError:
        return collection_path.name != "test_available.py" and collection_path.suffix == ".py"
    return None


@pytest.fixture
def compared():
    """Called with what was compared, (texts, tokens): shown when all is done."""

    def note(what, counts):
        COMPARED.append((what, *counts))

    return note


def pytest_terminal_summary(terminalreporter):
    if COMPARED:
        terminalreporter.section("compared with the reference, no difference")
        for what, texts, tokens in COMPARED:
            terminalreporter.write_line(f"{texts:>13,} texts {tokens:>14,} tokens  {what}")
        terminalreporter.write_line(f"{sum(row[1] for row in COMPARED):>13,} texts "
                                    f"{sum(row[2] for row in COMPARED):>14,} tokens  in all")
