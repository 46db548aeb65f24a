#include "tests/support/run_pass.h"

#include "converter/lower/lower.h"
#include "passes/manager.h"
#include "tests/support/check_main.h"

VfJournal *vf_test_passes(VfModel *model, const char *words)
{
    VfErr err = {0};
    VfPipeline pipeline;
    VfPipelineOptions options = {.evaluator = vf_evaluator(), .stop_after = -1};
    VfJournal *journal = vf_journal_new(model);
    ck_assert_msg(vf_pipeline_parse(model->arena, words, NULL, &pipeline, &err) == VF_OK, "%s: %s",
                  words, err.text);
    VfStatus status = vf_pipeline_run(model, &pipeline, &options, journal, NULL, NULL, &err);
    ck_assert_msg(status == VF_OK, "%s: %s", words, err.text);
    return journal;
}
