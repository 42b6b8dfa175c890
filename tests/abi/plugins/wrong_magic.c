/* Exports egg_plugin, but of something else. */
#define BASE_NAME "wrong_magic"
#define BASE_MAGIC 0x12345678
#include "base.h"
