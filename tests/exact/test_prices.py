"""vocab/prices.json is what tools/update-prices makes of the package that it names."""

import importlib.metadata
import json
import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def test_the_list_is_up_to_date():
    document = json.loads((SOURCE / "vocab" / "prices.json").read_text())
    package, version = document["source"].split()
    try:
        installed = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"no package {package}: the price list is not compared with it")
    assert installed == version
    done = subprocess.run([sys.executable, SOURCE / "tools" / "update-prices", "--date", document["date"], "--check"],
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
