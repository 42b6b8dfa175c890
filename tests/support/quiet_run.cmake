# For tests that are CMake scripts. quiet_run() runs a command in run_folder and prints its output only if it fails; the
# output is in `output`.
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${run_folder} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(NOTICE "${output}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed with ${status}: ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
