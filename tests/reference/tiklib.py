"""libtik from Python, by ctypes: as thin as the tests allow.

`Encoding` has the methods of the reference package's class of that name; every answer comes from the C
library. What is left to Python is what only a Python caller can ask for: texts with surrogates, names in
`allowed_special` and `disallowed_special` that are no special tokens, error handlers of other names.

The library is $TIK_LIBRARY, else libtik.so (.dylib) in the build folder $TIK_BUILD, else in build/.
"""

import ctypes
import functools
import os
import pathlib
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_int, c_size_t, c_uint, c_uint32, c_void_p

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TIK_BUILD", SOURCE / "build")).resolve()


def library_path():
    if "TIK_LIBRARY" in os.environ:
        return os.environ["TIK_LIBRARY"]
    for name in ("libtik.so", "libtik.dylib"):
        if (BUILD / "src" / name).exists():
            return str(BUILD / "src" / name)
    raise OSError(f"no libtik in {BUILD / 'src'}: build it first, or set TIK_BUILD or TIK_LIBRARY")


# The names of tik_status; what is not here is raised as RuntimeError.
(OK, MEMORY, ARGUMENT, NAME, UTF8, SPECIAL, ID, FORMAT, PATTERN, IO, NETWORK, HASH, OFFLINE, LIMIT, CANCELLED,
 MISSING) = range(16)
_EXCEPTIONS = {MEMORY: MemoryError, NAME: KeyError, ID: KeyError, SPECIAL: ValueError, UTF8: ValueError,
               FORMAT: ValueError, PATTERN: ValueError, ARGUMENT: ValueError, IO: OSError}

SET_NONE, SET_ALL, SET_LISTED = range(3)
BYTES, STRICT, REPLACE, IGNORE = range(4)


class Error(ctypes.Structure):
    _fields_ = [("status", c_int), ("line", c_size_t), ("offset", c_size_t), ("message", c_char * 512)]


def _array_of(element):
    class Array(ctypes.Structure):
        _fields_ = [("data", POINTER(element)), ("length", c_size_t), ("capacity", c_size_t)]

    return Array


Ids, Bytes, Sizes = _array_of(c_uint32), _array_of(c_char), _array_of(c_size_t)


class Text(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("length", c_size_t)]


class Token(ctypes.Structure):
    _fields_ = [("bytes", c_char_p), ("length", c_size_t), ("rank", c_uint32)]


class Special(ctypes.Structure):
    _fields_ = [("text", POINTER(c_char)), ("length", c_size_t), ("id", c_uint32)]


class SpecialIn(ctypes.Structure):
    _fields_ = [("text", c_char_p), ("length", c_size_t), ("id", c_uint32)]


class Definition(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("pattern", c_char_p), ("pattern_length", c_size_t),
                ("tokens", POINTER(Token)), ("token_count", c_size_t), ("specials", POINTER(SpecialIn)),
                ("special_count", c_size_t), ("explicit_vocab_size", c_size_t)]


class Options(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("allowed", c_int), ("disallowed", c_int), ("allowed_list", POINTER(c_char_p)),
                ("allowed_count", c_size_t), ("disallowed_list", POINTER(c_char_p)), ("disallowed_count", c_size_t),
                ("replace_invalid", c_bool), ("threads", c_uint), ("limit", c_size_t)]


class ModelName(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("encoding", c_char_p), ("is_prefix", c_bool)]


_E = POINTER(Error)
_SIGNATURES = {
    "tik_version_details": (c_char_p, []),
    "tik_ids_free": (None, [POINTER(Ids)]),
    "tik_bytes_free": (None, [POINTER(Bytes)]),
    "tik_sizes_free": (None, [POINTER(Sizes)]),
    "tik_open": (c_int, [c_char_p, POINTER(c_void_p), _E]),
    "tik_open_definition": (c_int, [POINTER(Definition), POINTER(c_void_p), _E]),
    "tik_close": (None, [c_void_p]),
    "tik_name": (c_char_p, [c_void_p]),
    "tik_pattern": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "tik_engine": (c_char_p, [c_void_p]),
    "tik_largest_id": (c_uint32, [c_void_p]),
    "tik_vocab_size": (c_size_t, [c_void_p]),
    "tik_token_count": (c_size_t, [c_void_p]),
    "tik_special_count": (c_size_t, [c_void_p]),
    "tik_special_at": (c_int, [c_void_p, c_size_t, POINTER(Special), _E]),
    "tik_end_of_text": (c_int, [c_void_p, POINTER(c_uint32), _E]),
    "tik_is_special": (c_bool, [c_void_p, c_uint32]),
    "tik_token_bytes": (c_int, [c_void_p, c_uint32, POINTER(c_void_p), POINTER(c_size_t), _E]),
    "tik_token_id": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_uint32), _E]),
    "tik_tokens_sorted": (c_int, [c_void_p, POINTER(Ids), _E]),
    "tik_encode": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Options), POINTER(Ids), _E]),
    "tik_encode_ordinary": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Ids), _E]),
    "tik_count": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_size_t), _E]),
    "tik_count_with": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Options), POINTER(c_size_t), _E]),
    "tik_encode_bytes": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Ids), _E]),
    "tik_encode_piece": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Ids), _E]),
    "tik_encode_offsets": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Options), POINTER(Ids), POINTER(Sizes), _E]),
    "tik_offsets_in_characters": (c_int, [c_char_p, c_size_t, POINTER(Sizes), _E]),
    "tik_pieces": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Sizes), _E]),
    "tik_encode_unstable": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Options), POINTER(Ids), POINTER(Ids),
                                    POINTER(Sizes), _E]),
    "tik_encode_batch": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(Options), POINTER(Ids), POINTER(Sizes), _E]),
    "tik_count_batch": (c_int, [c_void_p, c_void_p, c_size_t, POINTER(Options), POINTER(c_size_t), _E]),
    "tik_decode": (c_int, [c_void_p, POINTER(c_uint32), c_size_t, c_int, POINTER(Bytes), _E]),
    "tik_decode_batch": (c_int, [c_void_p, POINTER(c_uint32), POINTER(c_size_t), c_size_t, c_int, c_uint,
                                 POINTER(Bytes), POINTER(Sizes), _E]),
    "tik_decode_offsets": (c_int, [c_void_p, POINTER(c_uint32), c_size_t, POINTER(Bytes), POINTER(Sizes), _E]),
    "tik_encoding_at": (c_char_p, [c_size_t]),
    "tik_encoding_for_model": (c_int, [c_char_p, POINTER(c_char_p), _E]),
    "tik_model_at": (c_bool, [c_size_t, POINTER(ModelName)]),
}


@functools.cache
def library():
    lib = ctypes.CDLL(library_path())
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def call(name, *arguments):
    """Calls a function that returns a status; a failure becomes the exception that the reference raises."""
    error = Error()
    status = getattr(library(), name)(*arguments, byref(error))
    if status != OK:
        exception = _EXCEPTIONS.get(status, RuntimeError)(error.message.decode("utf-8", "replace"))
        exception.status, exception.offset = status, error.offset
        raise exception


class _Owned:
    """An array that the library grows, released at the end of a with block."""

    def __init__(self, kind, release):
        self.value, self.release = kind(), release

    def __enter__(self):
        return self.value

    def __exit__(self, *_):
        getattr(library(), self.release)(byref(self.value))


def ids_array():
    return _Owned(Ids, "tik_ids_free")


def bytes_array():
    return _Owned(Bytes, "tik_bytes_free")


def sizes_array():
    return _Owned(Sizes, "tik_sizes_free")


def elements(array):
    """The elements as a list (as bytes for bytes)."""
    return array.data[:array.length] if array.length else (b"" if isinstance(array, Bytes) else [])


def utf8(text):
    """(UTF-8 of a str, whether it had surrogates): pairs become characters, single ones U+FFFD."""
    try:
        return text.encode("utf-8"), False
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8"), True


def id_list(tokens):
    try:
        return (c_uint32 * len(tokens))(*tokens)
    except TypeError:
        tokens = list(tokens)
        return (c_uint32 * len(tokens))(*tokens)


def text_list(texts):
    """tik_text[] over a list of bytes."""
    array = (Text * len(texts))()
    for text, slot in zip(texts, array):
        slot.data, slot.length = ctypes.cast(text, c_void_p), len(text)
    return array


class Encoding:
    def __init__(self, name, *, pat_str, mergeable_ranks, special_tokens, explicit_n_vocab=None):
        tokens = (Token * max(1, len(mergeable_ranks)))()
        for (token, rank), slot in zip(mergeable_ranks.items(), tokens):
            slot.bytes, slot.length, slot.rank = token, len(token), rank
        specials = (SpecialIn * max(1, len(special_tokens)))()
        for (text, number), slot in zip(special_tokens.items(), specials):
            data = text.encode("utf-8")
            slot.text, slot.length, slot.id = data, len(data), number
        pattern = pat_str.encode("utf-8")
        definition = Definition(ctypes.sizeof(Definition), name.encode("utf-8"), pattern, len(pattern), tokens,
                                len(mergeable_ranks), specials, len(special_tokens), explicit_n_vocab or 0)
        handle = c_void_p()
        call("tik_open_definition", byref(definition), byref(handle))
        self._adopt(handle)

    @classmethod
    def open(cls, name):
        """A public encoding."""
        handle = c_void_p()
        call("tik_open", name.encode("utf-8"), byref(handle))
        encoding = cls.__new__(cls)
        encoding._adopt(handle)
        return encoding

    def _adopt(self, handle):
        self.handle = handle
        self.name = library().tik_name(handle).decode("utf-8")

    def __del__(self):
        if getattr(self, "handle", None):
            library().tik_close(self.handle)
            self.handle = None

    def __repr__(self):
        return f"<Encoding {self.name!r}>"

    # What it is.

    @property
    def engine(self):
        return library().tik_engine(self.handle).decode("utf-8")

    @property
    def max_token_value(self):
        return library().tik_largest_id(self.handle)

    @property
    def n_vocab(self):
        return library().tik_vocab_size(self.handle)

    @property
    def eot_token(self):
        number = c_uint32()
        call("tik_end_of_text", self.handle, byref(number))
        return number.value

    @functools.cached_property
    def _special_tokens(self):
        found = {}
        for index in range(library().tik_special_count(self.handle)):
            special = Special()
            call("tik_special_at", self.handle, index, byref(special))
            found[special.text[:special.length].decode("utf-8")] = special.id
        return found

    @functools.cached_property
    def special_tokens_set(self):
        return set(self._special_tokens)

    def is_special_token(self, token):
        assert isinstance(token, int)
        return library().tik_is_special(self.handle, token)

    @functools.cached_property
    def _mergeable_ranks(self):
        with ids_array() as ids:
            call("tik_tokens_sorted", self.handle, byref(ids))
            return {self.decode_single_token_bytes(token): token for token in sorted(elements(ids))}

    @property
    def _pat_str(self):
        length = c_size_t()
        return ctypes.string_at(library().tik_pattern(self.handle, byref(length)), length.value).decode("utf-8")

    # Encoding.

    def _options(self, text, allowed_special, disallowed_special, had_surrogates=False):
        """tik_options for the reference's two sets. Names that are no special tokens are Python's to judge."""
        options = Options(ctypes.sizeof(Options), SET_NONE, SET_NONE)
        known = self.special_tokens_set
        if isinstance(allowed_special, str) and allowed_special == "all":
            options.allowed = SET_ALL
            allowed_special = known
        else:
            listed = [name.encode("utf-8") for name in allowed_special if name in known]
            options.allowed = SET_LISTED if listed else SET_NONE
            options.allowed_list, options.allowed_count = (c_char_p * len(listed))(*listed), len(listed)
        if isinstance(disallowed_special, str) and disallowed_special == "all":
            options.disallowed = SET_ALL
            disallowed_special = known - set(allowed_special)
        else:
            listed = [name.encode("utf-8") for name in disallowed_special if name in known]
            options.disallowed = SET_LISTED if listed else SET_NONE
            options.disallowed_list, options.disallowed_count = (c_char_p * len(listed))(*listed), len(listed)
        for name in disallowed_special:
            if (had_surrogates or name not in known) and name in text:
                raise ValueError(f"the text contains {name!r}, which is disallowed")
        if had_surrogates:
            options.disallowed = SET_NONE
        return options

    def encode_ordinary(self, text):
        data = utf8(text)[0]
        with ids_array() as ids:
            call("tik_encode_ordinary", self.handle, data, len(data), byref(ids))
            return elements(ids)

    def encode(self, text, *, allowed_special=frozenset(), disallowed_special="all"):
        data, had_surrogates = utf8(text)
        options = self._options(text, allowed_special, disallowed_special, had_surrogates)
        with ids_array() as ids:
            call("tik_encode", self.handle, data, len(data), byref(options), byref(ids))
            return elements(ids)

    def encode_to_numpy(self, text, *, allowed_special=frozenset(), disallowed_special="all"):
        import numpy

        return numpy.array(self.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special),
                           dtype=numpy.uint32)

    def _batch(self, texts, options, num_threads):
        options.threads = num_threads
        slots = text_list(texts)
        with ids_array() as ids, sizes_array() as starts:
            call("tik_encode_batch", self.handle, slots, len(texts), byref(options), byref(ids), byref(starts))
            every, places = elements(ids), elements(starts)
        return [every[first:last] for first, last in zip(places, places[1:])]

    def encode_ordinary_batch(self, text, *, num_threads=8):
        return self._batch([utf8(one)[0] for one in text], self._options("", (), ()), num_threads)

    def encode_batch(self, text, *, num_threads=8, allowed_special=frozenset(), disallowed_special="all"):
        known = self.special_tokens_set
        listed = set() if isinstance(disallowed_special, str) else set(disallowed_special)
        encoded = [utf8(one) for one in text]
        if listed - known or any(had for _, had in encoded):
            return [self.encode(one, allowed_special=allowed_special, disallowed_special=disallowed_special)
                    for one in text]
        return self._batch([data for data, _ in encoded], self._options("", allowed_special, disallowed_special),
                           num_threads)

    def encode_with_unstable(self, text, *, allowed_special=frozenset(), disallowed_special="all"):
        data = text.encode("utf-8")
        options = self._options(text, allowed_special, disallowed_special)
        with ids_array() as stable, ids_array() as completions, sizes_array() as starts:
            call("tik_encode_unstable", self.handle, data, len(data), byref(options), byref(stable),
                 byref(completions), byref(starts))
            every, places = elements(completions), elements(starts)
            return elements(stable), [every[first:last] for first, last in zip(places, places[1:])]

    def encode_single_token(self, text_or_bytes):
        data = text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
        number = c_uint32()
        call("tik_token_id", self.handle, data, len(data), byref(number))
        return number.value

    def _encode_single_piece(self, text_or_bytes):
        data = text_or_bytes.encode("utf-8") if isinstance(text_or_bytes, str) else text_or_bytes
        with ids_array() as ids:
            call("tik_encode_piece", self.handle, data, len(data), byref(ids))
            return elements(ids)

    def _encode_bytes(self, text):
        with ids_array() as ids:
            call("tik_encode_bytes", self.handle, text, len(text), byref(ids))
            return elements(ids)

    def count(self, text):
        data = utf8(text)[0]
        count = c_size_t()
        call("tik_count", self.handle, data, len(data), byref(count))
        return count.value

    def encode_with_offsets(self, text, *, characters=False, allowed_special=frozenset(), disallowed_special="all"):
        """(ids, the start of each in bytes or characters)."""
        data = text.encode("utf-8")
        options = self._options(text, allowed_special, disallowed_special)
        with ids_array() as ids, sizes_array() as offsets:
            call("tik_encode_offsets", self.handle, data, len(data), byref(options), byref(ids), byref(offsets))
            if characters:
                call("tik_offsets_in_characters", data, len(data), byref(offsets))
            return elements(ids), elements(offsets)

    def pieces(self, text):
        """The pieces of the text, as bytes."""
        data = text.encode("utf-8")
        with sizes_array() as ends:
            call("tik_pieces", self.handle, data, len(data), byref(ends))
            places = [0, *elements(ends)]
        return [data[first:last] for first, last in zip(places, places[1:])]

    # Decoding.

    def decode_bytes(self, tokens, mode=BYTES):
        ids = id_list(tokens)
        with bytes_array() as out:
            call("tik_decode", self.handle, ids, len(ids), mode, byref(out))
            return elements(out)

    def decode(self, tokens, errors="replace"):
        mode = {"strict": STRICT, "replace": REPLACE, "ignore": IGNORE}.get(errors)
        if mode is None:
            return self.decode_bytes(tokens).decode("utf-8", errors=errors)
        return self.decode_bytes(tokens, mode).decode("utf-8")

    def decode_single_token_bytes(self, token):
        data, length = c_void_p(), c_size_t()
        call("tik_token_bytes", self.handle, token, byref(data), byref(length))
        return ctypes.string_at(data, length.value)

    def decode_tokens_bytes(self, tokens):
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens):
        ids = id_list(tokens)
        with bytes_array() as text, sizes_array() as offsets:
            call("tik_decode_offsets", self.handle, ids, len(ids), byref(text), byref(offsets))
            return elements(text).decode("utf-8"), elements(offsets)

    def decode_bytes_batch(self, batch, *, num_threads=8, mode=BYTES):
        batch = [list(tokens) for tokens in batch]
        ids = id_list([token for tokens in batch for token in tokens])
        places = (c_size_t * (len(batch) + 1))()
        for index, tokens in enumerate(batch):
            places[index + 1] = places[index] + len(tokens)
        with bytes_array() as out, sizes_array() as starts:
            call("tik_decode_batch", self.handle, ids, places, len(batch), mode, num_threads, byref(out), byref(starts))
            every, bounds = elements(out), elements(starts)
        return [every[first:last] for first, last in zip(bounds, bounds[1:])]

    def decode_batch(self, batch, *, errors="replace", num_threads=8):
        mode = {"strict": STRICT, "replace": REPLACE, "ignore": IGNORE}.get(errors, BYTES)
        return [text.decode("utf-8", errors) for text in self.decode_bytes_batch(batch, num_threads=num_threads, mode=mode)]

    def token_byte_values(self):
        with ids_array() as ids:
            call("tik_tokens_sorted", self.handle, byref(ids))
            return self.decode_tokens_bytes(elements(ids))

    # As the reference, public encodings are pickled by name, others by all that makes them.

    def __getstate__(self):
        if _opened.get(self.name) is self:
            return self.name
        return {"name": self.name, "pat_str": self._pat_str, "mergeable_ranks": self._mergeable_ranks,
                "special_tokens": self._special_tokens}

    def __setstate__(self, state):
        if isinstance(state, str):
            handle = c_void_p()
            call("tik_open", state.encode("utf-8"), byref(handle))
            self._adopt(handle)
        else:
            self.__init__(**state)


_opened = {}


def get_encoding(encoding_name):
    if encoding_name not in _opened:
        try:
            _opened[encoding_name] = Encoding.open(encoding_name)
        except KeyError as error:
            raise ValueError(error.args[0]) from None
    return _opened[encoding_name]


def list_encoding_names():
    names = []
    while (name := library().tik_encoding_at(len(names))) is not None:
        names.append(name.decode("utf-8"))
    return names


def encoding_name_for_model(model_name):
    name = c_char_p()
    call("tik_encoding_for_model", model_name.encode("utf-8"), byref(name))
    return name.value.decode("utf-8")


def encoding_for_model(model_name):
    return get_encoding(encoding_name_for_model(model_name))


def model_names():
    """[(name, encoding, whether it is a prefix)], in the library's order."""
    names, entry = [], ModelName()
    while library().tik_model_at(len(names), byref(entry)):
        names.append((entry.name.decode("utf-8"), entry.encoding.decode("utf-8"), entry.is_prefix))
    return names
