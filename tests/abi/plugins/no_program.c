/* Right in all but that it gives no program. */
#define BASE_NAME "no_program"
#include "base.h"
