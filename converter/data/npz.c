#include "converter/data/npz.h"

#include <errno.h>
#include <string.h>
#include <zip.h>
#include <zlib.h>

#include "converter/data/npy.h"
#include "runtime/base/file.h"
#include "runtime/base/intern.h"
#include "runtime/base/size.h"

enum {
    MAX_MEMBERS = 1 << 20,
    DEFLATE_RATIO = 1040 /* deflate makes at most 1032 bytes of one; and a little for the rest */
};

/* That there was no memory, or the file could not be read, is no fault of the archive. */
static VfStatus status_of(zip_error_t *error)
{
    int code = zip_error_code_zip(error);
    if (code == ZIP_ER_MEMORY ||
        (code == ZIP_ER_ZLIB && zip_error_code_system(error) == Z_MEM_ERROR))
        return VF_NO_MEMORY;
    return code == ZIP_ER_OPEN || code == ZIP_ER_READ ? VF_IO : VF_INVALID;
}

/* `member` may be NULL. */
static VfStatus fail(const char *path, const char *member, zip_error_t *error, VfErr *err)
{
    VfStatus status = status_of(error);
    if (status == VF_NO_MEMORY)
        return vf_no_memory(err);
    vf_fail(err, status, "%s", zip_error_strerror(error));
    if (member != NULL)
        vf_context(err, "member '%s'", member);
    return vf_context(err, "cannot read '%s'", path);
}

static VfStatus check_stat(const zip_stat_t *stat, const char *path, VfErr *err)
{
    zip_uint64_t need = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((stat->valid & need) != need)
        return vf_fail(err, VF_INVALID, "cannot read '%s': a member has no size", path);
    if (stat->comp_method != ZIP_CM_STORE && stat->comp_method != ZIP_CM_DEFLATE)
        return vf_fail(err, VF_UNSUPPORTED,
                       "cannot read '%s': member '%s' is neither stored nor deflated", path,
                       stat->name);
    if ((stat->valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat->encryption_method != ZIP_EM_NONE)
        return vf_fail(err, VF_UNSUPPORTED, "cannot read '%s': member '%s' is encrypted", path,
                       stat->name);
    zip_uint64_t most = stat->comp_size;
    if (stat->comp_method == ZIP_CM_DEFLATE &&
        __builtin_mul_overflow(stat->comp_size + 64, DEFLATE_RATIO, &most))
        most = UINT64_MAX;
    if (stat->size > most || stat->size > PTRDIFF_MAX)
        return vf_fail(err, VF_INVALID,
                       "cannot read '%s': member '%s' claims %llu bytes from %llu", path,
                       stat->name, (unsigned long long)stat->size,
                       (unsigned long long)stat->comp_size);
    return VF_OK;
}

/* All bytes of a member; reading past the end makes libzip check the CRC. */
static VfStatus read_member(zip_t *zip, zip_uint64_t i, const zip_stat_t *stat, const char *path,
                            void *data, VfErr *err)
{
    zip_file_t *file = zip_fopen_index(zip, i, 0);
    if (file == NULL)
        return fail(path, stat->name, zip_get_error(zip), err);
    char *at = data;
    zip_uint64_t left = stat->size;
    zip_int64_t n = 1;
    while (left > 0 && n > 0) {
        n = zip_fread(file, at, left);
        if (n > 0) {
            at += n;
            left -= (zip_uint64_t)n;
        }
    }
    char extra;
    bool is_whole = left == 0 && zip_fread(file, &extra, 1) == 0;
    VfStatus status = VF_OK;
    if (!is_whole && (n < 0 || left == 0))
        status = fail(path, stat->name, zip_file_get_error(file), err);
    else if (!is_whole)
        status = vf_fail(err, VF_INVALID, "cannot read '%s': member '%s': it ends too early", path,
                         stat->name);
    zip_fclose(file);
    return status;
}

/* The open archive and what was read of it. */
typedef struct Reader {
    VfArena *arena;
    zip_t *zip;
    const char *path;
    zip_uint64_t file_bytes;
    VfIntern *names;
    VfNamedArray *array;
    size_t n_array;
} Reader;

static VfStatus add_array(Reader *reader, zip_uint64_t i, const zip_stat_t *stat, VfBytes name,
                          VfErr *err)
{
    VfNamedArray *array = &reader->array[reader->n_array];
    int32_t id, n_before = vf_intern_count(reader->names);
    VF_TRY(vf_intern_add(reader->names, name, &id, err));
    if (id != n_before)
        return vf_fail(err, VF_INVALID, "cannot read '%s': member '%s' occurs twice",
                       reader->path, stat->name);
    void *data = vf_arena_alloc(reader->arena, (size_t)stat->size);
    VF_TRY_ALLOC(data, err);
    VF_TRY(read_member(reader->zip, i, stat, reader->path, data, err));
    const char *label = vf_arena_printf(reader->arena, "%s' member '%s", reader->path, stat->name);
    VF_TRY_ALLOC(label, err);
    array->name = vf_intern_get(reader->names, id);
    VF_TRY(vf_npy_read(reader->arena, data, (size_t)stat->size, label, &array->array, err));
    reader->n_array++;
    return VF_OK;
}

static VfStatus read_entry(Reader *reader, zip_uint64_t i, VfErr *err)
{
    zip_stat_t stat;
    zip_stat_init(&stat);
    const char *name = zip_get_name(reader->zip, i, ZIP_FL_ENC_RAW);
    if (name == NULL || zip_stat_index(reader->zip, i, 0, &stat) != 0)
        return fail(reader->path, NULL, zip_get_error(reader->zip), err);
    size_t n = strlen(name);
    if (n < 4 || strcmp(name + n - 4, ".npy") != 0)
        return VF_OK;
    VF_TRY(check_stat(&stat, reader->path, err));
    if (stat.comp_size > reader->file_bytes)
        return vf_fail(err, VF_INVALID, "cannot read '%s': member '%s' is larger than the file",
                       reader->path, stat.name);
    return add_array(reader, i, &stat, (VfBytes){name, n - 4}, err);
}

static VfStatus read_all(Reader *reader, VfErr *err)
{
    zip_int64_t n = zip_get_num_entries(reader->zip, 0);
    if (n < 0 || n > MAX_MEMBERS)
        return vf_fail(err, VF_INVALID, "cannot read '%s': too many members", reader->path);
    reader->array = VF_NEW_ARRAY(reader->arena, VfNamedArray, (size_t)n);
    VF_TRY_ALLOC(reader->array, err);
    reader->names = vf_intern_new(reader->arena);
    VF_TRY_ALLOC(reader->names, err);
    for (zip_int64_t i = 0; i < n; i++)
        VF_TRY(read_entry(reader, (zip_uint64_t)i, err));
    return VF_OK;
}

VfStatus vf_npz_read(VfArena *arena, const char *path, VfNamedArray **array, size_t *n_array,
                     VfErr *err)
{
    VfFileFacts facts;
    VF_TRY(vf_file_facts(path, &facts, err));
    if (!facts.is_regular)
        return vf_fail(err, VF_IO, "cannot read '%s': not a regular file", path);
    int code;
    errno = 0;
    zip_t *zip = zip_open(path, ZIP_RDONLY, &code);
    if (zip == NULL) {
        zip_error_t error;
        /* libzip calls a file no archive when it had no memory to look for its end. */
        zip_error_init_with_code(&error, code == ZIP_ER_NOZIP && errno == ENOMEM ? ZIP_ER_MEMORY
                                                                                 : code);
        VfStatus status = fail(path, NULL, &error, err);
        zip_error_fini(&error);
        return status;
    }
    Reader reader = {.arena = arena, .zip = zip, .path = path, .file_bytes = facts.size};
    VfStatus status = read_all(&reader, err);
    zip_discard(zip);
    *array = reader.array;
    *n_array = reader.n_array;
    return status;
}
