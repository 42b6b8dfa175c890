/* A plugin that crashes when it is loaded, and leaves a process that has all that its own had. */
#include <signal.h>
#include <unistd.h>

#define BASE_NAME "leaves_a_child"
#include "base.h"

__attribute__((constructor)) static void leave_a_child(void) {
  if (fork() == 0) {
    sleep(600);
    _exit(0);
  }
  raise(SIGSEGV);
}
