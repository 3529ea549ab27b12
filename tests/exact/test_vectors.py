"""The committed vectors are what the reference says, and what it says is what libtik gives."""

import json
import subprocess
import sys

import pytest
import reference
from compare import check, mine

VECTORS = reference.SOURCE / "tests" / "vectors"


def test_the_vectors_are_up_to_date():
    made = subprocess.run([sys.executable, reference.SOURCE / "tools" / "make-vectors", "--check"], capture_output=True,
                          text=True)
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("name", reference.NAMES)
def test_texts_of_the_vectors(name, compared):
    texts = [json.loads(line)["text"] for line in (VECTORS / "vectors.jsonl").read_text(encoding="utf-8").splitlines()]
    compared(f"{name}: the vectors", check(name, texts))


def test_published_values_are_those_of_the_reference():
    policies = {"reject": {}, "all": {"allowed_special": "all"}, "text": {"disallowed_special": ()}}
    for row in json.loads((VECTORS / "published.json").read_text(encoding="utf-8")):
        for encoding in (reference.encoding(row["encoding"]), mine(row["encoding"])):
            if "refused" in row:
                with pytest.raises(ValueError, match="endoftext"):
                    encoding.encode(row["text"])
                continue
            ids = encoding.encode(row["text"], **policies[row["special"]])
            assert len(ids) == row["count"] if "count" in row else ids == row["ids"]
