"""One training by one peer, in a process of its own: bench/train starts it.

    train_peer.py NAME FILE SIZE

Prints the seconds from opening the file to the finished vocabulary (imports are not counted), the seconds of
processor time in that, the peak of resident memory in bytes, and how many tokens were learned. Each peer gets
its best interface: a path where it takes one, else an iterator over stretches of the file that end with a
line, so that the text is not held in memory.
"""

import resource
import sys
import time

# The pattern of gpt2, which is the one that gigatoken's trainer has built in.
PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
STRETCH = 1 << 18


def stretches(path):
    with open(path, encoding="utf-8", newline="") as file:
        while lines := file.readlines(STRETCH):
            yield "".join(lines)


def rustbpe(path, size):
    import rustbpe

    def train():
        tokenizer = rustbpe.Tokenizer()
        tokenizer.train_from_iterator(stretches(path), size, buffer_size=64, pattern=PATTERN)
        return tokenizer.vocab_size

    return train


def bpeasy(path, size):
    import bpeasy

    return lambda: len(bpeasy.train_bpe(stretches(path), PATTERN, 1 << 20, size, batch_size=64))


def tokenizers(path, size):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    def train():
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
        trainer = trainers.BpeTrainer(
            vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
        )
        tokenizer.train_from_iterator(stretches(path), trainer)
        return tokenizer.get_vocab_size()

    return train


def gigatoken(path, size):
    import gigatoken

    return lambda: len(gigatoken.train_bpe(path, size, [])[0])


def main():
    name, path, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    train = {"rustbpe": rustbpe, "bpeasy": bpeasy, "tokenizers": tokenizers, "gigatoken": gigatoken}[name](path, size)
    begin, busy = time.monotonic(), time.process_time()
    tokens = train()
    seconds, busy = time.monotonic() - begin, time.process_time() - busy
    print(seconds, busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, tokens, flush=True)


if __name__ == "__main__":
    main()
