"""Users' patterns: the pieces of the reference, or a refusal with place and reason; never a silent difference.

Rows of the dialect, patterns of other models, and patterns that a seeded generator puts together. With
TIK_EXACT=full more of the last.
"""

import collections
import os

import pytest

import random_patterns
from compare import in_processes
from pieces import Library, Reference, Refused, Vocabulary, difference

FULL = os.environ.get("TIK_EXACT") == "full"
GENERATED = 4800 if FULL else 600
SEEDS = 12 if FULL else 4

TEXTS = random_patterns.texts(1, short=120, long=12)

# What each part of the dialect means is told by the reference, on these texts beside the random ones.
DIALECT_TEXTS = [
    "deadBEEF0g", "a\u180eb c\u00a0d\u3000e\u0085f", "x²٣५৪½Ⅷ1", "a\u200db\u200cc\u203fd_e", "a\rb\nc\u2028d\u0085e",
    "ΑλφάβητοЖжé", "漢字かなカナ々〇", "😀👍🏽☺1#", "kK\u212a sS\u017f ßẞ ǅǆǄ", "AZaz09é٣", "a&b-c~d", "[x]^]-",
    "ab12ab12", "foo(bar)", "A\u0041\u00e9\U0001f600", "a\n\nb\n", "\n", "a\r\nb\rc\n", "one two  three",
    "xb_xb1b sky_sb\rzz1-1!/s\rz-x\u200d", "yyxy\tA\t\n/.\t/'x_sx_sb.sb .-Sǅ", "a" * 40 + "b",
    "\u0378\U0001c000\ufffd", "\U000116d0\U00010d4a\ua7cb\u1c89\U0001171e", "straße ſtraße STRASSE", "'S's'\u017f",
]

DIALECT = [
    r"\h+|\H", r"[\h]+|.", r"[^\h]+|.", r"[\p{L}&&\p{Lu}]+|[\s\S]", r"[\w--\d]+|[\s\S]", r"[\w~~\d]+|[\s\S]",
    r"[a-z[A-Z]]+|[\s\S]", r"[^a[bc]]+|[\s\S]", r"[a&&b]|[\s\S]", r"[\w&&[^\d_]]+|\O", r"[\p{Han}&&[^\u4E00]]+|\O",
    r"\w+|\W", r"\d+|\D", r"\s+|\S", r"[\w]+|[\W]", r".+|\O", r"(?s).+", r"(?s:.+?)\d|\O", r"(?-s).+|\O", r"(?R).+|\O",
    r"\p{Alphabetic}+|\P{Alphabetic}", r"\p{Emoji}+|\O", r"\p{Script=Han}+|\O", r"\p{scx=Han}+|\O", r"\p{sc!=Han}+|\O",
    r"\p{Greek}+|\O", r"\p{Lu}+|\P{Lu}", r"\pL+|\PL", r"\p{^L}+|\O", r"\p{Any}+", r"\p{gc=Nd}+|\O", r"\p{ASCII}+|\O",
    r"\p{White_Space}+|\O", r"\p{age=6.0}+|\O", r"\p{wb=Extend}+|\O", r"\p{Cn}+|\O", r"\p{alnum}+|\O", r"[\p{word}]+|\O",
    r"\P{punct}+|\O", r"\p{graph}+|\O", r"[\P{alnum}\P{graph}]+|\O", r"[\P{L}\P{N}]+|\O",
    r"(?i:k)+|\O", r"(?i:ß)+|\O", r"(?i:s)+|\O", r"(?i:'s|'t)|\O", r"(?i)[k-m]+|\O", r"(?i)[^k]+|\O", r"(?i)\p{Lu}+|\O",
    r"(?i)\P{Lu}+|\O", r"(?i)[\p{Ll}--k]+|\O", r"(?i:STRASSE|straße)|\O", r"(?i)ǆ|\O", r"((?i)k)k|\O", r"(?i)\é+|\O",
    r"[[:alpha:]]+|\O", r"[[:^alpha:]]+|\O", r"[[:word:][:punct:]]+|\O", r"[[:foo:]]+|\O",
    r"(?<=a)b|\O", r"(?<!a)b+|\O", r"(?<=^|\s)\w+|\O", r"(?<=\s+)\w+|\O", r"(?<=a{1,3})b|\O", r"(?<=(?:ab)+12)\w|\O", r"(?<=\d*)x|\O", r"(?<=a|bb)\w|\O",
    r"(?<!\d+)[a-z]+|\O", r"\w+(?=\s)|\O", r"\w+(?!\s)|\O", r"(?>a+)b|\O", r"a++b|\O", r"\w{2}+|\O", r"\w{1,2}+\w|\O",
    r"\w{,2}x|\O", r"a{|\O", r"a{,}b|\O", r"x{2,}?|\O", r"(?U)\w+|\O", r"(?U)\w+?|\O", r"(?>s+?)b|\O",
    r"(\w)\1|\O", r"(?<q>\w)\k<q>|\O", r"(?P<q>\w)(?P=q)|\O", r"(?'q'\w)\k'q'|\O", r"(\w)\k<-1>|\O",
    r"\w\K\W|\O", r"foo\K\(|bar", r"\G\w|\s", r"\Aa|\O", r"\w\z|\O", r"\w\Z|\O", r"\w$|\O", r"^\w|\O", r"(?m)^\w+|\O",
    r"(?m)\w+$|\O", r"(?mR)^\w+$|\O", r"\b\w+\b|\O", r"\w\B\w|\O", r"\b{start}\w+|\O", r"\w+\b{end}|\O",
    r"\b{start-half}\w+|\O", r"\w+\b{end-half}|\O", r"\<\w+\>|\O",
    r"(?x) \w+ # words" "\n" r"| \O", r"(?x)[a b]+|\O", r"\w+(?#words)|\O", r"\R+|.", r"\R|\O", r"\N+|\O", r"\O{2}|\O",
    r"\u0041|\O", r"\x{e9}|\O", r"\U0001F600|\O", r"\u{1F600}|\O", r"\x41+|\O", r"[\u0041-\u{5a}]+|\O", r"\e|\a|\f|\v|\O",
    r"\ |\O", r"a|b|", r"a(*FAIL)|\O", r"(?:a|b(*F))+|\O",
    # The reference's own rewriting changes what these match.
    r"\w+\.?\w+|\O", r"\w*-?\w+|\O", r"\w+-?\w*|\O", r"(?:\w+(?:-\w+)?)+|\O", r"(?:[a-z]+ ?[a-z]+)+|\O", r"(?:a+)?b|\O",
    r"((a+)+)b|\O", r"(?:x?)+y|\O",
    # What PCRE2 would take exponential time for.
    r"\W|([^\na-z~~[^\p{^L}\P{L}[\p{L}]~~\W]]{2}ß?|[x-z\P{blank}[\W\s--\-]]+)+\p{Lu}"
    r"|\D++(?>(?:A|(?:\D{2}+|\p{print}{2}a\d){1,2})ß)A{,2}+",
    r"(?:\n1a|\n|[^\-]{2}(?:[^0-9-]+|\né+|(?:\PL+[\h]?[^A-Z\p{M}]\x61|\PL\p{Lu}[a]|\p{Alphabetic}{1,2}))*"
    r"[\P{alnum}\u0301[\w\p{L}]]{0,2}?\p{N})\d一",
    r"(?:a|aa)+c|\O", r"(?:\w|\w\w|\W)+1|\O", r"(?=(?:a|aa)+b)a|(?!(?:a|aa)+c)\w|\O",
    # Nothing matches at some places: the text there is dropped.
    r"\d+", r"[A-Z]", r"\w+\s", r"(?<=\s)\w+",
]

# (pattern, byte offset of the refusal): what the reference refuses too.
NO_PATTERN = [
    (r"\X", 0), (r"a\p{L&}", 1), (r"(?|a|b)", 2), (r"(?(?=a)b|c)", 0), (r"a(", 1), (r"a)", 1), (r"[a", 0), (r"a**", 2),
    (r"\q", 0), (r"(?<n>a)\k<m>", 7), (r"a\2", 1), (r"[z-a]", 0), (r"[a-\d]", 0), (r"\p{Foo}", 0), (r"(?z)", 2),
    (r"\x{110000}", 0), (r"\uD800", 0), (r"+a", 0), (r"(?=a)+", 5), ("a\\", 1), (r"(?P>n)", 0), (r"(*COMMIT)a", 0),
    (r"(?-u)a", 3), (r"(?<n)a", 0), (r"\b{foo}a", 0), (r"\x4", 0), (r"(?)a", 0), (r"é\q", 2),
]

# (pattern, byte offset): what only the reference runs. Each for the reason that docs/patterns.md gives.
NOT_RUN = [
    (r"(?i)(a)\1", 7), (r"(\w)(?(1)b|c)", 4), (r"(?<n>a)\g<n>", 7), (r"(?~ab)c", 0), (r"(?=(a|ab))\1c", 3),
    (r"(?<=a(?:b|cd))e", 4), (r"(?:a?|b)*c", 0), (r"(a\1)", 2), (r"(a\Kb)", 2), (r"a{3,2}", 1), (r"[a\--[b]]", 0),
]

MATCHES_NOTHING = [r"a*", r"", r"a|", r"\b", r"(?=a)", r"a?b*", r"\s*$", r"a\K", r"(?:a|b?)"]

# Split patterns of other models, as their tokenizers publish them.
LLAMA_3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
MODELS = {
    "GPT-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "GPT-4, first form; Llama 3": LLAMA_3,
    "Qwen": LLAMA_3.replace("{1,3}", ""),
    "Qwen 3.5": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
                r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    "Llama 4": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + CONTRACTION + "?"
               r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + CONTRACTION + "?"
               r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "Mistral": r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
               r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
               r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "DeepSeek V3": r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
                   r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "DeepSeek V3, numbers": r"\p{N}{1,3}",
    "DeepSeek V3, Han and kana": r"[一-龥぀-ゟ゠-ヿ]+",
    "Kimi K2": r"[\p{Han}]+"
               r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
               r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+" + CONTRACTION + "?"
               r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
               r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*" + CONTRACTION + "?"
               r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "a lesson's": r" ?\w+| ?[^\s\w]+|\s+",
}

MODEL_TEXTS = DIALECT_TEXTS + [
    "Hello, world! It's 12345 o'clock.", "I'LL we'Ve IT'S it'ſ", "def f(x):\n    return x  # é\n\n", "  \n \n\tx   y ",
    "日本語とEnglishが混在123、漢字とカナ", "Привет, мир! ÉCOLE École", "emoji 😀👍🏽 e\u0301e\u0301", "HTTPServer fooBar_baz",
    "a/b//c \r\n\r\n d", "$100.00 \u00a0\u00a0x", "ǅungla ʰa", "１２３ ٣٤٥٦ ½", "한국어 텍스트", "नमस्ते दुनिया",
]


@pytest.fixture(scope="module")
def dialect_vocabulary():
    return Vocabulary(TEXTS + DIALECT_TEXTS)


@pytest.mark.parametrize("pattern", DIALECT)
def test_dialect(pattern, dialect_vocabulary):
    assert Reference(pattern, dialect_vocabulary)
    if pattern.endswith("|"):  # its last branch is empty
        with pytest.raises(Refused):
            Library(pattern, dialect_vocabulary)
    else:
        assert difference(pattern, dialect_vocabulary) is None


@pytest.mark.parametrize("pattern, offset", NO_PATTERN)
def test_what_is_no_pattern_is_refused(pattern, offset, dialect_vocabulary):
    with pytest.raises(Refused):
        Reference(pattern, dialect_vocabulary)
    with pytest.raises(Refused) as refusal:
        Library(pattern, dialect_vocabulary)
    assert refusal.value.offset == offset
    assert f"byte {offset}: " in str(refusal.value)


@pytest.mark.parametrize("pattern, offset", NOT_RUN)
def test_what_is_not_run_is_refused(pattern, offset, dialect_vocabulary):
    assert Reference(pattern, dialect_vocabulary)
    with pytest.raises(Refused, match=f"byte {offset}: ") as refusal:
        Library(pattern, dialect_vocabulary)
    assert refusal.value.offset == offset


@pytest.mark.parametrize("pattern", MATCHES_NOTHING)
def test_a_pattern_that_matches_nothing_is_refused(pattern, dialect_vocabulary):
    with pytest.raises(Refused, match="empty string"):
        Library(pattern, dialect_vocabulary)


@pytest.mark.parametrize("model", MODELS)
def test_patterns_of_models(model):
    assert difference(MODELS[model], Vocabulary(TEXTS + MODEL_TEXTS)) is None


def generated(seed):
    """(texts, bytes) of the patterns of one seed that have no difference."""
    vocabulary = Vocabulary(random_patterns.texts(seed, short=90, long=12))
    generator = random_patterns.Generator(seed)
    results = collections.Counter()
    for _ in range(GENERATED // SEEDS):
        pattern = generator.pattern()
        try:
            assert difference(pattern, vocabulary) is None
            results["same"] += 1
        except Refused as refusal:
            results["refused"] += 1
            assert "byte" in str(refusal), pattern
    assert results["same"] >= GENERATED // SEEDS // 2, results
    return results["same"] * len(vocabulary.texts), results["same"] * sum(map(len, vocabulary.texts))


def test_generated_patterns(compared):
    compared(f"{GENERATED} generated patterns, with those that are refused, of {SEEDS} seeds",
             in_processes(generated, [(seed,) for seed in range(SEEDS)], ready=[]))
