/* Nodes of one graph that need each other's results: no order of the nodes would mend them. */
#include "converter/onnx/reader.h"
#include "runtime/base/text.h"

enum { NODES_SHOWN = 8 };

typedef enum Mark { UNSEEN, ON_PATH, DONE } Mark;

/* A walk from results back to the nodes that give the operands, each node once. It groups the nodes
 * (Tarjan: a group is closed by the first of its nodes that the walk met), or notes the cycles. */
typedef struct Walk {
    VfReader *reader;
    const VfReaderGraph *level;
    const VfReaderMakers *makers;
    bool is_noting;
    Mark *mark;
    size_t *path;          /* nodes from the first on */
    size_t *slot;          /* by place on the path: the next operand */
    size_t length;
    size_t *number, *low;  /* by node: how many were met before it; the least that it leads to */
    size_t *open, n_open, n_met; /* nodes whose group is not closed, in the order they were met */
    size_t *noted;         /* by node: 1 + the last that closed a cycle from it on */
} Walk;

/* The path from node `first` on leads back to it. */
static VfStatus note_cycle(Walk *walk, size_t first)
{
    VfText text;
    VfBytes names;
    size_t begin = walk->length;
    while (begin > 0 && walk->path[begin - 1] != first)
        begin--;
    begin--;
    vf_text_init(&text, walk->reader->scratch);
    for (size_t i = walk->length; i > begin && walk->length - i < NODES_SHOWN; i--) {
        size_t at = walk->path[i - 1];
        const Onnx__NodeProto *node = walk->level->node[at];
        vf_text_printf(&text, "%s%s (%s)", i < walk->length ? ", " : "",
                       vf_reader_node(walk->reader, node, walk->level->id[at]),
                       vf_reader_show(walk->reader, node->op_type));
    }
    if (walk->length - begin > NODES_SHOWN)
        vf_text_printf(&text, " and %zu more", walk->length - begin - NODES_SHOWN);
    VF_TRY(vf_text_get(&text, &names, walk->reader->err));
    return vf_reader_fault(walk->reader, VF_INVALID, "nodes in a cycle, each needs the one before: "
                           "%s", names.data);
}

static void enter(Walk *walk, size_t at)
{
    walk->mark[at] = ON_PATH;
    walk->path[walk->length] = at;
    walk->slot[walk->length++] = 0;
    walk->number[at] = walk->low[at] = walk->n_met++;
    walk->open[walk->n_open++] = at;
}

static void lower(Walk *walk, size_t at, size_t low)
{
    if (low < walk->low[at])
        walk->low[at] = low;
}

static void leave(Walk *walk, size_t at)
{
    walk->mark[at] = DONE;
    walk->length--;
    if (walk->length > 0)
        lower(walk, walk->path[walk->length - 1], walk->low[at]);
    if (walk->low[at] < walk->number[at] || walk->is_noting)
        return;
    size_t last;
    do {
        last = walk->open[--walk->n_open];
        walk->makers->group[last] = at + 1;
    } while (last != at);
}

/* Step to the maker of the next operand of the last node of the path, or leave that node. */
static VfStatus step(Walk *walk)
{
    size_t at = walk->path[walk->length - 1];
    const Onnx__NodeProto *node = walk->level->node[at];
    size_t slot = walk->slot[walk->length - 1]++;
    if (slot >= node->n_input) {
        leave(walk, at);
        return VF_OK;
    }
    int32_t id = vf_intern_find(walk->makers->result, vf_proto_bytes(node->input[slot]));
    if (id < 0)
        return VF_OK;
    size_t maker = walk->makers->maker[id];
    if (walk->mark[maker] == UNSEEN) {
        enter(walk, maker);
        return VF_OK;
    }
    if (walk->makers->group[maker] == 0)
        lower(walk, at, walk->number[maker]);
    if (!walk->is_noting || walk->mark[maker] != ON_PATH || walk->noted[maker] == at + 1)
        return VF_OK;
    walk->noted[maker] = at + 1;
    return note_cycle(walk, maker);
}

static VfStatus walk_all(VfReader *reader, const VfReaderGraph *level,
                         const VfReaderMakers *makers, bool is_noting)
{
    size_t n = level->n_node, *room = VF_NEW_ARRAY(reader->scratch, size_t, 6 * n);
    Walk walk = {.reader = reader, .level = level, .makers = makers, .is_noting = is_noting,
                 .mark = VF_NEW_ARRAY(reader->scratch, Mark, n)};
    if (walk.mark == NULL || room == NULL)
        return vf_no_memory(reader->err);
    walk.path = room;
    walk.slot = room + n;
    walk.number = room + 2 * n;
    walk.low = room + 3 * n;
    walk.open = room + 4 * n;
    walk.noted = room + 5 * n;
    for (size_t i = 0; i < n; i++) {
        if (walk.mark[i] != UNSEEN)
            continue;
        enter(&walk, i);
        while (walk.length > 0)
            VF_TRY(step(&walk));
    }
    return VF_OK;
}

static VfStatus add_maker(VfReader *reader, VfReaderMakers *makers, size_t *capacity,
                          ProtobufCBinaryData result, size_t at)
{
    VfBytes name = vf_proto_bytes(result);
    int32_t id;
    if (name.size == 0 || vf_intern_find(makers->result, name) >= 0)
        return VF_OK;
    VF_TRY(vf_intern_add(makers->result, name, &id, reader->err));
    VF_TRY(vf_arena_grow(reader->scratch, (void **)&makers->maker, capacity, (size_t)id + 1,
                         sizeof *makers->maker, reader->err));
    makers->maker[id] = at;
    return VF_OK;
}

VfStatus vf_read_makers(VfReader *reader, VfReaderGraph *level)
{
    size_t capacity = 0;
    if (level->makers != NULL)
        return VF_OK;
    VfReaderMakers *makers = VF_NEW(reader->scratch, VfReaderMakers);
    VF_TRY_ALLOC(makers, reader->err);
    makers->result = vf_intern_new(reader->scratch);
    makers->group = VF_NEW_ARRAY(reader->scratch, size_t, level->n_node);
    if (makers->result == NULL || makers->group == NULL)
        return vf_no_memory(reader->err);
    for (size_t i = 0; i < level->n_node; i++) {
        const Onnx__NodeProto *node = level->node[i];
        for (size_t k = 0; k < node->n_output; k++)
            VF_TRY(add_maker(reader, makers, &capacity, node->output[k], i));
    }
    VF_TRY(walk_all(reader, level, makers, false));
    level->makers = makers;
    return VF_OK;
}

VfStatus vf_read_cycles(VfReader *reader, const VfReaderGraph *level)
{
    return walk_all(reader, level, level->makers, true);
}
