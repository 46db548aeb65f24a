/* Where the time goes: tables of operators and nodes, with what each reaches of the machine. */
#include <stdlib.h>

#include "converter/api/bench.h"

enum { MAX_NODES_SHOWN = 20 };

/* A row of either table. */
typedef struct Row {
    VfBenchCost cost;
    const VfPlanNode *node; /* of an operator: its first */
    int32_t n_node, order;
} Row;

static int by_time(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    if (x->cost.seconds > y->cost.seconds || x->cost.seconds < y->cost.seconds)
        return x->cost.seconds < y->cost.seconds ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

static void add_cost(VfBenchCost *sum, const VfBenchCost *cost)
{
    sum->seconds += cost->seconds;
    sum->flops += cost->flops;
    sum->bytes += cost->bytes;
}

static VfStatus node_rows(const VfBench *bench, const VfBenchSide *side, Row **rows, VfErr *err)
{
    const VfPlan *plan = side->session.plan;
    *rows = VF_NEW_ARRAY(bench->report->arena, Row, (size_t)plan->n_node + 1);
    VF_TRY_ALLOC(*rows, err);
    for (int32_t i = 0; i < plan->n_node; i++)
        (*rows)[i] = (Row){side->node[i], &plan->node[i], 1, i};
    return VF_OK;
}

static VfStatus operator_rows(const VfBench *bench, const VfBenchSide *side, Row **rows,
                              int32_t *n_row, VfErr *err)
{
    const VfPlan *plan = side->session.plan;
    VfArena *arena = bench->report->arena;
    VfIntern *names = vf_intern_new(arena);
    *rows = VF_NEW_ARRAY(arena, Row, (size_t)plan->n_node + 1);
    VF_TRY_ALLOC(names, err);
    VF_TRY_ALLOC(*rows, err);
    for (int32_t i = 0; i < plan->n_node; i++) {
        int32_t id;
        VF_TRY(vf_intern_add(names, vf_bytes(plan->node[i].op), &id, err));
        Row *row = &(*rows)[id];
        if (row->n_node++ == 0) {
            row->node = &plan->node[i];
            row->order = id;
        }
        add_cost(&row->cost, &side->node[i]);
    }
    *n_row = vf_intern_count(names);
    return VF_OK;
}

/* The part that both kinds of rows have, of one run. */
static void json_cost(const VfBench *bench, VfJson *json, const VfBenchCost *cost, double total)
{
    double n = (double)bench->n_repeat, seconds = cost->seconds > 0 ? cost->seconds : 1e-9;
    vf_json_double(json, "ms", 1e3 * cost->seconds / n);
    vf_json_double(json, "share", cost->seconds / total);
    vf_json_double(json, "flops", cost->flops / n);
    vf_json_double(json, "bytes", cost->bytes / n);
    vf_json_double(json, "gflops", 1e-9 * cost->flops / seconds);
    vf_json_double(json, "gbytes", 1e-9 * cost->bytes / seconds);
    vf_json_double(json, "share_of_sgemm", cost->flops / seconds / bench->peaks.sgemm_flops);
    vf_json_double(json, "share_of_memory", cost->bytes / seconds / bench->peaks.memory_bytes);
}

static void table_cost(const VfBench *bench, VfTable *table, const VfBenchCost *cost, double total)
{
    double seconds = cost->seconds > 0 ? cost->seconds : 1e-9;
    vf_table_printf(table, "%.3f", 1e3 * cost->seconds / (double)bench->n_repeat);
    vf_table_printf(table, "%.1f", 100 * cost->seconds / total);
    vf_table_printf(table, "%.2f", 1e-9 * cost->flops / seconds);
    vf_table_printf(table, "%.0f", 100 * cost->flops / seconds / bench->peaks.sgemm_flops);
    vf_table_printf(table, "%.2f", 1e-9 * cost->bytes / seconds);
    vf_table_printf(table, "%.0f", 100 * cost->bytes / seconds / bench->peaks.memory_bytes);
}

static void begin_table(VfTable *table, VfArena *arena, const char *align, const char *const *head)
{
    vf_table_init(table, arena, align);
    for (int i = 0; align[i] != '\0'; i++)
        vf_table_printf(table, "%s", head[i]);
}

static void print_operators(VfBench *bench, const Row *row, int32_t n, double total)
{
    static const char *const head[] = {"ms",   "%",           "GFLOP/s", "% of sgemm",
                                       "GB/s", "% of memory", "nodes",   "operator"};
    VfJson *json = &bench->report->json;
    VfTable table;
    begin_table(&table, bench->report->arena, "rrrrrrrl", head);
    vf_json_array(json, "operators");
    for (int32_t i = 0; i < n; i++) {
        vf_json_object_row(json, NULL);
        vf_json_string(json, "op", row[i].node->op);
        vf_json_int(json, "n", row[i].n_node);
        json_cost(bench, json, &row[i].cost, total);
        vf_json_end(json);
        table_cost(bench, &table, &row[i].cost, total);
        vf_table_printf(&table, "%d", row[i].n_node);
        vf_table_cell(&table, vf_bytes(row[i].node->op));
    }
    vf_json_end(json);
    vf_text_char(&bench->report->out, '\n');
    vf_table_print(&table, 0, &bench->report->out);
}

static void print_nodes(VfBench *bench, const Row *row, int32_t n, double total)
{
    static const char *const head[] = {"ms",          "%",        "GFLOP/s", "% of sgemm", "GB/s",
                                       "% of memory", "operator", "shapes",  "node"};
    VfJson *json = &bench->report->json;
    VfTable table;
    begin_table(&table, bench->report->arena, "rrrrrrlll", head);
    vf_json_array(json, "nodes");
    for (int32_t i = 0; i < n; i++) {
        const VfPlanNode *node = row[i].node;
        vf_json_object_row(json, NULL);
        vf_json_bytes(json, "name", node->name);
        vf_json_string(json, "op", node->op);
        vf_json_string(json, "shapes", node->shapes);
        json_cost(bench, json, &row[i].cost, total);
        vf_json_end(json);
        if (i >= MAX_NODES_SHOWN)
            continue;
        table_cost(bench, &table, &row[i].cost, total);
        vf_table_cell(&table, vf_bytes(node->op));
        vf_table_printf(&table, "%s", node->shapes == NULL ? "" : node->shapes);
        vf_table_cell(&table, node->name);
    }
    vf_json_end(json);
    vf_text_char(&bench->report->out, '\n');
    vf_table_print(&table, 0, &bench->report->out);
}

VfStatus vf_bench_profile(VfBench *bench, const VfBenchSide *side, VfErr *err)
{
    Row *node, *op;
    int32_t n = side->session.plan->n_node, n_op = 0;
    double total = 0;
    VF_TRY(node_rows(bench, side, &node, err));
    VF_TRY(operator_rows(bench, side, &op, &n_op, err));
    for (int32_t i = 0; i < n; i++)
        total += node[i].cost.seconds;
    qsort(node, (size_t)n, sizeof *node, by_time);
    qsort(op, (size_t)n_op, sizeof *op, by_time);
    print_operators(bench, op, n_op, total);
    print_nodes(bench, node, n, total);
    return VF_OK;
}
