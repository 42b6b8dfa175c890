/* A model whose open ends the process, as one does that reads what is not there. */
#include <signal.h>

#define BASE_NAME "crashes_in_open"
#define BASE_OPEN_RESULT raise(SIGSEGV)
#include "base.h"
