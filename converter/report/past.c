#include "converter/report/past.h"

/* One move of an operand of some node, and the next of that node. */
typedef struct Step {
    const VfMove *move;
    int32_t edit;
    struct Step *next;
} Step;

struct VfPast {
    Step **first; /* by node id, in the order of the journal */
};

/* Moves are put in front, so the journal is read from its end. */
VfStatus vf_past_new(VfArena *arena, const VfJournal *journal, VfPast **result, VfErr *err)
{
    VfPast *past = VF_NEW(arena, VfPast);
    VF_TRY_ALLOC(past, err);
    past->first = VF_NEW_ARRAY(arena, Step *, (size_t)journal->model->n_node_id);
    VF_TRY_ALLOC(past->first, err);
    for (int32_t i = journal->n_edit - 1; i >= 0; i--) {
        const VfEdit *edit = &journal->edit[i];
        for (int32_t k = edit->n_move - 1; k >= 0; k--) {
            Step *step = VF_NEW(arena, Step);
            VF_TRY_ALLOC(step, err);
            int32_t id = edit->move[k].node->id;
            *step = (Step){&edit->move[k], i, past->first[id]};
            past->first[id] = step;
        }
    }
    *result = past;
    return VF_OK;
}

const VfValue *vf_past_in(const VfPast *past, const VfNode *node, int32_t slot, int32_t n_edit)
{
    for (const Step *step = past->first[node->id]; step != NULL; step = step->next)
        if (step->edit >= n_edit && step->move->slot == slot)
            return step->move->from;
    return vf_node_in(node, slot);
}

/* Operands appended since are omitted ones of then. */
VfStatus vf_past_node(VfArena *arena, const VfPast *past, const VfNode *node, int32_t n_edit,
                      VfNode *copy, VfErr *err)
{
    *copy = *node;
    if (past->first[node->id] == NULL)
        return VF_OK;
    copy->in = VF_NEW_ARRAY(arena, VfUse, (size_t)node->n_in);
    VF_TRY_ALLOC(copy->in, err);
    for (int32_t i = 0; i < node->n_in; i++)
        copy->in[i] = (VfUse){.node = copy, .slot = i,
                              .value = (VfValue *)vf_past_in(past, node, i, n_edit)};
    while (copy->n_in > 0 && copy->in[copy->n_in - 1].value == NULL)
        copy->n_in--;
    return VF_OK;
}
