# One libFuzzer program per tests/fuzz/fuzz_*.c; clang only. scripts/fuzz builds and runs them.
file(GLOB harnesses RELATIVE ${PROJECT_SOURCE_DIR}/tests/fuzz CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
add_library(vf_fuzz_support STATIC ${PROJECT_SOURCE_DIR}/tests/support/run_model.c
    ${PROJECT_SOURCE_DIR}/tests/support/mutate_message.c)
target_link_libraries(vf_fuzz_support PUBLIC vf_api vf_passes vf_data vf_onnx vf_lower vf_exec)
target_include_directories(vf_fuzz_support PUBLIC ${PROJECT_SOURCE_DIR})
foreach(file IN LISTS harnesses)
    string(REGEX REPLACE "\\.c$" "" name ${file})
    # How inputs are changed, where a harness does not leave that to libFuzzer.
    string(REPLACE "fuzz_" "mutate_" mutator ${file})
    file(GLOB mutator CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/${mutator})
    add_executable(${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/${file} ${mutator})
    target_compile_options(${name} PRIVATE ${VITFOLD_WARNINGS})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(${name} PRIVATE vf_fuzz_support)
endforeach()
