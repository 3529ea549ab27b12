"""tik train and tik explain: the merges of a straightforward program, published examples, every option."""

import base64
import collections
import json
import os
import re
import signal
import subprocess
import time

import pytest

import docstrings

PATTERN = r" ?\w+| ?[^\s\w]+|\s+"


def straightforward(text, pattern, merges, ties="lowest"):
    """Byte-level BPE training as it is told: [(count, left bytes, right bytes)]."""
    pieces = collections.Counter(re.findall(pattern, text))
    words = [[list(piece.encode()), count] for piece, count in pieces.items()]
    tokens = [bytes([byte]) for byte in range(256)]
    learned = []
    while len(learned) < merges:
        counts = collections.Counter()
        for word, count in words:
            for pair in zip(word, word[1:]):
                counts[pair] += count
        if not counts:
            break
        most = max(counts.values())
        # A Counter keeps the order of insertion: the first of the best is the one met first.
        best = [pair for pair, count in counts.items() if count == most]
        left, right = min(best) if ties == "lowest" else best[0]
        learned.append((most, tokens[left], tokens[right]))
        tokens.append(tokens[left] + tokens[right])
        for word, _ in words:
            at = 0
            while at < len(word) - 1:
                if word[at] == left and word[at + 1] == right:
                    word[at : at + 2] = [len(tokens) - 1]
                at += 1
    return learned


def read_ranks(path):
    ranks = {}
    for line in path.read_text().splitlines():
        token, rank = line.split()
        ranks[int(rank)] = base64.b64decode(token)
    return ranks


def traced(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def good(result):
    assert result.returncode == 0, result.stderr.decode()
    return result


@pytest.fixture
def tik(tik):
    """The command, with numbers among its arguments."""
    return lambda *args, **how: tik(*(str(a) if isinstance(a, int) else a for a in args), **how)


@pytest.fixture
def mine(tmp_path):
    return tmp_path / "mine.tiktoken"


# ---- The merges ---------------------------------------------------------------------------------------

WORDS = ["low"] * 20 + ["lowest", "newer", "newest", "widest"]
ITALIAN = ["basso"] * 3 + ["bassa"] * 2 + ["sasso"] * 4 + ["sassi"] + ["casa"] * 5

EXAMPLES = [
    (WORDS, "first", 12, "lo low es est ne new lowest newe newer newest wi wid"),
    (ITALIAN, "lowest", 3, "as ass asso"),
    (ITALIAN, "first", 3, "as ass asso"),
]


@pytest.mark.parametrize("words, ties, merges, tokens", EXAMPLES)
def test_published_examples(tik, mine, words, ties, merges, tokens):
    text = " ".join(words).encode()
    good(tik("train", "-n", 256 + merges, "--ties", ties, "--pattern", r"\w+", "-o", mine, input=text))
    ranks = read_ranks(mine)
    assert [ranks[rank] for rank in range(256)] == [bytes([byte]) for byte in range(256)]
    assert [ranks[256 + i].decode() for i in range(merges)] == tokens.split()


# The whole corpus is for TIK_EXACT=full: the straightforward program takes its time.
FULL = os.environ.get("TIK_EXACT") == "full"


@pytest.mark.parametrize("ties", ["lowest", "first"])
def test_docstrings_as_the_straightforward_program(tik, ties):
    text = docstrings.corpus(366_000 if FULL else 12_000)
    merges = 768 if FULL else 300
    result = good(tik("train", "-n", 256 + merges, "--ties", ties, "--pattern", PATTERN, "--trace", "--json",
                      input=text.encode()))
    expected = straightforward(text, PATTERN, merges, ties)
    tokens = [bytes([byte]) for byte in range(256)]
    found = []
    for merge in traced(result):
        found.append((merge["count"], tokens[merge["left"]], tokens[merge["right"]]))
        assert merge["id"] == len(tokens)
        tokens.append(found[-1][1] + found[-1][2])
    assert found == expected


@pytest.mark.parametrize("pattern", ["o200k_base", "gpt2", PATTERN, r"[\s\S]+"])
def test_round_trip_and_number_of_threads(tik, tmp_path, pattern):
    text = docstrings.corpus(60_000).encode()
    other = "Anything else: 日本語, 🚀, \x00\x7f, ça va.\n".encode()
    files = []
    for threads in (1, 2, 3):
        mine = tmp_path / f"mine{threads}.tiktoken"
        good(tik("train", "-n", 600, "-j", threads, "--pattern", pattern, "-o", mine, input=text))
        files.append(mine.read_bytes())
    assert files[0] == files[1] == files[2]
    manifest = tmp_path / "mine1.json"
    for original in (text, other):
        ids = good(tik("encode", "--manifest", manifest, input=original)).stdout
        assert good(tik("decode", "--manifest", manifest, input=ids)).stdout == original


def test_files_are_texts_of_their_own(tik, tmp_path):
    (tmp_path / "a").write_bytes(b"xyxyxyx")
    (tmp_path / "b").write_bytes(b"yxyx")
    apart = good(tik("train", "-n", 259, "--pattern", r"\w+", "--trace", tmp_path / "a", tmp_path / "b")).stdout
    joined = good(tik("train", "-n", 259, "--pattern", r"\w+", "--trace", input=b"xyxyxyxyxyx")).stdout
    lines = good(tik("train", "-n", 259, "--pattern", r"\w+", "--trace", input=b"xyxyxyx\nyxyx")).stdout
    assert apart == lines != joined


# ---- What comes out -----------------------------------------------------------------------------------


def test_standard_output_and_manifest(tik, mine):
    text = docstrings.corpus(20_000).encode()
    good(tik("train", "-n", 400, "-o", mine, "--special", "<|end|>", "--special", "<|pad|>", input=text))
    assert good(tik("train", "-n", 400, "-o", "-", "-", input=text)).stdout == mine.read_bytes()
    manifest = json.loads(mine.with_suffix(".json").read_text())
    assert manifest["name"] == "mine"
    assert manifest["rank_file"] == "mine.tiktoken"
    assert manifest["special_tokens"] == {"<|end|>": 400, "<|pad|>": 401}
    result = tik("encode", "--manifest", mine.with_suffix(".json"), "--special", "all", input=b"a<|pad|>")
    assert good(result).stdout == b"97 401\n"


def test_trace_is_readable(tik):
    result = good(tik("train", "-n", 258, "--pattern", r"\s*\w+", "--trace", input=b" as as\n\tas"))
    assert result.stdout.decode().split("\n")[0].split() == ["256", "3", "×", '"a"', "+", '"s"', "→", '"as"']


def test_report(tik, mine):
    text = docstrings.corpus(30_000).encode()
    result = good(tik("train", "--report", "512,256,1024", "--json", "-o", mine, input=text))
    lines = traced(result)
    assert [line["size"] for line in lines] == [256, 512, 1024]
    assert lines[0]["tokens"] == len(text)
    assert lines[0]["bytes_per_token"] == 1
    assert lines[0]["bytes_per_token"] < lines[1]["bytes_per_token"] < lines[2]["bytes_per_token"]
    count = good(tik("count", "--manifest", mine.with_suffix(".json"), input=text)).stdout
    assert int(count) == lines[2]["tokens"]
    table = good(tik("train", "--report", "256,512", input=text)).stdout.decode().splitlines()
    assert table[0].split() == ["size", "tokens", "bytes", "per", "token"]
    assert table[1].split() == ["256", str(len(text)), "1.000"]


def test_longest(tik):
    result = good(tik("train", "-n", 500, "--longest", 5, "--json", input=docstrings.corpus(20_000).encode()))
    lengths = [line["length"] for line in traced(result)]
    assert len(lengths) == 5
    assert lengths == sorted(lengths, reverse=True)


def test_bounds(tik):
    text = docstrings.corpus(20_000).encode()
    result = good(tik("train", "-n", 5000, "--min-count", 30, "--max-token-length", 3, "--trace", "--json", input=text))
    merges = traced(result)
    assert 20 < len(merges) < 4000
    assert all(merge["count"] >= 30 for merge in merges)
    assert all(len(merge["token"].encode()) <= 3 for merge in merges if "\ufffd" not in merge["token"])
    assert b"no pair is left" in result.stderr


def test_extending_a_public_encoding(tik, mine):
    text = ("libtik " * 50 + "tiktoken " * 40).encode()
    good(tik("train", "-n", 50256 + 3, "--extend", "r50k_base", "--pattern", "r50k_base", "-o", mine, input=text))
    manifest = mine.with_suffix(".json")
    new = read_ranks(mine)
    assert min(rank for rank in new if rank > 50255) == 50257
    before = int(good(tik("count", "-e", "r50k_base", input=text)).stdout)
    after = int(good(tik("count", "--manifest", manifest, input=text)).stdout)
    assert after < before
    longer = mine.with_name("longer.tiktoken")
    good(tik("train", "-n", 50256 + 5, "--extend", manifest, "--pattern", "r50k_base", "-o", longer, input=text))
    assert len(read_ranks(longer)) == 50256 + 5


# ---- Pieces that are too many, bytes that are not text ------------------------------------------------


def test_max_pieces(tik, mine):
    text = b" ".join(b"w%d" % i for i in range(5000)) + b" common" * 50
    refused = tik("train", "-n", 300, "--max-pieces", 1000, "-o", mine, input=text)
    assert refused.returncode == 2
    assert b"different pieces" in refused.stderr
    assert not mine.exists()
    pruned = good(tik("train", "-n", 300, "--max-pieces", 1000, "--prune", "-o", mine, input=text))
    assert b"dropped for --max-pieces" in pruned.stderr
    assert b" common" in read_ranks(mine).values()


def test_invalid_text(tik, mine, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"good \xff text")
    refused = tik("train", "-n", 300, "-o", mine, bad)
    assert refused.returncode == 2
    assert b"bad.txt" in refused.stderr and b"byte 5" in refused.stderr
    assert not mine.exists()
    good(tik("train", "-n", 258, "--invalid", "replace", "-o", mine, bad))


WRONG_CALLS = [
    ([], b"SIZE"),
    (["-n", "300"], b"-o FILE"),
    (["-n", "255", "-o", "x"], b"255"),
    (["-n", "300", "-o", "-", "--trace"], b"standard output"),
    (["-n", "300", "-o", "-", "--save-every", "10"], b"-o FILE"),
    (["-n", "300", "--trace", "--prune"], b"--max-pieces"),
    (["-n", "300", "--trace", "--pattern", "("], b"pattern"),
    (["-n", "300", "--trace", "--pattern", "o200k_bas"], b"o200k_base"),
    (["-n", "300", "--trace", "--ties", "last"], b"lowest"),
    (["-n", "300", "--trace", "--extend", "nothing"], b"nothing"),
    (["-n", "300", "--trace", "/nonexistent"], b"/nonexistent"),
    (["--report", "256,x"], b"x"),
]


@pytest.mark.parametrize("arguments, said", WRONG_CALLS)
def test_wrong_calls(tik, tmp_path, arguments, said):
    result = tik("train", *arguments, input=b"text", cwd=tmp_path)
    assert result.returncode == 2
    assert said in result.stderr
    assert result.stdout == b""
    assert list(tmp_path.iterdir()) == []


# ---- Interrupted, and going on ------------------------------------------------------------------------


def test_interrupted_leaves_nothing(build, tmp_path):
    # It waits for more text when the signal comes.
    process = subprocess.Popen([build / "tik", "train", "-n", "300", "-o", tmp_path / "mine.tiktoken"],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"some text " * 1000)
    process.stdin.flush()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    # On a busy machine the signal may come before anything is ready to take it.
    assert process.wait(60) in (2, -signal.SIGINT)
    process.stdin.close()
    assert process.returncode != 2 or b"stopped" in process.stderr.read()
    process.stderr.close()
    assert list(tmp_path.iterdir()) == []


def test_going_on_from_a_state(tik, tmp_path):
    text = docstrings.corpus(40_000).encode()
    through = tmp_path / "through.tiktoken"
    good(tik("train", "-n", 700, "-o", through, input=text))
    mine = tmp_path / "mine.tiktoken"
    state = tmp_path / "mine.tiktoken.state"
    # Writing the manifest fails: the state of the last hundred remains.
    (tmp_path / "mine.json").mkdir()
    failed = tik("train", "-n", 700, "--save-every", 100, "-o", mine, input=text)
    assert failed.returncode == 2
    assert state.exists()
    (tmp_path / "mine.json").rmdir()
    other = tik("train", "-n", 700, "--continue", "--ties", "first", "-o", mine)
    assert other.returncode == 2 and b"same options" in other.stderr
    good(tik("train", "-n", 700, "--continue", "-o", mine))
    assert mine.read_bytes() == through.read_bytes()
    assert not state.exists()


# ---- tik explain --------------------------------------------------------------------------------------


def test_explain(tik):
    result = good(tik("explain", "-e", "cl100k_base", "--json", "tokenization is"))
    pieces = traced(result)
    assert [piece["piece"] for piece in pieces] == ["tokenization", " is"]
    for piece in pieces:
        ids = [int(i) for i in good(tik("encode", "-e", "cl100k_base", input=piece["piece"].encode())).stdout.split()]
        assert piece["ids"] == ids
        assert len(piece["piece"]) - len(piece["steps"]) == len(ids)
    shown = good(tik("explain", "-e", "cl100k_base", " is")).stdout.decode().splitlines()
    assert [line.strip() for line in shown] == ['" " "i" "s"', '285 " " "is"', '374 " is"', "ids 374"]


def test_explain_reads_standard_input(tik):
    assert good(tik("explain", input=b"hello")).stdout == good(tik("explain", "hello")).stdout
    assert tik("explain", input=b"\xff").returncode == 2
