/* A library, but no plugin. */
#include "eggroll/plugin.h"

extern EGG_EXPORT const uint32_t something_else;
const uint32_t something_else = EGG_MAGIC;
