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

void vf_xml_watch(VfXmlWatch *watch)
{
    *watch = (VfXmlWatch){false, xmlStructuredError, xmlStructuredErrorContext};
    xmlSetStructuredErrorFunc(watch, note);
}

void vf_xml_unwatch(const VfXmlWatch *watch)
{
    xmlSetStructuredErrorFunc(watch->before_with, watch->before);
}
