#include <string.h>

#include "converter/report/recipe.h"
#include "vitfold_recipe_schema.h"

static const unsigned char schema[] = {VITFOLD_RECIPE_SCHEMA};

VfBytes vf_recipe_schema(void)
{
    return (VfBytes){(const char *)schema, sizeof schema};
}

/* XML 1.0 has no way to say these characters. */
static bool is_forbidden(const char *at, size_t n)
{
    unsigned char c = (unsigned char)at[0];
    bool is_control = c < 0x20 && c != '\t' && c != '\n' && c != '\r';
    bool is_noncharacter = n == 3 && (memcmp(at, "\xef\xbf\xbe", 3) == 0 ||
                                      memcmp(at, "\xef\xbf\xbf", 3) == 0);
    return n == 0 || is_control || is_noncharacter;
}

/* Line ends and tabs of an attribute would be read as spaces, a return anywhere as a line end. */
static const char *reference_of(char c, bool is_attribute)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\r':
        return "&#13;";
    case '"':
        return is_attribute ? "&quot;" : NULL;
    case '\n':
        return is_attribute ? "&#10;" : NULL;
    case '\t':
        return is_attribute ? "&#9;" : NULL;
    default:
        return NULL;
    }
}

static VfStatus write_escaped(const char *value, bool is_attribute, VfText *text, VfErr *err)
{
    size_t size = strlen(value);
    for (size_t i = 0, n; i < size; i += n) {
        n = vf_utf8_length(value + i, size - i);
        if (is_forbidden(value + i, n))
            return vf_fail(err, VF_USAGE, "a recipe cannot hold byte 0x%02x of '%s'",
                           (unsigned char)value[i], value);
        const char *reference = reference_of(value[i], is_attribute);
        if (reference != NULL)
            vf_text_string(text, reference);
        else
            vf_text_add(text, value + i, n);
    }
    return VF_OK;
}

static VfStatus write_attribute(const char *name, const char *value, VfText *text, VfErr *err)
{
    if (value == NULL)
        return VF_OK;
    vf_text_printf(text, " %s=\"", name);
    VF_TRY(write_escaped(value, true, text, err));
    vf_text_char(text, '"');
    return VF_OK;
}

static VfStatus write_pass(const VfRecipePass *pass, VfText *text, VfErr *err)
{
    vf_text_string(text, "  <pass");
    VF_TRY(write_attribute("name", pass->name, text, err));
    VF_TRY(write_attribute("sites", pass->sites, text, err));
    vf_text_string(text, pass->n_option == 0 ? "/>\n" : ">\n");
    for (int32_t i = 0; i < pass->n_option; i++) {
        vf_text_string(text, "    <option");
        VF_TRY(write_attribute("name", pass->option[i].name, text, err));
        VF_TRY(write_attribute("value", pass->option[i].value, text, err));
        vf_text_string(text, "/>\n");
    }
    if (pass->n_option > 0)
        vf_text_string(text, "  </pass>\n");
    return VF_OK;
}

VfStatus vf_recipe_write(const VfRecipe *recipe, VfText *text, VfErr *err)
{
    vf_text_string(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<recipe format=\"1\"");
    VF_TRY(write_attribute("tool", recipe->tool, text, err));
    VF_TRY(write_attribute("clean-up", recipe->is_bare ? "off" : "on", text, err));
    vf_text_string(text, ">\n");
    if (recipe->note != NULL) {
        vf_text_string(text, "  <note>");
        VF_TRY(write_escaped(recipe->note, false, text, err));
        vf_text_string(text, "</note>\n");
    }
    for (int32_t i = 0; i < recipe->n_skip; i++) {
        vf_text_string(text, "  <skip");
        VF_TRY(write_attribute("pass", recipe->skip[i].name, text, err));
        vf_text_string(text, "/>\n");
    }
    for (int32_t i = 0; i < recipe->n_pass; i++)
        VF_TRY(write_pass(&recipe->pass[i], text, err));
    vf_text_string(text, "</recipe>\n");
    return VF_OK;
}
