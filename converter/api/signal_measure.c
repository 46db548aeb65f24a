/* The signal on data: what the samples' tokens and attention matrices are. */
#include "converter/api/signal.h"

#include <math.h>
#include <string.h>

/* Ranks take time by the third power of the tokens: they are of so many samples at most. */
enum { RANK_SAMPLES = 8 };

/* One value that is read, and what it is for. */
typedef struct Reading {
    VfSignalRow *row;
    bool is_matrix;
    int64_t n_sample, n_rank; /* seen; matrices whose rank was found */
} Reading;

typedef struct Measurement {
    VfSignal *signal;
    VfArena *scratch;
    int32_t n;
    Reading *reading;
} Measurement;

static int64_t product(const VfTensor *t, int32_t from, int32_t to)
{
    int64_t n = 1; /* a tensor's count was checked */
    for (int32_t i = from; i < to; i++)
        n *= t->dims[i];
    return n;
}

static void add_shape(Reading *r, const VfSignalShape *shape)
{
    VfSignalShape *sum = &r->row->data;
    double share = 1.0 / (double)(r->n_sample + 1);
    bool is_first = r->n_sample++ == 0;
    sum->correlation += (shape->correlation - sum->correlation) * share;
    sum->rank += (shape->rank - sum->rank) * share;
    sum->low = is_first ? shape->low : fmin(sum->low, shape->low);
    sum->high = is_first ? shape->high : fmax(sum->high, shape->high);
    r->row->has_data = true;
}

/* Tokens lie in the axes between the first, samples, and the last, channels; in images channels
 * come before the tokens. */
static VfStatus read_tokens(Measurement *m, Reading *r, const VfTensor *t, VfErr *err)
{
    enum { MOST = 1 << 20 };
    if (t->rank < 3 || t->count == 0)
        return VF_OK;
    int64_t n_sample = t->dims[0];
    bool is_image = t->rank == 4 && product(t, 2, 4) == r->row->tokens &&
                    product(t, 1, 3) != r->row->tokens;
    int64_t tokens = is_image ? product(t, 2, 4) : product(t, 1, t->rank - 1);
    int64_t width = is_image ? t->dims[1] : t->dims[t->rank - 1];
    if (tokens > MOST || width > MOST)
        return vf_fail(err, VF_UNSUPPORTED, "%lld tokens of %lld numbers are too many",
                       (long long)tokens, (long long)width);
    for (int64_t s = 0; s < n_sample; s++) {
        VfSignalShape shape;
        vf_arena_reset(m->scratch);
        double *x = VF_NEW_ARRAY(m->scratch, double, (size_t)(tokens * width));
        VF_TRY_ALLOC(x, err);
        for (int64_t i = 0; i < tokens * width; i++) {
            int64_t to = is_image ? i % tokens * width + i / tokens : i;
            x[to] = vf_tensor_get_double(t, (size_t)(s * tokens * width + i));
        }
        VF_TRY(vf_signal_shape_of_tokens(m->scratch, x, (int32_t)tokens, (int32_t)width, &shape,
                                         err));
        add_shape(r, &shape);
    }
    return VF_OK;
}

static void add_rank(Reading *r, double rank)
{
    VfSignalRow *row = r->row;
    bool is_first = r->n_rank++ == 0;
    row->rank = is_first ? rank : row->rank + (rank - row->rank) / (double)r->n_rank;
    row->rank_low = is_first ? rank : fmin(row->rank_low, rank);
    row->rank_high = is_first ? rank : fmax(row->rank_high, rank);
}

static VfStatus read_matrices(Measurement *m, Reading *r, const VfTensor *t, VfErr *err)
{
    if (t->rank < 3 || t->count == 0)
        return VF_OK;
    int64_t n_row = t->dims[t->rank - 2], n_col = t->dims[t->rank - 1];
    int64_t each = product(t, 1, t->rank - 2); /* matrices of a sample */
    for (int64_t s = 0; s < t->dims[0] && r->n_sample < RANK_SAMPLES; s++, r->n_sample++)
        for (int64_t k = 0; k < each; k++) {
            VfMatrix matrix;
            int32_t rank;
            vf_arena_reset(m->scratch);
            if (n_row > VF_MATRIX_MAX || n_col > VF_MATRIX_MAX)
                return VF_OK; /* the rank stays unknown */
            VF_TRY(vf_matrix_new(m->scratch, (int32_t)n_row, (int32_t)n_col, &matrix, err));
            for (int64_t i = 0; i < n_row * n_col; i++)
                matrix.at[i] =
                    vf_tensor_get_double(t, (size_t)((s * each + k) * n_row * n_col + i));
            VF_TRY(vf_signal_rank(m->scratch, &matrix, &rank, err));
            add_rank(r, rank);
        }
    return VF_OK;
}

static VfStatus visit(void *user, const VfTensor *const *tensor, VfErr *err)
{
    Measurement *m = user;
    for (int32_t i = 0; i < m->n; i++) {
        Reading *r = &m->reading[i];
        VF_TRY(r->is_matrix ? read_matrices(m, r, tensor[i], err)
                            : read_tokens(m, r, tensor[i], err));
    }
    return VF_OK;
}

/* A constant is no measurement, and only the main graph can be read. */
static bool is_readable(const VfModel *model, const VfValue *value)
{
    return value != NULL && value->kind == VF_VALUE_RESULT && value->graph == model->graph &&
           !value->def->is_removed;
}

static int32_t list_readings(const VfModel *model, VfSignal *signal, Reading *reading,
                             VfValue **value)
{
    int32_t n = 0;
    for (int32_t i = 0; i < signal->n_row; i++) {
        VfSignalRow *row = &signal->row[i];
        row->rank = row->rank_low = row->rank_high = (double)NAN;
        if (is_readable(model, row->output)) {
            reading[n] = (Reading){.row = row};
            value[n++] = row->output;
        }
        if (is_readable(model, row->site->probs)) {
            reading[n] = (Reading){.row = row, .is_matrix = true};
            value[n++] = row->site->probs;
        }
    }
    return n;
}

VfStatus vf_signal_measure(VfArena *arena, const VfModel *model, const VfCalibration *data,
                           VfSignal *signal, VfErr *err)
{
    size_t capacity = 2 * (size_t)signal->n_row + 1;
    Measurement m = {.signal = signal};
    VfValue **value = VF_NEW_ARRAY(arena, VfValue *, capacity);
    m.reading = VF_NEW_ARRAY(arena, Reading, capacity);
    VF_TRY_ALLOC(value, err);
    VF_TRY_ALLOC(m.reading, err);
    m.n = list_readings(model, signal, m.reading, value);
    if (m.n == 0)
        return VF_OK;
    m.scratch = vf_arena_new();
    VF_TRY_ALLOC(m.scratch, err);
    VfStatus status = data->measure(data, model, m.n, value, visit, &m, err);
    for (int32_t i = 0; i < m.n; i++)
        if (!m.reading[i].is_matrix && m.reading[i].n_sample > signal->n_sample)
            signal->n_sample = m.reading[i].n_sample;
    vf_arena_free(m.scratch);
    return status;
}
