#include "runtime/kernels/pack.h"

void VFK_FN(pack, f32)(const VfkArgs *args)
{
    const VfkPackParams *params = args->params;
    const int64_t first = args->begin * VFK_PANEL;
    const int64_t n = vfk_min_i64(args->end * VFK_PANEL, params->n) - first;
    pack_b_f32((const float *)args->in[0] + first * params->col, params->row, params->col,
               params->k, n, (float *)args->out[0] + first * params->k);
}
