# One program per tests/**/test_*.c, one ctest case per program or tests/**/test_*.sh, named by
# its path. Test programs may include every layer.
pkg_check_modules(CHECK REQUIRED IMPORTED_TARGET check)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)

set(test_environment
    "VITFOLD=${PROJECT_BINARY_DIR}/vitfold"
    "VITFOLD_SOURCE=${PROJECT_SOURCE_DIR}"
    "VITFOLD_CORPUS=${VITFOLD_CORPUS}")
if(VITFOLD_SANITIZE)
    list(APPEND test_environment "VITFOLD_SANITIZE=1")
endif()
if(VITFOLD_SANITIZE OR VITFOLD_SANITIZE_THREADS)
    add_compile_definitions(VF_TEST_SANITIZED)
endif()

file(GLOB support CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.c)
if(support)
    add_library(vf_test_support STATIC ${support})
    target_compile_options(vf_test_support PRIVATE ${VITFOLD_WARNINGS})
    target_include_directories(vf_test_support PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(vf_test_support PUBLIC vf_api PkgConfig::CHECK PkgConfig::JANSSON)
else()
    add_library(vf_test_support INTERFACE)
    target_include_directories(vf_test_support INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(vf_test_support INTERFACE vf_api PkgConfig::CHECK)
endif()

function(vitfold_register name)
    # 77 is how a test says that what it needs is absent.
    set_tests_properties(${name} PROPERTIES
        ENVIRONMENT "${test_environment}" SKIP_RETURN_CODE 77 TIMEOUT 1200)
endfunction()

file(GLOB_RECURSE programs RELATIVE ${PROJECT_SOURCE_DIR}/tests CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/tests/test_*.c)
foreach(path IN LISTS programs)
    string(REGEX REPLACE "\\.c$" "" name ${path})
    string(REPLACE "/" "_" target ${name})
    add_executable(${target} ${PROJECT_SOURCE_DIR}/tests/${path})
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    # Check's macros compare floats as doubles and pass no argument to a variadic macro.
    target_compile_options(${target} PRIVATE ${VITFOLD_WARNINGS} -Wno-double-promotion
        $<$<C_COMPILER_ID:Clang>:-Wno-gnu-zero-variadic-macro-arguments>)
    target_link_libraries(${target} PRIVATE vf_test_support vf_passes vf_data vf_onnx
        vf_lower vf_exec vf_kernels PkgConfig::JANSSON)
    add_test(NAME ${name} COMMAND ${target})
    vitfold_register(${name})
endforeach()

# Seeds and findings of the fuzzing harnesses, without a fuzzer.
file(GLOB harnesses RELATIVE ${PROJECT_SOURCE_DIR}/tests/fuzz CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(file IN LISTS harnesses)
    string(REGEX REPLACE "^fuzz_(.*)\\.c$" "\\1" kind ${file})
    file(GLOB inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/seeds/${kind}/*
        ${PROJECT_SOURCE_DIR}/tests/fuzz/findings/${kind}/*)
    add_executable(replay_${kind} ${PROJECT_SOURCE_DIR}/tests/fuzz/${file}
        ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.c)
    target_compile_options(replay_${kind} PRIVATE ${VITFOLD_WARNINGS})
    target_link_libraries(replay_${kind} PRIVATE vf_test_support vf_passes vf_data vf_onnx
        vf_lower vf_exec)
    add_test(NAME fuzz/replay_${kind} COMMAND replay_${kind} ${inputs})
    vitfold_register(fuzz/replay_${kind})
endforeach()

# What scripts preload into the tool. Sanitizers bring an allocator of their own: gcc's as a library
# that can be stood before, clang's within the program.
if(NOT VITFOLD_SANITIZE OR CMAKE_C_COMPILER_ID STREQUAL "GNU")
    add_library(fail_shim MODULE ${PROJECT_SOURCE_DIR}/tests/support/preload/fail_shim.c)
    target_compile_options(fail_shim PRIVATE ${VITFOLD_WARNINGS} -fno-builtin -fno-sanitize=all)
    set_target_properties(fail_shim PROPERTIES C_VISIBILITY_PRESET default)
    target_link_libraries(fail_shim PRIVATE ${CMAKE_DL_LIBS})
    list(APPEND test_environment "VITFOLD_FAIL_SHIM=$<TARGET_FILE:fail_shim>")
    if(VITFOLD_SANITIZE)
        list(APPEND test_environment "ASAN_OPTIONS=verify_asan_link_order=0"
            "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/leaks.supp:print_suppressions=0")
    endif()
endif()

file(GLOB_RECURSE scripts RELATIVE ${PROJECT_SOURCE_DIR}/tests CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/tests/test_*.sh)
foreach(path IN LISTS scripts)
    string(REGEX REPLACE "\\.sh$" "" name ${path})
    add_test(NAME ${name} COMMAND bash ${PROJECT_SOURCE_DIR}/tests/${path})
    vitfold_register(${name})
endforeach()
