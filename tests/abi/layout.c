/* The layout that a C11 compiler gives eggroll/plugin.h, which must be plain C11 to compile here. */
#include "layout.h"

void each_row_in_c(layout_row* row) { EGG_LAYOUT }
