# Flags of our own targets: warnings, which may be errors, exact floats, sanitizers on request.

find_program(CCACHE ccache)
if(CCACHE)
  # As ccache asks of those who precompile headers.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

# Each compiler has warnings of its own, so they are errors only with those that tools/test has tried.
set(is_tried OFF)
if("${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU 12|Clang 14)[.]")
  set(is_tried ON)
endif()
option(EGGROLL_WERROR "Take warnings for errors" ${is_tried})

add_library(eggroll_compile INTERFACE)
target_compile_options(
  eggroll_compile
  INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wsign-conversion;-Wswitch-enum>
            $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:${EGGROLL_WERROR}>>:-Werror>
            # GCC 12 sees overlaps in std::string's operator+ that are not there (its bug 105651).
            $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>
            # Files put into a program are longer than every compiler has to take, and clang takes them.
            $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-overlength-strings>
            # GCC takes the files of a unity build for headers, which must not hand on what is local to a file.
            $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
            # For ccache, where headers are precompiled.
            $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
            # One rounding per operation: a contracted multiply-add would give other bits on other machines.
            $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>)

# For sources where speed does not matter: a release compiles them in half the time.
set(EGGROLL_LIGHT $<$<CONFIG:Release>:-O1>)

# In a unity build: each folder of the target's sources as one file. A third of the time, as headers are read once.
function(eggroll_unite_rooms target)
  get_target_property(sources ${target} SOURCES)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH room)
    cmake_path(GET room FILENAME room)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room})
  endforeach()
endfunction()

if(EGGROLL_SANITIZE)
  string(REPLACE ";" "," sanitizers "${EGGROLL_SANITIZE}")
  # GCC documents false warnings of uninitialised values where code is instrumented.
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(eggroll_compile INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${sanitizers})
endif()

# Where the target's file looks first for its libraries; an unpacked package has them there, else the machine's are
# found. As DT_RPATH, which comes before LD_LIBRARY_PATH and holds for what those libraries need in turn. The build has
# the same: CMake ends a path that it is to replace with an empty entry, and that means the current folder.
function(eggroll_find_libraries_in target folder)
  if(APPLE)
    string(REPLACE "$ORIGIN" "@loader_path" folder "${folder}")
  endif()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH ${folder} INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
  if(NOT APPLE)
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  endif()
endfunction()

# The commit a binary was built from, with "-dirty" where the tree had changes: for plugins as of the configuration, which
# a new commit repeats; for the host as of the build (EggrollCommit.cmake).
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE EGGROLL_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT EGGROLL_COMMIT)
  set(EGGROLL_COMMIT unknown)
endif()
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
                OUTPUT_VARIABLE head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(head_log AND EXISTS ${head_log})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
endif()
add_custom_target(
  eggroll_commit COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${PROJECT_BINARY_DIR}/generated/eggroll_commit.h
                         -P ${CMAKE_CURRENT_LIST_DIR}/EggrollCommit.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/eggroll_commit.h)
