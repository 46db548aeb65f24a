#include "passes/match/product.h"

#include <string.h>

#include "passes/ir/attr.h"
#include "passes/match/facts.h"

/* Letters of MatMul and Gemm; batch axis i counted from the right is LETTER_BATCH + i. */
enum { LETTER_M = 1, LETTER_K = 2, LETTER_N = 3, LETTER_BATCH = 8 };

static int32_t rank_of(const VfValue *value)
{
    return value == NULL || value->type.kind != VF_TYPE_TENSOR ? VF_RANK_UNKNOWN : value->type.rank;
}

/* Attributes that transpose an operand; the second moves its rows in front of the batch axes. */
static const char *const trans_name[2][2] = {{"transA", "transBatchA"}, {"transB", "transBatchB"}};

static bool has_flag(const VfProduct *p, const char *name)
{
    return p->node->op != VF_OP_MATMUL && vf_node_int(p->node, name) != 0;
}

/* Letters of matrix operand `i`: its two axes last, batch axes before. */
static void set_matrix(VfProduct *p, int32_t i, int8_t row, int8_t column)
{
    int32_t rank = p->rank[i], first = has_flag(p, trans_name[i][1]) ? 1 : 0;
    bool is_turned = has_flag(p, trans_name[i][0]);
    int8_t *letter = p->letter[i];
    for (int32_t a = 0; a < rank - 2; a++)
        letter[first + a] = (int8_t)(LETTER_BATCH + (rank - 3 - a));
    letter[first == 1 ? 0 : rank - 2] = is_turned ? column : row;
    letter[rank - 1] = is_turned ? row : column;
}

static bool set_matmul(VfProduct *p)
{
    int32_t ra = p->rank[0], rb = p->rank[1], n_batch = 0;
    if (ra < 1 || rb < 1)
        return false;
    if (ra == 1)
        p->letter[0][0] = LETTER_K;
    else
        set_matrix(p, 0, LETTER_M, LETTER_K);
    if (rb == 1)
        p->letter[1][0] = LETTER_K;
    else
        set_matrix(p, 1, LETTER_K, LETTER_N);
    if (ra > 2 || rb > 2)
        n_batch = (ra > rb ? ra : rb) - 2;
    for (int32_t i = 0; i < n_batch; i++)
        p->out_letter[p->out_rank++] = (int8_t)(LETTER_BATCH + n_batch - 1 - i);
    if (ra > 1)
        p->out_letter[p->out_rank++] = LETTER_M;
    if (rb > 1)
        p->out_letter[p->out_rank++] = LETTER_N;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Letters of one term of an Einsum equation; `rank` axes (-1: as many as letters, no ellipsis in
 * operands unknown). An ellipsis stands for the batch letters. Returns the rank or -1. */
static int32_t read_term(const char *text, size_t n, int32_t rank, int8_t *letter)
{
    int32_t n_letter = 0, n_out = 0;
    for (size_t i = 0; i < n; i++)
        n_letter += is_letter(text[i]);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '.') {
            i += 2;
            for (int32_t e = rank - n_letter; e > 0; e--) {
                if (n_out == VF_AXIS_MAX)
                    return -1;
                letter[n_out++] = (int8_t)(LETTER_BATCH + e - 1);
            }
        } else if (text[i] != ' ') {
            if (n_out == VF_AXIS_MAX || !is_letter(text[i]))
                return -1;
            letter[n_out++] = (int8_t)text[i];
        }
    }
    return n_out;
}

static bool has_ellipsis(const char *text, size_t n)
{
    return n >= 3 && memchr(text, '.', n) != NULL;
}

/* The result term when the equation has none: letters that occur once, in alphabetical order. */
static int32_t implicit_out(const char *text, size_t n, char *out)
{
    int32_t n_out = 0;
    for (char c = 'A'; c <= 'z'; c++) {
        int32_t count = 0;
        for (size_t i = 0; i < n; i++)
            count += text[i] == c;
        if (count == 1 && is_letter(c) && n_out < VF_AXIS_MAX)
            out[n_out++] = c;
    }
    return n_out;
}

static bool set_einsum(VfProduct *p)
{
    VfBytes equation = vf_node_string(p->node, "equation");
    const char *text = (const char *)equation.data;
    size_t n = equation.size, at = 0, left = n;
    for (size_t i = 0; i + 1 < n; i++) {
        if (text[i] == '-' && text[i + 1] == '>')
            left = i;
    }
    int32_t n_ellipsis = 0;
    for (int32_t i = 0; i < p->n_in; i++) {
        const char *comma = at <= left ? memchr(text + at, ',', left - at) : NULL;
        size_t end = comma ? (size_t)(comma - text) : left;
        if (at > left || (comma == NULL) != (i == p->n_in - 1))
            return false;
        if (read_term(text + at, end - at, p->rank[i], p->letter[i]) != p->rank[i])
            return false;
        for (int32_t a = 0; a < p->rank[i]; a++) {
            int32_t e = p->letter[i][a] - LETTER_BATCH + 1;
            if (p->letter[i][a] < 'A' && e > n_ellipsis)
                n_ellipsis = e;
        }
        at = end + 1;
    }
    char implicit[VF_AXIS_MAX];
    const char *out = text + left + 2;
    size_t n_out = left < n ? n - left - 2 : 0;
    if (left == n) {
        n_out = (size_t)implicit_out(text, n, implicit);
        out = implicit;
    }
    int32_t n_letter = 0;
    for (size_t i = 0; i < n_out; i++)
        n_letter += is_letter(out[i]);
    int32_t rank = n_letter + (has_ellipsis(out, n_out) ? n_ellipsis : 0);
    p->out_rank = read_term(out, n_out, rank, p->out_letter);
    return p->out_rank == rank;
}

bool vf_product_of(VfNode *node, VfProduct *p)
{
    memset(p, 0, sizeof(*p));
    bool is_einsum = node->op == VF_OP_EINSUM;
    bool is_gemm = node->op == VF_OP_GEMM;
    bool is_fused = node->op == VF_OP_MS_FUSED_MATMUL || node->op == VF_OP_MS_TRANSPOSE_MATMUL;
    if (!is_einsum && !is_gemm && !is_fused && node->op != VF_OP_MATMUL)
        return false;
    p->node = node;
    p->out = vf_node_out(node, 0);
    p->n_in = is_einsum ? node->n_in : 2;
    if (p->n_in > VF_PRODUCT_IN_MAX || p->n_in < 1 || p->out == NULL)
        return false;
    for (int32_t i = 0; i < p->n_in; i++) {
        p->in[i] = vf_node_in(node, i);
        p->rank[i] = rank_of(p->in[i]);
        if (p->rank[i] < 0 || p->rank[i] > VF_AXIS_MAX)
            return false;
    }
    if (is_einsum)
        return set_einsum(p);
    if (is_gemm && (p->rank[0] != 2 || p->rank[1] != 2))
        return false;
    return set_matmul(p);
}

int32_t vf_product_axis(const VfProduct *p, int32_t i, int8_t letter)
{
    for (int32_t a = 0; a < p->rank[i]; a++) {
        if (p->letter[i][a] == letter)
            return a;
    }
    return -1;
}

int32_t vf_product_out_axis(const VfProduct *p, int8_t letter)
{
    for (int32_t a = 0; a < p->out_rank; a++) {
        if (p->out_letter[a] == letter)
            return a;
    }
    return -1;
}

bool vf_product_is_contracted(const VfProduct *p, int8_t letter)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_in; i++)
        n += vf_product_axis(p, i, letter) >= 0;
    return n >= 2 && vf_product_out_axis(p, letter) < 0;
}

int32_t vf_product_n_runtime(const VfProduct *p)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_in; i++)
        n += !vf_is_fixed(p->in[i]);
    return n;
}

int32_t vf_product_owner(const VfProduct *p, int8_t letter)
{
    int32_t owner = -1;
    for (int32_t i = 0; i < p->n_in; i++) {
        int32_t axis = vf_product_axis(p, i, letter);
        if (axis < 0)
            continue;
        bool is_one = vf_dim_is(p->in[i]->type.dims[axis], 1);
        if (owner < 0 || !is_one)
            owner = i;
        if (!is_one && !vf_is_fixed(p->in[i]))
            return i;
    }
    return owner;
}
