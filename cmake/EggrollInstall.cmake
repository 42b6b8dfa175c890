# What `cmake --install` puts where: the command, its plugins (eggroll_add_plugin installs each), configurations, what
# `eggroll new` copies, the Python module, the manual page and completions for shells (component runtime), and the CMake
# package that builds plugins outside the tree (sdk), which needs no other one. CPack's package has both, and what it takes to run on a
# machine that has none of our libraries (package).

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Eggroll)

function(eggroll_install_program target)
  eggroll_find_libraries_in(${target} $ORIGIN/../${CMAKE_INSTALL_LIBDIR}/eggroll)
  install(TARGETS ${target} ${ARGN} RUNTIME_DEPENDENCY_SET eggroll_libraries RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
                                                                                     COMPONENT runtime)
endfunction()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs ${PROJECT_SOURCE_DIR}/experiments DESTINATION ${CMAKE_INSTALL_DATADIR}/eggroll
        COMPONENT runtime)
# `eggroll new` copies these; they have the same places as in the tree.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/template DESTINATION ${CMAKE_INSTALL_DATADIR}/eggroll/tools COMPONENT runtime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/plugins/backends/reference DESTINATION ${CMAKE_INSTALL_DATADIR}/eggroll/plugins/backends
        COMPONENT runtime)
install(FILES ${PROJECT_SOURCE_DIR}/tools/python/eggroll_results.py ${PROJECT_SOURCE_DIR}/tools/python/results.ipynb
        DESTINATION ${CMAKE_INSTALL_DATADIR}/eggroll/python COMPONENT runtime)
eggroll_install_program(eggroll EXPORT EggrollTargets)
if(TARGET eggroll_bench)
  eggroll_install_program(eggroll_bench)
endif()

# eggroll_write(FILE DESTINATION FOLDER WORDS word...): what `eggroll WORDS` prints, made by the build.
function(eggroll_write file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" DESTINATION WORDS)
  set(written ${PROJECT_BINARY_DIR}/shell/${arg_DESTINATION}/${file})
  get_filename_component(folder ${written} DIRECTORY)
  add_custom_command(
    OUTPUT ${written} COMMAND ${CMAKE_COMMAND} -E make_directory ${folder} COMMAND eggroll ${arg_WORDS} > ${written}
    DEPENDS eggroll COMMENT "Writing ${file}")
  target_sources(eggroll_shell PRIVATE ${written})
  install(FILES ${written} DESTINATION ${arg_DESTINATION} COMPONENT runtime)
endfunction()

if(CMAKE_CROSSCOMPILING)
  message(STATUS "the manual page and the completions are not installed: the command, which writes them, does not run here")
else()
  add_custom_target(eggroll_shell ALL)
  eggroll_write(eggroll.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 WORDS man)
  eggroll_write(eggroll DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions WORDS completion bash)
  eggroll_write(_eggroll DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions WORDS completion zsh)
  eggroll_write(eggroll.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d WORDS completion fish)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/eggroll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT sdk)
install(TARGETS eggroll_sdk EXPORT EggrollTargets)
install(EXPORT EggrollTargets NAMESPACE Eggroll:: DESTINATION ${package_folder} COMPONENT sdk)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/EggrollConfig.cmake.in ${PROJECT_BINARY_DIR}/EggrollConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
# While the version is 0.x a plugin fits one minor version of the host.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/EggrollConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/EggrollConfig.cmake ${PROJECT_BINARY_DIR}/EggrollConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/EggrollAddPlugin.cmake ${CMAKE_CURRENT_LIST_DIR}/EggrollCheckSymbols.cmake
              ${CMAKE_CURRENT_LIST_DIR}/EggrollPlugin.map DESTINATION ${package_folder} COMPONENT sdk)

if(APPLE)
  message(STATUS "no package is made: libraries on macOS are found where they were built; build on the machine itself")
  return()
endif()

# Not glibc: it goes with the kernel and the loader of the machine, and newer ones run what was built with older ones.
install(RUNTIME_DEPENDENCY_SET eggroll_libraries PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|dl|m|mvec|pthread|resolv|rt)\\.so"
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/eggroll COMPONENT package EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION .
        COMPONENT package EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION . COMPONENT package EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME eggroll-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime sdk package)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
