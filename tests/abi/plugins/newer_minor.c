/* One minor number ahead of the host. */
#define BASE_NAME "newer_minor"
#define BASE_MINOR (EGG_ABI_MINOR + 1)
#include "base.h"
