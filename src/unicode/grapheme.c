/*
 * Grapheme clusters: rules GB3 to GB999 of UAX #29 for Unicode 16.0, one character after another; or at one
 * place, for which the characters before it are asked only as far as a rule looks back.
 */
#include "unicode/tables.h"

/* What the rules need to know of a cluster's characters so far. */
typedef struct {
    enum grapheme_class last;
    enum { NO_CONJUNCT, CONSONANT_SEEN, LINKER_SEEN } conjunct; /* GB9c: a consonant, then a linker, with extenders */
    enum { NO_EMOJI, PICTOGRAPH_SEEN, JOINER_SEEN } emoji;      /* GB11: a pictograph and extenders, then a joiner */
    bool regional_open;                                         /* GB12, GB13: an odd number of regional indicators */
} cluster;

static enum grapheme_class class_at(const uint8_t *text, size_t *length)
{
    uint32_t point = tik_utf8_decode(text, length);
    uint32_t block = tik_grapheme_index[point >> TIK_GRAPHEME_BITS];
    return tik_grapheme_blocks[block << TIK_GRAPHEME_BITS | (point & ((1u << TIK_GRAPHEME_BITS) - 1))];
}

static void take(cluster *so_far, enum grapheme_class next)
{
    if (next == GRAPHEME_CONSONANT)
        so_far->conjunct = CONSONANT_SEEN;
    else if (next == GRAPHEME_LINKER && so_far->conjunct != NO_CONJUNCT)
        so_far->conjunct = LINKER_SEEN;
    else if (next != GRAPHEME_EXTEND && next != GRAPHEME_JOINER)
        so_far->conjunct = NO_CONJUNCT;

    if (next == GRAPHEME_PICTOGRAPH)
        so_far->emoji = PICTOGRAPH_SEEN;
    else if (next == GRAPHEME_JOINER && so_far->emoji == PICTOGRAPH_SEEN)
        so_far->emoji = JOINER_SEEN;
    else if (next < GRAPHEME_EXTEND || next == GRAPHEME_JOINER || so_far->emoji == JOINER_SEEN)
        so_far->emoji = NO_EMOJI;

    so_far->regional_open = next == GRAPHEME_REGIONAL && !so_far->regional_open;
    so_far->last = next;
}

static bool is_control(enum grapheme_class class)
{
    return class >= GRAPHEME_CR && class <= GRAPHEME_CONTROL;
}

/* Whether `next` belongs to the cluster. The first rule that says something decides. */
static bool joins(const cluster *so_far, enum grapheme_class next)
{
    enum grapheme_class last = so_far->last;
    if (last == GRAPHEME_CR && next == GRAPHEME_LF) /* GB3 */
        return true;
    if (is_control(last) || is_control(next)) /* GB4, GB5 */
        return false;
    if (last == GRAPHEME_L && (next == GRAPHEME_L || next == GRAPHEME_V || next == GRAPHEME_LV ||
                               next == GRAPHEME_LVT)) /* GB6 */
        return true;
    if ((last == GRAPHEME_LV || last == GRAPHEME_V) && (next == GRAPHEME_V || next == GRAPHEME_T)) /* GB7 */
        return true;
    if ((last == GRAPHEME_LVT || last == GRAPHEME_T) && next == GRAPHEME_T) /* GB8 */
        return true;
    if (next >= GRAPHEME_EXTEND || next == GRAPHEME_SPACING_MARK || last == GRAPHEME_PREPEND) /* GB9, GB9a, GB9b */
        return true;
    if (next == GRAPHEME_CONSONANT && so_far->conjunct == LINKER_SEEN) /* GB9c */
        return true;
    if (next == GRAPHEME_PICTOGRAPH && so_far->emoji == JOINER_SEEN) /* GB11 */
        return true;
    return next == GRAPHEME_REGIONAL && so_far->regional_open; /* GB12, GB13, GB999 */
}

size_t tik_grapheme_next(const uint8_t *text, size_t length, size_t at)
{
    if (at >= length)
        return length;
    /* Two ASCII characters are one cluster only as CR LF. */
    if (text[at] < 0x80 && text[at] != '\r' && at + 1 < length && text[at + 1] < 0x80)
        return at + 1;
    cluster so_far = {0};
    size_t step;
    take(&so_far, class_at(text + at, &step));
    for (at += step; at < length; at += step) {
        enum grapheme_class next = class_at(text + at, &step);
        if (!joins(&so_far, next))
            break;
        take(&so_far, next);
    }
    return at;
}

/* The class of the character before *at, which moves to its beginning; *at is above 0. */
static enum grapheme_class class_before(const uint8_t *text, size_t *at)
{
    size_t step;
    do
        --*at;
    while (*at > 0 && !tik_utf8_is_start(text[*at]));
    return class_at(text + *at, &step);
}

/* GB9c: whether a consonant comes before text[0, at), then only extenders, a linker among them. */
static bool ends_conjunct(const uint8_t *text, size_t at)
{
    bool linked = false;
    while (at > 0) {
        enum grapheme_class class = class_before(text, &at);
        if (class == GRAPHEME_CONSONANT)
            return linked;
        if (class != GRAPHEME_EXTEND && class != GRAPHEME_JOINER && class != GRAPHEME_LINKER)
            return false;
        linked |= class == GRAPHEME_LINKER;
    }
    return false;
}

/* GB11: whether text[0, at) ends with a pictograph, extenders, and a joiner. */
static bool ends_with_joined_pictograph(const uint8_t *text, size_t at)
{
    if (class_before(text, &at) != GRAPHEME_JOINER)
        return false;
    while (at > 0) {
        enum grapheme_class class = class_before(text, &at);
        if (class == GRAPHEME_PICTOGRAPH)
            return true;
        if (class < GRAPHEME_EXTEND || class == GRAPHEME_JOINER)
            return false;
    }
    return false;
}

/* GB12, GB13: whether text[0, at) ends with an odd number of regional indicators. */
static bool ends_with_half_a_flag(const uint8_t *text, size_t at)
{
    bool odd = false;
    while (at > 0 && class_before(text, &at) == GRAPHEME_REGIONAL)
        odd = !odd;
    return odd;
}

bool tik_grapheme_is_boundary(const uint8_t *text, size_t length, size_t at)
{
    if (at == 0 || at >= length)
        return true;
    size_t before = at;
    size_t step;
    enum grapheme_class next = class_at(text + at, &step);
    cluster so_far = {.last = class_before(text, &before)};
    if (next == GRAPHEME_CONSONANT && ends_conjunct(text, at))
        so_far.conjunct = LINKER_SEEN;
    if (next == GRAPHEME_PICTOGRAPH && ends_with_joined_pictograph(text, at))
        so_far.emoji = JOINER_SEEN;
    if (next == GRAPHEME_REGIONAL)
        so_far.regional_open = ends_with_half_a_flag(text, at);
    return !joins(&so_far, next);
}
