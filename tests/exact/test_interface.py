"""Every other way in and out of an encoding on random input: special tokens, completions, offsets, decoding."""

import functools
import itertools
import random

import pytest
import reference
import tiklib
from compare import FULL, mine

ROUNDS = 5 if FULL else 1
ALPHABET = "aAbesStT rRvVmMlLdD  \t\n\r\u00A0\u3000'’.,/-_|<>()0123٣½éßſǅʰאक字한🚀\u200D\u0301\0"
SURROGATES = "\ud83d\ude80\ud800\udfff\udc00"


def panics(call, *arguments, **options):
    """What the reference gives, or None where it panics, which pyo3 raises as a BaseException."""
    try:
        return call(*arguments, **options)
    except Exception:
        raise
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return None


def random_text(rng, most, specials=(), alphabet=ALPHABET):
    parts = []
    for _ in range(rng.randint(0, most)):
        kind = rng.random()
        if specials and kind < 0.3:
            special = rng.choice(specials)
            parts.append(rng.choice([special, special, special[:-1], special[1:], special + special[:2]]))
        elif kind < 0.4:
            parts.append(rng.choice(["hello", " world", "'s", "  ", "\n\n", "don't", " 123", "été", "こんにちは"]))
        else:
            parts.append(rng.choice(alphabet) * rng.choice([1, 1, 1, 2, 4]))
    return "".join(parts)


# ---- Special tokens ---------------------------------------------------------------------------


@functools.cache
def small_ranks():
    """A small vocabulary, quick to make encodings of: the first tokens of r50k_base."""
    return {data: rank for data, rank in reference.encoding("r50k_base")._mergeable_ranks.items() if rank < 1500}


FAMILIES = {
    "a prefix of another": ["<|a|>", "<|a|><|b|>", "<|a", "<|ab|>"],
    "overlapping": ["abab", "bab", "baba", "aba"],
    "spaces": [" ", "  x", "[end of text]", "\n\n\n"],
    "regex characters": [".*", "a+b", "(?i)", "[^]", "$", "^", "\\p{L}", "|", "{1,3}", "a|b"],
    "other scripts": ["конец", "終わり", "🚀🚀", "é", "\u0301", "<|終|>"],
    "zero byte": ["\0", "a\0b"],
}
PATTERNS = [r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
            r"\p{L}+|[^\p{L}]"]


def longest_first(encode_ordinary, specials, text, allowed):
    """The answer where the longest allowed special token at a place is taken: one of those that the reference's
    alternation, whose order is a hash table's, can give."""
    order = sorted(allowed, key=len, reverse=True)
    ids, start, place = [], 0, 0
    while place < len(text):
        found = next((special for special in order if text.startswith(special, place)), None)
        if found is None:
            place += 1
            continue
        ids += [*encode_ordinary(text[start:place]), specials[found]]
        start = place = place + len(found)
    return ids + encode_ordinary(text[start:])


def ambiguous(specials, text):
    """Whether two special tokens begin at one place of the text: there the reference's answer is arbitrary."""
    return any(sum(text.startswith(special, place) for special in specials) > 1 for place in range(len(text)))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pattern", PATTERNS, ids=["cl100k", "letters"])
def test_special_tokens_of_any_name(family, pattern, compared):
    import tiktoken

    ranks = small_ranks()
    # A special token may not be a token too: then the name gets another character.
    names = [name if name.encode("utf-8") not in ranks else name + "\u2603" for name in FAMILIES[family]]
    specials = {name: 2000 + index for index, name in enumerate(dict.fromkeys(names))}
    made = {"name": "test", "pat_str": pattern, "mergeable_ranks": ranks, "special_tokens": specials}
    there, here = tiktoken.Encoding(**made), tiklib.Encoding(**made)
    assert here._special_tokens == specials and here._mergeable_ranks == ranks
    rng = random.Random(family)
    texts = tokens = arbitrary = 0
    for _ in range(800 * ROUNDS):
        text = random_text(rng, 8, list(specials))
        # The interface in C lists zero-terminated names: one with a zero byte is reached by "all" alone.
        listed = [name for name in sorted(specials) if "\0" not in name]
        allowed = set(rng.sample(listed, rng.randint(0, len(listed))))
        disallowed = rng.choice([(), (), (), "all", rng.sample(listed, rng.randint(0, len(listed)))])
        policy = {"allowed_special": rng.choice([allowed, allowed, "all"]), "disallowed_special": disallowed}
        try:
            expected = panics(there.encode, text, **policy)
        except ValueError as error:
            assert "disallowed special token" in str(error)
            with pytest.raises(ValueError) as refused:
                here.encode(text, **policy)
            assert refused.value.status == tiklib.SPECIAL
            continue
        ids = here.encode(text, **policy)
        chosen = specials.keys() if policy["allowed_special"] == "all" else allowed
        if expected is None or ambiguous(specials, text):
            arbitrary += 1
            expected = longest_first(there.encode_ordinary, specials, text, chosen)
        assert ids == expected, (text, policy)
        assert here.decode_bytes(ids) == text.encode("utf-8")
        texts, tokens = texts + 1, tokens + len(ids)
    assert texts > arbitrary
    compared(f"special tokens, {family} ({arbitrary} where the reference's choice is arbitrary)", (texts, tokens))


@pytest.mark.parametrize("name", reference.NAMES)
def test_special_tokens_of_the_encodings(name, compared):
    here, there = mine(name), reference.encoding(name)
    rng = random.Random(name)
    some = sorted(there.special_tokens_set)[:12] + ["<|endoftext|>"]
    texts = tokens = 0
    for _ in range(800 * ROUNDS):
        text = random_text(rng, 10, some + ["<|nosuch|>"])
        policy = {"allowed_special": rng.choice(["all", set(), {"<|endoftext|>"}, set(rng.sample(some, 2)) | {"<|nosuch|>"}]),
                  "disallowed_special": rng.choice(["all", (), {"<|endoftext|>"}, rng.sample(some, 2), {"<|nosuch|>"}, ["hello"]])}
        try:
            expected = there.encode(text, **policy)
        except ValueError:
            with pytest.raises(ValueError):
                here.encode(text, **policy)
            with pytest.raises(ValueError):
                here.encode_batch(["x", text], **policy)
            continue
        assert here.encode(text, **policy) == expected, (text, policy)
        assert here.encode_batch([text, "x"], **policy)[0] == expected
        assert here.encode_to_numpy(text, **policy).tolist() == expected
        texts, tokens = texts + 1, tokens + len(expected)
    compared(f"{name}: special tokens under any policy", (texts, tokens))


# ---- Texts as Python callers pass them ---------------------------------------------------------


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_VOCABULARY)
def test_lone_surrogates(name, compared):
    here, there = mine(name), reference.encoding(name)
    rng = random.Random(name)
    texts = tokens = 0
    for _ in range(1500 * ROUNDS):
        text = random_text(rng, 8, ["<|endoftext|>"], ALPHABET + SURROGATES * 4)
        assert here.encode_ordinary(text) == there.encode_ordinary(text)
        expected = there.encode(text, allowed_special="all")
        assert here.encode(text, allowed_special="all") == expected
        assert here.encode_ordinary_batch([text, text]) == there.encode_ordinary_batch([text, text])
        texts, tokens = texts + 1, tokens + len(expected)
    compared(f"{name}: texts with surrogates", (texts, tokens))


# ---- Completions -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_VOCABULARY)
def test_unstable_completions(name, compared):
    here, there = mine(name), reference.encoding(name)
    rng = random.Random(name)
    texts = tokens = panicked = 0
    ends = ["", " ", "  ", "\n", "\n\n", " \n", "\t", "\u3000", "\u00A0\u2003", "'", "'s", "1", "12", "123", " fan", "hello fanta",
            "\u2028", "é", "字", "🚀", "don'", "\r", "\r\n", "....", " =", "</", "\u180E", "\0", "e\u0301", " \u00A0", "<|endoftext|>",
            "abc<|endoftext|"]
    made = itertools.chain((start + end for start in ("", "x", "hello", " \n", "1")[:5 if FULL else 2] for end in ends),
                           (random_text(rng, 6) + rng.choice(ends) for _ in range(60 * ROUNDS)))
    for text in made:
        policy = {"allowed_special": rng.choice(["all", "all", set()]), "disallowed_special": ()}
        expected = panics(there.encode_with_unstable, text, **policy)
        if expected is None:
            panicked += 1
            continue
        stable, completions = here.encode_with_unstable(text, **policy)
        assert stable == expected[0], text
        assert completions == sorted(completions)
        assert completions == sorted(expected[1]), text
        texts, tokens = texts + 1, tokens + len(stable) + sum(map(len, completions))
    assert panicked < texts / 10
    compared(f"{name}: unstable completions", (texts, tokens))


# ---- Pieces, single tokens, counts, offsets ----------------------------------------------------


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_VOCABULARY)
def test_pieces_tokens_and_counts(name, compared):
    here, there = mine(name), reference.encoding(name)
    rng = random.Random(name)
    values = there.token_byte_values()
    texts = tokens = 0
    for _ in range(1500 * ROUNDS):
        text = random_text(rng, 10)
        ids = there.encode_ordinary(text)
        assert here.count(text) == len(ids)
        assert [token for piece in here.pieces(text) for token in there._encode_single_piece(piece)] == ids
        piece = rng.choice([rng.choice(values) + rng.choice(values), rng.randbytes(rng.randint(1, 40)), text.encode() or b"x",
                            rng.choice(values)[1:] or b"y", rng.choice([b"a", b" ", b"\xF0\x9F"]) * rng.randint(1, 300)])
        expected = there._encode_single_piece(piece)
        assert here._encode_single_piece(piece) == expected, piece
        for data in (piece, rng.choice(values), b"", b"<|endoftext|>", b"<|endoftext|"):
            try:
                number = there.encode_single_token(data)
            except KeyError:
                with pytest.raises(KeyError):
                    here.encode_single_token(data)
            else:
                assert here.encode_single_token(data) == number
        texts, tokens = texts + 2, tokens + len(ids) + len(expected)
    compared(f"{name}: counts, pieces, single pieces and tokens", (texts, tokens))


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_VOCABULARY)
def test_offsets(name, compared):
    here, there = mine(name), reference.encoding(name)
    rng = random.Random(name)
    texts = tokens = 0
    for _ in range(1500 * ROUNDS):
        text = random_text(rng, 12, ["<|endoftext|>"])
        ids = there.encode(text, allowed_special="all")
        lengths = list(map(len, there.decode_tokens_bytes(ids)))
        starts = list(itertools.accumulate(lengths, initial=0))[:-1]
        assert here.encode_with_offsets(text, allowed_special="all") == (ids, starts)
        assert here.encode_with_offsets(text, characters=True, allowed_special="all") == (ids, there.decode_with_offsets(ids)[1])
        assert here.decode_with_offsets(ids) == there.decode_with_offsets(ids)
        texts, tokens = texts + 1, tokens + len(ids)
    compared(f"{name}: offsets", (texts, tokens))


# ---- Decoding ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", reference.NAMES)
def test_decoding_any_ids(name, compared):
    here, there = mine(name), reference.encoding(name)
    rng = random.Random(name)
    known = sorted({*there._mergeable_ranks.values(), *there._special_tokens.values()})
    # Tokens that are pieces of characters are where the ways of decoding part.
    broken = [rank for data, rank in there._mergeable_ranks.items() if max(data) >= 0x80 and not data.decode("utf-8", "ignore")]
    lists = tokens = 0
    batch = []
    for _ in range(1500 * ROUNDS):
        ids = [rng.choice(rng.choice([known, broken, broken])) for _ in range(rng.randint(0, 12))]
        assert here.decode_bytes(ids) == there.decode_bytes(ids)
        assert here.decode_tokens_bytes(ids) == there.decode_tokens_bytes(ids)
        for errors in ("replace", "ignore", "backslashreplace"):
            assert here.decode(ids, errors=errors) == there.decode(ids, errors=errors)
        try:
            expected = there.decode(ids, errors="strict"), there.decode_with_offsets(ids)
        except UnicodeDecodeError:
            for function in (functools.partial(here.decode, errors="strict"), here.decode_with_offsets):
                with pytest.raises(ValueError):
                    function(ids)
        else:
            assert (here.decode(ids, errors="strict"), here.decode_with_offsets(ids)) == expected
        batch.append(ids)
        lists, tokens = lists + 1, tokens + len(ids)
    assert here.decode_batch(batch) == there.decode_batch(batch)
    assert here.decode_bytes_batch(batch, num_threads=3) == there.decode_bytes_batch(batch)
    compared(f"{name}: decoding any ids", (lists, tokens))


# ---- Names -------------------------------------------------------------------------------------


def test_names_of_encodings_and_models():
    import tiktoken
    from tiktoken import model

    assert sorted(tiklib.list_encoding_names()) == sorted(tiktoken.list_encoding_names())
    exact = [(name, encoding) for name, encoding, is_prefix in tiklib.model_names() if not is_prefix]
    prefixes = [(name, encoding) for name, encoding, is_prefix in tiklib.model_names() if is_prefix]
    assert exact == list(model.MODEL_TO_ENCODING.items())
    assert prefixes == list(model.MODEL_PREFIX_TO_ENCODING.items())
    names = [*model.MODEL_TO_ENCODING, *model.MODEL_PREFIX_TO_ENCODING]
    tried = names + [name + more for name in names for more in ("x", "-2024", "-", "")] + [name[:-1] for name in names]
    for name in [*tried, "", "gpt", "GPT-4o", "ft:", "ft:gpt-4o-mini:org::id", "gpt-4o-realtime-preview", "o1-mini", "llama"]:
        try:
            expected = tiktoken.encoding_name_for_model(name)
        except KeyError:
            with pytest.raises(KeyError):
                tiklib.encoding_name_for_model(name)
        else:
            assert tiklib.encoding_name_for_model(name) == expected, name
    for name in ("cl100k", "", "CL100K_BASE", "o200k_base "):
        with pytest.raises(ValueError):
            tiklib.get_encoding(name)
