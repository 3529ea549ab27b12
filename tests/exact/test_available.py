"""Says plainly when the comparison can't be made, and that what is compared is the right thing."""

import pytest


def test_the_reference_is_there():
    tiktoken = pytest.importorskip("tiktoken", reason="no package tiktoken: nothing is compared with the reference")
    pytest.importorskip("numpy", reason="no package numpy: nothing is compared with the reference")
    import reference

    assert tiktoken.__version__ == reference.VERSION


def test_the_library_is_there():
    import tiklib

    assert tiklib.library().tik_version_details()
