#include "converter/report/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static bool on_one_line(const VfJson *json)
{
    return json->is_row[json->depth - 1];
}

static void new_line(VfJson *json)
{
    vf_text_char(&json->text, '\n');
    vf_text_repeat(&json->text, ' ', 2 * (size_t)json->depth);
}

/* What stands before a value: comma, line, key. */
static void begin_item(VfJson *json, const char *key)
{
    if (json->depth == 0)
        return;
    int level = json->depth - 1;
    assert((key == NULL) == json->is_array[level]);
    if (json->has_item[level])
        vf_text_string(&json->text, on_one_line(json) ? ", " : ",");
    json->has_item[level] = true;
    if (!on_one_line(json))
        new_line(json);
    if (key != NULL) {
        vf_text_json(&json->text, (VfBytes){key, strlen(key)});
        vf_text_string(&json->text, ": ");
    }
}

static void open_level(VfJson *json, const char *key, bool is_array, bool is_row)
{
    begin_item(json, key);
    assert(json->depth < VF_JSON_MAX_DEPTH);
    bool in_row = json->depth > 0 && on_one_line(json);
    vf_text_char(&json->text, is_array ? '[' : '{');
    json->is_array[json->depth] = is_array;
    json->is_row[json->depth] = is_row || in_row;
    json->has_item[json->depth] = false;
    json->depth++;
}

void vf_json_begin(VfJson *json, VfArena *arena, const char *schema)
{
    *json = (VfJson){.depth = 0};
    vf_text_init(&json->text, arena);
    vf_json_object(json, NULL);
    vf_json_string(json, "schema", schema);
}

VfStatus vf_json_finish(VfJson *json, VfBytes *out, VfErr *err)
{
    if (json->depth != 1)
        return vf_fail(err, VF_INTERNAL, "a json document was left open");
    vf_json_end(json);
    vf_text_char(&json->text, '\n');
    return vf_text_get(&json->text, out, err);
}

void vf_json_object(VfJson *json, const char *key)
{
    open_level(json, key, false, false);
}

void vf_json_object_row(VfJson *json, const char *key)
{
    open_level(json, key, false, true);
}

void vf_json_array(VfJson *json, const char *key)
{
    open_level(json, key, true, false);
}

void vf_json_array_row(VfJson *json, const char *key)
{
    open_level(json, key, true, true);
}

void vf_json_end(VfJson *json)
{
    assert(json->depth > 0);
    bool is_row = on_one_line(json);
    json->depth--;
    if (json->has_item[json->depth] && !is_row)
        new_line(json);
    vf_text_char(&json->text, json->is_array[json->depth] ? ']' : '}');
}

void vf_json_bytes(VfJson *json, const char *key, VfBytes value)
{
    begin_item(json, key);
    vf_text_json(&json->text, value);
}

void vf_json_string(VfJson *json, const char *key, const char *value)
{
    if (value == NULL)
        vf_json_null(json, key);
    else
        vf_json_bytes(json, key, (VfBytes){value, strlen(value)});
}

void vf_json_int(VfJson *json, const char *key, int64_t value)
{
    begin_item(json, key);
    vf_text_printf(&json->text, "%lld", (long long)value);
}

void vf_json_double(VfJson *json, const char *key, double value)
{
    begin_item(json, key);
    if (!isfinite(value))
        vf_text_char(&json->text, '"');
    vf_text_double(&json->text, value);
    if (!isfinite(value))
        vf_text_char(&json->text, '"');
}

void vf_json_bool(VfJson *json, const char *key, bool value)
{
    begin_item(json, key);
    vf_text_string(&json->text, value ? "true" : "false");
}

void vf_json_null(VfJson *json, const char *key)
{
    begin_item(json, key);
    vf_text_string(&json->text, "null");
}

/* Strings hold no line ends, so every line end of a document is between its values. */
void vf_json_document(VfJson *json, const char *key, VfBytes document)
{
    begin_item(json, key);
    size_t size = document.size;
    while (size > 0 && document.data[size - 1] == '\n')
        size--;
    for (size_t i = 0; i < size; i++) {
        if (document.data[i] == '\n')
            new_line(json);
        else
            vf_text_char(&json->text, document.data[i]);
    }
}
