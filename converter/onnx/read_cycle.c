/* Cycles among the nodes of a graph: no order of the nodes would mend them. */
#include "converter/onnx/reader.h"
#include "runtime/base/text.h"

enum { NODES_SHOWN = 8 };

typedef enum Mark { UNSEEN, ON_PATH, DONE } Mark;

/* A walk from results back to the nodes that give the operands. */
typedef struct Walk {
    VfReader *reader;
    size_t n;
    Onnx__NodeProto **node;
    VfIntern *result; /* names of results */
    size_t *maker;    /* by number of the name: the first node that gives it */
    Mark *mark;
    size_t *path;     /* nodes from the first on */
    size_t *slot;     /* by place on the path: the next operand */
} Walk;

static VfStatus find_makers(Walk *walk)
{
    size_t capacity = 0;
    walk->maker = NULL;
    for (size_t i = 0; i < walk->n; i++) {
        for (size_t k = 0; k < walk->node[i]->n_output; k++) {
            VfBytes name = vf_proto_bytes(walk->node[i]->output[k]);
            int32_t id;
            if (name.size == 0 || vf_intern_find(walk->result, name) >= 0)
                continue;
            VF_TRY(vf_intern_add(walk->result, name, &id, walk->reader->err));
            VF_TRY(vf_arena_grow(walk->reader->scratch, (void **)&walk->maker, &capacity,
                                 (size_t)id + 1, sizeof *walk->maker, walk->reader->err));
            walk->maker[id] = i;
        }
    }
    return VF_OK;
}

/* The path from node `first` on leads back to it. */
static VfStatus note_cycle(Walk *walk, size_t first, size_t length)
{
    VfText text;
    VfBytes names;
    size_t begin = length;
    while (begin > 0 && walk->path[begin - 1] != first)
        begin--;
    begin--;
    vf_text_init(&text, walk->reader->scratch);
    for (size_t i = length; i > begin && length - i < NODES_SHOWN; i--) {
        const Onnx__NodeProto *node = walk->node[walk->path[i - 1]];
        vf_text_printf(&text, "%s'%s' (%s)", i < length ? ", " : "",
                       vf_reader_show(walk->reader, node->name),
                       vf_reader_show(walk->reader, node->op_type));
    }
    if (length - begin > NODES_SHOWN)
        vf_text_printf(&text, " and %zu more", length - begin - NODES_SHOWN);
    VF_TRY(vf_text_get(&text, &names, walk->reader->err));
    return vf_reader_fault(walk->reader, VF_INVALID, "nodes in a cycle, each needs the one before: "
                           "%s", names.data);
}

/* Step to the maker of the next operand of the last node of the path, or leave that node. */
static VfStatus step(Walk *walk, size_t *length)
{
    size_t at = walk->path[*length - 1];
    const Onnx__NodeProto *node = walk->node[at];
    size_t slot = walk->slot[*length - 1]++;
    if (slot >= node->n_input) {
        walk->mark[at] = DONE;
        (*length)--;
        return VF_OK;
    }
    int32_t id = vf_intern_find(walk->result, vf_proto_bytes(node->input[slot]));
    if (id < 0)
        return VF_OK;
    size_t maker = walk->maker[id];
    if (walk->mark[maker] == ON_PATH)
        return note_cycle(walk, maker, *length);
    if (walk->mark[maker] == UNSEEN) {
        walk->mark[maker] = ON_PATH;
        walk->slot[*length] = 0;
        walk->path[(*length)++] = maker;
    }
    return VF_OK;
}

VfStatus vf_read_cycles(VfReader *reader, size_t n, Onnx__NodeProto **node)
{
    Walk walk = {.reader = reader, .n = n, .node = node};
    walk.result = vf_intern_new(reader->scratch);
    walk.mark = VF_NEW_ARRAY(reader->scratch, Mark, n);
    walk.path = VF_NEW_ARRAY(reader->scratch, size_t, n + 1);
    walk.slot = VF_NEW_ARRAY(reader->scratch, size_t, n + 1);
    if (walk.result == NULL || walk.mark == NULL || walk.path == NULL || walk.slot == NULL)
        return vf_no_memory(reader->err);
    VF_TRY(find_makers(&walk));
    for (size_t i = 0; i < n; i++) {
        size_t length = 1;
        if (walk.mark[i] != UNSEEN)
            continue;
        walk.mark[i] = ON_PATH;
        walk.path[0] = i;
        walk.slot[0] = 0;
        while (length > 0)
            VF_TRY(step(&walk, &length));
    }
    return VF_OK;
}
