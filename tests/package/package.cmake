# Makes the package, unpacks it elsewhere and uses it in an empty environment. Nothing in it may depend on the source
# tree, the build tree or a library of this machine other than glibc. Run as: cmake -DBUILD_DIR=... -DSOURCE_DIR=...
# -DBUILD_TYPE=... -DWORK_DIR=... -DBENCHMARKS=0|1 -DLIBDIR=lib -DCPACK=cpack -DLDD=ldd -P package.cmake

include(${CMAKE_CURRENT_LIST_DIR}/../support/quiet_run.cmake)
# The commands run in an empty folder, which holds no configs.
set(empty ${WORK_DIR}/empty)
set(run_folder ${empty})

# A program of the package, the pattern that its output must match, its arguments.
function(use program pattern)
  run(env -i ${root}/bin/${program} ${ARGN})
  string(REPLACE ${root} PACKAGE output "${output}")
  if(NOT output MATCHES "${pattern}")
    message(NOTICE "${output}")
    list(JOIN ARGN " " arguments)
    message(FATAL_ERROR "`${program} ${arguments}` does not say: ${pattern}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect what found expected)
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "${what}: found '${found}', expected '${expected}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${empty} ${WORK_DIR}/packed ${WORK_DIR}/unpacked)
run(${CPACK} --config ${BUILD_DIR}/CPackConfig.cmake -B ${WORK_DIR}/packed)
file(GLOB archive ${WORK_DIR}/packed/*.tar.gz)
file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${WORK_DIR}/unpacked)
# Removes the folder that was packed, so that nothing can use it.
file(REMOVE_RECURSE ${WORK_DIR}/packed)
file(GLOB root ${WORK_DIR}/unpacked/*)
get_filename_component(name ${archive} NAME)
expect("the archive's top" "${root}.tar.gz" ${WORK_DIR}/unpacked/${name})

set(programs eggroll)
if(BENCHMARKS)
  list(APPEND programs eggroll_bench)
endif()
file(GLOB found RELATIVE ${root}/bin ${root}/bin/*)
expect("programs" "${found}" "${programs}")
file(GLOB found RELATIVE ${root}/${LIBDIR}/eggroll/plugins ${root}/${LIBDIR}/eggroll/plugins/*)
file(GLOB plugins RELATIVE ${BUILD_DIR}/bin/plugins ${BUILD_DIR}/bin/plugins/*)
list(REMOVE_ITEM plugins mpi.eggplugin) # the package leaves it out, because it fits one machine's MPI only
expect("plugins" "${found}" "${plugins}")
foreach(file README.md CONTRIBUTING.md LICENSE docs/glossary.md share/eggroll/configs/config.yaml
             share/eggroll/python/eggroll_results.py include/eggroll/plugin.h share/man/man1/eggroll.1
             share/bash-completion/completions/eggroll share/zsh/site-functions/_eggroll
             share/fish/vendor_completions.d/eggroll.fish)
  if(NOT EXISTS ${root}/${file})
    message(FATAL_ERROR "${file} is not in the package")
  endif()
endforeach()

# Every library but glibc's comes from the package, even where LD_LIBRARY_PATH has one of the same name.
file(GLOB libraries RELATIVE ${root}/${LIBDIR}/eggroll ${root}/${LIBDIR}/eggroll/*.so*)
foreach(library IN LISTS libraries)
  file(WRITE ${WORK_DIR}/decoys/${library} "This is a text.\n")
endforeach()
file(GLOB binaries ${root}/bin/* ${root}/${LIBDIR}/eggroll/plugins/*)
foreach(binary IN LISTS binaries)
  run(env -i LD_LIBRARY_PATH=${WORK_DIR}/decoys ${LDD} ${binary})
  string(REGEX MATCHALL "[^ \t\n]+ => [^\n]+" lines "${output}")
  foreach(line IN LISTS lines)
    string(FIND "${line}" " => ${root}/" at)
    if(at EQUAL -1 AND NOT line MATCHES "^(ld-linux.*|lib(c|dl|m|mvec|pthread|resolv|rt))\\.so\\.[0-9]+ ")
      message(FATAL_ERROR "${binary} takes ${line}, expected it in ${root}")
    endif()
  endforeach()
  # Debug information names the sources.
  if(BUILD_TYPE STREQUAL Release)
    file(STRINGS ${binary} strings REGEX /)
    foreach(folder ${SOURCE_DIR} ${BUILD_DIR})
      string(FIND "${strings}" ${folder}/ at)
      if(NOT at EQUAL -1)
        message(FATAL_ERROR "${binary} holds a path in ${folder}, expected none of the machine where it was built")
      endif()
    endforeach()
  endif()
endforeach()

use(eggroll "^PACKAGE/${LIBDIR}/eggroll/plugins \\(beside the executable\\)\n\n" plugins)
if(output MATCHES "rejected")
  message(FATAL_ERROR "${output}")
endif()
use(eggroll "ok   golden trajectories" check reference)
use(eggroll "step 5/5 .*weights sha256" run experiment=count train.steps=5)
string(REGEX MATCH "results/runs/count-[0-9a-f]+" trained "${output}")
use(eggroll "2 of 2 points done, 0 failed" sweep experiment=count-convergence sweep.seeds=1 train.population=64 train.steps=2)
use(eggroll "" replay ${trained})
use(eggroll "" sample ${trained} --count 4)
use(eggroll "holds your model" new model mine)
execute_process(COMMAND env -i ${root}/bin/eggroll run experiment=count processes.name=mpi WORKING_DIRECTORY ${empty}
                OUTPUT_QUIET ERROR_VARIABLE error)
if(NOT error MATCHES "the processes 'mpi' is not here: [^\n]* MPI")
  message(FATAL_ERROR "processes.name=mpi is refused without its reason: ${error}")
endif()
if(BENCHMARKS)
  use(eggroll_bench "op/reference/add/64" --benchmark_filter=^op/reference/add/64/ --benchmark_min_time=0.001)
endif()
