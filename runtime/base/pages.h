/* Large memory that lies in a file, so that the system can write it out and take it away.
 *
 * The file has no name and vanishes with its last mapping. Its space is reserved before it is
 * mapped: a full disk is an answer here and never a fault later.
 */
#ifndef VF_BASE_PAGES_H
#define VF_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Map `bytes` zeroed bytes of a new file in `folder`, aligned to a page. NULL when the folder
 * takes no such file, or the address space or the disk is full. */
void *vf_pages_map(const char *folder, size_t bytes);

/* A new file in `folder` with room for `bytes`, to be filled by vf_pages_put and then seen through
 * vf_pages_view: that costs a third of stores through a mapping. -1: as above. */
int vf_pages_open(const char *folder, size_t bytes);

/* False: the disk failed, as room is there. */
bool vf_pages_put(int fd, size_t offset, const void *data, size_t n);

/* Map the file's first `bytes` for reading and close it. NULL when the address space is full. */
const void *vf_pages_view(int fd, size_t bytes);

/* Give up a file that was not mapped. */
void vf_pages_close(int fd);

/* Give a mapping back. */
void vf_pages_unmap(const void *data, size_t bytes);

#endif
