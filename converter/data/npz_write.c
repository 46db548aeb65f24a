/* Zip archives of stored members.
 *
 * Source: PKWARE APPNOTE 6.3: local header (4.3.7), directory entry (4.3.12), end record
 * (4.3.16) and their forms for sizes past 4 GB (4.3.14, 4.3.15, 4.5.3).
 */
#include <string.h>
#include <zlib.h>

#include "converter/data/npy.h"
#include "converter/data/npz.h"
#include "runtime/base/file.h"

enum {
    LOCAL_SIGNATURE = 0x04034b50,
    ENTRY_SIGNATURE = 0x02014b50,
    END_SIGNATURE = 0x06054b50,
    END64_SIGNATURE = 0x06064b50,
    LOCATOR64_SIGNATURE = 0x07064b50,
    VERSION_PLAIN = 20,
    VERSION_ZIP64 = 45,
    FLAG_UTF8 = 1 << 11,
    DATE_1980 = (1 << 5) | 1, /* 1 January 1980, the first date the format has */
    ZIP64_TAG = 1
};

static const uint64_t LIMIT32 = 0xFFFFFFFFu;

typedef struct Member {
    const VfNamedArray *array;
    VfBytes header; /* npy header */
    uint32_t crc;
    uint64_t size, offset;
} Member;

static void put(VfText *text, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        vf_text_char(text, (char)(unsigned char)(value >> (8 * i) & 255));
}

static uint32_t crc_of(uint32_t crc, const void *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
}

static bool is_utf8(VfBytes name)
{
    for (size_t i = 0; i < name.size;) {
        size_t n = vf_utf8_length(name.data + i, name.size - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

/* The fields that a local header and a directory entry have in common. */
static void put_common(VfText *text, const Member *member, bool is_large, size_t n_extra)
{
    uint64_t size = is_large ? LIMIT32 : member->size;
    put(text, is_large ? VERSION_ZIP64 : VERSION_PLAIN, 2);
    put(text, is_utf8(member->array->name) ? FLAG_UTF8 : 0, 2);
    put(text, 0, 2); /* stored */
    put(text, 0, 2); /* midnight */
    put(text, DATE_1980, 2);
    put(text, member->crc, 4);
    put(text, size, 4);
    put(text, size, 4);
    put(text, member->array->name.size + 4, 2);
    put(text, n_extra, 2);
}

static void put_name(VfText *text, const Member *member)
{
    vf_text_add(text, member->array->name.data, member->array->name.size);
    vf_text_string(text, ".npy");
}

static void put_local(VfText *text, const Member *member)
{
    bool is_large = member->size >= LIMIT32;
    put(text, LOCAL_SIGNATURE, 4);
    put_common(text, member, is_large, is_large ? 20 : 0);
    put_name(text, member);
    if (is_large) {
        put(text, ZIP64_TAG, 2);
        put(text, 16, 2);
        put(text, member->size, 8);
        put(text, member->size, 8);
    }
}

static void put_entry(VfText *text, const Member *member)
{
    bool is_large = member->size >= LIMIT32 || member->offset >= LIMIT32;
    put(text, ENTRY_SIGNATURE, 4);
    put(text, VERSION_ZIP64, 2); /* made by */
    put_common(text, member, is_large, is_large ? 28 : 0);
    put(text, 0, 2); /* comment */
    put(text, 0, 2); /* disk */
    put(text, 0, 2); /* internal attributes */
    put(text, 0, 4); /* external attributes */
    put(text, is_large ? LIMIT32 : member->offset, 4);
    put_name(text, member);
    if (is_large) {
        put(text, ZIP64_TAG, 2);
        put(text, 24, 2);
        put(text, member->size, 8);
        put(text, member->size, 8);
        put(text, member->offset, 8);
    }
}

static void put_end64(VfText *text, uint64_t n, uint64_t size, uint64_t offset)
{
    put(text, END64_SIGNATURE, 4);
    put(text, 44, 8); /* bytes that follow */
    put(text, VERSION_ZIP64, 2);
    put(text, VERSION_ZIP64, 2);
    put(text, 0, 4);
    put(text, 0, 4);
    put(text, n, 8);
    put(text, n, 8);
    put(text, size, 8);
    put(text, offset, 8);
    put(text, LOCATOR64_SIGNATURE, 4);
    put(text, 0, 4);
    put(text, offset + size, 8);
    put(text, 1, 4);
}

static void put_end(VfText *text, uint64_t n, uint64_t size, uint64_t offset)
{
    bool is_large = n >= 0xFFFF || size >= LIMIT32 || offset >= LIMIT32;
    if (is_large)
        put_end64(text, n, size, offset);
    put(text, END_SIGNATURE, 4);
    put(text, 0, 4); /* disks */
    put(text, is_large ? 0xFFFF : n, 2);
    put(text, is_large ? 0xFFFF : n, 2);
    put(text, is_large ? LIMIT32 : size, 4);
    put(text, is_large ? LIMIT32 : offset, 4);
    put(text, 0, 2); /* comment */
}

static VfStatus describe(VfArena *arena, const VfNamedArray *array, Member *member, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    VF_TRY(vf_npy_header(&text, &array->array, err));
    if (array->name.size > 0xFFFF - 4)
        return vf_fail(err, VF_UNSUPPORTED, "an array name of %zu bytes does not fit into an npz",
                       array->name.size);
    uint32_t crc = crc_of(0, text.data, text.size);
    *member = (Member){
        .array = array,
        .header = {text.data, text.size},
        .crc = crc_of(crc, array->array.data, array->array.bytes),
        .size = text.size + array->array.bytes,
    };
    return VF_OK;
}

static VfStatus write_text(VfOutFile *out, const VfText *text, VfErr *err)
{
    VfBytes done;
    VF_TRY(vf_text_get(text, &done, err));
    return vf_out_write(out, done.data, done.size, err);
}

static VfStatus write_member(VfArena *arena, VfOutFile *out, Member *member, VfErr *err)
{
    VfText text;
    vf_text_init(&text, arena);
    member->offset = vf_out_position(out);
    put_local(&text, member);
    VF_TRY(write_text(out, &text, err));
    VF_TRY(vf_out_write(out, member->header.data, member->header.size, err));
    return vf_out_write(out, member->array->array.data, member->array->array.bytes, err);
}

static VfStatus write_all(VfArena *arena, VfOutFile *out, const VfNamedArray *array,
                          size_t n_array, VfErr *err)
{
    Member *member = VF_NEW_ARRAY(arena, Member, n_array);
    VF_TRY_ALLOC(member, err);
    VfText text;
    vf_text_init(&text, arena);
    for (size_t i = 0; i < n_array; i++) {
        VF_TRY(describe(arena, &array[i], &member[i], err));
        VF_TRY(write_member(arena, out, &member[i], err));
        put_entry(&text, &member[i]);
    }
    put_end(&text, n_array, text.size, vf_out_position(out));
    return write_text(out, &text, err);
}

VfStatus vf_npz_write(const char *path, const VfNamedArray *array, size_t n_array, VfErr *err)
{
    VfOutFile *out;
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    VfStatus status = vf_out_open(path, &out, err);
    if (status == VF_OK) {
        status = write_all(arena, out, array, n_array, err);
        if (status == VF_OK)
            status = vf_out_commit(out, err);
        else
            vf_out_abandon(out);
    }
    if (status != VF_OK && status != VF_IO)
        vf_context(err, "cannot write '%s'", path);
    vf_arena_free(arena);
    return status;
}
