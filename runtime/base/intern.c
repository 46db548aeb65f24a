#include "runtime/base/intern.h"

#include <stdbool.h>
#include <string.h>

/* A forest: the hash of a key chooses its tree, so that trees of ordinary keys are a key or two
 * high. Keys made to have one hash share a tree, which costs what the trees cost, no more.
 *
 * Each is a crit-bit tree. A key is read as 9-bit symbols: 0x100 | byte, and 0 past its end, so
 * that a prefix differs from its extensions. Each fork tests one bit of one symbol; forks come in
 * the order of (symbol, bit) from the root down. A link > 0 is the fork with number link - 1, a
 * link < 0 is the key with number ~link, 0 is an empty tree.
 */
typedef struct Fork {
    size_t symbol;
    uint32_t bit; /* mask within the 9 bits */
    int32_t link[2];
} Fork;

struct VfIntern {
    VfArena *arena;
    VfBytes *key;
    Fork *fork;
    int32_t *root; /* as many as `n_root`, a power of two that is no smaller than n_key */
    size_t n_key, key_capacity, n_fork, fork_capacity, n_root;
};

enum { FIRST_ROOTS = 16, ROOTS_GROW = 4 };

VfIntern *vf_intern_new(VfArena *arena)
{
    VfIntern *table = VF_NEW(arena, VfIntern);
    if (table != NULL)
        table->arena = arena;
    return table;
}

static bool is_equal(VfBytes a, VfBytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static uint32_t symbol_at(VfBytes key, size_t i)
{
    return i < key.size ? 0x100u | (unsigned char)key.data[i] : 0;
}

static int side_of(const Fork *fork, VfBytes key)
{
    return (symbol_at(key, fork->symbol) & fork->bit) != 0;
}

/* Eight bytes at a time; the number differs between machines, but nothing that is seen does. */
static uint64_t hash_of(VfBytes key)
{
    static const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t hash = key.size, word;
    for (size_t i = 0; i < key.size; i += sizeof word) {
        size_t left = key.size - i;
        word = 0;
        memcpy(&word, key.data + i, left < sizeof word ? left : sizeof word);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 32;
    }
    return hash;
}

static int32_t *root_of(const VfIntern *table, VfBytes key)
{
    return &table->root[hash_of(key) & (table->n_root - 1)];
}

/* The one key of a tree, which is not empty, that can equal `key`. */
static int32_t nearest(const VfIntern *table, int32_t link, VfBytes key)
{
    while (link > 0)
        link = table->fork[link - 1].link[side_of(&table->fork[link - 1], key)];
    return ~link;
}

int32_t vf_intern_find(const VfIntern *table, VfBytes key)
{
    int32_t root = table->n_root == 0 ? 0 : *root_of(table, key);
    if (root == 0)
        return -1;
    int32_t id = nearest(table, root, key);
    return is_equal(table->key[id], key) ? id : -1;
}

/* Where `a` and `b`, which differ, differ first. */
static Fork first_difference(VfBytes a, VfBytes b)
{
    size_t i = 0;
    while (symbol_at(a, i) == symbol_at(b, i))
        i++;
    uint32_t differing = symbol_at(a, i) ^ symbol_at(b, i);
    uint32_t bit = 0x100;
    while ((differing & bit) == 0)
        bit >>= 1;
    return (Fork){.symbol = i, .bit = bit};
}

static bool is_above(const Fork *a, const Fork *b)
{
    return a->symbol != b->symbol ? a->symbol < b->symbol : a->bit > b->bit;
}

/* Hang key `id` and the fork that tells it apart from those of its tree into the tree. */
static void link_key(VfIntern *table, int32_t id)
{
    VfBytes key = table->key[id];
    int32_t *link = root_of(table, key);
    if (*link == 0) {
        *link = ~id;
        return;
    }
    Fork fork = first_difference(table->key[nearest(table, *link, key)], key);
    while (*link > 0 && is_above(&table->fork[*link - 1], &fork))
        link = &table->fork[*link - 1].link[side_of(&table->fork[*link - 1], key)];
    int side = side_of(&fork, key);
    fork.link[side] = ~id;
    fork.link[!side] = *link;
    table->fork[table->n_fork++] = fork;
    *link = (int32_t)table->n_fork;
}

static VfStatus plant(VfIntern *table, VfErr *err)
{
    size_t n_root = table->n_root == 0 ? FIRST_ROOTS : table->n_root * ROOTS_GROW;
    int32_t *root = VF_NEW_ARRAY(table->arena, int32_t, n_root);
    VF_TRY_ALLOC(root, err);
    table->root = root;
    table->n_root = n_root;
    table->n_fork = 0;
    for (size_t i = 0; i < table->n_key; i++)
        link_key(table, (int32_t)i);
    return VF_OK;
}

static VfStatus make_room(VfIntern *table, VfErr *err)
{
    if (table->n_key >= INT32_MAX - 1)
        return vf_fail(err, VF_UNSUPPORTED, "too many names: more than %d", INT32_MAX - 1);
    void *keys = table->key, *forks = table->fork;
    VF_TRY(vf_arena_grow(table->arena, &keys, &table->key_capacity, table->n_key + 1,
                         sizeof *table->key, err));
    table->key = keys;
    VF_TRY(vf_arena_grow(table->arena, &forks, &table->fork_capacity, table->n_fork + 1,
                         sizeof *table->fork, err));
    table->fork = forks;
    return table->n_key < table->n_root ? VF_OK : plant(table, err);
}

VfStatus vf_intern_add(VfIntern *table, VfBytes key, int32_t *id, VfErr *err)
{
    int32_t found = vf_intern_find(table, key);
    if (found < 0) {
        VF_TRY(make_room(table, err));
        char *copy = vf_arena_copy(table->arena, key.data, key.size);
        VF_TRY_ALLOC(copy, err);
        found = (int32_t)table->n_key++;
        table->key[found] = (VfBytes){copy, key.size};
        link_key(table, found);
    }
    if (id != NULL)
        *id = found;
    return VF_OK;
}

VfBytes vf_intern_get(const VfIntern *table, int32_t id)
{
    return table->key[id];
}

int32_t vf_intern_count(const VfIntern *table)
{
    return (int32_t)table->n_key;
}

int vf_bytes_compare(VfBytes a, VfBytes b)
{
    size_t n = a.size < b.size ? a.size : b.size;
    int order = n == 0 ? 0 : memcmp(a.data, b.data, n);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

VfBytes vf_bytes(const char *string)
{
    return (VfBytes){string, strlen(string)};
}
