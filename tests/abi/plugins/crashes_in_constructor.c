/* Crashes while it is loaded. */
#include <signal.h>

#define BASE_NAME "crashes_in_constructor"
#include "base.h"

__attribute__((constructor)) static void crash(void) { raise(SIGSEGV); }
