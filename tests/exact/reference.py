"""The reference: the encodings of the Python package tiktoken 0.14.0, made from the rank files of vocab/.

The package looks for a rank file in its cache folder under the SHA-1 of the published address; a temporary
folder is filled in that way, so that nothing is ever asked of the network.
"""

import atexit
import functools
import hashlib
import os
import pathlib
import shutil
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
VERSION = "0.14.0"

# In an order in which each encoding comes after the one whose ranks or specials it extends.
NAMES = ["r50k_base", "gpt2", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]

# As ordinary text, the encoding on the left mostly gives the ids of the one on the right.
BASED_ON = {"gpt2": "r50k_base", "p50k_base": "r50k_base", "p50k_edit": "p50k_base", "o200k_harmony": "o200k_base"}

# One encoding for each distinct split pattern.
ONE_FOR_EACH_PATTERN = ["r50k_base", "cl100k_base", "o200k_base"]

# One encoding for each distinct pair of pattern and ranks: what ordinary text can tell apart.
ONE_FOR_EACH_VOCABULARY = ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"]

_HASHES = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/%s.tiktoken"


@functools.cache
def cache_folder():
    """A temporary cache folder of the package, filled from vocab/. It is gone when the program ends."""
    folder = tempfile.mkdtemp(prefix="tik-reference-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, expected in _HASHES.items():
        data = (SOURCE / "vocab" / f"{name}.tiktoken").read_bytes()
        if hashlib.sha256(data).hexdigest() != expected:
            raise ValueError(f"vocab/{name}.tiktoken is not the published file: its SHA-256 is wrong")
        (pathlib.Path(folder) / hashlib.sha1((_ADDRESS % name).encode()).hexdigest()).write_bytes(data)
    return folder


@functools.cache
def encoding(name):
    """The reference's encoding of that name."""
    import tiktoken
    import tiktoken_ext.openai_public as public

    if tiktoken.__version__ != VERSION:
        raise RuntimeError(f"the reference is tiktoken {VERSION}; this is {tiktoken.__version__}")
    os.environ["TIKTOKEN_CACHE_DIR"] = cache_folder()
    if name == "gpt2":
        # The package reads gpt2 from two files of another form; they hold the ranks of r50k_base.
        return tiktoken.Encoding(**dict(public.r50k_base(), name="gpt2"))
    return tiktoken.Encoding(**public.ENCODING_CONSTRUCTORS[name]())
