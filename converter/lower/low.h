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
    const void *known; /* contents of an input that the plan may depend on, else NULL */
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

/* A node that cannot be lowered. */
typedef struct VfLowNote {
    const char *text;
    bool waits; /* with contents that are not known it might be */
} VfLowNote;

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

    size_t n_item;         /* of all sequences that nodes made */
    size_t computed_bytes; /* of tensors computed as the plan is made */
    bool lacks_room;       /* more were not allowed */
    VfArena *report_arena; /* of the texts below */
    struct VfIntern *noted; /* the texts of `unsupported`, by their numbers */
    VfLowNote *unsupported;
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
    bool *waits; /* set with a refusal for contents that are not known */
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
/* Elements up to which nodes of a body that may depend on data must be computed now; else 0. Nodes
 * of the main graph run in a segment before those that need their contents. */
size_t vf_low_fold_max(const VfLower *cx);
/* Whether the plan may hold so many bytes more that are computed as it is made: they are counted.
 * If not, and something cannot be lowered, memory is what lacks. */
bool vf_low_may_compute(VfLower *cx, size_t bytes);
/* In such a body: a small tensor that lies in what is known, as a slice
 * of it does, is known too. So are such items of a sequence. */
VfStatus vf_low_settle(VfLower *cx, VfLowValue **value, VfErr *err);
/* Compute the node now if its operands are known and small. */
VfStatus vf_low_fold(VfLower *cx, VfLowCall *call, bool *is_done, VfErr *err);
/* Compute a node with known operands. */
VfStatus vf_low_evaluate(VfArena *arena, const VfModel *model, const VfNode *node,
                         const VfTensor *const *in, const VfTensor **out, VfErr *err);
/* Note one node that cannot be lowered; `waits` as in VfLowNote. */
VfStatus vf_low_note(VfLower *cx, const char *text, bool waits, VfErr *err);
/* The graph attribute of a node, or NULL. */
const VfGraph *vf_low_body(const VfNode *node, const char *name);
/* Result `i` of a graph that was walked. */
VfStatus vf_low_body_result(VfLower *cx, const VfGraph *body, int32_t i, VfLowValue **out,
                            VfErr *err);

/* --- steps of a node, memory --- */

/* Steps emitted from here on belong to `node`. */
VfStatus vf_low_open_node(VfLower *cx, const VfNode *node, VfErr *err);
/* Back to the node `outer`; the record is forgotten again if it got no step since `n_step`. */
VfStatus vf_low_close_node(VfLower *cx, const VfLowCall *call, int32_t outer, size_t n_step,
                           VfErr *err);
/* VF_NO_MEMORY: these bytes and those that are held are more than the options allow. */
VfStatus vf_low_allow(const VfLower *cx, size_t bytes, VfErr *err);

#endif
