"""Other trainers learn the same merges, up to ties: each pair that they merge is one of the most frequent then.

Skipped where their packages (tokenizers, rustbpe) are not installed. TIK_EXACT=full takes a longer text.
What was found: tokenizers 0.23.3 and rustbpe 0.1.0 part from tik at ties alone. tokenizers numbers the 256
bytes in an order of its own (by the characters that it writes for them), and among equals takes the pair
with the lowest numbers; rustbpe takes the pair with the lowest numbers, as tik does by default, so that
its merges are tik's one by one.
"""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TIK_BUILD", SOURCE / "build")).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "py"))

import docstrings  # noqa: E402

FULL = os.environ.get("TIK_EXACT") == "full"
PATTERN = r" ?[A-Za-z]+| ?[^\sA-Za-z]+|\s+"
MERGES = 768 if FULL else 300


@pytest.fixture(scope="module")
def text():
    return docstrings.corpus(366_000 if FULL else 30_000)


class Words:
    """The pieces of a text as their bytes, merged by pairs of bytes."""

    def __init__(self, text):
        pieces = collections.Counter(re.findall(PATTERN, text))
        self.words = [[[bytes([byte]) for byte in piece.encode()], count] for piece, count in pieces.items()]

    def counts(self):
        counts = collections.Counter()
        for word, count in self.words:
            for pair in zip(word, word[1:]):
                counts[pair] += count
        return counts

    def merge(self, left, right):
        for word, _ in self.words:
            at = 0
            while at < len(word) - 1:
                if word[at] == left and word[at + 1] == right:
                    word[at : at + 2] = [left + right]
                at += 1


def by_tokenizers(text):
    tokenizers = pytest.importorskip("tokenizers")
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    # The characters that stand for the bytes: printable ones for themselves, the others from U+0100 on.
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    of_byte = {byte: chr(byte) for byte in plain}
    of_byte |= {byte: chr(256 + i) for i, byte in enumerate(b for b in range(256) if b not in plain)}
    to_byte = {char: byte for byte, char in of_byte.items()}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(PATTERN), "isolated"),
            tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=256 + MERGES, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([text], trainer)
    for pair in json.loads(tokenizer.to_str())["model"]["merges"]:
        left, right = pair if isinstance(pair, list) else pair.split(" ")
        yield bytes(map(to_byte.get, left)), bytes(map(to_byte.get, right))


def by_rustbpe(text):
    rustbpe = pytest.importorskip("rustbpe")
    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator([text], 256 + MERGES, pattern=PATTERN)
    learned = sorted((rank, bytes(token)) for token, rank in tokenizer.get_mergeable_ranks())
    words = Words(text)
    for _, token in learned[256:]:
        # It tells tokens, not pairs: two symbols side by side spell a token in one way only.
        pairs = [pair for pair in words.counts() if pair[0] + pair[1] == token]
        assert len(pairs) == 1
        words.merge(*pairs[0])
        yield pairs[0]


def by_tik(text, ties="lowest"):
    size = str(256 + MERGES)
    command = [BUILD / "tik", "train", "-n", size, "--pattern", PATTERN, "--ties", ties, "--trace", "--json"]
    output = subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout
    tokens = [bytes([byte]) for byte in range(256)]
    for line in output.splitlines():
        merge = json.loads(line)
        tokens.append(tokens[merge["left"]] + tokens[merge["right"]])
        yield tokens[merge["left"]], tokens[merge["right"]]


@pytest.mark.parametrize("train", [by_tik, by_tokenizers, by_rustbpe])
def test_each_merge_is_one_of_the_most_frequent(text, train):
    words = Words(text)
    made = 0
    for pair in train(text):
        counts = words.counts()
        assert counts[pair] == max(counts.values()), f"merge {made}: {pair}"
        words.merge(*pair)
        made += 1
    assert made == MERGES


def test_rustbpe_breaks_ties_as_tik(text):
    assert list(by_rustbpe(text)) == list(by_tik(text))
