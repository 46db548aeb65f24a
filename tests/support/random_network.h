/* Random small transformers as .vft text: attention, norms and linear layers in the spellings of
 * exporters, with branches and shared weights, parts that an If chooses, and nodes that do nothing
 * strewn in.
 *
 * Everything follows from the seed, so a failure names the seed and prints the graph.
 */
#ifndef VF_TESTS_RANDOM_NETWORK_H
#define VF_TESTS_RANDOM_NETWORK_H

#include "runtime/base/arena.h"

/* The text of network `seed`, in `arena`. NULL when out of memory. */
const char *vf_random_network(VfArena *arena, uint64_t seed);

#endif
