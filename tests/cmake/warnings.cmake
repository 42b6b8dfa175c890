# EGGROLL_WERROR makes a warning an error, or leaves it one; the default depends on the compiler. Run as:
# cmake -DSOURCE_DIR=... -DWORK_DIR=... -DGENERATOR=... -DCXX_COMPILER=... -P warnings.cmake

include(${CMAKE_CURRENT_LIST_DIR}/../support/quiet_run.cmake)
set(run_folder ${WORK_DIR})
file(REMOVE_RECURSE ${WORK_DIR})
set(begin "cmake_minimum_required(VERSION 3.25)\n")
set(include "include(${SOURCE_DIR}/cmake/EggrollCompile.cmake)\n")

set(folder ${WORK_DIR}/warned)
file(WRITE ${folder}/warned.cpp "static int unused() { return 1; }\n")
file(WRITE ${folder}/CMakeLists.txt "${begin}project(Warned LANGUAGES CXX)\n${include}add_library(warned OBJECT warned.cpp)\n"
                                    "target_link_libraries(warned PRIVATE eggroll_compile)\n")
foreach(setting ON OFF)
  run(${CMAKE_COMMAND} -S ${folder} -B ${folder}/${setting} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
      -DEGGROLL_WERROR=${setting})
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder}/${setting} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT output MATCHES "unused")
    message(FATAL_ERROR "with EGGROLL_WERROR=${setting} the compiler does not warn: ${output}")
  endif()
  if((setting AND status EQUAL 0) OR (NOT setting AND NOT status EQUAL 0))
    message(FATAL_ERROR "with EGGROLL_WERROR=${setting} the build ends with ${status}: ${output}")
  endif()
endforeach()

# No compiler is run: the project has no language.
set(folder ${WORK_DIR}/default)
file(WRITE ${folder}/CMakeLists.txt
     "${begin}project(Default LANGUAGES NONE)\n${include}message(NOTICE \"default \${EGGROLL_WERROR}\")\n")
foreach(compiler "GNU 12.2.0=ON" "GNU 13.2.0=OFF" "Clang 14.0.6=ON" "Clang 19.1.7=OFF" "AppleClang 14.0.3=OFF"
                 "AppleClang 17.0.0=OFF")
  string(REGEX MATCH "^(.*) (.*)=(.*)$" compiler ${compiler})
  set(expected ${CMAKE_MATCH_3})
  run(${CMAKE_COMMAND} --fresh -S ${folder} -B ${folder}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER_ID=${CMAKE_MATCH_1}
      -DCMAKE_CXX_COMPILER_VERSION=${CMAKE_MATCH_2})
  if(NOT output MATCHES "default ${expected}\n")
    message(FATAL_ERROR "${compiler}: ${output}")
  endif()
endforeach()
