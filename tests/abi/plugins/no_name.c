/* Has no name at all. */
#define BASE_NAME 0
#include "base.h"
