/* The map of a model (converter/draw/map.h) with its sites: attention by kind, norms, layers with
 * weights, and the point-wise functions behind them.
 */
#ifndef VF_API_MODEL_MAP_H
#define VF_API_MODEL_MAP_H

#include "converter/api/sites.h"
#include "converter/draw/map.h"

/* `model` is the one in which vf_sites_find found `sites`. In `arena`. */
VfStatus vf_model_map(VfArena *arena, VfModel *model, const VfSiteList *sites, VfBytes title,
                      VfDrawSheet *sheet, VfErr *err);

/* --- model_map_lines.c: what the boxes say --- */

VfStatus vf_map_attention(VfArena *arena, const VfModel *model, const VfAttention *site,
                          VfMapSite *out, VfErr *err);
VfStatus vf_map_layer_norm(VfArena *arena, const VfModel *model, const VfLayerNorm *site,
                           VfMapSite *out, VfErr *err);
VfStatus vf_map_batch_norm(VfArena *arena, const VfBatchNorm *site, VfMapSite *out, VfErr *err);
/* MatMul, Gemm, Einsum, convolution: a node that vf_is_layer; or Gather of a table. */
VfStatus vf_map_layer(VfArena *arena, const VfNode *node, VfMapSite *out, VfErr *err);

#endif
