# Writes the commit that is being built, with "-dirty" where the tree has changes, if it is another than before.
# Run at each build as: cmake -DSOURCE=folder -DOUTPUT=header -P EggrollCommit.cmake
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=* OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define EGGROLL_COMMIT \"${commit}\"\n")
