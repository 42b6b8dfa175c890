/* A plugin of an unknown kind. */
#define BASE_NAME "wrong_kind"
#define BASE .kind = 4
#include "base.h"
