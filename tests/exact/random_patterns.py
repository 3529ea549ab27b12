"""Patterns put together from the parts of the reference's dialect, by a seeded generator, and texts for them."""

import random

# What classes, case folding, word boundaries and line ends tell apart: plain letters that repeat often, then
# letters that fold to others, marks, digits and numbers of several scripts, spaces, line ends, symbols.
LETTERS = "aAbBkKsSxyz"
ALPHABET = LETTERS + "éßſ\u212aﬀ'1²٣_ -.!/\n\r\t\u00a0\u2028\u200dжЖ一あ\u0301ǅʰ😀"
ASCII = "aaAbbkKsSxy z'1_-.!/\n\r\t"
FIXED = ["", "a", "aa", "\n", "a\n", "a\r\n", "\r\nb", " a  b", "it's IT'S", "aaaaab", "abababab"]


def texts(seed, short, long):
    """Short texts over the whole alphabet; longer ones of ASCII that end, and some begin, with another character."""
    rng = random.Random(seed)
    made = []
    for _ in range(short):
        text, character = "", rng.choice(ALPHABET)
        for _ in range(rng.randrange(1, 14)):
            if rng.random() < 0.65:
                character = rng.choice(LETTERS if rng.random() < 0.4 else ALPHABET)
            text += character
        made.append(text)
    for _ in range(long):
        text = "".join(rng.choice(ASCII) for _ in range(rng.randrange(16, 30)))
        text += rng.choice("éßжЖ一\u0301ǅ\u200d\u00a0\u212a")
        text += "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(3)))
        made.append(rng.choice("éßжЖ一\u0301ǅ\u200d\u00a0\u212a") + text if rng.random() < 0.3 else text)
    return made + FIXED


CHARACTERS = ["a", "b", "A", "k", "s", "x", "y", " ", "é", "ß", "1", "'", r"\n", "一", "_"]
CLASS_ITEMS = ["a", "b", "A-Z", "a-z", "0-9", r"\d", r"\s", r"\w", r"\W", r"\S", r"\p{L}", r"\P{L}", r"\p{Lu}",
               r"\p{Ll}", r"\pN", r"\p{M}", " ", "k", "ß", "é", "'", r"\n", r"\r", r"\h", r"\-", r"\x41", r"\u0301",
               "[:alpha:]", "[:^digit:]", r"\p{Greek}", r"\p{^L}", "_", ".", "x-z", "-", r"\p{alnum}",
               r"\P{alnum}", r"\p{graph}", r"\P{blank}"]
ESCAPES = [r"\w", r"\d", r"\s", r"\S", r"\W", r"\p{L}", r"\p{Lu}", r"\p{N}", ".", r"\h", r"\D", r"\R", r"\O", r"\N",
           r"\x61", r"\u{e9}", r"\PL", r"\H", r"\p{Script=Han}", r"\p{Alphabetic}", r"\p{print}"]
ASSERTIONS = ["^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z", r"\G", r"\b{start}", r"\b{end}", r"\b{start-half}",
              r"\b{end-half}", r"\<", r"\>", r"\K", "(*FAIL)"]
FLAGS = ["i", "s", "m", "x", "U", "R", "i-s", "is", "mR"]
REPEATS = ["*", "+", "?", "+", "{2}", "{1,2}", "{0,2}", "{2,}", "{,2}"]


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def pattern(self):
        return self.alternatives(3)

    def alternatives(self, depth):
        return "|".join(self.row(depth) for _ in range(self.rng.choice([1, 1, 1, 2, 3])))

    def row(self, depth):
        return "".join(self.piece(depth) for _ in range(self.rng.choice([1, 1, 2, 2, 3, 4])))

    def piece(self, depth):
        atom, repeatable = self.atom(depth)
        if not repeatable:
            return atom
        if self.rng.random() < 0.4:
            atom += self.rng.choice(REPEATS) + self.rng.choice(["", "", "", "?", "+"])
        return atom

    def atom(self, depth):
        """(text, whether a repeat may follow)"""
        rng, chance = self.rng, self.rng.random()
        if chance < 0.3:
            return rng.choice(CHARACTERS), True
        if chance < 0.5:
            return self.character_class(0), True
        if chance < 0.66 or depth == 0:
            return rng.choice(ESCAPES), True
        if chance < 0.72:
            return f"({self.alternatives(depth - 1)})", True
        if chance < 0.82:
            return f"(?:{self.alternatives(depth - 1)})", True
        if chance < 0.85:
            return f"(?{rng.choice(FLAGS)}:{self.alternatives(depth - 1)})", True
        if chance < 0.87:
            return f"(?>{self.alternatives(depth - 1)})", True
        if chance < 0.93:
            return f"({rng.choice(['?=', '?!', '?<=', '?<!'])}{self.alternatives(depth - 1)})", False
        if chance < 0.945:
            return f"(?{rng.choice(['i', 's', 'm', 'x', 'U', '-i'])})", False
        if chance < 0.955:
            return rf"\{rng.randrange(1, 3)}", True
        return rng.choice(ASSERTIONS), False

    def character_class(self, depth):
        rng = self.rng
        items = "".join(rng.choice(CLASS_ITEMS) for _ in range(rng.randrange(1, 4)))
        if depth < 2 and rng.random() < 0.15:
            items += self.character_class(depth + 1)
        if rng.random() < 0.15:
            items += rng.choice(["&&", "--", "~~"])
            items += self.character_class(depth + 1) if depth < 2 and rng.random() < 0.5 else rng.choice(CLASS_ITEMS)
        return f"[{'^' if rng.random() < 0.3 else ''}{items}]"
