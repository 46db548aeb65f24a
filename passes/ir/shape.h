/* Types with symbolic dimensions.
 *
 * A dimension is a monomial: `k` times a symbol. The symbol is interned in the model's
 * VfSymbols: id 0 is the number one, so {197, 0} is 197; {12, batch} is 12*batch;
 * VF_SYM_UNKNOWN says nothing is known. Products of symbols ("batch*heads") and results of
 * divisions that do not come out even ("(height+31)/32") are interned as further symbols under
 * a canonical text, so equal expressions made in equal ways have equal ids.
 */
#ifndef VF_IR_SHAPE_H
#define VF_IR_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/base/arena.h"
#include "runtime/base/bytes.h"
#include "runtime/kernels/dtype.h"

enum { VF_SYM_ONE = 0, VF_SYM_UNKNOWN = -1 };

typedef struct VfDim {
    int64_t k;   /* factor; >= 0 as a dimension; any integer as the content of a shape tensor */
    int32_t
        sym; /* VF_SYM_ONE for a plain number, VF_SYM_UNKNOWN when nothing is known (k is 1 then) */
} VfDim;

typedef enum VfTypeKind {
    VF_TYPE_TENSOR,
    VF_TYPE_SEQUENCE, /* of tensors of dtype and shape */
    VF_TYPE_OPTIONAL, /* of a tensor of dtype and shape */
    VF_TYPE_OTHER     /* map, sparse tensor, opaque, nested: kept only as `raw` */
} VfTypeKind;

enum { VF_RANK_UNKNOWN = -1 };

typedef struct VfType {
    VfTypeKind kind;
    VfDtype dtype;    /* VF_UNDEFINED when not known */
    int32_t rank;     /* VF_RANK_UNKNOWN, or the number of dims */
    const VfDim *dims; /* rank entries in the model's arena; NULL when rank <= 0 */
} VfType;

typedef struct VfSymbols VfSymbols;

/* A new table in `arena`, or NULL. */
VfSymbols *vf_symbols_new(VfArena *arena);

/* The symbol named `name` (as dim_param spells it), made if new. VF_SYM_UNKNOWN when out of memory.
 */
int32_t vf_symbol_intern(VfSymbols *symbols, VfBytes name);

/* The dim that `text` (a dim_param) spells: "12*batch" is {12, batch}, as vf_dim_text writes it;
 * any text not in that form is a symbol of its own. Unknown for "" and when out of memory. */
VfDim vf_dim_from_text(VfSymbols *symbols, VfBytes text);

/* The text of a symbol; "1" for VF_SYM_ONE, "?" for VF_SYM_UNKNOWN. */
VfBytes vf_symbol_text(const VfSymbols *symbols, int32_t sym);

static inline VfDim vf_dim(int64_t n) { return (VfDim){n, VF_SYM_ONE}; }
static inline VfDim vf_dim_unknown(void) { return (VfDim){1, VF_SYM_UNKNOWN}; }
static inline bool vf_dim_is_known(VfDim d) { return d.sym == VF_SYM_ONE || d.k == 0; }
static inline bool vf_dim_is(VfDim d, int64_t n) { return vf_dim_is_known(d) && d.k == n; }
/* Provably equal: unknown equals nothing, not even itself. */
static inline bool vf_dim_is_same(VfDim a, VfDim b)
{
    return a.k == b.k && (a.k == 0 || (a.sym == b.sym && a.sym != VF_SYM_UNKNOWN));
}

/* a*b, a+b, a-b, a/b rounded down. Unknown, or overflow, gives unknown; sums and
 * quotients that are no monomials give an interned expression. */
VfDim vf_dim_mul(VfSymbols *symbols, VfDim a, VfDim b);
VfDim vf_dim_add(VfSymbols *symbols, VfDim a, VfDim b);
VfDim vf_dim_sub(VfSymbols *symbols, VfDim a, VfDim b);
VfDim vf_dim_div(VfSymbols *symbols, VfDim a, VfDim b);

/* Write `d` as text: "197", "batch", "12*batch", "?". In `arena`; NULL when out of memory. */
const char *vf_dim_text(VfArena *arena, const VfSymbols *symbols, VfDim d);

/* "f32[batch, 197, 192]", "f32[...]" for unknown rank, "seq(f32[...])". In `arena`; NULL when out
 * of memory. */
const char *vf_type_text(VfArena *arena, const VfSymbols *symbols, const VfType *type);

/* Same kind and no provable contradiction of dtype, rank or dims. A type of which neither dtype nor
 * rank is known contradicts nothing. */
bool vf_type_is_compatible(const VfType *a, const VfType *b);

/* Are kind, dtype, rank and dims the same? Two unknown dims count as the same. */
bool vf_type_is_equal(const VfType *a, const VfType *b);

/* All dims plain numbers. */
bool vf_type_is_static(const VfType *type);

/* Known ranks and provably the same dims, whatever the dtypes. */
bool vf_type_has_same_dims(const VfType *a, const VfType *b);

#endif
