#include "converter/lower/gaps.h"

struct VfGap {
    VfGap *left, *right; /* at lower and at higher offsets; `right` also links what is spare */
    uint32_t weight;     /* no gap below has a larger one: random, so that the tree is flat */
    size_t offset, bytes;
    size_t largest; /* bytes of the largest gap from here down */
};

static size_t largest_of(const VfGap *gap)
{
    return gap != NULL ? gap->largest : 0;
}

static void update(VfGap *gap)
{
    size_t left = largest_of(gap->left), right = largest_of(gap->right);
    gap->largest = gap->bytes > left ? gap->bytes : left;
    gap->largest = gap->largest > right ? gap->largest : right;
}

/* One tree of two, all of `low` before all of `high`. */
static VfGap *join(VfGap *low, VfGap *high)
{
    if (low == NULL || high == NULL)
        return low != NULL ? low : high;
    if (low->weight >= high->weight) {
        low->right = join(low->right, high);
        update(low);
        return low;
    }
    high->left = join(low, high->left);
    update(high);
    return high;
}

/* The gaps below `offset` and the others. */
static void split(VfGap *gap, size_t offset, VfGap **low, VfGap **high)
{
    if (gap == NULL) {
        *low = *high = NULL;
    } else if (gap->offset < offset) {
        split(gap->right, offset, &gap->right, high);
        *low = gap;
        update(gap);
    } else {
        split(gap->left, offset, low, &gap->left);
        *high = gap;
        update(gap);
    }
}

static void retire(VfGaps *gaps, VfGap *gap)
{
    gap->right = gaps->spare;
    gaps->spare = gap;
}

VfStatus vf_gaps_init(VfGaps *gaps, VfArena *arena, size_t most, VfErr *err)
{
    /* Between the pieces, and behind the last. */
    VfGap *gap = VF_NEW_ARRAY(arena, VfGap, most + 1);
    VF_TRY_ALLOC(gap, err);
    uint32_t weight = 1;
    gaps->spare = NULL;
    for (size_t i = most + 1; i-- > 0;) {
        weight = weight * 1664525u + 1013904223u;
        gap[i].weight = weight ^ weight >> 16;
        retire(gaps, &gap[i]);
    }
    gaps->root = gaps->spare;
    gaps->spare = gaps->root->right;
    gaps->root->right = NULL;
    gaps->root->bytes = gaps->root->largest = SIZE_MAX;
    return VF_OK;
}

static VfGap *take(VfGaps *gaps, VfGap *gap, size_t bytes, size_t *offset)
{
    if (largest_of(gap->left) >= bytes) {
        gap->left = take(gaps, gap->left, bytes, offset);
    } else if (gap->bytes < bytes) {
        gap->right = take(gaps, gap->right, bytes, offset);
    } else if (gap->bytes == bytes) {
        VfGap *rest = join(gap->left, gap->right);
        *offset = gap->offset;
        retire(gaps, gap);
        return rest;
    } else {
        *offset = gap->offset;
        gap->offset += bytes;
        gap->bytes -= bytes;
    }
    update(gap);
    return gap;
}

size_t vf_gaps_take(VfGaps *gaps, size_t bytes)
{
    size_t offset = 0;
    gaps->root = take(gaps, gaps->root, bytes, &offset);
    return offset;
}

/* The piece grows by the gap that ends where it begins and the one that begins where it ends. */
static void take_neighbours(VfGaps *gaps, VfGap *piece, VfGap **low, VfGap **high)
{
    VfGap *before = *low, *after = *high;
    while (before != NULL && before->right != NULL)
        before = before->right;
    while (after != NULL && after->left != NULL)
        after = after->left;
    if (before != NULL && before->offset + before->bytes == piece->offset) {
        split(*low, before->offset, low, &before);
        piece->offset = before->offset;
        piece->bytes += before->bytes;
        retire(gaps, before);
    }
    if (after != NULL && piece->offset + piece->bytes == after->offset) {
        split(*high, after->offset + 1, &after, high);
        piece->bytes += after->bytes;
        retire(gaps, after);
    }
}

void vf_gaps_give(VfGaps *gaps, size_t offset, size_t bytes)
{
    VfGap *piece = gaps->spare, *low, *high;
    gaps->spare = piece->right;
    *piece = (VfGap){.weight = piece->weight, .offset = offset, .bytes = bytes};
    split(gaps->root, offset, &low, &high);
    take_neighbours(gaps, piece, &low, &high);
    update(piece);
    gaps->root = join(join(low, piece), high);
}
