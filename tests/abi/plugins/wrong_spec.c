/* Built for another op set. */
#define BASE_NAME "wrong_spec"
#define BASE_SPEC_HASH UINT64_C(0x0123456789abcdef)
#include "base.h"
