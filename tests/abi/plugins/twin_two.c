/* Two files have the same kind and name. */
#define BASE_NAME "twin"
#include "base.h"
