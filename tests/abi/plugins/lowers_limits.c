/* A model plugin after which its process opens no file. */
#include <sys/resource.h>

#define BASE_NAME "lowers_limits"
#include "base.h"

__attribute__((constructor)) static void lower_limits(void) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_NOFILE, &none);
}
