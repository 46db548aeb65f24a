# Compilers, flags and outside libraries.

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
# Assertions stay on in releases: what they cost is not measurable outside the kernels.
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_DEBUG "-Og -g")

find_program(VITFOLD_CCACHE ccache)
if(VITFOLD_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER ${VITFOLD_CCACHE})
endif()

# Rows of tables leave out the fields they do not need.
set(VITFOLD_WARNINGS
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion
    -Wstrict-prototypes -Wmissing-prototypes -Wno-missing-field-initializers)
if(VITFOLD_WERROR)
    list(APPEND VITFOLD_WARNINGS -Werror)
endif()

add_compile_definitions(_GNU_SOURCE)
if(VITFOLD_SANITIZE)
    set(VITFOLD_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=all)
    add_compile_options(${VITFOLD_SANITIZERS} -fno-omit-frame-pointer)
    add_link_options(${VITFOLD_SANITIZERS})
endif()

if(VITFOLD_SANITIZE_THREADS)
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
    add_link_options(-fsanitize=thread)
endif()
if(VITFOLD_FUZZ)
    # An empty list is NULL here, and NULL + 0, which C23 allows, is what clang alone reports.
    add_compile_options(-fsanitize=fuzzer-no-link -fno-sanitize=pointer-overflow)
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)
pkg_check_modules(PROTOBUFC REQUIRED IMPORTED_TARGET libprotobuf-c)
pkg_check_modules(LIBXML2 REQUIRED IMPORTED_TARGET libxml-2.0)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(LIBPNG REQUIRED IMPORTED_TARGET libpng)
pkg_check_modules(LIBJPEG REQUIRED IMPORTED_TARGET libjpeg)
pkg_check_modules(GRAPHVIZ REQUIRED IMPORTED_TARGET libgvc libcgraph)
find_program(PROTOC_C protoc-c REQUIRED)
