"""The line on the terminal that tells how far long work is."""

import os
import pty
import re
import select
import signal
import subprocess
import tempfile
import time

import pytest

ERASE = b"\r\033[K"
SLICE = b"The quick brown fox can't jump over 3,141 lazy dogs.\n" * 10


def on_terminal(command, feed=None, stop=None, out_too=False):
    """
    Runs with standard error on a terminal: (status, what the terminal got, standard output). `feed` seconds long a
    slice is written to standard input now and then; a signal `stop` is sent once a line was drawn.
    """
    leader, follower = pty.openpty()
    results = tempfile.TemporaryFile()
    process = subprocess.Popen(list(map(os.fspath, command)), stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
                               stdout=follower if out_too else results, stderr=follower,
                               # A shell's background jobs, such as this test may be, don't hear it.
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    os.close(follower)
    shown, until = b"", time.monotonic() + (feed or 0)
    while True:
        if feed and not process.stdin.closed and process.poll() is None:
            try:
                process.stdin.write(SLICE)
                process.stdin.flush()
            except BrokenPipeError:
                feed = None
                continue
            if time.monotonic() > until:
                process.stdin.close()
        if select.select([leader], [], [], 0.05)[0]:
            try:
                got = os.read(leader, 1 << 16)
            except OSError:
                break
            if not got:
                break
            shown += got
        if stop and ERASE in shown:
            process.send_signal(stop)
            stop, until = None, 0
    os.close(leader)
    status = process.wait(timeout=60)
    results.seek(0)
    return status, shown, results.read()


def drawn(shown):
    return [line for line in shown.split(ERASE) if line]


COMMANDS = {
    "count": ("counting", "-"),
    "encode": ("encoding", "-"),
    "chunk -n 100": ("chunking", "-"),
    "cost --price 1": ("counting", "-"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_after_a_second(build, command):
    """Its size is not known: bytes and speed. It is rewritten, erased at the end, and nowhere on standard output."""
    what, name = COMMANDS[command]
    status, shown, output = on_terminal([build / "tik", *command.split(), name], feed=1.6)
    assert status == 0 and shown.endswith(ERASE)
    assert output and b"MB" not in output and b"\033" not in output
    lines = drawn(shown)
    assert len(lines) > 1
    for line in lines:
        assert re.fullmatch(rb"%s: \d+\.\d MB, \d+\.\d MB/s" % what.encode(), line), line


def test_merges_are_told(build):
    """Training reads in large steps; after a second it tells how many tokens there are."""
    status, shown, output = on_terminal([build / "tik", "train", "-n", "260", "-o", "-"], feed=1.6)
    assert (status, output.count(b"\n")) == (0, 260)
    assert shown.startswith(ERASE + b"merging: 25") and b" of 260 tokens, " in shown and ERASE in shown[1:]


def sized(tmp_path, bytes):
    path = tmp_path / "large"
    with open(path, "wb") as file:
        for _ in range(bytes // len(SLICE) // 1000):
            file.write(SLICE * 1000)
    return path


@pytest.mark.parametrize("command", ["count -j 1", "stats"])
def test_what_is_left_of_a_file(build, tmp_path, command):
    """Files that are far too long for a second on one core: what is done, of what, how fast, how long still."""
    path = sized(tmp_path, 500_000_000)
    status, shown, output = on_terminal([build / "tik", *command.split(), path])
    assert status == 0 and b"\033" not in output
    if not shown:
        pytest.skip("done within a second here")
    assert shown.endswith(ERASE)
    done = []
    for line in drawn(shown):
        match = re.fullmatch(rb"counting: (\d+\.\d) of (\d+\.\d) MB, \d+\.\d MB/s, \d+ s left", line)
        assert match, line
        done.append(float(match[1]))
        assert float(match[2]) == pytest.approx(path.stat().st_size / 1e6, abs=0.1)
    assert done == sorted(done) and done[-1] <= 500


@pytest.mark.parametrize("command", ["count", "stats -", "chunk -n 100", "encode"])
def test_quiet(build, command):
    status, shown, _ = on_terminal([build / "tik", *command.split(), "-q"], feed=1.4)
    assert (status, shown) == (0, b"")


def test_no_line_without_a_terminal(build):
    process = subprocess.Popen([build / "tik", "count"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    for _ in range(14):
        process.stdin.write(SLICE)
        process.stdin.flush()
        time.sleep(0.1)
    output, said = process.communicate()
    assert output.strip().isdigit() and said == b""


def test_no_line_among_results_on_the_same_terminal(build):
    _, shown, _ = on_terminal([build / "tik", "encode"], feed=1.4, out_too=True)
    assert b"MB" not in shown and ERASE not in shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_remains_when_interrupted(build, number):
    status, shown, output = on_terminal([build / "tik", "count"], feed=20, stop=number)
    assert status == -number and shown.endswith(ERASE) and output == b""


def test_messages_erase_the_line(build, tmp_path):
    """A fault after the line was drawn stands on a line of its own."""
    late = 'i=0; while [ $i -lt 16 ]; do echo text; sleep 0.1; i=$((i + 1)); done; printf "\\377"'
    status, shown, _ = on_terminal(["sh", "-c", f'{{ {late}; }} | "$0" encode', build / "tik"])
    assert status == 2 and b"MB/s" in shown
    assert drawn(shown)[-1].startswith(b"tik: standard input: the text is not UTF-8")
