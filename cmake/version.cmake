# Writes vitfold_version.h: the release number and, in a git checkout, the commit. The file is
# touched only when its text changes, so that nothing is compiled again for nothing.
set(commit "")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)
    execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty=+ --abbrev=12
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
string(CONCAT text "#define VITFOLD_VERSION \"${VERSION}\"\n#define VITFOLD_COMMIT \"${commit}\"\n"
    "#define VITFOLD_LIBRARIES \"${LIBRARIES}\"\n")
set(old "")
if(EXISTS ${OUT})
    file(READ ${OUT} old)
endif()
if(NOT old STREQUAL text)
    file(WRITE ${OUT} "${text}")
endif()
