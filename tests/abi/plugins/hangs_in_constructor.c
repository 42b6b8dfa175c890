/* Never returns while it is loaded. */
#include <unistd.h>

#define BASE_NAME "hangs_in_constructor"
#include "base.h"

__attribute__((constructor)) static void hang(void) {
  for (;;) pause();
}
