"""Stands in for the package tiktoken in its own test suite: its public names, each answered by libtik."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tiklib import (  # noqa: E402
    Encoding as Encoding,
    encoding_for_model as encoding_for_model,
    encoding_name_for_model as encoding_name_for_model,
    get_encoding as get_encoding,
    list_encoding_names as list_encoding_names,
)

# The version of the package whose interface this is.
__version__ = "0.14.0"
