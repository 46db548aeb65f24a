/* What each site of a pass does alone, for the file that measures and the one that tells. */
#ifndef VF_API_SENSITIVITY_H
#define VF_API_SENSITIVITY_H

#include "converter/api/trial.h"

typedef struct VfSiteEffect {
    int32_t index;    /* for sites=, among the sites of the pass */
    const char *name;
    int32_t n_edit;   /* 0: left alone, and nothing was measured */
    const char *why;  /* it was left alone, or NULL */
    VfNumbers numbers;
    double loss;      /* vf_metric_loss of the metric */
} VfSiteEffect;

/* The sites that fit together within a budget. */
typedef struct VfSiteBudget {
    double limit;
    const char *sites;   /* "0,2,5"; NULL: none fits */
    int32_t n_site;
    VfNumbers numbers;   /* of all together */
    double loss;
    bool is_verified;    /* the recipe was run and gave the same */
    VfBytes recipe;
} VfSiteBudget;

typedef struct VfSensitivity {
    VfTrial trial;
    VfMetric metric;
    VfArena *arena;
    VfSiteEffect *site; /* in the order of the pass, then the most harmful first */
    int32_t n_site;     /* measured so far */
    int32_t n_all;      /* there are */
    VfSiteBudget budget;
    bool has_budget;
} VfSensitivity;

/* Keys of the open object; a table with bars; a plot of bars, in the arena of `cx`, empty without
 * sites. */
void vf_sensitivity_json(const VfSensitivity *cx, bool is_complete, VfJson *json);
void vf_sensitivity_text(const VfSensitivity *cx, bool is_complete, VfText *text);
void vf_sensitivity_svg(const VfSensitivity *cx, VfBytes *svg);

#endif
