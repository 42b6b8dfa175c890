/* Its function table has the size of another version's. */
#define BASE_NAME "short_table"
#define BASE_TABLE .struct_size = 8
#include "base.h"
