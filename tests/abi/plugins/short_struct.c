/* The head of a descriptor and nothing after it. */
#include "eggroll/plugin.h"

struct head {
  uint32_t magic;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t struct_size;
};

extern EGG_EXPORT const struct head egg_plugin;
const struct head egg_plugin = {EGG_MAGIC, EGG_ABI_MAJOR, EGG_ABI_MINOR, sizeof(struct head)};
