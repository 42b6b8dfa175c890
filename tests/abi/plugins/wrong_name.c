/* Its name cannot be one. */
#define BASE_NAME "Wrong-Name"
#include "base.h"
