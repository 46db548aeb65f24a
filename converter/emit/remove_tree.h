/* Removal of a folder with all it holds. */
#ifndef VF_EMIT_REMOVE_TREE_H
#define VF_EMIT_REMOVE_TREE_H

/* Remove the folder at `path`, what cannot be removed excepted. Links are removed, not followed.
 * Allocates nothing, so it works when memory is what ran out. */
void vf_remove_tree(const char *path);

#endif
