# eggroll_add_plugin(NAME KIND backend|model|optimizer|processes SOURCES file... [LIBRARIES target...]
#                    [EMULATED_CPUS label=cpu...])
#
# Builds NAME.eggplugin with hidden visibility, no undefined symbols and exact floats, and adds its tests: one exported
# symbol, and `eggroll check`. Works in the tree and, through find_package(Eggroll), outside it; needs the language CXX.
# Where tests run under qemu-user, the check runs once for each of the EMULATED_CPUS.

function(eggroll_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND" "SOURCES;LIBRARIES;EMULATED_CPUS")
  if(NOT arg_KIND MATCHES "^(backend|model|optimizer|processes)$")
    message(FATAL_ERROR "eggroll_add_plugin(${name}): KIND is '${arg_KIND}', expected backend, model, optimizer or processes")
  endif()
  set(target eggroll_${arg_KIND}_${name})
  set(build ${CMAKE_CURRENT_BINARY_DIR}/${target}_build.cpp)
  add_library(${target} MODULE ${arg_SOURCES} ${build})
  target_link_libraries(${target} PRIVATE Eggroll::sdk ${arg_LIBRARIES})
  if(TARGET eggroll_compile)
    target_link_libraries(${target} PRIVATE eggroll_compile)
  endif()
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX,OBJCXX>:-ffp-contract=off>
                                           $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  if(APPLE)
    target_link_options(${target} PRIVATE -Wl,-exported_symbol,_egg_plugin)
  else()
    # Hidden visibility leaves instances of std templates visible.
    target_link_options(${target} PRIVATE -Wl,--version-script=${EGGROLL_CMAKE_DIR}/EggrollPlugin.map)
    # clang's sanitizers leave their runtime's symbols to the executable.
    if(NOT (EGGROLL_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES Clang))
      target_link_options(${target} PRIVATE -Wl,-z,defs)
    endif()
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" flags)
  set(commit "${EGGROLL_COMMIT}")
  if(NOT commit)
    # Outside the tree: the commit of the plugin's own sources.
    execute_process(COMMAND git -C ${CMAKE_CURRENT_SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT commit)
    set(commit "no commit")
  endif()
  set_target_properties(
    ${target} PROPERTIES PREFIX "" SUFFIX ".eggplugin" OUTPUT_NAME ${name} CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
                         OBJCXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # What it was built with, in a file of its own: a new commit compiles that file anew and no other.
  set(text "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${flags}, ${commit}")
  file(CONFIGURE OUTPUT ${build} CONTENT
       "namespace eggroll {\nextern const char plugin_build[];\nconst char plugin_build[] = R\"build(@text@)build\";\n}\n" @ONLY)
  set_source_files_properties(${build} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  target_compile_definitions(${target} PRIVATE EGGROLL_PLUGIN_KNOWS_BUILD)

  if(PROJECT_NAME STREQUAL Eggroll)
    set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/plugins)
    eggroll_find_libraries_in(${target} $ORIGIN/..)
    if(arg_KIND STREQUAL processes)
      # Not in the package: it goes with the MPI of the machine that it was built on.
      install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/eggroll/plugins COMPONENT processes)
    else()
      install(TARGETS ${target} RUNTIME_DEPENDENCY_SET eggroll_libraries
              LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/eggroll/plugins COMPONENT runtime)
    endif()
  endif()

  # Without enable_testing() these do nothing.
  add_test(NAME plugin.${arg_KIND}.${name}.symbols COMMAND ${CMAKE_COMMAND} -DPLUGIN=$<TARGET_FILE:${target}> -DNM=${CMAKE_NM} -P
                                                           ${EGGROLL_CMAKE_DIR}/EggrollCheckSymbols.cmake)
  if(arg_KIND STREQUAL processes)
    return() # the check is a job of several processes, which its own tests start
  endif()
  # A model's or optimizer's settings are those of configs/KIND/NAME.yaml in the project's folder.
  set(config_dir "")
  if(EXISTS ${PROJECT_SOURCE_DIR}/configs)
    set(config_dir --config-dir ${PROJECT_SOURCE_DIR}/configs)
  endif()
  set(command Eggroll::eggroll)
  if(CMAKE_CROSSCOMPILING AND PROJECT_NAME STREQUAL Eggroll)
    # An emulator is slow: the reference is checked by the random cases that are compared with it.
    if(name STREQUAL reference)
      return()
    endif()
    set(command eggroll_emulated)
  endif()
  set(check ${command} ${config_dir} check $<TARGET_FILE:${target}>)
  if(NOT CMAKE_CROSSCOMPILING OR NOT arg_EMULATED_CPUS)
    add_test(NAME plugin.${arg_KIND}.${name}.check COMMAND ${check})
    # Counted and printed as skipped where this machine lacks what the plugin needs.
    set_tests_properties(plugin.${arg_KIND}.${name}.check PROPERTIES SKIP_REGULAR_EXPRESSION "cannot run here")
    return()
  endif()
  foreach(cpu IN LISTS arg_EMULATED_CPUS)
    string(REGEX MATCH "^([^=]+)=(.+)$" cpu "${cpu}")
    set(test plugin.${arg_KIND}.${name}.check.${CMAKE_MATCH_1})
    add_test(NAME ${test} COMMAND ${check})
    set_tests_properties(${test} PROPERTIES ENVIRONMENT QEMU_CPU=${CMAKE_MATCH_2})
  endforeach()
endfunction()

# eggroll_explain_absence(NAME REASON): what the host tells those who ask for the plugin where it is not.
function(eggroll_explain_absence name reason)
  set_property(GLOBAL APPEND_STRING PROPERTY EGGROLL_ABSENT "{\"${name}\", \"${reason}\"},\n")
endfunction()

# eggroll_leave_out(NAME REASON): this build does not make the plugin.
function(eggroll_leave_out name reason)
  message(STATUS "${name} is not built: ${reason}")
  eggroll_explain_absence(${name} "${reason}")
endfunction()

# The plugins of this build.
function(eggroll_plugin_targets variable)
  get_property(folders DIRECTORY ${PROJECT_SOURCE_DIR}/plugins PROPERTY SUBDIRECTORIES)
  set(all "")
  foreach(folder IN LISTS folders)
    get_property(plugins DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    list(FILTER plugins INCLUDE REGEX "^eggroll_(backend|model|optimizer|processes)_")
    list(APPEND all ${plugins})
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()

set(EGGROLL_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "Folder of Eggroll's CMake scripts")
