"""Compares libtik with the reference on many texts at once, and says of a difference all that is needed.

Texts go to libtik in batches and come back as arrays. The reference gets many in one call, between special
tokens: it encodes what lies between two of them as a text of its own, so that the ids are those of single
calls (test_strings.py holds one to the other). A difference is shrunk to a smallest text that still differs,
and reported as a line for tests/vectors/extra.jsonl.
"""

import ctypes
import functools
import itertools
import json
import multiprocessing
import os
import pathlib
import sys
from ctypes import byref, c_size_t

import numpy

import reference

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reference"))

import tiklib  # noqa: E402

# The whole comparison takes minutes; tests run a part of it unless TIK_EXACT says full.
FULL = os.environ.get("TIK_EXACT") == "full"
PROCESSES = int(os.environ.get("TIK_EXACT_PROCESSES", os.cpu_count() or 1))

# No end of the separator is a beginning of it, so that none arises where it meets a text; how many there are
# is checked. Its id is none of any encoding. Written so that this file, taken for a text, has none in it.
SEPARATOR, SEPARATOR_ID = "<|sep" "arator|>", 1 << 24

_TEXT = numpy.dtype([("data", numpy.uintp), ("length", numpy.uintp)])


def mine(name):
    """libtik's encoding of that name."""
    return tiklib.get_encoding(name)


def library_batch(encoding, blob, lengths, gap=0):
    """(ids of all texts, number of ids of each), for texts in `blob` with `gap` bytes between each two."""
    texts = numpy.empty(len(lengths), dtype=_TEXT)
    texts["length"] = lengths
    texts["data"] = ctypes.cast(blob, ctypes.c_void_p).value + numpy.cumsum(lengths + gap, dtype=numpy.uintp)
    texts["data"] -= texts["length"] + gap
    options = tiklib.Options(ctypes.sizeof(tiklib.Options), tiklib.SET_NONE, tiklib.SET_NONE)
    with tiklib.ids_array() as ids, tiklib.sizes_array() as starts:
        tiklib.call("tik_encode_batch", encoding.handle, texts.ctypes.data, len(lengths), byref(options), byref(ids),
                    byref(starts))
        places = numpy.ctypeslib.as_array(starts.data, (starts.length,)).astype(numpy.int64)
        flat = (numpy.ctypeslib.as_array(ids.data, (ids.length,)).copy() if ids.length
                else numpy.empty(0, dtype=numpy.uint32))
    return flat, numpy.diff(places)


@functools.cache
def separated(name):
    """The reference's encoding of that name with the separator as its only special token."""
    import tiktoken

    encoding = reference.encoding(name)
    return tiktoken.Encoding(f"{name} and a separator", pat_str=encoding._pat_str,
                             mergeable_ranks=encoding._mergeable_ranks, special_tokens={SEPARATOR: SEPARATOR_ID})


def reference_batch(name, joined, texts):
    """The same from the reference, for so many texts joined by the separator."""
    ids = separated(name).encode_to_numpy(joined, allowed_special="all")
    ends = numpy.append(numpy.flatnonzero(ids == SEPARATOR_ID), len(ids))
    assert len(ends) == texts, "a text has the separator in it"
    return ids[ids != SEPARATOR_ID], numpy.diff(ends, prepend=-1) - 1


def raw_bytes_batch(encoding, texts):
    """The same from libtik's entry for raw bytes, called text by text."""
    function, handle = tiklib.library().tik_encode_bytes, encoding.handle
    places = numpy.empty(len(texts), dtype=numpy.int64)
    with tiklib.ids_array() as ids:
        pointer = byref(ids)
        for index, text in enumerate(texts):
            if function(handle, text, len(text), pointer, None) != tiklib.OK:
                raise AssertionError(f"{encoding.name}: {text!r} was refused as raw bytes")
            places[index] = ids.length
        flat = numpy.ctypeslib.as_array(ids.data, (ids.length,)).copy() if ids.length else numpy.empty(0, numpy.uint32)
    return flat, numpy.diff(places, prepend=0)


def first_difference(one, other):
    """The index of the first text whose ids differ, or None."""
    (ids, counts), (other_ids, other_counts) = one, other
    if numpy.array_equal(counts, other_counts):
        if numpy.array_equal(ids, other_ids):
            return None
        place = int(numpy.flatnonzero(ids != other_ids)[0])
        return int(numpy.searchsorted(numpy.cumsum(counts), place, side="right"))
    wrong = int(numpy.flatnonzero(counts != other_counts)[0])
    before = int(counts[:wrong].sum())
    if numpy.array_equal(ids[:before], other_ids[:before]):
        return wrong
    place = int(numpy.flatnonzero(ids[:before] != other_ids[:before])[0])
    return int(numpy.searchsorted(numpy.cumsum(counts[:wrong]), place, side="right"))


def differs(name, text):
    """Whether a text has other ids here than in the reference; a refusal here is a difference too."""
    try:
        return mine(name).encode_ordinary(text) != reference.encoding(name).encode_ordinary(text)
    except Exception:  # noqa: BLE001: whatever it is, it is what shrinking must keep
        return True


def shrink(name, text, still=None):
    """A smallest text got by leaving out stretches that still differs."""
    still = still or differs
    size = max(1, len(text) // 2)
    while size:
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size:]
            if shorter != text and still(name, shorter):
                text = shorter
            else:
                start += size
        size //= 2
    return text


def report(name, text):
    """What is wrong with a text, ending in a line for tests/vectors/extra.jsonl."""
    small = shrink(name, text) if differs(name, text) else text
    try:
        here = mine(name).encode_ordinary(small)
    except Exception as error:  # noqa: BLE001
        here = f"{type(error).__name__}: {error}"
    return (f"{name} by {mine(name).engine}: {small!r}\n  here      {here}\n"
            f"  reference {reference.encoding(name).encode_ordinary(small)}\n"
            + json.dumps({"text": small, "why": "say what kind of text went wrong"}))


def check_joined(name, joined):
    """Compares the texts of a str between separators; returns (texts, tokens) or raises AssertionError with the report."""
    blob = joined.encode("utf-8")
    gap = len(SEPARATOR)
    lengths = numpy.fromiter(map(len, blob.split(SEPARATOR.encode())), dtype=numpy.uintp)
    here = library_batch(mine(name), blob, lengths, gap)
    wrong = first_difference(here, reference_batch(name, joined, len(lengths)))
    if wrong is not None:
        raise AssertionError(report(name, joined.split(SEPARATOR)[wrong]))
    return len(lengths), len(here[0])


def check(name, texts):
    """The same for a list of texts."""
    if not texts:
        return 0, 0
    counts = check_joined(name, SEPARATOR.join(texts))
    assert counts[0] == len(texts), "a text has the separator in it"
    return counts


def check_raw(name, texts):
    """Compares texts of raw bytes, through the entry for them."""
    lists = list(map(reference.encoding(name)._core_bpe._encode_bytes, texts))
    counts = numpy.fromiter(map(len, lists), dtype=numpy.int64, count=len(lists))
    there = numpy.fromiter(itertools.chain.from_iterable(lists), dtype=numpy.uint32, count=int(counts.sum()))
    here = raw_bytes_batch(mine(name), texts)
    wrong = first_difference(here, (there, counts))
    if wrong is not None:
        raise AssertionError(f"{name}, raw bytes {texts[wrong]!r}: here {mine(name)._encode_bytes(texts[wrong])}, "
                             f"reference {lists[wrong]}")
    return len(texts), len(here[0])


def _job(job):
    function, arguments = job
    try:
        return function(*arguments)
    except AssertionError as error:
        return str(error)


def in_processes(function, all_arguments, ready=reference.ONE_FOR_EACH_VOCABULARY):
    """Runs function(*arguments) → (texts, tokens) for all arguments in several processes; the sums.

    The encodings named by `ready` are opened before, so that the processes share them.
    """
    for name in ready:
        separated(name), mine(name)
    texts = tokens = 0
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        for result in pool.imap_unordered(_job, ((function, arguments) for arguments in all_arguments), chunksize=1):
            if isinstance(result, str):
                pool.terminate()
                raise AssertionError(result)
            texts += result[0]
            tokens += result[1]
    return texts, tokens
