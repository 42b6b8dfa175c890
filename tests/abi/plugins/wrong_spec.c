/* Built for another op set. */
#define BASE_NAME "wrong_spec"
#define BASE .spec_hash = UINT64_C(0x0123456789abcdef)
#include "base.h"
