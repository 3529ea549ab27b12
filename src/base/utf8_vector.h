/*
 * UTF-8 validation by table lookup, after J. Keiser and D. Lemire, "Validating UTF-8 In Less Than One
 * Instruction Per Byte" (2021): written once, included by one file for each instruction set, which
 * defines before:
 *
 *   VECTOR_NAME       the function, declared in utf8_versions.h
 *   VECTOR_TARGET     its target attribute, or nothing
 *   vector            a vector of bytes, VECTOR_SIZE of them
 *   vector_load(p)    vector_load_part(p, count): `count` < VECTOR_SIZE bytes, zeros after them
 *   vector_table(p): 16 bytes repeated                       vector_repeat(byte)
 *   vector_and(a, b)  vector_or(a, b)  vector_xor(a, b)
 *   vector_high(a)    each byte's upper four bits, shifted down
 *   vector_look_up(table, a): table[a] for each byte a, 0 to 15
 *   vector_minus(a, b): a - b, not below 0
 *   vector_before(a, previous, n): the bytes that stand n places before a's, n a constant 1 to 3
 *   vector_is_zero(a)  vector_is_ascii(a)
 */

/* What may be wrong with two neighbouring bytes, a bit each: set in all three tables means it is wrong. */
enum {
    SHORT = 1 << 0,         /* a lead, then no continuation */
    LONG = 1 << 1,          /* ASCII, then a continuation */
    OVERLONG_3 = 1 << 2,    /* E0, then 80..9F */
    TOO_LARGE = 1 << 3,     /* F4 and up, then 90..BF */
    SURROGATE = 1 << 4,     /* ED, then A0..BF */
    OVERLONG_2 = 1 << 5,    /* C0 or C1, then a continuation */
    OVERLONG_4 = 1 << 6,    /* F0, then 80..8F; also F5 and up, then 80..8F */
    CONTINUATIONS = 1 << 7, /* two continuations: right only as the third or fourth byte of a character */
    ANY_LOW = SHORT | LONG | CONTINUATIONS
};

static const uint8_t first_high[16] = {
    LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG,
    CONTINUATIONS, CONTINUATIONS, CONTINUATIONS, CONTINUATIONS,
    SHORT | OVERLONG_2, SHORT, SHORT | OVERLONG_3 | SURROGATE, SHORT | TOO_LARGE | OVERLONG_4,
};
static const uint8_t first_low[16] = {
    ANY_LOW | OVERLONG_2 | OVERLONG_3 | OVERLONG_4,
    ANY_LOW | OVERLONG_2,
    ANY_LOW, ANY_LOW,
    ANY_LOW | TOO_LARGE,
    ANY_LOW | TOO_LARGE | OVERLONG_4, ANY_LOW | TOO_LARGE | OVERLONG_4, ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4, ANY_LOW | TOO_LARGE | OVERLONG_4, ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4, ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4 | SURROGATE,
    ANY_LOW | TOO_LARGE | OVERLONG_4, ANY_LOW | TOO_LARGE | OVERLONG_4,
};
static const uint8_t second_high[16] = {
    SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT, SHORT,
    LONG | OVERLONG_2 | CONTINUATIONS | OVERLONG_3 | OVERLONG_4,
    LONG | OVERLONG_2 | CONTINUATIONS | OVERLONG_3 | TOO_LARGE,
    LONG | OVERLONG_2 | CONTINUATIONS | SURROGATE | TOO_LARGE,
    LONG | OVERLONG_2 | CONTINUATIONS | SURROGATE | TOO_LARGE,
    SHORT, SHORT, SHORT, SHORT,
};

/* True if all is right in `block`, which follows `previous`: characters cut at its end are not judged yet. */
static inline VECTOR_TARGET bool block_is_valid(vector block, vector previous)
{
    vector one_before = vector_before(block, previous, 1);
    vector wrong = vector_and(vector_and(vector_look_up(vector_table(first_high), vector_high(one_before)),
                                         vector_look_up(vector_table(first_low),
                                                        vector_and(one_before, vector_repeat(0x0F)))),
                              vector_look_up(vector_table(second_high), vector_high(block)));
    /* Bit 7 where a lead of three (E0 and up) is two before, or a lead of four (F0 and up) three before. */
    vector third = vector_minus(vector_before(block, previous, 2), vector_repeat(0xE0 - 0x80));
    vector fourth = vector_minus(vector_before(block, previous, 3), vector_repeat(0xF0 - 0x80));
    vector expected = vector_and(vector_or(third, fourth), vector_repeat(CONTINUATIONS));
    return vector_is_zero(vector_xor(wrong, expected));
}

/*
 * Something is wrong in the block at `at`, nothing before it but perhaps a character that ends too early:
 * the plain version finds the place, from that character on.
 */
static size_t locate(const uint8_t *text, size_t length, size_t at)
{
    if (at > 0)
        do
            at--;
        while (at > 0 && !tik_utf8_is_start(text[at]));
    return at + tik_utf8_valid_prefix_portable(text + at, length - at);
}

VECTOR_TARGET size_t VECTOR_NAME(const uint8_t *text, size_t length)
{
    vector previous = vector_repeat(0);
    bool after_ascii = true; /* then `previous` may be any ASCII */
    size_t at = 0;
    while (length - at >= VECTOR_SIZE) {
        if (after_ascii)
            while (length - at >= (size_t)4 * VECTOR_SIZE &&
                   vector_is_ascii(vector_or(
                       vector_or(vector_load(text + at), vector_load(text + at + VECTOR_SIZE)),
                       vector_or(vector_load(text + at + (size_t)2 * VECTOR_SIZE),
                                 vector_load(text + at + (size_t)3 * VECTOR_SIZE)))))
                at += (size_t)4 * VECTOR_SIZE;
        if (length - at < VECTOR_SIZE)
            break;
        vector block = vector_load(text + at);
        bool ascii = vector_is_ascii(block);
        if (!(ascii && after_ascii) && !block_is_valid(block, previous))
            return locate(text, length, at);
        previous = block;
        after_ascii = ascii;
        at += VECTOR_SIZE;
    }
    /* The rest, and zeros after it: a character cut by the end of the text is one that ends too early. */
    if (length > at || !after_ascii) {
        vector block = vector_load_part(text + at, length - at);
        if (!(vector_is_ascii(block) && after_ascii) && !block_is_valid(block, previous))
            return locate(text, length, at);
    }
    return length;
}
