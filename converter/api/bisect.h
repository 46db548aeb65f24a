/* What a bisection found out, for the file that searches and the one that tells. */
#ifndef VF_API_BISECT_H
#define VF_API_BISECT_H

#include "converter/api/trial.h"

/* The last edit of a state. */
typedef struct VfLastEdit {
    const char *pass, *rule, *site, *note;
    const char **node; /* that it removed */
    int32_t n_node;
} VfLastEdit;

typedef struct VfBisectState {
    int64_t n_edit; /* of the passes */
    VfLastEdit edit; /* all NULL when there is none */
    VfNumbers numbers;
    int broken; /* index of the threshold, -1: none */
} VfBisectState;

typedef struct VfBisect {
    VfTrial trial;
    const VitfoldThreshold *threshold;
    VfMetric *metric; /* of each */
    size_t n_threshold;
    VfArena *arena;
    VfBisectState *state; /* in the order in which they were tried */
    size_t n_state, capacity;
    const char **pass; /* those that edit */
    int64_t *end;      /* edits after each */
    int32_t n_pass;
    /* If has_found: the last state known to keep all limits, and the first known to break one. One
     * edit lies between them when the search is over. */
    VfBisectState before, found;
    bool has_found;
    int64_t pass_begin, pass_end; /* edits before and after the guilty pass */
} VfBisect;

/* The first threshold that the numbers break, -1: none. */
int vf_bisect_broken(const VfBisect *cx, const VfNumbers *numbers);

/* Keys of the open object, and a table with what was found below. */
void vf_bisect_json(const VfBisect *cx, bool is_complete, VfJson *json);
void vf_bisect_text(const VfBisect *cx, bool is_complete, VfText *text);

#endif
