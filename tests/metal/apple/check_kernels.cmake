# Checks the kernels' text with clang as C++14 with address spaces, which Metal is. What Metal allows beyond that is to
# copy a struct out of another address space: `own` and `own_argument` do, and nothing else may fail.
# cmake -DCLANGXX=... -DSOURCE=kernel_source.metal [-DPLANTED=text] -P check_kernels.cmake; PLANTED: put behind the text.
file(READ "${SOURCE}" text)
set(checked "${SOURCE}.checked.cpp")
file(WRITE "${checked}" "${text}\n${PLANTED}\n")
execute_process(
  COMMAND ${CLANGXX} -x c++ -std=c++14 -target aarch64-linux-gnu -nostdinc -fsyntax-only -ferror-limit=0
          -fno-caret-diagnostics -Wall -Wextra -Wno-unknown-attributes -Wno-undefined-inline -Wno-unused-parameter
          -I${CMAKE_CURRENT_LIST_DIR} ${checked}
  RESULT_VARIABLE result
  ERROR_VARIABLE messages)
if(result EQUAL 0)
  message(FATAL_ERROR "not even what only Metal allows was found; the declarations check nothing")
endif()
string(REGEX MATCHALL "[^\n]*: (error|warning|fatal error): [^\n]*" all "${messages}")
set(wrong "")
foreach(line IN LISTS all)
  if(NOT line MATCHES "error: no matching constructor for initialization of 'eggroll::metal::[A-Za-z]+'$")
    string(APPEND wrong "${line}\n")
  endif()
endforeach()
if(wrong OR NOT all)
  message(FATAL_ERROR "${wrong}${messages}")
endif()
