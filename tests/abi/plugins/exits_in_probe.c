/* Ends the process in its probe. */
#include <unistd.h>

#define BASE_NAME "exits_in_probe"
#define BASE_PROBE _exit(7), 0
#include "base.h"
