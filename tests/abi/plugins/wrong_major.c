/* A plugin with a newer major ABI number. */
#define BASE_NAME "wrong_major"
#define BASE_MAJOR 7
#include "base.h"
