# Installs Eggroll with its manual page and completions, makes one plugin of each kind with `eggroll new`, builds it against the installed package without
# Boost, runs its tests and finds it with `eggroll plugins`. Run as:
# cmake -DBUILD_DIR=... -DWORK_DIR=... -DGENERATOR=... -DCXX_COMPILER=... -P out_of_tree.cmake

include(${CMAKE_CURRENT_LIST_DIR}/../support/quiet_run.cmake)
set(run_folder ${WORK_DIR})

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)
set(eggroll ${prefix}/bin/eggroll)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})

# What man and the shells read is what the installed command says.
function(expect_written file)
  run(${eggroll} ${ARGN})
  file(READ ${prefix}/share/${file} written)
  if(NOT output OR NOT written STREQUAL output)
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "share/${file} is not what `eggroll ${words}` prints")
  endif()
endfunction()
expect_written(man/man1/eggroll.1 man)
expect_written(bash-completion/completions/eggroll completion bash)
expect_written(zsh/site-functions/_eggroll completion zsh)
expect_written(fish/vendor_completions.d/eggroll.fish completion fish)

foreach(kind backend model optimizer)
  set(name outside_${kind})
  set(folder ${WORK_DIR}/${name})
  run(${eggroll} new ${kind} ${name} --into ${folder})
  run(${CMAKE_COMMAND} -S ${folder} -B ${folder}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
      -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
  run(${CMAKE_COMMAND} --build ${folder}/build)
  run(${CMAKE_CTEST_COMMAND} --test-dir ${folder}/build --no-tests=error --output-on-failure)
  message(NOTICE "${output}")

  run(${CMAKE_COMMAND} -E env EGGROLL_PLUGIN_PATH=${folder}/build ${eggroll} plugins)
  if(NOT output MATCHES "accepted ${kind} '${name}'")
    message(NOTICE "${output}")
    message(FATAL_ERROR "`eggroll plugins` does not list ${kind} '${name}' as accepted")
  endif()
endforeach()
