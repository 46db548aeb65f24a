/* Activations written out in pieces become one step.
 *
 * Before    any steps that compute plain(x) + times(x) * f(arg(x)) element by element with f one
 *           of erf, tanh, sigmoid, hard_sigmoid, clip, and plain, times, arg polynomials in x
 *           with numbers as coefficients: in whatever order and association they were written
 * After     one step of gelu, gelu_tanh, silu or hard_swish
 * Why valid the coefficients are those of the activation, so it is the same function of x
 * Requires  f32 or f64; nobody else reads the values in between; x is contiguous
 * Exactness rounding: the kernel of the activation rounds otherwise than the pieces (map.h states
 *           its error). Coefficients may be off by 1e-6 of their value, as text prints them.
 * Limits    x may be any value in between only if its own pieces are polynomials up to degree 3
 */
#include "converter/lower/fuse.h"

#include <math.h>
#include <string.h>

#include "converter/lower/ops.h"
#include "runtime/kernels/binary.h"
#include "runtime/kernels/map.h"

enum {
    DEGREE = 3,
    MAX_PIECES = 16, /* steps of one activation */
    MAX_BASES = 16   /* values tried as x */
};

typedef struct Poly {
    double c[DEGREE + 1]; /* of x^0, x^1, ... */
} Poly;

/* plain(x) + times(x) * f */
typedef struct Form {
    Poly plain, times;
} Form;

typedef struct Search {
    const VfFuse *fuse;
    int32_t inner; /* the step of f */
    VfLowRef base; /* x */
    int64_t n;     /* elements */
    VfDtype dtype;
    int32_t n_step;
    int32_t step[MAX_PIECES]; /* that were read */
    Form form[MAX_PIECES];    /* what they compute */
} Search;

/* --- polynomials --- */

static bool multiply(const Poly *a, const Poly *b, Poly *out)
{
    *out = (Poly){{0}};
    for (int i = 0; i <= DEGREE; i++)
        for (int k = 0; k <= DEGREE; k++) {
            double product = a->c[i] * b->c[k];
            if (i + k > DEGREE && product != 0)
                return false;
            if (i + k <= DEGREE)
                out->c[i + k] += product;
        }
    return true;
}

static Poly sum(const Poly *a, const Poly *b, double sign)
{
    Poly out;
    for (int i = 0; i <= DEGREE; i++)
        out.c[i] = a->c[i] + sign * b->c[i];
    return out;
}

static bool is_zero(const Poly *a)
{
    for (int i = 0; i <= DEGREE; i++)
        if (a->c[i] != 0)
            return false;
    return true;
}

static bool is_near(const Poly *a, const Poly *b)
{
    for (int i = 0; i <= DEGREE; i++)
        if (!(fabs(a->c[i] - b->c[i]) <= 1e-6 * fabs(b->c[i])))
            return false;
    return true;
}

static bool is_number(const Form *form)
{
    for (int i = 1; i <= DEGREE; i++)
        if (form->plain.c[i] != 0)
            return false;
    return is_zero(&form->times);
}

/* --- what the pieces compute --- */

static bool add_forms(const Form *a, const Form *b, Form *out)
{
    *out = (Form){sum(&a->plain, &b->plain, 1), sum(&a->times, &b->times, 1)};
    return true;
}

static bool sub_forms(const Form *a, const Form *b, Form *out)
{
    *out = (Form){sum(&a->plain, &b->plain, -1), sum(&a->times, &b->times, -1)};
    return true;
}

static bool mul_forms(const Form *a, const Form *b, Form *out)
{
    Poly left, right;
    if (!is_zero(&a->times) && !is_zero(&b->times))
        return false;
    if (!multiply(&a->plain, &b->plain, &out->plain) ||
        !multiply(&a->times, &b->plain, &left) || !multiply(&a->plain, &b->times, &right))
        return false;
    out->times = sum(&left, &right, 1);
    return true;
}

static bool div_forms(const Form *a, const Form *b, Form *out)
{
    if (!is_number(b) || b->plain.c[0] == 0)
        return false;
    Form inverse = {{{1 / b->plain.c[0]}}, {{0}}};
    return mul_forms(a, &inverse, out);
}

static bool pow_forms(const Form *a, const Form *b, Form *out)
{
    double power = b->plain.c[0];
    if (!is_number(b) || (power != 2 && power != 3) || !mul_forms(a, a, out))
        return false;
    Form square = *out;
    return power == 2 || mul_forms(&square, a, out);
}

typedef struct Piece {
    const char *op;
    bool (*combine)(const Form *a, const Form *b, Form *out);
} Piece;

static const Piece piece_table[] = {{"add", add_forms}, {"sub", sub_forms}, {"mul", mul_forms},
                                    {"div", div_forms}, {"pow", pow_forms}};

static bool read_value(Search *search, VfLowRef ref, Form *out);

/* An operand of a binary step: all elements in order, or one number for all. */
static bool read_operand(Search *search, VfLowRef ref, const VfkBinaryParams *p,
                         const int64_t *stride, Form *out)
{
    bool is_whole = p->rank == 0 ? vf_fuse_data(search->fuse, ref) == NULL
                                 : p->rank == 1 && stride[0] == 1;
    if (is_whole)
        return read_value(search, ref, out);
    *out = (Form){{{0}}, {{0}}};
    return (p->rank == 0 || (p->rank == 1 && stride[0] == 0)) &&
           vf_fuse_number(search->fuse, ref, search->dtype, &out->plain.c[0]);
}

static bool read_binary(Search *search, const VfLowStep *step, Form *out)
{
    const VfkBinaryParams *p = step->params;
    Form a, b;
    for (size_t i = 0; i < sizeof piece_table / sizeof *piece_table; i++)
        if (vf_fuse_is(step, piece_table[i].op))
            return read_operand(search, step->in[0], p, p->stride_a, &a) &&
                   read_operand(search, step->in[1], p, p->stride_b, &b) &&
                   piece_table[i].combine(&a, &b, out);
    return false;
}

static bool read_map(Search *search, const VfLowStep *step, Form *out)
{
    const VfkMapParams *p = step->params;
    bool is_neg = vf_fuse_is(step, "neg");
    Form x, scale = {{{is_neg ? -1 : p->alpha}}, {{0}}};
    if ((!is_neg && !vf_fuse_is(step, "affine")) || !read_value(search, step->in[0], &x) ||
        !mul_forms(&x, &scale, out))
        return false;
    out->plain.c[0] += is_neg ? 0 : p->beta;
    return true;
}

/* The place of the step among those read, -1 if there are too many. */
static int32_t note_step(Search *search, int32_t at, bool *is_known)
{
    *is_known = true;
    for (int32_t i = 0; i < search->n_step; i++)
        if (search->step[i] == at)
            return i;
    *is_known = false;
    if (search->n_step == MAX_PIECES)
        return -1;
    search->step[search->n_step] = at;
    return search->n_step++;
}

/* Sizes alike: the step writes `n` elements of the dtype. */
static bool fits(const Search *search, const VfLowStep *step)
{
    return step->units == search->n && vf_fuse_dtype(step) == search->dtype;
}

static bool read_step(Search *search, int32_t at, Form *out)
{
    const VfLowStep *step = &search->fuse->cx->step[at];
    bool is_known;
    int32_t place = fits(search, step) ? note_step(search, at, &is_known) : -1;
    if (place < 0)
        return false;
    bool is_read = is_known;
    *out = search->form[place];
    if (!is_known && strcmp(step->kernel->params, "VfkBinaryParams") == 0)
        is_read = read_binary(search, step, out);
    else if (!is_known && strcmp(step->kernel->params, "VfkMapParams") == 0)
        is_read = read_map(search, step, out);
    search->form[place] = *out;
    return is_read;
}

static bool read_value(Search *search, VfLowRef ref, Form *out)
{
    static const Form x = {{{0, 1}}, {{0}}}, f = {{{0}}, {{1}}};
    int32_t at = vf_fuse_source(search->fuse, ref);
    if (vf_fuse_is_same(ref, search->base) || (at != FUSE_NO_STEP && at == search->inner)) {
        *out = at == search->inner && at != FUSE_NO_STEP ? f : x;
        return true;
    }
    return at != FUSE_NO_STEP && read_step(search, at, out);
}

/* --- the activations --- */

typedef struct Activation {
    const char *inner, *op;
    Poly arg;         /* of f; 0 as the coefficient of x: any, and the kernel's alpha */
    Form form;
    double low, high; /* alpha and beta of hard_sigmoid, limits of clip */
} Activation;

static const double root_half = 0.70710678118654752440, tanh_scale = 0.79788456080286535588;

static const Activation activation_table[] = {
    {"erf", "gelu", {{0, root_half}}, {{{0, 0.5}}, {{0, 0.5}}}, 0, 0},
    {"tanh", "gelu_tanh", {{0, tanh_scale, 0, tanh_scale * 0.044715}},
     {{{0, 0.5}}, {{0, 0.5}}}, 0, 0},
    {"sigmoid", "silu", {{0}}, {{{0}}, {{0, 1}}}, 0, 0},
    {"hard_sigmoid", "hard_swish", {{0, 1}}, {{{0}}, {{0, 1}}}, 1.0 / 6, 0.5},
    {"clip", "hard_swish", {{3, 1}}, {{{0}}, {{0, 1.0 / 6}}}, 0, 6},
};

static bool has_limits(const VfFuse *fuse, const VfLowStep *step, const Activation *activation)
{
    const VfkMapParams *p = step->params;
    double low = p->alpha, high = p->beta;
    if (strcmp(activation->inner, "clip") == 0 &&
        !(vf_fuse_number(fuse, step->in[1], vf_fuse_dtype(step), &low) &&
          vf_fuse_number(fuse, step->in[2], vf_fuse_dtype(step), &high)))
        return false;
    return fabs(low - activation->low) <= 1e-6 && fabs(high - activation->high) <= 1e-6;
}

static const Activation *find_activation(const VfFuse *fuse, const VfLowStep *step)
{
    for (size_t i = 0; i < sizeof activation_table / sizeof *activation_table; i++)
        if (vf_fuse_is(step, activation_table[i].inner) &&
            has_limits(fuse, step, &activation_table[i]))
            return &activation_table[i];
    return NULL;
}

static bool is_wanted(const Activation *activation, const Form *arg, const Form *form)
{
    Poly want = activation->arg;
    if (is_zero(&want))
        want.c[1] = arg->plain.c[1];
    return want.c[1] != 0 && is_near(&arg->plain, &want) &&
           is_near(&form->plain, &activation->form.plain) &&
           is_near(&form->times, &activation->form.times);
}

/* --- finding the pieces --- */

/* Values that may be x: the argument of f and what it was computed from. */
static int32_t find_bases(Search *search, VfLowRef ref, int32_t n, VfLowRef *base)
{
    for (int32_t i = 0; i < n; i++)
        if (vf_fuse_is_same(base[i], ref))
            return n;
    if (n == MAX_BASES || vf_fuse_data(search->fuse, ref) != NULL)
        return n;
    base[n++] = ref;
    int32_t at = vf_fuse_source(search->fuse, ref);
    const VfLowStep *step = &search->fuse->cx->step[at == FUSE_NO_STEP ? 0 : at];
    if (at == FUSE_NO_STEP || !fits(search, step) || step->n_in > 2)
        return n;
    for (int32_t i = 0; i < step->n_in; i++)
        if (step->in[i].buffer != LOW_NO_BUFFER)
            n = find_bases(search, step->in[i], n, base);
    return n;
}

/* What is between x and the last step can go. */
static bool is_closed(const Search *search, int32_t root)
{
    int32_t first = root;
    for (int32_t i = 0; i < search->n_step; i++) {
        int32_t at = search->step[i], buffer = search->fuse->cx->step[at].out[0].buffer;
        first = at < first ? at : first;
        if (at != root &&
            !vf_fuse_is_private(search->fuse, buffer, search->n_step, search->step))
            return false;
    }
    return vf_fuse_is_stable(search->fuse, search->base.buffer, first, root);
}

/* Is the value of `root` the activation of search->base? Fills the steps. */
static bool is_activation(Search *search, const Activation *activation, int32_t root, double *alpha)
{
    const VfLowStep *step = search->fuse->cx->step;
    Form arg, form;
    search->n_step = 0;
    if (!read_value(search, step[search->inner].in[0], &arg) || search->n_step == MAX_PIECES)
        return false;
    search->step[search->n_step++] = search->inner;
    if (!read_value(search, step[root].out[0], &form))
        return false;
    *alpha = arg.plain.c[1];
    return is_wanted(activation, &arg, &form) && is_closed(search, root);
}

static void sort_steps(Search *search)
{
    for (int32_t i = 1; i < search->n_step; i++)
        for (int32_t k = i; k > 0 && search->step[k - 1] > search->step[k]; k--) {
            int32_t step = search->step[k];
            search->step[k] = search->step[k - 1];
            search->step[k - 1] = step;
        }
}

static VfStatus replace(VfFuse *fuse, Search *search, const char *op, double alpha, int32_t root,
                        VfErr *err)
{
    VfLowValue *in, *out;
    VfkMapParams p = {.n = search->n, .alpha = strcmp(op, "silu") == 0 ? alpha : 0};
    VF_TRY(vf_fuse_value(fuse, search->base, &in, err));
    VF_TRY(vf_fuse_value(fuse, fuse->cx->step[root].out[0], &out, err));
    VfLowEmit emit = {.op = op, .dtype = search->dtype, .params = &p, .n_in = 1, .n_out = 1,
                      .in = &in, .out = &out, .units = search->n,
                      .unit_cost = vf_low_map_cost(op), .flops = (double)search->n,
                      .may_overwrite = true};
    sort_steps(search);
    return vf_fuse_replace(fuse, search->n_step, search->step, &emit, err);
}

VfStatus vf_fuse_pointwise(VfFuse *fuse, int32_t at, VfErr *err)
{
    const VfLowStep *step = &fuse->cx->step[at];
    const Activation *activation = find_activation(fuse, step);
    if (activation == NULL || !vf_low_has_kernel(fuse->cx, activation->op, vf_fuse_dtype(step)))
        return VF_OK;
    Search search = {.fuse = fuse, .inner = at, .n = step->units, .dtype = vf_fuse_dtype(step)};
    VfLowRef base[MAX_BASES];
    int32_t n_base = find_bases(&search, step->in[0], 0, base), root = at;
    for (int32_t n = 0; n < MAX_PIECES && root != FUSE_NO_STEP; n++) {
        double alpha;
        for (int32_t i = 0; i < n_base; i++) {
            search.base = base[i];
            if (is_activation(&search, activation, root, &alpha))
                return replace(fuse, &search, activation->op, alpha, root, err);
        }
        root = vf_fuse_reader(fuse, fuse->cx->step[root].out[0].buffer);
    }
    return VF_OK;
}
