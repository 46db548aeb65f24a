/* Graphs of any operators: the bytes choose operators, operands and attributes; the graph is
 * written as .vft text, inferred, lowered and run, before and after the exact passes, which must
 * change neither the outcome nor a bit of the outputs. Bytes that begin with "model " are such
 * text themselves.
 */
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "passes/ir/verify.h"
#include "passes/manager.h"
#include "tests/fuzz/harness.h"
#include "tests/support/run_model.h"

enum { N_NODE_MAX = 12, N_VALUE_MAX = 64, OPSET_FIRST = 7, OPSET_LAST = 26 };

typedef struct AttrRow {
    VfOp op;
    const char *name;
    int32_t since;
    VfAttrType type;
} AttrRow;

static const AttrRow attr_row[] = {
#define VF_DEF_INT(op, name, since, value) {VF_OP_##op, name, since, VF_ATTR_INT},
#define VF_DEF_FLOAT(op, name, since, value) {VF_OP_##op, name, since, VF_ATTR_FLOAT},
#define VF_DEF_STRING(op, name, since, value) {VF_OP_##op, name, since, VF_ATTR_STRING},
#define VF_DEF_NONE(op, name, since, type) {VF_OP_##op, name, since, VF_ATTR_##type},
#define VF_DEF_NEED VF_DEF_NONE
#include "passes/ir/attr_defaults.def"
#undef VF_DEF_INT
#undef VF_DEF_FLOAT
#undef VF_DEF_STRING
#undef VF_DEF_NONE
#undef VF_DEF_NEED
};
enum { N_ATTR_ROW = sizeof attr_row / sizeof attr_row[0] };

static const AttrRow lost_row[] = {
#define VF_ATTR_UNTIL(op, name, until) {VF_OP_##op, name, until, VF_ATTR_UNDEFINED},
#include "passes/ir/attr_until.def"
#undef VF_ATTR_UNTIL
};
enum { N_LOST_ROW = sizeof lost_row / sizeof lost_row[0] };

static const char *const word[] = {
    "NOTSET",  "SAME_UPPER", "SAME_LOWER", "VALID",  "constant", "reflect", "edge", "wrap",
    "nearest", "linear",     "cubic",      "floor",  "DCR",      "CRD",     "LEFT", "none",
    "add",     "max",        "asymmetric", "ij,jk->ik", "bij->bj", "tanh",  "half_pixel", "mean"};

static const char *const head =
    "(x0: f32[2, 3, 4], x1: f32[4, 4], x2: f32[1, 2, 5, 5], x3: i64[3], x4: bool[2, 3, 4]) -> (";
static const char *const constant[] = {
    "i64[1] {1}",          "i64[2] {0, -1}",      "f32[2, 2, 3, 3] random(1)",
    "f32[] {0.5}",         "i64[] {2}",           "f32[4] {1, -0.5, 2, 0.25}",
    "i64[3] {1, 2, 2}",    "f64[4] {1, 2, -1, 3}", "f16[3, 4] random(1)",
    "u8[2, 2] {0, 7, 200, 255}", "i32[] {1}",     "i8[2, 2] {-1, 2, 3, -128}",
    "bool[4] {1, 0, 0, 1}", "f32[0] {}",          "string[2] {\"a\", \"b\"}"};
enum { N_CONSTANT = sizeof constant / sizeof constant[0] };

typedef struct Maker {
    const uint8_t *data;
    size_t size, at;
    char value[N_VALUE_MAX][12];
    int n_value, opset;
    bool only_runs; /* keep only nodes with which the graph still runs */
    VfText body;
} Maker;

static unsigned choose(Maker *cx, unsigned n)
{
    unsigned byte = cx->at < cx->size ? cx->data[cx->at++] : 0;
    if (n > 256 && cx->at < cx->size)
        byte = byte << 8 | cx->data[cx->at++];
    return byte % n;
}

static void name_value(Maker *cx, const char *letter, int number)
{
    if (cx->n_value < N_VALUE_MAX)
        snprintf(cx->value[cx->n_value++], sizeof cx->value[0], "%s%d", letter, number);
}

static void write_ints(Maker *cx)
{
    unsigned n = 1 + choose(cx, 4);
    vf_text_string(&cx->body, "ints [");
    for (unsigned i = 0; i < n; i++)
        vf_text_printf(&cx->body, "%s%d", i == 0 ? "" : ", ", (int)choose(cx, 8) - 2);
    vf_text_string(&cx->body, "]");
}

static void write_attr(Maker *cx, const AttrRow *row, bool is_first)
{
    static const char *const number[] = {"float 0", "1.5", "-0.25", "1e-5", "inf"};
    vf_text_printf(&cx->body, "%s%s=", is_first ? "" : ", ", row->name);
    bool is_dtype = strcmp(row->name, "to") == 0 || strstr(row->name, "dtype") != NULL;
    if (row->type == VF_ATTR_INT && is_dtype)
        vf_text_printf(&cx->body, "%d", (int)choose(cx, VF_DTYPE_COUNT));
    else if (row->type == VF_ATTR_INT)
        vf_text_printf(&cx->body, "%d", (int)choose(cx, 10) - 3);
    else if (row->type == VF_ATTR_FLOAT)
        vf_text_string(&cx->body, number[choose(cx, 5)]);
    else if (row->type == VF_ATTR_STRING)
        vf_text_printf(&cx->body, "\"%s\"", word[choose(cx, sizeof word / sizeof word[0])]);
    else
        write_ints(cx);
}

static bool is_lost(const AttrRow *row, int opset)
{
    for (int i = 0; i < N_LOST_ROW; i++)
        if (lost_row[i].op == row->op && lost_row[i].since <= opset &&
            strcmp(lost_row[i].name, row->name) == 0)
            return true;
    return false;
}

/* The newest row of the attribute, and of an attribute that the operator still has. */
static bool holds(const AttrRow *row, int opset)
{
    const AttrRow *next = row + 1;
    bool is_newest = next == attr_row + N_ATTR_ROW || next->op != row->op ||
                     strcmp(next->name, row->name) != 0 || next->since > opset;
    return row->since <= opset && is_newest && !is_lost(row, opset);
}

static bool can_write(const AttrRow *row)
{
    return row->type == VF_ATTR_INT || row->type == VF_ATTR_FLOAT ||
           row->type == VF_ATTR_STRING || row->type == VF_ATTR_INTS;
}

static void write_attrs(Maker *cx, VfOp op)
{
    int n = 0;
    vf_text_string(&cx->body, " {");
    for (int i = 0; i < N_ATTR_ROW; i++) {
        const AttrRow *row = &attr_row[i];
        if (row->op != op || !can_write(row) || !holds(row, cx->opset) || choose(cx, 3) == 0)
            continue;
        write_attr(cx, row, n++ == 0);
    }
    vf_text_string(&cx->body, "}\n");
}

static bool is_usable(const VfOpInfo *info, int opset)
{
    return info->domain[0] == '\0' && info->since <= opset && info->min_out == 1 &&
           (info->flags & (VF_OPF_IMPURE | VF_OPF_CONTROL)) == 0;
}

static void write_node(Maker *cx, int number)
{
    const VfOpInfo *info = vf_op_info((VfOp)(2 + choose(cx, VF_OP_COUNT - 2)));
    if (!is_usable(info, cx->opset))
        return;
    VfArity arity = vf_op_arity(info->op, cx->opset);
    int most = arity.max_in < 0 || arity.max_in > arity.min_in + 3 ? arity.min_in + 3
                                                                   : arity.max_in;
    int n_in = arity.min_in + (int)choose(cx, (unsigned)(most - arity.min_in) + 1);
    vf_text_printf(&cx->body, "    n%d = %s(", number, info->name);
    for (int i = 0; i < n_in; i++)
        vf_text_printf(&cx->body, "%s%s", i == 0 ? "" : ", ",
                       cx->value[choose(cx, (unsigned)cx->n_value)]);
    vf_text_string(&cx->body, ")");
    write_attrs(cx, info->op);
    name_value(cx, "n", number);
}

/* The model of what was written so far. */
static void write_text(const Maker *cx, VfText *text)
{
    bool is_first = true;
    vf_text_printf(text, "model ir=10 opset=%d\ngraph g %s", cx->opset, head);
    for (int i = 0; i < cx->n_value; i++)
        if (cx->value[i][0] == 'n') {
            vf_text_printf(text, "%s%s: ?[...]", is_first ? "" : ", ", cx->value[i]);
            is_first = false;
        }
    vf_text_string(text, ") {\n");
    for (int i = 0; i < N_CONSTANT; i++)
        vf_text_printf(text, "    c%d = const %s\n", i, constant[i]);
    vf_text_add(text, cx->body.data, cx->body.size);
    vf_text_string(text, "}\n");
}

static VfModel *parse(const VfText *text)
{
    VfErr err = {0};
    VfModel *model = NULL;
    VfStatus status = vf_vft_parse((VfBytes){text->data, text->size}, "fuzz", &model, &err);
    VF_FUZZ_PROMISE(status == VF_OK, "text: %s\n%s\n", err.text, text->data);
    return model;
}

static bool can_run(const Maker *cx)
{
    VfErr err = {0};
    VfArena *arena = vf_arena_new();
    VfText text;
    VfTestOutputs outputs;
    vf_text_init(&text, arena);
    write_text(cx, &text);
    VfModel *model = parse(&text);
    VfStatus status = vf_verify_all(model, &err);
    if (status == VF_OK)
        status = vf_test_run_reference(model, 1, arena, &outputs, &err);
    VF_FUZZ_PROMISE(status != VF_INTERNAL, "run: %s\n%s\n", err.text, text.data);
    vf_model_free(model);
    vf_arena_free(arena);
    return status == VF_OK;
}

static void write_graph(Maker *cx)
{
    cx->opset = OPSET_FIRST + (int)choose(cx, OPSET_LAST - OPSET_FIRST + 1);
    cx->only_runs = choose(cx, 4) != 0;
    for (int i = 0; i < 5; i++)
        name_value(cx, "x", i);
    for (int i = 0; i < N_CONSTANT; i++)
        name_value(cx, "c", i);
    for (int i = 0; i < N_NODE_MAX && cx->at < cx->size; i++) {
        const size_t size = cx->body.size;
        const int n_value = cx->n_value;
        write_node(cx, i);
        if (cx->only_runs && cx->n_value > n_value && !can_run(cx)) {
            cx->body.size = size;
            cx->n_value = n_value;
        }
    }
}

static VfStatus transform(VfModel *model, VfArena *arena, VfErr *err)
{
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfJournal *journal = vf_journal_new(model);
    VF_TRY(vf_pipeline_parse(arena, "normalize,fold-constants,remove-dead", NULL, &pipeline, err));
    return vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, err);
}

static void check_equal(const VfTestOutputs *a, const VfTestOutputs *b, const VfText *text)
{
    for (int32_t i = 0; i < a->n; i++)
        VF_FUZZ_PROMISE(a->tensor[i]->bytes == b->tensor[i]->bytes &&
                            (a->tensor[i]->bytes == 0 ||
                             memcmp(a->tensor[i]->data, b->tensor[i]->data,
                                    a->tensor[i]->bytes) == 0),
                        "output %d changed:\n%s\n", (int)i, text->data);
}

/* What ran must be of the types that inference gave. */
static void check_types(const VfModel *model, const VfTestOutputs *outputs, const VfText *text)
{
    for (int32_t i = 0; i < outputs->n; i++) {
        const VfType *type = &model->graph->ret->in[i].value->type;
        const VfTensor *tensor = outputs->tensor[i];
        bool is_same = (type->dtype == VF_UNDEFINED || type->dtype == tensor->dtype) &&
                       (type->rank == VF_RANK_UNKNOWN || type->rank == tensor->rank);
        for (int32_t k = 0; is_same && k < type->rank; k++)
            is_same = !vf_dim_is_known(type->dims[k]) || type->dims[k].k == tensor->dims[k];
        VF_FUZZ_PROMISE(is_same, "output %d is %s of rank %d, inferred %s of rank %d:\n%s\n",
                        (int)i, vf_dtype_info(tensor->dtype)->name, (int)tensor->rank,
                        vf_dtype_info(type->dtype)->name, (int)type->rank, text->data);
    }
}

static void run_both(VfModel *old, VfModel *new, VfArena *arena, const VfText *text)
{
    VfErr err = {0};
    VfTestOutputs before, after;
    VfStatus inferred = vf_infer_graph(old->graph, vf_evaluator(), &err);
    VF_FUZZ_PROMISE(inferred != VF_INTERNAL, "inference: %s\n%s\n", err.text, text->data);
    VfStatus ran = vf_test_run_reference(old, 1, arena, &before, &err);
    VF_FUZZ_PROMISE(ran != VF_INTERNAL, "run: %s\n%s\n", err.text, text->data);
    if (ran == VF_OK && inferred == VF_OK)
        check_types(old, &before, text);
    VfStatus changed = transform(new, arena, &err);
    VF_FUZZ_PROMISE(changed != VF_INTERNAL, "passes: %s\n%s\n", err.text, text->data);
    if (ran != VF_OK || changed != VF_OK)
        return;
    VfStatus again = vf_test_run_reference(new, 1, arena, &after, &err);
    VF_FUZZ_PROMISE(again == VF_OK, "runs no more: %s\n%s\n", err.text, text->data);
    check_equal(&before, &after, text);
}

/* What was found is kept as text, which bytes would not be: they choose rows of tables. */
static void make_text(const uint8_t *data, size_t size, VfArena *arena, VfText *text)
{
    Maker cx = {.data = data, .size = size};
    vf_text_init(text, arena);
    if (size > 6 && memcmp(data, "model ", 6) == 0) {
        vf_text_add(text, (const char *)data, size);
        return;
    }
    vf_text_init(&cx.body, arena);
    write_graph(&cx);
    write_text(&cx, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VfErr err = {0};
    VfArena *arena = vf_arena_new();
    VfText text;
    VfModel *old = NULL, *new = NULL;
    make_text(data, size, arena, &text);
    old = parse(&text);
    new = parse(&text);
    if (vf_verify_all(old, &err) == VF_OK)
        run_both(old, new, arena, &text);
    vf_model_free(old);
    vf_model_free(new);
    vf_arena_free(arena);
    return 0;
}
