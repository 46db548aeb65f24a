# Writes OUT, a header that defines NAME as the bytes of IN: "0x3c,0x3f,...".
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1 \\\\\n"
    bytes "${bytes}")
file(WRITE ${OUT} "#define ${NAME} \\\n${bytes}\n")
