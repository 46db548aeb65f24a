#include "passes/match/pattern.h"

#include <string.h>

/* The part of a match that a failed attempt takes back. */
typedef struct Mark {
    VfValue *slot[VF_PATTERN_SLOT_MAX];
    int32_t choice[VF_PATTERN_SLOT_MAX];
    int32_t n_node;
} Mark;

static void save(const VfMatch *match, Mark *mark)
{
    memcpy(mark->slot, match->slot, sizeof(mark->slot));
    memcpy(mark->choice, match->choice, sizeof(mark->choice));
    mark->n_node = match->n_node;
}

static void restore(VfMatch *match, const Mark *mark)
{
    memcpy(match->slot, mark->slot, sizeof(mark->slot));
    memcpy(match->choice, mark->choice, sizeof(mark->choice));
    match->n_node = mark->n_node;
}

/* Keep the failure that lies deepest; of equals the first. */
static bool fail(VfMatch *match, VfPatternFault fault, const VfPattern *pattern,
                 const VfValue *value, const VfNode *user)
{
    if (match->fault != VF_FAULT_NONE && match->fault_depth >= match->n_node)
        return false;
    match->fault = fault;
    match->fault_pattern = pattern;
    match->fault_value = value;
    match->fault_node = user;
    match->fault_depth = match->n_node;
    return false;
}

static bool match_value(VfMatch *match, const VfPattern *pattern, VfValue *value, VfNode *user);

static bool is_number(const VfTensor *tensor, double number)
{
    if (tensor == NULL || tensor->count == 0 || tensor->dtype == VF_STRING)
        return false;
    double first = vf_tensor_get_double(tensor, 0);
    if (tensor->count > 1 && !vf_tensor_is_all(tensor, first))
        return false;
    if (isnan(number))
        return true;
    return fabs(first - number) <= 1e-5 * fmax(fabs(number), 1e-30) || first == number;
}

static bool match_scalar(VfMatch *match, const VfPattern *pattern, VfValue *value, VfNode *user)
{
    const VfTensor *tensor = vf_value_const(value);
    if (tensor == NULL)
        return fail(match, VF_FAULT_CONST, pattern, value, user);
    if (!is_number(tensor, (double)NAN))
        return fail(match, VF_FAULT_SCALAR, pattern, value, user);
    if (!is_number(tensor, pattern->number))
        return fail(match, VF_FAULT_NUMBER, pattern, value, user);
    return true;
}

static bool match_operand(VfMatch *match, const VfPattern *pattern, VfNode *node, int32_t slot)
{
    if (pattern == NULL)
        return true;
    VfValue *value = vf_node_in(node, slot);
    if (value == NULL)
        return fail(match, VF_FAULT_ARITY, pattern, NULL, node);
    return match_value(match, pattern, value, node);
}

static bool match_operands(VfMatch *match, const VfPattern *pattern, VfNode *node, bool is_swapped)
{
    for (int32_t i = 0; i < pattern->n_in; i++) {
        int32_t from = is_swapped && i < 2 ? 1 - i : i;
        if (!match_operand(match, pattern->in[i], node, from))
            return false;
    }
    return true;
}

static bool has_arity(const VfPattern *pattern, const VfNode *node)
{
    int32_t n = node->n_in;
    while (n > 0 && node->in[n - 1].value == NULL)
        n--;
    if (pattern->is_exact)
        return n == pattern->n_in;
    for (int32_t i = n; i < pattern->n_in; i++) {
        if (pattern->in[i] != NULL)
            return false;
    }
    return true;
}

static bool match_op(VfMatch *match, const VfPattern *pattern, VfValue *value, VfNode *user)
{
    VfNode *node = value->def;
    if (value->kind != VF_VALUE_RESULT || node == NULL || node->op != pattern->op ||
        value->index != pattern->index)
        return fail(match, VF_FAULT_OP, pattern, value, user);
    VfNode *before = vf_match_node(match, pattern);
    if (before != NULL)
        return before == node || fail(match, VF_FAULT_SLOT, pattern, value, user);
    if (!has_arity(pattern, node))
        return fail(match, VF_FAULT_ARITY, pattern, value, user);
    if (match->n_node == VF_PATTERN_NODE_MAX)
        return fail(match, VF_FAULT_SIZE, pattern, value, user);
    match->node[match->n_node] = node;
    match->pattern[match->n_node] = pattern;
    match->n_node++;

    Mark mark;
    save(match, &mark);
    if (match_operands(match, pattern, node, false))
        return true;
    restore(match, &mark);
    if (pattern->n_in < 2 || !vf_op_has(node->op, VF_OPF_COMMUTATIVE))
        return false;
    return match_operands(match, pattern, node, true);
}

static bool match_alt(VfMatch *match, const VfPattern *pattern, VfValue *value, VfNode *user)
{
    Mark mark;
    save(match, &mark);
    for (int32_t i = 0; i < pattern->n_in; i++) {
        if (match_value(match, pattern->in[i], value, user)) {
            if (pattern->choice != 0)
                match->choice[pattern->choice] = i;
            return true;
        }
        restore(match, &mark);
    }
    return false;
}

static bool match_kind(VfMatch *match, const VfPattern *pattern, VfValue *value, VfNode *user)
{
    switch (pattern->kind) {
    case VF_PATTERN_ANY:
        return true;
    case VF_PATTERN_SCALAR:
        return match_scalar(match, pattern, value, user);
    case VF_PATTERN_CONST:
        return vf_value_const(value) != NULL || fail(match, VF_FAULT_CONST, pattern, value, user);
    case VF_PATTERN_OP:
        return match_op(match, pattern, value, user);
    case VF_PATTERN_ALT:
        return match_alt(match, pattern, value, user);
    }
    return false;
}

static bool match_value(VfMatch *match, const VfPattern *pattern, VfValue *value, VfNode *user)
{
    int32_t slot = pattern->slot;
    if (slot != 0 && match->slot[slot] != NULL && match->slot[slot] != value)
        return fail(match, VF_FAULT_SLOT, pattern, value, user);
    if (!match_kind(match, pattern, value, user))
        return false;
    if (slot != 0 && match->slot[slot] != NULL && match->slot[slot] != value)
        return fail(match, VF_FAULT_SLOT, pattern, value, user);
    if (slot != 0)
        match->slot[slot] = value;
    return true;
}

/* A result of matched node `i` (not the root's) that something unmatched reads; NULL if none. */
static const VfValue *used_outside(const VfMatch *match, int32_t i)
{
    const VfNode *node = match->node[i];
    for (int32_t r = 0; r < node->n_out; r++) {
        const VfValue *result = node->out[r];
        for (const VfUse *use = result ? result->first_use : NULL; use; use = use->next) {
            if (!vf_match_has(match, use->node))
                return result;
        }
    }
    return NULL;
}

bool vf_pattern_match_open(const VfPattern *pattern, VfValue *value, VfMatch *match)
{
    memset(match, 0, sizeof(*match));
    for (int32_t i = 0; i < VF_PATTERN_SLOT_MAX; i++)
        match->choice[i] = -1;
    if (value == NULL || !match_value(match, pattern, value, value->def))
        return false;
    match->fault = VF_FAULT_NONE;
    return true;
}

bool vf_pattern_match(const VfPattern *pattern, VfValue *value, VfMatch *match)
{
    if (!vf_pattern_match_open(pattern, value, match))
        return false;
    for (int32_t i = 0; i < match->n_node; i++) {
        if (match->node[i] == value->def || match->pattern[i]->is_open)
            continue;
        const VfValue *outside = used_outside(match, i);
        if (outside != NULL)
            return fail(match, VF_FAULT_OUTSIDE, match->pattern[i], outside, match->node[i]);
    }
    return true;
}

bool vf_match_has(const VfMatch *match, const VfNode *node)
{
    for (int32_t i = 0; i < match->n_node; i++) {
        if (match->node[i] == node)
            return true;
    }
    return false;
}

VfNode *vf_match_node(const VfMatch *match, const VfPattern *pattern)
{
    for (int32_t i = 0; i < match->n_node; i++) {
        if (match->pattern[i] == pattern)
            return match->node[i];
    }
    return NULL;
}

const char *vf_match_miss(VfArena *arena, const VfMatch *match)
{
    const char *value =
        match->fault_value ? vf_value_label(match->fault_value) : "an omitted operand";
    const char *node = match->fault_node ? vf_node_label(match->fault_node) : "the graph";
    const VfPattern *pattern = match->fault_pattern;
    switch (match->fault) {
    case VF_FAULT_NONE:
        return NULL;
    case VF_FAULT_OP: {
        const VfNode *def = match->fault_value ? match->fault_value->def : NULL;
        const char *is =
            def ? vf_arena_printf(arena, "made by '%s'", vf_node_label(def)) : "no node's result";
        return is ? vf_arena_printf(arena, "'%s' wants a %s where '%s' is %s", node,
                                    vf_op_info(pattern->op)->name, value, is)
                  : NULL;
    }
    case VF_FAULT_CONST:
        return vf_arena_printf(arena, "operand '%s' of '%s' is not constant", value, node);
    case VF_FAULT_SCALAR:
        return vf_arena_printf(arena, "operand '%s' of '%s' is not one number", value, node);
    case VF_FAULT_NUMBER:
        return vf_arena_printf(arena, "operand '%s' of '%s' is not %g", value, node,
                               pattern->number);
    case VF_FAULT_ARITY:
        return vf_arena_printf(arena, "'%s' has another number of operands than expected", node);
    case VF_FAULT_SLOT:
        return vf_arena_printf(arena, "'%s' reads '%s', another value than the rest of the site",
                               node, value);
    case VF_FAULT_OUTSIDE:
        return vf_arena_printf(arena, "'%s' inside the site is also used outside of it", value);
    case VF_FAULT_SIZE:
        return vf_arena_printf(arena, "the site at '%s' has too many nodes", node);
    }
    return NULL;
}
