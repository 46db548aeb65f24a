#include <string.h>

#include "passes/pass.h"

#define VF_PASS(name) extern const VfPass vf_pass_##name;
#include "passes/passes.def"
#undef VF_PASS

const VfPass *const vf_pass_table[] = {
#define VF_PASS(name) &vf_pass_##name,
#include "passes/passes.def"
#undef VF_PASS
};

const int32_t vf_pass_count = (int32_t)(sizeof vf_pass_table / sizeof vf_pass_table[0]);

const VfPass *vf_pass_find(const char *name)
{
    for (int32_t i = 0; i < vf_pass_count; i++) {
        if (strcmp(vf_pass_table[i]->name, name) == 0)
            return vf_pass_table[i];
    }
    return NULL;
}

VfStatus vf_pass_unknown(const char *name, VfErr *err)
{
    enum { N_PASS = sizeof vf_pass_table / sizeof vf_pass_table[0] };
    const char *known[N_PASS];
    for (size_t i = 0; i < N_PASS; i++)
        known[i] = vf_pass_table[i]->name;
    const char *near = vf_nearest_word(name, known, N_PASS);
    if (near == NULL)
        return vf_fail(err, VF_USAGE, "unknown pass '%s'", name);
    return vf_fail(err, VF_USAGE, "unknown pass '%s', did you mean '%s'", name, near);
}
