/* Gives no program; all else is right. */
#define BASE_NAME "no_program"
#include "base.h"
