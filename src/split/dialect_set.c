/*
 * Set of code points → a class of PCRE2.
 *
 * Written out as ranges a class such as \p{L} is hundreds of comparisons for each character that is not
 * ASCII. PCRE2's own general categories are one table lookup, but they are of the Unicode version that it
 * was built with. So a category is used where that can't change the answer: all that it may hold, in any
 * of the versions that PCRE2 may have, is wanted; what it may lack is added as ranges.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "split/dialect_tree.h"

/* Code points up to here are a bit map in PCRE2: they cost nothing as ranges. */
#define MAPPED_LAST 0xFF

/* A class of so many lookups and ranges need not be compared with what it leaves out. */
#define SHORT 50

#define ASCII_LAST 0x7F

/* A class of no character; of no byte. */
#define NOTHING "[^\\x{0}-\\x{10FFFF}]"
#define NO_BYTE "[^\\x{0}-\\x{FF}]"

/* A category of fewer ranges is not worth a lookup. */
#define WORTH_LOOKUP 6

/*
 * Groups of categories, then each by itself: all but Cc, which is mapped, Cs, which no text has, and Cn,
 * which changes with every version.
 */
static const char category_names[][3] = {
    "L",  "M",  "N",  "P",  "S",  "Z",  "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "No",
    "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs", "Cf", "Co",
};

enum { CATEGORIES = sizeof category_names / sizeof category_names[0] };

/* Versions older than Unicode 16.0 that PCRE2 may have, and the property that tells what each knew. */
static const struct {
    const char *version;
    const char *age;
} older_versions[] = {
    { "14.0.0", "age=14.0" },
    { "15.0.0", "age=15.0" },
    { "15.1.0", "age=15.1" },
};

/* Code points whose category changed between Unicode 14.0 and 16.0, with the older one. */
static const struct {
    uint32_t first, last;
    char category[3];
} changed[] = {
    { 0x1171E, 0x1171E, "Mn" }, /* Ahom consonant sign medial ra, now Mc */
};

struct set_writer {
    bool is_usable;                       /* the version is one that is known here */
    tik_unicode_ranges sure[CATEGORIES];  /* members whatever the version */
    tik_unicode_ranges maybe[CATEGORIES]; /* members in some version */
};

static tik_status add_changed(set_writer *writer, tik_unicode_ranges *unsure, tik_error *error)
{
    for (size_t i = 0; i < sizeof changed / sizeof changed[0]; i++) {
        tik_status status = tik_unicode_ranges_add(unsure, changed[i].first, changed[i].last, error);
        for (size_t k = 0; !status && k < CATEGORIES; k++) {
            if (strncmp(changed[i].category, category_names[k], strlen(category_names[k])) == 0)
                status = tik_unicode_ranges_add(&writer->maybe[k], changed[i].first, changed[i].last, error);
        }
        if (status)
            return status;
    }
    return TIK_OK;
}

/* The code points that PCRE2 may put in another category than Unicode 16.0. */
static tik_status find_unsure(set_writer *writer, const char *unicode, tik_unicode_ranges *unsure, tik_error *error)
{
    for (size_t i = 0; i < sizeof older_versions / sizeof older_versions[0]; i++) {
        if (strcmp(older_versions[i].version, unicode) != 0)
            continue;
        writer->is_usable = true;
        tik_unicode_ranges known = { 0 };
        tik_status status = tik_unicode_property(older_versions[i].age, strlen(older_versions[i].age), &known, error);
        if (!status)
            status = tik_unicode_property("age=16.0", 8, unsure, error);
        if (!status)
            status = tik_unicode_ranges_subtract(unsure, &known, error);
        if (!status)
            status = add_changed(writer, unsure, error);
        tik_unicode_ranges_free(&known);
        return status;
    }
    writer->is_usable = strcmp(unicode, "16.0.0") == 0;
    return TIK_OK;
}

tik_status tik_set_writer_new(const char *unicode, set_writer **out, tik_error *error)
{
    set_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return tik_fail_memory(error, sizeof *writer);
    tik_unicode_ranges unsure = { 0 };
    tik_status status = find_unsure(writer, unicode, &unsure, error);
    for (size_t i = 0; !status && i < CATEGORIES; i++) {
        status = tik_unicode_property(category_names[i], strlen(category_names[i]), &writer->maybe[i], error);
        if (!status)
            status = tik_unicode_property(category_names[i], strlen(category_names[i]), &writer->sure[i], error);
        if (!status)
            status = tik_unicode_ranges_subtract(&writer->sure[i], &unsure, error);
    }
    tik_unicode_ranges_free(&unsure);
    if (status)
        tik_set_writer_free(writer);
    else
        *out = writer;
    return status;
}

void tik_set_writer_free(set_writer *writer)
{
    if (!writer)
        return;
    for (size_t i = 0; i < CATEGORIES; i++) {
        tik_unicode_ranges_free(&writer->sure[i]);
        tik_unicode_ranges_free(&writer->maybe[i]);
    }
    free(writer);
}

/* A class being planned: categories by name, and ranges for the rest. */
typedef struct class_plan {
    const char *names[CATEGORIES];
    size_t name_count;
    tik_unicode_ranges rest;
} class_plan;

static bool is_within(const tik_unicode_ranges *inner, const tik_unicode_ranges *outer)
{
    size_t k = 0;
    for (size_t i = 0; i < inner->count; i++) {
        while (k < outer->count && outer->items[k].last < inner->items[i].first)
            k++;
        if (k == outer->count || outer->items[k].first > inner->items[i].first ||
            outer->items[k].last < inner->items[i].last)
            return false;
    }
    return true;
}

static size_t count_unmapped(const tik_unicode_ranges *set)
{
    size_t mapped = 0;
    while (mapped < set->count && set->items[mapped].last <= MAPPED_LAST)
        mapped++;
    return set->count - mapped;
}

static tik_status plan_class(const set_writer *writer, const tik_unicode_ranges *set, class_plan *plan, tik_error *error)
{
    *plan = (class_plan){ 0 };
    tik_status status = tik_unicode_ranges_unite(&plan->rest, set, error);
    bool taken[UCHAR_MAX + 1] = { false }; /* by a group's letter */
    for (size_t i = 0; i < CATEGORIES && writer->is_usable && !status; i++) {
        const char *name = category_names[i];
        const bool is_group = name[1] == 0;
        if (taken[(unsigned char)name[0]] || (!is_group && count_unmapped(&writer->sure[i]) < WORTH_LOOKUP) ||
            !is_within(&writer->maybe[i], set))
            continue;
        taken[(unsigned char)name[0]] = is_group;
        plan->names[plan->name_count++] = name;
        status = tik_unicode_ranges_subtract(&plan->rest, &writer->sure[i], error);
    }
    return status;
}

static size_t cost(const class_plan *plan)
{
    return plan->name_count + count_unmapped(&plan->rest);
}

static tik_status write_range(tik_bytes *out, uint32_t first, uint32_t last, tik_error *error)
{
    tik_status status = tik_bytes_printf(out, error, "\\x{%X}", (unsigned)first);
    if (!status && last > first)
        status = tik_bytes_printf(out, error, "-\\x{%X}", (unsigned)last);
    return status;
}

/* The members of `set` up to `last`, as ranges. */
static tik_status write_up_to(const tik_unicode_ranges *set, uint32_t last, tik_bytes *out, tik_error *error)
{
    tik_status status = TIK_OK;
    for (size_t i = 0; i < set->count && set->items[i].first <= last && !status; i++)
        status = write_range(out, set->items[i].first, set->items[i].last < last ? set->items[i].last : last, error);
    return status;
}

/* The mapped members come first and whole, so that PCRE2 need not look up what ASCII characters are. */
static tik_status write_plan(const class_plan *plan, const tik_unicode_ranges *set, bool negated, tik_bytes *out,
                             tik_error *error)
{
    tik_status status = tik_bytes_printf(out, error, negated ? "[^" : "[");
    if (!status)
        status = write_up_to(set, MAPPED_LAST, out, error);
    for (size_t i = 0; i < plan->name_count && !status; i++)
        status = tik_bytes_printf(out, error, "\\p{%s}", plan->names[i]);
    for (size_t i = 0; i < plan->rest.count && !status; i++) {
        uint32_t first = plan->rest.items[i].first, last = plan->rest.items[i].last;
        if (last > MAPPED_LAST)
            status = write_range(out, first > MAPPED_LAST ? first : MAPPED_LAST + 1, last, error);
    }
    return status ? status : tik_bytes_printf(out, error, "]");
}

static tik_status write_ascii(const tik_unicode_ranges *set, tik_bytes *out, tik_error *error)
{
    if (!set->count || set->items[0].first > ASCII_LAST)
        return tik_bytes_append(out, NO_BYTE, sizeof NO_BYTE - 1, error);
    tik_status status = tik_bytes_printf(out, error, "[");
    if (!status)
        status = write_up_to(set, ASCII_LAST, out, error);
    return status ? status : tik_bytes_printf(out, error, "]");
}

/* A class of more than one member that leaves some out: by its members or by the others, whichever is shorter. */
static tik_status write_class(const set_writer *writer, const tik_unicode_ranges *set,
                              const tik_unicode_ranges *others, tik_bytes *out, tik_error *error)
{
    class_plan positive = { 0 }, negative = { 0 };
    tik_status status = plan_class(writer, set, &positive, error);
    const bool is_short = !status && cost(&positive) <= SHORT;
    if (!status && !is_short)
        status = plan_class(writer, others, &negative, error);
    if (!status && !is_short && cost(&negative) < cost(&positive))
        status = write_plan(&negative, others, true, out, error);
    else if (!status)
        status = write_plan(&positive, set, false, out, error);
    tik_unicode_ranges_free(&positive.rest);
    tik_unicode_ranges_free(&negative.rest);
    return status;
}

tik_status tik_set_write(const set_writer *writer, const tik_unicode_ranges *set, tik_bytes *out, tik_error *error)
{
    if (!writer)
        return write_ascii(set, out, error);
    if (set->count == 0)
        return tik_bytes_append(out, NOTHING, sizeof NOTHING - 1, error);
    if (set->count == 1 && set->items[0].first == set->items[0].last)
        return write_range(out, set->items[0].first, set->items[0].last, error);
    tik_unicode_ranges others = { 0 };
    tik_status status = tik_unicode_ranges_unite(&others, set, error);
    if (!status)
        status = tik_unicode_ranges_negate(&others, error);
    if (!status)
        status = others.count ? write_class(writer, set, &others, out, error) : tik_bytes_append(out, ".", 1, error);
    tik_unicode_ranges_free(&others);
    return status;
}
