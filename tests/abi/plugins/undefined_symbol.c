/* Needs a function that no library defines. */
#include "eggroll/plugin.h"

int32_t found_nowhere(void* self, const egg_program** program, egg_error* error);

#define BASE_NAME "undefined_symbol"
#define BASE_TABLE .program = found_nowhere
#include "base.h"
