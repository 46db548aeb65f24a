/* The text form: what was read is printed, and that reads back as an equal model. */
#include "passes/ir/equal.h"
#include "passes/ir/vft.h"
#include "tests/fuzz/harness.h"

static void print(const VfModel *model, VfArena *arena, VfBytes *text)
{
    VfErr err = {0};
    VfText to;
    vf_text_init(&to, arena);
    VfStatus status = vf_vft_print(model, (VfVftStyle){.with_data = true}, &to, &err);
    VF_FUZZ_PROMISE(status == VF_OK, "cannot print: %s\n", err.text);
    VF_FUZZ_PROMISE(vf_text_get(&to, text, &err) == VF_OK, "%s\n", err.text);
}

static void read_back(const VfModel *model)
{
    VfErr err = {0};
    VfModel *again;
    VfBytes text, text_again;
    VfArena *arena = vf_arena_new();
    print(model, arena, &text);
    VfStatus status = vf_vft_parse(text, "printed", &again, &err);
    VF_FUZZ_PROMISE(status == VF_OK, "printed text is refused: %s\n%.*s\n", err.text,
                    (int)text.size, text.data);
    print(again, arena, &text_again);
    VF_FUZZ_PROMISE(vf_bytes_is_equal(text, text_again), "printed otherwise:\n%.*s\n---\n%.*s\n",
                    (int)text.size, text.data, (int)text_again.size, text_again.data);
    vf_model_free(again);
    vf_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VfErr err = {0};
    VfModel *model;
    if (vf_vft_parse((VfBytes){(const char *)data, size}, "fuzz", &model, &err) != VF_OK)
        return 0;
    read_back(model);
    vf_model_free(model);
    return 0;
}
