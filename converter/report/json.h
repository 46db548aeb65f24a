/* Writes JSON documents: keys in the order of the calls, two spaces a level, the same input
 * giving the same bytes.
 *
 * Doubles are printed as the shortest decimal that reads back equal; JSON has no nan and
 * infinities, so those are the strings "nan", "inf", "-inf". Strings may hold any byte (see
 * vf_text_json). Failed allocations are remembered by the text and told by vf_json_finish.
 */
#ifndef VF_REPORT_JSON_H
#define VF_REPORT_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/text.h"

enum { VF_JSON_MAX_DEPTH = 16 };

typedef struct VfJson {
    VfText text;
    int depth;
    bool is_array[VF_JSON_MAX_DEPTH];
    bool is_row[VF_JSON_MAX_DEPTH];   /* printed on one line */
    bool has_item[VF_JSON_MAX_DEPTH];
} VfJson;

/* Begin a document: an object whose first key is "schema". Memory is `arena`'s. */
void vf_json_begin(VfJson *json, VfArena *arena, const char *schema);

/* End the document with a line end. VF_INTERNAL if something is still open. */
VfStatus vf_json_finish(VfJson *json, VfBytes *out, VfErr *err);

/* Values. `key` is the key in an object, NULL in an array. A row is printed on one line. */
void vf_json_object(VfJson *json, const char *key);
void vf_json_object_row(VfJson *json, const char *key);
void vf_json_array(VfJson *json, const char *key);
void vf_json_array_row(VfJson *json, const char *key);
void vf_json_end(VfJson *json); /* of the innermost object or array */
void vf_json_bytes(VfJson *json, const char *key, VfBytes value);
void vf_json_string(VfJson *json, const char *key, const char *value); /* NULL: null */
void vf_json_int(VfJson *json, const char *key, int64_t value);
void vf_json_double(VfJson *json, const char *key, double value);
void vf_json_bool(VfJson *json, const char *key, bool value);
void vf_json_null(VfJson *json, const char *key);

/* A document finished by vf_json_finish as one value, indented to its place. */
void vf_json_document(VfJson *json, const char *key, VfBytes document);

#endif
