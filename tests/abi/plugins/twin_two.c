/* Two files, one kind and name. */
#define BASE_NAME "twin"
#include "base.h"
