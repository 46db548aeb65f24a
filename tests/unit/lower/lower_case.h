/* Models for tests of lowering, written as .vft.
 *
 * Every input has a default, which is given to the run as data, so that the plan cannot know it.
 * A constant called `want_` and the name of an output states what that output must be.
 */
#ifndef VF_TESTS_LOWER_CASE_H
#define VF_TESTS_LOWER_CASE_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converter/lower/lower.h"
#include "passes/ir/vft.h"
#include "runtime/exec/compare.h"
#include "runtime/exec/run.h"

typedef struct LowerCase {
    VfModel *model;
    VfArena *arena;
    VfPlan *plan;
    void **out; /* one buffer for each output, filled by the last run */
    VfErr err;
} LowerCase;

static inline void case_open(LowerCase *c, const char *text)
{
    *c = (LowerCase){.arena = vf_arena_new()};
    VfStatus status = vf_vft_parse(vf_bytes(text), "case", &c->model, &c->err);
    ck_assert_msg(status == VF_OK, "%s in\n%s", c->err.text, text);
}

/* Put the data of all constants of the main graph where files may have it: not aligned. */
static inline void case_misalign(LowerCase *c)
{
    for (VfValue *value = c->model->graph->first_value; value != NULL; value = value->next) {
        if (value->kind != VF_VALUE_CONST || value->tensor->dtype == VF_STRING)
            continue;
        VfTensor *moved = VF_NEW(c->arena, VfTensor);
        char *data = vf_arena_alloc(c->arena, value->tensor->bytes + 1);
        if (value->tensor->bytes > 0)
            memcpy(data + 1, value->tensor->data, value->tensor->bytes);
        *moved = *value->tensor;
        moved->data = data + 1;
        moved->storage = VF_STORAGE_LENT;
        value->tensor = moved;
    }
}

/* The binding of every input by its default; `with_values` lets the plan use the contents. */
static inline int32_t case_bind(const LowerCase *c, VfBinding *binding, bool with_values)
{
    const VfGraph *graph = c->model->graph;
    for (int32_t i = 0; i < graph->n_input; i++) {
        const VfTensor *t = graph->input[i]->tensor;
        ck_assert_ptr_nonnull(t);
        binding[i] = (VfBinding){graph->input[i]->name, t->dtype, t->rank, t->dims,
                                 with_values ? t : NULL};
    }
    return graph->n_input;
}

static inline VfStatus case_lower(LowerCase *c, VfLowerOptions options, bool with_values)
{
    VfBinding binding[16];
    int32_t n = case_bind(c, binding, with_values);
    return vf_lower(c->model, n, binding, &options, c->arena, &c->plan, NULL, &c->err);
}

/* Run the plan; inputs are copied so that a step that wrote into one would not go unseen. */
static inline void case_run(LowerCase *c, int32_t n_thread)
{
    const VfPlan *plan = c->plan;
    const void *in[16];
    VfPool *pool = vf_pool_new(n_thread);
    VfRun *run;
    ck_assert_ptr_nonnull(pool);
    ck_assert_msg(vf_run_new(plan, pool, &run, &c->err) == VF_OK, "%s", c->err.text);
    for (int32_t i = 0; i < plan->n_input; i++) {
        const VfValue *value = vf_graph_find_value(c->model->graph, plan->input[i].name, false);
        const void *data = value->tensor->count > 0 ? value->tensor->data : "";
        in[i] = vf_arena_copy(c->arena, data, plan->input[i].bytes);
    }
    c->out = vf_arena_alloc(c->arena, sizeof(void *) * (size_t)(plan->n_output + 1));
    for (int32_t i = 0; i < plan->n_output; i++) {
        c->out[i] = vf_arena_alloc(c->arena, plan->output[i].bytes + 64);
        memset(c->out[i], 0x5a, plan->output[i].bytes);
    }
    ck_assert_int_eq(vf_run(run, in, c->out, NULL, &c->err), VF_OK);
    for (int32_t i = 0; i < plan->n_input; i++) {
        const VfValue *value = vf_graph_find_value(c->model->graph, plan->input[i].name, false);
        if (plan->input[i].bytes > 0)
            ck_assert_mem_eq(in[i], value->tensor->data, plan->input[i].bytes);
    }
    vf_run_free(run);
    vf_pool_free(pool);
}

static inline void case_compare(LowerCase *c, const char *name)
{
    for (int32_t i = 0; i < c->plan->n_output; i++) {
        const VfPlanTensor *got = &c->plan->output[i];
        const char *key = vf_arena_printf(c->arena, "want_%s", got->name.data);
        VfValue *want = vf_graph_find_value(c->model->graph, vf_bytes(key), false);
        if (want == NULL)
            continue;
        const VfTensor *t = want->tensor;
        bool is_alike = got->dtype == t->dtype && got->rank == t->rank;
        for (int32_t k = 0; is_alike && k < t->rank; k++)
            is_alike = got->dims[k] == t->dims[k];
        ck_assert_msg(is_alike, "%s: '%s' has another dtype or shape", name, got->name.data);
        VfDistance d;
        ck_assert_int_eq(vf_compare(t->dtype, t->count, 0, c->out[i], t->data, &d, &c->err), VF_OK);
        double limit = vf_dtype_info(t->dtype)->is_float ? 2e-6 * fmax(1, d.max_abs_b) : 0;
        ck_assert_msg(d.max_abs <= limit && d.n_special_differ == 0, "%s: '%s' is off by %g", name,
                      got->name.data, d.max_abs);
    }
}

static inline void case_close(LowerCase *c)
{
    vf_plan_free(c->plan);
    vf_model_free(c->model);
    vf_arena_free(c->arena);
}

/* Lower, run and compare, with and without sharing of memory. */
static inline void case_check(const char *name, const char *text)
{
    for (int save_all = 0; save_all < 2; save_all++) {
        LowerCase c;
        case_open(&c, text);
        VfStatus status = case_lower(&c, (VfLowerOptions){.save_all = save_all != 0}, false);
        ck_assert_msg(status == VF_OK, "%s: %s", name, c.err.text);
        case_run(&c, 1);
        case_compare(&c, name);
        case_close(&c);
    }
}

#endif
