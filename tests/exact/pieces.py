"""The pieces of a text by any pattern, of the reference and of the library, side by side.

Both are given the same vocabulary, in which every stretch of the texts under test is a token: then a piece
is always one token, and the ids show where a text was cut. Bytes that no match covers give no ids in either.
"""

import ctypes
import os
import pathlib

import tiktoken

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TIK_BUILD", SOURCE / "build")).resolve()

ERROR_PATTERN = 8


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("line", ctypes.c_size_t), ("offset", ctypes.c_size_t),
                ("message", ctypes.c_char * 512)]


class Token(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char_p), ("length", ctypes.c_size_t), ("rank", ctypes.c_uint32)]


class Definition(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("pattern", ctypes.c_char_p),
                ("pattern_length", ctypes.c_size_t), ("tokens", ctypes.POINTER(Token)),
                ("token_count", ctypes.c_size_t), ("specials", ctypes.c_void_p), ("special_count", ctypes.c_size_t),
                ("explicit_vocab_size", ctypes.c_size_t)]


class Ids(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_uint32)), ("length", ctypes.c_size_t),
                ("capacity", ctypes.c_size_t)]


class Refused(Exception):
    """A pattern that is not taken: by the library, with place and reason, or by the reference."""


class Vocabulary:
    """The bytes, and every stretch of the texts that begins and ends between characters."""

    def __init__(self, texts):
        self.texts = texts
        stretches = {text[a:b].encode() for text in texts for a in range(len(text)) for b in range(a + 1, len(text) + 1)}
        self.ranks = {bytes([byte]): byte for byte in range(256)}
        for stretch in sorted(stretches):
            self.ranks.setdefault(stretch, len(self.ranks))
        self.bytes_of = list(self.ranks)
        self.tokens = (Token * len(self.ranks))(*[(token, len(token), rank) for token, rank in self.ranks.items()])

    def pieces(self, ids):
        return [self.bytes_of[id] for id in ids]


class Reference:
    """The package's encoding with a pattern."""

    def __init__(self, pattern, vocabulary):
        self.vocabulary = vocabulary
        try:
            self.encoding = tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=vocabulary.ranks,
                                              special_tokens={})
        except BaseException as error:  # a panic of the engine is no Exception
            raise Refused(str(error)) from None

    def pieces(self, text):
        """None where the reference fails on the text: an empty match, its limits."""
        try:
            return self.vocabulary.pieces(self.encoding.encode(text, disallowed_special=()))
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None


def load_library():
    for name in ["src/libtik.so", "src/libtik.dylib"]:
        if (BUILD / name).exists():
            return ctypes.CDLL(str(BUILD / name))
    return None


class Library:
    """The library's encoding with a pattern."""

    lib = load_library()

    def __init__(self, pattern, vocabulary):
        self.vocabulary = vocabulary
        self.handle = ctypes.c_void_p()
        text = pattern.encode()
        definition = Definition(ctypes.sizeof(Definition), b"test", text, len(text), vocabulary.tokens,
                                len(vocabulary.tokens), None, 0, 0)
        error = Error()
        if self.lib.tik_open_definition(ctypes.byref(definition), ctypes.byref(self.handle), ctypes.byref(error)):
            if error.status != ERROR_PATTERN:
                raise RuntimeError(error.message.decode())
            raise Refused(error.message.decode())

    def pieces(self, text):
        """None where the library fails on the text, which is an error by name, never another answer."""
        data, ids, error = text.encode(), Ids(), Error()
        status = self.lib.tik_encode_ordinary(self.handle, data, ctypes.c_size_t(len(data)), ctypes.byref(ids),
                                              ctypes.byref(error))
        if status and status != ERROR_PATTERN:
            raise RuntimeError(error.message.decode())
        pieces = None if status else self.vocabulary.pieces(ids.data[: ids.length])
        self.lib.tik_ids_free(ctypes.byref(ids))
        return pieces

    def streamed_pieces(self, text, cuts):
        """The same of a stream that is fed the slices between `cuts`, which may lie inside characters."""
        data, ids, error, stream = text.encode(), Ids(), Error(), ctypes.c_void_p()
        status = self.lib.tik_stream_new(self.handle, None, ctypes.byref(stream), ctypes.byref(error))
        for start, end in zip([0, *cuts], [*cuts, len(data)]):
            status = status or self.lib.tik_stream_feed(stream, data[start:end], ctypes.c_size_t(end - start),
                                                        ctypes.byref(ids), ctypes.byref(error))
        status = status or self.lib.tik_stream_finish(stream, ctypes.byref(ids), ctypes.byref(error))
        if status and status != ERROR_PATTERN:
            raise RuntimeError(error.message.decode())
        pieces = None if status else self.vocabulary.pieces(ids.data[: ids.length])
        self.lib.tik_ids_free(ctypes.byref(ids))
        self.lib.tik_stream_free(stream)
        return pieces

    def close(self):
        self.lib.tik_close(self.handle)


def cut_texts(text):
    """Ways to cut the bytes of a text: every byte by itself, and in thirds."""
    length = len(text.encode())
    return [list(range(1, length)), [length // 3, 2 * length // 3]] if length > 2 else []


def compare(pattern, vocabulary, reference=None):
    """Runs the pattern over all texts in both. Returns "same" or "refused"; raises AssertionError otherwise.

    The library may refuse what the reference takes; what the reference refuses it may take too, if it can say
    what it means, for then no id of the reference is contradicted.
    """
    try:
        library = Library(pattern, vocabulary)
    except Refused as refusal:
        return f"refused: {refusal}"
    try:
        try:
            reference = reference or Reference(pattern, vocabulary)
        except Refused as refusal:
            return f"only here: {refusal}"
        for text in vocabulary.texts:
            expected = reference.pieces(text)
            found = library.pieces(text)
            if expected is not None and found != expected:
                raise AssertionError(f"{pattern!r} on {text!r}: reference {expected}, library {found}")
            for cuts in cut_texts(text):
                streamed = library.streamed_pieces(text, cuts)
                if found is not None and streamed != found:
                    raise AssertionError(f"{pattern!r} on {text!r} cut at {cuts}: whole {found}, stream {streamed}")
    finally:
        library.close()
    return "same"
