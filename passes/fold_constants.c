/* fold-constants: values that never change become constants.
 *
 * Before    nodes whose operands are all constant; shape arithmetic whose result inference knows
 * After     the results as constants; the nodes are gone
 * Why valid the same kernels compute the result here as would compute it later
 * Requires  inferred types and contents; an evaluator for all but known contents
 * Exactness same bits
 * Source    ONNX operator documents
 * Limits    random operators, control flow and DequantizeLinear stay; a result may be larger than
 * the constants that go with its node by `max-growth` bytes at most; weights of a file that would
 * become copies in memory are left where they are when constants in memory would exceed `max-copy`
 * bytes
 */
#include <string.h>

#include "passes/declared.h"
#include "passes/ir/attr.h"
#include "passes/ir/infer.h"
#include "passes/pass.h"
#include "passes/rewrite/rewrite.h"

/* Results of unknown size are computed from operands up to this many bytes. */
enum { UNSIZED_OPERAND_BYTES = 1 << 16 };

typedef struct FoldOptions {
    size_t max_growth, max_copy;
} FoldOptions;

/* A run of the pass. */
typedef struct Fold {
    const FoldOptions *options;
    size_t copied; /* bytes of constants that lie in memory, not in a file */
} Fold;

static const VfOption option[] = {
    {.name = "max-growth",
     .help = "bytes a folded result may be larger than the constants it replaces",
     .type = VF_OPTION_SIZE,
     .offset = offsetof(FoldOptions, max_growth),
     .def = "1M"},
    {.name = "max-copy",
     .help = "bytes of constants in memory up to which folding may copy weights of the file",
     .type = VF_OPTION_SIZE,
     .offset = offsetof(FoldOptions, max_copy),
     .def = "64M"},
    {0},
};

/* A Constant node that inlining left, or one in a function. */
static const VfTensor *constant_tensor(VfPassCx *cx, const VfNode *node)
{
    VfFact out[1] = {0};
    if (node->n_out != 1 ||
        vf_infer_node(cx->model->arena, cx->model->symbols, node, NULL, out, NULL) != VF_OK)
        return NULL;
    return out[0].tensor;
}

/* --- size guard --- */

static bool result_bytes(const VfNode *node, size_t *bytes)
{
    *bytes = 0;
    for (int32_t i = 0; i < node->n_out; i++) {
        size_t count;
        int64_t dims[16];
        const VfType *type = node->out[i] != NULL ? &node->out[i]->type : NULL;
        if (type == NULL)
            continue;
        if (type->kind != VF_TYPE_TENSOR || type->dtype == VF_UNDEFINED || type->rank > 16 ||
            !vf_type_is_static(type))
            return false;
        for (int32_t k = 0; k < type->rank; k++)
            dims[k] = type->dims[k].k;
        if (vf_dims_count(type->rank, dims, &count, NULL) != VF_OK ||
            __builtin_add_overflow(*bytes, vf_dtype_bytes(type->dtype, count), bytes))
            *bytes = SIZE_MAX;
    }
    return true;
}

/* Bytes of operands: all of them, those that only this node reads, and those that lie in a file. */
static void operand_bytes(const VfNode *node, size_t *all, size_t *own, size_t *in_file)
{
    *all = *own = *in_file = 0;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = vf_node_in(node, i);
        const VfTensor *tensor = vf_value_const(value);
        if (tensor == NULL)
            continue;
        *all += tensor->bytes;
        *own += value->n_use == 1 ? tensor->bytes : 0;
        *in_file += tensor->storage == VF_STORAGE_FILE ? tensor->bytes : 0;
    }
}

static bool is_within_limits(Fold *fold, const VfNode *node)
{
    size_t result, all, own, in_file;
    operand_bytes(node, &all, &own, &in_file);
    if (!result_bytes(node, &result))
        return all <= UNSIZED_OPERAND_BYTES;
    if (result > own && result - own > fold->options->max_growth)
        return false;
    if (in_file == 0)
        return true;
    if (fold->options->max_copy < fold->copied || result > fold->options->max_copy - fold->copied)
        return false;
    fold->copied += result;
    return true;
}

/* --- folding --- */

static bool has_constant_operands(const VfNode *node)
{
    for (int32_t i = 0; i < node->n_in; i++)
        if (vf_node_in(node, i) != NULL && vf_value_const(vf_node_in(node, i)) == NULL)
            return false;
    return true;
}

static bool is_computable(const VfNode *node)
{
    bool is_plain = node->op != VF_OP_OTHER && node->op != VF_OP_CONSTANT &&
                    node->op != VF_OP_DEQUANTIZE_LINEAR &&
                    !vf_op_has(node->op, VF_OPF_IMPURE | VF_OPF_CONTROL);
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next)
        is_plain = is_plain && attr->ref.size == 0;
    for (int32_t i = 0; i < node->n_out; i++)
        is_plain = is_plain && (node->out[i] == NULL || node->out[i]->type.kind == VF_TYPE_TENSOR);
    return is_plain && has_constant_operands(node);
}

static VfStatus compute(VfPassCx *cx, const VfNode *node, const VfTensor **out, VfErr *err)
{
    const VfTensor **in = VF_NEW_ARRAY(cx->arena, const VfTensor *, (size_t)node->n_in);
    VF_TRY_ALLOC(in, err);
    for (int32_t i = 0; i < node->n_in; i++)
        in[i] = vf_value_const(vf_node_in(node, i));
    VfStatus status = cx->evaluator->evaluate(cx->evaluator, cx->model->arena, node, in, out, NULL);
    if (status == VF_NO_MEMORY)
        return vf_no_memory(err);
    for (int32_t i = 0; status != VF_OK && i < node->n_out; i++)
        out[i] = NULL; /* what cannot be computed here is left to run time */
    for (int32_t i = 0; i < node->n_out; i++)
        VF_TRY(vf_check_declared(cx, node, i, out[i], err));
    return VF_OK;
}

/* Replace the results that are known; all of those read must be, or the node would stay beside its
 * constants. */
static VfStatus replace_results(VfPassCx *cx, VfNode *node, const VfTensor *const *known,
                                const char *rule, VfErr *err)
{
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL && node->out[i]->n_use > 0 && known[i] == NULL)
            return VF_OK;
    VfRewrite *rw = vf_rewrite_begin(cx->journal, node,
                                     (VfRewriteInfo){cx->pass, rule, vf_node_label(node), NULL});
    VF_TRY_ALLOC(rw, err);
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL && node->out[i]->n_use > 0)
            vf_rewrite_replace(rw, node->out[i], vf_rewrite_const(rw, known[i], "folded"));
    return vf_rewrite_commit(rw, err);
}

static bool is_read(const VfNode *node)
{
    for (int32_t i = 0; i < node->n_out; i++)
        if (node->out[i] != NULL && node->out[i]->n_use > 0)
            return true;
    return false;
}

static VfStatus visit(VfPassCx *cx, VfNode *node, void *self, VfErr *err)
{
    Fold *fold = self;
    const VfTensor **known = VF_NEW_ARRAY(cx->arena, const VfTensor *, (size_t)node->n_out);
    VF_TRY_ALLOC(known, err);
    if (!is_read(node))
        return VF_OK;
    if (node->op == VF_OP_CONSTANT) {
        known[0] = constant_tensor(cx, node);
        return replace_results(cx, node, known, "constant-node", err);
    }
    bool is_known = true;
    for (int32_t i = 0; i < node->n_out; i++) {
        if (node->out[i] == NULL || node->out[i]->n_use == 0)
            continue;
        VfFact fact = vf_value_fact(node->out[i]);
        VF_TRY(vf_infer_number_tensor(cx->model->arena, &fact, &known[i], err));
        is_known = is_known && known[i] != NULL;
    }
    if (is_known)
        return replace_results(cx, node, known, "known-content", err);
    if (cx->evaluator == NULL || !is_computable(node) || !is_within_limits(fold, node))
        return VF_OK;
    VF_TRY(compute(cx, node, known, err));
    return replace_results(cx, node, known, "constant-operands", err);
}

/* What earlier runs copied counts too, so that a second run has nothing to do. */
static VfStatus count_copied(VfPassCx *cx, VfGraph *graph, void *self, VfErr *err)
{
    Fold *fold = self;
    (void)cx;
    (void)err;
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        const VfTensor *tensor = vf_value_const(value);
        if (tensor != NULL && tensor->storage == VF_STORAGE_ARENA)
            fold->copied += tensor->bytes;
    }
    return VF_OK;
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    Fold fold = {.options = cx->options};
    VF_TRY(vf_pass_each_graph(cx, count_copied, &fold, err));
    return vf_pass_until_fixed(cx, visit, &fold, err);
}

const VfPass vf_pass_fold_constants = {
    .name = "fold-constants",
    .summary = "compute what does not depend on the inputs",
    .source = "ONNX operator documents",
    .exactness = VF_EXACT,
    .is_default = true,
    .is_cleanup = true,
    .option = option,
    .n_option = 2,
    .options_bytes = sizeof(FoldOptions),
    .run = run,
};
