"""One peer's rows, in a process of its own: started by bench/rows, which sets up the environment.

    row_peer.py PEER ENCODING VOCAB_FOLDER open|messages|decode|hard FILE...

Prints a line of JSON for each result, in seconds of processor time, best of several rounds:

    open        a fresh tokenizer and its first text
    messages    each line of FILE is a text: by calls of one text each, and all in one call
    decode      the ids of FILE back to bytes or text
    hard        each FILE is one text; null where the peer fails
"""

import json
import sys
import time

from peer import DECODERS, PEERS

ROUNDS = 3


def seconds(function, rounds=ROUNDS):
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


def main():
    peer, name, folder, what, *paths = sys.argv[1:]
    make = PEERS[peer]
    start = time.process_time()
    encode, kind = make(name, folder)
    encode([b"a" if kind is bytes else "a"])
    opened = time.process_time() - start
    if what == "open":
        print(json.dumps({"seconds": opened}))
        return
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        if what == "messages":
            texts = [line if kind is bytes else line.decode() for line in data.splitlines()]
            result = {"texts": len(texts), "calls": seconds(lambda: [encode([text]) for text in texts]),
                      "batch": seconds(lambda: encode(texts))}
        elif what == "decode":
            [ids] = encode([data if kind is bytes else data.decode()])
            decode = DECODERS[peer](name, folder)
            ids = ids.tolist() if hasattr(ids, "tolist") else list(ids)
            result = {"bytes": len(data), "seconds": seconds(lambda: decode(ids))}
        else:
            text = data if kind is bytes else data.decode()
            try:
                result = {"bytes": len(data), "seconds": seconds(lambda: encode([text]), 1)}
            except BaseException as failure:  # a panic of a peer in Rust is no Exception
                result = {"bytes": len(data), "seconds": None, "why": str(failure)[:100]}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
