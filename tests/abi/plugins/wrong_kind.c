/* A plugin of an unknown kind. */
#define BASE_NAME "wrong_kind"
#define BASE_KIND 4
#include "base.h"
