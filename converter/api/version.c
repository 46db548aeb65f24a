#include <stdlib.h>

#include "converter/api/handle.h"
#include "vitfold_version.h"

_Static_assert(VITFOLD_OK == (int)VF_OK && VITFOLD_DIFFERS == (int)VF_DIFFERS &&
                   VITFOLD_USAGE == (int)VF_USAGE && VITFOLD_INVALID == (int)VF_INVALID &&
                   VITFOLD_UNSUPPORTED == (int)VF_UNSUPPORTED &&
                   VITFOLD_INTERNAL == (int)VF_INTERNAL && VITFOLD_IO == (int)VF_IO &&
                   VITFOLD_NO_MEMORY == (int)VF_NO_MEMORY,
               "the public statuses are the inner ones");

const char *vitfold_version(void)
{
    return VITFOLD_VERSION;
}

const char *vitfold_commit(void)
{
    return VITFOLD_COMMIT;
}

const char *vitfold_libraries(void)
{
    return VITFOLD_LIBRARIES;
}

VitfoldError *vitfold_error_new(void)
{
    return calloc(1, sizeof(VfErr));
}

void vitfold_error_free(VitfoldError *error)
{
    free(error);
}

const char *vitfold_error_text(const VitfoldError *error)
{
    return error->text;
}
