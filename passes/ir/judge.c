#include "passes/ir/judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "passes/ir/attr_default.h"
#include "passes/ir/vft_print.h"

enum { FAULT_BYTES = 512 };

typedef struct Judge {
    const VfNode *node;
    const char *op;
    int64_t opset;
    VfJudgeNote *note;
    void *cx;
} Judge;

static VfStatus fault(const Judge *j, const char *fmt, ...) VF_PRINTF(2, 3);

static VfStatus fault(const Judge *j, const char *fmt, ...)
{
    char text[FAULT_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return j->note(j->cx, text);
}

static Judge begin(const VfNode *node, int64_t opset, VfJudgeNote *note, void *cx)
{
    return (Judge){node, vf_op_info(node->op)->name, opset, note, cx};
}

/* --- what makes the node --- */

static bool is_within(int32_t n, int32_t max)
{
    return max < 0 || n <= max;
}

static VfStatus judge_count(const Judge *j, const char *what, int32_t n, int32_t min, int32_t max)
{
    int size = (int)j->node->op_type.size;
    const char *op = j->node->op_type.data;
    if (n >= min && is_within(n, max))
        return VF_OK;
    if (max < 0)
        return fault(j, "%.*s has %d %s, needs at least %d", size, op, (int)n, what, (int)min);
    if (min == max)
        return fault(j, "%.*s has %d %s, takes %d", size, op, (int)n, what, (int)min);
    return fault(j, "%.*s has %d %s, takes %d to %d", size, op, (int)n, what, (int)min, (int)max);
}

/* Exporters write omitted operands and results at the end that only later opsets have: they do not
 * count where one of them has so many. */
static VfStatus judge_numbers(const Judge *j, VfArity now, VfArity widest)
{
    const VfNode *node = j->node;
    int32_t n_in = node->n_in, n_out = node->n_out;
    while (n_in > 0 && node->in[n_in - 1].value == NULL && is_within(n_in, widest.max_in) &&
           (n_in > now.min_in || vf_op_needs(node->op, j->opset, n_in - 1)))
        n_in--;
    while (n_out > now.min_out && node->out[n_out - 1] == NULL && is_within(n_out, widest.max_out))
        n_out--;
    VF_TRY(judge_count(j, "operands", n_in, now.min_in, now.max_in));
    VF_TRY(judge_count(j, "results", n_out, now.min_out, now.max_out));
    for (int32_t i = 0; i < n_in; i++)
        if (node->in[i].value == NULL && vf_op_needs(node->op, j->opset, i))
            VF_TRY(fault(j, "%s lacks operand %d", j->op, (int)i));
    return VF_OK;
}

static VfStatus judge_arity(const Judge *j)
{
    const VfNode *node = j->node;
    const VfFunction *function = vf_node_function(node);
    if (function != NULL) {
        VfArity arity = {0, function->body->n_input, 0, function->body->ret->n_in};
        return judge_numbers(j, arity, arity);
    }
    return node->op == VF_OP_OTHER ? VF_OK
                                   : judge_numbers(j, vf_op_arity(node->op, j->opset),
                                                   vf_op_arity(node->op, 0));
}

static VfStatus judge_type(const Judge *j, const VfAttr *attr)
{
    const VfAttrDefault *row = vf_attr_default_find(j->node->op, attr->name, j->opset);
    if (attr->type <= VF_ATTR_UNDEFINED || attr->type > VF_ATTR_TYPE_PROTOS)
        return fault(j, "attribute '%.*s' has no type", (int)attr->name.size, attr->name.data);
    if (row == NULL || row->type == attr->type || j->opset < 1)
        return VF_OK;
    return fault(j, "attribute '%s' of %s is of type %s, not %s", row->name, j->op,
                 vf_vft_attr_type_name(attr->type), vf_vft_attr_type_name(row->type));
}

VfStatus vf_judge_form(const VfNode *node, int64_t opset, VfJudgeNote *note, void *cx)
{
    Judge j = begin(node, opset, note, cx);
    const char *lacking = vf_attr_lacking(node, opset);
    VF_TRY(judge_arity(&j));
    if (lacking != NULL)
        VF_TRY(fault(&j, "%s lacks attribute '%s'", j.op, lacking));
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        VF_TRY(judge_type(&j, attr));
    return VF_OK;
}

/* --- what ended --- */

static const struct {
    VfOp op;
    const char *name;
    int32_t until;
} lost[] = {
#define VF_ATTR_UNTIL(op, name, until) {VF_OP_##op, name, until},
#include "passes/ir/attr_until.def"
#undef VF_ATTR_UNTIL
};

/* Operators without a successor of the same name, and the first opset without them. */
static const struct {
    VfOp op;
    int32_t until;
} ended[] = {
    {VF_OP_SCATTER, 11},
    {VF_OP_UPSAMPLE, 10},
};

static VfStatus judge_lost(const Judge *j, const char *name, int32_t until)
{
    for (const VfAttr *attr = j->node->first_attr; attr != NULL; attr = attr->next)
        if (vf_bytes_is_equal(attr->name, vf_bytes(name)))
            return fault(j, "%s lost attribute '%s' with opset %d, the model imports %lld", j->op,
                         name, (int)until, (long long)j->opset);
    return VF_OK;
}

VfStatus vf_judge_ended(const VfNode *node, int64_t opset, VfJudgeNote *note, void *cx)
{
    Judge j = begin(node, opset, note, cx);
    if (opset < 1 || opset > VF_OPSET_NEWEST)
        return VF_OK;
    for (size_t i = 0; i < sizeof ended / sizeof ended[0]; i++)
        if (ended[i].op == node->op && opset >= ended[i].until)
            return fault(&j, "%s ended with opset %d, the model imports %lld", j.op,
                         (int)ended[i].until, (long long)opset);
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        if (lost[i].op == node->op && opset >= lost[i].until)
            VF_TRY(judge_lost(&j, lost[i].name, lost[i].until));
    return VF_OK;
}

/* --- words --- */

enum { SHOWN_BYTES = 40 }; /* of a word that is none */

static const struct {
    VfOp op;
    const char *name;
    int32_t since;
    const char *words;
} word_row[] = {
#define VF_ATTR_WORDS(op, name, since, words) {VF_OP_##op, name, since, words},
#include "passes/ir/attr_words.def"
#undef VF_ATTR_WORDS
};

/* The words of an attribute, or NULL where it may say anything. */
static const char *find_words(const Judge *j, const VfAttr *attr)
{
    const char *words = NULL;
    for (size_t i = 0; i < sizeof word_row / sizeof word_row[0]; i++)
        if (word_row[i].op == j->node->op && word_row[i].since <= j->opset &&
            vf_bytes_is_equal(attr->name, vf_bytes(word_row[i].name)))
            words = word_row[i].words;
    return words;
}

static bool is_among(VfBytes word, const char *words)
{
    for (const char *at = words; *at != '\0'; at += strspn(at, ", ")) {
        size_t size = strcspn(at, ",");
        if (vf_bytes_is_equal(word, (VfBytes){at, size}))
            return true;
        at += size;
    }
    return false;
}

VfStatus vf_judge_words(const VfNode *node, int64_t opset, VfJudgeNote *note, void *cx)
{
    Judge j = begin(node, opset, note, cx);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        const char *words = attr->type == VF_ATTR_STRING && attr->ref.size == 0
                                ? find_words(&j, attr) : NULL;
        int size = attr->s.size < SHOWN_BYTES ? (int)attr->s.size : SHOWN_BYTES;
        if (words != NULL && !is_among(attr->s, words))
            VF_TRY(fault(&j, "attribute '%.*s' of %s is '%.*s', not one of %s",
                         (int)attr->name.size, attr->name.data, j.op, size, attr->s.data, words));
    }
    return VF_OK;
}
