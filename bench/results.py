"""What the measuring programs share: building, running and measuring commands, and sections of bench/RESULTS.md."""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VOCAB = ROOT / "vocab"
RESULTS = HERE / "RESULTS.md"

# The peers and where they come from.
PACKAGES = {
    "tiktoken": "tiktoken==0.14.0",
    "gigatoken": "gigatoken",
    "fastokens": "fastokens",
    "toktok-rs": "toktok-rs",
    "quicktok-v1": "quicktok-v1",
    "bpe-openai": "bpe-openai",
}


# ---- Building, environments ---------------------------------------------------------------------------


def build(folder, *programs):
    """Builds the programs in a build folder, which is set up if it is not there; returns it."""
    folder = Path(folder)
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", folder, ROOT], check=True, stdout=sys.stderr)
    subprocess.run(["ninja", "-C", folder, *programs], check=True, stdout=sys.stderr)
    return folder


def environment_of(python, packages=(*PACKAGES.values(), "numpy")):
    """An interpreter that has the packages: `python`, or that of bench/.venv, which is made here."""
    if python:
        return Path(python)
    python = HERE / ".venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True, stdout=sys.stderr)
    return python


def versions(python, packages):
    """["tiktoken 0.14.0", ...]"""
    listed = subprocess.run([python, "-m", "pip", "list", "--format", "json"], capture_output=True, text=True, check=True)
    installed = {entry["name"].lower(): entry["version"] for entry in json.loads(listed.stdout)}
    return [f"{package} {installed.get(package.lower(), '?')}" for package in packages]


def peer_environment(cache, encodings):
    """The environment of a peer's process: one thread, and the rank files where tiktoken looks for them."""
    for name in encodings:
        url = json.loads((VOCAB / f"{name}.json").read_text())["url"]
        shutil.copy(VOCAB / f"{name}.tiktoken", Path(cache) / hashlib.sha1(url.encode()).hexdigest())
    return dict(os.environ, TIKTOKEN_CACHE_DIR=str(cache), RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")


# ---- Running ---------------------------------------------------------------------------------------------


class Run:
    """A command that ran on some cores: seconds, processor seconds, peaks of memory, output."""

    def __init__(self, command, cores=(0,), environment=None, watch=False):
        with tempfile.TemporaryFile() as output:
            begin = time.monotonic()
            process = subprocess.Popen([str(part) for part in command], env=environment, stdout=output,
                                       stderr=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, cores))
            self.private = self.watch(process.pid) if watch else 0  # bytes, as far as it was seen
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds = time.monotonic() - begin
            output.seek(0)
            self.output = output.read().decode(errors="replace")
        self.status = process.returncode = os.waitstatus_to_exitcode(status)
        self.processor = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss * 1024

    @staticmethod
    def watch(pid):
        """Looks at a process until it ends: the most private memory that it had."""
        most = 0
        while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
            found = re.search(r"RssAnon:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
            most = max(most, int(found[1]) * 1024 if found else 0)
            time.sleep(0.005)
        return most


def best_of(rounds, command, **options):
    """The fastest run of several."""
    return min((Run(command, **options) for _ in range(rounds)), key=lambda run: run.seconds)


# ---- Writing ---------------------------------------------------------------------------------------------


def processor():
    try:
        return re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())[1]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def circumstances(load):
    """When, on what, and how busy it was before."""
    now = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return f"{now}, {processor()}, {os.cpu_count()} cores, load {load:.1f} before"


def load():
    return os.getloadavg()[0]


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def write_section(name, lines, path=RESULTS):
    """Replaces one section of the results, or appends it; the others belong to other programs."""
    path = Path(path)
    whole = path.read_text() if path.exists() else "# Results\n\nWritten by the programs that measured.\n"
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    section = "\n".join([begin, *lines]).rstrip() + f"\n{end}"
    if begin in whole:
        head, rest = whole.split(begin, 1)
        whole = head + section + rest.split(end, 1)[1]
    else:
        whole = whole.rstrip() + "\n\n" + section + "\n"
    path.write_text(whole)
