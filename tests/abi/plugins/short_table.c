/* Its function table is that of another version. */
#define BASE_NAME "short_table"
#define BASE_TABLE_SIZE 8
#include "base.h"
