#include "converter/draw/xml_watch.h"

#include <libxml/globals.h>

#if LIBXML_VERSION < 21200
static void note(void *watch, xmlError *error)
#else
static void note(void *watch, const xmlError *error)
#endif
{
    ((VfXmlWatch *)watch)->is_out_of_memory |= error->code == XML_ERR_NO_MEMORY;
}

static void say_nothing(void *context, const char *format, ...)
{
    (void)context;
    (void)format;
}

void vf_xml_watch(VfXmlWatch *watch)
{
    *watch = (VfXmlWatch){false, xmlStructuredError, xmlStructuredErrorContext, xmlGenericError,
                          xmlGenericErrorContext};
    xmlSetStructuredErrorFunc(watch, note);
    xmlSetGenericErrorFunc(NULL, say_nothing);
}

void vf_xml_unwatch(const VfXmlWatch *watch)
{
    xmlSetStructuredErrorFunc(watch->structured_with, watch->structured);
    xmlSetGenericErrorFunc(watch->generic_with, watch->generic);
}
