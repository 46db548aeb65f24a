#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/kernels/number.h"
#include "passes/ir/vft_lex.h"
#include "passes/ir/vft_print.h"

enum { INDENT = 4 };

void vf_vft_print_line(VfVftPrint *p)
{
    vf_text_char(p->text, '\n');
    vf_text_repeat(p->text, ' ', (size_t)p->depth * INDENT);
}

/* Bytes of one character that may stand in a string as they are, 0 if they must be escaped. */
static size_t plain_length(VfBytes rest)
{
    unsigned char c = (unsigned char)rest.data[0];
    if (c == '"' || c == '\\' || c < ' ' || c == 127)
        return 0;
    return vf_utf8_length(rest.data, rest.size);
}

static void add_escape(VfText *text, unsigned char c)
{
    if (c == '"' || c == '\\')
        vf_text_printf(text, "\\%c", c);
    else if (c == '\n')
        vf_text_string(text, "\\n");
    else if (c == '\t')
        vf_text_string(text, "\\t");
    else
        vf_text_printf(text, "\\x%02x", (unsigned)c);
}

void vf_vft_print_string(VfText *text, VfBytes value)
{
    vf_text_char(text, '"');
    for (size_t i = 0; i < value.size;) {
        size_t n = plain_length((VfBytes){value.data + i, value.size - i});
        if (n == 0)
            add_escape(text, (unsigned char)value.data[i]);
        else
            vf_text_add(text, value.data + i, n);
        i += n == 0 ? 1 : n;
    }
    vf_text_char(text, '"');
}

void vf_vft_print_name(VfText *text, VfBytes name)
{
    if (vf_vft_is_bare(name))
        vf_text_add(text, name.data, name.size);
    else
        vf_vft_print_string(text, name);
}

void vf_vft_print_value(VfVftPrint *p, const VfValue *value)
{
    if (value == NULL) {
        vf_text_char(p->text, '_');
    } else if (value->name.size != 0) {
        vf_vft_print_name(p->text, value->name);
    } else if (p->label == NULL) {
        vf_text_printf(p->text, "%%%d", (int)value->id);
    } else {
        if (p->label[value->id] == 0)
            p->label[value->id] = ++p->n_label;
        vf_text_printf(p->text, "%%%d", (int)p->label[value->id]);
    }
}

/* --- types --- */

/* A symbol must not look like a number. */
static void print_symbol(VfText *text, VfBytes name)
{
    char c = name.size != 0 ? name.data[0] : '0';
    if ((c >= '0' && c <= '9') || c == '+' || c == '-')
        vf_vft_print_string(text, name);
    else
        vf_vft_print_name(text, name);
}

static void print_dim(VfVftPrint *p, VfDim d)
{
    if (vf_dim_is_known(d)) {
        vf_text_printf(p->text, "%" PRId64, d.k);
    } else if (d.sym == VF_SYM_UNKNOWN) {
        vf_text_char(p->text, '?');
    } else {
        if (d.k != 1)
            vf_text_printf(p->text, "%" PRId64 "*", d.k);
        print_symbol(p->text, vf_symbol_text(p->model->symbols, d.sym));
    }
}

void vf_vft_print_type(VfVftPrint *p, const VfType *type)
{
    static const char *const opening[] = {
        [VF_TYPE_TENSOR] = "", [VF_TYPE_SEQUENCE] = "seq(", [VF_TYPE_OPTIONAL] = "optional("};
    if (type->kind == VF_TYPE_OTHER) {
        vf_text_string(p->text, "other");
        return;
    }
    vf_text_string(p->text, opening[type->kind]);
    vf_text_string(p->text, type->dtype == VF_UNDEFINED ? "?" : vf_dtype_info(type->dtype)->name);
    vf_text_char(p->text, '[');
    if (type->rank == VF_RANK_UNKNOWN)
        vf_text_string(p->text, "...");
    for (int32_t i = 0; i < type->rank; i++) {
        vf_text_string(p->text, i > 0 ? ", " : "");
        print_dim(p, type->dims[i]);
    }
    vf_text_string(p->text, type->kind == VF_TYPE_TENSOR ? "]" : "])");
}

/* --- data --- */

static void print_nan(VfText *text, VfDtype dtype, uint64_t bits)
{
    if (bits == vf_number_encode(dtype, (double)NAN))
        vf_text_string(text, "nan");
    else
        vf_text_printf(text, "nan:0x%" PRIx64, bits);
}

static void print_element(VfText *text, const VfTensor *tensor, size_t i)
{
    uint64_t bits;
    if (tensor->dtype == VF_STRING) {
        vf_vft_print_string(text, ((const VfBytes *)tensor->data)[i]);
        return;
    }
    bits = vf_number_bits(tensor->data, tensor->dtype, i);
    double value = vf_number_value(tensor->dtype, bits);
    if (isnan(value))
        print_nan(text, tensor->dtype, bits);
    else if (tensor->dtype == VF_F64)
        vf_text_double(text, value);
    else if (vf_number_is_float(tensor->dtype))
        vf_text_float(text, (float)value);
    else if (tensor->dtype == VF_BOOL)
        vf_text_string(text, bits != 0 ? "true" : "false");
    else if (tensor->dtype == VF_U64)
        vf_text_printf(text, "%" PRIu64, bits);
    else
        vf_text_printf(text, "%" PRId64, vf_tensor_get_i64(tensor, i));
}

void vf_vft_print_float(VfText *text, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value)) {
        print_nan(text, VF_F32, bits);
        return;
    }
    size_t start = text->size;
    vf_text_float(text, value);
    for (size_t i = start; i < text->size; i++) {
        if (strchr(".einf", text->data[i]) != NULL)
            return;
    }
    vf_text_string(text, ".0");
}

/* Whether elements written one by one give back the same bytes. */
static bool is_literal_exact(const VfTensor *tensor)
{
    VfDtype dtype = tensor->dtype;
    unsigned bits = vf_dtype_info(dtype)->bits;
    if (dtype == VF_C64 || dtype == VF_C128 || dtype == VF_UNDEFINED)
        return false;
    for (size_t i = 0; dtype == VF_BOOL && i < tensor->count; i++) {
        if (vf_number_bits(tensor->data, dtype, i) > 1)
            return false;
    }
    size_t slots = bits > 0 && bits < 8 ? tensor->bytes * (8 / bits) : tensor->count;
    for (size_t i = tensor->count; i < slots; i++) {
        if (vf_number_bits(tensor->data, dtype, i) != 0)
            return false;
    }
    return true;
}

static bool is_splat(const VfTensor *tensor)
{
    if (tensor->bytes > VF_VFT_SPLAT_BYTES_MAX || tensor->dtype == VF_STRING)
        return false;
    uint64_t first = vf_number_bits(tensor->data, tensor->dtype, 0);
    for (size_t i = 1; i < tensor->count; i++) {
        if (vf_number_bits(tensor->data, tensor->dtype, i) != first)
            return false;
    }
    return true;
}

static void print_hex(VfText *text, const void *data, size_t size)
{
    static const char digit[] = "0123456789abcdef";
    const unsigned char *byte = data;
    char pair[512];
    for (size_t i = 0; i < size;) {
        size_t n = size - i < sizeof pair / 2 ? size - i : sizeof pair / 2;
        for (size_t k = 0; k < n; k++) {
            pair[2 * k] = digit[byte[i + k] >> 4];
            pair[2 * k + 1] = digit[byte[i + k] & 15];
        }
        vf_text_add(text, pair, 2 * n);
        i += n;
    }
}

/* FNV-1a, 64 bits: tells weights apart where they are not printed. */
static uint64_t digest(const VfTensor *tensor)
{
    const unsigned char *byte = tensor->data;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < tensor->bytes; i++)
        hash = (hash ^ byte[i]) * 1099511628211u;
    return hash;
}

static void print_data(VfVftPrint *p, const VfTensor *tensor)
{
    bool exact = is_literal_exact(tensor);
    if (exact && tensor->count > VF_VFT_LITERAL_MAX && is_splat(tensor) &&
        p->splat_total + tensor->bytes <= VF_VFT_SPLAT_TOTAL_MAX) {
        p->splat_total += tensor->bytes;
        vf_text_string(p->text, "splat ");
        print_element(p->text, tensor, 0);
    } else if (tensor->dtype == VF_STRING || (exact && tensor->count <= VF_VFT_LITERAL_MAX)) {
        vf_text_char(p->text, '{');
        for (size_t i = 0; i < tensor->count; i++) {
            vf_text_string(p->text, i > 0 ? ", " : "");
            print_element(p->text, tensor, i);
        }
        vf_text_char(p->text, '}');
    } else if (tensor->count == 0) {
        vf_text_string(p->text, "{}");
    } else {
        vf_text_string(p->text, "hex ");
        print_hex(p->text, tensor->data, tensor->bytes);
    }
}

void vf_vft_print_tensor(VfVftPrint *p, const VfTensor *tensor)
{
    vf_text_string(p->text, vf_dtype_info(tensor->dtype)->name);
    vf_text_char(p->text, '[');
    for (int32_t i = 0; i < tensor->rank; i++)
        vf_text_printf(p->text, "%s%" PRId64, i > 0 ? ", " : "", tensor->dims[i]);
    vf_text_string(p->text, "] ");
    size_t most = p->one_line ? 8 : VF_VFT_LITERAL_MAX;
    if ((!p->style.with_data || p->one_line) && tensor->count > most)
        vf_text_printf(p->text, "digest %016" PRIx64, digest(tensor));
    else
        print_data(p, tensor);
}

/* --- notes --- */

static void begin_note(VfVftNotes *notes)
{
    vf_text_string(notes->print->text, notes->is_open ? ", " : " [");
    notes->is_open = true;
}

void vf_vft_note_bytes(VfVftNotes *notes, const char *key, VfBytes value)
{
    if (value.size == 0)
        return;
    begin_note(notes);
    vf_text_printf(notes->print->text, "%s=", key);
    vf_vft_print_string(notes->print->text, value);
}

void vf_vft_note_raw(VfVftNotes *notes, const char *key, VfRaw raw)
{
    if (raw.size == 0)
        return;
    begin_note(notes);
    vf_text_printf(notes->print->text, "%s=0x", key);
    print_hex(notes->print->text, raw.data, raw.size);
}

void vf_vft_note_meta(VfVftNotes *notes, const VfMeta *meta)
{
    for (; meta != NULL; meta = meta->next) {
        begin_note(notes);
        vf_text_string(notes->print->text, "meta ");
        vf_vft_print_string(notes->print->text, meta->key);
        vf_text_char(notes->print->text, '=');
        vf_vft_print_string(notes->print->text, meta->value);
    }
}

void vf_vft_note_word(VfVftNotes *notes, const char *word)
{
    begin_note(notes);
    vf_text_string(notes->print->text, word);
}

void vf_vft_notes_end(VfVftNotes *notes)
{
    if (notes->is_open)
        vf_text_char(notes->print->text, ']');
}
