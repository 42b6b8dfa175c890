/* From a future with another ABI. */
#define BASE_NAME "wrong_major"
#define BASE_MAJOR 7
#include "base.h"
