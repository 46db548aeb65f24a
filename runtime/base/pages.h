/* Large memory that lies in a file, so that the system can write it out and take it away.
 *
 * The file has no name and vanishes with its last mapping. Its space is reserved before it is
 * mapped: a full disk is an answer here and never a fault later.
 */
#ifndef VF_BASE_PAGES_H
#define VF_BASE_PAGES_H

#include <stddef.h>

/* Map `bytes` zeroed bytes of a new file in `folder`, aligned to a page. NULL when the folder
 * takes no such file, or the address space or the disk is full. */
void *vf_pages_map(const char *folder, size_t bytes);

/* Give them back. */
void vf_pages_unmap(void *data, size_t bytes);

#endif
