"""What the tests of the command share: where the build is, and a way to run it."""

import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TIK_BUILD", SOURCE / "build")).resolve()


@pytest.fixture(scope="session")
def source():
    """The root of the source tree."""
    return SOURCE


@pytest.fixture(scope="session")
def build():
    """The build folder under test: $TIK_BUILD, else build/."""
    return BUILD


@pytest.fixture(scope="session")
def tik():
    """Runs the command: tik("count", "-", input=b"text") gives a CompletedProcess with bytes."""

    def run(*args, input=b"", env=None, cwd=None, timeout=120):
        environment = dict(os.environ, **(env or {}))
        return subprocess.run([str(BUILD / "tik"), *map(os.fspath, args)], input=input, capture_output=True,
                              env=environment, cwd=cwd, timeout=timeout)

    return run
