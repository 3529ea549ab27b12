"""A short run of tools/fuzz-reference, and that a difference would be found, shrunk and reported."""

import json
import os
import subprocess
import sys

import compare
import pytest
import reference


def test_random_texts_have_the_ids_of_the_reference():
    tokens = "5e7" if compare.FULL else "5e6"
    ran = subprocess.run([sys.executable, reference.SOURCE / "tools" / "fuzz-reference", "--tokens", tokens,
                          "--seed", os.environ.get("TIK_FUZZ_SEED", "1")], capture_output=True, text=True)
    print(ran.stdout)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("kind", ["id", "missing", "one more"])
def test_a_wrong_id_is_found(monkeypatch, kind):
    right = compare.library_batch

    def wrong(encoding, blob, lengths, gap):
        ids, counts = right(encoding, blob, lengths, gap)
        if kind == "id":
            ids[counts[0] + 1] += 1
        elif kind == "missing":
            counts[1] -= 1
            ids = ids[:-1]
        else:
            counts[1] += 1
            ids = compare.numpy.append(ids, 0)
        return ids, counts

    monkeypatch.setattr(compare, "library_batch", wrong)
    with pytest.raises(AssertionError) as failure:
        compare.check("cl100k_base", ["a text", "the one that is wrong", "another"])
    assert json.loads(str(failure.value).splitlines()[-1])["text"] == "the one that is wrong"


def test_a_difference_is_shrunk():
    text = "a long text with a needle in it, and more after it"
    assert compare.shrink("cl100k_base", text, lambda name, some: "needle" in some) == "needle"
