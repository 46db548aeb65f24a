#include <string.h>

#include "runtime/kernels/number.h"
#include "passes/ir/vft_parse.h"
#include "passes/ir/vft_print.h"

enum { DTYPE_BYTES = 32 }; /* longer than any name of a dtype */

static VfStatus parse_dtype(VfVftParse *p, VfDtype *dtype)
{
    char name[DTYPE_BYTES] = "";
    VfBytes word = p->lex.text;
    bool is_unknown;
    VF_TRY(vf_vft_accept_char(&p->lex, '?', &is_unknown));
    *dtype = VF_UNDEFINED;
    if (is_unknown)
        return VF_OK;
    if (p->lex.kind == VF_VFT_WORD && word.size < sizeof name) {
        memcpy(name, word.data, word.size);
        *dtype = vf_dtype_from_name(name);
    }
    if (*dtype == VF_UNDEFINED)
        return vf_vft_fail(&p->lex, "expected a type, as in f32[2, 3]");
    return vf_vft_next(&p->lex);
}

/* --- dims --- */

static bool is_number_word(const VfVftLex *lex)
{
    char c = lex->text.size != 0 ? lex->text.data[0] : ' ';
    return lex->kind == VF_VFT_WORD && ((c >= '0' && c <= '9') || c == '-' || c == '+');
}

static VfStatus parse_symbol(VfVftParse *p, int64_t k, VfDim *dim)
{
    VfBytes name;
    if (is_number_word(&p->lex))
        return vf_vft_fail(&p->lex, "a symbol that begins like a number needs quotes");
    VF_TRY(vf_vft_parse_name(p, "a dimension", &name));
    int32_t sym = vf_symbol_intern(p->model->symbols, name);
    if (sym == VF_SYM_UNKNOWN)
        return vf_vft_fail(&p->lex, "a symbol must not be empty");
    *dim = k == 0 ? vf_dim(0) : (VfDim){k, sym};
    return VF_OK;
}

static VfStatus parse_dim(VfVftParse *p, VfDim *dim)
{
    int64_t k = 1;
    bool found;
    VF_TRY(vf_vft_accept_char(&p->lex, '?', &found));
    *dim = vf_dim_unknown();
    if (found)
        return VF_OK;
    if (!is_number_word(&p->lex))
        return parse_symbol(p, 1, dim);
    VfVftLex at = p->lex;
    VF_TRY(vf_vft_parse_int(p, &k));
    if (k < 0)
        return vf_vft_fail(&at, "a dimension is negative");
    *dim = vf_dim(k);
    VF_TRY(vf_vft_accept_char(&p->lex, '*', &found));
    return found ? parse_symbol(p, k, dim) : VF_OK;
}

static VfStatus parse_dims(VfVftParse *p, VfType *type)
{
    bool more;
    p->n_dim = 0;
    VF_TRY(vf_vft_expect_char(&p->lex, '['));
    if (p->lex.kind == VF_VFT_DOTS) {
        type->rank = VF_RANK_UNKNOWN;
        VF_TRY(vf_vft_next(&p->lex));
        return vf_vft_expect_char(&p->lex, ']');
    }
    VF_TRY(vf_vft_accept_char(&p->lex, ']', &more));
    for (more = !more; more;) {
        VF_TRY(VF_VFT_ROOM(p, dim));
        VF_TRY(parse_dim(p, &p->dim[p->n_dim++]));
        VF_TRY(vf_vft_accept_char(&p->lex, ',', &more));
        if (!more)
            VF_TRY(vf_vft_expect_char(&p->lex, ']'));
    }
    type->rank = (int32_t)p->n_dim;
    type->dims = p->dim;
    return VF_OK;
}

VfStatus vf_vft_parse_type(VfVftParse *p, VfType *type)
{
    VfType read = {.kind = VF_TYPE_TENSOR, .rank = VF_RANK_UNKNOWN};
    bool found, is_wrapped;
    VF_TRY(vf_vft_accept_word(&p->lex, "other", &found));
    if (found) {
        read.kind = VF_TYPE_OTHER;
        *type = read;
        return VF_OK;
    }
    VF_TRY(vf_vft_accept_word(&p->lex, "seq", &is_wrapped));
    read.kind = is_wrapped ? VF_TYPE_SEQUENCE : VF_TYPE_TENSOR;
    if (!is_wrapped) {
        VF_TRY(vf_vft_accept_word(&p->lex, "optional", &is_wrapped));
        read.kind = is_wrapped ? VF_TYPE_OPTIONAL : VF_TYPE_TENSOR;
    }
    if (is_wrapped)
        VF_TRY(vf_vft_expect_char(&p->lex, '('));
    VF_TRY(parse_dtype(p, &read.dtype));
    VF_TRY(parse_dims(p, &read));
    if (is_wrapped)
        VF_TRY(vf_vft_expect_char(&p->lex, ')'));
    return vf_model_copy_type(p->model, &read, type, p->err);
}

/* --- data --- */

static VfStatus parse_literal(VfVftParse *p, VfDtype dtype, size_t count, void *data)
{
    VF_TRY(vf_vft_expect_char(&p->lex, '{'));
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            VF_TRY(vf_vft_expect_char(&p->lex, ','));
        VF_TRY(vf_vft_parse_element(p, dtype, data, i));
    }
    return vf_vft_expect_char(&p->lex, '}');
}

static VfStatus parse_splat(VfVftParse *p, VfDtype dtype, size_t count, void *data)
{
    if (count == 0 || dtype == VF_STRING)
        return vf_vft_fail(&p->lex, "splat needs numbers");
    VF_TRY(vf_vft_parse_element(p, dtype, data, 0));
    uint64_t bits = vf_number_bits(data, dtype, 0);
    for (size_t i = 1; i < count; i++)
        vf_number_put_bits(data, dtype, i, bits);
    return VF_OK;
}

/* The splitmix64 generator: the same numbers on every machine. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* "(seed)" or "(seed, low, high)": evenly spread over [low, high). */
static VfStatus parse_random(VfVftParse *p, VfDtype dtype, size_t count, void *data)
{
    VfVftItem low = {.f = -1.0f}, high = {.f = 1.0f};
    int64_t seed;
    bool has_range;
    if (dtype == VF_STRING)
        return vf_vft_fail(&p->lex, "random needs numbers");
    VF_TRY(vf_vft_expect_char(&p->lex, '('));
    VF_TRY(vf_vft_parse_int(p, &seed));
    VF_TRY(vf_vft_accept_char(&p->lex, ',', &has_range));
    if (has_range) {
        VF_TRY(vf_vft_parse_number(p, &low));
        VF_TRY(vf_vft_expect_char(&p->lex, ','));
        VF_TRY(vf_vft_parse_number(p, &high));
    }
    uint64_t state = (uint64_t)seed;
    for (size_t i = 0; i < count; i++) {
        double unit = (double)(next_random(&state) >> 11) * 0x1p-53;
        vf_tensor_put_double(data, dtype, i,
                             (double)low.f + ((double)high.f - (double)low.f) * unit);
    }
    return vf_vft_expect_char(&p->lex, ')');
}

static VfStatus parse_iota(VfVftParse *p, VfDtype dtype, size_t count, void *data)
{
    if (dtype == VF_STRING)
        return vf_vft_fail(&p->lex, "iota needs numbers");
    for (size_t i = 0; i < count; i++)
        vf_tensor_put_double(data, dtype, i, (double)i);
    return VF_OK;
}

static VfStatus parse_hex(VfVftParse *p, VfDtype dtype, size_t count, void *data)
{
    static const char digit[] = "0123456789abcdef";
    unsigned char *byte = data;
    VfBytes word = p->lex.text;
    if (word.size != 2 * vf_dtype_bytes(dtype, count))
        return vf_vft_fail(&p->lex, "hex data has %zu digits, the type needs %zu", word.size,
                           2 * vf_dtype_bytes(dtype, count));
    for (size_t i = 0; i < word.size; i++) {
        const char *found = strchr(digit, word.data[i] | ('a' ^ 'A'));
        if (found == NULL || word.data[i] == '\0')
            return vf_vft_fail(&p->lex, "hex data holds a character that is no hexadecimal digit");
        byte[i / 2] = (unsigned char)(byte[i / 2] << 4 | (found - digit));
    }
    return vf_vft_next(&p->lex);
}

typedef struct Form {
    const char *word; /* NULL: the literal in braces */
    bool is_generated; /* more data than text: counted and limited */
    VfStatus (*parse)(VfVftParse *p, VfDtype dtype, size_t count, void *data);
} Form;

static const Form form[] = {
    {"splat", true, parse_splat}, {"random", true, parse_random}, {"iota", true, parse_iota},
    {"hex", false, parse_hex},    {NULL, false, parse_literal},
};

static VfStatus find_form(VfVftParse *p, const Form **found)
{
    const Form *f = form;
    bool is_here = false;
    for (; f->word != NULL; f++) {
        VF_TRY(vf_vft_accept_word(&p->lex, f->word, &is_here));
        if (is_here)
            break;
    }
    *found = f;
    return VF_OK;
}

/* Refuse sizes that the text cannot hold before memory is taken for them. */
static VfStatus check_size(VfVftParse *p, const Form *f, VfDtype dtype, size_t count)
{
    size_t bytes = vf_dtype_bytes(dtype, count);
    size_t left = p->lex.source.size - p->lex.start;
    if ((dtype == VF_C64 || dtype == VF_C128) && f->parse != parse_hex && count != 0)
        return vf_vft_fail(&p->lex, "complex numbers need hex data");
    if (!f->is_generated) {
        bool fits = f->word != NULL ? bytes <= left : count <= left;
        return fits ? VF_OK
                    : vf_vft_fail(&p->lex, "the type needs %zu elements, more than follow", count);
    }
    if (bytes > VF_VFT_SPLAT_BYTES_MAX || p->generated + bytes > VF_VFT_SPLAT_TOTAL_MAX)
        return vf_vft_fail(&p->lex, "a tensor of %zu elements is too large to be generated", count);
    p->generated += bytes;
    return VF_OK;
}

static VfStatus read_shape(VfVftParse *p, const VfType *type, int64_t **dims, size_t *count)
{
    int64_t *plain = VF_NEW_ARRAY(p->scratch, int64_t, (size_t)type->rank);
    VF_TRY_ALLOC(plain, p->err);
    for (int32_t i = 0; i < type->rank; i++)
        plain[i] = type->dims[i].k;
    *dims = plain;
    if (vf_dims_count(type->rank, plain, count, NULL) != VF_OK ||
        vf_dtype_bytes(type->dtype, *count) == SIZE_MAX)
        return vf_vft_fail(&p->lex, "the size of the tensor does not fit");
    return VF_OK;
}

VfStatus vf_vft_parse_tensor(VfVftParse *p, const VfTensor **tensor)
{
    VfType type = {.rank = VF_RANK_UNKNOWN};
    const Form *f;
    VfTensor *made;
    void *data;
    int64_t *dims = NULL;
    size_t count = 0;
    VfVftLex at = p->lex;
    VF_TRY(parse_dtype(p, &type.dtype));
    VF_TRY(parse_dims(p, &type));
    if (type.dtype == VF_UNDEFINED || !vf_type_is_static(&type))
        return vf_vft_fail(&at, "data needs a type and plain numbers for its shape");
    VF_TRY(read_shape(p, &type, &dims, &count));
    VF_TRY(find_form(p, &f));
    VF_TRY(check_size(p, f, type.dtype, count));
    VF_TRY(vf_tensor_new(p->model->arena, type.dtype, type.rank, dims, &made, &data, p->err));
    VF_TRY(f->parse(p, type.dtype, count, data));
    *tensor = made;
    return VF_OK;
}
