# tools/setup on macOS, and on Linux while another program installs packages: uname, brew, npm and apt-get are played by
# scripts. Run as:
# cmake -DSOURCE_DIR=... -DWORK_DIR=... -P setup.cmake

file(REMOVE_RECURSE ${WORK_DIR})
set(bin ${WORK_DIR}/bin)

function(play program script)
  file(WRITE ${bin}/${program} "#!/bin/sh\n${script}\n")
  file(CHMOD ${bin}/${program} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# setup(STATUS OUTPUT ARGUMENT...): it ends with STATUS and prints what OUTPUT matches. No other program is there.
function(setup status pattern)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PATH=${bin} ${BASH} ${WORK_DIR}/tree/tools/setup ${ARGN} RESULT_VARIABLE found
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT found EQUAL status OR NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "tools/setup ${ARGN} ends with ${found}, expected ${status} and '${pattern}': ${output}")
  endif()
endfunction()

find_program(BASH bash REQUIRED)
find_program(DIRNAME dirname REQUIRED)
file(COPY ${SOURCE_DIR}/tools/setup DESTINATION ${WORK_DIR}/tree/tools)
file(MAKE_DIRECTORY ${bin})
file(CREATE_LINK ${DIRNAME} ${bin}/dirname SYMBOLIC)
play(uname "echo Darwin")
setup(1 "brew is not here; install Homebrew")
setup(2 "'demo' is for Linux, expected no argument on macOS" demo)

# Homebrew has fmt and tbb; cmake and npm came by other ways.
play(brew "case \"$*\" in 'list --versions fmt' | 'list --versions tbb') ;; list*) exit 1 ;; *) echo \"brew $*\" ;; esac")
play(npm "echo \"npm $1 $2 $4\"")
foreach(program cmake node)
  play(${program} "exit 1")
endforeach()
setup(0 "^brew install ninja gnuplot boost yaml-cpp nlohmann-json cli11 openssl@3 cpp-httplib google-benchmark\n\
npm install --prefix chart.js@3.9.1\n$")

# Nothing is missing any more.
play(brew "[ $1 = list ]")
play(npm "exit 1")
play(ninja "")
play(gnuplot "")
file(WRITE ${WORK_DIR}/tree/build/npm/node_modules/chart.js/dist/chart.min.js "")
setup(0 "^$")

# On Linux, another program holds first the lock of apt's lists and then that of dpkg.
play(uname "echo Linux")
play(id "echo 0")
play(dpkg-query "exit 1")
foreach(program env grep tail mktemp rm)
  find_program(TOOL_${program} ${program} REQUIRED)
  file(CREATE_LINK ${TOOL_${program}} ${bin}/${program} SYMBOLIC)
endforeach()
play(sleep "echo \"sleep $1\"")
set(apt_get "if [ ! -e ${WORK_DIR}/$1 ]; then\n  : >${WORK_DIR}/$1\n  echo \"E: Could not get lock of $1\" >&2\n  exit 100\nfi\n")
play(apt-get "${apt_get}")
set(wait "waiting for at most half an hour until the program ends that uses the package manager: E: Could not get lock of")
setup(0 "^installing: .*\n${wait} update\nsleep 5\n${wait} install\nsleep 5\n$" demo)
setup(0 "^installing: [^\n]*\n$" demo)
play(sleep "")
play(apt-get "echo 'E: Could not get lock' >&2; exit 100")
setup(1 "E: Could not get lock\ntools/setup: the packages could not be installed" demo)
play(sleep "echo waited")
play(apt-get "echo 'E: no such package' >&2; exit 100")
setup(1 "^installing: [^\n]*\nE: no such package\ntools/setup: the packages could not be installed" demo)
