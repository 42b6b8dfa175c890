/* Exports a symbol egg_plugin that is no descriptor. */
#define BASE_NAME "wrong_magic"
#define BASE .magic = 0x12345678
#include "base.h"
