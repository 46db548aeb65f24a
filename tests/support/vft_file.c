#include "tests/support/vft_file.h"

#include <check.h>

#include "converter/onnx/export.h"
#include "passes/ir/vft.h"

void vf_vft_file(const char *path, const char *text)
{
    VfErr err = {VF_OK, ""};
    VfModel *model = NULL;
    VfExportOptions options = {VF_EXTERNAL_NEVER};
    VfStatus status = vf_vft_parse(vf_bytes(text), "case", &model, &err);
    if (status == VF_OK)
        status = vf_onnx_export(model, path, &options, &err);
    ck_assert_msg(status == VF_OK, "%s in\n%s", err.text, text);
    vf_model_free(model);
}
