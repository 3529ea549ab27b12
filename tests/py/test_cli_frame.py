"""What holds for every subcommand: help, options, messages, exit statuses, files, output that fails."""

import base64
import json
import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def described(tik):
    return json.loads(tik("--describe").stdout)


def test_help_lists_every_command(tik, described):
    text = tik("--help").stdout.decode()
    for command in described["commands"]:
        assert f"\n  {command['name']} " in text


def test_each_command_has_help_of_80_columns(tik, described):
    for command in described["commands"]:
        result = tik(command["name"], "--help")
        assert result.returncode == 0 and result.stderr == b""
        text = result.stdout.decode()
        assert text == tik("help", command["name"]).stdout.decode()
        for option in command["options"]:
            assert f"--{option['name']}" in text
        for line in text.splitlines():
            assert len(line) <= 79, line


ENVIRONMENT = [
    ("TIK_ISA", "sse9", "TIK_ISA=sse9, which is none of portable, avx2, avx512, neon"),
    ("TIK_ISA", "AVX2", "TIK_ISA=AVX2, which is none of"),
    ("TIK_SPLIT", "pcre", "TIK_SPLIT=pcre, which is none of pcre2, backtrack"),
    *(("TIK_ISA", word, None) for word in ("", "portable", "avx2", "avx512", "neon")),
    *(("TIK_SPLIT", word, None) for word in ("", "pcre2", "backtrack")),
]


@pytest.mark.parametrize("variable, word, said", ENVIRONMENT)
def test_words_in_the_environment(tik, variable, word, said):
    result = tik("count", input=b"hello world", env={variable: word})
    if said:
        assert (result.returncode, result.stdout) == (2, b"") and said in result.stderr.decode()
    else:
        assert (result.returncode, result.stdout, result.stderr) == (0, b"2\n", b"")


def test_the_largest_numbers(tik):
    for command in (("truncate", "-n"), ("truncate", "--from", "end", "-n"), ("chunk", "-0", "-n")):
        assert tik(*command, "18446744073709551615", input=b"hello world").stdout == b"hello world"


PATTERNS = [(r"\w+|\X+", "byte 4"), (r"a|(\w+", "byte 2"), (r"\w*", "empty string")]


@pytest.mark.parametrize("pattern, place", PATTERNS)
def test_a_refused_pattern_names_its_manifest(tik, tmp_path, pattern, place):
    ranks = "".join(f"{base64.b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256))
    (tmp_path / "mine.tiktoken").write_text(ranks)
    (tmp_path / "mine.json").write_text(json.dumps({"name": "mine", "rank_file": "mine.tiktoken", "pattern": pattern}))
    result = tik("count", "--manifest", tmp_path / "mine.json", input=b"a")
    message = result.stderr.decode()
    assert result.returncode == 2 and f"{tmp_path / 'mine.json'}: split pattern, byte" in message and place in message


def test_no_command_uses_a_letter_or_name_twice(described):
    for command in described["commands"]:
        names = [option["name"] for option in command["options"]]
        letters = [option["letter"] for option in command["options"] if option["letter"]]
        assert len(names) == len(set(names)) and len(letters) == len(set(letters)), command["name"]


def test_version(tik):
    result = tik("--version")
    assert result.returncode == 0
    assert b"PCRE2" in result.stdout and b"Unicode 16.0" in result.stdout
    assert all(len(line) <= 79 for line in result.stdout.decode().splitlines())


WRONG_CALLS = [
    ((), "no command"),
    (("cuont",), "did you mean count?"),
    (("count", "--nonsense"), "--nonsense"),
    (("count", "-Z"), "no option -Z"),
    (("count", "-e"), "--encoding needs an argument"),
    (("count", "--json=yes"), "--json takes no argument"),
    (("count", "-e", "o200k"), "o200k_base"),
    (("count", "-m", "gpt-99"), "gpt-99"),
    (("count", "-e", "gpt2", "-m", "gpt-4"), "one of --encoding, --model and --manifest"),
    (("count", "--limit", "12a"), "'12a'"),
    (("count", "--limit", "99999999999999999999999"), "whole number"),
    (("count", "-j", "0"), "'0'"),
    (("count", "--reserve", "-1"), "count: --reserve: '-1'"),
    (("count", "-e", "latin"), "'latin'; there are gpt2, r50k_base"),
    (("count", "--special", "<|endoftext|>,<|none|>"), "o200k_base has no special token '<|none|>'"),
    (("cost", "--price", "1", "--special", "", "x"), "o200k_base has no special token ''"),
    (("count", "--sort", "size"), "--sort: 'size' is none of given, tokens, name"),
    (("count", "--parts"), "--limit"),
    (("count", "--limit", "10", "--reserve", "10"), "leaves nothing"),
    (("count", "--files0-from", "-", "x"), "exclude each other"),
    (("encode", "--format", "xml"), "plain, json, u32le"),
    (("encode", "--invalid", "skip"), "reject, replace"),
    (("decode", "--format", "xml"), "plain, json, u32le"),
    (("truncate",), "-n N"),
    (("truncate", "-n", "3", "a", "b"), "one file"),
    (("chunk",), "-n N"),
    (("chunk", "-n", "0"), "chunk: --tokens: '0' is not a whole number from 1 to 18446744073709551615"),
    (("chunk", "-n", "-4"), "chunk: --tokens: '-4' is not a whole number from 1 to"),
    (("chunk", "-n", "18446744073709551616"), "'18446744073709551616' is not a whole number from 1 to 1844"),
    (("truncate", "-n", "+5"), "'+5' is not a whole number from 0 to"),
    (("show", "."), "tik: .: is a folder, not a file"),
    (("chunk", "-n", "1", "."), "tik: .: is a folder; -r takes the files in it"),
    (("chunk", "-n", "5", "--overlap", "5"), "nothing new"),
    (("chunk", "-n", "5", "-0", "--json"), "-0"),
    (("check",), "--ids FILE"),
    (("diff", "a"), "two texts"),
    (("show", "a", "b"), "one file"),
    (("stats", "--csv", "--json"), "one of"),
]


@pytest.mark.parametrize("arguments, words", WRONG_CALLS, ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_wrong_call(tik, arguments, words):
    result = tik(*arguments)
    assert result.returncode == 2
    assert result.stdout == b""
    message = result.stderr.decode()
    assert words in message
    assert all(line.startswith("tik: ") for line in message.splitlines())


def test_unreadable_files_are_told_and_the_others_counted(tik, tmp_path):
    (tmp_path / "a").write_text("hello world")
    (tmp_path / "folder").mkdir()
    result = tik("count", "-e", "cl100k_base", "missing", "a", "folder", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stdout == b"2\ta\n2\ttotal\n"
    assert result.stderr == (b"tik: missing: No such file or directory\n"
                             b"tik: folder: is a folder; -r takes the files in it\n")


NAMES = [("new\nline", "tik: new\\x0aline: No such"), ("\033[31mred", "tik: \\x1b[31mred: No such"), ("né", "tik: né: No such"),
         ("", "tik: '': No such"), ("x" * 3000, "tik: xxxx")]


@pytest.mark.parametrize("name, said", NAMES, ids=lambda value: repr(value[:9]))
def test_names_in_messages_are_visible(tik, tmp_path, name, said):
    """A name cannot break a line or command a terminal."""
    message = tik("count", name, cwd=tmp_path).stderr.decode()
    assert message.startswith(said) and message.count("\n") == 1 and message.endswith("\n")


@pytest.mark.parametrize("command", [("count",), ("encode",), ("decode",), ("truncate", "-n", "5"), ("chunk", "-n", "5"),
                                     ("show",), ("stats",), ("check", "--ids", "nothing")])
def test_a_missing_file(tik, tmp_path, command):
    result = tik(*command, "nothing", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith(b"tik: nothing: No such file or directory")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_full_disk(build):
    with open("/dev/full", "wb") as full:
        result = subprocess.run([build / "tik", "count"], input=b"text", stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 2
    assert result.stderr == b"tik: cannot write the result: No space left on device\n"


CLOSED = [  # what the shell closes, the command, its status, what it says, what it writes to `out`
    ("<&-", "diff a -", 2, "tik: standard input: Bad file descriptor\n", None),
    (">&-", "count a", 2, "tik: cannot write the result: Bad file descriptor\n", None),
    ("2>&-", "train -n 256 -o out a", 0, "", 256),
    ("<&- >&- 2>&-", "train -n 256 -o out a", 0, "", 256),
]


@pytest.mark.parametrize("closed, command, status, said, lines", CLOSED, ids=lambda value: str(value)[:12])
def test_a_file_is_never_taken_for_a_closed_standard_stream(build, tmp_path, closed, command, status, said, lines):
    (tmp_path / "a").write_text("hello world")
    result = subprocess.run(f"'{build / 'tik'}' {command} {closed}", shell=True, cwd=tmp_path, capture_output=True)
    assert (result.returncode, result.stdout, result.stderr.decode()) == (status, b"", said)
    if lines:
        assert (tmp_path / "out").read_bytes().count(b"\n") == lines


@pytest.mark.parametrize("restored", [True, False], ids=["signal", "EPIPE"])
def test_a_reader_that_leaves(build, restored):
    """Python ignores SIGPIPE; with restore_signals the command has it as a shell would give it."""
    process = subprocess.Popen([build / "tik", "encode"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, restore_signals=restored)
    process.stdout.close()
    try:
        process.stdin.write(b"hello world\n" * 100000)
        process.stdin.close()
    except BrokenPipeError:
        pass
    assert process.stderr.read() == b""
    assert process.wait() != 0


def test_manifest_of_its_own(tik, source):
    result = tik("encode", "--manifest", source / "vocab" / "cl100k_base.json", input=b"hello world")
    assert result.stdout == b"15339 1917\n", result.stderr
