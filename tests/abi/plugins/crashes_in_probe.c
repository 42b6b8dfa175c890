/* Crashes in its probe. */
#include <stdlib.h>

#define BASE_NAME "crashes_in_probe"
#define BASE_PROBE abort(), 0
#include "base.h"
