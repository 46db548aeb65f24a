#include "converter/report/recipe.h"

#include <ctype.h>
#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <stdio.h>
#include <string.h>

#include "converter/draw/xml_watch.h"

/* The schema knows elements with four at most. */
enum { ATTRIBUTES_MAX = 64 };

typedef struct Reader {
    VfArena *arena;
    const char *name; /* of the file */
    bool has_doctype;
    bool is_out_of_memory; /* libxml2, which goes on with less then */
    int line; /* of the first error */
    char error[512];
} Reader;

/* --- libxml2 --- */

/* Tables are not created for want of memory alone. */
static bool is_of_memory(int code)
{
    return code == XML_ERR_NO_MEMORY || code == XML_RNGP_DEFINE_CREATE_FAILED ||
           code == XML_RNGP_REF_CREATE_FAILED || code == XML_RNGP_INTERLEAVE_CREATE_FAILED ||
           code == XML_RNGP_PARENTREF_CREATE_FAILED;
}

/* Keep the first error: the later ones only say where it was met. */
static void keep_error(void *user, xmlErrorPtr error)
{
    Reader *reader = user;
    reader->is_out_of_memory |= is_of_memory(error->code);
    if (reader->error[0] != '\0' || error->message == NULL || error->level < XML_ERR_ERROR)
        return;
    reader->line = error->line;
    if (error->code == XML_RELAXNG_ERR_ATTRVALID && error->str1 != NULL) {
        snprintf(reader->error, sizeof reader->error,
                 "an attribute of element %s is missing or has another value than it can have",
                 error->str1);
        return;
    }
    size_t n = strcspn(error->message, "\n");
    const char *advice = strstr(error->message, " use XML_PARSE_");
    if (advice != NULL)
        n = (size_t)(advice - error->message);
    if (n >= sizeof reader->error)
        n = sizeof reader->error - 1;
    memcpy(reader->error, error->message, n);
    reader->error[n] = '\0';
    while (n > 0 && (isspace((unsigned char)reader->error[n - 1]) || reader->error[n - 1] == '.'))
        reader->error[--n] = '\0';
    if (n > 1 && islower((unsigned char)reader->error[1]))
        reader->error[0] = (char)tolower((unsigned char)reader->error[0]);
}

static void keep_parser_error(void *user, xmlErrorPtr error)
{
    xmlParserCtxtPtr parser = user;
    keep_error(parser->_private, error);
}

/* A document type can define entities, which can grow without bound: nothing of it is read. */
static void refuse_doctype(void *user, const xmlChar *name, const xmlChar *external,
                           const xmlChar *system)
{
    xmlParserCtxtPtr parser = user;
    Reader *reader = parser->_private;
    (void)name, (void)external, (void)system;
    reader->has_doctype = true;
    reader->line = parser->input == NULL ? 1 : parser->input->line;
    xmlStopParser(parser);
}

static VfStatus fail(const Reader *reader, VfErr *err)
{
    return vf_fail(err, VF_USAGE, "%s:%d: %s", reader->name, reader->line < 1 ? 1 : reader->line,
                   reader->error[0] == '\0' ? "this is no recipe" : reader->error);
}

static VfStatus check_bytes(Reader *reader, VfBytes bytes, VfErr *err)
{
    reader->line = 1;
    for (size_t i = 0, n; i < bytes.size; i += n) {
        n = vf_utf8_length(bytes.data + i, bytes.size - i);
        if (n == 0 || bytes.data[i] == '\0')
            return vf_fail(err, VF_USAGE, "%s:%d: byte 0x%02x is not part of UTF-8 text",
                           reader->name, reader->line, (unsigned char)bytes.data[i]);
        reader->line += bytes.data[i] == '\n';
    }
    reader->line = 0;
    return VF_OK;
}

/* Behind the first `mark`, or the end. */
static const char *skip_to(const char *at, const char *end, const char *mark)
{
    const char *found = memmem(at, (size_t)(end - at), mark, strlen(mark));
    return found == NULL ? end : found + strlen(mark);
}

/* Behind the tag that begins at `at`; it has as many attributes as quotes are opened. */
static const char *skip_tag(const char *at, const char *end, int *n_attribute)
{
    char quote = '\0';
    for (*n_attribute = 0; at < end && (quote != '\0' || *at != '>'); at++) {
        if (*at == quote) {
            quote = '\0';
        } else if (quote == '\0' && (*at == '"' || *at == '\'')) {
            quote = *at;
            ++*n_attribute;
        }
    }
    return at;
}

/* libxml2 compares each attribute of an element with all others, so a file of nothing but
 * attributes would take it minutes. Nothing is read beyond a DOCTYPE, so nothing is counted. */
static VfStatus check_tags(const Reader *reader, VfBytes bytes, VfErr *err)
{
    const char *at = bytes.data, *end = at + bytes.size;
    int n_attribute;
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        size_t left = (size_t)(end - at);
        if (left >= 4 && memcmp(at, "<!--", 4) == 0) {
            at = skip_to(at + 4, end, "-->");
        } else if (left >= 9 && memcmp(at, "<![CDATA[", 9) == 0) {
            at = skip_to(at + 9, end, "]]>");
        } else if (left >= 2 && at[1] == '?') {
            at = skip_to(at + 2, end, "?>");
        } else if (left >= 2 && at[1] == '!') {
            return VF_OK;
        } else {
            at = skip_tag(at, end, &n_attribute);
            if (n_attribute > ATTRIBUTES_MAX)
                return vf_fail(err, VF_USAGE, "%s:1: an element has more than %d attributes",
                               reader->name, ATTRIBUTES_MAX);
        }
    }
    return VF_OK;
}

static VfStatus parse(Reader *reader, VfBytes bytes, xmlDocPtr *document, VfErr *err)
{
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    VF_TRY_ALLOC(parser, err);
    parser->_private = reader;
    parser->sax->serror = keep_parser_error;
    parser->sax->internalSubset = refuse_doctype;
    *document = xmlCtxtReadMemory(parser, bytes.data, (int)bytes.size, NULL, "UTF-8",
                                  XML_PARSE_NONET | XML_PARSE_NOCDATA);
    xmlFreeParserCtxt(parser);
    if (reader->has_doctype)
        return vf_fail(err, VF_USAGE, "%s:%d: a recipe has no DOCTYPE", reader->name,
                       reader->line);
    return *document == NULL ? fail(reader, err) : VF_OK;
}

static VfStatus validate_with(Reader *reader, xmlRelaxNGPtr schema, xmlDocPtr document, VfErr *err)
{
    xmlRelaxNGValidCtxtPtr checker = xmlRelaxNGNewValidCtxt(schema);
    VF_TRY_ALLOC(checker, err);
    xmlRelaxNGSetValidStructuredErrors(checker, keep_error, reader);
    int result = xmlRelaxNGValidateDoc(checker, document);
    xmlRelaxNGFreeValidCtxt(checker);
    return result == 0 ? VF_OK : fail(reader, err);
}

static VfStatus validate(Reader *reader, xmlDocPtr document, VfErr *err)
{
    VfBytes text = vf_recipe_schema();
    xmlRelaxNGParserCtxtPtr parser = xmlRelaxNGNewMemParserCtxt(text.data, (int)text.size);
    VF_TRY_ALLOC(parser, err);
    xmlRelaxNGSetParserStructuredErrors(parser, keep_error, reader);
    xmlRelaxNGPtr schema = xmlRelaxNGParse(parser);
    xmlRelaxNGFreeParserCtxt(parser);
    if (schema == NULL)
        return vf_fail(err, VF_INTERNAL, "the schema of recipes: %s", reader->error);
    VfStatus status = validate_with(reader, schema, document, err);
    xmlRelaxNGFree(schema);
    return status;
}

/* --- the tree, which the schema has accepted --- */

static bool is_element(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static int32_t count(const xmlNode *parent, const char *name)
{
    int32_t n = 0;
    for (const xmlNode *node = parent->children; node != NULL; node = node->next)
        n += is_element(node, name);
    return n;
}

static VfStatus copy_text(Reader *reader, xmlChar *text, const char **copy, VfErr *err)
{
    *copy = text == NULL ? NULL : vf_arena_string(reader->arena, (const char *)text);
    bool is_lost = text != NULL && *copy == NULL;
    xmlFree(text);
    return is_lost ? vf_no_memory(err) : VF_OK;
}

static VfStatus read_attribute(Reader *reader, xmlNode *node, const char *name, const char **value,
                               VfErr *err)
{
    return copy_text(reader, xmlGetNoNsProp(node, (const xmlChar *)name), value, err);
}

static int line_of(const xmlNode *node)
{
    long line = xmlGetLineNo(node);
    return line < 1 ? 1 : (int)line;
}

static VfStatus read_options(Reader *reader, xmlNode *parent, VfRecipePass *pass, VfErr *err)
{
    VfRecipeOption *option =
        VF_NEW_ARRAY(reader->arena, VfRecipeOption, (size_t)count(parent, "option"));
    VF_TRY_ALLOC(option, err);
    for (xmlNode *node = parent->children; node != NULL; node = node->next) {
        if (!is_element(node, "option"))
            continue;
        VfRecipeOption *at = &option[pass->n_option++];
        at->line = line_of(node);
        VF_TRY(read_attribute(reader, node, "name", &at->name, err));
        VF_TRY(read_attribute(reader, node, "value", &at->value, err));
    }
    pass->option = option;
    return VF_OK;
}

/* All children called `element`, named by the attribute `key`. */
static VfStatus read_passes(Reader *reader, xmlNode *root, const char *element, const char *key,
                            const VfRecipePass **list, int32_t *n, VfErr *err)
{
    VfRecipePass *pass = VF_NEW_ARRAY(reader->arena, VfRecipePass, (size_t)count(root, element));
    VF_TRY_ALLOC(pass, err);
    *list = pass;
    *n = 0;
    for (xmlNode *node = root->children; node != NULL; node = node->next) {
        if (!is_element(node, element))
            continue;
        VfRecipePass *at = &pass[(*n)++];
        *at = (VfRecipePass){.line = line_of(node)};
        VF_TRY(read_attribute(reader, node, key, &at->name, err));
        VF_TRY(read_attribute(reader, node, "sites", &at->sites, err));
        VF_TRY(read_options(reader, node, at, err));
    }
    return VF_OK;
}

static VfStatus read_tree(Reader *reader, xmlDocPtr document, VfRecipe *recipe, VfErr *err)
{
    xmlNode *root = xmlDocGetRootElement(document);
    const char *clean_up;
    VF_TRY(read_attribute(reader, root, "tool", &recipe->tool, err));
    VF_TRY(read_attribute(reader, root, "clean-up", &clean_up, err));
    recipe->is_bare = clean_up != NULL && strcmp(clean_up, "off") == 0;
    for (xmlNode *node = root->children; node != NULL; node = node->next)
        if (is_element(node, "note"))
            VF_TRY(copy_text(reader, xmlNodeGetContent(node), &recipe->note, err));
    VF_TRY(read_passes(reader, root, "skip", "pass", &recipe->skip, &recipe->n_skip, err));
    return read_passes(reader, root, "pass", "name", &recipe->pass, &recipe->n_pass, err);
}

static VfStatus read_watched(Reader *reader, VfBytes bytes, VfRecipe *recipe, VfErr *err)
{
    xmlDocPtr document = NULL;
    VfStatus status = parse(reader, bytes, &document, err);
    if (status == VF_OK)
        status = validate(reader, document, err);
    if (status == VF_OK)
        status = read_tree(reader, document, recipe, err);
    xmlFreeDoc(document);
    return status;
}

VfStatus vf_recipe_parse(VfArena *arena, VfBytes bytes, const char *name, VfRecipe *recipe,
                         VfErr *err)
{
    Reader reader = {.arena = arena, .name = name};
    *recipe = (VfRecipe){0};
    VF_TRY(check_bytes(&reader, bytes, err));
    VF_TRY(check_tags(&reader, bytes, err));
    VfXmlWatch watch;
    vf_xml_watch(&watch);
    VfStatus status = read_watched(&reader, bytes, recipe, err);
    vf_xml_unwatch(&watch);
    return reader.is_out_of_memory || watch.is_out_of_memory ? vf_no_memory(err) : status;
}
