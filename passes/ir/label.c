/* Labels of nodes and values for messages.
 *
 * Making one is no change of the model: threads that read one model may ask for labels at once, and
 * asking again takes no more memory. So labels are kept once each, in an arena of their own, behind
 * a lock.
 */
#include "passes/ir/label.h"

#include <sched.h>
#include <stdatomic.h>

#include "passes/ir/graph.h"
#include "runtime/base/intern.h"
#include "runtime/base/text.h"

struct VfLabels {
    VfArena *arena;
    atomic_flag is_locked;
    VfText text; /* the label being made; its memory is used again */
    VfIntern *made;
    bool has_failed;
};

VfLabels *vf_labels_new(void)
{
    VfArena *arena = vf_arena_new();
    VfLabels *labels = arena == NULL ? NULL : VF_NEW(arena, VfLabels);
    if (labels != NULL)
        *labels = (VfLabels){.arena = arena, .is_locked = ATOMIC_FLAG_INIT,
                             .made = vf_intern_new(arena)};
    if (labels == NULL || labels->made == NULL) {
        vf_arena_free(arena);
        return NULL;
    }
    vf_text_init(&labels->text, arena);
    return labels;
}

void vf_labels_free(VfLabels *labels)
{
    if (labels != NULL)
        vf_arena_free(labels->arena);
}

/* `name` made printable, or "prefix#id" when it is empty. */
static const char *make(VfLabels *labels, VfBytes name, VfBytes prefix, int32_t id)
{
    VfBytes label;
    int32_t number;
    labels->text.size = 0;
    vf_text_visible(&labels->text, name.size != 0 ? name : prefix);
    if (name.size == 0)
        vf_text_printf(&labels->text, "#%d", (int)id);
    if (vf_text_get(&labels->text, &label, NULL) != VF_OK ||
        vf_intern_add(labels->made, label, &number, NULL) != VF_OK) {
        labels->has_failed = true;
        vf_text_init(&labels->text, labels->arena);
        return "?";
    }
    return vf_intern_get(labels->made, number).data;
}

static void lock(VfLabels *labels)
{
    while (atomic_flag_test_and_set_explicit(&labels->is_locked, memory_order_acquire))
        sched_yield();
}

static void unlock(VfLabels *labels)
{
    atomic_flag_clear_explicit(&labels->is_locked, memory_order_release);
}

static const char *label_of(VfLabels *labels, VfBytes name, VfBytes prefix, int32_t id)
{
    lock(labels);
    const char *label = make(labels, name, prefix, id);
    unlock(labels);
    return label;
}

VfStatus vf_labels_check(VfLabels *labels, VfErr *err)
{
    lock(labels);
    bool has_failed = labels->has_failed;
    unlock(labels);
    return has_failed ? vf_no_memory(err) : VF_OK;
}

const char *vf_node_label(const VfNode *node)
{
    return label_of(node->graph->model->labels, node->name, node->op_type, node->id);
}

const char *vf_value_label(const VfValue *value)
{
    return label_of(value->graph->model->labels, value->name, vf_bytes("value"), value->id);
}
