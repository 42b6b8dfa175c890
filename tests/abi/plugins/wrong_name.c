/* Its name is not lower_snake. */
#define BASE_NAME "Wrong-Name"
#include "base.h"
