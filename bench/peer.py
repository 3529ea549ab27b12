"""One peer, one encoding, in a process of its own: started by bench/peers, which sets up the environment.

usage: peer.py PEER ENCODING VOCAB_FOLDER MEGABYTES FILE...

For each file: the documents of bench/throughput (64 KiB, cut at line ends); a fresh tokenizer encodes the
first MEGABYTES, then the next. Prints a line of JSON for each: processor seconds of both, bytes of both, and
the checksums of all ids (FNV-1a over little-endian words, as bench/throughput prints).
"""

import json
import os
import subprocess
import sys
import time

import numpy as np

DOCUMENT = 65536


def cut(data, low, high):
    documents = []
    while low < high:
        end = min(low + DOCUMENT, high)
        if end < high:
            line = data.rfind(b"\n", low, end)
            if line >= low:
                end = line + 1
            else:
                while data[end] & 0xC0 == 0x80:
                    end -= 1
        documents.append(data[low:end])
        low = end
    return documents


def halves(path, megabytes):
    with open(path, "rb") as file:
        data = file.read()
    part = min(megabytes * 1_000_000, len(data) // 2)
    part = data.rfind(b"\n", 0, part) + 1
    end = max(part, data.rfind(b"\n", 0, 2 * part) + 1)
    return cut(data, 0, part), cut(data, part, end)


def tiktoken_encoding(name):
    import tiktoken

    return tiktoken.get_encoding(name)


# Each peer: a function that makes a fresh tokenizer and gives how it encodes a list of documents, through
# its fastest interface, to a list of sequences of ids; and whether documents are bytes or text.
def make_tiktoken(name, folder):
    encoding = tiktoken_encoding(name)
    return lambda texts: [encoding.encode_ordinary(text) for text in texts], str


def make_gigatoken(name, folder):
    tokenizer = gigatoken_tokenizer(name, folder)
    return lambda texts: tokenizer.encode_batch(texts, parallel=False), bytes


def make_fastokens(name, folder):
    tokenizer = fastokens_tokenizer(name, folder)

    def encode(texts):
        ids, offsets = tokenizer.encode_batch_flat(texts)
        ids = np.frombuffer(ids, np.uint32)
        offsets = np.frombuffer(offsets, np.uint64)
        return [ids[a:b] for a, b in zip(offsets[:-1], offsets[1:])]

    return encode, str


def make_toktok(name, folder):
    tokenizer = toktok_tokenizer(name, folder)
    return lambda texts: [tokenizer.encode_to_numpy(text) for text in texts], str


def make_quicktok(name, folder):
    tokenizer = quicktok_encoding(name, folder)

    def encode(texts):
        ids, offsets = tokenizer.encode_batch(texts, threads=1)
        return [ids[a:b] for a, b in zip(offsets[:-1], offsets[1:])]

    return encode, str


def make_bpe_openai(name, folder):
    encoding = bpe_openai_encoding(name, folder)
    return lambda texts: [encoding.encode_to_numpy(text) for text in texts], str


PEERS = {
    "tiktoken": make_tiktoken,
    "gigatoken": make_gigatoken,
    "fastokens": make_fastokens,
    "toktok-rs": make_toktok,
    "quicktok-v1": make_quicktok,
    "bpe-openai": make_bpe_openai,
}


def gigatoken_tokenizer(name, folder):
    import gigatoken

    return gigatoken.Tokenizer.from_tiktoken(f"{folder}/{name}.tiktoken")


def fastokens_tokenizer(name, folder):
    import fastokens

    return fastokens.Tokenizer.from_tiktoken(f"{folder}/{name}.tiktoken", encoding=name)


def toktok_tokenizer(name, folder):
    from toktok import _Tokenizer

    return _Tokenizer(name, "")


def quicktok_encoding(name, folder):
    import quicktok

    return quicktok.get_encoding(name)


def bpe_openai_encoding(name, folder):
    import bpe_openai

    return bpe_openai.get_encoding(name)


# How each turns a list of ids into bytes, or into text where it has nothing else.
DECODERS = {
    "tiktoken": lambda name, folder: tiktoken_encoding(name).decode_bytes,
    "gigatoken": lambda name, folder: gigatoken_tokenizer(name, folder).decode,
    "fastokens": lambda name, folder: fastokens_tokenizer(name, folder).decode,
    "toktok-rs": lambda name, folder: toktok_tokenizer(name, folder).decode_bytes,
    "quicktok-v1": lambda name, folder: quicktok_encoding(name, folder).decode_bytes,
    "bpe-openai": lambda name, folder: bpe_openai_encoding(name, folder).decode_bytes,
}


# FNV-1a is a loop over bytes: too slow in Python for millions of ids, so a small C program does it, with the
# compiler that built libtik.
CHECKSUM_C = r"""
#include <stdint.h>
#include <stddef.h>
uint64_t fnv(uint64_t hash, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int shift = 0; shift < 32; shift += 8)
            hash = (hash ^ (ids[i] >> shift & 0xFF)) * 0x100000001B3u;
    return hash;
}
"""


def checksum_function():
    import ctypes
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "fnv.c")
        with open(source, "w") as file:
            file.write(CHECKSUM_C)
        library = os.path.join(folder, "fnv.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
        function = ctypes.CDLL(library).fnv
    function.restype = ctypes.c_uint64
    function.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]

    def checksum(batches):
        value = 0xCBF29CE484222325
        for ids in batches:
            ids = np.ascontiguousarray(ids, dtype=np.uint32)
            value = function(value, ids.ctypes.data, len(ids))
        return f"{value:016x}"

    return checksum


def main():
    peer, name, folder, megabytes = sys.argv[1:5]
    checksum = checksum_function()
    for path in sys.argv[5:]:
        encode, kind = PEERS[peer](name, folder)
        encode([kind(b"a") if kind is bytes else "a"])  # what is built at the first call is no encoding
        result = {"file": os.path.basename(path)}
        for label, documents in zip(("first", "steady"), halves(path, int(megabytes))):
            size = sum(map(len, documents))
            texts = documents if kind is bytes else [document.decode() for document in documents]
            start = time.process_time()
            ids = encode(texts)
            seconds = time.process_time() - start
            result[label] = {"seconds": seconds, "bytes": size, "checksum": checksum(ids)}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
