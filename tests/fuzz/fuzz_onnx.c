/* The ONNX reader: what it takes is verified, goes through the default pipeline and is written. */
#include "converter/lower/lower.h"
#include "converter/onnx/import.h"
#include "passes/ir/verify.h"
#include "passes/manager.h"
#include "tests/fuzz/harness.h"

static void transform(VfModel *model)
{
    VfErr err = {0};
    VfPipeline pipeline;
    VfArena *arena = vf_arena_new();
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1, .cleanup = true};
    VfJournal *journal = vf_journal_new(model);
    VfStatus status = vf_pipeline_parse(arena, "default", NULL, &pipeline, &err);
    if (status == VF_OK)
        status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    VF_FUZZ_PROMISE(status != VF_INTERNAL, "internal fault: %s\n", err.text);
    vf_arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    VfErr err = {0};
    VfModel *model;
    VfStatus status = vf_onnx_import_memory(data, size, "fuzz", NULL, NULL, &model, &err);
    VF_FUZZ_PROMISE(status != VF_INTERNAL, "internal fault: %s\n", err.text);
    if (status != VF_OK)
        return 0;
    if (vf_verify_all(model, &err) == VF_OK)
        transform(model);
    vf_model_free(model);
    return 0;
}
