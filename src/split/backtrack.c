/*
 * The tree of a pattern becomes a program: a row of instructions, in which a choice is the way that is tried
 * first and the one that is tried after it. Atomic groups and look-around are programs of their own within it:
 * whether and where they end depends on the place alone, as there are no back-references.
 *
 * What is remembered, for an instruction at a place: of a choice, that it was tried there and led nowhere (or is
 * being tried: then a second try can't do better); of an inner program, where it ended.
 */
#include <stdlib.h>
#include <string.h>

#include "split/backtrack.h"
#include "split/dialect_tree.h"

/* Instructions at most: what repeats are written out to. */
#define MOST_INSTRUCTIONS ((size_t)1 << 18)

/* Choices tried in one match: so many at least, and so many for each byte of the text. */
#define STEPS_LEAST ((size_t)20000000)
#define STEPS_PER_BYTE ((size_t)64)

/* Things remembered of one match, at most; 24 bytes each, and as many again free. */
#define MOST_REMEMBERED ((size_t)1 << 25)

#define PLACE_BITS 44 /* of a key: the place; the rest is the instruction */

typedef enum operation {
    OP_CHARACTER, /* node: a literal, class, dot */
    OP_NEWLINE,
    OP_ASSERTION, /* node */
    OP_CHOICE,    /* first, second */
    OP_JUMP,      /* first */
    OP_INNER,     /* node: atomic or look-around; its program is at `first`, `second` is what follows */
    OP_BACK,      /* count: so many characters back */
    OP_KEEP,
    OP_CONTINUE,
    OP_FAIL,
    OP_MATCH
} operation;

typedef struct instruction {
    operation operation;
    const syntax_node *node;
    size_t first, second, count;
} instruction;

typedef struct memory_slot {
    uint64_t key;
    size_t value;
    uint32_t match; /* the match that it belongs to; of an earlier one it is free */
} memory_slot;

/* A choice to come back to. */
typedef struct waiting_way {
    size_t at, place, kept;
} waiting_way;

#define LED_NOWHERE ((size_t)0)
#define UNKNOWN SIZE_MAX
/* Else, of an inner program: the place where it ended, plus one. */

struct tik_backtracker {
    char *pattern; /* the tree points into it */
    syntax_tree tree;
    tik_unicode_ranges word;
    instruction *program;
    size_t length, capacity;
    waiting_way *ways;
    size_t way_count, way_capacity;
    uint64_t *tried; /* keys of the choices remembered in inner programs that still run */
    size_t tried_count, tried_capacity;
    memory_slot *slots; /* 2^n of them */
    size_t slot_count, remembered;
    uint32_t match;
    /* The match that is looked for. */
    const uint8_t *text;
    size_t text_length, from, steps, most_steps;
    bool more;
};

/* ---- Tree → program -------------------------------------------------------------------------- */

static bool compile(tik_backtracker *b, const syntax_node *node);

static size_t add(tik_backtracker *b, operation does, const syntax_node *node)
{
    if (b->length >= MOST_INSTRUCTIONS) {
        tik_tree_refuse(&b->tree, 0, "its repeats are too many to be written out");
        return SIZE_MAX;
    }
    if (!tik_tree_check(&b->tree, tik_grow((void **)&b->program, &b->capacity, b->length + 1, sizeof *b->program,
                                           b->tree.error)))
        return SIZE_MAX;
    b->program[b->length] = (instruction){ .operation = does, .node = node };
    return b->length++;
}

/* A choice whose ways are yet to be set. */
static bool add_choice(tik_backtracker *b, size_t *at)
{
    *at = add(b, OP_CHOICE, NULL);
    return *at != SIZE_MAX;
}

static void set_choice(tik_backtracker *b, size_t at, bool greedy, size_t body, size_t after)
{
    b->program[at].first = greedy ? body : after;
    b->program[at].second = greedy ? after : body;
}

static bool compile_row(tik_backtracker *b, const syntax_node *row)
{
    for (size_t i = 0; i < row->count; i++) {
        if (!compile(b, row->items[i]))
            return false;
    }
    return true;
}

/* What looks back first goes back by the length of the branch, which is fixed. */
static bool compile_branch(tik_backtracker *b, const syntax_node *branch, bool behind)
{
    if (behind) {
        size_t back = add(b, OP_BACK, NULL);
        if (back == SIZE_MAX)
            return false;
        b->program[back].count = branch->size;
    }
    return compile(b, branch);
}

/* Branches one after the other; each but the last is a choice before it and a jump to the end after it. */
static bool compile_branches(tik_backtracker *b, const syntax_node *choice, bool behind)
{
    size_t jump_before = SIZE_MAX; /* the jumps to the end, each with the one before it in `first` */
    for (size_t i = 0; i < choice->count; i++) {
        size_t at = 0;
        bool last = i + 1 == choice->count;
        if ((!last && !add_choice(b, &at)) || !compile_branch(b, choice->items[i], behind))
            return false;
        if (last)
            break;
        size_t jump = add(b, OP_JUMP, NULL);
        if (jump == SIZE_MAX)
            return false;
        b->program[jump].first = jump_before;
        jump_before = jump;
        set_choice(b, at, true, at + 1, b->length);
    }
    while (jump_before != SIZE_MAX) {
        size_t before = b->program[jump_before].first;
        b->program[jump_before].first = b->length;
        jump_before = before;
    }
    return true;
}

/* x{2,4} is x x (x (x)?)?, x{2,} is x x x*. */
static bool compile_repeat(tik_backtracker *b, const syntax_node *repeat)
{
    const syntax_node *item = repeat->items[0];
    for (size_t i = 0; i < repeat->least; i++) {
        if (!compile(b, item))
            return false;
    }
    size_t at = 0, choice_before = SIZE_MAX;
    if (repeat->most == REPEAT_UNBOUNDED) {
        if (!add_choice(b, &at) || !compile(b, item))
            return false;
        size_t jump = add(b, OP_JUMP, NULL);
        if (jump == SIZE_MAX)
            return false;
        b->program[jump].first = at;
        set_choice(b, at, repeat->greedy, at + 1, b->length);
        return true;
    }
    for (size_t i = repeat->least; i < repeat->most; i++) {
        if (!add_choice(b, &at))
            return false;
        b->program[at].count = choice_before;
        choice_before = at;
        if (!compile(b, item))
            return false;
    }
    for (; choice_before != SIZE_MAX; choice_before = b->program[choice_before].count)
        set_choice(b, choice_before, repeat->greedy, choice_before + 1, b->length);
    return true;
}

static bool compile_inner(tik_backtracker *b, const syntax_node *node)
{
    size_t at = add(b, OP_INNER, node);
    if (at == SIZE_MAX)
        return false;
    b->program[at].first = at + 1;
    const syntax_node *item = node->items[0];
    bool behind = node->kind == NODE_LOOK && (node->look == LOOK_BEHIND || node->look == LOOK_BEHIND_NOT);
    bool done = item->kind == NODE_ALTERNATION ? compile_branches(b, item, behind) : compile_branch(b, item, behind);
    if (!done || add(b, OP_MATCH, NULL) == SIZE_MAX)
        return false;
    b->program[at].second = b->length;
    return true;
}

static bool compile(tik_backtracker *b, const syntax_node *node)
{
    switch (node->kind) {
    case NODE_EMPTY:
        return true;
    case NODE_LITERAL:
    case NODE_CLASS:
    case NODE_ANY:
        return add(b, OP_CHARACTER, node) != SIZE_MAX;
    case NODE_ASSERTION:
        return add(b, OP_ASSERTION, node) != SIZE_MAX;
    case NODE_NEWLINE:
        return add(b, OP_NEWLINE, node) != SIZE_MAX;
    case NODE_CONCAT:
        return compile_row(b, node);
    case NODE_ALTERNATION:
        return compile_branches(b, node, false);
    case NODE_GROUP:
        return compile(b, node->items[0]);
    case NODE_REPEAT:
        return compile_repeat(b, node);
    case NODE_ATOMIC:
    case NODE_LOOK:
        return compile_inner(b, node);
    case NODE_KEEP:
        return add(b, OP_KEEP, NULL) != SIZE_MAX;
    case NODE_CONTINUE:
        return add(b, OP_CONTINUE, NULL) != SIZE_MAX;
    case NODE_FAIL:
        return add(b, OP_FAIL, NULL) != SIZE_MAX;
    case NODE_REFERENCE:
        tik_tree_cannot(&b->tree, node->offset, "a back-reference");
        return false;
    }
    return false;
}

tik_status tik_backtracker_new(const char *pattern, size_t length, tik_backtracker **out, tik_error *error)
{
    tik_backtracker *b = calloc(1, sizeof *b);
    if (!b || !(b->pattern = malloc(length + 1))) {
        free(b);
        return tik_fail_memory(error, length + sizeof *b);
    }
    memcpy(b->pattern, pattern, length);
    b->pattern[length] = 0;
    b->tree = (syntax_tree){ .pattern = b->pattern, .length = length, .error = error };
    if (tik_tree_read(&b->tree) && tik_tree_check(&b->tree, tik_unicode_perl('w', &b->word, error)) &&
        compile(b, b->tree.root))
        add(b, OP_MATCH, NULL);
    tik_status status = b->tree.status;
    if (status)
        tik_backtracker_free(b);
    else
        *out = b;
    return status;
}

void tik_backtracker_free(tik_backtracker *backtracker)
{
    if (!backtracker)
        return;
    tik_tree_free(&backtracker->tree);
    tik_unicode_ranges_free(&backtracker->word);
    free(backtracker->pattern);
    free(backtracker->program);
    free(backtracker->ways);
    free(backtracker->tried);
    free(backtracker->slots);
    free(backtracker);
}

/* ---- What is remembered ---------------------------------------------------------------------- */

static uint64_t key_of(size_t at, size_t place)
{
    return (uint64_t)at << PLACE_BITS | place;
}

/* The slot of a key, or the free one where it belongs. */
static memory_slot *find_slot(memory_slot *slots, size_t slot_count, uint32_t match, uint64_t key)
{
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(hash ^ hash >> 32) & (slot_count - 1);
    while (slots[at].match == match && slots[at].key != key)
        at = (at + 1) & (slot_count - 1);
    return &slots[at];
}

static bool make_room(tik_backtracker *b)
{
    if (b->remembered * 2 < b->slot_count)
        return true;
    if (b->remembered >= MOST_REMEMBERED)
        return false;
    size_t count = b->slot_count ? b->slot_count * 2 : 1024;
    memory_slot *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < b->slot_count; i++) {
        if (b->slots[i].match == b->match)
            *find_slot(slots, count, b->match, b->slots[i].key) = b->slots[i];
    }
    free(b->slots);
    b->slots = slots;
    b->slot_count = count;
    return true;
}

/* What is known of the key, in a slot that was made for it if need be; NULL if there is no room. */
static memory_slot *remember(tik_backtracker *b, uint64_t key)
{
    if (!make_room(b))
        return NULL;
    memory_slot *slot = find_slot(b->slots, b->slot_count, b->match, key);
    if (slot->match != b->match) {
        *slot = (memory_slot){ key, UNKNOWN, b->match };
        b->remembered++;
    }
    return slot;
}

/* Nothing is known of the next match. */
static void forget(tik_backtracker *b)
{
    if (++b->match == 0) {
        memset(b->slots, 0, b->slot_count * sizeof *b->slots);
        b->match = 1;
    }
    b->remembered = 0;
}

/* ---- One character --------------------------------------------------------------------------- */

static bool takes(const syntax_node *node, uint32_t character)
{
    if (node->kind == NODE_CLASS)
        return tik_unicode_ranges_contain(&node->set, character);
    if (node->kind == NODE_ANY)
        return node->line_end || (character != '\n' && (character != '\r' || !node->crlf));
    if (character == node->code_point)
        return true;
    uint32_t equal[TIK_UNICODE_FOLD_MAX];
    size_t count = node->fold ? tik_unicode_fold(node->code_point, equal) : 0;
    for (size_t i = 0; i < count; i++) {
        if (equal[i] == character)
            return true;
    }
    return false;
}

static size_t one_back(const tik_backtracker *b, size_t place)
{
    do
        place--;
    while (!tik_utf8_is_start(b->text[place]));
    return place;
}

static bool is_word(const tik_backtracker *b, size_t place)
{
    size_t bytes;
    return tik_unicode_ranges_contain(&b->word, tik_utf8_decode(b->text + place, &bytes));
}

typedef enum step_result { STEP_FAILED, STEP_DONE, STEP_PARTIAL, STEP_GAVE_UP } step_result;

static step_result holds(bool condition)
{
    return condition ? STEP_DONE : STEP_FAILED;
}

/* Whether an assertion holds; at the end of a text that goes on, what looks ahead is partial. */
static step_result assertion(const tik_backtracker *b, const syntax_node *node, size_t place)
{
    const uint8_t *text = b->text;
    bool at_start = place == 0, at_end = place == b->text_length;
    bool after_newline = !at_start && text[place - 1] == '\n', after_return = !at_start && text[place - 1] == '\r';
    bool word_before = !at_start && is_word(b, one_back(b, place));
    switch (node->assertion) {
    case ASSERT_TEXT_START:
        return holds(at_start);
    case ASSERT_WORD_START_HALF:
        return holds(!word_before);
    case ASSERT_LINE_START:
        if (at_start || after_newline)
            return STEP_DONE;
        if (!node->crlf || !after_return)
            return STEP_FAILED;
        break;
    default:
        break;
    }
    if (at_end && b->more)
        return STEP_PARTIAL;
    bool newline = !at_end && text[place] == '\n', carriage = !at_end && text[place] == '\r';
    bool word = !at_end && is_word(b, place);
    switch (node->assertion) {
    case ASSERT_TEXT_END:
        return holds(at_end);
    case ASSERT_TEXT_END_NEWLINES:
        while (place < b->text_length && (text[place] == '\n' || (node->crlf && text[place] == '\r')))
            place++;
        return place < b->text_length ? STEP_FAILED : b->more ? STEP_PARTIAL : STEP_DONE;
    case ASSERT_LINE_START: /* after \r */
        return holds(!newline);
    case ASSERT_LINE_END:
        return holds(at_end || (node->crlf ? carriage || (newline && !after_return) : newline));
    case ASSERT_WORD_BOUNDARY:
        return holds(word_before != word);
    case ASSERT_NOT_WORD_BOUNDARY:
        return holds(word_before == word);
    case ASSERT_WORD_START:
        return holds(!word_before && word);
    case ASSERT_WORD_END:
        return holds(word_before && !word);
    default: /* ASSERT_WORD_END_HALF */
        return holds(!word);
    }
}

/* \R: one way only. Moves `place` on. */
static step_result newline(const tik_backtracker *b, size_t *place)
{
    if (*place == b->text_length)
        return b->more ? STEP_PARTIAL : STEP_FAILED;
    size_t bytes;
    uint32_t character = tik_utf8_decode(b->text + *place, &bytes);
    if (!((character >= '\n' && character <= '\r') || character == 0x85 || character == 0x2028 || character == 0x2029))
        return STEP_FAILED;
    if (character == '\r') {
        if (*place + 1 == b->text_length && b->more)
            return STEP_PARTIAL;
        bytes += *place + 1 < b->text_length && b->text[*place + 1] == '\n';
    }
    *place += bytes;
    return STEP_DONE;
}

/* ---- The program ----------------------------------------------------------------------------- */

static step_result run(tik_backtracker *b, size_t at, size_t *place, size_t *kept, bool inner);

/* An atomic group or look-around at `place`, which an atomic group moves on. Runs once for each place. */
static step_result run_inner(tik_backtracker *b, size_t at, size_t *place)
{
    const instruction *op = &b->program[at];
    uint64_t key = key_of(at, *place);
    memory_slot *slot = remember(b, key);
    if (!slot)
        return STEP_GAVE_UP;
    size_t ended = slot->value;
    if (ended == UNKNOWN) {
        size_t end = *place, kept = 0;
        step_result result = run(b, op->first, &end, &kept, true);
        if (result != STEP_DONE && result != STEP_FAILED)
            return result;
        ended = result == STEP_DONE ? end + 1 : LED_NOWHERE;
        slot = remember(b, key);
        if (!slot)
            return STEP_GAVE_UP;
        slot->value = ended;
    }
    if (op->node->kind == NODE_ATOMIC) {
        if (ended != LED_NOWHERE)
            *place = ended - 1;
        return holds(ended != LED_NOWHERE);
    }
    bool negated = op->node->look == LOOK_AHEAD_NOT || op->node->look == LOOK_BEHIND_NOT;
    return holds((ended != LED_NOWHERE) != negated);
}

/* A choice: goes on the first way, and notes the second. */
static step_result choose(tik_backtracker *b, size_t at, size_t place, size_t kept, bool inner)
{
    uint64_t key = key_of(at, place);
    memory_slot *slot = ++b->steps > b->most_steps ? NULL : remember(b, key);
    if (!slot)
        return STEP_GAVE_UP;
    if (slot->value == LED_NOWHERE)
        return STEP_FAILED;
    slot->value = LED_NOWHERE;
    if (inner) {
        if (tik_grow((void **)&b->tried, &b->tried_capacity, b->tried_count + 1, sizeof *b->tried, NULL))
            return STEP_GAVE_UP;
        b->tried[b->tried_count++] = key;
    }
    if (tik_grow((void **)&b->ways, &b->way_capacity, b->way_count + 1, sizeof *b->ways, NULL))
        return STEP_GAVE_UP;
    b->ways[b->way_count++] = (waiting_way){ b->program[at].second, place, kept };
    return STEP_DONE;
}

/* One instruction: moves `at` and `place` on. */
static step_result step(tik_backtracker *b, size_t *at, size_t *place, size_t *kept, bool inner)
{
    const instruction *op = &b->program[*at];
    step_result result = STEP_DONE;
    size_t bytes, next = *at + 1;
    switch (op->operation) {
    case OP_CHARACTER:
        if (*place == b->text_length)
            return b->more ? STEP_PARTIAL : STEP_FAILED;
        result = holds(takes(op->node, tik_utf8_decode(b->text + *place, &bytes)));
        *place += bytes;
        break;
    case OP_NEWLINE:
        result = newline(b, place);
        break;
    case OP_ASSERTION:
        result = assertion(b, op->node, *place);
        break;
    case OP_CHOICE:
        next = op->first;
        result = choose(b, *at, *place, *kept, inner);
        break;
    case OP_JUMP:
        next = op->first;
        break;
    case OP_INNER:
        next = op->second;
        result = run_inner(b, *at, place);
        break;
    case OP_BACK:
        for (size_t i = 0; i < op->count && result == STEP_DONE; i++) {
            if (*place == 0)
                result = STEP_FAILED;
            else
                *place = one_back(b, *place);
        }
        break;
    case OP_KEEP:
        *kept = *place;
        break;
    case OP_CONTINUE:
        result = holds(*place == b->from);
        break;
    default:
        result = STEP_FAILED;
        break;
    }
    *at = next;
    return result;
}

/* Runs the program at `at` from `*place` on; if it ends, `*place` is where. */
static step_result run(tik_backtracker *b, size_t at, size_t *place, size_t *kept, bool inner)
{
    size_t ways = b->way_count, tried = b->tried_count;
    step_result result;
    for (;;) {
        result = b->program[at].operation == OP_MATCH ? STEP_DONE : step(b, &at, place, kept, inner);
        if (result == STEP_DONE && b->program[at].operation != OP_MATCH)
            continue;
        if (result != STEP_FAILED || b->way_count == ways)
            break;
        waiting_way way = b->ways[--b->way_count];
        at = way.at;
        *place = way.place;
        *kept = way.kept;
    }
    /* The choices on the way to the end of an inner program did not fail: from another place they may serve again. */
    if (result == STEP_DONE) {
        for (size_t i = tried; i < b->tried_count; i++)
            find_slot(b->slots, b->slot_count, b->match, b->tried[i])->value = UNKNOWN;
    }
    b->tried_count = tried;
    b->way_count = ways;
    return result;
}

tik_backtrack_result tik_backtracker_match(tik_backtracker *b, const uint8_t *text, size_t length, size_t from,
                                           bool more, size_t found[2])
{
    if ((uint64_t)length >> PLACE_BITS)
        return TIK_BACKTRACK_GAVE_UP;
    forget(b);
    b->text = text;
    b->text_length = length;
    b->from = from;
    b->more = more;
    b->steps = 0;
    b->most_steps = STEPS_LEAST + (length < SIZE_MAX / 2 / STEPS_PER_BYTE ? length * STEPS_PER_BYTE : SIZE_MAX / 2);
    for (size_t start = from; start < length;) {
        size_t place = start, kept = start;
        switch (run(b, 0, &place, &kept, false)) {
        case STEP_DONE:
            found[0] = kept;
            found[1] = place;
            return TIK_BACKTRACK_FOUND;
        case STEP_PARTIAL:
            return TIK_BACKTRACK_PARTIAL;
        case STEP_GAVE_UP:
            return TIK_BACKTRACK_GAVE_UP;
        default:
            break;
        }
        do
            start++;
        while (start < length && !tik_utf8_is_start(text[start]));
    }
    return TIK_BACKTRACK_NONE;
}
