#include "converter/draw/map_private.h"

VfStatus vf_map_sheet(VfArena *arena, const VfMapAsk *ask, VfDrawSheet *sheet, VfErr *err)
{
    VfMap map = {.arena = arena, .ask = ask, .err = err};
    VfMapPiece *piece;
    int32_t n_piece;
    VF_TRY(vf_map_units(&map));
    VF_TRY(vf_map_rows(&map));
    VF_TRY(vf_map_draw(&map, &piece, &n_piece));
    *sheet = (VfDrawSheet){.arena = arena, .title = ask->title};
    return vf_map_fit(&map, piece, n_piece, sheet);
}
