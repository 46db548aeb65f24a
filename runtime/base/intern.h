/* A set of byte strings, each kept once and numbered in the order it was first added.
 *
 * Ids are dense from 0 and depend on nothing but that order. Any byte may occur, also 0;
 * the empty string is a string as others are. A look-up costs time in proportion to the
 * length of the key, whatever the keys are: they lie in binary tries, so no choice of names in
 * a file makes it slow. Strings and table live in the arena given at the start.
 */
#ifndef VF_BASE_INTERN_H
#define VF_BASE_INTERN_H

#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

typedef struct VfIntern VfIntern;

/* An empty table in `arena`, or NULL. */
VfIntern *vf_intern_new(VfArena *arena);

/* Store in `*id` the number of `key`, which is copied if it is new. `id` may be NULL. */
VfStatus vf_intern_add(VfIntern *table, VfBytes key, int32_t *id, VfErr *err);

/* The number of `key`, or -1 if it was never added. */
int32_t vf_intern_find(const VfIntern *table, VfBytes key);

/* The string with number `id`, terminated by a 0 byte; `id` must be below the count. */
VfBytes vf_intern_get(const VfIntern *table, int32_t id);

/* How many different strings were added. */
int32_t vf_intern_count(const VfIntern *table);

/* Order by bytes, a prefix first: below 0, 0, above 0. */
int vf_bytes_compare(VfBytes a, VfBytes b);

/* The bytes of a terminated string. */
VfBytes vf_bytes(const char *string);

#endif
