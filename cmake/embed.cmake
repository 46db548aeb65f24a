# Writes OUT, a C source that holds the files of LIST (one path under ROOT a line) as byte arrays
# and the table `vf_emit_source` of them, ended by a row of zeros (converter/emit/source.h).
file(STRINGS ${LIST} paths)
set(arrays "")
set(rows "")
set(i 0)
foreach(path IN LISTS paths)
    file(READ ${ROOT}/${path} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n"
        bytes "${bytes}")
    string(APPEND arrays "static const unsigned char file_${i}[] = {\n${bytes}\n};\n")
    string(APPEND rows "    {\"${path}\", (const char *)file_${i}, sizeof file_${i}},\n")
    math(EXPR i "${i} + 1")
endforeach()
file(WRITE ${OUT} "#include \"converter/emit/source.h\"\n\n${arrays}\n"
    "const VfEmitSource vf_emit_source[] = {\n${rows}    {0},\n};\n")
