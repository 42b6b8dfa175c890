/* A plugin with a newer major ABI number. */
#define BASE_NAME "wrong_major"
#define BASE .abi_major = 7
#include "base.h"
