/* What the files of the .vft printer share. Failed allocations are remembered by the text. */
#ifndef VF_IR_VFT_PRINT_H
#define VF_IR_VFT_PRINT_H

#include "passes/ir/vft.h"

enum {
    VF_VFT_LITERAL_MAX = 64,            /* larger tensors are printed as splat or hex */
    VF_VFT_SPLAT_BYTES_MAX = 64 << 20,  /* largest tensor `splat` and `random` may make ... */
    VF_VFT_SPLAT_TOTAL_MAX = 1 << 30    /* ... and all of a model together */
};

typedef struct VfVftPrint {
    VfText *text;
    const VfModel *model;
    VfVftStyle style;
    bool one_line;     /* print_node: subgraphs and weights in short */
    int32_t *label;    /* by value id: number of an unnamed value, from 1; NULL: its id */
    int32_t n_label;
    size_t splat_total; /* bytes printed as splat so far */
    int depth;         /* for indenting */
} VfVftPrint;

/* One entry of a [doc=..., raw=...] list: the brackets are opened by the first one printed. */
typedef struct VfVftNotes {
    VfVftPrint *print;
    bool is_open;
} VfVftNotes;

void vf_vft_print_string(VfText *text, VfBytes value); /* "..." with escapes */
void vf_vft_print_name(VfText *text, VfBytes name);    /* bare if it can be, else as string */
void vf_vft_print_value(VfVftPrint *p, const VfValue *value); /* name, %number, or _ for NULL */
void vf_vft_print_type(VfVftPrint *p, const VfType *type);
void vf_vft_print_tensor(VfVftPrint *p, const VfTensor *tensor); /* type and data */
/* A float that reads as one: "1.0", "nan:0x7fc00001". */
void vf_vft_print_float(VfText *text, float value);
void vf_vft_print_line(VfVftPrint *p); /* line end and indent */

void vf_vft_note_bytes(VfVftNotes *notes, const char *key, VfBytes value); /* nothing if empty */
void vf_vft_note_raw(VfVftNotes *notes, const char *key, VfRaw raw);       /* nothing if empty */
void vf_vft_note_meta(VfVftNotes *notes, const VfMeta *meta);
void vf_vft_note_word(VfVftNotes *notes, const char *word);
void vf_vft_notes_end(VfVftNotes *notes);

/* "domain::Type:overload" */
void vf_vft_print_operator(VfText *text, VfBytes domain, VfBytes name, VfBytes overload);

/* "Op(x, y) {axis=1} @name", results in front. */
void vf_vft_print_statement(VfVftPrint *p, const VfNode *node);
void vf_vft_print_attr_value(VfVftPrint *p, const VfAttr *attr);
/* The [...] of an attribute; the name and [...] of a node. */
void vf_vft_print_attr_notes(VfVftPrint *p, const VfAttr *attr);
void vf_vft_print_node_tail(VfVftPrint *p, const VfNode *node);

/* Name (always if `with_name`), notes, inputs, outputs and body. */
void vf_vft_print_graph(VfVftPrint *p, const VfGraph *graph, bool with_name);
/* Name, type and notes of a value where it is defined. */
void vf_vft_print_definition(VfVftPrint *p, const VfValue *value);

/* Spelling of an attribute type, "" for none; and back, VF_ATTR_TYPE_PROTOS + 1 for none. */
const char *vf_vft_attr_type_name(VfAttrType type);
int vf_vft_attr_type_from(VfBytes name);

#endif
