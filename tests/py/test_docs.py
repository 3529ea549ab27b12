"""The documents' examples are run: a ```console block is a list of `$ command` lines, each followed by what
it prints (a line `...` stands for any lines); a ```c block with a main is compiled and run. Links between the
documents lead somewhere.
"""

import os
import pathlib
import re
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*SOURCE.glob("*.md"), *SOURCE.glob("docs/*.md"), *SOURCE.glob("vocab/*.md"),
                    *SOURCE.glob("tests/vectors/*.md"), *SOURCE.glob("bench/*.md"), *SOURCE.glob("tools/unicode/*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language):
    """(document, line, text) of every fenced block in that language."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            if block.group(1) == language:
                line = text.count("\n", 0, block.start()) + 1
                yield pytest.param(block.group(2), id=f"{path.relative_to(SOURCE)}:{line}")


def commands(block):
    """(command, expected output) pairs of a console block; a command goes on after a backslash."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = re.sub(r"\\\n> ?", "", part).partition("\n")
        yield command, output


def matches(expected, printed):
    pattern = re.escape(expected)
    pattern = re.sub(r"(?m)^" + re.escape(re.escape("...")) + r"(\\?\n)", lambda _: "(?:.*\n)*", pattern)
    return re.fullmatch(pattern, printed) is not None


@pytest.mark.parametrize("block", list(blocks("console")))
def test_console_examples(block, build, tmp_path):
    environment = dict(os.environ, PATH=f"{build}{os.pathsep}{os.environ['PATH']}", NO_COLOR="1", LC_ALL="C.UTF-8",
                       OUT=str(tmp_path))
    for command, expected in commands(block):
        result = subprocess.run(["sh", "-c", command], cwd=SOURCE, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, timeout=120, stdin=subprocess.DEVNULL)
        printed = result.stdout.decode()
        # What ends without a newline is shown with one.
        printed += "" if printed.endswith("\n") or not printed else "\n"
        assert matches(expected, printed), f"$ {command}\n{printed}\ninstead of\n{expected}"


@pytest.mark.parametrize("block", [case for case in blocks("c") if "int main(" in case.values[0]])
def test_c_examples(block, build, tmp_path):
    program = tmp_path / "example"
    (tmp_path / "example.c").write_text(block)
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", tmp_path / "example.c", "-I", SOURCE / "include",
                    "-L", build / "src", "-ltik", f"-Wl,-rpath,{build / 'src'}", "-o", program], check=True, timeout=120)
    result = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    expected = re.search(r"/\* prints\n(.*?) \*/", block, re.DOTALL)
    if expected:
        assert result.stdout.split() == expected.group(1).split()


def test_matching():
    assert matches("a\n...\nb\n", "a\nx\ny\nb\n")
    assert matches("a\n...\nb\n", "a\nb\n")
    assert not matches("a\n...\nb\n", "a\nx\n")
    assert not matches("a.c\n", "abc\n")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_links(path):
    text = re.sub(r"`[^`\n]*`", "", BLOCK.sub("", path.read_text(encoding="utf-8")))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" not in target and not target.startswith("#"):
            assert (path.parent / target.partition("#")[0]).exists(), f"{path.name} links to {target}"


def test_every_document_is_listed():
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", (SOURCE / "docs" / "README.md").read_text(encoding="utf-8")))
    assert listed == {path.name for path in (SOURCE / "docs").glob("*.md")} - {"README.md"}
