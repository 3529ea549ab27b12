"""Every token of every vocabulary: by its bytes, by its text, and back."""

import pytest
import reference
from compare import check, check_raw, mine


def spread_over(items, size=20_000):
    return [items[i:i + size] for i in range(0, len(items), size)]


def total(counts):
    return tuple(map(sum, zip(*counts)))


@pytest.mark.parametrize("name", reference.ONE_FOR_EACH_VOCABULARY)
def test_bytes_and_text_of_every_token_encode_alike(name, compared):
    tokens = reference.encoding(name).token_byte_values()
    compared(f"{name}: every token's bytes", total(check_raw(name, some) for some in spread_over(tokens)))
    texts = []
    for token in tokens:
        try:
            texts.append(token.decode("utf-8"))
        except UnicodeDecodeError:
            pass
    compared(f"{name}: every token that is text", total(check(name, some) for some in spread_over(texts)))
    # A token beside another one: what merging over their border would show.
    pairs = [one + other for one, other in zip(texts, texts[7:])] + [text + text for text in texts]
    compared(f"{name}: every such token beside another", total(check(name, some) for some in spread_over(pairs)))


@pytest.mark.parametrize("name", reference.NAMES)
def test_every_id_has_the_bytes_of_the_reference(name):
    here, there = mine(name), reference.encoding(name)
    ranks = {**there._mergeable_ranks, **{text.encode("utf-8"): token for text, token in there._special_tokens.items()}}
    for data, token in ranks.items():
        # Two special tokens of o200k_harmony share an id: its bytes are those of one of them.
        assert here.decode_single_token_bytes(token) == there.decode_single_token_bytes(token)
        assert here.encode_single_token(data) == token
    known = set(ranks.values())
    for token in [*(t for t in range(here.n_vocab + 20) if t not in known), 2**31 - 1, 2**31, 2**32 - 1]:
        with pytest.raises(KeyError):
            here.decode_single_token_bytes(token)
        with pytest.raises(KeyError):
            here.decode_bytes([0, token])


@pytest.mark.parametrize("name", reference.NAMES)
def test_what_an_encoding_is(name):
    here, there = mine(name), reference.encoding(name)
    assert here.name == there.name
    assert here._pat_str == there._pat_str
    assert here._special_tokens == there._special_tokens
    assert here.special_tokens_set == there.special_tokens_set
    assert here.max_token_value == there.max_token_value
    assert here.n_vocab == there.n_vocab
    assert here.eot_token == there.eot_token
    assert here.token_byte_values() == there.token_byte_values()
    assert here._mergeable_ranks == there._mergeable_ranks
    for token in range(here.n_vocab - 5000, here.n_vocab + 5):
        assert here.is_special_token(token) == there.is_special_token(token)
