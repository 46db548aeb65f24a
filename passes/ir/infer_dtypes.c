#include <string.h>

#include "passes/ir/infer_op.h"

/* Rows of operand_dtypes.def. */
static const struct {
    VfOp op;
    int32_t since;
    const char *letters;
} signature[] = {
#define VF_OPERAND_DTYPES(op, since, letters) {VF_OP_##op, since, letters},
#include "passes/ir/operand_dtypes.def"
#undef VF_OPERAND_DTYPES
};

/* What a letter stands for. */
typedef struct Letter {
    char letter;
    bool is_shared; /* all its operands are of one dtype */
    uint32_t dtypes; /* bits; 0: any */
    const char *words;
} Letter;

#define BIT(dtype) (1u << VF_##dtype)
#define FLOATS (BIT(F16) | BIT(BF16) | BIT(F32) | BIT(F64))
#define BYTES (BIT(U8) | BIT(I8))
#define SMALL_FLOATS (BIT(F8E4M3FN) | BIT(F8E4M3FNUZ) | BIT(F8E5M2) | BIT(F8E5M2FNUZ))
#define SIGNED_INTS (BIT(I8) | BIT(I16) | BIT(I32) | BIT(I64))
#define WIDE_INTS (BIT(U32) | BIT(I32) | BIT(U64) | BIT(I64))
#define INTS (BYTES | BIT(U16) | BIT(I16) | BIT(U32) | BIT(I32) | BIT(U64) | BIT(I64))

static const Letter letter_row[] = {
    {'T', true, 0, NULL},
    {'U', true, 0, NULL},
    {'V', true, 0, NULL},
    {'F', true, FLOATS, "a float"},
    {'G', true, FLOATS, "a float"},
    {'H', true, FLOATS, "a float"},
    {'E', true, FLOATS | SMALL_FLOATS, "a float"},
    {'P', true, FLOATS | BYTES, "a float, u8 or i8"},
    {'N', true, FLOATS | INTS, "a number"},
    {'W', true, FLOATS | WIDE_INTS, "a float or an integer of 32 or 64 bits"},
    {'S', true, FLOATS | SIGNED_INTS, "a float or a signed integer"},
    {'I', true, INTS, "an integer"},
    {'M', true, FLOATS | INTS | BIT(BOOL), "a number or bool"},
    {'Q', true, BYTES, "u8 or i8"},
    {'R', true, BYTES, "u8 or i8"},
    {'l', false, BIT(I64), "i64"},
    {'n', false, BIT(I32) | BIT(I64), "i32 or i64"},
    {'i', false, BIT(I32), "i32"},
    {'f', false, BIT(F32), "f32"},
    {'s', false, FLOATS | BIT(F8E8M0), "a float"},
    {'b', false, BIT(BOOL), "bool"},
    {'d', false, FLOATS | INTS, "a number"},
    {'t', false, BIT(STRING), "string"},
    {'.', false, 0, NULL},
};
enum { N_LETTER = sizeof letter_row / sizeof letter_row[0] };

/* NULL when the operator has no row that is old enough. */
static const char *find_letters(VfOp op, int64_t opset)
{
    const char *letters = NULL;
    for (size_t i = 0; i < sizeof signature / sizeof signature[0]; i++)
        if (signature[i].op == op && signature[i].since <= opset)
            letters = signature[i].letters;
    return letters;
}

static int32_t find_letter(char letter)
{
    int32_t i = 0;
    while (i < N_LETTER - 1 && letter_row[i].letter != letter)
        i++;
    return i;
}

static VfStatus check_operand(const VfInferCx *cx, int32_t slot, const Letter *letter,
                              VfDtype *shared)
{
    VfDtype dtype = vf_infer_dtype_of(cx, slot);
    if (dtype <= VF_UNDEFINED || dtype >= VF_DTYPE_COUNT)
        return VF_OK;
    const char *name = vf_dtype_info(dtype)->name;
    if (letter->dtypes != 0 && (letter->dtypes & 1u << dtype) == 0)
        return vf_infer_fail(cx, "operand %d is %s, not %s", (int)slot, name, letter->words);
    if (letter->is_shared && *shared != VF_UNDEFINED && *shared != dtype)
        return vf_infer_fail(cx, "operand %d is %s, not %s", (int)slot, name,
                             vf_dtype_info(*shared)->name);
    *shared = dtype;
    return VF_OK;
}

VfStatus vf_infer_check_dtypes(const VfInferCx *cx)
{
    VfDtype shared[N_LETTER] = {VF_UNDEFINED};
    const char *letters = find_letters(cx->node->op, cx->opset);
    for (int32_t slot = 0; letters && *letters != '\0' && slot < cx->n_in; slot++) {
        int32_t i = find_letter(*letters);
        VF_TRY(check_operand(cx, slot, &letter_row[i], &shared[i]));
        letters += letters[1] == '+' ? 0 : 1;
    }
    return VF_OK;
}

VfStatus vf_infer_takes_dtypes(VfArena *arena, const VfNode *node, int64_t opset, bool *takes,
                               VfErr *err)
{
    VfFact *fact = VF_NEW_ARRAY(arena, VfFact, (size_t)node->n_in + 1);
    const VfFact **in = VF_NEW_ARRAY(arena, const VfFact *, (size_t)node->n_in + 1);
    VfErr why;
    if (fact == NULL || in == NULL)
        return vf_no_memory(err);
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        if (value == NULL)
            continue;
        fact[i].type = value->type;
        in[i] = &fact[i];
    }
    VfInferCx cx = {.arena = arena, .node = node, .opset = opset, .n_in = node->n_in, .in = in,
                    .err = &why};
    *takes = vf_infer_check_dtypes(&cx) == VF_OK;
    return VF_OK;
}
