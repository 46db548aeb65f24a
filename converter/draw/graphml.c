#include <libxml/xmlwriter.h>

#include <stdio.h>
#include <string.h>

#include "converter/draw/nest.h"
#include "converter/draw/text.h"
#include "converter/draw/words.h"
#include "converter/draw/xml_watch.h"

/* What is known of nodes and edges: id, what it is of, name. All of them strings. */
static const char *const key[][3] = {
    {"kind", "node", "kind"},   {"label", "node", "label"},
    {"tone", "node", "tone"},   {"op", "node", "op"},
    {"domain", "node", "domain"}, {"name", "node", "name"},
    {"attributes", "node", "attributes"}, {"value", "edge", "value"},
    {"type", "edge", "type"},   {"edge-tone", "edge", "tone"},
};

typedef struct Writer {
    const VfDrawing *drawing;
    VfDrawNest nest;
    xmlTextWriter *xml;
    VfErr *err;
    bool failed;
} Writer;

static void start(Writer *w, const char *name)
{
    w->failed |= xmlTextWriterStartElement(w->xml, (const xmlChar *)name) < 0;
}

static void end(Writer *w)
{
    w->failed |= xmlTextWriterEndElement(w->xml) < 0;
}

static void attribute(Writer *w, const char *name, const char *value)
{
    w->failed |= xmlTextWriterWriteAttribute(w->xml, (const xmlChar *)name,
                                             (const xmlChar *)value) < 0;
}

/* Words are escaped before the writer sees them: it takes any bytes for UTF-8. */
static void put_words(Writer *w, VfBytes words)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, w->drawing->arena);
    vf_draw_escape(&text, words);
    if (vf_text_get(&text, &done, NULL) != VF_OK)
        w->failed = true;
    else
        w->failed |= xmlTextWriterWriteRaw(w->xml, (const xmlChar *)done.data) < 0;
}

static void data(Writer *w, const char *id, VfBytes words)
{
    if (words.size == 0)
        return;
    start(w, "data");
    attribute(w, "key", id);
    put_words(w, words);
    end(w);
}

static void data_word(Writer *w, const char *id, const char *word)
{
    data(w, id, (VfBytes){word, strlen(word)});
}

static void put_label(Writer *w, const VfDrawBox *box)
{
    VfText text;
    VfBytes done;
    vf_text_init(&text, w->drawing->arena);
    for (int32_t i = 0; i < box->n_line; i++) {
        vf_text_string(&text, i == 0 ? "" : " | ");
        vf_text_add(&text, box->line[i].data, box->line[i].size);
    }
    if (vf_text_get(&text, &done, NULL) == VF_OK)
        data(w, "label", done);
    else
        w->failed = true;
}

static VfStatus put_box(Writer *w, int32_t i)
{
    const VfDrawBox *box = &w->drawing->box[i];
    char id[32];
    snprintf(id, sizeof id, "n%d", i);
    start(w, "node");
    attribute(w, "id", id);
    if (box->is_end && box->n_line > 0)
        data(w, "kind", box->line[0]);
    else
        data_word(w, "kind", "node");
    put_label(w, box);
    data_word(w, "tone", vf_tone_name(box->tone));
    if (box->node != NULL) {
        VfBytes attributes;
        VF_TRY(vf_draw_attributes(w->drawing, box->node, &attributes, w->err));
        data(w, "op", box->node->op_type);
        data(w, "domain", box->node->domain);
        data(w, "name", box->node->name);
        data(w, "attributes", attributes);
    } else {
        data(w, "name", box->tip);
    }
    end(w);
    return VF_OK;
}

static VfStatus put_group(Writer *w, int32_t group)
{
    for (int32_t i = w->nest.first_box[group + 1]; i >= 0; i = w->nest.next_box[i])
        VF_TRY(put_box(w, i));
    for (int32_t i = w->nest.first_group[group + 1]; i >= 0; i = w->nest.next_group[i]) {
        char id[32];
        snprintf(id, sizeof id, "g%d", i);
        start(w, "node");
        attribute(w, "id", id);
        data_word(w, "kind", "group");
        data(w, "label", w->drawing->group[i].label);
        start(w, "graph");
        attribute(w, "edgedefault", "directed");
        VF_TRY(put_group(w, i));
        end(w);
        end(w);
    }
    return VF_OK;
}

static void put_arrow(Writer *w, const VfDrawArrow *arrow)
{
    char from[32], to[32];
    snprintf(from, sizeof from, "n%d", arrow->from);
    snprintf(to, sizeof to, "n%d", arrow->to);
    start(w, "edge");
    attribute(w, "source", from);
    attribute(w, "target", to);
    if (arrow->value != NULL)
        data(w, "value", arrow->value->name);
    data(w, "type", arrow->label);
    data_word(w, "edge-tone", vf_tone_name(arrow->tone));
    end(w);
}

static VfStatus put_document(Writer *w)
{
    w->failed |= xmlTextWriterSetIndent(w->xml, 1) < 0;
    w->failed |= xmlTextWriterStartDocument(w->xml, NULL, "UTF-8", NULL) < 0;
    start(w, "graphml");
    attribute(w, "xmlns", "http://graphml.graphdrawing.org/xmlns");
    for (size_t i = 0; i < sizeof key / sizeof key[0]; i++) {
        start(w, "key");
        attribute(w, "id", key[i][0]);
        attribute(w, "for", key[i][1]);
        attribute(w, "attr.name", key[i][2]);
        attribute(w, "attr.type", "string");
        end(w);
    }
    start(w, "graph");
    attribute(w, "id", "g");
    attribute(w, "edgedefault", "directed");
    VF_TRY(put_group(w, -1));
    for (int32_t i = 0; i < w->drawing->n_arrow; i++)
        put_arrow(w, &w->drawing->arrow[i]);
    w->failed |= xmlTextWriterEndDocument(w->xml) < 0;
    return w->failed ? vf_no_memory(w->err) : VF_OK;
}

VfStatus vf_drawing_graphml(const VfDrawing *drawing, VfText *text, VfErr *err)
{
    Writer w = {.drawing = drawing, .err = err};
    VfXmlWatch watch;
    VF_TRY(vf_draw_nest(drawing, &w.nest, err));
    vf_xml_watch(&watch);
    xmlBuffer *buffer = xmlBufferCreate();
    w.xml = buffer == NULL ? NULL : xmlNewTextWriterMemory(buffer, 0);
    VfStatus status = w.xml == NULL ? vf_no_memory(err) : put_document(&w);
    xmlFreeTextWriter(w.xml);
    if (status == VF_OK)
        vf_text_add(text, xmlBufferContent(buffer), (size_t)xmlBufferLength(buffer));
    xmlBufferFree(buffer);
    vf_xml_unwatch(&watch);
    return status != VF_OK ? status
           : text->failed || watch.is_out_of_memory ? vf_no_memory(err) : VF_OK;
}
