"""The reference's own test suite, unmodified, from its source distribution, run against libtik.

The source distribution is fetched with pip (a visible skip where it can't be had) and its tests run in a
process whose package tiktoken is the shim in tests/reference/shim. No test is left out: 0.14.0 ships six
files, and all that they ask of the package is its public interface, pickling, `_encode_bytes`, `_pat_str`,
`_mergeable_ranks` and `_special_tokens`.
"""

import os
import pathlib
import re
import subprocess
import sys
import tarfile

import pytest
import reference
import tiklib

FILES = {"test_encoding.py", "test_misc.py", "test_offsets.py", "test_pickle.py", "test_simple_public.py"}
EXAMPLES = "1000" if os.environ.get("TIK_EXACT") == "full" else "50"


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """The folder `tests` of the source distribution: $TIK_REFERENCE_SDIST (the archive), else fetched."""
    folder = tmp_path_factory.mktemp("sdist")
    archive = os.environ.get("TIK_REFERENCE_SDIST")
    if not archive:
        got = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                              "--no-deps", "--no-binary", "tiktoken", "--dest", folder,
                              f"tiktoken=={reference.VERSION}"], capture_output=True, text=True)
        archives = list(folder.glob("tiktoken-*.tar.gz"))
        if not archives:
            pytest.skip(f"the source distribution can't be had: {got.stderr.strip()[-200:]}")
        archive = archives[0]
    with tarfile.open(archive) as contents:
        members = [m for m in contents.getmembers() if re.fullmatch(r"[^/]+/tests/\w+\.py", m.name)]
        contents.extractall(folder, members=members)
    return next(folder.glob("*/tests"))


def test_the_reference_suite_passes(suite):
    assert {path.name for path in suite.glob("test_*.py")} - {"test_helpers.py"} == FILES
    root = pathlib.Path(__file__).resolve().parents[1]
    environment = dict(os.environ, PYTHONPATH=str(root / "reference" / "shim"), TIKTOKEN_MAX_EXAMPLES=EXAMPLES,
                       TIKTOKEN_CACHE_DIR="/nonexistent", PYTHONDONTWRITEBYTECODE="1", TIK_BUILD=str(tiklib.BUILD))
    where = subprocess.run([sys.executable, "-c", "import tiktoken; print(tiktoken.__file__)"], env=environment,
                           capture_output=True, text=True, cwd=suite.parent)
    assert "tests/reference/shim" in where.stdout, where.stderr
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", "tests"], cwd=suite.parent,
                         env=environment, capture_output=True, text=True)
    print(ran.stdout[-3000:])
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-1000:]
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed and int(passed.group(1)) >= 30
    assert "skipped" not in ran.stdout.splitlines()[-1] and "xfailed" not in ran.stdout.splitlines()[-1]
