/* What is at the place where a folder is to be emitted. */
#ifndef VF_EMIT_EARLIER_H
#define VF_EMIT_EARLIER_H

#include <stdbool.h>

#include "runtime/base/arena.h"

/* The list of an emitted folder's files, as sha256sum prints and checks it. */
#define VF_EMIT_LIST "FILES"

/* `*replaces`: a folder of an earlier emission is there. VF_USAGE when something is there that
 * would be lost: a file, or a folder that holds more than such files, unchanged, and what is built
 * of them. VF_IO when a folder of it may not be changed. */
VfStatus vf_emit_earlier_check(const char *path, VfArena *arena, bool *replaces, VfErr *err);

#endif
