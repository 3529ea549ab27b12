"""tik truncate, chunk, check, diff, show, stats."""

import html.parser
import json
import re
import xml.etree.ElementTree

import pytest


def count(tik, text, encoding="o200k_base"):
    return int(tik("count", "-e", encoding, input=text).stdout)


CHINESE = "你好，世界！我们一起去看电影吧。今天天气很好，我想去公园散步。你觉得怎么样？" * 20
PROSE = ("The quick brown fox can't jump over 3,141 lazy dogs. \"Really?\" he asked.\n"
         "Une phrase en français, né à Orléans.\n\nA new paragraph: 👩‍👩‍👧 and 🇮🇹 e\u0301!\n\n\n") * 15

# Options, text, what is kept; cl100k_base, where café is 936 59958.
TRUNCATED = [
    (("-n", "1"), "café", "caf"),
    (("-n", "2"), "café", "café"),
    (("-n", "0"), "café", ""),
    (("-n", "5"), "", ""),
    (("-n", "2"), "hello world again", "hello world"),
    (("-n", "2", "--from", "end"), "hello world again", " world again"),
    (("-n", "3"), "🚀🚀", "🚀"),
    (("-n", "5"), "🚀🚀", "🚀"),
    (("-n", "3", "--at", "word"), "hello unconstitutionally", "hello"),
    (("-n", "6", "--at", "sentence"), "One two. Three four five six.", "One two."),
    (("-n", "6", "--at", "line"), "one\ntwo\nthree four five", "one\ntwo\n"),
    (("-n", "6", "--at", "paragraph"), "one\n\ntwo\nthree four five", "one\n\n"),
    (("-n", "3", "--graphemes"), "ae\u0301\u0301\u0301", "a"),
    (("-n", "2", "--special", "all"), "a<|endoftext|>b", "a<|endoftext|>"),
]


@pytest.mark.parametrize("options, text, kept", TRUNCATED)
def test_truncate(tik, options, text, kept):
    result = tik("truncate", "-e", "cl100k_base", *options, input=text.encode())
    assert (result.stdout.decode(), result.returncode, result.stderr) == (kept, 0, b"")


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base", "r50k_base"])
@pytest.mark.parametrize("end", ["start", "end"])
def test_truncate_keeps_at_most_n(tik, encoding, end):
    text = (PROSE + CHINESE).encode()
    for n in 4, 17, 100, 500:
        kept = tik("truncate", "-e", encoding, "-n", str(n), "--from", end, input=text).stdout
        assert text.startswith(kept) if end == "start" else text.endswith(kept)
        kept.decode()
        assert n - 4 <= count(tik, kept, encoding) <= n


@pytest.mark.parametrize("options", [(), ("--from", "end")])
def test_truncate_to_less_than_a_character(tik, options):
    result = tik("truncate", "-e", "cl100k_base", "-n", "2", *options, input="🚀".encode())
    assert result.returncode == 2 and result.stdout == b"" and b"at least 3" in result.stderr


def test_truncate_as_json(tik):
    result = tik("truncate", "-n", "1", "--json", "--from", "end", input=b"hello world")
    assert json.loads(result.stdout) == {"text": " world", "tokens": 1, "start": 5, "end": 11}


@pytest.mark.parametrize("text", [PROSE, CHINESE, "a" * 5000, "\n" * 3000, ""], ids=["prose", "chinese", "a", "nl", "empty"])
@pytest.mark.parametrize("options", [(), ("--at", "paragraph"), ("--at", "sentence", "--graphemes"), ("--overlap", "8")])
def test_chunks_hold_what_is_promised(tik, text, options):
    data = text.encode()
    result = tik("chunk", "-n", "25", "--format", "jsonl", *options, input=data)
    assert result.returncode == 0, result.stderr
    chunks = [json.loads(line) for line in result.stdout.splitlines()]
    covered = 0
    for chunk in chunks:
        encoded = chunk["text"].encode()
        assert encoded == data[chunk["start"]:chunk["end"]]
        assert chunk["text"] == text[chunk["start_character"]:chunk["end_character"]]
        assert chunk["start"] <= covered < chunk["end"]
        assert "--overlap" in options or chunk["start"] == covered
        covered = chunk["end"]
    assert covered == len(data)
    for chunk in chunks[:40]:
        assert chunk["tokens"] == count(tik, chunk["text"].encode()) <= 25
    if not options:
        parts = tik("chunk", "-n", "25", "-0", input=data).stdout.split(b"\0")
        assert [part.decode() for part in parts] == ([chunk["text"] for chunk in chunks] or [""])
        lines = tik("chunk", "-n", "25", input=data).stdout.decode()
        assert lines == "".join(chunk["text"] + "\n" for chunk in chunks)


def test_chunks_end_with_paragraphs(tik):
    result = tik("chunk", "-n", "8", "--at", "paragraph", "-0", input=b"One two.\n\nThree four.\n\nFive six seven.\n")
    assert result.stdout == b"One two.\n\nThree four.\n\n\0Five six seven.\n"


def test_chunk_refuses_what_cannot_be_done(tik):
    result = tik("chunk", "-e", "cl100k_base", "-n", "2", input="a 🚀".encode())
    assert result.returncode == 2 and b"at least 3" in result.stderr
    result = tik("chunk", "-n", "5", input=b"abc\xff")
    assert result.returncode == 2 and b"offset 3" in result.stderr


def test_chunks_of_several_files_say_which(tik, tmp_path):
    (tmp_path / "a").write_text("hello")
    (tmp_path / "b").write_text("world")
    lines = tik("chunk", "-n", "5", "--json", "a", "b", cwd=tmp_path).stdout.splitlines()
    assert [(json.loads(line)["file"], json.loads(line)["text"]) for line in lines] == [("a", "hello"), ("b", "world")]


# ---- check -------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["plain", "json", "u32le"])
def test_check_in_every_format(tik, tmp_path, format):
    text = tmp_path / "text"
    ids = tmp_path / "ids"
    text.write_text("Hello, world!\nThe café is open.\n")
    ids.write_bytes(tik("encode", "--format", format, text).stdout)
    result = tik("check", "--ids", ids, text)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
    text.write_text("Hello, world!\nThe cafe is open.\n")
    result = tik("check", "--ids", ids, text)
    assert result.returncode == 1
    assert "ids differ at token 5, byte 17, line 2" in result.stdout.decode()
    assert '" café"' in result.stdout.decode() and '" cafe"' in result.stdout.decode()
    assert tik("check", "--ids", ids, "--update", text).returncode == 0
    assert ids.read_bytes() == tik("encode", "--format", format, text).stdout
    assert tik("check", "--ids", ids, text).returncode == 0


def test_check_finds_missing_and_spare_ids(tik, tmp_path):
    for ids, words in (b"15339\n", "expected no more ids"), (b"15339 1917 0\n", "found    no more ids"):
        (tmp_path / "ids").write_bytes(ids)
        result = tik("check", "-e", "cl100k_base", "--ids", "ids", input=b"hello world", cwd=tmp_path)
        assert result.returncode == 1 and words in result.stdout.decode()


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text('{"text": "hello world", "ids": [15339, 1917], "note": 1}\n\n'
                    '{"text": "caf\\u00e9", "ids": [936, 1]}\n{"text": "a\\u0000b", "ids": [64, 188, 65]}\n')
    return path


def test_check_many_cases(tik, cases):
    result = tik("check", "-e", "cl100k_base", "--ids", cases)
    assert result.returncode == 1
    assert "cases.jsonl:3: ids differ at token 1, byte 2" in result.stdout.decode()
    assert result.stdout.decode().endswith("1 of 3 cases differ\n")
    result = tik("check", "-e", "cl100k_base", "--ids", cases, "--update")
    assert (result.returncode, result.stdout) == (0, b"")
    assert [json.loads(line) for line in cases.read_text().splitlines()] == [
        {"text": "hello world", "ids": [15339, 1917], "note": 1}, {"text": "café", "ids": [936, 59958]},
        {"text": "a\0b", "ids": [64, 188, 65]}]
    assert tik("check", "-e", "cl100k_base", "--ids", cases).returncode == 0


def test_check_reports(tik, cases):
    result = tik("check", "-e", "cl100k_base", "--ids", cases, "--report", "tap")
    lines = result.stdout.decode().splitlines()
    assert result.returncode == 1 and lines[0] == "TAP version 13" and lines[-1] == "1..3"
    assert [line.split(" - ")[0] for line in lines if re.match("(not )?ok", line)] == ["ok 1", "not ok 2", "ok 3"]
    result = tik("check", "-e", "cl100k_base", "--ids", cases, "--report", "junit")
    suite = xml.etree.ElementTree.fromstring(result.stdout)
    assert [case.find("failure") is not None for case in suite] == [False, True, False]


@pytest.mark.parametrize("content, words", [
    (b"1 x", "byte 2"), (b"[1", "not ended"), (b'{"text": 1}\n', ":1"), (b'{"text": "a", "ids": [-1]}\n', ":1"),
    (b'{"text": "a", "ids": [64]}\n{bad\n', ":2: no JSON"),
])
def test_check_refuses_files_that_are_none(tik, tmp_path, content, words):
    (tmp_path / "ids").write_bytes(content)
    arguments = [] if content.startswith(b"{") else ["-"]
    result = tik("check", "-e", "cl100k_base", "--ids", tmp_path / "ids", *arguments, input=b"a")
    assert result.returncode == 2 and words in result.stderr.decode()
    (tmp_path / "ids").write_bytes(content)
    assert (tmp_path / "ids").read_bytes() == content


# ---- diff --------------------------------------------------------------------------------------


def test_the_full_stop_that_breaks_a_cache(tik, tmp_path):
    """A full stop added at the end of the first line makes all that follows new to a prompt cache."""
    rest = "\nAnswer in one word. " * 50
    (tmp_path / "a").write_text("You are a helpful assistant" + rest)
    (tmp_path / "b").write_text("You are a helpful assistant." + rest)
    result = tik("diff", "a", "b", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout.decode().splitlines()[0] == "common: 5 tokens, 27 bytes, up to line 1"
    as_json = json.loads(tik("diff", "--json", "a", "b", cwd=tmp_path).stdout)
    assert (as_json["same"], as_json["common_tokens"], as_json["common_bytes"]) == (False, 5, 27)
    result = tik("diff", "a", "a", cwd=tmp_path)
    assert result.returncode == 0 and result.stdout.startswith(b"the same: ")


def test_where_two_encodings_part(tik, tmp_path):
    (tmp_path / "a").write_text("hello 你好")
    result = tik("diff", "-e", "cl100k_base", "-e", "o200k_base", "a", cwd=tmp_path)
    assert result.returncode == 1
    first, *sides = result.stdout.decode().splitlines()
    assert first.startswith("common: 2 tokens, 6 bytes")
    assert sides[0].startswith("cl100k_base: ") and sides[1].startswith("o200k_base: ")


# ---- --invalid ---------------------------------------------------------------------------------

BAD = [b"\xff", b"a\xffb\xe2\x82", b"caf\xc3", b"\xf0\x9f\x9ax\xed\xa0\x80", b"ok\xc0\xafok" * 300000]


@pytest.mark.parametrize("data", BAD, ids=lambda data: repr(data[:12]))
@pytest.mark.parametrize("command", [("chunk", "-n", "999"), ("truncate", "-n", "999"), ("show",), ("diff", "-"),
                                     ("truncate", "-n", "999", "--from", "end")], ids=" ".join)
def test_bytes_that_are_not_utf8(tik, tmp_path, command, data):
    """Refused, or replaced as Python does: the output is then that of the replaced text."""
    (tmp_path / "good").write_bytes(data.decode(errors="replace").encode())
    (tmp_path / "bad").write_bytes(data)
    refused = tik(*command, "bad", cwd=tmp_path)
    assert refused.returncode == 2 and b"not UTF-8" in refused.stderr
    wanted = tik(*command, "good", cwd=tmp_path)
    given = tik(*command, "--invalid", "replace", "bad", cwd=tmp_path)
    assert (given.returncode, given.stderr) == (wanted.returncode, b"")
    assert given.stdout.replace(b"bad:", b"good:") == wanted.stdout
    if "-" not in command:
        assert tik(*command, "--invalid", "replace", input=data).stdout == wanted.stdout


# ---- show --------------------------------------------------------------------------------------


def test_show_in_a_pipe(tik):
    assert tik("show", "-e", "cl100k_base", input="Tokenization is café".encode()).stdout.decode() == \
        "Token|ization| is| café\n"
    assert tik("show", "-e", "cl100k_base", "--ids", input="hello🚀".encode()).stdout.decode() == \
        "hello[15339]|\\xf0\\x9f[9468]|\\x9a[248]|\\x80[222]\n"


def test_show_colours_only_when_asked(tik):
    assert b"\033" not in tik("show", input=b"hello world").stdout
    coloured = tik("show", "--color", "always", input=b"hello world\n").stdout
    assert re.sub(rb"\033\[[0-9;]*m", b"", coloured).decode() == "hello world↵\n"


class Page(html.parser.HTMLParser):
    """The titles and texts of the tokens of a page, and every address in it."""

    def __init__(self):
        super().__init__()
        self.titles, self.texts, self.links, self.inside = [], [], [], False

    def handle_starttag(self, tag, attributes):
        self.inside |= tag == "i"
        if tag == "i":
            self.titles.append(dict(attributes)["title"])
            self.texts.append("")
        self.links += [value for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag):
        self.inside &= tag != "i"

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data


def test_show_as_a_page(tik):
    text = "<b>Hello</b> & \"world\"\n<script>café 你好\n"
    output = tik("show", "--html", input=text.encode()).stdout.decode()
    page = Page()
    page.feed(output)
    assert "".join(page.texts) == text
    ids = tik("encode", input=text.encode()).stdout.decode().split()
    assert [title.split(":")[0] for title in page.titles] == ids
    assert bytes.fromhex("".join(title.split(":")[1] for title in page.titles)).decode() == text
    assert page.links == [] and f"{len(ids)} tokens" in output and "prefers-color-scheme:dark" in output


# ---- stats -------------------------------------------------------------------------------------


def test_stats(tik, tmp_path):
    (tmp_path / "a").write_text("hello wörld\u3000again\n")
    (tmp_path / "b").write_text("hello")
    result = tik("stats", "-e", "cl100k_base", "-e", "o200k_base", "--against", "b", "--window", "100", "--json", "a",
                 cwd=tmp_path)
    rows = json.loads(result.stdout)
    assert [row["encoding"] for row in rows] == ["cl100k_base", "o200k_base"]
    for row in rows:
        tokens = count(tik, (tmp_path / "a").read_bytes(), row["encoding"])
        assert (row["words"], row["characters"], row["bytes"], row["tokens"]) == (3, 18, 21, tokens)
        assert row["bytes_per_token"] == pytest.approx(21 / tokens)
        assert row["tokens_per_word"] == pytest.approx(tokens / 3)
        assert row["overhead_percent"] == pytest.approx(100 * (tokens - 1))
        assert row["words_in_window"] == 100 * 3 // tokens
    table = tik("stats", "a", "b", cwd=tmp_path).stdout.decode().splitlines()
    assert len(table) == 3 and all(len(line) <= 79 for line in table)
    (tmp_path / ("long" * 20)).write_text("hello")
    table = tik("stats", "--against", "b", "--window", "100", "-e", "o200k_harmony", "a", "long" * 20, cwd=tmp_path)
    first, *rest = table.stdout.decode().splitlines()
    assert len(rest) == 3 and rest[1] == "long" * 20 and all(len(line) <= 80 for line in (first, rest[0], rest[2]))
    assert rest[2].split()[0] == "o200k_harmony" and len(rest[2]) == len(first)
    csv = tik("stats", "--csv", "a", cwd=tmp_path).stdout.decode().splitlines()
    assert csv[0].startswith("file,encoding,words") and csv[1].startswith("a,o200k_base,3,18,21,")
