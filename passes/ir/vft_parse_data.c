#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kernels/number.h"
#include "passes/ir/vft_parse.h"
#include "passes/ir/vft_print.h"

enum { NUMBER_BYTES = 64 }; /* longest spelling of a number we read, with its end */

/* --- numbers --- */

static bool is_digits(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Decimal digits, or hexadecimal ones after 0x, behind an optional sign. */
static bool looks_like_int(const char *text)
{
    text += *text == '+' || *text == '-';
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return text[2] != '\0' && text[2 + strspn(text + 2, "0123456789abcdefABCDEF")] == '\0';
    return is_digits(text);
}

/* The token as a terminated string. */
static VfStatus take_number(VfVftParse *p, char text[NUMBER_BYTES])
{
    VfBytes word = p->lex.text;
    if (p->lex.kind != VF_VFT_WORD || word.size >= NUMBER_BYTES)
        return vf_vft_fail(&p->lex, "expected a number");
    memcpy(text, word.data, word.size);
    text[word.size] = '\0';
    return VF_OK;
}

static int base_of(const char *text)
{
    text += *text == '+' || *text == '-';
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

VfStatus vf_vft_parse_int(VfVftParse *p, int64_t *value)
{
    char text[NUMBER_BYTES];
    VF_TRY(take_number(p, text));
    if (!looks_like_int(text))
        return vf_vft_fail(&p->lex, "expected an integer, found '%s'", text);
    errno = 0;
    *value = strtoll(text, NULL, base_of(text));
    if (errno != 0)
        return vf_vft_fail(&p->lex, "integer '%s' does not fit 64 bits", text);
    return vf_vft_next(&p->lex);
}

/* ":0x7fc00001" behind nan: its bits, else those of the usual NaN. The token is after "nan". */
static VfStatus parse_nan_bits(VfVftParse *p, VfDtype dtype, uint64_t *bits)
{
    bool has_bits;
    *bits = vf_number_encode(dtype, (double)NAN);
    VF_TRY(vf_vft_accept_char(&p->lex, ':', &has_bits));
    if (!has_bits)
        return VF_OK;
    char text[NUMBER_BYTES];
    VF_TRY(take_number(p, text));
    if (!looks_like_int(text) || base_of(text) != 16)
        return vf_vft_fail(&p->lex, "expected the bits of a nan, as in nan:0x7fc00001");
    *bits = strtoull(text, NULL, 16);
    if (!isnan(vf_number_value(dtype, *bits)))
        return vf_vft_fail(&p->lex, "bits %s are no nan", text);
    return vf_vft_next(&p->lex);
}

/* Bits of a floating point element of `dtype` at the token. float and double are rounded once, by
 * strtof and strtod; what is narrower is printed exactly enough to come out right through double.
 */
static VfStatus parse_float_bits(VfVftParse *p, VfDtype dtype, uint64_t *bits)
{
    char text[NUMBER_BYTES], *end;
    VF_TRY(take_number(p, text));
    if (strcmp(text, "nan") == 0) {
        VF_TRY(vf_vft_next(&p->lex));
        return parse_nan_bits(p, dtype, bits);
    }
    const char *digits = text + (*text == '+' || *text == '-');
    if (strcmp(digits, "inf") == 0) {
        if (!vf_number_infinity(dtype, *text == '-', bits))
            return vf_vft_fail(&p->lex, "%s has no infinity", vf_dtype_info(dtype)->name);
        return vf_vft_next(&p->lex);
    }
    bool is_number =
        (*digits >= '0' && *digits <= '9') || *digits == '.';
    double value =
        dtype == VF_F32 ? (double)strtof_l(text, &end, p->locale) : strtod_l(text, &end, p->locale);
    if (!is_number || *end != '\0')
        return vf_vft_fail(&p->lex, "expected a number, found '%s'", text);
    *bits = vf_number_encode(dtype, value);
    return vf_vft_next(&p->lex);
}

VfStatus vf_vft_parse_number(VfVftParse *p, VfVftItem *item)
{
    char text[NUMBER_BYTES];
    uint64_t bits;
    VF_TRY(take_number(p, text));
    *item = (VfVftItem){.is_int = looks_like_int(text)};
    if (item->is_int) {
        VF_TRY(vf_vft_parse_int(p, &item->i));
        item->f = (float)item->i;
        return VF_OK;
    }
    VF_TRY(parse_float_bits(p, VF_F32, &bits));
    uint32_t word = (uint32_t)bits;
    memcpy(&item->f, &word, sizeof word);
    return VF_OK;
}

static VfStatus parse_bool(VfVftParse *p, uint64_t *bits)
{
    bool is_true = vf_vft_is_word(&p->lex, "true") || vf_vft_is_word(&p->lex, "1");
    bool is_false = vf_vft_is_word(&p->lex, "false") || vf_vft_is_word(&p->lex, "0");
    if (!is_true && !is_false)
        return vf_vft_fail(&p->lex, "expected true or false");
    *bits = is_true;
    return vf_vft_next(&p->lex);
}

static VfStatus parse_unsigned64(VfVftParse *p, uint64_t *bits)
{
    char text[NUMBER_BYTES];
    VF_TRY(take_number(p, text));
    errno = 0;
    *bits = strtoull(text, NULL, base_of(text));
    if (!looks_like_int(text) || text[0] == '-' || errno != 0)
        return vf_vft_fail(&p->lex, "expected an unsigned integer of 64 bits, found '%s'", text);
    return vf_vft_next(&p->lex);
}

static VfStatus parse_integer(VfVftParse *p, VfDtype dtype, uint64_t *bits)
{
    const VfDtypeInfo *info = vf_dtype_info(dtype);
    VfVftLex at = p->lex;
    int64_t value;
    if (dtype == VF_U64)
        return parse_unsigned64(p, bits);
    VF_TRY(vf_vft_parse_int(p, &value));
    int64_t half = info->bits < 64 ? INT64_C(1) << (info->bits - 1) : INT64_MAX;
    int64_t low = info->is_signed ? (info->bits < 64 ? -half : INT64_MIN) : 0;
    int64_t high = info->bits == 64 ? INT64_MAX : info->is_signed ? half - 1 : 2 * half - 1;
    if (value < low || value > high)
        return vf_vft_fail(&at, "%lld does not fit %s", (long long)value, info->name);
    *bits = (uint64_t)value;
    return VF_OK;
}

VfStatus vf_vft_parse_element(VfVftParse *p, VfDtype dtype, void *data, size_t i)
{
    uint64_t bits;
    if (dtype == VF_STRING)
        return vf_vft_expect(&p->lex, VF_VFT_STRING, "a string", &((VfBytes *)data)[i]);
    if (dtype == VF_BOOL)
        VF_TRY(parse_bool(p, &bits));
    else if (vf_number_is_float(dtype))
        VF_TRY(parse_float_bits(p, dtype, &bits));
    else
        VF_TRY(parse_integer(p, dtype, &bits));
    vf_number_put_bits(data, dtype, i, bits);
    return VF_OK;
}

/* --- names and fields --- */

VfStatus vf_vft_parse_name(VfVftParse *p, const char *what, VfBytes *name)
{
    VfVftKind kind = p->lex.kind == VF_VFT_STRING ? VF_VFT_STRING : VF_VFT_WORD;
    VfBytes text;
    VF_TRY(vf_vft_expect(&p->lex, kind, what, &text));
    return vf_model_copy_bytes(p->model, text, name, p->err);
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decode hexadecimal digits, two a byte, into `data`; false if there is anything else. */
static bool decode_hex(VfBytes digits, unsigned char *data)
{
    for (size_t i = 0; i + 1 < digits.size; i += 2) {
        int high = hex_value(digits.data[i]), low = hex_value(digits.data[i + 1]);
        if (high < 0 || low < 0)
            return false;
        data[i / 2] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static VfStatus parse_raw(VfVftParse *p, VfRaw *raw)
{
    VfBytes word = p->lex.text;
    bool is_blob = p->lex.kind == VF_VFT_WORD && word.size >= 2 && word.size % 2 == 0 &&
                   word.data[0] == '0' && word.data[1] == 'x';
    if (!is_blob)
        return vf_vft_fail(&p->lex, "expected bytes, as in 0x0a0b");
    VfBytes digits = {word.data + 2, word.size - 2};
    unsigned char *data = vf_arena_alloc(p->model->arena, digits.size / 2);
    VF_TRY_ALLOC(data, p->err);
    if (!decode_hex(digits, data))
        return vf_vft_fail(&p->lex, "bytes hold a character that is no hexadecimal digit");
    *raw = (VfRaw){data, digits.size / 2};
    return vf_vft_next(&p->lex);
}

static VfStatus parse_meta(VfVftParse *p, VfMeta ***end)
{
    VfMeta *meta = VF_NEW(p->model->arena, VfMeta);
    VF_TRY_ALLOC(meta, p->err);
    VF_TRY(vf_vft_expect(&p->lex, VF_VFT_STRING, "a string", &meta->key));
    VF_TRY(vf_vft_expect_char(&p->lex, '='));
    VF_TRY(vf_vft_expect(&p->lex, VF_VFT_STRING, "a string", &meta->value));
    **end = meta;
    *end = &meta->next;
    return VF_OK;
}

static VfStatus parse_field(VfVftParse *p, VfVftFields *fields, VfMeta ***end)
{
    const struct {
        const char *key;
        VfRaw *raw;
    } raws[] = {{"raw", &fields->raw}, {"info", &fields->info}, {"tensor", &fields->tensor}};
    bool found;
    VF_TRY(vf_vft_accept_word(&p->lex, "meta", &found));
    if (found)
        return parse_meta(p, end);
    VF_TRY(vf_vft_accept_word(&p->lex, "sparse_initializer", &fields->is_sparse));
    if (fields->is_sparse)
        return VF_OK;
    VF_TRY(vf_vft_accept_word(&p->lex, "doc", &found));
    if (found) {
        VF_TRY(vf_vft_expect_char(&p->lex, '='));
        return vf_vft_expect(&p->lex, VF_VFT_STRING, "a string", &fields->doc);
    }
    for (size_t i = 0; i < sizeof raws / sizeof raws[0]; i++) {
        VF_TRY(vf_vft_accept_word(&p->lex, raws[i].key, &found));
        if (!found)
            continue;
        VF_TRY(vf_vft_expect_char(&p->lex, '='));
        return parse_raw(p, raws[i].raw);
    }
    return vf_vft_fail(&p->lex, "expected doc, meta, raw, info or tensor");
}

VfStatus vf_vft_parse_fields(VfVftParse *p, VfVftFields *fields)
{
    bool more;
    VfMeta **end = &fields->meta;
    *fields = (VfVftFields){.doc = {"", 0}};
    VF_TRY(vf_vft_accept_char(&p->lex, '[', &more));
    if (!more)
        return VF_OK;
    while (more) {
        VF_TRY(parse_field(p, fields, &end));
        VF_TRY(vf_vft_accept_char(&p->lex, ',', &more));
    }
    return vf_vft_expect_char(&p->lex, ']');
}
