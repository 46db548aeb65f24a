/* Errors of libxml2 in this thread, caught.
 *
 * It prints them otherwise, and some never reach the caller: a writer without memory goes on
 * without the words it could not escape.
 */
#ifndef VF_DRAW_XML_WATCH_H
#define VF_DRAW_XML_WATCH_H

#include <stdbool.h>

#include <libxml/xmlerror.h>

typedef struct VfXmlWatch {
    bool is_out_of_memory; /* once, since vf_xml_watch */
    xmlStructuredErrorFunc structured; /* where errors went before, and words with no error */
    void *structured_with;
    xmlGenericErrorFunc generic;
    void *generic_with;
} VfXmlWatch;

/* From here until vf_xml_unwatch, in the same thread, errors are noted in `watch`, which stays
 * where it is, and nothing is printed. Afterwards they go where they went before. */
void vf_xml_watch(VfXmlWatch *watch);
void vf_xml_unwatch(const VfXmlWatch *watch);

#endif
