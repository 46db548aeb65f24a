/* A plan in segments: where the shape of a result depends on data, the nodes before it are run
 * first, and the rest is planned with what they gave.
 *
 * A segment ends before a node that cannot be planned without contents of its operands. What later
 * nodes need of it are inputs of the next one, and the contents of that node's operands are known
 * there.
 */
#ifndef VF_API_SEGMENT_H
#define VF_API_SEGMENT_H

#include "converter/api/session.h"

/* `first` is the node of the main graph at which planning as a whole failed. Runs what is before,
 * as often as needed, and makes the plan of the last segment in session->plan, whose inputs after
 * the graph's are session->given. VF_UNSUPPORTED as vf_lower says it, with `unsupported`, when
 * contents of operands do not help. */
VfStatus vf_segments_lower(const VitfoldModel *model, const VitfoldData *in,
                           const VfLowerOptions *options, const VfNode *first, VfSession *session,
                           VfUnsupported *unsupported, VfErr *err);

#endif
