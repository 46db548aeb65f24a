# What `install` puts where; DESTDIR is honoured by CMake itself.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET vitfold)
    install(TARGETS vitfold RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS vitfold_static vitfold_shared EXPORT vitfoldTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(EXISTS ${PROJECT_SOURCE_DIR}/converter/api/vitfold.h)
    install(FILES ${PROJECT_SOURCE_DIR}/converter/api/vitfold.h
        ${PROJECT_SOURCE_DIR}/converter/api/vitfold_report.h
        ${PROJECT_SOURCE_DIR}/converter/api/vitfold_trial.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

install(FILES ${PROJECT_SOURCE_DIR}/converter/report/recipe.rng
    DESTINATION ${CMAKE_INSTALL_DATADIR}/vitfold)

file(GLOB schemas CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/schemas/*.json)
install(FILES ${schemas} DESTINATION ${CMAKE_INSTALL_DATADIR}/vitfold/schemas)

file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/docs/completion/vitfold.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME vitfold)
install(FILES ${PROJECT_SOURCE_DIR}/docs/completion/_vitfold
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_SOURCE_DIR}/docs/completion/vitfold.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Both package files find the rest from where they stand, so an installed tree can be moved.
set(VITFOLD_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH VITFOLD_PC_TO_PREFIX /prefix/${VITFOLD_PC_DIR} /prefix)
configure_file(cmake/vitfold.pc.in ${PROJECT_BINARY_DIR}/vitfold.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/vitfold.pc DESTINATION ${VITFOLD_PC_DIR})

set(VITFOLD_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/vitfold)
configure_package_config_file(cmake/vitfoldConfig.cmake.in
    ${PROJECT_BINARY_DIR}/vitfoldConfig.cmake INSTALL_DESTINATION ${VITFOLD_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/vitfoldConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/vitfoldConfig.cmake
    ${PROJECT_BINARY_DIR}/vitfoldConfigVersion.cmake DESTINATION ${VITFOLD_CMAKE_DIR})
install(EXPORT vitfoldTargets NAMESPACE vitfold:: DESTINATION ${VITFOLD_CMAKE_DIR})
