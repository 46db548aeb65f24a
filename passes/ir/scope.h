/* Which value a name means, while walking or reading nested graphs.
 *
 * A scope knows the innermost binding of each name; leaving a graph brings the outer ones
 * back. Every step costs time in proportion to the name (with its number: none; entering and
 * leaving: to the names bound in between). Everything lies in the arena given.
 */
#ifndef VF_IR_SCOPE_H
#define VF_IR_SCOPE_H

#include "passes/ir/graph.h"

/* What one name means at present. */
typedef struct VfScopeBinding {
    VfValue *value; /* NULL: the name means nothing here */
    int32_t level;
} VfScopeBinding;

typedef struct VfBound {
    int32_t name;
    VfScopeBinding outer; /* what the name meant before */
} VfBound;

typedef struct VfScope {
    VfArena *arena;
    VfIntern *name;
    VfScopeBinding *binding; /* by number of the name */
    VfBound *bound;     /* what to undo, in order of binding */
    size_t binding_capacity, n_bound, bound_capacity;
    int32_t level;
} VfScope;

/* An empty scope with a table of names of its own. */
VfStatus vf_scope_init(VfScope *scope, VfArena *arena, VfErr *err);

/* An empty scope over the names of `model`: values are bound by name_id. */
void vf_scope_init_model(VfScope *scope, VfArena *arena, const VfModel *model);

/* Begin a graph inside the present one. Give the result to vf_scope_leave at its end. */
size_t vf_scope_enter(VfScope *scope);
void vf_scope_leave(VfScope *scope, size_t mark);

/* Let `name` mean `value` until the present graph is left. `*earlier` (may be NULL) is the value
 * that the same graph bound to the name before, or NULL; the new binding then hides it. */
VfStatus vf_scope_bind(VfScope *scope, VfBytes name, VfValue *value, VfValue **earlier, VfErr *err);

VfStatus vf_scope_bind_id(VfScope *scope, int32_t name, VfValue *value, VfValue **earlier,
                          VfErr *err);

/* The innermost value named so, or NULL. */
VfValue *vf_scope_find(const VfScope *scope, VfBytes name);
VfValue *vf_scope_find_id(const VfScope *scope, int32_t name);

#endif
