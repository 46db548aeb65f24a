/* Inside of lowering: the values of the walk, how steps are emitted, and what a lowering
 * function may use.
 *
 * A graph value becomes a VfLowValue: concrete dims and strides in elements on a buffer. Views
 * (Transpose, Slice, Expand, Reshape where the strides allow) only make another value on the
 * same buffer; a function that needs its operand contiguous asks vf_low_dense, which copies at
 * most once per value. Contents known when the plan is made are in `known`; such a value gets a
 * place among the plan's weights when a step reads it. Until all is fused a weight stays where the
 * model has it, aligned or not: what replaces it is made from there, and no copy of it is made.
 *
 * All of this lies in the plan's arena (`cx->arena`).
 */
#ifndef VF_LOWER_LOW_H
#define VF_LOWER_LOW_H

#include "converter/lower/lower.h"

enum { LOW_NO_BUFFER = -1 };

typedef enum VfLowKind {
    LOW_TENSOR,
    LOW_SEQUENCE,
    LOW_ABSENT,  /* an optional without a value */
    LOW_UNKNOWN  /* result of a node that could not be lowered and whose shape is not known */
} VfLowKind;

typedef struct VfLowValue VfLowValue;

struct VfLowValue {
    VfLowKind kind;
    VfDtype dtype;         /* of the elements; of the items of a sequence */
    int32_t rank;
    const int64_t *dims;
    const int64_t *stride; /* in elements; 0 where broadcast, negative where reversed */
    size_t count;          /* elements */
    int32_t buffer;        /* LOW_NO_BUFFER while only `known` */
    size_t offset;         /* bytes from the start of the buffer to the first element */
    const VfTensor *known; /* contents, in C order whatever `stride` says; or NULL */
    VfBytes name;          /* for the weights of the plan */
    VfLowValue *dense;     /* the contiguous copy, once made */
    VfLowValue *base;      /* only known, the same contents as this one: shares its place */
    int32_t n_item;        /* LOW_SEQUENCE */
    VfLowValue *const *item;
};

/* A piece of memory. */
typedef struct VfLowBuffer {
    VfSpace space;
    int32_t index;   /* weight, input or output */
    size_t bytes;
    bool is_kept;    /* saved for the caller: never shares */
    bool is_mapped;  /* a weight that lies in a mapped file */
    /* set by memory.c */
    int32_t first, last; /* steps; last < first: never touched */
    int32_t root;        /* the buffer whose memory this one takes over, or itself */
    size_t offset;
} VfLowBuffer;

typedef struct VfLowRef {
    int32_t buffer; /* LOW_NO_BUFFER: absent */
    size_t offset;
} VfLowRef;

typedef struct VfLowStep {
    const VfkKernel *kernel;
    const void *params;
    int32_t n_in, n_out;
    VfLowRef *in, *out;
    size_t scratch_bytes;
    int64_t units, grain;
    int32_t node;
    double flops, bytes;
    bool may_fail, has_guard; /* as in the plan */
    bool may_overwrite; /* out[0] may take over the memory of in[0] */
} VfLowStep;

/* Attributes of a function call while its body is walked. */
typedef struct VfLowFrame {
    const struct VfLowFrame *parent;
    const VfNode *call;
    const VfFunction *function;
    int32_t depth;
} VfLowFrame;

typedef struct VfLower {
    const VfModel *model;
    VfLowerOptions options;
    VfArena *arena;
    VfSymbols *symbols;
    VfLowValue **env; /* by value id */
    int32_t n_env, depth; /* of `env`; of nested graphs */
    bool *is_done;    /* by node id: a node before it made its result; cleared when it is met */
    const VfLowFrame *frame;
    int64_t n_visit;
    struct VfLowChoice *choice; /* the innermost branch around that may not be taken, or NULL */
    bool use_values;    /* contents of inputs may be used */
    bool took_strings;  /* an input of strings was: its contents are part of the plan */
    bool is_inner;      /* evaluates one node: nothing is folded */

    VfLowBuffer *buffer;
    VfLowStep *step;
    VfPlanNode *node;
    VfPlanTensor *weight, *input;
    VfPlanTensor *saved; /* ref holds buffer number and offset until finished */
    size_t n_buffer, n_step, n_node, n_weight, n_saved, n_input;
    size_t cap_buffer, cap_step, cap_node, cap_weight, cap_saved, cap_input, cap_output;
    int32_t current_node; /* index in `node` that new steps belong to */
    struct VfLowPasses *passes; /* what the model's metadata tells of nodes; NULL: not read yet */

    void *copy; /* of vf_low_aligned, on the heap: who made the VfLower frees it */
    size_t copy_bytes;

    VfArena *report_arena; /* of the texts below */
    struct VfIntern *noted; /* the texts of `unsupported`, by their numbers */
    const char **unsupported;
    size_t n_unsupported, cap_unsupported;
    const VfNode *first_unsupported; /* of the main graph */
} VfLower;

/* One node being lowered. Its attributes are resolved: none refers to a function's. */
typedef struct VfLowCall {
    const VfNode *node;
    int64_t opset;
    int32_t n_in, n_out;
    VfLowValue **in;   /* NULL when omitted */
    VfLowValue **out;  /* to be filled; out[i] stays NULL when the result is omitted */
    const VfFact *fact; /* of the results */
    const char *arg;   /* the row's kernel name or word */
    bool is_imaginary; /* LOW_PARTS: the operands are imaginary parts */
} VfLowCall;

typedef VfStatus VfLowFn(VfLower *cx, VfLowCall *call, VfErr *err);

/* Flags of a row of lower.def. */
enum {
    LOW_HALF = 1,  /* 16-bit floats are computed in f32 and rounded once */
    LOW_RAW = 2,   /* takes operands of any kind and dtype as they are, strided too */
    LOW_LOOSE = 4, /* makes its results without shapes from inference */
    LOW_PACKED = 8, /* dtypes of several elements a byte are computed in u8, i8 or f32 */
    LOW_MOVES = 16, /* only moves elements: strings are moved when the plan is made */
    LOW_PARTS = 32 /* linear: complex numbers are computed part by part */
};

/* Sets of dtypes, a bit for each. */
enum {
    LOW_T_F32 = 1 << VF_F32,
    LOW_T_HALVES = 1 << VF_F16 | 1 << VF_BF16,
    LOW_T_FLOATS = LOW_T_F32 | 1 << VF_F64 | LOW_T_HALVES,
    LOW_T_BYTE_INTS = 1 << VF_U8 | 1 << VF_I8,
    LOW_T_LONG = 1 << VF_I32 | 1 << VF_I64 | 1 << VF_U32 | 1 << VF_U64,
    LOW_T_UNSIGNED = 1 << VF_U8 | 1 << VF_U16 | 1 << VF_U32 | 1 << VF_U64,
    LOW_T_SIGNED = 1 << VF_I8 | 1 << VF_I16 | 1 << VF_I32 | 1 << VF_I64,
    LOW_T_INTS = LOW_T_UNSIGNED | LOW_T_SIGNED,
    LOW_T_NUMBERS = LOW_T_FLOATS | LOW_T_INTS,
    LOW_T_BOOL = 1 << VF_BOOL,
    LOW_T_STRING = 1 << VF_STRING,
    LOW_T_COMPLEX = 1 << VF_C64 | 1 << VF_C128,
    LOW_T_F8 = 1 << VF_F8E4M3FN | 1 << VF_F8E4M3FNUZ | 1 << VF_F8E5M2 | 1 << VF_F8E5M2FNUZ,
    LOW_T_SMALL = 1 << VF_U4 | 1 << VF_I4 | 1 << VF_F4E2M1 | 1 << VF_U2 | 1 << VF_I2,
    LOW_T_BYTES = LOW_T_NUMBERS | LOW_T_BOOL | LOW_T_COMPLEX | LOW_T_F8 | 1 << VF_F8E8M0,
    LOW_T_ANY = LOW_T_BYTES | LOW_T_SMALL,
    LOW_T_MOVED = LOW_T_BYTES | LOW_T_STRING, /* with LOW_MOVES */
    LOW_T_CAST = (LOW_T_ANY & ~LOW_T_COMPLEX) | LOW_T_STRING
};

typedef struct VfLowRow {
    VfOp op;
    VfLowFn *fn;
    const char *arg;
    uint32_t flags;
    uint32_t dtypes; /* LOW_T_* */
} VfLowRow;

/* NULL when there is none. */
const VfLowRow *vf_low_row(VfOp op);

/* --- operands and attributes of a call --- */

/* Operand or NULL. */
VfLowValue *vf_low_in(const VfLowCall *call, int32_t slot);
bool vf_low_has_out(const VfLowCall *call, int32_t index);
/* VF_UNSUPPORTED with the printf sentence: only the reason; the walk adds operator and node. */
VfStatus vf_low_refuse(VfErr *err, const char *fmt, ...) VF_PRINTF(2, 3);
/* The same for a word of the file that names no mode we have: "mode 'mirror'". */
VfStatus vf_low_refuse_word(const char *what, VfBytes word, VfErr *err);
/* Which of the names, of which NULL is the last, the word of the file is. */
VfStatus vf_low_choose(VfBytes given, const char *const *name, int32_t *index, VfErr *err);
/* VF_UNSUPPORTED: `why` after operator, opset, dtype and node. */
VfStatus vf_low_blame(const VfLowCall *call, VfErr *err, const char *why);
/* The axis attribute `name`, made non-negative, of an operand of `rank` axes. VF_INVALID: out of
 * range. */
VfStatus vf_low_axis(const VfLowCall *call, const char *name, int64_t rank, int64_t *axis,
                     VfErr *err);
/* Make `axis` non-negative. */
VfStatus vf_low_norm_axis(const VfLowCall *call, int64_t rank, int64_t *axis, VfErr *err);
/* Integers from attribute `name`, else from operand `slot` (-1: none), which must be known.
 * *list NULL when both are absent. */
VfStatus vf_low_ints(VfLower *cx, const VfLowCall *call, const char *name, int32_t slot,
                     const int64_t **list, int32_t *n, VfErr *err);
/* Contents of `value` as doubles; VF_UNSUPPORTED when not known. */
VfStatus vf_low_numbers(VfLower *cx, const VfLowCall *call, const VfLowValue *value,
                        const double **list, int32_t *n, VfErr *err);
/* VF_UNSUPPORTED unless the contents are known. */
VfStatus vf_low_need_known(const VfLowCall *call, const VfLowValue *value, VfErr *err);

/* --- the walk --- */

/* Must the value itself be computed, whatever its readers could do with less? */
bool vf_low_is_kept(const VfLower *cx, const VfValue *value);
/* Lower the nodes of a graph whose inputs and outer values are in cx->env. */
VfStatus vf_low_walk(VfLower *cx, const VfGraph *graph, VfErr *err);
/* Of the main graph, those that the options say. */
VfStatus vf_low_walk_main(VfLower *cx, VfErr *err);
/* Lower one node whose operands are given; fills `out` (n_out entries). */
VfStatus vf_low_node(VfLower *cx, const VfNode *node, VfLowValue **in, VfLowValue **out,
                     VfErr *err);
/* The value of a graph value, made on first use if it is constant; NULL for NULL. */
VfStatus vf_low_lookup(VfLower *cx, const VfValue *value, VfLowValue **out, VfErr *err);
/* Fill call->fact from the operands. VF_INVALID when they contradict the operator. */
VfStatus vf_low_infer(VfLower *cx, VfLowCall *call, VfErr *err);
/* Results that inference knows wholly need no step. */
VfStatus vf_low_take_known(VfLower *cx, VfLowCall *call, bool *is_done, VfErr *err);
/* Compute the node now if its operands are known and small. */
VfStatus vf_low_fold(VfLower *cx, VfLowCall *call, bool *is_done, VfErr *err);
/* Compute a node with known operands. */
VfStatus vf_low_evaluate(VfArena *arena, const VfModel *model, const VfNode *node,
                         const VfTensor *const *in, const VfTensor **out, VfErr *err);
/* Note one node that cannot be lowered. */
VfStatus vf_low_note(VfLower *cx, const char *text, VfErr *err);
/* The graph attribute of a node, or NULL. */
const VfGraph *vf_low_body(const VfNode *node, const char *name);
/* Result `i` of a graph that was walked. */
VfStatus vf_low_body_result(VfLower *cx, const VfGraph *body, int32_t i, VfLowValue **out,
                            VfErr *err);

/* --- finishing --- */

/* Steps emitted from here on belong to `node`. */
VfStatus vf_low_open_node(VfLower *cx, const VfNode *node, VfErr *err);
/* Back to the node `outer`; the record is forgotten again if it got no step since `n_step`. */
VfStatus vf_low_close_node(VfLower *cx, const VfLowCall *call, int32_t outer, size_t n_step,
                           VfErr *err);
/* Copy the weights whose data is not aligned for its dtype, so that kernels may read all. */
VfStatus vf_low_align_weights(VfLower *cx, VfErr *err);
/* Lifetimes, sharing and offsets of the arena buffers. */
VfStatus vf_low_memory(VfLower *cx, VfPlan *plan, VfErr *err);
/* Move what was collected into the plan, with refs resolved. */
VfStatus vf_low_finish(VfLower *cx, VfPlan *plan, VfErr *err);

#endif
