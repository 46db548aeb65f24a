/* Attention that insert-spa has changed, in this run or before the model was saved. Its bias is
 * made for the function of the logits, so passes that replace this function have to come first.
 */
#ifndef VF_SPA_OWN_H
#define VF_SPA_OWN_H

#include "passes/match/attention.h"

bool vf_spa_is_own(const VfModel *model, const VfAttention *site);

#endif
