/*
 * The merges, the most frequent pair first, each touching only the places where its pair occurs. It always
 * agrees with plain.c.
 *
 * The pieces lie in one array of symbols, a place for each byte, a border between two pieces. A symbol of
 * several bytes has its id in its first place and in its last, so that its neighbours on both sides can be
 * read without links:
 *
 *     | l o w e r |      after "er":   | l o w er er |      after "ower":   | l ower . . ower |
 *
 * For every pair there are its count and a list of the places where it occurred, ascending. Merging a pair
 * makes pairs with the new symbol, and takes occurrences away from others. Lists are not cleaned when that
 * happens: a place is looked at when its turn comes, and holds if the pair is still there.
 *
 * Counts and first places only get worse, but for the rare merge that joins an old symbol. So the heap's
 * entries are upper bounds: one that comes up and is no longer true goes back with what is true. To keep
 * the heap small, only pairs with a count of at least `floor` are in it; when it is empty, the floor sinks.
 */
#include <stdlib.h>
#include <string.h>

#include "train/pairs.h"
#include "train/train.h"

#define BORDER UINT32_MAX
#define INSIDE (UINT32_MAX - 1)
#define MAX_SYMBOLS ((size_t)UINT32_MAX - 2)

/* How many places share an entry of run_of_block: finding a weight looks at no more runs than that. */
#define BLOCK_SHIFT 5

/* How many list entries ahead the symbols are asked for. */
#define AHEAD 12

typedef struct heap_entry {
    uint64_t count;
    uint64_t tie; /* among equal counts the lowest comes first: the key, or the first place */
    uint64_t key;
} heap_entry;

/* What a merge finds on one side of its new symbols: one neighbour, how often it is there, their new pair. */
typedef struct adjacency {
    uint64_t weight;
    tik_pair *pair;
    uint32_t places;
} adjacency;

/* One side: a neighbour for each id, and which of them are in use. */
typedef struct flank {
    adjacency *of;
    size_t capacity;
    uint32_t *touched;
    size_t touched_count;
    size_t touched_capacity;
} flank;

struct tik_learner {
    tik_rules rules;
    tik_lexicon *lexicon;

    uint32_t *symbols;
    size_t symbol_count;
    size_t symbol_capacity;

    /* Pieces of equal weight that lie together are a run. */
    uint32_t *run_starts;
    uint64_t *run_weights;
    size_t run_count;
    size_t run_starts_capacity;
    size_t run_weights_capacity;
    uint32_t *run_of_block; /* the run of the first place of each block */

    tik_pairs pairs;
    heap_entry *heap;
    size_t heap_count;
    size_t heap_capacity;
    uint64_t floor;

    flank left;
    flank right;
    uint32_t *places; /* where the merge at hand was made */
    size_t places_capacity;
    uint64_t tokens;
};

/* ---- Pieces ------------------------------------------------------------------------------------ */

tik_status tik_learner_new(const tik_rules *rules, tik_lexicon *lexicon, tik_learner **out, tik_error *error)
{
    tik_learner *learner = calloc(1, sizeof *learner);
    if (!learner)
        return tik_fail_memory(error, sizeof *learner);
    learner->rules = *rules;
    if (learner->rules.min_count == 0)
        learner->rules.min_count = 1;
    learner->floor = UINT64_MAX; /* it sinks when the first pair is asked for */
    learner->lexicon = lexicon;
    *out = learner;
    return TIK_OK;
}

static void free_side(flank *side)
{
    free(side->of);
    free(side->touched);
}

void tik_learner_free(tik_learner *learner)
{
    if (!learner)
        return;
    free(learner->symbols);
    free(learner->run_starts);
    free(learner->run_weights);
    free(learner->run_of_block);
    tik_pairs_free(&learner->pairs);
    free(learner->heap);
    free_side(&learner->left);
    free_side(&learner->right);
    free(learner->places);
    free(learner);
}

tik_status tik_learner_reserve(tik_learner *learner, size_t symbols, size_t pieces, tik_error *error)
{
    if (symbols > MAX_SYMBOLS || pieces > MAX_SYMBOLS - symbols)
        return tik_fail(error, TIK_ERROR_LIMIT,
                        "the different pieces have %zu bytes: at most %zu can be trained on; limit the pieces",
                        symbols, MAX_SYMBOLS);
    size_t need = learner->symbol_count + symbols + pieces + 1;
    if (need <= learner->symbol_capacity)
        return TIK_OK;
    uint32_t *array = realloc(learner->symbols, need * sizeof *array);
    if (!array)
        return tik_fail_memory(error, need * sizeof *array);
    learner->symbols = array;
    learner->symbol_capacity = need;
    return TIK_OK;
}

static tik_status add_run(tik_learner *learner, uint64_t weight, tik_error *error)
{
    if (learner->run_count && learner->run_weights[learner->run_count - 1] == weight)
        return TIK_OK;
    void *starts = learner->run_starts;
    tik_status status = tik_grow(&starts, &learner->run_starts_capacity, learner->run_count + 1,
                                 sizeof *learner->run_starts, error);
    learner->run_starts = starts;
    if (status != TIK_OK)
        return status;
    void *weights = learner->run_weights;
    status = tik_grow(&weights, &learner->run_weights_capacity, learner->run_count + 1,
                      sizeof *learner->run_weights, error);
    learner->run_weights = weights;
    if (status != TIK_OK)
        return status;
    learner->run_starts[learner->run_count] = (uint32_t)learner->symbol_count;
    learner->run_weights[learner->run_count++] = weight;
    return TIK_OK;
}

/* Lays a symbol over as many places as it has bytes. */
static void lay(uint32_t *place, uint32_t symbol, uint32_t width)
{
    for (uint32_t i = 1; i + 1 < width; i++)
        place[i] = INSIDE;
    place[0] = symbol;
    place[width - 1] = symbol;
}

tik_status tik_learner_add(tik_learner *learner, const uint32_t *symbols, size_t count, uint64_t weight,
                           tik_error *error)
{
    const uint32_t *widths = learner->lexicon->lengths;
    learner->tokens += weight * count;
    if (count < 2)
        return TIK_OK; /* it will never have a pair */
    size_t width = 0;
    for (size_t i = 0; i < count; i++)
        width += widths[symbols[i]];
    if (learner->symbol_count > MAX_SYMBOLS || width + 2 > MAX_SYMBOLS - learner->symbol_count)
        return tik_fail(error, TIK_ERROR_LIMIT,
                        "the different pieces have more than %zu bytes, which is all that can be trained on",
                        MAX_SYMBOLS);
    void *array = learner->symbols;
    tik_status status = tik_grow(&array, &learner->symbol_capacity, learner->symbol_count + width + 2,
                                 sizeof *learner->symbols, error);
    learner->symbols = array;
    if (status != TIK_OK)
        return status;
    if (learner->symbol_count == 0)
        learner->symbols[learner->symbol_count++] = BORDER;
    status = add_run(learner, weight, error);
    if (status != TIK_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        lay(learner->symbols + learner->symbol_count, symbols[i], widths[symbols[i]]);
        learner->symbol_count += widths[symbols[i]];
    }
    learner->symbols[learner->symbol_count++] = BORDER;
    return TIK_OK;
}

static uint64_t weight_at(const tik_learner *learner, uint32_t place)
{
    size_t run = learner->run_of_block[place >> BLOCK_SHIFT];
    while (run + 1 < learner->run_count && learner->run_starts[run + 1] <= place)
        run++;
    return learner->run_weights[run];
}

uint64_t tik_learner_tokens(const tik_learner *learner)
{
    return learner->tokens;
}

tik_status tik_learner_piece(const tik_learner *learner, size_t *from, tik_bytes *bytes, uint64_t *weight,
                             tik_error *error)
{
    size_t place = *from ? *from : 1;
    tik_status status = TIK_OK;
    *weight = 0;
    if (place >= learner->symbol_count)
        return TIK_OK;
    *weight = weight_at(learner, (uint32_t)place);
    while (learner->symbols[place] != BORDER && status == TIK_OK) {
        uint32_t symbol = learner->symbols[place];
        uint32_t width = learner->lexicon->lengths[symbol];
        status = tik_bytes_append(bytes, tik_lexicon_bytes(learner->lexicon, symbol), width, error);
        place += width;
    }
    *from = place + 1;
    return status;
}

/* ---- The heap of the best pairs ---------------------------------------------------------------- */

static bool comes_first(const heap_entry *first, const heap_entry *second)
{
    return first->count != second->count ? first->count > second->count : first->tie < second->tie;
}

static tik_status heap_push(tik_learner *learner, heap_entry entry, tik_error *error)
{
    void *array = learner->heap;
    tik_status status = tik_grow(&array, &learner->heap_capacity, learner->heap_count + 1, sizeof *learner->heap,
                                 error);
    learner->heap = array;
    if (status != TIK_OK)
        return status;
    heap_entry *heap = learner->heap;
    size_t at = learner->heap_count++;
    for (; at && comes_first(&entry, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = entry;
    return TIK_OK;
}

static heap_entry heap_pop(tik_learner *learner)
{
    heap_entry *heap = learner->heap;
    heap_entry best = heap[0];
    heap_entry last = heap[--learner->heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= learner->heap_count)
            break;
        if (child + 1 < learner->heap_count && comes_first(&heap[child + 1], &heap[child]))
            child++;
        if (!comes_first(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return best;
}

/* True if the pair is at this place. */
static bool is_at(const tik_learner *learner, uint32_t place, uint32_t left, uint32_t right)
{
    const uint32_t *symbol = learner->symbols + place;
    return symbol[0] == left && symbol[learner->lexicon->lengths[left]] == right;
}

/* The first place of a pair that is there; places before it where it is gone are forgotten. */
static uint32_t first_place(const tik_learner *learner, tik_pair *pair)
{
    uint32_t left = (uint32_t)(pair->key >> 32);
    uint32_t right = (uint32_t)pair->key;
    uint32_t *places = tik_pair_places(pair);
    uint32_t gone = 0;
    while (gone + 1 < pair->used && !is_at(learner, places[gone], left, right))
        gone++;
    if (gone == 0)
        return places[0];
    uint32_t first = places[gone];
    tik_pair_forget(pair, gone);
    return first;
}

static heap_entry entry_of(const tik_learner *learner, tik_pair *pair)
{
    uint64_t tie = learner->rules.ties == TIK_TIES_FIRST ? first_place(learner, pair) : pair->key;
    return (heap_entry){pair->count, tie, pair->key};
}

/* Half of the largest count becomes the floor, and the pairs above it come into the empty heap. */
static tik_status sink_floor(tik_learner *learner, tik_error *error)
{
    tik_pairs *pairs = &learner->pairs;
    size_t size = pairs->slots ? (size_t)1 << pairs->bits : 0;
    uint64_t most = 0;
    for (size_t i = 0; i < size; i++)
        if (pairs->slots[i].key != TIK_PAIR_FREE && pairs->slots[i].count > most)
            most = pairs->slots[i].count;
    learner->floor = most / 2 > learner->rules.min_count ? most / 2 : learner->rules.min_count;
    tik_status status = TIK_OK;
    for (size_t i = 0; i < size && status == TIK_OK; i++)
        if (pairs->slots[i].key != TIK_PAIR_FREE && pairs->slots[i].count >= learner->floor)
            status = heap_push(learner, entry_of(learner, &pairs->slots[i]), error);
    return status;
}

/* The pair to merge next; NULL with TIK_OK if there is none. */
static tik_status best_pair(tik_learner *learner, tik_pair **best, tik_error *error)
{
    *best = NULL;
    for (;;) {
        if (learner->heap_count == 0) {
            tik_status status = sink_floor(learner, error);
            if (status != TIK_OK || learner->heap_count == 0)
                return status;
        }
        heap_entry entry = heap_pop(learner);
        tik_pair *pair = tik_pairs_find(&learner->pairs, entry.key);
        if (!pair || pair->count == 0 || pair->count > entry.count)
            continue; /* gone; or it grew, and was put in anew with its new count */
        heap_entry now = entry_of(learner, pair);
        if (now.count == entry.count && now.tie == entry.tie) {
            *best = pair;
            return TIK_OK;
        }
        if (now.count >= learner->floor) {
            tik_status status = heap_push(learner, now, error);
            if (status != TIK_OK)
                return status;
        }
    }
}

/* ---- A merge ----------------------------------------------------------------------------------- */

/* Makes room for every id in what is indexed by id. */
static tik_status reserve_ids(flank *side, size_t limit, tik_error *error)
{
    size_t known = side->capacity;
    void *of = side->of;
    tik_status status = tik_grow(&of, &side->capacity, limit, sizeof *side->of, error);
    side->of = of;
    if (status == TIK_OK)
        memset(side->of + known, 0, (side->capacity - known) * sizeof *side->of);
    return status;
}

static tik_status note(flank *side, uint32_t id, uint64_t weight, tik_error *error)
{
    adjacency *neighbour = &side->of[id];
    if (neighbour->places == 0) {
        void *touched = side->touched;
        tik_status status = tik_grow(&touched, &side->touched_capacity, side->touched_count + 1,
                                     sizeof *side->touched, error);
        side->touched = touched;
        if (status != TIK_OK)
            return status;
        side->touched[side->touched_count++] = id;
    }
    neighbour->weight += weight;
    neighbour->places++;
    return TIK_OK;
}

static void clear(flank *side)
{
    for (size_t i = 0; i < side->touched_count; i++)
        side->of[side->touched[i]] = (adjacency){0, NULL, 0};
    side->touched_count = 0;
}

/* Replaces the pair by `id` wherever it is, left to right; returns at how many places. */
static size_t replace(tik_learner *learner, tik_pair *pair, uint32_t id)
{
    uint32_t left = (uint32_t)(pair->key >> 32);
    uint32_t right = (uint32_t)pair->key;
    const uint32_t *places = tik_pair_places(pair);
    uint32_t left_width = learner->lexicon->lengths[left];
    uint32_t width = left_width + learner->lexicon->lengths[right];
    size_t made = 0;
    for (size_t i = 0; i < pair->used; i++) {
        if (i + AHEAD < pair->used)
            __builtin_prefetch(learner->symbols + places[i + AHEAD], 1);
        uint32_t *symbol = learner->symbols + places[i];
        if (symbol[0] != left || symbol[left_width] != right)
            continue;
        symbol[left_width - 1] = INSIDE;
        symbol[left_width] = INSIDE;
        symbol[0] = id;
        symbol[width - 1] = id;
        learner->places[made++] = places[i];
    }
    return made;
}

/*
 * Looks at both sides of every new symbol. Two new symbols side by side are `twins`, noted at the first;
 * any other neighbour is noted in `left` or `right`.
 */
static tik_status note_neighbours(tik_learner *learner, uint32_t width, size_t made, adjacency *twins,
                                  tik_error *error)
{
    const uint32_t *places = learner->places;
    const uint32_t *symbols = learner->symbols;
    tik_status status = TIK_OK;
    for (size_t i = 0; i < made && status == TIK_OK; i++) {
        uint32_t place = places[i];
        uint64_t weight = weight_at(learner, place);
        bool follows_twin = i && places[i - 1] + width == place;
        bool precedes_twin = i + 1 < made && place + width == places[i + 1];
        learner->tokens -= weight;
        if (!follows_twin && symbols[place - 1] != BORDER)
            status = note(&learner->left, symbols[place - 1], weight, error);
        if (precedes_twin) {
            twins->weight += weight;
            twins->places++;
        } else if (status == TIK_OK && symbols[place + width] != BORDER) {
            status = note(&learner->right, symbols[place + width], weight, error);
        }
    }
    return status;
}

static void lose(tik_learner *learner, uint32_t left, uint32_t right, uint64_t weight)
{
    tik_pair *pair = tik_pairs_find(&learner->pairs, tik_pair_key(left, right));
    if (pair)
        pair->count -= pair->count < weight ? pair->count : weight;
}

/* The pair that a neighbour makes; room for `places` more in its list. No pair if it would be too long. */
static tik_status gain(tik_learner *learner, uint32_t left, uint32_t right, adjacency *neighbour, size_t places,
                       tik_error *error)
{
    const tik_lexicon *lexicon = learner->lexicon;
    size_t length = (size_t)lexicon->lengths[left] + lexicon->lengths[right];
    if (learner->rules.max_length && length > learner->rules.max_length)
        return TIK_OK;
    tik_pair *pair = tik_pairs_add(&learner->pairs, tik_pair_key(left, right));
    tik_status status = tik_pairs_extend(&learner->pairs, pair, places, error);
    if (status != TIK_OK)
        return status;
    pair->count += neighbour->weight;
    neighbour->pair = pair;
    return TIK_OK;
}

/* Takes from the pairs that were there, and makes those that are there now, their lists still to be filled. */
static tik_status count_anew(tik_learner *learner, const tik_merge *merge, adjacency *twins, tik_error *error)
{
    flank *left = &learner->left;
    flank *right = &learner->right;
    uint32_t id = merge->id;
    tik_status status = tik_pairs_reserve(&learner->pairs, left->touched_count + right->touched_count + 1, error);
    /* The pair of the symbol with itself can be found on both sides too, if the symbol is not new. */
    size_t doubles = (size_t)left->of[id].places + right->of[id].places + twins->places;
    for (size_t i = 0; i < left->touched_count && status == TIK_OK; i++) {
        uint32_t other = left->touched[i];
        adjacency *neighbour = &left->of[other];
        lose(learner, other, merge->left, neighbour->weight);
        status = gain(learner, other, id, neighbour, other == id ? doubles : neighbour->places, error);
    }
    for (size_t i = 0; i < right->touched_count && status == TIK_OK; i++) {
        uint32_t other = right->touched[i];
        adjacency *neighbour = &right->of[other];
        lose(learner, merge->right, other, neighbour->weight);
        status = gain(learner, id, other, neighbour, other == id ? doubles : neighbour->places, error);
    }
    if (twins->places && status == TIK_OK) {
        lose(learner, merge->right, merge->left, twins->weight);
        status = gain(learner, id, id, twins, doubles, error);
    }
    return status;
}

static void append_place(tik_pair *pair, uint32_t place)
{
    if (pair)
        tik_pair_places(pair)[pair->used++] = place;
}

static void fill_lists(tik_learner *learner, uint32_t width, size_t made, const adjacency *twins)
{
    const uint32_t *places = learner->places;
    const uint32_t *symbols = learner->symbols;
    for (size_t i = 0; i < made; i++) {
        uint32_t place = places[i];
        uint32_t before = symbols[place - 1];
        uint32_t after = symbols[place + width];
        bool follows_twin = i && places[i - 1] + width == place;
        bool precedes_twin = i + 1 < made && place + width == places[i + 1];
        if (!follows_twin && before != BORDER)
            append_place(learner->left.of[before].pair, place - learner->lexicon->lengths[before]);
        if (precedes_twin)
            append_place(twins->pair, place);
        else if (after != BORDER)
            append_place(learner->right.of[after].pair, place);
    }
}

static int by_place(const void *first, const void *second)
{
    const uint32_t *a = first;
    const uint32_t *b = second;
    return *a < *b ? -1 : *a > *b;
}

/* Puts a pair whose list is full into the heap. Where the symbol is old, so may the pair be: sort its list. */
static tik_status enter(tik_learner *learner, tik_pair *pair, bool joined, tik_error *error)
{
    if (!pair)
        return TIK_OK;
    if (joined)
        qsort(tik_pair_places(pair), pair->used, sizeof(uint32_t), by_place);
    if (pair->count < learner->floor)
        return TIK_OK;
    return heap_push(learner, entry_of(learner, pair), error);
}

static tik_status merge_pair(tik_learner *learner, tik_pair *pair, tik_merge *merge, tik_error *error)
{
    uint32_t width = learner->lexicon->lengths[merge->left] + learner->lexicon->lengths[merge->right];
    adjacency twins = {0, NULL, 0};
    void *array = learner->places;
    tik_status status = tik_grow(&array, &learner->places_capacity, pair->used, sizeof *learner->places, error);
    learner->places = array;
    if (status == TIK_OK)
        status = reserve_ids(&learner->left, learner->lexicon->limit, error);
    if (status == TIK_OK)
        status = reserve_ids(&learner->right, learner->lexicon->limit, error);
    if (status != TIK_OK)
        return status;
    size_t made = replace(learner, pair, merge->id);
    if (pair->capacity > TIK_PAIR_FEW)
        tik_pairs_give_back(&learner->pairs, pair->places.many, pair->capacity);
    pair->used = 0;
    pair->capacity = 0;
    status = note_neighbours(learner, width, made, &twins, error);
    if (status == TIK_OK)
        status = count_anew(learner, merge, &twins, error);
    if (status == TIK_OK)
        fill_lists(learner, width, made, &twins);
    /* What was counted of the pair itself is gone: in `aaa` the second `aa` too. */
    pair = tik_pairs_find(&learner->pairs, tik_pair_key(merge->left, merge->right));
    if (pair)
        pair->count = 0;
    for (size_t i = 0; i < learner->left.touched_count && status == TIK_OK; i++)
        status = enter(learner, learner->left.of[learner->left.touched[i]].pair, merge->joined, error);
    for (size_t i = 0; i < learner->right.touched_count && status == TIK_OK; i++)
        status = enter(learner, learner->right.of[learner->right.touched[i]].pair, merge->joined, error);
    if (status == TIK_OK)
        status = enter(learner, twins.pair, merge->joined, error);
    clear(&learner->left);
    clear(&learner->right);
    return status;
}

static tik_status join(tik_learner *learner, tik_pair *pair, tik_merge *merge, tik_error *error)
{
    *merge = (tik_merge){(uint32_t)(pair->key >> 32), (uint32_t)pair->key, 0, false, pair->count};
    tik_status status = tik_lexicon_join(learner->lexicon, merge->left, merge->right, &merge->id, &merge->joined,
                                         error);
    return status == TIK_OK ? merge_pair(learner, pair, merge, error) : status;
}

tik_status tik_learner_step(tik_learner *learner, tik_merge *merge, bool *done, tik_error *error)
{
    tik_pair *pair;
    tik_status status = best_pair(learner, &pair, error);
    *done = pair == NULL;
    return pair ? join(learner, pair, merge, error) : status;
}

tik_status tik_learner_repeat(tik_learner *learner, uint32_t left, uint32_t right, tik_merge *merge,
                              tik_error *error)
{
    tik_pair *pair = tik_pairs_find(&learner->pairs, tik_pair_key(left, right));
    if (!pair || pair->count == 0)
        return tik_fail(error, TIK_ERROR_FORMAT, "the pair %u %u does not occur: the merges are of other texts", left,
                        right);
    return join(learner, pair, merge, error);
}

/* ---- The pairs at the beginning ---------------------------------------------------------------- */

static tik_status index_runs(tik_learner *learner, tik_error *error)
{
    size_t blocks = (learner->symbol_count >> BLOCK_SHIFT) + 1;
    learner->run_of_block = malloc(blocks * sizeof *learner->run_of_block);
    if (!learner->run_of_block)
        return tik_fail_memory(error, blocks * sizeof *learner->run_of_block);
    size_t run = 0;
    for (size_t block = 0; block < blocks; block++) {
        while (run + 1 < learner->run_count && learner->run_starts[run + 1] <= block << BLOCK_SHIFT)
            run++;
        learner->run_of_block[block] = (uint32_t)run;
    }
    return TIK_OK;
}

/* Pairs of two ids below this are counted in an array; with the bytes as symbols, that is all of them. */
#define DENSE 256u

/* What is known of a pair before it has a list. */
typedef struct first_count {
    uint64_t weight;
    uint32_t places;
} first_count;

/* The first pair at or after `place`, or false; `*run` moves on to the run of its piece. */
static bool next_pair(const tik_learner *learner, size_t *place, size_t *run, uint32_t *left, uint32_t *right)
{
    const uint32_t *symbols = learner->symbols;
    while (*place < learner->symbol_count) {
        *left = symbols[*place];
        if (*left == BORDER) {
            ++*place;
            if (*run + 1 < learner->run_count && learner->run_starts[*run + 1] == *place)
                ++*run;
            continue;
        }
        *right = symbols[*place + learner->lexicon->lengths[*left]];
        if (*right != BORDER)
            return true;
        *place += learner->lexicon->lengths[*left];
    }
    return false;
}

static tik_status count_pairs(tik_learner *learner, first_count *dense, tik_error *error)
{
    uint32_t left;
    uint32_t right;
    size_t run = 0;
    for (size_t place = 1; next_pair(learner, &place, &run, &left, &right);
         place += learner->lexicon->lengths[left]) {
        uint64_t weight = learner->run_weights[run];
        if ((left | right) < DENSE) {
            dense[left * DENSE + right].weight += weight;
            dense[left * DENSE + right].places++;
            continue;
        }
        tik_status status = tik_pairs_reserve(&learner->pairs, 1, error);
        if (status != TIK_OK)
            return status;
        tik_pair *pair = tik_pairs_add(&learner->pairs, tik_pair_key(left, right));
        pair->count += weight;
        pair->used++;
    }
    tik_status status = tik_pairs_reserve(&learner->pairs, (size_t)DENSE * DENSE, error);
    for (uint32_t i = 0; i < DENSE * DENSE && status == TIK_OK; i++) {
        if (dense[i].places == 0)
            continue;
        tik_pair *pair = tik_pairs_add(&learner->pairs, tik_pair_key(i / DENSE, i % DENSE));
        pair->count = dense[i].weight;
        pair->used = dense[i].places;
    }
    return status;
}

/* Gives every pair the memory for its list. Pairs that would be too long are dropped. */
static tik_status make_lists(tik_learner *learner, tik_pair **dense, tik_error *error)
{
    const tik_lexicon *lexicon = learner->lexicon;
    for (size_t i = 0; i < (size_t)1 << learner->pairs.bits; i++) {
        tik_pair *pair = &learner->pairs.slots[i];
        if (pair->key == TIK_PAIR_FREE)
            continue;
        uint32_t left = (uint32_t)(pair->key >> 32);
        uint32_t right = (uint32_t)pair->key;
        size_t places = pair->used;
        pair->used = 0;
        if (learner->rules.max_length &&
            (size_t)lexicon->lengths[left] + lexicon->lengths[right] > learner->rules.max_length) {
            pair->count = 0;
            continue;
        }
        tik_status status = tik_pairs_extend(&learner->pairs, pair, places, error);
        if (status != TIK_OK)
            return status;
        if ((left | right) < DENSE)
            dense[left * DENSE + right] = pair;
    }
    return TIK_OK;
}

static void fill_first_lists(tik_learner *learner, tik_pair *const *dense)
{
    uint32_t left;
    uint32_t right;
    size_t run = 0;
    for (size_t place = 1; next_pair(learner, &place, &run, &left, &right);
         place += learner->lexicon->lengths[left]) {
        tik_pair *pair = (left | right) < DENSE ? dense[left * DENSE + right]
                                                : tik_pairs_find(&learner->pairs, tik_pair_key(left, right));
        if (pair && pair->count)
            append_place(pair, (uint32_t)place);
    }
}

tik_status tik_learner_start(tik_learner *learner, tik_error *error)
{
    size_t cells = (size_t)DENSE * DENSE;
    first_count *counts = calloc(cells, sizeof *counts);
    tik_pair **dense = calloc(cells, sizeof *dense);
    tik_status status = TIK_OK;
    if (!counts || !dense)
        status = tik_fail_memory(error, cells * (sizeof *counts + sizeof *dense));
    if (status == TIK_OK)
        status = index_runs(learner, error);
    if (status == TIK_OK)
        status = count_pairs(learner, counts, error);
    if (status == TIK_OK)
        status = make_lists(learner, dense, error);
    if (status == TIK_OK)
        fill_first_lists(learner, dense);
    free(counts);
    free(dense);
    return status;
}
