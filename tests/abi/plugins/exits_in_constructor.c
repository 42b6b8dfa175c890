/* Ends the process, as if all were well, while it is loaded. */
#include <stdlib.h>

#define BASE_NAME "exits_in_constructor"
#include "base.h"

__attribute__((constructor)) static void leave(void) { exit(0); }
