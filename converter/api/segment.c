#include "converter/api/segment.h"

#include <string.h>

#include "passes/ir/walk.h"

/* Where values of the main graph are made and last read, by the place of the node among the main
 * graph's; inputs and constants are made at -1. */
typedef struct Places {
    int32_t *of_node; /* by node id */
    int32_t *last;    /* by value id: -1 never */
    const VfGraph *graph;
    int32_t at;       /* of the node that is looked at */
} Places;

typedef struct Cut {
    const VitfoldModel *model;
    const VitfoldData *in;
    const VfLowerOptions *options;
    VfSession *session;
    VfUnsupported *unsupported;
    Places places;
    bool *is_needed; /* by value id: contents decide the node at which the next segment begins */
    bool *is_read;   /* by value id: contents of inputs that decided a node so far */
} Cut;

/* --- which values go from one segment to the next --- */

static VfStatus note_reads(void *self, const VfNode *node, VfErr *err)
{
    Places *p = self;
    (void)err;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = node->in[i].value;
        if (value != NULL && value->graph == p->graph && p->last[value->id] < p->at)
            p->last[value->id] = p->at;
    }
    return VF_OK;
}

/* Of the node and of the graphs within it; a graph's results are read by its `ret`. */
static VfStatus each_read(const VfNode *node, VfNodeReader *visit, void *self, VfErr *err)
{
    VF_TRY(visit(self, node, err));
    for (const VfAttr *attr = node->first_attr; attr != NULL; attr = attr->next) {
        if (attr->type != VF_ATTR_GRAPH || attr->graph == NULL)
            continue;
        for (const VfNode *inner = attr->graph->first_node; inner != NULL; inner = inner->next)
            VF_TRY(each_read(inner, visit, self, err));
        VF_TRY(visit(self, attr->graph->ret, err));
    }
    return VF_OK;
}

static VfStatus find_places(Cut *cut, VfErr *err)
{
    const VfModel *ir = cut->model->ir;
    Places *p = &cut->places;
    VfArena *arena = cut->session->arena;
    p->graph = ir->graph;
    p->of_node = VF_NEW_ARRAY(arena, int32_t, (size_t)ir->n_node_id);
    p->last = VF_NEW_ARRAY(arena, int32_t, (size_t)ir->n_value_id);
    cut->is_needed = VF_NEW_ARRAY(arena, bool, (size_t)ir->n_value_id);
    VF_TRY_ALLOC(p->of_node, err);
    VF_TRY_ALLOC(p->last, err);
    cut->is_read = VF_NEW_ARRAY(arena, bool, (size_t)ir->n_value_id);
    VF_TRY_ALLOC(cut->is_needed, err);
    VF_TRY_ALLOC(cut->is_read, err);
    for (int32_t i = 0; i < ir->n_value_id; i++)
        p->last[i] = -1;
    for (const VfNode *node = ir->graph->first_node; node != NULL; node = node->next) {
        p->of_node[node->id] = p->at;
        VF_TRY(each_read(node, note_reads, p, err));
        p->at++;
    }
    p->at = INT32_MAX;
    for (int32_t i = 0; i < cut->options->n_keep; i++)
        p->last[cut->options->keep[i]->id] = p->at;
    return note_reads(p, ir->graph->ret, err);
}

static VfStatus note_need(void *self, const VfNode *node, VfErr *err)
{
    Cut *cut = self;
    (void)err;
    for (int32_t i = 0; i < node->n_in; i++) {
        const VfValue *value = node->in[i].value;
        if (value != NULL && value->graph == cut->places.graph)
            cut->is_needed[value->id] = cut->is_read[value->id] = true;
    }
    return VF_OK;
}

/* The values made in [begin, at) that are read from `at` on. */
static VfStatus find_kept(const Cut *cut, const VfNode *begin, const VfNode *at, VfValue ***keep,
                          int32_t *n, VfErr *err)
{
    int32_t end = cut->places.of_node[at->id];
    size_t capacity = 0;
    *keep = NULL;
    *n = 0;
    if (begin == NULL)
        begin = cut->places.graph->first_node;
    for (const VfNode *node = begin; node != at; node = node->next)
        for (int32_t i = 0; i < node->n_out; i++) {
            if (node->out[i] == NULL || cut->places.last[node->out[i]->id] < end)
                continue;
            VF_TRY(vf_arena_grow(cut->session->arena, (void **)keep, &capacity, (size_t)*n + 1,
                                 sizeof **keep, err));
            (*keep)[(*n)++] = node->out[i];
        }
    return VF_OK;
}

/* --- running a segment --- */

static VfStatus take_saved(VfSession *to, const VfSession *segment, VfErr *err)
{
    for (int32_t i = 0; i < segment->plan->n_saved; i++) {
        const VfPlanTensor *tensor = &segment->plan->saved[i];
        VfNamedArray *row;
        VF_TRY(vf_arena_grow(to->arena, (void **)&to->saved, &to->saved_capacity, to->n_saved + 1,
                             sizeof *to->saved, err));
        row = &to->saved[to->n_saved++];
        row->name = tensor->name;
        VF_TRY(vf_array_init(&row->array, to->arena, tensor->dtype, tensor->rank, tensor->dims,
                             NULL, err));
        row->array.data =
            vf_arena_copy(to->arena, vf_run_saved(segment->run, i), row->array.bytes);
        VF_TRY_ALLOC(row->array.data, err);
    }
    return VF_OK;
}

/* Strings lie in the plan of the segment, which goes. */
static VfStatus copy_strings(VfArena *arena, VfArray *array, VfErr *err)
{
    const VfBytes *from = array->data;
    VfBytes *to = VF_NEW_ARRAY(arena, VfBytes, array->count);
    VF_TRY_ALLOC(to, err);
    for (size_t i = 0; i < array->count; i++) {
        to[i] = (VfBytes){vf_arena_copy(arena, from[i].data, from[i].size), from[i].size};
        VF_TRY_ALLOC(to[i].data, err);
    }
    array->data = to;
    return VF_OK;
}

static VfStatus take_tensor(const VfSession *segment, int32_t output, VfBinding *binding,
                            VfErr *err)
{
    VfArray a;
    VfTensor *tensor = VF_NEW(segment->arena, VfTensor);
    VF_TRY_ALLOC(tensor, err);
    VF_TRY(vf_session_output(segment, output, &a, err));
    if (a.dtype == VF_STRING)
        VF_TRY(copy_strings(segment->arena, &a, err));
    *tensor = (VfTensor){a.dtype, a.rank, a.dims, a.count, a.bytes, a.data, VF_STORAGE_LENT};
    *binding = (VfBinding){.dtype = a.dtype, .rank = a.rank, .dims = a.dims, .value = tensor};
    return VF_OK;
}

static VfStatus take_result(const VfSession *segment, const VfPlanResult *result,
                            VfBinding *binding, VfErr *err)
{
    if (result->kind == VF_PLAN_TENSOR)
        return take_tensor(segment, result->first, binding, err);
    VfBinding *item = VF_NEW_ARRAY(segment->arena, VfBinding, (size_t)result->n);
    VF_TRY_ALLOC(item, err);
    for (int32_t i = 0; i < result->n; i++)
        VF_TRY(take_tensor(segment, result->first + i, &item[i], err));
    bool is_absent = result->kind == VF_PLAN_ABSENT;
    *binding = (VfBinding){.kind = is_absent ? VF_BINDING_ABSENT : VF_BINDING_SEQUENCE,
                           .n_item = result->n, .item = item};
    return VF_OK;
}

/* The results of the segment become given values. */
static VfStatus take_results(const Cut *cut, const VfSession *segment, VfValue *const *keep,
                             VfGiven *given, VfErr *err)
{
    for (int32_t i = 0; i < segment->plan->n_result; i++) {
        given[i] = (VfGiven){.value = keep[i], .is_known = cut->is_needed[keep[i]->id]};
        VF_TRY(take_result(segment, &segment->plan->result[i], &given[i].binding, err));
    }
    return VF_OK;
}

static VfStatus run_segment(const Cut *cut, VfSession *segment, VfValue *const *keep,
                            VfGiven *given, VfErr *err)
{
    VF_TRY(vf_session_ready(segment, cut->model->ir->graph, cut->in, err));
    VF_TRY(vf_session_run(segment, NULL, err));
    VF_TRY(take_saved(cut->session, segment, err));
    return take_results(cut, segment, keep, given, err);
}

static size_t binding_bytes(const VfBinding *b)
{
    size_t bytes = b->kind == VF_BINDING_TENSOR ? b->value->bytes : 0;
    for (int32_t i = 0; i < b->n_item; i++)
        bytes += binding_bytes(&b->item[i]);
    return bytes;
}

/* What segments have left: given values and what is saved of them. All of it is in memory. */
static size_t held_bytes(const VfSession *session)
{
    size_t bytes = 0;
    for (int32_t i = 0; i < session->n_given; i++)
        bytes += binding_bytes(&session->given[i].binding);
    for (size_t i = 0; i < session->n_saved; i++)
        bytes += session->saved[i].array.bytes;
    return bytes;
}

/* Run [begin, at) and put what is read later among the given values. */
static VfStatus add_segment(Cut *cut, const VfNode *begin, const VfNode *at, VfErr *err)
{
    VfSession *session = cut->session;
    VfSession segment = {.arena = session->arena, .pool = session->pool, .is_pool_lent = true,
                         .given = session->given, .n_given = session->n_given};
    VfLowerOptions options = *cut->options;
    VfValue **keep;
    int32_t n_old = 0, end = cut->places.of_node[at->id];
    options.begin = begin;
    options.end = at;
    options.lists = true;
    options.held_bytes = held_bytes(session);
    VF_TRY(find_kept(cut, begin, at, &keep, &options.n_keep, err));
    options.keep = keep;
    VfGiven *given = VF_NEW_ARRAY(session->arena, VfGiven,
                                  (size_t)session->n_given + (size_t)options.n_keep);
    VF_TRY_ALLOC(given, err);
    for (int32_t i = 0; i < session->n_given; i++)
        if (cut->places.last[session->given[i].value->id] >= end)
            given[n_old++] = session->given[i];
    for (int32_t i = 0; i < n_old; i++)
        given[i].is_known = cut->is_needed[given[i].value->id];
    VF_TRY(vf_session_lower(cut->model, cut->in, &options, cut->is_read, &segment, cut->unsupported,
                            err));
    VfStatus status = run_segment(cut, &segment, keep, given + n_old, err);
    if (segment.run != NULL)
        vf_run_free(segment.run);
    vf_plan_free(segment.plan);
    session->given = given;
    session->n_given = n_old + options.n_keep;
    session->n_segment++;
    return status;
}

/* --- cutting --- */

/* Is there something to be known that is not yet? */
static bool helps(const Cut *cut, const VfNode *begin)
{
    const VfGraph *graph = cut->places.graph;
    int32_t from = begin != NULL ? cut->places.of_node[begin->id] : 0;
    for (const VfValue *value = graph->first_value; value != NULL; value = value->next) {
        if (!cut->is_needed[value->id] || value->kind == VF_VALUE_CONST)
            continue;
        if (value->kind == VF_VALUE_INPUT || cut->places.of_node[value->def->id] >= from)
            return true;
        for (int32_t i = 0; i < cut->session->n_given; i++)
            if (cut->session->given[i].value == value && !cut->session->given[i].is_known)
                return true;
    }
    return false;
}

/* More contents help no more. Those that wait for some are told only if nothing else is at fault,
 * and of them the first, which no segment helps: what it lacks is made within the node `at`. */
static VfStatus tell(VfUnsupported *unsupported, const VfNode *at, VfErr *err)
{
    if (unsupported->n == 0)
        return VF_UNSUPPORTED;
    unsupported->n = unsupported->n_real > 0 ? unsupported->n_real : 1;
    vf_unsupported_fail(unsupported, err);
    if (unsupported->n_real > 0 || at == NULL || !vf_op_has(at->op, VF_OPF_CONTROL))
        return VF_UNSUPPORTED;
    VfErr why = *err;
    return vf_fail(err, VF_UNSUPPORTED, "%s; node '%s' around it cannot be run in parts", why.text,
                   vf_node_label(at));
}

VfStatus vf_segments_lower(const VitfoldModel *model, const VitfoldData *in,
                           const VfLowerOptions *options, const VfNode *first, VfSession *session,
                           VfUnsupported *unsupported, VfErr *err)
{
    Cut cut = {model, in, options, session, unsupported, {0}, NULL, NULL};
    const VfNode *begin = NULL, *at = first;
    VF_TRY(find_places(&cut, err));
    while (at != NULL && at != begin) {
        memset(cut.is_needed, 0, (size_t)model->ir->n_value_id * sizeof *cut.is_needed);
        VF_TRY(each_read(at, note_need, &cut, err));
        if (!helps(&cut, begin))
            break;
        VF_TRY(add_segment(&cut, begin, at, err));
        VfLowerOptions rest = *options;
        rest.begin = begin = at;
        rest.held_bytes = held_bytes(session);
        VfErr why;
        VfStatus status =
            vf_session_lower(model, in, &rest, cut.is_read, session, unsupported, &why);
        at = unsupported->first;
        if (status != VF_OK)
            *err = why;
        if (status != VF_UNSUPPORTED)
            return status;
    }
    return tell(unsupported, at, err);
}
