#include "passes/ir/scope.h"

VfStatus vf_scope_init(VfScope *scope, VfArena *arena, VfErr *err)
{
    *scope = (VfScope){.arena = arena, .name = vf_intern_new(arena)};
    VF_TRY_ALLOC(scope->name, err);
    return VF_OK;
}

void vf_scope_init_model(VfScope *scope, VfArena *arena, const VfModel *model)
{
    *scope = (VfScope){.arena = arena, .name = model->name};
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
    return vf_scope_bind_id(scope, id, value, earlier, err);
}

VfStatus vf_scope_bind_id(VfScope *scope, int32_t name, VfValue *value, VfValue **earlier,
                          VfErr *err)
{
    VF_TRY(vf_arena_grow(scope->arena, (void **)&scope->binding, &scope->binding_capacity,
                         (size_t)vf_intern_count(scope->name), sizeof *scope->binding, err));
    VF_TRY(vf_arena_grow(scope->arena, (void **)&scope->bound, &scope->bound_capacity,
                         scope->n_bound + 1, sizeof *scope->bound, err));
    VfScopeBinding *binding = &scope->binding[name];
    if (earlier != NULL)
        *earlier = binding->value != NULL && binding->level == scope->level ? binding->value : NULL;
    scope->bound[scope->n_bound++] = (VfBound){name, *binding};
    *binding = (VfScopeBinding){value, scope->level};
    return VF_OK;
}

VfValue *vf_scope_find(const VfScope *scope, VfBytes name)
{
    return vf_scope_find_id(scope, vf_intern_find(scope->name, name));
}

VfValue *vf_scope_find_id(const VfScope *scope, int32_t name)
{
    bool is_bound = name >= 0 && (size_t)name < scope->binding_capacity;
    return is_bound ? scope->binding[name].value : NULL;
}
