# Configures the project with packages of other makes than the distribution's: cpp-httplib as a header alone, or without
# its library; yaml-cpp's target under each of its names. Compiles the sources that include them. Run as:
# cmake -DSOURCE_DIR=... -DWORK_DIR=... -DNINJA=... -DC_COMPILER=... -DCXX_COMPILER=... -DHTTPLIB=folder of httplib.h
# -DYAML=folder of yaml-cpp/yaml.h -DYAML_LIBRARY=libyaml-cpp.so -P packages.cmake

include(${CMAKE_CURRENT_LIST_DIR}/../support/quiet_run.cmake)
set(run_folder ${WORK_DIR})
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})

set(configure
    ${CMAKE_COMMAND} -S ${SOURCE_DIR} -G Ninja -DCMAKE_MAKE_PROGRAM=${NINJA} -DCMAKE_C_COMPILER=${C_COMPILER}
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_BUILD_TYPE=Debug -DEGGROLL_BUILD_TESTS=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
    -DCMAKE_CUDA_COMPILER=NOTFOUND)

# make_prefix(NAME TARGET): a folder with yaml-cpp, whose target has that name.
function(make_prefix name target)
  set(prefix ${WORK_DIR}/${name})
  file(MAKE_DIRECTORY ${prefix}/include ${prefix}/lib)
  file(CREATE_LINK ${YAML}/yaml-cpp ${prefix}/include/yaml-cpp SYMBOLIC)
  file(CREATE_LINK ${YAML_LIBRARY} ${prefix}/lib/libyaml-cpp.so SYMBOLIC)
  file(WRITE ${prefix}/lib/cmake/yaml-cpp/yaml-cpp-config.cmake
       "add_library(${target} SHARED IMPORTED)\nset_target_properties(${target} PROPERTIES\n"
       "  IMPORTED_LOCATION ${prefix}/lib/libyaml-cpp.so INTERFACE_INCLUDE_DIRECTORIES ${prefix}/include)\n")
endfunction()

# compile(FILE): runs its command among those in `commands`, which `command` then is, and no other.
function(compile file)
  string(REGEX MATCH "[^\n]* -c [^\n]*/${file}\n" command "${commands}")
  run(sh -c "cd ${build} && ${command}")
  set(command "${command}" PARENT_SCOPE)
endfunction()

function(expect what text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "${what} does not match ${pattern}: ${text}")
  endif()
endfunction()

function(expect_not what text pattern)
  if(text MATCHES "${pattern}")
    message(FATAL_ERROR "${what} matches ${pattern}: ${text}")
  endif()
endfunction()

# Homebrew: one header without definitions, the target with a namespace. The header of this test has only one function
# more than the distribution's, so nothing can be linked with it.
make_prefix(homebrew yaml-cpp::yaml-cpp)
file(READ ${HTTPLIB}/httplib.h header)
file(WRITE ${WORK_DIR}/homebrew/include/httplib.h
     "${header}\nnamespace httplib {\ninline bool Server::listen(const std::string&, int, int) { return false; }\n}\n")
set(build ${WORK_DIR}/homebrew/build)
run(${configure} -B ${build} -DCMAKE_PREFIX_PATH=${WORK_DIR}/homebrew)
run(${NINJA} -C ${build} -t commands bin/eggroll)
set(commands "${output}")
expect("the command that links" "${commands}" "-o bin/eggroll [^\n]* ${WORK_DIR}/homebrew/lib/libyaml-cpp[.]so")
expect_not("the command that links" "${commands}" "libcpp-httplib|-lyaml-cpp")
compile(config/yaml.cpp)
expect("the command" "${command}" "-isystem ${WORK_DIR}/homebrew/include ")
compile(serve/server.cpp)
expect("the command" "${command}" "-isystem ${WORK_DIR}/homebrew/include ")
expect_not("the command" "${command}" "CPPHTTPLIB")

# An older yaml-cpp, and the distribution's own cpp-httplib.
make_prefix(older yaml-cpp)
set(build ${WORK_DIR}/older/build)
run(${configure} -B ${build} -DCMAKE_PREFIX_PATH=${WORK_DIR}/older)
run(${NINJA} -C ${build} -t commands bin/eggroll)
expect("the command that links" "${output}" "-o bin/eggroll [^\n]* ${WORK_DIR}/older/lib/libyaml-cpp[.]so")

# A header that needs its library, which is missing.
if("${header}" MATCHES "\ninline bool Server::listen[(]")
  message(NOTICE "not tested: a missing library of cpp-httplib, because this distribution's header needs none")
  return()
endif()
expect("the command that links" "${output}" "libcpp-httplib")
execute_process(COMMAND ${configure} -B ${WORK_DIR}/broken -DHTTPLIB_LIBRARY= RESULT_VARIABLE status OUTPUT_QUIET
                ERROR_VARIABLE error)
string(REGEX REPLACE "[ \n]+" " " error "${error}")
if(status EQUAL 0)
  message(FATAL_ERROR "a header whose library is missing is taken")
endif()
expect("the refusal" "${error}"
       "httplib.h needs the library cpp-httplib, which is missing; install the package libcpp-httplib-dev again")
