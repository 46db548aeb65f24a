#include "converter/data/npy.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/base/size.h"

/* NumPy's spelling of a dtype without its byte order. */
static const struct {
    const char *code;
    VfDtype dtype;
} spelling[] = {
    {"f4", VF_F32}, {"f8", VF_F64}, {"f2", VF_F16}, {"b1", VF_BOOL}, {"u1", VF_U8},
    {"i1", VF_I8},  {"u2", VF_U16}, {"i2", VF_I16}, {"u4", VF_U32},  {"i4", VF_I32},
    {"u8", VF_U64}, {"i8", VF_I64}, {"c8", VF_C64}, {"c16", VF_C128},
};

enum { N_SPELLING = sizeof spelling / sizeof spelling[0] };

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* What the header's dictionary says. */
typedef struct Header {
    VfDtype dtype;
    bool is_big_endian, is_fortran;
    int32_t rank;
    int64_t dims[VF_ARRAY_MAX_RANK];
    bool has_descr, has_order, has_shape;
} Header;

/* The text of the dictionary, a Python literal. */
typedef struct Cursor {
    const char *at, *end;
    const char *name;
} Cursor;

static VfStatus bad_header(const Cursor *cursor, const char *what, VfErr *err)
{
    return vf_fail(err, VF_INVALID, "cannot read '%s': npy header: %s", cursor->name, what);
}

static void skip_space(Cursor *cursor)
{
    while (cursor->at < cursor->end && memchr(" \t\r\n", *cursor->at, 4) != NULL)
        cursor->at++;
}

static bool accept(Cursor *cursor, char c)
{
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool accept_word(Cursor *cursor, const char *word)
{
    size_t n = strlen(word);
    skip_space(cursor);
    if ((size_t)(cursor->end - cursor->at) < n || memcmp(cursor->at, word, n) != 0)
        return false;
    cursor->at += n;
    return true;
}

/* A string in single or double quotes without escapes. */
static bool accept_string(Cursor *cursor, VfBytes *string)
{
    char quote = '\'';
    if (!accept(cursor, quote)) {
        quote = '"';
        if (!accept(cursor, quote))
            return false;
    }
    const char *end = memchr(cursor->at, quote, (size_t)(cursor->end - cursor->at));
    if (end == NULL)
        return false;
    *string = (VfBytes){cursor->at, (size_t)(end - cursor->at)};
    cursor->at = end + 1;
    return true;
}

static VfStatus read_descr(Cursor *cursor, Header *header, VfErr *err)
{
    VfBytes descr;
    if (accept(cursor, '['))
        return vf_fail(err, VF_UNSUPPORTED, "cannot read '%s': records are not supported",
                       cursor->name);
    if (!accept_string(cursor, &descr) || descr.size < 2)
        return bad_header(cursor, "'descr' is not a dtype", err);
    char order = descr.data[0];
    bool has_order = memchr("<>|=", order, 4) != NULL;
    const char *code = descr.data + has_order;
    size_t n_code = descr.size - has_order;
    header->is_big_endian = order == '>';
    for (int i = 0; i < N_SPELLING; i++)
        if (strlen(spelling[i].code) == n_code && memcmp(spelling[i].code, code, n_code) == 0)
            header->dtype = spelling[i].dtype;
    if (header->dtype == VF_UNDEFINED)
        return vf_fail(err, VF_UNSUPPORTED, "cannot read '%s': dtype '%.*s' is not supported",
                       cursor->name, (int)(descr.size < 40 ? descr.size : 40), descr.data);
    return VF_OK;
}

static VfStatus read_order(Cursor *cursor, Header *header, VfErr *err)
{
    header->is_fortran = accept_word(cursor, "True");
    if (!header->is_fortran && !accept_word(cursor, "False"))
        return bad_header(cursor, "'fortran_order' is neither True nor False", err);
    return VF_OK;
}

static bool accept_dim(Cursor *cursor, int64_t *dim)
{
    bool is_number = false;
    *dim = 0;
    skip_space(cursor);
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
        is_number = true;
        if (__builtin_mul_overflow(*dim, 10, dim) ||
            __builtin_add_overflow(*dim, *cursor->at - '0', dim))
            return false;
    }
    /* Python 2 wrote long integers with an L. */
    if (is_number && cursor->at < cursor->end && *cursor->at == 'L')
        cursor->at++;
    return is_number;
}

static VfStatus read_shape(Cursor *cursor, Header *header, VfErr *err)
{
    if (!accept(cursor, '('))
        return bad_header(cursor, "'shape' is not a tuple", err);
    while (!accept(cursor, ')')) {
        if (header->rank == VF_ARRAY_MAX_RANK)
            return bad_header(cursor, "more than 32 dimensions", err);
        if (!accept_dim(cursor, &header->dims[header->rank]))
            return bad_header(cursor, "a dimension is not a number or too large", err);
        header->rank++;
        if (!accept(cursor, ',')) {
            if (!accept(cursor, ')'))
                return bad_header(cursor, "'shape' does not end", err);
            break;
        }
    }
    return VF_OK;
}

static VfStatus read_entry(Cursor *cursor, Header *header, VfErr *err)
{
    static const struct {
        const char *key;
        VfStatus (*read)(Cursor *cursor, Header *header, VfErr *err);
        size_t seen; /* offset of the flag */
    } entry[] = {
        {"descr", read_descr, offsetof(Header, has_descr)},
        {"fortran_order", read_order, offsetof(Header, has_order)},
        {"shape", read_shape, offsetof(Header, has_shape)},
    };
    VfBytes key;
    if (!accept_string(cursor, &key) || !accept(cursor, ':'))
        return bad_header(cursor, "not a dictionary", err);
    for (size_t i = 0; i < sizeof entry / sizeof entry[0]; i++) {
        bool *seen = (bool *)((char *)header + entry[i].seen);
        if (strlen(entry[i].key) != key.size || memcmp(entry[i].key, key.data, key.size) != 0)
            continue;
        if (*seen)
            return bad_header(cursor, "a key occurs twice", err);
        *seen = true;
        return entry[i].read(cursor, header, err);
    }
    return bad_header(cursor, "unknown key", err);
}

static VfStatus read_dictionary(Cursor *cursor, Header *header, VfErr *err)
{
    if (!accept(cursor, '{'))
        return bad_header(cursor, "not a dictionary", err);
    while (!accept(cursor, '}')) {
        VF_TRY(read_entry(cursor, header, err));
        if (!accept(cursor, ',')) {
            if (!accept(cursor, '}'))
                return bad_header(cursor, "the dictionary does not end", err);
            break;
        }
    }
    skip_space(cursor);
    if (cursor->at != cursor->end)
        return bad_header(cursor, "text after the dictionary", err);
    if (!header->has_descr || !header->has_order || !header->has_shape)
        return bad_header(cursor, "a key is missing", err);
    return VF_OK;
}

/* Magic, version and length; `*cursor` gets the dictionary. Returns where the data starts. */
static VfStatus read_preamble(const unsigned char *data, size_t size, Cursor *cursor,
                              size_t *start, VfErr *err)
{
    if (size < 10 || memcmp(data, magic, sizeof magic) != 0)
        return vf_fail(err, VF_INVALID, "cannot read '%s': not an npy file", cursor->name);
    int major = data[6];
    if (major < 1 || major > 3)
        return vf_fail(err, VF_UNSUPPORTED, "cannot read '%s': npy version %d", cursor->name,
                       major);
    size_t n_length = major == 1 ? 2 : 4;
    size_t length = 0;
    for (size_t i = n_length; i > 0 && size >= 8 + n_length; i--)
        length = length << 8 | data[8 + i - 1];
    *start = 8 + n_length + length;
    if (size < *start)
        return bad_header(cursor, "the file ends in it", err);
    cursor->at = (const char *)data + 8 + n_length;
    cursor->end = (const char *)data + *start;
    return VF_OK;
}

/* Bytes that one number takes in memory, for swapping: complex ones are two. */
static size_t number_bytes(VfDtype dtype)
{
    size_t bytes = vf_dtype_info(dtype)->bits / 8u;
    return dtype == VF_C64 || dtype == VF_C128 ? bytes / 2 : bytes;
}

static void swap_bytes(unsigned char *data, size_t bytes, size_t width)
{
    for (size_t at = 0; at + width <= bytes; at += width)
        for (size_t i = 0; i < width / 2; i++) {
            unsigned char keep = data[at + i];
            data[at + i] = data[at + width - 1 - i];
            data[at + width - 1 - i] = keep;
        }
}

/* Copy Fortran order (first index fastest) to C order. */
static void reorder(const VfArray *array, const unsigned char *from, unsigned char *to)
{
    size_t width = vf_dtype_info(array->dtype)->bits / 8u;
    size_t stride[VF_ARRAY_MAX_RANK];
    int64_t index[VF_ARRAY_MAX_RANK] = {0};
    size_t step = width;
    for (int32_t d = 0; d < array->rank; d++) {
        stride[d] = step;
        step *= (size_t)array->dims[d];
    }
    size_t offset = 0;
    for (size_t i = 0; i < array->count; i++) {
        memcpy(to + i * width, from + offset, width);
        for (int32_t d = array->rank - 1; d >= 0; d--) {
            offset += stride[d];
            if (++index[d] < array->dims[d])
                break;
            offset -= stride[d] * (size_t)array->dims[d];
            index[d] = 0;
        }
    }
}

/* Give `array` its data: a view on `from` if that is as it should be, else a copy. */
static VfStatus place_data(VfArena *arena, const Header *header, const unsigned char *from,
                           VfArray *array, VfErr *err)
{
    size_t width = number_bytes(array->dtype);
    bool is_swapped = header->is_big_endian && width > 1;
    bool is_aligned = (uintptr_t)from % width == 0;
    array->data = from;
    if (!is_swapped && !header->is_fortran && is_aligned)
        return VF_OK;
    unsigned char *to = vf_arena_alloc(arena, array->bytes);
    VF_TRY_ALLOC(to, err);
    if (header->is_fortran)
        reorder(array, from, to);
    else if (array->bytes > 0)
        memcpy(to, from, array->bytes);
    if (is_swapped)
        swap_bytes(to, array->bytes, width);
    array->data = to;
    return VF_OK;
}

VfStatus vf_npy_read(VfArena *arena, const void *data, size_t size, const char *name,
                     VfArray *array, VfErr *err)
{
    Cursor cursor = {.name = name};
    Header header = {.dtype = VF_UNDEFINED};
    size_t start = 0;
    VF_TRY(read_preamble(data, size, &cursor, &start, err));
    VF_TRY(read_dictionary(&cursor, &header, err));
    if (vf_array_init(array, arena, header.dtype, header.rank, header.dims, NULL, err) != VF_OK)
        return vf_context(err, "cannot read '%s'", name);
    if (size - start != array->bytes)
        return vf_fail(err, VF_INVALID, "cannot read '%s': %zu bytes of data, shape needs %zu",
                       name, size - start, array->bytes);
    return place_data(arena, &header, (const unsigned char *)data + start, array, err);
}

VfStatus vf_npy_header(VfText *text, const VfArray *array, VfErr *err)
{
    const char *code = NULL;
    for (int i = 0; i < N_SPELLING && code == NULL; i++)
        if (spelling[i].dtype == array->dtype)
            code = spelling[i].code;
    if (code == NULL)
        return vf_fail(err, VF_UNSUPPORTED, "npy files cannot hold dtype '%s'",
                       vf_dtype_info(array->dtype)->name);
    VfText dict;
    vf_text_init(&dict, text->arena);
    vf_text_printf(&dict, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                   number_bytes(array->dtype) == 1 ? '|' : '<', code);
    for (int32_t i = 0; i < array->rank; i++)
        vf_text_printf(&dict, "%s%lld", i == 0 ? "" : ", ", (long long)array->dims[i]);
    vf_text_string(&dict, array->rank == 1 ? ",), }" : "), }");
    /* Padded so that the data starts at a multiple of 64 bytes. */
    size_t length = (10 + dict.size + 1 + 63) / 64 * 64 - 10;
    vf_text_repeat(&dict, ' ', length - dict.size - 1);
    vf_text_char(&dict, '\n');
    const unsigned char start[4] = {1, 0, (unsigned char)(length & 255),
                                    (unsigned char)(length >> 8)};
    vf_text_add(text, magic, sizeof magic);
    vf_text_add(text, start, sizeof start);
    VfBytes done;
    VF_TRY(vf_text_get(&dict, &done, err));
    vf_text_add(text, done.data, done.size);
    return vf_text_get(text, &done, err);
}

static VfStatus write_open(VfOutFile *out, VfText *text, const VfArray *array, VfErr *err)
{
    VF_TRY(vf_npy_header(text, array, err));
    VF_TRY(vf_out_write(out, text->data, text->size, err));
    return vf_out_write(out, array->data, array->bytes, err);
}

VfStatus vf_npy_write(const char *path, const VfArray *array, VfErr *err)
{
    VfOutFile *out;
    VfText text;
    VfArena *arena = vf_arena_new();
    VF_TRY_ALLOC(arena, err);
    vf_text_init(&text, arena);
    VfStatus status = vf_out_open(path, &out, err);
    if (status == VF_OK) {
        status = write_open(out, &text, array, err);
        if (status == VF_OK)
            status = vf_out_commit(out, err);
        else
            vf_out_abandon(out);
    }
    vf_arena_free(arena);
    return status;
}
