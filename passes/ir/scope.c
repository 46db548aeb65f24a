#include "passes/ir/scope.h"

VfStatus vf_scope_init(VfScope *scope, VfArena *arena, VfErr *err)
{
    *scope = (VfScope){.arena = arena, .name = vf_intern_new(arena)};
    VF_TRY_ALLOC(scope->name, err);
    return VF_OK;
}

size_t vf_scope_enter(VfScope *scope)
{
    scope->level++;
    return scope->n_bound;
}

void vf_scope_leave(VfScope *scope, size_t mark)
{
    while (scope->n_bound > mark) {
        const VfBound *bound = &scope->bound[--scope->n_bound];
        scope->binding[bound->name] = bound->outer;
    }
    scope->level--;
}

VfStatus vf_scope_bind(VfScope *scope, VfBytes name, VfValue *value, VfValue **earlier, VfErr *err)
{
    int32_t id;
    VF_TRY(vf_intern_add(scope->name, name, &id, err));
    VF_TRY(vf_arena_grow(scope->arena, (void **)&scope->binding, &scope->binding_capacity,
                         (size_t)id + 1, sizeof *scope->binding, err));
    VF_TRY(vf_arena_grow(scope->arena, (void **)&scope->bound, &scope->bound_capacity,
                         scope->n_bound + 1, sizeof *scope->bound, err));
    VfScopeBinding *binding = &scope->binding[id];
    if (earlier != NULL)
        *earlier = binding->value != NULL && binding->level == scope->level ? binding->value : NULL;
    scope->bound[scope->n_bound++] = (VfBound){id, *binding};
    *binding = (VfScopeBinding){value, scope->level};
    return VF_OK;
}

VfValue *vf_scope_find(const VfScope *scope, VfBytes name)
{
    int32_t id = vf_intern_find(scope->name, name);
    return id < 0 || (size_t)id >= scope->binding_capacity ? NULL : scope->binding[id].value;
}
