/* The layout that a C11 compiler gives eggroll/plugin.h, which must be plain C11 to compile here. */
#include "layout.h"

#include "eggroll/plugin.h"

#define SIZE(type, bytes) {#type, "", sizeof(type)},
#define FIELD(type, field, offset) {#type, #field, offsetof(type, field)},
const struct egg_layout_row layout_in_c[] = {EGG_LAYOUT(SIZE, FIELD)};
const size_t layout_in_c_count = sizeof(layout_in_c) / sizeof(layout_in_c[0]);
