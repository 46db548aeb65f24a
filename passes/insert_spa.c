/* insert-spa: attention that keeps signals apart in deep stacks without skips.
 *
 * Before     O = softmax(S) V, or c h(S) V with c = gain / L^alpha
 * After      O = D (softmax(S + B) V), D softmax(B) = A_l at logits of zero. Without softmax:
 *            additive c h(S + B_h), c h(B_h) = A_l; multiplicative A_l ⊙ h(1 + S), h(1) = 1; split
 *            A_l V + c h(S) V. skipinit: alpha V + beta O; shaped: alpha V + beta O - center C V, C
 *            being the weights at logits of zero
 * Why valid  it is another function: the network has to be trained again. With zero logits the
 *            kernel of the tokens runs through the chosen targets; tau = 0 is the old network
 * Requires   queries and keys of one token set; a fixed number of tokens, or a causal mask and
 *            max-tokens. Causal masks are read from the graph
 * Exactness  VF_RETRAINED
 * Source     He et al., ICLR 2023 (arXiv 2302.10322); shaped: arXiv 2311.01906; spec of the
 *            conversion passes, sections 4.1 to 4.9
 * Limits     cross and linear attention are refused; so are weights that meet two sets of values
 *            where more than logits changes, and weights of a function without their factor
 *            1/L^alpha, which may lie elsewhere. Subgraphs are left alone; masked rows are
 *            renormalised, so that the kernel is exact only where nothing but a causal mask is.
 *            Layers are counted among the selected sites that can be changed, over equal tokens
 */
#include <stdlib.h>
#include <string.h>

#include "passes/grid_option.h"
#include "passes/spa_insert/spa_insert.h"

#define FIELD(name) .offset = offsetof(VfSpaOptions, name)

static const VfOption option[] = {
    {.name = "kernel",
     .help = "target of the token kernel: exponential (causal; s: line, g: grid, r: grid with "
             "prefix), uniform (u-causal, u), or no kernel but values added (skipinit, shaped); "
             "auto: causal, r, g, s or u, as mask and grid say. The layers of a stack are its "
             "selected sites",
     .type = VF_OPTION_CHOICE,
     FIELD(kernel),
     .def = "auto",
     .choices = "auto|causal|s|g|r|u-causal|u|skipinit|shaped"},
    {.name = "tau",
     .help = "strength from 0 (the old network) to 1; has to be given with a kernel",
     .type = VF_OPTION_STRING,
     FIELD(tau)},
    {.name = "form",
     .help = "attention without a softmax takes the kernel up in its logits (additive), as factor "
             "of relu(1 + logits) (multiplicative) or beside it (split)",
     .type = VF_OPTION_CHOICE,
     FIELD(form),
     .def = "additive",
     .choices = "additive|multiplicative|split"},
    {.name = "gamma",
     .help = "decay of the last layer's exponential kernel; 0: from rho-bar",
     .type = VF_OPTION_DOUBLE,
     FIELD(gamma),
     .def = "0",
     .min = 0,
     .max = 1000},
    {.name = "rho",
     .help = "correlation of the last layer's uniform kernel; 0: rho-bar",
     .type = VF_OPTION_DOUBLE,
     FIELD(rho),
     .def = "0",
     .min = 0,
     .max = 0.999999},
    {.name = "rho-bar",
     .help = "mean of the last layer's kernel off its diagonal",
     .type = VF_OPTION_DOUBLE,
     FIELD(rho_bar),
     .def = "0.5",
     .min = 0.000001,
     .max = 0.999999},
    {.name = "delta",
     .help = "least share of a row's largest entry",
     .type = VF_OPTION_DOUBLE,
     FIELD(delta),
     .def = "1e-12",
     .min = 1e-30,
     .max = 0.1},
    {.name = "w",
     .help = "kernel r: weight between prefix and grid tokens; 0: 1/sqrt(grid tokens)",
     .type = VF_OPTION_DOUBLE,
     FIELD(link),
     .def = "0",
     .min = 0,
     .max = 1000},
    {.name = "unit-diag",
     .help = "kernel r: diagonal 1 of every kernel; off: one row factor for all rows",
     .type = VF_OPTION_CHOICE,
     FIELD(unit_diag),
     .def = "on",
     .choices = "off|on"},
    {.name = "fold",
     .help = "row factors that are one number (kernel u; r with unit-diag=off) go into the weights "
             "behind, where they can (on), or stay a Mul (off)",
     .type = VF_OPTION_CHOICE,
     FIELD(fold),
     .def = "off",
     .choices = "off|on"},
    {.name = "max-tokens",
     .help = "causal: largest number of tokens, where that depends on the input",
     .type = VF_OPTION_INT,
     FIELD(max_tokens),
     .def = "0",
     .min = 0,
     .max = 4096},
    VF_GRID_OPTION_ROWS(VfSpaOptions),
    {.name = "alpha",
     .help = "skipinit, shaped: factor of the values; 1 to train from scratch",
     .type = VF_OPTION_DOUBLE,
     FIELD(alpha),
     .def = "0",
     .min = -100,
     .max = 100},
    {.name = "beta",
     .help = "skipinit, shaped: factor of attention; from scratch 0 with skipinit",
     .type = VF_OPTION_DOUBLE,
     FIELD(beta),
     .def = "1",
     .min = -100,
     .max = 100},
    {.name = "center",
     .help = "shaped: factor of the mean value taken away; 1 to train from scratch",
     .type = VF_OPTION_DOUBLE,
     FIELD(center),
     .def = "0",
     .min = -100,
     .max = 100},
    {0},
};

static VfStatus read_options(VfSpaPlan *plan, VfErr *err)
{
    const VfSpaOptions *options = plan->options;
    char *end;
    VF_TRY(vf_grid_options_check(options->grid, options->prefix, err));
    if (options->kernel >= VF_SPA_KERNEL_COUNT)
        return VF_OK;
    if (options->tau == NULL)
        return vf_fail(err, VF_USAGE,
                       "option 'tau' has to be given: 0 is the old network, 1 the full bias");
    plan->tau = strtod(options->tau, &end);
    if (end == options->tau || *end != '\0' || !(plan->tau >= 0.0 && plan->tau <= 1.0))
        return vf_fail(err, VF_USAGE, "option 'tau': '%s' is no number from 0 to 1", options->tau);
    return VF_OK;
}

/* --- sites --- */

static VfStatus select_sites(VfSpaPlan *plan, const VfAttentions *found, VfErr *err)
{
    VfPassCx *cx = plan->cx;
    plan->site = vf_arena_alloc(cx->arena, ((size_t)found->n_site + 1) * sizeof *plan->site);
    VF_TRY_ALLOC(plan->site, err);
    for (int32_t i = 0; i < found->n_site; i++) {
        const VfAttention *site = &found->site[i];
        VfSiteFacts facts = {site->index, site->label, site->is_window};
        bool selected = false;
        VF_TRY(vf_sites_select(&cx->sites, &facts, &selected, err));
        if (!selected || !site->norm_node->is_linked)
            continue;
        VfSpaSite *work = &plan->site[plan->n_site++];
        *work = (VfSpaSite){.site = site};
        vf_spa_look_at(plan, work);
    }
    return VF_OK;
}

static VfStatus visit(VfSpaPlan *plan, VfSpaSite *work, VfErr *err)
{
    const VfAttention *site = work->site;
    const char *why = work->why;
    bool is_kernel = plan->options->kernel < VF_SPA_KERNEL_COUNT;
    bool is_pointwise = site->kind == VF_ATTENTION_POINTWISE;
    if (why == NULL && is_kernel) {
        VF_TRY(vf_spa_build(plan, work->group, err));
        why = work->group->why;
    }
    if (why == NULL && is_kernel && is_pointwise)
        VF_TRY(vf_spa_why_not_form(plan, work, &why, err));
    if (why != NULL)
        return vf_pass_refuse(plan->cx, site->label, site->norm_node, err, "%s", why);
    if (!is_kernel)
        return vf_spa_insert_values(plan, work, err);
    return is_pointwise ? vf_spa_insert_pointwise(plan, work, err)
                        : vf_spa_insert(plan, work, err);
}

static VfStatus run(VfPassCx *cx, VfErr *err)
{
    VfAttentions found;
    VfSpaPlan plan = {.cx = cx, .options = cx->options};
    VF_TRY(read_options(&plan, err));
    VF_TRY(vf_find_attention(cx->arena, cx->model, &found, err));
    VF_TRY(select_sites(&plan, &found, err));
    VF_TRY(vf_spa_group_sites(&plan, err));
    for (int32_t i = 0; i < plan.n_site && vf_pass_may_edit(cx); i++)
        VF_TRY(visit(&plan, &plan.site[i], err));
    return VF_OK;
}

const VfPass vf_pass_insert_spa = {
    .name = "insert-spa",
    .summary = "bias and row factors that keep token signals apart in deep attention",
    .source = "He et al., ICLR 2023 (arXiv 2302.10322); arXiv 2311.01906",
    .exactness = VF_RETRAINED,
    .option = option,
    .n_option = sizeof option / sizeof option[0] - 1,
    .options_bytes = sizeof(VfSpaOptions),
    .run = run,
};
