# What `cmake --install` puts where: the command, its plugins (eggroll_add_plugin installs each), configurations and
# templates, and the CMake package that builds plugins outside the tree. The package needs no other one.

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Eggroll)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/eggroll DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs ${PROJECT_SOURCE_DIR}/experiments ${PROJECT_SOURCE_DIR}/tools/template
        DESTINATION ${CMAKE_INSTALL_DATADIR}/eggroll)

install(TARGETS eggroll_sdk EXPORT EggrollTargets)
if(TARGET eggroll)
  install(TARGETS eggroll EXPORT EggrollTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT EggrollTargets NAMESPACE Eggroll:: DESTINATION ${package_folder})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/EggrollConfig.cmake.in ${PROJECT_BINARY_DIR}/EggrollConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
# While the version is 0.x a plugin fits one minor version of the host.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/EggrollConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/EggrollConfig.cmake ${PROJECT_BINARY_DIR}/EggrollConfigVersion.cmake
        ${CMAKE_CURRENT_LIST_DIR}/EggrollAddPlugin.cmake ${CMAKE_CURRENT_LIST_DIR}/EggrollCheckSymbols.cmake
        ${CMAKE_CURRENT_LIST_DIR}/EggrollPlugin.map
  DESTINATION ${package_folder})
