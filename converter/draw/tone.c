#include "converter/draw/drawing.h"

/* name: of the class; label: for legends. Colours are in style.c. */
static const struct {
    const char *name, *label;
} row[VF_TONE_COUNT] = {
    [VF_TONE_PLAIN] = {"plain", "other operators"},
    [VF_TONE_CONTEXT] = {"context", "around it"},
    [VF_TONE_REMOVED] = {"removed", "removed"},
    [VF_TONE_ADDED] = {"added", "added"},
    [VF_TONE_CHANGED] = {"changed", "changed"},
    [VF_TONE_MARKED] = {"marked", "what the message is about"},
    [VF_TONE_SITE] = {"site", "site"},
    [VF_TONE_SOFTMAX] = {"softmax", "softmax attention"},
    [VF_TONE_POINTWISE] = {"pointwise", "pointwise attention"},
    [VF_TONE_KERNEL] = {"kernel", "linear attention"},
    [VF_TONE_ATTENTION] = {"attention", "other attention"},
    [VF_TONE_NORM] = {"norm", "layer norm"},
    [VF_TONE_BATCH] = {"batch", "batch norm"},
    [VF_TONE_PRODUCT] = {"product", "linear layer"},
    [VF_TONE_CONV] = {"conv", "convolution"},
};

const char *vf_tone_name(VfTone tone)
{
    return row[tone].name;
}

const char *vf_tone_label(VfTone tone)
{
    return row[tone].label;
}
