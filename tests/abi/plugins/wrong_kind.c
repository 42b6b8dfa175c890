/* A plugin of a kind that does not exist. */
#define BASE_NAME "wrong_kind"
#define BASE_KIND 4
#include "base.h"
