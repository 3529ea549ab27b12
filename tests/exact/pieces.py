"""The pieces of a text by any pattern, of the reference and of libtik, side by side.

Both are given the same vocabulary, in which every stretch of the texts under test is a token: then a piece
is always one token, and the ids show where a text was cut. Bytes that no match covers give no ids in either.
"""

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p

import tiktoken

import tiklib


class Refused(Exception):
    """A pattern that is not taken: by libtik with place and reason, or by the reference."""

    def __init__(self, reason, offset=None):
        super().__init__(reason)
        self.offset = offset


class Vocabulary:
    """The bytes, and every stretch of the texts that begins and ends between characters."""

    def __init__(self, texts):
        self.texts = texts
        stretches = {text[start:end].encode() for text in texts
                     for start in range(len(text)) for end in range(start + 1, len(text) + 1)}
        self.ranks = {bytes([byte]): byte for byte in range(256)}
        for stretch in sorted(stretches):
            self.ranks.setdefault(stretch, len(self.ranks))
        self.bytes_of = list(self.ranks)
        self.tokens = (tiklib.Token * len(self.ranks))(*[(token, len(token), rank)
                                                         for token, rank in self.ranks.items()])

    def pieces(self, ids):
        return [self.bytes_of[number] for number in ids]


class Reference:
    """The reference's encoding with a pattern."""

    def __init__(self, pattern, vocabulary):
        self.vocabulary = vocabulary
        try:
            self.encoding = tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=vocabulary.ranks,
                                              special_tokens={})
        except KeyboardInterrupt:
            raise
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


class Library:
    """libtik's encoding with a pattern."""

    def __init__(self, pattern, vocabulary):
        self.vocabulary = vocabulary
        self.handle = c_void_p()
        text = pattern.encode()
        definition = tiklib.Definition(ctypes.sizeof(tiklib.Definition), b"test", text, len(text), vocabulary.tokens,
                                       len(vocabulary.tokens), None, 0, 0)
        try:
            tiklib.call("tik_open_definition", byref(definition), byref(self.handle))
        except ValueError as error:
            if error.status != tiklib.PATTERN:
                raise
            raise Refused(str(error), error.offset) from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        tiklib.library().tik_close(self.handle)

    def pieces(self, text):
        """None where libtik fails on the text, which is an error by name, never another answer."""
        data = text.encode()
        with tiklib.ids_array() as ids:
            try:
                tiklib.call("tik_encode_ordinary", self.handle, data, len(data), byref(ids))
            except ValueError as error:
                if error.status != tiklib.PATTERN:
                    raise
                return None
            return self.vocabulary.pieces(tiklib.elements(ids))

    def streamed(self, text, cuts):
        """The same of a stream that is fed the slices between `cuts`, which may lie inside characters."""
        data, stream = text.encode(), c_void_p()
        call = tiklib.call
        with tiklib.ids_array() as ids:
            call("tik_stream_new", self.handle, None, byref(stream))
            try:
                for start, end in zip([0, *cuts], [*cuts, len(data)]):
                    call("tik_stream_feed", stream, data[start:end], c_size_t(end - start), byref(ids))
                call("tik_stream_finish", stream, byref(ids))
            finally:
                tiklib.library().tik_stream_free(stream)
            return self.vocabulary.pieces(tiklib.elements(ids))


def declare_streams():
    lib = tiklib.library()
    for name, arguments in {"tik_stream_new": [c_void_p, POINTER(tiklib.Options), POINTER(c_void_p)],
                            "tik_stream_feed": [c_void_p, c_char_p, c_size_t, POINTER(tiklib.Ids)],
                            "tik_stream_finish": [c_void_p, POINTER(tiklib.Ids)]}.items():
        getattr(lib, name).restype = c_int
        getattr(lib, name).argtypes = [*arguments, POINTER(tiklib.Error)]
    lib.tik_stream_free.restype, lib.tik_stream_free.argtypes = None, [c_void_p]


declare_streams()


def cuts_of(text):
    """Ways to cut the bytes of a text: every byte by itself, and in thirds."""
    length = len(text.encode())
    return [list(range(1, length)), [length // 3, 2 * length // 3]] if length > 2 else []


def difference(pattern, vocabulary, reference=None):
    """
    Runs the pattern over all texts in both, and through streams. A line that tells the first difference, or
    None. Raises Refused if libtik does not take the pattern; what only the reference refuses is run here for
    the streams alone.
    """
    with Library(pattern, vocabulary) as library:
        try:
            reference = reference or Reference(pattern, vocabulary)
        except Refused:
            reference = None
        for text in vocabulary.texts:
            found = library.pieces(text)
            expected = reference.pieces(text) if reference else None
            if expected is not None and found != expected:
                return f"{pattern!r} on {text!r}: the reference has {expected}, libtik {found}"
            for cuts in cuts_of(text) if found is not None else []:
                streamed = library.streamed(text, cuts)
                if streamed != found:
                    return f"{pattern!r} on {text!r} cut at {cuts}: whole {found}, streamed {streamed}"
    return None
