#include "runtime/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cut a text that filled its buffer back to a whole UTF-8 sequence. */
static void drop_partial_utf8(char *text, size_t size)
{
    size_t n = size;
    while (n > 0 && ((unsigned char)text[n - 1] & 0xC0u) == 0x80u)
        n--;
    if (n == 0 || (unsigned char)text[n - 1] < 0xC0u)
        return;
    unsigned char lead = (unsigned char)text[n - 1];
    size_t need = lead >= 0xF0u ? 4 : lead >= 0xE0u ? 3 : 2;
    if (size - (n - 1) < need)
        text[n - 1] = '\0';
}

VfStatus vf_fail(VfErr *err, VfStatus status, const char *fmt, ...)
{
    if (err == NULL)
        return status;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    err->status = status;
    if (n < 0)
        err->text[0] = '\0';
    else if ((size_t)n >= sizeof err->text)
        drop_partial_utf8(err->text, sizeof err->text - 1);
    return status;
}

VfStatus vf_context(VfErr *err, const char *fmt, ...)
{
    if (err == NULL)
        return VF_INTERNAL;
    char old[VF_ERR_TEXT_BYTES];
    memcpy(old, err->text, sizeof old);
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    if (n < 0) {
        memcpy(err->text, old, sizeof old);
        return err->status;
    }
    size_t used = strlen(err->text);
    int m = snprintf(err->text + used, sizeof err->text - used, ": %s", old);
    if (m < 0 || (size_t)m >= sizeof err->text - used)
        drop_partial_utf8(err->text, strlen(err->text));
    return err->status;
}

VfStatus vf_no_memory(VfErr *err)
{
    return vf_fail(err, VF_NO_MEMORY, "out of memory");
}
