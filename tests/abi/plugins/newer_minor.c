/* A plugin whose ABI is one minor number newer than the host's. */
#define BASE_NAME "newer_minor"
#define BASE .abi_minor = (EGG_ABI_MINOR + 1)
#include "base.h"
