/* How a map is made: nodes to units (map_units.c), units to rows (map_rows.c), rows to drawings
 * (map.c). All memory is in the arena of the map.
 */
#ifndef VF_DRAW_MAP_PRIVATE_H
#define VF_DRAW_MAP_PRIVATE_H

#include "converter/draw/map.h"

enum { VF_MAP_HIDDEN = -2, VF_MAP_NONE = -1 }; /* in place of a unit */

/* Several nodes drawn as one box. */
typedef struct VfMapUnit {
    int32_t site;      /* of the ask, or -1 */
    const char *sign;  /* joints: "+" or "×"; NULL for others */
    VfNode *first;     /* first node in graph order ... */
    VfNode *main;      /* ... the node that made the unit */
    int32_t n_node, n_edge;
    bool is_move;      /* no site, no joint, and its nodes only move data */
    const char *note[3];
    int32_t n_note;
    int32_t segment, row;
    bool is_residual;  /* a joint of a branch with what it began at */
    int32_t skip;      /* residual joints: the unit the skip comes from */
} VfMapUnit;

/* What flows from a unit (or graph input: VF_MAP_NONE) into another. */
typedef struct VfMapEdge {
    int32_t from, to;
    const VfValue *value;
} VfMapEdge;

typedef struct VfMap {
    VfArena *arena;
    const VfMapAsk *ask;
    VfErr *err;
    int32_t *unit_of; /* by node id */
    int32_t n_unit, n_edge;
    VfMapUnit *unit;  /* in order of the graph */
    VfMapEdge *edge;  /* in order of `to` */
    size_t unit_capacity, edge_capacity;
    int32_t n_row;
    struct VfMapRow {
        VfBytes label, heading;
        int32_t n_unit;
        bool is_block; /* it holds a residual sum */
    } *row;
} VfMap;

/* The node of the map's graph in whose subgraphs `node` lies, or itself. */
VfNode *vf_map_outer(const VfMap *map, VfNode *node);

VfStatus vf_map_units(VfMap *map);
VfStatus vf_map_order(VfMap *map); /* so that edges go from lower to higher numbers */
VfStatus vf_map_rows(VfMap *map);

/* --- map_draw.c: one drawing of each row; map_fit.c: fewer boxes where there are too many --- */

/* A row as it will be drawn. Long rows are cut into several. */
typedef struct VfMapPiece {
    int32_t row;
    int32_t n_unit;
    const int32_t *unit;
    VfDrawRow drawn;
} VfMapPiece;

VfStatus vf_map_draw(VfMap *map, VfMapPiece **piece, int32_t *n_piece);

/* The pieces as rows of the sheet, or what stands for them. */
VfStatus vf_map_fit(VfMap *map, const VfMapPiece *piece, int32_t n_piece, VfDrawSheet *sheet);

/* The box of a unit; its lines are in the arena. */
VfStatus vf_map_box(const VfMap *map, int32_t unit, VfDrawBox *box);

#endif
