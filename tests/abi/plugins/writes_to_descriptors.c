/* A model plugin that writes to every file that it may have inherited. */
#include <unistd.h>

#define BASE_NAME "writes_to_descriptors"
#include "base.h"

__attribute__((constructor)) static void write_everywhere(void) {
  for (int file = 3; file < 256; ++file) {
    if (write(file, "x\n", 2) != 2) continue;
  }
}
