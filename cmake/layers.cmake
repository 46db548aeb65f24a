# The layers and the two products made of them.

set(VITFOLD_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${VITFOLD_GENERATED})
set(VITFOLD_LAYERS "")

# vitfold_layer(name folder [lower layers and outside libraries ...])
# Folders inside the folder belong to it, unless they are layers of their own. A folder without
# sources yet gives a library without code.
function(vitfold_layer name folder)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c
         ${PROJECT_SOURCE_DIR}/${folder}/*/*.c)
    list(FILTER sources EXCLUDE REGEX "/emit/executor/")
    if(folder STREQUAL "passes")
        list(FILTER sources EXCLUDE REGEX "/passes/(ir|match|rewrite)/")
    endif()
    if(sources)
        add_library(${name} STATIC ${sources})
        target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
        target_compile_options(${name} PRIVATE ${VITFOLD_WARNINGS})
        target_link_libraries(${name} PUBLIC ${ARGN})
        set(VITFOLD_LAYERS ${VITFOLD_LAYERS} ${name} PARENT_SCOPE)
    else()
        add_library(${name} INTERFACE)
        target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
        target_link_libraries(${name} INTERFACE ${ARGN})
    endif()
endfunction()

vitfold_layer(vf_base runtime/base)

# The kernels have rules of their own: one object per instruction set.
if(EXISTS ${PROJECT_SOURCE_DIR}/runtime/kernels/CMakeLists.txt)
    add_subdirectory(runtime/kernels)
    list(APPEND VITFOLD_LAYERS vf_kernels)
else()
    vitfold_layer(vf_kernels runtime/kernels PkgConfig::OPENBLAS m)
endif()

vitfold_layer(vf_exec runtime/exec vf_kernels vf_base PkgConfig::OPENBLAS Threads::Threads m)
vitfold_layer(vf_ir passes/ir vf_kernels vf_base m)
vitfold_layer(vf_match passes/match vf_ir vf_base m)
vitfold_layer(vf_rewrite passes/rewrite vf_match vf_ir vf_base)
vitfold_layer(vf_passes passes vf_rewrite vf_match vf_ir vf_kernels vf_base m)
vitfold_layer(vf_data converter/data vf_kernels vf_base PkgConfig::LIBZIP PkgConfig::LIBPNG
    PkgConfig::LIBJPEG PkgConfig::ZLIB m)

# The ONNX schema is compiled from the project's own description of the format. Generated code
# is not held to the warnings of ours.
if(EXISTS ${PROJECT_SOURCE_DIR}/converter/onnx/onnx.proto)
    add_custom_command(
        OUTPUT ${VITFOLD_GENERATED}/onnx.pb-c.c ${VITFOLD_GENERATED}/onnx.pb-c.h
        COMMAND ${PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR}/converter/onnx
                --c_out=${VITFOLD_GENERATED} onnx.proto
        DEPENDS ${PROJECT_SOURCE_DIR}/converter/onnx/onnx.proto
        COMMENT "protoc-c onnx.proto"
        VERBATIM)
    add_library(vf_onnx_proto STATIC ${VITFOLD_GENERATED}/onnx.pb-c.c)
    target_compile_options(vf_onnx_proto PRIVATE -w)
    target_include_directories(vf_onnx_proto SYSTEM PUBLIC ${VITFOLD_GENERATED})
    target_link_libraries(vf_onnx_proto PUBLIC PkgConfig::PROTOBUFC)
    list(APPEND VITFOLD_LAYERS vf_onnx_proto)
else()
    add_library(vf_onnx_proto INTERFACE)
    target_link_libraries(vf_onnx_proto INTERFACE PkgConfig::PROTOBUFC)
endif()
vitfold_layer(vf_onnx converter/onnx vf_onnx_proto vf_ir vf_base)

vitfold_layer(vf_lower converter/lower vf_ir vf_exec vf_kernels vf_base m)
# converter/emit/executor is no part of the program: its files are copied into what is emitted.
vitfold_layer(vf_emit converter/emit vf_exec vf_kernels vf_base)
file(GLOB emit_sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/runtime/kernels/*.[ch] ${PROJECT_SOURCE_DIR}/runtime/kernels/*.def
    ${PROJECT_SOURCE_DIR}/converter/emit/executor/*.[ch])
string(REPLACE ";" "\n" emit_list "${emit_sources}")
file(CONFIGURE OUTPUT ${VITFOLD_GENERATED}/vitfold_emit_sources.txt CONTENT "${emit_list}\n")
list(TRANSFORM emit_sources PREPEND ${PROJECT_SOURCE_DIR}/)
add_custom_command(
    OUTPUT ${VITFOLD_GENERATED}/vitfold_emit_sources.c
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
            -DLIST=${VITFOLD_GENERATED}/vitfold_emit_sources.txt
            -DOUT=${VITFOLD_GENERATED}/vitfold_emit_sources.c
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${emit_sources} ${VITFOLD_GENERATED}/vitfold_emit_sources.txt
            ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
target_sources(vf_emit PRIVATE ${VITFOLD_GENERATED}/vitfold_emit_sources.c)
vitfold_layer(vf_draw converter/draw vf_ir vf_base PkgConfig::GRAPHVIZ PkgConfig::LIBXML2
    Threads::Threads m)
vitfold_layer(vf_report converter/report
    vf_draw vf_rewrite vf_ir vf_base PkgConfig::LIBXML2 Threads::Threads)

# The schema of recipes, and style and script of pages, are in the program: it needs no other file.
function(vitfold_bytes path name)
    string(TOLOWER ${name} file)
    add_custom_command(
        OUTPUT ${VITFOLD_GENERATED}/${file}.h
        COMMAND ${CMAKE_COMMAND} -DIN=${PROJECT_SOURCE_DIR}/${path}
                -DOUT=${VITFOLD_GENERATED}/${file}.h -DNAME=${name}
                -P ${PROJECT_SOURCE_DIR}/cmake/bytes.cmake
        DEPENDS ${PROJECT_SOURCE_DIR}/${path} ${PROJECT_SOURCE_DIR}/cmake/bytes.cmake
        VERBATIM)
    target_sources(vf_report PRIVATE ${VITFOLD_GENERATED}/${file}.h)
endfunction()
vitfold_bytes(converter/report/recipe.rng VITFOLD_RECIPE_SCHEMA)
vitfold_bytes(converter/report/html/page.css VITFOLD_PAGE_CSS)
vitfold_bytes(converter/report/html/page.js VITFOLD_PAGE_JS)
target_include_directories(vf_report PRIVATE ${VITFOLD_GENERATED})

# The version of the sources, looked up at each build.
string(CONCAT libraries "protobuf-c ${PROTOBUFC_VERSION}, openblas ${OPENBLAS_VERSION}, "
    "libxml2 ${LIBXML2_VERSION}, libzip ${LIBZIP_VERSION}, libpng ${LIBPNG_VERSION}, "
    "libjpeg ${LIBJPEG_VERSION}, zlib ${ZLIB_VERSION}, "
    "graphviz ${GRAPHVIZ_libgvc_VERSION}")
add_custom_target(vf_version
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
            "-DLIBRARIES=${libraries}"
            -DOUT=${VITFOLD_GENERATED}/vitfold_version.h
            -P ${PROJECT_SOURCE_DIR}/cmake/version.cmake
    BYPRODUCTS ${VITFOLD_GENERATED}/vitfold_version.h
    VERBATIM)
vitfold_layer(vf_api converter/api
    vf_report vf_draw vf_emit vf_lower vf_onnx vf_data vf_passes vf_rewrite vf_match vf_ir vf_exec
    vf_kernels vf_base)

# libvitfold holds the objects of all layers.
set(objects "")
foreach(layer IN LISTS VITFOLD_LAYERS)
    list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()
set(VITFOLD_OUTSIDE PkgConfig::OPENBLAS PkgConfig::PROTOBUFC PkgConfig::LIBXML2 PkgConfig::ZLIB
    PkgConfig::LIBZIP PkgConfig::LIBPNG PkgConfig::LIBJPEG PkgConfig::GRAPHVIZ Threads::Threads m)
foreach(kind STATIC SHARED)
    string(TOLOWER vitfold_${kind} target)
    add_library(${target} ${kind} ${objects})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME vitfold EXPORT_NAME ${target} LINKER_LANGUAGE C
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    target_link_libraries(${target} PRIVATE ${VITFOLD_OUTSIDE})
    target_include_directories(${target} INTERFACE $<INSTALL_INTERFACE:include>)
endforeach()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/converter/cli/*.c)
if(sources)
    add_executable(vitfold ${sources})
    target_compile_options(vitfold PRIVATE ${VITFOLD_WARNINGS})
    target_link_libraries(vitfold PRIVATE vf_api vf_base)
endif()

if(TARGET vf_api)
    get_target_property(kind vf_api TYPE)
    if(NOT kind STREQUAL INTERFACE_LIBRARY)
        add_dependencies(vf_api vf_version)
        target_include_directories(vf_api PRIVATE ${VITFOLD_GENERATED})
    endif()
endif()
